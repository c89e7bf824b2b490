"""A reviewer's remarks by rule, and the answer in plain text where no output was asked for."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from orchestra.models.extractive.choosing import same
from orchestra.models.extractive.findings import findings
from orchestra.models.extractive.prose import term_set
from orchestra.models.extractive.reading import BriefClaim, Hit, Task, WriterBrief
from orchestra.models.extractive.words import is_chinese
from orchestra.values.drafts import Remark, Review

MOST_REMARKS = 20
MOST_SENTENCES = 6  # of a plain answer
_NO_DOCUMENTS = (
    "I am the built-in extractive model: I answer with sentences of documents, and there are none. Name a "
    "folder with --docs, or a language model with --endpoint and --large."
)
_NO_DOCUMENTS_ZH = (
    "我是内置的摘录模型：只能用文件中的原句回答，而现在没有文件。请用 --docs 指定一个文件夹，"
    "或用 --endpoint 和 --large 指定一个语言模型。"
)


def review(brief: WriterBrief, draft: str) -> Review:
    """What rules can see in a draft: sentences without claims, unknown ids, repeats, sides left out."""
    known = {claim.id: claim for claim in brief.claims}
    shown = _sentences(draft)
    remarks: list[Remark] = []
    for sentence, ids in shown:
        if not ids:
            remarks.append(Remark(sentence=sentence, problem="The sentence names no claim."))
        for unknown in [name for name in ids if name not in known]:
            remarks.append(Remark(sentence=sentence, problem=f"There is no claim {unknown} in the brief."))
    remarks += _repeats([sentence for sentence, _ in shown])
    remarks += _left_out(brief, {name for _, ids in shown for name in ids}, known)
    return Review(remarks=tuple(remarks[:MOST_REMARKS]))


def _sentences(draft: str) -> list[tuple[str, tuple[str, ...]]]:
    try:
        data = json.loads(draft)
    except ValueError:
        return []
    if not isinstance(data, Mapping):
        return []
    rows = list(_rows(data.get("summary")))
    for section in _rows(data.get("sections")):
        rows += _rows(section.get("sentences"))
    return [(str(row.get("text", "")), tuple(str(name) for name in row.get("claims") or ())) for row in rows]


def _rows(value: Any) -> list[Mapping[str, Any]]:
    return [row for row in value if isinstance(row, Mapping)] if isinstance(value, list) else []


def _repeats(shown: Sequence[str]) -> list[Remark]:
    terms = [term_set(sentence) for sentence in shown]
    return [
        Remark(sentence=sentence, problem=f"It says the same as: {shown[other]}")
        for at, sentence in enumerate(shown)
        for other in range(at)
        if same(terms[at], terms[other])
    ]


def _left_out(brief: WriterBrief, used: set[str], known: Mapping[str, BriefClaim]) -> list[Remark]:
    remarks = []
    for number, question in enumerate(brief.questions, 1):
        own = [claim.id for claim in brief.claims if claim.question == number]
        if own and not used.intersection(own):
            remarks.append(Remark(sentence="", problem=f"The draft does not answer: {question}"))
    for line in brief.conflicts:
        sides = [name.strip() for name in line.split(":", 1)[0].split("/")]
        missing = [name for name in sides if name in known and name not in used]
        if missing and len(missing) < len(sides):
            remarks.append(
                Remark(sentence="", problem=f"Of a conflict only one side is shown; add {missing[0]}.")
            )
    return remarks


def plain_answer(task: Task, hits: Sequence[Hit], *, searched: bool = True) -> str:
    """The best verbatim sentences among the passages in the messages, and who chose them.

    `searched`: there is a tool that searches documents.
    """
    chinese = is_chinese(task.question)
    if not hits and not searched:
        return _NO_DOCUMENTS_ZH if chinese else _NO_DOCUMENTS
    found = findings(task, hits)
    if not found.claims:
        return (
            "给出的文本中没有找到相关内容。" if chinese else "Nothing was found in the texts that were given."
        )
    head = (
        "以下句子由规则从给出的文本中逐字摘取，没有使用语言模型："
        if chinese
        else (
            "These sentences were picked word for word from the texts given, by rules and not by a language "
            "model:"
        )
    )
    lines = [f"- {claim.statement} [{claim.quotes[0].source}]" for claim in found.claims[:MOST_SENTENCES]]
    return "\n".join([head, *lines, *found.gaps])
