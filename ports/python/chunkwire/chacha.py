"""ChaCha20-Poly1305 (RFC 8439), which the standard library lacks. It is slow, and takes no care of its timing."""

from __future__ import annotations

import hmac
import struct

TAG = 16
_MASK = 0xFFFFFFFF
_CONSTANTS = struct.unpack("<4I", b"expand 32-byte k")
_QUARTERS = ((0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15), (0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14))
_PRIME = (1 << 130) - 5
_CLAMP = 0x0FFFFFFC0FFFFFFC0FFFFFFC0FFFFFFF


def seal(key: bytes, nonce: bytes, body: bytes, additional: bytes) -> bytes:
    """The encrypted body, and the tag behind it."""
    hidden = _xor(key, nonce, body)
    return hidden + _tag(key, nonce, hidden, additional)


def unseal(key: bytes, nonce: bytes, sealed: bytes, additional: bytes) -> bytes | None:
    """The body, or None if the tag is wrong."""
    hidden, tag = sealed[:-TAG], sealed[-TAG:]
    if not hmac.compare_digest(tag, _tag(key, nonce, hidden, additional)):
        return None
    return _xor(key, nonce, hidden)


def _xor(key: bytes, nonce: bytes, data: bytes) -> bytes:
    stream = b"".join(_block(key, 1 + i, nonce) for i in range((len(data) + 63) // 64))
    return (int.from_bytes(data, "little") ^ int.from_bytes(stream[: len(data)], "little")).to_bytes(len(data), "little")


def _block(key: bytes, counter: int, nonce: bytes) -> bytes:
    """64 bytes of the key stream (RFC 8439, section 2.3)."""
    first = [*_CONSTANTS, *struct.unpack("<8I", key), counter, *struct.unpack("<3I", nonce)]
    x = list(first)
    for _ in range(10):
        for a, b, c, d in _QUARTERS:
            x[a] = (x[a] + x[b]) & _MASK
            x[d] = _left(x[d] ^ x[a], 16)
            x[c] = (x[c] + x[d]) & _MASK
            x[b] = _left(x[b] ^ x[c], 12)
            x[a] = (x[a] + x[b]) & _MASK
            x[d] = _left(x[d] ^ x[a], 8)
            x[c] = (x[c] + x[d]) & _MASK
            x[b] = _left(x[b] ^ x[c], 7)
    return struct.pack("<16I", *((a + b) & _MASK for a, b in zip(x, first)))


def _left(x: int, by: int) -> int:
    return (x << by | x >> (32 - by)) & _MASK


def _tag(key: bytes, nonce: bytes, hidden: bytes, additional: bytes) -> bytes:
    """Poly1305 under the one-time key (RFC 8439, sections 2.5, 2.6 and 2.8)."""
    once = _block(key, 0, nonce)
    r, s = int.from_bytes(once[:16], "little") & _CLAMP, int.from_bytes(once[16:32], "little")
    text = _padded(additional) + _padded(hidden) + struct.pack("<QQ", len(additional), len(hidden))
    sum_ = 0
    for at in range(0, len(text), 16):
        sum_ = (sum_ + int.from_bytes(text[at : at + 16] + b"\1", "little")) * r % _PRIME
    return ((sum_ + s) & ((1 << 128) - 1)).to_bytes(16, "little")


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 16)
