"""`orchestra check`: are the role files and the configuration right, and are they wise?"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from orchestra.errors import InputError, UserError

if TYPE_CHECKING:
    from orchestra.config.load import Loaded
    from orchestra.roles.finding import Finding
    from orchestra.roles.read import Reading
    from orchestra.values.messages import ToolSpec

# What a role may name without registering a tool: the documents' tools, and recall, which every agent has.
SHIPPED_TOOLS = ("search_documents", "read_document", "recall")
LINT, MISTAKE = 1, 2


@click.command()
@click.argument("folder", metavar="[DIR]", required=False)
@click.option(
    "--config", metavar="FILE", help="The orchestra.toml to check instead of the one found from here."
)
@click.option(
    "--tools", multiple=True, metavar="MODULE:NAME", help="Your own tools: a list of them, or a toolbox."
)
@click.option("--strict", is_flag=True, help="Lint findings end with exit code 1.")
def check(folder: str | None, config: str | None, tools: tuple[str, ...], strict: bool) -> int:
    """Check role files, tools and configuration.

    Checks the role files in DIR; without DIR your own (agents/, or as configured) and those that ship.
    Exit codes: 0 nothing wrong, 1 findings with --strict, 2 errors.
    """
    from orchestra.config.load import examine_settings

    loaded = examine_settings(config=config, for_models=False)
    checked = Checked(loaded, tools)
    checked.configuration(config)
    checked.roles(folder)
    for line in checked.lines():
        click.echo(line)
    click.echo(checked.summary())
    if checked.errors:
        return MISTAKE
    return LINT if strict and checked.findings else 0


class Checked:
    """What has been looked at, and what was found."""

    def __init__(self, loaded: Loaded, tools: tuple[str, ...]) -> None:
        self.errors: list[UserError] = [*loaded.problems]
        self.findings: list[Finding] = []
        self.warnings: list[str] = [*loaded.warnings]
        self.files = 0
        self._loaded = loaded
        self._specs = tuple(spec for name in tools for spec in tool_specs(name))

    def configuration(self, config: str | None) -> None:
        """What would keep a run from starting, as warnings: keys are seldom set where files are checked."""
        from orchestra.config.load import examine_settings

        if self._loaded.resolved is not None:
            missing = examine_settings(config=config).problems
            self.warnings += [str(problem) for problem in missing]

    def roles(self, folder: str | None) -> None:
        """Read and lint every role file of the folder, or of the user's folder and the shipped one."""
        from orchestra.roles.lint_tools import lint_tool
        from orchestra.roles.load import role_files, shipped_folder

        resolved = self._loaded.resolved
        own = resolved.settings.agents if resolved is not None else None
        both = dict.fromkeys(os.path.realpath(each) for each in (own, shipped_folder()) if each is not None)
        for each in both if folder is None else (folder,):
            try:
                files = role_files(each)
            except UserError as error:
                self.errors.append(error)
                continue
            if not files:
                self.errors.append(InputError("There are no role files (*.md) here.", file=each))
            self._folder(files)
        for spec in self._specs:
            self.findings += lint_tool(spec)

    def _folder(self, files: tuple[Path, ...]) -> None:
        from orchestra.config.file import label_of
        from orchestra.roles.load import twice
        from orchestra.roles.read import Known, read_role

        resolved = self._loaded.resolved
        groups = resolved.settings.tools.groups if resolved is not None else None
        known = Known(tools=(*SHIPPED_TOOLS, *(spec.name for spec in self._specs)), groups=groups)
        names: dict[str, str] = {}
        here = Path.cwd()
        for path in files:
            self.files += 1
            reading = read_role(path, known, label=label_of(path, here))
            self.errors += reading.problems
            self.findings += reading.notes
            if reading.role is None:
                continue
            if reading.role.name in names:
                self.errors.append(twice(reading.role, names[reading.role.name]))
            names[reading.role.name] = reading.role.file
            self._lint(reading)

    def _lint(self, reading: Reading) -> None:
        from orchestra.context.tokens import counter_for
        from orchestra.roles.finding import Finding
        from orchestra.roles.lint import lint_role
        from orchestra.roles.model_words import tier_of

        assert reading.role is not None
        role = reading.role
        self.findings += lint_role(role, counter_for("").count, reading.lines)
        if self._loaded.resolved is None:
            return
        tiers = self._loaded.resolved.settings.tiers
        models = {name: tier.model for name, tier in tiers.items()}
        for word in dict.fromkeys((role.steps, role.final)):
            if tier_of(word, models, "large") is None:
                sentence = f'no tier is called "{word}" or has this model; tiers: {", ".join(models)}.'
                self.findings.append(
                    Finding(sentence=sentence, key="model", file=role.file, line=reading.lines.get("model"))
                )

    def lines(self) -> Iterator[str]:
        """One line each: errors, findings, warnings."""
        yield from (str(error) for error in self.errors)
        yield from (f"{finding} [lint]" for finding in self.findings)
        yield from (f"{warning} [warning]" for warning in self.warnings)

    def summary(self) -> str:
        """The last line: what was looked at, and how many of each."""
        looked = [_many(self.files, "role file"), self._loaded.file or "no orchestra.toml"]
        if self._specs:
            looked.insert(1, _many(len(self._specs), "tool"))
        counts = (
            (len(self.errors), "error"),
            (len(self.findings), "finding"),
            (len(self.warnings), "warning"),
        )
        found = ", ".join(_many(count, what) for count, what in counts if count) or "nothing wrong"
        return f"checked {', '.join(looked)}: {found}"


def _many(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def tool_specs(place: str) -> tuple[ToolSpec, ...]:
    """The schemas of the tools at `module:name`, found from the current folder. Raises InputError."""
    import importlib

    module_name, colon, name = place.partition(":")
    if not colon or not module_name or not name:
        raise InputError(f'--tools: "{place}" is not of the form module:name.')
    sys.path.insert(0, os.getcwd())
    try:
        found = getattr(importlib.import_module(module_name), name)
    except (ImportError, AttributeError) as error:
        raise InputError(f'--tools: "{place}" cannot be loaded: {error}.') from error
    finally:
        sys.path.remove(os.getcwd())
    tools = (found,) if hasattr(found, "spec") else found
    try:
        return tuple(tool.spec for tool in tools)
    except (TypeError, AttributeError):
        raise InputError(f'--tools: "{place}" is neither a tool nor a list of tools.') from None
