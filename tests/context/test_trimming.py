"""What goes first when not everything fits."""

from __future__ import annotations

from orchestra.context.assembly import Frame, Prompt, assemble
from orchestra.context.blocks import Block, Zone, settled_place
from orchestra.context.budget import budget_of
from orchestra.context.fence import fence, fenced
from orchestra.context.policy import policy_for
from orchestra.context.tokens import counter_for
from orchestra.values.messages import Message, ToolCall

COUNTER = counter_for("gpt-4o")


def block(number: int, zone: Zone, message: Message, priority: int = 50, place: int | None = None) -> Block:
    return Block(
        number=number,
        zone=zone,
        source="s",
        message=message,
        tokens=COUNTER.message(message),
        place=settled_place(zone, number) if place is None else place,
        priority=priority,
        ref=f"r{number}",
    )


def data(number: int, words: int, priority: int = 50) -> Block:
    return block(number, "knowledge", Message("user", fence(f"n{number}", "词 " * words)), priority)


def prompt_of(blocks: list[Block], usable: int) -> Prompt:
    policy = policy_for("knowledge", {"prompt_tokens": usable})
    return assemble(blocks, budget_of(100_000, policy), COUNTER, Frame())


def fates(prompt: Prompt) -> dict[str, str]:
    return {entry.block: entry.fate for entry in prompt.manifest.entries if entry.block[1:].isdigit()}


def test_the_lowest_priority_goes_first() -> None:
    """Of the blocks of a zone those of the lowest priority leave, whatever their age."""
    prompt = prompt_of([data(1, 60, 90), data(2, 60, 10), data(3, 60, 50)], 300)
    assert fates(prompt) == {"b1": "kept", "b3": "kept", "b2": "dropped"}


def test_the_oldest_goes_first() -> None:
    """Of the same priority the oldest turns leave first, so that the rest is without gaps."""
    turns = [block(n, "history", Message("assistant", f"answer {n} " * 30)) for n in range(1, 9)]
    kept = [name for name, fate in fates(prompt_of(turns, 400)).items() if fate == "kept"]
    assert kept == [f"b{n}" for n in range(9 - len(kept), 9)]
    assert len(kept) >= 3


def test_data_is_cut_with_a_mark_and_stays_fenced() -> None:
    """Data that fits only in part is cut inside its fence, and says of what and how to get the rest."""
    prompt = prompt_of([data(1, 2_000)], 300)
    (entry,) = [entry for entry in prompt.manifest.entries if entry.block == "b1"]
    assert entry.fate == "trimmed"
    assert entry.whole > 2_000 > entry.tokens
    text = prompt.messages[0].text
    assert fenced(text)[0].label == "n1"
    assert text.endswith(f'of {entry.whole:,} tokens; recall("r1") for the rest')


def test_words_of_people_and_models_are_not_cut() -> None:
    """A message that is no data stays whole or leaves."""
    prompt = prompt_of([block(1, "history", Message("assistant", "word " * 500))], 300)
    assert fates(prompt) == {"b1": "dropped"}


def test_the_newest_results_are_cut_and_not_dropped() -> None:
    """A model sees what it just asked for, the longest results cut most, whatever ranks higher."""
    calls = (ToolCall("a", "search", "{}"), ToolCall("b", "search", "{}"))
    place = settled_place("history", 2)
    blocks = [
        block(1, "history", Message("user", "earlier " * 50), priority=90),
        block(2, "history", Message("assistant", "", calls), priority=10),
        block(3, "history", Message("tool", fence("a", "short"), call_id="a"), 10, place),
        block(4, "history", Message("tool", fence("b", "long " * 2_000), call_id="b"), 10, place),
    ]
    prompt = prompt_of(blocks, 400)
    assert fates(prompt) == {"b2": "kept", "b3": "kept", "b4": "trimmed", "b1": "dropped"}
    assert 300 < prompt.tokens <= 400


def test_a_zone_does_not_take_anothers_share() -> None:
    """However much one zone wants, the others keep their shares."""
    turns = [block(n, "history", Message("assistant", "answer " * 100)) for n in range(10, 60)]
    prompt = prompt_of([data(1, 150), data(2, 150), *turns], 1_400)
    assert fates(prompt)["b1"] == fates(prompt)["b2"] == "kept"
    assert sum(fate == "kept" for fate in fates(prompt).values()) > 5
