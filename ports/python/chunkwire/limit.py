"""Sections 6 and 7 of spec/RECOVERY.md: how much may be in flight, in eighths of a slice, and contested paths."""

from __future__ import annotations

from math import isqrt

from .base import MS, _quotient
from .drains import DRAIN_EVERY, DRAIN_SOON, PathRoundTrip

FIRST_LIMIT = 256
LEAST_LIMIT = 4
TWO_SLICES = 16
TARGET_LEAST = 5 * MS
TARGET_MOST = 20 * MS
SUM_MOST = 256
CALM_MOST = 1_024
CALM_PRIOR = 64
RISES = 8
RISE_SLACK = 5 * MS
LEAST_RISE = 25 * MS
CALM_QUEUE = 20 * MS
CALM_ROUNDS = 2
QUIET = 12_000 * MS
STEADY = 4
STEADY_BAND = 2 * MS
CROWD = 64
SLOWEST = 10**9


class Row:
    """Decisions in a row with a queue above the target (CTD-8)."""

    def __init__(self, now: int, limit: int) -> None:
        self.at, self.limit = now, limit
        self.lost = self.flat = self.flat_low = 0
        self.abrupt = False

    def count(self, low: int, lost: int, abrupt: bool, band: int) -> None:
        self.lost += lost
        self.abrupt |= abrupt
        if lost > 0:
            return
        if self.flat and abs(low - self.flat_low) <= band:
            self.flat += 1
        else:
            self.flat, self.flat_low = 1, low


