"""Section 7 of spec/REPAIR.md: the sender's rule."""

from __future__ import annotations

from math import isqrt

from .cap import Losses
from .path import Path, Share
from .times import NEVER

MAX_FLIGHT = 1_024
PROBES = 2


def need(losses: Losses, d: int, z: int) -> int:
    """How many transmissions must be under way for d to arrive; z is the square of the standard deviations (RPL-4)."""
    lost = min(losses.lost, 32 * losses.arrived)
    m = 256 * d * lost // losses.arrived
    v = m + m * lost // losses.arrived
    v += v * 16 * d // losses.arrived
    return min(d + (m + isqrt(256 * z * v) + 128) // 256, MAX_FLIGHT)


class Rateless:
    """A scheduler of a sender of repair slices."""

    def __init__(self, path: Path | None = None, redundant: bool = False) -> None:
        self.path = path or Path()
        self._share = Share()
        self._z = 9 if redundant else 4
        self._k = 0
        self._have = self._top = self._gone = self._sent = 0
        self._now = self._main_at = self._last_at = self._news_at = self._held_at = 0
        self._quota: int | None = None
        self._held = self._was_held = False
        self._sent_at: dict[int, int] = {}

    def adopt(self, other: Rateless) -> None:
        """LAN-9 and RPL-15: what is known of the path is one for both from now on."""
        self.path.leave(self._share)
        self.path = other.path

    def start(self, now: int, num_slices: int) -> None:
        self._k = num_slices
        self._have = self._top = self._gone = self._sent = 0
        self._now = self._main_at = self._last_at = self._news_at = now
        self._quota = 1 if self._was_held else None
        self._held = self._was_held = False
        self._sent_at = {}
        self.path.begin(now, self._share)

    def news(self, now: int, have: int, top: int) -> None:
        self._now = now
        passed, came = top - self._top, have - self._have
        if passed > 0 and top - 1 in self._sent_at:
            r = now - self._sent_at[top - 1]
            if have < self._k or top > self._gone:
                self.path.clean(now, r)
            elif not self.path.round_trip.measured:  # the ack may be one that was drawn again
                self.path.round_trip.limit(r)
        missing = passed - came
        if self._held:
            missing, self._gone = 0, 0  # what is under way above top may still be taken
            self._note_flight()
            self._was_held |= now - self._held_at > 2 * self.path.round_trip.srtt
        elif self._top < self._gone < top:
            missing = top - self._gone - min(came, top - self._gone)
        self._have, self._top = have, top
        self._note_flight()
        self.path.news(now, came, passed, missing)
        self._held = False
        if came == 0 and top - have > MAX_FLIGHT:
            self._quota = 0  # a peer that denies everything draws probes only
            return
        self._news_at, self._quota = now, None

    def hold(self, now: int) -> None:
        if not self._held:
            self._held, self._held_at = True, now
        self._gone, self._quota = self._sent, 0
        self._note_flight()
        self.path.end_train()

    def next(self, now: int) -> bool:
        self._now = now
        if not self._wanted and now >= self._timer:
            self._run_out(now)
        if not self.needed:
            self.path.ran_dry(now)
        if not self.path.go(now, self._share, self._wanted, self._sent >= self._k):
            return False
        self._send(now)
        return True

    @property
    def deadline(self) -> float:
        if self._have == self._k:
            return NEVER
        return self.path.pace_at if self._wanted else self._timer

    @property
    def in_flight(self) -> int:
        return self._sent - max(self._top, self._gone)

    @property
    def needed(self) -> bool:
        """Whether more must be under way, if window and pace allow."""
        return self._have < self._k and self.in_flight < need(self.path.losses, self._k - self._have, self._z)

    @property
    def _wanted(self) -> bool:
        return self.needed and (self.path.has_room() if self._quota is None else self._quota > 0)

    def _send(self, now: int) -> None:
        self._sent_at[self._sent] = now
        self._sent_at.pop(self._sent - MAX_FLIGHT, None)
        self._sent += 1
        self._last_at = now
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
        """RPL-11."""
        self._gone = self._sent
        self._note_flight()
        if self._held:
            self.path.end_train()
            self._quota = 1
        else:
            self._quota = PROBES
            self.path.timed_out(now)

    def _note_flight(self) -> None:
        """RPL-3."""
        if self._have == self._k:
            self.path.leave(self._share)
        else:
            self.path.note_flight(self._share, self.in_flight)
