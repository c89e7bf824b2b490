"""A folder is walked in order; what may not be read is named in one line and the rest goes on."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from orchestra.errors import InputError
from orchestra.tools.documents.folder import resolve, walk
from orchestra.tools.documents.reading import load, read


def locators(folder: Path) -> list[str]:
    return [found.locator for found in walk(folder).found]


def test_files_come_in_one_order_without_hidden_ones(folder: Path) -> None:
    """Hidden files, version control and copied packages are passed over in silence."""
    for name in ("b.md", "a/z.md", "a/b/c.md", ".env", ".git/config", "node_modules/x/readme.md", "~$a.docx"):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("text")
    assert locators(folder) == ["a/b/c.md", "a/z.md", "b.md"]
    assert walk(folder).problems == ()


def test_names_in_any_script_are_fine(folder: Path) -> None:
    """Emoji, right-to-left, Chinese, blanks and line ends in names."""
    names = ["🐟 fish.md", "שלום.md", "مرحبا.txt", "潮汐能.md", "two\nlines.md", " lead.md"]
    for name in names:
        (folder / name).write_text("text " + name)
    assert sorted(locators(folder)) == sorted(names)
    assert read(folder / "潮汐能.md", folder).locator == "潮汐能.md"


def test_links_are_not_followed_out_of_the_folder(folder: Path, tmp_path: Path) -> None:
    """A link inside is met at its target; one that leaves or leads nowhere is named."""
    (tmp_path / "secret.md").write_text("secret")
    (tmp_path / "elsewhere").mkdir()
    (folder / "real.md").write_text("text")
    (folder / "inside.md").symlink_to("real.md")
    (folder / "loop").symlink_to(folder)
    (folder / "out.md").symlink_to(tmp_path / "secret.md")
    (folder / "outdir").symlink_to(tmp_path / "elsewhere")
    (folder / "nowhere.md").symlink_to("missing")
    walked = walk(folder)
    assert [found.locator for found in walked.found] == ["real.md"]
    assert walked.problems == (
        "nowhere.md: is a link to nothing",
        "out.md: is a link that leaves the folder and was not followed",
        "outdir: is a link that leaves the folder and was not followed",
    )


def test_what_is_no_file_is_not_opened(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pipe would wait for ever, a socket and a device are no documents."""
    os.mkfifo(folder / "pipe.txt")
    (folder / "null.txt").symlink_to("/dev/null")
    monkeypatch.chdir(folder)  # a socket's path may only be short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket.txt")
        assert walk(folder).problems == (
            "null.txt: is a link that leaves the folder and was not followed",
            "pipe.txt: is a named pipe and was not opened",
            "socket.txt: is a socket and was not opened",
        )


def test_a_file_swapped_after_the_walk_is_not_followed(folder: Path, tmp_path: Path) -> None:
    """The check is made on what was opened."""
    (tmp_path / "secret.md").write_text("secret")
    (folder / "a.md").symlink_to(tmp_path / "secret.md")
    os.mkfifo(folder / "pipe.txt")
    with pytest.raises(InputError, match=r"a\.md: cannot be opened"):
        load(folder / "a.md", "a.md")
    with pytest.raises(InputError, match=r"pipe\.txt: is not a regular file"):
        load(folder / "pipe.txt", "pipe.txt")


def test_a_file_of_two_gigabytes_is_refused_unread(folder: Path) -> None:
    """By its size alone."""
    with open(folder / "huge.txt", "wb") as file:
        file.truncate(2 * 1024**3)
    walked = walk(folder)
    assert walked.found == ()
    assert walked.problems == ("huge.txt: has 2,048.0 MB, more than the 50 MB a document may have",)


def test_kinds_without_text_share_one_line(folder: Path) -> None:
    """A thousand pictures are not a thousand problems."""
    for name in ("a.png", "b.png", "c.ZIP", "d.md"):
        (folder / name).write_bytes(b"x")
    walked = walk(folder)
    assert [found.locator for found in walked.found] == ["d.md"]
    assert walked.problems == ("files of kinds that hold no text were left out: 2 .png, 1 .zip",)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_folder_without_rights_is_named(folder: Path) -> None:
    """And the rest goes on."""
    (folder / "a.md").write_text("text")
    (folder / "closed").mkdir(mode=0)
    assert walk(folder).problems == ("closed: the folder cannot be listed (Permission denied)",)


def test_a_file_counts_as_a_folder_of_one(folder: Path) -> None:
    """Its name is the locator."""
    (folder / "a.md").write_text("text")
    (folder / "b.md").write_text("text")
    assert locators(resolve(folder / "a.md")) == ["a.md"]


@pytest.mark.parametrize("name", ["missing", "missing/deeper", "with\0nul"])
def test_a_folder_that_is_not_there_is_an_error(folder: Path, name: str) -> None:
    """It says which and what to do."""
    with pytest.raises(InputError, match=r"there is no folder .*; name one that holds documents"):
        resolve(folder / name)


def test_bytes_in_a_name_that_are_not_utf8_are_shown(folder: Path) -> None:
    """Such a file is read under a name that can be printed."""
    with open(os.fsencode(folder) + b"/caf\xe9.md", "w") as file:
        file.write("text")
    with open(os.fsencode(folder) + b"/caf\xe8.md", "w") as file:
        file.write("other")
    (found,) = walk(folder).found
    assert walk(folder).problems == (
        "caf\ufffd.md: another file has this name but for bytes that cannot be shown",
    )
    assert found.locator == "caf\ufffd.md"
    assert load(found.path, found.locator) == b"other"
