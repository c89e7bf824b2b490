"""The sources of one session: what its tools returned, under which labels its agents know them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from functools import lru_cache, partial

from msgspec import Struct, structs

from orchestra.context.facts import Find, figures_and_names
from orchestra.evidence.cited import Cited
from orchestra.evidence.quotes import Shelf, find_quotes
from orchestra.values.facts import Fact
from orchestra.values.sources import Document, Passage, Quote

_LABEL = re.compile(r"\s*\[?\s*[sS](\d{1,6})\s*\]?(?=$|[\s|:,;.\]])")

_Key = tuple[str, str]  # a document's locator and hash
_Spans = tuple[tuple[int, int], ...]


def source_id(document: Document) -> str:
    """How a report names a source apart from where it lies: twelve hex digits of its content's hash."""
    return f"sha256:{document.sha256[:12]}"


class _Mark(Struct, frozen=True, gc=False):
    """What an agent has seen of a document: its label, and one span, as a rule the only one; -1: none.

    `more`: all spans, merged and in order, where there are several.
    """

    label: str
    start: int = -1
    end: int = -1
    more: _Spans = ()

    @property
    def spans(self) -> _Spans:
        return self.more or (((self.start, self.end),) if self.start >= 0 else ())

    def seeing(self, start: int, end: int) -> _Mark:
        """With one more span."""
        spans = _with(self.spans, (start, end))
        return _Mark(self.label, *spans[0], spans if len(spans) > 1 else ())


class _Seen:
    """What an agent has seen: its documents by their labels, in order, and what it was shown of each."""

    __slots__ = ("documents", "marks")

    def __init__(self) -> None:
        self.documents: dict[str, Document] = {}
        self.marks: dict[_Key, _Mark] = {}


class _Facts(dict[str, list[Fact]]):
    """What stands in a text, by the text."""

    def __missing__(self, text: str) -> list[Fact]:
        found = self[text] = figures_and_names(text)
        return found


