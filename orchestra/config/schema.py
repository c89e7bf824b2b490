"""What the settings' types say: which keys there are, what fits them, and how to say so."""

from __future__ import annotations

import math
import types
from collections.abc import Mapping
from datetime import date, time
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import NODEFAULT, Struct

from orchestra.config.about import About
from orchestra.config.nearest import hint, shown
from orchestra.config.secret import Secret
from orchestra.config.words import number_from_text, truth_from_text

NOTHING = About("")


class Unfit(ValueError):
    """A value does not fit; the message ends a sentence that begins with the key.

    `item`: the key inside a mapping that is at fault, or "".
    """

    def __init__(self, message: str, item: str = "") -> None:
        super().__init__(message)
        self.item = item


class Field(Struct, frozen=True):
    """One key of a table. `kind` is the type without `| None` and without its About."""

    name: str
    kind: Any
    optional: bool
    about: About
    default: Any

    @property
    def table(self) -> type[Struct] | None:
        """The Struct that this key holds, if it holds one."""
        return self.kind if isinstance(self.kind, type) and issubclass(self.kind, Struct) else None

    @property
    def tables(self) -> type[Struct] | None:
        """The Struct that this key holds by name, if it holds such."""
        if get_origin(self.kind) is not Mapping:
            return None
        value = get_args(self.kind)[1]
        return value if isinstance(value, type) and issubclass(value, Struct) else None

    @property
    def names(self) -> tuple[str, ...]:
        """The keys that a mapping may have, or () for any."""
        key = get_args(self.kind)[0] if get_origin(self.kind) is Mapping else str
        return get_args(key) if get_origin(key) is Literal else ()


def fields_of(struct: type[Struct]) -> dict[str, Field]:
    """The keys of a table by name."""
    hints = get_type_hints(struct, include_extras=True)
    return {
        field.name: _field(field.name, hints[field.name], field.default)
        for field in msgspec.structs.fields(struct)
    }


def _field(name: str, hinted: Any, default: Any) -> Field:
    about = NOTHING
    if get_origin(hinted) is Annotated:
        hinted, *notes = get_args(hinted)
        about = next((note for note in notes if isinstance(note, About)), NOTHING)
    optional = False
    if get_origin(hinted) in (Union, types.UnionType):
        optional = True
        (hinted,) = (part for part in get_args(hinted) if part is not type(None))
    return Field(name, hinted, optional, about, default)


def describe(field: Field) -> str:
    """What fits: "a whole number above 0"."""
    kind = field.kind
    if kind in (int, float):
        words = "a whole number" if kind is int else "a number"
        words += _bounds(field.about)
        return words + (' or "unlimited"' if field.about.unlimited else "")
    if get_origin(kind) is Literal:
        return "one of " + ", ".join(get_args(kind))
    if get_origin(kind) is tuple:
        return "a list of words"
    if get_origin(kind) is Mapping:
        item = get_args(kind)[1]
        if get_origin(item) is tuple:
            return "a table of lists of words"
        return {float: "a table of numbers", Any: "a table"}.get(item, "a table of texts")
    return {bool: "true or false", str: "a text", Secret: "a text"}.get(kind, "a table")


def _bounds(about: About) -> str:
    if about.above is not None:
        return f" above {about.above:g}" + (f" and at most {about.most:g}" if about.most is not None else "")
    if about.least is None:
        return ""
    if about.most is not None:
        return f" from {about.least:g} to {about.most:g}"
    return (
        f" from {about.least:g} to below {about.below:g}"
        if about.below is not None
        else f" of {about.least:g} or more"
    )


def fit(field: Field, value: Any, *, text: bool = False) -> Any:
    """The value in its type; raises Unfit. `text`: it comes from the shell, where numbers are words."""
    if field.about.unlimited and value == "unlimited":
        return None
    kind = field.kind
    if kind is Any:
        return _plain(field, value)
    if get_origin(kind) is tuple:
        return _words(field, value.split(",") if text and isinstance(value, str) else value)
    if get_origin(kind) is Mapping:
        return _mapping(field, value)
    if kind in (int, float):
        return _number(field, number_from_text(field.name, value) if text else value)
    if kind is bool:
        value = truth_from_text(value) if text else value
        return value if isinstance(value, bool) else _refuse(field, value)
    if not isinstance(value, str):
        return _refuse(field, value)
    if get_origin(kind) is Literal:
        return value if value in get_args(kind) else _refuse(field, value, hint(value, get_args(kind)))
    if not value.strip():
        raise Unfit("is set but empty.")
    return Secret(value) if kind is Secret else value


def _refuse(field: Field, value: Any, more: str = "") -> Any:
    if field.kind is Secret or (get_origin(field.kind) is Mapping and Secret in get_args(field.kind)):
        raise Unfit(f"must be {describe(field)}.")
    raise Unfit(f"must be {describe(field)}, not {shown(value)}.{more if 'Did' in more else ''}")


def _number(field: Field, value: Any) -> Any:
    right = isinstance(value, int) or (field.kind is float and isinstance(value, float))
    if isinstance(value, bool) or not right:
        return _refuse(field, value)
    about = field.about
    try:
        number = float(value)
    except OverflowError:
        return _refuse(field, value)
    if (
        not math.isfinite(number)
        or (about.above is not None and number <= about.above)
        or (about.least is not None and number < about.least)
        or (about.most is not None and number > about.most)
        or (about.below is not None and number >= about.below)
    ):
        return _refuse(field, value)
    return number if field.kind is float else value


def _plain(field: Field, value: Any) -> Any:
    """A value that JSON knows, for what is passed on as it is."""
    try:
        msgspec.json.encode(value)
    except (TypeError, OverflowError, msgspec.MsgspecError, UnicodeEncodeError, RecursionError):
        return _refuse(field, value)
    return value if not isinstance(value, (date, time)) else _refuse(field, value)


def _words(field: Field, value: Any) -> tuple[str, ...]:
    if not isinstance(value, (list, tuple)) or not all(
        isinstance(word, str) and word.strip() for word in value
    ):
        return _refuse(field, value)  # type: ignore[no-any-return]
    return tuple(word.strip() for word in value)


def _mapping(field: Field, value: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        return _refuse(field, value)  # type: ignore[no-any-return]
    item = Field(field.name, get_args(field.kind)[1], False, field.about, NODEFAULT)
    done: dict[str, Any] = {}
    for name, each in value.items():
        if field.names and name not in field.names:
            raise Unfit(f'has no key "{name}".{hint(name, field.names)}', name)
        try:
            done[name] = fit(item, each)
        except Unfit as unfit:
            raise Unfit(f'"{name}" {unfit}', name) from None
    return done