class Limit:
    def __init__(self, round_trip: PathRoundTrip) -> None:
        self._rtt = round_trip
        self.size = FIRST_LIMIT
        self.step = 8
        self.opening = True
        self.sampled = self.full = self.blocked = self.contested = False
        self.most = self.marked = 0
        self._round_at: int | None = None
        self._closes_at: int | None = None
        self._low = self._low_before = 0
        self._lost = self._passed = 0
        self._sum_lost = self._sum_passed = self._calm_lost = self._calm_passed = 0
        self._noise = self._calm_rounds = self._rises = self._rises_from = 0
        self._row: Row | None = None

    def note_flight(self, flight: int) -> None:
        """LMT-1."""
        self.most = max(self.most, 8 * flight)

    @property
    def target(self) -> int:
        """LMT-2."""
        return min(max(self._rtt.smallest // 4, TARGET_LEAST), TARGET_MOST)

    def _queue(self, r: int) -> int:
        return r - self._rtt.smallest - self._noise

    def news(self, now: int, n: int, missing: int, flight: int, per_slice: int) -> None:
        """LMT-1 and LMT-2."""
        self._lost += missing
        self._passed += n + missing
        latest = self._rtt.latest
        if self.opening and self._queue(latest) <= self.target // 2:
            self.size += 8 * max(min(2 * (n + missing), 3 * n), 0)
            self.size = min(self.size, max(3 * self.most, FIRST_LIMIT))
        if not self.sampled:
            return
        self.sampled = False
        if self._round_at is None:
            self._round_at = now + latest
        if self._closes_at is None:
            if now >= self._round_at:
                self._closes_at, self._low = now + latest // 4, latest
            return
        self._low = min(self._low, latest)
        if now < self._closes_at:
            return
        self._decide(now, per_slice)
        self._low_before, self.most, self.full = self._low, 8 * flight, False
        self._lost = self._passed = self.marked = 0
        self._closes_at, self._round_at = None, now + latest

    def _decide(self, now: int, per_slice: int) -> None:
        """LMT-3 to LMT-8."""
        q, t = self._queue(self._low), self.target
        used = self.size if self.full else min(self.most, self.size)
        lossy = self._is_lossy(q, t)
        self._alarm(now, used, q, t)
        self._judge_contest(now, used, q, t, per_slice)
        if self._rtt.drains:
            return
        if self.contested:
            self._compete(used, lossy)
        elif q > t:
            self._cut(max(used * (self._rtt.smallest + self._noise + t // 2) // self._low, used // 2))
        elif self.marked or (lossy and q > t // 2):
            self._cut(used * 7 // 8)
        elif self.full and not self.opening:
            self._grow(q < t // 2)

    def _is_lossy(self, q: int, t: int) -> bool:
        """LMT-3."""
        self._sum_lost += self._lost
        self._sum_passed += self._passed
        e = 5 * self._sum_passed * self._calm_lost // (4 * (self._calm_passed + CALM_PRIOR))
        beyond = self._sum_lost - e - 2 * isqrt(e)
        lossy = beyond > 2 or (self.contested and beyond > 0) or self.marked > 0
        if lossy:
            self._sum_lost = self._sum_passed = 0
        elif self._sum_passed > SUM_MOST:
            self._sum_lost, self._sum_passed = _quotient(self._sum_lost, 2), self._sum_passed // 2
        if not self.contested and q <= t // 2:
            self._calm_lost += max(self._lost, 0)
            self._calm_passed += max(self._passed, 0)
            if self._calm_passed > CALM_MOST:
                self._calm_lost, self._calm_passed = self._calm_lost // 2, self._calm_passed // 2
        return lossy

    def _alarm(self, now: int, used: int, q: int, t: int) -> None:
        """LMT-4."""
        if self._lost < 3 or q > t:
            return
        if 8 * self._lost >= self._passed and not self.contested and self._rtt.may_alarm(now):
            self._rtt.drain(now, self._rtt.latest)
        if self.opening and 4 * self._lost >= self._passed and q >= t // 8:
            self.opening, self.step = False, max(used // 4, 1)

    def _cut(self, size: int) -> None:
        """LMT-5 and LMT-6."""
        self.size, self.step, self.opening = max(size, LEAST_LIMIT), 8, False

    def _grow(self, empty: bool) -> None:
        """LMT-7."""
        if not empty:
            self.step = 8
        self.size += self.step
        if empty:
            self.step = min(2 * self.step, self.size // 2)
        self.step = max(self.step, min(8, self.size // 4), 1)

    def silence(self, measured: bool) -> None:
        """PTO-7."""
        if measured:
            self.size = max(self.size // 2, min(self.size, TWO_SLICES))
        else:
            self.size = max(min(self.size, self.most) // 2, TWO_SLICES)
        self.step = max(self.size // 4, 1)

    def _judge_contest(self, now: int, used: int, q: int, t: int, per_slice: int) -> None:
        """CTD-7."""
        if self._rtt.drains:
            return
        if self.contested:
            self._calm_rounds = 0 if q > max(t, CALM_QUEUE) else self._calm_rounds + 1
            if self._calm_rounds == CALM_ROUNDS:
                self.end_contest(now)
        elif q <= t:
            self._rises, self._row = 0, None
        else:
            self._judge_row(now, self._count(now, used, q, t), used, q, t, per_slice)

    def _count(self, now: int, used: int, q: int, t: int) -> Row:
        """CTD-8."""
        if self._rises == 0:
            self._rises, self._rises_from = 1, self._low
        elif self._low > self._low_before:
            self._rises += 1
        elif self._low < self._low_before - max(RISE_SLACK, q // 16):
            self._rises = 0
        row = self._row = self._row or Row(now, used)
        row.count(self._low, self._lost, q > 2 * t, max(STEADY_BAND, self._rtt.smallest // 32))
        return row

    def _judge_row(self, now: int, row: Row, used: int, q: int, t: int, per_slice: int) -> None:
        """CTD-1, CTD-4 and CTD-2."""
        yielded = self.size <= max(row.limit // 2, TWO_SLICES)
        others = CROWD * max(used, TWO_SLICES) * min(per_slice, SLOWEST)
        if self._rises >= RISES and self._low >= self._rises_from + max(2 * t, LEAST_RISE):
            self._contest(now, max(used, row.limit // 2))
        elif yielded and row.flat >= STEADY and row.abrupt and 8_000 * q > others:
            self._take_for_path(row)
        elif yielded and row.lost == 0 and now - row.at >= QUIET:
            self._contest(now, max(used, row.limit))

    def _contest(self, now: int, size: int) -> None:
        """CTD-1."""
        self.contested, self._calm_rounds, self._rises, self._row = True, 0, 0, None
        self.size = max(size, TWO_SLICES)
        self._rtt.drain_next(now + DRAIN_EVERY, ends=True)

    def _take_for_path(self, row: Row) -> None:
        """CTD-4."""
        d = self._low - self._rtt.smallest
        if d <= self._rtt.smallest:
            self._noise = d
        else:
            self._rtt.smallest, self._noise = self._low, 0
        self.size, self.opening, self._row = max(self.size, row.limit), True, None

    def end_drain(self, now: int, near: bool) -> None:
        """EST-2, step 4."""
        self._noise = self._noise * 3 // 4
        if self.contested and near:
            self.end_contest(now)

    def end_contest(self, now: int) -> None:
        """CTD-3."""
        self.contested, self._rises, self._row = False, 0, None
        self._rtt.drain_next(now + DRAIN_SOON, ends=False)

    def _compete(self, used: int, lossy: bool) -> None:
        """CTD-6."""
        if lossy:
            self.size = max(used * 7 // 10, LEAST_LIMIT)
        elif self.full:
            self.size += min(8, self.size // 4)
