"""What of a turn is compared when something said earlier is looked for.

On top of `text.terms`: irregular forms meet their plain form (`went` and `go`), a last weak letter of a stem
is dropped (`injury` and `injured`), dates in either script meet (`三月` and `3月`), and Chinese is indexed by
pairs and by single characters. A question is freed of what only asks (`什么时候`, `有没有`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from orchestra.text.terms import query_terms, stem, terms

SINGLE = 0.5
"""Weight of a Chinese character that was asked for beside its pairs."""
LOOSE = 0.1
"""Weight of a pair that holds a function character, such as 去了."""

HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003134f]+")

# Irregular English forms behind their plain form; kinship and media words whose short forms are everyday.
_IRREGULAR = """go went gone goes|buy bought|bring brought|begin began begun|become became
break broke broken|build built|catch caught|choose chose chosen|come came|draw drew drawn
drive drove driven|drink drank drunk|eat ate eaten|fall fell fallen|feel felt
fight fought|find found|fly flew flown|forget forgot forgotten|forgive forgave forgiven
freeze froze frozen|get got gotten|give gave given|grow grew grown|hang hung|hear heard
hide hid hidden|hold held|keep kept|know knew known|lay laid|lead led|learn learnt
leave left|lend lent|lose lost|make made|mean meant|meet met|pay paid|ride rode ridden
ring rang rung|rise rose risen|run ran|say said|see saw seen|seek sought|sell sold
send sent|shake shook shaken|shine shone|shoot shot|sing sang sung|sink sank sunk|sit sat
sleep slept|speak spoke spoken|spend spent|stand stood|steal stole stolen|stick stuck
strike struck|swear swore sworn|sweep swept|swim swam swum|take took taken|teach taught
tear tore torn|tell told|think thought|throw threw thrown|understand understood
wake woke woken|wear wore worn|win won|write wrote written|child children kid kids
man men|woman women|person people|foot feet|tooth teeth|mouse mice|goose geese|wife wives
life lives|leaf leaves|knife knives|wolf wolves|shelf shelves
mother mom mum mommy mummy moms mums|father dad daddy dads
photo photograph picture pic pics|television tv|movie film|bicycle bike bikes"""

# What only asks, and what only joins: neither tells what is asked about.
_ASKS = re.compile(
    "什么时候|什么时间|什么地方|什么样|为什么|怎么样|怎么会|是什么|叫什么|做什么|干什么|有什么|什么|多少|多久|多长|多大|多远"
    "|哪一个|哪一天|哪一年|哪里|哪儿|哪些|哪个|哪位|哪种|哪家|哪天|哪年|哪|怎么|怎样|如何|几个|几次|几点|几号|几年|几岁"
    "|是不是|有没有|能不能|会不会|可不可以|是否|请问|告诉我|还记得|记得|曾经|谁|吗|呢|吧|啊|呀|嘛"
)
_FUNCTION = frozenset(
    "的了是在和与跟及或也都就还又很不没有我你您他她它们这那个把被给对从到向为以而但因所着过得地之其么"
    "能会要可让些请吗呢吧啊呀哦嗯"
)
_DIGITS = {c: n for n, c in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2, "廿": 20, "卅": 30}
_NUMERAL = re.compile("[零〇一二两三四五六七八九十百]{1,5}(?=[年月日号点岁个次元块周天])")
_COUNTED = re.compile(r"\d+[年月日号点岁次]")


@cache
def _plain_forms() -> dict[str, str]:
    forms: dict[str, str] = {}
    for group in _IRREGULAR.replace("\n", "|").split("|"):
        plain, *others = group.split()
        for other in others:
            forms[stem(other)] = _weak(stem(plain))
    return forms


def plain_terms(text: str) -> list[str]:
    """The terms of a name or a heading."""
    return _folded(terms(text))


def turn_terms(text: str) -> list[str]:
    """The terms under which a turn is found."""
    if text.isascii():
        return _folded(terms(text))
    text = plain_numbers(text)
    found = _folded(terms(text))
    for run in HAN.findall(text):
        if len(run) > 1:
            found += [char for char in run if char not in _FUNCTION]
    return found + _counted(text)


def asked_terms(text: str, names: Iterable[str] = ()) -> dict[str, float]:
    """The different terms of a question with their weights, in their order.

    `names` are taken out of a text without spaces, where they would stick to what stands beside them.
    """
    if text.isascii():
        return dict.fromkeys(_folded(query_terms(text)), 1.0)
    text = plain_numbers(text)
    for name in names:
        text = text.replace(name, " ")
    asked: dict[str, float] = {}
    for term in _folded(query_terms(_ASKS.sub(" ", text))):
        loose = len(term) <= 2 and any(char in _FUNCTION for char in term)
        asked.setdefault(term, LOOSE if loose else 1.0)
    for run in HAN.findall(_ASKS.sub(" ", text)):
        for char in run:
            if char not in _FUNCTION:
                asked.setdefault(char, SINGLE)
    for term in _counted(text):
        asked[term] = 1.0
    return asked


def plain_numbers(text: str) -> str:
    """Small Chinese numerals before a counting word as digits: 三月 as 3月, 二十五号 as 25号."""
    return _NUMERAL.sub(lambda match: str(_value(match.group())), text)


def _value(numeral: str) -> int | str:
    if not any(char in "十百" for char in numeral):
        return "".join(str(_DIGITS[char]) for char in numeral)  # 二〇二三 is read digit by digit
    total = 0
    digit = 0
    for char in numeral:
        if char in "十百":
            total += (digit or 1) * (10 if char == "十" else 100)
            digit = 0
        else:
            digit = _DIGITS[char]
    return total + digit


def _counted(text: str) -> list[str]:
    return [match.replace("号", "日") for match in _COUNTED.findall(text)]


def _folded(found: list[str]) -> list[str]:
    forms = _plain_forms()
    return [forms.get(term) or _weak(term) for term in found]


def _weak(term: str) -> str:
    """A stem without its last i, e or y, where Snowball leaves kin apart (injuri, injur)."""
    return term[:-1] if len(term) > 4 and term[-1] in "iey" and term.isascii() else term
