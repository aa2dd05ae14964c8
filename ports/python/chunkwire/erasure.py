"""Section 3 of spec/REPAIR.md: the erasure code. Slices are numbers, a byte of the slice after the other."""

from __future__ import annotations

from typing import Iterable

from .limits import SLICE_SIZE, slice_count

CODE_SEED = 6_535
MAX_IDS = 8_192
"""Ids of source and repair slices of a chunk are below this."""

_POWERS = [1]
for _ in range(254):
    _POWERS.append(_POWERS[-1] << 1 ^ (0x11D if _POWERS[-1] & 0x80 else 0))
_LOGARITHMS = {power: exponent for exponent, power in enumerate(_POWERS)}
_TIMES = [bytes(256)] + [
    bytes(0 if b == 0 else _POWERS[(_LOGARITHMS[factor] + _LOGARITHMS[b]) % 255] for b in range(256))
    for factor in range(1, 256)
]
"""`row.translate(_TIMES[f])` is f times each byte of a row."""
_LOW = int.from_bytes(b"\x7f" * SLICE_SIZE, "little")
_ONES = int.from_bytes(b"\x01" * SLICE_SIZE, "little")


def _mix(h: int) -> int:
    """RPC-1."""
    h = (h ^ h >> 16) * 0x85EBCA6B & 0xFFFFFFFF
    h = (h ^ h >> 13) * 0xC2B2AE35 & 0xFFFFFFFF
    return h ^ h >> 16


def exponents(j: int, num_slices: int) -> list[int]:
    """RPC-2: the exponents of the coefficients of repair slice j."""
    words = [_mix(j * 32 + i + CODE_SEED) for i in range((num_slices + 7) // 8)]
    return [words[i // 8] >> 4 * (i % 8) & 15 for i in range(num_slices)]


def _times_x(v: int) -> int:
    """x times each byte (RPC-3)."""
    return (v & _LOW) << 1 ^ (v >> 7 & _ONES) * 0x1D


def _repair(j: int, num_slices: int, slices: Iterable[tuple[int, int]]) -> int:
    """The sum of RPC-4 over some of the slices, each with its number: 16 sums, joined by Horner's rule."""
    exponent = exponents(j, num_slices)
    sums = [0] * 16
    for i, v in slices:
        sums[exponent[i]] ^= v
    total = 0
    for part in reversed(sums):
        total = _times_x(total) ^ part
    return total


class Encoded:
    """A chunk and its slices by id, of which those of repair are made when they are asked for."""

    def __init__(self, chunk: bytes) -> None:
        self.size = len(chunk)
        self.num_slices = slice_count(len(chunk))
        self.last_bytes = len(chunk) - (self.num_slices - 1) * SLICE_SIZE
        self._source = [chunk[k * SLICE_SIZE : (k + 1) * SLICE_SIZE] for k in range(self.num_slices)]
        self._numbers = [int.from_bytes(data, "little") for data in self._source]
        self._repair: dict[int, bytes] = {}

    def slice(self, slice_id: int) -> bytes:
        if slice_id < self.num_slices:
            return self._source[slice_id]
        if slice_id not in self._repair:
            total = _repair(slice_id - self.num_slices, self.num_slices, enumerate(self._numbers))
            size = self.last_bytes if self.num_slices == 1 else SLICE_SIZE
            self._repair[slice_id] = total.to_bytes(size, "little")
        return self._repair[slice_id]


class Decoder:
    """The slices of a chunk that are here, with their rows in echelon form (RPC-5)."""

    def __init__(self, num_slices: int) -> None:
        self._num_slices = num_slices
        self._held: dict[int, int] = {}
        self._pivots: dict[int, bytes | None] = {}  # by the first column that is not 0; None: 0 in all others

    def __contains__(self, slice_id: int) -> bool:
        return slice_id in self._held

    @property
    def held(self) -> list[int]:
        """The ids that are here, in the order in which they came."""
        return list(self._held)

    @property
    def rank(self) -> int:
        return len(self._held)

    def add(self, slice_id: int, data: bytes) -> bool:
        """Takes a slice, or returns False: its row follows from those that are here."""
        if slice_id in self._held or not self._reduce(slice_id):
            return False
        self._held[slice_id] = int.from_bytes(data, "little")
        return True

    def _reduce(self, slice_id: int) -> bool:
        if slice_id < self._num_slices:
            if slice_id not in self._pivots:
                self._pivots[slice_id] = None
                return True
            row = bytes(i == slice_id for i in range(self._num_slices))
        else:
            row = _row(slice_id - self._num_slices, self._num_slices)
        for column in range(self._num_slices):
            factor = row[column]
            if not factor:
                continue
            if column not in self._pivots:
                inverse = _POWERS[-_LOGARITHMS[factor] % 255]
                self._pivots[column] = row.translate(_TIMES[inverse])
                return True
            pivot = self._pivots[column]
            if pivot is None:
                row = row[:column] + b"\0" + row[column + 1 :]
            else:
                row = _sum(row, pivot.translate(_TIMES[factor]))
        return False

    def rebuild(self) -> bytes:
        """The chunk, once the rank is its number of slices, and the zeros that fill its last slice up."""
        k = self._num_slices
        slices = {i: v for i, v in self._held.items() if i < k}
        missing = [i for i in range(k) if i not in slices]
        repair = [i - k for i in self._held if i >= k]
        rests = [(self._held[k + j] ^ _repair(j, k, slices.items())).to_bytes(SLICE_SIZE, "little") for j in repair]
        rows = [bytes(row[i] for i in missing) for row in (_row(j, k) for j in repair)]
        for i, inverse in zip(missing, _invert(rows)):
            total = 0
            for factor, rest in zip(inverse, rests):
                total ^= int.from_bytes(rest.translate(_TIMES[factor]), "little")
            slices[i] = total
        return b"".join(slices[i].to_bytes(SLICE_SIZE, "little") for i in range(k))


def _row(j: int, num_slices: int) -> bytes:
    """The row of a repair slice (RPC-5)."""
    return bytes(_POWERS[e] for e in exponents(j, num_slices))


def _invert(rows: list[bytes]) -> list[bytes]:
    """The inverse of a matrix that has one, by Gauss and Jordan."""
    m = len(rows)
    work = [row + bytes(i == column for column in range(m)) for i, row in enumerate(rows)]
    for column in range(m):
        pivot = next(i for i in range(column, m) if work[i][column])
        work[column], work[pivot] = work[pivot], work[column]
        inverse = _POWERS[-_LOGARITHMS[work[column][column]] % 255]
        work[column] = work[column].translate(_TIMES[inverse])
        for i in range(m):
            if i != column and work[i][column]:
                work[i] = _sum(work[i], work[column].translate(_TIMES[work[i][column]]))
    return [row[m:] for row in work]


def _sum(a: bytes, b: bytes) -> bytes:
    return (int.from_bytes(a, "little") ^ int.from_bytes(b, "little")).to_bytes(len(a), "little")
