"""The task state: a few lines that a model may propose changes to and only code merges."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct, structs

Field = Literal["goal", "constraints", "entities", "entity", "facts", "done", "todo", "step"]
SINGLE: frozenset[str] = frozenset(("goal", "entity", "step"))


class TaskState(Struct, frozen=True, kw_only=True):
    """`entities` and `facts` are lines, as a rule `name: what` or `key=value`; the newest stands last.

    `facts` are those of the current `entity`; those of others, and under "" those of none, wait in `others`.
    """

    goal: str = ""
    constraints: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    entity: str = ""
    facts: tuple[str, ...] = ()
    others: tuple[tuple[str, tuple[str, ...]], ...] = ()
    done: tuple[str, ...] = ()
    todo: tuple[str, ...] = ()
    step: str = ""


class Patch(Struct, frozen=True):
    """One change to one field.

    `set` takes the place of the field (of a list: by this one line, or by none for ""); `add` and `remove`
    work on lists; `add` with the `key` or `key=` / `key:` of a line that is there takes that line's place.
    """

    field: Field
    value: str
    how: Literal["set", "add", "remove"] = "set"


EMPTY = TaskState()

_TITLES: tuple[tuple[str, str], ...] = (
    ("goal", "Goal"),
    ("constraints", "Constraints"),
    ("entities", "Entities"),
    ("entity", "Current entity"),
    ("facts", "Facts"),
    ("others", "Facts of others"),
    ("done", "Done"),
    ("todo", "To do"),
    ("step", "Current step"),
)


def merge(state: TaskState, *patches: Patch) -> TaskState:
    """The state with each patch applied in turn; whatever no patch names stays as it is."""
    for patch in patches:
        if patch.field == "entity":
            state = _switched(state, "" if patch.how == "remove" else " ".join(patch.value.split()))
        else:
            state = structs.replace(state, **{patch.field: _merged(state, patch)})
    return state


def render(state: TaskState) -> str:
    """The state in a few lines, empty fields left out; "" when nothing is known.

    Of long lists the newest lines are shown and the rest is counted; it stays in the state.
    """
    lines: list[str] = []
    for name, title in _TITLES:
        value = _newest(name, getattr(state, name))
        if isinstance(value, str):
            if value:
                lines.append(f"{title}: {value}")
        elif name == "others":
            for other in value:
                of, known = other if isinstance(other, tuple) else (other, ())
                told = "; ".join(_newest("others' facts", known))
                lines.append(f"Facts of {of or 'no one thing'}: {told}" if told else of)
        elif name == "facts" and value and state.entity:
            lines.append(f"Facts of {state.entity}:")
            lines.extend(f"- {line}" for line in value)
        elif name in ("done", "todo", "entities") and value:
            lines.append(f"{title}: {'; '.join(value)}")
        elif value:
            lines.append(f"{title}:")
            lines.extend(f"- {line}" for line in value)
    return "\n".join(lines)


_SHOWN = {"entities": 20, "facts": 30, "others": 6, "others' facts": 10, "done": 12}


def _newest(name: str, value: Any) -> Any:
    """The newest lines of a list that has grown long, behind a line that counts the others."""
    most = _SHOWN.get(name)
    if most is None or len(value) <= most:
        return value
    return (f"({len(value) - most} earlier ones are not shown)", *value[-most:])


def _switched(state: TaskState, entity: str) -> TaskState:
    """Another current entity: the facts of the last one are put by, its own are taken up again."""
    if entity == state.entity:
        return state
    others = {of: known for of, known in state.others if of != state.entity}
    if state.facts:
        others[state.entity] = state.facts
    facts = others.pop(entity, ())
    return structs.replace(state, entity=entity, facts=facts, others=tuple(others.items()))


def _merged(state: TaskState, patch: Patch) -> str | tuple[str, ...]:
    value = " ".join(patch.value.split())
    if patch.field in SINGLE:
        return "" if patch.how == "remove" else value
    lines: tuple[str, ...] = getattr(state, patch.field)
    if patch.how == "set":
        return (value,) if value else ()
    if patch.how == "remove":
        return tuple(line for line in lines if line != value and key_of_line(line) != value)
    if not value or value in lines:
        return lines
    key = key_of_line(value)
    if key and any(key_of_line(line) == key for line in lines):
        return tuple(value if key_of_line(line) == key else line for line in lines)
    return (*lines, value)


def key_of_line(line: str) -> str:
    """`order` of `order=A17` and of `order: A17`; "" for a line without one."""
    for mark in ("=", ":", "："):
        key, found, _ = line.partition(mark)
        if found and 0 < len(key.split()) <= 3:
            return key.strip()
    return ""
