"""A draft, checked sentence by sentence against the quotes of the claims that it cites."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import chain
from operator import attrgetter

from msgspec import Struct

from orchestra.context.plainly import told_plainly
from orchestra.evidence.language import words_for
from orchestra.evidence.ledger import Ledger, source_id
from orchestra.text.fold import clean_line
from orchestra.values.drafts import Draft, DraftSentence
from orchestra.values.handoffs import Brief
from orchestra.values.report import Reference, ReferenceQuote, Report, Section, Sentence
from orchestra.values.sources import Document, Quote

# Marks that a model put into its sentence: claim ids anywhere, bare numbers only at its end.
_IDS = re.compile(r"\s*[\[(（]c\d{1,4}(?:\s*[,;、]\s*c\d{1,4})*[\])）]", re.IGNORECASE)
_NUMBERS = re.compile(r"(?:\s+|(?<=[.。!?！？]))(?:\[\d{1,3}(?:\s*[,;]\s*\d{1,3})*\])+(?=[.。!?！？]?\s*$)")
_COUNTED = re.compile(
    "[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|[^\\W\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff](?:[^\\s\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]*[^\\W\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff])?"
)

_EMPTY = Sentence("", (), False)
_text_of, _is_supported = attrgetter("text"), attrgetter("supported")
_quotes_of = attrgetter("quotes")

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
    checker = _Checker(brief, ledger, strict)
    summary = checker.shown(draft.summary)
    sections = [Section(clean_line(each.heading), checker.shown(each.sentences)) for each in draft.sections]
    sections = [section for section in sections if section.sentences]
    shown = [*summary]
    title = clean_line(draft.title) or clean_line(brief.title) or clean_line(brief.question[:200])
    texts = ["", title]
    for section in sections:
        texts.append(section.heading)
        shown += section.sentences
    texts += map(_text_of, shown)
    return Report(
        session="",
        question=brief.question,
        title=title,
        summary=summary,
        sections=tuple(sections),
        references=checker.references(),
        gaps=brief.gaps,
        conflicts=_conflicts(brief),
        removed=tuple(checker.removed),
        supported_share=sum(map(_is_supported, shown)) / len(shown) if shown else 0.0,
        words=_words_of("\n".join(texts)),
    )


def _words_of(whole: str) -> int:
    """Of a text that begins with a blank."""
    if whole.isascii():  # a word is what stands between blanks and has a letter or a digit in it
        return whole.encode().translate(_SHAPE, _NO_WORD).count(b" a")
    return len(_COUNTED.findall(whole))


class _Grounds(Struct, gc=False):
    """What a sentence cites, and what is wrong with any sentence that cites it.

    `sources`: of each quote the one in which it stands where it says. `numbers`: of these, once a sentence
    that is shown has cited them.
    """

    quotes: tuple[Quote, ...]
    sources: list[Document | None]
    fault: str
    numbers: tuple[int, ...] | None = None


class _Source(Struct, gc=False):
    """A source that is cited: its number, and its quotes by their places, in the order in which they were."""

    number: int
    title: str
    quotes: dict[tuple[int, int], ReferenceQuote]


class _Checker:
    """Checks the sentences of a draft in order and numbers the sources of those that are shown."""

    def __init__(self, brief: Brief, ledger: Ledger, strict: bool) -> None:
        self._claims = {claim.id.casefold(): claim for claim in brief.claims if claim.id}
        self._asked = (brief.question, *brief.questions)
        self._say = words_for(brief.question)
        self._ledger = ledger
        self._strict = strict
        self._grounds: dict[tuple[str, ...], _Grounds] = {}
        self._checked: dict[tuple[str, tuple[str, ...]], Sentence] = {}
        self._sources: dict[Document, _Source] = {}
        self.removed: list[Sentence] = []

    def shown(self, drafts: Iterable[DraftSentence]) -> tuple[Sentence, ...]:
        """The sentences as the report has them; a summary often says what a section says."""
        sentences = []
        for draft in drafts:
            told = (_unmarked(draft.text), draft.claims)
            sentence = self._checked.get(told)
            if sentence is None:
                sentence = self._checked[told] = self._check(*told)
            if self._strict and sentence.problem:
                self.removed.append(sentence)
            elif sentence.text:
                sentences.append(sentence)
        return tuple(sentences)

    def _check(self, text: str, names: tuple[str, ...]) -> Sentence:
        if not text:
            return _EMPTY
        grounds = self._grounds.get(names)
        if grounds is None:
            grounds = self._grounds[names] = self._read(names)
        problem = grounds.fault or self._problem(text, grounds.quotes)
        if problem and self._strict:
            return Sentence(text, (), False, problem)
        if grounds.numbers is None:
            grounds.numbers = self._cite(grounds)
        return Sentence(text, grounds.numbers, not problem, problem)

    def _problem(self, text: str, quotes: tuple[Quote, ...]) -> str:
        cited, told = self._ledger.cited(quotes), told_plainly(text)
        missing = cited.missing(text, told, self._asked)
        if missing:
            return self._say.not_borne(list(dict.fromkeys([fact.text for fact in missing])))
        return "" if cited.is_related(text, told) else self._say.unrelated()

    def _read(self, names: tuple[str, ...]) -> _Grounds:
        claims = [*filter(None, map(self._claims.get, names))]
        unknown: list[str] = []
        if len(claims) < len(names):  # some are not written as they were handed over
            named = dict.fromkeys([name.strip(" []()").casefold() for name in names if name.strip()])
            unknown = [name for name in named if name not in self._claims]
            claims = [self._claims[name] for name in named if name in self._claims]
        quotes = tuple(dict.fromkeys(chain.from_iterable(map(_quotes_of, claims))))
        sources = [*map(self._ledger.source, quotes)]
        fault = ""
        if unknown:
            fault = self._say.unknown_claims(unknown)
        elif not claims:
            fault = self._say.no_citation()
        elif not quotes or None in sources:
            fault = self._say.not_verbatim()
        return _Grounds(quotes, sources, fault)

    def _cite(self, grounds: _Grounds) -> tuple[int, ...]:
        """The numbers of the sources, which they get as they are first cited."""
        numbers = []
        for quote, document in zip(grounds.quotes, grounds.sources, strict=True):
            if document is None:
                continue
            source = self._sources.get(document)
            if source is None:
                source = self._sources[document] = _Source(len(self._sources) + 1, quote.title, {})
            start, end = quote.start, quote.end
            if (start, end) not in source.quotes:
                source.quotes[start, end] = ReferenceQuote(quote.text, start, end)
            numbers.append(source.number)
        return tuple(dict.fromkeys(numbers))

    def references(self) -> tuple[Reference, ...]:
        """The sources of what is shown, in the order of their numbers."""
        made = []
        for document, source in self._sources.items():
            quotes = tuple(source.quotes.values())
            made.append(Reference(source.number, source_id(document), document.locator, source.title, quotes))
        return tuple(made)


def _unmarked(text: str) -> str:
    if "[" in text or "(" in text or "（" in text:
        text = _NUMBERS.sub("", _IDS.sub("", text))
    return clean_line(text)


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
