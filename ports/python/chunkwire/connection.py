"""One end of a connection (spec/CONNECTION.md, sections 8 and 9). Times are in microseconds."""

from __future__ import annotations

from collections import deque
from typing import Callable, Mapping, NamedTuple

from .base import BaseScheduler
from .channels import MS, SECOND
from .congestion import Congestion
from .connection_records import (
    LARGEST_CHUNK_ACK,
    LARGEST_SLICE,
    NAMED,
    REPAIR,
    Close,
    ClockRecord,
    Marks,
    OnLane,
    check_text,
    decode_payload,
    encode_payload,
    is_quiet,
)
from .endpoint import PAD, Endpoint
from .endpoint import Config as EndpointConfig
from .envelope import Envelope
from .limits import MAX_CHUNK, slice_count
from .marks import NOT_ECT, MarkBook
from .mux import PAYLOAD, Mux, Setup
from .rateless import Rateless
from .receiver import Receiver
from .remote_clock import BYTES as CLOCK_BYTES, RemoteClock
from .records import Pad, Report, Unreliable, size
from .refused import Refused
from .repair_receiver import RepairReceiver
from .repair_sender import RepairSender
from .sender import Scheduler, Sender
from .sessions import CRC, HEAD, LINK_INTERVAL, TAGS
from .times import NEVER, Clock
from .witness import Witness, said_by

OPEN, CLOSING, CLOSED = "OPEN", "CLOSING", "CLOSED"
TICK, BAD_TICK = 16_667, 100 * MS
KEY_TIME = 24 * 3_600 * SECOND
MESSAGE_RATE = 1_000_000
BURST = 16_384
BIT = 8_000_000
"""One byte, in millionths of a bit (CXM-4)."""
HEADERS = 28
ECN_BYTES = 5
BESIDE_SLICE = PAYLOAD - LARGEST_SLICE
CLOSE_TIMES = tuple(20 * MS * ((1 << k) - 1) for k in range(6))
CLOSE_TIME = SECOND
CLOSE_FIRST = 20 * MS
FAILED_CODE, LIED_CODE, WORN_CODE = 1, 2, 3
LIE = "lie"
YIELD_TIME = SECOND
MOST_KEEP_ALIVE = 15 * SECOND
RECEIVED, CHANNEL_WINDOW = 2_048, 256
"""Numbers behind the next packet that are told apart, and that reliable channels have (CXP-6, CXM-26)."""
LANE_TURN = SECOND


class Config(NamedTuple):
    """The parameters of section 2.3 that a connection needs; `timeout` and `give_up` are in microseconds."""

    channels: Mapping[int, Setup]
    lanes: int = 1
    timeout: int = 10 * SECOND
    tick: int = TICK
    message_rate: int = MESSAGE_RATE
    give_up: int | None = None
    scheduler: Callable[[], Scheduler | Rateless] = BaseScheduler
    variant: int = NAMED
    ecn: bool = False
    clock: bool = False
    seed: bytes = b""
    queue: int = 8  # chunks that wait


class Why(NamedTuple):
    """Why a connection has ended (CXL-7): closed, timeout, failed, lied or ended."""

    why: str
    code: int = 0
    text: bytes = b""
    remote: bool = False


