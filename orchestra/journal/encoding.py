"""How values and names are written, so that every database takes them and they come back as they were."""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec

from orchestra.text.fold import whole_characters

_encode = msgspec.json.Encoder().encode
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def encode(value: Any) -> str:
    """JSON text of any JSON value or struct, lone surrogates included. Raises TypeError for others."""
    try:
        return _encode(value).decode()
    except UnicodeEncodeError:
        return json.dumps(msgspec.to_builtins(value), ensure_ascii=True)


def decode(text: str) -> Any:
    """The value of `encode`'s text."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return json.loads(text)  # it knows lone surrogates


def plain(name: str) -> str:
    """A name as every database's text column takes it: no NUL, no lone surrogate."""
    if name.isascii() and "\0" not in name:
        return name
    return whole_characters(name).replace("\0", "\ufffd")


def is_whole(text: str) -> bool:
    """Whether JSON brings back exactly this text: two lone surrogates could become one character."""
    return not _LONE_SURROGATE.search(text)
