"""A draft becomes a report: each sentence held to the quotes it cites."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from orchestra.evidence.verify import check_draft
from orchestra.values.drafts import Draft, DraftSentence
from orchestra.values.report import Report
from orchestra.values.sources import Document
from tests.evidence.making import brief_of, claim, document, ledger_of, section, sentence, study_of

TEA = document("tea.md", "A cup of black tea holds about 47 mg of caffeine.", "Tea by Alice Smith")
MILK = document("milk.md", "Milk softens the taste.\nIt was first added in 1680.", "Milk in tea")
LEDGER = ledger_of(TEA, MILK)
BRIEF = brief_of(
    study_of(
        LEDGER,
        claim("Black tea has 47 mg.", ("s1", "A cup of black tea holds about 47 mg of caffeine.")),
        claim("Milk softens it.", ("s2", "Milk softens the taste.")),
        claim("Milk came in 1680.", ("s2", "It was first added in 1680.")),
        gaps=["Nothing on oolong."],
    ),
    question="What is in tea, says Bob Miller?",
)


def checked(
    *sentences: DraftSentence, strict: bool = False, summary: tuple[DraftSentence, ...] = ()
) -> Report:
    draft = Draft(title="Tea", summary=summary, sections=(section("On tea", *sentences),))
    return check_draft(draft, BRIEF, ledger=LEDGER, strict=strict)


def only(text: str, *claims: str) -> tuple[bool, str, tuple[int, ...]]:
    (shown,) = checked(sentence(text, *claims)).sections[0].sentences
    return shown.supported, shown.problem, shown.citations


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("A cup of black tea has 47 mg of caffeine.", ("c1",)),
        ("Black tea has 0.047 g of caffeine.", ("C1", "[c1]")),
        ("Alice Smith finds 47 mg of caffeine in black tea.", ("c1",)),
        ("Bob Miller asks for the 47 mg.", ("c1",)),
        ("Milk, added since 1680, softens the taste of tea with 47 mg.", ("c1", "c2", "c3")),
        ("Milk softens the taste [c2].", ("c2",)),
        ("Short.", ("c2",)),
        ("牛奶于1680年首次加入。", ("c3",)),
    ],
)
def test_what_is_supported(text: str, claims: tuple[str, ...]) -> None:
    """Every figure, date and name stands in the quotes; names also in titles and question."""
    assert only(text, *claims)[:2] == (True, "")


@pytest.mark.parametrize(
    ("text", "claims", "problem"),
    [
        ("Black tea has 48 mg of caffeine.", ("c1",), "48 mg"),
        ("Black tea has 47 ml of caffeine.", ("c1",), "47 ml"),
        ("Milk came in 1681.", ("c3",), "1681"),
        ("Carla Jones says that milk softens the taste.", ("c2",), "Carla Jones"),
        ("Black tea has 47 mg of caffeine.", ("c2",), "47 mg"),
        ("Black tea has 47 mg of caffeine.", (), "no source"),
        ("Black tea has 47 mg of caffeine.", ("c1", "c99"), "c99"),
        ("Ships cross every ocean without fear.", ("c1",), "no word in common"),
        ("红茶含48毫克咖啡因。", ("c1",), "48毫克"),
    ],
)
def test_what_is_not_supported(text: str, claims: tuple[str, ...], problem: str) -> None:
    """An invented figure, unit, date or name; no citation; one never handed over; another subject."""
    supported, said, _ = only(text, *claims)
    assert not supported
    assert problem in said


def test_unsupported_sentences_are_marked_or_removed() -> None:
    """Marked by default; strict takes them out, lists them, drops empty sections and their references."""
    good, bad = sentence("Milk softens the taste.", "c2"), sentence("Tea has 99 mg.", "c1")
    report = checked(good, bad)
    assert [shown.supported for shown in report.sections[0].sentences] == [True, False]
    assert (report.supported_share, report.removed) == (0.5, ())
    strict = checked(good, bad, strict=True)
    assert [shown.text for shown in strict.removed] == ["Tea has 99 mg."]
    assert [reference.locator for reference in strict.references] == ["milk.md"]
    assert strict.supported_share == 1.0
    assert checked(bad, strict=True).sections == ()


def test_references_are_numbered_in_order_of_first_citation() -> None:
    """The summary comes first; a source has one number and all its cited quotes, at their offsets."""
    report = checked(
        sentence("Black tea has 47 mg.", "c1", "c2"), summary=(sentence("It came in 1680.", "c3", "c3"),)
    )
    assert [(one.n, one.locator) for one in report.references] == [(1, "milk.md"), (2, "tea.md")]
    assert report.summary[0].citations == (1,)
    assert report.sections[0].sentences[0].citations == (2, 1)
    assert [quote.text for quote in report.references[0].quotes] == [
        "It was first added in 1680.",
        "Milk softens the taste.",
    ]
    assert report.references[0].source.startswith("sha256:")


def test_a_quote_that_was_tampered_with_supports_nothing() -> None:
    """Each quote is looked up again at its offsets in the ledger's source."""
    quote = msgspec.structs.replace(
        BRIEF.claims[0].quotes[0], text="A cup of black tea holds about 99 mg of caffeine."
    )
    forged = msgspec.structs.replace(BRIEF.claims[0], quotes=(quote,))
    brief = msgspec.structs.replace(BRIEF, claims=(forged,))
    draft = Draft(
        title="T", summary=(), sections=(section("S", sentence("Tea has 99 mg of caffeine.", "c1")),)
    )
    report = check_draft(draft, brief, ledger=LEDGER)
    assert not report.sections[0].sentences[0].supported
    assert report.references == ()


