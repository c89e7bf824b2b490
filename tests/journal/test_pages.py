"""Events in pages: what is stored comes back, from stores of earlier versions too."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import hypothesis
import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from orchestra.errors import InputError, StoreError
from orchestra.journal import upkeep
from orchestra.journal.export import export_session, read_export
from orchestra.journal.journal import Journal
from orchestra.journal.pages import unpacked
from orchestra.journal.reading import read_journal
from orchestra.journal.records import Fork
from orchestra.testing.replay import Replaying, replay
from orchestra.values.events import Event
from tests.journal.recording import SESSION, begun, event
from tests.journal.test_prompts import ANY_TEXT, JSON
from tests.pages import change_events, make_first_version
from tests.resume.cut import events, host, recorded, same
from tests.team import settings

pytestmark = pytest.mark.anyio
OTHER = "20261130-074206-aaaaaaaa"
NO_SECRET = ANY_TEXT.map(lambda text: text.replace("=", "-").replace(":", "-"))


@hypothesis.settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.lists(
        st.tuples(
            st.sampled_from([SESSION, OTHER]),
            st.dictionaries(st.sampled_from(["n", "what"]), JSON),
            st.dictionaries(NO_SECRET, NO_SECRET, max_size=3),
            st.booleans(),
        ),
        max_size=12,
    )
)
async def test_any_events_come_back_as_they_were(
    tmp_path_factory: pytest.TempPathFactory, told: list[tuple[str, Any, dict[str, str], bool]]
) -> None:
    """However they were committed: numbers, data and texts, with NUL and lone surrogates, of two sessions."""
    store = tmp_path_factory.mktemp("store") / "store.db"
    async with Journal.open(store) as journal:
        for session in (SESSION, OTHER):
            await begun(journal, session)
        for turn, (session, data, texts, commits) in enumerate(told):
            about = {"session": session, "agent": "writer.1", "turn": turn, "kind": "note"}
            await journal.record(Event(**about, at=turn / 7, data=data, texts=texts))  # type: ignore[arg-type]
            if commits:
                await journal.flush()
        await journal.flush()
        for name in (SESSION, OTHER):
            found = await journal.events(name)
            mine = [(turn, each) for turn, each in enumerate(told) if each[0] == name]
            assert [each.seq for each in found] == list(range(1, len(mine) + 1))
            for read, (turn, (_, data, texts, _)) in zip(found, mine, strict=True):
                assert (read.turn, read.at, read.data) == (turn, turn / 7, data)
                places = await journal.texts(read.texts.values())
                assert {name: places[where] for name, where in read.texts.items()} == texts


@pytest.mark.parametrize("at", range(8))
async def test_a_fork_has_the_events_up_to_its_own(tmp_path: Path, at: int) -> None:
    """Also where it stands in the middle of what was committed at once."""
    async with Journal.open(tmp_path / "store.db") as journal:
        await begun(journal)
        for number in range(1, 8):
            await journal.record(event(number))
            if number in (1, 4):
                await journal.flush()
        await journal.flush()
        await journal.fork(await journal.find_session(SESSION), Fork(id=OTHER, at=at, created=2.0))
        assert [each.seq for each in await journal.events(OTHER)] == list(range(1, at + 1))
        assert (await journal.find_session(OTHER)).config["trusted"] == at
        assert len(await journal.events(SESSION)) == 7
        with pytest.raises(InputError, match="no event 8"):
            await journal.fork(await journal.find_session(SESSION), Fork(id="c", at=8, created=2.0))


async def test_a_store_of_the_first_version_is_brought_up(tmp_path: Path) -> None:
    """Its sessions are whole, say the same, and can be replayed and gone on with."""
    report = await recorded(tmp_path)
    store, story = tmp_path / "store.db", events(tmp_path)
    with sa.create_engine(f"sqlite:///{store}").begin() as connection:
        make_first_version(connection)
    with pytest.raises(StoreError, match="older than this program"):
        async with read_journal(store):
            pass
    async with Journal.open(store) as journal:
        assert await journal.do(upkeep.check) == ()
    assert events(tmp_path) == story
    async with read_journal(store) as reader:
        assert same(await replay(reader, "last", Replaying(settings=settings(tmp_path)))) == same(report)
    async with host(tmp_path) as runtime:
        name = await runtime.fork("last", at=9)
        assert same(await runtime.resume(name)) == {**same(report), "session": name}


async def test_what_an_older_store_lacks_is_still_said(tmp_path: Path) -> None:
    """A gap in its events is no gap the less when they are pages."""
    store = tmp_path / "store.db"
    async with Journal.open(store) as journal:
        await begun(journal)
        for number in range(1, 6):
            await journal.record(event(number))
    change_events(store, lambda each: each if each.seq != 3 else None)
    with sa.create_engine(f"sqlite:///{store}").begin() as connection:
        make_first_version(connection)
    async with Journal.open(store) as journal:
        assert await journal.do(upkeep.check) == (f"{SESSION}: its events are not numbered from 1 to 4.",)
        assert [each.seq for each in await journal.events(SESSION)] == [1, 2, 4, 5]


async def test_a_damaged_page_is_said_in_one_sentence(tmp_path: Path) -> None:
    """Which events are in it; the others are read."""
    store = tmp_path / "store.db"
    async with Journal.open(store) as journal:
        await begun(journal)
        await journal.record(event(1))
        await journal.flush()
        await journal.record(event(2))
    with sqlite3.connect(store) as database:
        database.execute("UPDATE pages SET body = x'5b31' WHERE first = 2")
    async with read_journal(store) as reader:
        with pytest.raises(StoreError, match=rf"events 2 to 2 of {SESSION} cannot be read") as caught:
            await reader.events(SESSION)
        assert "\n" not in str(caught.value)
        [fault] = await reader.do(upkeep.check)
        assert fault.startswith(f"{SESSION}: its events 2 to 2 cannot be read")


async def test_a_fork_of_a_damaged_page_is_refused_in_one_sentence(tmp_path: Path) -> None:
    """It would be whole only up to there; what was begun of it has failed."""
    store = tmp_path / "store.db"
    async with Journal.open(store) as journal:
        await begun(journal)
        for number in range(1, 4):
            await journal.record(event(number))
    with sqlite3.connect(store) as database:
        database.execute("UPDATE pages SET body = x'5b31'")
    async with Journal.open(store) as journal:
        source = await journal.find_session(SESSION)
        with pytest.raises(StoreError, match=rf"events 1 to 3 of {SESSION} cannot be read"):
            await journal.fork(source, Fork(id=OTHER, at=2, created=2.0))
        assert [each.id for each in await journal.sessions()] == [SESSION]
        with pytest.raises(StoreError, match="cannot be read"):
            await journal.fork(source, Fork(id=OTHER, at=2, created=2.0), "Another question?")
        await journal.flush()
        assert (await journal.find_session(OTHER)).status == "failed"


async def test_an_exported_session_has_the_numbers_that_it_had(tmp_path: Path) -> None:
    """Also where an event was lost: what comes after it is not another's."""
    store, file = tmp_path / "store.db", tmp_path / "session.jsonl"
    async with Journal.open(store) as journal:
        await begun(journal)
        for number in range(1, 6):
            await journal.record(event(number))
    change_events(store, lambda each: each if each.seq != 3 else None)
    async with read_journal(store) as reader:
        file.write_text(await export_session(reader, SESSION))
        told = await reader.events(SESSION)
    async with read_export(file) as (reader, name):
        assert await reader.events(name) == told


async def test_an_exported_text_may_hold_any_line_end(tmp_path: Path) -> None:
    """Those of Unicode too, which JSON leaves as they are."""
    file, text = tmp_path / "session.jsonl", "one\u2028two\x85three\x0bfour\r\nfive\u2029"
    async with Journal.open(":memory:") as journal:
        await begun(journal, question=text)
        await journal.record(event(1, short=text, long=text * 100))
        await journal.flush()
        file.write_text(await export_session(journal, SESSION), encoding="utf-8")
    async with read_export(file) as (reader, name):
        [read] = await reader.events(name)
        assert await reader.text(read.texts["short"]) == text
        assert await reader.text(read.texts["long"]) == text * 100


@given(st.binary(max_size=80) | st.sampled_from([b"[]", b"[1]", b"{}", b'[["a",1,"note",1.0,{}]]']))
def test_what_is_no_page_is_a_value_error(body: bytes) -> None:
    """Whatever the bytes are."""
    for codec in (0, 1, 2):
        try:
            unpacked(codec, body)
        except ValueError:
            continue
