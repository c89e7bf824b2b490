"""Names of sessions: short, in the order of time, safe as file names, easy to type."""

from __future__ import annotations

import time

# No i, l, o, u: nothing is mistaken for a digit, and no word appears by chance.
_LETTERS = "0123456789abcdefghjkmnpqrstvwxyz"
RANDOM_BYTES = 5
_SHIFTS = range(0, RANDOM_BYTES * 8, 5)


def session_id(now: float, random: bytes) -> str:
    """A new id, such as `20261130-074205-k3f9x0qm`; `now` in seconds since the epoch, read as UTC.

    `random` is RANDOM_BYTES from a good source: 2^40 ids in each second.
    """
    if len(random) < RANDOM_BYTES:
        raise ValueError(f"{RANDOM_BYTES} random bytes are needed, not {len(random)}.")
    number = int.from_bytes(random[:RANDOM_BYTES])
    tail = "".join([_LETTERS[number >> shift & 31] for shift in _SHIFTS])
    return time.strftime("%Y%m%d-%H%M%S-", time.gmtime(now)) + tail
