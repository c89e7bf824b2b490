"""What is known across sessions."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.create_table(
        "memories",
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("of_user", sa.Text, nullable=False),
        sa.Column("project", sa.Text, nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("value", sa.Text, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("sources", sa.Text, nullable=False),
        sa.Column("always", sa.Boolean, nullable=False),
        sa.Column("about", sa.Text, nullable=False),
        sa.Column("session", sa.String(64), nullable=False),
        sa.Column("at", sa.Double, nullable=False),
        sa.Column("until", sa.Double, nullable=True),
        sa.Column("by", sa.Integer, nullable=True),
    )
    op.create_index("memories_of", "memories", ["of_user", "project"])
