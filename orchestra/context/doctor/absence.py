"""What is missing: antecedents, labels, the other half of a call, what a reference names, a mark on a cut."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from orchestra.context.doctor.finding import Finding
from orchestra.context.doctor.pointing import dangling
from orchestra.context.doctor.reading import Part, Reading, rough
from orchestra.context.fence import fenced, field

_REFERENCE = re.compile(r"""recall\(["'“](r\d+)["'”]\)""")
_NAMED = re.compile(r"(?m)^(r\d+)(?=: | )")
_RANGE = re.compile(r"older results from r(\d+) to r(\d+)")
_MARK = re.compile(r"shown [\d,]+ of [\d,]+ tokens")
_RECALL = re.compile(r"recall\(")
_PLAIN_RESULTS = ("error:", "(nothing came back)", "(shown for one turn", "no result,")
_TRUNCATED = re.compile(
    r"(?i)(?:\[(?:truncated|cut|snip|omitted)[^\]]*\]|\((?:truncated|cut|omitted)\)|<truncated>|[\[（(]?已截断[\])）]?)\W*$"
)
_ELLIPSIS = re.compile(r"(?:…|\.{3})\s*$")
_LOST_SHARE = 0.35
"""Of the tokens that the manifest gives a block: with fewer in sight something was cut without a word."""


def absence(reading: Reading) -> Iterator[Finding]:
    current = reading.input
    if current is not None:
        for words, missing in dangling(reading):
            yield Finding(
                "absence",
                current.block,
                f"The input says “{words}”, but {missing}.",
                "Bring back what it points at (recall, pinned facts), or ask which one is meant.",
            )
    yield from _unpaired(reading)
    for part in reading.parts:
        if part.data:
            yield from _unlabelled(part)
            yield from _unmarked_cut(part)
    yield from _nowhere(reading)


def _unpaired(reading: Reading) -> Iterator[Finding]:
    """Calls without their result right behind them, and results without their call right before them."""
    waiting: dict[str, Part] = {}
    for part in reading.parts:
        if part.kind != "result":
            yield from _open(waiting)
            waiting = {call.id: part for call in part.calls}
            continue
        call_id = reading.messages[part.message].call_id
        if waiting.pop(call_id, None) is None:
            yield Finding(
                "absence",
                part.block,
                f"A result answers the call {call_id!r}, which does not stand before it.",
                "Put the call back or take the result out; the two stay and leave together.",
            )
    yield from _open(waiting)


def _open(waiting: dict[str, Part]) -> Iterator[Finding]:
    for call_id, part in waiting.items():
        name = next(call.name for call in part.calls if call.id == call_id)
        yield Finding(
            "absence",
            part.block,
            f"The call {call_id!r} of {name} has no result behind it.",
            "Give it a result that says why there is none, or take the call out.",
        )


def _unlabelled(part: Part) -> Iterator[Finding]:
    missing = ""
    text = part.text
    if part.kind == "data":
        if not text.split("\n", 1)[0].strip("` "):
            missing = "label"
    elif text.strip() and not text.startswith(_PLAIN_RESULTS):
        label = text.split("\n", 1)[0]
        name = field(part.call.name) if part.call else ""
        if not label.startswith(name) or "\n" not in text or label.startswith("```"):
            missing = "label"
        elif part.call and _asked(part.call.arguments) and not _query_in(label, part.call.arguments):
            missing = "query"
    if missing:
        yield Finding(
            "absence",
            part.block,
            f"The data has no {missing}: the model cannot tell what it answers.",
            "Show it under a label with its source, its query and its time.",
        )


def _asked(arguments: str) -> bool:
    return arguments.strip() not in ("", "{}", "null")


def _query_in(label: str, arguments: str) -> bool:
    """A label holds the beginning of the call's arguments, folded."""
    begins = " ".join(field(arguments).split())[:40].replace("```", "'''")
    return begins in " ".join(label.split())


def _unmarked_cut(part: Part) -> Iterator[Finding]:
    if part.text.startswith(_PLAIN_RESULTS[1:3]):
        return
    marked = _MARK.search(part.text.rsplit("\n", 1)[-1]) or _MARK.search(part.text)
    why = ""
    if marked:
        if part.entry and part.entry.ref and not _RECALL.search(part.text[marked.start() :]):
            why = "says that it is cut and not how to get the rest"
    elif part.entry and part.kind == "result" and part.entry.whole > part.entry.tokens:
        why = f"shows {part.entry.tokens:,} of {part.entry.whole:,} tokens and does not say so"
    elif part.entry and rough(part.text) < _LOST_SHARE * part.entry.tokens - 20:
        why = f"shows about {rough(part.text):,} of {part.entry.tokens:,} tokens and does not say so"
    elif _looks_cut(part):
        why = "breaks off and does not say how to get the rest"
    if why:
        ref = part.entry.ref if part.entry else ""
        yield Finding(
            "absence",
            part.block,
            f"The result {why}.",
            f'Mark the cut: "shown N of M tokens; recall("{ref or "…"}") for the rest".',
        )


def _looks_cut(part: Part) -> bool:
    """By its own words, by a fence that never closes, by JSON that ends in the middle."""
    if part.kind != "result":
        return False
    shown = fenced(part.text)
    if _TRUNCATED.search(part.text.rstrip("` \n")):
        return True
    if not shown:
        lines = part.text.split("\n")
        return len(lines) > 2 and len(lines[1]) >= 3 and not lines[1].strip("`")
    body = shown[-1].text.strip()
    if body[:1] in ("{", "[") and len(shown) == 1:
        return body[-1:] not in ("}", "]", "`") and not _is_json(body)
    return len(shown) == 1 and _ELLIPSIS.search(body) is not None


def _is_json(text: str) -> bool:
    try:
        msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return False
    return True


def _nowhere(reading: Reading) -> Iterator[Finding]:
    """References to what neither the manifest, nor the list of what left, nor a block of the prompt holds."""
    known = {entry.ref for entry in reading.manifest.entries if entry.ref} if reading.manifest else set()
    for part in reading.parts:
        if part.kind == "data":
            known.update(_NAMED.findall(part.text))
            for first, last in _RANGE.findall(part.text):
                known.update(f"r{number}" for number in range(int(first), int(last) + 1))
        elif part.kind == "result" and part.call and part.call.name == "recall":
            known.update(re.findall(r"\b(r\d+)\b", part.text.split("\n", 1)[0]))
        if reading.manifest is None and part.kind == "result":  # nobody else says what its own mark names
            known.update(_REFERENCE.findall(part.text.rsplit("\n", 1)[-1]))
    for part in reading.parts:
        if part.kind == "reply":
            continue
        for ref in dict.fromkeys(_REFERENCE.findall(part.text)):
            if ref not in known:
                yield Finding(
                    "absence",
                    part.block,
                    f'recall("{ref}") names nothing that is known to this prompt.',
                    "Name a reference that the archive has, or take the word out.",
                )
