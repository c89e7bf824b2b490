"""Vectors that are made beside the work: batches, failures, and an endpoint's answers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import anyio
import pytest

from orchestra.config.load import load_settings
from orchestra.context.recall.dense import Vector
from orchestra.errors import ConfigError, ModelRefused, ModelUnreachable
from orchestra.load.behaviour import Behaviour, Faults
from orchestra.load.embeddings import DIMENSIONS, vector_of
from orchestra.load.simulated import simulated
from orchestra.models.compatible.embeddings import EndpointEmbeddings
from orchestra.models.compatible.transport import Answer, Place
from orchestra.models.configured import configured_meaning
from orchestra.models.governor.governor import Governor
from orchestra.models.meaning import BATCH, PAUSE_SECONDS, Meaning, at_work

pytestmark = pytest.mark.anyio


class Made:
    """A source that waits for a word, counts its batches and fails when told to."""

    name = "made"

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.go = anyio.Event()
        self.fails = False

    async def vectors(self, texts: Sequence[str]) -> Sequence[Vector]:
        self.batches.append(list(texts))
        await self.go.wait()
        if self.fails:
            raise ModelUnreachable("It is away.", endpoint="e", model="m")
        return [[float(len(text)), 1.0] for text in texts]


async def test_what_many_want_goes_out_in_batches_and_once() -> None:
    """A text is asked for once, however many want it, and no batch is longer than it may be."""
    source = Made()
    source.go.set()
    async with at_work(Meaning(source, 1.0)) as meaning:
        assert meaning is not None
        texts = [f"text {n}" for n in range(3 * BATCH)]
        meaning.want(texts)
        meaning.want(texts[:10])
        for text in texts:
            assert await meaning.within(text, 5.0) == pytest.approx([len(text), 1.0])
        meaning.want(texts)
    asked = [text for batch in source.batches for text in batch]
    assert sorted(asked) == sorted(texts)
    assert max(map(len, source.batches)) == BATCH


async def test_nobody_waits_longer_than_they_said() -> None:
    """A vector that is late is none; it is there for who asks later."""
    source = Made()
    async with at_work(Meaning(source, 1.0)) as meaning:
        assert meaning is not None
        meaning.want(["slow"])
        assert await meaning.within("slow", 0.0) is None
        assert await meaning.within("never wanted", 5.0) is None
        source.go.set()
        assert await meaning.within("slow", 5.0) is not None


async def test_the_input_goes_before_a_long_talk() -> None:
    """What is wanted first is in the first batch."""
    source = Made()
    async with at_work(Meaning(source, 1.0)) as meaning:
        assert meaning is not None
        meaning.want(f"turn {n}" for n in range(BATCH * 3))
        meaning.want(["the question"], first=True)
        source.go.set()
        assert await meaning.within("the question", 5.0) is not None
    assert source.batches[0][0] == "the question"


async def test_a_source_that_fails_is_left_alone_for_a_while() -> None:
    """Nobody waits for it, the reason is told, and after the pause it is asked again."""
    source, now = Made(), [0.0]
    source.go.set()
    source.fails = True
    async with at_work(Meaning(source, 1.0, clock=lambda: now[0])) as meaning:
        assert meaning is not None
        meaning.want(["a"])
        assert await meaning.within("a", 5.0) is None
        assert meaning.problem == "It is away."
        meaning.want(["b"])
        assert await meaning.within("b", 5.0) is None
        assert len(source.batches) == 1
        now[0], source.fails = PAUSE_SECONDS + 1, False
        assert meaning.problem == ""
        meaning.want(["b"])
        assert await meaning.within("b", 5.0) is not None


CONFIG = """
[endpoints.here]
url = "{url}"
tries = 1
[tiers.small]
endpoint = "here"
model = "m"
[recall]
embedding = "here/small/embedder"
"""


async def test_an_endpoints_vectors_come_through_the_configuration(tmp_path: Path) -> None:
    """`ENDPOINT/MODEL` is asked at /v1/embeddings, and gives what the simulated endpoint makes of a text."""
    async with simulated() as endpoint:
        (tmp_path / "orchestra.toml").write_text(CONFIG.format(url=endpoint.url))
        settings = load_settings(environ={}, folder=tmp_path).settings
        async with configured_meaning(settings, {}) as meaning:
            assert meaning is not None
            assert meaning.name == "here/small/embedder"
            meaning.want(["a red kite", "一只红风筝"])
            for text in ("a red kite", "一只红风筝"):
                found = await meaning.within(text, 10.0)
                assert found == pytest.approx(vector_of(text), abs=1e-6)
                assert len(vector_of(text)) == DIMENSIONS
    assert endpoint.served.embedded == 1
    assert endpoint.served.requests == 0


async def test_an_endpoint_that_is_down_is_a_problem_and_no_error(tmp_path: Path) -> None:
    """Whoever wants vectors gets none, and the reason in a sentence."""
    async with simulated(Behaviour(faults=Faults(error_503=1.0))) as endpoint:
        (tmp_path / "orchestra.toml").write_text(CONFIG.format(url=endpoint.url))
        settings = load_settings(environ={}, folder=tmp_path).settings
        async with configured_meaning(settings, {}) as meaning:
            assert meaning is not None
            meaning.want(["a"])
            assert await meaning.within("a", 10.0) is None
            assert "here" in meaning.problem
            assert "503" in meaning.problem


class Answering:
    """A transport that gives one body."""

    def __init__(self, body: bytes) -> None:
        self._body = body

    async def post(self, place: Place, path: str, body: bytes) -> Answer:
        return Answer(200, {}, self._body)


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b"<html>", "cannot|can be read"),
        (b'{"data":[{"index":0,"embedding":[1,2]}]}', "1 vectors .* for 2 texts"),
        (b'{"data":[{"embedding":[1]},{"embedding":[1,2]}]}', "2 vectors of \\[1, 2\\]"),
        (b'{"data":[{"embedding":[]},{"embedding":[]}]}', "for 2 texts"),
    ],
)
async def test_what_is_no_set_of_vectors_is_refused(body: bytes, told: str) -> None:
    """An answer that cannot be read, is short, or is of several sizes is an error that says so."""
    source = EndpointEmbeddings(Place("e", "m"), Answering(body), Governor("e"))  # type: ignore[arg-type]
    with pytest.raises(ModelRefused, match=told):
        await source.vectors(["a", "b"])


async def test_rows_out_of_order_are_put_in_order() -> None:
    """An endpoint may answer in any order; the index says which text a vector is of."""
    body = b'{"data":[{"index":1,"embedding":[2.0]},{"index":0,"embedding":[1.0]}]}'
    source = EndpointEmbeddings(Place("e", "m"), Answering(body), Governor("e"))  # type: ignore[arg-type]
    assert await source.vectors(["a", "b"]) == [[1.0], [2.0]]


@pytest.mark.parametrize(
    ("word", "told"),
    [
        ("autoo", 'Did you mean "auto"'),
        ("hare/x", 'Did you mean "here"'),
        ("here/", "no model is named"),
    ],
)
async def test_a_wrong_word_is_refused_with_its_line(tmp_path: Path, word: str, told: str) -> None:
    """An unknown model or endpoint is named where it was written."""
    config = CONFIG.format(url="http://localhost:1").replace("here/small/embedder", word)
    (tmp_path / "orchestra.toml").write_text(config)
    with pytest.raises(ConfigError, match=told) as caught:
        load_settings(environ={}, folder=tmp_path)
    assert caught.value.line == config.splitlines().index(f'embedding = "{word}"') + 1


async def test_without_a_model_there_is_none(tmp_path: Path) -> None:
    """`none` makes no vectors, whatever is installed."""
    settings = load_settings({"recall.embedding": "none"}, environ={}, folder=tmp_path).settings
    async with configured_meaning(settings, {}) as meaning:
        assert meaning is None
