"""Units of measurement and money, in English and Chinese: their names, symbols and sizes."""

from __future__ import annotations

import re
from functools import lru_cache

# One line a unit: symbol, dimension, size in the dimension's base unit, other names (English words in the
# singular; a plural in -s is understood). Two units of one dimension are compared by size.
_TABLE = """
%|%|1|percent|per cent|pct|percentage point|个百分点|百分点
‰|%|0.1|千分点
bp|%|0.01|basis point|bps|个基点|基点
ug|mass|1e-6|µg|μg|mcg|microgram|微克
mg|mass|1e-3|milligram|milligramme|毫克
g|mass|1|gram|gramme|克
kg|mass|1e3|kilo|kilogram|kilogramme|公斤|千克
t|mass|1e6|tonne|metric ton|吨
ton|ton|1
lb|mass|453.59237|lbs
oz|ounce|1|ounce|盎司
斤|mass|500
ml|volume|1e-3|mL|millilitre|milliliter|cc|毫升
cl|volume|1e-2|centilitre|centiliter
l|volume|1|L|litre|liter|升
gal|gallon|1|gallon|加仑
cup|cup|1|杯
barrel|barrel|1|bbl|桶
nm|length|1e-9|nanometre|nanometer|纳米
um|length|1e-6|µm|μm|micrometre|micrometer|micron|微米
mm|length|1e-3|millimetre|millimeter|毫米
cm|length|1e-2|centimetre|centimeter|厘米
m|length|1|metre|meter|米
km|length|1e3|kms|kilometre|kilometer|公里|千米
mile|length|1609.344|mi|英里
ft|length|0.3048|foot|feet|英尺
inch|length|0.0254|inches|英寸
yd|length|0.9144|yard
m2|area|1|m²|square metre|square meter|平方米|平米
ha|area|1e4|hectare|公顷
km2|area|1e6|km²|square kilometre|square kilometer|平方公里|平方千米
acre|area|4046.8564
亩|area|666.667
sqft|area|0.092903|square foot|square feet|sq ft
m3|volume|1e3|m³|cubic metre|cubic meter|立方米
ns|time|1e-9|nanosecond|纳秒
us|time|1e-6|µs|μs|microsecond|微秒
ms|time|1e-3|msec|millisecond|毫秒
s|time|1|sec|second|秒|秒钟
min|time|60|minute|分钟
h|time|3600|hr|hour|小时|个小时|个钟头
d|time|86400|day|天
week|time|604800|wk|周|星期|个星期
month|months|1|个月
year|months|12|yr|年
decade|months|120
岁|months|12|year old|year-old|周岁
bit|data|0.125|比特
byte|data|1|字节
KB|data|1e3|kB|kilobyte
MB|data|1e6|megabyte
GB|data|1e9|gigabyte
TB|data|1e12|terabyte
KiB|data|1024|kibibyte
MiB|data|1048576|mebibyte
GiB|data|1073741824|gibibyte
Mbps|rate|1|Mbit/s|Mb/s
Gbps|rate|1e3|Gbit/s|Gb/s
°C|celsius|1|℃|° C|degrees Celsius|degree Celsius|degrees C|摄氏度
°F|fahrenheit|1|℉|° F|degrees Fahrenheit|degree Fahrenheit|degrees F|华氏度
degree|degree|1|°|度
mW|power|1e-3|milliwatt
W|power|1|watt|瓦
kW|power|1e3|kilowatt|千瓦
MW|power|1e6|megawatt|兆瓦
GW|power|1e9|gigawatt|吉瓦
Wh|energy|1|watt-hour
kWh|energy|1e3|kilowatt-hour|kilowatt hour|千瓦时|度电
MWh|energy|1e6|megawatt-hour|megawatt hour
GWh|energy|1e9|gigawatt-hour
TWh|energy|1e12|terawatt-hour
kcal|kcal|1|calorie|kilocalorie|千卡|大卡
kJ|joule|1e3|kilojoule|千焦
V|volt|1|volt|伏
mA|ampere|1e-3
Hz|frequency|1|hertz|赫兹
kHz|frequency|1e3|kilohertz
MHz|frequency|1e6|megahertz
GHz|frequency|1e9|gigahertz
dB|decibel|1|decibel|分贝
km/h|speed|1|kph|kmh|kilometres per hour|kilometers per hour|公里/小时
mph|mph|1|miles per hour|miles an hour
m/s|speed|3.6|metres per second|meters per second|米/秒
ppm|ppm|1
times|times|1|fold|x|time|倍
token|token|1
USD|USD|1|dollar|US dollar|U.S. dollar|美元|美金
cent|USD|0.01|美分
EUR|EUR|1|euro|欧元
GBP|GBP|1|pounds sterling|英镑
pound|pound|1|磅
CNY|CNY|1|yuan|RMB|renminbi|元人民币|人民币|块钱|元
JPY|JPY|1|yen|日元|日圆
HKD|HKD|1|港元|港币
KRW|KRW|1|won|韩元
INR|INR|1|rupee|卢比
RUB|RUB|1|ruble|rouble|卢布
CHF|CHF|1|Swiss franc|瑞士法郎
"""
# Chinese words of measure. Two of one group may count the same things; 个 counts anything.
_CLASSIFIER_GROUPS = "人名位口 家所间 件起宗例桩 次回届场 辆台架部 只头匹条 幅张份 篇章节 个".split()
CLASSIFIERS = frozenset("".join(_CLASSIFIER_GROUPS) + "项种座层级页局盘轮组队支枚颗块片户字分期批股")
CURRENCIES = frozenset("USD cent EUR GBP CNY JPY HKD KRW INR RUB CHF pound ¥ AUD CAD TWD BRL".split())
CURRENCY_SIGNS = {
    "$": "USD", "US$": "USD", "€": "EUR", "£": "GBP", "¥": "¥", "₹": "INR", "₩": "KRW", "₽": "RUB",
    "HK$": "HKD", "A$": "AUD", "C$": "CAD", "NT$": "TWD", "R$": "BRL", "RMB": "CNY", "人民币": "CNY",
    "USD": "USD", "EUR": "EUR", "GBP": "GBP", "CNY": "CNY", "JPY": "JPY", "HKD": "HKD", "CHF": "CHF",
}  # fmt: skip
# What one text leaves open another may settle: ¥ is yen or yuan, a pound money or mass.
_ALIKE = frozenset(
    frozenset(pair)
    for pair in (("¥", "CNY"), ("¥", "JPY"), ("pound", "GBP"), ("pound", "lb"), ("ton", "t"), ("岁", "year"))
)


