"""What of a scenario's expectations did not hold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from orchestra.eval.measures import last_of_turns, shows_fact, wrong_values
from orchestra.eval.prompts import Seen, count, even
from orchestra.eval.scenario import Expected, Scenario, Turn
from orchestra.eval.stage import Exchange


class Problem(Struct, frozen=True, kw_only=True):
    """One thing that did not hold. `turn` from 1; `line` of the scenario's file, 0 where none says it."""

    turn: int
    what: str
    line: int = 0


def problems_of(scenario: Scenario, exchanges: Sequence[Exchange]) -> Iterator[Problem]:
    """Every expectation that did not hold, turn by turn, and what must always hold."""
    prompts = [exchange.prompt for exchange in exchanges]
    last = last_of_turns(prompts)
    replies = {exchange.prompt.turn: exchange.reply.text for exchange in exchanges}
    for prompt in prompts:
        yield from _always(scenario, prompt)
    for number, turn in enumerate(scenario.turns, start=1):
        mine = [prompt for prompt in prompts if prompt.turn == number]
        if number not in last:
            yield Problem(turn=number, what="no prompt was made", line=turn.line)
            continue
        yield from _shown(scenario, number, turn, last[number])
        yield from _hidden(number, turn, mine)
        for wanted in turn.answer:
            if not _standing(wanted, even(replies[number])):
                yield Problem(turn=number, what=f"{wanted} is not in the answer", line=wanted.line)


def _always(scenario: Scenario, prompt: Seen) -> Iterator[Problem]:
    if prompt.occupancy > 1:
        what = f"the prompt has {prompt.tokens:,} tokens and may have {prompt.manifest.usable:,}"
        yield Problem(turn=prompt.turn, what=what)
    for value in wrong_values(scenario, prompt):
        yield Problem(turn=prompt.turn, what=f'"{value}" is in the prompt and is wrong')
    asked = [call.id for message in prompt.messages for call in message.calls]
    answered = [message.call_id for message in prompt.messages if message.role == "tool"]
    if sorted(asked) != sorted(answered):
        yield Problem(turn=prompt.turn, what="a call stands without its result, or a result without its call")


def _shown(scenario: Scenario, number: int, turn: Turn, prompt: Seen) -> Iterator[Problem]:
    for wanted in turn.shows:
        where = f"in {wanted.where}" if wanted.where else "in the prompt"
        told = " or ".join(f'"{text}"' for text in wanted.texts)
        text = prompt.within(wanted.where)
        if not _standing(wanted, text):
            yield Problem(turn=number, what=f"{told} is not {where}", line=wanted.line)
        elif wanted.most is not None and (times := _times(wanted, text)) > wanted.most:
            yield Problem(turn=number, what=f"{told} stands {times} times {where}", line=wanted.line)
    for name in turn.needs:
        fact = scenario.fact(name)
        if not shows_fact(fact, prompt.text):
            what = f'{name} ("{fact.spellings[0]}") is needed and not in the prompt'
            yield Problem(turn=number, what=what, line=turn.line)


def _hidden(number: int, turn: Turn, prompts: Sequence[Seen]) -> Iterator[Problem]:
    for unwanted in turn.hides:
        if any(_standing(unwanted, prompt.within(unwanted.where)) for prompt in prompts):
            what = f"{unwanted} is in the prompt and must not be"
            yield Problem(turn=number, what=what, line=unwanted.line)
    if turn.occupancy is not None:
        most = max(prompt.occupancy for prompt in prompts)
        if most > turn.occupancy:
            what = f"{most:.0%} of the budget is taken; at most {turn.occupancy:.0%} may be"
            yield Problem(turn=number, what=what, line=turn.line)


def _standing(wanted: Expected, text: str) -> bool:
    return any(count(literal, text) for literal in wanted.texts)


def _times(wanted: Expected, text: str) -> int:
    return sum(count(literal, text) for literal in wanted.texts)
