"""Which group of manifest entries a message is made of, also where a message came or went unrecorded."""

from __future__ import annotations

import math
from collections.abc import Sequence

Size = tuple[str, int]
"""A role or a tool's name, and tokens."""

UNKNOWN = "?"
"""Names a result whose call is not there: it may be of any tool."""

_GAP = 0.7
_FAR = 1e9


def aligned(mine: Sequence[Size], theirs: Sequence[Size]) -> list[tuple[int, int]]:
    """Pairs of positions: the cheapest way to match both lists in order.

    Needleman and Wunsch (1970): a pair costs the logarithm of how far its sizes are apart and must agree in
    its name; what has no partner costs as much as a size that is off by half.
    """
    if [name for name, _ in mine] == [name for name, _ in theirs]:
        return [(at, at) for at in range(len(mine))]
    width = len(theirs) + 1
    row = [column * _GAP for column in range(width)]
    moves: list[list[int]] = [[1] * width]
    for line, one in enumerate(mine, 1):
        above, row = row, [line * _GAP]
        steps = [2]
        for column, other in enumerate(theirs, 1):
            options = (above[column - 1] + _cost(one, other), row[-1] + _GAP, above[column] + _GAP)
            best = min(range(3), key=options.__getitem__)
            row.append(options[best])
            steps.append(best)
        moves.append(steps)
    return _way(moves, len(mine), len(theirs))


def _way(moves: list[list[int]], line: int, column: int) -> list[tuple[int, int]]:
    pairs: list[tuple[int, int]] = []
    while line and column:
        move = moves[line][column]
        if move == 0:
            line, column = line - 1, column - 1
            pairs.append((line, column))
        elif move == 1:
            column -= 1
        else:
            line -= 1
    return pairs[::-1]


def _cost(one: Size, other: Size) -> float:
    if one[0] != other[0] and (one[0] != UNKNOWN or other[0] in ("system", "user", "assistant")):
        return _FAR
    return abs(math.log((one[1] + 4) / (other[1] + 1)))
