"""The sender of a reliable channel (spec/CHANNELS.md, section 4).

Every event returns the row of the transition table that it took. Times are in microseconds.
"""

from __future__ import annotations

from collections import deque
from heapq import heappop, heappush
from typing import Union

from .channels import (
    BACKOFF_MOST,
    FRESH,
    HOLD_MARGIN,
    HOLD_UNMEASURED,
    MOST_SKIP,
    OVERTAKEN,
    PROBE_MARGIN,
    PROBE_SOON,
    Channel,
    Path,
    check_reliable,
)
from .records import Fragment, Message, Report, Skip, Status, size
from .seq import first_from, on_wire
from .times import NEVER, Clock

SMALLEST = 4
"""Bytes of a status."""
SKIP_BYTES = 5

Sent = Union[Message, Fragment, Skip, Status]


class _Entry:
    """CHS-14. Whether it is due lies in the sender; it was sent if it is below `sent`."""

    __slots__ = ("again", "at", "packet", "record")

    def __init__(self, record: Union[Message, Fragment]) -> None:
        self.record: Union[Message, Fragment, None] = record
        self.packet = -1
        self.at = 0
        self.again = False

    @property
    def is_gone(self) -> bool:
        return self.record is None


class ChannelSender:
    """The machine of section 4.2; its variables are those of CHS-7.

    Raises ValueError for a parameter that is not allowed, or an unreliable channel.
    """

    def __init__(self, channel: Channel, channel_id: int = 0) -> None:
        check_reliable(channel)
        self.state = "OPEN"
        self.channel = channel
        self.channel_id = channel_id
        self.path = Path()
        self.implausible = 0
        """Reports of what was never sent (COUNT in D5)."""
        self.base = channel.first
        """The lowest sequence that is not released."""
        self.limit = channel.first + channel.window
        """Nothing from it on may be sent."""
        self._clock = Clock()
        self._sent = self._resent = channel.first
        self._entries: deque[_Entry] = deque()  # from base on
        self._marked: set[int] = set()  # the sequences that were sent and are due
        self._dies: list[tuple[int, int]] = []  # when a sequence expires: a heap
        self._heard = -1
        self._heard_at = self._said_at = 0
        self._backoff = 0
        self._packet_now, self._fresh = -1, 0

    @property
    def next(self) -> int:
        """The sequence of the next entry."""
        return self.base + len(self._entries)

    @property
    def unreleased(self) -> int:
        """How many entries were not released; when the channel has failed the application is told (CHS-11)."""
        return len(self._entries)

    def _begin(self, now: int) -> int:
        """CHS-8."""
        now = self._clock.advance(now)
        if self.state == "OPEN":
            self._expire(now)
        return now

    def _expire(self, now: int) -> None:
        """EXPIRE: CHX-1, CHX-2, CHX-4."""
        while self._dies and self._dies[0][0] <= now:
            self._entry(heappop(self._dies)[1]).record = None
            self._forget_times()

    def _forget_times(self) -> None:
        """Of what was released."""
        while self._dies and self._dies[0][1] < self.base:
            heappop(self._dies)

    def _entry(self, n: int) -> _Entry:
        return self._entries[n - self.base]

    # Sending

    def send(self, now: int, message: bytes, lifetime: int | None = None) -> str:
        """D3 takes the message; D1, D2 and D11 refuse it for its size, as queue_full, as failed (CHS-15)."""
        now = self._begin(now)
        if self.state == "FAILED":
            return "D11"
        if not 1 <= len(message) <= self.channel.most_fragments * self.channel.data:
            return "D1"
        parts = self._cut(message)
        if len(self._entries) + len(parts) > self.channel.send_queue:
            return "D2"
        if not self._entries:  # APPEND: CHS-10
            self._heard_at = self._said_at = now
        for index, data in enumerate(parts):
            self._append(index, len(parts), data, None if lifetime is None else now + lifetime)
        return "D3"

    def _cut(self, message: bytes) -> list[bytes]:
        step = self.channel.data
        return [bytes(message[i : i + step]) for i in range(0, len(message), step)]

    def _append(self, index: int, count: int, data: bytes, dies_at: int | None) -> None:
        n = self.next
        if dies_at is not None:
            heappush(self._dies, (dies_at, n))
        if count == 1:
            self._entries.append(_Entry(Message(self.channel_id, on_wire(n), data)))
        else:
            self._entries.append(_Entry(Fragment(self.channel_id, on_wire(n), index, count, data)))

    # Reports

    def report(self, now: int, report: Report, number: int, ack: int = -1) -> str:
        """A report came in packet `number`, whose header acks our packet `ack`, or -1 (section 4.2)."""
        now = self._begin(now)
        if self.state == "FAILED":
            return "D12"
        if number <= self._heard:
            return "D4"
        base = first_from(report.base, self.base)
        named = [base + d for d in report.missing()]
        if base > self._sent or any(n >= self._sent for n in named):
            self.implausible += 1
            return "D5"
        self._heard, self._heard_at = number, now
        if named:
            self._backoff = 0
        self._release(base, base + report.room)
        self._mark(now, named, ack)
        return "D6"

    def _release(self, base: int, limit: int) -> None:
        """RELEASE and ROOM: CHS-2."""
        if base > self.base or limit > self.limit:
            self._backoff = 0
        for n in range(self.base, base):
            self._entries.popleft()
            self._marked.discard(n)
        self.base = base
        self.limit = max(self.limit, limit)
        self._forget_times()

    def _mark(self, now: int, named: list[int], ack: int) -> None:
        """MARK: CHS-3."""
        patience = max(self.path.patience, self.path.srtt // 2)
        for n in named:
            entry = self._entry(n)
            age = now - entry.at
            overtaken = ack - entry.packet >= (1 if entry.again else OVERTAKEN)
            if n not in self._marked and age >= patience and (overtaken or age >= self._hold):
                self._marked.add(n)

    @property
    def _hold(self) -> int:
        """HOLD: CHS-3."""
        if not self.path.measured:
            return HOLD_UNMEASURED
        return self.path.srtt + max(self.path.srtt // 4, HOLD_MARGIN)

    @property
    def _is_early(self) -> bool:
        """Of the next probe: CHS-4."""
        return self._backoff == 0 and self._resent > self.base

    @property
    def _probe_at(self) -> int:
        """When PROBE_WAIT has passed: CHS-4."""
        if self._is_early:
            return self._said_at + PROBE_SOON
        return self._said_at + self.path.backed_off(self._hold + PROBE_MARGIN, max(self._backoff, 1) - 1)

    # Polls

    def poll(self, now: int, number: int, space: int) -> tuple[str, Sent | None]:
        """The row, and with D8 and D9 the record for packet `number`, in which `space` bytes are left.

        The guards are those of CHS-9. To be repeated with what is left until no record comes (CHS-12).
        D7 reports the failure (CHS-11).
        """
        now = self._begin(now)
        if self.state == "FAILED":
            return "D13", None
        if self._entries and now - self._heard_at >= self.channel.give_up:
            self.state = "FAILED"
            return "D7", None
        if number != self._packet_now:  # CHS-13
            self._packet_now, self._fresh = number, 0
        first = self._lowest_due
        if first is not None:
            record, count = self._record(first)
            if not count or size(record) > space:
                return "D10", None
            self._transmit(now, number, first, count)
            return "D8", record
        if not self._entries or now < self._probe_at or space < SMALLEST:
            return "D10", None
        return "D9", self._probe(now, space)

    @property
    def _lowest_due(self) -> int | None:
        """Below limit; all that was sent lies there, and all that was not is due."""
        if self._marked:
            return min(self._marked)
        return self._sent if self._sent < min(self.next, self.limit) else None

    def _record(self, first: int) -> tuple[Sent, int]:
        """The record for `first`, and how many sequences it has: none if CHS-13 does not allow it (CHS-1, CHS-6)."""
        record = self._entry(first).record
        if record is not None:
            return record, self._allowed(first, 1)
        count = 0
        while count < MOST_SKIP and self._is_due(first + count) and self._entry(first + count).is_gone:
            count += 1
        count = self._allowed(first, count)
        return Skip(self.channel_id, on_wire(first), count), count

    def _is_due(self, n: int) -> bool:
        return n in self._marked or self._sent <= n < min(self.next, self.limit)

    def _allowed(self, first: int, count: int) -> int:
        """How many of these sequences the packet may carry (CHS-13)."""
        end = max(first, self._sent) + FRESH - self._fresh
        return min(count, max(end - first, 0))

    def _transmit(self, now: int, number: int, first: int, count: int) -> None:
        """SEND, from step 3 on (CHS-1)."""
        end = first + count
        for n in range(first, min(end, self._sent)):
            self._entry(n).again = True
            self._resent = max(self._resent, n + 1)
        self._fresh += max(end - max(first, self._sent), 0)
        self._sent = max(self._sent, end)
        for n in range(first, end):
            entry = self._entry(n)
            entry.packet, entry.at = number, now
            self._marked.discard(n)
        self._said_at = now

    def _probe(self, now: int, space: int) -> Status:
        """PROBE: CHS-4."""
        if not self._is_early:
            self._repeat_oldest(space - SMALLEST)
        self._said_at = now
        self._backoff = min(self._backoff + 1, BACKOFF_MOST)
        return Status(self.channel_id, on_wire(self._sent))

    def _repeat_oldest(self, left: int) -> None:
        """The lowest entries that were sent become due, as many as fit `left` bytes (CHS-4)."""
        run = 0
        for n in range(self.base, self._sent):
            record = self._entry(n).record
            if record is not None:
                cost, run = size(record), 0
            elif run in (0, MOST_SKIP):
                cost, run = SKIP_BYTES, 1
            else:
                cost, run = 0, run + 1
            if cost > left:
                break
            left -= cost
            self._marked.add(n)

    # Time

    @property
    def is_pending(self) -> bool:
        """Whether something waits that was never sent, and may go (CHC-9)."""
        return self.state == "OPEN" and self._sent < min(self.next, self.limit)

    @property
    def prompt(self) -> float:
        """When something is due that does not wait for the application's tick (CHC-10)."""
        if not self.is_pending:
            return self.deadline
        if self._marked:
            return self._clock.latest
        return min(self._heard_at + self.channel.give_up, self._dies[0][0] if self._dies else NEVER)

    @property
    def deadline(self) -> float:
        """When to poll at the latest (CHS-5)."""
        if self.state == "FAILED" or not self._entries:
            return NEVER
        if self._lowest_due is not None:
            return self._clock.latest
        dies_at = self._dies[0][0] if self._dies else NEVER
        return min(self._probe_at, self._heard_at + self.channel.give_up, dies_at)
