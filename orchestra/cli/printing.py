"""How the commands that read the journal print: at any width, in any language; colours on terminals only."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from typing import Any

import click
import msgspec

from orchestra.cli.live import shortened
from orchestra.config.load import load_settings
from orchestra.journal.encoding import encode
from orchestra.journal.reading import Reader, read_journal
from orchestra.text.fold import whole_characters
from orchestra.values.usage import Usage

# Columns when the output is no terminal and COLUMNS does not say.
_PIPED_COLUMNS = 120
_NARROWEST = 40
STATUS_COLOURS = {"done": "green", "partial": "yellow", "failed": "red", "running": "cyan"}


def opened(store: str | None, config: str | None) -> AbstractAsyncContextManager[Reader]:
    """The store that the flags, the environment or the configuration name, to be read."""
    settings = load_settings({"store": store}, config=config, for_models=False).settings
    return read_journal(settings.store)


def columns() -> int:
    """The width to print at."""
    fallback = 80 if sys.stdout.isatty() else _PIPED_COLUMNS
    return max(shutil.get_terminal_size((fallback, 24)).columns, _NARROWEST)


def safe(text: str) -> str:
    """Text of any origin as a terminal may show it: no escape sequences, no lone surrogates."""
    if text.isprintable():
        return text
    shown = (char if char.isprintable() or char in "\n\t" else "\ufffd" for char in text)
    return whole_characters("".join(shown))


def line(text: str, width: int) -> str:
    """The text on one line of at most `width` columns."""
    return shortened(safe(text), width)


def cut(text: str, width: int) -> str:
    """One line of text within the width, its white space kept."""
    from rich.cells import cell_len, set_cell_size

    text = safe(text).expandtabs(4)
    return text if cell_len(text) <= width else set_cell_size(text, width - 1).rstrip() + "…"


def say(text: str = "", **style: Any) -> None:
    """Print a line; the style is left out where the output is no terminal."""
    click.echo(click.style(safe(text), **style) if style else safe(text))


def say_json(value: Any) -> None:
    """One JSON value, indented."""
    click.echo(msgspec.json.format(encode(value), indent=2))


def when(at: float) -> str:
    """A moment in local time."""
    return f"{datetime.fromtimestamp(at):%Y-%m-%d %H:%M}"


def seconds(span: float) -> str:
    """A span of seconds as people say it."""
    if span < 60:
        return f"{span:.1f} s"
    minutes, rest = divmod(round(span), 60)
    return f"{minutes} min {rest:02} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02} min"


def cost(usage: Usage) -> str:
    """US dollars."""
    return "cost unknown" if usage.cost is None else f"${usage.cost:.4f}"


def number(count: int, noun: str) -> str:
    """`1 call`, `2,000 calls`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def joined(parts: Iterable[str]) -> str:
    """The parts that are not empty."""
    return " · ".join(part for part in parts if part)


def table(head: Sequence[str], rows: Sequence[Sequence[str]], *, left: int) -> list[str]:
    """Columns as wide as their widest cell; the first `left` columns and the last begin at their left."""
    from rich.cells import cell_len

    lines = [head, *rows]
    widths = [max(cell_len(row[column]) for row in lines) for column in range(len(head))]
    last = len(head) - 1
    printed = []
    for row in lines:
        cells = []
        for column, (cell, width) in enumerate(zip(row, widths, strict=True)):
            space = " " * (width - cell_len(cell))
            cells.append(cell + space if column < left or column == last else space + cell)
        printed.append("  ".join(cells).rstrip())
    return printed
