"""A report as Markdown or JSON. Texts of documents and models are data: nothing in them acts as markup."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Literal

import msgspec

from orchestra.evidence.language import Words, words_for
from orchestra.values.report import Reference, Report, Sentence

Format = Literal["md", "html", "json"]

_MOST_QUESTION = 300  # characters of the question that stand under the title
_HIDDEN = re.compile("[\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c\ufeff\u200b]")
_SPECIAL = re.compile(
    r"[\\`\[\]{}|~<]|&(?=#?\w{1,32};)|(?<![^\W_])_|_(?![^\W_])|\*|!(?=\[)|:(?=//)|(?<=\bwww)\.|@(?=\w)",
    re.IGNORECASE,
)
_STARTS = re.compile(r"^(?:([#+>=-])|(\d{1,9})([.)])(?=\s|$))")
_WIDE_END = re.compile("[\u3000-\u303f\u3040-\u30ff\u3400-\u9fff\uff00-\uffef]$")


def render_report(report: Report, form: Format) -> str:
    """`report` in one of the three forms."""
    if form == "json":
        return to_json(report)
    if form == "html":
        from orchestra.evidence.render_html import to_html

        return to_html(report)
    return to_markdown(report)


def to_json(report: Report) -> str:
    """One object with the report's fields; every sentence, of the summary too, is an object."""
    return msgspec.json.format(msgspec.json.encode(report), indent=2).decode()


def to_markdown(report: Report) -> str:
    """CommonMark; `[1][2]` behind a sentence are numbers of the references at the end."""
    say = words_for(report.question)
    parts = [f"# {escape(report.title)}"]
    question = flat(report.question)
    if question != flat(report.title) and len(question) <= _MOST_QUESTION:
        parts.append(f"*{escape(question)}*")
    if report.partial:
        parts.append(f"**{say.early}: {escape(report.partial)}**")
    if report.summary:
        parts += [f"## {say.summary}", paragraph(report.summary, say)]
    for section in report.sections:
        if section.heading:
            parts.append(f"## {escape(section.heading)}")
        parts.append(paragraph(section.sentences, say))
    parts += _listed(say.conflicts, report.conflicts)
    parts += _listed(say.not_found, report.gaps)
    parts += _listed(say.removed, (f"{sentence.text} ({sentence.problem})" for sentence in report.removed))
    parts += _listed(say.notes, (*report.notes, checked_line(report, say)))
    if report.references:
        parts.append(f"## {say.references}")
        parts += [_reference(reference) for reference in report.references]
    return "\n\n".join(parts) + "\n"


def checked_line(report: Report, say: Words) -> str:
    """What the check found, in one sentence."""
    shown = [*report.summary, *(sentence for section in report.sections for sentence in section.sentences)]
    good = sum(sentence.supported for sentence in shown)
    return say.checked(good, len(shown), len(report.references))


def paragraph(sentences: Iterable[Sentence], say: Words) -> str:
    """Sentences with their marks; nothing stands between two that end in a full-width stop."""
    text = ""
    for sentence in sentences:
        marks = "".join(f"[{number}]" for number in sentence.citations)
        piece = escape(sentence.text, at_start=not text)
        if marks:
            piece += marks if _WIDE_END.search(sentence.text) else f" {marks}"
        if not sentence.supported:
            piece += f" **⚠ {say.unsupported}: {escape(sentence.problem, at_start=False)}**"
        closed = not text or (_WIDE_END.search(sentence.text) and text.endswith("]"))
        # Behind a mark a bracket would make a link of it.
        text += re.sub(r"^(?=[(:])", r"\\", piece) if closed else f" {piece}"
    return text


def escape(text: str, *, at_start: bool = True) -> str:
    """`text` on one line such that CommonMark (with GitHub's links and tables) shows it letter by letter."""
    safe = _SPECIAL.sub(_escaped, flat(text))
    return (
        _STARTS.sub(lambda match: f"\\{match[1]}" if match[1] else f"{match[2]}\\{match[3]}", safe)
        if at_start
        else safe
    )


def flat(text: str) -> str:
    """On one line, without control characters and without marks that turn the direction of writing."""
    visible = _HIDDEN.sub("", " ".join(text.split()))
    if visible.isprintable():
        return visible
    return "".join(char for char in visible if unicodedata.category(char) not in ("Cc", "Cs"))


def _escaped(match: re.Match[str]) -> str:
    if match[0] == "<":
        return "&lt;"
    return "&amp;" if match[0] == "&" else f"\\{match[0]}"


def _listed(heading: str, texts: Iterable[str]) -> list[str]:
    lines = [f"- {escape(text)}" for text in texts]
    return [f"## {heading}", "\n".join(lines)] if lines else []


def _reference(reference: Reference) -> str:
    title, locator = (escape(text, at_start=False) for text in (reference.title, reference.locator))
    lines = [f"\\[{reference.n}\\] **{title}** — {locator}"]
    lines += [f"> {escape(quote.text)} ({quote.start}–{quote.end})" for quote in reference.quotes]
    return "\n\n".join(lines)
