"""From a scenario file to a Scenario, strictly: what is not understood is named, with its line."""

from __future__ import annotations

from pathlib import Path

from msgspec import json

from orchestra.config.nearest import hint
from orchestra.context.policy import MECHANISMS
from orchestra.errors import InputError
from orchestra.eval.generated import KINDS, bytes_of
from orchestra.eval.nodes import Node, compose
from orchestra.eval.scenario import (
    BEHAVIOURS,
    PLACES,
    Call,
    Expected,
    Generated,
    KeyFact,
    Result,
    Scenario,
    Step,
    Turn,
)
from orchestra.roles.front import read_text
from orchestra.tools.own import OPTIONAL
from orchestra.tools.recall import SPEC as RECALL
from orchestra.values.messages import ToolSpec

KEYS = (
    "name",
    "title",
    "language",
    "mechanisms",
    "window",
    "instructions",
    "tools",
    "summaries",
    "story",
    "facts",
    "turns",
)
TURN_KEYS = ("user", "by", "calls", "steps", "reply", "needs", "shows", "hides", "answer", "occupancy")
ISOLATION = "isolation"
"""Beside a policy's mechanisms: that two users have two contexts."""
SMALLEST_WINDOW = 500


def read_scenario(path: Path, label: str = "") -> Scenario:
    """The scenario in a file. Raises InputError: the first mistake with its file, line and key."""
    label = label or str(path)
    return parse(read_text(path, label, what="scenario file", error=InputError), label)


def parse(text: str, label: str) -> Scenario:
    """The scenario in a text; `label` stands for the file."""
    root = compose(text, label)
    fields = root.fields(KEYS, needed=("name", "title", "turns"))
    tools, own = _tools(fields.get("tools"))
    facts = _facts(fields.get("facts"))
    reader = _Turns(
        callable_={*(tool.name for tool in tools), *own, RECALL.name}, facts={fact.name for fact in facts}
    )
    kept: dict[str, object] = {}
    if "window" in fields:
        kept["window"] = _window(fields["window"])
    for key in ("language", "instructions", "story"):
        if key in fields:
            kept[key] = fields[key].text().strip()
    if "summaries" in fields:
        kept["summaries"] = tuple(
            item.word(BEHAVIOURS, "way to sum up") for item in _some(fields["summaries"])
        )
    mechanisms = fields.get("mechanisms")
    return Scenario(
        name=fields["name"].text().strip(),
        title=fields["title"].text().strip(),
        mechanisms=tuple(
            item.word((*MECHANISMS, ISOLATION), "mechanism")
            for item in (mechanisms.items() if mechanisms else ())
        ),
        tools=tools,
        own_tools=own,
        facts=facts,
        turns=tuple(reader.turn(item) for item in _some(fields["turns"])),
        file=label,
        **kept,  # type: ignore[arg-type]  # fields of Scenario
    )


def _some(node: Node) -> list[Node]:
    found = node.items()
    if not found:
        raise node.error("is an empty list.")
    return found


def _window(node: Node) -> int:
    window = node.whole()
    if window < SMALLEST_WINDOW:
        raise node.error(f"must be at least {SMALLEST_WINDOW} tokens.")
    return window


def _tools(node: Node | None) -> tuple[tuple[ToolSpec, ...], tuple[str, ...]]:
    """The scenario's own tools, and the product's own that it names."""
    specs: list[ToolSpec] = []
    own: list[str] = []
    for name, given in node.pairs() if node is not None else ():
        if name in OPTIONAL:
            if given.text(empty=True).strip():
                raise given.error("is a tool of the product and takes no description.")
            own.append(name)
            continue
        if name == RECALL.name:
            raise given.error("is there without being listed.")
        fields = given.fields(("description", "takes"), needed=("description",))
        takes = fields.get("takes")
        described = {key: part.text() for key, part in takes.pairs()} if takes is not None else {}
        properties = {key: {"type": "string", "description": text} for key, text in described.items()}
        schema = {"type": "object", "properties": properties, "required": list(properties)}
        specs.append(ToolSpec(name, fields["description"].text(), schema))
    return tuple(specs), tuple(own)


def _facts(node: Node | None) -> tuple[KeyFact, ...]:
    found: list[KeyFact] = []
    for name, given in node.pairs() if node is not None else ():
        if given.kind != "mapping":
            found.append(KeyFact(name=name, spellings=_texts(given)))
            continue
        fields = given.fields(("value", "wrong", "old"), needed=("value",))
        lists = {key: _texts(part) for key, part in fields.items() if key != "value"}
        found.append(KeyFact(name=name, spellings=_texts(fields["value"]), **lists))
    return tuple(found)


def _texts(node: Node) -> tuple[str, ...]:
    return tuple(item.text() for item in _some(node))


