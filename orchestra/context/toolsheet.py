"""The tools of one prompt with their tokens, slimmed and left out when room is short."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

from msgspec import Struct, structs

from orchestra.context.blocks import Entry, Fate
from orchestra.context.tokens import TOOLS_TOKENS, Counter
from orchestra.values.messages import ToolSpec

_SENTENCE = re.compile(r"[.!?](?=\s)|[。！？]|\n\n")
_SPARE = frozenset(("title", "examples", "example", "default", "$comment"))
_NAMED = 20


class ToolSheet(Struct, frozen=True, gc=False):
    """`asked` is what was asked for, `specs` what is sent, `sizes` the tokens of each of these.

    `tokens` is all that is sent with what surrounds the list.

    `entries` are the sheet's lines in a manifest; `slim` whether descriptions were shortened.
    """

    asked: tuple[ToolSpec, ...] = ()
    specs: tuple[ToolSpec, ...] = ()
    sizes: tuple[int, ...] = ()
    tokens: int = 0
    entries: tuple[Entry, ...] = ()
    slim: bool = False


NO_TOOLS = ToolSheet()


def sheet_of(specs: tuple[ToolSpec, ...], counter: Counter) -> ToolSheet:
    """All of `specs` as they are; made once for these very specs in the life of `counter`."""
    if not specs:
        return NO_TOOLS
    sheet: ToolSheet = counter.once(specs, _whole_sheet)
    return sheet


def _whole_sheet(specs: tuple[ToolSpec, ...], counter: Counter) -> ToolSheet:
    return _sheet(ToolSheet(asked=specs), specs, (), counter)


def slimmed(sheet: ToolSheet, counter: Counter) -> ToolSheet:
    """The same tools with the first sentence of each description and schemas without ornaments."""
    if sheet.slim or not sheet.specs:
        return sheet
    specs = tuple(slim(spec) for spec in sheet.specs)
    return _sheet(structs.replace(sheet, slim=True), specs, (), counter)


def reduced(sheet: ToolSheet, room: int, counter: Counter, needed: Collection[str]) -> ToolSheet:
    """What fits `room` tokens: slimmed, then without the last tools; those in `needed` go last of all."""
    thin = sheet if sheet.tokens <= room else slimmed(sheet, counter)
    if thin.tokens <= room:
        return thin
    ranked = sorted(range(len(thin.specs)), key=lambda at: (thin.specs[at].name not in needed, at))
    kept: set[int] = set()
    left = room - TOOLS_TOKENS
    for at in ranked:
        if thin.sizes[at] > left:
            break
        kept.add(at)
        left -= thin.sizes[at]
    out = tuple(
        Entry(f"tool {spec.name}", "tools", spec.name, 0, size, "dropped", "no room for its schema")
        for at, (spec, size) in enumerate(zip(thin.specs, thin.sizes, strict=True))
        if at not in kept
    )
    return _sheet(thin, tuple(spec for at, spec in enumerate(thin.specs) if at in kept), out, counter)


def slim(spec: ToolSpec) -> ToolSpec:
    """A spec that says what it must: one sentence, and a schema without titles, defaults and examples."""
    return ToolSpec(spec.name, _first_sentence(spec.description), _slim_schema(spec.parameters))


def _sheet(
    old: ToolSheet, specs: tuple[ToolSpec, ...], out: tuple[Entry, ...], counter: Counter
) -> ToolSheet:
    """The sheet that sends `specs`, with entries for those and for what is out since `old`."""
    out = (*(entry for entry in old.entries if entry.fate == "dropped"), *out)
    sizes = tuple(counter.tool(spec) for spec in specs)
    if not specs:
        return ToolSheet(old.asked, (), (), 0, out, old.slim)
    tokens = TOOLS_TOKENS + sum(sizes)
    names = ", ".join(spec.name for spec in specs[:_NAMED])
    if len(specs) > _NAMED:
        names += f" and {len(specs) - _NAMED} more"
    whole = TOOLS_TOKENS + sum(counter.tool(spec) for spec in old.asked)
    fate: Fate = "trimmed" if old.slim else "kept"
    why = "schemas slimmed" if old.slim else "the agent's tools"
    entry = Entry("tools", "tools", names, tokens, max(whole, tokens), fate, why)
    return ToolSheet(old.asked, specs, sizes, tokens, (entry, *out), old.slim)


def _first_sentence(text: str) -> str:
    end = _SENTENCE.search(text)
    return text[: end.end()].strip() if end else text


def _slim_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """`properties` maps names to schemas, so its keys are not keywords and all stay."""
    thin: dict[str, Any] = {}
    for key, value in schema.items():
        if key == "properties" and isinstance(value, Mapping):
            thin[key] = {
                name: _slim_schema(part) if isinstance(part, Mapping) else part
                for name, part in value.items()
            }
        elif key == "description" and isinstance(value, str):
            thin[key] = _first_sentence(value)
        elif key not in _SPARE:
            thin[key] = _slim_schema(value) if isinstance(value, Mapping) else value
    return thin
