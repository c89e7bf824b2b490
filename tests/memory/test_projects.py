"""A project's answered questions help with later ones like them, and with nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestra import Runtime, Scripted
from orchestra.context.doctor.diagnosis import diagnose
from orchestra.context.manifest import from_json
from orchestra.journal.prompts import read_prompt
from orchestra.journal.reading import read_journal
from orchestra.values.messages import Request
from tests.memory.remembering import kept, seen, stored
from tests.team import scripted_team

pytestmark = pytest.mark.anyio

TEXTS = {"tea.md": "# Tea\n\nGreen tea is steamed in Japan. Black tea is oxidised.\n"}


async def researched(folder: Path, question: str, **owner: str) -> list[Request]:
    """One research session; the requests of its models."""
    library = folder / "library"
    library.mkdir(exist_ok=True)
    for name, text in TEXTS.items():
        (library / name).write_text(text)
    model = scripted_team("How is green tea steamed?")
    async with Runtime(stored(folder), models={"small": model, "large": model}) as runtime:
        report = await runtime.research(question, documents=library, **owner)  # type: ignore[arg-type] # ids
    assert report.partial == ""
    return list(model.requests)


def by_output(requests: list[Request]) -> dict[str, str]:
    return {request.output.name: seen(request) for request in requests if request.output is not None}


async def test_a_question_like_an_earlier_one_gets_its_answer(tmp_path: Path) -> None:
    """The planner sees it, with its day, session and sources; who leans on sources does not."""
    await researched(tmp_path, "How is green tea steamed in Japan?", project="tea")
    (answer,) = await kept(tmp_path, project="tea")
    assert (answer.kind, answer.sources) == ("answer", ("tea.md",))
    prompts = by_output(await researched(tmp_path, "Where is green tea steamed?", project="tea"))
    assert "answered earlier in this project | " in prompts["Plan"]
    assert "Asked: How is green tea steamed in Japan? (" in prompts["Plan"]
    assert "Answer: Green tea is steamed in Japan." in prompts["Plan"]
    assert "Sources: tea.md" in prompts["Plan"]
    assert not any("answered earlier" in prompts[name] for name in ("Findings", "Draft"))


async def test_another_question_does_not(tmp_path: Path) -> None:
    """Nor another project, nor a session without one."""
    await researched(tmp_path, "How is green tea steamed in Japan?", project="tea")
    for question, owner in (
        ("Who sails the whaling ships of Norway?", {"project": "tea"}),
        ("Where is green tea steamed?", {"project": "coffee"}),
        ("Where is green tea steamed?", {}),
    ):
        requests = await researched(tmp_path, question, **owner)
        assert "answered earlier" not in "\n".join(map(seen, requests))


async def test_the_same_question_is_kept_once(tmp_path: Path) -> None:
    """The newer answer takes the older one's place."""
    for _ in range(2):
        await researched(tmp_path, "How is green tea steamed in Japan?", project="tea")
    first, second = await kept(tmp_path, project="tea")
    assert (first.by, second.until) == (second.number, None)


async def test_what_the_asker_said_of_himself_stays_his(tmp_path: Path) -> None:
    """The project keeps the question; his constraint and his budget it does not."""
    question = "How is green tea steamed in Japan? My budget is $77. Never mention Darjeeling."
    await researched(tmp_path, question, project="tea", user="ada")
    (answer,) = await kept(tmp_path, project="tea")
    assert answer.key == "How is green tea steamed in Japan?"
    requests = await researched(tmp_path, "Where is green tea steamed?", project="tea", user="bob")
    assert "answered earlier" in by_output(requests)["Plan"]
    assert not any("$77" in seen(each) or "Darjeeling" in seen(each) for each in requests)


async def test_the_built_in_model_answers_as_without(tmp_path: Path) -> None:
    """Memory in its prompts does not lead it astray."""
    from orchestra import Extractive

    reports = []
    for owner in ({}, {"project": "tea"}, {"project": "tea"}):
        library = tmp_path / "library"
        library.mkdir(exist_ok=True)
        (library / "tea.md").write_text(TEXTS["tea.md"])
        model = Extractive()
        async with Runtime(stored(tmp_path), models={"small": model, "large": model}) as runtime:
            question = "How is green tea made in Japan? I am allergic to peanuts."
            reports.append(await runtime.research(question, documents=library, **owner))  # type: ignore[arg-type] # ids
    assert reports[0].summary == reports[1].summary == reports[2].summary
    assert len(reports[2].references) == 1


async def test_manifest_and_doctor_know_it(tmp_path: Path) -> None:
    """A block of the memory zone with its reason; a healthy prompt stays healthy."""
    await researched(tmp_path, "How is green tea steamed in Japan?", project="tea")
    await researched(tmp_path, "Where is green tea steamed?", project="tea")
    async with read_journal(str(tmp_path / "store.db")) as reader:
        prompt = await read_prompt(reader, (await reader.find_session("last")).id, "planner.1")
    manifest = from_json(prompt.manifest)
    (entry,) = [entry for entry in manifest.entries if entry.zone == "memory"]
    assert entry.source == "answered earlier in this project"
    assert entry.why == "1 kept from earlier sessions: m1"
    assert diagnose(prompt.messages, prompt.tools, manifest) == ()


async def test_a_program_keeps_its_own_answers(tmp_path: Path) -> None:
    """A workflow of one's own says what was solved."""

    async def work(session: object, question: str) -> None:
        await session.memory.solved(question, "Forty-two.", ["a.md", "a.md"])  # type: ignore[attr-defined] # a Session

    async with Runtime(stored(tmp_path), models={"small": Scripted([])}) as runtime:
        await runtime.run(work, "What is six times seven?", project="sums")
    (answer,) = await kept(tmp_path, project="sums")
    assert (answer.key, answer.text, answer.sources) == ("What is six times seven?", "Forty-two.", ("a.md",))
