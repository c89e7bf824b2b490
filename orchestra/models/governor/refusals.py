"""What a governor says to a call that it does not let wait."""

from __future__ import annotations

import math

from orchestra.errors import ModelThrottled, ModelUnreachable, Overloaded


def full(endpoint: str, in_flight: int, waiting: int, seconds: float) -> Overloaded:
    return Overloaded(
        f"Endpoint {endpoint} has {in_flight} calls in flight and {waiting} waiting, as many "
        f"as its queue takes; try again in {math.ceil(seconds)} s, or start fewer sessions at once.",
        retry_after=seconds,
    )


def down(endpoint: str, seconds: float) -> ModelUnreachable:
    error = ModelUnreachable(
        f"Endpoint {endpoint} has failed too often in a row and is left alone for {seconds:.0f} s; "
        "see whether it is up.",
        endpoint=endpoint,
    )
    error.retry_after, error.left_alone = seconds, True
    return error


def too_long(endpoint: str, seconds: float) -> ModelThrottled:
    return ModelThrottled(
        f"Endpoint {endpoint} wants a pause of {seconds:.0f} s, longer than this call may wait; "
        "try again then, or name another endpoint.",
        endpoint=endpoint,
        retry_after=seconds,
    )
