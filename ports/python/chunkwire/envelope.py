"""The envelope of a connection's datagrams (spec/CONNECTION.md, section 3.1)."""

from __future__ import annotations

import struct
import zlib

from . import chacha
from .refused import Refused
from .sessions import AEAD, CRC, HEAD, TAGS, Data, decode, mac, same

REPLAY = 2_048
MOST_COUNTER = (1 << 62) - 1


class Envelope:
    """One end of a connection: its keys, its counter, and which of the peer's counters were opened."""

    def __init__(self, mode: int, link: int, send_key: bytes, receive_key: bytes) -> None:
        self.mode, self.link = mode, link
        self.send_key, self.receive_key = send_key, receive_key
        self.counter = 0
        self.highest = -1
        self.opened: set[int] = set()

    def seal(self, body: bytes) -> bytes:
        """CXE-5."""
        if self.counter > MOST_COUNTER:
            raise OverflowError("no counter is left")
        datagram = seal(self.mode, self.send_key, self.link, self.counter, body)
        self.counter += 1
        return datagram

    def open(self, datagram: bytes) -> bytes:
        """The body (CXE-8); or Refused, and nothing has changed."""
        message = decode(datagram)
        if not isinstance(message, Data):
            raise Refused("unknown_kind", 0)
        if message.link != self.link:
            raise Refused("unknown_link", 1)
        if message.mode != self.mode:
            raise Refused("mode", 0)
        c = self._counter(message)
        body = _body(self.receive_key, c, datagram, message)
        self.take(c)
        return body

    def _counter(self, data: Data) -> int:
        """CXE-6, CXE-23, CXE-24."""
        c = self.highest + 1 + (data.counter - self.highest - 1) % (1 << 32)
        if c > self.highest + (1 << 31):
            c -= 1 << 32
        if c < 0 or c <= self.highest - REPLAY:
            raise Refused("stale", 5)
        if c in self.opened:
            raise Refused("duplicate", 5)
        return c

    def take(self, c: int) -> None:
        """CXE-7."""
        self.latest = c
        self.opened.add(c)
        if c > self.highest:
            self.highest = c
            self.opened = {n for n in self.opened if n > c - REPLAY}


def seal(mode: int, key: bytes, link: int, c: int, body: bytes) -> bytes:
    """CXE-1 to CXE-4."""
    head = struct.pack("<BII", mode, link, c & 0xFFFFFFFF)
    if mode == AEAD:
        return head + chacha.seal(key, _nonce(c), body, head)
    return head + body + _check(mode, key, c, head + body)


def _body(key: bytes, c: int, datagram: bytes, data: Data) -> bytes:
    """The body, if the tag is right (CXE-25)."""
    if data.mode == AEAD:
        body = chacha.unseal(key, _nonce(c), datagram[HEAD:], datagram[:HEAD])
    else:
        right = same(data.tag, _check(data.mode, key, c, datagram[: -TAGS[data.mode]]))
        body = data.body if right else None
    if body is None:
        raise Refused("tag", len(datagram) - TAGS[data.mode])
    return body


def _nonce(c: int) -> bytes:
    return bytes(4) + struct.pack("<Q", c)


def _check(mode: int, key: bytes, c: int, datagram: bytes) -> bytes:
    if mode == CRC:
        return struct.pack("<I", zlib.crc32(key[:8] + struct.pack("<Q", c) + datagram))
    return mac(key, struct.pack("<Q", c) + datagram)[:8]
