"""What `--models extractive` finds: gold documents cited and facts told, beside two plain rankings.

    python -m benchmarks.research --data DIR [--questions FILE] [--json] [--print ID ...]

DIR holds the documents and, unless another file is named, `questions.json`: a list of objects with `id`,
`question`, `gold` (locators that a good report cites) and `facts` (strings that it contains, compared
without case, white space folded). The questions themselves are kept out of the documents that are read.

Per question: gold cited, facts told, words, documents cited, quotes that stand verbatim at their offsets,
sentences supported, seconds. Beside it, computed in the same run: BM25 over sentences and BM25 over passages,
best first, cut at 900 words. Bars (issue 2) over the twelve questions on 88 PEPs: 97 % of gold, 83 % of
facts, at most 900 words each, every quote verbatim, every sentence supported.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import anyio
from msgspec import Struct, structs

from orchestra.config.load import load_settings
from orchestra.models.extractive.model import Extractive
from orchestra.runtime import Runtime
from orchestra.text.sentences import sentences
from orchestra.text.terms import query_terms, terms
from orchestra.tools.documents.index import DocumentIndex
from orchestra.values.report import Report

MOST_WORDS = 900
K1, B = 1.2, 0.75


class Question(Struct, frozen=True):
    """One research question with what a good report cites and tells."""

    id: str
    question: str
    gold: tuple[str, ...]
    facts: tuple[str, ...]


class Row(Struct, frozen=True):
    """What one report came to; `gold` and `facts` count hits, `missed` names the rest."""

    id: str
    gold: int
    facts: int
    missed: tuple[str, ...]
    words: int
    documents: int
    quotes: int
    verbatim: int
    sentences: int
    supported: int
    seconds: float


class Unit(Struct, frozen=True):
    """A sentence or a passage for the plain rankings."""

    locator: str
    text: str
    counts: Mapping[str, int]


def fold(text: str) -> str:
    return " ".join(text.split()).casefold()


def text_of(report: Report) -> str:
    """What a reader sees of a report, without references and gaps."""
    parts = [report.title, *(sentence.text for sentence in report.summary)]
    for section in report.sections:
        parts += [section.heading, *(sentence.text for sentence in section.sentences)]
    return "\n".join(parts)


def measure(question: Question, report: Report, texts: Mapping[str, str], seconds: float) -> Row:
    body = fold(text_of(report))
    shown = [*report.summary, *(sentence for section in report.sections for sentence in section.sentences)]
    cited = {reference.locator for reference in report.references}
    quotes = [(reference.locator, quote) for reference in report.references for quote in reference.quotes]
    told = [fact for fact in question.facts if fold(fact) in body]
    return Row(
        id=question.id,
        gold=len(set(question.gold) & cited),
        facts=len(told),
        missed=(*sorted(set(question.gold) - cited), *(fact for fact in question.facts if fact not in told)),
        words=report.words,
        documents=len(cited),
        quotes=len(quotes),
        verbatim=sum(texts[name][quote.start : quote.end] == quote.text for name, quote in quotes),
        sentences=len(shown),
        supported=sum(sentence.supported for sentence in shown),
        seconds=seconds,
    )


def ranker(units: Sequence[Unit]) -> Callable[[str], list[Unit]]:
    """Plain BM25 over `units`; ties in their order."""
    postings: dict[str, list[int]] = defaultdict(list)
    for at, unit in enumerate(units):
        for term in unit.counts:
            postings[term].append(at)
    lengths = [sum(unit.counts.values()) for unit in units]
    mean = sum(lengths) / max(1, len(lengths))

    def rank(query: str) -> list[Unit]:
        scores: Counter[int] = Counter()
        for term in query_terms(query):
            rows = postings.get(term, ())
            rarity = math.log(1 + (len(units) - len(rows) + 0.5) / (len(rows) + 0.5))
            for at in rows:
                count = units[at].counts[term]
                norm = K1 * (1 - B + B * lengths[at] / mean)
                scores[at] += rarity * count * (K1 + 1) / (count + norm)  # type: ignore[assignment]
        return [units[at] for at, _ in sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))]

    return rank


def plain(question: Question, ranked: Sequence[Unit]) -> tuple[int, int]:
    """Gold and facts in the best units up to MOST_WORDS words."""
    words = 0
    body: list[str] = []
    cited: set[str] = set()
    for unit in ranked:
        room = MOST_WORDS - words
        cut = unit.text.split()[:room]
        if not cut:
            break
        words += len(cut)
        body.append(" ".join(cut))
        cited.add(unit.locator)
    text = fold("\n".join(body))
    return len(set(question.gold) & cited), sum(fold(fact) in text for fact in question.facts)


async def library(folder: Path) -> tuple[dict[str, str], list[Unit], list[Unit]]:
    """The documents' texts as read, their passages and their sentences."""
    texts: dict[str, str] = {}
    passages: list[Unit] = []
    units: list[Unit] = []
    async with DocumentIndex(folder) as index:
        for name in await index.locators():
            for passage in await index.passages(name):
                texts[name] = passage.document.text
                passages.append(Unit(name, passage.text, Counter(terms(passage.text))))
            for span in sentences(texts.get(name, "")):
                text = texts[name][span.start : span.end]
                units.append(Unit(name, text, Counter(terms(text))))
    return texts, passages, units


