"""Instructions that cannot both be followed: of language, of format, do and don't of the same thing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations

from msgspec import Struct

from orchestra.context.doctor.finding import Finding
from orchestra.context.doctor.reading import Part, Reading
from orchestra.context.fence import Fenced, parts
from orchestra.context.polarity import clauses, flipped
from orchestra.context.sayings import is_question, sayings

_TONGUES = {
    "Chinese": r"chinese|mandarin|中文|汉语|简体",
    "English": r"english|英文|英语",
    "German": r"german|德语|德文",
    "French": r"french|法语|法文",
    "Spanish": r"spanish|西班牙语",
    "Japanese": r"japanese|日语|日文",
}
_LANGUAGE = re.compile(
    r"(?i)\b(?:answer|reply|respond|write|speak|output)\b[^.!?\n]{0,40}?\b(?:in|only"
    r"|use)\s+(?:only\s+)?(?:simplified\s+)?"
    r"(?P<en>chinese|mandarin|english|german|french|spanish|japanese)\b"
    r"|\b(?:use|in) (?:only )?(?P<only>chinese|english|german|french|spanish|japanese) only\b"
    r"|(?:用|以|使用)(?P<zh>中文|汉语|简体中文|英文|英语|德语|德文|法语|法文|西班牙语|日语|日文)(?:来)?(?:回答|作答|回复|输出|撰写|写|答复|说)"
)
_SHAPES = {
    "JSON": r"json",
    "a table": r"tables?|表格",
    "bullet points": r"bullet(?:ed)?(?: points?| list)?s?|bullets|项目符号|列表|要点",
    "Markdown": r"markdown",
    "plain text": r"plain (?:text|prose)|纯文本",
    "prose": r"(?:running )?prose|paragraphs?|段落",
    "XML": r"xml",
    "YAML": r"yaml",
    "CSV": r"csv",
}
_SHAPE_WORDS = "|".join(f"(?:{words})" for words in _SHAPES.values())
_FORMAT = re.compile(
    rf"(?i)\b(?:answer|reply|respond|write|output|format|return|give|present"
    rf"|use)\b[^.!?\n]{{0,50}}?\b(?:in|as|with|using|only|use|the answer as|return|output)\s+"
    rf"(?:only\s+|a\s+|one\s+|an\s+|valid\s+|a single\s+|the\s+)*(?P<en>{_SHAPE_WORDS})"
    rf"|\b(?:output|return|produce)\s+(?:only\s+|valid\s+|a\s+)*(?P<bare>{_SHAPE_WORDS})\b"
    rf"|(?:以|用|使用|按)(?P<zh>{_SHAPE_WORDS})(?:的?(?:格式|形式))?(?:回答|作答|回复|输出|呈现|列出|写)"
)
_NO = re.compile(r"(?i)\b(?:no|not|never|don't|without|avoid)\b|不要|不得|禁止|勿|别|避免|不用")
_DUTY = re.compile(
    r"(?i)^\W*(?:\d+\.\s*)?(?:please\b|always\b|never\b|do not\b|don't\b|you must\b|must\b"
    r"|make sure\b|be sure\b|only\b|"
    r"(?:use|include|add|give|show|mention|cite|quote|list|keep|write|answer|call|send|ask|search"
    r"|convert|round|name|put|avoid"
    r"|translate|explain|summari[sz]e|contact|refund|cancel|delete|share|reveal)\b)"
    r"|\b(?:must|always|never|should|shall|do not|don't)\b"
    r"|必须|务必|一定要|总是|始终|应当|请|不要|不得|禁止|不许|切勿|请勿|绝不"
)
_CHANGED = re.compile(
    r"(?i)\b(?:from now on|now|instead|actually|no longer|change|switch|correction|this time"
    r"|sorry)\b|改|现在|从现在|这次|更正|换成"
)
_MUTUAL = frozenset(
    (
        frozenset(("JSON", "a table")),
        frozenset(("bullet points", "prose")),
        frozenset(("Markdown", "plain text")),
        frozenset(("bullet points", "a table")),
        frozenset(("a table", "prose")),
        frozenset(("a table", "plain text")),
    )
)
_WHOLE = frozenset(("JSON", "XML", "YAML", "CSV"))


_MOST = re.compile(
    r"(?i)(?:under|below|at most|no more than|fewer than|less than|within|up to|maximum of)\s+"
    r"(?P<en>\d+) words?"
    r"|(?:不超过|最多|至多|少于)\s*(?P<zh>\d+)\s*个?字|(?P<behind>\d+)\s*个?字(?:以内|之内|以下)"
)
_LEAST = re.compile(
    r"(?i)(?:at least|more than|no fewer than|no less than|minimum of|over)\s+"
    r"(?P<en>\d+) words?"
    r"|(?:不少于|至少|超过)\s*(?P<zh>\d+)\s*个?字|(?P<behind>\d+)\s*个?字以上"
)


class Order(Struct, frozen=True):
    """One sentence that tells the model to do or not to do something."""

    part: Part
    text: str


def contradictions(reading: Reading) -> Iterator[Finding]:
    """Each pair of instructions that contradict each other; of two turns of the user the earlier"
    " is named."""
    orders = list(_orders(reading))
    told: set[tuple[str, str]] = set()
    for first, second in combinations(orders, 2):
        why = _conflict(first.text, second.text)
        if not why or _changed_mind(first, second):
            continue
        block = first.part.block if first.part.kind == second.part.kind == "said" else second.part.block
        if (block, why) in told:
            continue
        told.add((block, why))
        yield Finding(
            "misorder",
            block,
            f"Contradictory instructions ({why}): “{_short(first.text)}” in {first.part.block} and "
            f"“{_short(second.text)}” in {second.part.block}.",
            "Keep the one that holds and take the other out, or say that it holds no longer.",
        )


