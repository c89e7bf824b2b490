"""So much a minute: a bucket that fills all the time and is emptied by what is asked."""

from __future__ import annotations


class Bucket:
    """Holds a minute's worth and starts full, as providers' own do; `per_minute` in requests or tokens.

    `minute_seconds`: what the endpoint calls a minute. The level may fall below nothing: what was taken
    is corrected when it is known, and a debt is waited off like any other want. `spare` stays in the bucket
    while there is a choice, for estimates that are too low; it costs nothing of what a minute gives.
    """

    __slots__ = ("_at", "_spare", "level", "per_minute", "per_second")

    def __init__(
        self, per_minute: float, now: float, minute_seconds: float = 60.0, *, spare: float = 0.0
    ) -> None:
        self.per_minute = per_minute
        self.per_second = per_minute / minute_seconds
        self.level = float(per_minute)
        self._spare = spare
        self._at = now

    def wait(self, amount: float, now: float) -> float:
        """Seconds until so much may be taken; what is more than the bucket holds waits for a full one."""
        level = self.level + (now - self._at) * self.per_second
        whole = self.per_minute
        self._at = now
        self.level = level = level if level < whole else whole
        amount += self._spare
        missing = (amount if amount < whole else whole) - level
        # A timer that fires a rounding error early must not start another one.
        return missing / self.per_second if missing > 1e-9 * whole else 0.0

    def take(self, amount: float) -> None:
        """Take, or with a negative amount give back; `wait` has been asked just before."""
        self.level -= amount

    def fall_to(self, level: float, now: float) -> None:
        """The endpoint has shown that there is no more than this."""
        self.wait(0, now)
        self.level = min(self.level, level)
