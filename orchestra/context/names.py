"""Things with a name: URLs, e-mail addresses, ids, versions, and the names of people, places and bodies.

Without a dictionary a capital letter at the start of a sentence says little, so such a word counts as a
name only with other evidence. Chinese names are found where a title mark, a middle dot, a form of address
or the ending of an institution shows them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from orchestra.context.units import CURRENCY_SIGNS, unit_at
from orchestra.text.shape import has_any, outline
from orchestra.values.facts import FactKind


class Named(NamedTuple):
    """A thing with a name, found at [start, end)."""

    start: int
    end: int
    kind: FactKind
    value: str


_URL = re.compile(
    r"(?:https?|ftp)://[^\s<>\"'`|\\^{}\[\]，。；、（）《》“”]{1,2000}"
    r"|\bwww\.[a-z0-9-]+\.[^\s<>\"'`，。；、（）]{1,500}"
)
_EMAIL = re.compile(
    r"(?<![A-Za-z0-9._%+-])[A-Za-z0-9._%+-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}(?![A-Za-z0-9])"
)
_LETTER_FIRST = re.compile(
    r"(?<![A-Za-z0-9_.])(?!Q[1-4](?![A-Za-z0-9]))(?:"
    r"__[a-z][a-z0-9_]{0,60}__"  # __anext__
    r"|_{0,2}[A-Za-z][A-Za-z0-9]*(?:_+[A-Za-z0-9]+){1,20}_{0,2}"  # build_wheel
    r"|[A-Za-z_][A-Za-z0-9_]+(?:\.[a-z_][A-Za-z0-9_]+){1,12}"  # sys.argv, pyproject.toml
    r"|[a-z]+[A-Z][A-Za-z0-9]*"  # camelCase
    r"|(?:[A-Z][a-z0-9]+){2,20}[A-Z]?"  # ExceptionGroup
    r"|[A-Za-z]+-?[0-9][A-Za-z0-9]*(?:[-.][A-Za-z0-9]+){0,12}"  # INV-2041, B12, v3.12
    r")(?![A-Za-z0-9_])"
)
_PREFIXED = re.compile(
    r"(?<![A-Za-z0-9_])([A-Z][A-Z]+[A-Z0-9]*)(?:[ -]|:`|-0+)#?([0-9]+(?:[-.][A-Za-z0-9]+){0,12})"
    r"(?![A-Za-z0-9_%])"
    r"|(?<![A-Za-z0-9&])#(?=[A-Za-z]{0,4}[0-9])[A-Za-z0-9][A-Za-z0-9_-]*"
    r"|(?<![A-Za-z0-9.-])(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{7,64}(?![A-Za-z0-9-])"
)
_SPACED = re.compile(r"(?<![\w.,-])0[1-9]\d{0,4}(?: \d{2,8}){1,4}(?![\w]|[.,]\d)")  # 0421 77 5530
# Quick looks for what the patterns above and below cannot do without; most sentences have none of it.
_TOKEN = re.compile(r"[A-Za-z0-9_.-]+")
_TOKEN_CHARACTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-")
_ODD_WORD_SHAPES = (b"aA", b"0A", b"a0", b"A0", b"a-0", b"A-0", b"_", b"a.a", b"A.a", b"0.a")
_ODD_NUMBER_SHAPES = (b"AA", b"#", b"a0", b"0a")
_NEAR_VERSION = re.compile(r"[0-9]\.[0-9]|(?:ersion |elease |版本 ?)v?[0-9]")
_NO_PREFIX = frozenset(
    "AND OR NOT IN ON AT BY TO OF THE FOR FROM WITH OVER UNDER ABOUT IS ARE WAS NO ALL GDP TOP".split()
) | set(CURRENCY_SIGNS)
_VERSION = re.compile(
    r"(?<![A-Za-z0-9_.])v?[0-9]+(?:\.[0-9]+){2,}(?:[-.]?[a-z]+[0-9]*)?(?![A-Za-z0-9])"
    r"|(?:(?<=[Vv]ersion )|(?<=[Rr]elease )|(?<=版本 )|(?<=版本))v?[0-9]+"
    r"(?:\.[0-9]+)*(?:(?:a|b|rc|\.post|\.dev)[0-9]+)?(?![A-Za-z0-9%]|\.[0-9])"
    r"|(?<=[a-z+#] )(?<![0-9])[0-9]+\.[0-9]+(?![0-9A-Za-z%]|\.[0-9])"
)
_BEFORE_VERSION = re.compile(r"(?:^|[^A-Za-z])([A-Z][A-Za-z+#]{2,20}) $")
_DIGIT_FIRST = re.compile(
    r"(?<![A-Za-z0-9_.])(?:[0-9]+[A-Za-z][A-Za-z0-9]*(?:-[A-Za-z0-9]+){0,12}|[0-9]+(?:-[0-9A-Z]+){2,12}"
    r"|[0-9]{3,4}-[0-9]{4})(?![A-Za-z0-9_])"
)
# Telephone and account numbers: groups of digits that are neither a date nor a range.
_GROUPED = re.compile(
    r"(?<![\w.+-])(?:\+[0-9]{1,3}(?:[ -]?\([0-9]{1,5}\))?(?:[ -][0-9]{2,8}){1,5}"
    r"|\([0-9]{2,5}\)[ -]?[0-9]{3,4}[ -][0-9]{3,4}"
    r"|(?![0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?![0-9-])|[0-9]{1,2}-[0-9]{1,2}-[0-9]{2,4}(?![0-9-]))"
    r"[0-9]{1,8}(?:-[0-9]{2,8}){2,6}"
    r"|[0-9]{2,5}-0[0-9]{2,7}|0[0-9]{1,4}-[0-9]{3,8})(?![\w-]|[.,][0-9])",
    re.ASCII,
)
_LEAST_DIGITS = 6

_DIGIT_FIRST_SHAPES = (b"0a", b"0A", b"0-0", b"0-A")

_WORD = re.compile(r"[^\W\d_](?:[\w]|['.&-](?=\w))*\.?")
_NO_CAPITAL = re.compile(r"(?:[a-z](?:\w|['.&-](?=\w))*+\.?|[^A-Za-z]+)*+", re.ASCII)  # words without one
_JOINERS = frozenset("of the de la le du van von der den di da al bin & and for".split())
_TITLES = frozenset("mr mrs ms dr prof sir lord lady st".split())
COMMON = frozenset(  # words whose capital says nothing
    """a about above according across actually additionally after again against all almost along already
    also although always am among an and another any anyone anything are around as asked at
    available based basically be because been before behind being below beside besides better
    between beyond both but by can certain clearly compared consequently could currently day days
    depending despite did different do does don during each earlier early either else even
    eventually ever every everyone everything example except few finally first following for former
    from further furthermore generally get give given go good had has have having he hello hence her
    here hers herself hi him his historically how however i if important in indeed initially instead
    into is it its itself just keep largely last late later least less let like likely long look
    made mainly make many maybe me meanwhile might mine more moreover most mostly much must my
    myself namely near nearly neither never nevertheless next nine no nobody none nor not note
    nothing now number of off often oh ok okay old on once one only onto opposite or originally
    other others otherwise our ours out over overall own part particularly people per perhaps please
    possibly previously put rather read really recently regarding roughly same second section see
    seven several shall she should similarly since single six so some someone something sometimes
    soon sorry still subsequently such table take ten than thank thanks that the their theirs them
    then there therefore these they thing third this those though three through throughout thus to
    today together tomorrow too toward two typically ultimately under unfortunately unless unlike
    until up upon us use used using usually very via want was way we well were what whatever when
    whenever where whereas wherever whether which whichever while who whoever whole whom whose why
    will with within without would yes yesterday yet you your yours set run add call check click
    create ensure find follow help include key main no-one open remember remove return select send
    show start stop summary total try update write""".split()
)
_ACTS = re.compile(
    r"\s+(?:said|says|wants?|asked|asks|prefers?|likes?|loves?|lives?|lived|told|tells|paid|wrote"
    r"|writes|joined|"
    r"founded|announced|agreed|argued|moved|bought|sold|visited|called|plans|thinks|needs|met"
    r"|and [A-Z]|'s\b|,? who\b)\b"
)
_ENDS_COMMON = re.compile(r"(?:s|ing|ed|ly|tion|ment|ness|ity|ers?|ors?)\Z")
_COMMON_OR_TITLE = COMMON | _TITLES
_CAMEL = re.compile(r"[A-Z]{2,}|[a-z][A-Z]")

_CHINESE_TITLE = re.compile(r"《([^《》\n]{1,40})》")
# The characters that foreign names are written with; other characters beside a middle dot are no name.
_SOUNDS = (
    "阿艾安奥巴班贝比彼毕伯勃博布茨达戴丹道德登邓蒂迪丁杜顿多厄尔恩法范菲费芬弗福富盖冈高戈哥格古哈海汉豪"
    "赫亨胡华霍基吉季加贾简杰金京卡凯坎康考柯科克肯孔库拉莱兰朗劳勒雷黎里理利莉丽连林列琳龙卢鲁路伦罗洛吕"
    "马玛迈麦曼芒梅门蒙米密明缪摩莫默姆木穆纳娜南内尼涅宁纽农努诺欧帕潘庞佩彭皮平珀普齐奇恰乔切琴让热日荣"
    "茹儒瑞萨塞桑瑟森沙山尚舍申什圣施史舒斯松苏素孙索塔泰坦汤唐陶特藤提田廷图托瓦万旺威韦维魏温文翁沃乌武"
    "西希锡夏肖谢辛欣兴雄休许雅亚扬叶耶伊因英尤于约赞泽曾扎詹治朱兹宗佐"
)
_DOTTED = re.compile(rf"[{_SOUNDS}]{{1,8}}(?:[·•・][{_SOUNDS}]{{1,8}}){{1,4}}")
_SURNAMES = (
    "王李张刘陈杨黄赵吴周徐孙马朱胡郭何高林罗郑梁谢宋唐许韩冯邓曹彭曾肖田董袁潘于蒋蔡余杜叶程苏魏吕丁任沈"
    "姚卢姜崔钟谭陆汪范金石廖贾夏韦付方白邹孟熊秦邱江尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵万钱严覃武戴莫孔向汤"
    "商"
)
_ADDRESSED = re.compile(
    rf"(?:(?<=记者)|(?<=叫)|(?<=同事)|(?<=客户)|(?<=[，。、：；和与\s]))([{_SURNAMES}][\u4e00-\u9fff]{{1,2}}?)"
    r"(?=先生|女士|小姐|教授|博士|老师|主任|经理|总统|主席|说|表示|称|认为|指出)"
)
_EDGES = "在是的和与及对由被将从向为于到去给了"  # words of one character that stand before a name, not in it
_INSTITUTION = re.compile(
    rf"(?<![\u4e00-\u9fff](?<![{_EDGES}]))((?:(?![{_EDGES}])[\u4e00-\u9fff]){{2,14}}?(?:公司|集团|大学"
    r"|学院|银行|医院|委员会|研究所|研究院|出版社|基金会|协会|法院|部门|机场|港|省|市|县))"
)


def find_exact(text: str) -> Iterator[Named]:
    """URLs, addresses, ids and versions that begin with a letter or a sign; spans may overlap."""
    for match in _URL.finditer(text) if "://" in text or "www." in text else ():
        url = match[0].rstrip(".,;:!?*_~")
        if url.endswith(")") and "(" not in url:
            url = url.rstrip(").,")
        yield Named(match.start(), match.start() + len(url), "url", url.rstrip("/").lower())
    if "@" in text:
        for match in _EMAIL.finditer(text):
            yield Named(*match.span(), "email", match[0].lower())
    shape = outline(text)
    if has_any(shape, _ODD_WORD_SHAPES):
        for span in _odd_words(text, shape):
            for match in _LETTER_FIRST.finditer(text, *span):
                yield Named(*match.span(), "id", match[0].lower())
    for match in _PREFIXED.finditer(text) if has_any(shape, _ODD_NUMBER_SHAPES) else ():
        if not match[1]:
            yield Named(*match.span(), "id", match[0].lower())
        elif match[1] not in _NO_PREFIX and not unit_at(text, match.end())[0]:
            yield Named(*match.span(), "id", f"{match[1]} {match[2].lstrip('0') or '0'}".lower())
    for match in _GROUPED.finditer(text) if b"0" in shape and ("-" in text or "+" in text) else ():
        if sum(map(str.isdigit, match[0])) >= _LEAST_DIGITS:
            yield Named(*match.span(), "id", match[0])
    for match in _SPACED.finditer(text) if b"0 0" in shape else ():
        if sum(map(str.isdigit, match[0])) >= _LEAST_DIGITS:
            yield Named(*match.span(), "id", match[0])
    for match in _VERSION.finditer(text) if b"0" in shape and _NEAR_VERSION.search(text) else ():
        if match[0].count(".") == 1 and "ersion" not in text[max(0, match.start() - 9) : match.start()]:
            before = _BEFORE_VERSION.search(text, max(0, match.start() - 24), match.start())
            if before is None or before[1].lower() in COMMON or unit_at(text, match.end())[0]:
                continue
            if re.match(
                r"\s?(?i:hundred|thousand|million|billion|trillion|bn|mn|万|亿)",
                text[match.end() : match.end() + 10],
            ):
                continue
        yield Named(*match.span(), "id", match[0].lstrip("v").lower())


def _odd_words(text: str, shape: bytes) -> Iterator[tuple[int, int]]:
    """Runs of the characters of ids in which something is odd for a word."""
    end = 0
    while odd := [at for part in _ODD_WORD_SHAPES if (at := shape.find(part, end)) >= 0]:
        start = min(odd)
        while start > end and text[start - 1] in _TOKEN_CHARACTERS:
            start -= 1
        token = _TOKEN.match(text, start)
        assert token is not None  # what is odd is made of these characters
        end = token.end()
        yield start, end


def find_digit_ids(text: str) -> Iterator[Named]:
    """Ids that begin with a digit, to be looked for after numbers with units."""
    for match in _DIGIT_FIRST.finditer(text) if has_any(outline(text), _DIGIT_FIRST_SHAPES) else ():
        yield Named(*match.span(), "id", match[0].lower())


def find_names(text: str) -> Iterator[Named]:
    """Names of people, places, bodies and works."""
    yield from _capitalised(text)
    if text.isascii():
        return
    for match in _CHINESE_TITLE.finditer(text):
        yield Named(*match.span(1), "name", match[1].lower())
    for pattern in (_DOTTED, _ADDRESSED, _INSTITUTION):
        for match in pattern.finditer(text):
            span = match.span(1) if match.re.groups else match.span()
            yield Named(*span, "name", text[span[0] : span[1]].replace("•", "·").replace("・", "·"))


def _capitalised(text: str) -> Iterator[Named]:
    group: list[re.Match[str]] = []
    joined: list[re.Match[str]] = []  # lower-case words that may yet stand inside a name
    plain, at = text.isascii(), 0
    while True:
        if plain and not group and (skipped := _NO_CAPITAL.match(text, at)):
            at = skipped.end()
        match = _WORD.search(text, at)
        if match is None:
            break
        at = match.end()
        touching = bool(group) and _is_short_gap(text, (joined or group)[-1].end(), match.start())
        if group and (not touching or (text[match.start() - 2] in ".!?" and group[-1][0][-1] != ".")):
            yield from _close(text, group)
            group, joined = [], []
        if match[0][0].isupper():
            group += [*joined, match]
            joined = []
        elif group and match[0].lower() in _JOINERS and len(joined) < 2 and match[0] not in ("and", "for"):
            joined.append(match)
        elif group:
            yield from _close(text, group)
            group, joined = [], []
    if group:
        yield from _close(text, group)


def _is_short_gap(text: str, end: int, start: int) -> bool:
    return start - end == 1 and text[end] == " "


def _close(text: str, group: list[re.Match[str]]) -> Iterator[Named]:
    words = list(group)
    initial = _is_initial(text, words[0].start())
    while words and ((bare := _bare(words[0][0])) in _COMMON_OR_TITLE or bare in _JOINERS):
        words = words[1:]
        initial = False if words else initial
    while words and (_bare(words[-1][0]) in COMMON):
        words = words[:-1]
    if not words:
        return
    first = words[0][0]
    if len(_bare(first)) < 2 and len(words) == 1:
        return
    if initial and len(words) == 1 and not _CAMEL.search(first):
        acts = _ACTS.match(text, words[0].end()) and not _ENDS_COMMON.search(_bare(first))
        if not acts and not re.search(rf"[a-z,] {re.escape(first)}\b", text):
            return
    end = words[-1].end()
    last = words[-1][0]
    if last.endswith(".") and last.count(".") == 1:
        end -= 1
    if text[words[0].start() : end].endswith("'s"):
        end -= 2
    yield Named(words[0].start(), end, "name", text[words[0].start() : end].lower())


def _bare(word: str) -> str:
    return word.lower().removesuffix("'s").rstrip(".'")


def _is_initial(text: str, start: int) -> bool:
    """Whether a sentence, a line or a quotation begins at `start`."""
    before = text[max(0, start - 4) : start].rstrip(" \"'(*_`“‘#-")
    return not before or before[-1] in ".!?:;\n。！？：；|>"
