"""All channels of one end (spec/CHANNELS.md, section 7). What it does is composed by a connection."""

from __future__ import annotations

from collections import deque
from typing import Mapping, NamedTuple

from .channel_receiver import ChannelReceiver, Delivered
from .channel_sender import ChannelSender
from .channels import Channel
from .records import Fragment, Message, Record, Report, Skip, Status, Unreliable, size
from .times import NEVER

PAYLOAD = 1_160
MOST_UNRELIABLE = 16_380
QUEUE = 65_536


class Setup(NamedTuple):
    """A channel and its priority."""

    channel: Channel
    priority: int = 0


class _Loose:
    """An unreliable channel (section 6)."""

    def __init__(self) -> None:
        self.to_send: deque[bytes] = deque()
        self.to_read: deque[bytes] = deque()


class Mux:
    def __init__(self, setups: Mapping[int, Setup]) -> None:
        self.channels = {i: s.channel for i, s in setups.items()}
        self.senders = {i: ChannelSender(c, i) for i, c in self.channels.items() if c.kind != "unreliable"}
        self.receivers = {i: ChannelReceiver(c, i) for i, c in self.channels.items() if c.kind != "unreliable"}
        self.loose = {i: _Loose() for i, c in self.channels.items() if c.kind == "unreliable"}
        self._priority = {i: s.priority for i, s in setups.items()}
        self._order = sorted(setups, key=lambda i: (-self._priority[i], i))
        self.alone: int | None = None
        """The channel whose large message was passed over (CHC-7)."""

    def send(self, now: int, channel: int, message: bytes, lifetime: int | None = None) -> str | None:
        """The code of what is refused, or None."""
        if channel in self.senders:
            return {"D1": "message_size", "D2": "queue_full", "D11": "failed"}.get(self.senders[channel].send(now, message, lifetime))
        if channel not in self.loose:
            return "unknown_channel"
        if not 1 <= len(message) <= MOST_UNRELIABLE:
            return "message_size"
        queue = self.loose[channel].to_send
        if sum(len(m) + 10 for m in queue) + len(message) + 10 > QUEUE:
            return "queue_full"
        queue.append(bytes(message))
        return None

    def read(self, now: int, channel: int) -> Delivered | None:
        if channel in self.receivers:
            return self.receivers[channel].read(now)[1]
        queue = self.loose[channel].to_read if channel in self.loose else None
        return queue.popleft() if queue else None

    def take(self, now: int, number: int, ack: int, record: Record) -> None:
        """A record of packet `number`, whose header acks `ack` (CHC-3)."""
        if isinstance(record, Unreliable):
            self._take_loose(number, record)
        elif isinstance(record, Report):
            self.senders[record.channel].report(now, record, number, ack)
        elif isinstance(record, (Message, Fragment)):
            self.receivers[record.channel].data(now, record)
        elif isinstance(record, Skip):
            self.receivers[record.channel].skip(now, record)
        elif isinstance(record, Status):
            self.receivers[record.channel].status(now, record)

    def _take_loose(self, number: int, record: Unreliable) -> None:
        """CHU-5, CHU-6."""
        queue = self.loose[record.channel].to_read
        queue.append(Delivered(number, record.data))
        while sum(len(d.data) + 10 for d in queue) > QUEUE:
            queue.popleft()

    def set_path(self, srtt: int | None, patience: int) -> None:
        for machine in (*self.senders.values(), *self.receivers.values()):
            machine.path.set(srtt, patience)

    # Composition.

    def reports(self, now: int, space: int) -> list[Record]:
        found = []
        for i in sorted(self.receivers):
            report = self.receivers[i].poll(now, space)[1] if self.receivers[i].deadline <= now else None
            if report is not None:
                found.append(report)
                space -= size(report)
        return found

    def large(self) -> list[Record]:
        """The message that is to go alone."""
        if self.alone is None:
            return []
        channel, self.alone = self.alone, None
        return [Unreliable(channel, self.loose[channel].to_send.popleft())]

    def messages(self, now: int, number: int, space: int) -> list[Record]:
        """By priority, of equal ones the unreliable first (CHC-8)."""
        found: list[Record] = []
        for priority in sorted(set(self._priority.values()), reverse=True):
            equal = [i for i in self._order if self._priority[i] == priority]
            for i in equal:
                if i in self.loose:
                    space = self._loose(i, found, space)
            first = None
            for i in equal:
                before = len(found)
                if i in self.senders and self.senders[i].deadline <= now:
                    space = self._reliable(now, number, i, found, space)
                if len(found) > before and first is None:
                    first = i
            if first is not None:  # it goes behind the others of its priority
                self._order.remove(first)
                self._order.insert(max(self._order.index(i) for i in equal if i != first) + 1 if len(equal) > 1 else 0, first)
                self._order.sort(key=lambda i: -self._priority[i])
        return found

    def _loose(self, i: int, found: list[Record], space: int) -> int:
        queue = self.loose[i].to_send
        while queue:
            cost = len(queue[0]) + 4
            if cost > PAYLOAD:
                if found or space < PAYLOAD:
                    self.alone = i if self.alone is None else self.alone
                    return space
            elif cost > space:
                return space
            found.append(Unreliable(i, queue.popleft()))
            space -= cost
        return space

    def _reliable(self, now: int, number: int, i: int, found: list[Record], space: int) -> int:
        while (record := self.senders[i].poll(now, number, space)[1]) is not None:
            found.append(record)
            space -= size(record)
        return space

    # Time.

    @property
    def is_pending(self) -> bool:
        return any(s.is_pending for s in self.senders.values()) or any(l.to_send for l in self.loose.values())

    @property
    def prompt(self) -> float:
        return min((s.prompt for s in self.senders.values()), default=NEVER)

    @property
    def report_at(self) -> float:
        return min((r.deadline for r in self.receivers.values()), default=NEVER)

