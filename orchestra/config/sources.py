"""What file, environment and flags set, each value checked where it was written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from orchestra.config.file import ConfigFile
from orchestra.config.given import Given, Path, Place
from orchestra.config.nearest import hint, shown
from orchestra.config.schema import Field, Unfit, fields_of, fit
from orchestra.config.settings import Selection, Settings
from orchestra.errors import ConfigError

PREFIX = "ORCHESTRA_"
OTHER_VARIABLES = ("ORCHESTRA_CONFIG", "ORCHESTRA_API_KEY")


class Source(Struct, frozen=True, kw_only=True):
    """What one source sets. `tables`: the named tables it opens (`endpoints.local`), even empty ones."""

    givens: tuple[Given, ...] = ()
    tables: Mapping[Path, Place] = {}
    problems: tuple[ConfigError, ...] = ()
    warnings: tuple[str, ...] = ()


def from_file(file: ConfigFile) -> Source:
    """The settings of a file; whatever does not fit is a problem with its line."""
    found = [*_walk(file, _file_fields(), file.table, ())]
    tables = {path: place for path, place in found if isinstance(place, Place)}
    return Source(
        givens=tuple(each for _, each in found if isinstance(each, Given)),
        tables=tables,
        problems=tuple(each for _, each in found if isinstance(each, ConfigError)),
        warnings=tuple(_keys_in_file(found)),
    )


def _file_fields() -> dict[str, Field]:
    return fields_of(Settings) | {"models": fields_of(Selection)["models"]}


def _walk(
    file: ConfigFile, fields: Mapping[str, Field], table: Mapping[str, Any], path: Path
) -> Iterator[tuple[Path, Given | Place | ConfigError]]:
    for key, value in table.items():
        here = (*path, key)
        place = Place(file.label, file.lines.get(here))
        field = fields.get(key)
        if field is None:
            yield here, place.error(".".join(here), f"is not a setting.{hint(key, fields)}")
        elif field.table is None and field.tables is None:
            yield here, _checked(field, value, Given(here, value, place), file)
        elif not isinstance(value, Mapping):
            yield here, place.error(".".join(here), f"must be a table, not {shown(value)}.")
        elif field.table is not None:
            yield from _walk(file, fields_of(field.table), value, here)
        else:
            yield from _walk_named(file, field, value, here)


def _walk_named(
    file: ConfigFile, field: Field, tables: Mapping[str, Any], path: Path
) -> Iterator[tuple[Path, Given | Place | ConfigError]]:
    assert field.tables is not None
    for name, table in tables.items():
        here = (*path, name)
        place = Place(file.label, file.lines.get(here))
        if field.names and name not in field.names:
            yield here, place.error(".".join(here), f"is not one of them.{hint(name, field.names)}")
        elif not name.strip() or name == "extractive":
            yield here, place.error(".".join(here), f'the name "{name}" is not free; choose another.')
        elif not isinstance(table, Mapping):
            yield here, place.error(".".join(here), f"must be a table, not {shown(table)}.")
        else:
            yield here, place
            yield from _walk(file, fields_of(field.tables), table, here)


def _checked(field: Field, value: Any, given: Given, file: ConfigFile | None = None) -> Given | ConfigError:
    try:
        fitted = fit(field, value, text=file is None and isinstance(value, str))
    except Unfit as unfit:
        place = given.place
        if file is not None and unfit.item:
            place = Place(file.label, file.lines.get((*given.path, unfit.item), place.line))
        return place.error(given.key, str(unfit))
    return Given(given.path, fitted, given.place)


def _keys_in_file(found: list[tuple[Path, Any]]) -> Iterator[str]:
    for path, each in found:
        if isinstance(each, Given) and path[0] == "endpoints" and path[-1] == "key":
            where = each.place.describe()
            yield f"{where}: {each.key}: a key stands in the file; key_env keeps it out of it."


def scalar_paths() -> dict[Path, Field]:
    """Every setting that a variable or a flag can set: those without a name of the user's in their path."""
    paths: dict[Path, Field] = {(name,): field for name, field in fields_of(Selection).items()}
    for name, field in fields_of(Settings).items():
        if field.table is not None:
            paths |= {(name, inner): each for inner, each in fields_of(field.table).items()}
        elif field.tables is None:
            paths[(name,)] = field
    return paths


def variable_of(path: Path) -> str:
    return PREFIX + "_".join(path).upper()


def from_environment(environ: Mapping[str, str]) -> Source:
    """The ORCHESTRA_ variables; an empty one counts as not set, an unknown one is a warning."""
    variables = {variable_of(path): (path, field) for path, field in scalar_paths().items()}
    found: list[Given | ConfigError] = []
    warnings: list[str] = []
    for name, value in environ.items():
        if not name.startswith(PREFIX) or not value.strip() or name in OTHER_VARIABLES:
            continue
        if name not in variables:
            warnings.append(f"{name} is not a setting and was ignored.{hint(name, variables)}")
            continue
        path, field = variables[name]
        found.append(_checked(field, value, Given(path, value, Place(name=name))))
    return _source(found, warnings)


def from_flags(flags: Mapping[str, Any]) -> Source:
    """Settings by dotted name (`limits.tokens`), from a command line or a program; None means not given."""
    paths = {".".join(path): (path, field) for path, field in scalar_paths().items()}
    found: list[Given | ConfigError] = []
    for key, value in flags.items():
        place = Place(name="--" + key.rpartition(".")[2].replace("_", "-"))
        if key not in paths:
            found.append(place.error(key, f"is not a setting.{hint(key, paths)}"))
        elif value is not None:
            path, field = paths[key]
            found.append(_checked(field, value, Given(path, value, place)))
    return _source(found, [])


def _source(found: list[Given | ConfigError], warnings: list[str]) -> Source:
    return Source(
        givens=tuple(each for each in found if isinstance(each, Given)),
        problems=tuple(each for each in found if isinstance(each, ConfigError)),
        warnings=tuple(warnings),
    )
