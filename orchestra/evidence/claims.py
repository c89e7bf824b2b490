"""A researcher's findings, checked: each quote located, each statement held against its quotes."""

from __future__ import annotations

import re
from collections.abc import Iterable

from orchestra.context.plainly import told_plainly
from orchestra.evidence.ledger import Ledger
from orchestra.text.fold import clean_line, one_line
from orchestra.values.drafts import DraftClaim, DraftQuote, Findings
from orchestra.values.handoffs import Study
from orchestra.values.sources import Claim, Quote

_MOST_SHOWN = 160  # characters of a text that stands in a note
_LONGEST_STATEMENT = 600  # characters of quotes that may stand in for a statement
_INLINE = re.compile(
    r"``(.+?)``|`([^`\n]+)`_{0,2}|\*\*(?=\S)(.+?)(?<=\S)\*\*|(?<!\w)\*(?=[^\s*])([^*\n]+?)\*(?!\w)", re.DOTALL
)
_ROLE = re.compile(r":([a-z]{2,8}):`~?([^`<]+)(?: <[^`>]*>)?`")
_LINK = re.compile(r"!?\[([^\]\n]{1,200})\]\([^()\s]{1,500}\)")
_EDGE = re.compile(r"^\s*(?:#{1,6}|[-*+•>]|\d{1,3}[.)])\s+|\s*[,;:]\s*$")


def check_findings(findings: Findings, *, ledger: Ledger, agent: str, question: str) -> Study:
    """`findings` as a study: claims whose quotes stand verbatim in sources of this session.

    A quote is looked for in the source that it names, then in the agent's others: verbatim is proof, a wrong
    label is not. A claim without any quote left goes. A statement with a figure, date, id or name that its
    quotes do not have gives way to the quotes' own words. Each such change is a line of `dropped`. Claims
    have no ids yet; the brief gives them.
    """
    claims: list[Claim] = []
    notes: list[str] = []
    for draft in findings.claims:
        quotes = _located(draft, ledger, agent, notes)
        if not quotes:
            notes.append(f"Claim dropped, none of its quotes stands in a source: {_shown(draft.statement)}")
            continue
        statement = clean_line(draft.statement)
        missing = ledger.cited(quotes).missing(statement, told_plainly(statement), (question,))
        if missing or not statement:
            own = own_words(quotes)
            if missing:
                named = ", ".join(fact.text for fact in missing)
                notes.append(
                    f"Statement replaced by its quote, which does not have {named}: {_shown(statement)}"
                )
            statement = own
        claims.append(Claim("", statement, quotes, question))
    gaps = tuple(dict.fromkeys(filter(None, map(clean_line, findings.gaps))))
    return Study(question, tuple(claims), gaps, tuple(notes))


def own_words(quotes: tuple[Quote, ...]) -> str:
    """The quotes as one statement, without markup."""
    words = ""
    for quote in quotes:
        piece = _without_markup(quote.text)
        if words and len(words) + len(piece) > _LONGEST_STATEMENT:
            break
        words = f"{words} {piece}".strip()
    return words


def _located(draft: DraftClaim, ledger: Ledger, agent: str, notes: list[str]) -> tuple[Quote, ...]:
    found: list[Quote] = []
    for draft_quote in draft.quotes:
        quotes = _locate(draft_quote, ledger, agent)
        if not quotes:
            notes.append(
                f"Quote dropped, it does not stand in {draft_quote.source!r}: {_shown(draft_quote.text)}"
            )
        found += quotes
    return tuple(found) if len(found) < 2 else _each_once(found)


def _each_once(quotes: Iterable[Quote]) -> tuple[Quote, ...]:
    """The first quote of each place."""
    found: dict[tuple[str, int, int], Quote] = {}
    for quote in quotes:
        found.setdefault((quote.locator, quote.start, quote.end), quote)
    return tuple(found.values())


def _locate(draft: DraftQuote, ledger: Ledger, agent: str) -> tuple[Quote, ...]:
    named = ledger.document(agent, draft.source)
    quotes = ledger.quotes(agent, named, draft.text) if named is not None else ()
    if quotes:
        return quotes
    for document in ledger.seen_by(agent):
        if document is not named:
            quotes = ledger.quotes(agent, document, draft.text)
            if quotes:
                return quotes
    return ()


def _without_markup(text: str) -> str:
    text = _ROLE.sub(lambda role: f"{role[1].upper()} {role[2]}" if role[2].isdigit() else role[2], text)
    text = _LINK.sub(r"\1", text)
    text = _INLINE.sub(lambda mark: next(part for part in mark.groups() if part is not None), text)
    return one_line(_EDGE.sub("", text))


def _shown(text: str) -> str:
    flat = one_line(text)
    return f"“{flat}”" if len(flat) <= _MOST_SHOWN else f"“{flat[:_MOST_SHOWN]}…”"
