"""Source code: the text as it is, with definitions as its headings."""

from __future__ import annotations

import re

from orchestra.tools.documents.formats.plain import lines
from orchestra.tools.documents.outline import Content, Heading

_WORDS = (
    "class|def|fn|func|fun|function|struct|enum|union|interface|trait|impl|module|namespace|object|record|"
    "protocol|extension|package|macro|defmodule|defp|sub|procedure|type|contract|message|service"
)
_MODIFIERS = (
    "export|default|public|private|protected|internal|static|final|abstract|sealed|async|override|virtual|"
    r"inline|const|extern|unsafe|pub(?:\([a-z]+\))?|open|data|partial|readonly|suspend|local|declare"
)
_DEFINITION = re.compile(
    rf"(?P<indent>[ \t]*)(?:(?:{_MODIFIERS})[ \t]+)*(?P<word>{_WORDS})\b[ \t]*"
    r"(?:\([^)]*\)[ \t]*|<[^>]*>[ \t]*)?(?P<name>[A-Za-z_$][\w$]*(?:(?:\.|::)[\w$]+)*)"
)
# C and its kin: a type, a name and parameters at the margin, without a semicolon at the end.
_C_FUNCTION = re.compile(
    r"(?P<indent>)(?!(?:return|else|if|for|while|switch|case|typedef)\b)[A-Za-z_][\w\s:<>,*&]*?[\s*&]"
    r"(?P<name>[A-Za-z_][\w:~]*)\([^;]*$"
)
_SQL = re.compile(
    r"(?P<indent>[ \t]*)create\s+(?:or\s+replace\s+)?(?:\w+\s+)?"
    r"(?P<word>table|view|function|procedure|trigger|index|type)\s+(?:if\s+not\s+exists\s+)?"
    r"(?P<name>[\w.\"`]+)",
    re.IGNORECASE,
)
_SHELL = re.compile(r"(?P<indent>)(?:function\s+)?(?P<name>[A-Za-z_][\w-]*)\s*\(\)")
_LEADS = re.compile(r"[ \t]*(?:@\w|#\[|//|#|/\*|\*|--|\"\"\")")

_C_LIKE = frozenset((".c", ".h", ".cc", ".cpp", ".cxx", ".hpp", ".hh", ".m", ".mm", ".cu"))
_LINE_CHARS = 300  # a longer line is data or minified, never the head of a definition
_DEEPEST = 8  # columns of indentation; what lies deeper is local


def read_code(text: str, extension: str) -> Content:
    patterns = [_DEFINITION]
    if extension in _C_LIKE:
        patterns.append(_C_FUNCTION)
    elif extension == ".sql":
        patterns = [_SQL]
    elif extension in (".sh", ".bash", ".zsh"):
        patterns = [_SHELL]
    headings: list[Heading] = []
    lead: int | None = None  # where the comments and decorators directly above begin
    for start, line in lines(text):
        found = next((match for pattern in patterns if (match := _definition(pattern, line))), None)
        if found:
            indent = len(found["indent"].expandtabs(4))
            if indent <= _DEEPEST:
                word = found.groupdict().get("word")
                title = f"{word.lower()} {found['name']}" if word else found["name"]
                headings.append(Heading(start if lead is None else lead, 1 + indent // 2, title))
            lead = None
        elif _LEADS.match(line):
            lead = start if lead is None else lead
        else:
            lead = None
    return Content(text, "", tuple(headings), by_lines=True)


def _definition(pattern: re.Pattern[str], line: str) -> re.Match[str] | None:
    return pattern.match(line) if len(line) <= _LINE_CHARS else None
