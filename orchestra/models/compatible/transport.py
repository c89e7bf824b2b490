"""The port of the two transports: bytes out, bytes in, and the same errors."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from typing import Protocol

from msgspec import Struct

_SHORTEST_SECRET = 8

# A body is made when it is sent, and anew if it has to be sent again: while a reply is waited for nobody
# holds it.
Body = Callable[[], bytes]


class Place(Struct, frozen=True):
    """Who is spoken to, for error sentences; `secret` is taken out of every one of them."""

    endpoint: str
    model: str
    secret: str = ""

    def __repr__(self) -> str:
        return f"Place(endpoint={self.endpoint!r}, model={self.model!r})"

    def hide(self, text: str) -> str:
        """The text without the key. A short one is a placeholder ("none") that stands in plain words too."""
        return text.replace(self.secret, "***") if len(self.secret) >= _SHORTEST_SECRET else text


class Fields(Mapping[str, str]):
    """Header fields under their names in lower case, read when somebody looks; hardly anybody does."""

    __slots__ = ("_named", "_raw")

    def __init__(self, raw: Mapping[bytes, bytes]) -> None:
        self._raw = raw
        self._named: dict[str, str] | None = None

    def __getitem__(self, name: str) -> str:
        return self._read()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._read())

    def __len__(self) -> int:
        return len(self._read())

    def _read(self) -> dict[str, str]:
        if self._named is None:
            self._named = named(self._raw)
        return self._named


def named(raw: Mapping[bytes, bytes]) -> dict[str, str]:
    """Of a name that came twice, in whatever case, what came first."""
    fields: dict[str, str] = {}
    for name, value in raw.items():
        fields.setdefault(name.lower().decode("latin-1"), value.decode("latin-1"))
    return fields


class Answer(Struct, frozen=True):
    """A whole HTTP reply; headers are found under their names in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class ByteStream(Protocol):
    """A reply that is still coming. Whoever opened it closes it; closing ends the connection at once."""

    @property
    def status(self) -> int: ...

    @property
    def headers(self) -> Mapping[str, str]: ...

    def chunks(self) -> AsyncGenerator[bytes, None]:
        """Pieces as they arrive. Raises ModelUnreachable when they stop coming before the end."""
        ...

    async def read(self) -> bytes:
        """All of it."""
        ...

    async def finish(self) -> None:
        """Read on to the end without looking, so that the connection can be used again."""
        ...

    async def close(self) -> None:
        """End the connection at once, unless the reply has been read to its end."""
        ...


class Transport(Protocol):
    """One endpoint's connections; `path` is joined to the base URL, or is a whole URL itself."""

    async def post(self, place: Place, path: str, body: Body) -> Answer:
        """Raises ModelUnreachable; any status is an Answer."""
        ...

    async def open(self, place: Place, path: str, body: Body) -> ByteStream: ...

    async def get(self, place: Place, path: str) -> Answer: ...

    async def close(self) -> None: ...
