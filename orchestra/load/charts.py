"""Charts as SVG, written into the page they stand in."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from msgspec import Struct

_WIDTH, _HEIGHT = 560, 230
_LEFT, _RIGHT, _TOP, _BOTTOM = 58, 14, 16, 38
_TICKS = 5
_STEPS = (1, 2, 2.5, 5, 10)


class Line(Struct, frozen=True):
    """Points of one series; `colour` is a CSS class of the page."""

    name: str
    colour: str
    points: Sequence[tuple[float, float]]


class Axes(Struct, frozen=True):
    """What is drawn along each side. `marks`: vertical lines, at x with their name."""

    title: str
    across: str
    up: str
    marks: tuple[tuple[float, str], ...] = ()


def line_chart(axes: Axes, lines: Sequence[Line]) -> str:
    """Lines over a common ground that begins at zero."""
    points = [point for line in lines for point in line.points] or [(0.0, 0.0)]
    ground = _Ground(max(x for x, _ in points), max(y for _, y in points), axes)
    drawn = []
    for line in lines:
        path = " ".join(f"{ground.x(x):.1f},{ground.y(y):.1f}" for x, y in thinned(line.points))
        drawn.append(f'<polyline class="line {line.colour}" points="{path}"/>')
    return ground.svg("".join(drawn) + _legend(lines))


def histogram(axes: Axes, values: Sequence[float], bars: int = 40) -> str:
    """How many of the values lie in each of so many equal parts."""
    most = max(values, default=1.0) or 1.0
    counts = [0] * bars
    for value in values:
        counts[min(bars - 1, int(value / most * bars))] += 1
    ground = _Ground(most, max(counts), axes)
    width = (ground.x(most) - ground.x(0)) / bars
    drawn = [
        f'<rect class="bar" x="{ground.x(0) + at * width:.1f}" y="{ground.y(count):.1f}" '
        f'width="{max(width - 1, 0.5):.1f}" height="{max(ground.y(0) - ground.y(count), 0):.1f}"/>'
        for at, count in enumerate(counts)
        if count
    ]
    return ground.svg("".join(drawn))


def thinned(points: Sequence[tuple[float, float]], most: int = 600) -> list[tuple[float, float]]:
    """At most so many points, the highest of each stretch, so that no peak is lost."""
    step = max(1, math.ceil(len(points) / most))
    return [max(points[at : at + step], key=lambda point: point[1]) for at in range(0, len(points), step)]


class _Ground:
    """Scales, ticks and names of one chart."""

    def __init__(self, most_x: float, most_y: float, axes: Axes) -> None:
        self._axes = axes
        self._step_x, self._most_x = _scale(max(most_x, *(x for x, _ in axes.marks), 1e-9))
        self._step_y, self._most_y = _scale(max(most_y, 1e-9))

    def x(self, value: float) -> float:
        return _LEFT + value / self._most_x * (_WIDTH - _LEFT - _RIGHT)

    def y(self, value: float) -> float:
        return _HEIGHT - _BOTTOM - value / self._most_y * (_HEIGHT - _TOP - _BOTTOM)

    def svg(self, inside: str) -> str:
        axes = self._axes
        return (
            f"<figure><figcaption>{escape(axes.title)}</figcaption>"
            f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{escape(axes.title)}">'
            f"{self._grid()}{inside}{self._marks()}"
            f'<text class="axis" x="{(_LEFT + _WIDTH) / 2}" y="{_HEIGHT - 4}" text-anchor="middle">'
            f"{escape(axes.across)}</text>"
            f'<text class="axis" x="4" y="11">{escape(axes.up)}</text></svg></figure>'
        )

    def _grid(self) -> str:
        parts = []
        for at in range(round(self._most_y / self._step_y) + 1):
            y = self.y(at * self._step_y)
            parts.append(
                f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
            )
            label = _number(at * self._step_y)
            parts.append(
                f'<text class="tick" x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{label}</text>'
            )
        for at in range(round(self._most_x / self._step_x) + 1):
            x, label = self.x(at * self._step_x), _number(at * self._step_x)
            y = _HEIGHT - _BOTTOM + 15
            parts.append(f'<text class="tick" x="{x:.1f}" y="{y}" text-anchor="middle">{label}</text>')
        return "".join(parts)

    def _marks(self) -> str:
        parts = []
        for number, (value, name) in enumerate(self._axes.marks):
            x, y = self.x(value), _TOP + 10 + 13 * number
            side, shift = ("end", -4) if x > _WIDTH * 0.75 else ("start", 4)
            parts.append(
                f'<line class="mark" x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP}" y2="{_HEIGHT - _BOTTOM}"/>'
            )
            parts.append(
                f'<text class="name" x="{x + shift:.1f}" y="{y}" text-anchor="{side}">{escape(name)}</text>'
            )
        return "".join(parts)


def _legend(lines: Sequence[Line]) -> str:
    if len(lines) < 2:
        return ""
    parts, x = [], _LEFT + 8
    for line in lines:
        parts.append(f'<rect class="key {line.colour}" x="{x}" y="{_TOP - 9}" width="9" height="9"/>')
        parts.append(f'<text class="name" x="{x + 13}" y="{_TOP - 1}">{escape(line.name)}</text>')
        x += 30 + 7 * len(line.name)
    return "".join(parts)


def _scale(most: float) -> tuple[float, float]:
    """A round step and the round number of steps that hold `most`."""
    rough = most / _TICKS
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in _STEPS if factor * power >= rough * 0.999)
    return step, step * math.ceil(most / step - 1e-9)


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 or value == round(value) else f"{value:.3g}"
