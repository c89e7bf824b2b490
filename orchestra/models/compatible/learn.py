"""What an endpoint's refusal teaches: one table of words and the change that answers them."""

from __future__ import annotations

import re
from typing import Any

from msgspec import Struct

from orchestra.models.compatible.addresses import twin_url
from orchestra.models.compatible.failures import Said, filtered, too_long
from orchestra.models.compatible.quirks import Quirks
from orchestra.models.compatible.shape import Outgoing


class Lesson(Struct, frozen=True):
    """A change of quirks; `without` is added to what is left out already."""

    sentence: str
    fields: dict[str, Any]
    without: str = ""

    def applied(self, quirks: Quirks) -> Quirks:
        fields = dict(self.fields)
        if self.without and self.without not in quirks.without:
            fields["without"] = (*quirks.without, self.without)
        if all(getattr(quirks, name) == value for name, value in fields.items()):
            return quirks
        return quirks.changed(self.sentence, **fields)


_LEARNABLE = {400, 404, 415, 422, 500, 501}

_OPTIONAL = (
    "stream_options",
    "parallel_tool_calls",
    "tool_choice",
    "temperature",
    "reasoning_effort",
    "thinking_budget",
    "enable_thinking",
    "thinking",
    "reasoning",
    "extra_body",
)
"""Fields that may simply go, the more special names first: they contain the plainer ones."""


def lesson(status: int, words: Said, sent: Outgoing, quirks: Quirks, url: str = "") -> Lesson | None:
    """The change to try after a refusal, None where the words teach nothing. `url`: the base URL in use."""
    if status in {404, 405} and url and not quirks.url and "model" not in words.all:
        twin = twin_url(url)
        return Lesson(f"answers at {twin}", {"url": twin})
    if status not in _LEARNABLE:
        return None
    text = words.all
    if too_long(words) or filtered(words):
        return None
    if status == 404:
        return _tools(text, sent, quirks) or _formats(text, sent, quirks)
    for teach in (_messages, _limits, _tools, _formats, _fields):
        found = teach(text, sent, quirks)
        if found is not None:
            return found
    return _guess(status, sent, quirks)


_NULL_CONTENT = re.compile(r"content\W.{0,80}(?:null|none|string|empty|required)")


def _messages(text: str, sent: Outgoing, quirks: Quirks) -> Lesson | None:
    """Rules about the message list."""
    if (
        "reasoning_content" in text
        and not quirks.echo
        and re.search(r"pass|back|missing|required|must", text)
    ):
        return Lesson("wants an assistant's reasoning_content back", {"echo": "reasoning_content"})
    if "reasoning_content" in text and quirks.echo and "reasoning_content" not in sent.fields:
        return Lesson("wants no reasoning back", {"echo": ""})
    if (
        re.search(r"tool[_ ]?call[_ ]?id|tool_calls?\W+\d*\W*id|call id|tool_use\.id", text)
        and not quirks.short_ids
    ):
        return Lesson("wants call ids of nine letters and digits", {"short_ids": True})
    if "alternat" in text and not quirks.alternate:
        return Lesson("wants users and assistants to take turns", {"alternate": True})
    if "system" in text and re.search(r"role|message", text):
        if re.search(r"beginning|first", text) and quirks.system == "any":
            return Lesson("takes system messages at the beginning only", {"system": "first"})
        if (
            re.search(r"not support|unsupported|not allowed|invalid|unknown|unexpected", text)
            and quirks.system != "none"
        ):
            return Lesson("takes no system messages", {"system": "none"})
    about_format = "response_format" in text or "schema" in text
    if not quirks.empty_content and not about_format and _NULL_CONTENT.search(text):
        return Lesson("takes no null content", {"empty_content": True})
    return None


