"""What a text rules out or demands: negations and constraints, in English and Chinese, clause by clause."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from orchestra.text.shape import letter_runs
from orchestra.values.facts import FactKind


class Clause(NamedTuple):
    """A negation with what it denies, or a clause that sets a constraint, at [start, end)."""

    start: int
    end: int
    kind: FactKind
    value: str


_NEGATION = re.compile(
    r"(?i)\b(?:not|no|never|none|neither|nor|nobody|nothing|nowhere|without|cannot|can't|won't|don't"
    r"|doesn't|didn't|isn't|aren't"
    r"|wasn't|weren't|hasn't|haven't|hadn't|shouldn't|wouldn't|couldn't|mustn't|ain't|except|excluding"
    r"|unable)\b"
    r"(?:[ ]+(?:(?!\b(?:but|and|or|because|so|which|that)\b)[^\s.,;:!?()]+)){0,5}"
)
_DENYING = frozenset(  # the words of the pattern above, n't cut off
    b"not no never none neither nor nobody nothing nowhere without cannot t except excluding unable".split()
)
_NEGATION_ZH = re.compile(
    "(?:不要|不得|不能|不会|不是|不可|不应|不再|不用|不想|不喜欢|不吃|不含|没有|没|禁止|除了|除外|并非"
    "|未能|未|无需|无法|勿|拒绝|避免|从不|不)"
    "(?!过|仅|但|管|论|断|同|久|少)[^，。！？；：、\\s,.!?;]{1,12}"
)
_CONSTRAINT = re.compile(
    r"(?i)\b(?:do not|don't|does not|must(?:n't)?|never|always|only|shall|should(?:n't| not)?|may not|cannot"
    r"|can't|have to|has to|need(?:s)? to|required to|at most|at least|no more than|no less than"
    r"|no fewer than|not more than|up to|no later than|under no circumstances|make sure|be sure to|ensure"
    r"|avoid|without|except|unless|exclude|limit(?:ed)? to|within|maximum|minimum|forbidden|prohibited"
    r"|allergic to|in (?:English|Chinese|German|French|Spanish|Japanese))\b"
)
_CONSTRAINT_ZH = re.compile(
    "不要|不得|不能|不可|不许|不准|不应|请勿|切勿|禁止|严禁|只能|只要|只用|只有|只|仅限|仅|必须|务必|一定要|应当|需要"
    "|至少|至多|最多|最少|不超过|不少于|不低于|不高于|以内|之前完成|除非|除了|避免|过敏|用中文|用英文"
)
_SENTENCE = re.compile(r"[^.!?;\n。！？；]+(?:\.(?=\S)[^.!?;\n。！？；]*)*[.!?;。！？；]?")
_LONGEST = 300
_SPACE = re.compile(r"\s+")


def find_negations(text: str) -> Iterator[Clause]:
    """Each negation with up to five words that follow it."""
    if text.isascii() and _DENYING.isdisjoint(letter_runs(text)):
        return
    for match in _NEGATION.finditer(text):
        yield _clause(match, "negation")
    if not text.isascii():
        for match in _NEGATION_ZH.finditer(text):
            yield _clause(match, "negation")


def find_constraints(text: str) -> Iterator[Clause]:
    """Each sentence that demands, forbids or limits something, at most 300 characters of it."""
    wide = not text.isascii()
    for match in _SENTENCE.finditer(text):
        piece = match[0]
        if _CONSTRAINT.search(piece) or (wide and _CONSTRAINT_ZH.search(piece)):
            start = match.start() + len(piece) - len(piece.lstrip())
            end = min(match.start() + len(piece.rstrip()), start + _LONGEST)
            yield Clause(start, end, "constraint", _SPACE.sub(" ", text[start:end]).lower())


def _clause(match: re.Match[str], kind: FactKind) -> Clause:
    return Clause(*match.span(), kind, _SPACE.sub(" ", match[0]).lower())
