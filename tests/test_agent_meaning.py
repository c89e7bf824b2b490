"""An agent's recall by an endpoint's embedding model: had in time, failed, and recorded."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestra import Scripted
from orchestra.load.behaviour import Behaviour, Faults
from orchestra.load.simulated import simulated
from orchestra.values.messages import Request
from tests.talking import again, clerk, shown, talk

pytestmark = pytest.mark.anyio
CONFIG = """
[endpoints.here]
url = "{url}"
tries = 1
[tiers.small]
endpoint = "here"
model = "m"
[recall]
embedding = "{embedding}"
wait_seconds = 20
[context.chat]
prompt_tokens = 700
"""
TALK = "The walk along the lake was calm, and number {n} of the huts had a garden with a bench. " * 3
SAID = ("The door code is KX-77.", *(f"Tell me about hut {n}." for n in range(8)), "What is the door code?")


def answers(request: Request) -> str:
    return TALK.format(n=len(request.messages))


async def held(folder: Path, url: str, embedding: str = "here/embedder") -> tuple[Scripted, str]:
    """The talk; its model, and how the last prompt found what it recalled."""
    (folder / "orchestra.toml").write_text(CONFIG.format(url=url, embedding=embedding))
    model = Scripted(answers)
    async with talk(folder, model, clerk(), ()) as (_, conversation):
        for text in SAID:
            await conversation.say(text)
        last = conversation.context.recollector.last
        assert last is not None
    return model, last.note


async def test_words_and_meaning_are_asked_and_the_manifest_says_so(tmp_path: Path) -> None:
    """The endpoint's vectors help, and a prompt says whose they were."""
    async with simulated() as endpoint:
        model, note = await held(tmp_path, endpoint.url)
    assert "KX-77" in "\n".join(message.text for message in model.requests[-1].messages)
    assert endpoint.served.embedded > 0
    assert note.endswith("by words and here/embedder")


async def test_an_endpoint_that_fails_leaves_it_to_the_words(tmp_path: Path) -> None:
    """The talk goes on, what was said is found by its words, and the manifest names the failure."""
    async with simulated(Behaviour(faults=Faults(error_503=1.0))) as endpoint:
        model, note = await held(tmp_path, endpoint.url)
    assert "KX-77" in "\n".join(message.text for message in model.requests[-1].messages)
    assert "by words alone (Endpoint here (model embedder, status 503)" in note


async def test_after_a_restart_nothing_is_embedded_and_the_prompts_are_the_same(tmp_path: Path) -> None:
    """What was recalled by meaning is recorded: over its record a talk asks no endpoint and sees the same."""
    async with simulated() as endpoint:
        model, _ = await held(tmp_path, endpoint.url)
        before = endpoint.served.embedded
        later = Scripted(answers)
        async with again(tmp_path, later, clerk(), ()) as (_, conversation):
            await conversation.catch_up()
            assert endpoint.served.embedded == before
            assert not later.requests
            context = conversation.context
            assert context.recollector.last is not None
            assert context.recollector.last.embedding == "here/embedder"
            await conversation.say("And what is the door code now?")
        assert endpoint.served.embedded > before
    assert shown(later.requests[-1])[: len(model.requests[-1].messages) - 1]
    assert "KX-77" in "\n".join(message.text for message in later.requests[-1].messages)
