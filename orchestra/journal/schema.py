"""The tables, and what versions of them this program knows.

Imported only where a store is opened: SQLAlchemy costs a quarter of a second.
"""

from __future__ import annotations

import sqlalchemy as sa

# The newest migration in `migrations/versions`; a store says which one it is at in VERSION_TABLE.
VERSION = "0004"
VERSION_TABLE = "orchestra_version"

metadata = sa.MetaData()

sessions = sa.Table(
    "sessions",
    metadata,
    sa.Column("id", sa.String(64), primary_key=True),
    sa.Column("title", sa.Text, nullable=False),
    sa.Column("question", sa.LargeBinary(32), nullable=False),  # a blob's hash
    sa.Column("workflow", sa.Text, nullable=False),
    sa.Column("status", sa.String(16), nullable=False),
    sa.Column("created", sa.Double, nullable=False),
    sa.Column("finished", sa.Double, nullable=True),
    sa.Column("owner", sa.Text, nullable=False),
    sa.Column("config", sa.Text, nullable=False),  # JSON
    sa.Index("sessions_created", "created"),
)

# The events, see `pages`: those of a session that were committed together. In the order of writing, with an
# index: clustered by session, those that run side by side would split each other's pages of the database.
pages = sa.Table(
    "pages",
    metadata,
    sa.Column("session", sa.String(64), primary_key=True),
    sa.Column("first", sa.Integer, primary_key=True),  # the number of its first event
    sa.Column("last", sa.Integer, nullable=False),
    sa.Column("codec", sa.SmallInteger, nullable=False),  # as of a blob
    sa.Column("body", sa.LargeBinary, nullable=False),
)

blobs = sa.Table(
    "blobs",
    metadata,
    sa.Column("hash", sa.LargeBinary(32), primary_key=True),  # SHA-256 of the text in UTF-8
    sa.Column("codec", sa.SmallInteger, nullable=False),  # 0: UTF-8, 1: Zstandard of UTF-8
    sa.Column("size", sa.Integer, nullable=False),  # bytes of UTF-8
    sa.Column("body", sa.LargeBinary, nullable=False),
)

# What people ask of sessions that another process may be running; a row is never changed.
orders = sa.Table(
    "orders",
    metadata,
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("session", sa.String(64), nullable=False),
    sa.Column("what", sa.String(16), nullable=False),  # stop, approve, refuse
    sa.Column("target", sa.Text, nullable=False),  # JSON
    sa.Column("reason", sa.Text, nullable=False),
    sa.Column("who", sa.Text, nullable=False),
    sa.Column("at", sa.Double, nullable=False),
    sa.Index("orders_session", "session"),
)

# What is known across sessions of a user ("of_user") or a project; "" for none. A row is changed only when
# another takes its place.
memories = sa.Table(
    "memories",
    metadata,
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("of_user", sa.Text, nullable=False),
    sa.Column("project", sa.Text, nullable=False),
    sa.Column("kind", sa.String(16), nullable=False),  # fact, constraint, answer
    sa.Column("key", sa.Text, nullable=False),
    sa.Column("value", sa.Text, nullable=False),
    sa.Column("text", sa.Text, nullable=False),
    sa.Column("sources", sa.Text, nullable=False),  # JSON
    sa.Column("always", sa.Boolean, nullable=False),
    sa.Column("about", sa.Text, nullable=False),
    sa.Column("session", sa.String(64), nullable=False),
    sa.Column("at", sa.Double, nullable=False),
    sa.Column("until", sa.Double, nullable=True),
    sa.Column("by", sa.Integer, nullable=True),
    sa.Index("memories_of", "of_user", "project"),
)
