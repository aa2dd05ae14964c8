"""Section 3 of spec/RECOVERY.md: the round trip of a path without its queue, by drains."""

from __future__ import annotations

from .base import LONGEST_SAMPLE, MS, RoundTrip

ACK_DELAY = 2 * MS
MIN_RTT_LIFE = 10_000 * MS
DRAIN_FIRST = 2_500 * MS
DRAIN_EVERY = 10_000 * MS
DRAIN_LATE = 7_000 * MS
DRAIN_SOON = 500 * MS
DRAIN_MISSES = 3
ALARM_FIRST = 1_000 * MS
FALL = MS


class PathRoundTrip(RoundTrip):
    """The estimate of PROTOCOL.md, 9.3, with the smallest sample of late."""

    def __init__(self) -> None:
        super().__init__()
        self.smallest = self.latest = self.busy_since = 0
        self._sample_at: int | None = None
        self._drain_at = self._ended_at = self._gap = self._misses = 0
        self._until: int | None = None
        self._full_at = self._found = 0
        self._fell = False

    @property
    def drains(self) -> bool:
        return self._until is not None

    def clean(self, now: int, r: int, contested: bool) -> tuple[bool, bool]:
        """EST-2, EST-6 to EST-9. Whether a drain has ended, and with a sample that was near."""
        r = max(min(r, LONGEST_SAMPLE), 1)
        self.sample(r)
        self.latest = r
        before, self._sample_at = self._sample_at, now
        if before is None or now - before >= MIN_RTT_LIFE:
            self.smallest, self._misses = r, 0
            self._drain_at, self._until = now + DRAIN_FIRST, None
            return False, False
        self._fall(now, r, contested)
        ended, near = self._look(now, r, contested)
        if not self.drains and now >= self._drain_at and self._may_drain(now, contested):
            self.drain(now, r)
        return ended, near

    def _fall(self, now: int, r: int, contested: bool) -> None:
        """EST-8."""
        if self.smallest - r >= FALL:
            self._fell = True
            if not self.drains and not contested:
                self.drain(now, r)
        self.smallest = min(self.smallest, r)

    def _look(self, now: int, r: int, contested: bool) -> tuple[bool, bool]:
        """EST-9."""
        if self._until is None:
            return False, False
        self._found = min(self._found, r)
        near = self._found <= self.smallest + max(self.smallest // 8, ACK_DELAY)
        if now < self._until and not (near and not self._fell and now >= self._full_at):
            return False, near
        self._end(now, near, contested)
        return True, near

    def _may_drain(self, now: int, contested: bool) -> bool:
        """EST-7."""
        return contested or now - self.busy_since >= DRAIN_FIRST or now - self._drain_at >= DRAIN_LATE

    def drain(self, now: int, r: int) -> None:
        """EST-7."""
        self._until, self._full_at, self._found = now + 2 * max(self.srtt, r), now + r, r

    def _end(self, now: int, near: bool, contested: bool) -> None:
        """EST-9 and EST-10."""
        self._until, self._ended_at, self._drain_at = None, now, now + DRAIN_EVERY
        self._gap = min(2 * max(self._gap, ALARM_FIRST), DRAIN_EVERY)
        if self._fell:
            self._drain_at, self._gap = now + DRAIN_SOON, DRAIN_SOON
        self._fell = False
        if near:
            self._misses = 0
        elif not contested:
            self._misses += 1
            if self._misses == DRAIN_MISSES:
                self.smallest, self._misses = self._found, 0

    def may_alarm(self, now: int) -> bool:
        """LMT-4: much loss may begin a drain."""
        return not self.drains and now - self.busy_since >= ALARM_FIRST and now - self._ended_at >= self._gap

    def drain_next(self, at: int, ends: bool) -> None:
        """CTD-1, CTD-3: the next drain; a drain ends without EST-9."""
        self._drain_at = at
        if ends:
            self._until = None
