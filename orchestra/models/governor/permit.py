"""The right to make one call."""

from __future__ import annotations


class Permit:
    """`number` counts calls from 1; `tokens` were taken for it by estimate; `began` in seconds.

    `probe`: the call that finds out whether an endpoint is up again. `waited` in seconds. A permit ends
    once: `open` is False afterwards.
    """

    __slots__ = ("began", "number", "open", "probe", "tokens", "waited")

    def __init__(self, number: int, tokens: int, began: float, *, probe: bool) -> None:
        self.number = number
        self.tokens = tokens
        self.began = began
        self.probe = probe
        self.waited = 0.0
        self.open = True
