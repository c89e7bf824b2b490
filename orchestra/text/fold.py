"""One form for texts that differ only in white space, Unicode form and typography, with the way back.

Folding changes: white space runs to one space (to nothing beside a Chinese or Japanese character, where a
line break means nothing), Unicode to NFKC, typographic quotes and dashes to ASCII; soft hyphens and
invisible spaces go. Letter case and every other character stay.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from bisect import bisect_right

from msgspec import Struct

_QUOTES = "‘’‚‛′ʼ｀", "“”„‟″«»"
_DASHES = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63"
_DROPPED = "\u00ad\u200b\u2060\ufeff"
_TABLE = (
    {ord(char): "'" for char in _QUOTES[0]}
    | {ord(char): '"' for char in _QUOTES[1]}
    | {ord(char): "-" for char in _DASHES}
)
_GONE = {ord(char): None for char in _DROPPED}
_WIDE = (  # Chinese and Japanese characters and punctuation, without the marks that join a syllable
    "\u2e80-\u2fff\u3001-\u3098\u309b-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9d\U00020000-\U0003ffff"
)
_SPACES = rf"[ {_DROPPED}]{{2,}}|[{_DROPPED}]"
_WIDE_BEFORE = f"{_WIDE}\u3099\u309a\uff9e\uff9f"
_WIDE_SPACES = rf"(?<=[{_WIDE_BEFORE}])[ {_DROPPED}]+|[ {_DROPPED}]+(?=[{_WIDE}])|{_SPACES}"
_MARKS = r"(?<![^\W_])(?<![*`])[*`]+(?=[^\s*`])|(?<=[^\s*`])[*`]+(?![^\W_]|[*`])"
_BEFORE_WIDE = re.compile(f"[{_WIDE_BEFORE}]")
_AFTER_WIDE = re.compile(f"[{_WIDE}]")
_FEW = 64
_BLANKS = {at: " " for at in range(128) if chr(at).isspace()}
_ZERO = array("q", [0])


class Folded(Struct, frozen=True, gc=False):
    """A folded text and its map: piece i begins at `at[i]` in `text` and covers the original from
    `starts[i]` to `ends[i]`. Odd pieces changed their length, even ones stand character by character.
    """

    text: str
    at: array[int]
    starts: array[int]
    ends: array[int]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Where `text[start:end]` (not empty) came from, as [start, end) of the original.

        A changed piece that is cut comes whole.
        """
        if len(self.at) == 1:
            return start, end  # nothing changed its length
        first, last = self._piece(start), self._piece(end - 1)
        left = self.starts[first] if first % 2 else self.starts[first] + start - self.at[first]
        right = self.ends[last] if last % 2 else self.starts[last] + end - self.at[last]
        return left, right

    def place(self, offset: int) -> int:
        """Where a character of the original went: an index into `text`, at most its length."""
        piece = max(0, bisect_right(self.starts, offset) - 1)
        moved = 0 if piece % 2 else offset - self.starts[piece]
        return min(self.at[piece] + moved, len(self.text))

    def _piece(self, index: int) -> int:
        return max(0, bisect_right(self.at, index) - 1)


def fold(text: str, *, unmarked: bool = False) -> Folded:
    """The folded form of `text`; time and memory are linear in its length and in what had to change.

    `unmarked`: asterisks and backticks that mark emphasis or code go too; those between two letters or
    digits (2*3) or between two spaces (2 * 3) stay.
    """
    if not unmarked and text.isascii():
        even = text.translate(_BLANKS)
        if "  " not in even:  # the usual case of a quote: it stands character by character
            same = text if even == text else even  # one text where there need not be two
            return Folded(same, _ZERO, _ZERO, array("q", (len(text),)))
    even, pattern = _prepared(text, unmarked)
    out: list[str] = []
    at, starts, ends = array("q", [0]), array("q", [0]), array("q", [0])
    done = 0
    length = 0
    for match in pattern.finditer(even):
        start, end = match.span()
        kept = even[done:start]
        new = _changed(match[0], even, start, end)
        length += len(kept)
        ends[-1] = start
        at.extend((length, length + len(new)))
        starts.extend((start, end))
        ends.extend((end, end))
        out += (kept, new)
        length += len(new)
        done = end
    out.append(even[done:])
    ends[-1] = len(even)
    return Folded("".join(out), at, starts, ends)


