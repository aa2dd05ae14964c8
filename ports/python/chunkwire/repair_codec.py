"""Section 4 of spec/REPAIR.md: the packets of repair, in the frame of PROTOCOL.md."""

from __future__ import annotations

from typing import NamedTuple, Union

from .bits import Reader, Writer
from .codec import decode_frame, encode_frame, need, read_align, read_end
from .erasure import MAX_IDS
from .limits import MAX_SLICES, SLICE_SIZE
from .refused import Refused


class RepairSlice(NamedTuple):
    """A slice, source or repair."""

    chunk_id: int
    id: int
    num_slices: int
    last_bytes: int
    data: bytes


class RepairAck(NamedTuple):
    """`top` is the field: the id of the number."""

    chunk_id: int
    num_slices: int
    have: int
    top: int


RepairPacket = Union[RepairSlice, RepairAck]


def slice_bytes(slice_id: int, num_slices: int, last_bytes: int) -> int:
    """How many bytes of data a slice has."""
    return last_bytes if num_slices == 1 or slice_id == num_slices - 1 else SLICE_SIZE


def id_of(number: int, num_slices: int) -> int:
    """The id of a transmission."""
    return number if number < MAX_IDS else num_slices + (number - num_slices) % (MAX_IDS - num_slices)


def check_repair(packet: RepairPacket) -> None:
    """Refuses what cannot be represented."""
    valid = 0 <= packet.chunk_id <= 0xFFFF and 1 <= packet.num_slices <= MAX_SLICES
    if isinstance(packet, RepairAck):
        valid = valid and 0 <= packet.have <= packet.num_slices and 0 <= packet.top < MAX_IDS
    else:
        valid = valid and 0 <= packet.id < MAX_IDS and 1 <= packet.last_bytes <= SLICE_SIZE
        valid = valid and len(packet.data) == slice_bytes(packet.id, packet.num_slices, packet.last_bytes)
    if not valid:
        raise Refused("invalid_field")


def encode_repair_body(packet: RepairPacket) -> bytes:
    w = Writer()
    _write_body(w, packet)
    return w.finish()


def decode_repair_body(kind: type[RepairPacket], data: bytes) -> RepairPacket:
    r = Reader(data)
    packet = _read_body(r, kind is RepairAck)
    read_end(r)
    return packet


def encode_repair(protocol_id: int, packet: RepairPacket) -> bytes:
    """The datagram."""
    return encode_frame(protocol_id, isinstance(packet, RepairAck), lambda w: _write_body(w, packet))


def decode_repair(protocol_id: int, data: bytes) -> RepairPacket:
    """The packet in a datagram."""
    return decode_frame(protocol_id, data, _read_body)


def _write_body(w: Writer, packet: RepairPacket) -> None:
    check_repair(packet)
    w.bits(packet.chunk_id, 16)
    if isinstance(packet, RepairAck):
        w.integer(packet.num_slices, 1, MAX_SLICES)
        w.bits(packet.have, 9)
        w.bits(packet.top, 13)
    else:
        w.bits(packet.id, 13)
        w.integer(packet.num_slices, 1, MAX_SLICES)
        w.integer(packet.last_bytes, 1, SLICE_SIZE)
        w.data(packet.data)


def _read_body(r: Reader, is_ack: bool) -> RepairPacket:
    need(r, 16)
    chunk_id = r.bits(16)
    return _read_ack(r, chunk_id) if is_ack else _read_slice(r, chunk_id)


def _read_slice(r: Reader, chunk_id: int) -> RepairSlice:
    need(r, 13)
    slice_id = r.bits(13)
    need(r, 8)
    num_slices = r.integer(1, MAX_SLICES)
    need(r, 10)
    last_bytes = r.integer(1, SLICE_SIZE)
    read_align(r)
    size = slice_bytes(slice_id, num_slices, last_bytes)
    need(r, 8 * size)
    return RepairSlice(chunk_id, slice_id, num_slices, last_bytes, r.data(size))


def _read_ack(r: Reader, chunk_id: int) -> RepairAck:
    need(r, 8)
    num_slices = r.integer(1, MAX_SLICES)
    need(r, 9)
    place, have = r.at, r.bits(9)
    if have > num_slices:
        raise Refused("have_out_of_range", place)
    need(r, 13)
    top = r.bits(13)
    read_align(r)
    return RepairAck(chunk_id, num_slices, have, top)
