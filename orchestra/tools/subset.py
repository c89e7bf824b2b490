"""Which of many tools a task gets: chosen by its words and meaning, and by what similar requests used before.

The same search as recall. A tool is indexed whole: its name taken apart, its description, its parameters with
their values. Tools come from anywhere: what is not of the shape of a schema is passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from orchestra.context.recall.concepts import topic_counts, topics_of
from orchestra.context.recall.dense import Dense
from orchestra.context.recall.embedding import Embedder
from orchestra.context.recall.postings import Postings
from orchestra.context.recall.scoring import by_best, spread
from orchestra.context.recall.words import turn_terms
from orchestra.tools.fitting import Fitting
from orchestra.tools.history import LONGEST as LONGEST_REQUEST
from orchestra.tools.history import History, request_terms
from orchestra.values.messages import ToolSpec

# Weights of what a tool is found by; chosen on every second request of BFCL live_multiple and on MetaTool
# requests that the benchmark does not ask. Figures: benchmarks/recall.md.
NAME, DESCRIPTION, PARAMETER, EXPLAINED, VALUE = 3.0, 1.0, 1.0, 0.4, 0.3
K1, B = 2.0, 0.5
TOPIC = 0.5
"""What a shared topic counts beside a shared word."""
FITS = 0.2
"""What a tool gains that takes what a request says, and loses that needs what it does not say."""
HISTORY = 5.0
LONGEST = 20_000
"""Characters of one text of a tool that are read."""

AT_ONCE = 128
"""Tools that are embedded for one choice at most, about 2 s; the next choices embed the others."""

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[_\-./]")


class Trust(NamedTuple):
    """What a model's opinion counts beside the words, a topic then, and what fits; `brief`: it reads no
    parameters.
    """

    meaning: float
    topic: float
    fits: float
    brief: bool


TRUST = Trust(2.2, 0.25, 0.3, brief=False)
_TRUST_OF = {"use": Trust(1.0, TOPIC, 0.3, brief=True)}
"""Of a model that says less on its own; chosen on the same requests as the weights."""


class ToolIndex:
    """Tools by what they are for; adding costs the same at any size. Not for two threads at once.

    `keeper`: the same model as `embedder`, which remembers the vectors of tools.
    """

    def __init__(
        self,
        specs: Iterable[ToolSpec] = (),
        embedder: Embedder | None = None,
        history: History | None = None,
        keeper: Embedder | None = None,
    ) -> None:
        self._specs: list[ToolSpec] = []
        self._places: dict[str, int] = {}
        self._embedder = embedder
        self._trust = _TRUST_OF.get(embedder.name, TRUST) if embedder is not None else TRUST
        self._words = Postings(K1, B)
        self._topics = Postings(K1, B)
        self._fitting = Fitting()
        self._keeper = keeper or embedder
        self._dense = Dense()
        self._embedded: list[int] = []  # the tools whose vectors are there, in their order
        self._history = history if history is not None else History(embedder)
        for spec in specs:
            self.add(spec)

    def __len__(self) -> int:
        return len(self._specs)

    def __contains__(self, name: str) -> bool:
        return name in self._places

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        return tuple(self._specs)

    def add(self, spec: ToolSpec) -> None:
        """Add a tool; one whose name is known is left as it is."""
        if spec.name in self._places:
            return
        self._places[spec.name] = len(self._specs)
        self._specs.append(spec)
        self._words.new()
        self._topics.new()
        self._fitting.add(spec.parameters)
        for text, weight in _fields(spec):
            terms = turn_terms(text[:LONGEST])
            self._words.fill(terms, weight)
            self._topics.fill(topic_counts(terms), weight)

    def learn(self, request: str, used: Iterable[str]) -> None:
        """Remember which tools a request used."""
        self._history.learn(request, [name for name in used if name in self._places])

    def ranked(
        self, request: str, history: History | None = None, *, values: bool = True
    ) -> list[tuple[str, float]]:
        """Every tool with its score, best first; ties in the order of arrival.

        `history`: in place of the index's own. `values`: what the request says is what a tool would be called
        with, and not only what it has to do.
        """
        if not self._specs:
            return []
        asked = request_terms(request)
        words = self._words.scores(asked)
        topic = TOPIC if self._embedder is None else self._trust.topic
        for place, score in self._topics.scores(topics_of(asked)).items():
            words[place] = words.get(place, 0.0) + topic * score
        scores = [0.0] * len(self._specs)
        for place, score in by_best(words).items():
            scores[place] = score
        vector = self._embedder.embed([request])[0] if self._embedder is not None else None
        if vector is not None:
            self._embed_tools(words)
            for place, score in zip(self._embedded, spread(self._dense.likeness(vector)), strict=True):
                scores[place] += self._trust.meaning * score
        fits = FITS if self._embedder is None else self._trust.fits
        for place, sign in self._fitting.judged(request[:LONGEST_REQUEST]) if values else ():
            if scores[place] > 0:  # what has nothing to do with the request does not come in by a date
                scores[place] += fits * sign
        votes = (history if history is not None else self._history).votes(asked, vector, self._places)
        for name, vote in votes.items():
            scores[self._places[name]] += HISTORY * vote
        order = sorted(range(len(scores)), key=scores.__getitem__, reverse=True)
        return [(self._specs[place].name, scores[place]) for place in order]

    def choose(
        self, request: str, count: int, keep: Iterable[str] = (), history: History | None = None
    ) -> tuple[ToolSpec, ...]:
        """At most `count` tools for a request, those in `keep` in any case, in the order of arrival."""
        names = [name for name in dict.fromkeys(keep) if name in self._places]
        for name, _ in self.ranked(request, history) if len(names) < count else ():
            if len(names) >= count:
                break
            if name not in names:
                names.append(name)
        return tuple(self._specs[place] for place in sorted(self._places[name] for name in names))

    def _embed_tools(self, words: Mapping[int, float]) -> None:
        """Those that have no vector yet, of very many those first that the words speak for."""
        if len(self._embedded) == len(self._specs) or self._keeper is None:
            return
        there = set(self._embedded)
        new = [place for place in range(len(self._specs)) if place not in there]
        if len(new) > AT_ONCE:
            new = sorted(new, key=lambda place: -words.get(place, 0.0))[:AT_ONCE]
        texts = [_described(self._specs[place], brief=self._trust.brief) for place in new]
        for vector in self._keeper.embed(texts):
            self._dense.add(vector)
        self._embedded += new


def _fields(spec: ToolSpec) -> Iterator[tuple[str, float]]:
    yield _HUMP.sub(" ", spec.name), NAME
    yield _text(spec.description), DESCRIPTION
    for name, explained, values in _parameters(spec.parameters, 3):
        yield _HUMP.sub(" ", name), PARAMETER
        yield explained, EXPLAINED
        yield values, VALUE


def _parameters(schema: Any, depth: int) -> Iterator[tuple[str, str, str]]:
    """Name, description and allowed values of every parameter, nested ones too."""
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    if not isinstance(properties, Mapping) or depth == 0:
        return
    for name, part in properties.items():
        if isinstance(part, Mapping):
            values = part.get("enum")
            shown = " ".join(map(str, values)) if isinstance(values, list | tuple) else ""
            yield str(name), _text(part.get("description")), shown
            yield from _parameters(part, depth - 1)
            yield from _parameters(part.get("items"), depth - 1)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _described(spec: ToolSpec, *, brief: bool) -> str:
    plain = f"{_HUMP.sub(' ', spec.name)}: {_text(spec.description)}"
    found = () if brief else _parameters(spec.parameters, 1)
    parameters = "; ".join(f"{_HUMP.sub(' ', name)} {explained}" for name, explained, _ in found)
    return f"{plain} Parameters: {parameters}" if parameters else plain
