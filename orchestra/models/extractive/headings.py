"""Short headings and titles made of questions."""

from __future__ import annotations

import re
from collections.abc import Sequence

from orchestra.models.extractive.phrases import Clause, parse
from orchestra.models.extractive.words import AUXILIARIES, is_chinese

_MOST_WORDS = 14
_MODALS = frozenset("can could should must may might will would".split())
_LOOSE = frozenset("and or with of in on to for by the a an that which as at from be is are not its their".split())
_TAIL = re.compile(r"\s+(?:in the first place|so that|in order to|such that)\b.*$", re.IGNORECASE | re.DOTALL)
REQUEST = re.compile(
    r"(?:please |can you |could you )*(?:tell me(?: about)?|explain|describe|summari[sz]e|list|compare|discuss|outline|"
    r"give(?: me)?(?: an overview of)?|write (?:a report )?(?:on|about)|research|i want to know|i would like to know)\s+",
    re.IGNORECASE,
)
_ARTICLE = re.compile(r"(?:the|a|an) ", re.IGNORECASE)


def heading(question: str) -> str:
    """A heading for the answer to `question`, in its language, without a question mark."""
    text = " ".join(question.split()).strip(" ?？。.!！")
    if is_chinese(text):
        return _chinese(text)
    text = _TAIL.sub("", text)
    text = REQUEST.sub("", text, count=1) or text
    about = re.match(r"About (?P<topic>[^:]{3,120}): (?P<clause>.+)", text)
    if about:
        text = about["clause"]
    clause = parse(text)
    made = _english(clause) if clause else ""
    asks = not made and (clause is not None or text.split()[0].lower() in AUXILIARIES)
    short = _capital(_shorten(made or text))
    return f"{short}?" if asks else short


def distinct_headings(questions: Sequence[str], title: str) -> list[str]:
    """A heading for each question, none of them twice and none the title again where it can be told apart."""
    found = [heading(question) for question in questions]
    for at, (question, name) in enumerate(zip(questions, found, strict=True)):
        if len(questions) > 1 and found.count(name) > 1:
            found[at] = _own_part(question, [other for other in questions if other != question]) or name
        elif len(questions) > 1 and name == title:
            found[at] = _definition(question, name)
    return found


def _own_part(question: str, others: Sequence[str]) -> str:
    """The words at the end of `question` from the first that no other question has there."""
    words = question.strip(" ?？").split()
    same = max((_shared_start(words, other.strip(" ?？").split()) for other in others), default=0)
    while same > 0 and words[same - 1].lower() in ("for", "in", "with", "on", "to", "by", "as", "of"):
        same -= 1
    return _capital(_shorten(" ".join(words[same:])))


def _shared_start(one: Sequence[str], two: Sequence[str]) -> int:
    shared = 0
    for first, second in zip(one, two, strict=False):
        if first != second:
            break
        shared += 1
    return shared


def _definition(question: str, name: str) -> str:
    """"What X is" for "What is X?" where the title is already X."""
    shape = re.match(r"what (is|are|was|were) (.+?)\??$", question, re.IGNORECASE)
    if shape and len(name.split()) < 10:
        return f"What {re.sub(r' (?:called|named)$', '', shape.group(2))} {shape.group(1).lower()}" + (
            " called" if shape.group(2).endswith("called") else ""
        )
    return f"{name}是什么" if is_chinese(name) and "是什么" in question else name


