"""Sections 3 to 14 of spec/RECOVERY.md: round trip, limit, pace, timers and breaker of a path.

All senders of a connection share one controller. Times are in microseconds, intervals between two
slices in nanoseconds, the limit and amounts in use in 64ths of a slice, counts of loss in slices or
their sixteenths. A time of 0 stands for none where a decision is meant: none is made so early.
"""

from __future__ import annotations

from typing import NamedTuple

from .base import LONGEST_SAMPLE, MS, RoundTrip

SECOND = 1_000 * MS

LIFE = 10 * SECOND
DRAIN_FIRST = 2_500 * MS
DRAIN_MISSES = 3
DRAIN_SLICES = 4

WHOLE = 64
FIRST_LIMIT = 16 * WHOLE
LEAST_LIMIT = WHOLE // 2
TWO_SLICES = 2 * WHOLE
OPEN_FACTOR = 3
TARGET_LEAST = 5 * MS
TARGET_MOST = 20 * MS

PART = 4
STEP = 24
QUIET_MOST = 32
DOUBLE_PART = 8
CONTEST_ROWS = 6
GAP_SIZE = 2

PRIOR_LOST = 2
PRIOR_PASSED = 32
CALM_MOST = 8_192
CALM_PART = 2
OPEN_PART = 8
SUM_MOST = 64
VARIANCES = 18

FASTEST = 7_000
SLOWEST = 10**9
BURST_INTERVAL = 85_000
CATCH_UP = 20 * MS

MOST_DOUBLED = 10
SILENT_DELAYS = 3
SILENT_ACKS = 8

MOST_COUNTED = 1_024


class Loss:
    """How much was lost of late, in sixteenths of a slice (CAP-8)."""

    def __init__(self) -> None:
        self.lost = 16
        self.arrived = 16 * PRIOR_PASSED

    def count(self, n: int, missing: int) -> None:
        """`n` slices arrived, and `missing` were found lost, or fewer than none if some came late."""
        self.arrived += 16 * n
        self.lost = max(self.lost + 16 * missing, 0)
        if self.lost + self.arrived > 16 * MOST_COUNTED:
            self.lost, self.arrived = self.lost // 2, max(self.arrived // 2, 1)


