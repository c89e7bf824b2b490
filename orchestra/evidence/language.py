"""The fixed words of a report, in English and in Chinese, by the language of the question."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

Language = Literal["en", "zh"]

_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]")
_KANA = re.compile("[\u3041-\u30ff]")
_LATIN = re.compile(r"[A-Za-z]+")


def language_of(text: str) -> Language:
    """Chinese where Chinese characters outnumber Latin words and no Japanese syllables stand among them."""
    if text.isascii():
        return "en"
    head = text[:20_000]
    han = len(_HAN.findall(head))
    return "zh" if han > len(_LATIN.findall(head)) and not _KANA.search(head) else "en"


class Words(Struct, frozen=True):
    """The fixed words in one language."""

    language: Language
    summary: str
    references: str
    not_found: str
    conflicts: str
    notes: str
    removed: str
    unsupported: str
    early: str

    def failed(self, question: str, reason: str) -> str:
        """A researcher failed."""
        why = " ".join(reason.split()).rstrip(".。")
        if self.language == "zh":
            return f"未能研究：{question}" + (f"（{why}）" if why else "")
        return f"Not researched: {question}" + (f" ({why})" if why else "")

    def not_studied(self, question: str) -> str:
        """Nobody was sent."""
        return f"未研究：{question}" if self.language == "zh" else f"Not researched: {question}"

    def nothing_found(self, question: str) -> str:
        """A researcher came back with nothing."""
        return f"没有找到答案：{question}" if self.language == "zh" else f"Nothing found: {question}"

    def quote_count(self, quotes: int) -> str:
        """How many quotes a reference has."""
        if self.language == "zh":
            return f"{quotes} 条引文"
        return "1 quote" if quotes == 1 else f"{quotes} quotes"

    def checked(self, good: int, sentences: int, sources: int) -> str:
        """What the check of the report found."""
        if self.language == "zh":
            return f"{sentences} 个句子中有 {good} 个经引文核实；引用来源 {sources} 个。"
        told = "1 source" if sources == 1 else f"{sources} sources"
        return f"{good} of {sentences} sentences are borne out by their quotes, from {told}."

    def unknown_claims(self, names: Sequence[str]) -> str:
        """A sentence cites what it was never handed."""
        listed = ", ".join(names[:5])
        if self.language == "zh":
            return f"所引 {listed} 不在交付的论据之中。"
        return f"It cites {listed}, which it was not handed."

    def no_citation(self) -> str:
        """A sentence cites nothing."""
        return "没有引用来源。" if self.language == "zh" else "It cites no source."

    def not_verbatim(self) -> str:
        """A quote was altered on its way."""
        if self.language == "zh":
            return "所引的引文在来源中找不到原文。"
        return "A quote that it rests on does not stand in its source."

    def not_borne(self, texts: Sequence[str]) -> str:
        """Figures, dates, ids or names that the quotes do not have."""
        listed = ("、" if self.language == "zh" else ", ").join(texts[:5])
        if self.language == "zh":
            return f"所引的引文中没有 {listed}。"
        return f"{listed} {'is' if len(texts) == 1 else 'are'} not in the quotes it cites."

    def unrelated(self) -> str:
        """Not a word in common."""
        if self.language == "zh":
            return "与所引的引文没有共同的词语。"
        return "It has no word in common with the quotes it cites."

    def disagreement(self, one: tuple[str, str], other: tuple[str, str]) -> str:
        """Two sources, each as (text, locator)."""
        if self.language == "zh":
            return f"来源不一致：{one[1]} 称“{one[0]}”，{other[1]} 称“{other[0]}”。"
        return f"Sources disagree: {one[1]} says “{one[0]}”; {other[1]} says “{other[0]}”."


_WORDS = {
    "en": Words(
        "en", "Summary", "References", "Not found", "Conflicting sources", "Notes", "Removed", "unsupported",
        "This run ended early",
    ),
    "zh": Words(
        "zh", "摘要", "参考文献", "未找到", "来源不一致", "说明", "已删除", "未经证实",
        "运行提前结束",
    ),
}  # fmt: skip


def words_for(text: str) -> Words:
    """The fixed words in the language of `text`, the question."""
    return _WORDS[language_of(text)]
