"""What stands in the messages of a request: the task, the passages, the calls made, the brief."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from orchestra.context.fence import fenced
from orchestra.values.messages import Message

_LABEL = re.compile(r"\[(s\d+)\]\s*([^|]*)(?:\|([^|]*))?(?:\|(.*))?$")
_FIELDS = "Part of|Title|Sub-questions|Conflicts|Gaps|Claims|Draft"
_QUESTION = re.compile(rf"^Question: *(.*?)(?=\n+(?:{_FIELDS})\b:?|\Z)", re.MULTILINE | re.DOTALL)
_PART_OF = re.compile(r"^Part of: *(.+)$", re.MULTILINE)


_SECTIONS = re.compile(r"\bSections: (.+?)$", re.MULTILINE)
_LONG_PASSAGE = 2_400  # characters
_PIECE = 1_200


class Task(Struct, frozen=True):
    """What is asked; `whole` is the question it is a part of, or the same."""

    question: str
    whole: str


class Hit(Struct, frozen=True):
    """One passage as it was shown: `call` numbers the tool result it came with, `rank` its place there."""

    label: str
    locator: str
    title: str
    section: str
    text: str
    call: int
    rank: int


class MadeCall(Struct, frozen=True):
    """A tool call of an earlier step; `round` counts the assistant's turns from 0."""

    round: int
    name: str
    arguments: Mapping[str, Any]


def task(messages: Sequence[Message], whole_message: bool = False) -> Task:
    """The task of the first user message that states a question; else the last user message as it is.

    `whole_message`: the question goes on to the message's end, whatever its lines look like.
    """
    for message in messages:
        if message.role != "user":
            continue
        match = _QUESTION.search(message.text)
        if match:
            question = message.text[match.start(1) :] if whole_message else match.group(1)
            part = _PART_OF.search(message.text, match.end(1))
            question = question.strip()
            return Task(question, part.group(1).strip() if part and not whole_message else question)
    last = next((message.text for message in reversed(messages) if message.role == "user"), "")
    return Task(last.strip(), last.strip())


def states_a_question(messages: Sequence[Message]) -> bool:
    """Whether somebody was handed a question as a task, and does not just talk."""
    return any(message.role == "user" and _QUESTION.search(message.text) for message in messages)


def hits(messages: Sequence[Message], speakers: Sequence[str] = ("tool",)) -> list[Hit]:
    """The passages in the messages of `speakers`, each text once, in the order they came."""
    found: dict[tuple[str, str], Hit] = {}
    call = 0
    for message in messages:
        if message.role not in speakers:
            continue
        for rank, data in enumerate(fenced(message.text)):
            match = _LABEL.search(data.label)
            if match is None:
                if (
                    "user" in speakers
                    and data.label
                    and not data.label.rstrip(":").endswith(("Claims", "Draft"))
                ):
                    for piece in _pieces(data.text):
                        found.setdefault(
                            (data.label, piece), Hit(data.label, data.label, "", "", piece, call, rank)
                        )
                continue
            label, locator, title, section = (part.strip() if part else "" for part in match.groups())
            for piece in _pieces(data.text):
                found.setdefault(
                    (locator, piece), Hit(label, locator, title or locator, section, piece, call, rank)
                )
        call += 1
    return list(found.values())


def _pieces(text: str) -> list[str]:
    """A long passage in parts of about the length of a short one, cut at blank lines; each verbatim."""
    if len(text) <= _LONG_PASSAGE:
        return [text]
    pieces = []
    start = 0
    for gap in re.finditer(r"\n[ \t]*\n", text):
        if gap.start() - start >= _PIECE:
            pieces.append(text[start : gap.start()])
            start = gap.end()
    pieces.append(text[start:])
    return [piece for piece in pieces if piece.strip()]


def calls(messages: Sequence[Message]) -> list[MadeCall]:
    """The tool calls made so far, in order."""
    made: list[MadeCall] = []
    turn = 0
    for message in messages:
        if message.role == "assistant" and message.calls:
            made.extend(MadeCall(turn, call.name, _object(call.arguments)) for call in message.calls)
            turn += 1
    return made


def listed_sections(messages: Sequence[Message]) -> dict[str, list[str]]:
    """Document → its sections, from readings that say "Sections: A; A > B; ..."."""
    found: dict[str, list[str]] = {}
    for message in messages:
        match = _SECTIONS.search(message.text) if message.role == "tool" else None
        shown = fenced(message.text) if match else []
        label = _LABEL.search(shown[0].label) if shown else None
        if match and label:
            names = re.sub(r" and \d+ more$", "", match.group(1).rstrip("."))
            found[label.group(2).strip()] = [name.strip() for name in names.split(";")]
    return found


class BriefClaim(Struct, frozen=True):
    """One line of the brief's claims; `order` is its line, `start` its quote's offset, -1 where unknown."""

    id: str
    question: int
    text: str
    document: str
    title: str
    quotes: tuple[str, ...]
    order: int
    start: int


class WriterBrief(Struct, frozen=True):
    """The brief as the writer's prompt shows it."""

    question: str
    title: str
    questions: tuple[str, ...]
    claims: tuple[BriefClaim, ...]
    conflicts: tuple[str, ...] = ()
    gaps: tuple[str, ...] = ()


def brief(messages: Sequence[Message]) -> WriterBrief:
    """The brief in the first user message that holds claims or a question; empty where there is none."""
    users = [message.text for message in messages if message.role == "user"]
    text = next((text for text in users if "Claims" in text), users[0] if users else "")
    head = text.split("\nClaims\n", 1)[0]
    claims = next((data.text for data in fenced(text) if data.label.rstrip(":").endswith("Claims")), "")
    question = _QUESTION.search(head)
    title = re.search(r"^Title: *(.*)$", head, re.MULTILINE)
    return WriterBrief(
        question=question.group(1).strip() if question else "",
        title=title.group(1).strip() if title else "",
        questions=tuple(_listed(head, "Sub-questions", r"\d+[.)]\s*")),
        claims=tuple(_claims(claims)),
        conflicts=tuple(_listed(head, "Conflicts", r"[-*]\s*")),
        gaps=tuple(_listed(head, "Gaps", r"[-*]\s*")),
    )


def draft_text(messages: Sequence[Message]) -> str:
    """The draft's JSON in a reviewer's prompt; "" where there is none."""
    for message in messages:
        if message.role == "user":
            for data in fenced(message.text):
                if data.label.rstrip(":").endswith("Draft"):
                    return data.text
    return ""


def _listed(text: str, name: str, mark: str) -> list[str]:
    found: list[str] = []
    inside = False
    for line in text.split("\n"):
        if re.match(rf"{name}:", line):
            inside = True
        elif inside and (item := re.match(rf"\s*{mark}(.+)$", line)):
            found.append(item.group(1).strip())
        elif inside and line.strip():
            break
    return found


def _claims(text: str) -> list[BriefClaim]:
    found = []
    for order, line in enumerate(text.split("\n")):
        row = _object(line)
        quotes = [quote for quote in row.get("quotes", ()) if isinstance(quote, dict)]
        if not row.get("id") or not row.get("claim"):
            continue
        first = quotes[0] if quotes else {}
        number = row.get("question")
        found.append(
            BriefClaim(
                id=str(row["id"]),
                question=number if isinstance(number, int) else 1,
                text=str(row["claim"]),
                document=str(first.get("document", "")),
                title=str(first.get("title", "")),
                quotes=tuple(str(quote.get("text", "")) for quote in quotes),
                order=order,
                start=first["start"] if isinstance(first.get("start"), int) else -1,
            )
        )
    return found


def _object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
