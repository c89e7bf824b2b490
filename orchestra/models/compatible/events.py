"""Server-sent events: bytes in any pieces, data out."""

from __future__ import annotations


class Events:
    """Splits a stream into the data of its events. Comments, ids, names and empty lines say nothing.

    Every data line is taken for an event of its own, because some servers leave out the empty line
    between two; a line that opens an object and does not close it waits for the lines that do.
    """

    def __init__(self) -> None:
        self._rest = b""
        self._open = b""

    def feed(self, chunk: bytes) -> list[bytes]:
        """The data of every line that ends in this chunk."""
        lines = (self._rest + chunk if self._rest else chunk).split(b"\n")
        self._rest = lines.pop()
        return [data for line in lines if line.startswith(b"data:") and (data := self._data(line))]

    def rest(self) -> list[bytes]:
        """The data of a last line without a line end."""
        line, self._rest = self._rest, b""
        return [data] if line.startswith(b"data:") and (data := self._data(line)) else []

    def _data(self, line: bytes) -> bytes:
        data = line[5:].strip()
        if self._open:
            data = self._open + b"\n" + data
            self._open = b""
        if data[:1] == b"{" and data[-1:] != b"}":
            self._open = data
            return b""
        return data
