"""A script that plays the roles of `research_then_write` well enough for the whole workflow to run.

It takes what it says from the request alone: sub-questions from the question, quotes copied letter by
letter from the passages that tools returned, sentences from the claims of the brief.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from orchestra.context.fence import Fenced, fenced
from orchestra.load.behaviour import Call, Say

_LABEL = re.compile(r"\[(s\d+)\] ")
_QUOTE_CHARACTERS = (24, 280)
_CLAIMS = 4


class Research:
    """`searches`: how often a researcher searches before it reports. `questions`: how many a plan has."""

    def __init__(self, *, searches: int = 2, questions: int = 3) -> None:
        self._searches = searches
        self._questions = questions

    def __call__(self, body: Mapping[str, Any]) -> Say | None:
        texts = [(str(message.get("role")), _text(message)) for message in body.get("messages", ())]
        tools = [tool.get("function", {}) for tool in body.get("tools") or ()]
        wanted = output_name(body, texts)
        if tools and body.get("tool_choice") != "none":
            results = sum(role == "tool" for role, _ in texts)
            search = next((tool for tool in tools if "search" in str(tool.get("name"))), None)
            if search is not None and results < self._searches:
                return Say(calls=(self._search(search, texts, results),))
            if wanted is None:
                return Say("I have searched enough and can report.")
        makers = {"Plan": self._plan, "Findings": _findings, "Draft": _draft, "Review": _review}
        maker = makers.get(wanted or "")
        return None if maker is None else Say(json.dumps(maker(texts), ensure_ascii=False))

    def _search(self, tool: Mapping[str, Any], texts: Sequence[tuple[str, str]], results: int) -> Call:
        question = _line(texts, "Question:")
        words = question.split()
        query = question if not results else " ".join(words[results % max(1, len(words)) :]) or question
        parameters = tool.get("parameters", {})
        properties = parameters.get("properties", {})
        arguments = {
            name: _argument(properties.get(name, {}), query) for name in parameters.get("required", ())
        }
        return Call(str(tool.get("name")), json.dumps(arguments, ensure_ascii=False))

    def _plan(self, texts: Sequence[tuple[str, str]]) -> dict[str, Any]:
        question = _line(texts, "Question:")
        parts = [part.strip(" ?.!？。") for part in re.split(r",| and |;|，|、|和", question)]
        questions = [f"{part}?" for part in parts if part][: self._questions]
        while len(questions) < self._questions:
            questions.append(f"{question.rstrip('?')} (part {len(questions) + 1})?")
        return {"title": question[:120] or "Untitled", "questions": questions}


def output_name(body: Mapping[str, Any], texts: Sequence[tuple[str, str]]) -> str | None:
    """The name of the output that is asked for, in whichever way; None if none is."""
    response_format = body.get("response_format") or {}
    schema = response_format.get("json_schema") or {}
    if schema.get("name"):
        return str(schema["name"])
    for tool in body.get("tools") or ():
        name = str(tool.get("function", {}).get("name", ""))
        if name.startswith("give_"):
            return name.removeprefix("give_").capitalize()
    told = re.search(r"one JSON object \((\w+)\)", texts[-1][1]) if texts else None
    return told[1] if told else None


def _text(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content)
    return str(content or "")


def _line(texts: Sequence[tuple[str, str]], start: str) -> str:
    """The rest of the last line that starts so; the last user's text where none does."""
    for role, text in reversed(texts):
        if role == "user":
            for line in text.splitlines():
                if line.startswith(start):
                    return line.removeprefix(start).strip()
    return next((text for role, text in reversed(texts) if role == "user"), "")


def _argument(schema: Mapping[str, Any], query: str) -> Any:
    kind = schema.get("type", "string")
    if schema.get("enum"):
        return schema["enum"][0]
    plain: dict[Any, Any] = {"integer": 5, "number": 5, "boolean": True, "array": [query], "object": {}}
    return plain.get(kind, query)


def _passages(texts: Sequence[tuple[str, str]]) -> Iterator[tuple[str, Fenced]]:
    """The passages that tools returned, each once, with their labels."""
    seen = set()
    for _, text in texts:
        for part in fenced(text):
            label = _LABEL.match(part.label)
            if label and part.text not in seen:
                seen.add(part.text)
                yield label[1], part


def _findings(texts: Sequence[tuple[str, str]]) -> dict[str, Any]:
    claims = []
    for label, part in _passages(texts):
        quote = _quote(part.text)
        if quote:
            statement = " ".join(quote.split())
            claims.append({"statement": statement, "quotes": [{"source": label, "text": quote}]})
        if len(claims) == _CLAIMS:
            break
    gaps = [] if claims else [f"Nothing was found for: {_line(texts, 'Question:')}"]
    return {"claims": claims, "gaps": gaps}


def _quote(text: str) -> str:
    """A sentence of the passage, as it stands there; a stretch of it where there is no whole one."""
    least, most = _QUOTE_CHARACTERS
    for match in re.finditer(r"[A-Z][^.!?\n]*(?:\n(?!\n)[^.!?\n]+)*[.!?](?=\s|$)|[^。\n]+。", text):
        if least <= len(match[0]) <= most:
            return match[0]
    for line in text.splitlines():
        if len(line.strip()) >= least:
            return line.strip()[:most]
    return text.strip()[:most]


def _draft(texts: Sequence[tuple[str, str]]) -> dict[str, Any]:
    claims = []
    for _, text in texts:
        for part in fenced(text):
            if part.label.strip() == "Claims":
                claims += [json.loads(line) for line in part.text.splitlines() if line.strip()]
    sentences = [{"text": claim["claim"], "claims": [claim["id"]]} for claim in claims]
    numbers = list(dict.fromkeys(claim.get("question", 1) for claim in claims))
    sections = [
        {
            "heading": f"Part {number}",
            "sentences": [
                sentence
                for claim, sentence in zip(claims, sentences, strict=True)
                if claim.get("question", 1) == number
            ],
        }
        for number in numbers
    ]
    title = _line(texts, "Title:") or _line(texts, "Question:")
    return {"title": title[:120], "summary": sentences[:2], "sections": sections}


def _review(texts: Sequence[tuple[str, str]]) -> dict[str, Any]:
    return {"remarks": []}
