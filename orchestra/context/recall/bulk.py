"""Very long results: not indexed, which takes twenty times their size, but read when something is looked for.

What is recalled by itself does not hold them; whoever looks for words finds the lines that have them.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator

from orchestra.context.recall.index import RecallIndex
from orchestra.context.recall.turns import Recalled, Turn
from orchestra.text.terms import terms

LONGEST = 100_000
"""Characters of a text that is indexed; a longer one is read when it is searched, about 10 ms a megabyte."""
_LINES = 24
"""Lines of one text that are compared in the end."""
_MOST = 5_000
"""Places of one word in one text; a word that is in more says little."""
_LINE = 600
"""Characters of a line that are shown around what was found in it."""


def search_bulk(
    turns: Iterable[Turn], wanted: str, tokens: int, count: Callable[[str], int], *, least: float
) -> Recalled | None:
    """What the best lines of these texts say about a few words; None where no line has any."""
    index = RecallIndex(count)
    for turn in turns:
        for line in _best(turn.text, wanted):
            index.add(Turn(id=turn.id, speaker=turn.speaker, text=line, time=turn.time, ref=turn.ref))
    found = index.recall(wanted, tokens, least=least) if len(index) else None
    return found if found is not None and found.text else None


def joined(one: Recalled, other: Recalled) -> Recalled:
    """Both, the first one first."""
    if not one.text:
        return other
    text = f"{one.text}\n\n{other.text}"
    return Recalled(text, one.tokens + other.tokens + 2, (*one.hits, *other.hits), one.embedding, one.note)


def _best(text: str, wanted: str) -> list[str]:
    """The lines with the most and the rarest of the words, in their order."""
    low = text.lower()
    starts = [0, *(match.end() for match in re.finditer(r"\n|(?<=\})(?=,)|(?<=[.!?]) |(?<=>)(?=<)", low))]
    scores: dict[int, float] = {}
    for term in set(terms(wanted)):
        places = list(_places(low, term))
        worth = 1 / (1 + math.log1p(len(places)))
        for line in {bisect_right(starts, place) - 1 for place in places}:
            scores[line] = scores.get(line, 0.0) + worth
    best = sorted(scores, key=lambda line: (-scores[line], line))[:_LINES]
    ends = [*starts[1:], len(text)]
    return [text[starts[line] : min(ends[line], starts[line] + _LINE)].strip() for line in sorted(best)]


def _places(low: str, term: str) -> Iterator[int]:
    """Where words that begin with a stem stand; terms of scripts without spaces stand anywhere."""
    edge = r"(?<![a-z0-9])" if term.isascii() else ""
    for number, match in enumerate(re.finditer(edge + re.escape(term), low)):
        if number >= _MOST:
            return
        yield match.start()
