"""The port for embedding models, and the ones that come in packages with their weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from orchestra.context.recall.dense import Vector


class Embedder(Protocol):
    """Turns texts into vectors whose cosine tells how alike they are."""

    @property
    def name(self) -> str: ...

    def embed(self, texts: Sequence[str]) -> Sequence[Vector]:
        """One vector for each text, in order."""
        ...
