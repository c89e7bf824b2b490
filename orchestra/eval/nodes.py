"""YAML with the place of everything in it, and every mistake as a sentence with file, line and key."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

from orchestra.config.nearest import hint, shown
from orchestra.errors import InputError

_TAGS = frozenset(("tag:yaml.org,2002:map", "tag:yaml.org,2002:seq"))
_MOST_VALUES = 20_000
"""Of one value taken as it is; anchors can make a short file endless."""


def compose(text: str, label: str) -> Node:
    """The one document of a text. Raises InputError: no YAML, nothing in it, several documents."""
    import yaml

    try:
        found = list(yaml.compose_all(text, Loader=yaml.SafeLoader))
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark is not None else None
        raise InputError(f"This is not valid YAML: {error.problem}.", file=label, line=line) from None
    except yaml.YAMLError as error:
        raise InputError(f"This is not valid YAML: {getattr(error, 'reason', error)}.", file=label) from None
    except RecursionError:
        raise InputError("The file is nested too deeply to be read.", file=label) from None
    if not found or found[0] is None:
        raise InputError("The file is empty.", file=label, line=1)
    if len(found) > 1:
        line = found[1].start_mark.line + 1
        raise InputError(
            "A second document begins here; put it into a file of its own.", file=label, line=line
        )
    return Node(found[0], label, "")


class Node:
    """One value of a file; `key` is its path, such as turns[3].shows[1]."""

    def __init__(self, node: Any, file: str, key: str) -> None:
        self._node = node
        self._file = file
        self.key = key

    @property
    def line(self) -> int:
        return int(self._node.start_mark.line) + 1

    @property
    def kind(self) -> str:
        """scalar, sequence or mapping."""
        return str(self._node.id)

    def error(self, sentence: str) -> InputError:
        """`sentence` begins with the key and says what does not fit."""
        return InputError(
            f"{self.key or 'the file'}: {sentence}", file=self._file, line=self.line, key=self.key or None
        )

    def text(self, *, empty: bool = False) -> str:
        """The letters of a scalar as they stand there; `no` and `3200` are texts too."""
        if self.kind != "scalar":
            raise self.error("must be a text.")
        said = str(self._node.value)
        if self._node.tag.endswith(":null"):
            said = ""
        if not said.strip() and not empty:
            raise self.error("is empty.")
        return said

    def word(self, valid: Iterable[str], what: str) -> str:
        """A text that is one of these."""
        said = self.text()
        known = tuple(valid)
        if said not in known:
            raise self.error(f'there is no {what} "{said}".{hint(said, known)}')
        return said

    def whole(self, *, most: int = 1 << 40) -> int:
        """A whole number from 1."""
        said = self.text().replace(",", "").replace("_", "")
        if not (said.isascii() and said.isdigit() and len(said) <= 15 and 0 < int(said) <= most):
            raise self.error(f"must be a whole number from 1 to {most:,}, not {shown(self.text())}.")
        return int(said)

    def share(self) -> float:
        """A number from 0 to 1."""
        try:
            value = float(self.text())
        except ValueError:
            value = -1.0
        if not 0 <= value <= 1:
            raise self.error(f"must be a number from 0 to 1, not {shown(self.text())}.")
        return value

    def items(self) -> list[Node]:
        """The items of a list; a single value counts as a list of one."""
        if self.kind != "sequence":
            return [self]
        return [Node(item, self._file, f"{self.key}[{at}]") for at, item in enumerate(self._node.value, 1)]

    def pairs(self) -> Iterator[tuple[str, Node]]:
        """The keys of a mapping and their values. Raises InputError for a key that stands twice."""
        if self.kind != "mapping":
            raise self.error("must be lines of key: value.")
        seen: set[str] = set()
        for key, value in self._node.value:
            name = str(key.value) if key.id == "scalar" else "?"
            here = Node(value, self._file, f"{self.key}.{name}" if self.key else name)
            if name in seen:
                raise InputError(
                    f"{here.key}: stands twice.",
                    file=self._file,
                    line=key.start_mark.line + 1,
                    key=here.key,
                )
            seen.add(name)
            yield name, here

    def fields(self, valid: Iterable[str], *, needed: Iterable[str] = ()) -> dict[str, Node]:
        """The values by key. Raises InputError for a key that is not valid and for one that is missing."""
        known = tuple(valid)
        found: dict[str, Node] = {}
        for name, node in self.pairs():
            if name not in known:
                raise node.error(f"is not a key here.{hint(name, known)}")
            found[name] = node
        for name in needed:
            if name not in found:
                raise self.error(f'"{name}" is missing.')
        return found

    def value(self) -> Any:
        """What JSON makes of it. Raises InputError for what JSON does not know."""
        import yaml

        left = [_MOST_VALUES]
        try:
            return _plain(self._node, yaml.SafeLoader(""), left)
        except yaml.YAMLError as error:
            raise self.error(f"cannot be a JSON value: {getattr(error, 'problem', error)}.") from None
        except (ValueError, RecursionError) as error:
            raise self.error(f"cannot be a JSON value: {error}.") from None


def _plain(node: Any, loader: Any, left: list[int]) -> Any:
    left[0] -= 1
    if left[0] < 0:
        raise ValueError("it is too long")
    if node.id != "scalar" and node.tag not in _TAGS:
        raise ValueError(f"it has the tag {node.tag}")
    if node.id == "mapping":
        return {str(key.value): _plain(value, loader, left) for key, value in node.value}
    if node.id == "sequence":
        return [_plain(item, loader, left) for item in node.value]
    made = loader.construct_object(node)
    if isinstance(made, float) and not math.isfinite(made):
        return str(node.value)
    return made if made is None or isinstance(made, str | int | float | bool) else str(node.value)
