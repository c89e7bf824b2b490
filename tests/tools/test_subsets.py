"""Many tools: a task gets a few, finds the others, and what it got is on record."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from orchestra import Runtime, Scripted
from orchestra.config.load import load_settings
from orchestra.config.settings import Settings
from orchestra.context.tokens import counter_for
from orchestra.errors import RoleError
from orchestra.tools.finding import NAME as FIND
from orchestra.tools.port import Effects, ToolOutput
from orchestra.values.messages import Request, ToolCall, ToolSpec
from orchestra.values.roles import Role
from tests.tools.subsetting import opened

pytestmark = pytest.mark.anyio

THINGS = """invoice customer order shipment warehouse contract employee holiday meeting ticket server
database backup certificate domain campaign newsletter survey recipe menu flight hotel train museum
concert playlist podcast photo video translation""".split()
VERBS = "create update delete list export archive share print approve comment".split()


class Plain:
    """A tool that says its own name."""

    effects: Effects = "read"
    seconds: float | None = None

    def __init__(self, verb: str, thing: str) -> None:
        parameter = {"type": "string", "description": f"Which {thing} it is, by its number in the books."}
        self.spec = ToolSpec(
            f"{verb}_{thing}",
            f"{verb.capitalize()} a {thing}. It takes the {thing}'s number and answers with its new state.",
            {"type": "object", "properties": {f"{thing}_number": parameter, "note": {"type": "string"}}},
        )

    async def call(self, arguments: Any) -> ToolOutput:
        return ToolOutput(text=f"{self.spec.name} done")


TOOLS = [Plain(verb, thing) for thing in THINGS for verb in VERBS]
NAMES = [tool.spec.name for tool in TOOLS]


def settings(tmp_path: Path, text: str = "") -> Settings:
    (tmp_path / "orchestra.toml").write_text(f'[tools]\nembedding = "none"\n{text}')
    return load_settings({}, environ={}, folder=tmp_path).settings


def clerk(**fields: Any) -> Role:
    given = {"name": "clerk", "description": "d", "instructions": "Work.", "context": "tools", **fields}
    return Role(**given)


def call(name: str, key: str = "k1", **arguments: str) -> ToolCall:
    return ToolCall(key, name, json.dumps(arguments))


def names_of(request: Request) -> list[str]:
    return [spec.name for spec in request.tools]


async def worked(tmp_path: Path, model: Scripted, task: str, role: Role | None = None, text: str = "") -> Any:
    """One agent's work on a task among all the tools."""
    role = role or clerk()
    host = Runtime(settings(tmp_path, text), models={"small": model}, roles=[role], tools=TOOLS)
    async with host, host.session("?x") as session:
        return await session.ask(role.name, task), session.id


async def test_three_hundred_tools_cost_what_a_dozen_do(tmp_path: Path) -> None:
    """The prompt has the tools that the task is about, find_tools, and a twentieth of the tokens."""
    model = Scripted(["done"])
    await worked(tmp_path, model, "Please approve the holiday of Mrs Ito and export the list of meetings.")
    offered = names_of(model.requests[0])
    assert {"approve_holiday", "export_meeting", "list_meeting", FIND} <= set(offered)
    assert len(offered) == 12 + 2  # and recall
    counter = counter_for("")
    whole = sum(counter.tool(tool.spec) for tool in TOOLS)
    assert sum(map(counter.tool, model.requests[0].tools)) < whole / 15


async def test_find_tools_reaches_every_tool(tmp_path: Path) -> None:
    """Asked for by its name, each of the 300 is there and runs; asked for in words, it is among the found."""
    async with opened(settings(tmp_path), TOOLS) as fresh:
        toolbox = await fresh.chosen("Approve the invoice.")
        for name in NAMES:
            await toolbox.run_all((call(FIND, need=name),))
            (result,) = await toolbox.run_all((call(name),))
            assert result.output.text == f"{name} done"
        assert {spec.name for spec in toolbox.specs} == {*NAMES, FIND}
    missed = []
    async with opened(settings(tmp_path), TOOLS) as fresh:
        for tool in TOOLS:
            toolbox = await fresh.chosen("Approve the invoice.")
            await toolbox.run_all((call(FIND, need=tool.spec.description[:40]),))
            if tool.spec.name not in {spec.name for spec in toolbox.specs}:
                missed.append(tool.spec.name)
    assert not missed


async def test_what_is_added_stands_behind_what_was_there(tmp_path: Path) -> None:
    """The list only grows at its end, so that what stands before it is the same in every request."""
    script: list[object] = [call(FIND, need="write a recipe"), call("create_recipe", "k2"), "done"]
    model = Scripted(script)
    handoff, _ = await worked(tmp_path, model, "Approve the invoice.")
    first, second, third = map(names_of, model.requests)
    assert "create_recipe" not in first
    assert second[: len(first)] == first
    assert third == second
    assert "create_recipe" in second[len(first) :]
    assert len(second) <= len(first) + 5
    assert handoff.value == "done"


async def test_a_tool_that_was_not_shown_may_be_called(tmp_path: Path) -> None:
    """A model that knows a name from elsewhere is served, and has the tool from then on."""
    model = Scripted([call("print_menu"), "done"])
    await worked(tmp_path, model, "Approve the invoice.")
    assert "print_menu" not in names_of(model.requests[0])
    assert "print_menu done" in next(m.text for m in model.requests[1].messages if m.role == "tool")
    assert names_of(model.requests[1])[-1] == "print_menu"


