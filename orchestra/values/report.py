"""The report: what `--format json` prints."""

from __future__ import annotations

from msgspec import Struct

from orchestra.values.usage import Usage


class ReferenceQuote(Struct, frozen=True, gc=False):
    """A verbatim span of the source: `text` stands at [start, end) of the document's text as read."""

    text: str
    start: int
    end: int


class Reference(Struct, frozen=True, gc=False):
    """One source of the report, numbered from 1 in the order of first citation."""

    n: int
    source: str
    locator: str
    title: str
    quotes: tuple[ReferenceQuote, ...]


class Sentence(Struct, frozen=True, gc=False):
    """One checked sentence; `problem` says why it is not supported, "" when it is."""

    text: str
    citations: tuple[int, ...]
    supported: bool
    problem: str = ""


class Section(Struct, frozen=True, gc=False):
    heading: str
    sentences: tuple[Sentence, ...]


class Report(Struct, frozen=True, kw_only=True, gc=False):
    """A checked report. `words` counts title, summary and sections, not references and gaps.

    `usage` is by tier. `notes` are the runtime's own statements about the report (such as that no
    language model wrote it). `removed` holds the sentences that `strict` took out.
    `partial` is "" or the reason why the run ended early.
    """

    session: str
    question: str
    title: str
    summary: tuple[Sentence, ...]
    sections: tuple[Section, ...]
    references: tuple[Reference, ...]
    gaps: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    removed: tuple[Sentence, ...] = ()
    supported_share: float = 1.0
    words: int = 0
    usage: dict[str, Usage] = {}
    seconds: float = 0.0
    partial: str = ""
