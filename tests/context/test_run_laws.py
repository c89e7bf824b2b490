"""Laws of whole runs: whatever happens in whatever order, every prompt is sound."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from orchestra.context.assembly import Prompt
from orchestra.context.context import Context
from orchestra.context.policy import policy_for
from orchestra.context.returned import Result
from orchestra.context.state import Patch
from orchestra.context.tokens import counter_for
from orchestra.errors import ContextOverflow
from orchestra.values.messages import Reply, ToolCall, ToolSpec

COUNTER = counter_for("gpt-4o")
TOOL = ToolSpec("search", "Search.", {"type": "object"})
TEXTS = st.sampled_from(
    ["", "短", "hook ", "构建后端必须提供钩子。" * 30, "word " * 300, '[{"a": 1, "b": null}]' * 40]
)
Move = Callable[[Context], object]


def _reply(counts: tuple[int, str]) -> Move:
    count, text = counts
    return lambda context: context.record_reply(
        Reply(text=text, calls=tuple(ToolCall(f"{context.turn}.{n}", "search", "{}") for n in range(count)))
    )


def _result(values: tuple[int, str, bool, bool]) -> Move:
    at, text, failed, ephemeral = values
    return lambda context: context.record_results(
        [
            Result(
                call=ToolCall(f"{context.turn - 1}.{at}", "search", "{}"),
                text=text,
                failed=failed,
                ephemeral=ephemeral,
            )
        ]
    )


def _pin(values: tuple[int, bool]) -> Move:
    at, pinned = values

    def move(context: Context) -> None:
        blocks = context.blocks
        context.pin(blocks[at % len(blocks)].id, pinned=pinned)

    return move


def _data(text: str) -> Move:
    return lambda context: context.add_data("knowledge", "notes", text)


def _state(text: str) -> Move:
    return lambda context: context.patch_state(Patch("facts", text[:40], "add"))


MOVES = st.lists(
    st.one_of(
        st.tuples(st.integers(0, 3), TEXTS).map(_reply),
        st.tuples(st.integers(0, 3), TEXTS, st.booleans(), st.booleans()).map(_result),
        TEXTS.map(lambda text: lambda context: context.add_input(f"Input {text[:100]}")),
        TEXTS.map(_data),
        TEXTS.map(_state),
        st.tuples(st.integers(0, 50), st.booleans()).map(_pin),
        st.just(lambda context: context.close_calls("it was cancelled")),
    ),
    max_size=40,
)


def context_of(agent: str, window: int) -> Context:
    figures: dict[str, Any] = {"result_tokens": 150, "output_tokens": 200}
    policy = policy_for("tools", figures)
    context = Context(agent, f"You are {agent}.", policy=policy, window=window, counter=COUNTER)
    context.add_input(f"The task of {agent}: 第一句话")
    return context


def prompt_of(context: Context) -> Prompt | None:
    try:
        return context.prompt((TOOL,))
    except ContextOverflow:
        return None


def paired(prompt: Prompt) -> bool:
    waiting: list[str] = []
    for message in prompt.messages:
        if message.role == "tool":
            if message.call_id not in waiting:
                return False
            waiting.remove(message.call_id)
        elif waiting:
            return False
        else:
            waiting = [call.id for call in message.calls]
    return not waiting


@given(MOVES, st.sampled_from([700, 1_500, 4_000, 30_000]), st.sets(st.integers(0, 40)))
def test_every_prompt_of_any_run_is_sound(moves: list[Move], window: int, prompts: set[int]) -> None:
    """It fits, adds up, has the task and no call without its result, for any order of events."""
    context = context_of("researcher", window)
    for at, move in enumerate(moves):
        move(context)
        if at in prompts or at == len(moves) - 1:
            prompt = prompt_of(context)
            if prompt is None:
                continue
            assert prompt.tokens <= prompt.manifest.usable
            assert prompt.manifest.tokens == prompt.tokens
            assert paired(prompt)
            assert any("The task of researcher: 第一句话" in message.text for message in prompt.messages)
            assert prompt.messages[-1].role in ("user", "tool")


ROUNDS = st.lists(
    st.tuples(
        st.tuples(st.integers(0, 3), TEXTS.filter(bool)).map(_reply), MOVES.map(lambda moves: moves[:4])
    ),
    max_size=12,
)


@given(ROUNDS, st.sampled_from([700, 1_500, 30_000]))
def test_between_compactions_a_prompt_only_grows(rounds: list[tuple[Move, list[Move]]], window: int) -> None:
    """What a prompt says the next one shares, the next one begins with, unless something left."""
    context = context_of("researcher", window)
    before = prompt_of(context)
    for reply, moves in rounds:
        reply(context)
        for move in moves:
            move(context)
        after = prompt_of(context)
        left = (
            after is None or after.compaction or any("(shown for one turn" in text for text in texts(after))
        )
        if before and after and not left:
            shared = "\n\n".join(texts(before)[: before.cache_until])
            assert "\n\n".join(texts(after)).startswith(shared)
        before = after


def texts(prompt: Prompt) -> list[str]:
    return [message.text for message in prompt.messages]


@given(MOVES, st.sampled_from([1_500, 4_000]))
def test_making_room_does_not_fire_twice(moves: list[Move], window: int) -> None:
    """Right after room was made nothing more is due, whatever is protected."""
    context = context_of("researcher", window)
    for move in moves:
        move(context)
        context.close_calls("it was cancelled")
        due = context.due((TOOL,))
        if due is not None:
            context.compact(due)
            again = context.due((TOOL,))
            assert again is None or not set(again.blocks) & set(due.blocks)


@given(MOVES, st.sampled_from([1_500, 4_000]))
def test_what_leaves_is_archived(moves: list[Move], window: int) -> None:
    """Every text that leaves by a compaction can be recalled by its reference."""
    context = context_of("researcher", window)
    for move in moves:
        move(context)
        context.close_calls("it was cancelled")
        due = context.due((TOOL,))
        if due is None:
            continue
        context.compact(due)
        prompt = prompt_of(context)
        if prompt is None:
            continue
        left = {entry.block: entry for entry in prompt.manifest.absent()}
        for block in due.blocks:
            entry = left[block.id]
            if block.message.text and not block.used:
                original = context.archive.get(entry.ref)
                assert original is not None
                assert original.text


@given(st.lists(st.tuples(st.integers(0, 2), MOVES.map(lambda moves: moves[:3])), max_size=12))
def test_agents_share_nothing(plan: list[tuple[int, list[Move]]]) -> None:
    """However the work of several agents interleaves, no block, archive or message list is shared."""
    contexts = [context_of(f"agent {n}", 2_000) for n in range(3)]
    for which, moves in plan:
        for move in moves:
            move(contexts[which])
        prompt_of(contexts[which])
    for context in contexts:
        prompt = prompt_of(context)
        others = [other for other in contexts if other is not context]
        mine = {id(block) for block in context.blocks} | {id(block.message) for block in context.blocks}
        for other in others:
            theirs = {id(block) for block in other.blocks} | {id(block.message) for block in other.blocks}
            assert not mine & theirs
            assert other.archive is not context.archive
            if prompt is not None:
                assert not any(f"task of {other.agent}:" in message.text for message in prompt.messages)
