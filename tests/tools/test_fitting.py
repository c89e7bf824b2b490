"""Tools that take the values a request says come before those that need what it does not say."""

from __future__ import annotations

from typing import Any

import pytest

from orchestra.tools.fitting import Fitting
from orchestra.tools.subset import ToolIndex
from orchestra.values.messages import ToolSpec

CITY = {"type": "string", "description": "The city."}


def weather(name: str, *required: str, **parameters: Any) -> ToolSpec:
    properties = {"city": CITY, **parameters}
    return ToolSpec(
        name, "Get the weather of a city.", {"properties": properties, "required": ["city", *required]}
    )


NOW = weather("weather_a")
ON_DAY = weather("weather_b", "date", date={"type": "string"})
DAYS_AHEAD = weather("weather_c", "days", days={"type": "integer"})
AT_PLACE = weather("weather_d", "latitude", "longitude", latitude={"type": "number"}, longitude={})
ALL = (DAYS_AHEAD, AT_PLACE, NOW, ON_DAY)


def judged(spec: ToolSpec, request: str) -> int:
    fitting = Fitting()
    fitting.add(spec.parameters)
    return sum(sign for _, sign in fitting.judged(request))


@pytest.mark.parametrize(
    "day", ["on March 8th", "on 12 march 2023", "on 2023-04-20", "tomorrow", "next Monday", "明天", "5月3日"]
)
def test_a_day_that_is_said_speaks_for_tools_that_take_one(day: str) -> None:
    """However it is written; without one, what needs it comes behind what does not."""
    best, *_ = ToolIndex(ALL).ranked(f"What will the weather be like in Paris {day}?")
    assert best[0] == ON_DAY.name
    best, *_ = ToolIndex(ALL).ranked("What is the weather like in Paris?")
    assert best[0] == NOW.name


def test_a_number_is_none_that_belongs_to_a_date() -> None:
    """Days ahead are said in digits or in words, and 2023 in a date are none."""
    assert judged(DAYS_AHEAD, "The weather in Paris for the next 3 days") == 0
    assert judged(DAYS_AHEAD, "The weather in Paris for three days") == 0
    assert judged(DAYS_AHEAD, "巴黎未来三天的天气") == 0
    assert judged(DAYS_AHEAD, "The weather in Paris on 12 March 2023") == -1


def test_coordinates_are_numbers_whatever_their_type() -> None:
    """They come as texts, lists and tuples too."""
    for name in ("coordinates", "lat", "startLongitude"):
        spec = ToolSpec("t", "", {"properties": {name: {"type": "string"}}, "required": [name]})
        assert judged(spec, "The weather at 48.85, 2.35") == 0
        assert judged(spec, "The weather in Paris") == -1
        assert judged(AT_PLACE, "The weather in Paris") == -1


@pytest.mark.parametrize(
    ("name", "takes"),
    [
        ("date", 1),
        ("start_date", 1),
        ("checkInDate", 1),
        ("DATE", 1),
        ("dates", 1),
        ("update", 0),
        ("data", 0),
    ],
)
def test_a_parameter_for_a_day_is_known_by_its_name(name: str, takes: int) -> None:
    assert judged(ToolSpec("t", "", {"properties": {name: {"type": "string"}}}), "today") == takes


def test_a_parameter_for_a_day_is_known_by_its_format() -> None:
    assert judged(ToolSpec("t", "", {"properties": {"when": {"format": "date-time"}}}), "today") == 1


def test_what_has_nothing_to_do_with_a_request_does_not_come_in_by_a_date() -> None:
    index = ToolIndex([ToolSpec("book_hotel", "Book a room.", ON_DAY.parameters), NOW])
    assert dict(index.ranked("Shall we dance tomorrow?")) == {"book_hotel": 0.0, "weather_a": 0.0}


def test_a_need_in_words_says_no_values() -> None:
    """Who asks for a tool by what it does has not said yet what it will be called with."""
    area = {"properties": {"base": {"type": "number"}}, "required": ["base"]}
    tools = [
        ToolSpec("plot", "Draw the area of a triangle.", {}),
        ToolSpec("area", "Area of a triangle.", area),
    ]
    best, *_ = ToolIndex(tools).ranked("area of a triangle", values=False)
    assert best[0] == "area"


@pytest.mark.parametrize(
    "schema",
    [
        None,
        [],
        {"properties": []},
        {"properties": {"date": 1, "n": {"type": {}}}, "required": 3},
        {"properties": {1: {"type": ["integer", None], "format": []}}, "required": [1, {}]},
    ],
)
def test_no_schema_does_harm(schema: Any) -> None:
    """Tools come from anywhere."""
    fitting = Fitting()
    fitting.add(schema)
    assert list(fitting.judged("2 tickets for today")) == []