_SHORT_WORDS = frozenset("ton bit day won yen cup hr yr wk sec min".split())


_HEAD = re.compile("[A-Za-z]+")


class _Units:
    """The table, read once: names to symbols, symbols to sizes, and one pattern for a unit after a number."""

    def __init__(self) -> None:
        self.size: dict[str, tuple[str, float]] = {}
        self.exact: dict[str, str] = {}
        self.lower: dict[str, str] = {}
        for line in _TABLE.split("\n"):
            if not line:
                continue
            symbol, dimension, factor, *names = line.split("|")
            self.size[symbol] = (dimension, float(factor))
            for name in (symbol, *names):
                if name.isascii() and name.islower() and (len(name) > 3 or name in _SHORT_WORDS):
                    self.lower |= {name: symbol, f"{name}s": symbol}
                else:
                    self.exact[name] = symbol
        heads = {match[0].lower() for name in (*self.exact, *self.lower) if (match := _HEAD.match(name))}
        signs_first = {name[0] for name in self.exact if not _HEAD.match(name)}
        self.begins = frozenset(heads | signs_first)
        words = "|".join(re.escape(name) for name in sorted(self.lower, key=len, reverse=True))
        signs = "|".join(re.escape(name) for name in sorted(self.exact, key=len, reverse=True))
        # A Latin name ends at a letter's edge; 年 is no duration before 代, 度 and the like.
        self.pattern = re.compile(rf"[\s-]?(?:((?i:{words})(?![A-Za-z0-9])|{signs}))")


@lru_cache(maxsize=1)
def _units() -> _Units:
    return _Units()


def unit_heads() -> frozenset[str]:
    """The runs of letters, in lower case, and the signs with which a unit may begin."""
    return _units().begins


def unit_at(text: str, at: int) -> tuple[str, int]:
    """The unit at `at`, a space or hyphen before it or not, and where it ends; ("", at) if there is none."""
    units = _units()
    start = at + 1 if text[at : at + 1].isspace() or text[at : at + 1] == "-" else at
    head = _HEAD.match(text, start)
    # Hardly any word is a unit, and the pattern takes long to find that out.
    if (head[0].lower() if head else text[start : start + 1]) not in units.begins:
        return "", at
    match = units.pattern.match(text, at)
    if match is None:
        return "", at
    name, end = match[1], match.end()
    symbol = units.exact.get(name) or units.lower.get(name.lower(), "")
    if (
        name[-1].isascii()
        and name[-1].isalnum()
        and text[end : end + 1].isascii()
        and text[end : end + 1].isalnum()
    ):
        return "", at
    if name == "年" and text[end : end + 1] in ("代", "度", "级", "月", "底", "初", "末"):
        return "", at
    if name in ("周", "度", "克", "米", "升", "元", "瓦", "伏") and match[0][0] == "-":
        return "", at
    return symbol, end


def in_base(value: float, unit: str) -> tuple[str, float]:
    """The dimension of `unit` and `value` in that dimension's base; an unknown unit is its own dimension."""
    dimension, size = _units().size.get(unit, (unit, 1.0))
    return dimension, value * size


def alike(one: str, other: str) -> bool:
    """Whether two different units may name the same thing."""
    if one in CLASSIFIERS and other in CLASSIFIERS:
        return "个" in (one, other) or any(one in group and other in group for group in _CLASSIFIER_GROUPS)
    return frozenset((one, other)) in _ALIKE
