"""What a sentence of instructions demands of the language and the format of the answer."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from msgspec import Struct

_LANGUAGES = {
    "English": r"English|英文|英语|英語",
    "Chinese": r"(?:Simplified |Traditional |Mandarin )?Chinese|Mandarin|简体中文|繁體中文|中文|汉语|漢語",
    "Japanese": r"Japanese|日文|日语|日本語",
    "Korean": r"Korean|韩文|韩语|한국어",
    "French": r"French|法文|法语|français",
    "German": r"German|德文|德语|Deutsch",
    "Spanish": r"Spanish|西班牙文|西班牙语|español",
    "Portuguese": r"Portuguese|葡萄牙语",
    "Russian": r"Russian|俄文|俄语",
    "Arabic": r"Arabic|阿拉伯语",
    "the question's": (
        r"(?:the )?(?:same )?language (?:of|as) the (?:question|user)\w*"
        r"|(?:the )?(?:question|user)(?:'|\u2019)s language"
        r"|(?:问题|提问|用户)(?:所用|使用)?的?语言"
    ),
}
_FORMATS = {
    "JSON": r"JSON",
    "Markdown": r"Markdown",
    "plain text": r"plain[- ]text|纯文本|純文字",
    "YAML": r"YAML",
    "XML": r"XML",
    "HTML": r"HTML",
    "CSV": r"CSV",
}
_NOT = re.compile(
    r"\b(?:not|never|no|n't|without|avoid|instead of|rather than)\b|n't\b"
    r"|不要|不用|不得|不可|不能|禁止|勿|别用|避免",
    re.IGNORECASE,
)
_CASE = re.compile(
    r"^\W*(?:if|when|where|unless|for)\b|\b(?:if|unless|when)\b"
    r"|^\W*(?:如果|若|当|遇到)",
    re.IGNORECASE,
)
_EITHER = re.compile(r"\b(?:or|and|translat\w+)\b|或|和|以及|翻译", re.IGNORECASE)
_SAY = (
    r"(?:answer|reply|respond|write|speak|output|report|return|produce|print|emit|format|summari[sz]e|use)\w*"
)
_SAY_ZH = r"(?:回答|回复|答复|输出|写|作答|返回|撰写|表达|应答)"


class Demand(Struct, frozen=True):
    """One demand: `wanted` or refused, of one `value`, or of either of several."""

    subject: Literal["language", "format"]
    values: frozenset[str]
    wanted: bool
    text: str

    def against(self, other: Demand) -> bool:
        """Whether no answer can meet both."""
        if self.subject != other.subject:
            return False
        if self.wanted and other.wanted:
            return not self.values & other.values
        if self.wanted != other.wanted:
            wanted, refused = (self, other) if self.wanted else (other, self)
            return wanted.values <= refused.values
        return False


def demands(sentence: str) -> Iterator[Demand]:
    """The demands of one sentence. A sentence about a case ("if ...") demands nothing of the others."""
    text = " ".join(sentence.split()).strip("-*+•· ")
    if _CASE.search(text):
        return
    language = _language(text)
    if language is not None:
        yield language
    layout = _format(text)
    if layout is not None:
        yield layout


def _language(text: str) -> Demand | None:
    found = []
    for name, words in _LANGUAGES.items():
        english = rf"\b{_SAY}\b.{{0,60}}?\bin (?:\w+ )?(?:{words})"
        chinese = rf"(?:用|以|使用)\s*(?:{words})|(?:{words})\s*{_SAY_ZH}|{_SAY_ZH}.{{0,6}}(?:{words})"
        only = rf"^(?:{words}) only\b|\bonly (?:in )?(?:{words})\b"
        if match := re.search(f"{english}|{chinese}|{only}", text, re.IGNORECASE):
            found.append((name, match))
    return _demand("language", text, found)


def _format(text: str) -> Demand | None:
    found = []
    for name, word in _FORMATS.items():
        lead = rf"\b(?:as|in|into|only|valid|use|using|no|without|avoid|{_SAY})\s+(?:\w+\s+){{0,2}}?{word}\b"
        tail = rf"\b{word}\s+(?:only|object|array|format|syntax|formatting|output)\b"
        chinese = (
            rf"(?:用|以|使用|只|仅|输出|返回|格式为|采用)\s*(?:{_SAY_ZH})?\s*{word}|{word}\s*(?:格式|形式)"
        )
        if match := re.search(f"{lead}|{tail}|{chinese}", text, re.IGNORECASE):
            found.append((name, match))
    return _demand("format", text, found)


def _demand(
    subject: Literal["language", "format"], text: str, found: list[tuple[str, re.Match[str]]]
) -> Demand | None:
    """One demand of a sentence: what it wants, or where it wants nothing, what it refuses."""
    wanted = [name for name, match in found if not _NOT.search(text[: match.end()])]
    refused = [name for name, match in found if name not in wanted]
    shown = text if len(text) <= 60 else text[:57] + "..."
    if len(wanted) > 1 and not _EITHER.search(text):
        wanted = wanted[:1]
    if wanted:
        return Demand(subject, frozenset(wanted), True, shown)
    return Demand(subject, frozenset(refused), False, shown) if refused else None
