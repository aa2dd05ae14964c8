"""The controller of spec/RECOVERY.md, sections 3 to 10, where every sample is clean. Lanes share one."""

from __future__ import annotations

from .base import LONGEST_SAMPLE, MS
from .cap import Cap, Losses
from .drains import ACK_DELAY, PathRoundTrip
from .limit import SLOWEST, TWO_SLICES, Limit
from .times import NEVER

LONG_TRAIN = 16
SHORT_TRAIN = 4
TRAIN_TIME = 20 * MS
RATE_EPOCH = 10 * MS
FASTEST = 7_000
YIELD_WINDOW = 16
DRAIN_WINDOW = 4
LEAST_WINDOW = 8
MOST_WINDOW = 2**31 - 1
CATCH_UP = 20 * MS
BURST_INTERVAL = 85_000
LONGEST_PROBE = 1_000 * MS
SILENT_TIMERS = 3
SILENT_ACKS = 8


class Train:
    """A run of news (RAT-1)."""

    def __init__(self, now: int) -> None:
        self.since = self.news_at = now
        self.pause = self.gained = self.gone_by = 0


class Share:
    """The part that a lane has in a path."""

    def __init__(self) -> None:
        self.flight = 0
        self.active = self.wants = False


class Path:
    """What is known of a path. Intervals are in nanoseconds, as the pace is; other times in microseconds."""

    def __init__(self, rate: int = 0, fixed: bool = False, burst: bool = False) -> None:
        self.round_trip = PathRoundTrip()
        self.losses = Losses()
        self.limit = Limit(self.round_trip)
        self.pace_ns = 0
        self.probe_at = 0
        self.yields = False
        self.flight = 0
        self._cap = Cap(self.round_trip, self.losses)
        self._limit_ns = 1_066 * 8 * 10**9 // rate if rate else 0
        self._fixed = fixed
        self._burst = burst
        self._epochs: list[int] = []  # the smallest sample of this epoch, and of the one before
        self._epoch_at = 0
        self._ran_dry_at: float = -NEVER
        self._train: Train | None = None
        self._arrival = 0
        self._timeouts = self._unanswered = 0
        self._silenced = False
        self._active = self._wanting = 0

    def begin(self, now: int, share: Share) -> None:
        """REC-2."""
        if not share.active:
            if self._active == 0:
                self.round_trip.busy_since = now
                self._cap.start(now)
            share.active = True
            self._active += 1
        self.round_trip.start()
        self.end_train()

    def leave(self, share: Share) -> None:
        """A lane has no chunk in flight any more."""
        self.note_flight(share, 0)
        self._want(share, False)
        if share.active:
            share.active = False
            self._active -= 1

    def note_flight(self, share: Share, flight: int) -> None:
        self.flight += flight - share.flight
        share.flight = flight
        self.limit.note_flight(self.flight)

    def _want(self, share: Share, wants: bool) -> None:
        self._wanting += wants - share.wants
        share.wants = wants

    def end_train(self) -> None:
        self._train = None

    def ran_dry(self, now: int) -> None:
        self._ran_dry_at = now

    def clean(self, now: int, r: int) -> None:
        """EST-2."""
        ended, near = self.round_trip.clean(now, r, self.limit.contested)
        self.limit.sampled = True
        if ended:
            self.limit.end_drain(now, near)

    def news(self, now: int, n: int, passed: int, missing: int) -> None:
        """REC-11."""
        if n:
            self._timeouts = self._unanswered = self.probe_at = 0
            self._silenced = False
        self.losses.count(n, missing)
        self._add(now, n, passed)
        self._cap.news(now, n, missing, self._delivered(now), self.per_slice)
        self.limit.news(now, n, missing, self.flight, self.per_slice)

    def _add(self, now: int, n: int, passed: int) -> None:
        """RAT-1."""
        train = self._train
        if train is not None:
            train.gone_by += passed
        if n == 0:
            return
        if train is not None:
            train.gained += n
            train.pause, train.news_at = max(train.pause, now - train.news_at), now
            lasts = now - train.since >= max(self.round_trip.smallest // 2, TRAIN_TIME)
            if train.gained < LONG_TRAIN and not (train.gained >= SHORT_TRAIN and lasts):
                return
            self._sample_rate(now, train)
        self._train = Train(now)

    def _sample_rate(self, now: int, train: Train) -> None:
        """RAT-2 to RAT-5."""
        took = 1_000 * min(now - train.since, LONGEST_SAMPLE)
        self._arrival = max(took - 1_000 * min(train.pause, LONGEST_SAMPLE), 0) // train.gained
        dry = self._ran_dry_at >= train.since - self.round_trip.srtt
        x = took // train.gained
        if train.gone_by > train.gained:
            x = max(took // train.gone_by, x * (1_024 - min(max(self._cap.calm, 256), 512)) // 1_024)
        x = max(x, FASTEST)
        if self._rate and x >= self._rate and dry:
            return
        if not self._epochs or now - self._epoch_at >= max(self.round_trip.srtt, RATE_EPOCH):
            self._epochs, self._epoch_at = [x, *self._epochs[:1]], now
        self._epochs[0] = min(self._epochs[0], x)

    def _delivered(self, now: int) -> int:
        """How long a slice took to arrive of late (CAP-2); 0 if that is not known."""
        train = self._train
        if train is None or train.gained < 2:
            return self._arrival
        return max(self._arrival, 1_000 * min(now - train.since - train.pause, LONGEST_SAMPLE) // train.gained)

    @property
    def _rate(self) -> int:
        return min(self._epochs, default=0)

    @property
    def per_slice(self) -> int:
        """0 while nothing is known of the rate."""
        return max(self._limit_ns, FASTEST) if self._fixed else self._rate

    def has_room(self) -> bool:
        """WIN-3 and LMT-9."""
        if self._burst or self._fixed:
            return True
        if self.flight >= self._limit_slices:
            self.limit.full = self.limit.blocked = True
            return False
        if self.limit.contested and not self.round_trip.drains:
            return True
        return self.flight < self._window

    @property
    def _limit_slices(self) -> int:
        """LMT-9 and WIN-5."""
        n = max(self.limit.size, TWO_SLICES) // 8
        return min(n, YIELD_WINDOW) if self.yields and not self.per_slice else n

    @property
    def _window(self) -> int:
        """WIN-1, WIN-2, WIN-4 and WIN-5."""
        if not self.per_slice:
            return MOST_WINDOW
        if self.round_trip.drains:
            return DRAIN_WINDOW
        window = (self.round_trip.smallest + ACK_DELAY) * 1_000 // self.per_slice
        return min((window if self.yields else window * 3 // 2) + LEAST_WINDOW, MOST_WINDOW)

    @property
    def holds(self) -> int:
        """How many slices all lanes may have in flight when a chunk begins (WIN-6)."""
        if self.limit.contested and not self.round_trip.drains:
            return self._limit_slices
        return min(self._window, self._limit_slices)

    @property
    def pace_at(self) -> int:
        """When the next slice may go, rounded up to a microsecond."""
        return -(-self.pace_ns // 1_000)

    def go(self, now: int, share: Share, wants: bool, beyond: bool) -> bool:
        """REC-5, from step 3 on; `beyond` the source slices burst goes at the path's pace."""
        if self.round_trip.drains or self.limit.blocked:
            self.ran_dry(now)
            self.limit.blocked = False
        if self._wanting == 0:
            self.pace_ns = max(self.pace_ns, 1_000 * now)
        self._want(share, wants)
        if not wants or now < self.pace_at:
            return False
        if self.pace_ns // 1_000 < now - CATCH_UP:
            self.ran_dry(now)
        self._unanswered += 1
        self.pace_ns = max(self.pace_ns, 1_000 * (now - CATCH_UP)) + self._interval(beyond)
        return True

    def _interval(self, beyond: bool) -> int:
        """PAC-1 to PAC-3, PAC-6, PAC-7, PRO-1, PRO-2 and PRO-4."""
        if self._burst and not beyond:
            return max(BURST_INTERVAL, self._limit_ns)
        if self._fixed:
            return self.per_slice
        ns = min(self._rate * 7 // 8, SLOWEST)
        round_ns = 8_000 * self.round_trip.latest // self.limit.size
        if self.limit.contested:
            ns = min(ns, round_ns * 3 // 4)
        elif self.limit.size < TWO_SLICES:
            ns = max(ns, round_ns)
            self.limit.full = self.limit.blocked = True
        elif not self.limit.opening:
            ns = max(ns, round_ns // 2)
        return max(min(max(ns, self._cap.least), SLOWEST), FASTEST, self._limit_ns)

    def timed_out(self, now: int) -> None:
        """PTO-3 and PTO-7."""
        self.end_train()
        delay, _ = self.round_trip.delays
        measured = self.round_trip.measured
        if measured:
            delay //= 8
        self.probe_at = now + min(delay << min(self._timeouts, 10), LONGEST_PROBE)
        self._timeouts += 1
        if measured and (self._silenced or self._timeouts < SILENT_TIMERS or not self._is_too_silent):
            return
        self._silenced = True
        self.limit.silence(measured)

    @property
    def _is_too_silent(self) -> bool:
        lost, arrived = self.losses.lost, self.losses.arrived
        return self._unanswered * arrived // (arrived + lost) * arrived // (arrived + lost) >= SILENT_ACKS
