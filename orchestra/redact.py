"""Take secrets out of text on its way to the journal or the log.

Two kinds are found: values that are known (the keys of this run, handed in) and shapes (a provider's
key, a bearer token, a URL with a password, `api_key=...`). Shapes are looked for only where their mark
stands, and one scan looks for all marks: a text without secrets costs about 10 µs for 6 KB of prose.

What is cut out is replaced by MASK. Redacting twice changes nothing more. A lower-case word or an
expression of source code after `password=` is left alone where it can be told from a secret.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from typing import Any
from urllib.parse import quote

from orchestra.shapes import as_bytes, finder, patterns_in

MASK = "[redacted]"

_LONE = re.compile("[\ud800-\udfff]")

# A known value shorter than this is a placeholder ("none", "EMPTY") that stands in ordinary text too.
SHORTEST_KNOWN = 8
# The shortest secret with its mark is `://:x@`.
_SHORTEST = 6


def _mask(found: re.Match[str]) -> str:
    whole, start = found.group(0), found.start()
    return whole[: found.start(1) - start] + MASK + whole[found.end(1) - start :]


def _forms(value: str) -> Iterator[str]:
    """How a value looks: as it is, quoted in a URL, as a string in JSON and in JSON inside JSON."""
    yield value
    if not _LONE.search(value):
        yield quote(value, safe="")
    for ascii_only in (True, False):
        escaped = value
        for _ in range(2):
            escaped = json.dumps(escaped, ensure_ascii=ascii_only)[1:-1]
            yield escaped


# A text goes by more than once: on its way to the model, into a hand-off, into the journal.
_REMEMBERED_FROM, _REMEMBERED = 32, 16_384


class Redactor:
    """Redacts the shapes of secrets and the values it was made with.

    A known value is found as it is, as JSON escapes it, once or twice, and as a URL quotes it.
    """

    def __init__(self, known: Iterable[str] = ()) -> None:
        forms = {form for value in known if len(value) >= SHORTEST_KNOWN for form in _forms(value)}
        self._known = tuple(sorted(forms, key=len, reverse=True))
        self._find = finder(self._known)
        self._longest = max(map(len, forms), default=0)
        # How the beginning of a known value may end: almost no text does.
        self._ends = {form[max(0, at - 1) : at + 1] for form in forms for at in range(len(form) - 1)}
        self._clean: set[int] = set()  # hashes (keyed, 64 bits) of texts that had nothing to take out

    def __call__(self, text: str) -> str:
        """The text without its secrets."""
        if len(text) < _REMEMBERED_FROM:
            return self._redacted(text) if len(text) >= _SHORTEST else text
        if hash(text) in self._clean:
            return text
        redacted = self._redacted(text)
        if redacted == text:
            if len(self._clean) >= _REMEMBERED:
                self._clean.clear()
            self._clean.add(hash(text))
        return redacted

    def once(self, text: str) -> str:
        """The text without its secrets, where it is not to come again."""
        return self._redacted(text)

    def _redacted(self, text: str) -> str:
        data = as_bytes(text)
        if self._find is not None and self._find(data):
            for value in self._known:
                text = text.replace(value, MASK)
            data = as_bytes(text)
        for pattern in patterns_in(data):
            text = pattern.sub(_mask, text)
        return text

    def knows(self, text: str, since: int = 0) -> bool:
        """Whether a known value stands in the text and ends behind `since`."""
        start = max(0, since - self._longest)
        return any(text.find(value, start) >= 0 for value in self._known)

    def begun(self, text: str) -> int:
        """Where the text's end may be the beginning of a known value; its length where it is not."""
        at = len(text)
        if text[-2:] not in self._ends and text[-1:] not in self._ends:
            return at
        for value in self._known:
            start = text.find(value[0], max(0, len(text) - len(value) + 1), at)
            while start >= 0:
                if value.startswith(text[start:]):
                    at = start
                    break
                start = text.find(value[0], start + 1, at)
        return at

    def value(self, value: Any, name: str = "") -> Any:
        """A JSON value with every string in it redacted; `name` is the key it stands under."""
        if isinstance(value, Mapping):
            return {self(str(key)): self.value(item, str(key)) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.value(item, name) for item in value]
        if isinstance(value, str) or (isinstance(value, int | float) and not isinstance(value, bool)):
            # The key may be what makes it a secret, so both are looked at together.
            whole = self(f"{name}={value}") if name else self(str(value))
            clean = whole.removeprefix(f"{name}=") if name else whole
            return value if clean == str(value) else clean
        return value

    def processor(self, logger: Any, method: str, event: MutableMapping[str, Any]) -> Any:
        """A structlog processor for the values, before the renderer."""
        del logger, method
        for name, value in event.items():
            event[name] = self.value(value, name)
        return event

    def line(self, logger: Any, method: str, rendered: str) -> str:
        """A structlog processor for the rendered line, tracebacks included."""
        del logger, method
        return self(rendered)


redact = Redactor()
