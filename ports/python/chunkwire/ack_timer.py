"""Section 8.5: when acks go out."""

from __future__ import annotations

from .times import NEVER

ACK_SPACING = 2_000
ACK_EVERY = 16


class AckTimer:
    """For which of *previous*, *current* and *hold* an ack is due, and the variables of AKT-6."""

    def __init__(self) -> None:
        self.due: set[str] = set()
        self.at: float = NEVER
        self._last_at: float = -NEVER
        self._unreported = 0
        self._last_new = -1
        self._after_gap = False

    def start(self) -> None:
        """AKT-1, and what RCV-10 forgets."""
        self.due.discard("hold")
        self._unreported, self._last_new, self._after_gap = 0, -1, False

    def stored(self, now: int, slice_id: int) -> None:
        """AKT-3, AKT-4."""
        self._unreported += 1
        gap = slice_id != self._last_new + 1
        if gap or self._after_gap or self._unreported >= ACK_EVERY:
            self.at_once("current", now)
        else:
            self.soon("current", now)
        self._last_new, self._after_gap = slice_id, gap

    def soon(self, kind: str, now: int) -> None:
        """AKT-2."""
        self._add(kind, max(now, self._last_at + ACK_SPACING))

    def at_once(self, kind: str, now: int) -> None:
        self._add(kind, now)

    def completed(self, now: int) -> None:
        """What RCV-12 does with acks that are due."""
        self.due.remove("current")
        self.at_once("previous", now)

    def stop(self) -> None:
        self.due, self.at = set(), NEVER

    def take(self, now: int) -> str:
        """The next of the acks that are due (RCV-16, AKT-5)."""
        kind = next(kind for kind in ("previous", "current", "hold") if kind in self.due)
        self.due.remove(kind)
        if not self.due:
            self.at, self._last_at, self._unreported = NEVER, now, 0
        return kind

    def _add(self, kind: str, at: float) -> None:
        self.due.add(kind)
        self.at = min(self.at, at)
