"""What screening leaves out, the full rules would not find either."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from orchestra.evidence.likeness import Reading, disagreement, find_conflicts, is_duplicate
from orchestra.evidence.screening import Statements, worded
from orchestra.values.sources import Claim, Quote

NUMBERS = (
    "3",
    "12",
    "47",
    "65",
    "240",
    "1,037",
    "2.5",
    "1610",
    "2023",
    "0517",
    "5%",
    "3.5 %",
    "7-9",
    "3:1",
    "$4",
)
WORDS = (
    *"the tea mill bridge queue of at a old black green Ashton Milton Site R1 R2 holds costs bags".split(),
    *"in Q3 May twice three kg mg per hour USD EUR million k tons PEP 517 version workers".split(),
    *"(about) limit not - ; 茶 *big*".split(),
)
PIECES = st.sampled_from((*NUMBERS, *WORDS, *WORDS))
FORMS = (
    "With {} entries in its queue, Site R{} could take {} requests a minute.",
    "The old mill of Ashton employs {} workers in {}.",
    "A {} ml cup of black tea contains about {} mg of caffeine; green tea has {}.",
    "The bridge at Ashton cost {} million to build ({}).",
    "Tea of the old mill (Ashton) sells at {} USD a bag - {} EUR in {}.",
    "一杯{}毫升的红茶约含{}毫克咖啡因。",
)
STATEMENTS = st.one_of(
    st.lists(PIECES, min_size=1, max_size=12).map(" ".join),
    st.tuples(st.sampled_from(FORMS), st.lists(st.sampled_from(NUMBERS), min_size=3, max_size=3)).map(
        lambda made: made[0].format(*made[1])
    ),
)
SPANS = st.tuples(st.sampled_from("abcd"), st.integers(0, 3), st.integers(20, 40))


@st.composite
def claims(draw: st.DrawFn) -> list[Claim]:
    made = draw(st.lists(st.tuples(STATEMENTS, st.lists(SPANS, min_size=1, max_size=2)), max_size=7))
    return [
        Claim("", text, tuple(Quote(name, "T", text, start, start + size) for name, start, size in spans))
        for text, spans in made
    ]


def statements_of(readings: list[Reading]) -> Statements:
    statements = Statements()
    for reading in readings:
        statements.add(reading.words, reading.clauses, reading.claim.quotes)
    return statements


@given(claims())
@settings(max_examples=300)
def test_the_conflicts_are_those_of_every_two_claims(given_claims: list[Claim]) -> None:
    """For any claims: the same pairs, in the same order, as when the facts of all are read."""
    readings = [Reading(claim) for claim in given_claims]
    every = [
        (before, at, about)
        for at, later in enumerate(readings)
        for before, earlier in enumerate(readings[:at])
        if len(earlier.words & later.words) >= 2 and earlier.locators.isdisjoint(later.locators)
        if (about := disagreement(earlier, later))
    ]
    assert list(find_conflicts(readings, statements_of(readings))) == every


@given(claims())
@settings(max_examples=200)
def test_every_duplicate_is_near(given_claims: list[Claim]) -> None:
    """For any claims: what the full rule calls a duplicate is among those that are looked at."""
    readings = [Reading(claim) for claim in given_claims]
    statements = Statements()
    for at, later in enumerate(readings):
        near = list(statements.twins(later.words, len(later.terms), later.claim.quotes))
        assert near == sorted(near)
        assert {before for before in range(at) if is_duplicate(readings[before], later)} <= set(near)
        statements.add(later.words, later.clauses, later.claim.quotes)


@given(claims())
def test_a_measure_has_the_words_it_was_said_to_have(given_claims: list[Claim]) -> None:
    """Of a statement that need not be read, each measure has all words of a clause that may measure."""
    for claim in given_claims:
        reading = Reading(claim)
        if reading.clauses is not None:
            for measure in reading.measures:
                assert any(held <= measure.words for held in reading.clauses) or len(measure.words) < 3


def test_claims_about_other_things_are_not_read() -> None:
    """Nine sites with a load each share most of their words; not one has its facts read."""
    read: list[str] = []
    statement = "With {} entries in its queue, Site R{} could take {} requests a minute."
    readings = [
        Reading(
            Claim("", statement.format(20 + at, at, 1_000 + at), (Quote(f"{at}.md", "T", "x", 0, 1),)),
            lambda text: read.append(text) or [],  # type: ignore[func-returns-value]
        )
        for at in range(9)
    ]
    assert list(find_conflicts(readings, statements_of(readings))) == []
    assert not any(is_duplicate(one, other) for one, other in combinations(readings, 2))
    assert read == []


def test_what_has_to_be_read() -> None:
    """Numbers with a unit, in words, in dates or in signs of money; not numbers that stand alone."""
    assert worded("A cup holds 47 mg.")[1] is None
    assert worded("It has three wheels and 20 spokes.")[1] is None
    assert worded("It opened on 5 May.")[1] is None
    assert worded("It cost 300 EUR.")[1] is worded("It cost EUR 300.")[1] is None
    assert worded("The old mill of Ashton stands.")[1] == []
    clauses = worded("It is small, but the mill of Ashton employs 120 workers.")[1]
    assert clauses == [frozenset({"mill", "ashton", "employ", "worker"})]
