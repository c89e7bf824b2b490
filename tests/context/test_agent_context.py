"""One agent's context from its first input to its last prompt."""

from __future__ import annotations

import json

import msgspec
import pytest

from orchestra.context.context import Context
from orchestra.context.fence import fenced
from orchestra.context.policy import policy_for
from orchestra.context.returned import Result
from orchestra.context.state import Patch
from orchestra.context.tokens import counter_for
from orchestra.errors import ContextOverflow, InputError
from orchestra.values.messages import Message, OutputSpec, Reply, ToolCall, ToolSpec

COUNTER = counter_for("gpt-4o")
SEARCH = ToolSpec("search", "Search.", {"type": "object", "properties": {"query": {"type": "string"}}})
FINDINGS = OutputSpec("Findings", {"type": "object", "properties": {"claims": {"type": "array"}}}, json.loads)


def context_of(window: int = 100_000, **figures: object) -> Context:
    return Context(
        "researcher.1",
        "Answer one question.",
        policy=policy_for("tools", figures),
        window=window,
        counter=COUNTER,
    )


def call(name: str, query: str = "hooks") -> ToolCall:
    return ToolCall(name, "search", json.dumps({"query": query}, ensure_ascii=False))


def step(context: Context, number: int, text: str = "found") -> None:
    calls = (call(f"c{number}a", f"a {number}"), call(f"c{number}b", f"b {number}"))
    context.record_reply(Reply(calls=calls))
    context.record_results([Result(call=asked, text=f"{text} {asked.id}") for asked in calls])


def test_the_first_prompt() -> None:
    """Instructions, then what is known, then the task, then the output format."""
    context = context_of()
    context.add_data("knowledge", "notes.md", "笔记", query="hooks", why="asked for")
    context.add_input("Question: 什么是构建后端？")
    prompt = context.prompt((SEARCH,), FINDINGS)
    system, user = prompt.messages
    assert system == Message("system", "Answer one question.")
    assert user.text.startswith(
        "notes.md | hooks\n```\n笔记\n```\n\nQuestion: 什么是构建后端？\n\nOutput format: Findings."
    )
    assert user.text.endswith('{"type":"object","properties":{"claims":{"type":"array"}}}')
    assert (prompt.tools, prompt.output, prompt.cache_until) == ((SEARCH,), FINDINGS, 1)


def test_a_schema_that_the_endpoint_enforces_is_not_shown() -> None:
    """An endpoint that holds replies to the schema is not told it in words; its tokens count all the same."""
    context = context_of()
    context.add_input("Question: x")
    prompt = context.prompt((SEARCH,), FINDINGS, enforced=True)
    assert "Output format" not in prompt.messages[-1].text
    (schema,) = [entry for entry in prompt.manifest.entries if entry.block == "output schema"]
    assert (schema.zone, schema.source) == ("fixed", "output schema")
    assert schema.tokens > COUNTER.count('{"type":"object"}')
    assert prompt.tokens == context.prompt((SEARCH,)).tokens + schema.tokens


def test_results_stand_in_the_order_of_the_calls() -> None:
    """However results arrive, they follow their call in its order."""
    context = context_of()
    context.add_input("Question: x")
    calls = (call("a"), call("b"), call("c"))
    context.record_reply(Reply(calls=calls))
    for name in ("c", "a", "b"):
        context.record_results([Result(call=call(name), text=name)])
    assert [message.call_id for message in context.prompt().messages[-3:]] == ["a", "b", "c"]


def test_a_call_that_never_returned_is_said() -> None:
    """A call that was cancelled has a result that says so; a late or second result changes nothing."""
    context = context_of()
    context.add_input("Question: x")
    context.record_reply(Reply(calls=(call("a"), call("b"))))
    context.record_results([Result(call=call("a"), text="one")])
    context.close_calls("it was cancelled")
    assert context.record_results(
        [Result(call=call("b"), text="late"), Result(call=call("a"), text="again")]
    ) == ("", "")
    texts = [message.text for message in context.prompt().messages[-2:]]
    assert fenced(texts[0])[0].text == "one"
    assert texts[1] == "error: no result, it was cancelled"


def test_two_calls_with_the_same_id_both_have_results() -> None:
    """A model that repeats an id still gets a result for each of its calls."""
    context = context_of()
    context.add_input("Question: x")
    context.record_reply(Reply(calls=(call("a", "1"), call("a", "2"))))
    context.record_results([Result(call=call("a", "1"), text="1"), Result(call=call("a", "2"), text="2")])
    assert [fenced(message.text)[0].text for message in context.prompt().messages[-2:]] == ["1", "2"]


