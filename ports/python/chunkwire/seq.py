"""Sequence numbers of packets and of channels: they never wrap, and the wire has their low 16 bits (PKS-1, CHR-5)."""

from __future__ import annotations

SPAN = 1 << 16


def on_wire(number: int) -> int:
    """The low 16 bits of a number."""
    return number % SPAN


def number_from(sequence: int, behind: int) -> int | None:
    """The number from `behind` on that `sequence` means, or None: it is stale (PKS-2)."""
    ahead = (sequence - behind) % SPAN
    if ahead >= SPAN // 2 or behind + ahead < 0:
        return None
    return behind + ahead


def newest(sequence: int, last: int) -> int:
    """The newest number up to `last` with these low 16 bits (PKA-2)."""
    return last - (last - sequence) % SPAN


def nearest(sequence: int, base: int) -> int:
    """The number from `base - 32767` to `base + 32768` that `sequence` means; it may be negative (CHN-4)."""
    return newest(sequence, base + SPAN // 2)


def first_from(sequence: int, base: int) -> int:
    """The first number from `base` on that `sequence` means (CHN-5)."""
    return base + (sequence - base) % SPAN
