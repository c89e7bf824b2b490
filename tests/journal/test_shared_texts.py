"""What many sessions store is stored once and leaned on, as long as nobody else can have deleted it."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import anyio
import anyio.to_thread
import pytest
from msgspec import structs

from orchestra.journal import upkeep
from orchestra.journal.address import read_address
from orchestra.journal.blobs import INLINE, LONGEST_ALONE, LONGEST_INLINE
from orchestra.journal.faults import TextsUnsure
from orchestra.journal.journal import Journal
from orchestra.journal.pages import unpacked
from orchestra.journal.rows import Change, Line, Live, RowMaker, Rows, SessionStart
from orchestra.journal.store import Store
from orchestra.redact import Redactor
from tests.journal.recording import SESSION, begun, event

OTHER = f"{SESSION}2"
DOCUMENT = "Queues have to be bounded. " * 40


def made(maker: RowMaker, live: Live, texts: dict[str, str], number: int = 1) -> Rows:
    """The rows of one event, and with the first those of its session."""
    start = Change(live, SessionStart(id=live.session, question="Why?", created=1.0), data="{}")
    told = Line(live, number, 10, "writer.1", number, "note", 1.0, "{}", texts)
    return maker([start, told] if number == 1 else [told])


def stored(rows: Rows) -> list[int]:
    """The sizes of the texts that have rows of their own, but for questions."""
    return [size for _, _, size, _ in rows.blobs if size != len("Why?")]


def test_a_document_that_another_session_has_stored_is_leaned_on() -> None:
    """Its text is not written again; what is a session's own is written by each."""
    maker, shared = RowMaker(Redactor(), owner="me"), dict[int, str]()
    own = "Word. " * 100
    first = made(maker, Live(SESSION, shared=shared), {"document 0": DOCUMENT, "text": own})
    second = made(maker, Live(OTHER, shared=shared), {"document 3": DOCUMENT, "text": own})
    assert (stored(first), first.leans) == ([len(DOCUMENT), len(own)], False)
    assert (stored(second), second.leans) == ([len(own)], True)


def test_rows_that_lean_are_refused_once_others_have_changed_the_store(tmp_path: Path) -> None:
    """They may have deleted what is leaned on: it is made again, with the text."""
    address = read_address(tmp_path / "store.db")
    store, other = Store(address), Store(address)
    maker, shared = RowMaker(Redactor(), owner="me"), dict[int, str]()
    first, second = Live(SESSION, shared=shared), Live(OTHER, shared=shared)
    twice = made(maker, first, {"document 0": DOCUMENT, "document 1": DOCUMENT})
    assert (stored(twice), twice.leans) == ([len(DOCUMENT)], False)  # what is made anew needs nobody
    store.write(twice)
    with pytest.raises(TextsUnsure):  # the first that lean: nobody has looked at the store before
        store.write(made(maker, first, {"document 0": DOCUMENT}, 2))
    store.write(made(maker, first, {"document 0": DOCUMENT}, 2))
    upkeep.prune(other, [SESSION])
    with pytest.raises(TextsUnsure):
        store.write(made(maker, second, {"document 0": DOCUMENT}))
    second.forget()
    again = made(maker, second, {"document 0": DOCUMENT})
    store.write(again)
    assert stored(again) == [len(DOCUMENT)]
    assert upkeep.check(store) == ()
    store.close()
    other.close()


def test_rows_that_bring_their_text_themselves_lean_on_nobody() -> None:
    """Two sessions of one group, or one that reads twice: what is made again is never refused again."""
    maker, shared = RowMaker(Redactor(), owner="me"), dict[int, str]()
    lives = Live(SESSION, shared=shared), Live(OTHER, shared=shared)
    items = [Line(live, 1, 10, "writer.1", 1, "note", 1.0, "{}", {"document 0": DOCUMENT}) for live in lives]
    assert [maker(items).leans for _ in range(2)] == [False, True]
    lives[0].forget()
    assert not maker(items).leans


@pytest.mark.anyio
async def test_a_store_that_others_write_all_the_time_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Others commit between whatever is made and its writing; two events of a group have the same text."""
    path, write = tmp_path / "store.db", Store.write
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("CREATE TABLE busy (n)")

    def beside_others(self: Store, rows: Rows) -> None:
        other.execute("INSERT INTO busy VALUES (1)")
        write(self, rows)

    monkeypatch.setattr(Store, "write", beside_others)
    async with Journal.open(str(path)) as journal:
        await begun(journal, SESSION)
        read = structs.replace(event(session=SESSION), texts={"document 0": DOCUMENT})
        with anyio.fail_after(5):
            for _ in range(3):
                await journal.record(read)
                await journal.record(read)
                await journal.flush()
        assert await journal.do(upkeep.check) == ()
    other.close()


@pytest.mark.anyio
@pytest.mark.parametrize("url", ["store.db", ":memory:"])
async def test_what_is_pruned_in_between_is_stored_again(tmp_path: Path, url: str) -> None:
    """One session reads a document and is deleted, by this process or another; the next reads it, too."""
    place = url if url == ":memory:" else str(tmp_path / url)
    async with Journal.open(place) as journal:
        for number in range(3):
            session = f"{SESSION}{number}"
            await begun(journal, session)
            read = structs.replace(event(session=session), texts={"document 0": DOCUMENT, "tools": DOCUMENT})
            await journal.record(read)
            await journal.flush()
            (found,) = await journal.events(session)
            assert await journal.text(found.texts["document 0"]) == DOCUMENT
            assert await journal.do(upkeep.check) == ()
            await journal.finish(session, "done", at=2.0)
            await journal.flush()
            if number == 0 and url != ":memory:":
                await anyio.to_thread.run_sync(prune_from_outside, Path(place), session)
            elif number == 1:
                await journal.do(upkeep.prune, [session])


def prune_from_outside(path: Path, session: str) -> None:
    store = Store(read_address(path))
    upkeep.prune(store, [session])
    store.close()


@pytest.mark.parametrize(
    ("name", "length", "inline"),
    [
        ("text", LONGEST_INLINE, True),
        ("text", LONGEST_INLINE + 1, False),
        ("value", LONGEST_ALONE, True),
        ("report", LONGEST_ALONE, True),
        ("report", LONGEST_ALONE + 1, False),
    ],
)
def test_a_text_that_stands_nowhere_else_stands_with_its_event(name: str, length: int, inline: bool) -> None:
    """Up to a length; a short one always does."""
    rows = made(RowMaker(Redactor(), owner="me"), Live(SESSION), {name: "x" * length})
    ((*_, codec, body),) = rows.pages
    ((*_, texts),) = unpacked(codec, body)
    assert texts[name].startswith(INLINE) is inline
    assert stored(rows) == ([] if inline else [length])


def test_a_handed_value_that_is_the_replys_own_text_is_stored_once() -> None:
    """Where the text has a row already, its event names that."""
    maker, live = RowMaker(Redactor(), owner="me"), Live(SESSION)
    made(maker, live, {"text": DOCUMENT})
    again = made(maker, live, {"value": DOCUMENT}, 2)
    assert stored(again) == []
    ((*_, body),) = again.pages
    assert len(body) < LONGEST_INLINE


def test_a_secret_in_a_text_beside_its_event_is_cut_out() -> None:
    """However long the text."""
    maker = RowMaker(Redactor(["hunter22secret"]), owner="me")
    rows = made(maker, Live(SESSION), {"report": f"{'word ' * 500}hunter22secret{' word' * 500}"})
    ((*_, codec, body),) = rows.pages
    assert "hunter22secret" not in str(unpacked(codec, body))
