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
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from functools import cache
from typing import Any, NamedTuple
from urllib.parse import quote

MASK = "[redacted]"

_LONE = re.compile("[\ud800-\udfff]")

# A known value shorter than this is a placeholder ("none", "EMPTY") that stands in ordinary text too.
SHORTEST_KNOWN = 8

# Providers' keys are at least this long without a break; what is longer and unmarked is an identifier.
_RUN = b"a" * 20
_WORD = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
_TO_RUNS = bytes(97 if byte in _WORD else 32 for byte in range(256))
_PROVIDER = (
    r"(?:(?:sk|rk|pk|gh[opsu]|github_pat|glpat|hf|gsk|npm|pypi|xox[abp]|xapp|r8)[-_]"
    r"(?=[\w\-]*[0-9]|[\w\-]*[a-z][A-Z])|AKIA|ASIA|AIza|eyJ)([\w\-]{10,})"
)

_OPENAI = "sk-"
_PROVIDERS = "sk rk pk gho ghp ghs ghu github_pat glpat hf npm pypi xoxa xoxb xoxp xapp r8".split()
_PROVIDER_MARKS = ("AKIA", "ASIA", "AIza", "eyJ", *(name + link for name in _PROVIDERS for link in "-_"))
_PROVIDER_KEY = -1  # beside the numbers of families, of which OpenAI's is the first
_MAY_BE_PROVIDERS = {_PROVIDER_KEY, 0}
# The shortest secret with its mark is `://:x@`.
_SHORTEST = 6

_BODY = r"[A-Za-z0-9._~+/=\-]"  # what a bearer token is made of (RFC 6750)
# Between a name and its value: quotes (escaped ones too, JSON inside JSON), a sign, quotes.
_SIGN = r"""["'\\]{0,4}\s{0,3}(?:=>|:=|[=:])\s{0,3}["'\\]{0,4}"""
_VALUE = r"""[^\s"'\\,;&<>(){}\[\]]"""
_CODE = r"(?:None|null|true|false|str|self\.|os\.|process\.|config\.|settings\.|args\.)"


def _begins(literal: str) -> str:
    """After the literal: it was not in the middle of a word, of which JSON's escapes are no part."""
    behind = (r"(?<![A-Za-z0-9]", r"(?<=\\[nrtbf]", r"(?<=\\u00[01][0-9a-f]")
    return "(?:" + "|".join(f"{before}{literal})" for before in behind) + ")"


class _Family(NamedTuple):
    """One of `marks` is in the text, and `near` in the lower-cased text, where a pattern can match."""

    marks: tuple[str, ...]
    near: re.Pattern[bytes]
    patterns: tuple[re.Pattern[str], ...]


def _behind(word: str, before: tuple[str, ...], spellings: bool) -> str:
    """After the word: that it is the end of one of these names."""
    starts = [
        start
        for name in before
        for start in (dict.fromkeys((name, name.capitalize(), name.upper())) if spellings else (name,))
    ]
    links = [(start, link) for start in starts for link in (("_", "-", "", " ") if start else ("",))]
    return "(?:" + "|".join(f"(?<={re.escape(start + link + word)})" for start, link in links) + ")"


def _names(word: str, before: tuple[str, ...], least: int) -> Iterator[str]:
    """Patterns for `<before>_word = value` in three spellings, beginning with a literal, which is fast."""
    for spelt in _spellings(word):
        value = rf"(?!{_CODE})({_VALUE}{{{least},}}+)(?![(\[])"
        yield rf"{spelt}{_behind(spelt, before, spellings=True)}{_SIGN}{value}"


def _shapes() -> Iterator[tuple[tuple[str, ...], str, Iterable[str]]]:
    """(marks, near, patterns): see _Family; a pattern's only group is what is cut out."""
    telling = rf"(?=(?:{_BODY}*[0-9])|(?:{_BODY}*[a-z][A-Z])|{_BODY}{{20}})"
    yield (_OPENAI,), "", [rf"sk-{_begins('sk-')}((?=[\w\-]*[0-9])[\w\-]{{8,}}|[\w\-]{{20,}})"]
    # Two in one, found by the letter they share: it is rarer than their beginnings.
    keys = ("api", "access", "secret", "private", "auth", "subscription", "signing")
    tokens = ("access", "auth", "refresh", "api", "bearer", "session", "id")
    key, token = _behind("key", keys, spellings=False), _behind("token", tokens, spellings=False)
    near = rf"k(?:ey(?:{key}{_SIGN}|-----)|(?<=tok)en{token}{_SIGN})"
    pem = r"PRIVATE KEY-----(.+?)(?:-----END|\Z)"
    marks = (*_spellings("key"), *_spellings("token"))
    yield marks, near, (pem, *_names("key", keys, 6), *_names("token", tokens, 8))
    bearers = ("earer", "EARER")
    yield (
        tuple(f"{name} " for name in bearers),
        "bearer ",
        [rf"{name} +{telling}({_BODY}{{8,}})" for name in bearers],
    )
    scheme = rf"(?:(?:[Bb]earer|[Bb]asic|[Tt]oken)\s+(?={_VALUE})|{telling})"
    headers = ("uthorization", "UTHORIZATION")
    yield headers, "", [rf"{name}{_SIGN}{scheme}({_VALUE}{{3,}})" for name in headers]
    yield ("://",), "@", [r"""://[^\s/:@"'<>]*:([^\s/"'<>\\]+)@"""]
    before_secret = ("client", "app", "shared", "api", "webhook")
    yield _spellings("secret"), f"secret{_SIGN}", _names("secret", before_secret, 6)
    words = (*_names("password", ("",), 6), *_names("passwd", ("",), 6))
    yield _spellings("passw"), f"passw(?:or)?d{_SIGN}", words


