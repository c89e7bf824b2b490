"""The index follows its folder, reads no more than it must, and finds what is asked for."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from orchestra.errors import InputError, StoreError
from orchestra.tools.documents import store
from orchestra.tools.documents.index import DocumentIndex

pytestmark = pytest.mark.anyio

OLD = 1_500_000_000  # seconds: long before any test, so that a file's time is past doubt


def write(folder: Path, name: str, text: str, *, at: int = OLD) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    os.utime(path, (at, at))


async def reads(folder: Path, database: str | Path) -> tuple[int, int]:
    """How many files an opening reads, and how many documents it then has."""
    async with DocumentIndex(folder, store=database) as index:
        return index.refreshed.read, index.refreshed.documents


async def found(folder: Path, query: str, database: str | Path = ":memory:", limit: int = 8) -> list[str]:
    async with DocumentIndex(folder, store=database) as index:
        return [passage.document.locator for passage in await index.search(query, limit)]


async def test_unchanged_files_are_not_read_again(folder: Path, tmp_path: Path) -> None:
    """Only what is new or has other bytes is read; a new time alone is not; what is gone is forgotten."""
    database = tmp_path / "deep" / "index.db"
    write(folder, "a.md", "tidal power")
    write(folder, "b.md", "wind power")
    write(folder, "broken.pdf", "no pdf")
    assert await reads(folder, database) == (3, 2)
    assert await reads(folder, database) == (0, 2)
    write(folder, "a.md", "tidal power", at=OLD + 5)
    assert await reads(folder, database) == (0, 2)
    write(folder, "a.md", "solar power", at=OLD + 5)
    write(folder, "c.md", "wave power")
    assert await reads(folder, database) == (2, 3)
    assert await found(folder, "tidal", database) == []
    (folder / "b.md").unlink()
    assert await reads(folder, database) == (0, 2)
    assert await found(folder, "wind", database) == []
    assert sorted(await found(folder, "power", database)) == ["a.md", "c.md"]


async def test_a_change_within_the_clocks_grain_is_seen(folder: Path) -> None:
    """A file of the same size and time as before is compared while its time is fresh."""
    now = int(time.time())
    write(folder, "a.md", "first", at=now)
    async with DocumentIndex(folder) as index:
        write(folder, "a.md", "third", at=now)
        assert (await index.refresh()).read == 1
        assert await index.search("third")


async def test_a_problem_is_remembered_with_its_file(folder: Path, tmp_path: Path) -> None:
    """A broken file is named each time and read once."""
    write(folder, "a.pdf", "no pdf")
    write(folder, "empty.md", "")
    write(folder, "good.md", "text")
    for _ in range(2):
        async with DocumentIndex(folder, store=tmp_path / "i.db") as index:
            assert index.problems == (
                "a.pdf: the PDF is broken and cannot be read; export it again",
                "empty.md: is empty",
            )


async def test_a_folder_without_documents_says_so(folder: Path) -> None:
    """It opens, finds nothing and names the matter."""
    async with DocumentIndex(folder) as index:
        assert index.problems == ("documents: holds no document that can be read",)
        assert await index.search("anything") == ()


async def test_folders_in_one_store_keep_apart(tmp_path: Path) -> None:
    """A search sees one folder, and its scores do not hang on the others."""
    for name in ("one", "two"):
        write(tmp_path / name, f"{name}.md", f"power of {name}")
        write(tmp_path / name, "more.md", "other words")
    database = tmp_path / "i.db"
    alone = await scores(tmp_path / "one", database)
    assert await found(tmp_path / "two", "power", database) == ["two.md"]
    assert await found(tmp_path / "one", "power", database) == ["one.md"]
    assert await scores(tmp_path / "one", database) == alone


async def scores(folder: Path, database: Path) -> list[float]:
    async with DocumentIndex(folder, store=database) as index:
        return [passage.score for passage in await index.search("power")]


async def test_several_indexes_write_one_store_at_once(folder: Path, tmp_path: Path) -> None:
    """Each opens, and the store ends with each document once."""
    for number in range(30):
        write(folder, f"{number}.md", f"# Doc {number}\n\nword{number} common")
    database = tmp_path / "i.db"
    async with anyio.create_task_group() as group:
        for _ in range(4):
            group.start_soon(found, folder, "common", database)
    assert (await found(folder, "word7", database))[0] == "7.md"
    with sqlite3.connect(database) as connection:
        assert connection.execute("SELECT count(*) FROM documents_files").fetchone() == (30,)
        assert connection.execute("SELECT count(*) FROM documents_passages").fetchone() == (30,)
        assert connection.execute("SELECT count(*) FROM documents_terms_1").fetchone() == (30,)
    connection.close()


async def test_an_index_of_an_older_version_is_made_anew(folder: Path, tmp_path: Path) -> None:
    """And what else the store holds is left alone."""
    write(folder, "a.md", "text")
    database = tmp_path / "i.db"
    assert await reads(folder, database) == (1, 1)
    connection = sqlite3.connect(database)
    connection.execute("CREATE TABLE journal (x)")
    connection.execute("UPDATE documents_version SET version = '0'")
    connection.commit()
    assert await reads(folder, database) == (1, 1)
    assert await reads(folder, database) == (0, 1)
    assert connection.execute("SELECT version FROM documents_version").fetchone() == (store.VERSION,)
    assert connection.execute("SELECT count(*) FROM journal").fetchone() == (0,)
    connection.close()


async def test_a_store_that_is_no_database_is_named(folder: Path, tmp_path: Path) -> None:
    """With what to do; also where its folder cannot be made."""
    write(folder, "a.md", "text")
    (tmp_path / "i.db").write_bytes(b"not a database at all" * 100)
    with pytest.raises(StoreError, match=r"i\.db' is damaged or no database .*; delete it, it is made anew"):
        await reads(folder, tmp_path / "i.db")
    with pytest.raises(StoreError, match="cannot be made"):
        await reads(folder, tmp_path / "i.db" / "below" / "j.db")


async def test_a_store_that_another_program_holds_is_named(folder: Path, tmp_path: Path) -> None:
    """After the wait that was asked for."""
    write(folder, "a.md", "text")
    holder = sqlite3.connect(tmp_path / "i.db", isolation_level=None)
    holder.execute("PRAGMA journal_mode=WAL")
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreError, match=r"i\.db' is locked by another program; try again when it is done"):
        async with DocumentIndex(folder, store=tmp_path / "i.db", busy_seconds=0.05):
            pass
    holder.execute("ROLLBACK")
    holder.close()
    assert await reads(folder, tmp_path / "i.db") == (1, 1)


async def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    """Before anything is opened."""
    with pytest.raises(InputError, match="there is no folder"):
        await reads(tmp_path / "missing", tmp_path / "i.db")
    assert not (tmp_path / "i.db").exists()


async def test_chinese_and_japanese_are_found(folder: Path) -> None:
    """By pairs of characters, next to English words."""
    write(folder, "潮汐.md", "# 潮汐能\n\n潮汐能电站利用潮水涨落发电。装机容量为 240 兆瓦。")
    write(folder, "风.md", "# 风能\n\n风力发电利用风的动能。")
    write(folder, "日本.md", "日本の潮力発電の研究が進んでいる。")
    assert (await found(folder, "潮汐能怎么发电？"))[0] == "潮汐.md"
    assert (await found(folder, "潮力発電とは何ですか"))[0] == "日本.md"
    assert (await found(folder, "240 兆瓦"))[0] == "潮汐.md"


async def test_code_is_found_by_its_exact_names(folder: Path) -> None:
    """Signs are part of a name, and a question with quotes and operators is only words."""
    write(folder, "a.md", "The `except*` clause handles groups.")
    write(folder, "b.md", "The except clause handles one.")
    write(folder, "c.md", "A `build_wheel` hook makes it.")
    assert (await found(folder, "except*"))[0] == "a.md"
    assert await found(folder, 'build_wheel" OR NEAR(x) AND -y') == ["c.md"]


async def test_hits_come_from_several_documents_without_repeats(folder: Path) -> None:
    """At most three passages of a document, and a copy of a passage is not shown twice."""
    words = ["ebb", "flood", "basin", "turbine", "gate", "spring"]
    sections = "\n\n".join(f"## {word}\n\nTidal power and {word} {word}s at {word} sea." for word in words)
    write(folder, "long.md", sections)
    write(folder, "copy.md", sections)
    write(folder, "other.md", "Costs of tidal power are high.")
    hits = await found(folder, "tidal power")
    assert len(hits) == 7
    assert hits.count("long.md") == hits.count("copy.md") == 3


async def test_a_title_counts_for_every_passage(folder: Path) -> None:
    """A passage that does not repeat its document's subject is still found by it."""
    write(folder, "a.md", "# Annapolis station\n\n## Size\n\nIt has a capacity of 20 MW.")
    write(folder, "b.md", "# Rance station\n\n## Size\n\nIt has a capacity of 240 MW.")
    assert (await found(folder, "capacity of the Rance station"))[0] == "b.md"


