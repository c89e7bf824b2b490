"""What role agents are asked to produce: the outputs that a role file may name.

These are schemas for models, so they are pydantic; the descriptions are part of the prompt.
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class Output(BaseModel):
    """The base of every output a model is asked for: frozen, and nothing it does not name."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Plan(Output):
    """The question taken apart."""

    title: str = Field(description="A title for the report, in the question's language.")
    questions: tuple[str, ...] = Field(
        description="One to five sub-questions that together cover the question; each stands alone."
    )


class DraftQuote(Output):
    """A passage copied from a source."""

    source: str = Field(description="The label of the source, for example s3.")
    text: str = Field(description="A span copied letter by letter from that source.")


class DraftClaim(Output):
    """One statement and the quotes that prove it."""

    statement: str = Field(description="One sentence that the quotes alone support.")
    quotes: tuple[DraftQuote, ...] = Field(description="One or more quotes.")


class Findings(Output):
    """A researcher's result, most important claims first."""

    claims: tuple[DraftClaim, ...]
    gaps: tuple[str, ...] = Field(description="What was asked and not found.")


class DraftSentence(Output):
    """One sentence of the report."""

    text: str = Field(description="The sentence, without reference marks.")
    claims: tuple[str, ...] = Field(description="The ids of the claims it rests on, for example c4.")


class DraftSection(Output):
    """A part of the report under its own heading."""

    heading: str
    sentences: tuple[DraftSentence, ...]


class Draft(Output):
    """The writer's result; references are numbered and appended by code."""

    title: str
    summary: tuple[DraftSentence, ...] = Field(description="Two to four sentences that answer the question.")
    sections: tuple[DraftSection, ...]


class Remark(Output):
    """One fault that a reviewer found."""

    sentence: str = Field(description="The sentence as it stands in the draft, or an empty string.")
    problem: str = Field(description="What is wrong or missing.")


class Review(Output):
    """A reviewer's result; no remarks means that the draft stands."""

    remarks: tuple[Remark, ...]


OUTPUTS: dict[str, type[Output]] = {model.__name__: model for model in (Plan, Findings, Draft, Review)}
