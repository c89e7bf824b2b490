"""Each format becomes a document with a title, its text and its headings."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from orchestra.errors import InputError
from orchestra.tools.documents.reading import Reading, read

Reader = Callable[..., Reading]


def heads(reading: Reading) -> list[tuple[int, str]]:
    return [(heading.level, heading.title) for heading in reading.content.headings]


def test_markdown_is_read_as_it_stands(as_read: Reader) -> None:
    """The text is the file's own; headings in listings are none, emphasis and links leave a heading."""
    text = (
        "# The *whole* [story](x.html)\n\nTwo\n===\n\n```\n# no heading\n```\n\n"
        "## `except*` and __init__ ##\nEnd\n"
    )
    reading = as_read(text, "a.md")
    assert reading.document.text == text
    assert reading.document.title == "The whole story"
    assert heads(reading) == [(1, "The whole story"), (1, "Two"), (2, "except* and __init__")]


def test_front_matter_names_a_markdown_file(as_read: Reader) -> None:
    """A title in the front matter wins, and the front matter is the preamble."""
    reading = as_read('---\ntitle: "In front"\ntags: [a]\n---\n# Inside\n\nText\n', "a.md")
    assert reading.document.title == "In front"
    assert reading.document.text[reading.content.preamble :].strip().startswith("# Inside")


def test_restructured_text_has_levels_by_order_of_appearance(as_read: Reader) -> None:
    """Overlined and underlined titles are different styles; a table's rule is no title."""
    text = (
        "PEP: 517\nTitle: A build-system\n  independent format\nAuthor: N. S.\n\n"
        "=====\n Top\n=====\n\nUnder\n=====\n\nDeeper\n------\n\n"
        "=====  =====\na      b\n=====  =====\n\nNext\n=====\n"
    )
    reading = as_read(text, "pep-0517.rst")
    assert reading.document.title == "PEP 517 - A build-system independent format"
    assert heads(reading) == [(1, "Top"), (2, "Under"), (3, "Deeper"), (2, "Next")]
    assert reading.document.text[: reading.content.preamble].endswith("Author: N. S.")


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("A short first line\n\nThen more.", "A short first line"),
        ("This is a paragraph that\ngoes on.", "file.txt"),
        ("Underlined\n==========\nText", "Underlined"),
    ],
)
def test_plain_text_is_named_by_a_line_that_stands_alone(as_read: Reader, text: str, title: str) -> None:
    """Otherwise the file's name has to do."""
    assert as_read(text).document.title == title


def test_lines_alone_in_capitals_or_numbered_are_headings(as_read: Reader) -> None:
    """As people write in text files; a sentence, a list and a shout within a paragraph are none."""
    text = (
        "TIDES\n\nHOW THEY COME\n\nBy the moon.\nREALLY\n\n1. An item of a list.\n\n2.1 Spring and neap\n\n"
        "一、潮汐能\n\n潮水。\n\n第二章 装机容量\n\n三、这是一句话。\n"
    )
    assert heads(as_read(text)) == [
        (1, "TIDES"),
        (1, "HOW THEY COME"),
        (2, "2.1 Spring and neap"),
        (1, "一、潮汐能"),
        (1, "第二章 装机容量"),
    ]
    assert as_read(text).document.title == "TIDES"


def test_html_is_freed_of_what_surrounds_the_text(as_read: Reader) -> None:
    """Menus, scripts and notices go; lists, listings and tables stay readable."""
    page = """<html><head><title>Page - Site</title><script>var x</script></head><body><nav>Menu</nav>
      <div class="cookie-banner">Cookies!</div><main><h1>The <b>Page</b></h1><p>One <a href="x">two</a><br>
      three.
      <ul><li>first<li><p>second</p></ul><pre>  kept
    as is</pre><table><tr><th>City<th>People<tr><td>Oslo<td>700,000</table><h2>After</h2>tail</main>
      <footer>Imprint</footer></body></html>"""
    reading = as_read(page, "a.html")
    assert reading.document.title == "The Page"
    assert reading.document.text == (
        "The Page\n\nOne two three.\n\n- first\n\n- second\n\n  kept\n    as is\n\n"
        "City: Oslo; People: 700,000\n\nAfter\n\ntail"
    )
    assert heads(reading) == [(1, "The Page"), (2, "After")]


def test_html_nested_by_the_thousand_is_read(as_read: Reader) -> None:
    """Without recursion; by the hundred thousand it is refused, since a parser would take minutes."""
    assert as_read("<div>" * 5000 + "deep", "a.html").document.text == "deep"
    with pytest.raises(InputError, match="nests its elements more than 10,000 deep"):
        as_read("<div>" * 100_000 + "deep", "a.html")


def test_html_says_its_own_encoding(as_read: Reader) -> None:
    """The encoding in the head is believed where the bytes are not UTF-8."""
    page = '<meta charset="gb2312"><p>中文网页</p>'.encode("gb2312")
    assert as_read(page, "a.html").document.text == "中文网页"


