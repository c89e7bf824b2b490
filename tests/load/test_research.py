"""The research workflow over a simulated pair of endpoints, by the command line's own way."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestra import Runtime
from orchestra.config.load import load_settings
from orchestra.load.behaviour import Behaviour, Faults
from orchestra.load.research_script import Research
from orchestra.load.simulated import simulated

pytestmark = pytest.mark.anyio

TOML = """
[endpoints.one]
url = "{one}"
[endpoints.two]
url = "{two}"
[tiers.small]
endpoint = "one"
model = "s"
fallback = ["large"]
[tiers.large]
endpoint = "two"
model = "l"
"""


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "cats.md").write_text("# Cats\n\nCats sleep 13 hours a day. They like it.\n", encoding="utf-8")
    (folder / "dogs.md").write_text("# Dogs\n\nDogs walk 5 km a day. They need it.\n", encoding="utf-8")
    return folder


async def test_small_steps_and_a_large_report(tmp_path: Path, documents: Path) -> None:
    """At least 80 % of the calls go to the small endpoint, the final report to the large one."""
    playing = Behaviour(scripts=(Research(),))
    async with simulated(playing) as one, simulated(playing) as two:
        (tmp_path / "orchestra.toml").write_text(TOML.format(one=one.url, two=two.url), encoding="utf-8")
        settings = load_settings(environ={}, folder=tmp_path).settings
        async with Runtime(settings) as host:
            report = await host.research(
                "How long do cats sleep and how far do dogs walk?", documents=documents
            )
    assert report.supported_share == 1.0
    assert {reference.locator for reference in report.references} == {"cats.md", "dogs.md"}
    small, large = one.served, two.served
    assert (small.models, large.models) == ({"s": small.requests}, {"l": 1})
    assert small.requests >= 0.8 * (small.requests + large.requests)
    assert (report.usage["small"].calls, report.usage["large"].calls) == (small.replies, large.replies)
    assert report.usage["small"].input_tokens == small.input_tokens
    assert report.usage["large"].output_tokens == large.output_tokens


async def test_a_dead_small_endpoint_is_fallen_back_from(tmp_path: Path, documents: Path) -> None:
    """Where the small tier's endpoint drops everything, its fallback does the whole work."""
    playing = Behaviour(scripts=(Research(),))
    broken = Behaviour(faults=Faults(drop=1.0))
    async with simulated(broken) as one, simulated(playing) as two:
        (tmp_path / "orchestra.toml").write_text(TOML.format(one=one.url, two=two.url), encoding="utf-8")
        settings = load_settings(environ={}, folder=tmp_path).settings
        async with Runtime(settings) as host:
            report = await host.research("How long do cats sleep?", documents=documents)
    assert report.supported_share == 1.0
    assert one.served.replies == 0
    assert two.served.replies > 3
