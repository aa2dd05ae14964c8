"""X25519 (RFC 7748), which the standard library lacks. It is slow, and takes no care of its timing."""

from __future__ import annotations

_PRIME = (1 << 255) - 19
_BASE = (9).to_bytes(32, "little")


def public(private: bytes) -> bytes:
    return shared(private, _BASE)


def shared(private: bytes, other: bytes) -> bytes:
    """What both ends have in common; 32 zeros for the few shares that give the same to everybody."""
    k = int.from_bytes(private, "little") & (1 << 254) - 8 | 1 << 254
    u = (int.from_bytes(other, "little") & (1 << 255) - 1) % _PRIME
    x2, z2, x3, z3 = 1, 0, u, 1
    for i in reversed(range(255)):
        if k >> i & 1:
            x2, z2, x3, z3 = _step(u, x2, z2, x3, z3)
        else:
            x3, z3, x2, z2 = _step(u, x3, z3, x2, z2)
    return (x2 * pow(z2, _PRIME - 2, _PRIME) % _PRIME).to_bytes(32, "little")


def _step(u: int, xa: int, za: int, xb: int, zb: int) -> tuple[int, int, int, int]:
    """The sum of a and b, and twice b."""
    a, b, c, d = xb + zb, xb - zb, xa + za, xa - za
    aa, bb, da, cb = a * a % _PRIME, b * b % _PRIME, d * a % _PRIME, c * b % _PRIME
    e = aa - bb
    return (da + cb) ** 2 % _PRIME, u * (da - cb) ** 2 % _PRIME, aa * bb % _PRIME, e * (aa + 121_665 * e) % _PRIME
