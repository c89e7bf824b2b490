"""Verbatim spans."""

from __future__ import annotations

from orchestra.text.fold import Folded
from orchestra.values.sources import Document, Quote


def find_quote(document: Document, text: str, *, folded: Folded | None = None) -> Quote | None:
    raise NotImplementedError


def find_quotes(document: Document, text: str, *, folded: Folded | None = None) -> tuple[Quote, ...]:
    """As find_quote; an ellipsis between verbatim parts gives one quote a part; () when any part is not there."""
    raise NotImplementedError