class Base:
    """The round trip of the path without its queue, and when the queue is to drain (EST-6 to EST-10)."""

    def __init__(self) -> None:
        self.value = 0
        self.drains = False
        self.drain_at = 0
        self._sample_at = self._misses = 0
        self._until = self._full_at = self._found = 0
        self._fell = False

    def drain(self, now: int, srtt: int, r: int) -> None:
        self.drains = True
        self._until, self._full_at, self._found = now + 2 * max(srtt, r), now + r, r

    def add(self, now: int, r: int, srtt: int, target: int, others: bool) -> tuple[bool, bool]:
        """A sample, with the target as it was before it: whether a drain has ended, and with a sample near the base."""
        first = not self.value or now - self._sample_at >= LIFE
        self._sample_at = now
        if first:
            self.value, self.drains, self.drain_at, self._misses = r, False, now + DRAIN_FIRST, 0
            return False, False
        if r < self.value:
            self._fall(now, r, srtt, self.value - r >= target // PART, others)
        ended = near = False
        if self.drains:
            self._found = min(self._found, r)
            near = self._found <= self.value + target // 2
            ended = now >= self._until or near and not self._fell and now >= self._full_at
        if ended:
            self._stop(now)
            self._judge(near)
        if not self.drains and self._is_due(now, others):
            self.drain(now, srtt, r)
        return ended, near

    def _fall(self, now: int, r: int, srtt: int, by_much: bool, others: bool) -> None:
        """EST-8: other senders drain."""
        if by_much:
            self._fell = True
            if not self.drains and not others:
                self.drain(now, srtt, r)
        self.value = r

    def _is_due(self, now: int, others: bool) -> bool:
        """EST-7."""
        return now >= self.drain_at and (not others or now - self.drain_at >= LIFE)

    def expire(self, now: int) -> bool:
        """EST-9, step 4: whether a drain has ended that no sample ended; it says nothing of the path."""
        if not self.drains or now < self._until:
            return False
        self._stop(now)
        return True

    def _stop(self, now: int) -> None:
        """EST-9, step 3."""
        self.drains = False
        self.drain_at = now + (DRAIN_FIRST if self._fell else LIFE)
        self._fell = False

    def _judge(self, near: bool) -> None:
        """EST-10."""
        self._misses = 0 if near else self._misses + 1
        if self._misses == DRAIN_MISSES:
            self.value, self._misses = self._found, 0


class Breaker:
    """The circuit breaker: it stops growth where more than can be calm is lost for long (BRK-3 to BRK-5)."""

    def __init__(self) -> None:
        self.broken = False
        self._calm_at = 0
        self._lost = self._passed = 0

    def start(self, now: int) -> None:
        self._calm_at = now

    def put_off(self, idle: int) -> None:
        self._calm_at += idle

    def count(self, lost: int, passed: int) -> None:
        """BRK-3, SUS-4."""
        self._lost += lost
        self._passed += passed

    def judge(self, now: int) -> bool:
        """BRK-4: whether there is a cut."""
        if self._passed < SUM_MOST:
            return False
        if CALM_PART * self._lost <= self._passed:
            self.broken, self._calm_at = False, now
        self._lost = self._passed = 0
        cuts = now - self._calm_at >= LIFE
        self.broken |= cuts
        return cuts


class CalmLoss:
    """The loss that is expected at any rate."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """LSS-3, LSS-8."""
        self._lost = self._passed = 0

    @property
    def _share(self) -> tuple[int, int]:
        """p and b of LSS-1: p of b are lost."""
        b = self._passed + 16 * PRIOR_PASSED
        return min(self._lost + PRIOR_LOST, b // CALM_PART), b

    def exceeds(self, lost: int, passed: int, opening: bool, same: bool = False) -> bool:
        """LSS-1: whether more was lost than chance explains; of LSS-3, where the same is lost after a cut."""
        p, b = self._share
        if opening:
            p = max(p, b // OPEN_PART)
        if same:
            p = b // CALM_PART
        e = WHOLE * passed * p // b
        x = WHOLE * lost - e
        return x > 0 and x * x > VARIANCES * WHOLE * (e * (b - p) // b)

    def is_gone(self, lost: int, passed: int) -> bool:
        """LSS-3: whether most of it is not lost at a lower rate."""
        p, b = self._share
        return passed * p >= PART * b and 2 * lost * b < passed * p

    def learn(self, lost: int, passed: int, short: bool) -> None:
        """LSS-6."""
        p, b = self._share
        if not short and lost * b > passed * p:
            return
        self._lost += 16 * lost
        self._passed += 16 * passed
        if self._passed > 16 * CALM_MOST:
            self._lost, self._passed = self._lost // 2, self._passed // 2


class Before(NamedTuple):
    """What was before a cut for loss, until its look is over (LSS-5)."""

    limit: int
    ceiling: int
    lost: int
    passed: int
    opening: bool


class Limit:
    """How much may be in flight, so that the queue stays short and little is lost (sections 4 to 11)."""

    def __init__(self, round_trip: RoundTrip) -> None:
        self.size, self._step, self._quiet = FIRST_LIMIT, STEP, 0
        self.opening = True
        self._ceiling = self._low = 0
        self.yields = False
        self.base, self.breaker, self._calm = Base(), Breaker(), CalmLoss()
        self._round_trip = round_trip
        self._latest = 0
        self._sampled = False
        self._began_at = self._decides_at = self._counts_at = 0
        self._least = self._waits = self._samples = self._least_wait = 0  # least: 0 for none
        self.flight = self.most = 0
        self._lost = self._passed = 0
        self.marked = 0
        self._phase = "steady"
        self._sum_lost = self._sum_passed = 0
        self._before: Before | None = None
        self.others = self._hit = False
        self._above = self._from = self._from_speed = 0

    @property
    def slices(self) -> int:
        """The allowance (ROOM-1)."""
        n = max(self.size, TWO_SLICES) // WHOLE
        return min(n, DRAIN_SLICES) if self.base.drains else n

    @property
    def _target(self) -> int:
        """How long a queue is wanted at most (ROOM-3)."""
        t = min(max(self.base.value // PART, TARGET_LEAST), TARGET_MOST)
        return t // 2 if self.yields else t

    def fly(self, more: int) -> None:
        """REC-1."""
        self.flight += more
        self.most = max(self.most, WHOLE * self.flight)

    # Samples and news

    def clean(self, now: int, r: int) -> None:
        """EST-2, from step 2 on."""
        base, was, target = self.base, self.base.value, self._target
        self._latest, self._sampled = r, True
        ended, near = base.add(now, r, self._round_trip.srtt, target, self.others)
        if was - base.value >= target // PART:
            self._calm.forget()
        if not ended:
            return
        if near and self.others:  # OTH-4
            self.others, self._above, base.drain_at = False, 0, now + LIFE
        self._restart(now)

    def resent(self, r: int) -> None:
        """DCS-9."""
        self._wait(max(r - self.base.value, 0))

    def expire(self, now: int) -> None:
        """EST-9, step 4."""
        if self.base.expire(now):
            self._restart(now)

    def news(self, now: int, n: int, missing: int) -> None:
        """DCS-1 to DCS-3."""
        self._lost += missing
        self._passed += n + missing
        self._open(n)
        if not self._latest:
            return
        if not self._decides_at:
            self._began_at, self._decides_at = now, now + self._round
            self.breaker.start(now)
        self._take_sample(now)
        if now >= self._decides_at:
            self._decide(now)
            self._restart(now)

    def _take_sample(self, now: int) -> None:
        """DCS-2."""
        if not self._sampled:
            return
        self._sampled = False
        self._wait(self._latest - self.base.value)
        lower = now <= self._decides_at and self._latest < self._least
        if now >= self._counts_at and (not self._least or lower):
            self._least = self._latest

    def _restart(self, now: int) -> None:
        """DCS-6."""
        self.most = WHOLE * self.flight
        self._lost = self._passed = self._waits = self._samples = self._least = 0
        self._counts_at, self._began_at, self._decides_at = 0, now, now + self._round

    @property
    def _round(self) -> int:
        """How long it is until a decision."""
        return self._latest + self._latest // PART

    def _open(self, n: int) -> None:
        """ROOM-4, ROOM-5."""
        if not self.opening or n <= 0 or self._latest - self.base.value > self._target // 2:
            return
        x = min(self.size + (OPEN_FACTOR - 1) * WHOLE * n, OPEN_FACTOR * self.most)
        if 0 < self._ceiling <= x:
            x, self.opening = self._ceiling, False
        self.size = max(self.size, x)

    def resume(self, now: int, idle: int) -> bool:
        """IDL-1: no chunk was in flight. Whether the idle time counts as news."""
        lasts = idle >= self._latest
        if not self._decides_at:
            return False
        if lasts:
            self._began_at += idle
            self._decides_at += idle
            self.breaker.put_off(idle)
            self.base.drain_at = max(self.base.drain_at, now + DRAIN_FIRST)
            self._fade(idle)
        if not self._counts_at:  # DCS-4
            self._counts_at = now + self._round
            self._decides_at = max(self._decides_at, self._counts_at + self._latest // PART)
        return lasts

    def _fade(self, idle: int) -> None:
        """IDL-2."""
        while idle >= 2 * LIFE and self.size > FIRST_LIMIT:
            self.size = max(self.size // 2, FIRST_LIMIT)
            idle -= LIFE

    # Decisions

    def _decide(self, now: int) -> None:
        """DCS-5, DCS-7, DCS-8."""
        base, least = self.base, self._least or self.base.value
        q, t = least - base.value, self._target
        lossy = self._is_lossy(t)
        if base.drains:
            return
        used, full = min(self.most, self.size), self.most + WHOLE > self.size * 7 // 8
        self._judge_others(now, used, q, t)
        wanted = used * (base.value + t // 2) // least  # with it half of the target is left in the queue
        fit = max(wanted, used // 2) if q > t and not self.others else used
        if lossy:
            self._answer_loss(now, used, fit)
        elif self.marked > 0:
            self._cut_for_loss(now, used, min(fit, used - used // PART))  # ECN-3
        elif fit < used:
            self._cut(fit)
            self._ceiling = 0
        elif full and not self.opening and not self.breaker.broken and self._phase != "looks":
            self._grow(q < t // 2)
            if q > t // 2 and not self.others:  # DLY-3
                self.size -= (used - wanted) // PART
        self.marked = 0
        self.breaker.count(max(self._lost, 0), max(self._passed, 0))
        if self.breaker.judge(now):
            self._cut(LEAST_LIMIT)

    def _cut(self, size: int) -> None:
        """DLY-2."""
        self.size, self._step, self._quiet, self.opening = max(size, LEAST_LIMIT), STEP, 0, False

    def _answer_loss(self, now: int, used: int, fit: int) -> None:
        """LSS-5."""
        arrived = used * max(self._passed - self._lost, 0) // max(self._passed, 1)
        self._before = Before(self.size, self._ceiling, self._sum_lost, self._sum_passed, self.opening)
        self._cut_for_loss(now, used, min(fit, used - used // PART, arrived * 7 // 8))

    def _cut_for_loss(self, now: int, used: int, size: int) -> None:
        """LSS-5, ECN-3."""
        self._cut(size)
        self._ceiling, self._low, self._hit = used, self.size, True
        self._phase, self._sum_lost, self._sum_passed = "recovers", 0, 0
        if self.others and now >= self.base.drain_at:  # OTH-3
            self.base.drain(now, self._round_trip.srtt, self._latest)

    def _grow(self, short: bool) -> None:
        """GRO-1 to GRO-5."""
        least = WHOLE if self.others else STEP
        if self._hit if self.others else not short:
            self._step, self._quiet = least, 0
        elif not self.others and self.size < self._ceiling:
            self._step, self._quiet = max(STEP, (self._ceiling - self.size) // QUIET_MOST), 0
        else:
            self._quiet += 1
            self._step = max(min(2 * self._step, self.size // DOUBLE_PART), least) if self._quiet > QUIET_MOST else least
        self.size += min(self._step, self.size // PART)

    def _is_lossy(self, t: int) -> bool:
        """LSS-2 to LSS-4."""
        lost, passed, short = max(self._lost, 0), max(self._passed, 0), self._is_short(t)
        if self._phase == "recovers":
            self._phase, self.marked = "looks", 0
            return False
        self._sum_lost += lost
        self._sum_passed += passed
        if self._phase == "looks":
            b, n = self._before, self._sum_passed
            if b is None or n * b.lost >= PART * b.passed or self._sum_lost >= PART:
                self._phase = "steady"
                self._look(self._sum_lost, n, short)
                self._sum_lost, self._sum_passed, self._before = 0, 0, None
            return False
        if self._calm.exceeds(self._sum_lost, self._sum_passed, self.opening):
            return True
        while self._sum_passed > SUM_MOST:
            self._sum_lost, self._sum_passed = self._sum_lost // 2, self._sum_passed // 2
        if self.size <= self._low + self._low // PART:
            self._calm.learn(lost, passed, short)
        return False

    def _wait(self, w: int) -> None:
        """DCS-9."""
        self._least_wait = min(self._least_wait, w) if self._samples else w
        self._waits += w
        self._samples += 1

    def _is_short(self, t: int) -> bool:
        """DCS-7: a queue that does not empty is full, however short it is."""
        if not self._samples:
            return False
        average, least = self._waits // self._samples, self._least_wait
        stands = self._samples >= PART and 2 * least > average and least > t // (PART * PART)
        return not stands and average <= t // PART

    def _look(self, lost: int, passed: int, short: bool) -> None:
        """LSS-3."""
        b, calm = self._before, self._calm
        same = b and short and passed > 0 and PART * b.lost >= b.passed
        same = bool(same) and PART * lost * b.passed >= (PART - 1) * b.lost * passed
        if same:
            calm.learn(b.lost, b.passed, short)
        if calm.is_gone(lost, passed):
            calm.forget()
        calm.learn(lost, passed, short)
        if b and not self.breaker.broken and not calm.exceeds(b.lost, b.passed, self.opening, same):
            self.size, self._ceiling, self.opening = max(self.size, b.limit), b.ceiling, b.opening  # in vain

    def _judge_others(self, now: int, used: int, q: int, t: int) -> None:
        """OTH-2, OTH-3."""
        if self.others:
            if now >= self.base.drain_at and not self._hit:
                self.base.drain(now, self._round_trip.srtt, self._latest)
        elif q <= t // 2:
            self._above = max(self._above - 1, 0)
        elif q > t:
            speed = max(self._passed - self._lost, 0) * 1_000_000 // max(now - self._began_at, 1)  # DCS-7
            if not self._above:
                self._from, self._from_speed = used, speed
            self._above = (self._above + 1) % CONTEST_ROWS
            if not self._above and (used <= WHOLE or PART * speed < (PART - 1) * self._from_speed):
                self._contest(now)

    def _contest(self, now: int) -> None:
        """OTH-2, step 5."""
        self.others, self._hit, self._quiet = True, False, 0
        self.size = max(self.size, self._from)
        self.base.drain_at = now + DRAIN_FIRST

    def silence(self, measured: bool) -> None:
        """PTO-7."""
        if measured:
            self._ceiling, self.size = self.size, max(self.size // 2, min(self.size, TWO_SLICES))
        else:
            self.size = max(min(self.size, self.most) // 2, TWO_SLICES)
        self._step, self._quiet, self.opening = STEP, 0, not self.breaker.broken


class Share:
    """A sender's part in a controller."""

    def __init__(self) -> None:
        self.flight = 0
        self.active = self.wants = False


class Controller:
    """What the senders of a connection know of the path, and when that lets a slice go."""

    def __init__(self, rate: int = 0, fixed: bool = False, burst: bool = False) -> None:
        self._profile = rate, fixed, burst
        self.round_trip = RoundTrip()
        self.loss = Loss()
        self.probe_at = 0
        self._limit = Limit(self.round_trip)
        self._pace_ns = 0
        self._heard_at = 0
        self._least_interval = 1_066 * 8 * 10**9 // rate if rate else 0
        self._fixed = fixed
        self._burst = burst
        self._active = self._wanting = 0
        self._timeouts = self._unanswered = self._suspects = 0
        self._silenced = False

    @property
    def min_rtt(self) -> int:
        """0 before there is a clean sample."""
        return self._limit.base.value

    @property
    def broken(self) -> bool:
        """Whether much is lost for so long that growth has stopped (BRK-6)."""
        return self._limit.breaker.broken

    def anew(self, now: int) -> Controller:
        """CXL-10: the controller of a sender that has sent one slice on another path; it is no longer in flight."""
        path, share = Controller(*self._profile), Share()
        path.begin(now, share)
        path.in_flight(share, 1)
        path.go(now, share, True, True)
        path.leave(share)
        return path

    # Senders

    def begin(self, now: int, share: Share) -> None:
        """REC-2."""
        if not share.active:
            if not self._active and self._limit.resume(now, now - self._heard_at):
                self._heard_at = now
            share.active = True
            self._active += 1
        self.in_flight(share, 0)  # what is left of one that was given up
        self.round_trip.start()

    def in_flight(self, share: Share, n: int) -> None:
        self._limit.fly(n - share.flight)
        share.flight = n

    def take(self, share: Share, other: Controller) -> None:
        """A part in another controller becomes one of this, with what is in flight (CXL-10)."""
        active = share.active
        other.leave(share)
        share.active = active
        self._active += active

    def leave(self, share: Share) -> None:
        self.in_flight(share, 0)
        self._want(share, False)
        self._active -= share.active
        share.active = False

    def _want(self, share: Share, wants: bool) -> None:
        self._wanting += wants - share.wants
        share.wants = wants

    def yield_to_others(self, yields: bool) -> None:
        """ROOM-3."""
        self._limit.yields = yields

    def go(self, now: int, share: Share, wants: bool, fresh: bool) -> bool:
        """Whether the slice that a sender wants to send goes out; then it counts as sent (REC-5)."""
        if not self._wanting:
            self._pace_ns = max(self._pace_ns, 1_000 * now)  # PAC-5
        self._want(share, wants)
        if not wants or now < self.pace_at:
            return False
        self._unanswered += 1
        self._pace_ns = max(self._pace_ns, 1_000 * (now - CATCH_UP)) + self._interval(fresh)  # PAC-4
        return True

    # News

    def clean(self, now: int, r: int) -> None:
        """EST-2."""
        r = max(min(r, LONGEST_SAMPLE), 1)
        self.round_trip.sample(r)
        self._limit.clean(now, r)

    def resent(self, r: int) -> None:
        """EST-3."""
        r = max(min(r, LONGEST_SAMPLE), 1)
        self.round_trip.sample(r)
        self._limit.resent(r)

    def arrived(self, now: int, n: int, lost: int) -> None:
        """REC-11: `n` slices were newly acked, and `lost` were found lost, or fewer than none if some came late."""
        missing = lost
        if n > 0:
            if not self._silenced and self._limit.size < (GAP_SIZE + 1) * WHOLE * self._active:
                missing += self._suspects  # SUS-3
            else:
                self._limit.breaker.count(self._suspects, self._suspects)  # SUS-4
            self._heard_at = now
            self._suspects = self._timeouts = self._unanswered = self.probe_at = 0  # PTO-6
            self._silenced = False
        self._limit.expire(now)
        self.loss.count(n, lost)
        self._limit.news(now, n, missing)

    def marked(self, n: int) -> None:
        """ECN-1."""
        self._limit.marked += n

    def timed_out(self, now: int, given_up: int) -> None:
        """SUS-1, PTO-3, PTO-7."""
        self._suspects += given_up
        delay, _ = self.round_trip.delays
        self.probe_at = now + min(delay << min(self._timeouts, MOST_DOUBLED), max(delay, SLOWEST // 1_000))
        self._timeouts += 1
        measured = self.round_trip.measured
        lasts = not self._silenced and now - self._heard_at >= SILENT_DELAYS * delay
        if not measured or lasts and self._is_too_silent:
            self._limit.silence(measured)
            self._silenced = True

    def late(self, n: int) -> None:
        """SUS-2: so many of what a timer gave up have arrived."""
        self._suspects = max(self._suspects - max(n, 0), 0)

    @property
    def silent_at(self) -> int:
        """From when on ROOM-7 holds."""
        return self._heard_at + self.round_trip.delays[0]

    @property
    def _is_too_silent(self) -> bool:
        """PTO-7: whether the loss that is known does not explain the silence."""
        a, all_ = self.loss.arrived, self.loss.arrived + self.loss.lost
        return self._unanswered * a // all_ * a // all_ >= SILENT_ACKS

    # Room and pace

    @property
    def has_room(self) -> bool:
        """ROOM-1."""
        return self._burst or self._fixed or self._limit.flight < self._limit.slices

    @property
    def path_slices(self) -> int:
        """The allowance: how many slices of all lanes may be in flight when a chunk begins (ROOM-1)."""
        return self._limit.slices

    @property
    def pace_at(self) -> int:
        """When the next slice may go, rounded up to a microsecond."""
        return -(-self._pace_ns // 1_000)

    def _interval(self, fresh: bool) -> int:
        """PRO-1, PRO-2 and PRO-4."""
        if self._burst and fresh:
            return max(BURST_INTERVAL, self._least_interval)
        if self._fixed:
            return max(FASTEST, self._least_interval)
        return max(self._pace_interval, FASTEST, self._least_interval)

    @property
    def _pace_interval(self) -> int:
        """PAC-3, PAC-8, PAC-9."""
        size = self._limit.size
        if not self.min_rtt:
            return BURST_INTERVAL
        ns = self.round_trip.srtt * 1_000 * WHOLE // size
        if self._limit.opening:
            ns //= 2
        elif size >= TWO_SLICES:
            ns = ns * 15 // 16
        return min(ns, SLOWEST)