def test_the_state_stands_before_the_input() -> None:
    """When the input is the last thing said the state stands before it; later it stands at the end."""
    context = context_of()
    context.add_input("Question: x")
    context.patch_state(Patch("constraints", "不要猜", "add"), Patch("goal", "know"))
    assert context.prompt().messages[-1].text == (
        "State of the task:\nGoal: know\nConstraints:\n- 不要猜\n\nQuestion: x"
    )
    step(context, 1)
    assert context.prompt().messages[-1].text.startswith("State of the task:")


def test_the_input_is_restated_far_behind_it() -> None:
    """When much stands behind the current input, its beginning stands at the end again."""
    context = context_of(restate_after=50, restate_tokens=5)
    context.add_input("Question: what must a build backend provide?")
    step(context, 1, "word " * 60)
    prompt = context.prompt((SEARCH,), FINDINGS)
    assert prompt.messages[-1].text.startswith(
        "The current input once more:\nQuestion: what must a …\n\nOutput format"
    )
    assert {entry.block for entry in prompt.manifest.entries} >= {"reminder", "output format"}


def test_a_prompt_ends_with_a_word_to_answer() -> None:
    """After an answer in words a final call asks for the result, and a last word of the runtime stands."""
    context = context_of()
    context.add_input("Question: x")
    context.record_reply(Reply(text="I know enough."))
    assert context.prompt(output=FINDINGS, enforced=True).messages[-1] == Message(
        "user", "Give your final result now."
    )
    assert "Finish now." in context.prompt(output=FINDINGS, ask="Finish now.").messages[-1].text


def test_an_ephemeral_result_leaves_after_its_turn() -> None:
    """It is there for the next call, then only the way to it, and the pair stays whole."""
    context = context_of()
    context.add_input("Question: x")
    context.record_reply(Reply(calls=(call("a"),)))
    (ref,) = context.record_results([Result(call=call("a"), text="一页", ephemeral=True)])
    assert "一页" in context.prompt().messages[-1].text
    step(context, 2)
    texts = [message.text for message in context.prompt().messages if message.call_id == "a"]
    assert texts == ['(shown for one turn; recall("r1") brings it back)']
    original = context.archive.get(ref)
    assert original is not None
    assert original.text == "一页"


def test_earlier_inputs_may_go_but_not_the_task() -> None:
    """In a long chat the first statement and the current input stay, those between may leave."""
    context = context_of(window=2_000, output_tokens=100)
    for turn in range(60):
        context.add_input(f"Input {turn}: " + "more words " * 20)
        prompt = context.prompt()
        context.record_reply(Reply(text="An answer. " * 20))
    text = "\0".join(message.text for message in prompt.messages)
    assert "Input 0:" in text
    assert "Input 59:" in text
    assert "Input 1:" not in text
    assert prompt.tokens <= prompt.manifest.usable


def test_a_pinned_result_stays_with_its_call() -> None:
    """A pinned block is in every prompt, however long the run, until it is unpinned."""
    context = context_of(window=6_000, output_tokens=500)
    context.add_input("Question: x")
    step(context, 0, "订单 A17")
    pinned = next(block.id for block in context.blocks if "订单" in block.message.text)
    context.pin(pinned)
    for number in range(1, 40):
        step(context, number, "word " * 100)
        prompt = context.prompt((SEARCH,))
        assert any("订单 A17" in message.text for message in prompt.messages)
    context.pin(pinned, pinned=False)
    for number in range(40, 60):
        step(context, number, "word " * 100)
        prompt = context.prompt((SEARCH,))
    assert not any("订单 A17" in message.text for message in prompt.messages)
    with pytest.raises(InputError):
        context.pin("b9999")


def test_what_left_is_in_the_ledger_and_the_archive() -> None:
    """When room is made, each result that left has a line with its reference; the archive has all of it."""
    context = context_of(window=8_000, output_tokens=500)
    context.add_input("Question: x")
    for number in range(12):
        step(context, number, f"word{number} " * 150)
        prompt = context.prompt((SEARCH,))
        if prompt.compaction is not None:
            break
    gone = [entry for entry in prompt.manifest.absent() if entry.ref]
    assert gone
    ledger = next(part.text for part in fenced(prompt.messages[1].text) if part.label.startswith("left out"))
    for entry in gone:
        assert f'{entry.ref}: search({{"query": "' in ledger
        assert context.archive.get(entry.ref) is not None
    assert all(entry.fate == "offloaded" and entry.why for entry in gone)