class Connection:
    """Rows are those of the table. `is_client`: until something came it sends a PAD each LINK_INTERVAL."""

    def __init__(self, now: int, envelope: Envelope, config: Config, is_client: bool) -> None:
        self._clock = Clock()
        now = self._clock.advance(now)
        self._envelope, self._config = envelope, config
        self.endpoint, self._congestion = Endpoint(EndpointConfig(received=RECEIVED)), Congestion()
        self.mux = Mux(config.channels)
        give_up = min(2 * config.timeout, 3_600 * SECOND) if config.give_up is None else config.give_up
        sender, receiver = (RepairSender, RepairReceiver) if config.variant == REPAIR else (Sender, Receiver)
        self._schedulers = [config.scheduler() for _ in range(config.lanes)]
        self.senders = [sender(scheduler, give_up=give_up) for scheduler in self._schedulers]
        self.receivers = [receiver(give_up=give_up) for _ in range(config.lanes)]
        self._queue: deque[bytes] = deque()
        self._begun = self._delivered = 0  # chunks
        self._spoke = [0] * config.lanes  # when the latest slice of each lane went
        self._slices = [(0, 0)] * config.lanes  # of the chunk in flight on each lane: sent, all
        self.state, self.ended = OPEN, None
        self.heard_at, self.sent_at = now, None
        self._unacked_at: int | None = None
        self._worn_at = NEVER if envelope.mode == CRC else now + KEY_TIME  # CXE-12
        self.confirmed = not is_client
        self._tick_at, self._ticking = now, False
        self._budget, self._budget_at = BIT * BURST, now
        self._report_budget = BIT * BURST  # CXM-25
        self._close_at, self._close = 0, Close(0, b"")
        self._said, self._said_at = 0, None
        self._again = self._owed = False
        self._out: deque[bytes] = deque()  # fragments that wait to be sealed
        self._messages_at = -YIELD_TIME  # CXM-5
        self.marks = MarkBook() if config.ecn else None
        self.remote = RemoteClock() if config.clock else None
        self._witness = Witness(config.lanes, config.seed)
        self.moving = False
        self.news = False  # of the latest datagram (CXL-15)
        self.ect = False  # whether the datagram of the latest poll goes with ECT(0)
        self._polled_at = -1  # when a poll gave nothing, and no event came since

    # Events

    def receive(self, now: int, datagram: bytes, ecn: int = NOT_ECT) -> tuple[str, Refused | None]:
        """A datagram of data: the row, and why it, its packet or its payload was refused."""
        now = self._begin(now)
        self.news = False
        if self.state == CLOSED:
            return "K16", None
        closing = self.state == CLOSING
        try:
            body = self._envelope.open(datagram)
        except Refused as refused:
            return "K9" if closing else "K1", refused
        if self.marks:
            self.marks.came(ecn)
        close, refused = self._take(now, body)
        if refused and refused.code == LIE:
            self._start_closing(now, Close(LIED_CODE, b""), Why("lied"))
            return "K23", refused
        if not closing:
            self.heard_at, self.confirmed = now, True
        if close is None:
            self._again = self._again or closing
            return "K11" if closing else "K3", refused
        if closing:
            self.state = CLOSED
            return "K10", None
        self._owed, self._close = True, Close(0, b"")
        self._end(Why("closed", close.code, close.text, remote=True))
        return "K2", None

    def _take(self, now: int, body: bytes) -> tuple[Close | None, Refused | None]:
        """CXM-7."""
        found: list[Close] = []
        fault: list[Refused] = []

        def above(number: int, payload: bytes, known: int | None) -> str:
            try:
                records = decode_payload(payload, self.mux.channels, self._config.lanes, variant=self._config.variant, ecn=self._config.ecn, clock=self._config.clock)
            except Refused as refused:
                fault.append(refused)
                return "refuse"
            if number < self.endpoint.next_to_receive - CHANNEL_WINDOW and any(not isinstance(r, (Close, ClockRecord, Marks, OnLane, Pad, Unreliable)) for r in records):
                return "refuse"
            if self.state == OPEN and self._lies(records):
                fault.append(Refused(LIE))
                return "refuse"
            if self.marks:
                self.marks.took(number)
            for record in records:
                if isinstance(record, Close):
                    found.append(record)
                elif self.state == OPEN:
                    self._apply(now, number, -1 if known is None else known, record)
            return "quiet" if is_quiet(records) or self.state != OPEN else "take"

        receipt = self.endpoint.receive(now, body, above)
        if receipt.sampled:
            self._evaluate(now)
        self.news = self._learn(now)
        return (found[0] if found else None), (fault[0] if fault else receipt.error)

    def _lies(self, records: list) -> bool:
        """CXM-19 to CXM-21."""
        said = said_by(self.endpoint.arriving, self.endpoint.next_to_send)
        acks = (said.ack, *said.acks())
        if said.ack < -1 or any(n < 0 for n in acks[1:]) or any(map(self.endpoint.is_left_out, acks)):
            return True
        return any(isinstance(r, OnLane) and r.is_ack and self._witness.lies(said, r) for r in records)

    def _apply(self, now: int, number: int, ack: int, record) -> None:
        if isinstance(record, Marks):
            self.marks.hear(number, record)
        elif isinstance(record, ClockRecord):
            self.remote.hear(now, number, record)
        elif not isinstance(record, OnLane):
            self.mux.take(now, number, ack, record)
        elif not record.is_ack:
            self.receivers[record.lane].slice(now, record.packet)
        else:
            said = said_by(self.endpoint.arriving, self.endpoint.next_to_send)
            self.senders[record.lane].ack(now, self._witness.believe(said, record))
            self._submit(now)
            if self.marks:
                self.marks.hear(number, None)

    def send(self, now: int, channel: int, message: bytes, lifetime: int | None = None) -> str | None:
        """The code of what is refused, or None."""
        now = self._begin(now)
        return "ended" if self.state != OPEN else self.mux.send(now, channel, message, lifetime)

    def tick(self, now: int) -> None:
        """A tick of the application ends (CXM-28)."""
        now = self._begin(now)
        if self._is_good:
            self._tick_at = min(self._tick_at, now)

    def read(self, now: int, channel: int):
        """What a channel delivers, or None."""
        return self.mux.read(self._begin(now), channel)

    def send_chunk(self, now: int, chunk: bytes) -> str | None:
        """The code of what is refused, or None; the chunk waits behind those before it."""
        now = self._begin(now)
        if self.state != OPEN or not self.senders:
            return "ended" if self.state != OPEN else "no_lanes"
        if not 1 <= len(chunk) <= MAX_CHUNK:
            return "chunk_size"
        if len(self._queue) >= self._config.queue:
            return "busy"
        self._queue.append(bytes(chunk))
        self._submit(now)
        return None

    def _submit(self, now: int) -> None:
        """LAN-4, LAN-7: the next chunk begins when its lane is idle and the one before was sent."""
        while self._queue:
            k = self._begun % len(self.senders)
            if self.senders[k].state != "IDLE" or not self._may_follow(k - 1):
                return
            chunk = self._queue.popleft()
            if self._config.variant == REPAIR and len(self.senders) > 1:
                self._schedulers[k].adopt(self._schedulers[k - 1])
            self.senders[k].submit(now, chunk)
            self._slices[k] = (0, slice_count(len(chunk)))
            self._begun += 1

    def _may_follow(self, before: int) -> bool:
        """LAN-7, and for slices of repair LAN-10."""
        if self.senders[before].state != "SENDING":
            return True
        if self._config.variant == NAMED:
            sent, all_ = self._slices[before]
            return sent == all_
        in_flight = sum(s.in_flight for s, m in zip(self._schedulers, self.senders) if m.state == "SENDING")
        scheduler = self._schedulers[before]
        return not scheduler.needed and in_flight < scheduler.path.path_slices

    def read_chunk(self, now: int) -> bytes | None:
        """LAN-5."""
        now = self._begin(now)
        if not self.receivers:
            return None
        chunk = self.receivers[self._delivered % len(self.receivers)].read(now)[1]
        self._delivered += chunk is not None
        return chunk

    @property
    def is_delivered(self) -> bool:
        """Whether everything reliable that was given is at the peer."""
        idle = not self._queue and all(s.state == "IDLE" for s in self.senders)
        return idle and not any(s.unreleased for s in self.mux.senders.values())

    @property
    def broken(self) -> bool:
        """Whether so much is lost for so long that repair slices do not grow in rate (BRK-6)."""
        return self._config.variant == REPAIR and any(s.path.broken for s in self._schedulers)

    def close(self, now: int, code: int, text: bytes) -> str:
        """Raises Refused for what cannot be said (CXR-4)."""
        if code < 0 or code > 0xFFFF or 1 <= code <= 255:
            raise Refused("reserved", 1)
        check_text(text)
        now = self._begin(now)
        if self.state != OPEN:
            return "K15" if self.state == CLOSING else "K17"
        self._start_closing(now, Close(code, text), Why("closed", code, text))
        return "K4"

    def end(self, now: int) -> str:
        """There is no such connection any more."""
        self._begin(now)
        row = {OPEN: "K20", CLOSING: "K21", CLOSED: "K22"}[self.state]
        if self.state == OPEN:
            self._end(Why("ended"))
        self.state = CLOSED
        return row

    def forget_path(self, now: int) -> None:
        """CXL-10."""
        self._unacked_at = None
        self.endpoint.forget_path()
        self._congestion = Congestion()
        if self.marks:
            self.marks.forget_path()
        self._witness.forget_path(self.endpoint.next_to_send)
        if self._config.variant == REPAIR:
            path = self._schedulers[0].path.anew(now) if self._schedulers else None
            for scheduler in self._schedulers:
                scheduler.moved(path)
        else:
            for scheduler in self._schedulers:
                scheduler.moved()
        self._learn(self._clock.latest)

    def move(self, now: int) -> None:
        """CXL-16."""
        self.forget_path(self._begin(now))
        self.moving = True

    def relinked(self, now: int, other_path: bool) -> None:
        """CXL-11: MOVED at a client; PLACE at a server, perhaps at the same address."""
        self.heard_at, self.moving = self._begin(now), False
        self._unacked_at = None
        if other_path:
            self.forget_path(self.heard_at)

    # Polls

    def poll(self, now: int) -> tuple[list[str], bytes | None]:
        """The rows, and the datagram that the last one gives (CXL-14)."""
        now = self._begin(now)
        self.ect = False
        rows: list[str] = []
        while True:
            row, datagram, ends = self._poll(now)
            rows.append(row)
            if datagram is not None:
                return rows, datagram
            if ends:
                self._polled_at = now
                return rows, None

    def _poll(self, now: int) -> tuple[str, bytes | None, bool]:
        if self.state == CLOSED:
            return ("K18", self._say(now), False) if self._owed else ("K19", None, True)
        if self.state == CLOSING:
            return self._poll_closing(now)
        if now >= self._ends_at:
            self._end(Why("timeout"))
            return "K5", None, False
        if self.moving:
            return "K8", None, True
        if now >= self._worn_at:
            self._start_closing(now, Close(WORN_CODE, b""), Why("failed"))
            return "K6", None, False
        datagram = None if self._has_failed else self._packet(now)
        if self._has_failed and datagram is None:
            self._start_closing(now, Close(FAILED_CODE, b""), Why("failed"))
            return "K6", None, False
        return ("K8", None, True) if datagram is None else ("K7", datagram, False)

    def _poll_closing(self, now: int) -> tuple[str, bytes | None, bool]:
        if now - self._close_at >= CLOSE_TIME:
            self.state = CLOSED
            return "K12", None, False
        return ("K13", self._say(now), False) if now >= self._next_close and not self.moving else ("K14", None, True)

    @property
    def _next_close(self) -> float:
        at = self._close_at + CLOSE_TIMES[self._said] if self._said < len(CLOSE_TIMES) else NEVER
        return min(at, self._said_at + CLOSE_FIRST) if self._again and self._said_at is not None else at

    def _say(self, now: int) -> bytes:
        """SAY of CXL-5."""
        payload = encode_payload([self._close], self.mux.channels, 0)
        (body,) = self.endpoint.send(now, payload, quiet=True)
        self._said = sum(now - self._close_at >= at for at in CLOSE_TIMES) if self.state == CLOSING else 0
        self._said_at, self._again, self._owed = now, False, False
        return self._seal(now, body)

    def _seal(self, now: int, body: bytes) -> bytes:
        self.sent_at = now
        return self._envelope.seal(body)

    @property
    def _has_failed(self) -> bool:
        """Of the lanes: a channel that has failed ends nothing else (CXL-17)."""
        return any(m.state == "FAILED" for m in (*self.senders, *self.receivers))

    def _start_closing(self, now: int, close: Close, why: Why) -> None:
        self.state, self.ended = CLOSING, why
        self._close_at, self._close, self._said = now, close, 0
        self._out.clear()

    def _end(self, why: Why) -> None:
        self.state, self.ended = CLOSED, why
        self._out.clear()

    # Composition (section 8)

    def _packet(self, now: int) -> bytes | None:
        """The next datagram, if a packet is due (CXM-1, CXM-2)."""
        if self._out:
            return self._seal(now, self._out.popleft())
        self._tick(now)
        messages = self._budget >= 0 and (self._ticking or self.mux.prompt <= now)
        charged, free, slice_ = self._records(now, messages)
        records = [*free, *charged, *([slice_] if slice_ else [])]
        if not self.mux.is_pending:
            self._ticking = False
        if records:
            payload = encode_payload(records, self.mux.channels, self._config.lanes, variant=self._config.variant, ecn=self._config.ecn, clock=self._config.clock)
            number = self.endpoint.next_to_send
            self.ect = bool(self.marks and slice_) and self.marks.sends(now, number)
            bodies = self.endpoint.send(now, payload, quiet=is_quiet(records))
            if slice_:
                self._witness.sent(now, number, slice_)
            if slice_ or charged:
                self._heavy(now)
            self._charge(charged, free, slice_, bodies)
            self._out.extend(bodies)
        elif self._alive_at <= now:
            self._out.extend(self.endpoint.send(now, PAD, quiet=True))
        else:
            pad = self.endpoint.poll(now)
            self._evaluate(now)
            if pad is not None:
                self._out.append(pad)
        self._learn(now)
        return self._seal(now, self._out.popleft()) if self._out else None

    def _heavy(self, now: int) -> None:
        """A packet has a slice or messages (CXM-18, CXL-18)."""
        if self._unacked_at is None:
            self._unacked_at = now
        if self._witness.heavy():
            self.endpoint.leave_out(now)

    def _tick(self, now: int) -> None:
        """CXM-3."""
        if self.mux.is_pending and now >= self._tick_at and self._budget >= 0 and not self._ticking:
            self._ticking = True
            self._tick_at = now + (self._config.tick if self._is_good else max(self._config.tick, BAD_TICK))

    def _records(self, now: int, messages: bool):
        """What goes into a payload: of messages, of acks and reports, and a slice."""
        number = self.endpoint.next_to_send
        if self._config.variant == REPAIR:
            for scheduler in self._schedulers:
                scheduler.path.yield_to_others(now < self._messages_at + YIELD_TIME)
        if messages and self.mux.alone is not None:
            self._messages_at = now
            return self.mux.large(), [], None
        free: list = []
        left = PAYLOAD
        marks = self.marks.record if self.marks else None
        beside = ECN_BYTES if marks else 0
        acks_due = any(r.deadline <= now for r in self.receivers)
        for k, receiver in enumerate(self.receivers):
            while left >= LARGEST_CHUNK_ACK + beside and receiver.deadline <= now and (ack := receiver.poll(now)[1]) is not None:
                free.append(OnLane(k, ack))
                left -= len(encode_payload(free[-1:], {}, self._config.lanes, variant=self._config.variant))
        if free and marks:
            free.append(marks)
            left -= beside
        for report in self.mux.reports(now, left) if self._report_budget >= 0 else ():
            free.append(report)
            left -= size(report)
        slice_due = self._slice_at <= now
        others = acks_due or bool(free) or messages or self._alive_at <= now or self._owes(now)
        charged: list = []
        beside_slice = BESIDE_SLICE
        if self.remote and (others or slice_due) and (said := self.remote.say(now, left)):
            free.append(said)
            left -= CLOCK_BYTES
            beside_slice -= CLOCK_BYTES
        if self._budget >= 0 and (others or slice_due):
            charged = self.mux.messages(now, number, left if others else beside_slice)
            if charged:
                self._messages_at = now
            left -= sum(map(size, charged))
        if len(charged) == 1 and isinstance(charged[0], Unreliable) and left < 0:
            return charged, free, None
        return charged, free, self._slice(now) if slice_due and left >= LARGEST_SLICE else None

    def _slice(self, now: int) -> OnLane | None:
        """None goes from when a machine gives up (LAN-6)."""
        self._submit(now)
        for k in self._turns(now):
            if self._has_failed:
                break
            if now < self._witness.held_until and now < self.senders[k].gives_up_at:
                continue
            found = self.senders[k].poll(now)[1]
            if found is not None:
                self._spoke[k] = now
                sent, all_ = self._slices[k]
                self._slices[k] = (min(sent + 1, all_), all_)
                self._submit(now)
                return OnLane(k, found)
        return None

    @property
    def _slice_at(self) -> float:
        """When a sender is due, or may be (CXM-23)."""
        held = self._witness.held_until
        due = ((s.deadline, s.gives_up_at) for s in self.senders)
        return min((at if at >= held else min(held, gives_up) for at, gives_up in due), default=NEVER)

    def _turns(self, now: int) -> list[int]:
        """Lanes that wait, the longest silent first (LAN-13), and then those of earlier chunks (LAN-8)."""
        count = len(self.senders)
        lanes = [(self._begun + i) % count for i in range(count)]
        since = [max(spoke, sender.heard_at) for spoke, sender in zip(self._spoke, self.senders)]
        waiting = [k for k in lanes if self.senders[k].state != "IDLE" and now - since[k] >= LANE_TURN]
        return sorted(waiting, key=since.__getitem__) + [k for k in lanes if k not in waiting]

    def _charge(self, charged: list, free: list, slice_, bodies: list[bytes]) -> None:
        """CXM-4, CXM-25."""
        reports = sum(size(r) for r in free if isinstance(r, Report))
        if reports and not charged and slice_ is None:
            reports += len(bodies[0]) - sum(map(self._bytes, free)) + HEAD + TAGS[self._envelope.mode] + HEADERS
        self._report_budget -= BIT * reports
        if not charged:
            return
        cost = sum(map(size, charged))
        if slice_ is None:
            overhead = HEAD + TAGS[self._envelope.mode] + HEADERS
            cost = sum(len(b) + overhead for b in bodies) - sum(self._bytes(r) for r in free)
        self._budget -= BIT * cost

    def _bytes(self, record) -> int:
        return len(encode_payload([record], self.mux.channels, self._config.lanes, variant=self._config.variant, ecn=self._config.ecn, clock=self._config.clock))

    # Time

    def _begin(self, now: int) -> int:
        now = self._clock.advance(now)
        self._budget = min(self._budget + (now - self._budget_at) * self._rate, BIT * BURST)
        self._report_budget = min(self._report_budget + (now - self._budget_at) * (self._rate // 4), BIT * BURST)
        self._budget_at = now
        self._polled_at = -1
        return now

    @property
    def mode(self) -> str:
        return self._congestion.mode.lower()

    @property
    def _is_good(self) -> bool:
        return self._congestion.mode == "GOOD"

    @property
    def _rate(self) -> int:
        return self._config.message_rate if self._is_good else self._config.message_rate // 4

    def _evaluate(self, now: int) -> None:
        trip = self.endpoint.round_trip
        self._congestion.evaluate(now, trip.srtt if trip.measured else None, trip.min_rtt if trip.measured else 0, self.endpoint.silent)

    def _learn(self, now: int) -> bool:
        """CXM-6; whether a packet was acked."""
        acked = [number for kind, number in self.endpoint.take_events() if kind == "acked"]
        if acked:
            self._unacked_at = None
        self._witness.end(acked, resting=not self._queue and all(s.state == "IDLE" for s in self.senders))
        if self.marks:
            told = self.marks.told
            self.marks.end(now, acked)
            if self._config.variant == REPAIR and self.marks.told > told:
                self._schedulers[(self._begun - 1) % len(self._schedulers)].path.marked(self.marks.told - told)
        trip = self.endpoint.round_trip
        self.mux.set_path(trip.srtt if trip.measured else None, self.endpoint.patience.at(now))
        return bool(acked)

    def _owes(self, now: int) -> bool:
        return self.endpoint._ack_at <= now

    @property
    def _ends_at(self) -> int:
        """When it has timed out (CXL-3)."""
        since = self.heard_at if self._unacked_at is None else min(self.heard_at, self._unacked_at)
        return since + self._config.timeout

    @property
    def _alive_at(self) -> int:
        if self.sent_at is None:
            return 0
        return self.sent_at + (min(self._config.timeout // 8, MOST_KEEP_ALIVE) if self.confirmed else LINK_INTERVAL)

    @property
    def deadline(self) -> float:
        """CXM-9."""
        now = self._clock.latest
        at = self._deadline(now)
        return max(at, now + 1) if self._polled_at == now else max(at, now)

    def _report_at(self, now: int) -> float:
        at = self.mux.report_at
        return at if self._report_budget >= 0 else max(at, now - self._report_budget // (self._rate // 4))

    def _deadline(self, now: int) -> float:
        if self.state == CLOSED:
            return now if self._owed else NEVER
        if self.state == CLOSING:
            return min(NEVER if self.moving else self._next_close, self._close_at + CLOSE_TIME)
        if self.moving:
            return self._ends_at
        if self._out or self._has_failed:
            return now
        lanes = min((m.deadline for m in self.receivers), default=NEVER)
        lanes = min(lanes, self._slice_at)
        first = min(self._ends_at, self._worn_at, self._alive_at, self.endpoint.deadline, self._congestion.deadline, self._report_at(now), lanes)
        wanted = 0 if self._ticking else min(self.mux.prompt, self._tick_at if self.mux.is_pending else NEVER)
        allowed = now if self._budget >= 0 else now - (self._budget // self._rate)
        return min(first, max(allowed, wanted))
