"""Taking a question apart into questions that stand alone."""

from __future__ import annotations

import re

from orchestra.models.extractive.headings import REQUEST, heading
from orchestra.models.extractive.phrases import parse, short_subject
from orchestra.models.extractive.words import CHINESE_QUESTION, LEADS, strong_terms

_BE = r"is|are|was|were|do|does|did|can|could|should|must|may|will|would|has|have|had"
_JOIN = re.compile(
    r"[,;]?\s+(?:and|but|or|as well as|and also)\s+(?=(?:in |for |to |from |of |at |by |with |on |under |since )?"
    r"(?:what|which|who|whom|whose|when|where|why|how)\b)"
    r"|[,;]\s+(?=(?:what|why|how)\b)|;\s+"
    rf"|[,;]\s+(?=(?:where|when|who)\s+(?:{_BE})\b|(?:which|whose)\s+(?:\w+\s+){{1,3}}(?:{_BE})\b)"
    rf"|[,;]\s+(?:and\s+|or\s+)?(?=(?:{_BE})\s+(?:it|they|these|those|this|that|there|the|a|an)\b)",
    re.IGNORECASE,
)
_EACH_FOR = re.compile(r":\s+(for|in|with|to|on|by|as)\s+(.+)$", re.IGNORECASE | re.DOTALL)
_TWO_HEADS = re.compile(
    rf"(?P<lead>which|what)\s+(?P<first>[\w-]+(?: [\w-]+)?)\s+and\s+(?P<second>[\w-]+(?: [\w-]+)?)\s+(?P<rest>(?:{_BE})\s.+)",
    re.IGNORECASE | re.DOTALL,
)
_TWO_THINGS = re.compile(
    r"(?P<lead>what\s+(?:is|are|was|were))\s+(?P<first>[^,]{2,60}?)\s+and\s+(?P<second>[^,]{2,60}?)(?P<rest>\s+(?:for|in|used for)(?:\s.+)?)?",
    re.IGNORECASE | re.DOTALL,
)
_PRONOUN = re.compile(r"\b(it|they|them|these|those|its|their|this|that one|the former|the latter|he|she|him|his|her)\b", re.IGNORECASE)
_PLURAL = frozenset(("they", "them", "these", "those", "their"))
_POSSESSIVE = frozenset(("its", "their", "his", "her"))


def english(question: str) -> list[str]:
    """The questions in one English sentence, each made to stand alone."""
    text = REQUEST.sub("", " ".join(question.split()).rstrip("?.! "), count=1)
    parts = english_parts(text)
    found: list[str] = []
    for at, part in enumerate(parts):
        for piece in _divide(part):
            found.append(_standing(piece, parts[0]) if at else piece)
    return [_finish(piece) for piece in found]


def english_parts(text: str) -> list[str]:
    """The clauses of one sentence that each ask something, as they stand."""
    parts = [part.strip(" ,;") for part in _JOIN.split(" ".join(text.split()).rstrip("?.! "))]
    return _whole_parts([part for part in parts if part])


def _whole_parts(parts: list[str]) -> list[str]:
    """Parts too small to be a question go back to the one before."""
    whole: list[str] = []
    for part in parts:
        if whole and len(part.split()) < 3 and not LEADS.match(part):
            whole[-1] += f", {part}"
        else:
            whole.append(part)
    return whole


def _divide(part: str) -> list[str]:
    """One clause taken further apart: "for X and for Y", "which A and B must", "what are A and B"."""
    each = _EACH_FOR.search(part)
    if each:
        word = each.group(1)
        items = [item.strip(" ,") for item in re.split(rf",?\s+and\s+{word}\s+|,\s+{word}\s+|;\s+", each.group(2))]
        if len(items) > 1:
            return [f"{part[: each.start()]} {word} {item}" for item in items if item]
    heads = _TWO_HEADS.fullmatch(part)
    if heads and not re.search(r"\b(?:of|in|on|for|and)\b", heads["first"] + " " + heads["second"]):
        return [f"{heads['lead']} {heads[head]} {_agree(heads[head], heads['rest'])}" for head in ("first", "second")]
    things = _TWO_THINGS.fullmatch(part)
    if things and " and " not in things["second"] and not re.search(r"\b(?:difference|relation|between)\b", part):
        return [_what(things["lead"], things[thing], things["rest"] or "") for thing in ("first", "second")]
    return [part]


def _agree(head: str, rest: str) -> str:
    """`rest` with its leading "are" or "were" made to agree with a single thing."""
    if head.endswith("s"):
        return rest
    return re.sub(r"^(are|were)\b", lambda match: {"are": "is", "were": "was"}[match.group().lower()], rest)


def _what(lead: str, thing: str, rest: str) -> str:
    word, be = lead.split()
    plural = thing.rstrip().endswith("s") and not thing.endswith("ss")
    be = {"are": "are" if plural else "is", "were": "were" if plural else "was"}.get(be.lower(), be)
    return f"{word} {be} {thing}{rest}"


def topic_of(clause: str, plural: bool = False) -> str:
    """The noun phrase that a clause is about; "" where it cannot be told.

    `plural`: one that "they" can mean, from after the verb if the subject is a single thing.
    """
    parts = parse(clause)
    if parts is None:
        return _topic_of_statement(clause)
    words = parts.lead.split()
    be = parts.auxiliary in ("is", "are", "was", "were")
    heads = " ".join(words[1:]) if words[0].lower() in ("which", "what") else ""
    subject = parts.subject
    if not subject and not heads and be:
        subject = re.sub(r"^\w+ed by |\s+(?:used |good )?for$", "", parts.rest)
    if heads and (not subject or be or not strong_terms(subject) or len(heads.split()) > 2):
        subject = heads
    named = short_subject(subject)
    if plural and not _is_plural(named):
        after = short_subject(" ".join(parts.rest.split()[1:]))
        named = after if _is_plural(after) else ""
    return "" if len(named.split()) > 8 or _PRONOUN.match(named) else named


