"""Sections 3 to 6 of spec/RECOVERY.md, where every sample is clean: round trip, rate, window and pace of a path."""

from __future__ import annotations

from .base import LONGEST_SAMPLE, MS, RoundTrip
from .times import NEVER

ACK_DELAY = 2 * MS
MIN_RTT_LIFE = 10_000 * MS
LONG_TRAIN = 16
SHORT_TRAIN = 4
TRAIN_TIME = 20 * MS
RATE_EPOCH = 10 * MS
FASTEST = 7_000
SLOWEST = 10**9
FIRST_WINDOW = 64
YIELD_WINDOW = 16
DRAIN_WINDOW = 4
CATCH_UP = 20 * MS
BURST_INTERVAL = 85_000
LEAST_WINDOW = 8


class PathRoundTrip(RoundTrip):
    """Section 3: the estimate of PROTOCOL.md, 9.3, with the smallest sample of late."""

    def __init__(self) -> None:
        super().__init__()
        self.smallest = 0
        self._sample_at = self._near_at = -NEVER
        self._drain_until: int | None = None
        self._drain_min = 0

    @property
    def drains(self) -> bool:
        return self._drain_until is not None

    def clean(self, now: int, r: int) -> None:
        """EST-6, EST-7 and RTT-2."""
        clipped, before = max(min(r, LONGEST_SAMPLE), 1), self.smallest
        if now - self._sample_at >= MIN_RTT_LIFE:
            self._learn(now, clipped)
        elif clipped <= before + max(before // 8, ACK_DELAY):
            self._learn(now, min(clipped, before))
        elif self._drain_until is not None:
            self._drain_min = min(self._drain_min, clipped)
            if now >= self._drain_until:
                self._learn(now, self._drain_min)
        elif now - self._near_at >= MIN_RTT_LIFE:
            self._drain_until, self._drain_min = now + 2 * self.srtt, clipped
        self._sample_at = now
        self.sample(r)

    def _learn(self, now: int, value: int) -> None:
        self.smallest, self._near_at, self._drain_until = value, now, None


class Path:
    """What is known of a path. Intervals are in nanoseconds, as the pace is; other times in microseconds."""

    def __init__(self, rate: int = 0, fixed: bool = False, burst: bool = False) -> None:
        self.round_trip = PathRoundTrip()
        self.pace_ns = 0
        self.yields = False
        self._limit = 1_066 * 8 * 10**9 // rate if rate else 0
        self._fixed = fixed
        self._burst = burst
        self._epochs: list[int] = []  # the smallest sample of this epoch, and of the one before
        self._epoch_at = 0
        self._ran_dry_at: float = -NEVER
        self._train: tuple[int, int] | None = None
        self._gained = 0

    def adopt(self, other: Path) -> None:
        """LAN-9: the estimate of the round trip is one for all lanes, rate and pace are taken over."""
        self.round_trip, self.pace_ns = other.round_trip, other.pace_ns
        self._epochs, self._epoch_at = list(other._epochs), other._epoch_at
        self._ran_dry_at, self._train, self._gained = other._ran_dry_at, other._train, other._gained

    def end_train(self) -> None:
        self._train = None

    def ran_dry(self, now: int) -> None:
        self._ran_dry_at = now

    def arrived(self, now: int, n: int, newest: int) -> None:
        """RAT-1; `newest` counts transmissions."""
        if self._train is not None:
            self._gained += n
            since, first = self._train
            lasts = now - since >= max(self.round_trip.smallest // 2, TRAIN_TIME)
            if self._gained < LONG_TRAIN and not (self._gained >= SHORT_TRAIN and lasts):
                return
            self._sample_rate(now, since, newest - first)
        self._train, self._gained = (now, newest), 0

    def _sample_rate(self, now: int, since: int, overtaken: int) -> None:
        """RAT-2 to RAT-5."""
        took = 1_000 * min(now - since, LONGEST_SAMPLE)
        x = took // self._gained
        if overtaken > self._gained:
            x = max(took // overtaken, x // 2)
        x = max(x, FASTEST)
        if not (self._rate == 0 or x < self._rate or self._ran_dry_at < since - self.round_trip.srtt):
            return
        if not self._epochs or now - self._epoch_at >= max(self.round_trip.srtt, RATE_EPOCH):
            self._epochs, self._epoch_at = [x, *self._epochs[:1]], now
        self._epochs[0] = min(self._epochs[0], x)

    @property
    def _rate(self) -> int:
        return min(self._epochs, default=0)

    @property
    def per_slice(self) -> int:
        """0 while nothing is known of the rate."""
        return max(self._limit, FASTEST) if self._fixed else self._rate

    def has_room(self, flight: int, have: int) -> bool:
        """WIN-3."""
        return self._burst or self._fixed or flight < self._window(have)

    def _window(self, have: int) -> int:
        """WIN-1, WIN-2, WIN-4 and WIN-5."""
        if not self.per_slice:
            return (YIELD_WINDOW if self.yields else FIRST_WINDOW) + have
        return self.holds

    @property
    def holds(self) -> int:
        """How many slices of all lanes the path holds (LAN-10)."""
        if not self.per_slice:
            return YIELD_WINDOW if self.yields else FIRST_WINDOW
        if self.round_trip.drains:
            return DRAIN_WINDOW
        window = (self.round_trip.smallest + ACK_DELAY) * 1_000 // self.per_slice
        return (window if self.yields else window * 3 // 2) + LEAST_WINDOW

    @property
    def pace_at(self) -> int:
        """When the next slice may go, rounded up to a microsecond."""
        return -(-self.pace_ns // 1_000)

    def restart(self, now: int) -> None:
        """PAC-5."""
        self.pace_ns = max(self.pace_ns, 1_000 * now)

    def spend(self, now: int, beyond: bool) -> None:
        """PAC-4; `beyond` the source slices burst goes at the path's pace."""
        late = 1_000 * (now - CATCH_UP)
        if self.pace_ns // 1_000 < now - CATCH_UP:
            self.ran_dry(now)
        self.pace_ns = max(self.pace_ns, late) + self._interval(beyond)

    def _interval(self, beyond: bool) -> int:
        """PAC-1 to PAC-3, PRO-1, PRO-2 and PRO-4."""
        if self._burst and not beyond:
            return max(BURST_INTERVAL, self._limit)
        if self._fixed:
            return self.per_slice
        return max(min(self._rate * 7 // 8, SLOWEST), FASTEST, self._limit)
