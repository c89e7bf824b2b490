"""Dates and times of day, in English and Chinese, by their known parts.

A value has the form year-month-day with what is unknown left out ("2024", "2024-03", "--03-05", "---21"),
"w1" for Monday, "199x" for a decade, "2024-Q3" or "Q3" for a quarter, "15:30" for a time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from orchestra.context.figures import chinese_number
from orchestra.context.units import CLASSIFIERS, unit_at
from orchestra.text.shape import has_any, letter_runs, outline


class Dated(NamedTuple):
    """A date, or a time where `is_time`, found at [start, end)."""

    start: int
    end: int
    value: str
    unit: str = ""
    is_time: bool = False


_FULL = ("January February March April May June July August September October November December").split()
_MONTHS = {name.lower(): at + 1 for at, name in enumerate(_FULL)}
_MONTHS |= {name[:3].lower(): at + 1 for at, name in enumerate(_FULL)} | {"sept": 9}
_MONTH = "|".join((*_FULL, "Sept", *(name[:3] for name in _FULL)))
_YEAR = r"(?:1[5-9]|20)[0-9]{2}"
_DAY = r"(?:3[01]|[12][0-9]|0?[1-9])"
_ISO = re.compile(rf"(?<![0-9./-])({_YEAR})([-/.])(1[0-2]|0?[1-9])\2({_DAY})(?![0-9])")
_SLASHED = re.compile(rf"(?<![0-9./-])({_DAY})([/.])({_DAY})\2({_YEAR})(?![0-9])")
_DAY_FIRST = re.compile(
    rf"(?<![0-9A-Za-z.,-])({_DAY})(?:st|nd|rd|th)?(?: of)?[ -]({_MONTH})\b\.?"
    rf"(?:,?[ -]({_YEAR})(?![0-9A-Za-z]))?"
)
_MONTH_FIRST = re.compile(
    rf"\b({_MONTH})\b\.? ?(?:(?:the )?(?<=[ .])({_DAY})(?:st|nd|rd|th)?(?![0-9A-Za-z%:]|[.,][0-9])"
    rf"(?:,? ({_YEAR})(?![0-9A-Za-z]))?|,? ?(?<=[ ,])({_YEAR})(?![0-9A-Za-z]))"
)
_MONTH_ALONE = re.compile(
    r"\b(?:(?:in|of|since|by|until|till|from|during|last|next|this|early|late|mid|before|after|to"
    r"|between|and|every"
    r"|through)[ -])?"
    rf"({'|'.join(_FULL)})\b"
)
_YEAR_ALONE = re.compile(rf"(?<![A-Za-z0-9_$£€¥.,#/])({_YEAR})(?![0-9A-Za-z_%]|[.,/][0-9]|-[0-9]{{1,2}}-)")
_DECADE = re.compile(r"\b(1[5-9][0-9]|20[0-9])0'?s\b|(?:(\d\d)世纪)?(\d)0年代")
_WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_WEEKDAY = re.compile(
    r"\b(Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?\b|(?:星期|礼拜|周)([一二三四五六日天])(?![年岁期线])"
)
_QUARTER = re.compile(
    rf"\bQ([1-4])\b(?:(?: of)? ({_YEAR})\b)?"
    rf"|\b(?i:(first|second|third|fourth|1st|2nd|3rd|4th)[ -]quarter)\b(?:(?: of)? ({_YEAR})\b)?"
    rf"|第?([一二三四1-4])季度"
)
# Quick looks: what a pattern cannot do without is mostly not there.
_PARTED = (b"0-0", b"0/0", b"0.0")
_NEAR_HOUR = (b"0a", b"0A", b"0 a", b"0 A")  # 5pm, 5 pm, 5 p.m., 5 o'clock
HOUR_WORDS = frozenset((b"am", b"pm", b"m", b"clock"))
MONTH_WORDS = frozenset(name.encode() for name in _MONTHS)
WEEKDAY_WORDS = frozenset(f"{day}{end}".encode() for day in _WEEKDAYS for end in ("", "s"))
_NUM = "[零〇一二三四五六七八九十]"
_CHINESE = re.compile(
    rf"(?:([0-9]{{4}}|{_NUM}{{4}})\s?年度?\s?)?(?:([0-9]{{1,2}}|{_NUM}{{1,3}})\s?月(?!球|亮|薪|饼|台)份?\s?)?"
    rf"(?:([0-9]{{1,2}}|{_NUM}{{1,3}})\s?(?:日(?!元|圆|本|语)|(?<=[0-9])号(?=[，。、,.\s晚早上下至到起前])|号))?"
)
_CHINESE_START = re.compile(
    rf"(?<![0-9.零〇一二三四五六七八九十])(?=[0-9]{{1,4}}\s?[年月日号]|{_NUM}{{1,4}}[年月日号])"
)
_CLOCK = re.compile(
    r"(?<![0-9:.])([01]?[0-9]|2[0-4]):([0-5][0-9])(?::[0-5][0-9])?(?: ?([aApP])\.?[mM]\b\.?)?(?![0-9:])"
)
_HOUR = re.compile(r"(?<![0-9:.,])(1[0-2]|0?[1-9]) ?([aApP])\.?[mM]\b\.?|(?<![0-9:.])(1[0-2]|[1-9]) o'clock")
_CHINESE_CLOCK = re.compile(
    rf"(凌晨|清晨|早上|早晨|上午|中午|下午|傍晚|晚上|晚间|深夜|晚|午后)?([0-9]{{1,2}}|{_NUM}{{1,3}}|两)(点|时)"
    r"(?![间候期代刻段钟头评火])"
    rf"(?:([0-9]{{1,2}}|{_NUM}{{1,3}})分|(半)|(整|许|左右))?"
)


def find_dates(text: str) -> Iterator[Dated]:
    """Every date and time of `text`, which has half-width digits; spans may overlap, the longer is right."""
    if not text.isascii():
        yield from _chinese(text)
    words = letter_runs(text)
    months = not MONTH_WORDS.isdisjoint(words)
    shape = outline(text)
    if b"0" in shape:
        yield from _digits(text, shape, months=months)
    for match in _MONTH_ALONE.finditer(text) if months else ():
        month = _MONTHS[match[1].lower()]
        if month not in (3, 5, 8) or match.start() != match.start(1):  # may, march and august are words too
            yield Dated(*match.span(1), f"--{month:02}")
    wide = not text.isascii()
    for match in _WEEKDAY.finditer(text) if wide or not WEEKDAY_WORDS.isdisjoint(words) else ():
        day = "一二三四五六日天".index(match[2]) % 7 + (0 if match[2] != "天" else 6) if match[2] else 0
        if match[1]:
            day = next(at for at, name in enumerate(_WEEKDAYS) if name.startswith(match[1].lower()))
        yield Dated(*match.span(), f"w{day + 1}")
    for match in _QUARTER.finditer(text) if wide or "Q" in text or b"quarter" in words else ():
        named = (match[1] or match[3] or match[5]).lower()
        number = next(at for at, keys in enumerate(_QUARTERS) if named in keys) + 1
        year = match[2] or match[4]
        yield Dated(*match.span(), f"{year}-Q{number}" if year else f"Q{number}")


_QUARTERS = (
    ("1", "first", "1st", "一"),
    ("2", "second", "2nd", "二"),
    ("3", "third", "3rd", "三"),
    ("4", "fourth", "4th", "四"),
)


def _digits(text: str, shape: bytes, *, months: bool) -> Iterator[Dated]:
    parted = has_any(shape, _PARTED)
    for match in _ISO.finditer(text) if parted else ():
        yield Dated(*match.span(), _value(match[1], match[3], match[4]))
    for match in _SLASHED.finditer(text) if parted else ():
        first, second = int(match[1]), int(match[3])
        if min(first, second) <= 12:
            swapped = first > 12 or match[2] == "."
            month, day = (second, first) if swapped else (first, second)
            open_order = not swapped and second <= 12 and first != second
            yield Dated(*match.span(), _value(match[4], str(month), str(day)), "m/d" if open_order else "")
    for match in _DAY_FIRST.finditer(text) if months else ():
        yield Dated(*match.span(), _value(match[3], _month(match[2]), match[1]))
    for match in _MONTH_FIRST.finditer(text) if months else ():
        yield Dated(*match.span(), _value(match[3] or match[4], _month(match[1]), match[2]))
    for match in _YEAR_ALONE.finditer(text) if b"0000" in shape else ():
        counts = text[match.end() : match.end() + 1] in CLASSIFIERS and match.end() < len(text)
        if (not counts and not unit_at(text, match.end())[0]) or text[match.end() : match.end() + 1] == "-":
            yield Dated(*match.span(), match[1])
    for match in _DECADE.finditer(text) if "0s" in text or "0's" in text or "0年代" in text else ():
        if match[1]:
            yield Dated(*match.span(), f"{match[1]}x")
        elif match[2]:
            yield Dated(*match.span(), f"{int(match[2]) - 1}{match[3]}x")
    for match in _CLOCK.finditer(text) if b":" in shape else ():
        yield _time(match, int(match[1]), int(match[2]), (match[3] or "").lower())
    hours = has_any(shape, _NEAR_HOUR) and not HOUR_WORDS.isdisjoint(letter_runs(text))
    for match in _HOUR.finditer(text) if hours else ():
        yield _time(match, int(match[1] or match[3]), 0, (match[2] or "").lower())


def _chinese(text: str) -> Iterator[Dated]:
    for opening in _CHINESE_START.finditer(text):
        match = _CHINESE.match(text, opening.start())
        if match is None or not match[0]:
            continue
        year, month, day = (_read(part) for part in match.groups())
        if not (match[1] or match[2] or match[3]):
            continue
        if (month is not None and not 1 <= month <= 12) or (day is not None and not 1 <= day <= 31):
            continue
        if year is not None and not 1000 <= year <= 2999:
            continue
        if match[3] and not match[2] and match[0].rstrip().endswith("号"):
            continue  # 3号 without a month is a building, a gate, a player
        yield Dated(
            match.start(),
            match.start() + len(match[0].rstrip()),
            _value(*(_text(part) for part in (year, month, day))),
        )
    for match in _CHINESE_CLOCK.finditer(text):
        hour, minute = _read(match[2].replace("两", "二")), _read(match[4])
        if hour is None or hour > 24 or (minute or 0) > 59:
            continue
        if not (match[1] or match[4] or match[5] or match[6]) and not (
            match[3] == "时" and match[2].isdigit()
        ):
            continue
        half = (
            "p"
            if match[1] in ("下午", "傍晚", "晚上", "晚间", "深夜", "晚", "午后")
            else "a"
            if match[1]
            else ""
        )
        if match[1] == "中午":
            half = "p"
        yield _time(match, hour, 30 if match[5] else minute or 0, half)


def _time(match: re.Match[str], hour: int, minute: int, half: str) -> Dated:
    """Without a.m. or p.m. an hour up to twelve may be either; its unit then says "12"."""
    if half == "p" and hour < 12:
        hour += 12
    elif half == "a" and hour == 12:
        hour = 0
    return Dated(*match.span(), f"{hour:02}:{minute:02}", "" if half or hour > 12 else "12", True)


def _read(part: str | None) -> int | None:
    if not part:
        return None
    if part[0].isdigit():
        return int(part)
    number = chinese_number(part)
    return None if number is None else int(number)


def _text(part: int | None) -> str | None:
    return None if part is None else str(part)


def _month(name: str) -> str:
    return str(_MONTHS[name.lower()])


def _value(year: str | None, month: str | None, day: str | None) -> str:
    if month is None and day is None:
        return str(year)
    value = f"{year or '-'}-{int(month):02}" if month else f"{year or '-'}--" if year else "--"
    return f"{value}-{int(day):02}" if day else value


def same_date(one: str, other: str) -> bool:
    """Whether every part that both dates name is the same, and there is one that both name."""
    if one == other:
        return True
    mine, theirs = _parts(one), _parts(other)
    both = mine.keys() & theirs.keys()
    return bool(both) and all(mine[key] == theirs[key] for key in both)


def date_parts(value: str) -> dict[str, str]:
    """The parts that `value` names: year, month, day, quarter, weekday, decade."""
    return _parts(value)


_VALUE = re.compile(
    r"(?P<year>\d{4})?-{0,2}(?:(?<=-)(?P<month>\d\d)(?!\d))?(?:-{1,2}(?P<day>\d\d))?(?:-?Q(?P<quarter>\d))?"
)


def _parts(value: str) -> dict[str, str]:
    if value[0] == "w":
        return {"weekday": value}
    if value.endswith("x"):
        return {"decade": value}
    if value.startswith("---"):
        return {"day": value[3:]}
    match = _VALUE.fullmatch(value)
    return {key: part for key, part in match.groupdict().items() if part} if match else {"text": value}