def whole_characters(text: str) -> str:
    """The text with a mark for each half of a surrogate pair, which UTF-8 cannot hold; as long as it was."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def one_line(text: str) -> str:
    """`text` with one blank wherever it has white space, and none at its ends."""
    # Mostly it is so already, which is seen in half the time that it takes to cut it and join it again.
    # Of all white space, only the blank can be printed.
    if text.isprintable() and "  " not in text and text.strip() == text:
        return text
    return " ".join(text.split())


def clean_line(text: str) -> str:
    """`text` of a model on one line, without half characters."""
    if text.isprintable() and "  " not in text and text.strip() == text:
        return text  # as one_line; and no half of a surrogate pair can be printed
    return " ".join(whole_characters(text).split())


def folded(text: str, *, unmarked: bool = False) -> str:
    """The folded form of `text` without blanks at its ends, and without the way back."""
    if not unmarked and text.isascii():
        return one_line(text)
    return fold(text, unmarked=unmarked).text.strip()


def _prepared(text: str, unmarked: bool) -> tuple[str, re.Pattern[str]]:
    """`text` with all that changes one for one already changed, and a pattern for all that does not.

    Both come from its different characters, of which there are few.
    """
    swaps: dict[str, str] = {}
    marks, others = [], []
    for char in sorted(set(text)):
        if char.isspace():
            swaps[char] = " "
        elif char.isascii() or char in _DROPPED:
            continue
        elif _is_mark(char):
            marks.append(char)
        elif len(new := _one(char)) != 1:
            others.append(char)
        elif new != char:
            swaps[char] = new
    swaps.pop(" ", None)
    if len(swaps) > _FEW:
        text = text.translate({ord(char): new for char, new in swaps.items()})
    else:
        for char, new in swaps.items():
            text = text.replace(char, new)
    if text.isascii():
        return text, re.compile(f"{_MARKS}|{_SPACES}") if unmarked else re.compile(_SPACES)
    parts = [_MARKS, _WIDE_SPACES] if unmarked else [_WIDE_SPACES]
    if others:
        parts.insert(0, f"[{re.escape(''.join(others))}]")
    if marks:  # a mark is composed with what stands before it
        held = re.escape("".join(marks))
        parts.insert(0, rf"(?:[^ {_DROPPED}][{_DROPPED}]*)?[{held}][{held}{_DROPPED}]*")
    return text, re.compile("|".join(parts))


def _is_mark(char: str) -> bool:
    """Whether `char` may become one with what stands before it: an accent, a vowel sign, a Korean letter."""
    normal = unicodedata.normalize("NFKC", char)
    return unicodedata.category(normal[0])[0] == "M" or "\u1161" <= normal[0] <= "\u11ff"


def _one(char: str) -> str:
    """NFKC and plain typography; a spacing accent stays, since its NFKC form is a space and a mark."""
    normal = unicodedata.normalize("NFKC", char)
    return char if normal[:1].isspace() else normal.translate(_TABLE)


def _changed(piece: str, text: str, start: int, end: int) -> str:
    if not piece.strip("*`"):
        return ""
    if not piece.strip(" " + _DROPPED):
        before, after = text[start - 1 : start], text[end : end + 1]
        if " " not in piece:
            return ""
        joined = _BEFORE_WIDE.match(before) or _AFTER_WIDE.match(after)
        return "" if joined and not (after and _is_mark(after)) else " "
    piece = piece.translate(_GONE)
    normal = unicodedata.normalize("NFKC", piece)
    if normal[0] == " ":  # a spacing accent keeps its form, see _one
        normal = piece[0] + unicodedata.normalize("NFKC", piece[1:])
    return normal.translate(_TABLE)
