"""A scenario file is read strictly: what is not understood is named with file, line and key."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestra.errors import InputError
from orchestra.eval.find import find_scenarios
from orchestra.eval.generated import KINDS, bytes_of, generate
from orchestra.eval.read import parse
from orchestra.eval.scenario import Expected, Generated

HEAD = "name: one\ntitle: One\n"
TURN = "turns:\n  - user: Hello\n    reply: Good day\n"
TOOLS = "tools:\n  look_up: {description: Look up., takes: {what: A word.}}\n"


def calling(call: str, tools: str = TOOLS) -> str:
    return f"{HEAD}{tools}turns:\n  - user: Hello\n    reply: Good day\n    calls:\n      - {call}\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "a.yaml:1: The file is empty."),
        ("name: [", "a.yaml:1: This is not valid YAML"),
        ("- one\n", "a.yaml:1: the file: must be lines of key: value."),
        (f"{HEAD}{TURN}---\nname: two\n", "a.yaml:7: A second document begins here"),
        (HEAD, 'a.yaml:1: the file: "turns" is missing.'),
        (f"{HEAD}turnz: []\n", 'a.yaml:3: turnz: is not a key here. Did you mean "turns"?'),
        (f"{HEAD}{HEAD}{TURN}", "a.yaml:3: name: stands twice."),
        (f"{HEAD}turns: []\n", "a.yaml:3: turns: is an empty list."),
        (f"{HEAD}turns:\n  - user: Hello\n", 'a.yaml:4: turns[1]: "reply" is missing.'),
        (f"{HEAD}turns:\n  - user:\n    reply: x\n", "a.yaml:4: turns[1].user: is empty."),
        (f"{HEAD}window: 12\n{TURN}", "a.yaml:3: window: must be at least 500 tokens."),
        (f"{HEAD}window: many\n{TURN}", "a.yaml:3: window: must be a whole number"),
        (f"{HEAD}mechanisms: pin\n{TURN}", 'no mechanism "pin". Did you mean "pins"?'),
        (
            f"{HEAD}summaries: [faithfull]\n{TURN}",
            'a.yaml:3: summaries[1]: there is no way to sum up "faithfull"',
        ),
        (f"{HEAD}{TURN}    needs: [budget]\n", 'a.yaml:6: turns[1].needs[1]: there is no key fact "budget".'),
        (f"{HEAD}{TURN}    shows: [{{text: x, inn: state}}]\n", 'inn: is not a key here. Did you mean "in"?'),
        (
            f"{HEAD}{TURN}    shows: [{{text: x, in: stat}}]\n",
            'place in a prompt "stat". Did you mean "state"?',
        ),
        (f"{HEAD}{TURN}    shows: [{{in: state}}]\n", "needs text, or any with several."),
        (f"{HEAD}{TURN}    occupancy: 90\n", "must be a number from 0 to 1"),
        (
            calling("look_pu: {what: x}\n        result: y"),
            'no tool "look_pu" in this scenario. Did you mean "look_up"?',
        ),
        (calling("look_up: {what: x}"), '"result" is missing: what look_up brings.'),
        (calling("look_up: [x]\n        result: y"), "takes arguments as {name: value}."),
        (calling("recall: {wanted: x}\n        result: y"), "recall is the product's own"),
        (calling("look_up: {}\n        result: {again: true}"), "look_up has brought nothing yet"),
        (
            calling("look_up: {}\n        result: {json: 1, error: x}"),
            "must be one of json, error, generated, again.",
        ),
        (calling("look_up: {}\n        result: {generated: log}"), '"size" is missing, such as 40 KB.'),
        (calling("look_up: {}\n        result: {generated: log, size: 1 GB}"), "must be a size such as 800"),
        (calling("look_up: {}\n        result: {generated: lag, size: 1 KB}"), 'Did you mean "log"?'),
        (calling("look_up: {x: !!python/object:os.system {}}\n        result: y"), "cannot be a JSON value"),
    ],
)
def test_a_mistake_is_named_with_its_place(text: str, said: str) -> None:
    """One sentence: file, line, key, and the nearest right word."""
    with pytest.raises(InputError) as error:
        parse(text, "a.yaml")
    assert said in str(error.value)
    assert str(error.value).startswith("a.yaml:")
    assert error.value.file == "a.yaml"


def test_endless_anchors_are_refused() -> None:
    """A short file that stands for a very long value is not taken apart."""
    bomb = "x: &a [1,1,1,1,1,1,1,1,1]\n" + "".join(
        f"    {name}: &{name} [{','.join([f'*{before}'] * 9)}]\n"
        for before, name in zip("abcde", "bcdef", strict=True)
    )
    text = calling("look_up: {" + bomb.replace("\n    ", ", ").replace("\n", "") + "}\n        result: y")
    with pytest.raises(InputError, match="too long"):
        parse(text, "a.yaml")


def test_a_scenario_is_read_whole() -> None:
    """Texts that look like other things stay texts; turns, calls, facts and expectations are values."""
    scenario = parse(
        f"""{HEAD}window: 2,000
