"""The chat in a terminal: what a person types, and what the screen shows."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.cli.chat.terminal import SECONDS, Terminal, terminal
from tests.models.loopback import (
    DROP,
    HANG,
    HEAD,
    Seen,
    Server,
    call,
    completion,
    error,
    event,
    http,
    piece,
    serving,
    sse,
)
from tests.resume.cut import write_documents

pytestmark = pytest.mark.anyio
CTRL_C, CTRL_D, CTRL_J, CTRL_U, ENTER, TAB, UP = "\x03", "\x04", "\n", "\x15", "\r", "\t", "\x1b[A"


@asynccontextmanager
async def answering(*script: Any) -> AsyncIterator[Server]:
    """An endpoint that says this to whoever talks with it; its window has 100,000 tokens."""
    lines = iter(script)
    models = http(200, b'{"data": [{"id": "served", "max_model_len": 100000}]}')

    def line(seen: Seen) -> Any:
        return next(lines) if seen.method == "POST" else models

    async with serving(line) as server:
        yield server


def asked(server: Server) -> list[Any]:
    """The messages of each request, the last one last."""
    return [each.body["messages"] for each in server.seen if each.method == "POST"]


def streamed(*texts: str) -> list[bytes]:
    return sse(*(event({"content": text}) for text in texts), event(finish="stop"))


async def ready(screen: Terminal) -> None:
    """The prompt waits for input: the line below it is there."""
    await screen.until(lambda shown: shown.rstrip().rpartition("\n")[2].startswith(("chat · ", "careful · ")))


async def said(screen: Terminal, text: str, answer: str) -> str:
    await screen.type(text + ENTER)
    shown = await screen.until(answer)
    await ready(screen)
    return shown


async def test_ctrl_c_stops_the_answer_and_not_the_program(tmp_path: Path) -> None:
    """The connection closes, what was shown stays in the talk, failures are a sentence, and it goes on."""
    dripping = [HEAD, piece(event({"content": "It begins "})), piece(event({"content": "well "})), HANG]
    dropped = [HEAD, piece(event({"content": "Half of it "})), DROP]
    answers = [streamed("And ", "goes on."), error(401, "no such key"), dropped, streamed("All of it.")]
    script = [dripping, *answers, streamed("Bye.")]
    async with answering(*script) as server:
        url = ["--endpoint", server.url, "--large", "served"]
        async with terminal(tmp_path, *url) as screen:
            assert "served at" in await screen.until("answers from what it knows")
            await ready(screen)
            await screen.type("Tell me." + ENTER)
            await screen.until("It begins")
            assert server.open == 1
            await screen.type(CTRL_C)
            shown = await screen.until("(stopped; what stands above stays in the talk as it is)")
            assert "^C" not in shown
            with anyio.fail_after(SECONDS):
                await server.closed.wait()
            await ready(screen)
            await said(screen, "Go on.", "And goes on.")
            messages = asked(server)[-1]
            assert [each["role"] for each in messages[1:4]] == ["user", "assistant", "user"]
            assert messages[2]["content"].startswith("It begins well")
            assert "cut off here: chat.1 was stopped by the user" in messages[2]["content"]
            await said(screen, "Fail.", "no such key")
            shown = await said(screen, "Drop it.", "All of it.")
            assert "what stands above does not count: the answer begins anew" in shown
            await said(screen, "Still there?", "Bye.")
            assert "Half of it" not in str(asked(server)[-1])
            await screen.type("half a sentence" + CTRL_C)
            await screen.until("Ctrl-D or /quit leaves; Ctrl-C stops an answer.")
            await ready(screen)
            await screen.type(CTRL_D)
            await screen.until("orchestra chat --session")
            await screen.ends()
        async with terminal(tmp_path, *url, "--models", "extractive") as screen:
            shown = await screen.until("5 turns (--new begins another)")
            await screen.until("Bye.")
            await ready(screen)
            await screen.type(UP)
            await screen.until("> Still there?")
        assert len(asked(server)) == 6


async def test_commands_completion_and_history(tmp_path: Path) -> None:
    """Every command on a terminal, chosen with Tab; lines are added to what is typed; Up brings it back."""
    write_documents(tmp_path / "docs")
    async with terminal(tmp_path, "--docs", "docs", "--models", "extractive", lines=60) as screen:
        await screen.until("the 2 documents in docs")
        await ready(screen)
        await said(screen, "/context", "Nothing has been said yet.")
        await screen.type("How long" + CTRL_J + "do cats sleep?")
        await screen.until("  do cats sleep?")
        await said(screen, "", "- Cats sleep 13 hours a day. [s1]")
        assert "[s1] cats.md, Cats" in screen.shown
        await said(screen, "How far do dogs walk?", "- Dogs walk 5 km a day. [s2]")
        await screen.type("/wh")
        await screen.until("why a block is there, and what it says")
        await screen.type(TAB)
        await screen.until("> /why")
        await screen.type(ENTER + " b2")
        await screen.until("> /why b2")
        await said(screen, "", "the task as first stated · never leaves")
        await screen.type("/pin b")
        await screen.until("b12    input · 9 tokens")
        await screen.type(CTRL_U)
        for typed, answer in (
            ("/context", "▏░░"),
            ("/tokens", "this turn"),
            ("/pin b3", "b3 stays whatever happens"),
            ("/unpin b3", "b3 may leave again"),
            ("/recall cats", "Cats sleep 13 hours a day."),
            ("/compact", "left, "),
            ("/restore", "* version 1 ·"),
            ("/restore 1", "The summary is that of version 1 again, as version 2."),
            ("/restore x", "A version is a number"),
            ("/diff", "→ turn"),
            ("/save talk.md", "saved: talk.md"),
            ("/clear", "The context is empty"),
            ("/help", "this list"),
            ("/tokes", 'Did you mean "/tokens"?'),
        ):
            await said(screen, typed, answer)
        assert "Dogs walk 5 km" in (tmp_path / "talk.md").read_text(encoding="utf-8")
        await screen.type("/quit" + ENTER)
        await screen.ends()


async def test_a_long_paste_chinese_and_sixty_columns(tmp_path: Path) -> None:
    """20,000 characters arrive whole behind one mark; words are not broken; no escape gets through."""
    pasted = "\n".join(f"line {number} says 你好 and more" for number in range(20_000 // 25))[:20_000]
    words = "the pump hums at forty hertz and was seen by everybody who passed the hall today"
    evil = "\x1b[31mRED\x1b]0;title\x07 \u202edrow"
    script = [
        streamed("收到了，", "一共很多行。"),
        streamed(*(f"{word} " for word in words.split())),
        streamed(evil),
    ]
    async with answering(*script) as server:
        url = ["--endpoint", server.url, "--large", "served"]
        async with terminal(tmp_path, *url, columns=60, LC_ALL="C") as screen:
            await ready(screen)
            await screen.type("请读：")
            await screen.paste(pasted)
            await screen.until("[pasted text 1: ")
            assert "line 400" not in screen.shown
            await said(screen, "", "收到了，一共很多行。")
            content = asked(server)[0][-1]["content"]
            assert content.startswith(f"请读：{pasted}")
            shown = await said(screen, "And then?", "today")
            begins = shown.splitlines().index(next(x for x in shown.splitlines() if x.startswith("the pump")))
            lines = shown.splitlines()[begins : begins + 2]
            assert " ".join(lines) == words
            await said(screen, "Evil?", "RED")
            await said(screen, "/context", "the model's answer")
            assert b"\x1b[31mRED" not in screen.raw
            assert b"\x1b]0;title" not in screen.raw
            assert "\u202e".encode() not in screen.raw


async def test_a_person_is_asked_in_the_chat(tmp_path: Path) -> None:
    """A tool that needs a word waits for it; a refusal's reason reaches the model; Ctrl-C ends it all.

    A window that is closed ends the talk in order.
    """
    write_documents(tmp_path / "docs")
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "careful.md").write_text(
        "---\nname: careful\ndescription: Asks.\nmodel: large\ncontext: chat\n"
        "tools:\n  - search_documents\napprove: {search_documents: always}\n---\nHelp.\n",
        encoding="utf-8",
    )
    looking = completion(calls=[call("search_documents", '{"query": "cats"}')])
    script = [looking, completion("They sleep 13 hours [s1]."), looking, completion("I may not."), looking]
    async with answering(*script) as server:
        url = ["--endpoint", server.url, "--large", "served", "--docs", "docs", "--agent", "careful"]
        async with terminal(tmp_path, *url, "--agents", "agents") as screen:
            await ready(screen)
            await screen.type("Cats?" + ENTER)
            await screen.until("wants to call search_documents")
            await screen.until("allow? y or n, or why not:")
            await said(screen, "y", "They sleep 13 hours [s1].")
            assert "search_documents “cats” · 1 passage" in screen.shown
            assert "[s1] cats.md, Cats" in screen.shown
            await screen.type("Again?" + ENTER)
            await screen.until(lambda shown: shown.count("allow?") == 2)
            await said(screen, "not on a Sunday", "I may not.")
            assert "not on a Sunday" in asked(server)[-1][-1]["content"]
            await screen.type("Once more?" + ENTER)
            await screen.until(lambda shown: shown.count("allow?") == 3)
            await screen.type(CTRL_C)
            await screen.until("(stopped before there was an answer")
            await ready(screen)
            await screen.hang_up()
    with sqlite3.connect(tmp_path / ".orchestra" / "store.db") as store:
        assert store.execute("SELECT status FROM sessions").fetchall() == [("done",)]