def test_an_empty_draft_is_an_empty_report() -> None:
    """No sections, no sentences, blank texts: nothing is supported, gaps stay, the title falls back."""
    report = check_draft(
        Draft(title=" ", summary=(sentence("  "),), sections=(section("S"),)), BRIEF, ledger=LEDGER
    )
    assert (report.summary, report.sections, report.references) == ((), (), ())
    assert (report.supported_share, report.gaps) == (0.0, ("Nothing on oolong.",))
    assert report.title == "Title"


def test_a_sentence_with_forty_claims_and_doubles() -> None:
    """Citations appear once each, however often they are named."""
    (shown,) = checked(sentence("Milk softens the taste.", *["c2", "c1", "c3"] * 14)).sections[0].sentences
    assert shown.citations == (1, 2)
    assert shown.supported


def test_conflicts_are_told_in_the_language_of_the_question() -> None:
    """Both sides with what they say and where."""
    sources: list[Document] = [
        document(f"{at}.md", f"A 240 ml cup of black tea contains about {mg} mg of caffeine.")
        for at, mg in ((1, 47), (2, 65))
    ]
    ledger = ledger_of(*sources)
    study = study_of(ledger, *(claim(source.text, (source.locator, source.text)) for source in sources))
    for question, opening in (
        ("How much?", "Sources disagree: 1.md says"),
        ("红茶有多少咖啡因？", "来源不一致：1.md 称"),
    ):
        report = check_draft(
            Draft(title="T", summary=(), sections=()), brief_of(study, question=question), ledger=ledger
        )
        (told,) = report.conflicts
        assert told.startswith(opening)
        assert "47 mg" in told
        assert "65 mg" in told


def test_words_are_counted_without_references() -> None:
    """Title, summary and sections; a Chinese character is a word."""
    report = checked(sentence("Milk softens tea's taste.", "c2"), summary=(sentence("加奶2次。", "c2"),))
    assert report.words == 1 + 2 + 4 + 4


@given(
    st.integers(0, 10**6),
    st.sampled_from(["Tea has {} mg.", "It took {:,} cups of tea.", "茶有{}毫克。", "{} % of tea."]),
)
def test_no_number_passes_that_no_quote_has(number: int, frame: str) -> None:
    """For any number but the quoted ones, with any citations: the sentence is not supported."""
    assume(number not in (47, 1680, 1, 0))
    report = checked(sentence(frame.format(number), "c1", "c2", "c3"))
    assert not report.sections[0].sentences[0].supported


@given(
    st.lists(
        st.tuples(
            st.text(max_size=40), st.lists(st.sampled_from(["c1", "c2", "c3", "c4", "", "x"]), max_size=4)
        ),
        max_size=6,
    ),
    st.booleans(),
)
def test_whatever_a_writer_says_the_report_is_sound(
    drafted: list[tuple[str, list[str]]], strict: bool
) -> None:
    """For any draft: citations lead to references, quotes are verbatim, strict shows only the supported."""
    report = checked(*(sentence(text, *claims) for text, claims in drafted), strict=strict)
    shown = [one for part in report.sections for one in part.sentences]
    numbers = [reference.n for reference in report.references]
    assert numbers == list(range(1, len(numbers) + 1))
    assert {number for one in shown for number in one.citations} == set(numbers)
    texts = {"tea.md": TEA.text, "milk.md": MILK.text}
    for reference in report.references:
        for quote in reference.quotes:
            assert texts[reference.locator][quote.start : quote.end] == quote.text
    assert not strict or all(one.supported for one in shown)
    assert all(one.problem for one in (*shown, *report.removed) if not one.supported)