class Ledger:
    """Sources are registered when a tool returns them and are never taken out again.

    Labels (`s1`, `s2` ...) are given per agent in the order in which its documents first appear. A text is
    kept once, however many locators lead to it. Nothing here depends on a clock or on chance. `shelf`: what
    sessions share of their documents.
    """

    def __init__(self, shelf: Shelf | None = None) -> None:
        self._shelf = shelf or Shelf()
        self._documents: dict[_Key, Document] = {}
        self._keys: dict[_Key, _Key] = {}  # each once, whoever asks with one of its own
        self._versions: dict[str, tuple[Document, ...]] = {}
        self._texts: dict[str, str] = {}
        self._seen: dict[str, _Seen] = {}
        # The figures and names of a text, read once: a claim is checked again as it moves on. Not a method of
        # the ledger's own, which what is `cited` would hold in a circle.
        self.facts: Find = _Facts().__getitem__
        self._cited: dict[tuple[Quote, ...], Cited] = {}

    def cited(self, quotes: tuple[Quote, ...]) -> Cited:
        """What `quotes` bear out, looked through once: a claim and the sentences that cite it share them."""
        known = self._cited.get(quotes)
        if known is None:
            known = self._cited[quotes] = Cited(quotes, self.facts)
        return known

    def register(self, document: Document) -> Document:
        """The session's one copy of `document`; a locator whose text changed is a new source."""
        document = _hashed(document)
        key = (document.locator, document.sha256)
        return self._documents.get(key) or self._registered(key, document)

    def _registered(self, key: _Key, document: Document) -> Document:
        locator, digest = key
        text = self._texts.setdefault(digest, document.text)
        if text is not document.text:
            document = Document(locator, document.title, text, digest, document.kind, document.read_at)
        self._documents[key] = document
        self._keys[key] = key
        self._versions[locator] = (document, *self._versions.get(locator, ()))
        return document

    def label(self, agent: str, document: Document) -> str:
        """The label under which `agent` knows `document`; the first call gives it the next free one."""
        document, seen = _hashed(document), self._seen_of(agent)
        key = (document.locator, document.sha256)
        return (seen.marks.get(key) or self._first(seen, key, document)).label

    def show(self, agent: str, passages: Iterable[Passage]) -> tuple[str, ...]:
        """Note that `agent` was shown `passages`; their labels, one a passage."""
        seen = self._seen_of(agent)
        marks, labels = seen.marks, []
        for passage in passages:
            document, start, end = passage.document, passage.start, passage.end
            if not document.sha256:
                document = _hashed(document)
            key = (document.locator, document.sha256)
            mark = marks.get(key)
            if mark is None:
                mark = self._first(seen, key, document, start, end)
            elif (mark.start != start or mark.end != end) and (start, end) not in mark.more:
                mark = marks[key] = mark.seeing(start, end)
            labels.append(mark.label)
        return tuple(labels)

    def _seen_of(self, agent: str) -> _Seen:
        seen = self._seen.get(agent)
        if seen is None:
            seen = self._seen[agent] = _Seen()
        return seen

    def _first(self, seen: _Seen, key: _Key, document: Document, start: int = -1, end: int = -1) -> _Mark:
        """The next label for a document, which is a source from now on, with this span of it."""
        known = self._documents.get(key) or self._registered(key, document)
        mark = seen.marks[self._keys[key]] = _Mark(_label(len(seen.marks) + 1), start, end)
        seen.documents[mark.label] = known
        return mark

    def shown(self, agent: str, document: Document) -> _Spans:
        """The spans of `document` that `agent` has seen, merged and in order."""
        document, seen = _hashed(document), self._seen.get(agent)
        mark = seen.marks.get((document.locator, document.sha256)) if seen is not None else None
        return mark.spans if mark is not None else ()

    def document(self, agent: str, label: str) -> Document | None:
        """The document that `agent` means: by label (`s3`, `[S3]`), else by locator, file name or title."""
        seen = self._seen.get(agent)
        documents = seen.documents if seen is not None else {}
        known = documents.get(label)
        if known is not None:  # as it was shown
            return known
        match = _LABEL.match(label)
        known = documents.get(_label(int(match[1]))) if match else None
        if known is not None:
            return known
        named = label.strip()
        return _by_name(named, self.seen_by(agent)) or _by_name(named, self.documents())

    def seen_by(self, agent: str) -> tuple[Document, ...]:
        """The documents that have a label with `agent`, s1 first."""
        known = self._seen.get(agent)
        return tuple(known.documents.values()) if known is not None else ()

    def documents(self) -> tuple[Document, ...]:
        """Every source of the session, in the order of registration."""
        return tuple(self._documents.values())

    def versions(self, locator: str) -> tuple[Document, ...]:
        """The sources registered under exactly this locator, the newest first."""
        return self._versions.get(locator, ())

    def source(self, quote: Quote) -> Document | None:
        """The source in which `quote` stands at its offsets, the newest."""
        for document in self._versions.get(quote.locator, ()):
            if quote.text and document.text[quote.start : quote.end] == quote.text:
                return document
        return None

    def quotes(self, agent: str, document: Document, text: str) -> tuple[Quote, ...]:
        """`text` where it stands in a source of this session, if it can be where `agent` saw it.

        See `find_quotes`.
        """
        return find_quotes(document, text, partial(self.shown, agent, document), self._shelf.folds(document))


@lru_cache(maxsize=1 << 10)
def _label(number: int) -> str:
    return f"s{number}"


def _hashed(document: Document) -> Document:
    """The document with its hash."""
    if document.sha256:
        return document
    digest = hashlib.sha256(document.text.encode("utf-8", "surrogatepass")).hexdigest()
    return structs.replace(document, sha256=digest)


def _with(spans: _Spans, new: tuple[int, int]) -> _Spans:
    """One span more; they stay sorted and apart."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted((*spans, new)):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return tuple(merged)


def _by_name(named: str, documents: Iterable[Document]) -> Document | None:
    """The one document that `named` can mean; two that fit equally well are none."""
    wanted = named.strip("`'\"[]() ").casefold()
    if not wanted:
        return None
    exact, base, held = [], [], []
    for document in documents:
        locator = document.locator.casefold()
        if wanted in (locator, document.title.casefold()):
            exact.append(document)
        elif locator.rsplit("/", 1)[-1] in (wanted, wanted.rsplit("/", 1)[-1]):
            base.append(document)
        elif locator in wanted:
            held.append(document)
    for found in (exact, base, held):
        if found:
            return found[-1] if len({document.locator for document in found}) == 1 else None
    return None
