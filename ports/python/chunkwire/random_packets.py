"""The random packets of appendix B, summed up by one hash."""

from __future__ import annotations

import hashlib
from typing import Callable

from .codec import Ack, Packet, Slice, decode_packet, encode_packet, seal
from .limits import MAX_SLICES, SLICE_SIZE
from .refused import Refused


def generator(seed: int) -> Callable[[], int]:
    """ACC-1."""
    x = seed

    def following() -> int:
        nonlocal x
        x ^= x << 13 & 0xFFFFFFFF
        x ^= x >> 17
        x ^= x << 5 & 0xFFFFFFFF
        return x

    return following


def random_packet(following: Callable[[], int]) -> tuple[int, Packet]:
    """A protocol id and a packet (ACC-2)."""
    protocol_id = following()
    is_ack = following() % 2
    chunk_id = following() % 65_536
    num_slices = following() % MAX_SLICES + 1
    if is_ack:
        words = sum(following() << first for first in range(0, num_slices, 32))
        return protocol_id, Ack(chunk_id, num_slices, frozenset(k for k in range(num_slices) if words >> k & 1))
    slice_id = following() % num_slices
    size = following() % SLICE_SIZE + 1 if slice_id == num_slices - 1 else SLICE_SIZE
    f = following()
    return protocol_id, Slice(chunk_id, slice_id, num_slices, bytes((f + i) % 256 for i in range(size)))


def random_packets_hash(seed: int, count: int) -> str:
    """ACC-3."""
    following = generator(seed)
    total = hashlib.sha256()
    for _ in range(count):
        protocol_id, packet = random_packet(following)
        datagram = bytearray(encode_packet(protocol_id, packet))
        total.update(datagram)
        m = following() % (8 * len(datagram) - 32) + 32
        datagram[m // 8] ^= 1 << m % 8
        try:
            decode_packet(protocol_id, seal(protocol_id, bytes(datagram)))
            outcome = "ok"
        except Refused as refused:
            outcome = refused.code
        total.update(outcome.encode() + b"\n")
    return total.hexdigest()
