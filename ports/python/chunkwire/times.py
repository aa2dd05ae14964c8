"""Times, in microseconds (section 2.2; CHN-2)."""

NEVER = float("inf")
"""A time that does not come."""


class Clock:
    """The latest time that a machine was given (TIM-1, CHN-3)."""

    def __init__(self) -> None:
        self.latest = 0

    def advance(self, now: int) -> int:
        self.latest = max(self.latest, now)
        return self.latest
