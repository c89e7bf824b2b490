"""The recall index of one agent: turns go in one by one, questions bring back what fits a budget.

Words alone do the work where there is no embedding model. The wider text is ranked (a unit counts a part of
its neighbours' words, its sitting and its day), the turn itself is shown. Adding a turn costs the same at
turn 10 and at turn 10,000. Not for two threads at once; belongs to one agent.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Container, Iterable, Sequence
from functools import partial

from orchestra.context.recall.concepts import topic_counts, topics_of
from orchestra.context.recall.dense import Dense, Vector
from orchestra.context.recall.embedding import Embedder
from orchestra.context.recall.packing import Lines
from orchestra.context.recall.pieces import pieces
from orchestra.context.recall.postings import Postings
from orchestra.context.recall.scoring import (
    Weights,
    by_best,
    echoed,
    likely,
    matching,
    means,
    set_backs,
    smooth,
    spread,
    varied,
    with_neighbours,
)
from orchestra.context.recall.sittings import Sittings
from orchestra.context.recall.turns import Hit, Meant, Recalled, Turn
from orchestra.context.recall.words import HAN, asked_terms, plain_terms, turn_terms

TO_NEXT, TO_NEXT_ASKING, TO_PREVIOUS = 0.5, 1.0, 0.2
"""What a turn lends of its words: to the one after it (all of them when it asks), to the one before it."""
LIKE = 0.25
"""A cosine below which meaning alone finds nothing."""

_CLOSER, _LEAST = 3.0, 384
"""Units that are ranked, for each one that fits, and at least; all of them where meaning has a say."""

UNKNOWN = Meant()
_ASKING = re.compile(r"[?？]\W*\Z")
_Ranked = tuple[list[int], list[float]] | None
_OWN = re.compile(r"\b(?:i|my|me|mine|myself|i'm|i've|i'd)\b|我", re.IGNORECASE)


class RecallIndex:
    """Turns and what finds them.

    `count` counts tokens as the prompt's budget does; `lines_add_up`: see `Counter`. `embedder`: None for
    words alone. `asker`: the speaker whose turns "I" in a question means.
    """

    def __init__(
        self,
        count: Callable[[str], int],
        *,
        embedder: Embedder | None = None,
        asker: str = "user",
        weights: Weights | None = None,
        lines_add_up: bool = False,
    ) -> None:
        self.embedder = embedder
        self._count = count
        self._asker = asker
        self._weights = weights or Weights()
        self._size = 0  # in turns
        self._lines = Lines(count, add_up=lines_add_up)
        self._where = self._lines.where  # the sitting of each unit
        self._steps: list[float] = []  # as long as the longest sitting has units, or longer
        self._who: list[int] = []  # the speaker of each unit
        self._telling: list[float] = []  # by how much each unit says, weighted
        self._sittings = Sittings(count)
        self._starts: list[int] = []  # the first unit of each sitting
        self._speakers: dict[str, int] = {}
        self._names: dict[str, set[int]] = {}
        self._short_names: dict[str, int] = {}
        self._words = Postings()
        self._topics = Postings()
        self._wide = Postings()
        self._dense = Dense()

    def __len__(self) -> int:
        return self._size

    @property
    def found_by(self) -> str:
        """The name of the embedding model that need not be awaited, "" for none."""
        return self.embedder.name if self.embedder is not None else ""

    def copied(self) -> RecallIndex:
        """An index with the same turns that grows apart from this one."""
        same = (self._count, self.embedder, self._weights, *self._lines.turns)
        return copy.deepcopy(self, {id(part): part for part in same})

    # -- what goes in ------------------------------------------------------------------------------------

    def add(self, turn: Turn) -> None:
        """Add the newest turn."""
        if self._sittings.seat(turn):
            self._starts.append(len(self._lines))
            self._wide.new()
            newest = self._sittings.all[-1]
            self._lines.open(newest.heading, newest.tokens)
        asked = bool(self._size) and _ASKING.search(self._lines.turns[-1].text) is not None
        self._size += 1
        speaker = self._speaker(turn.speaker)
        for start, end in pieces(turn.text):
            found = turn_terms(turn.text[start:end])
            self._words.new()
            self._words.fill(found)
            self._topics.new()
            self._topics.fill(topic_counts(found))
            self._wide.fill(found)
            unit = len(self._lines)
            if unit > self._starts[-1]:
                lent = TO_NEXT_ASKING if asked and not start else TO_NEXT
                self._words.lend(lent, TO_PREVIOUS)
                self._topics.lend(lent, 0.0)
            self._lines.add(turn, start, end)
            self._who.append(speaker)
            if unit + 1 - self._starts[-1] > len(self._steps):
                self._steps = set_backs(self._weights.variety, 2 * len(self._steps) + 16)
            said = len(self._words.terms_of(unit))
            self._telling.append(self._weights.telling * (said / (said + 12)))

    def unembedded(self) -> list[str]:
        """The texts whose vectors are still to be made, for a model that has to be awaited."""
        return [self._text(unit) for unit in range(len(self._dense), len(self._lines))]

    def embedded(self, vectors: Sequence[Vector]) -> None:
        """Take in the vectors of `unembedded`, in its order."""
        for vector in vectors:
            self._dense.add(vector)

    def _text(self, unit: int) -> str:
        turn, (start, end) = self._lines.turns[unit], self._lines.span(unit)
        return f"{turn.speaker}: {turn.text[start:end]}" if turn.speaker else turn.text[start:end]

    def _speaker(self, name: str) -> int:
        known = self._speakers.get(name)
        if known is None:
            known = self._speakers[name] = len(self._speakers)
            for term in plain_terms(name):
                self._names.setdefault(term, set()).add(known)
            if HAN.fullmatch(name) and len(name) > 1:  # 陈志强 is also called 志强
                for short in (name, name[1:] if len(name) > 2 else name):
                    self._short_names[short] = known
        return known

    # -- what comes out ----------------------------------------------------------------------------------

    def recall(
        self,
        question: str,
        tokens: int,
        *,
        skip: Container[str] = (),
        meant: Meant = UNKNOWN,
        least: float = 0.0,
    ) -> Recalled:
        """What was said about `question`, in at most `tokens` tokens; `skip` holds ids that are shown anyway.

        `meant`: what a model says that had to be awaited. `least`: what scores below this share of the best
        is left out though there is room. Nothing found is said in `note`.
        """
        if not self._size:
            return Recalled("", 0, (), "", "nothing was said yet")
        asked = asked_terms(question, self._short_names)
        known = meant.vector is not None and len(self._dense) > 0
        by = self.found_by or (meant.model if known or meant.again is not None else "")
        how = _how(by, meant)
        scores: list[float] = []
        if meant.again is not None:
            chosen = [unit for unit in meant.again if unit < len(self._lines)]
        else:
            ranked = self._ranked(question, asked, meant.vector, tokens)
            if ranked is None:
                return Recalled("", 0, (), by, f"nothing earlier matches{how}")
            wanted: Iterable[int]
            wanted, scores = ranked
            if skip:
                wanted = (unit for unit in wanted if self._lines.turns[unit].id not in skip)
            if least:
                wanted = matching(wanted, scores, least)
            chosen = self._lines.pack(wanted, tokens - self._lines.around - 1)
        while chosen:
            text, spent = self._lines.render(sorted(chosen))
            if spent <= tokens:
                note = f"{len(chosen)} of {len(self._lines)} pieces{how}"
                worth = {unit: scores[unit] for unit in chosen} if scores else dict.fromkeys(chosen, 0.0)
                hits = partial(self._hits, worth, tuple(asked))
                return Recalled(text, spent, hits, by, note, tuple(chosen))
            chosen.pop()
        return Recalled("", 0, (), by, "no room for what was found")

    def _ranked(self, question: str, asked: dict[str, float], vector: Vector | None, tokens: int) -> _Ranked:
        """The units that may have been asked for, best first; None where nothing of the question was found.

        With them the scores by unit.
        """
        weights = self._weights
        people = self._people(question, asked)
        wanted = {term: weight for term, weight in asked.items() if term not in self._names}
        scores = [0.0] * len(self._where)
        self._words.add_scores(scores, wanted)
        self._topics.add_scores(scores, topics_of(wanted), weights.topic)
        bonus, dated = self._sitting_scores(question, wanted)
        best = max(scores)
        scale = 1 / best if best else 0.0
        echoes = echoed(self._words, scores, {*asked, *self._names}) if best else {}
        vector = self._vector(question, vector)
        # Where meaning has a say, a unit may be near that shares no word.
        most = max(int(_CLOSER * tokens / self._lines.mean), _LEAST) if vector is None else len(scores)
        stretches = likely(scores, [one * best for one in bonus], self._starts, most)
        for start, end, sitting in stretches:
            more = bonus[sitting]
            scores[start:end] = [
                (word * scale or telling) + more
                for word, telling in zip(scores[start:end], self._telling[start:end], strict=True)
            ]
        for unit, score in by_best(self._words.scores(echoes)).items():
            scores[unit] += weights.echo * score
        units = [unit for start, end, _ in stretches for unit in range(start, end)]
        for unit in units if people else ():
            if self._who[unit] in people:
                scores[unit] += weights.speaker
        alike = vector is not None and self._add_meaning(scores, vector)
        if not (best or dated or alike or people):
            return None
        smooth(scores, [(start, end) for start, end, _ in stretches], weights.smooth)
        return varied(scores, units, self._where, self._steps), scores

    def _people(self, question: str, asked: dict[str, float]) -> set[int]:
        """The speakers whom the question is about, empty when it names none or all of them."""
        people: set[int] = set()
        for term in asked:
            people |= self._names.get(term, set())
        for short, speaker in self._short_names.items():
            if short in question:
                people.add(speaker)
        if not people and self._asker in self._speakers and _OWN.search(question):
            people = {self._speakers[self._asker]}
        return people if len(people) < len(self._speakers) else set()

    def _sitting_scores(self, question: str, wanted: dict[str, float]) -> tuple[list[float], bool]:
        weights = self._weights
        bonus = [0.0] * len(self._sittings.all)
        for sitting, score in by_best(self._wide.scores(wanted)).items():
            bonus[sitting] = weights.sitting * score
        dated = self._sittings.dated(question)
        for sitting, score in dated.items():
            bonus[sitting] += weights.date * score
        return bonus, bool(dated)

    def _vector(self, question: str, vector: Vector | None) -> Vector | None:
        """The question's meaning, None where nothing can be said of that; the embedding model catches up."""
        if self.embedder is not None:
            missing = self.unembedded()
            if missing:
                self.embedded(self.embedder.embed(missing))
            if vector is None:
                vector = self.embedder.embed([question])[0]
        return vector if len(self._dense) else None

    def _add_meaning(self, scores: list[float], vector: Vector) -> bool:
        """Add the embedding model's opinion; whether anything was alike."""
        weights = self._weights
        cosines = self._dense.likeness(vector)
        cosines += [min(cosines)] * (len(scores) - len(cosines))
        near = spread(with_neighbours(cosines, self._where))
        wide = spread(means(cosines, self._where, len(self._sittings.all)))
        for unit, value in enumerate(spread(cosines)):
            scores[unit] += (
                weights.meaning * value
                + weights.meaning_near * near[unit]
                + weights.meaning_sitting * wide[self._where[unit]]
            )
        return max(cosines) >= LIKE

    def _hits(self, scores: dict[int, float], asked: tuple[str, ...]) -> tuple[Hit, ...]:
        """What was chosen with these scores, and the words asked for that chose it."""
        words: dict[int, list[str]] = {}
        for term in asked:
            for unit in self._words.units_with(term):
                if unit in scores:
                    words.setdefault(unit, []).append(term)
        return self._lines.hits(sorted(scores), scores, words)


def _how(by: str, meant: Meant) -> str:
    if by:
        return f" by words and {by}"
    return f" by words alone ({meant.problem or 'no embedding model'})"
