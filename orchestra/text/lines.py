"""What each line of a text is: prose, heading, list item, table row, code, field or markup.

Works on plain text, Markdown and reStructuredText alike; nothing is parsed twice and every pattern
is linear in the length of its line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from msgspec import Struct

Kind = Literal["prose", "heading", "item", "row", "code", "field", "term", "markup"]


class Block(Struct, frozen=True):
    """Lines that belong together: `text[start:end]`; `indent` counts columns before the first character."""

    start: int
    end: int
    kind: Kind
    indent: int = 0


class _Line(Struct):
    start: int
    end: int
    indent: int
    body: str


_UNDERLINE = re.compile(r"([=\-`:'\"~^_*+#<>.])\1{2,}$")
_TABLE_RULE = re.compile(r"(?:=+(?: +=+)+|\+[-=+]+\+|\|?[ :|-]*-{2,}[ :|-]*\|[ :|-]*)$")
_MARKDOWN_HEADING = re.compile(r"#{1,6}\s+\S")
_BULLET = r"[-*+•·‣–]\s+"
_ENUMERATOR = r"\(?(?:\d{1,3}|[a-zA-Z]|[ivx]{1,4}|#)[.)]\s+|[（(]?[一二三四五六七八九十\d]{1,3}[）)、]\s*"
_ITEM = re.compile(rf"(?:{_BULLET}|{_ENUMERATOR})(?=\S)")
_BULLET_ITEM = re.compile(rf"{_BULLET}(?=\S)")
_FIELD = re.compile(r":?[A-Z][\w-]{1,24}(?: [A-Z]?[\w-]{1,16})?: +\S|:[\w -]{1,30}:\s")
_DIRECTIVE = re.compile(r"\.\.(?:\s|$)")
_CODE_DIRECTIVE = re.compile(
    r"\.\.\s+(?:code|code-block|sourcecode|parsed-literal|image|figure|raw|highlight|contents|include|"
    r"literalinclude|math|productionlist|doctest|testcode|toctree|list-table|csv-table)::"
)
_PROSE_DIRECTIVE = re.compile(r"\.\.\s+[\w-]+::\s*$")
_FOOTNOTE = re.compile(r"\.\.\s+\[[^\]]{1,30}\]\s")
_FENCE = re.compile(r"(`{3,}|~{3,})")
_PROMPT = re.compile(r"(?:>>>|\$|%|\.\.\.) ")


def blocks(text: str) -> list[Block]:
    """The blocks of `text` in order; blank lines lie between them and belong to none."""
    return list(_Reader(_lines(text)).read())


def _lines(text: str) -> list[_Line]:
    found = []
    at = 0
    for raw in text.splitlines(keepends=True):
        body = raw.strip()
        lead = len(raw) - len(raw.lstrip())
        indent = len(raw[:lead].expandtabs(4)) if body else 0
        found.append(_Line(at + lead if body else at, at + len(raw.rstrip()) if body else at, indent, body))
        at += len(raw)
    return found


class _Reader:
    """Walks the lines once; `base` is the indentation of the prose around the current line."""

    def __init__(self, lines: list[_Line]) -> None:
        self.lines = lines
        self.at = 0
        self.base = 0
        self.literal = False  # the last paragraph ended in "::", so deeper lines are code

    def read(self) -> Iterator[Block]:
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if not line.body:
                self.at += 1
                continue
            yield from self._block(line)

    def _block(self, line: _Line) -> Iterator[Block]:
        literal, self.literal = self.literal, False
        body = line.body
        if literal and line.indent > self.base:
            yield self._take(self._deeper(self.at, self.base + 1), "code")
            self.literal = False
        elif fence := _FENCE.match(body):
            yield self._take(self._until(fence.group(1)), "code")
        elif _DIRECTIVE.match(body):
            yield from self._directive(line)
        elif _PROMPT.match(body):
            yield self._take(self._paragraph_end(), "code")
        elif _TABLE_RULE.match(body):
            yield self._take(self.at + 1, "markup")
        elif _UNDERLINE.match(body):
            yield from self._overline(line)
        elif _MARKDOWN_HEADING.match(body) and line.indent < 4:
            yield self._take(self.at + 1, "heading")
        elif self._underlined(self.at):
            yield self._take(self.at + 2, "heading")
        elif body.startswith("|") or body.count("|") > 2 or body.count("\t") > 1:
            yield self._take(self.at + 1, "row")
        else:
            yield from self._text(line)

    def _text(self, line: _Line) -> Iterator[Block]:
        if item := _ITEM.match(line.body):
            self.base = line.indent
            inner = line.indent + len(item.group())
            yield self._take(self._paragraph_end(inside=line.indent + 1), "item")
            self._note_literal(max(line.indent, inner - 1))
            return
        self.base = line.indent
        end = self._paragraph_end()
        following = self.lines[self.at + 1] if self.at + 1 < len(self.lines) else None
        if _FIELD.match(line.body) and self._fields(end):
            yield self._take(self._deeper(self.at + 1, line.indent + 1, blank=False), "field")
        elif (
            following is not None
            and following.body
            and following.indent > line.indent
            and not _ITEM.match(following.body)
            and len(line.body) < 90
            and not line.body.endswith((".", "。", ","))
        ):
            yield self._take(self.at + 1, "term")
        else:
            yield self._take(end, "prose")
            self._note_literal(line.indent)

    def _note_literal(self, indent: int) -> None:
        last = self.lines[self.at - 1].body
        self.literal = last.endswith("::")
        self.base = indent

    def _fields(self, end: int) -> bool:
        """Whether the paragraph is a list of fields and not prose with a colon in its first line."""
        rows = [line for line in self.lines[self.at : end] if line.indent == self.lines[self.at].indent]
        named = sum(1 for line in rows if _FIELD.match(line.body))
        if self.lines[self.at].body.startswith(":"):
            return True
        return len(rows) > 1 and (named == len(rows) or (len(rows) > 3 and named >= 0.6 * len(rows)))

    def _directive(self, line: _Line) -> Iterator[Block]:
        body = line.body
        end = self._deeper(self.at + 1, line.indent + 1)
        if _CODE_DIRECTIVE.match(body):
            yield self._take(end, "code")
        elif _PROSE_DIRECTIVE.match(body):
            yield self._take(self.at + 1, "markup")  # its content is read as prose
        elif _FOOTNOTE.match(body):
            yield self._take(end, "field")
        else:
            yield self._take(end, "markup")

    def _overline(self, line: _Line) -> Iterator[Block]:
        follows = self.lines[self.at + 1 : self.at + 3]
        if len(follows) == 2 and follows[0].body and _UNDERLINE.match(follows[1].body):
            yield self._take(self.at + 3, "heading")
        else:
            yield self._take(self.at + 1, "markup")

    def _underlined(self, at: int) -> bool:
        if at + 1 >= len(self.lines):
            return False
        title, rule = self.lines[at], self.lines[at + 1]
        return (
            bool(_UNDERLINE.match(rule.body))
            and rule.indent == title.indent
            and len(rule.body) >= min(len(title.body), 4)
        )

    def _paragraph_end(self, inside: int | None = None) -> int:
        """The line after the paragraph; `inside`: continuation lines must be indented at least so far."""
        first = self.lines[self.at]
        end = self.at + 1
        while end < len(self.lines):
            line = self.lines[end]
            # a wrapped line may begin with "2015." or "342)": within prose only a bullet opens a list
            opens = _BULLET_ITEM if inside is None else _ITEM
            if not line.body or opens.match(line.body) or self._breaks(end, line):
                break
            if inside is None and line.indent > first.indent + 1 and end == self.at + 1:
                pass
            elif inside is not None and line.indent < inside and line.indent < first.indent:
                break
            elif inside is None and line.indent < first.indent:
                break
            end += 1
        return end

    def _breaks(self, at: int, line: _Line) -> bool:
        body = line.body
        return bool(
            _FENCE.match(body)
            or _DIRECTIVE.match(body)
            or _MARKDOWN_HEADING.match(body)
            or body.startswith("|")
            or _UNDERLINE.match(body)
            or _TABLE_RULE.match(body)
            or self._underlined(at)
        )

    def _deeper(self, at: int, indent: int, blank: bool = True) -> int:
        """The line after the last one that is indented at least `indent`; blank lines are passed over."""
        end = at
        while at < len(self.lines):
            line = self.lines[at]
            if line.body and line.indent < indent:
                break
            if not line.body and not blank:
                break
            at += 1
            if line.body:
                end = at
        return max(end, self.at + 1)

    def _until(self, fence: str) -> int:
        for at in range(self.at + 1, len(self.lines)):
            if self.lines[at].body.startswith(fence):
                return at + 1
        return len(self.lines)

    def _take(self, end: int, kind: Kind) -> Block:
        first = self.lines[self.at]
        last = next(line for line in reversed(self.lines[self.at : end]) if line.body)
        self.at = end
        return Block(first.start, last.end, kind, first.indent)
