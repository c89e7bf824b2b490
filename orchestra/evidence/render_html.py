"""A report as one HTML page that needs nothing else: no script, no font, no address outside itself.

Every text of documents and models passes `_text`; nothing else writes data into the page.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from importlib.resources import files

from orchestra.evidence.language import Words, words_for
from orchestra.evidence.render import checked_line, flat
from orchestra.text.terms import terms
from orchestra.values.report import Reference, ReferenceQuote, Report, Sentence

_MOST_POPPED = 3  # quotes in the note behind a mark; all stand under the references
_LONGEST_POPPED = 600  # characters of one of them
_MOST_QUESTION = 600


def to_html(report: Report) -> str:
    """The whole page; quotes open from the marks and stand under the references."""
    say = words_for(report.question)
    pages = _Page(report, say)
    title = _text(report.title)
    style = files("orchestra.evidence").joinpath("report.css").read_text("utf-8")
    return (
        f'<!doctype html>\n<html lang="{say.language}">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta http-equiv="Content-Security-Policy" '
        "content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f"<title>{title}</title>\n<style>\n{style}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n"
        f"{pages.body()}</main>\n</body>\n</html>\n"
    )


class _Page:
    def __init__(self, report: Report, say: Words) -> None:
        self.report = report
        self.say = say
        self.references = {reference.n: reference for reference in report.references}
        self.terms = {
            (reference.n, at): frozenset(terms(quote.text))
            for reference in report.references
            for at, quote in enumerate(reference.quotes)
        }

    def body(self) -> str:
        report, say = self.report, self.say
        parts = []
        question = flat(report.question)
        if question != flat(report.title) and len(question) <= _MOST_QUESTION:
            parts.append(f'<p class="question" dir="auto">{_text(question)}</p>\n')
        if report.partial:
            parts.append(f'<p class="partial">{_text(say.early)}: {_text(report.partial)}</p>\n')
        if report.summary:
            told = self.paragraph(report.summary)
            parts.append(f'<section class="summary"><h2>{_text(say.summary)}</h2>\n{told}</section>\n')
        for section in report.sections:
            heading = f'<h2 dir="auto">{_text(section.heading)}</h2>\n' if section.heading else ""
            parts.append(f"<section>{heading}{self.paragraph(section.sentences)}</section>\n")
        parts.append(_list(say.conflicts, report.conflicts))
        parts.append(_list(say.not_found, report.gaps))
        parts.append(_list(say.removed, [f"{one.text} ({one.problem})" for one in report.removed]))
        parts.append(_list(say.notes, report.notes))
        if report.references:
            items = "".join(self.reference(reference) for reference in report.references)
            parts.append(f'<section><h2>{_text(say.references)}</h2>\n<ol class="references">\n{items}')
            parts.append("</ol></section>\n")
        parts.append(f"<footer>{_text(checked_line(report, say))}</footer>\n")
        return "".join(parts)

    def paragraph(self, sentences: Iterable[Sentence]) -> str:
        joint = "" if self.say.language == "zh" else " "
        return f'<div class="text" dir="auto">{joint.join(self.sentence(one) for one in sentences)}</div>\n'

    def sentence(self, sentence: Sentence) -> str:
        marks = "".join(self.mark(number, sentence.text) for number in sentence.citations)
        if sentence.supported:
            return _text(sentence.text) + marks
        why = f' <span class="why">⚠ {_text(self.say.unsupported)}: {_text(sentence.problem)}</span>'
        return f'<span class="doubt">{_text(sentence.text)}</span>{marks}{why}'

    def mark(self, number: int, sentence: str) -> str:
        """A number that opens a note with the quotes nearest to the sentence."""
        reference = self.references.get(number)
        if reference is None:
            return f"<sup>[{number}]</sup>"
        wanted = set(terms(sentence))
        places = sorted(
            range(len(reference.quotes)), key=lambda at: (-len(wanted & self.terms[number, at]), at)
        )
        best = [reference.quotes[at] for at in sorted(places[:_MOST_POPPED])]
        quotes = "".join(f'<span class="popped">“{_text(_cut(quote.text))}”</span><br>' for quote in best)
        # A note stands at every mark; the whole title and place stand once, in the reference.
        title, where = _text(_cut(reference.title, 120)), _text(_cut(reference.locator, 200))
        return (
            f'<details class="cite" name="cite" data-title="{title}">'
            f"<summary>[{number}]</summary>"
            f'<span class="note" dir="auto"><a href="#r{number}">{title}</a><br>{quotes}'
            f'<span class="where">{where}</span></span></details>'
        )

    def reference(self, reference: Reference) -> str:
        quotes = "".join(_quote(quote) for quote in reference.quotes)
        title, where = _text(reference.title), _text(reference.locator)
        return (
            f'<li id="r{reference.n}" value="{reference.n}"><strong dir="auto">{title}</strong><br>'
            f'<span class="where" dir="auto">{where}</span>'
            f"<details><summary>{_text(self.say.quote_count(len(reference.quotes)))}</summary>{quotes}</details>"
            "</li>\n"
        )


def _quote(quote: ReferenceQuote) -> str:
    return (
        f'<blockquote dir="auto">{_text(quote.text, keep_lines=True)} '
        f'<span class="offsets">{quote.start}–{quote.end}</span></blockquote>'
    )


def _list(heading: str, texts: Sequence[str]) -> str:
    if not texts:
        return ""
    items = "".join(f'<li dir="auto">{_text(text)}</li>\n' for text in texts)
    return f"<section><h2>{_text(heading)}</h2>\n<ul>\n{items}</ul></section>\n"


def _cut(text: str, longest: int = _LONGEST_POPPED) -> str:
    return text if len(text) <= longest else f"{text[:longest].rstrip()}…"


def _text(text: str, *, keep_lines: bool = False) -> str:
    """`text` for an element or an attribute in double quotes."""
    if keep_lines:
        return "\n".join(html.escape(flat(line)) for line in text.splitlines())
    return html.escape(flat(text))
