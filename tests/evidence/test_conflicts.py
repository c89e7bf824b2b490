"""Conflicts: different values for the same thing, and few false alarms."""

from __future__ import annotations

import pytest

from orchestra.values.handoffs import Study
from orchestra.values.sources import Claim, Quote
from tests.evidence.making import brief_of


def conflicts(*texts: str, same_document: bool = False) -> list[str]:
    claims = tuple(
        Claim("", text, (Quote("a.md" if same_document else f"{at}.md", "T", text, at, at + len(text)),))
        for at, text in enumerate(texts)
    )
    return [conflict.about for conflict in brief_of(Study("What?", claims)).conflicts]


@pytest.mark.parametrize(
    ("one", "other", "about"),
    [
        (
            "A 240 ml cup of black tea contains about 47 mg of caffeine.",
            "A 240 ml cup of black tea contains about 65 mg of caffeine.",
            "47 mg / 65 mg",
        ),
        (
            "An average 240 ml cup of brewed black tea holds about 47 mg of caffeine, half that of coffee.",
            "Measured over 12 brands, a 240 ml cup of black tea has roughly 65 mg of caffeine.",
            "47 mg / 65 mg",
        ),
        (
            "The Dutch East India Company brought its first cargo of tea to Europe in 1610.",
            "The Dutch East India Company brought its first cargo of tea to Europe in 1606.",
            "1610 / 1606",
        ),
        (
            "The old mill of Ashton employs 120 workers.",
            "The old mill of Ashton employs 210 workers.",
            "120 / 210",
        ),
        ("一杯240毫升的红茶约含47毫克咖啡因。", "一杯240毫升的红茶约含65毫克咖啡因。", "47毫克 / 65毫克"),
        (
            "The bridge at Ashton cost $3 million to build.",
            "The bridge at Ashton cost 5 million dollars to build.",
            "$3 million / 5 million dollars",
        ),
    ],
)
def test_the_same_thing_with_another_value(one: str, other: str, about: str) -> None:
    """Same subject, same unit, another number or year: a conflict that names both values."""
    assert conflicts(one, other) == [about]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "A 240 ml cup of black tea contains 47 mg of caffeine.",
            "A 240 ml cup of green tea contains 29 mg of caffeine.",
        ),
        (
            "A 240 ml cup of black tea contains 47 mg of caffeine.",
            "A 100 ml cup of black tea contains 20 mg of caffeine.",
        ),
        (
            "A cup of black tea contains 47 mg of caffeine.",
            "A cup of black tea contains 40 to 90 mg of caffeine.",
        ),
        (
            "A cup of black tea contains 47 mg of caffeine.",
            "A cup of black tea contains 0.047 g of caffeine.",
        ),
        ("The mill sold 120 tons of tea in 2023.", "The mill sold 140 tons of tea in 2024."),
        ("The mill at Ashton employs 120 workers.", "The mill at Milton employs 210 workers."),
        (
            "Tea may contain at most 0.4 per cent caffeine in dry leaf.",
            "Dry tea leaf contains 4 per cent caffeine.",
        ),
        ("The tea leaf holds 4 per cent caffeine.", "The tea leaf holds 12 mg of fluoride."),
        ("PEP 517 defines two mandatory build hooks.", "PEP 660 defines three mandatory build hooks."),
        ("Resolution: 17-Jul-2024.", "Resolution: 05-Jun-2025."),
        ("一杯240毫升的红茶约含47毫克咖啡因。", "一杯240毫升的绿茶约含29毫克咖啡因。"),
    ],
)
def test_what_is_no_conflict(one: str, other: str) -> None:
    """Another kind, size, year, place or id; a range that holds the value; a limit; another substance."""
    assert conflicts(one, other) == []


def test_one_document_does_not_contradict_itself() -> None:
    """Two figures of one document are its own matter (two years, two cases)."""
    texts = (
        "A 240 ml cup of black tea contains 47 mg of caffeine.",
        "A 240 ml cup of black tea contains 65 mg of caffeine.",
    )
    assert conflicts(*texts, same_document=True) == []


def test_both_sides_stay_when_room_is_short() -> None:
    """Claims in a conflict go first, so that the conflict is not lost to the cap."""
    filler = [f"Filler number {at} says something of no great weight here." for at in range(20)]
    sides = [
        "A 240 ml cup of black tea contains 47 mg of caffeine.",
        "A 240 ml cup of black tea contains 65 mg of caffeine.",
    ]
    texts = (*filler, *sides)
    claims = tuple(
        Claim("", text, (Quote(f"{at}.md", "T", text, 0, len(text)),)) for at, text in enumerate(texts)
    )
    brief = brief_of(Study("What?", claims), cap=350)
    assert len(brief.claims) < 12
    (conflict,) = brief.conflicts
    named = [claim.text for claim in brief.claims if claim.id in conflict.claims]
    assert named == sides