facts:
  yes: [3200, no]
  day: {{value: 9 May, old: [7 May], wrong: 8 May}}
{TOOLS}turns:
  - user: 12
    steps:
      - look_up: {{what: a, size: 3}}
        result: {{json: {{a: null, b: [1, 2.5, true]}}}}
      - - look_up: {{what: b}}
          result: ""
        - look_up: {{what: c}}
          result: {{error: not there}}
    reply: |
      Two
      lines
    needs: yes
    shows: [plain, {{any: [a, b], in: pins, most: 2}}]
    hides: nothing of it
""",
        "a.yaml",
    )
    turn = scenario.turns[0]
    assert (scenario.window, turn.user, turn.reply) == (2_000, "12", "Two\nlines")
    assert scenario.fact("yes").spellings == ("3200", "no")
    assert scenario.fact("day").wrong == ("8 May",)
    assert [len(step) for step in turn.steps] == [1, 2]
    assert turn.steps[0][0].arguments == '{"what":"a","size":3}'
    assert turn.steps[0][0].result is not None
    assert turn.steps[0][0].result.text == '{"a":null,"b":[1,2.5,true]}'
    assert turn.shows[1] == Expected(texts=("a", "b"), where="pins", most=2, line=turn.shows[1].line)
    assert turn.hides[0].texts == ("nothing of it",)


def test_files_and_folders_are_found(tmp_path: Path) -> None:
    """A folder is searched in order, hidden files left out; an empty one and a name used twice are errors."""
    with pytest.raises(InputError, match="no scenarios"):
        find_scenarios([tmp_path])
    with pytest.raises(InputError, match="no such file"):
        find_scenarios([tmp_path / "missing.yaml"])
    (tmp_path / "b.yaml").write_text(f"name: two\ntitle: Two\n{TURN}", encoding="utf-8")
    (tmp_path / ".hidden.yaml").write_text("x", encoding="utf-8")
    (tmp_path / "deeper").mkdir()
    (tmp_path / "deeper" / "a.yml").write_text(HEAD + TURN, encoding="utf-8")
    assert [each.name for each in find_scenarios([tmp_path])] == ["two", "one"]
    with pytest.raises(InputError, match="also the name of the scenario in"):
        find_scenarios([tmp_path, tmp_path / "b.yaml"])


@given(st.sampled_from(KINDS), st.integers(1, 20_000), st.floats(0, 1), st.integers(0, 99))
def test_a_generated_result_holds_what_it_is_to_hold(kind: str, size: int, at: float, seed: int) -> None:
    """It is about as long as was asked for, the same each time, and has its needle."""
    wanted = Generated(kind=kind, size=size, holds=((at, "the needle"),), seed=seed)  # type: ignore[arg-type]
    text = generate(wanted)
    assert text == generate(wanted)
    assert text.count("the needle") == 1
    assert size <= len(text) + 400
    assert len(text) <= size + 800


@pytest.mark.parametrize(
    ("text", "size"),
    [("800", 800), ("40 KB", 40_000), ("1 MB", 1_000_000), ("1,5", None), ("0", None), ("x", None)],
)
def test_sizes(text: str, size: int | None) -> None:
    """Bytes, kilobytes and megabytes."""
    assert bytes_of(text) == (15 if text == "1,5" else size)
