"""Records of channels, as bytes (spec/CHANNELS.md, section 3), and the groups of a report (section 5.5)."""

from __future__ import annotations

from typing import Callable, Collection, Iterable, Mapping, NamedTuple, Union

from .channels import MOST_GROUPS, RELIABLE, Channel
from .refused import Refused
from .seq import on_wire

MOST_CHANNEL = 63
MOST_LENGTH = 0xFFFF
"""That a field of a length holds."""
FLAGS = 32
"""Sequences below its start that a group can name."""


class Pad(NamedTuple):
    """The payload that says nothing (3.1)."""


class Unreliable(NamedTuple):
    """A message of an unreliable channel."""

    channel: int
    data: bytes


class Message(NamedTuple):
    """A message in one record."""

    channel: int
    sequence: int
    data: bytes


class Fragment(NamedTuple):
    """Part `index` of the `count` of a message (CHR-9)."""

    channel: int
    sequence: int
    index: int
    count: int
    data: bytes


class Skip(NamedTuple):
    """The `count` sequences from `first` on have expired (CHR-10)."""

    channel: int
    first: int
    count: int


class Report(NamedTuple):
    """What has come, what is missing, and what may be sent (CHR-3); a group is its start and its bits."""

    channel: int
    base: int
    room: int
    groups: tuple[tuple[int, int], ...] = ()

    def missing(self) -> list[int]:
        """How far from base each sequence lies that it names, in no certain order."""
        distances = []
        for start, bits in self.groups:
            d = on_wire(start - self.base)
            distances.append(d)
            distances += [d - 1 - i for i in range(FLAGS) if bits >> i & 1]
        return distances


class Status(NamedTuple):
    """All sequences below `next`, and none from it on, have been sent (CHR-11)."""

    channel: int
    next: int


Record = Union[Pad, Unreliable, Message, Fragment, Skip, Report, Status]
Channels = Mapping[int, Channel]
"""The channels that are configured, by their ids."""

TYPES = (Pad, Unreliable, Message, Fragment, Skip, Report, Status)
"""Each at its number on the wire (CHR-8)."""


def decode_records(payload: bytes, channels: Channels, any_kind: bool = False) -> list[Record]:
    """All records of a payload, or Refused with code and offset (CHR-1, CHR-2, CHR-12).

    With `any_kind` every record fits every channel.
    """
    _demand(len(payload) > 0, "truncated", 0)  # CHR-20
    if payload == b"\x00":
        return [Pad()]
    r = Reader(payload)
    records = []
    while r.at < len(payload):
        at = r.at
        records.append(read_record(r, r.number(1), at, channels, any_kind))
    return records


def read_record(r: Reader, number: int, at: int, channels: Channels, any_kind: bool) -> Record:
    """What is behind the type of a record, which begins at `at`."""
    _demand(1 <= number < len(TYPES), "unknown_record", at)  # CHR-21
    kind = TYPES[number]
    channel = r.number(1)
    return _READ[kind](r, channel, _channel(kind, channel, channels, any_kind, at))


def encode_records(records: Iterable[Record], channels: Channels, any_kind: bool = False) -> bytes:
    """The payload, or Refused for what a decoder would refuse, at the same place (CHR-7)."""
    records = list(records)
    _demand(len(records) > 0, "truncated", 0)
    if len(records) == 1 and isinstance(records[0], Pad):
        return b"\x00"
    w = Writer()
    for record in records:
        write_record(w, record, channels, any_kind)
    return w.payload


def write_record(w: Writer, record: Record, channels: Channels, any_kind: bool) -> None:
    """One that is not PAD."""
    at = w.at
    kind = type(record)
    _demand(kind in _WRITE, "unknown_record", at)
    limits = _channel(kind, record.channel, channels, any_kind, at)
    w.put(TYPES.index(kind), 1)
    w.put(record.channel, 1)
    _WRITE[kind](w, record, limits)


def is_quiet(records: Iterable[Record]) -> bool:
    """Whether the payload asks for no ack (CHR-4)."""
    return all(isinstance(record, (Pad, Report)) for record in records)


def size(record: Record) -> int:
    """Its bytes (CHR-8)."""
    if isinstance(record, (Unreliable, Message, Fragment)):
        return {Unreliable: 4, Message: 6, Fragment: 8}[type(record)] + len(record.data)
    if isinstance(record, Report):
        return 7 + 6 * len(record.groups)
    return {Pad: 1, Skip: 5, Status: 4}[type(record)]


def groups_of(missing: Collection[int], most: int = MOST_GROUPS) -> tuple[tuple[int, int], ...]:
    """The first groups that name these numbers, which ascend (CHV-6)."""
    left = list(missing)
    groups = []
    while left:
        n = left.pop()
        bits = 0
        while left and left[-1] >= n - FLAGS:
            bits |= 1 << n - 1 - left.pop()
        groups.append((on_wire(n), bits))
    return tuple(groups[::-1][:most])


# The checks of 3.2, which decoder and encoder share. Places are offsets in the payload.


def _demand(holds: bool, code: str, place: int) -> None:
    if not holds:
        raise Refused(code, place)


def _channel(kind: type[Record], channel: int, channels: Channels, any_kind: bool, at: int) -> Channel:
    """CHR-23, CHR-24."""
    _demand(0 <= channel <= MOST_CHANNEL and channel in channels, "unknown_channel", at + 1)
    limits = channels[channel]
    fits = (kind is Unreliable) == (limits.kind not in RELIABLE)
    _demand(any_kind or fits, "channel_kind", at + 1)
    return limits


def _check_length(least: int, length: int, most: int, place: int) -> None:
    """CHR-25, CHR-26, CHR-29."""
    _demand(least <= length <= most, "length", place)


