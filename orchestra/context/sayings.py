"""What of a user's words binds the whole run: constraints, exclusions, corrections. By rule, en and zh."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from orchestra.context.clauses import find_constraints, find_negations
from orchestra.context.facts import plain
from orchestra.context.fence import Fenced, parts

_SENTENCE = re.compile(r"(?:[^.!?;\n。！？；]|\.(?=\S))+[.!?;。！？；]?")
_QUESTION = re.compile(
    r"(?i)^\W*(?:and |but |so |ok(?:ay)?,? )?(?:what|which|who|whom|whose|when|where|why|how|is|are|was"
    r"|were|does|do|did|has|have"
    r"|am|can i|may i|should i|must i)\b.*\?\W*$|(?:吗|呢|什么|怎么|多少|哪|是否|几|谁|为何|为什么"
    r"|如何)[^。！]*[?？]?\W*$",
    re.DOTALL,
)
SMALL_TALK = re.compile(
    r"(?i)\b(?:do(?:n't| not) (?:know|think|worry|mind|remember|believe|care|have to|need to)|(?:not"
    r"|n't) (?:sure|really|quite|bad)"
    r"|no (?:problem|worries|idea|doubt|thanks|thank you|rush|hurry|need)|can(?:'t|not) (?:wait|believe"
    r"|remember|imagine)"
    r"|nothing (?:else|much)|why not|long time no \w+|not alone|not so long ago|nothing too"
    r"|do(?:n't| not) forget"
    r"|(?:can't|cannot|couldn't) (?:agree more|help|thank)|not (?:give|giving) up"
    r"|(?:could|would)n't (?:be|have) (?:better|more)|not to mention"
    r"|no longer sure|as (?:it|they|that|things) should(?: be)?)\b"
    r"|没问题|不知道|没关系|不客气|不好意思|不错|只是|不用谢|没事|不确定|不记得|差不多|不过|没想到|对不起"
)
_CORRECTION = re.compile(
    r"(?i)\b(?:correction|actually|correct that|correct it|sorry|i meant|i mean|my mistake|instead of"
    r"|rather than|change[ds]?"
    r"|chang(?:e|ing)|now is|is now|are now|updated?|update|no longer|revised?|moved? (?:it )?to"
    r"|make (?:it|that)|(?:not|isn't) .{1,40}\bbut"
    r"|increased? (?:it )?to|raised? (?:it )?to|lower(?:ed)? (?:it )?to|reduced? (?:it )?to"
    r"|cut (?:it )?to|wrong|mistaken|scratch that"
    r"|switch(?:ed)? (?:it )?to|postponed?|brought forward|replaces?)\b|, not\b"
    r"|更正|改成|改为|改到|改在|其实|不对|纠正|应该是|现在是|换成|换到|调整|更新|更改|变更|修改|推迟"
    r"|提前|说错|弄错|搞错|不是|而是|提高到|降到|增加到|减少到|变成"
)
_OLD = re.compile(
    r"(?i)(?:\b(?:not|instead of|rather than|no longer|replaces?|isn't|wasn't)|不是|而不是|不再是"
    r"|取代)\s*(?:the |for |on |at |in |是|为)?"
)
_EXCEPTED = re.compile(
    r"(?i)除外|之外|\b(?:exclud(?:e|ing)|skip|allerg(?:y|ic)|anything but|stay away from|forbid)"
)
_LONGEST = 300


class Saying(NamedTuple):
    """One sentence of the user, [start, end) of the text. `binds`: it sets a constraint or excludes."""

    text: str
    start: int
    end: int
    binds: bool
    corrects: bool


def sayings(text: str) -> Iterator[Saying]:
    """The sentences of what somebody said; what is fenced was not said."""
    at = 0
    for part in parts(text):
        if isinstance(part, Fenced):
            at += len(part.label) + len(part.text)
            continue
        start = text.find(part, at)
        for match in _SENTENCE.finditer(part):
            said = match[0].strip()
            if said:
                yield _saying(said, start + match.start() + len(match[0]) - len(match[0].lstrip()))
        at = start + len(part)


def is_old(sentence: str, start: int) -> bool:
    """Whether what stands at `start` is named as what no longer holds: "not 3,200", 不是3200."""
    before = sentence[max(0, start - 24) : start]
    return any(match.end() == len(before) for match in _OLD.finditer(before)) or before.lower().endswith(
        "from "
    )


def is_question(sentence: str) -> bool:
    return _QUESTION.search(sentence) is not None


def _saying(said: str, start: int) -> Saying:
    even = plain(said)
    corrects = _CORRECTION.search(even) is not None
    binds = False
    if len(said) <= _LONGEST and not is_question(said):
        rest = SMALL_TALK.sub(" ", even)
        binds = any(True for _ in find_constraints(rest)) or bool(_EXCEPTED.search(rest))
        binds = binds or (not corrects and any(True for _ in find_negations(rest)))
    return Saying(said, start, start + len(said), binds, corrects)
