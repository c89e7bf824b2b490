"""From a file to a document: which reader reads what, and how a file is opened safely.

To add a format: write `formats/<name>.py` with a function from its bytes or text to a `Content`, and name its
extensions here.
"""

from __future__ import annotations

import hashlib
import os
import stat
import time
from collections.abc import Callable
from pathlib import Path, PurePath

from msgspec import Struct

from orchestra.errors import InputError
from orchestra.tools.documents.decode import decode, is_binary
from orchestra.tools.documents.formats.code import read_code
from orchestra.tools.documents.formats.plain import (
    read_data,
    read_markdown,
    read_other_markup,
    read_restructured,
    read_text,
)
from orchestra.tools.documents.formats.table import read_table
from orchestra.tools.documents.outline import Content, one_line
from orchestra.values.sources import Document

FILE_BYTES = 50 * 1024 * 1024
"""A larger file is refused unread."""

TextReader = Callable[[str, str], Content]

_CODE = """
    .py .pyi .pyx .js .mjs .cjs .jsx .ts .tsx .java .kt .kts .scala .groovy .go .rs .c .h .cc .cpp .cxx .hpp
    .hh .m .mm .cu .cs .fs .vb .swift .rb .php .pl .pm .lua .r .jl .dart .ex .exs .erl .hs .ml .mli .clj
    .lisp
    .el .sh .bash .zsh .fish .ps1 .sql .proto .graphql .tf .vue .svelte .zig .nim .d .f90 .pas .css .scss
    .cmake .gradle .asm .sol
"""
_DATA = """
    .json .jsonl .ndjson .yaml .yml .toml .ini .cfg .conf .log .properties .xml .bib .lock .srt .vtt
"""

_TEXT_READERS: dict[str, TextReader] = {
    **dict.fromkeys(_CODE.split(), read_code),
    **dict.fromkeys(_DATA.split(), read_data),
    **dict.fromkeys((".md", ".markdown", ".mdx", ".mkd", ".qmd", ".rmd"), read_markdown),
    **dict.fromkeys((".rst", ".rest"), read_restructured),
    **dict.fromkeys((".csv", ".tsv", ".tab"), read_table),
    **dict.fromkeys((".adoc", ".org", ".tex"), read_other_markup),
}
_HTML = frozenset((".html", ".htm", ".xhtml"))

# Documents that hold text in a form not read here, with the way out.
_UNREAD = {
    ".doc": "save it as .docx", ".odt": "save it as .docx", ".rtf": "save it as .docx",
    ".xls": "save its sheets as .csv", ".xlsx": "save its sheets as .csv", ".ods": "save its sheets as .csv",
    ".ppt": "export it as .pdf", ".pptx": "export it as .pdf", ".odp": "export it as .pdf",
    ".epub": "convert it to .html", ".mobi": "convert it to .html", ".djvu": "convert it to .pdf",
}  # fmt: skip


class Reading(Struct, frozen=True):
    """A document with what its format tells about its parts."""

    document: Document
    content: Content


def read(path: str | Path, root: str | Path) -> Document:
    """The document at `path`, named by its place below `root`. Raises InputError with one line."""
    locator = PurePath(os.path.relpath(path, root)).as_posix()
    return interpret(load(path, locator), locator).document


def load(path: str | Path, locator: str, limit_bytes: int = FILE_BYTES) -> bytes:
    """The bytes of a regular file of at most `limit_bytes`; a link or device put in its place is refused."""
    flags = (
        os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    )
    try:
        handle = os.open(path, flags)
    except OSError as error:
        raise InputError(f"cannot be opened ({error.strerror})", file=locator) from error
    with os.fdopen(handle, "rb") as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise InputError("is not a regular file", file=locator)
        check_size(found.st_size, locator, limit_bytes)
        try:
            data = file.read(found.st_size + 1)
        except OSError as error:
            raise InputError(f"cannot be read ({error.strerror})", file=locator) from error
    check_size(len(data), locator, limit_bytes)
    return data


def check_size(size: int, locator: str, limit_bytes: int) -> None:
    if size > limit_bytes:
        raise InputError(
            f"has {size / 2**20:,.1f} MB, more than the {limit_bytes / 2**20:,.0f} MB a document may have",
            file=locator,
        )


def interpret(data: bytes, locator: str) -> Reading:
    """Raises InputError with one line for a file that holds no readable text."""
    try:
        content = _content(data, PurePath(locator).suffix.lower())
    except InputError as error:
        raise InputError(str(error), file=locator) from error
    document = Document(
        locator=locator,
        title=content.title or one_line(PurePath(locator).name),
        text=content.text,
        sha256=hashlib.sha256(content.text.encode()).hexdigest(),
        read_at=time.time(),
    )
    return Reading(document, content)


def _content(data: bytes, extension: str) -> Content:
    if not data.strip():
        raise InputError("is empty")
    if extension == ".pdf" or data.startswith(b"%PDF-"):
        from orchestra.tools.documents.formats.pdf import read_pdf

        return read_pdf(data)
    if extension == ".docx":
        from orchestra.tools.documents.formats.docx import read_docx

        return read_docx(data)
    if extension in _UNREAD:
        raise InputError(f"is a format that is not read ({extension}); {_UNREAD[extension]}")
    if is_binary(data):
        raise InputError("is not text (an unknown binary format)")
    content = _text_content(data, extension)
    if not content.text.strip():
        raise InputError("holds no text")
    return content


def _text_content(data: bytes, extension: str) -> Content:
    if extension in _HTML:
        from orchestra.tools.documents.formats.html import read_html

        return read_html(decode(data, declared=True), extension)
    text = decode(data, declared=extension == ".xml")
    return _TEXT_READERS.get(extension, read_text)(text, extension)
