"""One end of the packet layer (spec/PACKETS.md, sections 4 to 8 and 10). Times are in microseconds."""

from __future__ import annotations

from collections import Counter, deque
from typing import Callable, Literal, NamedTuple

from .estimates import LONGEST_SAMPLE, Loss, Patience, RoundTrip, Seconds, Shown
from .packets import ACK_BITS, FRAGMENT_SIZE, MAX_FRAGMENTS, NOWHERE, Fragment, Header, Regular, decode, encode_packet
from .reassembly import Reassembly
from .refused import Refused
from .seq import newest, number_from, on_wire
from .times import NEVER, Clock

SECOND = 1_000_000
MOST_ABOVE = 1_160
"""The largest FRAGMENT_ABOVE."""
MOST_FIRST = 1 << 32
"""The largest FIRST_SENT and FIRST_RECEIVED."""
REASSEMBLY_TIME = SECOND
LOST_AFTER = SECOND
KEPT = 4 * SECOND
ACK_EVERY = 16
ACK_DELAY = 20_000
PAD = b"\x00"
"""The payload of an ack-only packet (PKA-3)."""

Verdict = Literal["take", "quiet", "refuse"]
Above = Callable[[int, bytes, "int | None"], Verdict]
"""What the layer above says to a packet: take, take quietly, or refuse (5.2).

It is given the number, the payload, and the newest number that the peer knew of, if there is one.
"""


