"""Headers, regular packets and fragments of the packet layer, as bytes (spec/PACKETS.md, section 3)."""

from __future__ import annotations

from typing import NamedTuple, Union

from .refused import Refused
from .seq import SPAN

FRAGMENT_SIZE = 1_024
MAX_FRAGMENTS = 16
LONGEST_DISTANCE = 255
"""Of an ack that is sent as one byte (PKT-2)."""
ACK_BITS = 32
FRAGMENT = 0x01
DISTANCE = 0x20
FULL = 0xFF
NOWHERE = -1
"""The place of a fault that lies in no byte."""


class Header(NamedTuple):
    """The number of a packet, the newest number known of the peer, and which of the last 32 arrived (PKT-1)."""

    sequence: int
    ack: int
    ack_bits: int


class Regular(NamedTuple):
    """A packet in one datagram (3.1)."""

    header: Header
    payload: bytes


class Fragment(NamedTuple):
    """A piece of a packet (3.2); the first one has the header of the packet."""

    sequence: int
    fragment_id: int
    num_fragments: int
    data: bytes
    header: Header | None = None


def encode_header(header: Header) -> bytes:
    """The bytes of PKT-2."""
    sequence, ack, ack_bits = header
    if not (0 <= sequence < SPAN and 0 <= ack < SPAN and 0 <= ack_bits < 1 << ACK_BITS):
        raise Refused("invalid_field", NOWHERE)
    prefix = 0
    body = sequence.to_bytes(2, "little")
    distance = (sequence - ack) % SPAN
    if distance <= LONGEST_DISTANCE:
        prefix |= DISTANCE
        body += bytes([distance])
    else:
        body += ack.to_bytes(2, "little")
    for i, byte in enumerate(ack_bits.to_bytes(4, "little")):
        if byte != FULL:
            prefix |= 2 << i
            body += bytes([byte])
    return bytes([prefix]) + body


def encode_packet(header: Header, payload: bytes, fragment_size: int, above: int) -> list[bytes]:
    """The datagrams of a packet: one, or if it has more than `above` bytes its fragments (PKF-1, PKF-2)."""
    head = encode_header(header)
    if len(payload) <= above:
        return [head + payload]
    count = (len(payload) + fragment_size - 1) // fragment_size
    start = bytes([FRAGMENT]) + header.sequence.to_bytes(2, "little")
    datagrams = []
    for i in range(count):
        data = payload[i * fragment_size : (i + 1) * fragment_size]
        datagrams.append(start + bytes([i, count - 1]) + (head if i == 0 else b"") + data)
    return datagrams


def decode(datagram: bytes, fragment_size: int, max_fragments: int) -> Union[Regular, Fragment]:
    """What a datagram holds: PKD-1 to PKD-11."""
    r = _Reader(datagram)
    r.need(1)  # PKD-1
    if datagram[0] & 1:
        if datagram[0] != FRAGMENT:  # PKD-2
            raise Refused("reserved_bits", 0)
        return _fragment(r, fragment_size, max_fragments)
    header = _header(r)
    if not r.left:  # PKD-6
        raise Refused("empty_payload", r.at)
    if r.left > fragment_size * max_fragments:
        raise Refused("too_large", r.at)
    return Regular(header, r.take(r.left))


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self.at = 0

    @property
    def left(self) -> int:
        return len(self._data) - self.at

    def need(self, count: int) -> None:
        if self.left < count:
            raise Refused("truncated", self.at)

    def take(self, count: int) -> bytes:
        self.at += count
        return self._data[self.at - count : self.at]

    def number(self, count: int) -> int:
        self.need(count)
        return int.from_bytes(self.take(count), "little")


def _header(r: _Reader) -> Header:
    """PKD-2 to PKD-5, of a regular packet or within fragment 0."""
    prefix_at = r.at
    prefix = r.number(1)
    if prefix & 0xC1:
        raise Refused("reserved_bits", prefix_at)
    sequence = r.number(2)  # PKD-3
    ack_at = r.at
    if prefix & DISTANCE:  # PKD-4
        ack = (sequence - r.number(1)) % SPAN
    else:
        ack = r.number(2)
        if (sequence - ack) % SPAN <= LONGEST_DISTANCE:
            raise Refused("not_minimal", ack_at)
    ack_bits = 0
    for i in range(4):  # PKD-5
        byte = FULL
        if prefix & 2 << i:
            byte = r.number(1)
            if byte == FULL:
                raise Refused("not_minimal", r.at - 1)
        ack_bits |= byte << 8 * i
    return Header(sequence, ack, ack_bits)


def _fragment(r: _Reader, fragment_size: int, max_fragments: int) -> Fragment:
    r.take(1)
    sequence = r.number(2)  # PKD-3
    fragment_id = r.number(1)  # PKD-7
    count = r.number(1) + 1
    if count > max_fragments:  # PKD-8
        raise Refused("too_many_fragments", 4)
    if count < 2:
        raise Refused("single_fragment", 4)
    if fragment_id >= count:  # PKD-9
        raise Refused("fragment_id_out_of_range", 3)
    header = None
    if fragment_id == 0:  # PKD-10
        header = _header(r)
        if header.sequence != sequence:
            raise Refused("sequence_mismatch", 6)
    least = 1 if fragment_id == count - 1 else fragment_size
    if not least <= r.left <= fragment_size:  # PKD-11
        raise Refused("fragment_size", r.at)
    return Fragment(sequence, fragment_id, count, r.take(r.left), header)
