"""Keys of requests: the same wherever they are made, different where the request is."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest
from msgspec import structs

from orchestra.journal.journal import Journal
from orchestra.journal.keys import KeyMaker, LateKey, RequestKey, first_parts
from orchestra.redact import Redactor
from orchestra.values.messages import Message, Request, ToolCall, ToolSpec
from tests.journal.recording import SESSION, begun, event

pytestmark = pytest.mark.anyio
SECRET = "known-secret-value-7"
CLEAN = Redactor([SECRET])
LONG = f"What was found. {SECRET} " * 30
TOOLS = (ToolSpec("search", "Find.", {"type": "object", "properties": {}}),)
MESSAGES = (
    Message("system", "Answer."),
    Message("user", "What?"),
    Message("assistant", "", (ToolCall("c1", "search", '{"query": "it"}'),)),
    Message("tool", LONG, call_id="c1"),
)
REQUEST = Request(messages=MESSAGES, tools=TOOLS)


def test_a_key_is_the_same_in_the_writers_thread() -> None:
    """What the store has hashed makes the key that a resumed run makes of the texts themselves."""
    stored = {hash(LONG): sha256(CLEAN(LONG).encode()).hexdigest()}
    grown = KeyMaker(CLEAN)
    grown(structs.replace(REQUEST, messages=MESSAGES[:2]), stored)
    late = LateKey(grown, REQUEST)(stored)
    assert late == f',"key":"{KeyMaker(CLEAN)(REQUEST, {})}"}}'


@pytest.mark.parametrize(
    ("changed", "difference"),
    [
        ({"messages": (Message("system", "Answer!"), *MESSAGES[1:])}, "its instructions"),
        ({"messages": (MESSAGES[0], Message("user", "Why?"), *MESSAGES[2:])}, "its task"),
        ({"messages": MESSAGES[:3]}, "what it has been shown since its task"),
        ({"messages": (*MESSAGES[:3], Message("tool", LONG + "!", call_id="c1"))}, "what it has been shown"),
        ({"tools": ()}, "its tools"),
    ],
)
def test_what_differs_is_said(changed: dict[str, object], difference: str) -> None:
    """A part of the key for each part of the request."""
    recorded = RequestKey(KeyMaker(CLEAN)(REQUEST, {}), "m", "step")
    now = RequestKey(KeyMaker(CLEAN)(structs.replace(REQUEST, **changed), {}), "m", "step")
    assert now.difference(recorded).startswith(difference)


def test_a_key_of_the_first_versions_is_known_again() -> None:
    """A session that one of them recorded can be gone on with."""
    recorded = RequestKey("6c387c2cd4de.9ac806d7a527.c63ca137d693.5ece96361a1a.000000000000", "m", "step")
    assert not recorded.is_made_so
    assert RequestKey(KeyMaker(CLEAN)(REQUEST, {}), "m", "step").is_made_so
    assert first_parts(REQUEST, CLEAN) == recorded.parts


async def test_a_key_knows_no_secret_of_its_own_group(tmp_path: Path) -> None:
    """What is found out about a text only after its row was made does not come into the key."""
    message = f"{'What is known. ' * 20}{SECRET}"
    request = Request(messages=(Message("user", message),))
    async with Journal.open(tmp_path / "store.db", secrets=[SECRET]) as journal:
        await begun(journal)
        await journal.record(event(1, text=message))
        await journal.record(event(2), LateKey(KeyMaker(journal.clean), request))
        await journal.flush()
        recorded = (await journal.events(SESSION))[-1]
        assert recorded.data["key"] == KeyMaker(CLEAN)(request, {})
