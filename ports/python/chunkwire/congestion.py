"""Congestion avoidance with two modes (spec/PACKETS.md, section 9). Times are in microseconds."""

from __future__ import annotations

from .times import NEVER, Clock

SECOND = 1_000_000
BAD_RTT = 250_000
FIRST_RECOVERY = 4 * SECOND
LEAST_RECOVERY = 1 * SECOND
MOST_RECOVERY = 60 * SECOND
SHORT = 10 * SECOND
REWARD = 10 * SECOND
INTERVAL = {"GOOD": 33_333, "BAD": 100_000}
"""Between two packets of the regular cadence."""
PROFILES = ("article", "default")


class Congestion:
    """The machine of section 9, with the conditions as its input (PKC-1); it stands beside an endpoint.

    Raises ValueError for a profile that does not exist.
    """

    def __init__(self, profile: str = "default") -> None:
        if profile not in PROFILES:
            raise ValueError(f"profile {profile!r} is none of {PROFILES}")
        self._clock = Clock()
        self.mode = "BAD"
        self.recovery = FIRST_RECOVERY
        self._follows_path = profile == "default"
        self._good_since: int | None = None
        self._entered = self._halved = 0
        self._next_at = 0
        self._last_sent: int | None = None

    def evaluate(self, now: int, srtt: int | None, min_rtt: int = 0, silent: bool = False) -> list[str]:
        """The rows taken; `srtt` is None while nothing is measured (PKC-1, PKC-2, PKC-4)."""
        now = self._clock.advance(now)
        rows = self._reward(now)
        limit = max(BAD_RTT, min_rtt * 3 // 2) if self._follows_path else BAD_RTT
        bad = silent or (srtt is not None and srtt > limit)
        if self.mode == "GOOD":
            return rows + [self._enter_bad(now) if bad else "C4"]
        if bad or srtt is None:
            self._good_since = None
            return ["C5"]
        if self._good_since is None:
            self._good_since = now
            return ["C6"]
        if now - self._good_since < self.recovery:
            return ["C8"]
        self.mode = "GOOD"
        self._good_since = None
        self._entered = self._halved = now
        return ["C7"]

    def _reward(self, now: int) -> list[str]:
        """C3, as often as its guard holds."""
        rows = []
        while self.mode == "GOOD" and self.recovery > LEAST_RECOVERY and now - self._halved >= REWARD:
            self.recovery = max(self.recovery // 2, LEAST_RECOVERY)
            self._halved += REWARD
            rows.append("C3")
        return rows

    def _enter_bad(self, now: int) -> str:
        """C1, C2."""
        row = "C2"
        if now - self._entered < SHORT:
            self.recovery = min(2 * self.recovery, MOST_RECOVERY)
            row = "C1"
        self.mode = "BAD"
        self._good_since = None
        if self._last_sent is not None:
            self._next_at = max(self._next_at, self._last_sent + INTERVAL["BAD"])  # PKC-3
        return row

    def sent(self, now: int) -> None:
        """A packet of the regular cadence has gone out (PKC-3)."""
        now = self._clock.advance(now)
        self._next_at = max(self._next_at + INTERVAL[self.mode], now)
        self._last_sent = now

    @property
    def next_at(self) -> int:
        """When the next packet of the regular cadence goes (PKC-3)."""
        return self._next_at

    @property
    def deadline(self) -> float:
        """When to evaluate next, unless conditions change before."""
        if self.mode == "GOOD":
            return self._halved + REWARD if self.recovery > LEAST_RECOVERY else NEVER
        return NEVER if self._good_since is None else self._good_since + self.recovery
