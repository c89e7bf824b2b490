"""The same store on a PostgreSQL server, a real one."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import anyio
import anyio.to_thread
import pytest
import sqlalchemy as sa
from msgspec import structs

from orchestra import Runtime
from orchestra.errors import InputError, StoreError
from orchestra.journal import schema, upkeep
from orchestra.journal.address import read_address
from orchestra.journal.journal import Journal
from orchestra.journal.queue import Options
from orchestra.journal.reading import read_journal
from orchestra.journal.records import Order
from orchestra.journal.store import Store
from orchestra.memory import shelf
from orchestra.memory.kept import Memory, Whose
from tests.journal.conftest import Postgres
from tests.journal.recording import SESSION, begun, event
from tests.journal.test_store import WRITER
from tests.pages import change_rows, events_of, make_first_version
from tests.resume.cut import CATS, DOGS, QUESTION, same, write_documents
from tests.team import scripted_team, settings

pytestmark = pytest.mark.anyio


async def test_a_session_is_recorded_and_gone_on_with(postgres: Postgres, tmp_path) -> None:  # type: ignore[no-untyped-def] # a fixture
    """From another machine too: what counts is the store; the documents may be gone."""
    url = postgres.database()
    documents = write_documents(tmp_path / "docs")
    own = structs.replace(settings(tmp_path, store=url), reports=str(tmp_path / "reports"))
    async with Runtime(own, models={"small": scripted_team(CATS, DOGS)}) as host:
        report = await host.research(QUESTION, documents=documents)
    engine = sa.create_engine(read_address(url).url)
    with engine.begin() as connection:
        last = max(event.seq for event in events_of(connection) if event.kind == "tool_returned")
        change_rows(connection, lambda event: event if event.seq <= last else None)
        connection.exec_driver_sql("UPDATE sessions SET status = 'running', owner = 'elsewhere:1'")
    engine.dispose()
    (documents / "cats.md").unlink()
    (documents / "dogs.md").unlink()
    model = scripted_team(CATS, DOGS)
    async with Runtime(own, models={"small": model}) as host:
        again = await host.resume("last")
    assert same(again) == same(report)
    assert 0 < len(model.requests) < 6
    async with Journal.open(url) as journal:
        assert await journal.do(upkeep.check) == ()


async def test_two_processes_write_one_server(postgres: Postgres) -> None:
    """Each finds all of its events, and the texts they share are stored once."""
    url = postgres.database()
    names = ("20261130-000000-aaaaaaaa", "20261130-000000-bbbbbbbb")
    async with Journal.open(url):  # makes the tables
        pass
    async with anyio.create_task_group() as group:
        for name in names:
            group.start_soon(anyio.run_process, [sys.executable, "-c", WRITER, url, name])
    async with read_journal(url) as reader:
        for name in names:
            assert [found.turn for found in await reader.events(name)] == list(range(1, 201))
        assert (await reader.do(upkeep.info)).texts == 200 + 1  # and the question


async def test_a_server_that_is_restarted_in_the_middle_loses_nothing(postgres: Postgres) -> None:
    """While it is down the journal says so in one sentence and keeps what comes; then it writes it."""
    url = postgres.database()
    async with Journal.open(url, options=Options(durable_seconds=60)) as journal:
        await begun(journal)
        await journal.record(event(1))
        await journal.flush()
        await anyio.to_thread.run_sync(postgres.stop)
        try:
            await journal.record(event(2))
            with pytest.raises(StoreError, match=r"^The store's server \S+ cannot be reached: .*\.$"):
                await journal.flush()
            await journal.record(event(3))
        finally:
            await anyio.to_thread.run_sync(postgres.start)
        await journal.durable()
        assert [found.turn for found in await journal.events(SESSION)] == [1, 2, 3]


async def test_a_store_of_the_first_version_is_brought_up(postgres: Postgres) -> None:
    """Its sessions are still there, and people can be asked."""
    url = postgres.database()
    async with Journal.open(url) as journal:
        await begun(journal)
        await journal.record(event(1, text="words " * 100))
    engine = sa.create_engine(read_address(url).url)
    with engine.begin() as connection:
        make_first_version(connection)
    engine.dispose()
    async with Journal.open(url) as journal:
        await journal.give(Order(session=SESSION, what="stop", who="Ada"))
        assert [order.who for order in await journal.orders([SESSION])] == ["Ada"]
        assert (await journal.find_session("last")).id == SESSION
        assert [each.turn for each in await journal.events(SESSION)] == [1]
        assert await journal.do(upkeep.check) == ()


async def test_a_store_is_brought_up_once_and_loses_nothing_that_is_still_written(postgres: Postgres) -> None:
    """By many processes that open it at once, while one of the version before commits an event."""
    url = postgres.database()
    async with Journal.open(url) as journal:
        await begun(journal)
        await journal.record(event(1))
    engine = sa.create_engine(read_address(url).url)
    with engine.begin() as connection:
        make_first_version(connection)

    async def opened() -> None:
        async with Journal.open(url) as journal:
            assert [each.turn for each in await journal.events(SESSION)] == [1, 2]

    async with anyio.create_task_group() as group:
        with engine.begin() as late:
            late.exec_driver_sql(
                f"INSERT INTO events VALUES ('{SESSION}', 2, 'a', 2, 'note', 2.0, '{{}}', '')"
            )
            for _ in range(3):
                group.start_soon(opened)
            waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted"
            with engine.connect() as other:
                while other.exec_driver_sql(waiting).scalar() < 3:  # type: ignore[operator] # a count
                    await anyio.lowlevel.checkpoint()
    engine.dispose()


async def test_many_processes_make_one_store(postgres: Postgres) -> None:
    """None finds its tables half made."""
    url = postgres.database()
    async with anyio.create_task_group() as group:
        for _ in range(6):
            group.start_soon(_opened_and_closed, url)


async def _opened_and_closed(url: str) -> None:
    async with Journal.open(url) as journal:
        assert await journal.sessions() == ()


async def test_a_newer_store_and_a_server_that_is_not_there_are_sentences(postgres: Postgres) -> None:
    """With what to do."""
    url = postgres.database()
    async with Journal.open(url):
        pass
    engine = sa.create_engine(read_address(url).url)
    with engine.begin() as connection:
        connection.exec_driver_sql(f"UPDATE {schema.VERSION_TABLE} SET version_num = '0099'")
    engine.dispose()
    with pytest.raises(StoreError, match=r"newer orchestra \(schema 0099"):
        Store(read_address(url))
    with pytest.raises(StoreError, match="cannot be reached"):
        Store(read_address("postgresql://nobody:hunter22@127.0.0.1:1/nothing"))


async def test_pruning_takes_what_no_other_session_has(postgres: Postgres) -> None:
    """Texts that others share stay; the session that is at work stays."""
    url = postgres.database()
    shared, other = "shared " * 40, "20261130-074206-aaaaaaaa"
    async with Journal.open(url) as journal:
        await begun(journal, question="q" * 300)
        await journal.record(event(1, text=shared))
        await journal.record(event(2, text="own " * 120))
        await journal.finish(SESSION, "done", at=9.0)
        await begun(journal, other, question="q" * 300)
        await journal.record(event(1, session=other, text=shared))
        await journal.flush()
        done = await journal.do(upkeep.prune, [SESSION])
        assert (done.events, done.texts) == (2, 1)
        assert await journal.do(upkeep.check) == ()
        with pytest.raises(InputError, match="There is no session"):
            await journal.find_session(SESSION)


async def test_memories_are_kept_replaced_and_forgotten(postgres: Postgres) -> None:
    """As in a file; one user's, and not the other's."""

    def of(user: str, value: str) -> Memory:
        return Memory(
            kind="fact", user=user, key="budget", value=value, text=f"My budget is {value}.", at=1.0
        )

    def same_key(_new: Memory, holding: Sequence[Memory]) -> list[int]:
        return [memory.number for memory in holding]

    async with Journal.open(postgres.database()) as journal:
        await journal.do(shelf.keep, [of("ada", "1"), of("bob", "2"), of("ada", "3")], same_key)
        (known,) = await journal.do(shelf.known_to, Whose("ada"))
        assert (known.value, known.was) == ("3", "1")
        gone = await journal.do(shelf.forget, Whose("ada"), None)
        assert [memory.value for memory in gone.memories] == ["1", "3"]
        assert [memory.value for memory in await journal.do(shelf.all_of, Whose("bob"))] == ["2"]
