"""The page: complete in itself, and closed to whatever its texts hold."""

from __future__ import annotations

from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from orchestra.evidence.render import flat, render_report
from orchestra.values.report import Section, Sentence
from tests.evidence.test_render import ANY, report_of

VOID = {"meta", "br"}
WORDS = st.one_of(
    ANY, st.sampled_from(['" onmouseover="x', "</style><script>", "<!--", "]]>", "&#x3c;b>", "\x00\x1b"])
)


class Page(HTMLParser):
    """Elements in order, attributes, the text outside style, and whether all is closed."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text: list[str] = []
        self.open: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] != "style":
            self.text.append(data)


@given(WORDS)
def test_no_text_changes_the_page(text: str) -> None:
    """For any text: the same elements in the same order as for a harmless one, all closed."""
    page = Page(render_report(report_of(f"x{text}"), "html"))
    assert page.tags == Page(render_report(report_of("harmless"), "html")).tags
    assert page.open == []
    assert "script" not in page.tags


@given(WORDS)
def test_only_our_own_attributes(text: str) -> None:
    """For any text: no handler, no style, and every link leads into the page itself."""
    page = Page(render_report(report_of(text), "html"))
    names = {name for name, _ in page.attributes}
    assert not {name for name in names if name.startswith("on") or name in ("style", "src")}
    assert all(value and value.startswith("#r") for name, value in page.attributes if name == "href")


@given(WORDS)
def test_the_text_is_shown(text: str) -> None:
    """For any text: the title says it, letter by letter."""
    assert flat(text) in Page(render_report(report_of(text), "html")).text or not flat(text)


def test_the_page_needs_nothing_else() -> None:
    """No address but the page's own, a policy that would load none, a language, a character set."""
    page = render_report(report_of(), "html")
    assert "http://" not in page
    assert "https://" not in page
    assert "default-src 'none'" in page
    assert '<html lang="en">' in page
    assert 'charset="utf-8"' in page
    assert '<html lang="zh">' in render_report(report_of(question="茶是什么？"), "html")


def test_a_mark_opens_the_nearest_quotes() -> None:
    """Behind a mark stand the source and its quotes; a number without a reference is only shown."""
    page = render_report(report_of(sections=(Section("S", (Sentence("A quote.", (2, 7), True),)),)), "html")
    assert '<a href="#r2">B</a><br><span class="popped">“quote”</span>' in page
    assert "<sup>[7]</sup>" in page


def test_large_reports_render() -> None:
    """A thousand sentences, a title and a quote of a hundred thousand characters, which stand once."""
    sentences = tuple(Sentence("tea " * 20, (1, 2), at % 2 == 0, "why") for at in range(1_000))
    page = render_report(report_of("word " * 20_000, sections=(Section("S", sentences),)), "html")
    assert page.count("<details class=") == 2_003
    assert len(page) < 3_000_000
