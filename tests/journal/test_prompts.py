"""The record of a prompt: read back as it was sent, and no larger than what was new."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orchestra.context.blocks import Entry
from orchestra.context.manifest import Manifest, from_json
from orchestra.errors import InputError, StoreError
from orchestra.journal.journal import Journal
from orchestra.journal.patch import Run, apply, patch
from orchestra.journal.prompts import (
    Moment,
    PromptTrail,
    Sent,
    prompt_event,
    read_prompt,
    read_reply,
    reply_event,
)
from orchestra.values.events import Event
from orchestra.values.messages import Message, Reply, ToolCall, ToolSpec
from orchestra.values.usage import Usage
from tests.journal.recording import SESSION, begun

pytestmark = pytest.mark.anyio
AGENT = "researcher.2"

# NUL, undecodable bytes as Python escapes them (lone low surrogates), what is beyond the basic plane.
ANY_TEXT = st.text(st.characters(codec="utf-8") | st.sampled_from('\0\udc80\udcff😀é字\n"\\'), max_size=200)
LONG_TEXT = st.builds(lambda text, times: text * times, ANY_TEXT, st.integers(1, 40))
CALLS = st.lists(st.builds(ToolCall, id=ANY_TEXT, name=ANY_TEXT, arguments=LONG_TEXT), max_size=2).map(tuple)
MESSAGES = st.one_of(
    st.builds(Message, st.sampled_from(["system", "user"]), LONG_TEXT),
    st.builds(Message, st.just("assistant"), LONG_TEXT, CALLS, reasoning=ANY_TEXT),
    st.builds(Message, st.just("tool"), LONG_TEXT, call_id=ANY_TEXT),
)
ENTRIES = st.builds(
    Entry, block=st.sampled_from([f"b{n}" for n in range(9)]), zone=st.just("history"), source=ANY_TEXT,
    tokens=st.integers(0, 9), why=ANY_TEXT,
)  # fmt: skip
PROMPTS = st.lists(
    st.tuples(st.lists(MESSAGES, max_size=5), st.lists(ENTRIES, max_size=20)), min_size=1, max_size=4
)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANY_TEXT, inner, max_size=3),
    max_leaves=8,
)


def manifest(turn: int, entries: list[Entry]) -> Manifest:
    return Manifest(agent=AGENT, turn=turn, window=9, output=1, margin=1, usable=7, entries=tuple(entries))


@given(st.lists(st.integers(0, 5), max_size=60), st.lists(st.integers(0, 5), max_size=60))
def test_a_patch_makes_the_new_list(old: list[int], new: list[int]) -> None:
    """For any two lists; what was there before is not written again where it is a run."""
    parts = patch(old, new, lambda item: item)
    assert apply(old, msgspec.json.decode(msgspec.json.encode(parts))) == new


@given(
    st.lists(st.integers(0, 5), min_size=1, max_size=60),
    st.lists(st.integers(6, 9), max_size=5),
    st.integers(0, 3),
)
def test_growth_before_a_tail_is_written_as_growth(old: list[int], more: list[int], tail: int) -> None:
    """A list that grows in front of its last items is two runs and the new items."""
    at = max(len(old) - tail, 0)
    parts = patch(old, [*old[:at], *more, *old[at:]], lambda item: item)
    assert [part for part in parts if not isinstance(part, Run)] == more


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(PROMPTS)
async def test_prompts_are_read_back_as_they_were_sent(
    prompts: list[tuple[list[Message], list[Entry]]],
) -> None:
    """Any messages in any turn, with tools that change and manifests, whatever the turn before was."""
    async with Journal.open(":memory:") as journal:
        await begun(journal)
        trail = PromptTrail()
        sent = []
        for turn, (messages, entries) in enumerate(prompts, start=1):
            tools = tuple(ToolSpec(f"tool{n}", "Does it.", {"type": "object"}) for n in range(turn // 2))
            sent.append(Sent(tuple(messages), tools, manifest(turn, entries)))
            await trail.record(journal.record, Moment(SESSION, AGENT, turn, 1.0), sent[-1])
        await journal.flush()
        for turn, each in enumerate(sent, start=1):
            read = await read_prompt(journal, SESSION, AGENT, turn)
            assert (read.messages, read.tools) == (each.messages, each.tools)
            if "\\ud" not in read.manifest:  # lone surrogates stand in it as JSON escapes
                assert from_json(read.manifest) == each.manifest


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.dictionaries(ANY_TEXT, JSON, max_size=4), st.dictionaries(ANY_TEXT, LONG_TEXT, max_size=4), LONG_TEXT
)
async def test_events_are_read_back_as_they_were_recorded(
    data: dict[str, object], texts: dict[str, str], question: str
) -> None:
    """Any JSON and any text, whatever characters are in it."""
    async with Journal.open(":memory:") as journal:
        await begun(journal, question=question)
        await journal.record(
            Event(session=SESSION, agent=AGENT, turn=1, kind="note", at=2.5, data=data, texts=texts)
        )
        await journal.flush()
        [found] = await journal.events(SESSION)
        assert (found.data, found.at, found.turn) == (data, 2.5, 1)
        kept = await journal.texts(found.texts.values())
        assert {name: kept[where] for name, where in found.texts.items()} == texts
        assert await journal.text((await journal.find_session(SESSION)).question) == question


@settings(max_examples=30, deadline=None)
@given(LONG_TEXT, CALLS, ANY_TEXT)
async def test_replies_are_read_back(text: str, calls: tuple[ToolCall, ...], reasoning: str) -> None:
    """All but the value, which is validated again from the text."""
    usage = Usage(1, 20, 3, 4, 1, None)
    reply = Reply(
        text=text, calls=calls, reasoning=reasoning, usage=usage, finish="calls", model="m", seconds=1.25
    )
    async with Journal.open(":memory:") as journal:
        await begun(journal)
        await journal.record(reply_event(Moment(SESSION, AGENT, 1, 1.0), reply, {"tier": "small"}))
        await journal.flush()
        [event] = await journal.events(SESSION, kinds=("reply",))
        assert await read_reply(journal, event) == reply
        assert (await journal.totals([SESSION]))[SESSION].usage == reply.usage


async def test_the_record_grows_with_new_text_only(tmp_path: Path) -> None:
    """Forty turns, each prompt repeating all before it, take less than one and a half times their text."""
    store = tmp_path / "store.db"
    texts = [
        f"turn {turn}: " + " ".join(str(turn * 7919 + n * n) for n in range(1_100)) for turn in range(40)
    ]
    async with Journal.open(store) as journal:
        await begun(journal)
        trail, messages = PromptTrail(), [Message("system", "Do it.")]
        for turn, text in enumerate(texts, start=1):
            entries = [Entry(f"b{n}", "history", "search", 1_500, why="a result") for n in range(turn)]
            sent = Sent((*messages, Message("user", f"Turn {turn}.")), (), manifest(turn, entries))
            await trail.record(journal.record, Moment(SESSION, AGENT, turn, 1.0), sent)
            messages.append(Message("tool", text, call_id=f"c{turn}"))
    assert store.stat().st_size <= 1.5 * sum(map(len, texts))


async def test_a_prompt_that_was_not_taken_is_no_base() -> None:
    """When the record of a prompt fails, the next is recorded against the one before it."""
    trail = PromptTrail()
    taken: list[Event] = []

    async def take(event: Event) -> None:
        taken.append(event)

    async def fail(event: Event) -> None:
        raise StoreError("The disk is full.")

    await trail.record(take, Moment(SESSION, AGENT, 1, 1.0), Sent((Message("user", "one"),)))
    with pytest.raises(StoreError):
        await trail.record(fail, Moment(SESSION, AGENT, 2, 1.0), Sent((Message("user", "two"),)))
    await trail.record(
        take, Moment(SESSION, AGENT, 3, 1.0), Sent((Message("user", "one"), Message("user", "three")))
    )
    assert [event.data["of"] for event in taken] == [0, 1]


async def test_a_turn_that_is_not_there_is_named() -> None:
    """The message says which turns there are; without a turn the last is read."""
    async with Journal.open(":memory:") as journal:
        await begun(journal)
        for turn in (1, 2):
            sent = Sent((Message("user", f"Turn {turn}"),))
            await journal.record(prompt_event(Moment(SESSION, AGENT, turn, 1.0), sent))
        await journal.flush()
        read = await read_prompt(journal, SESSION, AGENT)
        assert (read.turn, read.turns, read.messages[0].text, read.manifest) == (2, (1, 2), "Turn 2", "")
        with pytest.raises(InputError, match=r"Turn 7 of 'researcher\.2' is not recorded: it has 1 to 2\."):
            await read_prompt(journal, SESSION, AGENT, 7)
        with pytest.raises(InputError, match="No prompt of 'writer'"):
            await read_prompt(journal, SESSION, "writer")
