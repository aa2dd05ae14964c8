"""Appendix G: the base algorithm, a scheduler for the sender."""

from __future__ import annotations

from typing import Iterable, NamedTuple

from .limits import HEADER, SLICE_SIZE, slice_count
from .times import NEVER

MS = 1_000
MILLION = 1_000_000
MIN_RATE = 1_066
MAX_RATE = 10**9
"""The largest rate, cap and burst, in bytes a second and bytes (BUD-1)."""
LONGEST_SAMPLE = 1 << 40
"""In microseconds (RTT-7)."""


class Profile(NamedTuple):
    """The figures of appendix G.5. A resend delay of 0 comes from the round trip."""

    rate: int
    cap: int
    burst: int
    acks_pay: bool
    spacing_us: int
    resend_delay_us: int


BURST = Profile(rate=125_000, cap=272_896, burst=272_896, acks_pay=True, spacing_us=85, resend_delay_us=0)


def fixed(rate: int) -> Profile:
    """The profile `fixed(r)`."""
    return Profile(rate, cap=max(17_056, rate // 50), burst=0, acks_pay=False, spacing_us=0, resend_delay_us=0)


def article(rate: int) -> Profile:
    """The profile `article(r)`."""
    return fixed(rate)._replace(resend_delay_us=100 * MS)


def check_profile(profile: Profile) -> None:
    """Raises ValueError for a figure outside its limits (BUD-1)."""
    if profile.rate and not MIN_RATE <= profile.rate <= MAX_RATE:
        raise ValueError(f"rate {profile.rate} is neither 0 nor {MIN_RATE} to {MAX_RATE} bytes a second")
    if not MIN_RATE <= profile.cap <= MAX_RATE:
        raise ValueError(f"cap {profile.cap} is not {MIN_RATE} to {MAX_RATE} bytes")
    if not 0 <= profile.burst <= profile.cap:
        raise ValueError(f"burst {profile.burst} is not 0 to the cap")
    if profile.spacing_us < 0 or profile.resend_delay_us < 0:
        raise ValueError("spacing_us or resend_delay_us is negative")


def quotient(a: int, b: int) -> int:
    """a / b as section 2.2 has it, truncated toward zero; b is positive."""
    return a // b if a >= 0 else -(-a // b)


class RoundTrip:
    """Appendices G.2 and G.3: the round trip, and the delays that come of it."""

    def __init__(self) -> None:
        self._known = "nothing"
        self.srtt = self._rttvar = self._min_rtt = 0
        self._bound: int | None = None

    @property
    def measured(self) -> bool:
        return self._known == "measured"

    @property
    def unknown(self) -> bool:
        return self._known == "nothing"

    def start(self) -> None:
        """RTT-6."""
        if not self.measured and self._bound is not None:
            self.srtt, self._rttvar, self._known = self._bound, self._bound // 16, "bound"

    def sample(self, r: int) -> None:
        """RTT-2, RTT-5 and RTT-7. In the case of RTT-3, `min_rtt` stays as it is."""
        r = min(r, LONGEST_SAMPLE)
        if not self.measured:
            self.srtt, self._rttvar, self._min_rtt, self._known = r, r // 8, r, "measured"
            return
        self._min_rtt = min(self._min_rtt, r)
        d = min(r, self.srtt * 3 // 2 + MS) - self.srtt
        if d >= 0:
            self._rttvar += quotient(d - self._rttvar, 4)
            self.srtt += d // 8
        else:
            self._rttvar += quotient(min(-d, self._rttvar) - self._rttvar, 4)
            self.srtt += quotient(d, 4)

    def limit(self, r: int) -> None:
        """RTT-4, RTT-7."""
        r = min(r, LONGEST_SAMPLE)
        self._bound = r if self._bound is None else min(self._bound, r)

    def allows(self, age: int) -> bool:
        """Whether, as far as is measured, what was sent `age` ago can have been acked."""
        return self.measured and age >= self._min_rtt

    @property
    def delays(self) -> tuple[int, int]:
        """The base delay and the margin without a fixed delay (TMR-2, TMR-3)."""
        if self._known == "nothing":
            return 250 * MS, 0
        v = max(5 * MS, self.srtt // 8, 4 * self._rttvar)
        delay = min(self.srtt + v, 3_000 * MS)
        return delay, min(v, delay)

    def hold_delay(self, lasted: int) -> int:
        """H of TMR-6 without a fixed delay; `lasted` is `sent_at - held_at`."""
        least = 250 * MS if self._known == "nothing" else max(self.srtt, 2 * MS)
        return min(max(least, lasted // 4), 250 * MS)


class Budget:
    """Appendix G.4. Amounts are in millionths of a byte, costs in bytes."""

    def __init__(self, profile: Profile) -> None:
        self._rate = profile.rate
        self._cap = profile.cap * MILLION
        self._burst = profile.burst * MILLION
        self._acks_pay = profile.acks_pay
        self._left = self._cap
        self._paid_at = 0
        self._by_time = 0

    def start(self, now: int) -> None:
        """BUD-3 and BUD-5, as SCH-5 wants them."""
        self.pay(now)
        self._left = max(self._left, self._burst)
        self._by_time = 0

    def pay(self, now: int) -> None:
        """BUD-3."""
        e = self._rate * min(now - self._paid_at, 10**9)
        self._paid_at = now
        self._by_time = min(self._by_time + e, self._cap)
        self._left = min(self._left + e, self._cap)

    def pay_news(self, cost: int) -> None:
        """BUD-6."""
        if self._acks_pay:
            self._left = min(self._left + max(cost * MILLION - self._by_time, 0), self._cap)
            self._by_time = 0

    def take(self, cost: int) -> bool:
        """Takes the cost if the budget covers it (BUD-2)."""
        if self._rate == 0:
            return True
        if self._left < cost * MILLION:
            return False
        self._left -= cost * MILLION
        return True

    def covers_at(self, cost: int) -> int:
        """BUD-4."""
        missing = cost * MILLION - self._left
        if self._rate == 0 or missing <= 0:
            return self._paid_at
        return self._paid_at - -missing // self._rate


class BaseScheduler:
    """The base algorithm; its variables are those of appendix G.1.

    Raises ValueError for a profile outside the limits of BUD-1.
    """

    def __init__(self, profile: Profile = BURST) -> None:
        check_profile(profile)
        self._profile = profile
        self._round_trip = RoundTrip()
        self._budget = Budget(profile)
        self._spaced_until = 0
        self._unacked: set[int] = set()
        self._count = 0

    def start(self, now: int, size: int) -> None:
        """SCH-5."""
        self._round_trip.start()
        self._size = size
        self._num_slices = slice_count(size)
        self._unacked = set(range(self._num_slices))
        self._due = set(self._unacked)
        self._cursor = self._count = self._moved = self._arrived = self._at_best = self._backoff = 0
        self._probe = self._num_slices
        self._first = [0] * self._num_slices
        self._last = [0] * self._num_slices
        self._first_at = [0] * self._num_slices
        self._last_at = [0] * self._num_slices
        self._sent_at = self._news_at = now
        self._held = False
        self._held_at = now
        self._spaced_until = max(self._spaced_until, now)
        self._budget.start(now)

    def moved(self) -> None:
        """CXL-10: the path is another one; slices sent before give no sample of it."""
        self._round_trip, self._moved = RoundTrip(), self._count

    def next(self, now: int) -> int | None:
        """SCH-6."""
        if not self._due and now >= self._timer:
            self._run_out(now)
        if not self._due or now < self._spaced_until:
            return None
        k = self._next_due
        self._budget.pay(now)
        if not self._budget.take(self._cost(k)):
            return None
        self._count += 1  # SCH-7
        if not self._last[k]:
            self._first[k], self._first_at[k] = self._count, now
        self._last[k] = self._count
        self._last_at[k] = self._sent_at = now
        self._due.remove(k)
        self._cursor = k + 1
        self._spaced_until = max(self._spaced_until, now - 20 * MS) + self._profile.spacing_us  # SPC-2
        return k

    def news(self, now: int, slices: frozenset[int]) -> None:
        """SCH-8."""
        self._news_at, self._backoff, self._probe = now, 0, self._num_slices
        self._measure(now, slices)
        for k in slices:  # GAP-1
            by_last = not self._resent(k) or self._round_trip.allows(now - self._last_at[k])
            self._arrived = max(self._arrived, self._last[k] if by_last else self._first[k])
            self._at_best = max(self._at_best, self._last[k])
        self._unacked -= slices
        self._due -= slices
        if self._held:
            self._held = False
            self._enter(now, (k for k in self._unacked if not self._last[k]))
        self._find_lost(now)
        self._budget.pay(now)
        self._budget.pay_news(sum(map(self._cost, slices)))

    def hold(self, now: int) -> None:
        """SCH-10."""
        if not self._held:
            self._held, self._held_at = True, now
        self._due.clear()

    @property
    def deadline(self) -> float:
        """SCH-9."""
        if self._due:
            return max(self._spaced_until, self._budget.covers_at(self._cost(self._next_due)))
        return self._timer if self._unacked else NEVER

    @property
    def _next_due(self) -> int:
        """The first slice of `due` from `cursor` on, or the first of all (SCH-6)."""
        return min(self._due, key=lambda k: (k < self._cursor, k))

    @property
    def _timer(self) -> int:
        """TMR-1, TMR-2, TMR-3, TMR-5 and TMR-6."""
        if self._held:
            lasted = self._sent_at - self._held_at
            delay = self._profile.resend_delay_us or self._round_trip.hold_delay(lasted)
            return max(self._sent_at, self._held_at) + delay
        delay, margin = self._round_trip.delays
        if self._profile.resend_delay_us:
            delay, margin = self._profile.resend_delay_us, 0
        backed_off = delay
        if self._backoff:
            backed_off = min(delay << self._backoff, max(delay // 8, 250 * MS))
        return max(self._sent_at + backed_off, self._news_at + margin)

    def _run_out(self, now: int) -> None:
        """TMR-4."""
        self._arrived = self._at_best
        self._find_lost(now)
        self._backoff = min(self._backoff + 1, 3)
        for _ in range(1 if self._held else min(2 << self._backoff - 1, len(self._unacked))):
            self._probe = max((k for k in self._unacked if k < self._probe), default=max(self._unacked))
            self._enter(now, [self._probe])

    def _find_lost(self, now: int) -> None:
        """GAP-2."""
        self._enter(now, [k for k in self._unacked - self._due if self._last[k] + 2 <= self._arrived])

    def _enter(self, now: int, slices: Iterable[int]) -> None:
        """SPC-3."""
        for k in slices:
            if not self._due:
                self._spaced_until = max(self._spaced_until, now)
            self._due.add(k)

    def _measure(self, now: int, news: frozenset[int]) -> None:
        """RTT-1 to RTT-4."""
        news = frozenset(k for k in news if self._first[k] > self._moved)
        once = [k for k in news if not self._resent(k)]
        likely = [k for k in news if self._round_trip.allows(now - self._last_at[k])]
        if once or likely:
            self._round_trip.sample(now - self._last_at[self._latest(once or likely)])
        elif news and not self._round_trip.measured:
            self._round_trip.limit(now - self._first_at[self._latest(news)])

    def _latest(self, slices: Iterable[int]) -> int:
        return max(slices, key=self._last.__getitem__)

    def _resent(self, k: int) -> bool:
        return self._first[k] != self._last[k]

    def _cost(self, k: int) -> int:
        """What slice k costs, in bytes (BUD-2)."""
        if k < self._num_slices - 1:
            return 13 + SLICE_SIZE + HEADER
        return 14 + self._size - k * SLICE_SIZE + HEADER
