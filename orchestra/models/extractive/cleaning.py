"""Markup taken out of a sentence that is shown; its quote keeps it."""

from __future__ import annotations

import html
import re

_CODE = re.compile(r"``(.+?)``|`([^`\n<]+)`(?!_)", re.DOTALL)
_ROLE = re.compile(r":(?P<role>[\w:+.-]+):`~?\.?(?P<text>[^`]+)`")
_TARGET = re.compile(r"\s*<[^<>]+>$")
_LINK = re.compile(r"`([^`<]+?)\s*<[^`<>]+>`_{0,2}")
_REFERENCE = re.compile(r"`([^`]+)`__?")
_WORD_REFERENCE = re.compile(r"(?<=\w)__?(?=[\s.,;:)]|$)(?<!__\b)")
_MARKDOWN_LINK = re.compile(r"!?\[([^\]]{1,200})\]\((?:[^()\s]|\([^()]*\))+(?:\s+\"[^\"]*\")?\)")
_MARKDOWN_REFERENCE = re.compile(r"\[([^\]]{1,120})\]\[[^\]]*\]")
_FOOTNOTE = re.compile(r"\s*\[(?:#?\^?[\w-]{0,20})\]_|\s*\[\^[\w-]+\]|\s*\[\d{1,3}\](?![\w(\[])")
_STRONG = re.compile(r"(?<![\w*])\*\*(?=\S)(.+?)(?<=\S)\*\*(?![\w*])|(?<!\w)__(?=[^\W_])([^_]+?\s[^_]*?)__(?!\w)", re.DOTALL)
_EMPHASIS = re.compile(r"(?<![\w*\\/(=])\*(?=[^\s*])([^*\n]+?)(?<=[^\s*])\*(?![\w*])|(?<![\w_])_(?=[^\W_])([^_]{2,80}?)_(?!\w)")
_SUBSTITUTION = re.compile(r"(?<![\w|])\|([^|\s][^|]{0,40}?)\|(?![\w|])")
_TAG = re.compile(r"</?[a-zA-Z][a-zA-Z0-9-]*(?:\s[^<>]*)?/?>")
_BULLET = re.compile(r"^\s*(?:[-*+•·‣–>]|\(?(?:\d{1,3}|[a-zA-Z]|[ivx]{1,4}|#)[.)]|[（(]?[一二三四五六七八九十\d]{1,3}[）)、])\s+")
_HEADING = re.compile(r"^\s*#{1,6}\s+|\s+#{1,6}\s*$")
_ESCAPE = re.compile(r"\\([^\w\s]|\s)")
_FIELD = re.compile(r"^:([\w -]{1,40}):\s+")
_WIDE_BREAK = re.compile(r"(?<=[\u3000-\u9fff\uff00-\uffef])\s*\n\s*(?=[\u3000-\u9fff\uff00-\uffef])")
_CONNECTOR = re.compile(
    r"^(?:However|Therefore|Thus|Hence|Moreover|Furthermore|Additionally|Also|In addition|Consequently|Accordingly|"
    r"Nevertheless|Nonetheless|Similarly|Likewise|Finally|Fortunately|Unfortunately|Indeed|As such|As a result|"
    r"In particular|For example|For instance|In other words|That said|Again|Note that|Please note that|In short|"
    r"On the other hand|Conversely|Instead|First|Second|Third|Firstly|Secondly|And|But|So|Or|Then|Still|Specifically|"
    r"In this case|In fact|Of course|Note|Here)(?:,\s+|(?<=Note that)\s+|(?<=And|But)\s+)|^(?:And|But|So)\s+|^Note that\s+"
    r"|^(?:因此|所以|然而|但是|不过|此外|另外|同时|而且|例如|其次|最后|首先|其中)，"
)


def clean(text: str) -> str:
    """`text` on one line without markup; the words, numbers and names stay as they are."""
    kept: list[str] = []

    def keep(match: re.Match[str]) -> str:
        kept.append(match.group(1) if match.group(1) is not None else match.group(2))
        return f"\0{len(kept) - 1}\0"

    text = _WIDE_BREAK.sub("", text)
    text = _BULLET.sub("", _HEADING.sub("", text))
    text = _FIELD.sub(r"\1: ", text)
    text = _ROLE.sub(_role, text)
    text = _LINK.sub(r"\1", text)
    text = _CODE.sub(keep, text)
    text = _REFERENCE.sub(r"\1", text)
    text = _MARKDOWN_REFERENCE.sub(r"\1", _MARKDOWN_LINK.sub(r"\1", text))
    text = _FOOTNOTE.sub("", text)
    text = _STRONG.sub(_either, text)
    text = _EMPHASIS.sub(_either, text)
    text = _SUBSTITUTION.sub(r"\1", text)
    text = _TAG.sub("", text)
    text = html.unescape(text)
    text = _ESCAPE.sub(lambda match: match.group(1).strip(), text)
    text = _WORD_REFERENCE.sub("", text) if "`" not in text else text
    text = re.sub("\0(\\d+)\0", lambda match: kept[int(match.group(1))], text)
    return " ".join(text.split())


_SEE = re.compile(
    r"\s*[(（](?:see|cf\.?|e\.g\.,? see|参见|见)\b[^()（）]{0,100}[)）]|[;,] see (?:also )?[^;.]{2,80}?(?: for (?:more )?(?:details|information))?(?=[.;]|$)",
    re.IGNORECASE,
)


def sentence_form(text: str) -> str:
    """A cleaned sentence as it opens a paragraph: no connector before it, no pointer elsewhere, a capital, a full
    stop for a colon."""
    text = _SEE.sub("", text)
    text = _CONNECTOR.sub("", text, count=1) or text
    first = text.split(" ", 1)[0]
    if first[:1].islower() and first.strip(",.;:'’s").isalpha() and first.islower():
        text = text[:1].upper() + text[1:]
    text = re.sub(r"\s*(?:::|：|:|;|,|，)$", "", text)
    text = re.sub(r"\s+([,.;:])(?=\s|$)", r"\1", text)
    if text and text[-1] not in ".!?。！？…\"”)）」』":
        text += "。" if "\u3400" <= text[-1] <= "\u9fff" else "."
    return text


def _role(match: re.Match[str]) -> str:
    """`:pep:`634`` as PEP 634; `:func:`open`` as open; a role with a target as its words."""
    text = _TARGET.sub("", match["text"]) if "<" in match["text"] else match["text"]
    name = match["role"].split(":")[-1]
    if text == match["text"] and re.fullmatch(r"#?\d+", text.split("#")[0] or text) and name.isalpha():
        return f"{name.upper() if len(name) <= 4 else name} {text.split('#')[0]}"
    return text.lstrip("!").split("~")[-1]


def _either(match: re.Match[str]) -> str:
    return match.group(1) if match.group(1) is not None else match.group(2)
