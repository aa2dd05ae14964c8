"""The receiver of a reliable channel (spec/CHANNELS.md, section 5).

Every event returns the row of the transition table that it took. Times are in microseconds.
"""

from __future__ import annotations

from collections import Counter, deque
from typing import NamedTuple, Union

from .channels import (
    BACKOFF_MOST,
    MOST_GROUPS,
    REPEAT_LEAST,
    REPEAT_UNMEASURED,
    REPORT_DELAY,
    REPORT_SPACING,
    Channel,
    Path,
    check_reliable,
)
from .records import Fragment, Message, Report, Skip, Status, groups_of
from .seq import nearest, on_wire
from .times import NEVER, Clock

SMALLEST = 7
"""Bytes of a report that names nothing."""
GROUP_BYTES = 6


class Delivered(NamedTuple):
    """What was read: the sequence of a message, or of a group its first; no data if it was skipped (CHX-3)."""

    sequence: int
    data: bytes | None


class _Entry:
    """What has come of a sequence (CHV-15): `group` has its own sequence, or those of its group of fragments."""

    __slots__ = ("data", "done", "group")

    def __init__(self, group: range, data: bytes | None) -> None:
        self.group = group
        self.data = data
        self.done = False

    @property
    def is_fragment(self) -> bool:
        return len(self.group) > 1


