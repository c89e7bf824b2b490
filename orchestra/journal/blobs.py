"""Texts as they are stored: by the hash of what is written, compressed where that saves space."""

from __future__ import annotations

import sys
from hashlib import sha256
from typing import Any, Final

PLAIN: Final = 0
ZSTD: Final = 1

# A short text stands with its event, as INLINE and the text, where else its hash would stand: the hash
# alone is 64 characters.
INLINE: Final = "="
LONGEST_INLINE: Final = 250
# One that stands nowhere else gains nothing by a row of its own: 15 µs, and a page packs it better.
LONGEST_ALONE: Final = 8_000

# Under this many bytes a frame saves less space than its 5 µs are worth.
_SMALLEST = 512
# Level 1 takes a fifth of zlib's time for the same size (25 against 135 µs for 6 KB, both to 43 %).
_LEVEL = 1


Blob = tuple[bytes, int, int, bytes]
"""A row of the table `blobs`: hash, codec, size, body."""


def _zstd() -> Any:
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return zstd


class Packer:
    """Makes blobs, one at a time: it owns a compressor that is used again for each."""

    def __init__(self) -> None:
        self._compressor = _zstd().ZstdCompressor(level=_LEVEL)
        self._compress, self._whole = self._compressor.compress, self._compressor.FLUSH_FRAME

    def __call__(self, text: str) -> Blob:
        """Any string, lone surrogates included."""
        data = text.encode("utf-8", "surrogatepass")
        codec, body = self.data(data)
        return sha256(data).digest(), codec, len(data), body

    def data(self, data: bytes) -> tuple[int, bytes]:
        """Codec and body of what is text in UTF-8 already."""
        if len(data) >= _SMALLEST:
            body = self._compress(data, self._whole)
            if len(body) < len(data):
                return ZSTD, body
        return PLAIN, data


def unpack(codec: int, body: bytes) -> str:
    """The text again. Raises ValueError for a codec of a newer version and for a damaged body."""
    if codec == ZSTD:
        zstd = _zstd()
        try:
            body = zstd.decompress(body)
        except zstd.ZstdError as error:
            raise ValueError(f"a stored text is damaged ({error})") from error
    elif codec != PLAIN:
        raise ValueError(f"a stored text has the unknown codec {codec}")
    return body.decode("utf-8", "surrogatepass")
