"""Section 7: the sender. Every event returns the row of the transition table that it took."""

from __future__ import annotations

from typing import Protocol

from .codec import Ack, Slice
from .limits import GIVE_UP, MAX_CHUNK, SLICE_SIZE, check_config, slice_count
from .times import NEVER, Clock


class Scheduler(Protocol):
    """Chooses which slice goes next and when (section 9, SCH-1 to SCH-4)."""

    def start(self, now: int, size: int) -> None:
        """A chunk of `size` bytes begins."""

    def news(self, now: int, slices: frozenset[int]) -> None:
        """These slices were acked for the first time."""

    def hold(self, now: int) -> None:
        """The peer is there, but cannot take the chunk yet."""

    def next(self, now: int) -> int | None:
        """The slice that is due, if one is."""

    @property
    def deadline(self) -> float:
        """When to ask for a slice again, unless an ack comes before."""


class Sender:
    """The machine of section 7.3; its variables are those of 7.2."""

    def __init__(self, scheduler: Scheduler, first_id: int = 0, give_up: int = GIVE_UP) -> None:
        check_config(first_id, give_up)
        self.state = "IDLE"
        self.chunk_id = first_id
        self.num_slices = 0
        self.acked: frozenset[int] = frozenset()
        self._scheduler = scheduler
        self._give_up = give_up
        self._clock = Clock()
        self._chunk = b""
        self._sent: set[int] = set()
        self.heard_at = 0

    def submit(self, now: int, chunk: bytes) -> str:
        """S1 takes the chunk; S2, S3 and S4 refuse it for its size, as busy, as failed (SND-1)."""
        now = self._clock.advance(now)
        if self.state == "FAILED":
            return "S4"
        if self.state == "SENDING":
            return "S3"
        if not 1 <= len(chunk) <= MAX_CHUNK:
            return "S2"
        self.state = "SENDING"
        self._chunk = bytes(chunk)
        self.num_slices = slice_count(len(chunk))  # START: SND-10
        self._sent, self.acked = set(), frozenset()
        self.heard_at = now
        self._scheduler.start(now, len(chunk))
        return "S1"

    def ack(self, now: int, ack: Ack) -> str:
        """S10 reports the chunk as delivered (SND-13)."""
        now = self._clock.advance(now)
        if self.state == "FAILED":
            return "S11"
        if self.state == "IDLE":
            return "S5"
        if (ack.chunk_id, ack.num_slices) != (self.chunk_id, self.num_slices):
            return "S6"
        news = (ack.acked & self._sent) - self.acked  # SND-6, SND-7
        if not news and (ack.acked or self.acked or not self._sent):
            return "S7"
        self.heard_at = now
        if not news:
            self._scheduler.hold(now)
            return "S8"
        self.acked |= news
        self._scheduler.news(now, news)
        if len(self.acked) < self.num_slices:
            return "S9"
        self.state, self._chunk, self.num_slices = "IDLE", b"", 0
        self.chunk_id = (self.chunk_id + 1) % 65_536
        return "S10"

    def poll(self, now: int) -> tuple[str, Slice | None]:
        """The row, and with S13 the slice to be sent. To be repeated while the row is S13 (SND-3).

        S15 reports the failure (SND-15).
        """
        now = self._clock.advance(now)
        if self.state == "IDLE":
            return "S12", None
        if self.state == "FAILED":
            return "S16", None
        if now - self.heard_at >= self._give_up:
            self.state, self._chunk = "FAILED", b""
            return "S15", None
        k = self._scheduler.next(now)
        if k is None:
            return "S14", None
        self._sent.add(k)
        data = self._chunk[k * SLICE_SIZE : (k + 1) * SLICE_SIZE]
        return "S13", Slice(self.chunk_id, k, self.num_slices, data)

    @property
    def gives_up_at(self) -> float:
        """When it fails, if nothing comes."""
        return self.heard_at + self._give_up if self.state == "SENDING" else NEVER

    @property
    def deadline(self) -> float:
        """When to poll at the latest (SND-16)."""
        if self.state != "SENDING":
            return NEVER
        return min(self._scheduler.deadline, self.heard_at + self._give_up)
