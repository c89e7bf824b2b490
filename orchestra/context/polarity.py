"""Whether a sentence denies what another affirms: a negation lost or gained between text and summary."""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec import Struct

from orchestra.context.facts import plain
from orchestra.text.terms import terms

_NEGATIVE = re.compile(
    r"(?i)\b(?:not|no|never|none|neither|nor|nobody|nothing|without|cannot|except|excluding|exclude[sd]?|unable|avoid\w*|refus\w+"
    r"|forbid\w*|forbidden|prohibit\w*|skip|ban(?:ned)?|reject\w*|allergic|instead of|rather than|isn't|aren't|(?:\w+n't))(?!\w)"
)
_NEGATIVE_ZH = re.compile(
    "(?:不要|不得|不能|不会|不是|不可|不许|不准|不应|不再|不用|不想|不喜欢|不吃|不含|没有|没|禁止|严禁|除了|并非|未能|未|无需|无法|勿|拒绝|避免|从不|过敏|不)"
    "(?!过|仅|但|管|论|断|同|久|少)"
)
_BEHIND = re.compile(
    r"除外|之外|过敏|(?i:\b(?:excluded|forbidden|prohibited|banned|not allowed|off the table)\b)"
)
_CLAUSE = re.compile(
    r"[.!?;:。！？；：，、\n]|,(?!\d)|(?i:\s(?:but|because|so|although|whereas|while)\s)|但是|但|因为|所以"
)
_FEW = 2
_SHARE = 0.6


class Clause(Struct, frozen=True):
    """One clause: whether it denies, what it denies (or says), and all its terms."""

    negative: bool
    scope: frozenset[str]
    words: frozenset[str]


def clauses(text: str) -> list[Clause]:
    """The clauses of a text that say something."""
    made = []
    even = plain(text)
    for part in _CLAUSE.split(even):
        if part and part.strip():
            clause = _clause(part)
            if clause.words:
                made.append(clause)
    return made


def flips(statement: str, sources: Iterable[str]) -> bool:
    """Whether `statement` affirms what the sources only deny, or denies what they only affirm."""
    return flipped(clauses(statement), [clause for source in sources for clause in clauses(source)])


def flipped(said: Iterable[Clause], known: list[Clause]) -> bool:
    """The same for clauses that were read before."""
    return any(_turns(clause, known) for clause in said)


def _turns(clause: Clause, known: list[Clause]) -> bool:
    against = False
    for other in known:
        if clause.negative == other.negative:
            # The same said the same way anywhere bears it out.
            if _covers(clause.scope, other.words) or (other.negative and _covers(other.scope, clause.words)):
                return False
        elif other.negative:
            against = against or _covers(other.scope, clause.words)
        else:
            denied = clause.scope if len(clause.scope) >= _FEW else clause.words
            against = against or (len(denied) >= _FEW and _covers(denied, other.words))
    return against


def _covers(scope: frozenset[str], words: frozenset[str]) -> bool:
    """Whether most of what is denied is spoken of; one term alone must be all there is and all be there."""
    if not scope:
        return False
    shared = len(scope & words)
    return shared >= max(1, round(_SHARE * len(scope))) and (shared >= _FEW or len(scope) == shared)


def _clause(part: str) -> Clause:
    words = frozenset(terms(_without(part)))
    behind = _BEHIND.search(part)
    if behind is not None:
        return Clause(True, frozenset(terms(_without(part[: behind.start()]))) or words, words)
    match = _NEGATIVE.search(part) or _NEGATIVE_ZH.search(part)
    if match is None:
        return Clause(False, words, words)
    scope = frozenset(terms(_without(part[match.end() :])))
    return Clause(True, scope or words, words)


def _without(part: str) -> str:
    """The clause without its words of denial and of duty, which are not what it is about."""
    return _DUTY.sub(" ", _NEGATIVE_ZH.sub(" ", _NEGATIVE.sub(" ", part)))


_DUTY = re.compile(
    r"(?i)\b(?:please|must|should|shall|may|can|could|will|would|do|does|did|always|only|need|have|has|the|a|an|to|is|are|be|was"
    r"|any|anything|i|we|you|user|it|of|with|on|in|at|for|and|or|that|this|under|circumstances|ever)\b|请|对|必须|可以|应该|要|会|能|用户|我|您|你|的|了|都|也"
)
