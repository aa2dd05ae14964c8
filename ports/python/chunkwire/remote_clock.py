"""What an end knows of the round trip and of the other end's clock (spec/CONNECTION.md, section 8.4), in microseconds."""

from __future__ import annotations

from .channels import MS
from .connection_records import ClockRecord

INTERVAL = 200 * MS
BYTES = 15
NONE = 0xFFFF_FFFF
DRIFT_PART = 5_000


class RemoteClock:
    def __init__(self) -> None:
        self._said_at: int | None = None
        self._heard: tuple[int, int, int] | None = None
        """Number, sent and time of the newest record."""
        self.figures: tuple[int, int, int] | None = None
        """The round trip, and between what their clock is ahead of ours."""
        self._known_at = 0

    def say(self, now: int, space: int) -> ClockRecord | None:
        """CXM-29."""
        if space < BYTES or self._said_at is not None and now - self._said_at < INTERVAL:
            return None
        self._said_at = now
        sent = now % (1 << 48)
        if self._heard is None:
            return ClockRecord(sent, 0, NONE)
        return ClockRecord(sent, self._heard[1] % (1 << 32), min(now - self._heard[2], NONE - 1))

    def hear(self, now: int, number: int, record: ClockRecord) -> None:
        """CXM-30."""
        if self._heard is not None and number <= self._heard[0]:
            return
        self._heard = number, record.sent, now
        trip = (now - record.echo - record.wait) % (1 << 32)
        if record.wait == NONE or trip >= 1 << 31:
            return
        low, high = record.sent - now, record.sent - now + trip
        if self.figures is None:
            smooth = trip
        else:
            before, least, most = self.figures
            change = trip - before
            smooth = before + (change // 8 if change >= 0 else -(-change // 8))
            wider = (now - self._known_at) // DRIFT_PART
            if max(low, least - wider) <= min(high, most + wider):
                low, high = max(low, least - wider), min(high, most + wider)
        self.figures, self._known_at = (smooth, low, high), now
