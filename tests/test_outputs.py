"""What a role's output stands for: structs of ours, structs and pydantic models of users."""

from __future__ import annotations

import re
from typing import Annotated, Literal

import pytest
from msgspec import Meta, Struct
from pydantic import BaseModel, ConfigDict, Field

from orchestra.journal.asked import output_key
from orchestra.models.summariser import SPEC
from orchestra.session.capping import capped
from orchestra.session.outputs import as_json, output_spec
from orchestra.values.drafts import OUTPUTS, Findings, Plan
from orchestra.values.outputs import schema_of
from tests.test_capping import COUNTER


class Tree(Struct, frozen=True, forbid_unknown_fields=True):
    """A list of lists."""

    tree_name: str
    leaves: Annotated[tuple[Leaf, ...], Meta(description="Its leaves.")]
    under: tuple[Tree, ...]


class Leaf(Struct, frozen=True):
    """One end."""

    colour: Annotated[str, Meta(description="What it looks like.")]


class ModelLeaf(BaseModel):
    """One end."""

    colour: str = Field(description="What it looks like.")


class Branch(Struct, frozen=True, forbid_unknown_fields=True):
    """Some leaves."""

    leaves: Annotated[tuple[Leaf, ...], Meta(description="Its leaves.")]
    tree_name: str


class ModelBranch(BaseModel):
    """Some leaves."""

    model_config = ConfigDict(extra="forbid")
    leaves: tuple[ModelLeaf, ...] = Field(description="Its leaves.")
    tree_name: str


class Reading(Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="reading"):
    """With fields of all sorts."""

    place: tuple[int, str]
    level: Annotated[int, Meta(ge=0)]
    state: Literal["rising", "falling"] | None
    marks: tuple[Literal[1, 2], ...] = ()
    names: dict[int, str] = {}
    unit: str = "m"


class Few(Struct, frozen=True):
    """A struct with a check of its own."""

    items: tuple[str, ...]

    def __post_init__(self) -> None:
        if len(self.items) < 3:
            raise ValueError("three at least")


class Choices(Struct):
    """Words to choose from."""

    state: Literal["falling", "rising"] | None
    marks: tuple[Literal[1, 2], ...]
    enum: Literal["x", "y"] = "x"


class ModelChoices(BaseModel):
    """Words to choose from."""

    state: Literal["falling", "rising"] | None
    marks: tuple[Literal[1, 2], ...]
    enum: Literal["x", "y"] = "x"


class Defaults(Struct):
    """All may be left out."""

    unit: str = "m"


class ModelDefaults(BaseModel):
    """All may be left out."""

    unit: str = "m"


def test_our_outputs_are_known_to_earlier_records() -> None:
    """The journal knows an output by its name and its schema: sessions of older versions can be resumed."""
    keys = {name: output_key(output_spec(kind)) for name, kind in OUTPUTS.items()}
    assert keys == {
        "Plan": "3115be321e73",
        "Findings": "bd86fe704f48",
        "Draft": "c64a271807e3",
        "Review": "9d08950ff8a6",
    }
    assert output_key(SPEC) == "d7c988b8be0d"


@pytest.mark.parametrize(
    ("struct", "model"), [(Branch, ModelBranch), (Choices, ModelChoices), (Defaults, ModelDefaults)]
)
def test_a_struct_is_shown_as_a_pydantic_model_would_be(struct: type, model: type[BaseModel]) -> None:
    """The same fields and words give the same schema, letter by letter."""
    told = str(schema_of(struct)).replace("Leaf", "ModelLeaf").replace(struct.__name__, model.__name__)
    assert told == str(model.model_json_schema())


def test_a_struct_that_holds_itself_is_in_its_own_definitions() -> None:
    """Every reference leads somewhere."""
    schema = schema_of(Tree)
    assert schema["properties"]["under"]["items"] == {"$ref": "#/$defs/Tree"}
    assert set(schema["$defs"]) == {"Leaf", "Tree"}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"claims":[],"gaps":[]', "Input data was truncated"),
        ("[]", "reply: Expected `object`, got `array`"),
        ('{"claims":[]}', "gaps: it is missing"),
        ('{"claims":[],"gaps":[1]}', "gaps.0: Expected `str`, got `int`"),
        ('{"claims":[],"gaps":"none"}', "gaps: Expected `array`, got `str`"),
        ('{"claims":[],"gaps":[],"more":1}', "more: there is no such field"),
        (
            '{"claims":[{"statement":"x"},{"statement":null,"quotes":[]}]}',
            "claims.0.quotes: it is missing; claims.1.statement: Expected `str`, got `null`; "
            "gaps: it is missing",
        ),
        (
            '{"claims":[1,2,3,4,5,6],"gaps":[]}',
            "; ".join(f"claims.{n}: Expected `object`, got `int`" for n in range(5)) + "; and 1 more",
        ),
    ],
)
def test_what_is_wrong_is_told_with_its_place(text: str, told: str) -> None:
    """A model reads what it has to mend, and where, all of it: it has one more try."""
    with pytest.raises(ValueError, match=f"^{re.escape(told)}"):
        output_spec(Findings).validate(text)


def test_only_what_is_wrong_is_told() -> None:
    """What is right beside a fault is not called one: tags, numbers as keys, parts of several kinds."""
    right = '{"kind":"reading","place":[1,"x"],"names":{"1":"a"},"marks":[2]'
    for more, told in (
        (',"level":-1,"unit":2,"state":null', "level: Expected `int` >= 0; unit: Expected `str`, got `int`"),
        (
            ',"level":1,"state":"x","z":1,"a":1',
            "state: Invalid enum value 'x'; z: there is no such field; a: there ",
        ),
    ):
        with pytest.raises(ValueError, match=f"^{re.escape(told)}"):
            output_spec(Reading).validate(right + more + "}")


def test_a_value_comes_back_from_its_text() -> None:
    """What the journal keeps of a value is the value."""
    for value in (Plan("T", ("a", "b")), Branch((Leaf("red"),), "x"), ModelBranch(leaves=(), tree_name="é")):
        assert output_spec(type(value)).validate(as_json(value)) == value


def test_users_types_are_capped_like_ours() -> None:
    """The longest list of a struct or a model loses its end."""
    assert capped(Few(("red " * 9,) * 9), 30, COUNTER)[2] == 7  # its check is of what a model gives
    struct = Branch(tuple(Leaf("red " * 9) for _ in range(9)), "x")
    model = ModelBranch(leaves=tuple(ModelLeaf(colour="red " * 9) for _ in range(9)), tree_name="x")
    for value in (struct, model):
        kept, tokens, left_out = capped(value, 60, COUNTER)
        assert tokens <= 60
        assert (type(kept), len(kept.leaves) + left_out, kept.tree_name) == (type(value), 9, "x")
