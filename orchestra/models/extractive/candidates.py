"""What could be quoted: sentences of passages that stand alone, cleaned, with the exact spans they come from."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from orchestra.models.extractive.cleaning import clean, sentence_form
from orchestra.models.extractive.prose import looks_like_code, term_set, word_count
from orchestra.models.extractive.reading import Hit
from orchestra.models.extractive.words import pale_stems
from orchestra.text.sentences import Span, sentences
from orchestra.text.terms import terms

FEWEST_WORDS = 5
MOST_WORDS = 60
FEWEST_TERMS = 4  # a sentence with fewer telling words says little
_GROUP_WORDS = 75
_SHORT_ITEM = 12  # words; such an item is shown with the sentence that introduces its list

_SELF = re.compile(
    r"This (?:[A-Z]{2,}|document|proposal|specification|standard|paper|article|report|guide|chapter|section|page|study|policy|module|note)\b"
)
_ANAPHOR = re.compile(
    r"(?:This|That|These|Those|It|Its|They|Their|Such|He|She|His|Her|Both|Neither|Either|The (?:former|latter|above|"
    r"following|same|other|result)|Doing so|Otherwise|Similarly|Another|Instead|One such|In (?:this|that|such|these|both)"
    r"|For (?:this|that|these)|As (?:such|a result)|Here|There)\b|(?:它|它们|这|那|其|此|该|他|她|这些|那些|因此|所以|但|然而|不过|而且|同时)"
)
_REFERS = re.compile(
    r"^See\b|^Refer to\b|\b(?:see|discussed|described|mentioned|shown|listed|explained|defined|given|noted) (?:\w+ )?(?:below|above|later|earlier)\b"
    r"|\b(?:below|above)\)?[.:]?$|\bfollowing (?:example|code|snippet|table|section|figure|listing)\b|\b(?:the|this) (?:next|previous|following|rest of th\w+) section\b"
    r"|\bas follows\b|\bthe (?:example|code|snippet)s? above\b|\babove (?:example|code|snippet)|如下|见下|上表|下表|上图|下图",
    re.IGNORECASE,
)
_BOILERPLATE = re.compile(
    r"copyright|public domain|all rights reserved|creative commons|cc0-1\.0|placed in the|last.modified|版权|致谢|"
    r"\bthanks? (?:to|go)\b|acknowledge|mailing list|discussion thread|https?://\S+$",
    re.IGNORECASE,
)
DULL_SECTION = re.compile(
    r"(?:^|> ?)(?:references?|copyright|acknowledge?ments?|footnotes?|change ?log|change history|version history|"
    r"table of contents|contents|bibliography|see also|further reading|post.history|参考文献|参考资料|参考|致谢|版权|目录)\.?$",
    re.IGNORECASE,
)
DOUBTED_SECTION = re.compile(
    r"reject|alternative|deferred|open (?:issue|question)|objection|not (?:chosen|adopted)|previous (?:draft|version)|"
    r"prior art|related work|other languages|how to teach|reference implementation|backwards? compatib|example",
    re.IGNORECASE,
)
_DEFINES = re.compile(
    r"^(?:An? |The )?[\w`'*().-]+(?: [\w`'*().-]+){0,5} (?:is|are|was|were|means|refers to|denotes|consists? of|defines?|"
    r"introduces?|specifies|provides?|describes?|proposes?|allows?|enables?|returns?|contains?|holds?|must|can be)\b"
    r"|^.{1,20}(?:是|指|即|称为|又名|由)"
)
_ELLIPTIC = re.compile(
    r"(?:Must|Should|May|Can|Will|Shall|Returns?|Raises?|Called|Optional|Required|Used|Same as|Defaults?|Sets?|Gets?|"
    r"Creates?|Takes?|Contains?|Describes?|Indicates?|Specifies|Allows?|Makes?|Provides?|Represents?)\b"
)


class Place(Struct, frozen=True):
    """A verbatim span: `hit.text[start:end]`."""

    start: int
    end: int


class Candidate(Struct, frozen=True):
    """One statement that could be made; `text` is its clean form, `places` its verbatim spans in `hit`."""

    hit: Hit
    places: tuple[Place, ...]
    text: str
    terms: frozenset[str]
    words: int
    worth: float
    kind: str = "prose"

    @property
    def quotes(self) -> tuple[str, ...]:
        return tuple(self.hit.text[place.start : place.end] for place in self.places)


def candidates(hits: Sequence[Hit]) -> list[Candidate]:
    """The statements of all passages, each text once, in the order of the passages."""
    found: dict[str, Candidate] = {}
    for hit in hits:
        if DULL_SECTION.search(hit.section):
            continue
        for candidate in _of(hit):
            key = candidate.text.casefold()
            if key not in found or found[key].worth < candidate.worth:
                found[key] = candidate
    return list(found.values())


def _of(hit: Hit) -> Iterator[Candidate]:
    units = sentences(hit.text)
    code = _code_blocks(hit.text, units)
    for at, unit in enumerate(units):
        if unit.kind in ("heading", "term", "markup", "code") or unit.block in code:
            continue
        group = _group(hit, units, at)
        if group is not None:
            yield group
            continue
        made = _single(hit, units, at)
        if made is not None:
            yield made


def _code_blocks(text: str, units: Sequence[Span]) -> set[int]:
    extents: dict[int, tuple[int, int]] = {}
    for unit in units:
        if unit.kind in ("prose", "item", "row"):
            first, _ = extents.get(unit.block, (unit.start, 0))
            extents[unit.block] = (first, unit.end)
    return {block for block, (start, end) in extents.items() if looks_like_code(text[start:end])}


def _single(hit: Hit, units: Sequence[Span], at: int) -> Candidate | None:
    unit = units[at]
    text = clean(hit.text[unit.start : unit.end])
    if text.endswith((":", "：")):
        return None
    places = [Place(unit.start, unit.end)]
    before = units[at - 1] if at else None
    label = _label(hit, units, at) if _ELLIPTIC.match(text) or unit.kind == "prose" and _after_term(units, at) else None
    if label is not None:
        places.insert(0, Place(label.start, label.end))
        text = f"{_label_text(hit.text[label.start : label.end])}: {text}"
    elif _ANAPHOR.match(text) and not _SELF.match(text) and before is not None and before.block == unit.block:
        first = clean(hit.text[before.start : before.end])
        if not first.endswith((":", "：")) and (_SELF.match(first) or not _ANAPHOR.match(first)):
            return _made(hit, [Place(before.start, unit.end)], f"{first} {text}", unit.kind)
    elif unit.kind == "item" and word_count(text) <= _SHORT_ITEM and (intro := _introduction(hit, units, at)):
        places.insert(0, Place(intro.start, intro.end))
        text = f"{clean(hit.text[intro.start : intro.end]).rstrip(':： ')}: {text}"
    elif unit.kind == "row":
        text = ", ".join(cell for cell in re.split(r"\s*[|\t]\s*", text) if cell)
    return _made(hit, places, text, unit.kind)


def _introduction(hit: Hit, units: Sequence[Span], at: int) -> Span | None:
    """The sentence with a colon that a list item stands under."""
    for back in range(at - 1, -1, -1):
        above = units[back]
        if above.kind == "item":
            continue
        return above if above.kind == "prose" and hit.text[above.start : above.end].endswith((":", "：")) else None
    return None


def _after_term(units: Sequence[Span], at: int) -> bool:
    return at > 0 and units[at - 1].kind == "term"


def _label(hit: Hit, units: Sequence[Span], at: int) -> Span | None:
    """The term or heading right above a sentence that has no subject of its own."""
    for back in range(at - 1, max(-1, at - 4), -1):
        above = units[back]
        if above.kind in ("term", "heading"):
            return above if len(hit.text[above.start : above.end]) < 80 else None
        if above.kind not in ("code", "markup") and not hit.text[above.start : above.end].strip(": "):
            continue
        if above.kind not in ("code", "markup"):
            return None
    return None


def _label_text(text: str) -> str:
    lines = [line for line in text.split("\n") if re.search(r"\w", line)]
    return clean(lines[0] if lines else text).rstrip(":： ")


def _group(hit: Hit, units: Sequence[Span], at: int) -> Candidate | None:
    """"The hooks are:" with its short list, or an introduction with one or two lines of code."""
    intro = units[at]
    raw = hit.text[intro.start : intro.end]
    if intro.kind not in ("prose", "item") or not raw.endswith((":", "：")) or at + 1 >= len(units):
        return None
    head = clean(raw).rstrip(":： ")
    following = units[at + 1]
    if following.kind == "code":
        code = " ".join(hit.text[following.start : following.end].split())
        lines = hit.text[following.start : following.end].strip().count("\n") + 1
        if lines > 2 or len(head.split()) < 3 or len(code) > 120 or _FENCED.match(code):
            return None
        places = [Place(intro.start, intro.end), Place(following.start, following.end)]
        return _made(hit, places, f"{head}: {code}", "code")
    items = []
    last = at
    for index in range(at + 1, len(units)):
        if units[index].kind != "item":
            break
        items.append(units[index])
        last = index
    if len(items) < 2:
        return None
    shown = [clean(hit.text[item.start : item.end]).rstrip(".;,。；， ") for item in items]
    text = f"{head}: {'; '.join(shown)}."
    if word_count(text) > _GROUP_WORDS:
        return None
    return _made(hit, [Place(intro.start, units[last].end)], text, "list")


_FENCED = re.compile(r"`{3}|~{3}")


def _made(hit: Hit, places: Sequence[Place], text: str, kind: str) -> Candidate | None:
    shown = sentence_form(text)
    words = word_count(shown)
    if not FEWEST_WORDS <= words <= (_GROUP_WORDS if kind in ("list", "code") else MOST_WORDS + 10):
        return None
    worth = _worth(hit, shown, words, kind)
    if worth <= 0:
        return None
    return Candidate(hit, tuple(places), shown, term_set(shown), words, worth, kind)


def _worth(hit: Hit, text: str, words: int, kind: str) -> float:
    """How fit a sentence is to be shown, whatever was asked: 0 not at all, 1 plain, more for definitions."""
    letters = sum(char.isalpha() or char.isspace() for char in text)
    if _BOILERPLATE.search(text) or letters < 0.7 * len(text) and kind != "code" or text.endswith(("?", "？")):
        return 0.0
    worth = 1.0
    if text.startswith(("(", "（")):
        worth *= 0.5
    if kind == "field":
        worth *= 0.3
    if kind == "row":
        worth *= 0.5
    if kind == "item" and words <= _SHORT_ITEM:
        worth *= 0.6
    if kind == "code":
        worth *= 0.8
    if _SELF.match(text):
        worth *= 0.9
    elif _ANAPHOR.match(text):
        worth *= 0.45
    elif _ELLIPTIC.match(text):
        worth *= 0.7
    if _REFERS.search(text):
        worth *= 0.55
    if DOUBTED_SECTION.search(hit.section):
        worth *= 0.7
    if re.search(r"\b(?:I|we|my|our|I'm|I've|we've|let's)\b", text, re.IGNORECASE):
        worth *= 0.8
    if _DEFINES.match(text):
        worth *= 1.2
    if len([term for term in terms(text) if term not in pale_stems()]) < FEWEST_TERMS:
        worth *= 0.6
    if words > 45:
        worth *= 0.85
    return worth
