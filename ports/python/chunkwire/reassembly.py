"""Packets of which fragments are missing (spec/PACKETS.md, section 5). Times are in microseconds."""

from __future__ import annotations

from .packets import Fragment, Header


class Parts:
    """What has arrived of one packet."""

    def __init__(self, now: int, count: int) -> None:
        self.begun_at = now
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

    def completed_by(self, fragment: Fragment) -> tuple[Header, bytes] | None:
        """The header and the payload, if this fragment is the last one that is missing (PKX-4)."""
        header = fragment.header or self._header
        if len(self._data) + 1 < self.count or header is None:
            return None
        whole = {**self._data, fragment.fragment_id: fragment.data}
        return header, b"".join(whole[i] for i in range(self.count))


class Reassembly:
    """All packets that are begun, within their bounds (PKX-2, PKX-3)."""

    def __init__(self, most_packets: int, most_bytes: int) -> None:
        self.parts: dict[int, Parts] = {}
        self._most_packets = most_packets
        self._most_bytes = most_bytes

    def room_for(self, number: int, size: int) -> list[int] | None:
        """The numbers to drop so that a fragment of `number` fits, or None: it does not (PKX-3)."""
        drop: list[int] = []
        packets = len(self.parts) + (number not in self.parts)
        total = sum(p.bytes for p in self.parts.values()) + size
        for other in sorted(self.parts):
            if packets <= self._most_packets and total <= self._most_bytes:
                break
            if other >= number:
                return None
            drop.append(other)
            packets -= 1
            total -= self.parts[other].bytes
        return drop if packets <= self._most_packets and total <= self._most_bytes else None

    def store(self, now: int, number: int, fragment: Fragment) -> None:
        self.parts.setdefault(number, Parts(now, fragment.num_fragments)).store(fragment)

    def drop(self, number: int) -> None:
        """Of a number that is not in reassembly there is nothing to drop."""
        self.parts.pop(number, None)

    def drop_behind(self, first: int) -> None:
        """PKX-2: they left the window."""
        for number in [n for n in self.parts if n < first]:
            del self.parts[number]

    def begun_before(self, time: int) -> list[int]:
        """The numbers that were begun at that time or before."""
        return sorted(n for n, p in self.parts.items() if p.begun_at <= time)

    @property
    def oldest(self) -> int | None:
        """When the oldest was begun."""
        return min((p.begun_at for p in self.parts.values()), default=None)
