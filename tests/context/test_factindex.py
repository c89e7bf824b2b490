"""Facts found by what they share are those that a look at each would find."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from orchestra.context.factindex import FEW, FactIndex
from orchestra.context.facts import figures_and_names, same_fact
from orchestra.values.facts import Fact

SAID = (
    "5 March 2024, 2024-03-05, 3/5/2024, March 2024, in 2024, 14:30, 2:30 pm, at 2 pm. ",
    "It took 90 minutes, 1.5 hours, 5,400 s, one hour, 0.5, 50%, 50 percent, -50 %, 1.10, 1.1, v1.10. ",
    "It cost $5m, 5,000,000, 5 million dollars, ¥300, 300 yuan, £12, 12 lb, 3 tons, 3 t, 3-1, 3:1. ",
    "KX-4471, kx4471, A12, 4471, 4,471, the 3rd, three times, 3 times, 2 km, 2,000 m, 2 m, 7 items. ",
    "三个人，3名，2024年3月5日，3.5万，35000，百分之五十，第三，两小时。",
)
VALUES = st.sampled_from(("0", "1", "0.1", "50", "1000000000", "0.333333333333", "1.00000000050", "2024"))
FIGURES = st.builds(
    Fact,
    st.sampled_from(("number", "percent", "money")),
    VALUES,
    VALUES,
    st.sampled_from(("", "%", "m", "km", "USD", "¥", "CNY", "hour", "minute", "ordinal", "times")),
    st.just(0),
    st.just(1),
)
ALL = [fact for text in SAID for fact in figures_and_names(text)]


@given(
    st.lists(st.sampled_from(ALL) | FIGURES, min_size=FEW + 1, max_size=40), st.sampled_from(ALL) | FIGURES
)
@settings(max_examples=600, deadline=None)
def test_the_index_finds_what_a_look_at_each_finds(known: list[Fact], fact: Fact) -> None:
    """For facts of all kinds, read from texts and made up."""
    assert FactIndex(known).has(fact) == any(same_fact(fact, other) for other in known)
