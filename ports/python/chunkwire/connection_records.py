"""The records of a connection, as bytes (spec/CONNECTION.md, section 7): the records of channels, and five more."""

from __future__ import annotations

from typing import Iterable, NamedTuple, Union

from .codec import Ack, Slice, decode_body, encode_body
from .records import Channels, Pad, Reader, Record, Report, Writer, read_record, write_record
from .refused import Refused
from .repair_codec import RepairAck, RepairSlice, decode_repair_body, encode_repair_body

MOST_TEXT = 128
CLOSE, SLICE, CHUNK_ACK, ECN, CLOCK = 7, 8, 9, 10, 11
NAMED, REPAIR = 1, 2
"""The variants: slices of PROTOCOL.md, and those of REPAIR.md."""
LARGEST_SLICE = 1_032
LARGEST_CHUNK_ACK = 38


class Close(NamedTuple):
    """CXR-1."""

    code: int
    text: bytes


class OnLane(NamedTuple):
    """A SLICE or a CHUNK_ACK (CXR-2, CXR-3)."""

    lane: int
    packet: Union[Slice, Ack, RepairSlice, RepairAck]

    @property
    def is_ack(self) -> bool:
        return isinstance(self.packet, (Ack, RepairAck))


class Marks(NamedTuple):
    """An ECN (CXR-9), which there is only where the ends agreed on it."""

    arrived: int
    congested: int


class ClockRecord(NamedTuple):
    """A CLOCK (CXR-10), likewise."""

    sent: int
    echo: int
    wait: int


EXTENSION_ECN = 1
EXTENSION_CLOCK = 2

Any = Union[Record, Close, OnLane, Marks, ClockRecord]


def decode_payload(payload: bytes, channels: Channels, lanes: int, any_kind: bool = False, variant: int = NAMED, ecn: bool = False, clock: bool = False) -> list[Any]:
    """All records of a payload, or Refused with code and offset (CXR-5)."""
    _demand(len(payload) > 0, "truncated", 0)
    if payload == b"\x00":
        return [Pad()]
    r = Reader(payload)
    records: list[Any] = []
    while r.at < len(payload):
        at = r.at
        number = r.number(1)
        if number == CLOSE:
            records.append(_read_close(r, payload, at))
        elif number in (SLICE, CHUNK_ACK):
            records.append(_read_on_lane(r, payload, number, lanes, variant))
        elif number == ECN and ecn:
            records.append(Marks(r.number(2), r.number(2)))
        elif number == CLOCK and clock:
            records.append(ClockRecord(r.number(6), r.number(4), r.number(4)))
        else:
            records.append(read_record(r, number, at, channels, any_kind))
    return records


def encode_payload(records: Iterable[Any], channels: Channels, lanes: int, any_kind: bool = False, variant: int = NAMED, ecn: bool = False, clock: bool = False) -> bytes:
    """The payload, or Refused for what a decoder would refuse (CXR-8)."""
    records = list(records)
    _demand(len(records) > 0, "truncated", 0)
    if len(records) == 1 and isinstance(records[0], Pad):
        return b"\x00"
    w = Writer()
    for record in records:
        if isinstance(record, Close):
            _write_close(w, record, len(records))
        elif isinstance(record, OnLane):
            _write_on_lane(w, record, lanes, variant)
            last = record is records[-1]
            _demand(last or record.is_ack, "trailing_data", w.at)
        elif isinstance(record, Marks):
            _write_marks(w, record, ecn)
        elif isinstance(record, ClockRecord):
            _write_clock(w, record, clock)
        else:
            write_record(w, record, channels, any_kind)
    return w.payload


def is_quiet(records: Iterable[Any]) -> bool:
    """CXR-6."""
    return all(isinstance(r, (Pad, Report, Close, Marks, ClockRecord)) or isinstance(r, OnLane) and r.is_ack for r in records)


def check_text(text: bytes) -> None:
    """CXR-22, CXR-23."""
    _demand(len(text) <= MOST_TEXT, "length", 3)
    _demand(_is_text(text), "text", 4)


def _demand(holds: bool, code: str, place: int) -> None:
    if not holds:
        raise Refused(code, place)


def _is_text(text: bytes) -> bool:
    try:
        text.decode()
        return True
    except UnicodeDecodeError:
        return False


def _read_close(r: Reader, payload: bytes, at: int) -> Close:
    _demand(at == 0, "not_alone", at)
    code = r.number(2)
    length = r.number(1)
    _demand(length <= MOST_TEXT, "length", r.at - 1)
    text = r.take(length)
    _demand(_is_text(text), "text", r.at - length)
    _demand(r.at == len(payload), "not_alone", r.at)
    return Close(code, text)


def _read_on_lane(r: Reader, payload: bytes, number: int, lanes: int, variant: int) -> OnLane:
    lane = r.number(1)
    _demand(lane < lanes, "lane", r.at - 1)
    length = len(payload) - r.at if number == SLICE else r.number(1)
    at = r.at
    body = r.take(length)
    try:
        if variant == REPAIR:
            return OnLane(lane, decode_repair_body(RepairSlice if number == SLICE else RepairAck, body))
        return OnLane(lane, decode_body(Slice if number == SLICE else Ack, body))
    except Refused as refused:
        raise Refused(refused.code, at + refused.place // 8) from None


def _write_close(w: Writer, close: Close, count: int) -> None:
    at = w.at
    _demand(at == 0, "not_alone", at)
    w.put(CLOSE, 1)
    w.put(close.code, 2)
    _demand(len(close.text) <= MOST_TEXT, "length", w.at)
    w.put(len(close.text), 1)
    _demand(_is_text(close.text), "text", w.at)
    w.payload += close.text
    _demand(count == 1, "not_alone", w.at)


def _write_marks(w: Writer, marks: Marks, ecn: bool) -> None:
    _demand(ecn, "unknown_record", w.at)
    w.put(ECN, 1)
    w.put(marks.arrived, 2)
    w.put(marks.congested, 2)


def _write_clock(w: Writer, record: ClockRecord, clock: bool) -> None:
    _demand(clock, "unknown_record", w.at)
    w.put(CLOCK, 1)
    w.put(record.sent, 6)
    w.put(record.echo, 4)
    w.put(record.wait, 4)


def _write_on_lane(w: Writer, record: OnLane, lanes: int, variant: int) -> None:
    of_slice = not record.is_ack
    w.put(SLICE if of_slice else CHUNK_ACK, 1)
    _demand(0 <= record.lane < lanes, "lane", w.at)
    w.put(record.lane, 1)
    place = w.at if of_slice else w.at + 1
    try:
        body = (encode_repair_body if variant == REPAIR else encode_body)(record.packet)
    except Refused:
        raise Refused("invalid_field", place) from None
    if not of_slice:
        w.put(len(body), 1)
    w.payload += body
