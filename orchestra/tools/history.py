"""Which tools earlier requests used: what is like them is likely to need the same ones."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache

from orchestra.context.recall.dense import Dense, Vector
from orchestra.context.recall.embedding import Embedder
from orchestra.context.recall.postings import Postings
from orchestra.context.recall.words import asked_terms, plain_terms

KEPT = 2_000
"""Earlier requests that are remembered; the oldest leave."""
NEAREST = 8
"""Earlier requests that have a vote."""
COMPARED = 40
"""Of those that share words, the most alike are compared by meaning too: a vector takes milliseconds."""
ASKING = 0.7
"""What a word counts that only makes a request of a sentence."""
LONGEST = 2_000
"""Characters of a request that are read; what stands further on is material."""

_REQUEST = """find help assist assistance need want provide give get show tell know curious interested
interest look information info detail details detailed like love recommend recommendation
suggest suggestion able possible ask question let make use take go search locate check
see think wonder kindly appreciate thank thanks explain specific specifically best good
great new current currently list try trying hear hello hi hey offer come access share
guide advice option options various available certain keep plan planning thing things way
idea tool tools"""


def request_terms(request: str) -> dict[str, float]:
    """The different terms of a request with their weights."""
    light = _light_terms()
    return {
        term: weight * (ASKING if term in light else 1.0)
        for term, weight in asked_terms(request[:LONGEST]).items()
    }


@cache
def _light_terms() -> frozenset[str]:
    return frozenset(plain_terms(_REQUEST))


class History:
    """Requests with the names of the tools they used, each request once. Not for two threads at once."""

    def __init__(self, embedder: Embedder | None = None) -> None:
        self._embedder = embedder
        self._used: dict[str, tuple[str, ...]] = {}
        self._requests: list[str] = []
        self._words = Postings()
        self._vectors: dict[int, Vector] = {}

    def __len__(self) -> int:
        return len(self._used)

    def learn(self, request: str, used: Iterable[str]) -> None:
        """Remember which tools a request used; of one that is known, these too."""
        request = request[:LONGEST]
        names = tuple(dict.fromkeys((*self._used.get(request, ()), *used)))
        if not names:
            return
        if request not in self._used:
            self._index(request)
        self._used[request] = names
        if len(self._requests) > 2 * KEPT:
            self._forget()

    def votes(
        self, asked: Mapping[str, float], vector: Vector | None, tools: Collection[str]
    ) -> dict[str, float]:
        """Votes of the most similar earlier requests that used one of `tools`, each as strong as it is
        similar; the best tool has at most 1.
        """
        likeness = self._likeness(asked, vector)
        ranked = sorted(likeness.items(), key=lambda item: (-item[1], item[0]))
        nearest: list[tuple[float, tuple[str, ...]]] = []
        for number, score in ranked:
            names = tuple(name for name in self._used[self._requests[number]] if name in tools)
            if names:
                nearest.append((score, names))
            if len(nearest) == NEAREST:
                break
        total = sum(score**2 for score, _ in nearest)
        if not total:
            return {}
        votes: dict[str, float] = {}
        for score, names in nearest:
            for name in names:
                votes[name] = votes.get(name, 0.0) + score**2
        sure = nearest[0][0]
        return {name: sure * vote / total for name, vote in votes.items()}

    def _likeness(self, asked: Mapping[str, float], vector: Vector | None) -> dict[int, float]:
        """0 … 1 by number. What a request would score that is the same: likeness is the part reached."""
        idf, frequency = self._words.idf, self._words.frequency
        most = sum(weight * idf(frequency(term)) for term, weight in asked.items()) or 1.0
        found = {number: min(1.0, score / most) for number, score in self._words.scores(asked).items()}
        if vector is None or self._embedder is None or not found:
            return found
        near = sorted(found, key=lambda number: (-found[number], number))[:COMPARED]
        self._embed(near)
        dense = Dense()
        for number in near:
            dense.add(self._vectors[number])
        return {
            number: 0.5 * found[number] + 0.5 * max(0.0, cosine)
            for number, cosine in zip(near, dense.likeness(vector), strict=True)
        }

    def _embed(self, numbers: Sequence[int]) -> None:
        new = [number for number in numbers if number not in self._vectors]
        if new and self._embedder is not None:
            vectors = self._embedder.embed([self._requests[number] for number in new])
            self._vectors.update(zip(new, vectors, strict=True))

    def _index(self, request: str) -> None:
        self._requests.append(request)
        self._words.new()
        self._words.fill(request_terms(request))

    def _forget(self) -> None:
        """Begin again with the newest; a word list cannot be shortened at its front."""
        kept = {
            number: at for at, number in enumerate(range(len(self._requests) - KEPT, len(self._requests)))
        }
        self._vectors = {kept[old]: each for old, each in self._vectors.items() if old in kept}
        requests, self._requests = self._requests[-KEPT:], []
        self._used = {request: self._used[request] for request in requests}
        self._words = Postings()
        for request in requests:
            self._index(request)
