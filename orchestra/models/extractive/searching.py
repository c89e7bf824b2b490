"""What to look up next, from the question and from what the calls so far have brought."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any

from msgspec import Struct

from orchestra.models.extractive.candidates import DOUBTED_SECTION, DULL_SECTION
from orchestra.models.extractive.prose import term_set
from orchestra.models.extractive.reading import Hit, MadeCall, Task
from orchestra.models.extractive.relevance import Relevance, relevance, without_echoes
from orchestra.models.extractive.words import (
    hints,
    is_chinese,
    pale_stems,
    strong_terms,
    without_chinese_pale,
)
from orchestra.text.terms import STOP_WORDS, terms
from orchestra.values.messages import ToolSpec

MOST_ROUNDS = 4
MOST_CALLS = 4  # in one round
HITS = 11  # passages asked for, where the tool lets one say so
MOST_OPENED = 2
NEAR_BEST = 0.7  # documents that fit at least so well beside the best one are opened as well
MOST_SECTIONS = 2
SECTION_WORTH = 0.05
CORE_WORTH = 0.06
_CORE = re.compile(
    r"^(?:specification|design|overview|usage|syntax|details|semantics|how .{1,30} works?"
    r"|用法|方法|要求|规定|概述)$",
    re.IGNORECASE,
)
COVERED_HITS = 3  # a part of the question counts as found when so many passages hold it
_QUERY = re.compile(r"quer(?:y|ies)|question|keywords?|terms?|text|q$", re.IGNORECASE)
_PATH = re.compile(r"path|document|locator|file|source|name", re.IGNORECASE)
_LIMIT = re.compile(r"limit|count|top|results|hits", re.IGNORECASE)
_NAME = re.compile(
    r"\b[A-Z]{2,10}[ -]\d{1,6}\b|:([a-z]{2,10}):`(\d{1,6})`|\b[\w-]+\.(?:md|rst|txt|html|pdf|docx|csv)\b"
)


class Lookup(Struct, frozen=True):
    """One call to be made."""

    tool: str
    arguments: Mapping[str, Any]


class Desk(Struct, frozen=True):
    """The tools at hand by what they do, with their parameters; "" where there is none."""

    search: str
    query: str
    limit: str
    read: str
    path: str
    section: str


def desk(tools: Sequence[ToolSpec]) -> Desk:
    """Which of the tools searches and which reads, told from names and parameters."""
    search = query = limit = read = path = section = ""
    for tool in sorted(tools, key=lambda tool: ("search" not in tool.name, tool.name)):
        texts, numbers = _parameters(tool)
        asks = next((name for name in texts if _QUERY.search(name)), "")
        if asks and not search:
            search, query = tool.name, asks
            limit = next((name for name in numbers if _LIMIT.search(name)), "")
        elif not asks and not read and re.search("read|open|fetch", tool.name):
            path = next((name for name in texts if _PATH.search(name)), "")
            read = tool.name if path else ""
            section = next((name for name in texts if "section" in name), "")
    return Desk(search, query, limit, read, path, section)


def _parameters(tool: ToolSpec) -> tuple[list[str], list[str]]:
    properties: Mapping[str, Any] = tool.parameters.get("properties", {})
    kinds = {name: schema.get("type") for name, schema in properties.items() if isinstance(schema, Mapping)}
    return [n for n, kind in kinds.items() if kind == "string"], [
        n for n, kind in kinds.items() if kind == "integer"
    ]


def next_lookups(
    task: Task,
    desk: Desk,
    hits: Sequence[Hit],
    made: Sequence[MadeCall],
    listed: Mapping[str, Sequence[str]] | None = None,
) -> list[Lookup]:
    """The calls of this round, best first; none when enough is known.

    `listed`: document → its sections, where a reading named them.
    """
    turn = max((call.round + 1 for call in made), default=0)
    if not desk.search or turn >= MOST_ROUNDS:
        return []
    hits = without_echoes(task, hits)
    known = relevance(task, hits) if hits else None
    if turn == 0:
        queries = [content_words(task.question)]
        if task.whole != task.question:
            queries.append(content_words(f"{task.question} {task.whole}"))
        if hinted := hints(task.question):
            queries.append(" ".join([*strong_words(task.question), *hinted]))
        queries += _conjuncts(task.question)
    elif known is None:
        queries = [content_words(task.whole), *strong_words(task.question)] if turn == 1 else []
    else:
        queries = _taught(task, known, hits) if turn == 1 else _uncovered(task, known) if turn == 2 else []
    lookups = _fresh(queries, desk, made)
    if known is not None and desk.read:
        lookups += _readings(known, desk, made, listed or {})
    return lookups[:MOST_CALLS]


def _fresh(queries: Sequence[str], desk: Desk, made: Sequence[MadeCall]) -> list[Lookup]:
    before = {frozenset(terms(str(call.arguments.get(desk.query, "")))) for call in made}
    found = []
    for query in queries:
        key = frozenset(terms(query))
        if key and key not in before:
            before.add(key)
            limit = {desk.limit: HITS} if desk.limit else {}
            found.append(Lookup(desk.search, {desk.query: query, **limit}))
    return found[:MOST_CALLS]


def content_words(text: str) -> str:
    """The words of `text` that can be searched for, as they are written, each once."""
    if is_chinese(text):
        kept = without_chinese_pale(re.sub(r"[，。？！、；：“”（）?!,;:]", " ", text)).split()
    else:
        kept = [word.strip(".,;:!?\"“”'") for word in text.split()]
        kept = [word for word in kept if word and terms(word)]
    return " ".join(dict.fromkeys(kept))[:400]


def strong_words(text: str) -> list[str]:
    strong = set(strong_terms(text))
    return [word for word in content_words(text).split() if strong & set(terms(word))]


def _conjuncts(question: str) -> list[str]:
    """Each thing that the question joins by "and" or "or", with the words that close the question.

    One search for all would bring what has most of the words, and may bring nothing on the second thing.
    """
    parts = [strong_words(part) for part in re.split(r",|;|\b(?:and|or)\b|[、，和或与]", question)]
    parts = [part for part in parts if part]
    if not 1 < len(parts) <= 4:
        return []
    tail = parts[-1][-2:]
    return [" ".join(dict.fromkeys([*part[-3:], *tail])) for part in parts]


def _taught(task: Task, known: Relevance, hits: Sequence[Hit]) -> list[str]:
    """What the first passages taught: their own words, and the names they refer to."""
    subject = strong_words(task.question)[:4]
    surface = _surfaces(hits)
    taught = [surface[term] for term in list(known.taught)[:12] if term in surface]
    return [" ".join(dict.fromkeys([*subject, *taught[:6]])), *_names(known, subject)]


def _names(known: Relevance, subject: Sequence[str]) -> list[str]:
    """Documents that the best passages point to and that have not been seen: "ISO 3720", "notes.md"."""
    best = sorted(known.reads, key=lambda read: -read.fit)[:5]
    titles = " ".join(f"{read.hit.title} {read.hit.locator}" for read in known.reads)
    seen = {term for term in terms(titles) if any(map(str.isdigit, term))}
    counts: dict[str, float] = {}
    for read in best:
        for match in _NAME.finditer(read.hit.text):
            name = f"{match.group(1).upper()} {match.group(2)}" if match.group(1) else match.group()
            if not seen & {term for term in terms(name) if any(map(str.isdigit, term))}:
                counts[name] = counts.get(name, 0.0) + read.fit
    ranked = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return [f"{name} {' '.join(subject[:2])}" for name, _ in ranked[:1]]


def _uncovered(task: Task, known: Relevance) -> list[str]:
    """The parts of the question that few of the passages hold, with its subject."""
    good = known.good()
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


def _readings(
    known: Relevance, desk: Desk, made: Sequence[MadeCall], listed: Mapping[str, Sequence[str]]
) -> list[Lookup]:
    """The beginning of the best document, which tells what it is about; then its sections that fit best."""
    opened = {
        (str(call.arguments.get(desk.path)), str(call.arguments.get(desk.section, ""))) for call in made
    }
    fits = known.document_fits()
    ranked = known.documents()
    near = [name for name in ranked[:MOST_OPENED] if fits[name] >= NEAR_BEST * fits[ranked[0]]]
    if not any(call.name == desk.read for call in made):
        return [Lookup(desk.read, {desk.path: name}) for name in near]
    if not desk.section:
        return []
    queues = [
        [(name, path) for path in _sections(known, name, listed[name])] for name in ranked if name in listed
    ]
    turns = [pair for row in zip_longest(*queues) for pair in row if pair is not None and pair not in opened]
    return [Lookup(desk.read, {desk.path: name, desk.section: path}) for name, path in turns[:MOST_SECTIONS]]


def _sections(known: Relevance, document: str, names: Sequence[str]) -> list[str]:
    """The headings that share most with the question and what was learnt, without those that were seen.

    A heading stands for all below it, so the parents of the listed sections count as well.
    """
    seen = {read.hit.section for read in known.reads if read.hit.locator == document}
    paths: dict[str, None] = {}
    for name in names:
        parts = name.split(" > ")
        paths.update((" > ".join(parts[:depth]), None) for depth in range(1, len(parts) + 1))
    ranked = []
    for path in paths:
        if path in seen or DULL_SECTION.search(path):
            continue
        inside = term_set(path.split(" > ")[-1])
        worth = sum(known.asked.get(term, 0.0) + 0.5 * known.taught.get(term, 0.0) for term in inside)
        worth = worth / max(1, len(inside)) ** 0.8 + (
            CORE_WORTH if _CORE.search(path.split(" > ")[-1]) else 0.0
        )
        if worth >= SECTION_WORTH and not DOUBTED_SECTION.search(path):
            ranked.append((-worth, path))
    chosen: list[str] = []
    for _, path in sorted(ranked):
        if not any(path.startswith(f"{other} > ") or other.startswith(f"{path} > ") for other in chosen):
            chosen.append(path)
    return chosen


def _surfaces(hits: Sequence[Hit]) -> dict[str, str]:
    """For each term one word as it is written in the passages."""
    found: dict[str, str] = {}
    for hit in hits:
        for word in re.findall(r"[A-Za-z][\w.-]*\w|[\u3400-\u9fff]{2,}", hit.text):
            if word[0] >= "\u3400":
                for at in range(len(word) - 1):
                    found.setdefault(word[at : at + 2], word[at : at + 2])
            elif word.lower() not in STOP_WORDS:
                for term in terms(word)[:1]:
                    found.setdefault(term, word)
    return found
