"""Text and markup that are read as they stand: Markdown, reStructuredText, AsciiDoc, Org, LaTeX, data.

Nothing is removed from these, so a quote from them stands in the file itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from orchestra.tools.documents.outline import Content, Heading, one_line

TITLE_CHARS = 160
"""A longer first line is a sentence and not a title."""

DATA_WORTH = 0.6
"""Data repeats the words of its keys and says little with them."""

LINE_CHARS = 1000
"""A longer line is no heading."""

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|$)")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_ATX = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$")
_SETEXT = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_RULE = re.compile(r"([!-/:-@\[-`{-~])\1{2,}[ \t]*$")
_SIGNS = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
_FIELD = re.compile(r":?([A-Za-z][A-Za-z -]{0,40}):(?:[ \t]+(.*))?$")
_FRONT_TITLE = re.compile(r"^title[ \t]*[:=][ \t]*[\"']?(.*?)[\"']?[ \t]*$", re.MULTILINE | re.IGNORECASE)
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)|<[^>]{1,80}>|:[a-z:]+:(?=`)")
_SPAN = re.compile(r"(`{1,2}|\*{1,3})(?=\S)([^`]+?)(?<=\S)\1(?!\w)")
_NUMBERED = re.compile(
    r"(?:[一二三四五六七八九十百]+、|第[一二三四五六七八九十百\d]+[章节節篇部条]|"
    r"\d{1,2}(?:\.\d{1,2}){0,3}(?=\.? [A-Z一-鿿]))(?!.*[.。！？；;,，:：]$)"
)
LONE_CHARS = 80
_OTHER_HEADS = {
    ".adoc": re.compile(r"(?P<mark>={1,6})[ \t]+(?P<title>\S.*)$"),
    ".org": re.compile(r"(?P<mark>\*{1,6})[ \t]+(?P<title>\S.*)$"),
    ".tex": re.compile(r"\\(?P<mark>part|chapter|section|subsection|subsubsection)\*?\{(?P<title>[^}]+)\}"),
}
_TEX_LEVELS = {"part": 1, "chapter": 1, "section": 2, "subsection": 3, "subsubsection": 4}


def lines(text: str) -> Iterator[tuple[int, str]]:
    """Each line without its end, with the offset at which it begins."""
    for found in _LINE.finditer(text):
        if found.start() < len(text):
            yield found.start(), found[0].rstrip("\r\n")


def read_markdown(text: str, extension: str) -> Content:
    preamble, title = _front_matter(text)
    headings: list[Heading] = []
    fence = ""
    before: tuple[int, str] | None = None
    for start, line in lines(text):
        if start < preamble:
            continue
        if len(line) > LINE_CHARS:
            before = None
            continue
        mark = _FENCE.match(line)
        if fence:
            closes = mark is not None and mark[1].startswith(fence) and not line.strip(" `~\t")
            fence = "" if closes else fence
            before = None
            continue
        if mark:
            fence = mark[1]
        elif atx := _ATX.match(line):
            headings.append(Heading(start, len(atx[1]), _bare(atx[2])))
            before = None
            continue
        elif before and (setext := _SETEXT.match(line)) and len(setext[1]) > 1:
            headings.append(Heading(before[0], 1 if setext[1][0] == "=" else 2, _bare(before[1])))
        before = (
            (start, line)
            if line.strip() and not mark and not line.startswith((" ", "\t", "|", ">", "-"))
            else None
        )
    kept = tuple(heading for heading in headings if heading.title)
    return Content(text, title or (kept[0].title if kept else ""), kept, preamble)


def read_restructured(text: str, extension: str) -> Content:
    """Sections by underline, with the level of a style fixed by its first appearance, as docutils does."""
    preamble, fields = _field_list(text)
    headings: list[Heading] = []
    styles: list[str] = []
    above, head = (0, ""), (0, "")  # the two lines before, so that an overline is seen
    for start, line in lines(text):
        rule = _RULE.match(line) if line[:1] in _SIGNS and len(line) <= LINE_CHARS else None
        if rule and start >= preamble and len(line.rstrip()) >= len(head[1].strip()) - 2:
            overlined = _RULE.match(above[1])
            double = overlined is not None and overlined[1] == rule[1]
            alone = not head[1].startswith((" ", "\t")) and not above[1].strip()
            if head[1].strip() and not _RULE.match(head[1]) and (double or alone):
                style = rule[1] * (2 if double else 1)
                if style not in styles:
                    styles.append(style)
                begin = above[0] if double else head[0]
                headings.append(Heading(begin, styles.index(style) + 1, _bare(head[1])))
        above, head = head, (start, line)
    title = fields.get("title", "")
    if title and fields.get("pep", "").isdigit():
        title = f"PEP {fields['pep']} - {title}"
    return Content(text, title or (headings[0].title if headings else ""), tuple(headings), preamble)


def read_text(text: str, extension: str) -> Content:
    """Text without markup; a short first line alone is its title, underlined lines are headings.

    Where nothing is underlined, lines that stand alone in capitals or with a number are headings.
    """
    found = read_restructured(text, extension)
    headings = found.headings or tuple(_lone_headings(text))
    title = found.title
    if not title:
        rows = [line.strip() for _, line in _first_lines(text, 12)]
        first = next((at for at, row in enumerate(rows) if row), None)
        alone = first is not None and (first + 1 >= len(rows) or not rows[first + 1])
        if first is not None and alone and len(rows[first]) <= TITLE_CHARS:
            title = rows[first]
    return Content(text, one_line(title), headings, found.preamble)


def _lone_headings(text: str) -> Iterator[Heading]:
    above, held = "", (0, "")
    for start, line in [*lines(text), (len(text), "")]:
        begin, name = held
        if name and not line.strip() and not above.strip() and len(name) <= LONE_CHARS:
            numbered = _NUMBERED.match(name)
            if numbered or (name.isupper() and sum(char.isalpha() for char in name) > 3):
                yield Heading(begin, numbered[0].count(".") + 1 if numbered else 1, one_line(name))
        above, held = name, (start, line)


def read_data(text: str, extension: str) -> Content:
    """JSON, YAML, TOML, logs: each line for itself."""
    return Content(text, by_lines=True, worth=DATA_WORTH)


def read_other_markup(text: str, extension: str) -> Content:
    """AsciiDoc, Org and LaTeX, as far as their headings go."""
    pattern = _OTHER_HEADS[extension]
    headings = []
    for start, line in lines(text):
        if found := pattern.match(line):
            level = _TEX_LEVELS.get(found["mark"]) or len(found["mark"])
            headings.append(Heading(start, level, _bare(found["title"])))
    return Content(text, headings[0].title if headings else "", tuple(headings))


def _first_lines(text: str, count: int) -> list[tuple[int, str]]:
    found = []
    for line in lines(text):
        found.append(line)
        if len(found) == count:
            break
    return found


def _bare(title: str) -> str:
    """A heading without emphasis, links and tags."""
    unlinked = _LINK.sub(lambda found: found[1] or "", title[: 2 * TITLE_CHARS])
    return one_line(_SPAN.sub(r"\2", unlinked))[:TITLE_CHARS]


def _front_matter(text: str) -> tuple[int, str]:
    """The end of YAML or TOML front matter and the title in it."""
    opening = re.match(r"(---|\+\+\+)[ \t]*\r?\n", text)
    if opening is None:
        return 0, ""
    closing = re.compile(rf"^{re.escape(opening[1])}[ \t]*$", re.MULTILINE).search(text, opening.end())
    if closing is None or closing.start() > 20_000:
        return 0, ""
    title = _FRONT_TITLE.search(text, opening.end(), closing.start())
    return closing.end(), one_line(title[1]) if title else ""


def _field_list(text: str) -> tuple[int, dict[str, str]]:
    """The end of a header of `Name: value` lines (at least two) and its values by lower-cased name."""
    fields: dict[str, str] = {}
    name, end = "", 0
    for start, line in lines(text):
        if not line.strip():
            break
        if name and line[0] in " \t":
            fields[name] += " " + line.strip()
        elif found := _FIELD.match(line):
            name = found[1].lower()
            fields[name] = found[2] or ""
        else:
            return 0, {}
        end = start + len(line)
    return (end, {key: one_line(value) for key, value in fields.items()}) if len(fields) > 1 else (0, {})
