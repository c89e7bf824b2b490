"""Which scenarios are meant: files, folders, or the suite that ships."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from orchestra.config.file import label_of
from orchestra.errors import InputError
from orchestra.eval.read import read_scenario
from orchestra.eval.scenario import Scenario

ENDINGS = (".yaml", ".yml")


def shipped_folder() -> Path:
    """The suite, inside the package."""
    return Path(__file__).with_name("scenarios")


def find_scenarios(places: Sequence[str | Path] = ()) -> tuple[Scenario, ...]:
    """The scenarios of files and folders, the shipped ones for none, in order.

    Raises InputError: no such file, a folder without scenarios, a mistake in a file, a name used twice.
    """
    here = Path.cwd()
    own = not places
    found: dict[str, Scenario] = {}
    for place in places or (shipped_folder(),):
        for path in _files(Path(place)):
            scenario = read_scenario(path, path.name if own else label_of(path, here))
            if scenario.name in found:
                other = found[scenario.name].file
                raise InputError(
                    f'name: "{scenario.name}" is also the name of the scenario in {other}.',
                    file=scenario.file,
                    key="name",
                )
            found[scenario.name] = scenario
    return tuple(found.values())


def _files(place: Path) -> list[Path]:
    if not place.exists():
        raise InputError("There is no such file or folder.", file=str(place))
    if not place.is_dir():
        return [place]
    files = sorted(_walk(place))
    if not files:
        raise InputError("There are no scenarios (*.yaml) in this folder.", file=str(place))
    return files


def _walk(folder: Path) -> Iterator[Path]:
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            if name.lower().endswith(ENDINGS) and not name.startswith("."):
                yield Path(parent, name)
