"""What a model gets to see of a tool's result: what it needs, up to a cap, marked where something is missing.

Pure, so that a large result can be prepared in a thread (`show`) and recorded afterwards.
"""

from __future__ import annotations

import re
from typing import Any, Literal

import msgspec
from msgspec import Struct

from orchestra.context.fence import Fenced, fence, parts
from orchestra.context.tokens import Counter

Kind = Literal["text", "json", "html", "passages"]

MARK_TOKENS = 32
"""Room kept for the mark itself, which takes 20 to 30 tokens."""

_HTML = re.compile(
    r"\s*(?:<!--.*?-->\s*)?<(?:!doctype html|html|head|body|div|table|article|section|p)\b", re.I | re.S
)
_MARK = re.compile(r'\nshown [\d,]+ of [\d,]+ tokens(?:; recall\("[^"\n]*"\) for the rest)?$')
_NOTHING: tuple[Any, ...] = (None, "", [], {})
_BLOCKS = "p,div,li,tr,br,h1,h2,h3,h4,h5,h6,section,article,table,ul,ol,pre,blockquote,dt,dd,option,title"
_UNSEEN = ["script", "style", "noscript", "template", "svg", "iframe"]


class Shown(Struct, frozen=True, gc=False):
    """`text` stands in for an original of `whole` tokens; `cut` when anything of it is missing."""

    text: str
    tokens: int
    whole: int
    kind: Kind
    cut: bool


def show(text: str, cap: int, counter: Counter, *, passages: bool = False) -> Shown:
    """At most `cap` tokens of a result. A text that fits stays as it is, but markup is taken off HTML.

    JSON stays JSON: first rows, columns that hold something, long strings cut. `passages` are fenced already
    and stay so, the first ones whole. The original is tokenised once.
    """
    kind: Kind = "passages" if passages else kind_of(text)
    head, whole = counter.measure(text, cap)
    if whole <= cap and kind != "html":
        return Shown(text, whole, whole, kind, False)
    if kind == "text":
        shown = counter.cut(head, cap)
    elif kind == "html":
        shown = counter.cut(html_text(text), cap)
    elif kind == "json":
        shown = counter.cut(json_text(text, cap, counter), cap)
    else:
        shown = shorten(text, cap, counter)
    return Shown(shown, counter.count(shown), whole, kind, True)


def kind_of(text: str) -> Kind:
    """What a result is, by its beginning; whether JSON can be read is found out when it has to be."""
    start = text[:200].lstrip()
    if start[:1] in ("{", "["):
        return "json"
    if start[:1] == "<" and _HTML.match(text[:2_000]):
        return "html"
    return "text"


def mark(shown: int, whole: int, ref: str) -> str:
    """The line that says that something is missing and how to get it."""
    rest = f'; recall("{ref}") for the rest' if ref else ""
    return f"shown {shown:,} of {whole:,} tokens{rest}"


def shorten(text: str, tokens: int, counter: Counter) -> str:
    """At most `tokens` tokens of a text that may hold fences: first ones whole, the next one cut and closed.

    An old mark at the end is taken off.
    """
    text = _MARK.sub("", text)
    if counter.count(text) <= tokens:
        return text
    kept: list[str] = []
    left = tokens
    for part in parts(text):
        piece = fence(part.label, part.text) if isinstance(part, Fenced) else part
        size = counter.count(piece) + 1  # the line end that joins it
        if size > left:
            piece = _cut_part(part, left, counter)
            if piece:
                kept.append(piece)
            break
        kept.append(piece)
        left -= size
    return _at_most("\n".join(kept), tokens, counter)


def json_text(text: str, tokens: int, counter: Counter) -> str:
    """JSON that says the most in `tokens` tokens; what cannot be read as JSON comes back as it is."""
    try:
        value = msgspec.json.decode(text)
        value = _without_empty_columns(value)
        whole = _encode(value)
        if counter.measure(whole, tokens)[1] <= tokens:
            return whole
        return _encode(_fit(value, tokens, counter))
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return text


def html_text(text: str) -> str:
    """The words of a page, one block to a line, cells parted by tabs."""
    from selectolax.lexbor import LexborHTMLParser

    tree = LexborHTMLParser(text)
    tree.strip_tags(_UNSEEN)
    for node in tree.css(_BLOCKS):
        node.insert_after("\n")
    for node in tree.css("td,th"):
        node.insert_after("\t")
    root = tree.root
    words = root.text() if root is not None else ""
    lines = (" ".join(line.split(" ")).strip() for line in re.sub(r"[ \xa0\r]+", " ", words).split("\n"))
    return "\n".join(line for line in lines if line)


def _cut_part(part: str | Fenced, left: int, counter: Counter) -> str:
    if isinstance(part, str):
        return counter.cut(part, left)
    frame = counter.count(fence(part.label, "")) + 2
    inner = counter.cut(part.text, left - frame)
    return fence(part.label, inner) if inner else ""


def _at_most(text: str, tokens: int, counter: Counter) -> str:
    """Counts of parts do not add up to the token, so the last word is the whole's."""
    return text if counter.count(text) <= tokens else counter.cut(text, tokens)


def _encode(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _without_empty_columns(value: Any) -> Any:
    """Lists of objects without the keys that hold nothing in any of them."""
    if isinstance(value, list):
        rows = [_without_empty_columns(item) for item in value]
        if rows and all(isinstance(row, dict) for row in rows):
            full = {key for row in rows for key, cell in row.items() if cell not in _NOTHING}
            rows = [{key: cell for key, cell in row.items() if key in full} for row in rows]
        return rows
    if isinstance(value, dict):
        return {key: _without_empty_columns(item) for key, item in value.items()}
    return value


def _fit(value: Any, tokens: int, counter: Counter) -> Any:
    """As much of a value as `tokens` hold, the first things first, with a word on what is left out."""
    if isinstance(value, str):
        return counter.cut(value, max(tokens - 4, 0)) + "…"
    if not isinstance(value, dict | list):
        return value
    items: list[tuple[Any, Any]] = (
        list(value.items()) if isinstance(value, dict) else [("", item) for item in value]
    )
    kept: list[tuple[Any, Any]] = []
    left = tokens - 12  # the brackets and the word on the rest
    for at, (key, item) in enumerate(items):
        size = counter.count(_encode(item)) + (counter.count(key) + 2 if key else 1)
        if size > left:
            # One thing that is too large by itself is cut; a list of many is ended.
            if left > tokens // 4 or not kept:
                kept.append((key, _fit(item, left, counter)))
                at += 1
            rest = len(items) - at
            if rest:
                kept.append(("…", f"{rest:,} more"))
            break
        kept.append((key, item))
        left -= size
    return dict(kept) if isinstance(value, dict) else [item for _, item in kept]
