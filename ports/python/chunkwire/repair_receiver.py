"""Section 6 of spec/REPAIR.md: the receiver. Every event returns the row of the transition table that it took."""

from __future__ import annotations

from .ack_timer import AckTimer
from .erasure import MAX_IDS, Decoder, Encoded
from .limits import GIVE_UP, SLICE_SIZE, check_config
from .repair_codec import RepairAck, RepairSlice, id_of
from .times import Clock


class RepairReceiver:
    """The machine of table U."""

    def __init__(self, first_id: int = 0, give_up: int = GIVE_UP) -> None:
        check_config(first_id, give_up)
        self.state = "WAITING"
        self.chunk_id = first_id
        self.num_slices = 0
        self.last_bytes = 0
        self.top = 0
        self.conflicts = 0
        self.inconsistent = 0
        self._decoder = Decoder(0)
        self._give_up = give_up
        self._clock = Clock()
        self._progress_at = 0
        self._previous_slices = self._previous_top = 0
        self._chunk = b""
        self._spare: RepairSlice | None = None
        self._held_then: set[int] = set()
        self._unchecked = False
        self._acks = AckTimer()
        self._held_slices = 0

    @property
    def held(self) -> list[int]:
        """The ids that are here, in the order in which they came."""
        return self._decoder.held

    @property
    def have(self) -> int:
        return self._decoder.rank

    def slice(self, now: int, s: RepairSlice) -> str:
        """U1, U6 and U11 complete a chunk, to be read."""
        now = self._clock.advance(now)
        if self.state == "FAILED":
            return "U27"
        column = ("WAITING", "RECEIVING", "READY").index(self.state)
        if s.chunk_id == self._previous_id and s.num_slices == self._previous_slices:
            self._acks.soon("previous", now)
            if self.state == "READY" and self._unchecked:
                self._check(s)
            return ("U3", "U12", "U15")[column]
        if s.chunk_id != self.chunk_id:
            return ("U4", "U13", "U16")[column]
        if self.state == "WAITING":
            self._start(s)
            return "U1" if self._store(now, s) else "U2"
        if self.state == "READY":
            self._held_slices = s.num_slices
            self._acks.soon("hold", now)
            return "U14"
        if (s.num_slices, s.last_bytes) != (self.num_slices, self.last_bytes):
            if now - self._progress_at < self._give_up // 2:
                self.conflicts += 1
                return "U9"
            self._start(s)
            return "U11" if self._store(now, s) else "U10"
        if s.id in self._decoder:
            return self._answer(now, s, "U7")
        if not self._decoder.add(s.id, s.data):
            if s.id >= s.num_slices:
                self._spare = self._spare or s
            return self._answer(now, s, "U8")
        return "U6" if self._stored(now, s) else "U5"

    def read(self, now: int) -> tuple[str, bytes | None]:
        """The row, and with U17 the chunk; every other row says that there is nothing to read."""
        self._clock.advance(now)
        if self.state != "READY":
            return {"WAITING": "U18", "RECEIVING": "U19", "FAILED": "U28"}[self.state], None
        chunk, self._chunk = self._chunk, b""
        self.state = "WAITING"
        return "U17", chunk

    def poll(self, now: int) -> tuple[str, RepairAck | None]:
        """The row, and an ack to be sent if one is. To be repeated until none comes. U24 reports the failure."""
        now = self._clock.advance(now)
        if self.state == "FAILED":
            return "U29", None
        if self.state == "RECEIVING" and now - self._progress_at >= self._give_up:
            self.state = "FAILED"
            self._forget()
            self._acks.stop()
            return "U24", None
        due = now >= self._acks.at
        row = {"WAITING": ("U21", "U20"), "RECEIVING": ("U23", "U22"), "READY": ("U26", "U25")}[self.state][due]
        return row, self._send_ack(now) if due else None

    @property
    def deadline(self) -> float:
        """When to poll at the latest."""
        if self.state == "RECEIVING":
            return min(self._acks.at, self._progress_at + self._give_up)
        return self._acks.at

    @property
    def _previous_id(self) -> int:
        return (self.chunk_id - 1) % 65_536

    def _start(self, s: RepairSlice) -> None:
        self._forget()
        self.num_slices, self.last_bytes = s.num_slices, s.last_bytes
        self._decoder = Decoder(s.num_slices)
        self._acks.start()

    def _forget(self) -> None:
        self.num_slices = self.last_bytes = self.top = 0
        self._decoder = Decoder(0)
        self._spare = None

    def _answer(self, now: int, s: RepairSlice, row: str) -> str:
        self._note_top(s)
        self._acks.soon("current", now)
        return row

    def _store(self, now: int, s: RepairSlice) -> bool:
        """The first slice of a chunk: one row is independent. Whether the chunk is complete."""
        self._decoder.add(s.id, s.data)
        return self._stored(now, s)

    def _stored(self, now: int, s: RepairSlice) -> bool:
        self._note_top(s)
        self._progress_at = now
        self._acks.stored(now, s.id)
        complete = self.have == self.num_slices
        self.state = "READY" if complete else "RECEIVING"
        if complete:
            self._complete(now)
        return complete

    def _complete(self, now: int) -> None:
        whole = self._decoder.rebuild()
        size = (self.num_slices - 1) * SLICE_SIZE + self.last_bytes
        self._chunk, rest = whole[:size], whole[size:]
        self.inconsistent += any(rest)
        spare, self._held_then = self._spare, set(self.held)
        self._unchecked = True
        self._previous_slices, self._previous_top = self.num_slices, self.top
        self._forget()
        self.chunk_id = (self.chunk_id + 1) % 65_536
        self._acks.completed(now)
        if spare is not None:
            self.inconsistent += Encoded(self._chunk).slice(spare.id) != spare.data

    def _check(self, s: RepairSlice) -> None:
        """The first slice of repair that comes after the chunk is complete must be right."""
        encoded = Encoded(self._chunk)
        if s.id >= s.num_slices and s.id not in self._held_then and s.last_bytes == encoded.last_bytes:
            self._unchecked = False
            self.inconsistent += encoded.slice(s.id) != s.data

    def _note_top(self, s: RepairSlice) -> None:
        self.top = max(self.top, number_of(s.id, s.num_slices, self.top) + 1)

    def _send_ack(self, now: int) -> RepairAck:
        kind = self._acks.take(now)
        if kind == "previous":
            k = self._previous_slices
            return RepairAck(self._previous_id, k, k, id_of(self._previous_top, k))
        if kind == "current":
            return RepairAck(self.chunk_id, self.num_slices, self.have, id_of(self.top, self.num_slices))
        return RepairAck(self.chunk_id, self._held_slices, 0, 0)


def number_of(slice_id: int, k: int, top: int) -> int:
    """The number of a transmission that arrives, by its id: the one nearest to top."""
    if slice_id < k:
        return slice_id
    cycle = MAX_IDS - k
    near = max(top, k)
    distance = (slice_id - id_of(near, k)) % cycle
    number = near + distance - (0 if distance < cycle // 2 else cycle)
    return number if number >= k else number + cycle
