"""Compute steeping times for tea.

The starting values follow common Western-style practice for 240 ml of water:
green tea is steeped for 150 seconds at 75 degrees Celsius, black tea is
steeped for 240 seconds at 98 degrees Celsius, and gyokuro is steeped for
120 seconds at 55 degrees Celsius.

Water that is cooler than the reference temperature extracts more slowly, so
the steeping time grows by 2 per cent for every degree that is missing. Each
further infusion of the same leaf is lengthened by 40 per cent.

Usage:  python steep_timer.py green --temperature 70 --infusion 2
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass


@dataclass(frozen=True)
class Tea:
    """Starting values for one class of tea."""

    name: str
    grams_per_240_ml: float
    celsius: int
    seconds: int


TEAS = {
    tea.name: tea
    for tea in (
        Tea("gyokuro", 5.0, 55, 120),
        Tea("green", 2.5, 75, 150),
        Tea("white", 3.0, 85, 270),
        Tea("yellow", 2.5, 80, 180),
        Tea("oolong", 3.0, 90, 180),
        Tea("black", 2.5, 98, 240),
        Tea("dark", 3.0, 100, 270),
    )
}

SLOWDOWN_PER_DEGREE = 0.02  # 2 per cent longer for every missing degree
GROWTH_PER_INFUSION = 1.4  # each further infusion is 40 per cent longer


def boiling_point(altitude_m: float) -> float:
    """Return the boiling point of water: about 1 degree lower per 300 m."""
    return 100.0 - altitude_m / 300.0


def steep_seconds(
    name: str,
    temperature: float | None = None,
    infusion: int = 1,
    altitude_m: float = 0.0,
) -> int:
    """Return the steeping time in seconds for one infusion of a tea."""
    if infusion < 1:
        raise ValueError("the first infusion is number 1")
    tea = TEAS[name]
    wanted = tea.celsius if temperature is None else temperature
    actual = min(wanted, boiling_point(altitude_m))
    missing = max(0.0, tea.celsius - actual)
    seconds = tea.seconds * (1 + SLOWDOWN_PER_DEGREE * missing)
    return round(seconds * GROWTH_PER_INFUSION ** (infusion - 1))


def leaf_grams(name: str, water_ml: float) -> float:
    """Return the weight of dry leaf for a volume of water."""
    return round(TEAS[name].grams_per_240_ml * water_ml / 240, 1)


def main() -> None:
    parser = argparse.ArgumentParser(description="Steeping times for tea")
    parser.add_argument("tea", choices=sorted(TEAS))
    parser.add_argument("--temperature", type=float)
    parser.add_argument("--infusion", type=int, default=1)
    parser.add_argument("--altitude", type=float, default=0.0)
    parser.add_argument("--water", type=float, default=240.0)
    args = parser.parse_args()
    seconds = steep_seconds(
        args.tea, args.temperature, args.infusion, args.altitude
    )
    minutes, rest = divmod(seconds, 60)
    grams = leaf_grams(args.tea, args.water)
    print(f"{grams} g of {args.tea} tea: steep for {minutes} min {rest} s")


if __name__ == "__main__":
    main()
