"""A typed function becomes a tool."""

from __future__ import annotations

from typing import Annotated, Literal

import pytest
from pydantic import BaseModel

from orchestra.errors import ToolArguments, ToolFailed
from orchestra.tools.decorator import FunctionTool, tool
from orchestra.tools.port import ToolOutput

pytestmark = pytest.mark.anyio


class Book(BaseModel):
    title: str


@tool
async def find_flights(origin: str, day: str, cabin: Literal["economy", "business"] = "economy") -> list[str]:
    """Find flights.

    Args:
        origin: Airport code, three letters.
        day: Date as YYYY-MM-DD.
        cabin: Class of travel.
    """
    if origin == "XXX":
        raise ValueError("no airport XXX")
    return [f"{origin} {day} {cabin}"]


def test_the_schema_comes_from_hints_and_docstring() -> None:
    """Names, types, defaults and descriptions arrive; titles and noise do not."""
    assert find_flights.spec.name == "find_flights"
    assert find_flights.spec.description == "Find flights."
    assert find_flights.spec.parameters == {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "origin": {"type": "string", "description": "Airport code, three letters."},
            "day": {"type": "string", "description": "Date as YYYY-MM-DD."},
            "cabin": {
                "type": "string",
                "enum": ["economy", "business"],
                "default": "economy",
                "description": "Class of travel.",
            },
        },
        "required": ["origin", "day"],
    }


async def test_a_call_validates_runs_and_renders() -> None:
    """Arguments are checked, defaults filled, and a value that is not text becomes JSON."""
    output = await find_flights.call({"origin": "BER", "day": "2026-11-30"})
    assert output == ToolOutput(text='["BER 2026-11-30 economy"]')


async def test_wrong_arguments_are_a_text_for_the_model() -> None:
    """The message names the parameter and what was wrong."""
    with pytest.raises(ToolArguments, match=r"cabin: Input should be 'economy' or 'business'"):
        await find_flights.call({"origin": "BER", "day": "x", "cabin": "first"})
    with pytest.raises(ToolArguments, match="seat"):
        await find_flights.call({"origin": "BER", "day": "x", "seat": "3A"})


async def test_an_expected_failure_is_a_tool_failure_and_a_bug_flies() -> None:
    """ValueError and OSError are for the model; anything else is for the author."""
    with pytest.raises(ToolFailed, match="find_flights failed: no airport XXX"):
        await find_flights.call({"origin": "XXX", "day": "x"})

    @tool
    async def divide_wrongly(x: int) -> int:
        """Has a bug."""
        return x.missing  # type: ignore[attr-defined,no-any-return] # the bug

    with pytest.raises(AttributeError):
        await divide_wrongly.call({"x": 1})


async def test_a_plain_function_runs_in_a_worker_thread() -> None:
    """The event loop's thread is not the one that runs it."""
    import threading

    @tool
    def name_thread() -> str:
        """Say which thread."""
        return str(threading.get_ident())

    assert (await name_thread.call({})).text != str(threading.get_ident())


async def test_models_as_parameters_and_a_property_called_title() -> None:
    """Nested models arrive as instances; a property named title keeps its place in the schema."""

    @tool(name="store_book", effects="write", seconds=None)
    async def keep(book: Annotated[Book, "The book."]) -> str:
        """Store a book."""
        return book.title

    assert isinstance(keep, FunctionTool)
    assert keep.effects == "write"
    assert keep.spec.parameters["$defs"]["Book"]["properties"] == {"title": {"type": "string"}}
    assert (await keep.call({"book": {"title": "紅樓夢"}})).text == "紅樓夢"


def test_a_function_that_cannot_be_described_is_refused() -> None:
    """No hint, no docstring, no names: TypeError at definition, not at the first call."""
    with pytest.raises(TypeError, match="needs a type hint"):

        @tool
        async def search(query) -> str:  # type: ignore[no-untyped-def] # the mistake
            """Search."""
            return ""

    with pytest.raises(TypeError, match="docstring is missing"):

        @tool
        async def look(query: str) -> str:
            return query

    with pytest.raises(ValueError, match="above zero"):
        tool(seconds=0)
