"""From files, variables and flags to the settings of a run."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct, structs

from orchestra.config.addresses import absolute, store_url
from orchestra.config.choice import Choice, Selected, apply, exposed_key
from orchestra.config.embedding import embedding_fault
from orchestra.config.file import ConfigFile, find_file, read_file
from orchestra.config.given import Given
from orchestra.config.given import Path as KeyPath
from orchestra.config.schema import fields_of
from orchestra.config.secret import Secret
from orchestra.config.settings import Resolved, Settings
from orchestra.config.sources import Source, from_environment, from_file, from_flags, scalar_paths
from orchestra.config.tables import Tables
from orchestra.errors import ConfigError


class Loaded(Struct, frozen=True, kw_only=True):
    """What came of loading: `resolved` is None where `problems` left no settings to use."""

    resolved: Resolved | None
    problems: tuple[ConfigError, ...]
    warnings: tuple[str, ...] = ()
    file: str | None = None


def load_settings(
    flags: Mapping[str, Any] | None = None,
    *,
    config: str | Path | None = None,
    environ: Mapping[str, str] | None = None,
    folder: str | Path | None = None,
    for_models: bool = True,
) -> Resolved:
    """The settings, in rising order from defaults, `orchestra.toml`, environment and `flags`.

    `flags`: settings by dotted name (`limits.tokens`, `store`), or `models`, `small`, `large`, `endpoint`;
    None means not given. `config`: the file to read instead of the one in `folder` or above it.
    `environ` and `folder` are the process's own where they are None. `for_models` False: a key that is
    missing is no error, for commands that ask no model. Raises ConfigError, the first of all problems.
    """
    loaded = examine_settings(flags, config=config, environ=environ, folder=folder, for_models=for_models)
    if loaded.problems:
        raise loaded.problems[0]
    assert loaded.resolved is not None
    return loaded.resolved


def examine_settings(
    flags: Mapping[str, Any] | None = None,
    *,
    config: str | Path | None = None,
    environ: Mapping[str, str] | None = None,
    folder: str | Path | None = None,
    for_models: bool = True,
) -> Loaded:
    """As `load_settings`, but every problem is returned and none raised."""
    environ = os.environ if environ is None else environ
    here = Path(os.path.abspath(folder if folder is not None else os.curdir))
    try:
        file = _file(config or environ.get("ORCHESTRA_CONFIG") or None, here)
    except ConfigError as error:
        return Loaded(resolved=None, problems=(error,), file=error.file)
    of_file = from_file(file) if file is not None else Source()
    sources = (of_file, from_environment(environ), from_flags(flags or {}))
    problems = [problem for source in sources for problem in source.problems]
    warnings = [warning for source in sources for warning in source.warnings]
    tables = Tables(of_file, environ, file.label if file is not None else None)
    try:
        choice = _chosen(tables, sources, environ)
        problems += tables.problems
        if for_models and not tables.problems:
            problems += tables.unusable(choice)
        problems += _embedding(sources, choice)
    except ConfigError as error:
        problems += [*tables.problems, error]
    if problems:
        return Loaded(resolved=None, problems=tuple(problems), warnings=tuple(warnings), file=_label(file))
    warnings += filter(None, (exposed_key(name, each) for name, each in choice.endpoints.items()))
    settings = _settings(sources, choice, tables, _Bases(file=file, here=here, given=config is not None))
    resolved = Resolved(
        settings=settings,
        choice=choice.sentence(),
        by_default=not choice.named and choice.built_in,
        warnings=tuple(warnings),
        file=_label(file),
    )
    return Loaded(resolved=resolved, problems=(), warnings=tuple(warnings), file=_label(file))


def _label(file: ConfigFile | None) -> str | None:
    return file.label if file is not None else None


def _file(config: str | Path | None, here: Path) -> ConfigFile | None:
    path = absolute(str(config), here) if config is not None else find_file(here)
    return read_file(path, here) if path is not None else None


def _chosen(tables: Tables, sources: tuple[Source, ...], environ: Mapping[str, str]) -> Choice:
    """The tiers of the file or the defaults, then the choice of each source."""
    choice = tables.start()
    word = environ.get("ORCHESTRA_API_KEY", "")
    key = Secret(word) if word.strip() else None
    for source in sources:
        words = {given.path[0]: given for given in source.givens if len(given.path) == 1}
        selected = Selected(**{name: words.get(name) for name in ("models", "small", "large", "endpoint")})
        choice = apply(choice, selected, key)
    return choice


def _embedding(sources: tuple[Source, ...], choice: Choice) -> list[ConfigError]:
    """What is wrong with the embedding model that is named last."""
    said = [given for source in sources for given in source.givens if given.path == ("recall", "embedding")]
    fault = embedding_fault(said[-1], choice.endpoints) if said else ""
    return [said[-1].error(fault)] if fault else []


class _Bases(Struct, frozen=True, kw_only=True):
    """What relative paths start from: the file's folder for what it says, else the current one."""

    file: ConfigFile | None
    here: Path
    given: bool

    def of(self, given: Given) -> Path:
        return self.file.path.parent if self.file is not None and given.place.file is not None else self.here

    @property
    def default(self) -> Path:
        """A file that was found marks the folder of the project; one that was named may lie anywhere."""
        return self.file.path.parent if self.file is not None and not self.given else self.here


def _settings(sources: tuple[Source, ...], choice: Choice, tables: Tables, bases: _Bases) -> Settings:
    highest: dict[KeyPath, Given] = {given.path: given for source in sources for given in source.givens}
    store, agents, reports = (highest.get((name,)) for name in ("store", "agents", "reports"))
    beside, hidden = bases.default / "agents", bases.default / ".orchestra"
    own = absolute(agents.value, bases.of(agents)) if agents else beside if beside.is_dir() else None
    values: dict[str, Any] = {
        "store": store_url(store.value, bases.of(store)) if store else store_url("store.db", hidden),
        "agents": str(own) if own is not None else None,
        "reports": str(absolute(reports.value, bases.of(reports)) if reports else hidden / "reports"),
    }
    defaults = fields_of(Settings)
    for name in {path[0] for path in scalar_paths() if len(path) == 2}:
        given = {path[1]: each.value for path, each in highest.items() if path[0] == name and len(path) == 2}
        values[name] = structs.replace(defaults[name].default, **given)
    return Settings(endpoints=choice.endpoints, tiers=choice.tiers, context=tables.contexts(), **values)
