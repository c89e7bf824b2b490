"""What secrets look like that are not known: where one may stand, and what cuts it out.

One scan looks for all marks; only where a mark stands is looked for a shape.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

# Providers' keys are at least this long without a break; what is longer and unmarked is an identifier.
_RUN = b"a" * 20
_WORD = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
_TO_RUNS = bytes(97 if byte in _WORD else 32 for byte in range(256))
_PROVIDER = (
    r"(?:(?:sk|rk|pk|gh[opsu]|github_pat|glpat|hf|gsk|npm|pypi|xox[abp]|xapp|r8)[-_]"
    r"(?=[\w\-]*[0-9]|[\w\-]*[a-z][A-Z])|AKIA|ASIA|AIza|eyJ)([\w\-]{10,})"
)

_OPENAI = "sk-"
_PROVIDERS = "sk rk pk gho ghp ghs ghu github_pat glpat hf npm pypi xapp r8".split()
_PROVIDER_MARKS = (
    "AKIA",
    "ASIA",
    "AIza",
    "eyJ",
    "xox",
    *(name + link for name in _PROVIDERS for link in "-_"),
)
_PROVIDER_KEY, _URLS = -1, 4  # beside the numbers of families, of which OpenAI's is the first; URLs'
_MAY_BE_PROVIDERS = {_PROVIDER_KEY, 0}
# "tokens" stands in every manifest and reply: a mark of this word is what a sign may begin with behind it.
_URL, _TOKEN = "://", "token:"  # the second may hide the first's beginning
_TOKEN_MARKS = ("Token", "TOKEN", *("token" + behind for behind in "\"'\\=: \t\n\r\f\v"))
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
    """Where a pattern can match stands one of `marks`, and there `near` matches, large letters and small."""

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


def _letter_before(before: tuple[str, ...]) -> str:
    """As _behind, but for the last letter alone: it tells most words from a secret's name at once."""
    return f"(?<=[{''.join(sorted({name[-1] for name in before}))}_ -])"


def _names(word: str, before: tuple[str, ...], least: int) -> Iterator[str]:
    """Patterns for `<before>_word = value` in three spellings, beginning with a literal, which is fast."""
    for spelt in _spellings(word):
        value = rf"(?!{_CODE})({_VALUE}{{{least},}}+)(?![(\[])"
        yield rf"{spelt}{_behind(spelt, before, spellings=True)}{_SIGN}{value}"


def _shapes() -> Iterator[tuple[tuple[str, ...], str, Iterable[str]]]:
    """(marks, near, patterns): see _Family; a pattern's only group is what is cut out.

    `near` "": wherever its mark stands.
    """
    telling = rf"(?=(?:{_BODY}*[0-9])|(?:{_BODY}*[a-z][A-Z])|{_BODY}{{20}})"
    yield (_OPENAI,), "", [rf"sk-{_begins('sk-')}((?=[\w\-]*[0-9])[\w\-]{{8,}}|[\w\-]{{20,}})"]
    keys = ("api", "access", "secret", "private", "auth", "subscription", "signing")
    tokens = ("access", "auth", "refresh", "api", "bearer", "session", "id")
    key, token = _behind("key", keys, spellings=False), _behind("token", tokens, spellings=False)
    near = rf"{_letter_before(keys)}key(?:(?={_SIGN}){key}|-----)"
    near += rf"|{_letter_before(tokens)}token(?={_SIGN}){token}"
    pem = r"PRIVATE KEY-----(.+?)(?:-----END|\Z)"
    marks = (*_spellings("key"), *_TOKEN_MARKS)
    yield marks, near, (pem, *_names("key", keys, 6), *_names("token", tokens, 8))
    bearers = ("earer", "EARER")
    yield (
        tuple(f"{name} " for name in bearers),
        "(?<=b)",
        [rf"{name} +{telling}({_BODY}{{8,}})" for name in bearers],
    )
    scheme = rf"(?:(?:[Bb]earer|[Bb]asic|[Tt]oken)\s+(?={_VALUE})|{telling})"
    headers = ("uthorization", "UTHORIZATION")
    yield headers, "", [rf"{name}{_SIGN}{scheme}({_VALUE}{{3,}})" for name in headers]
    named_in_url = r"""://[^\s/:@"'<>]*:([^\s/"'<>\\]+)@"""
    yield (_URL,), named_in_url, [named_in_url]
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
            re.compile(near.encode(), re.IGNORECASE),
            tuple(re.compile(pattern, re.DOTALL) for pattern in patterns),
        )
        for marks, near, patterns in _shapes()
    )


@cache
def _provider_key() -> tuple[re.Pattern[bytes], re.Pattern[str]]:
    """To find one in UTF-8, and to cut it out of the text."""
    return re.compile(b"[nrtbf]?" + _PROVIDER.encode()), re.compile(_begins("") + _PROVIDER)


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


def as_bytes(text: str) -> bytes:
    """What is scanned of a text; lone surrogates included."""
    return text.encode("utf-8", "surrogatepass")


Find = Callable[[bytes], Sequence[tuple[int, int, int]]]


def finder(texts: Sequence[str]) -> Find | None:
    """One scan for all of these, longest first; None where there are none."""
    if not texts:
        return None
    from ahocorasick_rs import BytesAhoCorasick, MatchKind

    scan = BytesAhoCorasick([as_bytes(text) for text in texts], matchkind=MatchKind.LeftmostFirst)
    find: Find = scan.find_matches_as_indexes
    return find


@cache
def _marks() -> tuple[Find, tuple[int, ...], int]:
    """A scan for all marks, the number of each one's family (_PROVIDER_KEY: a provider's), _TOKEN's place.

    Its matches do not overlap. No mark ends with another's beginning but where no secret could begin. None
    is shorter than three bytes: the scan looks for as many at once as the shortest has. More than 64 make
    it slow.
    """
    marks = dict.fromkeys(_PROVIDER_MARKS, _PROVIDER_KEY)
    marks |= {mark: number for number, family in enumerate(_families()) for mark in family.marks}
    find = finder(tuple(marks))
    assert find is not None
    return find, tuple(marks.values()), [*marks].index(_TOKEN)


def _near(data: bytes, marked: list[tuple[int, int]]) -> set[int]:
    """Of the families whose marks stand there, those whose patterns may match: few of what prose has."""
    found: set[int] = set()
    families = _families()
    for number, start in marked:
        if number in found:
            continue
        if number == _PROVIDER_KEY or families[number].near.match(data, start):
            found.add(number)
    return found


def patterns_in(data: bytes) -> Sequence[re.Pattern[str]]:
    """What may match in the text of this UTF-8; a pattern's only group is what is to be cut out."""
    scan, families, token = _marks()
    matches = scan(data)
    if not matches:
        return ()
    marked = [(families[mark], start) for mark, start, _ in matches]
    marked += [(_URLS, end - 1) for mark, _, end in matches if mark == token]
    found = _near(data, marked)
    patterns = [
        pattern
        for number in sorted(found)
        if number != _PROVIDER_KEY
        for pattern in _families()[number].patterns
    ]
    if found & _MAY_BE_PROVIDERS and _has_provider_key(data):
        patterns.append(_provider_key()[1])
    return patterns
