"""Documents, passages, quotes and claims: what may be said, and from where."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

SourceKind = Literal["document", "web", "tool"]


class Document(Struct, frozen=True, gc=False):
    """A text as it was read.

    `locator`: the path relative to the folder, with forward slashes, or a URL.
    `text`: the whole text as read; every offset in the program counts its characters.
    `sha256`: of the text in UTF-8, in hex. `read_at`: seconds since the epoch.
    """

    locator: str
    title: str
    text: str
    sha256: str
    kind: SourceKind = "document"
    read_at: float = 0.0


class Passage(Struct, frozen=True, gc=False):
    """A part of a document: `text == document.text[start:end]`.

    `section`: the headings above it, outermost first, joined by " > "; "" at the top.
    """

    document: Document
    text: str
    start: int
    end: int
    section: str = ""
    score: float = 0.0


class Quote(Struct, frozen=True, gc=False):
    """A verbatim span, `text == document.text[start:end]`, found by code and never by a model."""

    locator: str
    title: str
    text: str
    start: int
    end: int


class Claim(Struct, frozen=True, gc=False):
    """A statement with the quotes that bear it; `id` is unique in its session (`c7`)."""

    id: str
    text: str
    quotes: tuple[Quote, ...]
    question: str = ""


class Conflict(Struct, frozen=True, gc=False):
    """Two claims that give different values for what seems to be the same thing."""

    claims: tuple[str, ...]
    about: str
