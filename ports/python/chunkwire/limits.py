"""Section 2: limits and times."""

SLICE_SIZE = 1_024
MAX_SLICES = 256
MAX_CHUNK = SLICE_SIZE * MAX_SLICES
MAX_DATAGRAM = 1_038
MAX_ACK = 44
HEADER = 28

NEVER = float("inf")
"""A time that does not come."""

GIVE_UP = 10_000_000
"""What both machines take for `GIVE_UP` unless told otherwise, in microseconds."""


def slice_count(size: int) -> int:
    """How many slices a chunk of `size` bytes has (LIM-2)."""
    return (size + SLICE_SIZE - 1) // SLICE_SIZE


class Clock:
    """The latest time that a machine was given (TIM-1)."""

    def __init__(self) -> None:
        self._latest = 0

    def advance(self, now: int) -> int:
        self._latest = max(self._latest, now)
        return self._latest
