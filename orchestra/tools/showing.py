"""How a tool's output stands in a prompt: passages labelled and fenced, text as it is."""

from __future__ import annotations

from collections.abc import Callable

from orchestra.context.fence import fence
from orchestra.tools.port import ToolOutput
from orchestra.values.sources import Document, Passage


def show(output: ToolOutput, label: Callable[[Document], str]) -> str:
    """The output as text; `label` names a document for this agent ("s1"), the same one each time."""
    parts = [output.text] if output.text else []
    for passage in output.passages:
        parts.append(fence(passage_label(passage, label(passage.document)), passage.text))
    return "\n\n".join(parts)


def passage_label(passage: Passage, label: str) -> str:
    """`[s1] path | title | section`, each folded to one line, a bar inside one shown as a slash."""
    document = passage.document
    fields = (document.locator, document.title, passage.section)
    return " | ".join([f"[{label}] {_line(fields[0])}", *(_line(field) for field in fields[1:])])


def _line(text: str) -> str:
    return " ".join(text.split()).replace("|", "/")
