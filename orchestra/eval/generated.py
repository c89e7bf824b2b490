"""Long results of tools, made up: the same each time, different from line to line."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator

from msgspec import json

from orchestra.eval.scenario import Generated

_SIZE = re.compile(r"(?i)\s*(\d+(?:\.\d+)?)\s*(|b|bytes|kb|mb)\s*")
_UNITS = {"": 1, "b": 1, "bytes": 1, "kb": 1_000, "mb": 1_000_000}
_LARGEST = 20_000_000
_PARTS = (
    "gateway billing search mailer ledger cache importer scheduler indexer session export webhook".split()
)
_DEEDS = (
    "accepted a request",
    "retried a slow call",
    "renewed its lease",
    "wrote a batch",
    "skipped an empty page",
    "closed an idle connection",
    "compacted its segment",
    "waited for a lock",
    "refreshed the certificate list",
    "dropped a stale entry",
)
_PLACES = "Leeds Porto Aarhus Turin Gdynia Bergen Lyon Varna Ghent Malmo Trieste Cork".split()
_WARES = "hinge bracket valve gasket bearing clamp filter nozzle spindle washer coupling lever".split()


def bytes_of(text: str) -> int | None:
    """40 KB as 40,000; None for what is no size from 1 byte to 20 MB."""
    match = _SIZE.fullmatch(text.replace(",", ""))
    if match is None:
        return None
    size = int(float(match[1]) * _UNITS[match[2].lower()])
    return size if 0 < size <= _LARGEST else None


def generate(wanted: Generated) -> str:
    """About `size` bytes, with each text that it holds at its place."""
    luck = random.Random(f"{wanted.kind} {wanted.seed}")  # noqa: S311  # made up, nothing secret
    pieces: list[str] = []
    length = 0
    waiting = sorted(wanted.holds, reverse=True)
    for piece in _MAKERS[wanted.kind](luck):
        while waiting and length >= waiting[-1][0] * wanted.size:
            pieces.append(_held(wanted.kind, waiting.pop()[1]))
        if length >= wanted.size:
            break
        pieces.append(piece)
        length += len(piece) + 1
    pieces += [_held(wanted.kind, text) for _, text in reversed(waiting)]
    return _WRAPPERS[wanted.kind](pieces)


def _log(luck: random.Random) -> Iterator[str]:
    at = 0
    while True:
        at += luck.randint(1, 90)
        clock = f"{at // 3600 % 24:02}:{at // 60 % 60:02}:{at % 60:02}"
        level = luck.choice(("INFO", "INFO", "INFO", "DEBUG", "WARN"))
        yield f"{clock} {level} {luck.choice(_PARTS)}[{luck.randint(100, 999)}] {luck.choice(_DEEDS)}"


def _rows(luck: random.Random) -> Iterator[str]:
    number = 0
    while True:
        number += 1
        row = {
            "row": number,
            "ware": luck.choice(_WARES),
            "place": luck.choice(_PLACES),
            "stock": luck.randint(0, 900),
            "note": None,
        }
        yield json.encode(row).decode()


def _page(luck: random.Random) -> Iterator[str]:
    while True:
        place, ware = luck.choice(_PLACES), luck.choice(_WARES)
        yield (
            f'<div class="card c{luck.randint(1, 40)}"><h3>{ware.title()} from {place}</h3>'
            f"<script>track({luck.randint(1000, 9999)});</script><p>Shipped on request.</p></div>"
        )


def _prose(luck: random.Random) -> Iterator[str]:
    while True:
        yield (
            f"The depot in {luck.choice(_PLACES)} {luck.choice(_DEEDS)} while the {luck.choice(_PARTS)} team "
            f"looked for a {luck.choice(_WARES)}, which turned up in {luck.choice(_PLACES)} a little later."
        )


def _held(kind: str, text: str) -> str:
    if kind == "rows":
        return json.encode({"row": 0, "note": text}).decode()
    return f"<p>{text}</p>" if kind == "page" else text


_MAKERS: dict[str, Callable[[random.Random], Iterator[str]]] = {
    "log": _log,
    "rows": _rows,
    "page": _page,
    "prose": _prose,
}
KINDS = tuple(_MAKERS)
_WRAPPERS: dict[str, Callable[[list[str]], str]] = {
    "log": "\n".join,
    "rows": lambda pieces: f"[{','.join(pieces)}]",
    "page": lambda pieces: f"<html><body>{''.join(pieces)}</body></html>",
    "prose": " ".join,
}