def test_between_two_compactions_a_prompt_only_grows() -> None:
    """Over forty turns each prompt begins with all that the last one could count on."""
    context = context_of(window=20_000, output_tokens=1_000)
    context.add_data("memory", "user", "喜欢简短的回答")
    context.add_input("Question: x")
    context.patch_state(Patch("goal", "know"))
    before = context.prompt((SEARCH,), FINDINGS)
    for turn in range(40):
        step(context, turn, "词 " * 80)
        context.patch_state(Patch("step", f"step {turn}"))
        if turn % 7 == 6:
            context.record_reply(Reply(text="done"))
            context.add_data("knowledge", "recalled", f"{turn}")
            context.add_input(f"And {turn}?")
        after = context.prompt((SEARCH,), FINDINGS)
        if after.compaction is None:
            shared = before.messages[: before.cache_until]
            assert after.messages[: before.cache_until] == shared
            assert all(new is old for new, old in zip(after.messages, shared, strict=False))
        before = after


def test_three_hundred_tools_count_and_give_way() -> None:
    """The schemas of 300 tools count; where they do not fit they are slimmed, then the last ones left out."""
    properties = {"query": {"type": "string", "title": "Query", "description": "What to find. In words."}}
    tools = tuple(
        ToolSpec(
            f"find_{n}",
            "Find it. " + "It is used for things. " * 3,
            {"type": "object", "properties": properties},
        )
        for n in range(300)
    )
    plenty, small = context_of(), context_of(window=16_000)
    for context in (plenty, small):
        context.add_input("Question: x")
    whole, part = plenty.prompt(tools), small.prompt(tools)
    assert whole.tools == tools
    assert whole.manifest.zones()["tools"] > 300 * 40
    assert part.tokens <= part.manifest.usable
    assert 0 < len(part.tools) < 300
    assert part.tools[0].description == "Find it."
    assert len(part.tools) + len(part.manifest.absent()) == 300
    again = small.prompt(tools)
    assert again.tools is part.tools


def test_schemas_are_slimmed_before_words_leave() -> None:
    """At three quarters, where that frees enough; what is added later is slim too."""

    def tool(name: str) -> ToolSpec:
        text = "Find it. " + "It is used for many things that are told here. " * 20
        return ToolSpec(name, text, {"type": "object", "properties": {"query": {"type": "string"}}})

    tools = tuple(tool(f"find_{number}") for number in range(20))
    context = context_of(window=10_000)
    context.add_input("Question: x")
    assert context.prompt(tools[:8]).tools == tools[:8]
    thin = context.prompt(tools)
    assert {spec.description for spec in thin.tools} == {"Find it."}
    assert thin.compaction is None
    more = context.prompt((*tools, tool("find_more")))
    assert more.tools[:20] == thin.tools
    assert more.tools[20].description == "Find it."


def test_an_overflow_is_raised_before_anything_is_sent() -> None:
    """A task that is larger than the window is one error with each part's name."""
    context = context_of(window=1_000)
    context.add_input("word " * 5_000)
    with pytest.raises(ContextOverflow) as caught:
        context.prompt((SEARCH,))
    assert "input (b2)" in caught.value.parts


def test_a_reply_keeps_its_reasoning_only_with_calls() -> None:
    """Reasoning goes back where endpoints want it, with calls, and nowhere else."""
    context = context_of()
    context.add_input("Question: x")
    context.record_reply(Reply(text="so", reasoning="because"))
    context.record_reply(Reply(calls=(call("a"),), reasoning="since"))
    assert [message.reasoning for message in context.prompt().messages if message.role == "assistant"] == [
        "",
        "since",
    ]


def test_a_prompt_goes_to_json() -> None:
    """A prompt's manifest is written and read as JSON without loss."""
    context = context_of()
    context.add_input("Question: x")
    manifest = context.prompt((SEARCH,)).manifest
    assert msgspec.json.decode(msgspec.json.encode(manifest), type=type(manifest)) == manifest


def test_a_prompt_as_it_is_is_the_prompt_where_nothing_is_due() -> None:
    """Step by step: the same messages, manifest and tokens; calls without results get theirs in both."""
    asking, sure = context_of(restate_after=50), context_of(restate_after=50)
    for number in range(4):
        for context in (asking, sure):
            context.add_input(f"Question {number}: which hooks?") if not number else step(context, number)
        if number == 3:
            for context in (asking, sure):
                context.record_reply(Reply(calls=(call("lost"),)))
        assert sure.due((SEARCH,)) is None
        seen = asking.prompt((SEARCH,), FINDINGS, enforced=True, ask="Go on.")
        assert seen == sure.as_it_is((SEARCH,), FINDINGS, enforced=True, ask="Go on.", at=0.0)
