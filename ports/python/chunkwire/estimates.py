"""Round trip, patience and loss of a connection (spec/PACKETS.md, section 8). Times are in microseconds."""

from __future__ import annotations

SECOND = 1_000_000
PERIOD = 5 * SECOND
"""Of the smallest sample (PKE-3)."""
WINDOW = 10
"""Whole seconds that the loss looks back (PKE-5)."""
LONGEST_SAMPLE = 1 << 40


def _quotient(a: int, b: int) -> int:
    """a / b, truncated toward zero; b is positive."""
    return a // b if a >= 0 else -(-a // b)


class RoundTrip:
    """PKE-1 to PKE-3. All figures are None until there is a sample."""

    def __init__(self) -> None:
        self.latest: int | None = None
        self.srtt: int | None = None
        self.jitter: int | None = None
        self.min_rtt: int | None = None
        self._period_at = 0
        self._smallest = self._before = 0

    def sample(self, now: int, r: int) -> None:
        r = min(r, LONGEST_SAMPLE)
        self.latest = r
        if self.srtt is None or self.jitter is None:
            self.srtt, self.jitter = r, 0
        else:
            self.jitter += _quotient(abs(r - self.srtt) - self.jitter, 16)
            self.srtt += _quotient(r - self.srtt, 10)
        self._take_smallest(now, r)

    def _take_smallest(self, now: int, r: int) -> None:
        if self.min_rtt is None:
            self._period_at, self._smallest, self._before = now, r, r
        elif now - self._period_at >= PERIOD:
            self._before = self._smallest if now - self._period_at < 2 * PERIOD else r
            self._period_at += (now - self._period_at) // PERIOD * PERIOD
            self._smallest = r
        self._smallest = min(self._smallest, r)
        self.min_rtt = min(self._smallest, self._before)


class Patience:
    """How long a packet may be overtaken by others before it is taken for lost (PKE-4)."""

    def __init__(self) -> None:
        self._value = 0
        self._second = 0

    def overtaken(self, now: int, age: int, srtt: int) -> None:
        """A packet sent `age` ago was acked after one that is 2 or more newer."""
        self.at(now)
        self._value = max(self._value, min(age * 9 // 8, srtt * 3 // 2))

    def at(self, now: int) -> int:
        """The patience at a time."""
        second = now // SECOND
        while self._second < second and self._value >= 16:
            self._value -= self._value // 16
            self._second += 1
        self._second = max(self._second, second)
        return self._value


class Loss:
    """PKE-5: of the numbers settled in the last ten whole seconds, those that were lost."""

    def __init__(self) -> None:
        self._seconds: dict[int, list[int]] = {}

    def settled(self, now: int, lost: bool) -> None:
        """A number was lost, or acked in time."""
        counts = self._seconds.setdefault(now // SECOND, [0, 0])
        counts[0] += 1
        counts[1] += lost
        for second in [s for s in self._seconds if s < now // SECOND - WINDOW]:
            del self._seconds[second]

    def per_mille(self, now: int) -> int | None:
        """In tenths of a percent; None: nothing is known."""
        last = now // SECOND
        counts = [c for s, c in self._seconds.items() if last - WINDOW <= s < last]
        settled = sum(c[0] for c in counts)
        return 1_000 * sum(c[1] for c in counts) // settled if settled else None
