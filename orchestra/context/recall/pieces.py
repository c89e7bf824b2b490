"""Cutting a long turn into pieces that can be shown by themselves."""

from __future__ import annotations

import re

WHOLE = 900
"""Characters up to which a turn is one piece; three in CJK count as ten."""
PIECE = 560
"""Characters that a piece of a longer turn is filled up to."""

_BORDERS = re.compile(r"\n+|(?<=[.!?;])\s+|(?<=[。！？；])|(?<=\}),?\s*(?=\{)")
_WIDE = re.compile("[\u2e80-\u9fff\uac00-\ud7af]")


def pieces(text: str) -> list[tuple[int, int]]:
    """Spans that cover `text` from end to end, cut at sentences and lines where there are any."""
    scale = 1.0
    wide = len(_WIDE.findall(text)) if not text.isascii() else 0
    if wide * 2 > len(text):
        scale = 0.3
    if len(text) <= WHOLE * scale:
        return [(0, len(text))]
    room = int(PIECE * scale)
    cuts = [match.end() for match in _BORDERS.finditer(text)] + [len(text)]
    spans: list[tuple[int, int]] = []
    start = end = 0
    for cut in cuts:
        if cut - start > room and end > start:
            spans.append((start, end))
            start = end
        while cut - start > 2 * room:  # no border in sight: cut at a space, or anywhere
            space = text.rfind(" ", start + room // 2, start + room)
            stop = space + 1 if space > 0 else start + room
            spans.append((start, stop))
            start = stop
        end = cut
    if end > start:
        spans.append((start, end))
    return spans
