"""Laws of compaction for any run and any summariser, however bad."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import given, settings
from hypothesis import strategies as st

from orchestra.context.context import Context
from orchestra.context.facts import find_facts, is_hard
from orchestra.context.keeping import Draft
from orchestra.context.pinned import stands_in
from orchestra.context.policy import policy_for
from orchestra.context.returned import Result
from orchestra.context.state import Patch
from orchestra.context.summary.repair import without_turns
from orchestra.context.summary.schema import Summary, render
from orchestra.context.tokens import counter_for
from orchestra.errors import ContextOverflow
from orchestra.values.messages import Reply, ToolCall, ToolSpec
from tests.context.test_run_laws import paired

COUNTER = counter_for("gpt-4o")
TOOL = ToolSpec("look_up", "Look up.", {"type": "object"})
Move = Callable[[Context], object]

SAID = st.sampled_from(
    [
        "Do not book Skyline.",
        "My budget is $900.",
        "Correction: the budget is $950, not $900.",
        "订单A17 的金额是3000元。",
        "更正：金额是3500元",
        "不要海鲜。",
        "Now order B2, it weighs 12 kg.",
        "What about it?",
        "Go on. " * 20,
    ]
)
ANSWERS = st.sampled_from(
    [
        "It is a nice place. " * 25,
        "I booked table KX-77 for 5 May.",
        "那里很美。" * 40,
        "The fee is 12.5 euros. " * 8,
        "",
    ]
)
RESULTS = st.sampled_from(['{"id": "W-1", "fee": 3}', "word " * 150, "错误", '[{"a": 1}, {"a": 2}]' * 20, ""])
BAD = st.sampled_from(
    [
        Draft(problem="it timed out", by="small"),
        Draft(summary=Summary(), by="small"),
        Draft(summary=Summary(narrative="I'm sorry, I cannot do that."), by="small"),
        Draft(summary=Summary(narrative="The budget is $77,701."), by="small"),
        Draft(summary=Summary(narrative="It is a nice place. " * 900), by="small"),
    ]
)
DRAFTS = BAD | st.sampled_from(
    [
        None,
        Draft(summary=Summary(narrative="Book Skyline. 海鲜可以。"), by="small"),
        Draft(summary=Summary(narrative="The talk went on."), by="small"),
        Draft(summary=Summary(goal="a trip", open=("the table",), numbers=("budget=$900",)), by="small"),
    ]
)


def _answer(values: tuple[str, int]) -> Move:
    text, calls = values
    return lambda context: context.record_reply(
        Reply(
            text=text,
            calls=tuple(ToolCall(f"{context.turn}.{n}", "look_up", f'{{"q": {n}}}') for n in range(calls)),
        )
    )


def _result(values: tuple[int, str, bool]) -> Move:
    at, text, ephemeral = values
    return lambda context: context.record_results(
        [Result(call=ToolCall(f"{context.turn - 1}.{at}", "look_up", "{}"), text=text, ephemeral=ephemeral)]
    )


MOVE = st.one_of(
    SAID.map(lambda text: lambda context: context.add_input(text)),
    st.tuples(ANSWERS, st.integers(0, 2)).map(_answer),
    st.tuples(ANSWERS, st.just(0)).map(_answer),
    st.tuples(st.integers(0, 2), RESULTS, st.booleans()).map(_result),
    st.just(lambda context: context.close_calls("it was cancelled")),
    st.sampled_from(["A17", "B2"]).map(lambda to: lambda context: context.patch_state(Patch("entity", to))),
)
RUNS = st.lists(st.tuples(MOVE, DRAFTS), max_size=60) | st.lists(
    st.tuples(MOVE, DRAFTS), min_size=30, max_size=60
)
LAW = settings(deadline=None, max_examples=60)


def context_of(agent: str = "chat") -> Context:
    policy = policy_for("chat", {"prompt_tokens": 1_000, "result_tokens": 200})
    context = Context(agent, f"You are {agent}.", policy=policy, window=20_000, counter=COUNTER)
    context.add_input(f"The task of {agent}.")
    return context


def make_room(context: Context, draft: Draft | None) -> bool:
    """What an agent does before each prompt; whether anything left."""
    context.close_calls("it was cancelled")
    due = context.due((TOOL,))
    if due is None:
        return False
    task = context.summary_task(due)
    context.compact(due, draft if task else None)
    return True


@LAW
@given(RUNS)
def test_compaction_never_loops(run: list[tuple[Move, Draft | None]]) -> None:
    """The same blocks never leave twice, and right after a compaction none of them is due."""
    context = context_of()
    gone: set[str] = set()
    for move, draft in run:
        move(context)
        if make_room(context, draft):
            left = set(context.reports[-1].left)
            assert left
            assert not left & gone
            gone |= left
            again = context.due((TOOL,))
            assert again is None or not {block.id for block in again.blocks} & gone
            assert not {block.id for block in context.blocks} & gone
    for version in context.keeping.versions:
        assert len(set(version.covers)) == len(version.covers)


@LAW
@given(RUNS)
def test_every_prompt_is_sound_whatever_the_summariser_says(run: list[tuple[Move, Draft | None]]) -> None:
    """Prompts fit, no call lacks its result, and no value of a bad draft is ever seen."""
    context = context_of()
    for move, draft in run:
        move(context)
        make_room(context, draft)
        try:
            prompt = context.prompt((TOOL,))
        except ContextOverflow:
            continue
        text = "\n".join(message.text for message in prompt.messages)
        assert prompt.tokens <= prompt.manifest.usable
        assert paired(prompt)
        assert not any(bad in text for bad in ("77,701", "海鲜可以", "I'm sorry", "it timed out"))
        for gone in context.keeping.pins.superseded:
            shown = [
                block
                for block in prompt.blocks
                if block.number != gone.by and stands_in(gone.old, block.message.text)
            ]
            assert not shown or f"{gone.old} holds no longer" in text


@LAW
@given(st.lists(MOVE, min_size=20, max_size=50), BAD)
def test_a_bad_summary_changes_nothing_but_the_offloading(moves: list[Move], bad: Draft) -> None:
    """A failed, empty or contradictory summary leaves the context as no summary at all would."""
    one, other = context_of(), context_of()
    for move in moves:
        move(one)
        move(other)
        make_room(one, bad)
        make_room(other, Draft(problem="there is none", by="small"))
        assert [block.message for block in one.blocks] == [block.message for block in other.blocks]
        assert len(one.archive) == len(other.archive)
        assert not len(one.keeping.versions)


@LAW
@given(RUNS)
def test_the_last_summarys_facts_are_never_lost(run: list[tuple[Move, Draft | None]]) -> None:
    """Each figure and id of a summary is in the next one or pinned, and each version is in the archive."""
    context = context_of()
    for move, draft in run:
        move(context)
        before = context.keeping.versions.current
        make_room(context, draft)
        after = context.keeping.versions.current
        if before is None or after is None:
            continue
        assert after.over in (before.number, before.over)
        original = context.archive.get(before.ref)
        assert original is not None
        assert original.text == render(before.summary)
        held = "\n".join((after.text, *(block.message.text for block in context.blocks)))
        old = {gone.old for gone in context.keeping.pins.superseded}
        for fact in find_facts(without_turns(before.text)):
            if is_hard(fact) and fact.text not in old and not context.reports[-1].to_recall:
                assert fact.text in held


@LAW
@given(st.lists(st.tuples(st.integers(0, 2), MOVE, DRAFTS), max_size=60))
def test_agents_share_nothing_through_compactions(run: list[tuple[int, Move, Draft | None]]) -> None:
    """However the work of parents, children and siblings interleaves, none sees what another kept."""
    contexts = [context_of(f"agent {n}") for n in range(3)]
    alone = [context_of(f"agent {n}") for n in range(3)]
    for which, move, draft in run:
        move(contexts[which])
        make_room(contexts[which], draft)
    for n, lonely in enumerate(alone):
        for which, move, draft in run:
            if which == n:
                move(lonely)
                make_room(lonely, draft)
        assert [block.message for block in lonely.blocks] == [block.message for block in contexts[n].blocks]
        assert lonely.state == contexts[n].state
        assert [pin.line for pin in lonely.keeping.pins] == [pin.line for pin in contexts[n].keeping.pins]
    parts = [
        {id(part) for part in (c.keeping.pins, c.keeping.versions, c.archive, *c.blocks)} for c in contexts
    ]
    assert len(set.union(*parts)) == sum(map(len, parts))