async def test_a_question_of_any_length_is_answered(folder: Path) -> None:
    """Its rarest terms are looked for; nothing, blanks and signs alone find nothing."""
    write(folder, "a.md", "The narwhal lives in the Arctic.")
    write(folder, "b.md", "Something else.")
    long = " ".join(f"filler{number}" for number in range(6000)) + " narwhal"
    assert await found(folder, long) == ["a.md"]
    for nothing in ("", "   ", "?!*", "the of and"):
        assert await found(folder, nothing) == []


async def test_a_document_is_had_whole_and_in_passages(folder: Path) -> None:
    """Passages share one document whose offsets they count."""
    write(folder, "sub/a.md", "# A\n\nOne.\n\n## B\n\nTwo.\n")
    async with DocumentIndex(folder) as index:
        assert await index.locators() == ("sub/a.md",)
        document = await index.document("sub/a.md")
        assert document.text == "# A\n\nOne.\n\n## B\n\nTwo.\n"
        passages = await index.passages("sub/a.md")
        assert [passage.section for passage in passages] == ["", "B"]
        assert all(passage.document is document for passage in passages)
        with pytest.raises(InputError, match=r"no document 'b\.md'"):
            await index.document("b.md")


async def test_a_refresh_can_be_cancelled_and_goes_on_later(
    folder: Path, tmp_path: Path, pdf_bytes: Callable[..., bytes]
) -> None:
    """The worker stops between two files."""
    for number in range(50):
        (folder / f"{number}.pdf").write_bytes(pdf_bytes([[f"page {number}"]] * 5))
    with anyio.move_on_after(0):
        await reads(folder, tmp_path / "i.db")
    assert (await reads(folder, tmp_path / "i.db"))[1] == 50
