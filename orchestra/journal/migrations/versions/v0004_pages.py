"""Events in pages, compressed, instead of a row each."""

import json
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

import sqlalchemy as sa
from alembic import op

from orchestra.journal.blobs import Packer

revision = "0004"
down_revision = "0003"

_MOST = 512


def upgrade() -> None:
    pages = op.create_table(
        "pages",
        sa.Column("session", sa.String(64), primary_key=True),
        sa.Column("first", sa.Integer, primary_key=True),
        sa.Column("last", sa.Integer, nullable=False),
        sa.Column("codec", sa.SmallInteger, nullable=False),
        sa.Column("body", sa.LargeBinary, nullable=False),
    )
    connection, pack = op.get_bind(), Packer()
    if connection.dialect.name == "postgresql":  # a process of the version before may still write
        connection.exec_driver_sql("LOCK TABLE events IN ACCESS EXCLUSIVE MODE")
    names = connection.exec_driver_sql("SELECT DISTINCT session FROM events").scalars().all()
    for name in names:
        query = sa.text("SELECT * FROM events WHERE session = :name ORDER BY seq")
        for rows in _runs(connection.execute(query, {"name": name}).all()):
            body = f"[{','.join(map(_entry, rows))}]".encode()
            values = (name, rows[0].seq, rows[-1].seq, *pack.data(body))
            connection.execute(sa.insert(pages).values(values))
    op.drop_table("events")


def _runs(rows: Sequence[Any]) -> Iterator[list[Any]]:
    """Of consecutive numbers, and no longer than a page may be; a damaged store's gaps stay gaps."""
    for _, run in groupby(enumerate(rows), key=lambda item: item[1].seq - item[0]):
        whole = [row for _, row in run]
        for start in range(0, len(whole), _MOST):
            yield whole[start : start + _MOST]


def _entry(row: Any) -> str:
    about = json.dumps([row.agent, row.turn, row.kind, row.at])
    return f"{about[:-1]},{row.data},{row.texts or '{}'}]"
