"""Where what was learnt of endpoints is kept."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

import msgspec

from orchestra.models.compatible.quirks import Quirks


class QuirksStore(Protocol):
    """Remembers quirks by endpoint and model. Both methods are quick: no await."""

    def load(self, endpoint: str, model: str) -> Quirks | None: ...

    def save(self, endpoint: str, model: str, quirks: Quirks) -> None: ...


class InMemory:
    """Remembers while the program runs."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str], Quirks] = {}

    def load(self, endpoint: str, model: str) -> Quirks | None:
        return self._kept.get((endpoint, model))

    def save(self, endpoint: str, model: str, quirks: Quirks) -> None:
        self._kept[endpoint, model] = quirks


class InFile:
    """Remembers in one JSON file, replaced whole at each change. A file that cannot be read is empty:
    everything in it can be learnt again."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path)

    def load(self, endpoint: str, model: str) -> Quirks | None:
        return self._all().get(endpoint, {}).get(model)

    def save(self, endpoint: str, model: str, quirks: Quirks) -> None:
        kept = {name: dict(models) for name, models in self._all().items()}
        kept.setdefault(endpoint, {})[model] = quirks
        self._write(kept)

    def _write(self, kept: Mapping[str, Mapping[str, Quirks]]) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        fresh = self._path.with_suffix(f".{os.getpid()}.new")
        fresh.write_bytes(msgspec.json.format(msgspec.json.encode(kept)))
        fresh.replace(self._path)

    def forget(self, endpoint: str) -> int:
        """Nothing is remembered of this endpoint any more; of how many models there was something."""
        kept = dict(self._all())
        gone = kept.pop(endpoint, {})
        if gone:
            self._write(kept)
        return len(gone)

    def all(self) -> Mapping[str, Mapping[str, Quirks]]:
        """Everything that is remembered: endpoint → model → quirks."""
        return self._all()

    def _all(self) -> Mapping[str, Mapping[str, Quirks]]:
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=dict[str, dict[str, Quirks]])
        except (OSError, msgspec.DecodeError):
            return {}
