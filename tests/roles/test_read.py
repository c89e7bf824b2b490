"""Role files are read as they are, or refused with file, line, key and the nearest valid word."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from orchestra.errors import RoleError
from orchestra.roles.load import load_folder, load_roles, shipped_folder
from orchestra.roles.model_words import tier_of
from orchestra.roles.read import KEYS, Known, load_role, parse_role
from orchestra.values.roles import Limits, Role

KNOWN = Known(tools=("search_documents", "read_document"))
OURS = """---
name: researcher
description: Answers one sub-question from sources, with quotes.
tools: [search_documents, read_document]
model: {steps: small, final: large}
output: Findings
context: research
limits: {steps: 12, tokens: 60k, seconds: 2m}
handoff_tokens: 3000
---

Answer one question using only what the tools return.
"""
THEIRS = r"""---
name: code-reviewer
description: Use this agent when: code was written. <example>user: "Review"\nassistant: "Yes"</example>
tools: Read, Grep, Bash(git diff:*, git log:*), Agent(worker, helper), mcp__github__search
model: sonnet
color: blue
permissionMode: plan
disallowedTools: Write
---
You review code.
"""


def role_of(text: str, known: Known = Known()) -> Role:  # noqa: B008 a frozen value
    reading = parse_role(text, "a.md", known)
    assert reading.problems == ()
    assert reading.role is not None
    return reading.role


def fault(text: str, known: Known = KNOWN) -> RoleError:
    reading = parse_role(text, "a.md", known)
    assert reading.role is None
    return reading.problems[0]


def with_lines(*lines: str) -> str:
    return "\n".join(("---", "name: a", "description: b", *lines, "---", "Do it."))


def test_every_key_of_ours() -> None:
    """A role file with all keys becomes a Role with all fields."""
    assert role_of(OURS, KNOWN) == Role(
        name="researcher",
        description="Answers one sub-question from sources, with quotes.",
        instructions="Answer one question using only what the tools return.",
        tools=("search_documents", "read_document"),
        steps="small",
        final="large",
        output="Findings",
        context="research",
        limits=Limits(steps=12, tokens=60_000, seconds=120),
        handoff_tokens=3_000,
        file="a.md",
    )


def test_a_file_of_another_program_loads_unchanged() -> None:
    """Tools with commas and details, a model as one word, loose YAML; its own keys are noted and ignored."""
    reading = parse_role(THEIRS, "a.md")
    role = reading.role
    assert role is not None
    assert role.tools == ("Read", "Grep", "Bash", "Agent", "mcp__github__search")
    assert (role.steps, role.final) == ("sonnet", "sonnet")
    assert role.description.startswith("Use this agent when: code")
    assert [(note.key, note.line) for note in reading.notes] == [
        ("color", 6), ("permissionMode", 7), ("disallowedTools", 8)
    ]  # fmt: skip
    assert "name the tools that are allowed in tools" in reading.notes[2].sentence


def test_what_is_left_out() -> None:
    """Without `tools` a role has all of them, with an empty list none."""
    assert role_of(with_lines()).tools is None
    assert role_of(with_lines("tools:")).tools is None
    assert role_of(with_lines('tools: "*"')).tools is None
    assert role_of(with_lines("tools: []")).tools == ()
    assert role_of(with_lines("model: {final: large}")).steps == "large"


@pytest.mark.parametrize(
    ("text", "line", "key", "words"),
    [
        (with_lines("tols: x"), 4, "tols", 'is not a key of a role. Did you mean "tools"?'),
        (with_lines("tools: [search_document]"), 4, "tools", 'Did you mean "search_documents"?'),
        (with_lines("tools: Read, Grep"), 4, "tools", '"Read" is a tool of another program; the tools here'),
        (with_lines("tools: {write: false}"), 4, "tools", "must be a list of names"),
        (with_lines("output: Finding"), 4, "output", 'Did you mean "Findings"?'),
        (with_lines("context: writters"), 4, "context", 'Did you mean "writer"?'),
        (with_lines("limits: {steps: 0}"), 4, "limits", 'steps must be a whole number above 0, not "0"'),
        (with_lines("limits: {steps: 1.5}"), 4, "limits", "a whole number"),
        (with_lines("limits: {seconds: -1}"), 4, "limits", "seconds must be a number above 0"),
        (with_lines("limits:", "  stps: 3"), 4, "limits", 'Did you mean "steps"?'),
        (with_lines("limits: 3"), 4, "limits", "must be written as {steps: ..., tokens: ...}"),
        (with_lines("limits: {steps: 1, steps: 2}"), 4, "limits", "stands twice"),
        (with_lines("handoff_tokens: none"), 4, "handoff_tokens", "a whole number above 0"),
        (with_lines("model: {step: small}"), 4, "model", 'Did you mean "steps"?'),
        (with_lines("model: [small]"), 4, "model", "must be written as"),
        (with_lines("name: c"), 4, "name", "stands twice"),
        ("---\nname: a\n---\nDo it.", 1, "description", "is missing"),
        ("---\ndescription: a\n---\nDo it.", 1, "name", "is missing"),
        ("---\nname:\ndescription: a\n---\nDo it.", 2, "name", "is empty"),
        ("---\nname: a/b\ndescription: a\n---\nDo it.", 2, "name", "is not a name"),
        ("---\nname: a\ndescription: b\n---\n \n", 5, "instructions", "the body is empty"),
        ("Do it.", 1, None, "There is no front matter"),
        ("", 1, None, "There is no front matter"),
        ("\n---\nname: a\n", 2, None, "The front matter has no end"),
        ("---\n- a\n- b\n---\nDo it.", 2, None, "must be lines of key: value"),
        ("---\nname: [a\ndescription: b\n---\nDo it.", 3, None, "not valid YAML"),
        ("---\nname: a\n\tdescription: b\n---\nDo it.", 3, None, "not valid YAML"),
        ("---\nname: " + "[" * 5_000 + "\n---\nDo it.", None, None, "not valid YAML"),
    ],
)  # fmt: skip
def test_file_line_and_key(text: str, line: int | None, key: str | None, words: str) -> None:
    """Each fault names where it is and what would be right."""
    error = fault(text)
    assert (error.file, error.key) == ("a.md", key)
    assert line is None or error.line == line
    assert words in str(error)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (OURS.encode("utf-16"), "UTF-16"),
        (OURS.encode("utf-16-le"), "UTF-16"),
        (b"---\nname: \xff\n---\nx", r":2: The file is not UTF-8"),
        (b"a" * 1_000_001, "larger than 1,000,000 bytes"),
    ],
)
def test_files_that_are_not_utf8(tmp_path: Path, data: bytes, words: str) -> None:
    """Other encodings are named, not guessed."""
    path = tmp_path / "a.md"
    path.write_bytes(data)
    with pytest.raises(RoleError, match=words):
        load_role(path)


def test_windows_line_ends_byte_order_mark_and_chinese(tmp_path: Path) -> None:
    """A file saved on Windows, with a Chinese name, reads like any other."""
    path = tmp_path / "a.md"
    path.write_bytes("\ufeff---\r\nname: 研究员\r\ndescription: 查资料\r\n---\r\n只用资料回答。\r\n".encode())
    role = load_role(path)
    assert (role.name, role.instructions) == ("研究员", "只用资料回答。")


LINES = st.lists(
    st.one_of(
        st.tuples(st.sampled_from([*KEYS, "color", "x"]), st.text(max_size=12)).map(
            lambda pair: f"{pair[0]}: {pair[1]}"
        ),
        st.sampled_from(
            ["---", "limits: {steps: 1e400}", "tools: &a [*a]", "<<: {a: b}", "? [a]", "model: !!python/x y"]
        ),
        st.text(max_size=20),
    ),
    max_size=6,
)


@given(LINES)
@example(["---", "limits: {steps: 1e400}"])
@settings(max_examples=300)
def test_any_text_gives_a_role_or_an_error(lines: list[str]) -> None:
    """Whatever stands in the file, the answer is a Role or RoleError, never another exception."""
    for text in ("\n".join(lines), "\n".join(("---", *lines, "---", "Do it."))):
        reading = parse_role(text, "a.md", KNOWN)
        assert (reading.role is None) == bool(reading.problems)


def test_roles_of_the_user_come_first(tmp_path: Path) -> None:
    """A role of the same name replaces the default one; the others stay; READMEs are no roles."""
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "w.md").write_text("---\nname: writer\ndescription: mine\n---\nWrite.")
    (tmp_path / "README.md").write_text("# about")
    roles = load_roles(tmp_path)
    assert roles["writer"].description == "mine"
    assert set(roles) == {"planner", "researcher", "writer", "reviewer", "chat"}


def test_a_name_is_used_once(tmp_path: Path) -> None:
    """Two files of one folder with the same name: both are named."""
    for name in ("a.md", "b.md"):
        (tmp_path / name).write_text("---\nname: same\ndescription: b\n---\nDo it.")
    with pytest.raises(RoleError, match=r"b\.md: name: \"same\" is also the name of the role in .*a\.md"):
        load_folder(tmp_path)


def test_a_folder_must_be_one(tmp_path: Path) -> None:
    """Not there, or a file: one sentence."""
    with pytest.raises(RoleError, match="There is no such folder"):
        load_folder(tmp_path / "none")
    (tmp_path / "a.md").write_text("x")
    with pytest.raises(RoleError, match="This is a file"):
        load_folder(tmp_path / "a.md")


@pytest.mark.parametrize(
    ("word", "tier"),
    [
        ("small", "small"),
        ("inherit", "large"),
        ("gpt-x", "small"),
        ("haiku", "small"),
        ("Opus", "large"),
        ("gpt-y", None),
    ],
)
def test_model_words(word: str, tier: str | None) -> None:
    """Tiers, models of tiers, `inherit` and sizes of another family lead to a tier; other names to none."""
    assert tier_of(word, {"small": "gpt-x", "large": "big"}, "large") == tier


def test_the_default_roles() -> None:
    """The five that ship name only what exists."""
    roles = load_folder(shipped_folder(), KNOWN)
    assert {name: role.output for name, role in roles.items()} == {
        "planner": "Plan", "researcher": "Findings", "writer": "Draft", "reviewer": "Review", "chat": ""
    }  # fmt: skip
    assert roles["writer"].tools == ()
    assert (roles["writer"].steps, roles["researcher"].steps) == ("large", "small")


def test_groups_of_tools() -> None:
    """A role lists one as group:NAME; one that the configuration does not have is refused."""
    text = with_lines('tools: [group:web, read_document, "*"]')
    known = Known(tools=("read_document",), groups=("web",))
    assert role_of(text, known).tools == ("group:web", "read_document", "*")
    error = fault(text, Known(tools=("read_document",), groups=("wet", "mail")))
    assert str(error) == 'a.md:4: tools: there is no group "web". Did you mean "wet"?'
    assert "tools.groups of the configuration has none" in str(fault(text, Known(groups=())))
