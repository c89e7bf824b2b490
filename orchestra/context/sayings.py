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
_DEMANDS = re.compile(
    r"(?i)\b(?:must(?:n't)?|may|allerg\w*|forb\w+|prohibit\w*"
    r"|(?<!is )(?<!are )(?<!was )(?<!has )(?<!have )only|at (?:most|least)"
    r"|no (?:more|less|fewer|later) than|please|needs?|ha(?:ve|s) to|should(?:n't)?(?! like)"
    r"|required?|limit\w*|maximum|minimum|avoid|except|unless|exclud\w+|under no|make sure|ensure"
    r"|eats?|drinks?|wants?|likes?|allow\w*|permit\w*)\b"
    r"|必须|(?<!要)不要|(?<!能)不能|不得|不许|不准|(?<!可)不可|只(?!有[一二两三]|是)|仅|过敏|需要|应该|应当|请|务必|禁止|一定"
    r"|不吃|不喝|不想|至少|至多|最多|不超过|除了|除非|避免"
)
_TELLS = re.compile(
    r"(?i)^\W*(?:(?:and|but|so far|so|yes|no|well|then|now|true|good|ha|oh|though|or),? )*"
    r"(?:he|she|they|it|that|this|there|these|those|who|some(?:body|one)|nobody|every(?:body|one)|nothing|one"
    r"|(?:he|she|they|it|that|there)'\w+|i (?:shall|will|always|never|was|had|have)|i'll)\b"
    r"|\b(?:wasn't|weren't|didn't|hadn't|(?:was|were|had|did) (?:not?|never|nothing)|without an?"
    r"|i (?:should|would) like)\b|[?？]\W*$"
    r"|^\W*(?:而且|但是?|不过|可是|那么?|然后)?[,，]?(?:他们?|她们?|它们?|有人|没人|谁|那|这|大家|别人)|没"
    r"|能不能|是不是|要不要|会不会|可不可以|行不行|好不好|只有[一二两三几]|[说看]不[清准懂]|来不及|舍不得|忍不住"
)
"""Somebody's tale and not a demand: what others do not do, what was not so."""
_LONGEST = 300


class Saying(NamedTuple):
    """One sentence of the user, [start, end) of the text. `binds`: it sets a constraint or excludes.

    `loose`: it does so in its words only, as in "he never comes in time".
    """

    text: str
    start: int
    end: int
    binds: bool
    corrects: bool
    loose: bool = False


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
    loose = binds and _TELLS.search(even) is not None and _DEMANDS.search(even) is None
    return Saying(said, start, start + len(said), binds, corrects, loose)
