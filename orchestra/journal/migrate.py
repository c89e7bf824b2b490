"""Bring an older store up to this program's version; Alembic is loaded only when there is something to do."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from orchestra.journal.schema import VERSION_TABLE

if TYPE_CHECKING:
    from alembic.config import Config
    from sqlalchemy import Connection

FOLDER = Path(__file__).parent / "migrations"


def configuration(connection: Connection) -> Config:
    """Alembic's settings for this connection; it needs no ini file."""
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(FOLDER).replace("%", "%%"))
    config.attributes["connection"] = connection
    config.attributes["version_table"] = VERSION_TABLE
    return config


def upgrade(connection: Connection) -> None:
    """All migrations that the store has not had, in the connection's transaction."""
    from alembic import command

    command.upgrade(configuration(connection), "head")
