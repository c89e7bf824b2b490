"""What a format's reader finds in a file: the text and its headings."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct


class Heading(Struct, frozen=True):
    """A heading that begins at the character `start` of the text (its decoration and decorators included).

    `level` is 1 for the outermost.
    """

    start: int
    level: int
    title: str


class Content(Struct, frozen=True):
    """A file as text.

    `title`: "" where the file gives none. `headings`: in the order of the text.
    `preamble`: the text's first characters that are metadata and not prose (front matter, field lists).
    `worth`: what a match in it counts for against one in prose (1.0).
    `by_lines`: each line stands for itself (code, tables, data), so a long block is cut at a line's end.
    """

    text: str
    title: str = ""
    headings: tuple[Heading, ...] = ()
    preamble: int = 0
    by_lines: bool = False
    worth: float = 1.0


class Writer:
    """Builds the text of a format that has none of its own, block by block, and notes the headings."""

    def __init__(self) -> None:
        self._blocks: list[str] = []
        self._length = 0
        self.headings: list[Heading] = []

    def add(self, block: str) -> None:
        """A paragraph, a table or a listing; blocks are set apart by an empty line."""
        block = block.strip("\n").rstrip()
        if block.strip():
            self._blocks.append(block)
            self._length += len(block) + 2

    def head(self, level: int, title: str, *, shown: bool = True) -> None:
        """A heading; one that is not shown only names what follows (a page number)."""
        title = one_line(title)
        if title:
            self.headings.append(Heading(self._length, level, title))
            if shown:
                self.add(title)

    def text(self) -> str:
        return "\n\n".join(self._blocks)

    def kept_headings(self) -> tuple[Heading, ...]:
        """The headings that have text at or after them."""
        end = max(self._length - 2, 0)
        return tuple(heading for heading in self.headings if heading.start < end)


def one_line(text: str) -> str:
    return " ".join(text.split())


def row_text(names: Sequence[str], cells: Sequence[str]) -> str:
    """A table's row as one line in which each value is preceded by its column; empty cells are left out."""
    parts = []
    for at, cell in enumerate(cells):
        value = one_line(cell)
        name = one_line(names[at]) if at < len(names) else ""
        if value:
            parts.append(f"{name}: {value}" if name else value)
    return "; ".join(parts)


def looks_like_header(first: Sequence[str], rest: Sequence[Sequence[str]]) -> bool:
    """Whether a table's first row names its columns: filled, different, no figures, and rows follow."""
    names = [cell.strip() for cell in first]
    if not rest or not all(names) or len(set(names)) < len(names):
        return False
    return not any(
        name.replace(".", "").replace(",", "").lstrip("-+").isdigit() and len(name) != 4 for name in names
    )
