"""Numbers, amounts of money and percentages: in digits, in English words, in Chinese numerals."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from orchestra.context.units import CLASSIFIERS, CURRENCIES, CURRENCY_SIGNS, unit_at
from orchestra.text.shape import letter_runs, outline
from orchestra.values.facts import FactKind


class Figure(Struct, frozen=True, gc=False):
    """A number found at [start, end), its scale multiplied out."""

    start: int
    end: int
    value: float
    unit: str
    pair: str = ""  # a score as it compares, "3:1"; its value is then the first number

    @property
    def kind(self) -> FactKind:
        if self.unit in ("%", "‰", "bp"):
            return "percent"
        return "money" if self.unit in CURRENCIES else "number"


_SCALES = {
    "hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12, "dozen": 12.0,
    "mn": 1e6, "bn": 1e9, "tn": 1e12, "mln": 1e6, "bln": 1e9, "k": 1e3, "m": 1e6, "b": 1e9, "t": 1e12,
    "百": 1e2, "千": 1e3, "万": 1e4, "百万": 1e6, "千万": 1e7, "亿": 1e8, "万亿": 1e12,
    "十亿": 1e9, "百亿": 1e10, "千亿": 1e11, "十万": 1e5, "兆": 1e12,
}  # fmt: skip
_SMALL = {
    word: float(value)
    for value, word in enumerate(
        """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
        sixteen seventeen eighteen nineteen""".split()
    )
} | {
    word: 10.0 * (value + 2)
    for value, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split())
}
_BIG = {word: _SCALES[word] for word in ("hundred", "thousand", "million", "billion", "trillion", "dozen")}
_ORDINALS = {
    word: float(value + 1)
    for value, word in enumerate(
        "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth".split()
    )
}
_TIMES = {
    "twice": 2.0, "double": 2.0, "doubled": 2.0, "doubles": 2.0, "doubling": 2.0, "thrice": 3.0,
    "triple": 3.0, "tripled": 3.0, "triples": 3.0, "tripling": 3.0, "quadruple": 4.0, "quadrupled": 4.0,
}  # fmt: skip
_PARTS = {"half": 2, "halves": 2, "third": 3, "quarter": 4, "fifth": 5, "sixth": 6, "eighth": 8, "tenth": 10}

_CURRENCY = "|".join(re.escape(sign) for sign in sorted(CURRENCY_SIGNS, key=len, reverse=True))
_DIGITS = re.compile(
    rf"(?:(?<![A-Za-z])(?P<money>{_CURRENCY})\s?)?"
    r"(?<![A-Za-z0-9_])(?P<sign>(?<![\w)\]%])-)?"
    r"(?P<number>[0-9]{1,3}(?:,[0-9]{3})+(?![0-9])(?:\.[0-9]+)?"
    r"|[0-9]{1,3}(?:[\u00a0\u202f\u2009][0-9]{3})+(?![0-9])|[0-9]+(?:\.[0-9]+)?|(?<![0-9.])\.[0-9]+)"
    r"(?:(?P<ordinal>st|nd|rd|th)(?![A-Za-z])"
    r"|(?P<power>[eE][+-]?[0-9]{1,3})(?![A-Za-z0-9])"
    r"|[\s-]?(?P<word>(?i:hundred|thousand|million|billion|trillion|dozen|mln|bln|mn|bn|tn))(?![A-Za-z])"
    r"|\s?(?P<letter>[kKMBT]|(?<=[0-9])[mb])(?![A-Za-z0-9/²³])"
    r"|[多余几]?(?P<scale>万亿|[十百千]亿|[十百千]万|亿|万|千(?![米克瓦卡焦])|百(?!分)|兆(?!瓦)))?"
)
_DIGIT = re.compile("[0-9]")
_BEFORE_DIGIT, _BEFORE_MONEY = 2, max(map(len, CURRENCY_SIGNS)) + 3  # minus, point; sign and space too
_SCORE = re.compile(r"(?<![0-9A-Za-z.:/-])([0-9]{1,3})\s?([:比-])\s?([0-9]{1,3})(?![0-9A-Za-z%.:/-]|,[0-9])")
_RANGE = re.compile(r"\s?(?:-|~|to|至|到)\s?")
_WORD = "|".join((*_SMALL, *_BIG))
_RUN = re.compile(
    rf"(?i)\b(?:(?:half[\s-]an?|an?)[\s-](?={'|'.join(_BIG)})\b)?"
    rf"(?:(?:{_WORD})(?:,?[\s-]+and[\s-]+|[\s-]+))*(?:{_WORD})\b"
)
NUMBER_WORDS = frozenset(
    word.encode() for word in (*_SMALL, *_BIG, *_ORDINALS, *_TIMES, *_PARTS, *(f"{part}s" for part in _PARTS))
)
_RUN_WORD = re.compile(rf"(?i)half[\s-]an?\b|an?\b|(?:{_WORD})\b")
_SINGLE = re.compile(
    rf"(?i)\b(?:(?P<count>an?|one|two|three|four|five|seven)[\s-](?P<part>{'|'.join(_PARTS)})s?"
    rf"|(?P<ordinal>{'|'.join(_ORDINALS)})|(?P<times>{'|'.join(_TIMES)}))\b"
)
_NUMERAL = {char: value for value, char in enumerate("零一二三四五六七八九")} | {
    "〇": 0, "两": 2, "壹": 1, "贰": 2, "叁": 3, "肆": 4, "伍": 5, "陆": 6, "柒": 7, "捌": 8, "玖": 9,
}  # fmt: skip
_STEP = {"十": 10, "拾": 10, "百": 100, "佰": 100, "千": 1000, "仟": 1000}
_CHINESE_CHARS = "零〇一二两三四五六七八九十百千万亿壹贰叁肆伍陆柒捌玖拾佰仟"
_MEASURES = (
    "个名人天日月年次家位项件元岁点时分辆台本条万亿种只部层级所座间场届倍成章节页栋支队批轮号起处户期篇"
    "封股份组套块张片颗枚艘架门口头匹根秒小周星升米克吨公千毫英美欧镑角阶"
)
_CHINESE = re.compile(
    rf"(?P<percent>百分之)?(?P<ordinal>第)?(?P<number>[{_CHINESE_CHARS}]+(?:点[零〇一二三四五六七八九]+)?)"
    rf"(?P<of>分之[{_CHINESE_CHARS}]+)?"
)
_VAGUE = re.compile("十分(?![钟之])|万一|一一|百般|万万|千万(?![元美人])|[百千万亿]")


def find_figures(text: str) -> Iterator[Figure]:
    """Every number of `text`; spans of the three ways of writing may overlap, the longer is the right one.

    `text` has half-width digits and plain dashes.
    """
    shape = outline(text)
    if b"0" in shape:
        money = b"$" in shape or b"AA" in shape or not text.isascii()
        yield from _digits(text, _BEFORE_MONEY if money else _BEFORE_DIGIT)
        if ":" in text or "-" in text or "比" in text:
            yield from _scores(text)
    if not text.isascii():
        yield from _chinese(text)
    if not NUMBER_WORDS.isdisjoint(letter_runs(text)):
        yield from _words(text)


def _scores(text: str) -> Iterator[Figure]:
    """3:1, 3比1 and 6-4 are one figure each; a rising 3-5 is a range."""
    for match in _SCORE.finditer(text):
        home, guest = int(match[1]), int(match[3])
        if match[2] not in "-–" or home >= guest:
            yield Figure(*match.span(), home, "score", f"{home}:{guest}")


def _numbers(text: str, before: int) -> Iterator[re.Match[str]]:
    """What `_DIGITS` finds; it is tried only where a digit is near, as it takes long to find nothing."""
    end = at = 0
    while digit := _DIGIT.search(text, at):
        at = digit.start()
        if before == _BEFORE_DIGIT and text[at - 1 : at] not in ("-", "."):
            match = _DIGITS.match(text, at)
        else:
            tries = (_DIGITS.match(text, start) for start in range(max(end, at - before), at + 1))
            match = next((found for found in tries if found), None)
        at += 1
        if match:
            yield match
            at = end = match.end()


def _digits(text: str, window: int) -> Iterator[Figure]:
    before: Figure | None = None
    for match in _numbers(text, window):
        value = _decimal(match)
        end = match.end()
        if match["ordinal"] or text[match.start() - 1 : match.start()] == "第":
            unit = "ordinal"
        else:
            unit, end = unit_at(text, end)
            if not unit and text[end : end + 1] in CLASSIFIERS and end < len(text):
                unit, end = text[end], end + 1
        if match["money"]:
            unit = CURRENCY_SIGNS[match["money"]]
        figure = Figure(match.start(), end, value, unit)
        if before and match["scale"] != "亿" and before.end == figure.start and text[before.end - 1] == "亿":
            # 3亿5000万 is one number in two steps
            figure = Figure(before.start, end, before.value + value, unit)
        elif before:
            in_range = not before.unit and figure.unit not in ("", "ordinal")
            if in_range and _RANGE.fullmatch(text, before.end, figure.start):
                before = Figure(before.start, before.end, before.value, figure.unit)  # 40 to 90 mg
            yield before
        before = figure
    if before:
        yield before


def _decimal(match: re.Match[str]) -> float:
    written = re.sub(r"[,\u00a0\u202f\u2009]", "", match["number"])
    value = float(written + (match["power"] or ""))  # 1e400 is infinite and no error
    if match["word"]:
        value *= _SCALES[match["word"].lower()]
    elif match["letter"]:
        # A small m is a metre and a small b a bit, unless money stands before the number.
        small = match["letter"] in "mb" and not match["money"]
        value *= 1.0 if small else _SCALES[match["letter"].lower()]
    elif match["scale"]:
        value *= _SCALES[match["scale"]]
    return -value if match["sign"] else value


def _words(text: str) -> Iterator[Figure]:
    for match in _RUN.finditer(text):
        for start, end, value in _read_run(text, match):
            unit, stop = unit_at(text, end)
            if value != 1 or unit:  # a bare "one" is a pronoun more often than a number
                yield Figure(start, stop if unit else end, value, unit)
    for match in _SINGLE.finditer(text):
        if match["part"]:
            count = {"a": 1, "an": 1}.get(match["count"].lower()) or _SMALL[match["count"].lower()]
            yield Figure(*match.span(), count / _PARTS[match["part"].lower()], "")
        elif match["ordinal"]:
            yield Figure(*match.span(), _ORDINALS[match["ordinal"].lower()], "ordinal")
        else:
            yield Figure(*match.span(), _TIMES[match["times"].lower()], "times")


def _read_run(text: str, run: re.Match[str]) -> Iterator[tuple[int, int, float]]:
    """The numbers of a run of number words: "two hundred and three" is one, "five and six" are two."""
    total = current = 0.0
    start = end = -1
    for match in _RUN_WORD.finditer(text, *run.span()):
        word = match[0].lower()
        if word.startswith(("half", "a")):
            current, start, end = (0.5 if word[0] == "h" else 1.0), match.start(), match.end()
            continue
        if word in _BIG:
            if start < 0:
                continue  # "hundred" alone is no number
            if word in ("hundred", "dozen"):
                current *= _BIG[word]
            else:
                total, current = total + current * _BIG[word], 0.0
        else:
            if start >= 0 and not _goes_on(total, current, _SMALL[word], text[end : match.start()]):
                yield start, end, total + current
                total = current = 0.0
                start = -1
            current += _SMALL[word]
            start = match.start() if start < 0 else start
        end = match.end()
    if start >= 0:
        yield start, end, total + current


def _goes_on(total: float, current: float, value: float, between: str) -> bool:
    if "and" in between.lower():
        return value < 100 and ((current >= 100 and current % 100 == 0) or (current == 0 and total > 0))
    if current == 0:
        return total > 0 and value < 1000
    if current % 100 == 0 and current >= 100:
        return value < 100
    return current % 100 >= 20 and current % 10 == 0 and 0 < value < 10


def _chinese(text: str) -> Iterator[Figure]:
    for match in _CHINESE.finditer(text):
        run = match["number"]
        start, end = match.span()
        value = chinese_number(run)
        vague = text[start - 1 : start] in ("几", "数", "上", "成") and run[0] in "十百千万亿"
        if value is None or vague:
            continue
        if match["percent"]:
            yield Figure(start, end, value, "%")
        elif match["of"]:
            above = chinese_number(match["of"][2:])
            if above is not None and value:
                percent = value == 100 and run[-1] == "百"
                yield Figure(start, end, above if percent else above / value, "%" if percent else "")
        elif match["ordinal"]:
            yield Figure(start, end, value, "ordinal")
        else:
            yield from _counted(text, start, end, value)


def _counted(text: str, start: int, end: int, value: float) -> Iterator[Figure]:
    """A numeral that counts something; 一 in 一些 and 十分 in 十分重要 do not."""
    after = text[end : end + 1]
    if _VAGUE.match(text, start) or (end - start == 1 and after not in tuple(_MEASURES)):
        return
    unit, stop = unit_at(text, end)
    if after == "成" and value < 10:
        yield Figure(start, end + 1, value * 10, "%")
    elif value != 1 or unit:
        if not unit and after in CLASSIFIERS and after:
            unit, stop = after, end + 1
        yield Figure(start, stop, value, unit)


def chinese_number(run: str) -> float | None:
    """三百五十万 as 3500000, 二〇二四 as 2024, 三点五 as 3.5; None for what is no number."""
    whole, _, rest = run.partition("点")
    if rest:
        base = chinese_number(whole)
        return None if base is None else base + float("0." + "".join(str(_NUMERAL[char]) for char in rest))
    if all(char in _NUMERAL for char in whole):
        return float("".join(str(_NUMERAL[char]) for char in whole)) if whole else None
    total = section = digit = 0.0
    for at, char in enumerate(whole):
        if char in _NUMERAL:
            digit = float(_NUMERAL[char])
        elif char in _STEP:
            section += (digit or 1.0) * _STEP[char]
            digit = 0.0
        else:
            if at == 0:
                return None
            total = (total + section + digit) * (1e4 if char == "万" else 1e8)
            section = digit = 0.0
    return total + section + digit
