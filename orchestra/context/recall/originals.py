"""What `recall` answers: an original by its reference, or what the whole past says about a few words."""

from __future__ import annotations

from collections.abc import Iterable

from orchestra.context.archive import Archive, Original
from orchestra.context.fence import fence, field
from orchestra.context.labels import label_of
from orchestra.context.recall.turns import Hit, Recalled
from orchestra.context.results import MARK_TOKENS, mark, shorten
from orchestra.context.tokens import Counter

WHOLE = "In whole by reference"
ORIGIN_SHARE = 0.15
"""Of the tokens of an answer, what is kept free to say which results its pieces are of."""
_CHARACTERS = 120


def whole(original: Original, tokens: int, counter: Counter) -> str:
    """An original fenced and labelled, within `tokens` tokens; cut, it says so."""
    label = label_of(f"{original.ref} {original.source}", original.query, original.at)
    text = fence(label, original.text)
    size = counter.count(text)
    if size <= tokens:
        return text
    inner = counter.cut(original.text, tokens)
    shown = shorten(fence(label, inner), max(tokens - MARK_TOKENS, 0), counter)
    return f"{shown}\n{mark(counter.count(shown), size, '')}; recall(words) for a part of it"


def with_origins(found: Recalled, archive: Archive, tokens: int, counter: Counter) -> str:
    """What was found and, as far as `tokens` go, which calls' results its pieces are of."""
    text = found.text
    for lines in _fewer(_origins(found.hits, archive)):
        longer = f"{text}\n\n{fence(WHOLE, lines)}"
        if counter.count(longer) <= tokens:
            return longer
    return text


def _origins(hits: Iterable[Hit], archive: Archive) -> list[str]:
    lines: dict[str, str] = {}
    for hit in hits:
        original = archive.get(hit.ref)
        if original is not None:
            line = field(f"{original.ref}: {original.source} {original.query[: 4 * _CHARACTERS]}".strip())
            lines[hit.ref] = line if len(line) <= _CHARACTERS else f"{line[: _CHARACTERS - 1]}…"
    return list(lines.values())


def _fewer(lines: list[str]) -> Iterable[str]:
    """All lines as one text, then half as many, and so on."""
    while lines:
        yield "\n".join(lines)
        lines = lines[: len(lines) // 2]
