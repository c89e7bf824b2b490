"""A report as one HTML page that needs nothing else: no script, no font, no address outside itself.

Every text of documents and models passes `_text`; nothing else writes data into the page.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

from orchestra.evidence.language import Words, words_for
from orchestra.evidence.render import checked_line, flat
from orchestra.text.terms import terms
from orchestra.values.report import Reference, ReferenceQuote, Report, Sentence

_MOST_POPPED = 3  # quotes in the note behind a mark; all stand under the references
_LONGEST_POPPED = 600  # characters of one of them
_MOST_QUESTION = 600

_STYLE = """
:root{color-scheme:light dark;--paper:#fdfcf9;--ink:#22211f;--soft:#6b6862;--line:#e3dfd6;--mark:#8a5a12;--card:#fff;
--doubt:#a3321f;--doubt-paper:#fbeae6}
@media (prefers-color-scheme:dark){:root{--paper:#191917;--ink:#e6e3dc;--soft:#a19d94;--line:#383632;--mark:#e0ac5e;
--card:#232320;--doubt:#f0937f;--doubt-paper:#3a2520}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:1.0625rem/1.65 Charter,"Bitstream Charter","Iowan Old Style",
Georgia,"Noto Serif","Songti SC","Noto Serif CJK SC",serif;overflow-wrap:anywhere}
main{max-width:44rem;margin:0 auto;padding:3rem 1.25rem 6rem}
h1{font-size:2rem;line-height:1.2;margin:0 0 .5rem;text-wrap:balance}
h2{font-size:1.25rem;line-height:1.3;margin:2.5rem 0 .6rem}
p,.text{margin:0 0 1rem}
.question{color:var(--soft);font-style:italic}
.partial{border-left:3px solid var(--doubt);padding:.5rem .9rem;background:var(--doubt-paper)}
.summary{border-top:1px solid var(--line);border-bottom:1px solid var(--line);padding:1rem 0 .2rem;margin:1.5rem 0}
.summary h2{margin:0 0 .4rem;font-size:1rem;color:var(--soft);font-weight:600}
.doubt{background:var(--doubt-paper);text-decoration:underline wavy var(--doubt);text-underline-offset:.25em}
.why{font:.8125rem/1.4 system-ui,sans-serif;color:var(--doubt)}
details.cite{display:inline;position:relative}
details.cite>summary{display:inline;list-style:none;cursor:pointer;color:var(--mark);font:600 .75rem/1 system-ui,sans-serif;
vertical-align:.3em;padding:0 .1em}
details.cite>summary::-webkit-details-marker{display:none}
details.cite>summary:hover,details.cite>summary:focus-visible{text-decoration:underline}
.note{position:absolute;z-index:2;left:50%;translate:-50% 0;top:1.6em;width:min(26rem,80vw);max-height:22rem;overflow:auto;
background:var(--card);border:1px solid var(--line);border-radius:.5rem;padding:.8rem 1rem;
box-shadow:0 8px 28px rgb(0 0 0/.18);font-size:.9375rem;line-height:1.5}
details.cite:not([open]):hover::after{content:attr(data-title);position:absolute;z-index:2;left:50%;translate:-50% 0;top:1.6em;
width:max-content;max-width:min(24rem,80vw);background:var(--card);border:1px solid var(--line);border-radius:.4rem;
padding:.3rem .6rem;font:.8125rem/1.4 system-ui,sans-serif;box-shadow:0 4px 14px rgb(0 0 0/.15)}
blockquote{margin:.5rem 0;padding-left:.8rem;border-left:2px solid var(--mark);white-space:pre-line}
.where,.offsets{color:var(--soft);font:.8125rem/1.4 ui-monospace,Menlo,Consolas,monospace}
ol.references{padding-left:2rem}
ol.references>li{margin-bottom:1rem}
ol.references>li:target{background:color-mix(in srgb,var(--mark) 12%,transparent)}
.references details>summary{cursor:pointer;color:var(--soft);font:.8125rem/1.6 system-ui,sans-serif}
ul{padding-left:1.3rem}
footer{margin-top:3rem;border-top:1px solid var(--line);padding-top:.8rem;color:var(--soft);font:.8125rem/1.5 system-ui,sans-serif}
a{color:var(--mark)}
@media print{body{background:#fff;color:#000;font-size:10.5pt}main{max-width:none;padding:0}.note{display:none}
details.cite>summary{color:#000}h2{break-after:avoid}blockquote,li{break-inside:avoid}
.references details::details-content{content-visibility:visible;block-size:auto}}
""".strip()


def to_html(report: Report) -> str:
    """The whole page; quotes open from the marks and stand under the references."""
    say = words_for(report.question)
    pages = _Page(report, say)
    title = _text(report.title)
    return (
        f'<!doctype html>\n<html lang="{say.language}">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f"<title>{title}</title>\n<style>\n{_STYLE}\n</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n"
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
            parts.append(
                f'<section class="summary"><h2>{_text(say.summary)}</h2>\n{self.paragraph(report.summary)}</section>\n'
            )
        for section in report.sections:
            heading = f'<h2 dir="auto">{_text(section.heading)}</h2>\n' if section.heading else ""
            parts.append(f"<section>{heading}{self.paragraph(section.sentences)}</section>\n")
        parts.append(_list(say.conflicts, report.conflicts))
        parts.append(_list(say.not_found, report.gaps))
        parts.append(_list(say.removed, [f"{one.text} ({one.problem})" for one in report.removed]))
        parts.append(_list(say.notes, report.notes))
        if report.references:
            items = "".join(self.reference(reference) for reference in report.references)
            parts.append(
                f'<section><h2>{_text(say.references)}</h2>\n<ol class="references">\n{items}</ol></section>\n'
            )
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
        return (
            f'<details class="cite" name="cite" data-title="{_text(_cut(reference.title, 120))}"><summary>[{number}]</summary>'
            f'<span class="note" dir="auto"><a href="#r{number}">{_text(reference.title)}</a><br>{quotes}'
            f'<span class="where">{_text(reference.locator)}</span></span></details>'
        )

    def reference(self, reference: Reference) -> str:
        quotes = "".join(_quote(quote) for quote in reference.quotes)
        return (
            f'<li id="r{reference.n}" value="{reference.n}"><strong dir="auto">{_text(reference.title)}</strong><br>'
            f'<span class="where" dir="auto">{_text(reference.locator)}</span>'
            f"<details><summary>{len(reference.quotes)} {_text(self.say.quotes)}</summary>{quotes}</details></li>\n"
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
