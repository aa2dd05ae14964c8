"""Section 8 of spec/RECOVERY.md: losses that a rate causes. Losses are in 1024ths, intervals in nanoseconds."""

from __future__ import annotations

from math import isqrt

from .base import LONGEST_SAMPLE
from .drains import PathRoundTrip
from .limit import SLOWEST

MUCH_LOST = 128
MOST_LOST = 768
LEAST_LOST = 16
FIRST_WAIT = 24
LONGEST_WAIT = 384
FIRST_LOST = 16
FIRST_ARRIVED = 512
PRIOR = 448
SETTLED = 1_536
MOST_COUNTED = 16_384


class Losses:
    """How much the path loses, in sixteenths of a slice (CAP-8)."""

    def __init__(self) -> None:
        self.lost = FIRST_LOST
        self.arrived = FIRST_ARRIVED
        self._settled = False

    def count(self, n: int, missing: int) -> None:
        self.arrived += 16 * n
        self.lost = max(self.lost + 16 * missing, 0)
        if not self._settled and self.arrived >= SETTLED:
            self.arrived -= PRIOR
            self._settled = True
        if self.lost + self.arrived > MOST_COUNTED:
            self.lost, self.arrived = self.lost // 2, max(self.arrived // 2, 1)


class Cap:
    def __init__(self, round_trip: PathRoundTrip, losses: Losses) -> None:
        self._rtt, self._losses = round_trip, losses
        self.calm = 0
        self._cap = self._look = 0  # 0: none
        self._seeking = False
        self._bad = self._raised_at = self._before = self._look_at = self._wait = 0
        self._at = self._arrived = self._lost = 0

    @property
    def least(self) -> int:
        """PAC-7."""
        return max(self._cap, self._look)

    def start(self, now: int) -> None:
        """REC-2."""
        self._look = 0
        self._begin(now)

    def _begin(self, at: int) -> None:
        self._at, self._arrived, self._lost = at, 0, 0

    def news(self, now: int, n: int, missing: int, delivered: int, per_slice: int) -> None:
        """CAP-1."""
        srtt = self._rtt.srtt
        if srtt == 0 or now < self._at:
            return
        self._arrived += n
        self._lost = max(self._lost + missing, 0)
        self._raise(now)
        slices = 64 if self._look else 32 if self._cap else 128
        rounds = 4 if self._cap and not self._look else 8
        total, took = self._arrived + self._lost, now - self._at
        if total == 0 or took < srtt or (total < slices and took < rounds * srtt):
            return
        p = self._lost * 1_024 // total
        interval = 1_000 * min(took, LONGEST_SAMPLE) // max(self._arrived, 1)
        if self._look:
            self._judge_look(now, total, p, interval)
        elif self._cap:
            self._judge_cap(now, total, p, interval, per_slice)
        else:
            self._suspect(now, p, interval, delivered, per_slice)

    def _suspect(self, now: int, p: int, interval: int, delivered: int, per_slice: int) -> None:
        """CAP-2."""
        few = p < MUCH_LOST or self._lost < LEAST_LOST or p <= self.calm * 5 // 4 + 16
        if few or now < self._look_at or delivered == 0:
            self._begin(now)
            return
        self._look, self._before = max(delivered, min(per_slice * 7 // 8, SLOWEST)), p
        if p >= MOST_LOST:
            self._look = min(max(self._look, interval), SLOWEST)
        self._begin(now + self._rtt.latest)

    def _judge_look(self, now: int, total: int, p: int, interval: int) -> None:
        """CAP-3 and CAP-4."""
        e = self._before * total // 1_024
        if 4 * self._lost < 3 * e and self._lost + 3 * isqrt(self._lost + 1) < e:
            self._cap, self._seeking, self._bad = min(max(self._look, interval), SLOWEST), True, 0
            share = self._losses.arrived * (self.calm + 8) // (1_024 - min(self.calm, 1_000))
            self._losses.lost = min(self._losses.lost, share)
            self._look = 0
        elif p >= MOST_LOST and 2 * self._look <= interval < SLOWEST:
            self._look = interval
        else:
            self.calm, self._look = p, 0
            self._wait = min(max(2 * self._wait, FIRST_WAIT), LONGEST_WAIT)
            self._look_at = now + self._wait * self._rtt.srtt
        self._begin(now + self._rtt.latest)

    def _judge_cap(self, now: int, total: int, p: int, interval: int, per_slice: int) -> None:
        """CAP-5 and CAP-6."""
        e = 5 * self.calm * total // 4_096
        if self._lost <= e + 2 + 2 * isqrt(e):
            self._bad = 0
            if self._seeking:
                self._cap = self._cap * 3 // 4
            if self._cap < per_slice * 5 // 8:
                self._cap = 0
            self._begin(now)
            return
        self._bad += 1
        if self._bad >= 4 and 2 * p > self._before:
            self._cap, self.calm = 0, p
        else:
            self._cap = min(max(self._cap * 8 // 7, min(interval, 2 * self._cap)), SLOWEST)
            self._seeking = False
        self._begin(now + self._rtt.latest)

    def _raise(self, now: int) -> None:
        """CAP-7."""
        if not self._cap or self._look or self._seeking or now - self._raised_at < self._rtt.srtt:
            return
        self._raised_at = now
        d = 4_000 * self._rtt.srtt + self._cap
        self._cap = max(self._cap - (self._cap * self._cap + d - 1) // d, 1)
