"""The simulated endpoint's embeddings: the same text, the same vector; texts that share words are alike."""

from __future__ import annotations

import math
import re
import zlib
from typing import Any

import msgspec
from msgspec import Struct

DIMENSIONS = 64
_WORD = re.compile(r"[\u3400-\u9fff]|[^\W_\u3400-\u9fff]+")


class Asked(Struct):
    """The request's body; `input` is one text or several."""

    model: str
    input: str | list[str]


def vector_of(text: str) -> list[float]:
    """A unit vector: each word adds to one of its places, by its checksum."""
    places = [0.0] * DIMENSIONS
    for word in _WORD.findall(text.lower()):
        places[zlib.crc32(word.encode()) % DIMENSIONS] += 1.0
    size = math.sqrt(sum(place * place for place in places)) or 1.0
    return [place / size for place in places]


def body_of(asked: Asked, tokens: int) -> bytes:
    """The reply's body."""
    texts = [asked.input] if isinstance(asked.input, str) else asked.input
    rows: list[dict[str, Any]] = [
        {"object": "embedding", "index": at, "embedding": vector_of(text)} for at, text in enumerate(texts)
    ]
    usage = {"prompt_tokens": tokens, "total_tokens": tokens}
    return msgspec.json.encode({"object": "list", "data": rows, "model": asked.model, "usage": usage})
