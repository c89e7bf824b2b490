"""What a linter says: not wrong, but unwise."""

from __future__ import annotations

from msgspec import Struct


class Finding(Struct, frozen=True, kw_only=True):
    """One remark; `file` is "" and `line` None where unknown, `line` counts from 1."""

    sentence: str
    key: str = ""
    file: str = ""
    line: int | None = None

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.file, self.line) if part not in ("", None))
        return ": ".join(part for part in (place, self.key, self.sentence) if part)
