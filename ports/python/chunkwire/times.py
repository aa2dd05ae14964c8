"""Times, in microseconds (section 2.2)."""

NEVER = float("inf")
"""A time that does not come."""


class Clock:
    """The latest time that a machine was given (TIM-1)."""

    def __init__(self) -> None:
        self._latest = 0

    def advance(self, now: int) -> int:
        self._latest = max(self._latest, now)
        return self._latest
