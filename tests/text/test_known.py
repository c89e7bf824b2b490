"""What is known of words."""

from __future__ import annotations

from orchestra.text.known import Known


def test_a_word_is_asked_for_once_until_there_are_too_many() -> None:
    """Beyond so many words all are forgotten, so that it never grows further; the answers stay the same."""
    asked: list[str] = []

    def size(word: str) -> int:
        asked.append(word)
        return len(word)

    known = Known(size, 2)
    assert list(map(known.__getitem__, ["tea", "mill", "tea"])) == [3, 4, 3]
    assert asked == ["tea", "mill"]
    assert list(map(known.__getitem__, ["bridge", "tea"])) == [6, 3]
    assert asked == ["tea", "mill", "bridge", "tea"]
    assert len(known) == 2


def test_a_long_word_is_not_kept() -> None:
    """What has no blanks for pages is no word that comes again."""
    known = Known(len, 2)
    assert known["x" * 5_000] == 5_000
    assert len(known) == 0
