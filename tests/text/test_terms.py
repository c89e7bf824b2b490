"""Terms are what two texts have in common when they speak of the same thing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestra.text.terms import LONGEST, query_terms, terms


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("generators", "generator"),
        ("Licences", "license"),
        ("organised", "organize"),
        ("behaviour", "behaviors"),
        ("naïve Café", "naive cafe"),
        ("Guido's", "Guido"),
        ("don’t raise", "raises"),
        ("1,000", "1000"),
        ("ＡＢＣ　１２", "abc 12"),
        ("license-files", "license-file"),
        ("Free-Threaded", "free-threading"),
    ],
)
def test_forms_of_a_word_meet(one: str, other: str) -> None:
    """Endings, spelling, accents, width and case do not part them."""
    assert terms(one) == terms(other)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("__anext__", ["__anext__", "anext"]),
        ("build_wheel", ["build_wheel", "build", "wheel"]),
        ("except*", ["except*", "except"]),
        ("pyproject.toml", ["pyproject.toml", "pyproject", "toml"]),
        ("ExceptionGroup", ["exceptiongroup", "except", "group"]),
        ("NotRequired", ["notrequir", "requir"]),
        ("HTTPServer", ["httpserver", "http", "server"]),
        ("C++ and C#", ["c++", "c#"]),
        ("pep-0517", ["pep-0517", "pep", "517"]),
        ("10% in 3.11", ["10%", "10", "3.11"]),
        ("*emphasis* **strong**", ["emphasi", "strong"]),
    ],
)
def test_names_are_found_whole_and_by_parts(name: str, expected: list[str]) -> None:
    """A question may write the name or its words."""
    assert terms(name) == expected


def test_scripts_without_spaces_become_pairs() -> None:
    """A single character only where it stands alone; numbers and Latin words between them stay whole."""
    assert terms("潮汐能 240兆瓦") == ["潮汐", "汐能", "240", "兆瓦"]
    assert terms("猫") == ["猫"]
    assert terms("データを") == ["デー", "ータ", "タを"]


def test_a_question_leaves_out_what_every_question_has() -> None:
    """Question words, repeats, and Japanese particles where there is more to go by."""
    assert query_terms("What is what, and how does a wheel build a wheel?") == ["wheel", "build"]
    assert "です" not in query_terms("潮力発電とはなにですか")
    assert query_terms("です") == ["です"]


@given(st.text())
def test_terms_are_short_single_and_stay_what_they_are(text: str) -> None:
    """No term is empty, long, or holds a blank; the same text gives the same terms."""
    found = terms(text)
    assert all(0 < len(term) <= LONGEST + 1 and not term.isspace() and " " not in term for term in found)
    assert found == terms(text)
    assert set(query_terms(text)) <= set(found)


@given(st.text(alphabet="abcXYZ019 ,.-'#%+_()/\n\t\x1f", max_size=60))
def test_cut_word_by_word_is_cut_as_a_whole(text: str) -> None:
    """Words that are cut one by one, and remembered, give the terms of the whole text."""
    assert terms(text) == terms(f"{text} é")[:-1]