def _orders(reading: Reading) -> Iterator[Order]:
    for part in reading.parts:
        if part.kind not in ("instructions", "said") or part.tokens > 8_000:
            continue
        words = "\n".join(piece for piece in parts(part.text) if not isinstance(piece, Fenced))
        for saying in sayings(words):
            even = saying.text
            told = any(order.search(even) for order in (_DUTY, _LANGUAGE, _FORMAT, _MOST, _LEAST))
            if told and len(even) <= 300 and not is_question(even):
                yield Order(part, even)


def _changed_mind(first: Order, second: Order) -> bool:
    """Whether the user took the first back with the second, as people do."""
    later = second.part.message > first.part.message
    return later and first.part.kind == "said" and _CHANGED.search(second.part.text) is not None


def _conflict(first: str, second: str) -> str:
    one, other = _tongue(first), _tongue(second)
    if one and other and one != other:
        return "language"
    shapes = _shape(first), _shape(second)
    if shapes[0] and shapes[1]:
        if shapes[0] != shapes[1] and (frozenset(shapes) in _MUTUAL or set(shapes) <= _WHOLE):
            return "format"
        if shapes[0] != shapes[1] and set(shapes) & _WHOLE:
            return "format"
    if _beyond(first, second) or _beyond(second, first):
        return "length"
    if _DUTY.search(first) and _DUTY.search(second) and _opposed(first, second):
        return "do and don't"
    return ""


def _beyond(short: str, long: str) -> bool:
    """Whether one wants more words than the other allows."""
    most, least = _MOST.search(short), _LEAST.search(long)
    if most is None or least is None or "不超过" in long:
        return False
    return int(least[least.lastgroup or 0]) > int(most[most.lastgroup or 0])


def _opposed(first: str, second: str) -> bool:
    no = [_NO.search(first) is not None, _NO.search(second) is not None]
    if no[0] == no[1]:
        return False
    denying, asking = (first, second) if no[0] else (second, first)
    known = [clause for clause in clauses(denying) if clause.negative]
    return bool(known) and flipped([clause for clause in clauses(asking) if not clause.negative], known)


def _tongue(text: str) -> str:
    found = _LANGUAGE.search(text)
    if found is None or _NO.search(text[: found.end()]):
        return ""
    word = found["en"] or found["only"] or found["zh"]
    return next((name for name, words in _TONGUES.items() if re.search(words, word, re.IGNORECASE)), "")


def _shape(text: str) -> str:
    found = _FORMAT.search(text)
    if found is None or _NO.search(text[: found.end()]):
        return ""
    word = found["en"] or found["bare"] or found["zh"]
    return next((name for name, words in _SHAPES.items() if re.fullmatch(words, word, re.IGNORECASE)), "")


def _short(text: str) -> str:
    folded = " ".join(text.split())
    return folded if len(folded) <= 80 else folded[:79] + "…"
