"""A report as Markdown and JSON; nothing in its texts acts as markup."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from orchestra.evidence.render import escape, flat, render_report, to_markdown
from orchestra.values.report import Reference, ReferenceQuote, Report, Section, Sentence
from orchestra.values.usage import Usage

NASTY = st.text(st.sampled_from("\\`*_{}[]()#+-.!|<>&~:@/=\"'$^ \n\tab1中。"), max_size=40)
ANY = st.one_of(
    st.text(max_size=60),
    NASTY,
    st.sampled_from(
        [
            "](javascript:alert(1))",
            "<script>alert(1)</script>",
            "[x]: http://evil.example",
            "![x](http://evil.example/x.png)",
            "https://evil.example www.evil.example a@evil.example",
            "1. one",
            "# heading",
            "---",
            "&lt;b&gt; &amp;amp; &#60;",
            "| a | b |",
            "~~gone~~ __bold__ snake_case",
            "(http://evil.example)",
            "\u202egnp.exe",
        ]
    ),
)


def report_of(text: str = "Tea", **changes: object) -> Report:
    fields: dict[str, object] = {
        "session": "S1",
        "question": "What is tea?",
        "title": text,
        "summary": (Sentence(text, (1, 2), True), Sentence(text, (2,), True)),
        "sections": (Section(text, (Sentence(text, (1,), True), Sentence(text, (), False, text))),),
        "references": (
            Reference(1, "sha256:0", text, text, (ReferenceQuote(text, 0, len(text)),)),
            Reference(2, "sha256:1", "b.md", "B", (ReferenceQuote("quote", 3, 8),)),
        ),
        "gaps": (text,),
        "conflicts": (text,),
        "notes": (text,),
        "removed": (Sentence(text, (), False, text),),
        "supported_share": 0.5,
        "words": 4,
        "usage": {"small": Usage(calls=2, input_tokens=10), "large": Usage()},
        "seconds": 1.5,
    }
    return Report(**(fields | changes))  # type: ignore[arg-type]


def reader() -> MarkdownIt:
    return MarkdownIt("commonmark").enable(["table", "strikethrough"])


def plain_text(markdown: str) -> tuple[str, set[str]]:
    """The text that a reader sees and the kinds of everything else inside one paragraph."""
    text, kinds = "", set()
    for token in reader().parse(markdown):
        for inner in token.children or []:
            if inner.type == "text":
                text += inner.content
            else:
                kinds.add(inner.type)
        if token.type not in ("paragraph_open", "paragraph_close", "inline"):
            kinds.add(token.type)
    return text, kinds


@given(ANY)
def test_escaped_text_is_seen_letter_by_letter(text: str) -> None:
    """For any text: a Markdown reader shows exactly its letters, as one paragraph."""
    seen, kinds = plain_text(escape(text))
    assert kinds <= {"text_special"}
    assert seen == flat(text).strip()


@given(ANY)
def test_nothing_in_a_report_acts_as_markup(text: str) -> None:
    """For any text in every place: no link, image, code, HTML or table; headings and lists are only ours."""
    harmless = to_markdown(report_of("Tea"))
    kinds = [token.type for token in reader().parse(to_markdown(report_of(text or "x")))]
    inner = {
        child.type for token in reader().parse(to_markdown(report_of(text))) for child in token.children or []
    }
    assert inner <= {
        "text",
        "strong_open",
        "strong_close",
        "em_open",
        "em_close",
        "softbreak",
        "text_special",
    }
    assert not set(kinds) - {token.type for token in reader().parse(harmless)}


@given(ANY)
def test_json_holds_any_text(text: str) -> None:
    """For any text that UTF-8 can hold: the object reads back with the same strings."""
    read = json.loads(render_report(report_of(text), "json"))
    assert read["title"] == text
    assert read["references"][0]["quotes"][0] == {"text": text, "start": 0, "end": len(text)}


def test_the_form_of_the_json() -> None:
    """The keys that programs rely on; every sentence, of the summary too, is an object."""
    read = json.loads(render_report(report_of(), "json"))
    assert set(read) >= {
        *("session", "question", "title", "summary", "sections", "references", "gaps"),
        *("supported_share", "words", "usage", "seconds"),
    }
    assert read["summary"][0] == {"text": "Tea", "citations": [1, 2], "supported": True, "problem": ""}
    assert read["sections"][0]["heading"] == "Tea"
    assert set(read["references"][0]) == {"n", "source", "locator", "title", "quotes"}
    assert read["usage"]["small"]["input_tokens"] == 10


def test_the_form_of_the_markdown() -> None:
    """Title, question, summary, sections, conflicts, gaps, removed, notes, references with quotes."""
    text = to_markdown(report_of())
    lines = [line for line in text.split("\n") if line]
    assert lines[0] == "# Tea"
    assert "Tea [1][2] Tea [2]" in lines
    assert [line for line in lines if line.startswith("## ")] == [
        "## Summary",
        "## Tea",
        "## Conflicting sources",
        "## Not found",
        "## Removed",
        "## Notes",
        "## References",
    ]
    assert lines[-2:] == ["\\[2\\] **B** — b.md", "> quote (3–8)"]
    assert "**⚠ unsupported: Tea**" in text
    assert "3 of 4 sentences are borne out by their quotes, from 2 sources." in text


@pytest.mark.parametrize(
    ("question", "heading"), [("红茶里有多少咖啡因？", "## 参考文献"), ("How much?", "## References")]
)
def test_fixed_words_follow_the_question(question: str, heading: str) -> None:
    """Chinese labels for a Chinese question, else English."""
    assert heading in to_markdown(report_of(question=question))


def test_chinese_sentences_stand_without_spaces() -> None:
    """Marks close up, and a sentence that begins with a bracket makes no link of the mark before it."""
    sentences = (Sentence("茶。", (1,), True), Sentence("(见下)水。", (2,), True), Sentence("奶。", (), True))
    text = to_markdown(report_of(question="茶？", sections=(Section("", sentences),)))
    assert "茶。[1]\\(见下)水。[2]奶。" in text


def test_an_early_end_is_said_at_the_top() -> None:
    """A partial report says why."""
    assert "**This run ended early: interrupted**" in to_markdown(report_of(partial="interrupted"))
