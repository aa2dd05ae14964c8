"""Sections 3 to 8 of spec/RECOVERY.md: round trip, rate, window, limit and pace of a path.

All senders of a connection share one controller. Times are in microseconds, intervals between two
slices in nanoseconds, limits in eighths of a slice, and shares of loss in 1024ths.
"""

from __future__ import annotations

from math import isqrt

from .base import LONGEST_SAMPLE, MS, RoundTrip, quotient
from .times import NEVER

SECOND = 1_000 * MS

ACK_DELAY = 2 * MS
MIN_RTT_LIFE = 10 * SECOND
DRAIN_EVERY = 10 * SECOND
DRAIN_LATE = 7 * SECOND
DRAIN_FIRST = 2_500 * MS
DRAIN_SOON = 500 * MS
DRAIN_SLOTS = 4
DRAIN_MISSES = 3
ALARM_FIRST = SECOND
FALL = MS

LONG_TRAIN = 16
SHORT_TRAIN = 4
TRAIN_TIME = 20 * MS
RATE_EPOCH = 10 * MS
FASTEST = 7_000
SLOWEST = 10**9
LEAST_WINDOW = 8
YIELD_WINDOW = 20
CATCH_UP = 20 * MS
BURST_INTERVAL = 85_000

WHOLE = 8
FIRST_LIMIT = 32 * WHOLE
LEAST_LIMIT = WHOLE // 2
TWO_SLICES = 2 * WHOLE
TARGET_LEAST = 5 * MS
TARGET_MOST = 20 * MS
SPARE = 2
MOST_SUMMED = 256
MOST_CALM = 1_024
CALM_PRIOR = 64

RISE_ROUNDS = 8
RISE_LEAST = 10 * MS
RISE_SLACK = 5 * MS
CALM_QUEUE = 5 * MS
CALM_ROUNDS = 2
QUIET = 20 * SECOND
STEADY_BAND = 2 * MS
STEADY = 4
CROWD = 64

ACCOUNT_SLICES, ACCOUNT_ROUNDS = 128, 8
LOOK_SLICES = 64
CAP_SLICES, CAP_ROUNDS = 32, 4
MUCH_LOST = 128
LEAST_LOST = 16
MOST_LOST = 768
FIRST_WAIT = 24
LONGEST_WAIT = 384
CAP_BAD = 4

LONGEST_PROBE = SECOND
MOST_DOUBLED = 10
SILENT_TIMERS = 3
SILENT_ACKS = 8

