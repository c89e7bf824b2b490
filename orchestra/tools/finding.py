"""The tools of one task: chosen once, only ever added to, with `find_tools` for what is missing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from orchestra.tools.port import Effects, ToolOutput
from orchestra.tools.subset import ToolIndex
from orchestra.values.messages import ToolSpec

FOUND = 5
"""Tools that one `find_tools` adds at most."""


class TaskTools:
    """One agent's subset of the tools of `index`; `group` names the ones it has in any case."""

    def __init__(self, index: ToolIndex, count: int, group: Iterable[str] = ()) -> None:
        self._index = index
        self._count = count
        self._specs: list[ToolSpec] = []
        self._group = tuple(group)

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """What the prompt shows, in the order in which it came, so that the prefix stays."""
        return tuple(self._specs)

    def begin(self, task: str) -> tuple[ToolSpec, ...]:
        """Choose for a task; a later task only adds."""
        held = [spec.name for spec in self._specs]
        self._take(self._index.choose(task, max(self._count, len(held)), keep=(*held, *self._group)))
        return self.specs

    def find(self, words: str) -> tuple[ToolSpec, ...]:
        """Add the tools that these words find best; returns the new ones."""
        held = {spec.name for spec in self._specs}
        names = [name for name, score in self._index.ranked(words)[: FOUND + len(held)] if score > 0]
        names = [name for name in names if name not in held][:FOUND]
        new = self._index.choose(words, 0, keep=names)
        self._take(new)
        return new

    def _take(self, specs: Iterable[ToolSpec]) -> None:
        held = {spec.name for spec in self._specs}
        self._specs += [spec for spec in specs if spec.name not in held]


class FindTools:
    """The tool `find_tools`: the model says what it is missing, the tools are there from the next step on."""

    spec = ToolSpec(
        "find_tools",
        "Find more tools when none of those you have fits. They can be called in your next step.",
        {
            "type": "object",
            "properties": {
                "need": {"type": "string", "description": "What the tool has to do, in a few words."}
            },
            "required": ["need"],
        },
    )
    effects: Effects = "read"
    seconds: float | None = None

    def __init__(self, tools: TaskTools) -> None:
        self._tools = tools

    async def call(self, arguments: Mapping[str, Any]) -> ToolOutput:
        """Add what fits, and say what it is."""
        need = str(arguments.get("need", ""))
        new = self._tools.find(need)
        if not new:
            return ToolOutput(text=f"No other tool matches {need!r}.")
        lines = [f"{spec.name}: {spec.description.split('. ')[0][:200]}" for spec in new]
        return ToolOutput(text="From your next step on you have:\n" + "\n".join(lines))
