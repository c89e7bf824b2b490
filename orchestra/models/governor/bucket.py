"""So much a minute: a bucket that fills all the time and is emptied by what is asked."""

from __future__ import annotations

_MOST_PEAKS = 64  # the two oldest become one, the higher: then too little is given back and never too much


class Bucket:
    """Holds a minute's worth and starts full, as providers' own do; `per_minute` in requests or tokens.

    `minute_seconds`: what the endpoint calls a minute. The level may fall below nothing: what was taken
    is corrected when it is known, and a debt is waited off like any other want. `spare` stays in the bucket
    while there is a choice, for estimates that are too low; it costs nothing of what a minute gives.
    """

    __slots__ = ("_at", "_newest", "_peaks", "_spare", "level", "per_minute", "per_second")

    def __init__(
        self, per_minute: float, now: float, minute_seconds: float = 60.0, *, spare: float = 0.0
    ) -> None:
        self.per_minute = per_minute
        self.per_second = per_minute / minute_seconds
        self.level = float(per_minute)
        self._spare = spare
        self._at = now
        self._newest = 0.0
        self._peaks: list[tuple[float, float]] = []  # how full it was before each taking, and the taker

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

    def take(self, amount: float, number: int) -> None:
        """Take so much for the call of this number, a new one or one that takes more than it said.

        A new one has asked `wait` just before.
        """
        if number > self._newest:
            self._newest = at = float(number)
        else:
            at = self._newest + 0.5  # after the newest call, before the next
        peaks = self._peaks
        while peaks and peaks[-1][1] <= self.level:
            peaks.pop()
        peaks.append((at, self.level))
        if len(peaks) > _MOST_PEAKS:
            peaks[1] = (peaks[1][0], max(peaks[0][1], peaks[1][1]))
            del peaks[0]
        self.level -= amount

    def give_back(self, amount: float, number: int) -> None:
        """What the call of this number did not take after all, but for what would not have found room.

        Had it never been taken, the bucket would have been full earlier, and a full bucket does not fill.
        """
        later = [level for at, level in self._peaks if at > number]
        amount = min(amount, max(0.0, self.per_minute - max([self.level, *later])))
        self.level += amount
        self._peaks = [(at, level + amount if at > number else level) for at, level in self._peaks]

    def fall_to(self, level: float, now: float) -> None:
        """The endpoint has shown that there is no more than this."""
        self.wait(0, now)
        self.level = min(self.level, level)
