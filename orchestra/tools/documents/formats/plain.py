"""Plain text and the markup that is read as it stands: Markdown, reStructuredText, AsciiDoc, Org, LaTeX, data.

Nothing is removed from these, so a quote from them stands in the file itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from orchestra.tools.documents.outline import Content, Heading, one_line

TITLE_CHARS = 160
"""A longer first line is a sentence and not a title."""

LINE_CHARS = 1000
"""A longer line is no heading."""

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|$)")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_ATX = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$")
_SETEXT = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_RULE = re.compile(r"([!-/:-@\[-`{-~])\1{2,}[ \t]*$")
_FIELD = re.compile(r":?([A-Za-z][A-Za-z -]{0,40}):(?:[ \t]+(.*))?$")
_FRONT_TITLE = re.compile(r"^title[ \t]*[:=][ \t]*[\"']?(.*?)[\"']?[ \t]*$", re.MULTILINE | re.IGNORECASE)
_MARKUP = re.compile(r"!?\[([^\]]*)\]\([^)]*\)|[`*]+|(?<!\w)_{1,2}(?=\w)|(?<=\w)_{1,2}(?!\w)|<[^>]{1,80}>")
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
        before = (start, line) if line.strip() and not mark and not line.startswith((" ", "\t", "|", ">", "-")) else None
    kept = tuple(heading for heading in headings if heading.title)
    return Content(text, title or (kept[0].title if kept else ""), kept, preamble)


def read_restructured(text: str, extension: str) -> Content:
    """Sections by underline, with the level of a style fixed by its first appearance, as docutils does."""
    preamble, fields = _field_list(text)
    headings: list[Heading] = []
    styles: list[str] = []
    before = [(0, ""), (0, ""), (0, "")]  # the three lines above, so that an overline is seen
    for start, line in lines(text):
        rule = _RULE.match(line) if len(line) <= LINE_CHARS else None
        head_start, head = before[2]
        over = _RULE.match(before[1][1])
        if (
            rule
            and start >= preamble
            and head.strip()
            and not _RULE.match(head)
            and len(line.rstrip()) >= len(head.strip()) - 2
        ):
            overlined = over is not None and over[1] == rule[1]
            if overlined or (not head.startswith((" ", "\t")) and not before[1][1].strip()):
                style = rule[1] * (2 if overlined else 1)
                if style not in styles:
                    styles.append(style)
                begin = before[1][0] if overlined else head_start
                headings.append(Heading(begin, styles.index(style) + 1, _bare(head)))
        before = [*before[1:], (start, line)]
    title = fields.get("title", "")
    if title and fields.get("pep", "").isdigit():
        title = f"PEP {fields['pep']} - {title}"
    return Content(text, title or (headings[0].title if headings else ""), tuple(headings), preamble)


def read_text(text: str, extension: str) -> Content:
    """Text without markup; a short first line that stands alone is its title, underlined lines are headings."""
    found = read_restructured(text, extension)
    title = found.title
    if not title:
        rows = [line.strip() for _, line in _first_lines(text, 12)]
        first = next((at for at, row in enumerate(rows) if row), None)
        alone = first is not None and (first + 1 >= len(rows) or not rows[first + 1])
        if first is not None and alone and len(rows[first]) <= TITLE_CHARS:
            title = rows[first]
    return Content(text, one_line(title), found.headings, found.preamble)


def read_data(text: str, extension: str) -> Content:
    """JSON, YAML, TOML, logs: each line for itself."""
    return Content(text, by_lines=True)


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
    return one_line(_MARKUP.sub(lambda found: found[1] or "", title))[:TITLE_CHARS]


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
