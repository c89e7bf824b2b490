"""What a report by the extractive model says of itself."""

from __future__ import annotations

import re

_CHINESE = re.compile(r"[\u4e00-\u9fff]")


def no_language_model(question: str) -> str:
    """One sentence, in the question's language."""
    if _CHINESE.search(question):
        return "本报告由内置的摘录模型生成：没有语言模型参与写作，每一句都逐字取自所引文件。"
    return (
        "No language model wrote this report: the built-in extractive model chose its sentences, "
        "and each is taken from the document it cites."
    )
