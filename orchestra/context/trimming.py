"""What stays when not everything fits: by zone, by priority, newest last to go, pairs never parted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter

from msgspec import Struct, structs

from orchestra.context.blocks import Block, Entry, Zone, entry_of
from orchestra.context.budget import Budget, share_out
from orchestra.context.fence import fenced
from orchestra.context.results import MARK_TOKENS, mark, shorten
from orchestra.context.tokens import MESSAGE_TOKENS, Counter
from orchestra.context.toolsheet import ToolSheet, reduced
from orchestra.errors import ContextOverflow

_FILLED: tuple[Zone, ...] = ("memory", "knowledge", "history")

LEAST = 48
"""A block is not cut to fewer tokens than this; it is left out."""

NO_ROOM = "no room in its zone"

_tokens = attrgetter("tokens")


class Kept(Struct, frozen=True):
    """What goes into the prompt, in its order, and the entries of what does not."""

    blocks: Sequence[Block]
    tools: ToolSheet
    gone: tuple[Entry, ...]
    cut: bool = False


class Unit(Struct, frozen=True, gc=False):
    """Blocks that stay or leave together: one alone, or a message with calls and their results."""

    blocks: tuple[Block, ...]
    tokens: int
    protected: bool

    @property
    def zone(self) -> Zone:
        return self.blocks[0].zone

    @property
    def rank(self) -> tuple[int, int, int]:
        """Larger stays longer."""
        first = self.blocks[0]
        return (max(block.priority for block in self.blocks), first.place, first.number)


def without_unpaired(ordered: Sequence[Block]) -> tuple[Sequence[Block], list[Entry]]:
    """The blocks without calls that lack a result and results that lack a call, and those' entries."""
    bad: set[int] = set()
    waiting: list[str] = []
    cluster: list[int] = []
    for at, block in enumerate(ordered):
        message = block.message
        if message.role == "tool":
            if message.call_id in waiting:
                waiting.remove(message.call_id)
                cluster.append(at)
            else:
                bad.add(at)
        else:
            if waiting:
                bad.update(cluster)
                waiting = []
            if message.calls:
                waiting, cluster = [call.id for call in message.calls], [at]
    if waiting:
        bad.update(cluster)
    if not bad:
        return ordered, []
    gone = [entry_of(ordered[at], "dropped", "a call without its result") for at in sorted(bad)]
    return [block for at, block in enumerate(ordered) if at not in bad], gone


def units_of(ordered: Iterable[Block]) -> list[Unit]:
    """Paired blocks as units, in order."""
    units: list[Unit] = []
    for block in ordered:
        if block.message.role == "tool" and units:
            last = units[-1]
            tokens, protected = last.tokens + block.tokens, last.protected or block.protected
            units[-1] = Unit((*last.blocks, block), tokens, protected)
        else:
            units.append(Unit((block,), block.tokens, block.protected))
    return units


def fit(
    ordered: Sequence[Block], budget: Budget, counter: Counter, tools: ToolSheet, around: Mapping[str, int]
) -> Kept:
    """What fits. `around`: names and tokens of what stands around the blocks and is never cut.

    Raises ContextOverflow that names each part when even the protected ones do not fit.
    """
    units = units_of(ordered)
    fixed = [unit for unit in units if unit.protected]
    room = budget.usable - sum(around.values()) - sum(unit.tokens for unit in fixed)
    if room < 0:
        _overflow(fixed, budget, around)
    free = [unit for unit in units if not unit.protected]
    needs: dict[Zone, int] = {"tools": tools.tokens}
    for unit in free:
        needs[unit.zone] = needs.get(unit.zone, 0) + unit.tokens
    given = share_out(room, needs, budget.shares)
    called = {call.name for block in ordered for call in block.message.calls}
    sheet = tools if tools.tokens <= given["tools"] else reduced(tools, given["tools"], counter, called)
    # What slimmed tools leave free goes to the others.
    given = share_out(room - sheet.tokens, {**needs, "tools": 0}, budget.shares)
    stay: dict[int, Block] = {id(block): block for unit in fixed for block in unit.blocks}
    gone: list[Entry] = []
    for zone in _FILLED:
        mine = [unit for unit in free if unit.zone == zone]
        _fill(mine, given[zone], counter, (stay, gone))
    shown = [stay[id(block)] for block in ordered if id(block) in stay]
    cut = any(stay.get(id(block), block) is not block for block in ordered)
    return Kept(shown, sheet, tuple(gone), cut)


def _fill(units: list[Unit], room: int, counter: Counter, out: tuple[dict[int, Block], list[Entry]]) -> None:
    """Put units into `out` (what stays by its original's identity, what goes) by rank while they fit.

    The first that does not fit is cut, and what ranks below it goes: older turns would stand there
    without what followed them. The newest unit ranks first, so that a model sees what it just asked for.
    """
    stay, gone = out
    if sum(map(_tokens, units)) <= room:
        stay.update((id(block), block) for unit in units for block in unit.blocks)
        return
    ranked = [units[-1], *sorted(units[:-1], key=attrgetter("rank"), reverse=True)]
    full = False
    for unit in ranked:
        if not full and unit.tokens <= room:
            stay.update((id(block), block) for block in unit.blocks)
            room -= unit.tokens
            continue
        shorter = None if full else cut_unit(unit, room, counter)
        full = True
        if shorter is None:
            gone += [entry_of(block, "dropped", NO_ROOM) for block in unit.blocks]
        else:
            stay.update((id(old), new) for old, new in zip(unit.blocks, shorter, strict=True))


def cut_unit(unit: Unit, room: int, counter: Counter) -> tuple[Block, ...] | None:
    """The unit with its data cut to `room` tokens in all, the longest first; None if too little is left."""
    data = sorted(block.tokens for block in unit.blocks if _is_data(block))
    left = room - (unit.tokens - sum(data))
    level = LEAST - 1
    for at, size in enumerate(data):  # the height to which all are cut so that they fill what is left
        level = left // (len(data) - at)
        if size > level:
            break
        left -= size
    if level < LEAST:
        return None
    return tuple(cut_block(block, level, counter) if _is_data(block) else block for block in unit.blocks)


def cut_block(block: Block, tokens: int, counter: Counter) -> Block:
    """The block with at most `tokens` tokens, and a mark that says so."""
    if block.tokens <= tokens:
        return block
    whole = block.whole or block.tokens
    text = shorten(block.message.text, tokens - MARK_TOKENS - MESSAGE_TOKENS, counter)
    text = f"{text}\n{mark(counter.count(text), whole, block.ref)}"
    message = structs.replace(block.message, text=text, wire=b"")
    return structs.replace(
        block, message=message, tokens=counter.message(message), whole=whole, why=f"{block.why}; cut to fit"
    )


def _is_data(block: Block) -> bool:
    """Only what is fenced, and so no instruction and nobody's own words, may be cut."""
    return block.message.role in ("tool", "user") and bool(fenced(block.message.text))


def _overflow(fixed: list[Unit], budget: Budget, around: Mapping[str, int]) -> None:
    parts = {f"{block.source} ({block.id})": block.tokens for unit in fixed for block in unit.blocks}
    parts.update(around)
    listed = ", ".join(f"{name} {tokens:,}" for name, tokens in parts.items() if tokens)
    raise ContextOverflow(
        f"What may never be cut has {sum(parts.values()):,} tokens, the prompt may have {budget.usable:,}: "
        f"{listed}. Shorten these or use a model with a larger window.",
        parts=parts,
        budget=budget.usable,
    )
