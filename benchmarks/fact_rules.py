"""The baseline beside `facts.py`: plain rules, independent of the product's extractor.

R1: a number of the summary is not in the source, by value. R3: also months and weekdays, ids, e-mails and
URLs, and capitalised words. They also select, from an original and its edit, the edits that change a
number, a date or an id, so that what the product's extractor overlooks still counts.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from orchestra.text.terms import stem

_SMALL = {
    word: value
    for value, word in enumerate(
        """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
        sixteen seventeen eighteen nineteen""".split()
    )
} | {
    word: 10 * (value + 2)
    for value, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split())
}
_SCALE = {"hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12}
_SHORT = {"k": 1e3, "m": 1e6, "mn": 1e6, "b": 1e9, "bn": 1e9, "万": 1e4, "亿": 1e8, "千": 1e3, "百": 1e2}
_ORDINAL = dict(
    zip("first second third fourth fifth sixth seventh eighth ninth tenth".split(), range(1, 11), strict=True)
) | {"twice": 2, "double": 2, "doubled": 2, "triple": 3, "half": 0.5, "quarter": 0.25}
_DIGITS = re.compile(
    r"(?<![\w.])[-+]?[$€£¥]?(\d[\d,]*(?:\.\d+)?)"
    r"(?:\s?(hundred|thousand|million|billion|trillion|bn|mn|[kKmMbB](?![a-zA-Z])|万|亿|千|百))?"
)
_NTH = re.compile(r"\b(\d+)(?:st|nd|rd|th)\b")
_MONTHS = "january february march april may june july august september october november december".split()
_DAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_MONTH_DAY = re.compile(r"\b(may|march|jan|feb|mar|apr|jun|jul|aug|sep|oct|nov|dec)\.? \d{1,2}\b")
_ID = re.compile(
    r"https?://\S+|[\w.+-]+@[\w-]+\.[\w.]+"
    r"|#?\b(?=[A-Za-z0-9_-]*\d)(?=[A-Za-z0-9_-]*[A-Za-z])[A-Za-z0-9][A-Za-z0-9_-]{2,}\b"
)
_NO_ID = re.compile(r"\d+(?:st|nd|rd|th|s|am|pm|k|m|bn|h|x)")
_NAME = re.compile(r"[A-Za-z][A-Za-z.'&-]*")
_OPENERS = frozenset(
    """a an and are as at be but by for from had has have he her his i if in into is it its my no not of on or
    our she so that the their them then there these they this to was we were what when where which who why
    will with would you your""".split()
)


def numbers(text: str) -> set[float]:
    """Values in digits and in English words."""
    even = unicodedata.normalize("NFKC", text)
    found = {float(match[1]) for match in _NTH.finditer(even)}
    for match in _DIGITS.finditer(even):
        unit = (match[2] or "").lower()
        value = float(match[1].replace(",", "").rstrip("."))
        found.add(round(value * (_SCALE.get(unit) or _SHORT.get(unit) or 1), 4))
    current: float | None = None
    for word in [*re.findall(r"[a-z]+", even.lower()), ""]:
        if word in _SMALL:
            value = _SMALL[word]
            current = value if current is None or current % 10 or current < 20 else current + value
        elif word in _SCALE and current is not None:
            current *= _SCALE[word]
        elif not (word == "and" and current is not None and current >= 100):
            if current is not None:
                found.add(float(current))
                current = None
            if word in _ORDINAL:
                found.add(float(_ORDINAL[word]))
    return found


def dates(text: str) -> set[str]:
    """Months and weekdays."""
    even = unicodedata.normalize("NFKC", text).lower()
    words = set(re.findall(r"[a-z]+", even))
    found = {month[:3] for month in _MONTHS if month in words and month not in ("may", "march")}
    found |= {match[1][:3] for match in _MONTH_DAY.finditer(even)}
    return found | {day for day in _DAYS if day in words}


def ids(text: str) -> set[str]:
    """Ids, e-mail addresses, URLs."""
    found = (item.lower().rstrip(".,") for item in _ID.findall(unicodedata.normalize("NFKC", text)))
    return {item for item in found if not _NO_ID.fullmatch(item)}


def changes_a_hard_fact(one: str, other: str) -> bool:
    """Whether an edit changed a number, a date or an id, in either direction."""
    return numbers(one) != numbers(other) or dates(one) != dates(other) or ids(one) != ids(other)


class Plain:
    """A source as the plain rules see it."""

    def __init__(self, text: str) -> None:
        even = unicodedata.normalize("NFKC", text)
        self.numbers = numbers(text)
        self.dates = dates(text)
        self.low = even.lower()
        self.flat = re.sub(r"[^a-z0-9]+", "", self.low)
        self.stems = {_stem(word) for word in re.findall(r"[a-z]+", self.low)}

    def r1(self, summary: str) -> bool:
        """Whether a number of `summary` is not here; a half, a quarter and one always are."""
        return any(not self._has(value) for value in numbers(summary))

    def r3(self, summary: str) -> bool:
        """Whether a number, a date, an id or a name of `summary` is not here."""
        if self.r1(summary) or dates(summary) - self.dates - {day for day in _MONTHS if day[:3] in self.low}:
            return True
        if any(item not in self.low and _flat(item) not in self.flat for item in ids(summary)):
            return True
        return any(_flat(name) not in self.flat and _stem(name) not in self.stems for name in names(summary))

    def _has(self, value: float) -> bool:
        if value in self.numbers or value in (1, 0.5, 0.25) or round(value * 100, 4) in self.numbers:
            return True
        return any(abs(value - known) <= 0.005 * known for known in self.numbers if known >= 1_000)


def names(text: str) -> list[str]:
    """Capitalised words that do not open a sentence."""
    found = []
    for sentence in re.split(r"(?<=[.!?])\s+|\n", unicodedata.normalize("NFKC", text)):
        for at, word in enumerate(_NAME.findall(sentence)):
            bare = re.sub(r"'s$|'$|\.$", "", word)
            if at and bare[:1].isupper() and bare not in ("I", "I'm", "I'll", "I've", "I'd"):
                found.append(bare.lower())
    return [name for name in found if name not in _OPENERS]


def _flat(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "", text.lower())


@lru_cache(maxsize=1 << 15)
def _stem(word: str) -> str:
    return stem(word)
