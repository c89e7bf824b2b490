"""Facts compared: what another text bears out, and what it does not."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from orchestra.context.facts import Evidence, find_facts, missing_facts, same_fact


def first(text: str) -> object:
    return find_facts(text)[0]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1,250", "1250"),
        ("$1.2M", "1,200,000 dollars"),
        ("12 %", "twelve percent"),
        ("0.24 l", "240 ml"),
        ("90 minutes", "1.5 hours"),
        ("三百五十万元", "3.5 million yuan"),
        ("¥500", "500元"),
        ("47 mg", "47"),
        ("12 months", "one year"),
        ("0.5", "50 %"),
        ("March 5, 2024", "2024年3月5日"),
        ("5 March", "2024-03-05"),
        ("3/5/2024", "5 March 2024"),
        ("in 2024", "2024年"),
        ("3:30 pm", "15:30"),
        ("INV-2041", "inv-2041"),
        ("8名", "8人"),
        ("3:1", "3比1"),
    ],
)
def test_the_same_fact(one: str, other: str) -> None:
    """Spelling, scale, unit of one dimension and language do not matter, either way round."""
    assert same_fact(first(one), first(other))  # type: ignore[arg-type]
    assert same_fact(first(other), first(one))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1,250", "1,251"),
        ("47 mg", "47 ml"),
        ("€5", "$5"),
        ("1.10", "1.1"),
        ("version 3.10", "version 3.1"),
        ("March 5, 2024", "March 6, 2024"),
        ("March 2024", "April 2024"),
        ("Monday", "Tuesday"),
        ("3:30 pm", "3:31 pm"),
        ("PEP 639", "PEP 63"),
        ("the third", "the fourth"),
        ("12 %", "12 km"),
        ("三百五十万", "三百五十"),
        ("8架", "8名"),
        ("3:1", "3:2"),
    ],
)
def test_another_fact(one: str, other: str) -> None:
    """A digit, a unit of another kind, a currency or a scale makes another fact."""
    assert not same_fact(first(one), first(other))  # type: ignore[arg-type]
    assert not same_fact(first(other), first(one))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("statement", "evidence"),
    [
        ("It takes 5 hours.", "a five-hour run"),
        ("In March 2024 Alice paid €30.", "Alice paid 30 euros on 3 March 2024"),
        ("PEP 634 says so.", "see :pep:`634` for it"),
        ("The hook build_wheel is called.", "calls ``build_wheel`` then"),
        ("WHO warned of it.", "the World Health Organization warned"),
        ("On 5 March 2024 it fell.", "In 2024 it fell. The day was 5 March."),
        ("It fell by 5 %.", "a change of -5 %"),
        ("One file is enough.", "a file is enough"),
        ("Python 3.12 has it.", "since Python 3.12, it"),
        ("ParamSpecs may be used.", "a ``ParamSpec``\\ s list"),
        ("订单INV-2041已发货。", "订单号INV-2041的"),
        ("红茶含47毫克。", "black tea has 47 mg"),
    ],
)
def test_what_evidence_bears_out(statement: str, evidence: str) -> None:
    """A statement in other words than its evidence is not doubted."""
    assert missing_facts(statement, [evidence]) == ()


@pytest.mark.parametrize(
    ("statement", "evidence", "missing"),
    [
        ("It takes 6 hours.", "a five-hour run", ["6 hours"]),
        ("Alice paid €30 to Bob Miller.", "Alice paid 30 euros", ["Bob Miller"]),
        ("PEP 635 says so.", "see :pep:`634`", ["PEP 635"]),
        ("Version 3.1 has it.", "since version 3.10", ["3.1"]),
        ("On Monday it fell.", "on Tuesday it fell", ["Monday"]),
        ("About 3.4 million people.", "3,500,000 people", ["3.4 million"]),
        ("共三百六十万元。", "三百五十万元", ["三百六十万元"]),
        ("It is 1.2.post7.", "it is 1.2.post0", ["7"]),
        ("订单INV-2042已发货。", "订单号INV-2041的", ["INV-2042"]),
        ("Use grams_per_247_ml.", "use grams_per_240_ml", ["grams_per_247_ml"]),
    ],
)
def test_what_evidence_does_not_have(statement: str, evidence: str, missing: list[str]) -> None:
    """What is invented or altered is named."""
    assert [fact.text for fact in missing_facts(statement, [evidence])] == missing


def test_identity_bears_out_names_and_dates_but_no_number() -> None:
    """Titles, locators and the question may name the subject; figures must stand in the evidence itself."""
    statement = "PEP 639 of 2024 by Alice Smith has 12 keys."
    missing = missing_facts(
        statement, ["it has keys"], identity=["pep-0639.rst", "12 keys, Alice Smith, 2024"]
    )
    assert [fact.text for fact in missing] == ["12"]


@given(
    st.integers(2, 10**9),
    st.lists(st.integers(0, 10**9), max_size=5),
    st.sampled_from(["{}", "{:,}", "${}", "{} mg", "共{}元", "v{}", "x{}y", "{}.post{}"]),
)
def test_no_number_passes_that_is_not_there(number: int, there: list[int], frame: str) -> None:
    """For any number and any evidence without it, the statement is not borne out."""
    assume(number not in there)
    evidence = Evidence([f"the values are {', '.join(str(value) for value in there)}"])
    assert evidence.missing("the value is " + frame.format(number, number))


@pytest.mark.parametrize(
    ("statement", "evidence", "missing"),
    [
        ("It fell by .5 percent.", "It fell by 5 percent.", [".5 percent"]),
        ("It takes (.5 kg) more.", "It takes (5 kg) more.", [".5 kg"]),
        ("Up to .5.", "Up to 5.", [".5"]),
        ("It costs $.50 now.", "It costs $50 now.", ["$.50"]),
        ("It rose ...5 times.", "It rose 5 times.", []),
        ("It fell by .5 percent.", "It fell by .5 percent.", []),
        ("It fell by .5 percent.", "It fell by 0.5%.", []),
    ],
)
def test_a_point_before_a_figure_belongs_to_it(statement: str, evidence: str, missing: list[str]) -> None:
    """It is no mark beside the figure, as a bracket is."""
    assert [fact.text for fact in missing_facts(statement, [evidence])] == missing


@given(st.text(max_size=120))
def test_a_text_bears_itself_out(text: str) -> None:
    """For any text: it has all of its own facts."""
    assert missing_facts(text, [text]) == ()
