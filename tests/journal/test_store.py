"""The store: made, opened again, shared, and refused in one sentence."""

from __future__ import annotations

import sqlite3
import sys
from pathlib import Path

import anyio
import pytest
import sqlalchemy as sa
from sqlalchemy.exc import OperationalError

from orchestra.errors import InputError, StoreError
from orchestra.journal import schema
from orchestra.journal.address import Address, read_address
from orchestra.journal.faults import StoreBusy, explain
from orchestra.journal.journal import Journal
from orchestra.journal.migrate import upgrade
from orchestra.journal.reading import read_journal
from orchestra.journal.store import Store
from tests.journal.recording import SESSION, begun, event

pytestmark = pytest.mark.anyio
PATH = Path("somewhere.db")

WRITER = """
import sys, anyio
from orchestra.journal.journal import Journal
from tests.journal.recording import begun, event

async def main(store, session):
    async with Journal.open(store) as journal:
        await begun(journal, session)
        for number in range(1, 201):
            await journal.record(event(number, session=session, text=f"{number} " * 200))
            if number % 20 == 0:
                await journal.flush()

anyio.run(main, *sys.argv[1:])
"""


async def test_two_processes_write_one_file(tmp_path: Path) -> None:
    """Each finds all of its events, in order, and the texts they share are stored once."""
    store = str(tmp_path / "deep" / "store.db")
    names = ("20261130-000000-aaaaaaaa", "20261130-000000-bbbbbbbb")
    async with anyio.create_task_group() as group:
        for name in names:
            group.start_soon(anyio.run_process, [sys.executable, "-c", WRITER, store, name])
    async with read_journal(store) as reader:
        for name in names:
            assert [found.turn for found in await reader.events(name)] == list(range(1, 201))
    [(blobs,)] = sqlite3.connect(store).execute("SELECT count(*) FROM blobs")
    assert blobs == 200 + 1  # and the question


async def test_a_store_is_opened_again(tmp_path: Path) -> None:
    """A session goes on where it was, its events numbered on."""
    store = f"sqlite:///{tmp_path / 'store.db'}"
    async with Journal.open(store) as journal:
        await begun(journal, question="What is  it?\n", models="small")
        await journal.record(event(1))
    async with Journal.open(store) as journal:
        session = await journal.reopen(SESSION[:15])
        assert (session.title, session.config) == ("What is it?", {"models": "small"})
        assert await journal.text(session.question) == "What is  it?\n"
        await journal.record(event(2))
        await journal.finish(SESSION, "done", at=9.0)
        await journal.flush()
        assert [(each.seq, each.turn) for each in await journal.events(SESSION)] == [(1, 1), (2, 2)]


async def test_a_text_is_stored_once(tmp_path: Path) -> None:
    """The same text in many events and sessions takes its bytes once."""
    store, text = tmp_path / "store.db", "A long text. " * 500
    async with Journal.open(store) as journal:
        for session in ("a", "b"):
            await begun(journal, session)
            for number in range(1, 20):
                await journal.record(event(number, session=session, prompt=text, short="short"))
        await journal.flush()
        [found, *_] = await journal.events("a")
        assert await journal.text(found.texts["prompt"]) == text
        assert await journal.text(found.texts["short"]) == "short"
    rows = sqlite3.connect(store).execute("SELECT size FROM blobs ORDER BY size").fetchall()
    assert rows == [(len("Why?"),), (len(text),)]


async def test_a_process_that_was_killed_leaves_a_session_cut_off(tmp_path: Path) -> None:
    """A session that says it is running, by a process that is gone, is not taken for a live one."""
    store = tmp_path / "store.db"
    ended = WRITER.replace(
        "            if number", "            if number == 100: os._exit(9)\n            if number"
    )
    ended = ended.replace("import sys", "import os, sys")
    await anyio.run_process([sys.executable, "-c", ended, str(store), SESSION], check=False)
    async with read_journal(store) as reader:
        [session] = await reader.sessions()
        assert session.status == "cut off"
        assert len(await reader.events(SESSION)) >= 80


async def test_sessions_are_found_by_their_beginning() -> None:
    """An id, the beginning of one, or `last`; otherwise one sentence with the nearest."""
    async with Journal.open(":memory:") as journal:
        with pytest.raises(InputError, match="holds none yet"):
            await journal.find_session("x")
        for name in ("20261130-074205-aaaaaaaa", "20261130-074205-bbbbbbbb", "20261201-000000-cccccccc"):
            await begun(journal, name)
        await journal.flush()
        assert (await journal.find_session("20261201")).id == "20261201-000000-cccccccc"
        assert (await journal.find_session("last")).id == "20261201-000000-cccccccc"
        with pytest.raises(InputError, match="2 sessions begin with '20261130', such as"):
            await journal.find_session("20261130")
        with pytest.raises(InputError, match="nearest: 20261201-000000-cccccccc"):
            await journal.find_session("20261201-000000-cccccccd")
        with pytest.raises(InputError, match="no session '%'"):
            await journal.find_session("%")


