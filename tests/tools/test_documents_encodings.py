"""Bytes become the text that their writer meant, and offsets count its characters."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestra.tools.documents.decode import decode, is_binary
from orchestra.tools.documents.reading import Reading

CHINESE = "人工智能在医疗领域的应用正在扩大。医院开始使用模型来分析影像。"
TAIWANESE = "這個國家的學校在過去十年裡發生了很大的變化。"
JAPANESE = "日本の大学では人工知能の研究が進んでいる。これはとても重要です。"
KOREAN = "이것은 한국어로 쓰여진 문서이다. 사람들은 학교에서 공부를 한다."
RUSSIAN = "Это документ на русском языке, в котором говорится о погоде."
FRENCH = "Le café est très bon à côté de la forêt où l'été s'achève."


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (CHINESE, "utf-8"),
        (CHINESE, "utf-8-sig"),
        (CHINESE, "utf-16"),
        (CHINESE, "utf-32"),
        (CHINESE, "gb18030"),
        (CHINESE, "gbk"),
        (TAIWANESE, "big5"),
        (JAPANESE, "shift_jis"),
        (JAPANESE, "euc_jp"),
        (KOREAN, "euc_kr"),
        (RUSSIAN, "cp1251"),
        (RUSSIAN, "koi8_r"),
        (FRENCH, "cp1252"),
        (FRENCH, "utf-16-le"),
        (FRENCH, "utf-16-be"),
    ],
)
def test_encodings_are_recognised(text: str, encoding: str) -> None:
    """With and without a mark; the mark is not part of the text."""
    assert decode(text.encode(encoding)) == text
    assert not is_binary(text.encode(encoding))


def test_invalid_utf8_is_replaced() -> None:
    """One bad byte does not turn a UTF-8 text into something else."""
    assert decode(CHINESE.encode() + b"\xff!") == CHINESE + "\ufffd!"
    assert decode(b"plain \xff\xfe text") == "plain \ufffd\ufffd text"


def test_line_ends_stay_as_they_are(as_read: Callable[..., Reading]) -> None:
    """Windows and old Mac line ends count as characters, and headings are still found."""
    text = "# One\r\n\r\nText\r\n\r\n## Two\r\n\r\nMore\r\n"
    reading = as_read(text, "a.md")
    assert reading.document.text == text
    assert [text[heading.start :].split()[1] for heading in reading.content.headings] == ["One", "Two"]
    assert len(as_read(text.replace("\r\n", "\r"), "a.md").content.headings) == 2


@given(st.binary(max_size=400))
def test_any_bytes_give_a_text_that_can_be_stored(data: bytes) -> None:
    """No bytes raise, and nothing comes out that UTF-8 cannot hold."""
    is_binary(data)
    decode(data).encode()
    decode(data, declared=True).encode()


@given(st.text(st.characters(codec="utf-8")))
def test_utf8_comes_back_whole(text: str) -> None:
    """What was written is what is read, but for a mark in front."""
    if not text.startswith("\ufeff") and "\0" not in text:
        assert decode(text.encode()) == text
