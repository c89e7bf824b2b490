"""Take secrets out of text on its way to the journal or the log.

Two kinds are found: values that are known (the keys of this run, handed in) and shapes (a provider's
key, a bearer token, a URL with a password, `api_key=...`). Shapes are looked for only where their mark
stands, so that a text without secrets costs a few substring searches (50 µs for 6 KB of prose).

What is cut out is replaced by MASK. Redacting twice changes nothing more. A lower-case word or an
expression of source code after `password=` is left alone where it can be told from a secret.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from functools import cache
from typing import Any, NamedTuple
from urllib.parse import quote

MASK = "[redacted]"

# A known value shorter than this is a placeholder ("none", "EMPTY") that stands in ordinary text too.
SHORTEST_KNOWN = 8

# Providers' keys are at least this long without a break; what is longer and unmarked is an identifier.
_RUN = b"a" * 16
_WORD = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
_TO_RUNS = bytes(97 if byte in _WORD else 32 for byte in range(256))
_PROVIDER = (
    r"(?<![A-Za-z0-9])(?:(?:sk|rk|pk|gh[opsu]|github_pat|glpat|hf|gsk|npm|pypi|xox[abp]|xapp|r8)[-_]"
    r"(?=[\w\-]*[0-9]|[\w\-]*[a-z][A-Z])|AKIA|ASIA|AIza|eyJ)([\w\-]{12,})"
)

_BODY = r"[A-Za-z0-9._~+/=\-]"  # what a bearer token is made of (RFC 6750)
# Between a name and its value: quotes (escaped ones too, JSON inside JSON), a sign, quotes.
_SIGN = r"""["'\\]{0,4}\s{0,3}(?:=>|:=|[=:])\s{0,3}["'\\]{0,4}"""
_VALUE = r"""[^\s"'\\,;&<>(){}\[\]]"""
_CODE = r"(?:None|null|true|false|str|self\.|os\.|process\.|config\.|settings\.|args\.)"


class _Family(NamedTuple):
    """`rare` (one byte, or none) and `hint` stand in the lower-cased text wherever a pattern can match."""

    rare: bytes
    hint: bytes
    patterns: tuple[tuple[str, re.Pattern[str]], ...]


def _names(word: str, before: tuple[str, ...], least: int) -> Iterator[tuple[str, str]]:
    """(literal, pattern) for `<before>_word = value` in three spellings; each begins with its literal."""
    for spelt in (word, word.capitalize(), word.upper()):
        behind = [
            f"(?<={re.escape(start + link + spelt)})"
            for name in before
            for start in dict.fromkeys((name, name.capitalize(), name.upper()))
            for link in (("_", "-", "", " ") if name else ("",))
        ]
        value = rf"(?!{_CODE})({_VALUE}{{{least},}}+)(?![(\[])"
        yield spelt, rf"{spelt}(?:{'|'.join(behind)}){_SIGN}{value}"


def _shapes() -> Iterator[tuple[str, str, Iterable[tuple[str, str]]]]:
    """(rare, hint, (literal, pattern) pairs); a pattern's only group is what is cut out."""
    telling = rf"(?=(?:{_BODY}*[0-9])|(?:{_BODY}*[a-z][A-Z])|{_BODY}{{20}})"
    yield "-", "sk-", [("sk-", r"(?<![A-Za-z0-9])sk-((?=[\w\-]*[0-9])[\w\-]{8,}|[\w\-]{20,})")]
    yield "", "bearer ", [(name, rf"{name} +{telling}({_BODY}{{8,}})") for name in ("earer", "EARER")]
    scheme = rf"(?:(?:[Bb]earer|[Bb]asic|[Tt]oken)\s+(?={_VALUE})|{telling})"
    headers = ("uthorization", "UTHORIZATION")
    yield "", "authorization", [(name, rf"{name}{_SIGN}{scheme}({_VALUE}{{3,}})") for name in headers]
    yield "@", "://", [("://", r"""://[^\s/:@"'<>]*:([^\s/"'<>\\]+)@""")]
    yield "-", "private key-----", [("PRIVATE KEY-----", r"PRIVATE KEY-----(.+?)(?:-----END|\Z)")]
    keys = ("api", "access", "secret", "private", "auth", "subscription", "signing")
    yield "", "key", _names("key", keys, 6)
    tokens = ("access", "auth", "refresh", "api", "bearer", "session", "id")
    yield "", "token", _names("token", tokens, 8)
    yield "", "secret", _names("secret", ("client", "app", "shared", "api", "webhook"), 6)
    yield "", "passw", (*_names("password", ("",), 6), *_names("passwd", ("",), 6))


@cache
def _families() -> tuple[_Family, ...]:
    return tuple(
        _Family(
            rare.encode(),
            hint.encode(),
            tuple((literal, re.compile(pattern, re.DOTALL)) for literal, pattern in pairs),
        )
        for rare, hint, pairs in _shapes()
    )


def _mask(found: re.Match[str]) -> str:
    whole, start = found.group(0), found.start()
    return whole[: found.start(1) - start] + MASK + whole[found.end(1) - start :]


def _without_provider_keys(text: str, data: bytes) -> str:
    """Only unbroken runs are looked at, which prose hardly has; `data` is the text's UTF-8."""
    runs = data.translate(_TO_RUNS)
    start = runs.find(_RUN)
    while start >= 0:
        end = runs.find(b" ", start)
        word = data[start : end if end >= 0 else None].decode("ascii")
        clean = re.sub(_PROVIDER, _mask, word)
        if clean != word:
            text = text.replace(word, clean)
        start = runs.find(_RUN, end) if end >= 0 else -1
    return text


class Redactor:
    """Redacts the shapes of secrets and the values it was made with.

    A known value is found as it is, as JSON escapes it and as a URL quotes it.
    """

    def __init__(self, known: Iterable[str] = ()) -> None:
        forms = {
            form
            for value in known
            if len(value) >= SHORTEST_KNOWN
            for form in (value, json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1])
            + ((quote(value, safe=""),) if value.isprintable() else ())
        }
        self._known = tuple(sorted(forms, key=len, reverse=True))

    def __call__(self, text: str) -> str:
        for value in self._known:
            if value in text:
                text = text.replace(value, MASK)
        data = text.encode("utf-8", "surrogatepass")
        folded = data.lower()
        for rare, hint, patterns in _families():
            if rare in folded and hint in folded:
                for literal, pattern in patterns:
                    if literal in text:
                        text = pattern.sub(_mask, text)
        return _without_provider_keys(text, data)

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