class _Turns:
    """Reads turns; `callable_`: tools that may be called, `facts`: names that may be needed."""

    def __init__(self, *, callable_: set[str], facts: set[str]) -> None:
        self._callable = callable_
        self._facts = facts
        self._brought: set[str] = set()

    def turn(self, node: Node) -> Turn:
        fields = node.fields(TURN_KEYS, needed=("user", "reply"))
        if "calls" in fields and "steps" in fields:
            raise fields["steps"].error('stands beside "calls"; one of the two says it all.')
        steps: tuple[Step, ...] = ()
        if "calls" in fields:
            steps = (self._step(fields["calls"]),)
        elif "steps" in fields:
            steps = tuple(self._step(item) for item in _some(fields["steps"]))
        lists = {key: _expected_list(fields[key]) for key in ("shows", "hides", "answer") if key in fields}
        needs = fields["needs"].items() if "needs" in fields else []
        return Turn(
            user=fields["user"].text().strip(),
            by=fields["by"].text().strip() if "by" in fields else "",
            steps=steps,
            reply=fields["reply"].text().strip(),
            needs=tuple(item.word(self._facts, "key fact") for item in needs),
            occupancy=fields["occupancy"].share() if "occupancy" in fields else None,
            line=node.line,
            **lists,
        )

    def _step(self, node: Node) -> Step:
        return tuple(self._call(item) for item in _some(node))

    def _call(self, node: Node) -> Call:
        """`find_order: {order: A17}` with a `result` beside it."""
        pairs = dict(node.pairs())
        result = pairs.pop("result", None)
        if len(pairs) != 1:
            raise node.error("must be one tool's name with its arguments, and a result.")
        ((tool, arguments),) = pairs.items()
        if tool not in self._callable:
            raise node.error(f'there is no tool "{tool}" in this scenario.{hint(tool, self._callable)}')
        value = arguments.value()
        if value is not None and not isinstance(value, dict):
            raise arguments.error("takes arguments as {name: value}.")
        own = tool == RECALL.name or tool in OPTIONAL
        if own and result is not None:
            raise result.error(f"{tool} is the product's own and answers by itself.")
        if not own and result is None:
            raise node.error(f'"result" is missing: what {tool} brings.')
        return Call(
            tool=tool,
            arguments=json.encode(value or {}).decode(),
            result=self._result(tool, result) if result is not None else None,
        )

    def _result(self, tool: str, node: Node) -> Result:
        made = _result(node)
        if made.again and tool not in self._brought:
            raise node.error(f"{tool} has brought nothing yet that could come again.")
        self._brought.add(tool)
        return made


def _result(node: Node) -> Result:
    if node.kind == "scalar":
        return Result(text=node.text(empty=True))
    if node.kind == "sequence":
        raise node.error("must be a text, or one of json, error, generated, again.")
    fields = node.fields(("json", "error", "generated", "again", "size", "holds", "seed"))
    extra = {key: part for key, part in fields.items() if key in ("size", "holds", "seed")}
    ways = [key for key in fields if key not in extra]
    if len(ways) != 1:
        raise node.error("must be one of json, error, generated, again.")
    if extra and ways[0] != "generated":
        raise next(iter(extra.values())).error("belongs to something generated.")
    part = fields[ways[0]]
    if ways[0] == "json":
        return Result(text=json.encode(part.value()).decode())
    if ways[0] == "error":
        return Result(error=part.text())
    if ways[0] == "again":
        part.word(("true", "yes"), "value")
        return Result(again=True)
    if "size" not in extra:
        raise node.error('"size" is missing, such as 40 KB.')
    return Result(generated=_generated(part, extra))


def _generated(kind: Node, extra: dict[str, Node]) -> Generated:
    size = bytes_of(extra["size"].text())
    if size is None:
        raise extra["size"].error("must be a size such as 800, 40 KB or 1 MB, at most 20 MB.")
    holds: list[tuple[float, str]] = []
    for item in extra["holds"].items() if "holds" in extra else ():
        fields = item.fields(("at", "text"), needed=("at", "text"))
        holds.append((fields["at"].share(), fields["text"].text()))
    return Generated(
        kind=kind.word(KINDS, "kind of result"),  # type: ignore[arg-type]  # one of KINDS
        size=size,
        holds=tuple(holds),
        seed=extra["seed"].whole() if "seed" in extra else 0,
    )


def _expected_list(node: Node) -> tuple[Expected, ...]:
    return tuple(_expected(item) for item in _some(node))


def _expected(node: Node) -> Expected:
    if node.kind == "scalar":
        return Expected(texts=(node.text(),), line=node.line)
    fields = node.fields(("text", "any", "in", "most"))
    if ("text" in fields) == ("any" in fields):
        raise node.error("needs text, or any with several.")
    return Expected(
        texts=_texts(fields.get("any") or fields["text"]),
        where=fields["in"].word(PLACES, "place in a prompt") if "in" in fields else "",
        most=fields["most"].whole(most=1_000) if "most" in fields else None,
        line=node.line,
    )
