"""Meaning: one unit vector for each unit, and their likeness to a question's."""

from __future__ import annotations

import importlib
import math
from collections.abc import Sequence
from operator import mul
from typing import Any

Vector = Sequence[float]


class Dense:
    """Vectors numbered from 0, added one by one; with numpy where it is installed, else in plain Python."""

    __slots__ = ("_matrix", "_np", "_rows", "_size")

    def __init__(self) -> None:
        self._np: Any = _numpy()
        self._rows: list[list[float]] = []
        self._matrix: Any = None
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def __deepcopy__(self, memo: dict[int, Any]) -> Dense:
        twin = Dense()
        twin._rows, twin._size = self._rows[:], self._size
        twin._matrix = self._matrix.copy() if self._matrix is not None else None
        return twin

    def add(self, vector: Vector) -> None:
        """Add one vector of any length but zero; numpy's matrix doubles, so the mean cost stays the same."""
        if self._np is None:
            self._rows.append(_unit(vector))
            self._size += 1
            return
        row = self._np.asarray(vector, dtype="float32")
        norm = float(self._np.sqrt(row @ row))
        if self._matrix is None:
            self._matrix = self._np.zeros((64, len(row)), dtype="float32")
        elif self._size == len(self._matrix):
            self._matrix = self._np.concatenate([self._matrix, self._np.zeros_like(self._matrix)])
        self._matrix[self._size] = row / norm if norm else row
        self._size += 1

    def likeness(self, vector: Vector) -> list[float]:
        """The cosine of each vector with this one, -1 to 1."""
        if not self._size:
            return []
        if self._np is None:
            asked = _unit(vector)
            return [sum(map(mul, row, asked)) for row in self._rows]
        asked = self._np.asarray(vector, dtype="float32")
        norm = float(self._np.sqrt(asked @ asked)) or 1.0
        found: list[float] = (self._matrix[: self._size] @ (asked / norm)).tolist()
        return found


def _unit(vector: Vector) -> list[float]:
    row = [float(value) for value in vector]
    norm = math.sqrt(sum(map(mul, row, row)))
    return [value / norm for value in row] if norm else row


def _numpy() -> Any:
    try:
        return importlib.import_module("numpy")
    except ImportError:
        return None
