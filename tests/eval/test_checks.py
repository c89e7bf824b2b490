"""What a check says of a talk that goes wrong, each way by itself."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import anyio
import pytest

from orchestra.config.settings import ContextOverride
from orchestra.errors import ConfigError, InputError
from orchestra.eval.policies import choose
from orchestra.eval.prompts import count
from orchestra.eval.read import parse
from orchestra.eval.run import Played, play_all

HEAD = "name: one\ntitle: One\nwindow: 4000\n"


def play(text: str, policy: str = "chat") -> Played:
    scenario = parse(HEAD + text, "one.yaml")
    return anyio.run(partial(play_all, (scenario,), choose(policy, {})))[0]


def told(text: str, policy: str = "chat") -> list[str]:
    return [problem.what for problem in play(text, policy).problems]


TALK = """
facts:
  budget: {{value: "4,500 euros", old: ["3,200 euros"], wrong: ["9,999 euros"]}}
  day: 14 March
turns:
  - user: The budget is 3,200 euros.
    reply: Good.
  - user: Correction, it is 4,500 euros and not 3,200 euros.
    reply: Noted.
  - user: So how much is it?
    reply: 4,500 euros
{more}
"""


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ("    shows: [nowhere said]", '"nowhere said" is not in the prompt'),
        ("    shows: [{text: Correction, in: results}]", '"Correction" is not in results'),
        ("    shows: [{text: budget, most: 1}]", '"budget" stands'),
        ("    hides: [Correction]", '"Correction" is in the prompt and must not be'),
        ("    needs: [day]", 'day ("14 March") is needed and not in the prompt'),
        ("    answer: ['3,900']", '"3,900" is not in the answer'),
        ("    occupancy: 0.001", "of the budget is taken; at most 0% may be"),
    ],
)
def test_what_does_not_hold_is_said(more: str, problem: str) -> None:
    """Each kind of expectation can fail, with the line that says it."""
    found = play(TALK.format(more=more)).problems
    assert any(problem in each.what for each in found)
    assert all(each.turn == 3 and each.line > 0 for each in found)


def test_what_holds_is_silent() -> None:
    """The same talk with expectations that it meets; its figures add up."""
    more = "    needs: [budget]\n    shows: [Correction, {any: [x, is it], in: input}]"
    played = play(TALK.format(more=more))
    assert played.problems == ()
    figures = played.figures
    assert (figures.recall, figures.wrong, figures.turns, figures.compactions) == (1.0, 0, 3, 0)
    assert 0 < figures.peak < 0.2
    assert figures.prefix > 0.5
    assert 0 < figures.used < 1


def test_an_old_value_without_its_mark_is_wrong() -> None:
    """Where nothing marks corrections the old value counts, from the turn after the correction on."""
    found = told(TALK.format(more=""), "chat-facts")
    assert found == ['"3,200 euros" is in the prompt and is wrong'] * len(found) != []


def test_a_value_that_nobody_said_is_wrong() -> None:
    """Wherever it comes from."""
    assert '"9,999 euros" is in the prompt and is wrong' in told(
        TALK.format(more="").replace("Good.", "9,999 euros?")
    )


def test_tools_bring_what_the_script_says() -> None:
    """A result, an error, nothing, and the last one again, each to its own call."""
    text = """
tools:
  look_up: {description: Look up., takes: {what: A word.}}
turns:
  - user: Look three times.
    steps:
      - - look_up: {what: first}
          result: Alpha
        - look_up: {what: second}
          result: {error: Beta is locked}
      - look_up: {what: third}
        result: ""
      - look_up: {what: again}
        result: {again: true}
    reply: Done.
    shows:
      - {text: Alpha, in: results}
      - {text: "error: Beta is locked", in: results}
      - {text: nothing came back, in: results, most: 2}
"""
    played = play(text)
    assert played.problems == ()
    assert played.figures.turns == 4


def test_a_run_that_fails_is_a_problem_of_its_turn() -> None:
    """What can never fit ends the scenario with the error's own sentence."""
    long = "word " * 4_000
    found = play(f"turns:\n  - user: {long}\n    reply: x\n").problems
    assert len(found) == 1
    assert "What may never be cut" in found[0].what


def test_counting_does_not_take_a_part_for_the_whole() -> None:
    """A figure inside a longer one is another figure; Chinese has no edges."""
    assert count("12", "12 and 120 and 1.12, 12.5, x12") == 1
    assert count("two  words", "two words; two words") == 2
    assert count("不要", "千万不要这样") == 1


CONTEXTS = {"tools": ContextOverride(pins_share=0.1, without=("recall",))}


def test_policies_by_name(tmp_path: Path) -> None:
    """A preset as configured, without mechanisms, untouched, naive, from a file or as a role has it."""
    assert choose("chat", CONTEXTS).figures == {}
    assert choose("tools-pins", CONTEXTS).policy.without == ("recall", "pins")
    assert choose("default:tools", CONTEXTS).policy.pins_share == 0.25
    assert len(choose("naive", {}).policy.without) == 8
    file = tmp_path / "my.toml"
    file.write_text("[context.code]\nrecent_turns = 5\n[context.chat]\nmargin = 0.2\n", encoding="utf-8")
    assert choose(f"{file}#code", {}).policy.recent_turns == 5
    role = tmp_path / "r.md"
    role.write_text("---\nname: r\ndescription: d\ncontext: tools\n---\nDo it.\n", encoding="utf-8")
    assert choose(str(role), CONTEXTS).policy.pins_share == 0.1
    for word, said in [
        ("chatt", 'no policy "chatt". Did you mean "chat"'),
        ("chat-pin", 'no mechanism "pin" to do without. Did you mean "pins"'),
        (str(file), "has 2 context presets"),
        (f"{file}#cod", 'no context preset "cod"'),
    ]:
        with pytest.raises(InputError, match=said):
            choose(word, {})
    with pytest.raises(ConfigError, match="must rise"):
        choose("chat", {"chat": ContextOverride(levels={"light": 0.2})})
