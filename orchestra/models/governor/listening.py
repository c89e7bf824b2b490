"""What hears an endpoint speak of its limits."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from orchestra.models.governor.said import Said, family_of, of_headers, of_words

_SILENT_REPLIES = 20
"""An endpoint that has said nothing of limits in so many replies is not looked at again until a 429."""


class Ear:
    """Of one model; `tell` is called with every word about limits. `open`: headers are listened to."""

    __slots__ = ("_family", "_silent", "_tell", "open")

    def __init__(self, tell: Callable[[Said], None]) -> None:
        self._tell = tell
        self._family: int | None = None
        self._silent = 0
        self.open = True

    def headers(self, headers: Mapping[str, str]) -> None:
        """Of a reply, while this is open."""
        if self._family is None:
            self._family = family_of(headers)
            if self._family is None:
                self._silent += 1
                self.open = self._silent < _SILENT_REPLIES
                return
        said = of_headers(headers, self._family)
        if said.requests is not None or said.tokens is not None:
            self._tell(said)

    def refusal(self, status: int, body: bytes) -> None:
        """The words of a 429."""
        if status == 429:
            said = of_words(body.decode("utf-8", "replace"))
            if said is not None:
                self._tell(said)
