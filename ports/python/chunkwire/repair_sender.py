"""Section 5 of spec/REPAIR.md: the sender. Every event returns the row of the transition table that it took."""

from __future__ import annotations

from typing import Protocol

from .erasure import MAX_IDS, Encoded
from .limits import GIVE_UP, MAX_CHUNK, check_config
from .repair_codec import RepairAck, RepairSlice, id_of
from .times import NEVER, Clock


class RepairScheduler(Protocol):
    """Says when the next id goes."""

    def start(self, now: int, num_slices: int) -> None:
        """A chunk begins."""

    def news(self, now: int, have: int, top: int) -> None:
        """What the peer has, and the numbers below which all came or are lost."""

    def hold(self, now: int) -> None:
        """The peer is there, but cannot take the chunk yet."""

    def next(self, now: int) -> bool:
        """Whether the next id goes out now; it then counts as sent."""

    @property
    def deadline(self) -> float:
        """When to ask again, unless an ack comes before."""


class RepairSender:
    """The machine of table T."""

    def __init__(self, scheduler: RepairScheduler, first_id: int = 0, give_up: int = GIVE_UP) -> None:
        check_config(first_id, give_up)
        self.state = "IDLE"
        self.chunk_id = first_id
        self.num_slices = 0
        self.sent = self.have = self.top = 0
        self._scheduler = scheduler
        self._give_up = give_up
        self._clock = Clock()
        self._chunk: Encoded | None = None
        self.heard_at = 0

    def submit(self, now: int, chunk: bytes) -> str:
        """T1 takes the chunk; T2, T3 and T4 refuse it for its size, as busy, as failed."""
        now = self._clock.advance(now)
        if self.state == "FAILED":
            return "T4"
        if self.state == "SENDING":
            return "T3"
        if not 1 <= len(chunk) <= MAX_CHUNK:
            return "T2"
        self.state = "SENDING"
        self._chunk = Encoded(bytes(chunk))
        self.num_slices = self._chunk.num_slices
        self.sent = self.have = self.top = 0
        self.heard_at = now
        self._scheduler.start(now, self.num_slices)
        return "T1"

    def ack(self, now: int, ack: RepairAck) -> str:
        """T10 reports the chunk as delivered."""
        now = self._clock.advance(now)
        if self.state == "FAILED":
            return "T11"
        if self.state == "IDLE":
            return "T5"
        top = self._number(ack.top)
        foreign = (ack.chunk_id, ack.num_slices) != (self.chunk_id, self.num_slices)
        if foreign or top is None or ack.have > min(self.num_slices, top):
            return "T6"
        if ack.have <= self.have and top <= self.top:
            if ack.have or top or self.have or self.top or not self.sent:
                return "T7"
            self.heard_at = now
            self._scheduler.hold(now)
            return "T8"
        self.heard_at = now
        self.have, self.top = max(self.have, ack.have), max(self.top, top)
        self._scheduler.news(now, self.have, self.top)
        if self.have < self.num_slices:
            return "T9"
        self.state, self._chunk, self.num_slices = "IDLE", None, 0
        self.chunk_id = (self.chunk_id + 1) % 65_536
        return "T10"

    def poll(self, now: int) -> tuple[str, RepairSlice | None]:
        """The row, and with T13 the slice to be sent. To be repeated while the row is T13. T15 reports the failure."""
        now = self._clock.advance(now)
        if self.state == "IDLE":
            return "T12", None
        if self.state == "FAILED":
            return "T16", None
        if now - self.heard_at >= self._give_up:
            self.state, self._chunk = "FAILED", None
            return "T15", None
        if not self._scheduler.next(now):
            return "T14", None
        assert self._chunk is not None
        slice_id = id_of(self.sent, self.num_slices)
        self.sent += 1
        last = self._chunk.last_bytes
        return "T13", RepairSlice(self.chunk_id, slice_id, self.num_slices, last, self._chunk.slice(slice_id))

    @property
    def gives_up_at(self) -> float:
        """When it fails, if nothing comes."""
        return self.heard_at + self._give_up if self.state == "SENDING" else NEVER

    @property
    def deadline(self) -> float:
        """When to poll at the latest."""
        if self.state != "SENDING":
            return NEVER
        return min(self._scheduler.deadline, self.heard_at + self._give_up)

    def _number(self, field: int) -> int | None:
        """The largest number up to `sent` whose id is the field."""
        if self.sent < MAX_IDS or field < self.num_slices:
            return field if field <= self.sent else None
        return self.sent - (id_of(self.sent, self.num_slices) - field) % (MAX_IDS - self.num_slices)
