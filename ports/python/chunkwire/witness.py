"""Acks that lie (spec/CONNECTION.md, section 8.3). Times are in microseconds."""

from __future__ import annotations

import hmac
from typing import Iterable, NamedTuple

from .channels import SECOND
from .connection_records import OnLane
from .packets import Header
from .repair_codec import RepairAck, RepairSlice
from .seq import newest

HOLES = 16
FIRST_CREDIT, MOST_CREDIT = 64, 256
INITIAL_WINDOW = 32
TRIAL_WAIT = SECOND
ACK_BITS = 32
MAX_IDS = 8_192

ABSENT, OPEN, PROVEN = range(3)


class Said(NamedTuple):
    """What the header of a packet says: the number that its `ack` means, and its bits."""

    ack: int
    bits: int

    def acks(self) -> Iterable[int]:
        return (self.ack - n for n in range(ACK_BITS) if self.bits >> n & 1)


def said_by(header: Header, next_to_send: int) -> Said:
    return Said(newest(header.ack, next_to_send - 1), header.ack_bits)


class _Lane:
    """The transmissions of the latest chunk: the number of the packet, and the slice."""

    def __init__(self, chunk: int, count: int) -> None:
        self.chunk, self.count = chunk, count
        self.transmissions: list[tuple[int, int]] = []
        self.believed: set[int] = set()
        self.on_credit = 0

    @property
    def counts(self) -> bool:
        return 0 < len(self.transmissions) < MAX_IDS


class Witness:
    """What the packet layer says of slices. Without a seed no number is left out."""

    def __init__(self, lanes: int, seed: bytes = b"") -> None:
        self._seed, self._draws, self._until = seed, 0, 0
        self._lanes = [_Lane(-1, 0) for _ in range(lanes)]
        self._acked: set[int] = set()
        self._credit = FIRST_CREDIT
        self._from, self._tried, self._has_arrived = 0, 0, False
        self.held_until = 0
        """No slice is sent before (CXM-23)."""

    def sent(self, now: int, number: int, slice_: OnLane) -> None:
        """A packet with a slice."""
        packet, lane = slice_.packet, self._lanes[slice_.lane]
        if lane.chunk < 0 or lane.chunk % 65_536 != packet.chunk_id:
            lane = self._lanes[slice_.lane] = _Lane(lane.chunk + 1, packet.num_slices)
        lane.transmissions.append((number, packet.id if isinstance(packet, RepairSlice) else packet.slice_id))
        self._tried += 1
        if not self._has_arrived and self._tried >= INITIAL_WINDOW:
            self.held_until = now + (TRIAL_WAIT << min(self._tried - INITIAL_WINDOW, 2))

    def heavy(self) -> bool:
        """A packet with a slice or messages; whether the number behind it is skipped (CXM-18)."""
        if not self._seed:
            return False
        if self._until == 0:
            block = hmac.digest(self._seed, (self._draws // 32).to_bytes(8, "little"), "sha256")
            self._until = 1 + block[self._draws % 32] % HOLES
            self._draws += 1
        self._until -= 1
        return self._until == 0

    def end(self, acked: list[int], resting: bool) -> None:
        """The end of an event, in which these numbers were acked."""
        for number in acked:
            for lane in self._lanes:
                if any(number == t for t, _ in lane.transmissions):
                    self._acked.add(number)
                    self._credit = min(self._credit + 1, MOST_CREDIT)
                    self._has_arrived = self._has_arrived or number >= self._from
        if self._has_arrived or self._tried < INITIAL_WINDOW:
            self.held_until = 0
        if resting:
            self._acked.clear()
            for lane in self._lanes:
                lane.transmissions.clear()

    def forget_path(self, next_to_send: int) -> None:
        """CXL-10."""
        self._from, self._tried, self._has_arrived, self.held_until = next_to_send, 0, False, 0

    def lies(self, said: Said, record: OnLane) -> bool:
        """CXM-20, CXM-21: of a chunk ack."""
        lane, ack = self._lanes[record.lane], record.packet
        behind = (lane.chunk - ack.chunk_id) % 65_536
        if lane.chunk < 0 or behind > lane.chunk or behind >= 32_768:
            return True
        if behind or not lane.counts:
            return False
        if ack.num_slices != lane.count:
            return True
        if not isinstance(ack, RepairAck):
            return any(self._best(said, lane, k) == ABSENT for k in ack.acked - lane.believed)
        if ack.top > len(lane.transmissions) or ack.top and self._is(said, lane.transmissions[ack.top - 1][0]) == ABSENT:
            return True
        return ack.have > sum(self._is(said, number) != ABSENT for number, _ in lane.transmissions[: ack.top])

    def believe(self, said: Said, record: OnLane):
        """CXM-22: what the sender is given of a chunk ack."""
        lane, ack = self._lanes[record.lane], record.packet
        if lane.chunk % 65_536 != ack.chunk_id or not lane.counts:
            return ack
        if isinstance(ack, RepairAck):
            proven = sum(self._is(said, number) == PROVEN for number, _ in lane.transmissions[: ack.top])
            more = max(0, min(ack.have - proven - lane.on_credit, self._credit))
            self._credit -= more
            lane.on_credit += more
            return ack._replace(have=min(ack.have, proven + lane.on_credit))
        for k in sorted(ack.acked - lane.believed):
            best = self._best(said, lane, k)
            if best == PROVEN:
                lane.believed.add(k)
            elif best == OPEN and self._credit:
                self._credit -= 1
                lane.believed.add(k)
        return ack._replace(acked=ack.acked & lane.believed)

    def _is(self, said: Said, number: int) -> int:
        """CXM-21."""
        if number in self._acked:
            return PROVEN
        behind = said.ack - number
        if behind >= ACK_BITS:
            return OPEN
        return PROVEN if behind >= 0 and said.bits >> behind & 1 else ABSENT

    def _best(self, said: Said, lane: _Lane, k: int) -> int:
        return max((self._is(said, number) for number, id_ in lane.transmissions if id_ == k), default=ABSENT)