class ChannelReceiver:
    """The machine of section 5.2; its variables are those of CHV-8, its rows those of CHV-9.

    Raises ValueError for a parameter that is not allowed, or an unreliable channel.
    """

    def __init__(self, channel: Channel, channel_id: int = 0) -> None:
        check_reliable(channel)
        self.state = "OPEN"
        self.channel = channel
        self.channel_id = channel_id
        self.path = Path()
        self.counts: Counter[str] = Counter()
        """Records that were refused, as beyond or conflict (COUNT of CHV-10)."""
        self._clock = Clock()
        self._tail = self._base = self._top = channel.first
        self._have: dict[int, _Entry] = {}
        self._ready: deque[int] = deque()
        self._progress_at = 0
        self._report_at: float = NEVER
        self._last_report: int | None = None
        self._wait = 0

    @property
    def limit(self) -> int:
        """Nothing from it on is taken."""
        return self._tail + self.channel.window

    # Arrivals

    def data(self, now: int, record: Union[Message, Fragment]) -> str:
        """A message or a fragment has arrived."""
        now = self._clock.advance(now)
        if self.state == "FAILED":
            return "V16"
        n = nearest(record.sequence, self._base)
        group = _group(n, record)
        if not self._is_new(n):
            self._soon(now)
            return "V1"
        if n >= self.limit:
            self._count(now, "beyond")
            return "V2"
        if self._conflicts(n, group):
            self.counts["conflict"] += 1
            return "V3"
        if self._is_lost(group):
            self._lose(now, [n], n)
            return "V4"
        self._add(now, {n: _Entry(group, record.data)}, n)
        return "V5"

    def skip(self, now: int, record: Skip) -> str:
        """A skip has arrived."""
        now = self._clock.advance(now)
        if self.state == "FAILED":
            return "V19"
        first = nearest(record.first, self._base)
        new = [n for n in range(first, first + record.count) if self._is_new(n)]
        if not new:
            self._soon(now)
            return "V6"
        if first + record.count > self.limit:
            self._count(now, "beyond")
            return "V7"
        self._lose(now, sorted({*new, *self._given_up_with(new)}), first + record.count - 1)
        return "V8"

    def status(self, now: int, record: Status) -> str:
        """A status has arrived."""
        now = self._clock.advance(now)
        if self.state == "FAILED":
            return "V20"
        n = nearest(record.next, self._base)
        if n > self.limit:
            self._count(now, "beyond")
            return "V10"
        if self._base == self._top and n > self._top:  # TOP: CHV-14
            self._progress_at = now
        self._top = max(self._top, n)
        self._soon(now)
        return "V9"

    def _is_new(self, n: int) -> bool:
        return n >= self._base and n not in self._have

    def _count(self, now: int, code: str) -> None:
        self.counts[code] += 1
        self._soon(now)

    def _add(self, now: int, entries: dict[int, _Entry], last: int) -> None:
        """ADD: CHV-1; `last` is the last sequence of the record."""
        was_missing = self._base < self._top
        self._have.update(entries)
        self._top = max(self._top, last + 1)
        while self._base in self._have:
            self._base += 1
        self._progress_at, self._wait = now, 0
        if was_missing or self._base < self._top:
            self._soon(now)
        else:
            self._report_at = min(self._report_at, now + REPORT_DELAY)
        if self.channel.kind == "unordered":
            self._ready += [n for n in map(self._head, entries) if n is not None]

    def _lose(self, now: int, skipped: list[int], last: int) -> None:
        """CHV-12: these become skipped."""
        self._add(now, {n: _Entry(_alone(n), None) for n in skipped}, last)

    def _soon(self, now: int) -> None:
        """SOON: CHV-4."""
        at = now if self._last_report is None else max(now, self._last_report + REPORT_SPACING)
        self._report_at = min(self._report_at, at)

    # Groups of fragments (5.6)

    def _conflicts(self, n: int, group: range) -> bool:
        """CHG-2."""
        if any(other != group for other in self._groups_over(n)):
            return True
        if len(group) == 1:
            return False
        held = (self._have[m] for m in group if m in self._have)
        return group.start < self.channel.first or any(e.data is not None and e.group != group for e in held)

    def _groups_over(self, n: int) -> set[range]:
        """The groups in which n lies and of which a fragment has come."""
        reach = self.channel.most_fragments - 1
        near = (self._have[m] for m in range(n - reach, n + reach + 1) if m in self._have)
        return {e.group for e in near if e.is_fragment and n in e.group}

    def _is_lost(self, group: range) -> bool:
        """CHG-4."""
        if len(group) == 1:
            return False
        return group.start < self._tail or any(m in self._have and self._have[m].data is None for m in group)

    def _given_up_with(self, skipped: list[int]) -> set[int]:
        """The fragments that have come of each group in which one of these lies (CHG-3)."""
        groups = {group for n in skipped for group in self._groups_over(n)}
        return {m for group in groups for m in group if m in self._have}

    # Delivery (5.4)

    def read(self, now: int) -> tuple[str, Delivered | None]:
        """The row, and what was read with V11 and V17."""
        now = self._clock.advance(now)
        n = self._first_ready()
        if n is None:
            return "V12" if self.state == "OPEN" else "V18", None
        if self.channel.kind == "unordered":
            self._ready.popleft()
        delivered = Delivered(n, self._deliver(self._have[n].group))
        self._move(now)
        return "V11" if self.state == "OPEN" else "V17", delivered

    def _first_ready(self) -> int | None:
        """CHV-2."""
        if self.channel.kind == "unordered":
            return self._ready[0] if self._ready else None
        return self._head(self._tail) if self._tail in self._have else None

    def _head(self, n: int) -> int | None:
        """The first sequence of what n, which has come, belongs to, if that is whole."""
        group = self._have[n].group
        whole = all(m in self._have and self._have[m].group == group for m in group)
        return group.start if whole else None

    def _deliver(self, group: range) -> bytes | None:
        """DELIVER: CHV-16."""
        parts = []
        for n in group:
            entry = self._have[n]
            parts.append(entry.data)
            entry.data = None if entry.data is None else b""
            entry.done = True
        return None if parts[0] is None else b"".join(parts)

    def _move(self, now: int) -> None:
        """MOVE: CHV-3."""
        before = self._tail
        while self._tail in self._have and self._have[self._tail].done:
            del self._have[self._tail]
            self._tail += 1
        if self._tail > before:
            self._report_at = min(self._report_at, now + REPORT_DELAY)

    # Reports (5.5)

    def poll(self, now: int, space: int) -> tuple[str, Report | None]:
        """The row, and with V14 the report; `space` is how many bytes are left in the packet.

        V13 reports the failure (CHV-13); what is ready can still be read.
        """
        now = self._clock.advance(now)
        if self.state == "FAILED":
            return "V21", None
        if self._base < self._top and now - self._progress_at >= self.channel.give_up:
            self.state = "FAILED"
            return "V13", None
        if not self._is_due(now) or space < SMALLEST:
            return "V15", None
        if now < self._report_at:  # CHV-6
            self._wait = min(self._wait + 1, BACKOFF_MOST)
        report = self._report(space)
        self._report_at, self._last_report = NEVER, now
        return "V14", report

    def _is_due(self, now: int) -> bool:
        """CHV-5, CHV-7."""
        return now >= self._report_at or (self._base < self._top and now >= self._repeat_at)

    @property
    def _repeat_at(self) -> float:
        """When a report is repeated while something is missing (CHV-5)."""
        if self._last_report is None:
            return NEVER
        first = max(self.path.srtt, REPEAT_LEAST) if self.path.measured else REPEAT_UNMEASURED
        return self._last_report + self.path.backed_off(first, self._wait)

    def _report(self, space: int) -> Report:
        """CHV-6, CHV-17."""
        missing = [n for n in range(self._base, self._top) if n not in self._have]
        groups = groups_of(missing, min(MOST_GROUPS, (space - SMALLEST) // GROUP_BYTES))
        return Report(self.channel_id, on_wire(self._base), self.limit - self._base, groups)

    @property
    def deadline(self) -> float:
        """When to poll at the latest (CHV-11)."""
        if self.state == "FAILED":
            return NEVER
        if self._base == self._top:
            return self._report_at
        return min(self._report_at, self._progress_at + self.channel.give_up, self._repeat_at)


def _alone(n: int) -> range:
    return range(n, n + 1)


def _group(n: int, record: Union[Message, Fragment]) -> range:
    """The sequences of its group, of a message its own (CHG-1)."""
    if isinstance(record, Message):
        return _alone(n)
    return range(n - record.index, n - record.index + record.count)
