"""One end of the packet layer (spec/PACKETS.md, sections 4 to 8). Times are in microseconds."""

from __future__ import annotations

from collections import deque
from typing import Callable, Literal, NamedTuple

from .congestion import Congestion
from .estimates import Loss, Patience, RoundTrip
from .packets import ACK_BITS, FRAGMENT_SIZE, MAX_FRAGMENTS, Fragment, Header, decode, encode_packet
from .reassembly import Reassembly
from .refused import Refused
from .seq import newest, number_from, on_wire
from .times import NEVER, Clock

SECOND = 1_000_000
LONGEST_DATAGRAM = 1_160
"""The largest FRAGMENT_ABOVE."""
REASSEMBLY_TIME = SECOND
LOST_AFTER = SECOND
KEPT_FOR = 4 * SECOND
ACK_EVERY = 16
ACK_DELAY = 20_000
PAD = b"\x00"
"""The payload of an ack-only packet (PKA-3)."""
NOWHERE = -1
"""The place of a fault that lies in no byte."""

Verdict = Literal["take", "quiet", "refuse"]
Above = Callable[[int, bytes], Verdict]
"""What the layer above says to the payload of a packet: take, take quietly, or refuse (section 5)."""


class Config(NamedTuple):
    """The limits of section 2, in bytes, packets and numbers."""

    fragment_size: int = FRAGMENT_SIZE
    max_fragments: int = MAX_FRAGMENTS
    fragment_above: int = LONGEST_DATAGRAM
    received: int = 256
    sent_max: int = 8_192
    reassembly: int = 64
    reassembly_packets: int = 8


