"""What a statement says that other texts do not bear out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cached_property

from orchestra.context.dates import date_parts
from orchestra.context.facts import HARD, SPLIT, figures_and_names, plain, same_fact
from orchestra.context.names import COMMON
from orchestra.values.facts import Fact, FactKind

Find = Callable[[str], list[Fact]]
_COMPARED: frozenset[FactKind] = HARD | {"name"}
_DIGITS = re.compile(r"[0-9]+")
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
_GAP = r"[\W_]{0,6}"  # what may stand between the groups of an id: a hyphen, markup, a line break


def missing_facts(
    statement: str, evidence: Iterable[str], *, identity: Iterable[str] = (), find: Find | None = None
) -> tuple[Fact, ...]:
    """The figures, dates, ids and names of `statement` that no text of `evidence` has.

    `identity`: titles, locators, the question: they bear out names, ids and dates, never a number.
    `find`: `figures_and_names`, or one that remembers what it read.
    """
    return Evidence(evidence, identity, find=find).missing(statement)


class Evidence:
    """Texts, read once, that statements are held against."""

    def __init__(
        self, texts: Iterable[str], identity: Iterable[str] = (), *, find: Find | None = None
    ) -> None:
        self._find = find or figures_and_names
        quoted = "\n".join(plain(text) for text in texts)
        named = "\n".join(plain(text) for text in identity)
        self._evidence = quoted
        self._identity = named
        self._quoted = quoted.lower()
        self._whole = f"{quoted}\n{named}".lower()
        self._original = f"{quoted}\n{named}"
        self._words: frozenset[str] | None = None

    @cached_property
    def _facts(self) -> list[Fact]:
        return [fact for fact in self._find(self._evidence) if fact.kind in HARD]

    @cached_property
    def _named(self) -> list[Fact]:
        return [fact for fact in self._find(self._identity) if fact.kind in HARD]

    def missing(self, statement: str) -> tuple[Fact, ...]:
        """The facts of `statement` that these texts do not have."""
        facts = [fact for fact in self._find(statement) if fact.kind in _COMPARED]
        return tuple(fact for fact in (*facts, *_stray_digits(statement, facts)) if not self.has(fact))

    def has(self, fact: Fact) -> bool:
        """Whether one of the texts has `fact`."""
        if fact.kind == "name":
            return self._has_name(fact.value)
        if fact.kind in ("url", "email"):
            return fact.value in self._whole
        if fact.kind == "id":
            return self._has_id(fact)
        if any(same_fact(fact, other) for other in self._facts):
            return True
        if fact.kind == "date":
            return self._has_date(fact)
        return fact.kind != "time" and self._has_small(fact)

    def _has_date(self, fact: Fact) -> bool:
        """By its parts: "5 March 2024" where one place names the day and another the year."""
        dates = [other for other in (*self._facts, *self._named) if other.kind == "date"]
        if any(same_fact(fact, other) for other in (*dates, *self._named)):
            return True
        parts = date_parts(fact.value)
        year = parts.pop("year", None)
        if year is None or not parts:
            return False
        known = [date_parts(other.value) for other in dates]
        return any(date.get("year") == year for date in known) and any(
            "year" not in date and parts.items() <= date.items() for date in known
        )

    def _has_small(self, fact: Fact) -> bool:
        """One and zero have other words, and a number may be part of an id (`3.12` in Python 3.12)."""
        if fact.value == "1":
            return re.search(r"\b(?:a|an|one|once|single|first|1)\b|[一单首]", self._quoted) is not None
        if fact.value == "0":
            return re.search(r"\b(?:no|none|zero|nil|never)\b|[无零没]", self._quoted) is not None
        if fact.unit == "" and _stands(fact.text.strip().lower(), self._quoted):
            return True
        written = re.escape(fact.text.strip().lower())
        return (
            fact.unit == ""
            and re.search(rf"(?<![A-Za-z0-9_.,]){written}(?![A-Za-z0-9_]|[.,]\d)", self._quoted) is not None
        )

    def _has_id(self, fact: Fact) -> bool:
        """The same letters and digits in the same order, whatever stands between; a plural passes."""
        if not SPLIT.search(fact.value):
            return fact.value in self._whole
        if _stands(fact.value, self._whole):
            return True
        forms = [fact.value, fact.value.removesuffix("s"), fact.value.removesuffix("es")]
        return any(re.search(_id_pattern(form), self._whole) for form in dict.fromkeys(forms) if form)

    def _has_name(self, name: str) -> bool:
        if name in self._whole:
            return True
        words = self._all_words()
        return all(self._has_word(word, words) for word in _WORD.findall(name) if word not in COMMON)

    def _has_word(self, word: str, words: frozenset[str]) -> bool:
        bare = word.removesuffix("'s")
        if bare in words or bare.removesuffix("s") in words or f"{bare}s" in words or len(bare) == 1:
            return True
        if not bare.isascii():
            return bare in self._whole
        return self._is_acronym(bare) or (
            len(bare) > 5 and any(known.startswith(bare[:-2]) for known in words)
        )

    def _is_acronym(self, word: str) -> bool:
        """WHO for World Health Organization."""
        if not 2 <= len(word) <= 6:
            return False
        initials = "".join(match[0] for match in re.findall(r"\b[A-Z]", self._original)).lower()
        return len(word) >= 2 and word in initials

    def _all_words(self) -> frozenset[str]:
        if self._words is None:
            found = _WORD.findall(self._whole)
            self._words = frozenset(found) | frozenset(word.removesuffix("'s") for word in found)
        return self._words


def _stands(value: str, text: str) -> bool:
    """Whether `value` stands in `text` as it is, touching no letter, digit or point: the usual case."""
    at = text.find(value) if value else -1
    while at >= 0:
        before, after = text[at - 1 : at], text[at + len(value) : at + len(value) + 2]
        apart = not (before.isalnum() or before in ("_", ".", ",")) or at == 0
        if apart and not (
            after[:1].isalnum() or after[:1] == "_" or (after[:1] in (".", ",") and after[1:].isdigit())
        ):
            return True
        at = text.find(value, at + 1)
    return False


def _stray_digits(statement: str, facts: Iterable[Fact]) -> Iterable[Fact]:
    """Digits that belong to no fact (odd version numbers, formulas): they too must stand in the evidence."""
    even = plain(statement)
    covered = bytearray(len(even))
    for fact in facts:
        covered[fact.start : fact.end] = b"\x01" * (fact.end - fact.start)
    for match in _DIGITS.finditer(even):
        if not any(covered[match.start() : match.end()]):
            yield Fact("id", statement[match.start() : match.end()], match[0], "", *match.span())


def _id_pattern(value: str) -> str:
    groups = SPLIT.findall(value)
    if len(groups) == 1 and value.isdigit():
        return rf"(?<!\d)0*{value.lstrip('0') or '0'}(?!\d)"
    if all(group.isdigit() for group in groups):
        return r"(?<![A-Za-z0-9_.])v?" + re.escape(value) + r"(?![A-Za-z0-9_]|\.\d)"
    stripped = [f"0*{group.lstrip('0')}" if group.isdigit() else re.escape(group) for group in groups]
    return rf"(?<![A-Za-z0-9]){_GAP.join(stripped)}(?![A-Za-z0-9])"
