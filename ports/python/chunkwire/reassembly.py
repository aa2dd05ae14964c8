"""Packets of which fragments are missing (spec/PACKETS.md, section 5.3). Times are in microseconds."""

from __future__ import annotations

from .packets import Fragment, Header, Regular


class Parts:
    """What is here of one packet."""

    def __init__(self, now: int, count: int) -> None:
        self.begun = now
        self.count = count
        self.bytes = 0
        self._data: dict[int, bytes] = {}
        self._header: Header | None = None

    def __contains__(self, fragment_id: object) -> bool:
        return fragment_id in self._data

    def store(self, fragment: Fragment) -> None:
        """PKX-1."""
        self._data[fragment.fragment_id] = fragment.data
        self._header = fragment.header or self._header
        self.bytes += len(fragment.data)

    def completed_by(self, fragment: Fragment) -> Regular | None:
        """The packet, if no other fragment is missing (PKX-4)."""
        header = fragment.header or self._header
        if len(self._data) + 1 < self.count or header is None:
            return None
        whole = {**self._data, fragment.fragment_id: fragment.data}
        return Regular(header, b"".join(whole[i] for i in range(self.count)))


class Reassembly:
    """The packets that are begun."""

    def __init__(self, most_packets: int, most_bytes: int) -> None:
        self.parts: dict[int, Parts] = {}
        self._most_packets = most_packets
        self._most_bytes = most_bytes

    def has_room(self, number: int, size: int) -> bool:
        """Whether a fragment fits at least without all packets with smaller numbers (PKX-3)."""
        return self._fits([n for n in self.parts if n >= number], number, size)

    def in_the_way(self, number: int, size: int) -> list[int]:
        """The numbers that must be dropped for a fragment to fit, for which there is room (PKX-3)."""
        left = sorted(self.parts)
        drop = []
        while not self._fits(left, number, size):
            drop.append(left.pop(0))
        return drop

    def _fits(self, beside: list[int], number: int, size: int) -> bool:
        packets = len({*beside, number})
        return packets <= self._most_packets and sum(self.parts[n].bytes for n in beside) + size <= self._most_bytes

    def store(self, now: int, number: int, fragment: Fragment) -> None:
        self.parts.setdefault(number, Parts(now, fragment.num_fragments)).store(fragment)

    def drop(self, number: int) -> None:
        """PKR-10."""
        self.parts.pop(number, None)

    def drop_below(self, first: int) -> None:
        for number in [n for n in self.parts if n < first]:
            del self.parts[number]

    def begun_until(self, time: int) -> list[int]:
        """The numbers whose first fragment came then or before, ascending."""
        return sorted(n for n, p in self.parts.items() if p.begun <= time)

    @property
    def first_begun(self) -> int | None:
        """When the first fragment of the oldest reassembly came."""
        return min((p.begun for p in self.parts.values()), default=None)