def _check_part(index: int, count: int, limits: Channel, at: int) -> None:
    """CHR-27, CHR-28; `at` is that of the record."""
    _demand(2 <= count <= limits.most_fragments, "fragment_count", at + 5)
    _demand(0 <= index < count, "fragment_index", at + 4)


def _least(index: int, count: int, limits: Channel) -> int:
    """The least bytes of a fragment (CHR-29)."""
    return 1 if index == count - 1 else limits.data


class _Groups:
    """Checks the groups of a report one after the other (CHR-32 to CHR-35)."""

    def __init__(self, base: int, room: int) -> None:
        self._base = base
        self._room = room
        self._first = True
        self._distance = 0

    def start(self, start: int, place: int) -> None:
        d = on_wire(start - self._base)
        _demand(d < self._room, "group_start", place)  # CHR-32
        _demand(self._first or d >= self._distance + FLAGS + 1, "group_order", place)  # CHR-33
        self._distance = d

    def bits(self, bits: int, place: int) -> None:
        width = bits.bit_length()
        _demand(width <= self._distance, "group_bits", place)  # CHR-34
        _demand(not self._first or width == self._distance, "group_base", place - 2)  # CHR-35
        self._first = False


# Reading


class Reader:
    def __init__(self, payload: bytes) -> None:
        self._payload = payload
        self.at = 0

    def take(self, count: int) -> bytes:
        """CHR-22."""
        _demand(len(self._payload) - self.at >= count, "truncated", self.at)
        self.at += count
        return self._payload[self.at - count : self.at]

    def number(self, count: int) -> int:
        return int.from_bytes(self.take(count), "little")

    def data(self, least: int, most: int) -> bytes:
        """A length and its data."""
        place = self.at
        length = self.number(2)
        _check_length(least, length, most, place)
        return self.take(length)


def _read_unreliable(r: Reader, channel: int, limits: Channel) -> Record:
    return Unreliable(channel, r.data(1, MOST_LENGTH))


def _read_message(r: Reader, channel: int, limits: Channel) -> Record:
    return Message(channel, r.number(2), r.data(1, limits.data))


def _read_fragment(r: Reader, channel: int, limits: Channel) -> Record:
    at = r.at - 2
    sequence, index, count = r.number(2), r.number(1), r.number(1) + 1
    _check_part(index, count, limits, at)
    return Fragment(channel, sequence, index, count, r.data(_least(index, count, limits), limits.data))


def _read_skip(r: Reader, channel: int, limits: Channel) -> Record:
    return Skip(channel, r.number(2), r.number(1) + 1)


def _read_report(r: Reader, channel: int, limits: Channel) -> Record:
    base, room = r.number(2), r.number(2)
    _demand(room <= limits.window, "room", r.at - 2)  # CHR-30
    count = r.number(1)
    _demand(count <= MOST_GROUPS, "group_count", r.at - 1)  # CHR-31
    check = _Groups(base, room)
    groups = []
    for _ in range(count):
        start = r.number(2)
        check.start(start, r.at - 2)
        bits = r.number(4)
        check.bits(bits, r.at - 4)
        groups.append((start, bits))
    return Report(channel, base, room, tuple(groups))


def _read_status(r: Reader, channel: int, limits: Channel) -> Record:
    return Status(channel, r.number(2))


_READ: dict[type[Record], Callable[[Reader, int, Channel], Record]] = {
    Unreliable: _read_unreliable,
    Message: _read_message,
    Fragment: _read_fragment,
    Skip: _read_skip,
    Report: _read_report,
    Status: _read_status,
}


# Writing


class Writer:
    def __init__(self) -> None:
        self.payload = b""

    @property
    def at(self) -> int:
        return len(self.payload)

    def put(self, value: int, count: int) -> None:
        """A value that no other check refuses (CHR-13)."""
        _demand(0 <= value < 1 << 8 * count, "invalid_field", self.at)
        self.payload += value.to_bytes(count, "little")

    def data(self, data: bytes, least: int, most: int) -> None:
        _check_length(least, len(data), most, self.at)
        self.put(len(data), 2)
        self.payload += data


def _write_unreliable(w: Writer, record: Unreliable, limits: Channel) -> None:
    w.data(record.data, 1, MOST_LENGTH)


def _write_message(w: Writer, record: Message, limits: Channel) -> None:
    w.put(record.sequence, 2)
    w.data(record.data, 1, limits.data)


def _write_fragment(w: Writer, record: Fragment, limits: Channel) -> None:
    at = w.at - 2
    w.put(record.sequence, 2)
    _check_part(record.index, record.count, limits, at)
    w.put(record.index, 1)
    w.put(record.count - 1, 1)
    w.data(record.data, _least(record.index, record.count, limits), limits.data)


def _write_skip(w: Writer, record: Skip, limits: Channel) -> None:
    w.put(record.first, 2)
    w.put(record.count - 1, 1)


def _write_report(w: Writer, record: Report, limits: Channel) -> None:
    w.put(record.base, 2)
    _demand(0 <= record.room <= limits.window, "room", w.at)
    w.put(record.room, 2)
    _demand(len(record.groups) <= MOST_GROUPS, "group_count", w.at)
    w.put(len(record.groups), 1)
    check = _Groups(record.base, record.room)
    for start, bits in record.groups:
        place = w.at
        w.put(start, 2)
        check.start(start, place)
        w.put(bits, 4)
        check.bits(bits, place + 2)


def _write_status(w: Writer, record: Status, limits: Channel) -> None:
    w.put(record.next, 2)


_WRITE: dict[type[Record], Callable[[Writer, Record, Channel], None]] = {
    Unreliable: _write_unreliable,
    Message: _write_message,
    Fragment: _write_fragment,
    Skip: _write_skip,
    Report: _write_report,
    Status: _write_status,
}
