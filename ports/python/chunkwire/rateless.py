"""Section 7 of spec/REPAIR.md: the sender's rule."""

from __future__ import annotations

from math import isqrt

from .controller import Controller, Loss, Share
from .times import NEVER

MAX_FLIGHT = 1_024
PROBES = 2


def need(loss: Loss, d: int, z: int) -> int:
    """How many transmissions must be under way for d to arrive; z is the square of the standard deviations (RPL-4)."""
    lost = min(loss.lost, 32 * loss.arrived)
    m = 256 * d * lost // loss.arrived
    v = m + m * lost // loss.arrived
    v += v * 16 * d // loss.arrived
    return min(d + (m + isqrt(256 * z * v) + 128) // 256, MAX_FLIGHT)


class Rateless:
    """A scheduler of a sender of repair slices."""

    def __init__(self, path: Controller | None = None, redundant: bool = False) -> None:
        self.path = path or Controller()
        self._share = Share()
        self._z = 9 if redundant else 4
        self._k = 0
        self._have = self._top = self._gone = self._moved = self._sent = 0
        self._main_at = self._last_at = self._news_at = self._held_at = 0
        self._quota: int | None = None
        self._held = self._was_held = False
        self._sent_at: dict[int, int] = {}

    def adopt(self, other: Rateless) -> None:
        """LAN-9: from now on both have what the other knows of the path."""
        self.path.leave(self._share)
        self.path = other.path
        self._note_flight()

    def moved(self, path: Controller) -> None:
        """CXL-10, REC-12."""
        path.take(self._share, self.path)
        self.path, self._moved = path, self._sent
        self._note_flight()

    def start(self, now: int, num_slices: int) -> None:
        self._k = num_slices
        self._have = self._top = self._gone = self._moved = self._sent = 0
        self._main_at = self._last_at = self._news_at = now
        self._quota = 1 if self._was_held else None
        self._held = self._was_held = False
        self._sent_at = {}
        self.path.begin(now, self._share)

    def news(self, now: int, have: int, top: int) -> None:
        self._measure(now, have, top)
        if self._held:
            self._gone = 0  # what is under way above top may still be taken
            self._note_flight()
            self._was_held |= now - self._held_at > 2 * self.path.round_trip.srtt
        n, lost = self._count(have, top)
        if self._top < self._gone:
            self.path.late(n - max(top - self._gone, 0))  # SUS-2
        self._have, self._top = have, top
        self._note_flight()
        self.path.arrived(now, n, lost)
        self._held = False
        if n == 0 and top - have > MAX_FLIGHT:
            self._quota = 0  # a peer that denies everything draws probes only
            return
        self._news_at, self._quota = now, None

    def _measure(self, now: int, have: int, top: int) -> None:
        """A sample of the round trip, unless the ack may be one that was drawn again."""
        if top == self._top or top <= self._moved or top - 1 not in self._sent_at:
            return
        r = now - self._sent_at[top - 1]
        if have < self._k or top > self._gone:
            self.path.clean(now, r)
        elif not self.path.round_trip.measured:
            self.path.round_trip.limit(r)

    def _count(self, have: int, top: int) -> tuple[int, int]:
        """How many arrived, and were found lost; fewer than none if some came late. An outage is no loss."""
        passed, came = top - self._top, have - self._have
        if self._top < self._moved:
            passed = max(top - self._moved, 0)
            came = min(came, passed)
        if self._held:
            return came, 0
        if self._top < self._gone < top:
            passed = top - max(self._gone, self._moved)
            return came, passed - min(came, passed)
        return came, passed - came

    def hold(self, now: int) -> None:
        if not self._held:
            self._held, self._held_at = True, now
        self._gone, self._quota = self._sent, 0
        self._note_flight()

    def _note_flight(self) -> None:
        if self._have >= self._k:
            self.path.leave(self._share)
        else:
            self.path.in_flight(self._share, self.in_flight)

    def next(self, now: int) -> bool:
        if not self._wanted and now >= self._timer:
            self._run_out(now)
        if not self.path.go(now, self._share, self._wanted, self._sent < self._k):
            return False
        self._send(now)
        return True

    @property
    def deadline(self) -> float:
        if self._have >= self._k:
            return NEVER
        return self.path.pace_at if self._wanted else self._timer

    @property
    def in_flight(self) -> int:
        return self._sent - max(self._top, self._gone)

    @property
    def needed(self) -> bool:
        """Whether more must be under way, if limit and pace allow."""
        return self._have < self._k and self.in_flight < need(self.path.loss, self._k - self._have, self._z)

    @property
    def _wanted(self) -> bool:
        return self.needed and (self.path.has_room if self._quota is None else self._quota > 0)

    def _send(self, now: int) -> None:
        self._sent_at[self._sent] = self._last_at = now
        self._sent_at.pop(self._sent - MAX_FLIGHT, None)
        self._sent += 1
        self._note_flight()
        if self._quota is None:
            self._main_at = now
        else:
            self._quota -= 1

    @property
    def _timer(self) -> int:
        round_trip = self.path.round_trip
        if self._held:
            return max(self._last_at, self._held_at) + round_trip.hold_delay(self._last_at - self._held_at)
        delay, margin = round_trip.delays
        return max(self._main_at + delay, self._news_at + margin, self.path.probe_at)

    def _run_out(self, now: int) -> None:
        given_up = min(self._sent - max(self._top, self._gone, self._moved), PROBES)
        self._gone = self._sent
        self._quota = 1 if self._held else PROBES
        self._note_flight()
        if not self._held:
            self.path.timed_out(now, given_up)
