"""What to search for next, from the question and from what the searches so far have brought."""

from __future__ import annotations

import re
from collections.abc import Sequence

from orchestra.models.extractive.reading import Hit, Task
from orchestra.models.extractive.relevance import Relevance, relevance
from orchestra.models.extractive.words import is_chinese, pale_stems, strong_terms, without_chinese_pale
from orchestra.text.terms import STOP_WORDS, stem, terms

MOST_ROUNDS = 3
COVERED_HITS = 3  # a part of the question counts as found when so many passages hold it
_NAME = re.compile(r"\b[A-Z]{2,10}[ -]\d{1,6}\b|:[a-z]{2,10}:`(\d{1,6})`|\b[\w-]+\.(?:md|rst|txt|html|pdf|docx|csv)\b")


def next_queries(task: Task, hits: Sequence[Hit], asked: Sequence[str], round_number: int) -> list[str]:
    """The queries of this round, best first; none when enough is known."""
    if round_number >= MOST_ROUNDS:
        return []
    if round_number == 0:
        wanted = [content_words(task.question)]
        if task.whole != task.question:
            wanted.append(content_words(f"{task.question} {task.whole}"))
    elif not hits:
        wanted = [content_words(task.whole), *strong_words(task.question)] if round_number == 1 else []
    else:
        known = relevance(task, hits)
        wanted = _after_first(task, known, hits) if round_number == 1 else _uncovered(task, known)
    before = {_key(query) for query in asked}
    fresh: dict[frozenset[str], str] = {}
    for query in wanted:
        key = _key(query)
        if key and key not in before:
            fresh.setdefault(key, query)
    return list(fresh.values())[:3]


def content_words(text: str) -> str:
    """The words of `text` that can be searched for, as they are written, each once."""
    if is_chinese(text):
        kept = without_chinese_pale(re.sub(r"[，。？！、；：“”（）?!,;:]", " ", text)).split()
    else:
        kept = [word.strip(".,;:!?\"“”'()") for word in text.split()]
        kept = [word for word in kept if word and terms(word)]
    return " ".join(dict.fromkeys(kept))[:400]


def strong_words(text: str) -> list[str]:
    words = content_words(text).split()
    return [word for word in words if any(term in strong_terms(text) for term in terms(word))]


def _key(query: str) -> frozenset[str]:
    return frozenset(terms(query))


def _after_first(task: Task, known: Relevance, hits: Sequence[Hit]) -> list[str]:
    """What the first passages taught: their own words, and the names they refer to."""
    subject = strong_words(task.question)[:4]
    surface = _surfaces(hits)
    taught = [surface[term] for term in list(known.taught)[:12] if term in surface]
    queries = [" ".join(dict.fromkeys([*subject, *taught[:6]]))]
    queries.extend(_names(task, known, subject))
    return queries


def _names(task: Task, known: Relevance, subject: Sequence[str]) -> list[str]:
    """Documents that the best passages point to and that have not been seen: "ISO 3720", "notes.md"."""
    best = sorted(known.reads, key=lambda read: -read.fit)[:5]
    seen = {key for read in known.reads for key in terms(f"{read.hit.title} {read.hit.locator}") if any(map(str.isdigit, key))}
    counts: dict[str, float] = {}
    for read in best:
        for match in _NAME.finditer(read.hit.text):
            name = match.group() if match.group(1) is None else f"{match.group().split(':')[1].upper()} {match.group(1)}"
            if not seen & {term for term in terms(name) if any(map(str.isdigit, term))}:
                counts[name] = counts.get(name, 0.0) + read.fit
    ranked = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return [f"{name} {' '.join(subject[:2])}" for name, _ in ranked[:2]]


def _uncovered(task: Task, known: Relevance) -> list[str]:
    """The parts of the question that few of the passages hold, with its subject."""
    good = [read for read in known.reads if read.fit >= 0.3]
    missing = []
    for word in strong_words(task.question):
        keys = [term for term in terms(word) if term not in pale_stems()]
        held = sum(1 for read in good if any(term in read.terms for term in keys))
        if keys and held < COVERED_HITS:
            missing.append(word)
    if not missing:
        return []
    subject = [word for word in strong_words(task.question) if word not in missing][:2]
    return [" ".join([*missing[:6], *subject])]


def _surfaces(hits: Sequence[Hit]) -> dict[str, str]:
    """For each term one word as it is written in the passages."""
    found: dict[str, str] = {}
    for hit in hits:
        for word in re.findall(r"[A-Za-z][\w.-]*\w|[\u3400-\u9fff]{2,}", hit.text):
            if "\u3400" <= word[0]:
                for at in range(len(word) - 1):
                    found.setdefault(word[at : at + 2], word[at : at + 2])
            elif word.lower() not in STOP_WORDS:
                found.setdefault(terms(word)[0] if terms(word) else stem(word.lower()), word)
    return found
