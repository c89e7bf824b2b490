"""A tool's output as the journal keeps it: documents once by their text's hash, passages as spans of them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Generic, TypeVar

import msgspec
from msgspec import Raw, Struct, structs

from orchestra.text.fold import whole_characters
from orchestra.tools.port import ToolOutput
from orchestra.values.sources import Document, Passage, SourceKind

_encode = msgspec.json.Encoder().encode
_NAMES = tuple([f"document {number}" for number in range(32)])  # each once, whoever's it is


_H = TypeVar("_H")
_S = TypeVar("_S")


class _Span(Struct, frozen=True, array_like=True, gc=False):
    """A passage: the number of its document, [start, end) in it; `text` only where that is not its text."""

    document: int
    start: int
    end: int
    section: str
    score: float
    text: str | None = None


class _Head(Struct, frozen=True, omit_defaults=True, gc=False):
    """A document without its text."""

    locator: str
    title: str
    sha256: str
    kind: SourceKind = "document"
    read_at: float = 0.0


class _Account(Struct, Generic[_H, _S], frozen=True, omit_defaults=True, gc=False):
    documents: Sequence[_H]
    passages: Sequence[_S]
    ephemeral: bool = False


def output_of(texts: Mapping[str, str]) -> ToolOutput:
    """The output again, from its texts (see Cleaner)."""
    text = texts.get("text", "")
    if "passages" not in texts:
        return ToolOutput(text=text)
    account = msgspec.json.decode(texts["passages"], type=_Account[_Head, _Span])
    documents = [
        Document(head.locator, head.title, texts[f"document {number}"], head.sha256, head.kind, head.read_at)
        for number, head in enumerate(account.documents)
    ]
    passages = []
    for span in account.passages:
        document = documents[span.document]
        own = document.text[span.start : span.end] if span.text is None else span.text
        passages.append(Passage(document, own, span.start, span.end, span.section, span.score))
    return ToolOutput(text=text, passages=tuple(passages), ephemeral=account.ephemeral)


class _Known:
    """A document as it was `given`, the same without secrets, and as an account names it (a _Head's JSON)."""

    __slots__ = ("document", "given", "head", "hides", "text")

    def __init__(self, given: Document, document: Document) -> None:
        self.given = given
        self.document = document
        self.text = document.text
        self.hides = document is not given
        kind, read_at = document.kind, document.read_at
        self.head = Raw(_encode(_Head(document.locator, document.title, document.sha256, kind, read_at)))


def _names(count: int) -> Sequence[str]:
    """At least so many names of documents' texts."""
    return _NAMES if count <= len(_NAMES) else [f"document {number}" for number in range(count)]


class Cleaner:
    """Takes secrets out of outputs, a session's documents each once; spans move with what is cut out."""

    def __init__(self, clean: Callable[[str], str]) -> None:
        self._clean = clean
        self._documents: dict[str, _Known] = {}  # by locator

    def __call__(self, output: ToolOutput) -> tuple[ToolOutput, dict[str, str]]:
        """The output without secrets, itself where there are none; and as texts of an event."""
        try:
            return self._cleaned(output)
        except UnicodeEncodeError:
            return self._cleaned(_without_halves(output))

    def _cleaned(self, output: ToolOutput) -> tuple[ToolOutput, dict[str, str]]:
        text = self._clean(output.text) if output.text else ""
        documents = self._documents
        numbers: dict[_Known, int] = {}
        spans = []
        hides = False
        for passage in output.passages:
            document = passage.document
            known = documents.get(document.locator)
            if known is None or known.given is not document:
                known = self._known(document)
            if known.hides:
                hides = True
                passage = self._passage(passage)
            start, end, shown = passage.start, passage.end, passage.text
            own = None if known.text[start:end] == shown else shown
            number = numbers.setdefault(known, len(numbers))
            spans.append((number, start, end, passage.section, passage.score, own))
        texts = {"text": text} if text else {}
        heads = []
        for name, known in zip(_names(len(numbers)), numbers, strict=False):
            texts[name] = known.text
            heads.append(known.head)
        if spans or output.ephemeral:
            texts["passages"] = _encode(_Account(heads, spans, output.ephemeral)).decode()
        if hides or text != output.text:
            passages = tuple(map(self._passage, output.passages)) if hides else output.passages
            output = structs.replace(output, text=text, passages=passages)
        return output, texts

    def _known(self, document: Document) -> _Known:
        """What is kept of a document: the last that came under its locator, if it is the same."""
        known = self._documents.get(document.locator)
        if known is None or known.given != document:
            known = self._documents[document.locator] = _Known(document, self._without_secrets(document))
        return known

    def _without_secrets(self, document: Document) -> Document:
        """The document without them, itself where it has none."""
        text, named = self._clean(document.text), f"{document.locator}\n{document.title}"
        if text == document.text and self._clean(named) == named:
            return document
        digest = document.sha256
        if text != document.text:
            digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        locator, title = self._clean(document.locator), self._clean(document.title)
        return structs.replace(document, text=text, sha256=digest, locator=locator, title=title)

    def _passage(self, passage: Passage) -> Passage:
        """The passage without secrets: itself, where its document has none."""
        known = self._known(passage.document)
        if not known.hides:
            return passage
        given, document = known.given, known.document
        start = len(self._clean(given.text[: passage.start]))
        end = max(len(self._clean(given.text[: passage.end])), start)
        section = self._clean(passage.section)
        return structs.replace(
            passage, document=document, text=document.text[start:end], start=start, end=end, section=section
        )


def _without_halves(output: ToolOutput) -> ToolOutput:
    """The output with a mark for each half of a surrogate pair, which no account and no request can hold."""
    passages = [
        structs.replace(
            each,
            document=structs.replace(
                each.document,
                locator=whole_characters(each.document.locator),
                title=whole_characters(each.document.title),
                text=whole_characters(each.document.text),
            ),
            section=whole_characters(each.section),
            text=whole_characters(each.text),
        )
        for each in output.passages
    ]
    return structs.replace(output, text=whole_characters(output.text), passages=tuple(passages))
