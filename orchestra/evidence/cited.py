"""What claims and sentences rest on: quotes, each looked through once a session."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from operator import attrgetter

from orchestra.context.facts import Evidence, Find, plain
from orchestra.context.plainly import Told, stands
from orchestra.text.shape import letter_runs
from orchestra.text.terms import STOP_WORDS, terms
from orchestra.values.facts import Fact
from orchestra.values.sources import Quote

_LEAST_TERMS = 4  # a sentence with fewer telling words may share none with its quotes
_WIDE = re.compile("[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
_text_of = attrgetter("text")
_STOP_WORDS = frozenset(word.encode() for word in STOP_WORDS)


class Cited:
    """Quotes that statements are held against: a claim, and the sentences that cite it and say much the same.

    So what was found to stand in them is kept, and they are only read for what is not found as it is.
    `find` reads the facts of a text.
    """

    def __init__(self, quotes: tuple[Quote, ...], find: Find) -> None:
        self.quotes = quotes
        self._find = find
        self._texts = [*map(_text_of, quotes)]
        quoted = "\n".join(self._texts)
        self._quoted = f" {plain(quoted).lower()} "  # the first and the last word, too, between blanks
        self._found = {*self._quoted.split()}  # what stands there: words, and what else was looked for
        self._evidence: dict[Sequence[str], Evidence] = {}

    def missing(self, statement: str, told: Told, asked: tuple[str, ...]) -> tuple[Fact, ...]:
        """The facts of `statement` that neither the quotes nor, but for figures, what names them has.

        They are named by their titles, their locators and what was `asked`.
        """
        if told is not None and self._bear(*told):
            return ()
        evidence = self._evidence.get(asked)
        if evidence is None:
            named = (*identity_of(self.quotes), *asked)
            evidence = self._evidence[asked] = Evidence(self._texts, named, find=self._find)
        return evidence.missing(statement)

    def _bear(self, names: set[str], figures: list[str]) -> bool:
        found = self._found
        for value in names.union(figures) - found:
            if not stands(value, self._quoted):
                return False
            found.add(value)
        return True

    def is_related(self, text: str, told: Told) -> bool:
        """Whether a telling word of `text` is in the quotes or titles; two scripts cannot be compared so."""
        # Mostly there is a name.
        if told is not None and any(map(str.isalpha, (told[0] & self._found) - STOP_WORDS)):
            return True
        if not self._words.isdisjoint(letter_runs(text)):  # or a word as it is
            return True
        mine = set(terms(text))
        if len(mine) < _LEAST_TERMS or bool(_WIDE.search(text)) != any(map(_WIDE.search, self._texts)):
            return True
        return not mine.isdisjoint(self._terms)

    @cached_property
    def _words(self) -> frozenset[bytes]:
        return frozenset(letter_runs(" ".join(self._texts))) - _STOP_WORDS

    @cached_property
    def _terms(self) -> frozenset[str]:
        return frozenset(terms("\n".join((*self._texts, *identity_of(self.quotes)))))


def identity_of(quotes: Sequence[Quote]) -> list[str]:
    """What names the sources of `quotes`: titles and locators; they bear out names, ids and dates."""
    return [
        *dict.fromkeys([quote.title for quote in quotes]),
        *dict.fromkeys([quote.locator for quote in quotes]),
    ]
