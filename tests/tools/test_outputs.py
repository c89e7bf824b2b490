"""What a tool returned is recorded as it is shown, without secrets, and comes back the same."""

from __future__ import annotations

import hashlib

import pytest
from msgspec import structs

from orchestra.redact import Redactor
from orchestra.tools.outputs import Cleaner, output_of
from orchestra.tools.port import ToolOutput
from orchestra.values.sources import Document, Passage

SECRET = "sk-abcdefghijklmnop0123456789"


def document(text: str, title: str = "A page", locator: str = "https://example.org/1") -> Document:
    return Document(locator, title, text, hashlib.sha256(text.encode()).hexdigest(), kind="web", read_at=7.0)


def part(source: Document, start: int, end: int) -> Passage:
    return Passage(source, source.text[start:end], start, end, "Hooks", 0.5)


def test_an_output_without_secrets_is_itself_and_comes_back_from_its_texts() -> None:
    """Each document's text stands once among the texts, however many passages are of it."""
    one, two = document("0123456789 " * 4), document("abc", locator="b")
    passages = (part(one, 0, 9), part(two, 0, 3), part(one, 3, 20))
    output = ToolOutput(text="Three hits", passages=passages, ephemeral=True)
    clean = Cleaner(Redactor())
    for _ in range(2):
        shown, texts = clean(output)
        assert shown is output
        assert list(texts) == ["text", "document 0", "document 1", "passages"]
        assert output_of(texts) == output


def test_many_documents_each_have_a_text() -> None:
    """There are as many names as are needed."""
    passages = tuple(part(document(f"text {number}", locator=str(number)), 0, 6) for number in range(40))
    _, texts = Cleaner(Redactor())(ToolOutput(passages=passages))
    assert output_of(texts).passages == passages


def test_a_passage_moves_with_the_secret_that_is_cut_out_before_it() -> None:
    """Shown and recorded is the document without it, under the hash of what is left."""
    source = document(f"The key is {SECRET} and nothing else. Queues were short.")
    place = source.text.index("Queues")
    shown, texts = Cleaner(Redactor())(ToolOutput(passages=(part(source, place, len(source.text)),)))
    passage = shown.passages[0]
    assert SECRET not in "".join(texts.values())
    assert passage.text == "Queues were short."
    assert passage.text == passage.document.text[passage.start : passage.end]
    assert passage.document.sha256 == hashlib.sha256(passage.document.text.encode()).hexdigest()
    assert output_of(texts) == shown


def test_one_text_read_twice_is_recorded_as_it_was_read() -> None:
    """A page that has another title now comes back with that, though its text is known."""
    clean = Cleaner(Redactor())
    for title in ("A page", "The page, moved", "A page"):
        output = ToolOutput(passages=(part(document("The same text.", title), 0, 8),))
        assert output_of(clean(output)[1]) == output


def test_a_text_that_a_passage_does_not_quote_is_kept_beside_it() -> None:
    """A tool may show more, or less, than its document says."""
    source = document("One two three.")
    output = ToolOutput(passages=(Passage(source, "One, two and three", 0, 7),))
    assert output_of(Cleaner(Redactor())(output)[1]) == output


def test_a_secret_in_a_name_is_cut_out_too() -> None:
    """Of an address, a title or a heading; the text, which has none, keeps its hash and its places."""
    source = document(
        "Queues were short.", title=f"Key {SECRET}", locator="https://me:hunter2222@example.org/1"
    )
    passage = structs.replace(part(source, 0, 6), section=f"Keys > {SECRET}")
    shown, texts = Cleaner(Redactor())(ToolOutput(passages=(passage,)))
    for told in ("".join(texts.values()), str(shown)):
        assert SECRET not in told
        assert "hunter2222" not in told
    assert shown.passages[0].document.sha256 == source.sha256
    assert shown.passages[0].text == "Queues"
    assert output_of(texts) == shown


@pytest.mark.parametrize("where", ["title", "locator", "section", "text"])
def test_half_a_surrogate_pair_in_a_name_is_marked(where: str) -> None:
    """As a tool that reads files of any name may give it: nothing is raised, and the rest stands."""
    source = document("Queues were short.")
    passage = part(source, 0, 6)
    if where in ("title", "locator"):
        passage = structs.replace(passage, document=structs.replace(source, **{where: "n\udc80me"}))
    else:
        passage = structs.replace(passage, **{where: "n\udc80me"})
    shown, texts = Cleaner(Redactor())(ToolOutput(text="Hits", passages=(passage,)))
    assert "n?me" in str(shown)
    assert output_of(texts) == shown
    "".join(texts.values()).encode()