def _topic_of_statement(clause: str) -> str:
    """The subject of "how oxidation works"; "" where it cannot be told."""
    match = re.match(r"(?:how|why|what|when|where) (?P<subject>(?:[\w-]+ ){1,4}?)[\w-]+s\b", clause, re.IGNORECASE)
    return match["subject"].strip() if match else ""


def _is_plural(phrase: str) -> bool:
    return " and " in phrase or bool(re.search(r"[^s]s$", phrase.split(" of ")[0].split(" on ")[0]))


def _standing(part: str, first: str) -> str:
    """`part` with its pronoun replaced by the topic of the first clause, or with the topic set before it."""
    pronoun = _first_pronoun(part)
    if pronoun is not None:
        word = pronoun.group(1).lower()
        if word in ("this", "that"):
            what = heading(first)
            return f"About {what if what.split()[0].isupper() else what[:1].lower() + what[1:]}: {part}".replace("?:", ":")
        topic = topic_of(first, word in _PLURAL)
        if not topic:
            return part
        named = f"{topic}'" + ("" if topic.endswith("s") else "s") if word in _POSSESSIVE else topic
        of = re.search(r"\bof\s+$", part[: pronoun.start()]) and not re.match(r"(?:the|a|an|these|single)\b", named)
        return part[: pronoun.start()] + ("the " if of else "") + named + part[pronoun.end() :]
    topic = topic_of(first)
    shared = set(strong_terms(part)) & set(strong_terms(topic))
    if topic and not shared and (len(strong_terms(part)) < 3 or _PRONOUN.search(part)):
        return f"About {topic}: {part}"
    return part


def _first_pronoun(part: str) -> re.Match[str] | None:
    """A pronoun that can only mean the topic: nothing in the clause comes before it that it could mean."""
    match = _PRONOUN.search(part)
    if match is None:
        return None
    before = part[: match.start()]
    words = [word for word in strong_terms(before) if word.isalpha() or not word.isascii()] if before.strip() else []
    lead = LEADS.match(part)
    own = [word for word in words if lead is None or word not in strong_terms(lead.group())]
    plain = re.match(r"\s+(?:that|who|which|it|they|we|you|of us)\b", part[match.end() :])
    limit = 2 if re.search(r"\b(?:is|are|was|were|do|does|did|can|should|must|may|will)\s+$", before) else 0
    after = re.search(r"\bof\s+$", before)
    return None if plain or (len(own) > limit and not after) else match


def _finish(part: str) -> str:
    text = part.strip(" ,;:")
    text = text if text.startswith("About ") else text[:1].upper() + text[1:]
    return text + "?" if LEADS.match(text) or text.startswith("About ") or re.match(rf"(?:{_BE})\b", text, re.I) else text


_CHINESE_JOIN = re.compile(r"[，；,;]\s*(?:以及|并且|而且|同时|还有|另外|又|并|和|及)?|(?:以及|并且|而且|还有)")
_CHINESE_TOPIC_END = re.compile(
    "为什么|为何|怎么|怎样|如何|什么|哪|几|多少|多久|多长|是否|是|有|在|会|能|可以|应该|应当|应|需要|需|要|由|被|把|用|含|属于|分为|与其|叫|的?区别|的?不同"
)
_CHINESE_PRONOUN = re.compile("^(?:它们|他们|她们|它|他|其|这种|那种|这些|那些|这个|那个|两者|二者|各自|这|那)(?:的)?")
_CHINESE_BARE = re.compile(
    "^(?:分别|又|还|也|为什么|为何|怎么|怎样|如何|什么时候|何时|有哪些|有什么|有多少|是什么|是否|需要|应该|可以|能|会|含有|哪些|多少|叫|适合)"
)


def chinese(question: str) -> list[str]:
    """The questions in one Chinese sentence, each made to stand alone."""
    text = question.strip().rstrip("？?。！! ")
    parts: list[str] = []
    for part in _CHINESE_JOIN.split(text):
        piece = part.strip()
        if not piece:
            continue
        both = len(piece) > 4 and parts and CHINESE_QUESTION.search(piece) and CHINESE_QUESTION.search(parts[-1])
        if both or not parts:
            parts.append(piece)
        else:
            parts[-1] += f"，{piece}"
    topic = chinese_topic(parts[0]) if parts else ""
    return [f"{part if at == 0 else chinese_standing(part, topic)}？" for at, part in enumerate(parts)]


def chinese_topic(clause: str) -> str:
    """What a Chinese clause is about: what stands before its verb or question word."""
    clause = re.sub("^(?:请问|请|介绍一下|介绍|说明|解释|什么是|为什么|为何|如何|怎样|怎么)+", "", clause)
    end = _CHINESE_TOPIC_END.search(clause, 1)
    topic = (clause[: end.start()] if end else clause).rstrip("的，、 ")
    return topic if 1 < len(topic) <= 24 else ""


def chinese_standing(part: str, topic: str) -> str:
    if not topic or topic in part:
        return part
    pronoun = _CHINESE_PRONOUN.match(part)
    if pronoun:
        rest = part[pronoun.end() :]
        return f"{topic}{'的' if pronoun.group().endswith('的') or pronoun.group() == '其' else ''}{rest}"
    if _CHINESE_BARE.match(part):
        return topic + re.sub("^(?:又|还|也)", "", part)
    return part if set(topic) & set(chinese_topic(part)) else f"关于{topic}：{part}"
