"""What a load test's sessions ask and read: private notes, each with its session's canaries."""

from __future__ import annotations

import hashlib

from orchestra.load.canary import canary, current
from orchestra.tools.decorator import FunctionTool, tool
from orchestra.tools.port import ToolOutput
from orchestra.values.sources import Document, Passage

_PARTS = ("the load that it took", "how long its answers took", "what it did when it was full")
_FILLER = (
    "Who keeps the notes writes down what was seen on the day and adds nothing later, so that a figure "
    "stands as it was read from the instrument, with the hour and the place beside it. "
)
_NOTES = 3


def question_of(number: int) -> str:
    """A question with a fact of its user's in it."""
    return (
        f"What do the notes on site {canary(number, 'question')} say of "
        f"{_PARTS[0]}, {_PARTS[1]} and {_PARTS[2]}? "
        f"My reference is {canary(number, 'fact')}."
    )


def note_of(number: int, place: int) -> Document:
    """One of a session's documents, about 2,000 characters."""
    mark = canary(number, "document")
    text = (
        f"The note {mark} says that site {place} took {1_000 + number + 37 * place:,} requests in one hour. "
        f"It answered within {200 + place} ms and refused {10 + place} requests when it was full.\n\n"
        f"{_FILLER * 8}"
    )
    digest = hashlib.sha256(text.encode()).hexdigest()
    return Document(f"{mark}-{place}.txt", f"Note {place} of {mark}", text, digest)


def tools_of() -> tuple[FunctionTool, ...]:
    """The tools that a researcher is offered; each call sees the documents of its own session only."""

    @tool
    async def search_documents(query: str) -> ToolOutput:
        """Search the documents.

        Args:
            query: What to look for.
        """
        number = current.get()
        found = [note_of(number, place) for place in range(1, _NOTES + 1)]
        passages = tuple(Passage(note, note.text, 0, len(note.text)) for note in found)
        return ToolOutput(
            text=f"{canary(number, 'result')}: {len(found)} notes for {query}", passages=passages
        )

    @tool
    async def read_document(document: str) -> ToolOutput:
        """Read a document.

        Args:
            document: Its name or label.
        """
        note = note_of(current.get(), 1)
        return ToolOutput(passages=(Passage(note, note.text, 0, len(note.text)),), text=f"{document}:")

    return (search_documents, read_document)