def _limits(text: str, sent: Outgoing, quirks: Quirks) -> Lesson | None:
    """Where the limit of output tokens goes, and how high it may be."""
    field = quirks.limit_field
    if field not in sent.fields or ("max_tokens" not in text and "max_completion_tokens" not in text):
        return None
    other = "max_completion_tokens" if field == "max_tokens" else "max_tokens"
    ceiling = re.search(
        r"(?:at most|less than or equal to|<=|maximum(?: value)?(?: of| is)?|max_tokens is \[1,)\s*(\d+)",
        text,
    )
    if ceiling and quirks.max_output is None:
        return Lesson(f"writes at most {ceiling[1]} tokens", {"max_output": int(ceiling[1])})
    if quirks.limit_field == field and not any(
        sentence.startswith("wants the output limit") for sentence in quirks.learnt
    ):
        return Lesson(f"wants the output limit in {other}", {"limit_field": other})
    return None


_BOTH = re.compile(
    r"(?:tool|function).{0,80}(?:response_format|json|schema|structured|response mime)"
    r"|(?:response_format|json|schema|structured|response mime).{0,80}(?:tool|function)"
)
_TOGETHER = re.compile(r"together|combin|both|with|simultaneous|not supported|unsupported|cannot|can't")
_NO_TOOLS = re.compile(
    r"tools?\b.{0,60}(?:not|un)[ -]?support"
    r"|not support.{0,60}\b(?:tools?|function)"
    r"|(?:unknown|unrecogni[sz]ed|extra|unexpected).{0,60}\btools\b"
    r"|\btools\b.{0,60}(?:not permitted|forbidden|not allowed|unknown|unrecogni[sz]ed)"
    r"|endpoints found that support tool|enable-auto-tool-choice|--jinja"
)


def _tools(text: str, sent: Outgoing, quirks: Quirks) -> Lesson | None:
    """Tools refused, alone or together with an output format."""
    if "tools" not in sent.fields:
        return None
    if "response_format" in sent.fields and _BOTH.search(text) and _TOGETHER.search(text):
        return Lesson("takes no output format beside tools", {"output_with_tools": "tool"})
    if "tool_choice" in text or "parallel_tool" in text:
        return None
    return Lesson("knows no tools", {"tools": "emulated"}) if _NO_TOOLS.search(text) else None


def _formats(text: str, sent: Outgoing, quirks: Quirks) -> Lesson | None:
    """Output formats refused: the next one down."""
    if "response_format" not in sent.fields:
        return None
    if not re.search(
        r"response_?format|json_?schema|json_?object|schema|json mode|structured|grammar|guided", text
    ):
        return None
    return _step_down(sent, quirks)


_DOWN = {"schema": "json", "json": "text", "tool": "text"}


def _step_down(sent: Outgoing, quirks: Quirks) -> Lesson | None:
    if sent.mode is None or sent.mode not in _DOWN:
        return None
    lower = _DOWN[sent.mode]
    name = "output_with_tools" if "tools" in sent.fields and quirks.output_with_tools else "output"
    refused = {"schema": "JSON schemas", "json": "JSON mode", "tool": "a forced tool"}[sent.mode]
    return Lesson(f"does not take {refused}", {name: lower})


def _fields(text: str, sent: Outgoing, quirks: Quirks) -> Lesson | None:
    """A field of the body that is named in the refusal."""
    for name in _OPTIONAL:
        if name in sent.fields and re.search(rf"\b{name}\b", text.replace("tool choice", "tool_choice")):
            return Lesson(f"does not take {name}", {}, without=name)
    for name in sent.fields:
        if name not in {"tools", "response_format", "stream"} and name in text:
            return Lesson(f"does not take {name}", {}, without=name)
    return None


def _guess(status: int, sent: Outgoing, quirks: Quirks) -> Lesson | None:
    """A bare "Bad Request" to a body with something special in it: that is tried without.

    What is guessed is kept only if the request without it succeeds.
    """
    if status not in {400, 415, 422, 501}:
        return None
    if "response_format" in sent.fields:
        return _step_down(sent, quirks)
    for name in ("stream_options", "tool_choice"):
        if name in sent.fields:
            return Lesson(f"does not take {name}", {}, without=name)
    return None
