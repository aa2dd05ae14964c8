"""What an endpoint learns of its path (spec/PACKETS.md, section 8). Times are in microseconds."""

from __future__ import annotations

import math
from collections import deque
from typing import NamedTuple

SECOND = 1_000_000
LONGEST_SAMPLE = 1 << 40
MIN_RTT_PERIOD = 5 * SECOND
WHOLE_SECONDS = 10
"""Of which loss and rates are (PKE-9)."""
SHOWN = 512
LONGEST_SHOWN = 1 << 26


def _quotient(a: int, b: int) -> int:
    """a / b, truncated toward zero; b is positive (PKN-1)."""
    return a // b if a >= 0 else -(-a // b)


class RoundTrip:
    """PKE-1 to PKE-3. What is not measured is 0; `measured` says whether there is a sample."""

    def __init__(self) -> None:
        self.measured = False
        self.latest = self.srtt = self.jitter = self.min_rtt = 0
        self._period_at = 0
        self._smallest = self._before = 0

    def sample(self, now: int, r: int) -> None:
        self.latest = r
        if not self.measured:
            self.srtt, self.measured = r, True
            self._period_at, self._smallest, self._before = now, r, r
        else:
            self.jitter += _quotient(abs(r - self.srtt) - self.jitter, 16)
            self.srtt += _quotient(r - self.srtt, 10)
        if now - self._period_at >= MIN_RTT_PERIOD:
            self._period_at, self._before, self._smallest = now, self._smallest, r
        self._smallest = min(self._smallest, r)
        self.min_rtt = min(self._smallest, self._before)


class Patience:
    """How long something overtaken should wait before it is taken for lost (PKE-4)."""

    def __init__(self) -> None:
        self._value = 0
        self._second = 0

    def overtaken(self, now: int, latency: int, srtt: int) -> None:
        self._value = max(self.at(now), min(latency * 9 // 8, srtt * 3 // 2))

    def at(self, now: int) -> int:
        """The patience at a time; the times never go back."""
        second = now // SECOND
        while self._second < second and self._value >= 16:
            self._value -= self._value // 16
            self._second += 1
        self._second = max(self._second, second)
        return self._value


class Seconds:
    """The sum of what happened in the last ten whole seconds (PKE-9)."""

    def __init__(self) -> None:
        self._sums: deque[list[int]] = deque()

    def add(self, now: int, amount: int = 1) -> None:
        second = now // SECOND
        if not self._sums or self._sums[-1][0] != second:
            self._sums.append([second, 0])
        self._sums[-1][1] += amount
        while self._sums[0][0] < second - WHOLE_SECONDS:
            self._sums.popleft()

    def sum(self, now: int) -> int:
        second = now // SECOND
        return sum(amount for s, amount in self._sums if second - WHOLE_SECONDS <= s < second)

    def rate(self, now: int) -> int:
        """Of bytes: in bits a second (PKE-7)."""
        return self.sum(now) * 8 // WHOLE_SECONDS


class Loss:
    """PKE-5."""

    def __init__(self) -> None:
        self._settled = Seconds()
        self._lost = Seconds()

    def settled(self, now: int, lost: bool) -> None:
        """A number took L1, or if it is lost L2 or L4."""
        self._settled.add(now)
        if lost:
            self._lost.add(now)

    def per_mille(self, now: int) -> int | None:
        """In tenths of a percent; None: unknown."""
        settled = self._settled.sum(now)
        return 1_000 * self._lost.sum(now) // settled if settled else None


class Figures(NamedTuple):
    """Latencies for display (PKE-6)."""

    min: int
    max: int
    avg: int
    jitter_avg: int
    jitter_max: int
    jitter_dev: int


class Shown:
    """The latencies of the numbers acked last (PKE-6)."""

    def __init__(self) -> None:
        self._latencies: deque[int] = deque(maxlen=SHOWN)

    def add(self, latency: int) -> None:
        self._latencies.append(min(latency, LONGEST_SHOWN))

    @property
    def figures(self) -> Figures | None:
        """None: unknown."""
        shown = self._latencies
        n = len(shown)
        if n == 0:
            return None
        least, most, avg = min(shown), max(shown), sum(shown) // n
        return Figures(
            least,
            most,
            avg,
            jitter_avg=sum(r - least for r in shown) // n,
            jitter_max=most - least,
            jitter_dev=math.isqrt(sum((r - avg) ** 2 for r in shown) // n),
        )
