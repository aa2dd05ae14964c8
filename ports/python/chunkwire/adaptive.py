"""Sections 2, 3, 13, 15 and 16 of spec/RECOVERY.md: the recommended scheduler of a sender, on the controller."""

from __future__ import annotations

from typing import Iterable

from .base import LONGEST_SAMPLE
from .controller import Controller, Share
from .limits import MAX_SLICES, slice_count
from .times import NEVER

GAP_SIZE = 2
PROBES = 2
MAX_COPIES = 4
COPY_BUDGET = 256 // MAX_COPIES
SPREAD_BUDGET = 512
MOST_NUMBER = 65_535
MOST_COUNTED = 255


class _Slice:
    """What is remembered of a slice (REC-2)."""

    def __init__(self) -> None:
        self.first = self.main = self.last = 0
        self.first_at = self.main_at = self.last_at = 0
        self.resends = self.copies = 0
        self.by_timer = False

    @property
    def once(self) -> bool:
        """EST-1."""
        return not self.resends and not self.copies


class Adaptive:
    """The recommended scheduler; its variables are those of section 2."""

    def __init__(self, path: Controller | None = None, redundant: bool = False) -> None:
        self.path = path or Controller()
        self._share = Share()
        self._redundant = redundant
        self._patience = 0
        self._slices: list[_Slice] = []
        self._unacked: set[int] = set()
        self._latest = self._count = self._moved = 0

    def start(self, now: int, size: int) -> None:
        """REC-2."""
        self._slices = [_Slice() for _ in range(slice_count(size))]
        self._unacked = set(range(len(self._slices)))
        self._lost: set[int] = set()
        self._fresh = self._count = self._newest = self._refused = self._moved = 0
        self._oldest: int | None = None
        self._sent_at = self._news_at = self._held_at = now
        self._gap_at: float = NEVER
        self._held = False
        self.path.begin(now, self._share)
        self._patience -= self._patience // 16

    def news(self, now: int, slices: frozenset[int]) -> None:
        """REC-3."""
        self._latest = now
        self._measure(now, slices)
        numbers = [self._arrived_as(now, k) for k in slices]
        self._newest = max([self._newest, *numbers])
        self._unacked -= slices
        self._lost -= slices
        if self._held:
            self._refused = self._count
        self._news_at, self._held = now, False
        self.path.arrived(now, sum(n > self._moved for n in numbers), self._find_lost(now))

    def moved(self, path: Controller) -> None:
        """CXL-10, REC-12."""
        path.take(self._share, self.path)
        self.path, self._patience, self._moved = path, 0, self._count
        self._note_flight()

    def hold(self, now: int) -> None:
        """REC-4."""
        if not self._held:
            self._held, self._held_at = True, now
        self._lost = set()
        self._note_flight()

    def next(self, now: int) -> int | None:
        """REC-5."""
        self._latest = now
        if now >= self._gap_at:
            self.path.arrived(now, 0, self._find_lost(now))
        if self._next is None and now >= self._timer:
            self._run_out(now)
        k, is_copy = self._chosen
        if not self.path.go(now, self._share, k is not None, k == self._fresh) or k is None:
            return None
        self._send(now, k, is_copy)
        return k

    @property
    def deadline(self) -> float:
        """REC-7."""
        if not self._unacked:
            return NEVER
        if self._chosen[0] is not None:
            return self.path.pace_at
        at = min(self._timer, self._gap_at)
        return at if self._lost_by_timer is None else min(at, self.path.silent_at)

    def marked(self, count: int) -> None:
        """ECN-1."""
        self.path.marked(count)

    # What goes next (REC-9)

    @property
    def _lost_by_timer(self) -> int | None:
        return min((k for k in self._lost if self._slices[k].by_timer), default=None)

    @property
    def _next(self) -> int | None:
        if self._lost:
            if self.path.has_room:
                return min(self._lost)
            return self._lost_by_timer if self._held or self._latest >= self.path.silent_at else None
        if self._fresh == len(self._slices) or self._held:
            return None
        return self._fresh if self.path.has_room else None

    @property
    def _chosen(self) -> tuple[int | None, bool]:
        """What goes next, and whether it is a copy."""
        k = self._next
        if k is not None or self._lost or self._fresh < len(self._slices) or self._held or not self.path.has_room:
            return k, False
        return self._copied, True

    @property
    def _copied(self) -> int | None:
        """CPY-1 to CPY-3."""
        round_trip, now = self.path.round_trip, self._latest
        if round_trip.unknown or now - self._news_at > 4 * round_trip.delays[0]:
            return None
        allowance = min(self.path.path_slices, MAX_SLICES)
        budget = min(SPREAD_BUDGET if self._redundant else COPY_BUDGET, allowance // 2)
        most = min(MAX_COPIES, budget // len(self._unacked))
        worth = 2 if self._redundant else 1
        flying = ((k, self._slices[k]) for k in self._flying)
        ids = [
            k
            for k, s in flying
            if 1 + s.copies < min(most, worth + s.resends) and now - s.main_at < round_trip.srtt // 2
        ]
        return min(ids, key=self._last, default=None)

    def _send(self, now: int, k: int, is_copy: bool) -> None:
        """REC-6."""
        self._count += 1
        s = self._slices[k]
        s.last, s.last_at, self._sent_at = self._count, now, now
        if is_copy:
            s.copies = min(s.copies + 1, MOST_COUNTED)
        else:
            s.main, s.main_at = self._count, now
            if k == self._fresh:
                s.first, s.first_at = min(self._count, MOST_NUMBER), now
                self._fresh += 1
            else:
                s.resends, s.copies = min(s.resends + 1, MOST_COUNTED), 0
                self._lost.remove(k)
        if self._oldest is None or self._oldest == k:
            self._find_oldest()
        self._note_flight()

    # Slices in flight

    @property
    def _flying(self) -> Iterable[int]:
        return (k for k in range(self._fresh) if k in self._unacked and k not in self._lost)

    def _last(self, k: int) -> int:
        return self._slices[k].last

    def _note_flight(self) -> None:
        if self._unacked:
            self.path.in_flight(self._share, sum(1 for _ in self._flying))
        else:
            self.path.leave(self._share)

    def _find_oldest(self) -> None:
        """Of PTO-1."""
        self._oldest = min(self._flying, key=self._last, default=None)

    def _lose(self, k: int, by_timer: bool) -> None:
        self._lost.add(k)
        self._slices[k].by_timer = by_timer

    # The round trip (EST-2 to EST-5)

    @property
    def _least(self) -> int:
        return self.path.min_rtt * 15 // 16

    def _measure(self, now: int, news: frozenset[int]) -> None:
        round_trip = self.path.round_trip
        news = frozenset(k for k in news if self._slices[k].first > self._moved)  # REC-12
        if not news:
            return
        once = [k for k in news if self._slices[k].once]
        if once:
            self.path.clean(now, now - self._slices[max(once, key=self._last)].last_at)
        elif not round_trip.measured:
            round_trip.limit(now - self._slices[max(news, key=self._last)].first_at)
        else:
            again = [k for k in news if self._is_sample(self._slices[k], now)]
            if again:
                self.path.resent(now - self._slices[max(again, key=self._last)].main_at)

    def _is_sample(self, s: _Slice, now: int) -> bool:
        """EST-3."""
        r = now - s.main_at
        return r >= self._least and (not s.copies or r < self.path.round_trip.srtt)

    # Lost slices (section 15)

    def _arrived_as(self, now: int, k: int) -> int:
        """LOS-1, LOS-4, SUS-2."""
        s, round_trip = self._slices[k], self.path.round_trip
        if not s.resends:
            return s.main
        if not round_trip.measured:
            return s.first
        if k not in self._lost and now - s.main_at >= self._least:
            return s.main
        if s.by_timer:
            self.path.late(1)
        elif s.resends == 1:
            late = min(now - s.first_at, LONGEST_SAMPLE) * 9 // 8
            self._patience = max(self._patience, min(late, round_trip.srtt * 3 // 2))
        return s.first

    def _find_lost(self, now: int) -> int:
        """LOS-2, LOS-3: how many the path has lost (SUS-5, REC-12)."""
        self._gap_at = NEVER
        found = 0
        for k in list(self._flying):
            s = self._slices[k]
            if s.last + GAP_SIZE > self._newest:
                continue
            if now < s.last_at + self._patience:
                self._gap_at = min(self._gap_at, s.last_at + self._patience)
            else:
                self._lose(k, by_timer=False)
                found += s.last > max(self._refused, self._moved)
        self._find_oldest()
        self._note_flight()
        return found

    # The timer (section 13)

    @property
    def _timer(self) -> float:
        round_trip = self.path.round_trip
        if self._held:
            return max(self._sent_at, self._held_at) + round_trip.hold_delay(self._sent_at - self._held_at)
        if self._oldest is None:
            return NEVER
        delay, margin = round_trip.delays
        return max(self._slices[self._oldest].last_at + delay, self._news_at + margin, self.path.probe_at)

    def _run_out(self, now: int) -> None:
        """PTO-3 to PTO-5."""
        if self._held:
            self._lose(max(k for k in self._unacked if k < self._fresh), by_timer=True)
        else:
            given_up = sorted(self._flying, key=lambda k: (self._slices[k].resends, -self._last(k)))[:PROBES]
            for k in given_up:
                self._lose(k, by_timer=True)
            self.path.timed_out(now, sum(self._last(k) > self._moved for k in given_up))
        self._note_flight()