async def test_kinds_and_agents_are_told_apart() -> None:
    """Events are read for one agent, the session itself, or some kinds."""
    async with Journal.open(":memory:") as journal:
        await begun(journal)
        for number, kind in enumerate(("started", "prompt", "reply"), start=1):
            await journal.record(event(number, kind=kind))  # type: ignore[arg-type]
        await journal.flush()
        assert [each.kind for each in await journal.events(SESSION, kinds=("reply", "prompt"))] == [
            "prompt",
            "reply",
        ]
        assert await journal.events(SESSION, agent="") == ()
        assert len(await journal.events(SESSION, agent="writer.1")) == 3


def test_migrations_come_to_the_tables_of_this_program() -> None:
    """A store made at once and one that went through every migration are the same."""

    def described(connection: sa.Connection) -> dict[str, object]:
        inspector = sa.inspect(connection)
        return {
            table: (
                [
                    (column["name"], str(column["type"]), column["nullable"])
                    for column in inspector.get_columns(table)
                ],
                inspector.get_pk_constraint(table)["constrained_columns"],
                sorted(str(index["column_names"]) for index in inspector.get_indexes(table)),
            )
            for table in inspector.get_table_names()
        }

    with sa.create_engine("sqlite://").begin() as connection:
        upgrade(connection)
        migrated = described(connection)
        version = connection.exec_driver_sql(f"SELECT * FROM {schema.VERSION_TABLE}").scalar()
    store = Store(read_address(":memory:"))
    with store.reading() as connection:
        assert described(connection) == migrated
    store.close()
    assert version == schema.VERSION


async def test_a_store_of_a_newer_version_is_left_alone(tmp_path: Path) -> None:
    """It says which versions meet, for writing and for reading."""
    store = tmp_path / "store.db"
    async with Journal.open(store):
        pass
    with sqlite3.connect(store) as database:
        database.execute("UPDATE orchestra_version SET version_num = '0099'")
    for opened in (Journal.open, read_journal):
        with pytest.raises(
            StoreError, match=rf"newer orchestra \(schema 0099, this one knows {schema.VERSION}\)"
        ):
            async with opened(store):
                pass


async def test_what_is_no_store_is_said_in_one_sentence(tmp_path: Path) -> None:
    """A folder, a file of another kind, a folder that cannot be, an address nobody knows."""
    text = tmp_path / "notes.txt"
    text.write_text("This is no database. " * 100)
    wrong = {
        str(tmp_path): "is a folder: name a file in it",
        str(text): "is not a SQLite database",
        str(text / "store.db"): "cannot be made",
        "mysql://host/db": "begins with 'mysql'",
        " ": "address is empty",
    }
    for address, sentence in wrong.items():
        with pytest.raises(StoreError, match=sentence) as caught:
            async with Journal.open(address):
                pass
        assert "\n" not in str(caught.value)
    with pytest.raises(StoreError, match="There is no store at"):
        async with read_journal(tmp_path / "none.db"):
            pass
    assert not (tmp_path / "none.db").exists()


async def test_a_damaged_store_is_said_in_one_sentence(tmp_path: Path) -> None:
    """A text whose bytes were changed on the disk is not handed on as if it were whole."""
    store = tmp_path / "store.db"
    async with Journal.open(store) as journal:
        await begun(journal)
        await journal.record(event(1, text="words " * 500))
    with sqlite3.connect(store) as database:
        database.execute("UPDATE blobs SET body = x'00112233' WHERE codec = 1")
    async with read_journal(store) as reader:
        [found] = await reader.events(SESSION)
        with pytest.raises(StoreError, match="damaged"):
            await reader.text(found.texts["text"])


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        (sqlite3.SQLITE_FULL, "The disk that holds the store somewhere.db is full: free some space."),
        (sqlite3.SQLITE_READONLY, "The store somewhere.db is read-only"),
        (sqlite3.SQLITE_CORRUPT, "The store somewhere.db is damaged"),
        (sqlite3.SQLITE_CANTOPEN, "The store somewhere.db cannot be opened"),
        (sqlite3.SQLITE_IOERR, "The disk that holds the store somewhere.db failed: why."),
        (sqlite3.SQLITE_MISUSE, "The store somewhere.db does not answer as it should: why."),
    ],
)
def test_what_the_database_says_becomes_a_sentence(code: int, sentence: str) -> None:
    """SQLite's result codes are what is told apart, not its words."""
    cause = sqlite3.OperationalError("why\nand more")
    cause.sqlite_errorcode = code | 0x100  # extended codes carry the primary one in their low byte
    found = explain(OperationalError("INSERT", (), cause), Address("file", PATH))
    assert str(found).startswith(sentence)
    assert not isinstance(found, StoreBusy)


def test_a_servers_password_is_not_shown() -> None:
    """The address in a message is not the address with its secret."""
    assert "hunter22" not in str(read_address("postgresql://me:hunter22@host/db"))
