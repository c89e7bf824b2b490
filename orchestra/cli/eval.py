"""`orchestra eval context`: talks with known facts, played under a policy, or under two."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from orchestra.cli.loop import run_loop
from orchestra.cli.main import FAILED
from orchestra.cli.printing import columns, cut, line, number, say, say_json, table
from orchestra.errors import InputError

if TYPE_CHECKING:
    from orchestra.config.settings import Resolved
    from orchestra.eval.policies import Chosen
    from orchestra.eval.run import Live, Played
    from orchestra.eval.scenario import Scenario

_MOST_PROBLEMS = 40
_LONGEST_NAME = 30


@click.group(name="eval")
def evaluate() -> None:
    """Find out what a context policy is good for."""


@evaluate.command()
@click.argument("files", nargs=-1, metavar="[FILES]", type=click.Path(path_type=Path))
@click.option(
    "--policy",
    default="chat",
    show_default=True,
    metavar="NAME",
    help="A preset; a preset without mechanisms (chat-pins); naive; an orchestra.toml; a role file.",
)
@click.option("--against", metavar="NAME", help="A second policy to compare with, such as naive.")
@click.option("--live", is_flag=True, help="Let the configured model answer in place of the script.")
@click.option("--tier", default="small", show_default=True, metavar="TIER", help="Which one, with --live.")
@click.option("--only", multiple=True, metavar="NAME", help="Play this scenario only; may be repeated.")
@click.option("--config", metavar="FILE", help="The orchestra.toml to read.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def context(files: tuple[Path, ...], policy: str, against: str | None, **options: Any) -> int:
    """Play scenarios and check what stands in the prompts.

    FILES are scenario files or folders of them; without any the suite that ships is played. Nothing is
    asked over the network but with --live. docs/scenarios.md says how to write one.

    Exit codes: 0 all pass under the policy, 1 one fails, 2 a mistake in the call or in a file.
    """
    from orchestra.config.load import load_settings
    from orchestra.eval.find import find_scenarios
    from orchestra.eval.policies import choose

    live: bool = options["live"]
    scenarios = _chosen(find_scenarios(files), options["only"])
    resolved = load_settings(config=options["config"], for_models=live)
    contexts = resolved.settings.context
    policies = [choose(policy, contexts, "--policy")]
    if against is not None:
        policies.append(choose(against, contexts, "--against"))
        if policies[1].name == policies[0].name:
            raise InputError(f"--against: {against!r} is the policy itself.", key="--against")
    model = _live(resolved, options["tier"]) if live else None
    runs = [run_loop(_play, scenarios, each, model) for each in policies]
    return _report(runs, as_json=options["as_json"])


def _live(resolved: Resolved, tier: str) -> Live:
    from orchestra.eval.run import Live

    click.echo(resolved.choice, err=True)
    return Live(resolved.settings, tier)


def _chosen(scenarios: tuple[Scenario, ...], only: tuple[str, ...]) -> tuple[Scenario, ...]:
    from orchestra.config.nearest import hint

    names = [scenario.name for scenario in scenarios]
    for name in only:
        if name not in names:
            raise InputError(f'There is no scenario "{name}".{hint(name, names)}', key="--only")
    return tuple(scenario for scenario in scenarios if not only or scenario.name in only)


async def _play(scenarios: tuple[Scenario, ...], chosen: Chosen, live: Live | None) -> tuple[Played, ...]:
    """Play them, and say how far it is where a person waits for it."""
    from orchestra.eval.run import play_all

    waits = sys.stderr.isatty()
    done = 0

    def told(played: Played) -> None:
        nonlocal done
        done += 1
        if waits:
            text = line(f"{chosen.name}: {done} of {len(scenarios)}, {played.scenario.name}", columns() - 1)
            end = "\r\x1b[K" if done == len(scenarios) else ""
            click.echo(f"\r\x1b[K{text}{end}", nl=False, err=True)

    return await play_all(scenarios, chosen, live=live, told=told)


def _report(runs: list[tuple[Played, ...]], *, as_json: bool) -> int:
    from orchestra.eval.table import Compared
    from orchestra.eval.table import as_json as to_json

    compared = Compared(*runs)
    if as_json:
        say_json(to_json(compared))
    else:
        _print(compared)
    return FAILED if any(not each.passed for each in compared.mine) else 0


def _print(compared: object) -> None:
    from orchestra.eval.table import HEAD, Compared, problems, rows, totals

    assert isinstance(compared, Compared)
    width = columns()
    body = rows(compared, lambda name: line(name, _LONGEST_NAME))
    printed = table(HEAD, [*body, *totals(compared)], left=2)
    for at, text in enumerate(printed):
        if at == 1 + len(body):
            say()
        say(cut(text, width) if sys.stdout.isatty() else text, bold=at == 0)
    _print_problems(problems(compared.mine), width)
    failed = sum(not each.passed for each in compared.mine)
    told = f"{number(failed, 'scenario')} of {len(compared.mine)} fail" if failed else "all pass"
    say()
    say(f"{told} under {compared.mine[0].policy}", fg="red" if failed else "green")
    if compared.other:
        others = sum(not each.passed for each in compared.other)
        say(f"{number(others, 'scenario')} of {len(compared.other)} fail under {compared.other[0].policy}")


def _print_problems(lines: list[str], width: int) -> None:
    if lines:
        say()
    for told in lines[:_MOST_PROBLEMS]:
        say(line(told, max(width, 100)), fg="yellow")
    if len(lines) > _MOST_PROBLEMS:
        say(f"and {len(lines) - _MOST_PROBLEMS} more; --json has them all")
