"""Laws of assembly, for any blocks and any budget."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestra.context.assembly import Frame, Piece, Prompt, assemble
from orchestra.context.blocks import LATE, Block, Zone, settled_place
from orchestra.context.budget import budget_of
from orchestra.context.fence import fence
from orchestra.context.policy import policy_for
from orchestra.context.tokens import MESSAGE_TOKENS, REPLY_TOKENS, counter_for
from orchestra.context.toolsheet import sheet_of
from orchestra.context.weaving import Joins
from orchestra.errors import ContextOverflow
from orchestra.models.compatible.encode import in_order
from orchestra.values.messages import Message, ToolCall, ToolSpec

COUNTER = counter_for("gpt-4o")
POLICY = policy_for("tools")
WORDS = st.lists(
    st.sampled_from(
        ["hook ", "wheel, ", "构建后端", "不要。", "12,000 ", "\n\n", "```\n", "🧠", "{'a': 1} "]
    ),
    min_size=1,
    max_size=60,
).map("".join)
PLACES = st.sampled_from(["settled", "late"])


class Maker:
    """Numbers blocks as a context does."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []

    def add(self, zone: Zone, message: Message, **fields: Any) -> Block:
        number = len(self.blocks) + 1
        place = fields.pop("place", "late")
        if not isinstance(place, int):
            place = settled_place(zone, number) if place == "settled" else LATE + number
        made = Block(
            number=number,
            zone=zone,
            source=f"source {number}",
            message=message,
            tokens=COUNTER.message(message),
            place=place,
            **fields,
        )
        self.blocks.append(made)
        return made


@st.composite
def contexts(draw: st.DrawFn, broken: bool = True) -> list[Block]:
    """Blocks of every zone in any order; calls have their results and, if `broken`, some have not."""
    make = Maker()
    kinds = ["system", "data", "user", "input", "reply", "group", "group"] + ["stray", "open"] * broken
    for kind in draw(st.lists(st.sampled_from(kinds), max_size=14)):
        fields = {
            "place": draw(PLACES),
            "pinned": draw(st.integers(0, 9)) == 0,
            "priority": draw(st.sampled_from([10, 50, 50, 90])),
        }
        text = draw(WORDS)
        if kind == "system":
            make.add("fixed", Message("system", text[:40]), **fields | {"place": "settled"})
        elif kind == "data":
            zone: Zone = draw(st.sampled_from(["memory", "knowledge"]))
            make.add(zone, Message("user", fence("label", text)), **fields)
        elif kind in ("user", "input"):
            zone = "history" if kind == "user" else "input"
            make.add(zone, Message("user", text[:80]), **fields)
        elif kind == "reply":
            make.add("history", Message("assistant", text), **fields)
        elif kind == "stray":
            make.add("history", Message("tool", text, call_id="nobody"), **fields | {"pinned": False})
        else:
            group(draw, make, fields, complete=kind == "group")
    return make.blocks


def group(draw: st.DrawFn, make: Maker, fields: dict[str, Any], *, complete: bool) -> None:
    count = draw(st.integers(1, 3))
    calls = tuple(ToolCall(f"call_{len(make.blocks)}_{at}", "search", "{}") for at in range(count))
    first = make.add("history", Message("assistant", "", calls), **fields | {"pinned": False})
    for call in calls[: count if complete else count - 1]:
        message = Message("tool", fence("search | 查", draw(WORDS)), call_id=call.id)
        pinned = complete and fields["pinned"]
        make.add("history", message, **fields | {"place": first.place, "pinned": pinned})


TOOLS = tuple(
    ToolSpec(f"find_{n}", f"Find {n}. It finds more than that.", {"type": "object", "properties": {}})
    for n in range(6)
)
FRAMES = st.builds(
    lambda state, ask, tools: Frame(
        before=(piece("state", state),) if state else (),
        after=(piece("input", ask),) if ask else (),
        tools=sheet_of(TOOLS[:tools], COUNTER),
    ),
    st.sampled_from(["", "Goal: 了解"]),
    st.sampled_from(["", "Answer with JSON."]),
    st.integers(0, 6),
)
WINDOWS = st.integers(1, 3_000)


def piece(zone: Zone, text: str) -> Piece:
    return Piece(zone, zone, text, COUNTER.count(text) + MESSAGE_TOKENS)


def prompt_of(blocks: Sequence[Block], window: int, frame: Frame) -> Prompt | None:
    """None where what may never be cut is too large, after a look at how that is said."""
    budget = budget_of(window, POLICY)
    needed = sum(block.tokens for block in blocks if block.protected)
    needed += sum(piece.tokens for piece in (*frame.before, *frame.after))
    if needed + REPLY_TOKENS <= budget.usable:
        # A pinned result needs its call too, so this is not yet sure to fit.
        try:
            return assemble(blocks, budget, COUNTER, frame)
        except ContextOverflow as overflow:
            told(overflow)
            return None
    with pytest.raises(ContextOverflow) as caught:
        assemble(blocks, budget, COUNTER, frame)
    told(caught.value)
    return None


def told(overflow: ContextOverflow) -> None:
    assert sum(overflow.parts.values()) > overflow.budget
    assert all(name in str(overflow) for name in overflow.parts)


