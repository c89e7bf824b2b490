"""Every setting as Markdown tables: the middle part of `docs/configuration.md`, held to it by a test."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from msgspec import NODEFAULT, Struct

from orchestra.config.schema import Field, describe, fields_of
from orchestra.config.settings import Selection, Settings
from orchestra.config.sources import scalar_paths, variable_of

BEGIN = "<!-- settings: written by `python -m orchestra.config.reference`, do not edit by hand -->"
END = "<!-- end of settings -->"

_HEAD = "| key | takes | default | what it is |\n|---|---|---|---|"


def reference() -> str:
    """All tables, one for each table of the file, then the variables."""
    return "\n\n".join(_parts())


def _parts() -> Iterator[str]:
    fields = fields_of(Settings)
    plain = {name: field for name, field in fields.items() if field.table is None and field.tables is None}
    plain["models"] = fields_of(Selection)["models"]
    yield "### Top level\n\n" + _table(plain)
    for name, field in fields.items():
        if field.table is not None:
            yield _section(f"[{name}]", field.table)
        elif field.tables is not None:
            word = "PRESET" if name == "context" else "NAME"
            names = f"{word}: {', '.join(field.names)}.\n\n" if field.names else ""
            yield _section(f"[{name}.{word}]", field.tables, names)
    yield "### Environment\n\n" + _variables()


def _section(title: str, struct: type[Struct], names: str = "") -> str:
    about = (struct.__doc__ or "").strip().split("\n")[0]
    return f"### `{title}`\n\n{about}\n\n{names}{_table(fields_of(struct))}"


def _table(fields: dict[str, Field]) -> str:
    return "\n".join((_HEAD, *(_row(field) for field in fields.values())))


def _row(field: Field) -> str:
    takes = describe(field).replace("|", "\\|")
    names = f" (keys: {', '.join(field.names)})" if field.names else ""
    return f"| `{field.name}` | {takes}{names} | {_default(field)} | {field.about.text} |"


def _default(field: Field) -> str:
    if field.about.default:
        return field.about.default
    if field.default in (NODEFAULT, None) or field.default in ({}, ()):
        return "-"
    if isinstance(field.default, bool):
        return f"`{str(field.default).lower()}`"
    if isinstance(field.default, (int, float)):
        return f"`{field.default:_}`".replace(".0`", "`")
    return f"`{field.default}`"


def _variables() -> str:
    rows = (f"| `{variable_of(path)}` | {_meaning(path)} |" for path in scalar_paths())
    return "\n".join(("| variable | sets |\n|---|---|", *rows))


def _meaning(path: tuple[str, ...]) -> str:
    field = fields_of(Selection).get(path[0]) if len(path) == 1 else None
    return field.about.text if field is not None else f"`{'.'.join(path)}`"


def spliced(page: str) -> str:
    """The page with its middle part written anew."""
    head, _, rest = page.partition(BEGIN)
    _, _, tail = rest.partition(END)
    return f"{head}{BEGIN}\n\n{reference()}\n\n{END}{tail}"


if __name__ == "__main__":
    target = Path(sys.argv[1] if len(sys.argv) > 1 else "docs/configuration.md")
    target.write_text(spliced(target.read_text(encoding="utf-8")), encoding="utf-8")
