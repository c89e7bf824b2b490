"""Where a store is: a path, `sqlite:///path`, `:memory:`, or a PostgreSQL URL."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from msgspec import Struct

from orchestra.errors import StoreError
from orchestra.redact import redact

MEMORY = ":memory:"


class Address(Struct, frozen=True):
    """`path` for a file, None for memory and for a server; `url` only for a server."""

    kind: Literal["file", "memory", "server"]
    path: Path | None = None
    url: str = ""

    def __str__(self) -> str:
        if self.kind == "server":
            return redact(self.url).replace("postgresql+psycopg://", "postgresql://")
        return str(self.path) if self.path else "memory"


def read_address(url: str | Path) -> Address:
    """Raises StoreError for an empty text and for a scheme that is not known."""
    text = str(url).strip()
    if not text:
        raise StoreError("The store's address is empty: give a file's path or a postgresql:// URL.")
    if text in (MEMORY, "sqlite://", "sqlite:///:memory:"):
        return Address("memory")
    if text.startswith("sqlite:///"):
        return Address("file", Path(text.removeprefix("sqlite:///")).expanduser())
    scheme = urlsplit(text).scheme if "://" in text else ""
    if scheme in ("postgresql", "postgres", "postgresql+psycopg"):
        return Address("server", url="postgresql+psycopg" + text[len(scheme) :])
    if scheme:
        raise StoreError(
            f"The store's address begins with {scheme!r}: it is a file's path, sqlite:///PATH or postgresql://..."
        )
    return Address("file", Path(text).expanduser())


def prepare_folder(address: Address, *, read_only: bool) -> None:
    """Makes the folder of a store in a file. Raises StoreError where it cannot be, or cannot be written."""
    path = address.path
    assert path is not None
    if path.is_dir():
        raise StoreError(f"The store {path} is a folder: name a file in it, such as {path / 'store.db'}.")
    if read_only:
        if not path.exists():
            raise StoreError(f"There is no store at {path}: `orchestra research` makes one.")
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise StoreError(
            f"The store's folder {path.parent} cannot be made ({why}): choose another with --store."
        ) from error
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        what = f"store {path} is read-only" if path.exists() else f"folder {path.parent} cannot be written"
        raise StoreError(f"The {what}: give yourself the right to write it, or choose another with --store.")