def test_pdf_pages_are_sections(as_read: Reader, pdf_bytes: Callable[..., bytes]) -> None:
    """The title is the file's own, else the first line; a word split at a line's end is made whole."""
    made = pdf_bytes(
        [["First page", "on implemen-", "tation."], ["The implementation follows."]], "Tidal power"
    )
    reading = as_read(made, "a.pdf")
    assert reading.document.title == "Tidal power"
    assert heads(reading) == [(1, "page 1"), (1, "page 2")]
    assert reading.document.text == "First page\non implementation\n.\n\nThe implementation follows."
    assert as_read(pdf_bytes([["First page"]]), "a.pdf").document.title == "First page"


def test_word_files_keep_headings_lists_and_tables_in_order(
    as_read: Reader, docx_bytes: Callable[..., bytes]
) -> None:
    """A table's rows name their columns."""

    def fill(document: Any) -> None:
        document.add_heading("Report", 0)
        document.add_heading("Costs", 1)
        document.add_paragraph("Before the table.")
        table = document.add_table(3, 2)
        for row, cells in enumerate((("name", "price"), ("cable", "12 EUR"), ("pump", ""))):
            for column, text in enumerate(cells):
                table.cell(row, column).text = text
        document.add_paragraph("An item", style="List Bullet")

    reading = as_read(docx_bytes(fill), "a.docx")
    assert reading.document.title == "Report"
    assert heads(reading) == [(1, "Report"), (1, "Costs")]
    assert reading.document.text == (
        "Report\n\nCosts\n\nBefore the table.\n\nname: cable; price: 12 EUR\nname: pump\n\n- An item"
    )


def test_rows_of_a_table_name_their_columns(as_read: Reader) -> None:
    """Quoted line ends and separators are part of a cell; the delimiter is found."""
    reading = as_read('city;people\nOslo;"700,000"\n"New\nYork; NY";8\n', "a.csv")
    assert reading.document.text == (
        "Columns: city, people\n\ncity: Oslo; people: 700,000\ncity: New York; NY; people: 8"
    )
    assert as_read("1\t2\n3\t4\n", "a.tsv").document.text.endswith(
        "\n\ncolumn 1: 1; column 2: 2\ncolumn 1: 3; column 2: 4"
    )


@pytest.mark.parametrize(
    ("name", "code", "expected"),
    [
        (
            "a.py",
            "import x\n\n@deco\nclass A:\n    async def f(self):\n        pass\n",
            [(1, "class A"), (3, "def f")],
        ),
        (
            "a.ts",
            "export default async function go(x) {}\ninterface I {}\n",
            [(1, "function go"), (1, "interface I")],
        ),
        ("a.go", "func (s *Server) Run(x int) error {\n}\n", [(1, "func Run")]),
        (
            "a.rs",
            "/// Says it.\npub fn say<T>(x: T) {\n}\nimpl<T> Foo<T> {\n",
            [(1, "fn say"), (1, "impl Foo")],
        ),
        ("a.c", "static int add(int a,\n    int b)\n{\n  return add(1);\n}\n", [(1, "add")]),
        ("a.sql", "CREATE TABLE IF NOT EXISTS tides (x int);\n", [(1, "table tides")]),
    ],
)
def test_definitions_are_the_headings_of_code(
    as_read: Reader, name: str, code: str, expected: list[tuple[int, str]]
) -> None:
    """Decorators and comments above belong to the definition."""
    reading = as_read(code, name)
    assert heads(reading) == expected
    assert reading.document.text == code


def test_a_decorated_definition_begins_at_its_decorator(as_read: Reader) -> None:
    """So that a passage shows it."""
    code = "x = 1\n\n# why\n@deco\ndef f():\n    pass\n"
    assert as_read(code, "a.py").content.headings[0].start == code.index("# why")


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        ("a.pdf", b"%PDF-1.4 and then nothing", "the PDF is broken"),
        ("a.pdf", b"no pdf at all", "the PDF is broken"),
        ("a.docx", b"PK\x03\x04 cut off", "the Word file is broken"),
        ("a.docx", b"\xd0\xcf\x11\xe0" + b"\0" * 600, "encrypted or in the old .doc format"),
        ("a.xlsx", b"PK\x03\x04", "save its sheets as .csv"),
        ("a.txt", b"  \n ", "is empty"),
        ("a.xyz", b"\x7fELF\0\0\0\1", "is not text"),
        ("a.html", b"<html><script>only()</script></html>", "holds no text"),
    ],
)
def test_what_cannot_be_read_is_refused_in_one_line(
    as_read: Reader, name: str, data: bytes, says: str
) -> None:
    """The line begins with the file's name."""
    with pytest.raises(InputError, match=says) as caught:
        as_read(data, name)
    assert str(caught.value).startswith(f"{name}: ")
    assert "\n" not in str(caught.value)


def test_an_encrypted_pdf_is_named(as_read: Reader, pdf_bytes: Callable[..., bytes], tmp_path: Path) -> None:
    """With what to do about it."""
    import pypdf

    writer = pypdf.PdfWriter()
    writer.add_blank_page(100, 100)
    writer.encrypt("secret", algorithm="RC4-128")
    writer.write(tmp_path / "a.pdf")
    with pytest.raises(InputError, match="encrypted; save a copy without a password"):
        read(tmp_path / "a.pdf", tmp_path)


def test_a_pdf_without_text_says_so(as_read: Reader, pdf_bytes: Callable[..., bytes]) -> None:
    """A scan needs its text recognised."""
    with pytest.raises(InputError, match="holds no text"):
        as_read(pdf_bytes([[]]), "scan.pdf")
