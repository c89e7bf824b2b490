"""Dates of turns and dates asked for, brought to the same keys: `y2023`, `m5`, `d7`, `w0` (Monday)."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, date, datetime

from orchestra.context.recall.words import plain_numbers

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_MONTH = (
    "(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_WEEKDAY = re.compile(
    r"\b(mon|tues|wednes|thurs|fri|satur|sun)days?\b|(?:星期|周|礼拜)([一二三四五六日天])", re.IGNORECASE
)
_ISO = re.compile(r"(?<!\d)(\d{4})[-/.](\d{1,2})(?:[-/.](\d{1,2}))?(?![\d])")
_HAN = re.compile(r"(?:(\d{4})年)?(\d{1,2})月(?:(\d{1,2})[日号])?|(\d{4})年")
_DAY_FIRST = re.compile(rf"\b(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? {_MONTH},?(?: (\d{{4}}))?", re.IGNORECASE)
_MONTH_FIRST = re.compile(
    rf"\b{_MONTH}(?: (\d{{1,2}})(?:st|nd|rd|th)?(?![\d:]))?(?:,? (\d{{4}}))?", re.IGNORECASE
)
_YEAR = re.compile(r"(?<![\d$.,])(?:19|20)\d\d(?![\d,.]\d|\d)")
_CLOCK = re.compile(r"(?<!\d)(\d{1,2}):(\d{2})(?::\d{2})?\s*([ap]\.?m)?", re.IGNORECASE)

Parts = tuple[int | None, int | None, int | None]
"""Year, month and day, as far as they are given."""


def moment(time: str | float | None) -> datetime | None:
    """A turn's time: seconds since the epoch (shown in UTC), or a text with at least year, month and day."""
    if time is None or time == "":
        return None
    if not isinstance(time, str):
        return datetime.fromtimestamp(time, UTC).replace(tzinfo=None)
    for year, month, day in named(time):
        if year and month and day:
            hour, minute = _clock(time)
            try:
                return datetime(year, month, day, hour, minute)
            except ValueError:
                return None
    return None


def named(text: str) -> list[Parts]:
    """Every date, month or year that a text names."""
    found: list[Parts] = []
    text = plain_numbers(text)
    rest = _take(_ISO, text, found, lambda m: (_int(m[1]), _int(m[2]), _int(m[3])))
    rest = _take(_HAN, rest, found, lambda m: (_int(m[1] or m[4]), _int(m[2]), _int(m[3])))
    rest = _take(_DAY_FIRST, rest, found, lambda m: (_int(m[3]), _month(m[2]), _int(m[1])))
    rest = _take(_MONTH_FIRST, rest, found, _month_first)
    found.extend((int(year), None, None) for year in _YEAR.findall(rest))
    return [parts for parts in found if any(parts)]


def keys_of(when: datetime) -> tuple[str, ...]:
    """The keys under which a day is found."""
    return (f"y{when.year}", f"m{when.month}", f"d{when.day}", f"w{when.weekday()}")


def asked_keys(text: str) -> tuple[list[str], list[Parts]]:
    """The keys that a question asks for, and the dates in it."""
    dates = named(text)
    keys: list[str] = []
    for year, month, day in dates:
        keys += [f"{kind}{value}" for kind, value in (("y", year), ("m", month), ("d", day)) if value]
    for latin, han in _WEEKDAY.findall(text):
        number = _DAYS.index(latin[:3].lower()) if latin else "一二三四五六日天".index(han) % 7
        keys.append(f"w{6 if han == '天' else number}")
    return list(dict.fromkeys(keys)), dates


def closeness(asked: list[Parts], when: date) -> float:
    """1 on a day that was asked for, falling over the week after it: people tell a thing when it is over."""
    best = 0.0
    for year, month, day in asked:
        if not (month and day):
            continue
        try:
            gap = (when - date(year or when.year, month, day)).days
        except ValueError:
            continue
        if 0 <= gap <= 7:
            best = max(best, 1 / (1 + gap))
    return best


def heading(when: datetime, with_clock: bool) -> str:
    """`Mon 8 May 2023`, with `, 13:56` where a day alone would not tell."""
    day = f"{_DAYS[when.weekday()].title()} {when.day} {_MONTHS[when.month - 1].title()} {when.year}"
    return f"{day}, {when:%H:%M}" if with_clock else day


def _take(
    pattern: re.Pattern[str], text: str, found: list[Parts], parts: Callable[[re.Match[str]], Parts]
) -> str:
    def keep(match: re.Match[str]) -> str:
        year, month, day = parts(match)
        if (month is None or 1 <= month <= 12) and (day is None or 1 <= day <= 31):
            found.append((year, month, day))
            return " "
        return match.group()

    return pattern.sub(keep, text)


def _month_first(match: re.Match[str]) -> Parts:
    """The bare words may and march are a month only with a capital and not at a sentence's start."""
    word, day, year = match[1], match[2], match[3]
    if not day and not year:
        before = match.string[: match.start()].rstrip()
        if word.lower() in ("may", "march", "mar") and (
            word[0].islower() or not before or before[-1] in ".!?\n"
        ):
            return (None, None, None)
        if len(word) < 4 and word.lower() != "may":
            return (None, None, None)
    return (_int(year), _month(word), _int(day))


def _month(word: str) -> int:
    return _MONTHS.index(word[:3].lower()) + 1


def _int(digits: str | None) -> int | None:
    return int(digits) if digits else None


def _clock(text: str) -> tuple[int, int]:
    match = _CLOCK.search(text)
    if match is None:
        return 0, 0
    hour, minute, half = int(match[1]), int(match[2]), (match[3] or "").lower().replace(".", "")
    if half:
        hour = hour % 12 + (12 if half == "pm" else 0)
    return (hour, minute) if hour < 24 and minute < 60 else (0, 0)
