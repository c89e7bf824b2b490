"""Counts corrected by what endpoints report: a ratio with its spread, and an offset."""

from __future__ import annotations

from math import ceil, sqrt

# What is believed before anything was seen, as one standard deviation: another model's tokenizer differs by
# this much from ours (measured ratios of current tokenizers on prose and JSON lie between 0.8 and 1.5), and
# an endpoint adds a hidden prompt of about so many tokens (templates: tens; system prompts: hundreds).
_RATIO_DOUBT = 0.3
_OFFSET_DOUBT = 500.0
# A count is off by this share even when the ratio is known: texts differ.
_NOISE = 0.03
_NOISE_FLOOR = 8.0
# Each new observation ages the old ones so: a changed model is followed in about 50 calls.
_MEMORY = 0.98
_DEVIATIONS = 2.0
_RATIO_TRUST = 1.0 / _RATIO_DOUBT**2
_OFFSET_TRUST = 1.0 / _OFFSET_DOUBT**2
_BELIEF = (_RATIO_DOUBT / 3) ** 2
_FLOOR_WEIGHT = 1.0 / (_NOISE_FLOOR * _NOISE_FLOOR)
_LEAST_MARGIN = 0.02


class Calibration:
    """reported = offset + ratio × counted, for one model at one endpoint.

    A Bayesian linear regression with two unknowns. The beliefs above tell the two apart from the first
    call: a 100-token prompt reported as 2,100 is a hidden prompt, a 10,000-token one reported as 13,000 is
    another tokenizer. An offset is never below zero, and the ratio stays between 0.5 and 3.
    """

    __slots__ = ("_sums", "_wide", "offset", "ratio", "spread")

    def __init__(self) -> None:
        # Over observations, each weighted by 1 / variance: of x * x, x, 1, x * y and y (x is our count, y the
        # endpoint's); and of squared misses, with their weight.
        self._sums = (0.0,) * 7
        self.spread = _RATIO_DOUBT
        """How far corrected counts are off, as a share (one standard deviation of recent calls).

        Before the second observation it is what other tokenizers differ by.
        """
        self.ratio = 1.0
        """Tokens of the endpoint to one of ours."""
        self.offset = 0.0
        """Tokens that the endpoint adds to every prompt."""
        self._wide = 1.0 + min(1.0, self.margin())

    def saw(self, counted: int, reported: int) -> None:
        """One call: our count of its prompt, and the endpoint's. Zero reported says nothing."""
        if counted <= 0 or reported <= 0:
            return
        xx, x, one, xy, y, misses, weights = self._sums
        if one:  # not the first: how far off this one was
            miss = (reported - ceil(self.offset + self.ratio * counted)) / reported
            misses = misses * _MEMORY + (miss * miss if miss > -1.0 else 1.0)
            weights = weights * _MEMORY + 1.0
        noise = _NOISE * counted
        weight = 1.0 / (noise * noise) if noise > _NOISE_FLOOR else _FLOOR_WEIGHT
        weighted = weight * counted
        xx = xx * _MEMORY + weighted * counted
        x = x * _MEMORY + weighted
        one = one * _MEMORY + weight
        xy = xy * _MEMORY + weighted * reported
        y = y * _MEMORY + weight * reported
        self._sums = xx, x, one, xy, y, misses, weights
        # A few observations prove little: the belief counts as one more of them.
        self.spread = spread = sqrt((misses + _BELIEF) / (weights + 1.0))
        wide = _DEVIATIONS * spread
        if wide < _LEAST_MARGIN:
            wide = _LEAST_MARGIN
        self._wide = 1.0 + wide if wide < 1.0 else 2.0
        # The normal equations of both unknowns; what was believed beforehand stands in them as seen.
        xx, xy, one = xx + _RATIO_TRUST, xy + _RATIO_TRUST, one + _OFFSET_TRUST
        determinant = xx * one - x * x
        offset = (xx * y - x * xy) / determinant
        if offset < 0.0:
            ratio, offset = xy / xx, 0.0
        else:
            ratio = (xy * one - x * y) / determinant
        self.ratio = 0.5 if ratio < 0.5 else 3.0 if ratio > 3.0 else ratio
        self.offset = offset

    def margin(self, least: float = _LEAST_MARGIN) -> float:
        """The share of a window to keep free for counts that are still wrong."""
        return max(least, _DEVIATIONS * self.spread)

    def corrected(self, counted: int) -> int:
        """Our count as the endpoint would report it."""
        return ceil(self.offset + self.ratio * counted)

    def expected(self, counted: int) -> tuple[int, int]:
        """Our count as the endpoint would report it, and what it will hardly report more than.

        That is corrected with the margin on top.
        """
        corrected = self.offset + self.ratio * counted
        return ceil(corrected), ceil(corrected * self._wide)


class Calibrations(dict[str, Calibration]):
    """One Calibration for each model by name, made when it is first asked for; the runtime keeps these."""

    of = dict.__getitem__

    def __missing__(self, model: str) -> Calibration:
        self[model] = made = Calibration()
        return made
