"""Section 7 of spec/REPAIR.md: the sender's rule."""

from __future__ import annotations

from math import isqrt

from .base import MS
from .path import Path
from .times import NEVER

MAX_FLIGHT = 1_024
FIRST_LOST = 16
FIRST_ARRIVED = 512
PRIOR = 448
SETTLED = 1_536
MEMORY = 16_384
PROBES = 2
PROBE_DELAY = 250 * MS


class Loss:
    """How much the path loses, in sixteenths of a slice."""

    def __init__(self) -> None:
        self.lost = FIRST_LOST
        self.arrived = FIRST_ARRIVED
        self._settled = False

    def count(self, passed: int, came: int) -> None:
        """Of `passed` transmissions that were to arrive, `came` did."""
        self.arrived += 16 * came
        self.lost = max(self.lost + 16 * (passed - came), 0)
        if not self._settled and self.arrived >= SETTLED:
            self.arrived -= PRIOR
            self._settled = True
        if self.lost + self.arrived > MEMORY:
            self.lost, self.arrived = self.lost // 2, max(self.arrived // 2, 1)

    def need(self, d: int, z: int) -> int:
        """How many transmissions must be under way for d to arrive; z is the square of the standard deviations."""
        lost = min(self.lost, 32 * self.arrived)
        m = 256 * d * lost // self.arrived
        v = m + m * lost // self.arrived
        v += v * 16 * d // self.arrived
        return min(d + (m + isqrt(256 * z * v) + 128) // 256, MAX_FLIGHT)


class Rateless:
    """A scheduler of a sender of repair slices."""

    def __init__(self, path: Path | None = None, redundant: bool = False) -> None:
        self.path = path or Path()
        self.loss = Loss()
        self._z = 9 if redundant else 4
        self._k = 0
        self._have = self._top = self._gone = self._sent = 0
        self._now = self._main_at = self._last_at = self._news_at = self._probe_at = self._held_at = 0
        self._quota: int | None = None
        self._held = self._was_held = False
        self._idle = True
        self._sent_at: dict[int, int] = {}

    def adopt(self, other: Rateless) -> None:
        """LAN-9: what the scheduler of the chunk before knows. Round trip and loss are one for both from now on."""
        self.loss = other.loss
        self.path.adopt(other.path)

    def start(self, now: int, num_slices: int) -> None:
        self._k = num_slices
        self._have = self._top = self._gone = self._sent = 0
        self._now = self._main_at = self._last_at = self._news_at = now
        self._probe_at = 0
        self._quota = 1 if self._was_held else None
        self._held, self._was_held, self._idle = False, False, True
        self._sent_at = {}
        self.path.round_trip.start()
        self.path.end_train()

    def news(self, now: int, have: int, top: int) -> None:
        self._now = now
        passed, came = top - self._top, have - self._have
        if passed > 0 and top - 1 in self._sent_at:
            r = now - self._sent_at[top - 1]
            if have < self._k or top > self._gone:
                self.path.round_trip.clean(now, r)
            elif not self.path.round_trip.measured:  # the ack may be one that was drawn again
                self.path.round_trip.limit(r)
        if self._held:
            self.loss.count(came, came)
            self._gone = 0  # what is under way above top may still be taken
        elif self._top < self._gone < top:
            passed = top - self._gone
            self.loss.count(passed, min(came, passed))
        else:
            self.loss.count(passed, came)
        self._have, self._top = have, top
        self.path.arrived(now, came, top)
        self._was_held |= self._held and now - self._held_at > 2 * self.path.round_trip.srtt
        self._held = False
        if came == 0 and top - have > MAX_FLIGHT:
            self._quota = 0  # a peer that denies everything draws probes only
            return
        self._news_at, self._probe_at, self._quota = now, 0, None

    def hold(self, now: int) -> None:
        if not self._held:
            self._held, self._held_at = True, now
        self._gone, self._quota = self._sent, 0
        self.path.end_train()

    def next(self, now: int) -> bool:
        self._now = now
        if not self._wanted and now >= self._timer:
            self._run_out(now)
        if not self.needed or self.path.round_trip.drains:
            self.path.ran_dry(now)
        if not self._wanted:
            self._idle = True
            return False
        if self._idle:
            self.path.restart(now)
            self._idle = False
        if now < self.path.pace_at:
            return False
        self.path.spend(now, self._sent >= self._k)
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
        return self._have < self._k and self.in_flight < self.loss.need(self._k - self._have, self._z)

    @property
    def _wanted(self) -> bool:
        return self.needed and self._quota != 0 and self.path.has_room(self.in_flight, self._have)

    def _send(self, now: int) -> None:
        self._sent_at[self._sent] = now
        self._sent_at.pop(self._sent - MAX_FLIGHT, None)
        self._sent += 1
        self._last_at = now
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
        return max(self._main_at + delay, self._news_at + margin, self._probe_at)

    def _run_out(self, now: int) -> None:
        self.path.end_train()
        self._gone = self._sent
        self._quota = 1 if self._held else PROBES
        if not self._held:
            delay, _ = self.path.round_trip.delays
            part = 4 if self.path.round_trip.unknown else 8
            self._probe_at = now + min(max(delay, now - self._news_at) // part, PROBE_DELAY)
