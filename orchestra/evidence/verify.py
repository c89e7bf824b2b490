"""A draft, checked sentence by sentence against the quotes of the claims that it cites."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cached_property

from msgspec import Struct

from orchestra.context.facts import Evidence
from orchestra.evidence.claims import identity_of
from orchestra.evidence.language import words_for
from orchestra.evidence.ledger import Ledger, source_id
from orchestra.text.shape import letter_runs
from orchestra.text.terms import STOP_WORDS, terms
from orchestra.values.drafts import Draft, DraftSentence
from orchestra.values.handoffs import Brief
from orchestra.values.report import Reference, ReferenceQuote, Report, Section, Sentence
from orchestra.values.sources import Quote

_LEAST_TERMS = 4  # a sentence with fewer telling words may share none with its quotes
# Marks that a model put into its sentence: claim ids anywhere, bare numbers only at its end.
_IDS = re.compile(r"\s*[\[(（]c\d{1,4}(?:\s*[,;、]\s*c\d{1,4})*[\])）]", re.IGNORECASE)
_NUMBERS = re.compile(r"(?:\s+|(?<=[.。!?！？]))(?:\[\d{1,3}(?:\s*[,;]\s*\d{1,3})*\])+(?=[.。!?！？]?\s*$)")
_WIDE = re.compile("[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
_COUNTED = re.compile(
    "[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|[^\\W\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff](?:[^\\s\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]*[^\\W\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff])?"
)

_BYTES = [chr(byte) for byte in range(128)]
# Blanks as one, what makes a word as one, the rest left out.
_SHAPE = bytes(32 if char.isspace() else 97 for char in _BYTES) + bytes(128)
_NO_WORD = bytes(ord(char) for char in _BYTES if not (char.isalnum() or char == "_" or char.isspace()))
_STOP_WORDS = frozenset(word.encode() for word in STOP_WORDS)


def check_draft(draft: Draft, brief: Brief, *, ledger: Ledger, strict: bool = False) -> Report:
    """The report that `draft` becomes: only citations of claims that were handed over, each sentence checked.

    A sentence is supported when it cites at least one claim of `brief`, every quote of those claims stands
    at its offsets in a source of `ledger`, and every figure of the sentence stands in these quotes, every
    date, id and name in the quotes, the titles or locators of their documents, or the question. What fails is
    marked, or with `strict` taken out and listed in `removed`. References are numbered in the order of first
    citation. `supported_share` is that of the sentences shown, 0 where there are none.

    The report's session, usage, seconds, notes and partial are left empty for the caller to fill.
    """
    checker = _Checker(brief, ledger)
    summary = [checker.check(text, names) for text, names in _told(draft.summary)]
    sections = [
        (_flat(section.heading), [checker.check(text, names) for text, names in _told(section.sentences)])
        for section in draft.sections
    ]
    all_checked = [*summary, *(checked for _, checkeds in sections for checked in checkeds)]
    removed = tuple(
        Sentence(checked.text, (), False, checked.problem)
        for checked in all_checked
        if strict and checked.problem
    )
    numbers = _Numbers()
    shown_summary = numbers.shown(summary, strict)
    shown_sections = tuple(
        Section(heading, shown)
        for heading, checkeds in sections
        if (shown := numbers.shown(checkeds, strict))
    )
    title = _flat(draft.title) or _flat(brief.title) or _flat(brief.question[:200])
    shown_all = [*shown_summary, *(sentence for section in shown_sections for sentence in section.sentences)]
    headings = [section.heading for section in shown_sections]
    return Report(
        session="",
        question=brief.question,
        title=title,
        summary=shown_summary,
        sections=shown_sections,
        references=numbers.references(),
        gaps=brief.gaps,
        conflicts=_conflicts(brief),
        removed=removed,
        supported_share=sum(sentence.supported for sentence in shown_all) / len(shown_all)
        if shown_all
        else 0.0,
        words=_words_of([title, *headings, *(sentence.text for sentence in shown_all)]),
    )


def _words_of(texts: Iterable[str]) -> int:
    whole = "\n".join(["", *texts])
    if whole.isascii():  # a word is what stands between blanks and has a letter or a digit in it
        return whole.encode().translate(_SHAPE, _NO_WORD).count(b" a")
    return len(_COUNTED.findall(whole))


class _Checked(Struct, frozen=True, gc=False):
    """A sentence with what it cites and what is wrong with it."""

    text: str
    cited: _Cited
    problem: str


class _Checker:
    def __init__(self, brief: Brief, ledger: Ledger) -> None:
        self._claims = {claim.id.casefold(): claim for claim in brief.claims if claim.id}
        self._questions = [brief.question, *brief.questions]
        self._say = words_for(brief.question)
        self._ledger = ledger
        self._cited: dict[tuple[str, ...], _Cited] = {}

    def check(self, text: str, names: tuple[str, ...]) -> _Checked:
        """One sentence, without marks, and the ids that it cites."""
        cited = self._cited.get(names)
        if cited is None:
            cited = self._cited[names] = self._read(names)
        return _Checked(text, cited, cited.fault or self._problem(text, cited))

    def _problem(self, text: str, cited: _Cited) -> str:
        missing = cited.evidence.missing(text)
        if missing:
            return self._say.not_borne(list(dict.fromkeys([fact.text for fact in missing])))
        return "" if cited.is_related(text) else self._say.unrelated()

    def _read(self, names: tuple[str, ...]) -> _Cited:
        named = list(dict.fromkeys([name.strip(" []()").casefold() for name in names if name.strip()]))
        claims = [self._claims[name] for name in named if name in self._claims]
        quotes = list(dict.fromkeys([quote for claim in claims for quote in claim.quotes]))
        cited = _Cited(quotes, self._questions, self._ledger)
        if len(claims) < len(named):
            cited.fault = self._say.unknown_claims([name for name in named if name not in self._claims])
        elif not claims:
            cited.fault = self._say.no_citation()
        elif not quotes or len(cited.homes) < len(quotes):
            cited.fault = self._say.not_verbatim()
        return cited


class _Cited:
    """What a sentence cites, and all that its quotes have to bear it out, each read once.

    `homes`: the quotes that stand where they say, each with locator and id of its source. `fault`: what is
    wrong with any sentence that cites this.
    """

    def __init__(self, quotes: Sequence[Quote], questions: Sequence[str], ledger: Ledger) -> None:
        self.fault = ""
        self.homes = [
            (quote, (quote.locator, source)) for quote in quotes if (source := _source_of(quote, ledger))
        ]
        self._texts = [quote.text for quote in quotes]
        self._identity = identity_of(quotes)
        self.evidence = Evidence(self._texts, [*self._identity, *questions], find=ledger.facts)
        self._words = frozenset(letter_runs(" ".join(self._texts))) - _STOP_WORDS

    @cached_property
    def _terms(self) -> frozenset[str]:
        return frozenset(terms("\n".join((*self._texts, *self._identity))))

    def is_related(self, text: str) -> bool:
        """Whether a telling word of `text` is in the quotes or titles; two scripts cannot be compared so."""
        if not self._words.isdisjoint(letter_runs(text)):  # a word as it is: mostly there is one
            return True
        mine = set(terms(text))
        if len(mine) < _LEAST_TERMS or bool(_WIDE.search(text)) != any(map(_WIDE.search, self._texts)):
            return True
        return not mine.isdisjoint(self._terms)


class _Numbers:
    """References as they are first cited; a source has one number, its quotes stand as they were cited."""

    def __init__(self) -> None:
        self._quotes: dict[tuple[str, str], dict[tuple[int, int], Quote]] = {}
        self._order: dict[tuple[str, str], int] = {}

    def shown(self, checkeds: Iterable[_Checked], strict: bool) -> tuple[Sentence, ...]:
        return tuple(
            [
                Sentence(checked.text, self._cite(checked.cited), not checked.problem, checked.problem)
                for checked in checkeds
                if not (strict and checked.problem)
            ]
        )

    def _cite(self, cited: _Cited) -> tuple[int, ...]:
        found: dict[int, None] = {}
        for quote, home in cited.homes:
            self._quotes.setdefault(home, {}).setdefault((quote.start, quote.end), quote)
            found[self._order.setdefault(home, len(self._order) + 1)] = None
        return tuple(found)

    def references(self) -> tuple[Reference, ...]:
        made = []
        for home, number in self._order.items():
            locator, source = home
            quotes = list(self._quotes[home].values())
            listed = tuple([ReferenceQuote(quote.text, quote.start, quote.end) for quote in quotes])
            made.append(Reference(number, source, locator, quotes[0].title, listed))
        return tuple(made)


def _source_of(quote: Quote, ledger: Ledger) -> str:
    """The id of the source in which `quote` stands at its offsets; "" if there is none."""
    for document in ledger.versions(quote.locator):
        if quote.text and document.text[quote.start : quote.end] == quote.text:
            return source_id(document)
    return ""


def _told(sentences: Iterable[DraftSentence]) -> list[tuple[str, tuple[str, ...]]]:
    """Each sentence's text without marks, and what it cites; without empty sentences."""
    told = [(_unmarked(sentence.text), sentence.claims) for sentence in sentences]
    return [each for each in told if each[0]]


def _unmarked(text: str) -> str:
    if "[" in text or "(" in text or "（" in text:
        text = _NUMBERS.sub("", _IDS.sub("", text))
    return _flat(text)


def _flat(text: str) -> str:
    """On one line, and nothing in it that UTF-8 cannot hold (a model may send half a surrogate pair)."""
    even = text if text.isascii() else text.encode("utf-8", "replace").decode()
    return " ".join(even.split())


def _conflicts(brief: Brief) -> tuple[str, ...]:
    """Each conflict as a sentence in the question's language, with both claims and where they stand."""
    claims = {claim.id: claim for claim in brief.claims}
    say = words_for(brief.question)
    told = []
    for conflict in brief.conflicts:
        sides = [
            (claims[name].text.rstrip(".。"), claims[name].quotes[0].locator)
            for name in conflict.claims
            if name in claims and claims[name].quotes
        ]
        if len(sides) >= 2:
            told.append(say.disagreement(sides[0], sides[1]))
    return tuple(told)
