"""Secrets in a text that comes in pieces."""

from __future__ import annotations

from hypothesis import example, given, settings
from hypothesis import strategies as st

from orchestra.models.screen import Screen
from orchestra.redact import MASK, Redactor

KNOWN = ("hunter2-hunter2", "hunter2-hunter2-longer", "a key with words")
SECRETS = (
    "sk-abc123def456ghi789",
    "Authorization: Bearer abcDEF123456789",
    "Authorization : Basic  dXNlcjpwYXNz",
    "Bearer   eyJhbGciOiJIUzI1NiJ9.abc.def",
    "api_key = 'abcd1234efgh'",
    "password: geheim99",
    "client_secret=>verysecretvalue",
    "password=getpass(",
    "password = None",
    "http://user:pa55@host/x",
    "http://a:b@c@d e",
    "http://host:8080/path",
    "AKIAABCDEFGHIJ234567",
    "ghp_abcdefghij1234567890",
    "-----BEGIN PRIVATE KEY-----\nMIIB abc\ndef ghi\n-----END PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY-----\nMIIB abc\n" + "line of it\n" * 20,
    *KNOWN,
)
PLAIN = (
    "the keyboard ",
    "token by token, ",
    "x" * 60,
    " ",
    "\n",
    "=",
    ": ",
    "-",
    "密码是",
    "a b c d e f g h i ",
    "(",
    '"',
)
texts = st.lists(st.one_of(st.sampled_from(SECRETS + PLAIN), st.text(max_size=8)), max_size=12).map("".join)


def shown(text: str, sizes: list[int]) -> list[str]:
    """What a screen gives, piece by piece, the last one at the end."""
    screen = Screen(Redactor(KNOWN))
    pieces, at = [], 0
    for size in (*sizes, len(text)):
        pieces.append(screen.more(text[at : at + size]))
        at += size
    return [*pieces, screen.rest()]


@settings(max_examples=400)
@given(texts, st.lists(st.integers(1, 9), max_size=120))
@example("key sk-abc1 then " + "plain words " * 40 + "password: geheim99 and more", [3] * 150)
def test_pieces_make_the_clean_text(text: str, sizes: list[int]) -> None:
    """However a text is split, what was shown is the text without its secrets, never taken back."""
    assert "".join(shown(text, sizes)) == Redactor(KNOWN)(text)


def test_plain_text_is_not_held() -> None:
    """Words without a secret near are shown as they come."""
    pieces = shown("There is nothing to hide in this text, nor 在这里。", [5] * 12)
    assert all(pieces[:9])
    assert pieces[-1] == ""


def test_a_split_secret_is_held() -> None:
    """Nothing of a key is shown, wherever it is split."""
    text = "Use sk-abc123def456ghi789 now."
    for cut in range(1, len(text)):
        pieces = shown(text, [cut])
        assert not any("abc123" in piece or "ghi789" in piece for piece in pieces)
        assert "".join(pieces) == f"Use sk-{MASK} now."
