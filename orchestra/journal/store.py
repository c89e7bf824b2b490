"""The database itself, without waiting: every method here blocks and runs in a worker thread."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from threading import RLock
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import DBAPIError, IntegrityError, NoSuchModuleError

from orchestra.errors import StoreError
from orchestra.journal import schema
from orchestra.journal.address import MEMORY, Address, prepare_folder
from orchestra.journal.faults import SessionTaken, TextsUnsure, explain
from orchestra.journal.rows import Rows

# How long a thread waits for another process's lock before the writer's own patience takes over, in ms.
_BUSY_MS = 250
# Compressed texts of 2 to 3 KB pack well into pages of this size; SQLite's own default wastes a third.
_PAGE_BYTES = 8_192
# After so many pages of SQLite's log (64 MB) a commit waits for a checkpoint, if none was made by then.
_LOG_PAGES = 8_000
# The number of the lock under which tables are made on a server; any that no other program uses there.
_MAKING_TABLES = 7_027_115_463

Work = Sequence[tuple[str, Sequence[tuple[Any, ...]]]]


class Store:
    """An open store of this program's version. Raises StoreError, in one sentence, for all that can fail.

    `read_only`: nothing is created, changed or migrated.
    """

    def __init__(self, address: Address, *, read_only: bool = False) -> None:
        self.address = address
        self._read_only = read_only
        if address.path is not None:
            prepare_folder(address, read_only=read_only)
        # A store in memory has one connection: who reads and who writes take turns.
        self._turns: AbstractContextManager[Any] = RLock() if address.kind == "memory" else nullcontext()
        self._engine = _engine(address, "?mode=ro" if read_only else "")
        self._writer: sa.PoolProxiedConnection | None = None
        self._seen = -1  # SQLite's number for what others had committed when rows that lean were written last
        try:
            self._open()
            self._prepare()
        except BaseException:
            self._engine.dispose()
            raise

    def _open(self) -> None:
        try:
            self._check_version()
        except StoreError:
            path = self.address.path
            if not self._read_only or path is None or os.access(path.parent, os.W_OK):
                raise
            # SQLite wants a lock file beside the store; where nobody can write, none is needed.
            self._engine.dispose()
            self._engine = _engine(self.address, "?mode=ro&immutable=1")
            self._check_version()

    def _check_version(self) -> None:
        with self.reading() as connection:
            found = _version(connection)
        if found is not None and found > schema.VERSION:
            raise StoreError(
                f"The store {self.address} was written by a newer orchestra (schema {found}, this one knows "
                f"{schema.VERSION}): upgrade orchestra, or choose another store with --store."
            )
        if found == schema.VERSION:
            return
        if self._read_only:
            what = "is older than this program" if found else "holds no sessions"
            raise StoreError(f"The store {self.address} {what}: run `orchestra research` on it once.")
        with self._alone() as connection:
            if _version(connection) is None:  # asked again: another process may just have made it
                _create(connection)
        if found is not None:
            from orchestra.journal.migrate import upgrade

            with self._alone() as connection:
                upgrade(connection)

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """A connection in a transaction that sees one state of the store."""
        with self._turns, self._explained(), self._engine.connect() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """A connection that holds the write lock from the start; commits, or rolls back on an error."""
        with self._turns, self._explained(), self._engine.connect() as plain:
            connection = plain.execution_options(writes=True)
            with connection.begin():
                yield connection

    @contextmanager
    def _alone(self) -> Iterator[sa.Connection]:
        """As `writing`, where nobody else makes tables meanwhile."""
        with self.writing() as connection:
            if self.address.kind == "server":  # there, who writes does not keep others from it
                connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_MAKING_TABLES})")
            yield connection

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except DBAPIError as error:
            raise explain(error, self.address) from error

    @property
    def tells_changes(self) -> bool:
        """Whether `write` notices that others have written: of a file SQLite tells that."""
        return self.address.kind == "file"

    @property
    def writer(self) -> Any:
        """The one connection by which `write` writes a file: the driver's, kept from its first use on."""
        if self._writer is None:
            self._writer = self._engine.raw_connection()
        return self._writer.dbapi_connection

    def write(self, rows: Rows) -> None:
        """All rows or none. Raises SessionTaken where a row is there already, StoreBusy while locked.

        TextsUnsure where rows lean on texts that were stored before somebody else changed the store.
        """
        work = (
            (self._insert_blobs, rows.blobs),
            (self._insert_sessions, rows.begun),
            (self._insert_pages, rows.pages),
            (self._change_sessions, rows.changed),
        )
        wanted = [(statement, tuples) for statement, tuples in work if tuples]
        try:
            if self.address.kind == "server":
                self._write_server(wanted)
            else:
                self._write_file(wanted, leans=rows.leans)
        except StoreError as error:
            if isinstance(error.__cause__, IntegrityError | sqlite3.IntegrityError):
                raise SessionTaken("A session's rows are already in the store.") from error
            raise

    def _write_server(self, work: Work) -> None:
        with self.writing() as connection:
            for statement, tuples in work:
                connection.exec_driver_sql(statement, tuples)

    def _write_file(self, work: Work, *, leans: bool) -> None:
        """By the driver alone: SQLAlchemy takes 0.3 ms for each transaction."""
        with self._turns, self._explained():
            raw = self.writer
            try:
                raw.execute("BEGIN IMMEDIATE")
                if leans:
                    self._check_others(raw)
                for statement, tuples in work:
                    raw.executemany(statement, tuples)
                raw.execute("COMMIT")
            except sqlite3.Error as error:
                raise explain(error, self.address) from error
            finally:
                if raw.in_transaction:
                    raw.execute("ROLLBACK")

    def _check_others(self, raw: Any) -> None:
        seen, (self._seen,) = self._seen, raw.execute("PRAGMA data_version").fetchone()
        if seen != self._seen:
            raise TextsUnsure(f"The store {self.address} was changed by others meanwhile.")

    def _prepare(self) -> None:
        """Compiles what is written; given to the driver as text, as Core takes 10 µs for each row's dict."""
        insert: Any = postgresql.insert if self._engine.dialect.name == "postgresql" else sqlite.insert
        self._insert_blobs = self._sql(insert(schema.blobs).on_conflict_do_nothing())
        self._insert_sessions = self._sql(sa.insert(schema.sessions))
        self._insert_pages = self._sql(sa.insert(schema.pages))
        changed = sa.update(schema.sessions).where(schema.sessions.c.id == sa.bindparam("which"))
        values: dict[str, Any] = {name: sa.bindparam(name) for name in ("status", "finished", "owner")}
        self._change_sessions = self._sql(changed.values(values))

    def _sql(self, statement: Any) -> str:
        """The statement with one positional mark for each column, in the table's order."""
        return str(statement.compile(dialect=self._engine.dialect))

    def compact(self) -> None:
        """Give the room of what was deleted back to the disk; not while another process reads or writes."""
        if self.address.kind == "server":
            return  # PostgreSQL does so by itself
        with self._explained(), self._engine.connect() as connection:
            raw = connection.connection.cursor()
            raw.execute("VACUUM")
            raw.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            raw.close()

    def settle(self) -> None:
        """Write what is committed into the file itself, and empty what SQLite keeps beside it."""
        if self.address.kind != "server":
            with self._explained(), self._engine.connect() as connection:
                raw = connection.connection.cursor()
                raw.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                raw.close()

    def checkpoint(self) -> None:
        """Write what is committed into the file itself, as far as that keeps nobody waiting."""
        if self.address.kind == "file":
            with self._explained(), self._engine.connect() as connection:
                connection.connection.cursor().execute("PRAGMA wal_checkpoint(PASSIVE)").close()

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer = None
        self._engine.dispose()


