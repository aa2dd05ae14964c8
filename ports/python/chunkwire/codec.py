"""Sections 4 to 6: packets, the frame, encoding and decoding."""

from __future__ import annotations

import zlib
from typing import Callable, NamedTuple, TypeVar, Union

from .bits import Reader, Writer
from .limits import MAX_SLICES, SLICE_SIZE
from .refused import Refused

END_CHECK = 0x9908ACE2


class Slice(NamedTuple):
    """Section 4.1."""

    chunk_id: int
    slice_id: int
    num_slices: int
    data: bytes


class Ack(NamedTuple):
    """Section 4.2."""

    chunk_id: int
    num_slices: int
    acked: frozenset[int]


Packet = Union[Slice, Ack]
T = TypeVar("T")


def check(packet: Packet) -> None:
    """Refuses what cannot be represented (ENC-1 to ENC-6)."""
    if not isinstance(packet, (Slice, Ack)):
        raise Refused("invalid_field")
    valid = 0 <= packet.chunk_id <= 0xFFFF and 1 <= packet.num_slices <= MAX_SLICES
    if isinstance(packet, Ack):
        valid = valid and all(0 <= k < packet.num_slices for k in packet.acked)
    else:
        smallest = 1 if packet.slice_id == packet.num_slices - 1 else SLICE_SIZE
        valid = valid and 0 <= packet.slice_id < packet.num_slices
        valid = valid and smallest <= len(packet.data) <= SLICE_SIZE
    if not valid:
        raise Refused("invalid_field")


def encode_body(packet: Packet) -> bytes:
    """The bare body."""
    w = Writer()
    _write_body(w, packet)
    return w.finish()


def decode_body(kind: type[Packet], data: bytes) -> Packet:
    """The `Slice` or `Ack` in a bare body: DEC-4 to DEC-11 and DEC-14."""
    r = Reader(data)
    packet = _read_body(r, kind)
    read_end(r)
    return packet


def encode_packet(protocol_id: int, packet: Packet) -> bytes:
    """The datagram (FRM-1)."""
    return encode_frame(protocol_id, isinstance(packet, Ack), lambda w: _write_body(w, packet))


def decode_packet(protocol_id: int, data: bytes) -> Packet:
    """The packet in a datagram: DEC-1 to DEC-14."""
    return decode_frame(protocol_id, data, lambda r, is_ack: _read_body(r, Ack if is_ack else Slice))


def encode_frame(protocol_id: int, is_ack: bool, write_body: Callable[[Writer], None]) -> bytes:
    """The datagram of a body (FRM-1)."""
    w = Writer()
    w.bits(0, 32)
    w.bits(is_ack, 1)
    write_body(w)
    w.align()
    w.bits(END_CHECK, 32)
    return seal(protocol_id, w.finish())


def decode_frame(protocol_id: int, data: bytes, read_body: Callable[[Reader, bool], T]) -> T:
    """What read_body finds in a datagram: DEC-1 to DEC-3 and DEC-12 to DEC-14."""
    r = Reader(data)
    need(r, 32)
    if r.bits(32) != _crc(protocol_id, data):
        raise Refused("crc_mismatch", 0)
    need(r, 1)
    packet = read_body(r, r.bits(1) == 1)
    need(r, 32)
    place = r.at
    if r.bits(32) != END_CHECK:
        raise Refused("bad_end_check", place)
    read_end(r)
    return packet


def seal(protocol_id: int, datagram: bytes) -> bytes:
    """The datagram with its crc made right."""
    return _crc(protocol_id, datagram).to_bytes(4, "little") + datagram[4:]


def _crc(protocol_id: int, datagram: bytes) -> int:
    """FRM-2."""
    return zlib.crc32(datagram[4:], zlib.crc32(protocol_id.to_bytes(4, "little") + bytes(4)))


def _write_body(w: Writer, packet: Packet) -> None:
    """SLC-1 and ACK-1."""
    check(packet)
    w.bits(packet.chunk_id, 16)
    if isinstance(packet, Ack):
        w.integer(packet.num_slices, 1, MAX_SLICES)
        for k in range(packet.num_slices):
            w.bits(k in packet.acked, 1)
    else:
        w.integer(packet.slice_id, 0, MAX_SLICES - 1)
        w.integer(packet.num_slices, 1, MAX_SLICES)
        if packet.slice_id == packet.num_slices - 1:
            w.integer(len(packet.data), 1, SLICE_SIZE)
        w.data(packet.data)


def _read_body(r: Reader, kind: type[Packet]) -> Packet:
    """DEC-4 to DEC-11."""
    need(r, 16)
    chunk_id = r.bits(16)
    return _read_ack(r, chunk_id) if kind is Ack else _read_slice(r, chunk_id)


def _read_slice(r: Reader, chunk_id: int) -> Slice:
    need(r, 8)
    place, slice_id = r.at, r.integer(0, MAX_SLICES - 1)
    need(r, 8)
    num_slices = r.integer(1, MAX_SLICES)
    if slice_id >= num_slices:
        raise Refused("slice_id_out_of_range", place)
    size = SLICE_SIZE
    if slice_id == num_slices - 1:
        need(r, 10)
        size = r.integer(1, SLICE_SIZE)
    read_align(r)
    need(r, 8 * size)
    return Slice(chunk_id, slice_id, num_slices, r.data(size))


def _read_ack(r: Reader, chunk_id: int) -> Ack:
    need(r, 8)
    num_slices = r.integer(1, MAX_SLICES)
    need(r, num_slices)
    acked = frozenset(k for k in range(num_slices) if r.bits(1))
    read_align(r)
    return Ack(chunk_id, num_slices, acked)


def need(r: Reader, count: int) -> None:
    if r.left < count:
        raise Refused("truncated", r.at)


def read_align(r: Reader) -> None:
    """DEC-10. A stream never ends within its padding, for it has whole bytes."""
    place = r.at
    if r.align():
        raise Refused("nonzero_padding", place)


def read_end(r: Reader) -> None:
    """DEC-14."""
    if r.left:
        raise Refused("trailing_data", r.at)
