"""CSV and TSV: each row as a line that names its columns."""

from __future__ import annotations

import csv
from collections import Counter

from orchestra.tools.documents.formats.plain import read_data
from orchestra.tools.documents.outline import Content, looks_like_header, row_text

_DELIMITERS = {".tsv": "\t", ".tab": "\t"}


def read_table(text: str, extension: str) -> Content:
    """Rows as `column: value; column: value`, below a line that lists the columns.

    A first row that does not look like names counts as data, and the columns are numbered.
    """
    try:
        reader = csv.reader(
            text.splitlines(keepends=True), delimiter=_DELIMITERS.get(extension) or _delimiter(text)
        )
        rows = [row for row in reader if any(cell.strip() for cell in row)]
    except csv.Error:  # a cell of more than 128 KB or a quote that is never closed: not a table
        return read_data(text, extension)
    if not rows:
        return Content("")
    if looks_like_header(rows[0], rows[1:3]):
        names, rows = rows[0], rows[1:]
    else:
        names = [f"column {number}" for number in range(1, max(map(len, rows)) + 1)]
    head = "Columns: " + ", ".join(" ".join(name.split()) for name in names)
    body = "\n".join(row_text(names, row) for row in rows)
    return Content(f"{head}\n\n{body}", by_lines=True)


def _delimiter(text: str) -> str:
    """The sign that splits the first lines into the same number of cells, at least two."""
    sample = [line for line in text[:20_000].splitlines()[:20] if line.strip()]
    best, agreed = ",", 0
    for sign in (",", ";", "\t", "|"):
        counts = Counter(line.count(sign) for line in sample)
        count, times = counts.most_common(1)[0] if counts else (0, 0)
        if count and times > agreed:
            best, agreed = sign, times
    return best
