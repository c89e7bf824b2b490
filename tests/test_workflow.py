"""From a question to a checked report, with a scripted model."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from orchestra import Runtime
from orchestra.errors import AgentFailed, InputError, ModelRefused
from orchestra.models.scripted import Scripted
from orchestra.values.messages import Reply, Request
from orchestra.values.report import Report
from tests.team import (
    draft_of,
    findings_of,
    first_study,
    plan_of,
    scripted_team,
    seen,
    settings,
    stuck_at,
    task_of,
    team,
)

pytestmark = pytest.mark.anyio

CATS, DOGS = "How long do cats sleep?", "How far do dogs walk?"


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "cats.md").write_text("# Cats\n\nCats sleep 13 hours a day. They like it.\n", encoding="utf-8")
    (folder / "dogs.md").write_text("# Dogs\n\nDogs walk 5 km a day. They need it.\n", encoding="utf-8")
    return folder


def runtime(tmp_path: Path, model: Scripted, large: Scripted | None = None) -> Runtime:
    return Runtime(settings(tmp_path), models={"small": model, "large": large or model})


async def test_a_question_becomes_a_report_whose_every_sentence_is_quoted(
    tmp_path: Path, documents: Path
) -> None:
    """Plan, two researchers, one brief, a draft, and references numbered by code."""
    async with runtime(tmp_path, scripted_team(CATS, DOGS)) as host:
        report = await host.research("Cats and dogs?", documents=documents)
    sentences = report.sections[0].sentences
    assert [sentence.text for sentence in sentences] == [
        "Cats sleep 13 hours a day.",
        "Dogs walk 5 km a day.",
    ]
    assert all(sentence.supported for sentence in sentences)
    assert [(one.n, one.locator) for one in report.references] == [(1, "cats.md"), (2, "dogs.md")]
    text = (documents / "cats.md").read_text(encoding="utf-8")
    quote = report.references[0].quotes[0]
    assert text[quote.start : quote.end] == quote.text
    assert report.supported_share == 1.0
    assert report.partial == ""


async def test_steps_go_to_the_small_tier_and_the_report_to_the_large(
    tmp_path: Path, documents: Path
) -> None:
    """One call in six is the large model's, and the usage says so."""
    small, large = scripted_team(CATS, DOGS), scripted_team(CATS, DOGS)
    async with runtime(tmp_path, small, large) as host:
        report = await host.research("Cats and dogs?", documents=documents)
    assert (report.usage["small"].calls, report.usage["large"].calls) == (5, 1)
    assert report.usage["large"].cost == pytest.approx(0.001)
    assert len(large.requests) == 1


async def test_no_agent_sees_anothers_context(tmp_path: Path, documents: Path) -> None:
    """A researcher's prompts hold nothing of its sibling's, and the writer's holds only the brief."""
    model = scripted_team(CATS, DOGS)
    async with runtime(tmp_path, model) as host:
        await host.research("Cats and dogs?", documents=documents)
    by_output: dict[str, list[Request]] = {}
    for request in model.requests:
        assert request.output is not None
        by_output.setdefault(request.output.name, []).append(request)
    for request in by_output["Findings"]:
        own, other = (CATS, DOGS) if task_of(request) == CATS else (DOGS, CATS)
        assert own in seen(request)
        assert other not in seen(request)
    (writer,) = by_output["Draft"]
    assert writer.tools == ()
    assert [message.role for message in writer.messages] == ["system", "user"]
    assert "They like it" not in seen(writer), "passages stay with the researcher; quotes alone go on"


async def test_a_researcher_that_fails_becomes_a_gap(tmp_path: Path, documents: Path) -> None:
    """The other's findings are the report, and the failure is named in it."""
    whole = team(CATS, DOGS)

    def one_fails(request: Request) -> object:
        if request.output is not None and request.output.name == "Findings" and task_of(request) == DOGS:
            return ModelRefused("local refused the model (404)", endpoint="local", status=404)
        return whole(request)

    async with runtime(tmp_path, Scripted(one_fails)) as host:
        report = await host.research("Cats and dogs?", documents=documents)
    assert [one.locator for one in report.references] == ["cats.md"]
    assert any(DOGS in gap and "404" in gap for gap in report.gaps)