async def test_tools_that_are_named_are_there(tmp_path: Path) -> None:
    """By the task, by the role's instructions, or one by one in the role's list beside a star."""
    model = Scripted(["done"])
    role = clerk(instructions="File it with archive_photo.", tools=("share_survey", "*"))
    await worked(tmp_path, model, "Approve the invoice, then print_podcast.", role)
    offered = names_of(model.requests[0])
    assert {"archive_photo", "share_survey", "print_podcast", "approve_invoice"} <= set(offered)
    assert len(offered) == 12 + 2


async def test_find_tools_says_when_it_finds_nothing(tmp_path: Path) -> None:
    """And what there is; a call without words is a text for the model."""
    model = Scripted([(call(FIND, "a", need="xyzzy"), call(FIND, "b")), "done"])
    await worked(tmp_path, model, "Approve the invoice.")
    found, empty = (m.text for m in model.requests[1].messages if m.role == "tool")
    assert "No other tool matches 'xyzzy'. The others are about: " in found
    assert 'find_tools needs "need"' in empty
    assert names_of(model.requests[1]) == names_of(model.requests[0])


async def test_a_group_is_had_whole(tmp_path: Path) -> None:
    """A role lists it as group:NAME; nothing of it is left out, and there is nothing to find."""
    model = Scripted(["done"])
    role = clerk(tools=("group:travel", "list_invoice"))
    groups = '[tools.groups]\ntravel = ["create_flight", "create_hotel"]\n'
    await worked(tmp_path, model, "Approve the contract.", role, groups)
    assert names_of(model.requests[0]) == ["list_invoice", "create_flight", "create_hotel", "recall"]


@pytest.mark.parametrize(
    ("listed", "said"),
    [
        ("group:trawel", "no group of tools is called 'trawel'; nearest: travel"),
        ("group:bad", "create_fligt"),
    ],
)
async def test_a_wrong_group_is_one_sentence(tmp_path: Path, listed: str, said: str) -> None:
    """A group that is not there, and one that names a tool that is not there."""
    groups = '[tools.groups]\ntravel = ["create_flight"]\nbad = ["create_fligt"]\n'
    with pytest.raises(RoleError, match=said):
        await worked(tmp_path, Scripted(["done"]), "Go.", clerk(tools=(listed,)), groups)


async def test_similar_requests_get_what_was_used(tmp_path: Path) -> None:
    """Learnt from the store, whatever runtime wrote it: the words alone say nothing here."""
    task = "Please flibber the gronk for Mr {}."
    script: list[object] = [call(FIND, need="approve_certificate"), call("approve_certificate", "k2"), "done"]
    first = Scripted(script)
    await worked(tmp_path, first, task.format("Sato"))
    assert "approve_certificate" not in names_of(first.requests[0])
    second = Scripted(["done"])
    await worked(tmp_path, second, task.format("Ito"))
    assert "approve_certificate" in names_of(second.requests[0])
    third = Scripted(["done"])
    await worked(tmp_path, third, task.format("Mori"), text="learn = false\n")
    assert "approve_certificate" not in names_of(third.requests[0])


async def one_task(session: Any, question: str) -> str:
    """A workflow of one agent."""
    handoff = await session.ask("clerk", question)
    return str(handoff.value)


async def test_a_resumed_session_has_the_tools_it_had(tmp_path: Path) -> None:
    """The choice comes from its record, whatever has been learnt since."""
    question = "Please flibber the gronk."
    broken = Scripted([call(FIND, need="print_menu"), RuntimeError("power cut")])

    def runtime(model: Scripted) -> Runtime:
        return Runtime(settings(tmp_path), models={"small": model}, roles=[clerk()], tools=TOOLS)

    async with runtime(broken) as host:
        with pytest.raises(RuntimeError):
            await host.run(one_task, question)
        await host.kit.journal.flush()
        cut = (await host.kit.journal.sessions(1))[0].id
    learnt: Callable[[Request], object] = lambda request: (  # noqa: E731 - a script of two steps
        "done" if any(m.role == "tool" for m in request.messages) else call("approve_certificate")
    )
    async with runtime(Scripted(learnt)) as host:
        await host.run(one_task, question)
    goes_on = Scripted(["went on"])
    async with runtime(goes_on) as host:
        assert await host.resume(cut) == "went on"
    assert names_of(goes_on.requests[0]) == names_of(broken.requests[1])
    assert names_of(goes_on.requests[0])[-1] == "print_menu"
    fresh = Scripted(["done"])
    async with runtime(fresh) as host:
        await host.run(one_task, question)
    assert "approve_certificate" in names_of(fresh.requests[0])


async def test_a_later_choice_only_adds(tmp_path: Path) -> None:
    """What a conversation turns to comes in behind what it has; small talk brings nothing."""
    async with opened(settings(tmp_path), TOOLS) as toolbox:
        toolbox = await toolbox.chosen("Approve the invoice.")
        first = [spec.name for spec in toolbox.specs]
        assert await toolbox.chosen("Thank you very much!") is toolbox
        assert [spec.name for spec in toolbox.specs] == first
        await toolbox.chosen("Now make a playlist of the concert.")
        later = [spec.name for spec in toolbox.specs]
    assert later[: len(first)] == first
    assert 0 < len(later) - len(first) <= 3
    assert any("playlist" in name or "concert" in name for name in later[len(first) :])
