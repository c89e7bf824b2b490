"""Findings become a study: what keeps, what is replaced, what goes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from orchestra.values.sources import Quote
from tests.evidence.making import claim, document, handed, ledger_of, study_of

TEA = document(
    "tea.md", "# Tea\n\nA cup of black tea holds about `47 mg` of caffeine. See :pep:`639` for it.", "Tea"
)
MILL = document(
    "mill.md", "The mill sold 11,250 units in 2024.\nIt closed in 2025.", "The old mill of Ashton"
)


def test_a_claim_whose_quote_stands_is_kept() -> None:
    """The quote is located, the statement stays in its own words."""
    study = study_of(
        ledger_of(TEA), claim("Black tea has 47 mg.", ("s1", "A cup of black tea holds about 47 mg"))
    )
    (kept,) = study.claims
    assert kept.text == "Black tea has 47 mg."
    assert kept.quotes == (Quote("tea.md", "Tea", "A cup of black tea holds about `47 mg", 7, 44),)
    assert study.dropped == ()


def test_half_a_character_is_marked_and_counted() -> None:
    """A model may send half of a surrogate pair, which UTF-8 cannot hold: the study goes on without it."""
    quote = ("s1", "A cup of black tea holds about 47 mg")
    study = study_of(ledger_of(TEA), claim("Black tea \ud83d has 47 mg.", quote), gaps=["What of \ude00?"])
    assert [each.text for each in study.claims] == ["Black tea ? has 47 mg."]
    assert study.gaps == ("What of ??",)
    assert handed(study).tokens > 0


def test_a_claim_without_a_quote_goes_and_is_listed() -> None:
    """No quote, a quote that stands nowhere, an unknown label: the claim goes, with the reason."""
    study = study_of(
        ledger_of(TEA),
        claim("Invented.", ("s1", "tea holds no caffeine whatsoever")),
        claim("Unquoted."),
        claim("Elsewhere.", ("s9", "nothing of the kind is here")),
        gaps=["  Nothing on oolong. ", "", "Nothing on oolong."],
    )
    assert study.claims == ()
    assert sum("Claim dropped" in line for line in study.dropped) == 3
    assert any("'s9'" in line for line in study.dropped)
    assert study.gaps == ("Nothing on oolong.",)


def test_a_wrong_label_is_put_right() -> None:
    """Verbatim is proof: a quote from another source of the same agent is kept with its true source."""
    study = study_of(
        ledger_of(TEA, MILL), claim("It sold 11,250.", ("s1", "The mill sold 11,250 units in 2024"))
    )
    assert study.claims[0].quotes[0].locator == "mill.md"


def test_a_statement_with_an_absent_number_gives_way_to_its_quote() -> None:
    """The quote's own words, without markup, stand in for it; the change is listed."""
    study = study_of(
        ledger_of(TEA),
        claim("Black tea has 74 mg.", ("s1", "A cup of black tea holds about `47 mg` of caffeine.")),
    )
    assert study.claims[0].text == "A cup of black tea holds about 47 mg of caffeine."
    assert "74 mg" in study.dropped[0]


def test_names_may_come_from_the_title_and_the_question_but_numbers_may_not() -> None:
    """The source's title names its subject; a figure must be in the quote."""
    good = claim("The mill of Ashton closed in 2025.", ("s1", "It closed in 2025."))
    wrong = claim("The mill of Ashton with 11,250 units closed.", ("s1", "It closed in 2025."))
    study = study_of(ledger_of(MILL), good, wrong)
    assert [kept.text for kept in study.claims] == [
        "The mill of Ashton closed in 2025.",
        "It closed in 2025.",
    ]


def test_an_empty_statement_takes_the_words_of_its_quotes() -> None:
    """An ellipsis between two parts gives two quotes; together they are the statement."""
    study = study_of(ledger_of(MILL), claim(" ", ("s1", "The mill sold 11,250 units … It closed in 2025.")))
    assert len(study.claims[0].quotes) == 2
    assert study.claims[0].text == "The mill sold 11,250 units It closed in 2025."


@given(st.lists(st.tuples(st.text(max_size=40), st.text(max_size=4), st.text(max_size=60)), max_size=5))
def test_whatever_a_model_says_every_quote_is_verbatim(drafts: list[tuple[str, str, str]]) -> None:
    """For any findings: each quote of each kept claim stands at its offsets."""
    texts = {TEA.locator: TEA.text, MILL.locator: MILL.text}
    study = study_of(
        ledger_of(TEA, MILL),
        *(
            claim(statement, (source, text), ("s2", "It closed in 2025."))
            for statement, source, text in drafts
        ),
    )
    assert len(study.claims) == len(drafts)
    for kept in study.claims:
        assert kept.text
        for quote in kept.quotes:
            assert texts[quote.locator][quote.start : quote.end] == quote.text