class Config(NamedTuple):
    """The parameters of PKP-1, in bytes, packets and numbers; None is the default, which follows from the others."""

    fragment_size: int = FRAGMENT_SIZE
    max_fragments: int = MAX_FRAGMENTS
    fragment_above: int = MOST_ABOVE
    received: int = 256
    sent_max: int = 8_192
    reassembly: int | None = None
    reassembly_packets: int | None = None
    reassembly_bytes: int | None = None
    first_sent: int = 0
    first_received: int = 0

    @property
    def max_packet(self) -> int:
        """PKP-2."""
        return self.fragment_size * self.max_fragments

    def complete(self) -> Config:
        """With every default in its place."""
        reassembly = min(64, self.received // 2) if self.reassembly is None else self.reassembly
        packets = min(8, reassembly) if self.reassembly_packets is None else self.reassembly_packets
        most_bytes = 2 * self.max_packet if self.reassembly_bytes is None else self.reassembly_bytes
        return self._replace(reassembly=reassembly, reassembly_packets=packets, reassembly_bytes=most_bytes)


def check_config(config: Config) -> None:
    """Raises ValueError for a parameter of a complete configuration that is not allowed (PKP-3)."""
    _check("fragment_size", config.fragment_size, 1, MOST_ABOVE)
    _check("max_fragments", config.max_fragments, 2, 256)
    _check("fragment_above", config.fragment_above, config.fragment_size, MOST_ABOVE)
    _check_power("received", config.received, 64, 16_384)
    _check_power("sent_max", config.sent_max, 256, 16_384)
    _check_power("reassembly", config.reassembly, 1, config.received // 2)
    _check("reassembly_packets", config.reassembly_packets, 1, config.reassembly)
    _check("first_sent", config.first_sent, 0, MOST_FIRST)
    _check("first_received", config.first_received, 0, MOST_FIRST)
    if config.reassembly_bytes < config.max_packet:
        raise ValueError(f"reassembly_bytes {config.reassembly_bytes} is less than a packet")


def _check(name: str, value: int, low: int, high: int) -> None:
    if not low <= value <= high:
        raise ValueError(f"{name} {value} is not {low} to {high}")


def _check_power(name: str, value: int, low: int, high: int) -> None:
    _check(name, value, low, high)
    if value & (value - 1):
        raise ValueError(f"{name} {value} is not a power of two")


class Receipt(NamedTuple):
    """What became of a datagram: the row of PKR-8, and of a packet that was taken its number and payload."""

    row: str
    number: int | None = None
    payload: bytes | None = None
    error: Refused | None = None
    sampled: bool = False
    """Whether it gave a sample of the round trip, after which congestion is evaluated (PKC-2)."""


class _Sent:
    """What is kept of a packet that went out (section 7)."""

    __slots__ = ("at", "bytes", "state")

    def __init__(self, at: int, state: str, size: int) -> None:
        self.at = at
        self.state = state
        self.bytes = size


def take_all(number: int, payload: bytes, known: int | None) -> Verdict:
    """The layer above that takes every payload."""
    return "take"


class Endpoint:
    """The variables are those of PKR-6 and PKL-7. Raises ValueError for a parameter that is not allowed."""

    def __init__(self, config: Config = Config()) -> None:
        config = config.complete()
        check_config(config)
        self.config = config
        self.refused: Counter[str] = Counter()
        """Datagrams by the code of their refusal (COUNT of PKR-9)."""
        self.round_trip = RoundTrip()
        self.patience = Patience()
        self.loss = Loss()
        self.shown = Shown()
        self.bytes_sent, self.bytes_received, self.bytes_acked = Seconds(), Seconds(), Seconds()
        self._clock = Clock()
        self._events: list[tuple[str, int]] = []
        self._next = config.first_received
        self._received: set[int] = set()
        self._dead: set[int] = set()
        self._reassembly = Reassembly(config.reassembly_packets, config.reassembly_bytes)
        self._unreported = 0
        self._ack_at: float = NEVER
        self.arriving = Header(0, 0, 0)
        """The header of the payload that the layer above is asked for."""
        self._next_to_send = config.first_sent
        self._sent: deque[_Sent] = deque()  # of the numbers up to next_to_send - 1
        self._oldest = config.first_sent  # in SENT, or next_to_send
        self._newest_acked = self._newest_lost = -1
        self._path_from = 0  # the first number that was sent on this path

    def forget_path(self) -> None:
        """CXL-10."""
        self.round_trip, self.patience, self.loss, self.shown = RoundTrip(), Patience(), Loss(), Shown()
        self.bytes_sent, self.bytes_received, self.bytes_acked = Seconds(), Seconds(), Seconds()
        self._newest_lost, self._path_from = -1, self._next_to_send

    # Receiving (section 5)

    def receive(self, now: int, datagram: bytes, above: Above = take_all) -> Receipt:
        """A datagram has arrived; one that is refused has an error."""
        now = self._begin(now)
        receipt = self._receive(now, datagram, above)
        if receipt.error:
            self.refused[receipt.error.code] += 1
        else:
            self.bytes_received.add(now, len(datagram))
        return receipt

    def _receive(self, now: int, datagram: bytes, above: Above) -> Receipt:
        try:
            packet = decode(datagram, self.config.fragment_size, self.config.max_fragments)
        except Refused as refused:
            return Receipt("P1", error=refused)
        sequence = packet.sequence if isinstance(packet, Fragment) else packet.header.sequence
        number = number_from(sequence, self._next - self.config.received)
        if number is None:
            return _refused("P2", "stale")
        if number in self._received:
            return _refused("P3", "duplicate")
        if number in self._dead:
            return _refused("P4", "dead")
        if isinstance(packet, Fragment):
            return self._receive_fragment(now, number, packet, above)
        return self._receive_regular(now, number, packet, above)

    def _receive_regular(self, now: int, number: int, packet: Regular, above: Above) -> Receipt:
        verdict = self._ask(above, number, packet)
        if verdict == "refuse":
            return _refused("P5", "refused")
        self._reassembly.drop(number)
        return self._take("P6", now, number, packet, verdict)

    def _receive_fragment(self, now: int, number: int, fragment: Fragment, above: Above) -> Receipt:
        if number < self._next - self.config.reassembly:
            return _refused("P7", "stale")
        begun = self._reassembly.parts.get(number)
        if begun and begun.count != fragment.num_fragments:
            return _refused("P8", "fragment_count")
        if begun and fragment.fragment_id in begun:
            return _refused("P9", "fragment_duplicate")
        whole = begun and begun.completed_by(fragment)
        if whole:
            return self._complete(now, number, whole, above)
        size = len(fragment.data)
        if not self._reassembly.has_room(number, size):
            return _refused("P10", "reassembly_full")
        self._give_up(self._reassembly.in_the_way(number, size))  # STORE: PKR-2
        self._reassembly.store(now, number, fragment)
        self._move(number)
        return Receipt("P11", number)

    def _complete(self, now: int, number: int, whole: Regular, above: Above) -> Receipt:
        verdict = self._ask(above, number, whole)
        self._reassembly.drop(number)
        if verdict == "refuse":
            return _refused("P12", "refused")
        return self._take("P13", now, number, whole, verdict)

    def _ask(self, above: Above, number: int, packet: Regular) -> Verdict:
        """5.2: the verdict of the layer above."""
        self.arriving = packet.header
        known = newest(packet.header.ack, self._next_to_send - 1)
        return above(number, packet.payload, known if known >= 0 else None)

    def _take(self, row: str, now: int, number: int, packet: Regular, verdict: Verdict) -> Receipt:
        """PKR-1, PKR-7."""
        self._move(number)
        self._received.add(number)
        sampled = self._acks(now, packet.header)
        if verdict != "quiet" and packet.payload != PAD:
            self._unreported += 1
            due = now if self._unreported >= ACK_EVERY else now + ACK_DELAY
            self._ack_at = min(self._ack_at, due)
        return Receipt(row, number, packet.payload, sampled=sampled)

    def _move(self, number: int) -> None:
        """PKR-3."""
        if number < self._next:
            return
        before, self._next = self._next, number + 1
        behind = self.config.received
        for old in range(before - behind, min(self._next - behind, before)):
            self._received.discard(old)
            self._dead.discard(old)
        self._reassembly.drop_below(self._next - self.config.reassembly)

    def _begin(self, now: int) -> int:
        """What each event first does (PKN-3; PKX-2, step 5)."""
        now = self._clock.advance(now)
        self._give_up(self._reassembly.begun_until(now - REASSEMBLY_TIME))
        return now

    def _give_up(self, numbers: list[int]) -> None:
        for number in numbers:
            self._reassembly.drop(number)
            self._dead.add(number)

    # Acks (section 6)

    def _header(self) -> Header:
        """PKA-1, of the packet that goes out next."""
        ack = self._next - 1
        bits = sum(1 << n for n in range(ACK_BITS) if ack - n in self._received)
        return Header(on_wire(self._next_to_send), on_wire(ack), bits)

    def _acks(self, now: int, header: Header) -> bool:
        """PKA-2; whether there was a sample (PKE-1)."""
        newest_acked = self._newest_acked
        sampled = False
        for n in range(ACK_BITS):
            if not header.ack_bits >> n & 1:
                continue
            number = newest(on_wire(header.ack - n), self._next_to_send - 1)
            sent = self._kept(number)
            if sent is None or sent.state == "ACKED":
                continue
            if sent.state != "QUIET" and number >= self._path_from:
                self._sample(now, min(now - sent.at, LONGEST_SAMPLE), n == 0, number + 2 <= newest_acked)
                sampled = sampled or n == 0
            if sent.state == "SENT" and number >= self._path_from:
                self.loss.settled(now, lost=False)
            self.bytes_acked.add(now, sent.bytes)
            sent.state = "ACKED"  # L1, L3, L9
            self._newest_acked = max(self._newest_acked, number)
            self._events.append(("acked", number))
        self._skip_settled()
        return sampled

    def _sample(self, now: int, latency: int, of_ack: bool, overtaken: bool) -> None:
        """PKL-8."""
        if of_ack:
            self.round_trip.sample(now, latency)
        if overtaken:
            self.patience.overtaken(now, latency, self.round_trip.srtt)
        self.shown.add(latency)

    def _kept(self, number: int) -> _Sent | None:
        i = number - (self._next_to_send - len(self._sent))
        return self._sent[i] if 0 <= i < len(self._sent) else None

    def _skip_settled(self) -> None:
        while (sent := self._kept(self._oldest)) and sent.state != "SENT":
            self._oldest += 1

    # Sending (section 6)

    def send(self, now: int, payload: bytes, quiet: bool = False) -> list[bytes]:
        """The datagrams of a packet (PKA-4); `quiet`: the peer will take it quietly (PKL-4).

        Its number is `next_to_send` before. Raises Refused (PKF-3).
        """
        now = self._begin(now)
        if not 1 <= len(payload) <= self.config.max_packet:
            raise Refused("payload_size", NOWHERE)
        datagrams = encode_packet(self._header(), payload, self.config.fragment_size, self.config.fragment_above)
        size = sum(map(len, datagrams))
        self._keep(now, "QUIET" if quiet or payload == PAD else "SENT", size)
        self._unreported, self._ack_at = 0, NEVER
        self.bytes_sent.add(now, size)
        return datagrams

    def leave_out(self, now: int) -> None:
        """PKS-4."""
        self._keep(self._begin(now), "ACKED", 0)

    def is_left_out(self, number: int) -> bool:
        """Of a number that is kept."""
        sent = self._kept(number)
        return sent is not None and sent.bytes == 0

    def _keep(self, now: int, state: str, size: int) -> None:
        if len(self._sent) == self.config.sent_max:
            self._push_out(now)
        self._sent.append(_Sent(now, state, size))
        self._next_to_send += 1
        self._skip_settled()

    def _push_out(self, now: int) -> None:
        """L4, L6, L8, L11."""
        number = self._next_to_send - len(self._sent)
        if self._sent.popleft().state == "SENT":
            self._lose(now, number)
        self._oldest = max(self._oldest, number + 1)

    def _lose(self, now: int, number: int) -> None:
        if number >= self._path_from:
            self._newest_lost = max(self._newest_lost, number)
            self.loss.settled(now, lost=True)
        self._events.append(("lost", number))

    # Time (section 10)

    def poll(self, now: int) -> bytes | None:
        """Timers; the ack-only packet that goes out now, if one does (PKI-2)."""
        now = self._begin(now)
        while (sent := self._kept(self._oldest)) and now - sent.at >= LOST_AFTER:
            sent.state = "LOST"  # L2
            self._lose(now, self._oldest)
            self._skip_settled()
        while self._sent and now - self._sent[0].at >= KEPT:  # L5, L7, L10
            self._sent.popleft()  # none of them is in SENT any more
        return self.send(now, PAD)[0] if now >= self._ack_at else None

    @property
    def deadline(self) -> float:
        """When to poll at the latest (PKI-4)."""
        times: list[float] = [self._ack_at]
        if self._sent:
            times.append(self._sent[0].at + KEPT)
        if oldest := self._kept(self._oldest):
            times.append(oldest.at + LOST_AFTER)
        begun = self._reassembly.first_begun
        if begun is not None:
            times.append(begun + REASSEMBLY_TIME)
        return min(times)

    @property
    def next_to_send(self) -> int:
        """The number of the next packet."""
        return self._next_to_send

    @property
    def next_to_receive(self) -> int:
        """1 + the newest number known of the peer (PKS-2)."""
        return self._next

    @property
    def silent(self) -> bool:
        """PKC-1."""
        return self._newest_lost > self._newest_acked

    def take_events(self) -> list[tuple[str, int]]:
        """What happened since the last call: ("acked", number) and ("lost", number), in order (PKL-6)."""
        events, self._events = self._events, []
        return events


def _refused(row: str, code: str) -> Receipt:
    return Receipt(row, error=Refused(code, NOWHERE))
