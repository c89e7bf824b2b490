"""A tool's output as the journal keeps it: documents once by their text's hash, passages as spans of them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping

import msgspec
from msgspec import Struct, structs

from orchestra.tools.port import ToolOutput
from orchestra.values.sources import Document, Passage, SourceKind

_encode = msgspec.json.Encoder().encode
_NAMES = tuple([f"document {number}" for number in range(32)])


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


class _Account(Struct, frozen=True, omit_defaults=True, gc=False):
    documents: list[_Head]
    passages: list[_Span]
    ephemeral: bool = False


def output_texts(output: ToolOutput) -> dict[str, str]:
    """The output as texts of an event: `text`, `passages` (JSON), and a text for each document."""
    texts = {"text": output.text} if output.text else {}
    numbers: dict[tuple[str, str], int] = {}
    documents: list[_Head] = []
    spans: list[_Span] = []
    for passage in output.passages:
        document, start, end = passage.document, passage.start, passage.end
        key = (document.locator, document.sha256)
        number = numbers.get(key)
        if number is None:
            number = numbers[key] = len(documents)
            texts[_NAMES[number] if number < len(_NAMES) else f"document {number}"] = document.text
            documents.append(
                _Head(document.locator, document.title, document.sha256, document.kind, document.read_at)
            )
        text = passage.text
        own = None if document.text[start:end] == text else text
        spans.append(_Span(number, start, end, passage.section, passage.score, own))
    if spans or output.ephemeral:
        texts["passages"] = _encode(_Account(documents, spans, output.ephemeral)).decode()
    return texts


def output_of(texts: Mapping[str, str]) -> ToolOutput:
    """The output again, from `output_texts`."""
    text = texts.get("text", "")
    if "passages" not in texts:
        return ToolOutput(text=text)
    account = msgspec.json.decode(texts["passages"], type=_Account)
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


class Cleaner:
    """Takes secrets out of outputs, a session's documents each once; spans move with what is cut out."""

    def __init__(self, clean: Callable[[str], str]) -> None:
        self._clean = clean
        self._documents: dict[tuple[str, str], Document] = {}

    def __call__(self, output: ToolOutput) -> ToolOutput:
        text = self._clean(output.text) if output.text else ""
        passages = output.passages
        known = self._documents
        for passage in passages:
            document = passage.document
            if known.get((document.locator, document.sha256)) is not document and not self._is_clean(
                document
            ):
                passages = tuple(map(self._passage, passages))
                break
        else:
            if text == output.text:
                return output
        return structs.replace(output, text=text, passages=passages)

    def document(self, document: Document) -> Document:
        """The document without secrets: itself, where there are none."""
        key = (document.locator, document.sha256)
        known = self._documents.get(key)
        if known is None:
            text = self._clean(document.text)
            known = document
            if text != document.text:
                digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
                known = structs.replace(document, text=text, sha256=digest, title=self._clean(document.title))
            self._documents[key] = known
        return known

    def _is_clean(self, document: Document) -> bool:
        known = self.document(document)
        return known is document or known.text == document.text

    def _passage(self, passage: Passage) -> Passage:
        if self._is_clean(passage.document):
            return passage
        document = self.document(passage.document)
        start = len(self._clean(passage.document.text[: passage.start]))
        end = max(len(self._clean(passage.document.text[: passage.end])), start)
        return structs.replace(
            passage, document=document, text=document.text[start:end], start=start, end=end
        )
