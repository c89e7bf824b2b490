"""Every summary an agent ever had, with its lineage; any of them can be made the current one again."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import structs

from orchestra.context.archive import Archive
from orchestra.context.summary.schema import Summary, Version, render
from orchestra.errors import InputError


class Versions:
    """Numbered from 1; nothing is ever taken out. `current` is None before the first."""

    __slots__ = ("_archive", "_versions", "current")

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self._versions: list[Version] = []
        self.current: Version | None = None

    def __iter__(self) -> Iterator[Version]:
        return iter(self._versions)

    def __len__(self) -> int:
        return len(self._versions)

    def add(self, summary: Summary, covers: tuple[str, ...], by: str, turn: int, at: float) -> Version:
        """A summary that was checked becomes the current version, made over the one before."""
        number = len(self._versions) + 1
        text = render(summary)
        made = Version(
            number=number,
            over=self.current.number if self.current else 0,
            summary=summary,
            text=text,
            covers=covers,
            turn=turn,
            at=at,
            by=by,
            ref=self._archive.put("summary", text, query=f"version {number}", turn=turn, at=at),
        )
        self._versions.append(made)
        self.current = made
        return made

    def restore(self, number: int, turn: int, at: float) -> Version:
        """An earlier version as a new one with its own lineage; raises InputError for an unknown number."""
        if not 1 <= number <= len(self._versions):
            known = f"1 to {len(self._versions)}" if self._versions else "none yet"
            raise InputError(f"There is no summary version {number}; there are {known}.", key="version")
        old = self._versions[number - 1]
        made = structs.replace(
            old, number=len(self._versions) + 1, over=number, turn=turn, at=at, by=f"restored v{number}"
        )
        self._versions.append(made)
        self.current = made
        return made

    def lineage(self, version: Version | None = None) -> tuple[Version, ...]:
        """The version (the current one) and those it was made from, newest first."""
        found: list[Version] = []
        at = version or self.current
        while at is not None:
            found.append(at)
            at = self._versions[at.over - 1] if at.over else None
        return tuple(found)
