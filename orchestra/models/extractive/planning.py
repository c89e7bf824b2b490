"""From a question to a plan: a title and sub-questions."""

from __future__ import annotations

import re
from collections import Counter

from orchestra.models.extractive import clauses
from orchestra.models.extractive.headings import heading
from orchestra.models.extractive.words import CHINESE_QUESTION, LEADS, is_chinese, strong_terms
from orchestra.text.sentences import sentences
from orchestra.text.terms import terms
from orchestra.values.drafts import Plan

MOST_QUESTIONS = 5
_LONG = 700  # characters; a longer text is a pasted document with a question in it
_LONGEST_ASKED = 500  # characters of one sub-question
_REQUEST = re.compile(
    r"(?:please|explain|describe|summari[sz]e|compare|list|discuss|outline|tell me|find out|research|write|give)\b|请|介绍|说明|比较|总结|解释",
    re.IGNORECASE,
)


def plan(question: str) -> Plan | None:
    """The question taken apart; None when it holds no word to look for."""
    text = question.strip()
    if not terms(text):
        return None
    asked = _asked(text)
    found: list[str] = []
    topic = ""
    for sentence in asked:
        if is_chinese(sentence):
            split = clauses.chinese(clauses.chinese_standing(sentence, topic) if topic else sentence)
            topic = topic or clauses.chinese_topic(split[0].rstrip("？"))
        else:
            split = clauses.english(sentence)
        found.extend(piece[:_LONGEST_ASKED] for piece in split if terms(piece))
    questions = tuple(dict.fromkeys(found))[:MOST_QUESTIONS] or (asked[0][:_LONGEST_ASKED],)
    return Plan(title=_title(asked[0], len(questions) > 1), questions=questions)


def _title(first: str, several: bool) -> str:
    """The subject of the first clause where more is asked about it; else that clause as a heading."""
    if is_chinese(first):
        return heading(clauses.chinese(first)[0])
    clause = clauses.english_parts(first)[0]
    topic = clauses.topic_of(clause) if several else ""
    bare = re.sub(r"^(?:the|an?) ", "", topic, flags=re.IGNORECASE)
    return heading(f"What is {bare}?") if len(strong_terms(bare)) > 1 else heading(clause)


def _asked(text: str) -> list[str]:
    """The sentences of `text` that ask for something, contexts folded into the question they lead to."""
    units = [" ".join(text[unit.start : unit.end].split()) for unit in sentences(text)]
    if len(text) > _LONG:
        return _asked_in_document(text, units)
    asking = [unit for unit in units if _asks(unit)]
    if not asking or len(asking) == len(units):
        return asking or [" ".join(text.split())]
    told = [unit for unit in units if unit not in asking]
    if len(strong_terms(" ".join(asking))) < 3:  # "We use X at Y. Is that safe?"
        return [f"{' '.join(told)} {asking[0]}", *asking[1:]]
    return asking


def _asks(unit: str) -> bool:
    if unit.endswith(("?", "？")):
        return True
    if is_chinese(unit):
        return bool(CHINESE_QUESTION.search(unit) or _REQUEST.match(unit))
    return bool(LEADS.match(unit) or _REQUEST.match(unit))


def _asked_in_document(text: str, units: list[str]) -> list[str]:
    """The questions of a pasted document: first those at its two ends, then those within; else its theme."""
    short = [(at, unit) for at, unit in enumerate(units) if len(unit) <= _LONGEST_ASKED]
    asking = [(at, unit) for at, unit in short if unit.endswith(("?", "？"))]
    if not asking:
        edge = {at for at, _ in short[:3]} | {at for at, _ in short[-3:]}
        asking = [(at, unit) for at, unit in short if at in edge and _asks(unit)]
    total = len(units)
    ends = sorted(asking, key=lambda pair: (min(pair[0], total - 1 - pair[0]), pair[0]))[:3]
    questions = list(dict.fromkeys(unit for _, unit in sorted(ends)))
    opening = (unit for _, unit in short if len(unit.split()) > 3 or is_chinese(unit))
    theme = _theme(text, next(opening, ""))
    if not questions:
        return [theme]
    if len(strong_terms(" ".join(questions))) < 3:
        return [f"About {theme}: {questions[0]}", *questions[1:]] if not is_chinese(text) else [theme, *questions]
    return questions


def _theme(text: str, first: str) -> str:
    """The words that a long text repeats most, as they are written there, after its first short sentence."""
    chinese = is_chinese(text)
    words = re.findall(r"[\u3400-\u9fff]{2,4}", text) if chinese else re.findall(r"[A-Za-z][\w-]{2,}", text)
    counts = Counter(word if chinese else word.lower() for word in words)
    told = [word for word, _ in counts.most_common(60) if strong_terms(word) and (chinese or len(word) > 3)]
    pale = [word for word in told if len(strong_terms(word)) and (chinese or word not in _EVERYDAY)]
    key = pale[:6]
    head = first if len(first) <= 120 else ""
    joined = ("、" if chinese else ", ").join(key)
    if head and joined:
        return f"{joined}（{head.rstrip('。')}）" if chinese else f"{joined} ({head.rstrip('.')})"
    return joined or head or text[:_LONGEST_ASKED]


_EVERYDAY = frozenset("such only than other more most been have were that this with from they them".split())
