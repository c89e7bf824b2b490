"""From a file's bytes to its text.

The text is the decoded content itself: line ends stay as they are, a byte-order mark is dropped. Offsets
count characters of this text.
"""

from __future__ import annotations

import codecs
import re

SAMPLE_BYTES = 64 * 1024
"""What is looked at to guess an encoding."""

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark begins the same
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)

# Old multi-byte encodings fit almost any bytes; what tells them apart is whether the commonest characters of
# their language appear.
_COMMON = {
    "gb18030": "的一是不了在人有我他这中大来上国个到说们为和地出道也时年得就那要下以生会自着去之过家学对可",
    "big5": "的一是不了在人有我他這中大來上國個到說們為和地出道也時年得就那要下以生會自著去之過家學對可",
    "shift_jis": "のにはをたがでてとしれさあいなるもっんこ、。ー",
    "euc_jp": "のにはをたがでてとしれさあいなるもっんこ、。ー",
    "euc_kr": "이다는에의가을를고은한하지로도사기자인대",
}
_COMMON_SHARE = 0.08  # of the characters beyond ASCII; in running text the sets above make up 0.15 to 0.5

_ALPHABETS = ("cp1251", "koi8_r", "iso8859_5", "cp1253", "cp1255", "cp1256", "iso8859_7", "iso8859_8")
_LATIN_SHARE = 0.4  # more of the letters than this beyond ASCII: not a Latin alphabet
_HIGH = re.compile(rb"[\x80-\xff]")
_HIGH_OR_LETTER = re.compile(rb"[A-Za-z\x80-\xff]")
_IN_A_LATIN_WORD = re.compile(rb"(?<=[A-Za-z])[\x80-\xff]|[\x80-\xff](?=[A-Za-z])|[\x80-\xbf]")
_DECLARED = re.compile(rb"""(?:charset|encoding)\s*=\s*["']?\s*([A-Za-z0-9_.:-]+)""", re.IGNORECASE)
_HALF_PAIR = re.compile("[\ud800-\udfff]")


def decode(data: bytes, *, declared: bool = False) -> str:
    """The text of `data`; what fits no encoding is replaced by U+FFFD.

    With `declared` the encoding that an HTML or XML head names is tried first.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return whole(data[len(mark) :].decode(encoding, "replace"))
    named = _declared_encoding(data) if declared else None
    for tried in ("utf-8", named):
        if tried:
            try:
                return whole(data.decode(tried))
            except UnicodeDecodeError:
                continue
    wide = _wide_encoding(data)
    return whole(data.decode(wide or _guess(data), "replace"))


def is_binary(data: bytes) -> bool:
    """Whether the first bytes belong to no text: NUL outside UTF-16 and UTF-32, or many control bytes."""
    head = data[:8192]
    if any(head.startswith(mark) for mark, _ in _MARKS) or _wide_encoding(data):
        return False
    controls = sum(head.count(bytes((byte,))) for byte in (*range(7), *range(14, 27), *range(28, 32)))
    return b"\0" in head or controls > len(head) // 20


def whole(text: str) -> str:
    """Without halves of surrogate pairs, which no file and no database can hold."""
    return text if text.isascii() else _HALF_PAIR.sub("\ufffd", text)


def _declared_encoding(data: bytes) -> str | None:
    found = _DECLARED.search(data[:2048])
    if found is None:
        return None
    try:
        return codecs.lookup(found[1].decode("ascii")).name
    except LookupError:
        return None


def _wide_encoding(data: bytes) -> str | None:
    """UTF-16 without a mark, known by the NUL halves of its ASCII characters."""
    head = data[:4096]
    if len(head) < 4 or len(data) % 2 or b"\0" not in head:
        return None
    half = len(head) // 2
    if head[1::2].count(0) > half * 0.4 and head[0::2].count(0) < half * 0.05:
        return "utf-16-le"
    if head[0::2].count(0) > half * 0.4 and head[1::2].count(0) < half * 0.05:
        return "utf-16-be"
    return None


def _guess(data: bytes) -> str:
    """An encoding for bytes that are not valid UTF-8."""
    sample = data[:SAMPLE_BYTES]
    as_utf8 = sample.decode("utf-8", "replace")
    broken = as_utf8.count("\ufffd")
    fine = sum(1 for char in as_utf8 if char > "\x7f") - broken
    if fine >= broken:
        return "utf-8"
    best, share = "", _COMMON_SHARE
    for encoding, common in _COMMON.items():
        wide = [char for char in sample.decode(encoding, "replace") if char > "\x7f"]
        score = (sum(char in common for char in wide) - wide.count("\ufffd")) / max(len(wide), 1)
        if score > share:
            best, share = encoding, score
    return best or _single_byte(sample)


def _single_byte(sample: bytes) -> str:
    """Western where some letters of Latin words are beyond ASCII, else what charset-normalizer finds."""
    high = len(_HIGH.findall(sample))
    if high > _LATIN_SHARE * len(_HIGH_OR_LETTER.findall(sample)):
        from charset_normalizer import from_bytes

        match = from_bytes(sample, cp_isolation=list(_ALPHABETS)).best()
        return match.encoding if match is not None else "utf-8"
    at_home = len(_IN_A_LATIN_WORD.findall(sample))
    return "cp1252" if at_home * 2 >= high else "utf-8"
