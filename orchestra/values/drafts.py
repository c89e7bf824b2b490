"""What role agents are asked to produce: the outputs that a role file may name.

These are schemas for models; the descriptions are part of the prompt.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from orchestra.values.outputs import Output


class Plan(Output, frozen=True):
    """The question taken apart."""

    title: Annotated[str, Meta(description="A title for the report, in the question's language.")]
    questions: Annotated[
        tuple[str, ...],
        Meta(description="One to five sub-questions that together cover the question; each stands alone."),
    ]


class DraftQuote(Output, frozen=True):
    """A passage copied from a source."""

    source: Annotated[str, Meta(description="The label of the source, for example s3.")]
    text: Annotated[str, Meta(description="A span copied letter by letter from that source.")]


class DraftClaim(Output, frozen=True):
    """One statement and the quotes that prove it."""

    statement: Annotated[str, Meta(description="One sentence that the quotes alone support.")]
    quotes: Annotated[tuple[DraftQuote, ...], Meta(description="One or more quotes.")]


class Findings(Output, frozen=True):
    """A researcher's result, most important claims first."""

    claims: tuple[DraftClaim, ...]
    gaps: Annotated[tuple[str, ...], Meta(description="What was asked and not found.")]


class DraftSentence(Output, frozen=True):
    """One sentence of the report."""

    text: Annotated[str, Meta(description="The sentence, without reference marks.")]
    claims: Annotated[tuple[str, ...], Meta(description="The ids of the claims it rests on, for example c4.")]


class DraftSection(Output, frozen=True):
    """A part of the report under its own heading."""

    heading: str
    sentences: tuple[DraftSentence, ...]


class Draft(Output, frozen=True):
    """The writer's result; references are numbered and appended by code."""

    title: str
    summary: Annotated[
        tuple[DraftSentence, ...], Meta(description="Two to four sentences that answer the question.")
    ]
    sections: tuple[DraftSection, ...]


class Remark(Output, frozen=True):
    """One fault that a reviewer found."""

    sentence: Annotated[str, Meta(description="The sentence as it stands in the draft, or an empty string.")]
    problem: Annotated[str, Meta(description="What is wrong or missing.")]


class Review(Output, frozen=True):
    """A reviewer's result; no remarks means that the draft stands."""

    remarks: tuple[Remark, ...]


OUTPUTS: dict[str, type[Output]] = {model.__name__: model for model in (Plan, Findings, Draft, Review)}
