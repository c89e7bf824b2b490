"""The right to make one call."""

from __future__ import annotations

from msgspec import Struct


class Permit(Struct, gc=False, eq=False):
    """`number` counts calls from 1; `tokens` were taken for it by estimate; `began` in seconds.

    `probe`: the call that finds out whether an endpoint is up again. `waited` in seconds. A permit ends
    once: `open` is False afterwards.
    """

    number: int
    tokens: int
    began: float
    probe: bool = False
    waited: float = 0.0
    open: bool = True
