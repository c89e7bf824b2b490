"""The tools of one task: chosen once, only ever added to, with `find_tools` for what is missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from orchestra.errors import ToolArguments
from orchestra.journal.track import Track
from orchestra.tools.choosing import ADDED_TOOLS, FOUND_TOOLS, Chooser, named_in
from orchestra.tools.port import Effects, ToolOutput
from orchestra.tools.toolbox import Toolbox
from orchestra.values.messages import ToolSpec

NAME = "find_tools"
CHOSEN = "tools chosen"  # what a note says of the tools that a task got
_WORDS_NAMED = 12
_LONGEST_LINE = 200


class Choice(Struct, frozen=True, kw_only=True):
    """How one agent's tools are chosen. `named`: those it has in any case; `instructions`: its role's, which
    may name others; `project`: whose earlier requests count.
    """

    chooser: Chooser
    named: tuple[str, ...] = ()
    instructions: str = ""
    project: str = ""


class TaskTools:
    """One agent's part of the `pool` that it may use. Names are in the order in which they came."""

    def __init__(self, pool: Toolbox, choice: Choice) -> None:
        self.pool = pool
        self.names: tuple[str, ...] = ()
        self._choice = choice
        self._chooser = choice.chooser
        self._task = ""

    async def begin(self, task: str) -> tuple[str, ...]:
        """The names for a task; a later one only adds what it needs most. Takes none of them."""
        project = self._choice.project
        if not self.names:
            # Instructions may name many: half of the places are for the best. A task that names a tool
            # finds it by its words, and may well name some that it is not about.
            half = self._chooser.choosing.chosen // 2
            keep = (*self._choice.named, *named_in(self._choice.instructions, self.pool)[:half])
            return await self._chooser.choose(task, self.pool, keep=keep, project=project)
        said = named_in(task, self.pool)
        best = await self._chooser.best(task, self.pool, ADDED_TOOLS, project=project)
        room = max(self._chooser.choosing.most - len(self.names), 0)
        return (*self._new(said), *self._new(name for name in best if name not in said)[:room])

    async def chosen(self, task: str, track: Track, at: float | None) -> tuple[str, ...]:
        """Take the names for a task, those of the record where it has them; returns the new ones."""
        noted, first = track.noted(CHOSEN), not self.names
        over = track.is_over and not track.rerun
        names = noted.data["tools"] if noted is not None else ()
        if noted is None and (first or over):  # what is recorded without a note has got nothing later
            names = await self.begin(task)
        new = self.take(names, task)
        left_out = len(new) < len(self.pool)
        if noted is not None or (over and left_out and (new or first)):
            await track.put("note", {"what": CHOSEN, "tools": new, "of": len(self.pool)}, at=at)
        return new

    async def find(self, words: str) -> tuple[str, ...]:
        """The names that these words say, or else those they describe best, without what is there already."""
        exact = self._new(word for word in (words.strip(), *named_in(words, self.pool)) if word in self.pool)
        if exact:
            return exact
        most = FOUND_TOOLS + len(self.names)
        project = self._choice.project
        best = await self._chooser.best(words, self.pool, most, project=project, values=False)
        return self._new(best)[:FOUND_TOOLS]

    def take(self, names: Iterable[str], task: str = "") -> tuple[str, ...]:
        """Have these of the pool from now on; returns those that are new."""
        self._task = task or self._task
        new = self._new(name for name in names if name in self.pool)
        self.names += new
        return new

    def used(self, name: str) -> None:
        """A call of this tool worked."""
        if name in self.pool:
            self._chooser.used(self._choice.project, self._task, name)

    def others(self) -> str:
        """What the tools that are not there are about, by the words of their names."""
        words: Counter[str] = Counter()
        for name in self.pool.names:
            if name not in self.names:
                words.update({word.lower() for word in name.replace("-", "_").split("_") if len(word) > 2})
        return ", ".join(word for word, _ in words.most_common(_WORDS_NAMED))

    def _new(self, names: Iterable[str]) -> tuple[str, ...]:
        return tuple(name for name in dict.fromkeys(names) if name not in self.names)


class FindTools:
    """The tool `find_tools`: the model says what it is missing, the tools are there from the next step on."""

    __slots__ = ("_tools",)
    spec = ToolSpec(
        NAME,
        "Get more tools: there are many that are not shown to you. Use it when none of those you have fits.",
        {
            "type": "object",
            "properties": {
                "need": {
                    "type": "string",
                    "description": "What the tool has to do, in a few words, or its name.",
                }
            },
            "required": ["need"],
            "additionalProperties": False,
        },
    )
    effects: Effects = "read"
    seconds: float | None = None

    def __init__(self, tools: TaskTools) -> None:
        self._tools = tools

    async def call(self, arguments: Mapping[str, Any]) -> ToolOutput:
        """What fits, as `added` to what the agent has."""
        need = arguments.get("need")
        if not isinstance(need, str) or not need.strip():
            raise ToolArguments(f'{NAME} needs "need": what the tool has to do, in a few words.')
        pool = self._tools.pool
        if need.strip() in self._tools.names:
            return ToolOutput(text=f"You have {need.strip()} already.")
        names = await self._tools.find(need)
        if not names:
            return ToolOutput(text=f"No other tool matches {need!r}. {self._about()}")
        lines = [_line(tool.spec) for name in names if (tool := pool.get(name)) is not None]
        return ToolOutput(text="From your next step on you have:\n" + "\n".join(lines), added=names)

    def _about(self) -> str:
        others = self._tools.others()
        return f"The others are about: {others}." if others else "You have all there are."


def _line(spec: ToolSpec) -> str:
    first = str(spec.description or "").split("\n")[0].split(". ")[0]
    return f"{spec.name}: {first[:_LONGEST_LINE]}"
