"""Files that tests put into folders."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import docx
import pytest

from orchestra.tools.documents.passages import cut
from orchestra.tools.documents.reading import Reading, interpret
from orchestra.values.sources import Passage


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty folder beside which a test may keep its database."""
    made = tmp_path / "documents"
    made.mkdir()
    return made


@pytest.fixture
def as_read() -> Callable[..., Reading]:
    def read(data: bytes | str, name: str = "file.txt") -> Reading:
        return interpret(data.encode() if isinstance(data, str) else data, name)

    return read


@pytest.fixture
def passages_of() -> Callable[..., tuple[Passage, ...]]:
    def read(data: bytes | str, name: str = "file.txt") -> tuple[Passage, ...]:
        return cut(interpret(data.encode() if isinstance(data, str) else data, name))

    return read


@pytest.fixture
def pdf_bytes() -> Callable[..., bytes]:
    """A PDF with one line of text after another on each page."""

    def make(pages: Sequence[Sequence[str]], title: str = "") -> bytes:
        objects = ["", "", "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"]
        kids = []
        for lines in pages:
            shown = "".join(f"({line}) Tj 0 -14 Td " for line in lines)
            stream = f"BT /F1 12 Tf 72 720 Td {shown}ET"
            objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
            objects.append(
                f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {len(objects)} 0 R "
                "/Resources << /Font << /F1 3 0 R >> >> >>"
            )
            kids.append(f"{len(objects)} 0 R")
        objects.append(f"<< /Title ({title}) >>")
        objects[0] = "<< /Type /Catalog /Pages 2 0 R >>"
        objects[1] = f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {len(kids)} >>"
        return _assembled(objects)

    return make


def _assembled(objects: Sequence[str]) -> bytes:
    out = io.BytesIO(b"%PDF-1.4\n")
    out.seek(0, io.SEEK_END)
    places = []
    for number, body in enumerate(objects, 1):
        places.append(out.tell())
        out.write(f"{number} 0 obj\n{body}\nendobj\n".encode())
    start = out.tell()
    rows = "".join(f"{place:010} 00000 n \n" for place in places)
    head = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n"
    trailer = f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R /Info {len(objects)} 0 R >>\n"
    out.write(f"{head}{rows}{trailer}startxref\n{start}\n%%EOF\n".encode())
    return out.getvalue()


@pytest.fixture
def docx_bytes() -> Callable[..., bytes]:
    """A Word file made by a function that is given the empty document."""

    def make(fill: Callable[[Any], None]) -> bytes:
        document = docx.Document()
        fill(document)
        out = io.BytesIO()
        document.save(out)
        return out.getvalue()

    return make
