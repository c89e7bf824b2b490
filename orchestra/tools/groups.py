"""What a role lists as its tools: names, `group:NAME` for a group of them, `*` for all there are."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from msgspec import Struct

from orchestra.errors import ConfigError
from orchestra.tools.own import OPTIONAL
from orchestra.tools.toolbox import Toolbox, nearest
from orchestra.values.roles import ALL_TOOLS, GROUP

Groups = Mapping[str, tuple[str, ...]]
_LISTS = 256  # roles' lists that are remembered


class Pool(Struct, frozen=True):
    """The tools that a role may use, and the names of those that it lists one by one."""

    tools: Toolbox
    named: tuple[str, ...] = ()


def pool_of(listed: tuple[str, ...] | None, toolbox: Toolbox, groups: Groups) -> Pool:
    """The part of a toolbox that a role may use. Raises ConfigError for a tool or group that is not there."""
    if listed is None:
        return Pool(toolbox)
    names, single = _named(listed)
    if single is names:
        return Pool(toolbox.narrowed(names), single)
    of_groups = [name for each in names if each.startswith(GROUP) for name in _group(each, groups)]
    rest = toolbox.names if ALL_TOOLS in names else ()
    toolbox.narrowed(of_groups)  # which says what a group names that is not there
    return Pool(toolbox.narrowed((*single, *of_groups, *rest)), single)


@lru_cache(_LISTS)
def _named(listed: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What is listed of tools, and those of it that stand for themselves: the very same where all do."""
    names = tuple(name for name in listed if name not in OPTIONAL)
    single = tuple(name for name in names if name != ALL_TOOLS and not name.startswith(GROUP))
    return names, names if single == names else single


def _group(listed: str, groups: Groups) -> tuple[str, ...]:
    name = listed.removeprefix(GROUP)
    found = groups.get(name)
    if found is None:
        raise ConfigError(f"no group of tools is called {name!r}; {nearest(name, groups)}", key=listed)
    return found
