"""What is kept of quotes from one statement to the next changes no answer."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from orchestra.context.facts import figures_and_names, missing_facts
from orchestra.context.plainly import told_plainly
from orchestra.evidence.cited import Cited, identity_of
from orchestra.values.sources import Quote

WORDS = """Site R1 R2 the mill of Ashton employs 120 workers workers. 20 per cent 5% 1,000 requests a minute,
    A minute. Most (about) three May 5 PEP 517 .5 2.5 LA Los Angeles tea d3 in In 茶 not""".split()
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=9).map(" ".join)
QUOTES = st.lists(TEXTS, min_size=1, max_size=2).map(
    lambda texts: tuple(
        Quote(f"{at}.md", "The mill of Milton", text, 0, len(text)) for at, text in enumerate(texts)
    )
)
ASKED = ("How does Site R2 do in May?",)


@given(QUOTES, st.lists(TEXTS, max_size=6))
@settings(max_examples=300)
def test_a_statement_lacks_what_it_would_lack_alone(quotes: tuple[Quote, ...], statements: list[str]) -> None:
    """For any statements, one after the other: the facts that the full rules miss, and no others."""
    cited = Cited(quotes, figures_and_names)
    texts, named = [quote.text for quote in quotes], [*identity_of(quotes), *ASKED]
    for statement in statements:
        missing = cited.missing(statement, told_plainly(statement), ASKED)
        assert missing == missing_facts(statement, texts, identity=named)


@given(QUOTES, st.lists(TEXTS, max_size=6))
@settings(max_examples=200)
def test_a_statement_is_related_as_it_would_be_alone(
    quotes: tuple[Quote, ...], statements: list[str]
) -> None:
    """For any statements: a name that was found says no more than a look at all words does."""
    cited = Cited(quotes, figures_and_names)
    for statement in statements:
        told = told_plainly(statement)
        cited.missing(statement, told, ASKED)
        related = Cited(quotes, figures_and_names).is_related(statement, None)
        assert cited.is_related(statement, told) == related
