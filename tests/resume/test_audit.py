"""Secrets reach neither journal nor log nor report, wherever they come in."""

from __future__ import annotations

import io
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog
from msgspec import to_builtins

from orchestra import Runtime, Scripted, tool
from orchestra.config.load import load_settings
from orchestra.errors import ModelRefused, OrchestraError
from orchestra.evidence.render import render_report
from orchestra.journal.blobs import unpack
from orchestra.load.behaviour import Behaviour
from orchestra.load.simulated import simulated
from orchestra.log import configure, get_logger
from orchestra.models.configured import keys_of
from orchestra.values.messages import Reply, Request, ToolCall
from orchestra.values.roles import Role
from tests.pages import events_in
from tests.resume.cut import CATS, DOGS, host
from tests.team import search, task_of, team

pytestmark = pytest.mark.anyio
# Made for this test; none was ever valid.
OPENAI = "sk-proj-9aF3kL7wQz1XcV5bN8mT2rYp"
BEARER = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl"
PASSWORD = "tr0ub4dor-and-3"
PLAIN_KEY = "0123456789abcdef0123456789abcdef"  # looks like nothing; known because it is configured
HEADER = "fedcba98-7654-3210-fedc-ba9876543210"
SECRETS = (OPENAI, BEARER, PASSWORD, PLAIN_KEY, HEADER)
URL = f"https://clerk:{PASSWORD}@vault.example/keys"


def everything(store: Path) -> str:
    """All that is in a store, every column and every text."""
    with sqlite3.connect(store) as database:
        rows = [
            str(row) for table in ("sessions", "orders") for row in database.execute(f"SELECT * FROM {table}")
        ]
        texts = [unpack(codec, body) for codec, body in database.execute("SELECT codec, body FROM blobs")]
    rows += [str(event) for event in events_in(store)]
    return "\n".join(rows + texts) + store.read_bytes().decode("latin-1")


def holds(text: str) -> list[str]:
    return [secret for secret in SECRETS if secret in text]


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """All that is logged, down to debug."""
    stream = io.StringIO()
    configure("debug", as_json=True, secrets=(PLAIN_KEY, HEADER))
    structlog.configure(
        logger_factory=structlog.WriteLoggerFactory(file=stream), cache_logger_on_first_use=False
    )
    yield stream
    structlog.reset_defaults()


async def test_secrets_of_documents_questions_and_replies_stay_out(tmp_path: Path, log: io.StringIO) -> None:
    """A document, the question, a model's words and its calls; the report is whole but for them."""
    documents = tmp_path / "docs"
    documents.mkdir()
    (documents / "cats.md").write_text(
        f"# Cats\n\nThe key is {OPENAI}.\n\n"
        f"Cats sleep 13 hours a day, with api_key={PLAIN_KEY} on the fridge.\n",
        encoding="utf-8",
    )
    (documents / "dogs.md").write_text(
        f"# Dogs\n\nDogs walk 5 km a day. See {URL} for more.\n", encoding="utf-8"
    )
    whole = team(CATS, DOGS)

    def talkative(request: Request) -> object:
        assert request.output is not None
        said = whole(request)
        if isinstance(said, Reply) and said.calls:
            found = search(f"{task_of(request)} password={PASSWORD}")
            return Reply(calls=found.calls, text=f"I use Bearer {BEARER}", reasoning=URL, finish="calls")
        return said

    async with host(tmp_path, Scripted(talkative)) as runtime:
        report = await runtime.research(f"Cats and dogs? My token is {OPENAI}.", documents=documents)
        get_logger().info("test.said", url=URL, key=OPENAI)
    assert report.references
    assert holds(str(to_builtins(report))) == []
    assert all(holds(render_report(report, form)) == [] for form in ("md", "html", "json"))
    assert holds(everything(tmp_path / "store.db")) == []
    assert holds(log.getvalue()) == []
    masked = everything(tmp_path / "store.db")
    assert "api_key=[redacted] on the fridge" in masked
    assert "password=[redacted]" in masked


async def test_secrets_of_tools_and_errors_stay_out(tmp_path: Path, log: io.StringIO) -> None:
    """Arguments, results, refusals and an endpoint's own words; a tool still gets what it was given."""
    given: list[str] = []

    @tool
    async def open_vault(url: str) -> str:
        """Open a vault."""
        given.append(url)
        if len(given) > 1:
            raise ValueError(f"the vault at {url} says no to {OPENAI}")
        return f"inside: Authorization: Bearer {BEARER}, client_secret={PASSWORD}"

    call = ToolCall("k1", "open_vault", f'{{"url": "{URL}"}}')
    failure = ModelRefused(f"401: Incorrect API key provided: {OPENAI}", endpoint="local", status=401)
    role = Role(name="clerk", description="d", instructions="Work.", context="tools")
    opened = host(tmp_path, Scripted([call, call, failure]), roles=[role], tools=[open_vault])
    async with opened as runtime, runtime.session("?x") as session:
        handoff = await session.ask("clerk", f"Open {URL}")
        session.stop(f"{OPENAI} leaked", who="a test")
    assert given == [URL, URL]
    assert handoff.status == "failed"
    assert holds(handoff.reason) == []
    assert holds(everything(tmp_path / "store.db")) == []
    assert holds(log.getvalue()) == []


async def test_keys_of_endpoints_stay_out(
    tmp_path: Path, log: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A key in the environment, one in a header, and an endpoint that answers with the key it was sent."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "cats.md").write_text("# Cats\n\nCats sleep 13 hours a day.\n", encoding="utf-8")
    async with simulated(Behaviour(key="another")) as endpoint:
        (tmp_path / "orchestra.toml").write_text(
            f'[endpoints.local]\nurl = "{endpoint.url}"\nkey_env = "LOCAL_KEY"\n'
            f'headers = {{x-token = "{HEADER}"}}\n'
            '[tiers.small]\nendpoint = "local"\nmodel = "small"\n'
            '[tiers.large]\nendpoint = "local"\nmodel = "large"\n',
            encoding="utf-8",
        )
        monkeypatch.setenv("LOCAL_KEY", PLAIN_KEY)
        environ = {"LOCAL_KEY": PLAIN_KEY}
        own = load_settings({"store": str(tmp_path / "store.db")}, environ=environ, folder=tmp_path).settings
        assert set(keys_of(own, environ)) == {PLAIN_KEY, HEADER}
        with pytest.raises(OrchestraError) as failed:
            async with Runtime(own) as runtime:
                await runtime.research(f"Cats and {PLAIN_KEY}?", documents=tmp_path / "docs")
    assert holds(str(failed.value)) == []
    text = everything(tmp_path / "store.db")
    assert HEADER not in text
    assert holds(log.getvalue()) == []
