"""A draft, checked sentence by sentence against the quotes of the claims that it cites."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import chain

from msgspec import Struct

from orchestra.context.plainly import told_plainly
from orchestra.evidence.language import words_for
from orchestra.evidence.ledger import Ledger, source_id
from orchestra.text.fold import one_line, whole_characters
from orchestra.values.drafts import Draft, DraftSentence
from orchestra.values.handoffs import Brief
from orchestra.values.report import Reference, ReferenceQuote, Report, Section, Sentence
from orchestra.values.sources import Quote

# Marks that a model put into its sentence: claim ids anywhere, bare numbers only at its end.
_IDS = re.compile(r"\s*[\[(（]c\d{1,4}(?:\s*[,;、]\s*c\d{1,4})*[\])）]", re.IGNORECASE)
_NUMBERS = re.compile(r"(?:\s+|(?<=[.。!?！？]))(?:\[\d{1,3}(?:\s*[,;]\s*\d{1,3})*\])+(?=[.。!?！？]?\s*$)")
_COUNTED = re.compile(
    "[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|[^\\W\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff](?:[^\\s\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]*[^\\W\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff])?"
)

_BYTES = [chr(byte) for byte in range(128)]
# Blanks as one, what makes a word as one, the rest left out.
_SHAPE = bytes(32 if char.isspace() else 97 for char in _BYTES) + bytes(128)
_NO_WORD = bytes(ord(char) for char in _BYTES if not (char.isalnum() or char == "_" or char.isspace()))


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
    summary = list(map(checker.check, _told(draft.summary)))
    sections = [
        (_flat(section.heading), list(map(checker.check, _told(section.sentences))))
        for section in draft.sections
    ]
    numbers = _Numbers()
    shown_summary = numbers.shown(summary, strict)
    shown_sections = [Section(heading, numbers.shown(checkeds, strict)) for heading, checkeds in sections]
    shown_sections = [section for section in shown_sections if section.sentences]
    title = _flat(draft.title) or _flat(brief.title) or _flat(brief.question[:200])
    shown = [*chain(shown_summary, *[section.sentences for section in shown_sections])]
    headings = [section.heading for section in shown_sections]
    supported = [sentence for sentence in shown if sentence.supported]
    return Report(
        session="",
        question=brief.question,
        title=title,
        summary=shown_summary,
        sections=tuple(shown_sections),
        references=numbers.references(),
        gaps=brief.gaps,
        conflicts=_conflicts(brief),
        removed=_removed([*summary, *chain(*[checkeds for _, checkeds in sections])]) if strict else (),
        supported_share=len(supported) / len(shown) if shown else 0.0,
        words=_words_of([title, *headings, *[sentence.text for sentence in shown]]),
    )


def _removed(checkeds: Iterable[_Checked]) -> tuple[Sentence, ...]:
    return tuple([Sentence(each.text, (), False, each.problem) for each in checkeds if each.problem])


def _words_of(texts: Iterable[str]) -> int:
    whole = "\n".join(["", *texts])
    if whole.isascii():  # a word is what stands between blanks and has a letter or a digit in it
        return whole.encode().translate(_SHAPE, _NO_WORD).count(b" a")
    return len(_COUNTED.findall(whole))


_Home = tuple[str, str]  # locator and id of a source


class _Grounds(Struct, frozen=True, gc=False):
    """What a sentence cites, and what is wrong with any sentence that cites it.

    `homes`: the quotes that stand where they say, each with its source.
    """

    quotes: tuple[Quote, ...]
    homes: list[tuple[Quote, _Home]]
    fault: str


class _Checked(Struct, frozen=True, gc=False):
    """A sentence with what it cites and what is wrong with it."""

    text: str
    grounds: _Grounds
    problem: str


class _Checker:
    def __init__(self, brief: Brief, ledger: Ledger) -> None:
        self._claims = {claim.id.casefold(): claim for claim in brief.claims if claim.id}
        self._asked = (brief.question, *brief.questions)
        self._say = words_for(brief.question)
        self._ledger = ledger
        self._grounds: dict[tuple[str, ...], _Grounds] = {}
        self._checked: dict[tuple[str, tuple[str, ...]], _Checked] = {}

    def check(self, told: tuple[str, tuple[str, ...]]) -> _Checked:
        """A sentence without marks and the ids that it cites; a summary often says what a section says."""
        checked = self._checked.get(told)
        if checked is None:
            text, names = told
            grounds = self._grounds.get(names)
            if grounds is None:
                grounds = self._grounds[names] = self._read(names)
            problem = grounds.fault or self._problem(text, grounds.quotes)
            checked = self._checked[told] = _Checked(text, grounds, problem)
        return checked

    def _problem(self, text: str, quotes: tuple[Quote, ...]) -> str:
        cited, told = self._ledger.cited(quotes), told_plainly(text)
        missing = cited.missing(text, told, self._asked)
        if missing:
            return self._say.not_borne(list(dict.fromkeys([fact.text for fact in missing])))
        return "" if cited.is_related(text, told) else self._say.unrelated()

    def _read(self, names: tuple[str, ...]) -> _Grounds:
        claims = [self._claims[name] for name in names if name in self._claims]
        unknown: list[str] = []
        if len(claims) < len(names):  # some are not written as they were handed over
            named = dict.fromkeys([name.strip(" []()").casefold() for name in names if name.strip()])
            unknown = [name for name in named if name not in self._claims]
            claims = [self._claims[name] for name in named if name in self._claims]
        quotes = tuple(dict.fromkeys([quote for claim in claims for quote in claim.quotes]))
        homes = [
            (quote, (quote.locator, source))
            for quote in quotes
            if (source := _source_of(quote, self._ledger))
        ]
        fault = ""
        if unknown:
            fault = self._say.unknown_claims(unknown)
        elif not claims:
            fault = self._say.no_citation()
        elif not quotes or len(homes) < len(quotes):
            fault = self._say.not_verbatim()
        return _Grounds(quotes, homes, fault)


class _Numbers:
    """References as they are first cited; a source has one number, its quotes stand as they were cited."""

    def __init__(self) -> None:
        self._cited: dict[_Home, tuple[int, dict[tuple[int, int], Quote]]] = {}

    def shown(self, checkeds: Iterable[_Checked], strict: bool) -> tuple[Sentence, ...]:
        return tuple(
            [
                Sentence(checked.text, self._cite(checked.grounds), not checked.problem, checked.problem)
                for checked in checkeds
                if not (strict and checked.problem)
            ]
        )

    def _cite(self, grounds: _Grounds) -> tuple[int, ...]:
        found: dict[int, None] = {}
        for quote, home in grounds.homes:
            known = self._cited.get(home)
            if known is None:
                known = self._cited[home] = (len(self._cited) + 1, {})
            number, quotes = known
            quotes.setdefault((quote.start, quote.end), quote)
            found[number] = None
        return tuple(found)

    def references(self) -> tuple[Reference, ...]:
        made = []
        for (locator, source), (number, cited) in self._cited.items():
            quotes = list(cited.values())
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
    return [(text, sentence.claims) for sentence in sentences if (text := _unmarked(sentence.text))]


def _unmarked(text: str) -> str:
    if "[" in text or "(" in text or "（" in text:
        text = _NUMBERS.sub("", _IDS.sub("", text))
    return _flat(text)


def _flat(text: str) -> str:
    """On one line, and nothing in it that UTF-8 cannot hold (a model may send half a surrogate pair)."""
    return one_line(whole_characters(text))


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