async def run(folder: Path, questions: Sequence[Question]) -> tuple[list[Row], dict[str, Any], list[Report]]:
    texts, passages, units = await library(folder)
    by_passage, by_sentence = ranker(passages), ranker(units)
    rows: list[Row] = []
    reports: list[Report] = []
    base: Counter[str] = Counter()
    settings = load_settings(environ={}).settings
    settings = structs.replace(settings, store="sqlite:///:memory:")
    model = Extractive()
    async with Runtime(settings, models={"small": model, "large": model}) as runtime:
        for question in questions:
            began = time.perf_counter()
            report = await runtime.research(question.question, documents=folder)
            reports.append(report)
            rows.append(measure(question, report, texts, time.perf_counter() - began))
            for name, rank in (("passages", by_passage), ("sentences", by_sentence)):
                gold, facts = plain(question, rank(question.question))
                base.update({f"{name} gold": gold, f"{name} facts": facts})
    gold = sum(len(question.gold) for question in questions) or 1
    facts = sum(len(question.facts) for question in questions) or 1
    totals = {
        "gold": sum(row.gold for row in rows) / gold,
        "facts": sum(row.facts for row in rows) / facts,
        "most_words": max(row.words for row in rows),
        "verbatim": sum(row.verbatim for row in rows) / (sum(row.quotes for row in rows) or 1),
        "supported": sum(row.supported for row in rows) / (sum(row.sentences for row in rows) or 1),
        "seconds": sum(row.seconds for row in rows) / len(rows),
        "of_gold": gold,
        "of_facts": facts,
        "baselines": {name: count / (gold if "gold" in name else facts) for name, count in base.items()},
    }
    return rows, totals, reports


def table(rows: Sequence[Row], totals: Mapping[str, Any], questions: Sequence[Question]) -> str:
    wanted = {question.id: question for question in questions}
    lines = [f"{'question':22}{'gold':>6}{'facts':>7}{'words':>7}{'docs':>6}{'quotes':>9}{'supported':>11}{'s':>6}  missed"]
    for row in rows:
        question = wanted[row.id]
        lines.append(
            f"{row.id:22}{f'{row.gold}/{len(question.gold)}':>6}{f'{row.facts}/{len(question.facts)}':>7}"
            f"{row.words:>7}{row.documents:>6}{f'{row.verbatim}/{row.quotes}':>9}"
            f"{f'{row.supported}/{row.sentences}':>11}{row.seconds:>6.1f}  {', '.join(row.missed)}"
        )
    lines.append(
        f"extractive       gold {totals['gold']:.1%}  facts {totals['facts']:.1%}  words <= {totals['most_words']}  "
        f"verbatim {totals['verbatim']:.1%}  supported {totals['supported']:.1%}  {totals['seconds']:.2f} s each"
    )
    for name in ("sentences", "passages"):
        base = totals["baselines"]
        lines.append(f"BM25 {name:10}  gold {base[f'{name} gold']:.1%}  facts {base[f'{name} facts']:.1%}  at {MOST_WORDS} words")
    return "\n".join(lines)


def shown(report: Report) -> str:
    """A report as plain text, for a reader of the benchmark."""
    lines = [f"# {report.title}", *(f"  {s.text} {list(s.citations)}" for s in report.summary)]
    for section in report.sections:
        lines += [f"## {section.heading}", *(f"  {s.text} {list(s.citations)}{' !! ' + s.problem if s.problem else ''}" for s in section.sentences)]
    lines += [f"[{r.n}] {r.locator} {r.title}" for r in report.references]
    lines += [f"gap: {gap}" for gap in report.gaps] + [f"conflict: {about}" for about in report.conflicts]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of documents, with questions.json")
    parser.add_argument("--questions", type=Path, help="another file of questions")
    parser.add_argument("--half", choices=("even", "odd"), help="every second question only")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--print", nargs="*", default=(), metavar="ID", help="also print these reports")
    given = parser.parse_args()
    source = given.questions or given.data / "questions.json"
    questions = [Question(q["id"], q["question"], tuple(q["gold"]), tuple(q["facts"])) for q in json.loads(source.read_text("utf-8"))]
    questions = {"even": questions[::2], "odd": questions[1::2]}.get(given.half, questions)
    if given.print:
        questions = [question for question in questions if question.id in given.print]
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work) / "documents"
        shutil.copytree(given.data, folder, ignore=shutil.ignore_patterns(source.name))
        os.chdir(work)
        rows, totals, reports = anyio.run(run, folder, questions)
    if given.json:
        print(json.dumps({"totals": totals, "questions": [structs.asdict(row) for row in rows]}, ensure_ascii=False))
        return
    for report in reports if given.print else ():
        print(shown(report), end="\n\n")
    print(table(rows, totals, questions))


if __name__ == "__main__":
    main()
