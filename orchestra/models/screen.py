"""Takes secrets out of a text that comes in pieces."""

from __future__ import annotations

import re

from orchestra.redact import Redactor

# Any secret has one of these in its mark, or between its mark and its value; after so many characters of
# text without, nothing of it is still open. A known value has no mark (see Redactor.begun).
_MARKS = ("key", "token", "secret", "passw", "bearer", "authorization", "://", "akia", "asia", "aiza", "eyj")
_PROVIDERS = re.compile(r"(?:sk|rk|pk|gh[opsu]|pat|hf|gsk|npm|pypi|xox[abp]|xapp|r8)[-_]")
_LONGEST_MARK = 13
_BESIDE_MARK = 100  # characters before a mark that may have to do with it
# How a text may go on: as a secret would, or as what makes plain that it was none.
_GOES_ON = "A1b2C3d4E5f6G7h8J9k0L1m2@x"
_IS_CODE = "("
# Words that are looked at together: of a mark and its value no more than this many stand apart.
_WORDS = 8
_WORD = re.compile(r"\S+\s+")
_OPEN_KEY, _SHUT_KEY = "PRIVATE KEY-----", "-----END"


class Screen:
    """Passes on what is safe: all that was given back is how the whole text begins without its secrets.

    What may be the beginning of a secret is held until it is known. Found by asking the redactor what it
    would cut if the text went on as a secret does, where a mark stands near; elsewhere nothing is asked.
    """

    def __init__(self, clean: Redactor) -> None:
        self._clean = clean
        self._text = ""  # from the last place on that no secret spans
        self._given = 0  # of that, without its secrets
        self._scanned = 0
        self._marked = False

    def more(self, piece: str) -> str:
        """What may be shown now."""
        self._text += piece
        text = self._text
        until = self._clean.begun(text)
        if not self._marked:
            self._marked = self._has_mark(self._scanned)
            self._scanned = len(text)
        if not self._marked:
            shown = text[self._given : until] if until > self._given else ""
            self._given += len(shown)
            self._forget_unmarked()
            return shown
        safe = text[:until]
        shown = self._clean(safe)
        for more in (_GOES_ON, _IS_CODE):
            shown = _common(shown, self._clean(safe + more))
        piece = shown[self._given :]
        self._given += len(piece)
        self._forget_marked()
        return piece

    def rest(self) -> str:
        """What was held, when the text has come to its end."""
        whole = self._clean(self._text)
        piece = whole[self._given :]
        self._text, self._given, self._scanned, self._marked = "", 0, 0, False
        return piece

    def _forget_unmarked(self) -> None:
        """Of a text without marks only what may belong to the next one is kept."""
        if self._given > 8 * _BESIDE_MARK:
            gone = self._given - _BESIDE_MARK
            self._text = self._text[gone:]
            self._given -= gone
            self._scanned -= gone

    def _forget_marked(self) -> None:
        """What lies words behind is done with, unless a private key is still open there."""
        text = self._text
        ends = [found.end() for found in _WORD.finditer(text)]
        if len(ends) < 2 * _WORDS or text.rfind(_OPEN_KEY) > text.rfind(_SHUT_KEY):
            return
        at = ends[-_WORDS]
        before = self._clean(text[:at])
        if len(before) <= self._given and before + self._clean(text[at:]) == self._clean(text):
            self._text = text[at:]
            self._given -= len(before)
            self._marked = self._has_mark(0)
            self._scanned = len(self._text)

    def _has_mark(self, since: int) -> bool:
        new = self._text[max(0, since - _LONGEST_MARK) :].lower()
        marked = any(mark in new for mark in _MARKS) or (
            ("-" in new or "_" in new) and _PROVIDERS.search(new) is not None
        )
        return marked or self._clean.knows(self._text, since)


def _common(one: str, other: str) -> str:
    """How both begin."""
    if other.startswith(one):
        return one
    return one[: next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), len(other))]
