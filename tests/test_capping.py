"""A hand-off never exceeds its cap."""

from __future__ import annotations

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestra.context.tokens import counter_for
from orchestra.session.capping import capped, enveloped
from orchestra.session.outputs import as_json
from orchestra.values.drafts import DraftClaim, DraftQuote, Findings
from orchestra.values.handoffs import Outcome

COUNTER = counter_for("")


def findings(*statements: str) -> Findings:
    quote = DraftQuote(source="s1", text="a quote")
    return Findings(
        claims=tuple(DraftClaim(statement=text, quotes=(quote,)) for text in statements), gaps=("a gap",)
    )


@settings(max_examples=60)
@given(st.text(max_size=400), st.integers(30, 120))
def test_a_text_fits_its_cap(text: str, cap: int) -> None:
    """What is cut says so; what fits is untouched."""
    kept, tokens, left_out = capped(text, cap, COUNTER)
    assert tokens == COUNTER.count(kept)
    assert tokens <= cap + 2, "joining a cut text and its mark may split a token anew"
    assert (kept == text) == (left_out == 0)


@settings(max_examples=60)
@given(
    st.lists(st.text("abc déf 数字", min_size=1, max_size=60), min_size=1, max_size=20), st.integers(80, 400)
)
def test_an_output_loses_its_last_items_first(statements: list[str], cap: int) -> None:
    """Lists are written best first, so what stays is a beginning, and the count of the rest is right."""
    value = findings(*statements)
    kept, tokens, left_out = capped(value, cap, COUNTER)
    assert kept.claims == value.claims[: len(kept.claims)]
    assert left_out == len(value.claims) - len(kept.claims)
    assert tokens <= cap or len(kept.claims) == 1


def test_what_a_model_wrote_is_counted_as_it_wrote_it() -> None:
    """Its own letters count where they fit the cap; where they do not, the value is written anew."""
    value = findings("one statement", "another")
    written = msgspec.json.format(as_json(value), indent=8)
    outcome = Outcome(agent="researcher.1", value=value, text=written, written=written)
    long, short = COUNTER.count(written), COUNTER.count(as_json(value))
    whole, text = enveloped(outcome, "evidence", long, COUNTER, session="s")
    assert (whole.value, whole.tokens, text) == (value, long, written)
    fitted, text = enveloped(outcome, "evidence", short, COUNTER, session="s")
    assert (fitted.value, fitted.tokens, fitted.left_out, text) == (value, short, 0, "")
