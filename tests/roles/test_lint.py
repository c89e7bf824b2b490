"""What the linters say about roles and tools."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestra.roles.lint import count_rules, lint_role
from orchestra.roles.lint_tools import lint_tool, looks_real
from orchestra.roles.load import load_roles
from orchestra.roles.tool_words import begins_with_verb
from orchestra.values.messages import ToolSpec
from orchestra.values.roles import Role


def words(text: str) -> int:
    return len(text.split())


def findings(instructions: str, tools: tuple[str, ...] = ()) -> list[str]:
    role = Role(name="a", description="b", instructions=instructions, tools=tools, file="a.md")
    return [str(finding) for finding in lint_role(role, words, {"instructions": 5, "tools": 3})]


def test_short_roles_are_clean() -> None:
    """Few rules that agree are nothing to speak of."""
    assert findings("Answer in English.\n- Be short.\n- Return JSON only.", ("search_documents",)) == []


def test_long_instructions() -> None:
    """More than 300 tokens, by the counter handed in."""
    assert findings("word " * 300) == []
    assert findings("word " * 301)[0].startswith("a.md:5: instructions: 301 tokens;")


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("\n".join(f"{n}. Do {n}." for n in range(1, 9)), 8),
        ("- a\n* b\n+ c\n(4) d\n5、五", 5),
        ("You are helpful. Never guess. Always quote.", 2),
        ("必须引用。不要猜测。", 2),
        ("Version 2.0 is out", 0),
    ],
)
def test_rules_are_counted(text: str, rules: int) -> None:
    """List items, and firm sentences in prose."""
    assert count_rules(text) == rules
    assert any(f"{rules} rules" in finding for finding in findings(text)) == (rules > 7)


@pytest.mark.parametrize(
    ("text", "line", "subject"),
    [
        ("Answer in English.\nBe kind.\n用中文回答。", 7, "language"),
        ("- Always reply in French.\n- Write the report in German.", 6, "language"),
        ("Write in the question's language. Answer in English.", 5, "language"),
        ("使用英文。输出中文。", 5, "language"),
        ("Return JSON only.\nFormat the answer as Markdown.", 6, "format"),
        ("Use Markdown.\nNever use Markdown.", 6, "format"),
        ("只输出 JSON。\n用 Markdown 回答。", 6, "format"),
        ("Write plain text.\nOutput valid YAML.", 6, "format"),
    ],
)
def test_contradictions(text: str, line: int, subject: str) -> None:
    """Two rules that no answer can meet, at the line of the second."""
    found = [finding for finding in findings(text) if "contradict" in finding]
    assert len(found) == 1
    assert found[0].startswith(f"a.md:{line}: instructions: two rules contradict each other in {subject}")


@pytest.mark.parametrize(
    "text",
    [
        "If the question is in English, answer in English. If it is in Chinese, answer in Chinese.",
        "Answer in English or Chinese. Answer in English.",
        "Answer in English. Do not answer in Chinese.",
        "Answer in English. Quotes stay in Chinese.",
        "Write in the question's language, without markup. Use the language of the question.",
        "Return JSON only. Do not use Markdown.",
        "Read the JSON files. Write Markdown.",
        "Return JSON only. Return a JSON object.",
    ],
)
def test_rules_that_agree(text: str) -> None:
    """Cases, alternatives and refusals of something else contradict nothing."""
    assert [finding for finding in findings(text) if "contradict" in finding] == []


@pytest.mark.parametrize(
    "name", ["search_documents", "readDocument", "mcp__github__list_issues", "查询", "run-tests"]
)
def test_names_that_say_what_they_do(name: str) -> None:
    """snake_case, camelCase, a server's prefix; other scripts are not judged."""
    assert begins_with_verb(name)


@pytest.mark.parametrize("name", ["document_search", "database", "Weather", "http2_client"])
def test_names_that_do_not(name: str) -> None:
    """A noun first."""
    assert not begins_with_verb(name)
    assert f'a.md:3: tools: the tool name "{name}"' in findings("x", (name,))[0]


def spec(name: str = "find_order", description: str = "Find an order.", **properties: Any) -> ToolSpec:
    return ToolSpec(name, description, {"type": "object", "properties": properties})


def test_a_parameter_named_id() -> None:
    """Plain `id` is found at any depth; `order_id` is fine."""
    deep = {"type": "array", "items": {"type": "object", "properties": {"ID": {"type": "string"}}}}
    found = [finding.key for finding in lint_tool(spec(id={"type": "string"}, order_id={}, lines=deep))]
    assert found == ["find_order.id", "find_order.lines[].ID"]


@pytest.mark.parametrize(
    ("schema", "real"),
    [
        ({"examples": ["ORD-48213"]}, True),
        ({"example": "ann@corp.com"}, True),
        ({"description": "The date, e.g. 2024-03-15."}, True),
        ({"description": "订单号，例如 A20240315"}, True),
        ({"description": "The page, for example https://docs.python.org/3/"}, True),
        ({"examples": ["<order number>", "ORD-xxxxx", "user@example.com", "YYYY-MM-DD"]}, False),
        ({"description": "A unit, such as celsius. At most 1000 characters."}, False),
        ({"examples": [True, 3, None, ["a-1"]]}, False),
    ],
)
def test_examples_that_look_real(schema: dict[str, Any], real: bool) -> None:
    """A model copies what looks like data; placeholders and plain words it does not."""
    assert bool(lint_tool(spec(value=schema))) == real


def test_many_tools_one_by_one() -> None:
    """They are in every prompt; a group or a star is chosen from, and is no name of a tool."""
    many = tuple(f"read_page_{number}" for number in range(25))
    assert "25 tools one by one" in findings("Read.", many)[0]
    assert findings("Read.", ("group:web", "*", *many[:3])) == []


WORDS = st.sampled_from(["properties", "items", "anyOf", "$defs", "examples", "description", "id"])
SCHEMA = st.recursive(
    st.none() | st.text(max_size=5) | st.integers(),
    lambda inner: st.dictionaries(WORDS, inner | st.lists(inner, max_size=2)),
)


@given(SCHEMA)
def test_any_schema_is_linted(schema: Any) -> None:
    """A schema that is none is no reason to fall over."""
    lint_tool(ToolSpec("find", "x", schema if isinstance(schema, dict) else {}))
    looks_real(schema)


def test_the_default_roles_are_clean() -> None:
    """Short, at most seven rules, nothing contradictory, by the rules they are judged by."""
    for role in load_roles().values():
        assert lint_role(role, words) == ()
