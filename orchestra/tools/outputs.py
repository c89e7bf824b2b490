"""A tool's output as the journal keeps it: documents once by their text's hash, passages as spans of them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from msgspec import Struct, structs

from orchestra.tools.port import ToolOutput
from orchestra.values.sources import Document, Passage

_HEAD = ("locator", "title", "sha256", "kind", "read_at")


class _Span(Struct, frozen=True, array_like=True):
    """A passage: the number of its document, [start, end) in it; `text` only where that is not its text."""

    document: int
    start: int
    end: int
    section: str
    score: float
    text: str | None = None


class _Account(Struct, frozen=True):
    documents: list[dict[str, Any]]
    passages: list[_Span]
    ephemeral: bool = False


def output_texts(output: ToolOutput) -> dict[str, str]:
    """The output as texts of an event: `text`, `passages` (JSON), and a text for each document."""
    texts = {"text": output.text} if output.text else {}
    numbers: dict[tuple[str, str], int] = {}
    documents: list[dict[str, Any]] = []
    spans = []
    for passage in output.passages:
        document = passage.document
        key = (document.locator, document.sha256)
        if key not in numbers:
            numbers[key] = len(documents)
            texts[f"document {len(documents)}"] = document.text
            documents.append({name: getattr(document, name) for name in _HEAD})
        whole = document.text[passage.start : passage.end]
        own = None if whole == passage.text else passage.text
        spans.append(_Span(numbers[key], passage.start, passage.end, passage.section, passage.score, own))
    if spans or output.ephemeral:
        texts["passages"] = msgspec.json.encode(_Account(documents, spans, output.ephemeral)).decode()
    return texts


def output_of(texts: Mapping[str, str]) -> ToolOutput:
    """The output again, from `output_texts`."""
    text = texts.get("text", "")
    if "passages" not in texts:
        return ToolOutput(text=text)
    account = msgspec.json.decode(texts["passages"], type=_Account)
    documents = [
        Document(text=texts[f"document {number}"], **head) for number, head in enumerate(account.documents)
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
        passages = tuple(self._passage(passage) for passage in output.passages)
        if text == output.text and all(
            new is old for new, old in zip(passages, output.passages, strict=True)
        ):
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

    def _passage(self, passage: Passage) -> Passage:
        document = self.document(passage.document)
        if document is passage.document or document.text == passage.document.text:
            return passage
        start = len(self._clean(passage.document.text[: passage.start]))
        end = max(len(self._clean(passage.document.text[: passage.end])), start)
        return structs.replace(
            passage, document=document, text=document.text[start:end], start=start, end=end
        )
