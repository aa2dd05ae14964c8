"""Section 8: the receiver. Every event returns the row of the transition table that it took."""

from __future__ import annotations

from .ack_timer import AckTimer
from .codec import Ack, Slice
from .limits import GIVE_UP, check_config
from .times import Clock


class Receiver:
    """The machine of section 8.3; its variables are those of 8.2 and 8.5."""

    def __init__(self, first_id: int = 0, give_up: int = GIVE_UP) -> None:
        check_config(first_id, give_up)
        self.state = "WAITING"
        self.chunk_id = first_id
        self.num_slices = 0
        self.received: dict[int, bytes] = {}
        self.conflicts = 0
        self._give_up = give_up
        self._clock = Clock()
        self._progress_at = 0
        self._previous_slices = 0
        self._chunk = b""
        self._acks = AckTimer()
        self._held_slices = 0

    def slice(self, now: int, s: Slice) -> str:
        """R1, R6 and R10 complete a chunk, to be read."""
        now = self._clock.advance(now)
        if self.state == "FAILED":
            return "R26"
        column = ("WAITING", "RECEIVING", "READY").index(self.state)
        if s.chunk_id == self._previous_id and s.num_slices == self._previous_slices:
            self._acks.soon("previous", now)
            return ("R3", "R11", "R14")[column]
        if s.chunk_id != self.chunk_id:
            return ("R4", "R12", "R15")[column]
        if self.state == "WAITING":
            self._start(s.num_slices)
            return "R1" if self._store(now, s) else "R2"
        if self.state == "READY":
            self._held_slices = s.num_slices  # HOLD: RCV-14
            self._acks.soon("hold", now)
            return "R13"
        if s.num_slices != self.num_slices:  # RCV-7
            if now - self._progress_at < self._give_up // 2:
                self.conflicts += 1
                return "R8"
            self._start(s.num_slices)
            return "R10" if self._store(now, s) else "R9"
        if s.slice_id in self.received:
            self._acks.soon("current", now)
            return "R7"
        return "R6" if self._store(now, s) else "R5"

    def read(self, now: int) -> tuple[str, bytes | None]:
        """The row, and with R16 the chunk; every other row says that there is nothing to read."""
        self._clock.advance(now)
        if self.state != "READY":
            return {"WAITING": "R17", "RECEIVING": "R18", "FAILED": "R27"}[self.state], None
        chunk, self._chunk = self._chunk, b""
        self.state = "WAITING"
        return "R16", chunk

    def poll(self, now: int) -> tuple[str, Ack | None]:
        """The row, and an ack to be sent if one is. To be repeated until none comes (RCV-1).

        R23 reports the failure (RCV-15).
        """
        now = self._clock.advance(now)
        if self.state == "FAILED":
            return "R28", None
        if self.state == "RECEIVING" and now - self._progress_at >= self._give_up:
            self.state = "FAILED"
            self.num_slices, self.received = 0, {}
            self._acks.stop()
            return "R23", None
        due = now >= self._acks.at
        row = {"WAITING": ("R20", "R19"), "RECEIVING": ("R22", "R21"), "READY": ("R25", "R24")}[self.state][due]
        return row, self._send_ack(now) if due else None

    @property
    def deadline(self) -> float:
        """When to poll at the latest (RCV-17)."""
        if self.state == "RECEIVING":
            return min(self._acks.at, self._progress_at + self._give_up)
        return self._acks.at

    @property
    def _previous_id(self) -> int:
        return (self.chunk_id - 1) % 65_536

    def _start(self, num_slices: int) -> None:
        """START: RCV-10, AKT-1."""
        self.num_slices, self.received = num_slices, {}
        self._acks.start()

    def _store(self, now: int, s: Slice) -> bool:
        """STORE: RCV-11, AKT-3, AKT-4; and COMPLETE with the last slice that was missing: RCV-12.

        Whether the chunk is complete.
        """
        self.received[s.slice_id] = bytes(s.data)
        self._progress_at = now
        self._acks.stored(now, s.slice_id)
        complete = len(self.received) == self.num_slices
        self.state = "READY" if complete else "RECEIVING"
        if complete:
            self._chunk = b"".join(self.received[k] for k in range(self.num_slices))
            self._previous_slices, self.num_slices, self.received = self.num_slices, 0, {}
            self.chunk_id = (self.chunk_id + 1) % 65_536
            self._acks.completed(now)
        return complete

    def _send_ack(self, now: int) -> Ack:
        """SEND ACK: RCV-16, AKT-5."""
        kind = self._acks.take(now)
        if kind == "previous":
            return Ack(self._previous_id, self._previous_slices, frozenset(range(self._previous_slices)))
        if kind == "current":
            return Ack(self.chunk_id, self.num_slices, frozenset(self.received))
        return Ack(self.chunk_id, self._held_slices, frozenset())