FIRST_LOST = 16
FIRST_ARRIVED = 512
PRIOR = 448
SETTLED = 1_536
MEMORY = 16_384


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

    def forget(self, calm: int) -> None:
        """CAP-3: no more than does not depend on the rate."""
        self.lost = min(self.lost, self.arrived * (calm + 8) // (1_024 - min(calm, 1_000)))


class Base:
    """The round trip of the path without its queue, and when the queue is to drain (EST-6 to EST-10)."""

    def __init__(self) -> None:
        self.value = 0
        self.drains = False
        self.busy_since = 0
        self.drain_at = 0
        self._sample_at = self._ended_at = self._gap = self._misses = 0
        self._until = self._full_at = self._found = 0
        self._fell = False

    def drain(self, now: int, srtt: int, r: int) -> None:
        self.drains = True
        self._until, self._full_at, self._found = now + 2 * max(srtt, r), now + r, r

    def postpone(self, now: int) -> None:
        """CTD-1: no drain for now."""
        self.drains, self.drain_at = False, now + DRAIN_EVERY

    def add(self, now: int, r: int, srtt: int, contested: bool) -> tuple[bool, bool]:
        """A sample: whether a drain has ended, and with a sample near the base."""
        silent = not self.value or now - self._sample_at >= MIN_RTT_LIFE
        self._sample_at = now
        if silent:
            self.value, self.drains, self.drain_at, self._misses = r, False, now + DRAIN_FIRST, 0
            return False, False
        if r < self.value:
            self._fall(now, r, srtt, contested)
        ended = near = False
        if self.drains:
            self._found = min(self._found, r)
            near = self._found <= self.value + max(self.value // 8, ACK_DELAY)
            ended = now >= self._until or near and not self._fell and now >= self._full_at
        if ended:
            self._end(now, near, contested)
        if not self.drains and self._is_due(now, contested):
            self.drain(now, srtt, r)
        return ended, near

    def _fall(self, now: int, r: int, srtt: int, contested: bool) -> None:
        """EST-8: others drain."""
        if self.value - r >= FALL:
            self._fell = True
            if not self.drains and not contested:
                self.drain(now, srtt, r)
        self.value = r

    def _is_due(self, now: int, contested: bool) -> bool:
        """EST-7."""
        busy = now - self.busy_since >= DRAIN_FIRST
        return now >= self.drain_at and (contested or busy or now - self.drain_at >= DRAIN_LATE)

    def expire(self, now: int) -> None:
        """EST-9: a drain without a sample says nothing of the path."""
        if self.drains and now >= self._until:
            self._stop(now)

    def _stop(self, now: int) -> None:
        """EST-9."""
        self.drains, self._ended_at = False, now
        self.drain_at, self._gap = now + DRAIN_EVERY, min(2 * max(self._gap, ALARM_FIRST), DRAIN_EVERY)
        if self._fell:
            self.drain_at, self._gap, self._fell = now + DRAIN_SOON, DRAIN_SOON, False

    def _end(self, now: int, near: bool, contested: bool) -> None:
        """EST-9, EST-10."""
        self._stop(now)
        if near:
            self._misses = 0
        elif not contested:
            self._misses += 1
            if self._misses == DRAIN_MISSES:
                self.value, self._misses = self._found, 0

    def may_alarm(self, now: int) -> bool:
        """LMT-4."""
        return not self.drains and now - self.busy_since >= ALARM_FIRST and now - self._ended_at >= self._gap


class Rate:
    """How long the path takes for a slice, by trains of acks (section 4)."""

    def __init__(self) -> None:
        self.ran_dry_at: float = -NEVER
        self._epochs: list[int] = []  # the smallest sample of this epoch, and of the one before
        self._epoch_at = 0
        self._open = False
        self._since = self._arrived = self._passed = self._news_at = self._pause = 0
        self._whole = 0  # of the latest train, without its pause

    @property
    def per_slice(self) -> int:
        """0 while nothing is known."""
        return min(self._epochs, default=0)

    def end_train(self) -> None:
        self._open = False

    def arrived(self, now: int, n: int, passed: int, round_trip: RoundTrip, base: int, calm: int) -> None:
        """RAT-1."""
        self._passed += passed
        if not n:
            return
        if self._open:
            self._arrived += n
            self._pause, self._news_at = max(self._pause, now - self._news_at), now
            lasts = now - self._since >= max(base // 2, TRAIN_TIME)
            if self._arrived < LONG_TRAIN and not (self._arrived >= SHORT_TRAIN and lasts):
                return
            self._sample(now, round_trip.srtt, calm)
        self._open, self._since, self._news_at = True, now, now
        self._pause = self._arrived = self._passed = 0

    def _sample(self, now: int, srtt: int, calm: int) -> None:
        """RAT-2 to RAT-5."""
        took = 1_000 * min(now - self._since, LONGEST_SAMPLE)
        self._whole = max(took - 1_000 * min(self._pause, LONGEST_SAMPLE), 0) // self._arrived
        x = took // self._arrived
        if self._passed > self._arrived:
            x = max(took // self._passed, x * (1_024 - min(max(calm, 256), 512)) // 1_024)
        x = max(x, FASTEST)
        if self.per_slice and x >= self.per_slice and self.ran_dry_at >= self._since - srtt:
            return
        if not self._epochs or now - self._epoch_at >= max(srtt, RATE_EPOCH):
            self._epochs, self._epoch_at = [x, *self._epochs[:1]], now
        self._epochs[0] = min(self._epochs[0], x)

    def delivered(self, now: int) -> int:
        """How long it took of late for a slice to arrive, without the longest pause; 0: not known (CAP-2)."""
        if not self._open or self._arrived < 2:
            return self._whole
        return max(self._whole, 1_000 * min(now - self._since - self._pause, LONGEST_SAMPLE) // self._arrived)


class Cap:
    """Whether slices are lost because of the rate, though no queue is seen (section 8)."""

    def __init__(self) -> None:
        self.interval = self.look = self.calm = 0
        self._seeking = False
        self._bad = self._raised_at = self._before = self._look_at = self._wait = 0
        self._since = self._arrived = self._lost = 0

    @property
    def least(self) -> int:
        return max(self.interval, self.look)

    def start(self, at: int) -> None:
        self._since, self._arrived, self._lost = at, 0, 0

    def begin(self, now: int) -> None:
        self.look = 0
        self.start(now)

    def account(self, c: Controller, now: int, arrived: int, lost: int) -> None:
        """CAP-1."""
        srtt = c.round_trip.srtt
        if not srtt or now < self._since:
            return
        self._arrived += arrived
        self._lost = max(self._lost + lost, 0)
        self._raise(now, srtt)
        slices, rounds = (CAP_SLICES, CAP_ROUNDS) if self.interval else (ACCOUNT_SLICES, ACCOUNT_ROUNDS)
        if self.look:
            slices, rounds = LOOK_SLICES, ACCOUNT_ROUNDS
        n, took = self._arrived + self._lost, now - self._since
        if not n or took < srtt or n < slices and took < rounds * srtt:
            return
        interval, p = 1_000 * min(took, LONGEST_SAMPLE) // max(self._arrived, 1), self._lost * 1_024 // n
        judge = self._judge_look if self.look else self._judge_cap if self.interval else self._suspect
        judge(c, now, n, p, interval)

    def _suspect(self, c: Controller, now: int, n: int, p: int, interval: int) -> None:
        """CAP-2: begins a look if much is lost."""
        delivered = c.rate.delivered(now)
        calm = p < MUCH_LOST or self._lost < LEAST_LOST or p <= self.calm * 5 // 4 + 16
        if calm or now < self._look_at:
            self.start(now)
            return
        self.look, self._before = max(delivered, c.path_interval), p
        if p >= MOST_LOST or not delivered:
            self.look = min(max(self.look, interval), SLOWEST)
        self.start(now + c.limit.latest)

    def _judge_look(self, c: Controller, now: int, n: int, p: int, interval: int) -> None:
        """CAP-3, CAP-4."""
        expected = self._before * n // 1_024
        if 4 * self._lost < 3 * expected and self._lost + 3 * isqrt(self._lost + 1) < expected:
            self.interval, self._seeking, self._bad = min(max(self.look, interval), SLOWEST), True, 0
            c.loss.forget(self.calm)
            self.look = 0
        elif p >= MOST_LOST and 2 * self.look <= interval < SLOWEST:
            self.look = interval
        else:
            self.calm, self.look = p, 0
            self._wait = min(max(2 * self._wait, FIRST_WAIT), LONGEST_WAIT)
            self._look_at = now + self._wait * c.round_trip.srtt
        self.start(now + c.limit.latest)

    def _judge_cap(self, c: Controller, now: int, n: int, p: int, interval: int) -> None:
        """CAP-5, CAP-6."""
        expected = 5 * self.calm * n // 4_096
        if self._lost <= expected + 2 + 2 * isqrt(expected):
            self._bad = 0
            if self._seeking:
                self.interval = self.interval * 3 // 4
            if self.interval < c.per_slice * 5 // 8:
                self.interval = 0
            self.start(now)
            return
        self._bad += 1
        if self._bad >= CAP_BAD and 2 * p > self._before:
            self.interval, self.calm = 0, p
        else:
            self.interval = min(max(self.interval * 8 // 7, min(interval, 2 * self.interval)), SLOWEST)
            self._seeking = False
        self.start(now + c.limit.latest)

    def _raise(self, now: int, srtt: int) -> None:
        """CAP-7: a quarter of a slice more in each round trip."""
        if not self.interval or self.look or self._seeking or now - self._raised_at < srtt:
            return
        self._raised_at = now
        self.interval = max(self.interval * 4_000 * srtt // (4_000 * srtt + self.interval), 1)


class Row:
    """A run of decisions with a queue above the target."""

    def __init__(self, now: int, limit: int) -> None:
        self.at, self.limit = now, limit
        self.lost = 0
        self.abrupt = False
        self.flat = self._flat_least = 0

    def note(self, lost: int, least: int, abrupt: bool, band: int) -> None:
        self.lost += lost
        self.abrupt |= abrupt
        if lost > 0:
            return
        if self.flat and abs(least - self._flat_least) <= band:
            self.flat += 1
        else:
            self.flat, self._flat_least = 1, least


class Limit:
    """How much may be in flight, so that the queue stays short (sections 6 and 7)."""

    def __init__(self) -> None:
        self.size, self._step = FIRST_LIMIT, WHOLE
        self.opening = True
        self.latest = 0
        self.contested = self.blocked = self.full = False
        self.most = self.marked = 0
        self._sampled = False
        self._round_at = 0
        self._closes_at: int | None = None
        self._least = self._before = 0
        self._lost = self._passed = 0
        self._sum_lost = self._sum_passed = 0
        self._calm_lost = self._calm_passed = 0
        self._calm = self._noise = self._rises = self._rises_from = 0
        self._row: Row | None = None

    def sample(self, r: int) -> None:
        self._sampled, self.latest = True, r

    def hold(self) -> None:
        """It held a slice back."""
        self.full = self.blocked = True

    def drained(self, now: int, base: Base, near: bool) -> None:
        """CTD-3, CTD-5."""
        self._noise = self._noise * 3 // 4
        if self.contested and near:
            self._end_contest(now, base)

    def halve(self, size: int) -> None:
        """PTO-7."""
        self.size, self._step = size, max(size // 4, 1)

    def decide(self, c: Controller, now: int, arrived: int, lost: int) -> None:
        """LMT-1, LMT-2."""
        self._lost += lost
        self._passed += lost + arrived
        if self.opening and self._queue(c.base, self.latest) <= _target(c.base) // 2:
            self.size += WHOLE * max(min(2 * (arrived + lost), 3 * arrived), 0)
            self.size = min(self.size, max(3 * self.most, FIRST_LIMIT))
        if not self._sampled:
            return
        self._sampled = False
        self._round_at = self._round_at or now + self.latest
        if self._closes_at is None:
            if now >= self._round_at:
                self._closes_at, self._least = now + self.latest // 4, self.latest
            return
        self._least = min(self._least, self.latest)
        if now < self._closes_at:
            return
        self._judge(c, now)
        self._before = self._least
        self.most, self.full, self._lost, self._passed, self.marked = WHOLE * c.flight, False, 0, 0, 0
        self._closes_at, self._round_at = None, now + self.latest

    def _queue(self, base: Base, r: int) -> int:
        return r - base.value - self._noise

    def _judge(self, c: Controller, now: int) -> None:
        """LMT-3 to LMT-8."""
        base = c.base
        q, t = self._queue(base, self._least), _target(base)
        used = self.size if self.full else min(self.most, self.size)
        lossy = self._is_lossy(q, t)
        self._alarm(c, now, used, q, t)
        self._judge_contest(c, now, used, q, t)
        q, t = self._queue(base, self._least), _target(base)  # CTD-4 may have changed the base
        if base.drains:
            return
        if self.contested:
            self._compete(used, lossy)
        elif q > t:
            self._cut(max(used * (base.value + self._noise + t // 2) // self._least, used // 2))
        elif self.marked or lossy and q > t // 2:
            self._cut(used * 7 // 8)
        elif self.full and not self.opening:
            self._grow(q < t // 2)

    def _cut(self, size: int) -> None:
        """LMT-5, LMT-6."""
        self.size, self._step, self.opening = max(size, LEAST_LIMIT), WHOLE, False

    def _grow(self, empty: bool) -> None:
        """LMT-7."""
        if not empty:
            self._step = WHOLE
        self.size += self._step
        if empty:
            self._step = min(2 * self._step, self.size // 2)
        self._step = max(self._step, min(WHOLE, self.size // 4), 1)

    def _compete(self, used: int, lossy: bool) -> None:
        """CTD-6."""
        if lossy:
            self.size = max(used * 7 // 10, LEAST_LIMIT)
        elif self.full:
            self.size += min(WHOLE, self.size // 4)

    def _is_lossy(self, q: int, t: int) -> bool:
        """LMT-3."""
        self._sum_lost += self._lost
        self._sum_passed += self._passed
        expected = 5 * self._sum_passed * self._calm_lost // (4 * (self._calm_passed + CALM_PRIOR))
        beyond = self._sum_lost - expected - 2 * isqrt(expected)
        lossy = beyond > SPARE or self.contested and beyond > 0 or self.marked > 0
        if lossy:
            self._sum_lost = self._sum_passed = 0
        elif self._sum_passed > MOST_SUMMED:
            self._sum_lost, self._sum_passed = quotient(self._sum_lost, 2), self._sum_passed // 2
        if not self.contested and q <= t // 2:
            self._calm_lost += max(self._lost, 0)
            self._calm_passed += max(self._passed, 0)
            if self._calm_passed > MOST_CALM:
                self._calm_lost, self._calm_passed = self._calm_lost // 2, self._calm_passed // 2
        return lossy

    def _alarm(self, c: Controller, now: int, used: int, q: int, t: int) -> None:
        """LMT-4."""
        if self._lost < 3 or q > t:
            return
        if 8 * self._lost >= self._passed and not self.contested and c.base.may_alarm(now):
            c.base.drain(now, c.round_trip.srtt, self.latest)
        if self.opening and 4 * self._lost >= self._passed and q >= t // 8:
            self.opening, self._step = False, max(used // 4, 1)

    def _judge_contest(self, c: Controller, now: int, used: int, q: int, t: int) -> None:
        """CTD-1 to CTD-4."""
        if c.base.drains:
            return
        if self.contested:
            self._calm = 0 if q > max(t, CALM_QUEUE) else self._calm + 1
            if self._calm == CALM_ROUNDS:
                self._end_contest(now, c.base)
        elif q <= t:
            self._rises, self._row = 0, None
        else:
            self._note_rise(q)
            self._row = self._row or Row(now, used)
            self._row.note(self._lost, self._least, q > 2 * t, max(STEADY_BAND, c.base.value // 32))
            self._judge_row(c, now, self._row, used, q, t)

    def _note_rise(self, q: int) -> None:
        if not self._rises:
            self._rises, self._rises_from = 1, self._least
        elif self._least > self._before:
            self._rises += 1
        elif self._least < self._before - max(RISE_SLACK, q // 16):
            self._rises = 0

    def _judge_row(self, c: Controller, now: int, row: Row, used: int, q: int, t: int) -> None:
        yielded = self.size <= max(row.limit // 2, TWO_SLICES)
        steady = yielded and row.flat >= STEADY and row.abrupt
        if self._rises >= RISE_ROUNDS and self._least >= self._rises_from + max(t * 3 // 2, RISE_LEAST):
            self._contest(c.base, now, max(used, row.limit // 2))  # CTD-1
        elif steady and q * 1_000 * WHOLE > CROWD * max(used, TWO_SLICES) * min(c.per_slice, SLOWEST):
            self._reopen(c.base, row)  # CTD-4
        elif yielded and row.lost == 0 and now - row.at >= QUIET:
            self._contest(c.base, now, max(used, row.limit))  # CTD-2

    def _contest(self, base: Base, now: int, size: int) -> None:
        self.contested, self._calm, self._rises, self._row = True, 0, 0, None
        self.size = max(size, TWO_SLICES)
        base.postpone(now)

    def _end_contest(self, now: int, base: Base) -> None:
        """CTD-3."""
        self.contested, self._rises, self._row = False, 0, None
        base.drain_at = now + DRAIN_SOON

    def _reopen(self, base: Base, row: Row) -> None:
        """CTD-4: the queue is the path's."""
        beyond = self._least - base.value
        if beyond <= base.value:
            self._noise = beyond
        else:
            base.value, self._noise = self._least, 0
        self.size, self.opening = max(self.size, row.limit), True
        self._row = None


def _target(base: Base) -> int:
    """How long a queue is wanted at most (LMT-2)."""
    return min(max(base.value // 4, TARGET_LEAST), TARGET_MOST)


class Share:
    """A sender's part in a controller."""

    def __init__(self) -> None:
        self.flight = 0
        self.active = self.wants = False


class Controller:
    """What the senders of a connection know of the path, and when that lets a slice go."""

    def __init__(self, rate: int = 0, fixed: bool = False, burst: bool = False) -> None:
        self.round_trip = RoundTrip()
        self.base, self.rate, self.limit, self.cap, self.loss = Base(), Rate(), Limit(), Cap(), Loss()
        self.pace_ns = 0
        self.yields = False
        self.flight = 0
        self.probe_at = 0
        self._heard_at = 0
        self._least_interval = 1_066 * 8 * 10**9 // rate if rate else 0
        self._fixed = fixed
        self._burst = burst
        self._active = self._wanting = 0
        self._timeouts = self._unanswered = 0
        self._silenced = False

    # Senders

    def begin(self, now: int, share: Share) -> None:
        """REC-2."""
        if not share.active:
            if not self._active:
                self.base.busy_since = now
                self.cap.begin(now)
            share.active = True
            self._active += 1
        self.in_flight(share, 0)  # what is left of one that was given up
        self.round_trip.start()
        self.end_train()

    def in_flight(self, share: Share, n: int) -> None:
        self.flight += n - share.flight
        share.flight = n
        self.limit.most = max(self.limit.most, WHOLE * self.flight)

    def leave(self, share: Share) -> None:
        self.in_flight(share, 0)
        self._want(share, False)
        self._active -= share.active
        share.active = False

    def _want(self, share: Share, wants: bool) -> None:
        self._wanting += wants - share.wants
        share.wants = wants

    def go(self, now: int, share: Share, wants: bool, fresh: bool) -> bool:
        """Whether the slice that a sender wants to send goes out; then it counts as sent (REC-5)."""
        if self.base.drains or self.limit.blocked:
            self.ran_dry(now)
            self.limit.blocked = False
        if not self._wanting:
            self.pace_ns = max(self.pace_ns, 1_000 * now)  # PAC-5
        self._want(share, wants)
        if not wants or now < self.pace_at:
            return False
        if self.pace_ns // 1_000 < now - CATCH_UP:
            self.ran_dry(now)
        self._unanswered += 1
        self.pace_ns = max(self.pace_ns, 1_000 * (now - CATCH_UP)) + self._interval(fresh)  # PAC-4
        return True

    # News

    def clean(self, now: int, r: int) -> None:
        """EST-2, EST-6."""
        r = max(min(r, LONGEST_SAMPLE), 1)
        self.round_trip.sample(r)
        self.limit.sample(r)
        ended, near = self.base.add(now, r, self.round_trip.srtt, self.limit.contested)
        if ended:
            self.limit.drained(now, self.base, near)

    def arrived(self, now: int, n: int, passed: int, lost: int) -> None:
        """`n` slices were newly acked, `passed` transmissions left the path, and `lost` were found lost."""
        if n > 0:
            self._heard_at = now
            self._timeouts = self._unanswered = self.probe_at = 0  # PTO-6
            self._silenced = False
        self.base.expire(now)
        self.loss.count(n + lost, n)
        self.rate.arrived(now, n, passed, self.round_trip, self.base.value, self.cap.calm)
        self.cap.account(self, now, n, lost)
        self.limit.decide(self, now, n, lost)

    def marked(self, n: int) -> None:
        """ECN-1."""
        self.limit.marked += n

    def timed_out(self, now: int) -> None:
        """PTO-3, PTO-7."""
        self.end_train()
        delay, _ = self.round_trip.delays
        measured, limit = self.round_trip.measured, self.limit
        if measured:
            delay //= 8
        self.probe_at = now + min(delay << min(self._timeouts, MOST_DOUBLED), LONGEST_PROBE)
        self._timeouts += 1
        if not measured:
            limit.halve(max(min(limit.size, limit.most) // 2, TWO_SLICES))
        elif not self._silenced and self._timeouts >= SILENT_TIMERS and self._is_too_silent:
            limit.halve(max(limit.size // 2, min(limit.size, TWO_SLICES)))
        else:
            return
        self._silenced = True

    @property
    def silent_at(self) -> int:
        """From when on LMT-10 holds."""
        return self._heard_at + self.round_trip.delays[0]

    @property
    def _is_too_silent(self) -> bool:
        """PTO-7: whether the loss that is known does not explain the silence."""
        a, all_ = self.loss.arrived, self.loss.arrived + self.loss.lost
        return self._unanswered * a // all_ * a // all_ >= SILENT_ACKS

    def end_train(self) -> None:
        self.rate.end_train()

    def ran_dry(self, now: int) -> None:
        self.rate.ran_dry_at = now

    # Window, limit and pace

    @property
    def per_slice(self) -> int:
        """0 while nothing is known of the rate."""
        return max(self._least_interval, FASTEST) if self._fixed else self.rate.per_slice

    @property
    def has_room(self) -> bool:
        """WIN-3, LMT-9."""
        if self._burst or self._fixed:
            return True
        if self.flight >= self._limit_slices:
            self.limit.hold()
            return False
        return self._competes or self.flight < self._window

    @property
    def path_slices(self) -> float:
        """How many slices of all lanes may be in flight when a chunk begins (LAN-10)."""
        return self._limit_slices if self._competes else min(self._window, self._limit_slices)

    @property
    def _competes(self) -> bool:
        return self.limit.contested and not self.base.drains

    @property
    def _window(self) -> float:
        """WIN-2, WIN-4 and WIN-5."""
        if not self.per_slice:
            return NEVER
        if self.base.drains:
            return DRAIN_SLOTS
        window = (self.base.value + ACK_DELAY) * 1_000 // self.per_slice
        return (window if self.yields else window * 3 // 2) + LEAST_WINDOW

    @property
    def _limit_slices(self) -> int:
        """LMT-9, WIN-5."""
        n = max(self.limit.size, TWO_SLICES) // WHOLE
        return min(n, YIELD_WINDOW) if self.yields and not self.per_slice else n

    @property
    def pace_at(self) -> int:
        """When the next slice may go, rounded up to a microsecond."""
        return -(-self.pace_ns // 1_000)

    def _interval(self, fresh: bool) -> int:
        """PAC-1 to PAC-3, PRO-1, PRO-2 and PRO-4."""
        if self._burst and fresh:
            return max(BURST_INTERVAL, self._least_interval)
        if self._fixed:
            return self.per_slice
        return max(self._pace_interval(), FASTEST, self._least_interval)

    def _pace_interval(self) -> int:
        """PAC-2, PAC-6, PAC-7."""
        limit, ns = self.limit, self.path_interval
        round_ns = limit.latest * 1_000 * WHOLE // limit.size
        if limit.contested:
            ns = min(ns, round_ns * 3 // 4)
        elif limit.size < TWO_SLICES:
            ns = max(ns, round_ns)
            limit.hold()
        elif not limit.opening:
            ns = max(ns, round_ns // 2)
        return min(max(ns, self.cap.least), SLOWEST)

    @property
    def path_interval(self) -> int:
        """PAC-1 to PAC-3; 0 while nothing is known."""
        return min(self.rate.per_slice * 7 // 8, SLOWEST)
