"""What of a user's words is worth keeping beyond the session: by rule, in English and Chinese.

Statements about oneself, figures under a name, and what binds. A question states nothing; what sounds like a
secret is not kept at all, however it looks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from orchestra.context.facts import find_facts, is_hard, plain
from orchestra.context.keys import key_of
from orchestra.context.sayings import Saying, is_question, sayings
from orchestra.memory import patterns
from orchestra.redact import MASK

LONGEST_TEXT = 2_000
"""Characters of what was said that are read; what is longer was pasted and is no statement."""
MOST = 20
"""Statements of one text that are kept."""
LONGEST_SENTENCE = 300
_NEAR = 20
"""Where in its value a figure stands that makes a fact of "the deadline is 5 March"."""

_END = re.compile(r"[\s.!。！;；,，]+$")
_STOP = frozenset(
    "a an the in at on of for with to and or from as by is are was were my our i we not very".split()
)
_WORD = re.compile(r"[\w'-]+")
_HAN = re.compile("[\u4e00-\u9fff]")


class Statement(Struct, frozen=True):
    """One thing to keep: `key` and `value`, or (`key` "") a constraint; `text`: the sentence as it was said.

    `always`: it holds whatever the task is. `named`: it says of its key what it is, so that a later one takes
    its place. `corrects`: it says that something has changed; `loose`: and is kept only where it finds what.
    """

    text: str
    key: str = ""
    value: str = ""
    always: bool = False
    named: bool = False
    corrects: bool = False
    loose: bool = False


def statements(text: str) -> tuple[Statement, ...]:
    """What is kept of what a user said, in the order in which it was said."""
    if len(text) > LONGEST_TEXT:
        return ()
    said = [saying for saying in sayings(text) if len(saying.text) <= LONGEST_SENTENCE]
    found: list[Statement] = []
    for saying in said:
        if not is_question(saying.text) and not _is_secret(saying.text):
            found += _of(saying, said)
    return tuple(dict.fromkeys(found))[:MOST]


def without_statements(text: str) -> str:
    """What was said without what is kept of it or may be secret: what was asked."""
    gone = {each.text for each in statements(text)}
    parts = [s.text for s in sayings(text) if s.text not in gone and not _is_secret(s.text)]
    return " ".join(parts)


def _is_secret(sentence: str) -> bool:
    return MASK in sentence or patterns.SECRET.search(sentence) is not None


def _bare(sentence: str) -> str:
    """Without what only leads to it, and without its full stop."""
    return _END.sub("", patterns.LEAD.sub("", plain(sentence), count=1))


def _of(saying: Saying, said: Sequence[Saying]) -> Iterator[Statement]:
    bare = _bare(saying.text)
    stated = _stated(saying, bare)
    if patterns.binds(bare) and not (stated is not None and stated.named):
        own = patterns.STANDING.search(saying.text) or patterns.MINE.search(saying.text)
        lasting = own is not None or not _has_a_task(said, saying)
        yield Statement(saying.text, always=lasting, corrects=saying.corrects)
    elif stated is not None:
        yield stated


def _has_a_task(said: Sequence[Saying], but: Saying) -> bool:
    """Whether something beside this sentence asks for an answer."""
    return any(not _states(other) for other in said if other is not but)


def _states(saying: Saying) -> bool:
    if is_question(saying.text):
        return False
    bare = _bare(saying.text)
    return patterns.binds(bare) or _stated(saying, bare) is not None


def _stated(saying: Saying, bare: str) -> Statement | None:
    """What the sentence says of the user or of a thing that has a name."""
    asked = patterns.TO_REMEMBER.search(saying.text) is not None
    found = _self(bare) or _thing(bare, asked=asked)
    if found is not None:
        key, value, always, named = found
        return Statement(saying.text, key, _END.sub("", value), always, named, saying.corrects)
    if asked:  # whatever it is, it is to be remembered
        return Statement(saying.text, _words(bare), bare, always=True)
    if saying.corrects and patterns.CHANGE.search(bare):
        for fact in find_facts(bare):
            if is_hard(fact):
                return Statement(saying.text, key_of(bare, fact), fact.text, corrects=True, loose=True)
    return None


def _self(bare: str) -> tuple[str, str, bool, bool] | None:
    """key, value, whether it always holds, whether it names its key; of a sentence about oneself."""
    if match := patterns.NAME.match(bare):
        return "name", match["value"], True, True
    if match := patterns.NAME_ZH.match(bare):
        return "名字", match["value"], True, True
    if match := patterns.AM.match(bare) or patterns.AM_ZH.match(bare):
        return _words(match["value"]), match["value"], True, False
    if match := patterns.DO.match(bare):
        always = match["verb"].lower() in patterns.ABOUT_ME
        return _words(match["value"]), f"{match['verb']} {match['value']}", always, False
    if match := patterns.DO_ZH.match(bare):
        return match["value"][:12], f"{match['verb']}{match['value']}", match["verb"] != "用", False
    return None


def _thing(bare: str, *, asked: bool) -> tuple[str, str, bool, bool] | None:
    """The same of "my budget is 1,200"; with a figure, or where it was asked for, of "the deadline ..."."""
    wide = _HAN.search(bare) is not None
    match = patterns.IS_ZH.match(bare) if wide else patterns.IS.match(bare)
    if match is None:
        return None
    value: str = match["value"]
    near = any(is_hard(fact) and fact.start <= _NEAR for fact in find_facts(value))
    if patterns.TOLD.search(match["key"]):
        return None
    if wide:
        mine, key = bare.startswith("我"), match["key"].strip("的 ")
    else:
        mine, key = match["whose"].lower() in ("my", "our"), match["key"].strip()
    past = not wide and (match["verb"] or "").lower() in ("was", "were")
    if key and (asked or (near and (mine or not past)) or (mine and not past)):
        return key, value, False, True
    return None


def _words(text: str) -> str:
    """The first three telling words."""
    found = [word for word in _WORD.findall(text) if word.lower() not in _STOP]
    return " ".join(found[:3]) or text[:20]
