"""Secrets: found in every shape, and nowhere in the store or the log."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog
from hypothesis import given
from hypothesis import strategies as st

from orchestra.journal.journal import Journal
from orchestra.journal.prompts import Moment, PromptTrail, Sent, reply_event
from orchestra.journal.rows import SessionStart
from orchestra.log import configure, get_logger
from orchestra.redact import MASK, Redactor, redact
from orchestra.values.events import Event
from orchestra.values.messages import Message, Reply, ToolCall, ToolSpec
from tests.journal.recording import SESSION

KNOWN = 'p4ss "quoted" wörd/+'
SECRETS = {
    "openai": "sk-proj-Ab12Cd34Ef56Gh78Ij90",
    "short openai": "sk-test-4711",
    "github": "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
    "aws": "AKIAIOSFODNN7EXAMPLE",
    "google": "AIzaSyA1234567890abcdefghijklmnopqrstuv",
    "hugging face": "hf_AbCdEfGhIjKlMnOpQrStUvWx12",
    "jwt": "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N",
    "known": KNOWN,
}
SENTENCES = {
    "Authorization: Bearer abc.def-123": "abc.def-123",
    '{"authorization": "Basic dXNlcjpwYXNz"}': "dXNlcjpwYXNz",
    "bearer 0123456789abcdef": "0123456789abcdef",
    "postgresql://user:p@ss/w0rd@host/db"[:28] + "@host/db": "p@ss",
    "redis://:hunter22@cache:6379/0": "hunter22",
    "https://api.host/v1?api_key=abcdef123&q=1": "abcdef123",
    "OPENAI_API_KEY=qwertyuiop": "qwertyuiop",
    "export AWS_SECRET_ACCESS_KEY='wJalrXUtnFEMI/K7MDENG'": "wJalrXUtnFEMI/K7MDENG",
    '{"api_key": "verysecret"}': "verysecret",
    '"{\\"apiKey\\": \\"verysecret\\"}"': "verysecret",
    '{"client_secret":"verysecret","x":1}': "verysecret",
    "refresh_token: abcd1234efgh": "abcd1234efgh",
    "PASSWORD=hunter22": "hunter22",
    "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBg\n-----END PRIVATE KEY-----": "MIIEvQIBADANBg",
}
HARMLESS = (
    "Bearer authentication is described in RFC 6750.",
    "The key: a tokenizer counts tokens; the secret is to password-protect nothing.",
    "api_key=os.environ['OPENAI_API_KEY'], password=getpass(), token: str",
    "scikit-learn and sk-learn; task-based-12345678; risk-free-2024-09-30",
    "https://host:8080/path@2x.png and mailto:me@host",
    "monkey: banana; turkey=Ankara1",
)


@pytest.mark.parametrize("secret", SECRETS.values(), ids=SECRETS.keys())
def test_a_secret_is_cut_out_wherever_it_stands(secret: str) -> None:
    """At the beginning, in a sentence, in JSON, behind an escaped line break, in JSON inside JSON."""
    redactor = Redactor([KNOWN])
    for text in (secret, f"the key {secret}, please", f"'{secret}'", f"a\n{secret}\nb"):
        for wrapped in (text, json.dumps({"x": text}), json.dumps([json.dumps(text)])):
            found = redactor(wrapped)
            assert secret not in found
            assert json.dumps(secret)[1:-1] not in found
            assert MASK in found
            assert redactor(found) == found


@pytest.mark.parametrize(("text", "secret"), SENTENCES.items())
def test_a_named_secret_is_cut_out(text: str, secret: str) -> None:
    """What stands after the name of a secret is one, whatever it looks like."""
    assert secret not in redact(text)
    assert redact(redact(text)) == redact(text)


@pytest.mark.parametrize("text", HARMLESS)
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    """Documents about keys and tokens are not damaged: their quotes must stand verbatim."""
    assert redact(text) == text


def test_a_placeholder_is_no_secret() -> None:
    """A local server's key "none" does not black out every text with that word."""
    assert Redactor(["none", "EMPTY", ""])("none of it is EMPTY") == "none of it is EMPTY"


@given(st.text(), st.text())
def test_redaction_never_fails_and_settles(before: str, after: str) -> None:
    """Any text can be redacted, and twice is the same as once."""
    secret = "sk-proj-Ab12Cd34Ef56Gh78Ij90"
    once = redact(f"{before} {secret} {after}")
    assert secret not in once
    assert redact(once) == once


@pytest.mark.anyio
async def test_no_secret_reaches_the_store(tmp_path: Path) -> None:
    """Fed in everywhere: question, settings, messages, calls, tools, replies, data and its keys."""
    store = tmp_path / "store.db"
    for number, secret in enumerate(SECRETS.values()):
        told = f"It is {secret} indeed"
        long = f"{told}. " + "More words. " * 200
        async with Journal.open(store, secrets=[KNOWN]) as journal:
            name = f"{SESSION}-{number}"
            await journal.begin(SessionStart(id=name, question=long, created=1.0, config={"note": told}))
            call = ToolCall(secret, "search", json.dumps({"q": told}))
            tool = ToolSpec("search", told, {"type": "object", "description": told})
            messages = (
                Message("user", long),
                Message("user", told),
                Message("assistant", reasoning=told, calls=(call,)),
            )
            moment = Moment(name, "a", 1, 1.0)
            await PromptTrail().record(journal.record, moment, Sent(messages, (tool,)))
            await journal.record(
                reply_event(moment, Reply(text=told, calls=(call,)), {"said": told, secret: 1})
            )
            data = {"deep": [{"x": [told, {"y": secret}]}]}
            await journal.record(
                Event(session=name, agent=told, turn=1, kind="note", at=1.0, data=data, texts={told: told})
            )
    everything = store.read_bytes()
    dump = "\n".join(sqlite3.connect(store).iterdump())
    async with Journal.open(store) as journal:
        for session in await journal.sessions():
            for event in await journal.events(session.id):
                dump += json.dumps(event.data, ensure_ascii=False)
                dump += "\n".join((await journal.texts(event.texts.values())).values())
            dump += await journal.text(session.question)
    for secret in SECRETS.values():
        assert secret.encode() not in everything
        assert secret not in dump


@pytest.fixture
def log_settings() -> Iterator[None]:
    """Logging as it was, whatever the test configures."""
    yield
    structlog.reset_defaults()


@pytest.mark.usefixtures("log_settings")
def test_no_secret_reaches_the_log(capsys: pytest.CaptureFixture[str]) -> None:
    """Neither in a value, nor under its name, nor in a traceback."""
    for as_json in (True, False):
        configure("info", as_json=as_json, secrets=[KNOWN])
        log = get_logger()
        log.info(
            "model.called", header=f"Bearer {SECRETS['openai']}", api_key="abcdefgh", deep={"x": [KNOWN]}
        )
        try:
            raise ValueError(f"Incorrect API key provided: {SECRETS['openai']}")
        except ValueError:
            log.exception("model.failed")
    shown = capsys.readouterr().err
    assert "model.called" in shown
    assert "model.failed" in shown
    for secret in (SECRETS["openai"], "abcdefgh", KNOWN, json.dumps(KNOWN)[1:-1]):
        assert secret not in shown