async def test_when_nobody_can_work_the_run_fails_with_the_reason(tmp_path: Path, documents: Path) -> None:
    """A wrong key is one error, not a report of nothing."""
    refusing = Scripted(lambda _: ModelRefused("local says 401: the key is wrong", status=401))
    with pytest.raises(AgentFailed, match="401: the key is wrong"):
        async with runtime(tmp_path, refusing) as host:
            await host.research("Cats and dogs?", documents=documents)


async def test_a_plan_that_fails_leaves_the_question_whole(tmp_path: Path, documents: Path) -> None:
    """The question itself is then the only sub-question, and a note says why."""
    whole = team()

    def no_plan(request: Request) -> object:
        if request.output is not None and request.output.name == "Plan":
            return ModelRefused("no plan today", status=400)
        return whole(request)

    async with runtime(tmp_path, Scripted(no_plan)) as host:
        report = await host.research("How long do cats sleep?", documents=documents)
    assert report.references
    assert any("no plan today" in note for note in report.notes)


async def test_a_writer_that_fails_leaves_the_claims_as_a_partial_report(
    tmp_path: Path, documents: Path
) -> None:
    """What was found is not lost with the writer."""
    whole = team(CATS, DOGS)

    def no_writer(request: Request) -> object:
        if request.output is not None and request.output.name == "Draft":
            return ModelRefused("the large model is gone", status=404)
        return whole(request)

    async with runtime(tmp_path, Scripted(no_writer)) as host:
        report = await host.research("Cats and dogs?", documents=documents)
    assert "the large model is gone" in report.partial
    assert {one.locator for one in report.references} == {"cats.md", "dogs.md"}


async def test_a_stop_in_the_middle_leaves_what_was_found(tmp_path: Path, documents: Path) -> None:
    """Stopping ends the researcher that still works; the report names it and what the other found."""
    from orchestra.workflow import research_then_write

    studied = anyio.Event()
    reports: list[Report] = []
    async with (
        runtime(tmp_path, Scripted(stuck_at(DOGS, CATS, DOGS))) as host,
        host.session("Cats and dogs?", documents=documents, watch=first_study(studied)) as session,
        anyio.create_task_group() as group,
    ):

        async def work() -> None:
            reports.append(await research_then_write(session, "Cats and dogs?"))

        group.start_soon(work)
        await studied.wait()
        session.stop("interrupted")
    (report,) = reports
    assert report.partial == "interrupted"
    assert [one.locator for one in report.references] == ["cats.md"]
    assert any(DOGS in gap for gap in report.gaps)


async def test_a_reviewer_sends_the_draft_back_once(tmp_path: Path, documents: Path) -> None:
    """Remarks reach the writer with its own draft; the second draft is the report."""
    drafts: list[Request] = []

    def reviewed(request: Request) -> object:
        assert request.output is not None
        match request.output.name:
            case "Plan":
                return plan_of(CATS)
            case "Findings" if not any(message.role == "tool" for message in request.messages):
                return team(CATS)(request)
            case "Findings":
                return findings_of(request)
            case "Review":
                return '{"remarks": [{"sentence": "", "problem": "say more about cats"}]}'
        drafts.append(request)
        return draft_of(request)

    async with runtime(tmp_path, Scripted(reviewed)) as host:
        await host.research("Cats?", documents=documents, review=True)
    assert len(drafts) == 2
    assert "say more about cats" in seen(drafts[1])


@pytest.mark.parametrize("question", ["", "   \n", "?!"])
async def test_a_question_without_a_word_is_refused(tmp_path: Path, documents: Path, question: str) -> None:
    """Before anything is read or sent."""
    async with runtime(tmp_path, Scripted([])) as host:
        with pytest.raises(InputError, match="The question is empty"):
            await host.research(question, documents=documents)


async def test_nothing_found_is_said_and_nobody_writes(tmp_path: Path, documents: Path) -> None:
    """Without a claim there is no writer's call, and the report names what is missing."""
    model = Scripted(
        lambda request: (
            plan_of("What do whales eat?")
            if request.output is not None and request.output.name == "Plan"
            else Reply(value=findings_of(request))
        )
    )
    async with runtime(tmp_path, model) as host:
        report = await host.research("What do whales eat?", documents=documents)
    assert report.references == ()
    assert report.gaps
    assert len(model.requests) == 2
