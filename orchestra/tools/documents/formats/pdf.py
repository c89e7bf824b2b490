"""PDF: the text of each page, with the pages as sections."""

from __future__ import annotations

import io
import logging
import re
from collections import Counter

import pypdf
from pypdf.errors import DependencyError, PyPdfError

from orchestra.errors import InputError
from orchestra.tools.documents.decode import whole
from orchestra.tools.documents.outline import Content, Writer, one_line

TITLE_CHARS = 160
# What pypdf raises on damaged files, as met with truncated and altered ones.
_DAMAGE = (PyPdfError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError,
           EOFError, OSError, AssertionError, NotImplementedError)  # fmt: skip
_WORD_SPLIT = re.compile(r"(\w+)-\n(\w+)")
_PLACEHOLDER_TITLE = re.compile(
    r"(?i)^(?:untitled|microsoft word\b.*|document\d*|.*\.(?:docx?|tex|dvi|indd|pdf))$"
)


def read_pdf(data: bytes) -> Content:
    """Raises InputError for a file that is encrypted, damaged, or holds pictures of text only."""
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # it logs each oddity; ours is one line a file
    try:
        reader = pypdf.PdfReader(io.BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            raise InputError("the PDF is encrypted; save a copy without a password")
        pages = [whole(page.extract_text()) for page in reader.pages]
        title = one_line(whole(str((reader.metadata.title if reader.metadata else "") or "")))
    except DependencyError as error:
        raise InputError("the PDF is encrypted; save a copy without a password") from error
    except _DAMAGE as error:
        raise InputError("the PDF is broken and cannot be read; export it again") from error
    if not any(page.strip() for page in pages):
        raise InputError("the PDF holds no text; recognise the text of its pages (OCR) first")
    return _content(pages, "" if _PLACEHOLDER_TITLE.match(title) else title)


def _content(pages: list[str], title: str) -> Content:
    words = Counter(re.findall(r"\w+", "\n".join(pages)))
    writer = Writer()
    for number, page in enumerate(pages, 1):
        if page.strip():
            writer.head(1, f"page {number}", shown=False)
            writer.add(_WORD_SPLIT.sub(lambda found: _joined(found, words), page.replace("\r\n", "\n")))
    text = writer.text()
    first = one_line(text.partition("\n")[0])
    return Content(text, title or (first if len(first) <= TITLE_CHARS else ""), writer.kept_headings())


def _joined(found: re.Match[str], words: Counter[str]) -> str:
    """A word split at a line's end is made whole where the document also writes it unsplit."""
    word = found[1] + found[2]
    return f"{word}\n" if words[word] else found[0]
