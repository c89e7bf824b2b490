"""Which of many tools a task gets: chosen by its words and meaning, and by what similar requests used before.

The same search as recall. A tool is indexed whole: its name taken apart, its description, its parameters with
their values. Chosen once per task and only ever added to, so that the prefix of the prompts stays.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any

from orchestra.context.recall.concepts import topic_counts, topics_of
from orchestra.context.recall.dense import Dense
from orchestra.context.recall.embedding import Embedder
from orchestra.context.recall.postings import Postings
from orchestra.context.recall.scoring import by_best, spread
from orchestra.context.recall.words import asked_terms, plain_terms, turn_terms
from orchestra.tools.toolbox import Toolbox
from orchestra.values.messages import ToolSpec

# A model chooses well among this many; more cost tokens in every prompt and lead it astray.
MOST_TOOLS = 24
CHOSEN_TOOLS = 12

# Weights of what a tool is found by; chosen on every second request of BFCL live_multiple and on MetaTool
# requests that the benchmark does not ask. Figures: benchmarks/recall.md.
NAME, DESCRIPTION, PARAMETER, EXPLAINED, VALUE = 3.0, 1.0, 1.0, 0.4, 0.3
K1, B = 2.0, 0.5
TOPIC, TOPIC_BESIDE_MEANING = 0.5, 0.25
"""What a shared topic counts beside a shared word."""
ASKING = 0.7
"""What a word counts that only makes a request of a sentence."""
MEANING = 2.2
HISTORY = 5.0
NEAREST = 8
"""Earlier requests that have a vote."""

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[_\-./]")
_REQUEST = """find help assist assistance need want provide give get show tell know curious interested
interest look information info detail details detailed like love recommend recommendation
suggest suggestion able possible ask question let make use take go search locate check
see think wonder kindly appreciate thank thanks explain specific specifically best good
great new current currently list try trying hear hello hi hey offer come access share
guide advice option options various available certain keep plan planning thing things way
idea tool tools"""


def chosen_for(task: str, toolbox: Toolbox) -> Toolbox:
    """The toolbox itself while it is small, else its CHOSEN_TOOLS best tools for the task, in its own order.

    Chosen once per task and never again, so that the prefix of its prompts stays.
    """
    if len(toolbox) <= MOST_TOOLS:
        return toolbox
    return toolbox.narrowed(spec.name for spec in _index_of(toolbox).choose(task, CHOSEN_TOOLS))


@lru_cache(maxsize=8)
def _index_of(toolbox: Toolbox) -> ToolIndex:
    """Made once for a toolbox, which never changes: a quarter of a millisecond a tool."""
    return ToolIndex(toolbox.specs)


class ToolIndex:
    """Tools by what they are for, with the requests that used them; adding costs the same at any size."""

    def __init__(self, specs: Iterable[ToolSpec] = (), embedder: Embedder | None = None) -> None:
        self._specs: list[ToolSpec] = []
        self._places: dict[str, int] = {}
        self._embedder = embedder
        self._words = Postings(K1, B)
        self._topics = Postings(K1, B)
        self._dense = Dense()
        self._past: list[tuple[int, ...]] = []
        self._past_words = Postings(K1, B)
        self._past_dense = Dense()
        for spec in specs:
            self.add(spec)

    def __len__(self) -> int:
        return len(self._specs)

    def add(self, spec: ToolSpec) -> None:
        """Add a tool; one whose name is known is left as it is."""
        if spec.name in self._places:
            return
        self._places[spec.name] = len(self._specs)
        self._specs.append(spec)
        self._words.new()
        self._topics.new()
        for text, weight in _fields(spec):
            terms = turn_terms(text)
            self._words.fill(terms, weight)
            self._topics.fill(topic_counts(terms), weight)

    def learn(self, request: str, used: Iterable[str]) -> None:
        """Remember which tools a request used."""
        places = tuple(dict.fromkeys(self._places[name] for name in used if name in self._places))
        if not places:
            return
        self._past.append(places)
        self._past_words.new()
        self._past_words.fill(_asked(request))
        if self._embedder is not None:
            self._past_dense.add(self._embedder.embed([request])[0])

    def ranked(self, request: str) -> list[tuple[str, float]]:
        """Every tool with its score, best first; ties in the order of arrival."""
        if not self._specs:
            return []
        asked = _asked(request)
        words = self._words.scores(asked)
        topic = TOPIC if self._embedder is None else TOPIC_BESIDE_MEANING
        for place, score in self._topics.scores(topics_of(asked)).items():
            words[place] = words.get(place, 0.0) + topic * score
        scores = [0.0] * len(self._specs)
        for place, score in by_best(words).items():
            scores[place] = score
        vector = self._embedder.embed([request])[0] if self._embedder is not None else None
        if vector is not None:
            self._embed_tools()
            for place, score in enumerate(spread(self._dense.likeness(vector))):
                scores[place] += MEANING * score
        for place, vote in self._votes(asked, vector).items():
            scores[place] += HISTORY * vote
        order = sorted(range(len(scores)), key=scores.__getitem__, reverse=True)
        return [(self._specs[place].name, scores[place]) for place in order]

    def choose(self, request: str, count: int, keep: Iterable[str] = ()) -> tuple[ToolSpec, ...]:
        """At most `count` tools for a request, those in `keep` in any case, in the order of arrival."""
        names = [name for name in dict.fromkeys(keep) if name in self._places]
        for name, _ in self.ranked(request):
            if len(names) >= count:
                break
            if name not in names:
                names.append(name)
        return tuple(self._specs[place] for place in sorted(self._places[name] for name in names))

    def _embed_tools(self) -> None:
        new = self._specs[len(self._dense) :]
        if new and self._embedder is not None:
            for vector in self._embedder.embed([_described(spec) for spec in new]):
                self._dense.add(vector)

    def _votes(self, asked: Mapping[str, float], vector: Any) -> dict[int, float]:
        """Votes of the most similar earlier requests, each as strong as it is similar."""
        if not self._past:
            return {}
        likeness = dict(self._past_words.scores(asked))
        # What a request would score that is the same: likeness is the part of it that is reached.
        most = sum(
            weight * self._past_words.idf(self._past_words.frequency(term)) for term, weight in asked.items()
        )
        most = most or 1.0
        likeness = {number: min(1.0, score / most) for number, score in likeness.items()}
        if vector is not None:
            for number, cosine in enumerate(self._past_dense.likeness(vector)):
                likeness[number] = 0.5 * likeness.get(number, 0.0) + 0.5 * max(0.0, cosine)
        nearest = sorted(likeness.items(), key=lambda item: (-item[1], item[0]))[:NEAREST]
        total = sum(score**2 for _, score in nearest)
        if not total:
            return {}
        votes: dict[int, float] = {}
        for number, score in nearest:
            for place in self._past[number]:
                votes[place] = votes.get(place, 0.0) + score**2
        sure = nearest[0][1]
        return {place: sure * vote / total for place, vote in votes.items()}


def _asked(request: str) -> dict[str, float]:
    light = _request_terms()
    return {
        term: weight * (ASKING if term in light else 1.0) for term, weight in asked_terms(request).items()
    }


@cache
def _request_terms() -> frozenset[str]:
    return frozenset(plain_terms(_REQUEST))


def _fields(spec: ToolSpec) -> Iterator[tuple[str, float]]:
    yield _HUMP.sub(" ", spec.name), NAME
    yield spec.description, DESCRIPTION
    for name, explained, values in _parameters(spec.parameters, 3):
        yield _HUMP.sub(" ", name), PARAMETER
        yield explained, EXPLAINED
        yield values, VALUE


def _parameters(schema: Mapping[str, Any], depth: int) -> Iterator[tuple[str, str, str]]:
    """Name, description and allowed values of every parameter, nested ones too."""
    properties = schema.get("properties")
    if not isinstance(properties, Mapping) or depth == 0:
        return
    for name, part in properties.items():
        if isinstance(part, Mapping):
            values = part.get("enum")
            shown = " ".join(map(str, values)) if isinstance(values, Sequence) else ""
            yield str(name), str(part.get("description") or ""), shown
            yield from _parameters(part, depth - 1)
            items = part.get("items")
            if isinstance(items, Mapping):
                yield from _parameters(items, depth - 1)


def _described(spec: ToolSpec) -> str:
    parameters = "; ".join(
        f"{_HUMP.sub(' ', name)} {explained}" for name, explained, _ in _parameters(spec.parameters, 1)
    )
    return f"{_HUMP.sub(' ', spec.name)}: {spec.description}" + (
        f" Parameters: {parameters}" if parameters else ""
    )
