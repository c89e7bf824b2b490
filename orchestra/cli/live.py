"""What a person sees while a session runs: a live tree on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TextIO

from orchestra.values.events import Event

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.live import Live


@dataclass
class Line:
    """One agent as the tree shows it; `cost` in US dollars, None once a price was unknown."""

    agent: str
    task: str = ""
    doing: str = "starts"
    state: str = "running"
    calls: int = 0
    tokens: int = 0
    cost: float | None = 0.0
    began: float = field(default_factory=time.monotonic)
    ended: float | None = None

    @property
    def seconds(self) -> float:
        return (self.ended or time.monotonic()) - self.began

    def numbers(self) -> str:
        cost = "cost unknown" if self.cost is None else f"${self.cost:.4f}" if self.cost else ""
        parts = (plural(self.calls, "call"), f"{self.tokens:,} tokens", cost, f"{self.seconds:.1f} s")
        return " · ".join(part for part in parts if part)


class Progress:
    """Follows a session's events; `say` is called with the agent's line after each that matters."""

    def __init__(self, say: Callable[[Line], None]) -> None:
        self.lines: dict[str, Line] = {}
        self._say = say

    def __call__(self, event: Event) -> None:
        if event.kind == "started" and event.agent:
            self.lines[event.agent] = Line(event.agent)
        line = self.lines.get(event.agent)
        if line is None:  # the session itself, or code between the agents
            return
        before = (line.doing, line.state)
        self._update(line, event)
        if (line.doing, line.state) != before:
            self._say(line)

    def _update(self, line: Line, event: Event) -> None:
        data = event.data
        if event.kind == "started":
            line.task = " ".join(event.texts.get("task", "").split())
        elif event.kind == "call":
            line.doing = f"asks {data.get('model', 'the model')}"
        elif event.kind == "reply":
            line.calls += 1
            line.tokens += data.get("input_tokens", 0) + data.get("output_tokens", 0)
            cost = data.get("cost")
            line.cost = None if cost is None or line.cost is None else line.cost + cost
        elif event.kind == "tool_called":
            line.doing = f"{data.get('tool')} {shortened(event.texts.get('arguments', ''), 60)}"
        elif event.kind in ("finished", "failed"):
            line.state = str(data.get("status", event.kind))
            line.doing = str(data.get("reason") or "")
            line.ended = time.monotonic()


MARKS = {"running": "…", "done": "✓", "partial": "~", "failed": "✗"}


class PlainView:
    """A line for each step, for logs and pipes."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self.progress = Progress(self._say)

    def __enter__(self) -> PlainView:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def _say(self, line: Line) -> None:
        tail = line.numbers() if line.ended is not None else line.doing
        reason = f" {line.doing}" if line.ended is not None and line.doing else ""
        print(f"{MARKS.get(line.state, '?')} {line.agent}: {tail}{reason}", file=self._stream, flush=True)


class TreeView:
    """The tree of agents, redrawn in place a few times a second."""

    def __init__(self, title: str) -> None:
        from rich.console import Console
        from rich.live import Live

        self._title = title
        self._console: Console = Console(stderr=True)
        self.progress = Progress(lambda _line: None)
        self._live: Live = Live(
            get_renderable=self._tree, console=self._console, refresh_per_second=8, transient=False
        )

    def __enter__(self) -> TreeView:
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def _tree(self) -> RenderableType:
        from rich.text import Text
        from rich.tree import Tree

        width = max(self._console.width, 20)
        tree = Tree(Text(shortened(self._title, width - 2), style="bold"))
        for line in list(self.progress.lines.values()):
            styles = {"running": "cyan", "done": "green", "partial": "yellow", "failed": "red"}
            row = Text(f"{MARKS.get(line.state, '?')} {line.agent} ", style=styles.get(line.state, ""))
            row.append(line.numbers(), style="dim")
            branch = tree.add(row)
            below = line.doing if line.ended is None or line.doing else line.task
            if below:
                branch.add(Text(shortened(below, width - 9), style="dim"))
        return tree


def shortened(text: str, columns: int) -> str:
    """The text in at most `columns` columns of a terminal; wide characters count two."""
    from rich.cells import cell_len, set_cell_size

    folded = " ".join(text.split())
    columns = max(columns, 2)
    return folded if cell_len(folded) <= columns else set_cell_size(folded, columns - 1).rstrip() + "…"


def plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
