"""Playing scenarios: a runtime, a session for each user, an agent that is spoken to turn by turn."""

from __future__ import annotations

import os
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

from msgspec import Struct, structs

from orchestra.config.load import load_settings
from orchestra.config.settings import Settings
from orchestra.context.tokens import counter_for
from orchestra.errors import InputError
from orchestra.eval.checks import Problem, problems_of
from orchestra.eval.measures import Figures, figures_of
from orchestra.eval.policies import Chosen
from orchestra.eval.scenario import Scenario
from orchestra.eval.stage import Actor, Stage, StagedTool
from orchestra.models.configured import configured_models
from orchestra.models.port import Model
from orchestra.models.scripted import Scripted
from orchestra.runtime import Runtime
from orchestra.session.conversation import Conversation
from orchestra.tools.toolbox import Toolbox
from orchestra.values.roles import Role

OWN_STORE = ":memory:"


class Played(Struct, frozen=True, kw_only=True):
    """What came of one scenario under one policy."""

    scenario: Scenario
    policy: str
    figures: Figures
    problems: tuple[Problem, ...]

    @property
    def passed(self) -> bool:
        return not self.problems


class Live(Struct, frozen=True):
    """A model in the script's place: the tier that answers, of these settings."""

    settings: Settings
    tier: str


async def play_all(
    scenarios: Sequence[Scenario],
    chosen: Chosen,
    *,
    live: Live | None = None,
    told: Callable[[Played], None] = lambda played: None,
) -> tuple[Played, ...]:
    """Every scenario under a policy, one after another; `told` of each as soon as it is over.

    Without `live` nothing is asked but the scripts. Raises UserError for a policy or a tier that is none.
    """
    counter = counter_for("")
    stages = {f"scenario {at}": Stage(each, counter) for at, each in enumerate(scenarios, start=1)}
    played: list[Played] = []
    async with _models(stages, live) as models:
        roles = [_role(name, stage.scenario, chosen) for name, stage in stages.items()]
        settings = settings_for(chosen, live.settings if live is not None else None)
        async with Runtime(settings, models=models, roles=roles) as runtime:
            for name, stage in stages.items():
                played.append(await _play(runtime, name, stage, chosen))
                told(played[-1])
    return tuple(played)


def settings_for(chosen: Chosen, own: Settings | None = None) -> Settings:
    """Settings for a run that leaves nothing behind: the policy's figures, a store in memory."""
    if own is None:
        folder = tempfile.gettempdir()
        flags = {"models": "extractive", "store": OWN_STORE}
        own = load_settings(flags, config=os.devnull, environ={}, folder=folder).settings
    context = {chosen.preset: chosen.override} if chosen.figures else {}
    return structs.replace(own, store=OWN_STORE, agents=None, context=context)


@asynccontextmanager
async def _models(stages: Mapping[str, Stage], live: Live | None) -> AsyncIterator[dict[str, Model]]:
    """A tier for each scenario, so that each has its own window; and one that nobody asks."""
    if live is None:
        nobody = Scripted([], name="scripted")
        yield {**{name: Actor(stage) for name, stage in stages.items()}, "large": nobody}
        return
    count = counter_for("").count
    async with configured_models(live.settings, os.environ, count=count) as tiers:
        model = tiers.model_for(live.tier)
        yield {**{name: Actor(stage, model) for name, stage in stages.items()}, "large": model}


def _role(name: str, scenario: Scenario, chosen: Chosen) -> Role:
    tools = (*(spec.name for spec in scenario.tools), *scenario.own_tools)
    return Role(
        name=name,
        description=scenario.title,
        instructions=scenario.instructions,
        tools=tools,
        steps=name,
        final=name,
        context=chosen.preset,
    )


async def _said(talk: Conversation, text: str) -> str:
    """One turn; why it came to nothing, "" where it did not."""
    try:
        outcome = await talk.say(text)
    except InputError as error:  # it can never be said in this window
        return str(error)
    return outcome.reason if outcome.status == "failed" else ""


async def _play(runtime: Runtime, name: str, stage: Stage, chosen: Chosen) -> Played:
    scenario = stage.scenario
    toolbox = Toolbox(StagedTool(spec, stage) for spec in scenario.tools)
    failed: list[Problem] = []
    async with AsyncExitStack() as stack:
        talks = {}
        for by in scenario.users:
            first = next(turn.user for turn in scenario.turns if turn.by == by)
            session = await stack.enter_async_context(runtime.session(first, watch=stage.watch(by)))
            talks[by] = session.conversation(name, tools=toolbox)
        for number, turn in enumerate(scenario.turns, start=1):
            stage.begin(number, turn)
            reason = await _said(talks[turn.by], turn.user)
            if reason:
                failed.append(Problem(turn=number, what=reason, line=turn.line))
                break
    problems = tuple(failed) or tuple(problems_of(scenario, stage.exchanges))
    figures = figures_of(stage, success=not problems)
    return Played(scenario=scenario, policy=chosen.name, figures=figures, problems=problems)
