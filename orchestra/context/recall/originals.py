"""Bringing back what left the prompt, by reference or by words."""

from __future__ import annotations

import math
from collections import Counter as Tally

from msgspec import Struct

from orchestra.context.archive import Archive, Original
from orchestra.context.fence import fence
from orchestra.context.labels import label_of
from orchestra.context.results import MARK_TOKENS, mark, shorten
from orchestra.context.tokens import Counter
from orchestra.text.terms import query_terms, terms

CHUNK_CHARACTERS = 1_200
# Okapi BM25's usual constants (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009).
_K1 = 1.2
_B = 0.75


class Chunk(Struct, frozen=True):
    """A part of an original, [start, end) of its text."""

    original: Original
    start: int
    end: int

    @property
    def text(self) -> str:
        return self.original.text[self.start : self.end]


class Recall:
    """Search over one agent's archive; each original is indexed once, at the first search after it came."""

    __slots__ = ("_archive", "_chunks", "_counter", "_indexed", "_lengths", "_postings", "_total")

    def __init__(self, archive: Archive, counter: Counter) -> None:
        self._archive = archive
        self._counter = counter
        self._indexed = 0
        self._chunks: list[Chunk] = []
        self._lengths: list[int] = []
        self._total = 0
        self._postings: dict[str, list[tuple[int, int]]] = {}

    def text(self, wanted: str, tokens: int) -> str:
        """What a reference (`r17`) or a few words bring back, fenced and labelled, within `tokens` tokens."""
        wanted = wanted.strip()
        original = self._archive.get(wanted)
        if original is not None:
            return self._whole(original, tokens)
        found = self.search(wanted)
        if not found:
            return f"Nothing in the archive matches {wanted!r}."
        kept: list[Chunk] = []
        left = tokens
        for chunk in found:
            size = self._counter.count(self._shown(chunk)) + 2
            if size > left:
                continue
            kept.append(chunk)
            left -= size
        if not kept:
            return shorten(self._shown(found[0]), tokens, self._counter)
        kept.sort(key=lambda chunk: (int(chunk.original.ref[1:]), chunk.start))
        return "\n\n".join(self._shown(chunk) for chunk in kept)

    def search(self, query: str, limit: int = 20) -> list[Chunk]:
        """The parts that match best, best first; ties in the order of arrival."""
        self._index()
        if not self._chunks:
            return []
        scores: Tally[int] = Tally()
        average = self._total / len(self._chunks)
        for term in query_terms(query):
            postings = self._postings.get(term, ())
            rarity = math.log(1 + (len(self._chunks) - len(postings) + 0.5) / (len(postings) + 0.5))
            for at, often in postings:
                weight = often + _K1 * (1 - _B + _B * self._lengths[at] / average)
                scores[at] += rarity * often * (_K1 + 1) / weight  # type: ignore[assignment]  # a Tally of floats
        ranked = sorted(scores.items(), key=lambda item: (-item[1], item[0]))
        return [self._chunks[at] for at, _ in ranked[:limit]]

    def _index(self) -> None:
        for original in self._archive.since(self._indexed):
            for start, end in chunks_of(original.text):
                words = terms(f"{original.query} {original.text[start:end]}")
                at = len(self._chunks)
                self._chunks.append(Chunk(original, start, end))
                self._lengths.append(len(words))
                self._total += len(words)
                for term, often in Tally(words).items():
                    self._postings.setdefault(term, []).append((at, often))
        self._indexed = len(self._archive)

    def _whole(self, original: Original, tokens: int) -> str:
        text = fence(_label(original), original.text)
        whole = self._counter.count(text)
        if whole <= tokens:
            return text
        inner = self._counter.cut(original.text, tokens)
        shown = shorten(fence(_label(original), inner), max(tokens - MARK_TOKENS, 0), self._counter)
        return f"{shown}\n{mark(self._counter.count(shown), whole, '')}; recall(words) for a part of it"

    def _shown(self, chunk: Chunk) -> str:
        return fence(f"{_label(chunk.original)} | characters {chunk.start} to {chunk.end}", chunk.text)


def chunks_of(text: str) -> list[tuple[int, int]]:
    """Parts of about CHUNK_CHARACTERS that end at a line's or a sentence's end where there is one."""
    found: list[tuple[int, int]] = []
    start = 0
    while start < len(text):
        end = min(start + CHUNK_CHARACTERS, len(text))
        if end < len(text):
            for ending in ("\n\n", "\n", "。", ". ", " "):
                cut = text.rfind(ending, start + CHUNK_CHARACTERS // 2, end)
                if cut > 0:
                    end = cut + len(ending)
                    break
        found.append((start, end))
        start = end
    return found


def _label(original: Original) -> str:
    return label_of(f"{original.ref} {original.source}", original.query, original.at)