def _spellings(mark: str) -> tuple[str, str, str]:
    return mark, mark.capitalize(), mark.upper()


@cache
def _families() -> tuple[_Family, ...]:
    return tuple(
        _Family(
            marks,
            re.compile((near or re.escape(marks[0].lower())).encode()),
            tuple(re.compile(pattern, re.DOTALL) for pattern in patterns),
        )
        for marks, near, patterns in _shapes()
    )


@cache
def _provider_key() -> tuple[re.Pattern[bytes], re.Pattern[str]]:
    """To find one in UTF-8, and to cut it out of the text."""
    return re.compile(b"[nrtbf]?" + _PROVIDER.encode()), re.compile(_begins("") + _PROVIDER)


def _mask(found: re.Match[str]) -> str:
    whole, start = found.group(0), found.start()
    return whole[: found.start(1) - start] + MASK + whole[found.end(1) - start :]


def _has_provider_key(data: bytes) -> bool:
    """Only unbroken runs are looked at, which prose hardly has; an escape's letter may be their first."""
    match = _provider_key()[0].match
    runs = data.translate(_TO_RUNS)
    start = runs.find(_RUN)
    while start >= 0:
        end = runs.find(b" ", start)
        if match(data, start, end if end >= 0 else len(data)):
            return True
        start = runs.find(_RUN, end) if end >= 0 else -1
    return False


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


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


Find = Callable[[bytes], Sequence[tuple[int, int, int]]]


def _finder(texts: Sequence[str]) -> Find | None:
    """One scan for all of these, longest first; None where there are none."""
    if not texts:
        return None
    from ahocorasick_rs import BytesAhoCorasick, MatchKind

    scan = BytesAhoCorasick([_bytes(text) for text in texts], matchkind=MatchKind.LeftmostFirst)
    find: Find = scan.find_matches_as_indexes
    return find


@cache
def _marks() -> tuple[Find, tuple[int, ...]]:
    """A scan for all marks at once, and the number of each one's family, _PROVIDER_KEY for a provider's.

    Its matches do not overlap. No mark ends with another's beginning but where no secret could begin. None
    is shorter than three bytes: the scan looks for as many at once as the shortest has.
    """
    marks = dict.fromkeys(_PROVIDER_MARKS, _PROVIDER_KEY)
    marks |= {mark: number for number, family in enumerate(_families()) for mark in family.marks}
    find = _finder(tuple(marks))
    assert find is not None
    return find, tuple(marks.values())


# A text goes by more than once: on its way to the model, into a request's key, into the journal.
_REMEMBERED_FROM, _REMEMBERED = 32, 16_384


class Redactor:
    """Redacts the shapes of secrets and the values it was made with.

    A known value is found as it is, as JSON escapes it, once or twice, and as a URL quotes it.
    """

    def __init__(self, known: Iterable[str] = ()) -> None:
        forms = {form for value in known if len(value) >= SHORTEST_KNOWN for form in _forms(value)}
        self._known = tuple(sorted(forms, key=len, reverse=True))
        self._find = _finder(self._known)
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

    def _redacted(self, text: str) -> str:
        data = _bytes(text)
        if self._find is not None and self._find(data):
            for value in self._known:
                text = text.replace(value, MASK)
            data = _bytes(text)
        scan, families = _marks()
        found = {families[mark] for mark, _, _ in scan(data)}
        if not found:
            return text
        folded = data.lower()
        for number, (_, near, patterns) in enumerate(_families()):
            if number in found and near.search(folded):
                for pattern in patterns:
                    text = pattern.sub(_mask, text)
        if found & _MAY_BE_PROVIDERS and _has_provider_key(data):
            text = _provider_key()[1].sub(_mask, text)
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