def check_config(config: Config) -> None:
    """Raises ValueError for a figure outside its limits (section 2)."""
    if not 1 <= config.fragment_size <= LONGEST_DATAGRAM:
        raise ValueError(f"fragment_size {config.fragment_size} is not 1 to {LONGEST_DATAGRAM}")
    if not 2 <= config.max_fragments <= 256:
        raise ValueError(f"max_fragments {config.max_fragments} is not 2 to 256")
    if not config.fragment_size <= config.fragment_above <= LONGEST_DATAGRAM:
        raise ValueError(f"fragment_above {config.fragment_above} is not fragment_size to {LONGEST_DATAGRAM}")
    _check_power("received", config.received, 64, 16_384)
    _check_power("sent_max", config.sent_max, 256, 16_384)
    _check_power("reassembly", config.reassembly, 1, config.received // 2)
    if config.reassembly_packets < 1:
        raise ValueError("reassembly_packets is less than 1")


def _check_power(name: str, value: int, low: int, high: int) -> None:
    if not low <= value <= high or value & (value - 1):
        raise ValueError(f"{name} {value} is not a power of two, {low} to {high}")


class Receipt(NamedTuple):
    """What became of a datagram: the row, and of a packet that was taken its number and payload."""

    row: str
    number: int | None = None
    payload: bytes | None = None
    error: Refused | None = None


class _Sent:
    """What is kept of a packet that went out (section 7)."""

    __slots__ = ("at", "state", "quiet")

    def __init__(self, at: int, quiet: bool) -> None:
        self.at = at
        self.state = "SENT"
        self.quiet = quiet


def quiet(payload: bytes) -> bool:
    """Whether a payload asks for no ack: it is one PAD record."""
    return payload == PAD


def take_all(number: int, payload: bytes) -> Verdict:
    """The layer above that takes every payload."""
    return "quiet" if quiet(payload) else "take"


class Endpoint:
    """The machine of sections 5 to 9; `next_to_send` and `next_to_receive` are what the counters begin with.

    Raises ValueError for a configuration outside its limits.
    """

    def __init__(
        self, config: Config = Config(), next_to_send: int = 0, next_to_receive: int = 0, profile: str = "default"
    ) -> None:
        check_config(config)
        self.config = config
        self.round_trip = RoundTrip()
        self.patience = Patience()
        self.loss = Loss()
        self.congestion = Congestion(profile)
        self._clock = Clock()
        self._above: Above = take_all
        self._events: list[tuple[str, int]] = []
        self._next = next_to_receive
        self._received: set[int] = set()
        self._dead: set[int] = set()
        max_packet = config.fragment_size * config.max_fragments
        self._max_packet = max_packet
        self._reassembly = Reassembly(config.reassembly_packets, 2 * max_packet)
        self._unreported = 0
        self._ack_at: float = NEVER
        self._next_to_send = next_to_send
        self._sent: deque[_Sent] = deque()  # of the numbers up to next_to_send - 1
        self._unsettled = next_to_send  # from here on nothing was looked at by L2
        self._newest_acked = self._newest_lost = next_to_send - 1

    # Receiving (section 5)

    def receive(self, now: int, datagram: bytes, above: Above = take_all) -> Receipt:
        """A datagram has arrived; one that is refused has an error."""
        now = self._clock.advance(now)
        self._above = above
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
            return self._receive_fragment(now, number, packet)
        verdict = above(number, packet.payload)
        if verdict == "refuse":
            return _refused("P5", "refused")
        self._reassembly.drop(number)
        self._take(now, number, packet.header, verdict)
        return Receipt("P6", number, packet.payload)

    def _receive_fragment(self, now: int, number: int, fragment: Fragment) -> Receipt:
        if number < self._next - self.config.reassembly:
            return _refused("P7", "stale")
        begun = self._reassembly.parts.get(number)
        if begun and begun.count != fragment.num_fragments:
            return _refused("P8", "fragment_count")
        if begun and fragment.fragment_id in begun:
            return _refused("P9", "fragment_duplicate")
        drop = self._reassembly.room_for(number, len(fragment.data))
        if drop is None:
            return _refused("P10", "reassembly_full")
        whole = begun and begun.completed_by(fragment)
        if whole:
            return self._complete(now, number, *whole)
        for other in drop:
            self._reassembly.drop(other)
            self._dead.add(other)
        self._reassembly.store(now, number, fragment)
        self._move(number)
        return Receipt("P11", number)

    def _complete(self, now: int, number: int, header: Header, payload: bytes) -> Receipt:
        verdict = self._above(number, payload)
        self._reassembly.drop(number)
        if verdict == "refuse":
            return _refused("P12", "refused")
        self._take(now, number, header, verdict)
        return Receipt("P13", number, payload)

    def _take(self, now: int, number: int, header: Header, verdict: Verdict) -> None:
        """PKR-1."""
        self._move(number)
        self._received.add(number)
        self._acks(now, header)
        if verdict != "quiet":
            self._unreported += 1
            self._ack_at = min(self._ack_at, now + ACK_DELAY)

    def _move(self, number: int) -> None:
        """PKR-3: what leaves a window is removed."""
        if number < self._next:
            return
        before, self._next = self._next, number + 1
        behind = self.config.received
        for old in range(before - behind, min(self._next - behind, before)):
            self._received.discard(old)
            self._dead.discard(old)
        self._reassembly.drop_behind(self._next - self.config.reassembly)

    # Acks (section 6)

    def _header(self) -> Header:
        """PKA-1, of the packet that goes out next."""
        ack = self._next - 1
        bits = sum(1 << n for n in range(ACK_BITS) if ack - n in self._received)
        return Header(on_wire(self._next_to_send), on_wire(ack), bits)

    def _acks(self, now: int, header: Header) -> None:
        """PKA-2, PKE-1, PKE-4."""
        before = self._newest_acked
        last = self._next_to_send - 1
        sampled = False
        for n in range(ACK_BITS):
            if not header.ack_bits >> n & 1:
                continue
            number = newest(on_wire(header.ack - n), last)
            sent = self._kept(number)
            if sent is None or sent.state == "ACKED":
                continue
            if sent.state == "SENT":
                self.loss.settled(now, lost=False)
            sent.state = "ACKED"  # L1, L3
            self._newest_acked = max(self._newest_acked, number)
            self._events.append(("acked", number))
            if n == 0:
                self.round_trip.sample(now, now - sent.at)
                sampled = True
            if number + 2 <= before and self.round_trip.srtt is not None:
                self.patience.overtaken(now, now - sent.at, self.round_trip.srtt)
        if sampled:
            self._evaluate(now)

    def _kept(self, number: int) -> _Sent | None:
        i = number - (self._next_to_send - len(self._sent))
        return self._sent[i] if 0 <= i < len(self._sent) else None

    # Sending

    def send(self, now: int, payload: bytes) -> list[bytes]:
        """The datagrams of one packet, its number being `next_to_send` before; raises Refused (PKF-3)."""
        now = self._clock.advance(now)
        if not 1 <= len(payload) <= self._max_packet:
            raise Refused("payload_size", NOWHERE)
        datagrams = encode_packet(self._header(), payload, self.config.fragment_size, self.config.fragment_above)
        self._sent.append(_Sent(now, quiet(payload)))
        self._next_to_send += 1
        self._unreported, self._ack_at = 0, NEVER
        if len(self._sent) > self.config.sent_max:  # L4, L5
            self._forget(now)
        return datagrams

    def _forget(self, now: int) -> None:
        number = self._next_to_send - len(self._sent)
        sent = self._sent.popleft()
        if sent.state == "SENT" and not sent.quiet:
            self._lose(now, number)
        self._unsettled = max(self._unsettled, number + 1)

    def _lose(self, now: int, number: int) -> None:
        self._newest_lost = max(self._newest_lost, number)
        self.loss.settled(now, lost=True)
        self._events.append(("lost", number))

    def poll(self, now: int) -> bytes | None:
        """Timers; the ack-only packet that goes out now, if one does (PKA-3)."""
        now = self._clock.advance(now)
        while (sent := self._kept(self._unsettled)) and now - sent.at >= LOST_AFTER:  # L2
            if sent.state == "SENT" and not sent.quiet:
                sent.state = "LOST"
                self._lose(now, self._unsettled)
            self._unsettled += 1
        while self._sent and now - self._sent[0].at >= KEPT_FOR:  # L5
            self._sent.popleft()
        for number in self._reassembly.begun_before(now - REASSEMBLY_TIME):  # PKX-2
            self._reassembly.drop(number)
            self._dead.add(number)
        self._evaluate(now)
        if self._unreported >= ACK_EVERY or now >= self._ack_at:
            return self.send(now, PAD)[0]
        return None

    def _evaluate(self, now: int) -> None:
        self.congestion.evaluate(now, self.round_trip.srtt, self.round_trip.min_rtt, self.silent)

    # State

    @property
    def next_to_send(self) -> int:
        """The number of the next packet."""
        return self._next_to_send

    @property
    def silent(self) -> bool:
        """PKC-1: a packet sent after the newest acked one is lost."""
        return self._newest_lost > self._newest_acked

    def take_events(self) -> list[tuple[str, int]]:
        """What happened since the last call: ("acked", number) and ("lost", number), in order."""
        events, self._events = self._events, []
        return events

    @property
    def deadline(self) -> float:
        """When to poll at the latest."""
        times: list[float] = [self._ack_at, self.congestion.deadline]
        if self._unreported >= ACK_EVERY:
            times.append(self._clock.latest)
        if self._sent:
            times.append(self._sent[0].at + KEPT_FOR)
        unsettled = self._kept(self._unsettled)
        if unsettled:
            times.append(unsettled.at + LOST_AFTER)
        begun = self._reassembly.oldest
        if begun is not None:
            times.append(begun + REASSEMBLY_TIME)
        return min(times)


def _refused(row: str, code: str) -> Receipt:
    return Receipt(row, error=Refused(code, NOWHERE))