def _engine(address: Address, query: str) -> sa.Engine:
    if address.kind == "server":
        try:
            return sa.create_engine(address.url, paramstyle="format")
        except (ModuleNotFoundError, NoSuchModuleError) as error:
            raise StoreError(
                "A PostgreSQL store needs the package psycopg: pip install 'psycopg[binary]'."
            ) from error
    where = MEMORY if address.path is None else address.path.absolute().as_uri() + query

    def connect() -> sqlite3.Connection:
        return sqlite3.connect(
            where, uri=True, timeout=_BUSY_MS / 1000, isolation_level=None, check_same_thread=False
        )

    pool: type[sa.Pool] = sa.StaticPool if address.path is None else sa.QueuePool
    engine = sa.create_engine("sqlite://", creator=connect, poolclass=pool)
    sa.event.listen(engine, "connect", _read_only_pragmas if query else _pragmas)
    sa.event.listen(engine, "begin", _begin)
    return engine


def _pragmas(raw: Any, _record: Any) -> None:
    raw.execute(f"PRAGMA page_size = {_PAGE_BYTES}")
    raw.execute("PRAGMA journal_mode = WAL")
    # With WAL a lost power supply may lose the last commits but never damages the store; a killed
    # process loses nothing that was committed.
    raw.execute("PRAGMA synchronous = NORMAL")
    # The journal's writer does this beside its commits; here it would hold one up for 50 ms or more.
    raw.execute(f"PRAGMA wal_autocheckpoint = {_LOG_PAGES}")


def _read_only_pragmas(raw: Any, _record: Any) -> None:
    raw.execute("PRAGMA query_only = ON")


def _begin(connection: sa.Connection) -> None:
    # The driver's own transactions are off: it would begin late, and upgrade a read lock to a write lock.
    writes = connection.get_execution_options().get("writes")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _version(connection: sa.Connection) -> str | None:
    if not sa.inspect(connection).has_table(schema.VERSION_TABLE):
        return None
    found = connection.exec_driver_sql(f"SELECT version_num FROM {schema.VERSION_TABLE}").scalar()  # noqa: S608 - a constant
    return None if found is None else str(found)


def _create(connection: sa.Connection) -> None:
    """What the migrations come to, without loading Alembic; a test compares the two."""
    schema.metadata.create_all(connection)
    table = sa.Table(
        schema.VERSION_TABLE, sa.MetaData(), sa.Column("version_num", sa.String(32), primary_key=True)
    )
    table.create(connection, checkfirst=True)
    connection.execute(sa.insert(table), {"version_num": schema.VERSION})