@given(contexts(), WINDOWS, FRAMES)
def test_a_prompt_fits_and_its_manifest_adds_up(blocks: list[Block], window: int, frame: Frame) -> None:
    """An assembled prompt is within its budget, by its own count, its manifest's and a recount."""
    prompt = prompt_of(blocks, window, frame)
    if prompt is None:
        return
    assert prompt.tokens <= prompt.manifest.usable
    assert prompt.manifest.tokens == prompt.tokens == sum(prompt.manifest.zones().values())
    tools = sheet_of(prompt.tools, COUNTER).tokens
    assert sum(map(COUNTER.message, prompt.messages)) + tools + REPLY_TOKENS <= prompt.tokens


@given(contexts(broken=False), WINDOWS, FRAMES)
def test_what_is_never_cut_is_there(blocks: list[Block], window: int, frame: Frame) -> None:
    """Instructions, inputs, pinned blocks and the pieces at the end stand verbatim in every prompt."""
    prompt = prompt_of(blocks, window, frame)
    if prompt is None:
        return
    text = "\0".join(message.text for message in prompt.messages)
    assert all(block.message.text in text for block in blocks if block.protected)
    assert all(piece.text in text for piece in (*frame.before, *frame.after))


@given(contexts(), WINDOWS, FRAMES)
def test_calls_and_results_are_never_parted(blocks: list[Block], window: int, frame: Frame) -> None:
    """Each message with calls is followed by exactly its results, and there are no others."""
    prompt = prompt_of(blocks, window, frame)
    if prompt is None:
        return
    waiting: list[str] = []
    for message in prompt.messages:
        if message.role == "tool":
            waiting.remove(message.call_id)
        else:
            assert not waiting
            waiting = [call.id for call in message.calls]
    assert not waiting
    spoken = [each for each in prompt.messages if each.role != "assistant" or each.text or each.calls]
    assert in_order(spoken) is spoken  # as an agent's request says of it


@given(contexts(), WINDOWS, FRAMES)
def test_every_block_is_accounted_for_once(blocks: list[Block], window: int, frame: Frame) -> None:
    """The manifest has one line for each block, and a reason for each that is not whole."""
    prompt = prompt_of(blocks, window, frame)
    if prompt is None:
        return
    entries = [entry for entry in prompt.manifest.entries if entry.block.startswith("b")]
    assert sorted(entry.block for entry in entries) == sorted(block.id for block in blocks)
    assert all(entry.why for entry in prompt.manifest.absent())
    assert all((entry.tokens == 0) == (entry.fate == "dropped") for entry in entries)


@given(contexts(), WINDOWS, FRAMES)
def test_the_same_blocks_give_the_same_prompt(blocks: list[Block], window: int, frame: Frame) -> None:
    """Assembly is a function: again, and with remembered joins, the prompt is equal."""
    joins = Joins()
    if prompt_of(blocks, window, frame) is None:
        return
    budget = budget_of(window, POLICY)
    first, second, third = (
        assemble(blocks, budget, COUNTER, frame, memory) for memory in (None, joins, joins)
    )
    assert first == second == third


@given(contexts(), WINDOWS, FRAMES)
def test_a_prompt_that_grows_is_as_one_made_at_once(blocks: list[Block], window: int, frame: Frame) -> None:
    """What is remembered of the last prompt changes nothing in the next, whatever comes behind or leaves."""
    joins, budget = Joins(), budget_of(window, POLICY)
    for end in (*range(len(blocks) + 1), *range(len(blocks), 0, -2)):
        if prompt_of(blocks[:end], window, frame) is not None:
            known = assemble(blocks[:end], budget, COUNTER, frame, joins)
            assert known == assemble(blocks[:end], budget, COUNTER, frame)


@given(contexts(broken=False), FRAMES)
def test_with_room_nothing_is_lost(blocks: list[Block], frame: Frame) -> None:
    """When everything fits, everything is there, whole, and system messages come first."""
    prompt = prompt_of(blocks, 100_000, frame)
    assert prompt is not None
    assert not prompt.manifest.absent()
    text = "\0".join(message.text for message in prompt.messages)
    assert all(block.message.text in text for block in blocks)
    roles = [message.role for message in prompt.messages]
    assert "system" not in roles[roles.count("system") :]


@given(contexts(broken=False), st.integers(0, 13))
def test_later_blocks_only_make_the_prompt_longer(blocks: list[Block], count: int) -> None:
    """What came before a later block stands unchanged before it: a provider's cache of it holds."""
    make = Maker()
    make.blocks = [block for block in blocks if block.place < LATE]
    before = prompt_of(make.blocks, 100_000, Frame())
    make.add("history", Message("assistant", "and then"))
    make.add("input", Message("user", f"还有 {count}"))
    after = prompt_of(make.blocks, 100_000, Frame())
    assert before is not None
    assert after is not None
    shared = before.messages[: before.cache_until]
    assert after.messages[: len(shared)] == shared


def test_an_overflow_names_each_part() -> None:
    """What may never be cut and does not fit is named with its tokens, and what to do is said."""
    make = Maker()
    make.add("fixed", Message("system", "rule " * 50), place="settled")
    make.add("input", Message("user", "question " * 100))
    with pytest.raises(ContextOverflow, match="larger window") as caught:
        assemble(make.blocks, budget_of(100, POLICY), COUNTER, Frame(after=(piece("state", "Goal: x"),)))
    assert caught.value.parts == {"source 1 (b1)": 54, "source 2 (b2)": 104, "state": 6, "reply": 3}
