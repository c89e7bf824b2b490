"""Word documents: paragraphs, headings and tables in their order."""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from typing import Any

import docx
from docx.opc.exceptions import PackageNotFoundError
from docx.table import Table

from orchestra.errors import InputError
from orchestra.tools.documents.outline import Content, Writer, looks_like_header, one_line, row_text

UNPACKED_BYTES = 400 * 1024 * 1024
"""A Word file that unpacks to more is refused unread."""

_OLE = b"\xd0\xcf\x11\xe0"  # the container of encrypted Office files and of the old .doc
# What zipfile, lxml (whose errors are SyntaxErrors) and python-docx raise on damaged files.
_DAMAGE = (PackageNotFoundError, zipfile.BadZipFile, zlib.error, SyntaxError, LookupError, ValueError,
           TypeError, AttributeError, EOFError, OSError, NotImplementedError, RecursionError)  # fmt: skip
_HEADING = re.compile(r"heading\s*(\d)")


def read_docx(data: bytes) -> Content:
    """Raises InputError for a file that is encrypted, damaged or a trap."""
    if data.startswith(_OLE):
        raise InputError("the Word file is encrypted or in the old .doc format; save it as a plain .docx")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            unpacked = sum(part.file_size for part in archive.infolist())
        if unpacked > UNPACKED_BYTES:
            allowed = UNPACKED_BYTES // 2**20
            raise InputError(f"the Word file unpacks to {unpacked // 2**20:,} MB, more than {allowed} MB")
        return _content(docx.Document(io.BytesIO(data)))
    except _DAMAGE as error:
        raise InputError("the Word file is broken and cannot be read; save it again") from error


def _content(document: Any) -> Content:
    writer = Writer()
    title = one_line(document.core_properties.title or "")
    for block in document.iter_inner_content():
        if isinstance(block, Table):
            _write_table(block, writer)
            continue
        style = (block.style.name or "").lower() if block.style is not None else ""
        level = _HEADING.match(style)
        if style == "title":
            title = title or one_line(block.text)
            writer.head(1, block.text)
        elif level:
            writer.head(int(level[1]), block.text)
        elif "list" in style and block.text.strip():
            writer.add("- " + block.text)
        else:
            writer.add(block.text)
    headings = writer.kept_headings()
    return Content(writer.text(), title or (headings[0].title if headings else ""), headings)


def _write_table(table: Table, writer: Writer) -> None:
    rows = [[one_line(cell.text) for cell in row.cells] for row in table.rows]
    rows = [row for row in rows if any(row)]
    if rows and len(rows[0]) > 1 and looks_like_header(rows[0], rows[1:3]):
        writer.add("\n".join(row_text(rows[0], row) for row in rows[1:]))
    else:
        writer.add("\n".join("; ".join(filter(None, row)) for row in rows))
