"""Marks of congestion (spec/CONNECTION.md, section 8.2). Times are in microseconds."""

from __future__ import annotations

from typing import Iterable

from .channels import SECOND
from .connection_records import Marks

NOT_ECT, ECT1, ECT0, CE = range(4)
"""The values of the field ECN."""
PROBES = 10
TRUSTED = SECOND
NUMBERS = 1_024
MODULO = 1 << 16


class MarkBook:
    """What an end counted, and what it knows of the marks of what it sent."""

    def __init__(self) -> None:
        self._arrived = self._congested = 0
        self._has_failed = False
        self._sent = self._acked = self._counted = 0
        self._marked: set[int] = set()
        self._oldest = 0  # of those that count
        self._probes, self._grew_at = 0, None
        self._said = self._judged = Marks(0, 0)
        self._newest, self._heard = -1, False
        self._latest = -1  # of all packets that were taken
        self.told = 0
        """How many marks the schedulers were told of."""

    def came(self, ecn: int) -> None:
        """CXM-13."""
        self._arrived += ecn in (ECT0, CE)
        self._congested += ecn == CE

    @property
    def record(self) -> Marks | None:
        """CXM-14."""
        return Marks(self._arrived % MODULO, self._congested % MODULO) if self._arrived else None

    def sends(self, now: int, number: int) -> bool:
        """Whether the packet of a slice goes with ECT(0) (CXM-15)."""
        is_trusted = self._grew_at is not None and now - self._grew_at < TRUSTED
        if self._has_failed or self._probes >= PROBES and not is_trusted:
            return False
        self._sent += 1
        self._probes += 1
        self._marked.add(number)
        self._oldest = number - NUMBERS + 1
        if len(self._marked) > 2 * NUMBERS:
            self._marked = {n for n in self._marked if n >= self._oldest}
        return True

    def took(self, number: int) -> None:
        """A packet was taken, whatever is in it."""
        self._latest = max(self._latest, number)

    def hear(self, number: int, marks: Marks | None) -> None:
        """A record of a packet: an ECN, or None for a CHUNK_ACK."""
        if number >= self._newest:
            self._newest, self._heard = number, True
            self._said = marks or self._said

    def end(self, now: int, acked: Iterable[int]) -> None:
        """The end of an event (CXM-16)."""
        self._acked += sum(n >= self._oldest for n in self._marked.intersection(acked))
        if not self._heard:
            return
        arrived = (self._said.arrived - self._judged.arrived) % MODULO
        congested = (self._said.congested - self._judged.congested) % MODULO
        self._heard, self._judged = False, self._said
        if self._has_failed or congested > arrived or arrived > self._sent - self._counted:
            self._has_failed = True
            return
        self._counted += arrived
        if arrived:
            self._probes, self._grew_at = 0, now
        self._has_failed = self._acked > self._counted and self._newest == self._latest
        self.told += congested

    def forget_path(self) -> None:
        """CXM-17."""
        self._has_failed, self._acked = False, self._counted
        self._marked.clear()
        self._probes, self._grew_at = 0, None
