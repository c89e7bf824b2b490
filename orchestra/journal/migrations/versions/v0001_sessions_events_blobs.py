"""Sessions, events and blobs."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "sessions",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("question", sa.LargeBinary(32), nullable=False),
        sa.Column("workflow", sa.Text, nullable=False),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("created", sa.Double, nullable=False),
        sa.Column("finished", sa.Double, nullable=True),
        sa.Column("owner", sa.Text, nullable=False),
        sa.Column("config", sa.Text, nullable=False),
    )
    op.create_index("sessions_created", "sessions", ["created"])
    op.create_table(
        "events",
        sa.Column("session", sa.String(64), primary_key=True),
        sa.Column("seq", sa.Integer, primary_key=True),
        sa.Column("agent", sa.Text, nullable=False),
        sa.Column("turn", sa.Integer, nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("at", sa.Double, nullable=False),
        sa.Column("data", sa.Text, nullable=False),
        sa.Column("texts", sa.Text, nullable=False),
    )
    op.create_table(
        "blobs",
        sa.Column("hash", sa.LargeBinary(32), primary_key=True),
        sa.Column("codec", sa.SmallInteger, nullable=False),
        sa.Column("size", sa.Integer, nullable=False),
        sa.Column("body", sa.LargeBinary, nullable=False),
    )
