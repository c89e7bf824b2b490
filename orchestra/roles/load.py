"""All roles of a run: the user's own, then those that ship."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import orchestra
from orchestra.errors import RoleError
from orchestra.roles.read import ANYTHING, Known, load_role
from orchestra.values.roles import Role


def shipped_folder() -> Path:
    """Where the default roles are: inside an installed package, or at the top of a checkout."""
    package = Path(orchestra.__file__).resolve().parent
    inside = package / "agents"
    # Another package may be called `agents`, so the checkout is known by more than that name.
    checkout = package.parent / "agents"
    if not inside.is_dir() and (checkout / "planner.md").is_file():
        return checkout
    return inside


def load_roles(folder: str | Path | None = None, known: Known = ANYTHING) -> dict[str, Role]:
    """Every role by name; a role in `folder` replaces a default one of the same name. Raises RoleError."""
    own = load_folder(folder, known) if folder is not None else {}
    return {**load_folder(shipped_folder(), known), **own}


def load_folder(folder: str | Path, known: Known = ANYTHING) -> dict[str, Role]:
    """Every role of one folder by name. Raises RoleError: no such folder, a bad file, a name used twice."""
    roles: dict[str, Role] = {}
    for path in role_files(folder):
        role = load_role(path, known)
        if role.name in roles:
            raise twice(role, roles[role.name].file)
        roles[role.name] = role
    return roles


def twice(role: Role, other: str) -> RoleError:
    """The error for a name that two files of a folder have."""
    sentence = f'name: "{role.name}" is also the name of the role in {other}.'
    return RoleError(sentence, file=role.file, key="name")


def role_files(folder: str | Path) -> tuple[Path, ...]:
    """The Markdown files of a folder and its sub-folders in order, hidden ones and READMEs left out."""
    if not os.path.exists(folder):
        raise RoleError("There is no such folder.", file=str(folder))
    if not os.path.isdir(folder):
        raise RoleError("This is a file; name the folder it is in.", file=str(folder))
    return tuple(sorted(_walk(str(folder))))


def _walk(folder: str) -> Iterable[Path]:
    for parent, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in files:
            stem, ending = os.path.splitext(name)
            if ending.lower() == ".md" and not name.startswith(".") and stem.lower() != "readme":
                yield Path(parent, name)
