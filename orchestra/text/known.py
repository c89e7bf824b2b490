"""What is known of a word, for texts that are gone through word by word."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

LONGEST = 64  # characters of a word that is kept


class Known(dict[str, T]):
    """What `find` says of each word, asked once; beyond `most` words all are forgotten, long ones at once.

    `lru_cache` does the same, but makes a tuple of arguments for every call, which takes longer than the look
    itself: `map(known.__getitem__, words)` takes half the time.
    """

    def __init__(self, find: Callable[[str], T], most: int) -> None:
        super().__init__()
        self._find = find
        self._most = most

    def __missing__(self, word: str) -> T:
        found = self._find(word)
        if len(word) <= LONGEST:
            if len(self) >= self._most:
                self.clear()
            self[word] = found
        return found
