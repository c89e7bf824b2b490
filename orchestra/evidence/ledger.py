"""The sources of one session: what its tools returned, under which labels its agents know them."""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_right
from collections.abc import Iterable

from orchestra.context.facts import figures_and_names
from orchestra.evidence.quotes import Searchable
from orchestra.values.facts import Fact
from orchestra.values.sources import Document, Passage

_LABEL = re.compile(r"\[?\s*[sS](\d{1,6})\s*\]?(?=$|[\s|:,;.\]])")
_KEPT_SEARCHABLE = 64  # folded documents are as large as the documents; the newest stay

_Key = tuple[str, str]  # a document's locator and hash


def source_id(document: Document) -> str:
    """How a report names a source apart from where it lies: twelve hex digits of its content's hash."""
    return f"sha256:{document.sha256[:12]}"


class Ledger:
    """Sources are registered when a tool returns them and are never taken out again.

    Labels (`s1`, `s2` ...) are given per agent in the order in which its documents first appear. A text is
    kept once, however many locators lead to it. Nothing here depends on a clock or on chance.
    """

    def __init__(self) -> None:
        self._documents: dict[_Key, Document] = {}
        self._versions: dict[str, list[Document]] = {}
        self._texts: dict[str, str] = {}
        self._labels: dict[str, dict[_Key, str]] = {}
        self._shown: dict[str, dict[_Key, list[tuple[int, int]]]] = {}
        self._searchable: dict[_Key, Searchable] = {}
        self._facts: dict[str, list[Fact]] = {}

    def facts(self, text: str) -> list[Fact]:
        """The figures and names of `text`, read once: a claim is checked again as it moves on."""
        known = self._facts.get(text)
        if known is None:
            known = self._facts[text] = figures_and_names(text)
        return known

    def register(self, document: Document) -> Document:
        """The session's one copy of `document`; a locator whose text changed is a new source."""
        key = _key(document)
        known = self._documents.get(key)
        if known is None:
            text = self._texts.setdefault(key[1], document.text)
            known = document
            if text is not document.text or not document.sha256:
                known = Document(
                    document.locator, document.title, text, key[1], document.kind, document.read_at
                )
            self._documents[key] = known
            self._versions.setdefault(known.locator, []).insert(0, known)
        return known

    def label(self, agent: str, document: Document) -> str:
        """The label under which `agent` knows `document`; the first call gives it the next free one."""
        return self._label(self._labels.setdefault(agent, {}), document, _key(document))

    def _label(self, labels: dict[_Key, str], document: Document, key: _Key) -> str:
        label = labels.get(key)
        if label is None:
            self.register(document)
            label = labels[key] = f"s{len(labels) + 1}"
        return label

    def show(self, agent: str, passages: Iterable[Passage]) -> tuple[str, ...]:
        """Note that `agent` was shown `passages`; their labels, one a passage."""
        labels = self._labels.setdefault(agent, {})
        shown = self._shown.setdefault(agent, {})
        given = []
        for passage in passages:
            key = _key(passage.document)
            given.append(self._label(labels, passage.document, key))
            _add_span(shown.setdefault(key, []), (passage.start, passage.end))
        return tuple(given)

    def shown(self, agent: str, document: Document) -> tuple[tuple[int, int], ...]:
        """The spans of `document` that `agent` has seen, merged and in order."""
        return tuple(self._shown.get(agent, {}).get(_key(document), ()))

    def document(self, agent: str, label: str) -> Document | None:
        """The document that `agent` means: by label (`s3`, `[S3]`), else by locator, file name or title."""
        named = label.strip()
        match = _LABEL.match(named)
        if match:
            wanted = f"s{int(match[1])}"
            for key, given in self._labels.get(agent, {}).items():
                if given == wanted:
                    return self._documents[key]
        return _by_name(named, self.seen_by(agent)) or _by_name(named, self.documents())

    def seen_by(self, agent: str) -> tuple[Document, ...]:
        """The documents that have a label with `agent`, s1 first."""
        return tuple(self._documents[key] for key in self._labels.get(agent, {}))

    def documents(self) -> tuple[Document, ...]:
        """Every source of the session, in the order of registration."""
        return tuple(self._documents.values())

    def versions(self, locator: str) -> tuple[Document, ...]:
        """The sources registered under exactly this locator, the newest first."""
        return tuple(self._versions.get(locator, ()))

    def searchable(self, document: Document) -> Searchable:
        """`document` made ready to be quoted from; the newest stay ready."""
        key = _key(document)
        made = self._searchable.pop(key, None) or Searchable(self.register(document))
        self._searchable[key] = made
        if len(self._searchable) > _KEPT_SEARCHABLE:
            del self._searchable[next(iter(self._searchable))]
        return made


def _key(document: Document) -> _Key:
    digest = document.sha256 or hashlib.sha256(document.text.encode("utf-8", "surrogatepass")).hexdigest()
    return document.locator, digest


def _add_span(spans: list[tuple[int, int]], new: tuple[int, int]) -> None:
    """Keep `spans` sorted and apart."""
    if new in spans:
        return
    at = bisect_right(spans, new)
    spans.insert(at, new)
    merged: list[tuple[int, int]] = []
    for start, end in spans:
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    spans[:] = merged


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