def _english(clause: Clause) -> str:
    lead, auxiliary, subject, rest = clause.lead, clause.auxiliary, clause.subject, clause.rest
    kind = lead.lower().split()[0]
    if lead.lower() == "what" and auxiliary in ("is", "are", "was", "were"):
        whole = f"{subject} {rest}".strip()
        if not subject or re.match(r"(?:called|named|for|used for|good for)\b", rest):
            purpose = rest.endswith("for")
            named = subject or re.sub(r"\s+(?:used |good )?for$", "", whole)
            if not re.match(r"\w+ed\b", named):
                bare = _ARTICLE.sub("", named, count=1)
                return f"The purpose of {named}" if purpose or whole.endswith(" for") else bare
        return ""
    if not subject:
        return ""
    if auxiliary in _MODALS or auxiliary in ("is", "are", "was", "were", "has", "have", "had"):
        if kind in ("which", "what") and lead.lower() not in ("which", "what"):
            return f"{lead.split(maxsplit=1)[1]} {subject} {auxiliary} {rest}"
        return f"{lead} {subject} {auxiliary} {rest}"
    if auxiliary == "do" and kind in ("how", "why", "where", "when"):
        return f"{lead} {subject} {rest}"
    if auxiliary == "does" and kind in ("how", "why", "where", "when", "what"):
        verb, *others = rest.split(" ")
        return " ".join([lead, subject, _third(verb), *others])
    if auxiliary == "do" and kind in ("what", "which"):
        return f"{lead} {subject} {rest}"
    return ""


def _third(verb: str) -> str:
    if verb == "have":
        return "has"
    if verb.endswith(("s", "sh", "ch", "x", "o")):
        return verb + "es"
    if verb.endswith("y") and verb[-2:-1] not in "aeiou":
        return verb[:-1] + "ies"
    return verb + "s"


def _shorten(text: str) -> str:
    words = text.split()
    if len(words) <= _MOST_WORDS:
        return text.strip(" ,;:")
    kept = words[:_MOST_WORDS]
    for at in range(len(kept) - 1, 4, -1):
        if kept[at].endswith((",", ";")):
            return " ".join(kept[: at + 1]).strip(" ,;:")
        if kept[at].lower() in ("and", "or", "with", "that", "which", "when", "before", "after", "so", "in", "to"):
            return _without_tail(kept[:at])
    return _without_tail(kept)


def _without_tail(words: list[str]) -> str:
    """The words without a conjunction or preposition at their end."""
    while len(words) > 2 and words[-1].lower() in _LOOSE:
        words = words[:-1]
    return " ".join(words).strip(" ,;:")


def _capital(text: str) -> str:
    """The first letter as a capital, unless the first word is a name of code."""
    first = text.split(" ", 1)[0]
    if not first[:1].islower() or re.search(r"[_.()*\d]|[A-Z]", first):
        return text
    return text[0].upper() + text[1:]


_CHINESE_SHAPES = (
    (re.compile(r"^(?:什么是|何谓|何为)(.+)$"), r"\1"),
    (re.compile(r"^(.+?)(?:是什么意思|是什么|指的是什么|是指什么)$"), r"\1"),
    (re.compile(r"^(.+?)(?:有|包括|包含|分为)(?:哪些|什么|哪几种|哪几类|几种|几类)(.+)$"), r"\1的\2"),
    (re.compile(r"^(.+?)(?:有何|有什么)(.+)$"), r"\1的\2"),
    (re.compile(r"^(.+?)的(.{1,12}?)(?:是多少|有多少|是怎样的|是什么样的|如何|怎么样)$"), r"\1的\2"),
    (re.compile(r"^(.+?)是(?:怎样|怎么|如何)(.+?)的$"), r"\1的\2"),
    (re.compile(r"^(?:为什么|为何)(.+)$"), r"\1的原因"),
    (re.compile(r"^(.+?)(?:为什么|为何)(.+)$"), r"\1\2的原因"),
)


def _chinese(text: str) -> str:
    text = re.sub(r"^关于[^：]{1,40}：", "", text)
    text = re.sub(r"^(?:请问|请|介绍一下|介绍|说明|解释一下|解释|告诉我)+", "", text).rstrip("吗呢啊？?。") or text
    for shape, form in _CHINESE_SHAPES:
        made, count = shape.subn(form, text)
        if count:
            text = made.replace("的的", "的")
            break
    return text if len(text) <= 40 else re.split("[，、；：]", text[:40])[0]
