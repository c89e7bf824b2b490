"""HTML: the text that a reader of the page came for.

Menus, scripts, forms and the like are left out; block elements become paragraphs, tables become lines that
name their columns.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from selectolax.lexbor import LexborHTMLParser, LexborNode

from orchestra.errors import InputError
from orchestra.tools.documents.outline import Content, Heading, Writer, looks_like_header, one_line, row_text

_LEFT_OUT = (
    "script, style, noscript, template, iframe, svg, canvas, object, form, button, select, nav, "
    "aside, footer, [hidden], [aria-hidden=true], [role=navigation], [role=banner], "
    "[role=contentinfo], [role=search]"
)
_BOILERPLATE = re.compile(
    r"(?:^|[-_\s])(?:cookies?|breadcrumbs?|sidebar|advert\w*|ads?|social|share|sharing|newsletter|popup|menu|navbar|"
    r"nav|pagination|related-posts|skip-link)(?:$|[-_\s])",
    re.IGNORECASE,
)
_ROOTS = ("main", "[role=main]", "article", "#content")
_ROOT_SHARE = 0.3  # a root must hold this share of the body's text to stand for the page
_BLOCK_TAGS = """
    address article blockquote body center dd details dialog div dl dt fieldset figcaption figure footer h1 h2
    h3 h4 h5 h6 header hgroup hr li main ol p pre section summary table tbody td tfoot th thead tr ul
"""
_BLOCKS = frozenset(_BLOCK_TAGS.split())
_NESTING = re.compile(
    r"<(/?)(?:div|span|section|article|blockquote|ul|ol|dl|table|font|b|i|u|em|strong|small|center|details)\b",
    re.IGNORECASE,
)
DEEPEST = 10_000
"""Parsing takes time with the square of the depth."""

_HEADS = {f"h{level}": level for level in range(1, 7)}


def read_html(text: str, extension: str) -> Content:
    """Raises InputError for a page that nests deeper than any that was written to be read."""
    if _depth(text) > DEEPEST:
        raise InputError(f"nests its elements more than {DEEPEST:,} deep and was not parsed")
    tree = LexborHTMLParser(text)
    title = tree.css_first("title")
    page_title = one_line(title.text()) if title is not None else ""
    for node in tree.css(_LEFT_OUT):
        node.decompose()
    for node in tree.css("[class], [id]"):
        if node.tag not in ("body", "html", "main", "article") and _is_boilerplate(node):
            node.decompose()
    body = tree.body
    if body is None:
        return Content("")
    writer = Writer()
    _write(_root(body), writer)
    headings = writer.kept_headings()
    return Content(writer.text(), _first_head(headings) or page_title, headings)


def _depth(text: str) -> int:
    """The greatest number of elements open at once, of those that only an end tag closes."""
    deepest = depth = 0
    for closing in _NESTING.findall(text):
        depth = max(depth - 1, 0) if closing else depth + 1
        deepest = max(deepest, depth)
    return deepest


def _is_boilerplate(node: LexborNode) -> bool:
    named = f"{node.attributes.get('class') or ''} {node.attributes.get('id') or ''}"
    return bool(_BOILERPLATE.search(named))


def _root(body: LexborNode) -> LexborNode:
    whole = len(body.text())
    for selector in _ROOTS:
        found = body.css(selector)
        if len(found) == 1 and len(found[0].text()) >= whole * _ROOT_SHARE:
            return found[0]
    return body


def _first_head(headings: tuple[Heading, ...]) -> str:
    return next((heading.title for heading in headings if heading.level == 1), "")


def _write(root: LexborNode, writer: Writer) -> None:
    """Walks without recursion, since a hostile page nests thousands deep."""
    inline: list[str] = []
    inside = 0  # the node that was written whole, by its address
    marker = ""
    for node, entering in _walk(root):
        if inside:
            inside = 0 if not entering and node.mem_id == inside else inside
            continue
        tag = node.tag or ""
        if tag == "-text":
            inline.append(node.text_content or "" if entering else "")
            continue
        if tag == "br" and entering:
            inline.append(" ")
        if tag not in _BLOCKS:
            continue
        marker = _flush(inline, marker, writer)
        if not entering:
            continue
        if tag in _HEADS or tag in ("pre", "table"):
            _write_whole(node, tag, writer)
            inside = node.mem_id
        elif tag == "li":
            marker = "- "
    _flush(inline, marker, writer)


def _write_whole(node: LexborNode, tag: str, writer: Writer) -> None:
    if tag in _HEADS:
        writer.head(_HEADS[tag], node.text().replace("¶", ""))
    elif tag == "pre":
        writer.add(node.text())
    else:
        _write_table(node, writer)


def _flush(inline: list[str], marker: str, writer: Writer) -> str:
    """Writes the collected run of text as one paragraph; the marker waits until there is one."""
    block = one_line("".join(inline))
    inline.clear()
    if not block:
        return marker
    writer.add(marker + block)
    return ""


def _walk(root: LexborNode) -> Iterator[tuple[LexborNode, bool]]:
    """Every node below `root` in order, elements once on entering and once on leaving."""
    node = root.child
    while node is not None:
        yield node, True
        if node.child is not None:
            node = node.child
            continue
        yield node, False
        while node.next is None:
            parent = node.parent
            if parent is None or parent.mem_id == root.mem_id:
                return
            node = parent
            yield node, False
        node = node.next


def _write_table(table: LexborNode, writer: Writer) -> None:
    rows = [[one_line(cell.text()) for cell in row.css("th, td")] for row in table.css("tr")]
    rows = [row for row in rows if any(row)]
    caption = table.css_first("caption")
    if caption is not None:
        writer.add(one_line(caption.text()))
    headed = table.css_first("th") is not None and len(rows) > 1
    if rows and (headed or (len(rows[0]) > 1 and looks_like_header(rows[0], rows[1:3]))):
        writer.add("\n".join(row_text(rows[0], row) for row in rows[1:]))
    else:
        writer.add("\n".join("; ".join(filter(None, row)) for row in rows))
