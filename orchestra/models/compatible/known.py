"""The table of known endpoints, read from known.json on first use. Data, not code."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from orchestra.models.compatible.quirks import Quirks, by_hand


class Known(Struct, frozen=True, kw_only=True):
    """One row. `hosts`: ends of host names that mean this kind; `port`: where it listens on this machine.

    `key_variable`: the environment variable that people keep its key in, "" for none. `prices`: the
    provider's name in genai-prices, "" if it is not there or is free. `models`: quirks that only models
    whose names begin so have. `window`: a safe one where neither endpoint nor table says.
    """

    title: str
    url: str = ""
    hosts: tuple[str, ...] = ()
    port: int | None = None
    key_variable: str = ""
    prices: str = ""
    window: int | None = None
    quirks: Mapping[str, Any] = {}
    models: Mapping[str, Mapping[str, Any]] = {}
    note: str = ""


@cache
def known_endpoints() -> Mapping[str, Known]:
    """kind → row, in the table's order."""
    return msgspec.json.decode(Path(__file__).with_name("known.json").read_bytes(), type=dict[str, Known])


def kind_of(url: str) -> str:
    """The kind that a URL's host or local port stands for, "" for an unknown one."""
    parts = urlsplit(url if "://" in url else f"http://{url}")
    host = parts.hostname or ""
    for kind, row in known_endpoints().items():
        if any(host == end or host.endswith("." + end) for end in row.hosts):
            return kind
        if row.port is not None and is_local(url) and parts.port == row.port:
            return kind
    return ""


def is_local(url: str) -> bool:
    """True for this machine: what runs there has no price."""
    host = urlsplit(url if "://" in url else f"http://{url}").hostname or ""
    return host in {"localhost", "::1", "0.0.0.0"} or host.startswith("127.")  # noqa: S104 - compared, not bound


def known_quirks(kind: str, model: str) -> Quirks:
    """What the table says of a model at an endpoint of this kind."""
    row = known_endpoints().get(kind)
    if row is None:
        return Quirks()
    quirks = by_hand(Quirks(), row.quirks, kind)
    bare = model.rpartition("/")[2].lower()
    for start, fields in row.models.items():
        if bare.startswith(start):
            quirks = by_hand(quirks, fields, kind)
    return quirks
