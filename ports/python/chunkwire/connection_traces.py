"""The operations of the port for connections (spec/CONNECTION.md, appendix C)."""

from __future__ import annotations

from functools import partial
from typing import Any

from .channel_receiver import Delivered
from .channel_traces import ALL, plain_record, record_from
from .channels import Channel, check_channel
from .codec import Ack, Slice
from .connection import BAD_TICK, Config, Connection
from .connection_records import EXTENSION_ECN, NAMED, REPAIR, Close, Marks, OnLane, decode_payload, encode_payload
from .envelope import Envelope
from .estimates import LONGEST_SAMPLE
from .fields import BAD_REQUEST, LAST_TIME, ack_from, bit_string, field, hexadecimal, number, steps
from .marks import CE, ECT0, ECT1, NOT_ECT
from .mux import Setup
from .refused import Refused
from .repair_codec import RepairAck, RepairSlice
from .repair_traces import packet_fields, packet_from, rule_of
from .seq import on_wire
from .session_traces import fixed_bytes, mode_from
from .sessions import MOST_LANES
from .times import NEVER
from .traces import base_scheduler, content, summary

Answer = dict[str, Any]

FIELD = {"ect1": ECT1, "ect0": ECT0, "ce": CE}
"""The field ECN by its names."""


def connection_encode(request: Answer) -> Answer:
    """CXO-11."""
    lanes, variant = number(request, "lanes", 0, MOST_LANES), _variant(request)
    ecn = _has_ecn(request)
    records = [_record(source, variant) for source in field(request, "records", list)]
    return {"hex": encode_payload(records, ALL, lanes, True, variant, ecn).hex()}


def connection_decode(request: Answer) -> Answer:
    """CXO-11."""
    lanes, variant = number(request, "lanes", 0, MOST_LANES), _variant(request)
    records = decode_payload(hexadecimal(request, "hex"), ALL, lanes, True, variant, _has_ecn(request))
    return {"records": [_fields(r) for r in records]}


def _variant(source: Answer) -> int:
    """RPO-9."""
    return number(source, "variant", NAMED, REPAIR) if "variant" in source else NAMED


def _has_ecn(source: Answer) -> bool:
    """CXO-11, CXO-12."""
    return bool("extensions" in source and number(source, "extensions", 0, 0xFFFF) & EXTENSION_ECN)


def _field_of(event: Answer) -> int:
    if "ecn" not in event:
        return NOT_ECT
    if (name := field(event, "ecn", str)) not in FIELD:
        raise Refused(BAD_REQUEST)
    return FIELD[name]


def _record(source: Any, variant: int) -> Any:
    if not isinstance(source, dict):
        raise Refused(BAD_REQUEST)
    kind = field(source, "type", str)
    if kind == "close":
        return Close(number(source, "code", 0, 0xFFFF), field(source, "text", str).encode())
    if kind in ("slice", "chunk_ack") and variant == REPAIR:
        return OnLane(field(source, "lane", int), packet_from({**source, "type": kind.removeprefix("chunk_")}))
    if kind == "slice":
        ids = [field(source, name, int) for name in ("chunk_id", "slice_id", "num_slices")]
        return OnLane(field(source, "lane", int), Slice(*ids, data=hexadecimal(source, "data")))
    if kind == "chunk_ack":
        return OnLane(field(source, "lane", int), ack_from(source))
    if kind == "ecn":
        return Marks(number(source, "arrived", 0, 0xFFFF), number(source, "congested", 0, 0xFFFF))
    return record_from(source)


def _fields(record: Any) -> Answer:
    if isinstance(record, Close):
        return {"type": "close", "code": record.code, "text": record.text.decode()}
    if isinstance(record, Marks):
        return {"type": "ecn", **record._asdict()}
    if not isinstance(record, OnLane):
        return plain_record(record)
    packet = record.packet
    if isinstance(packet, (RepairSlice, RepairAck)):
        return {**packet_fields(packet), "type": "chunk_ack" if record.is_ack else "slice", "lane": record.lane}
    if isinstance(packet, Ack):
        return {"type": "chunk_ack", "lane": record.lane, "chunk_id": packet.chunk_id, "acked": bit_string(packet.acked, packet.num_slices)}
    return {"type": "slice", "lane": record.lane, **packet._asdict(), "data": packet.data.hex()}


def connection(request: Answer) -> Answer:
    """CXO-12, CXO-13."""
    config = field(request, "config", dict)
    trace = _Trace(_connection(config))
    names = ("receive", "poll", "send", "read", "send_chunk", "read_chunk", "close")
    return {"steps": steps(request, {name: getattr(trace, name) for name in names})}


def connection_moves(request: Answer) -> Answer:
    """CXO-15."""
    config = field(request, "config", dict)
    trace = _Moves(_connection(config))
    names = ("receive", "poll", "send", "read", "send_chunk", "read_chunk", "close", "move", "moved", "placed", "end")
    return {"steps": steps(request, {name: getattr(trace, name) for name in names})}


def _connection(config: Answer) -> Connection:
    side = field(config, "side", str)
    if side not in ("client", "server"):
        raise Refused(BAD_REQUEST)
    send, receive = fixed_bytes(config, "send_key", 32), fixed_bytes(config, "receive_key", 32)
    envelope = Envelope(mode_from(config), number(config, "link", 1, (1 << 32) - 1), send, receive)
    variant, profile = _variant(config), field(config, "profile", dict)
    scheduler = partial(rule_of, config) if variant == REPAIR else partial(base_scheduler, profile)
    scheduler()
    channels = field(config, "channels", list)
    setups = {field(c, "id", int): _setup(c) for c in channels if isinstance(c, dict)}
    if len(setups) != len(channels):
        raise Refused(BAD_REQUEST)
    limits = Config(
        setups,
        number(config, "lanes", 0, MOST_LANES),
        number(config, "timeout", 10, 36_000) * 100_000,
        number(config, "tick", 5_000, BAD_TICK),
        number(config, "message_rate", 64_000, 8_000_000_000),
        scheduler=scheduler,
        variant=variant,
        ecn=_has_ecn(config),
        seed=fixed_bytes(config, "seed", 16) if "seed" in config else b"",
    )
    return Connection(number(config, "begin", 0, LAST_TIME), envelope, limits, side == "client")


def _setup(source: Answer) -> Setup:
    number(source, "id", 0, 63)
    kind, priority = field(source, "kind", str), number(source, "priority", 0, 255)
    if kind == "unreliable":
        return Setup(Channel(kind), priority)
    channel = Channel(kind, *(field(source, name, int) for name in ("window", "data", "group", "send_queue", "give_up")))
    try:
        check_channel(channel)
    except ValueError:
        raise Refused(BAD_REQUEST) from None
    return Setup(channel, priority)


class _Trace:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._submitted = 0

    def receive(self, at: int, event: Answer) -> Answer:
        told = self._told
        row, refused = self._connection.receive(at, hexadecimal(event, "hex"), _field_of(event))
        return self._step([row], refused=refused, marked=self._told - told)

    @property
    def _told(self) -> int:
        return self._connection.marks.told if self._connection.marks else 0

    def poll(self, at: int, _: Answer) -> Answer:
        rows, datagrams, ect = [], [], []
        while True:
            more, datagram = self._connection.poll(at)
            rows += more
            if datagram is None:
                return self._step(rows, datagrams=datagrams, ect=ect)
            datagrams.append(datagram.hex())
            ect.append(self._connection.ect)

    def send(self, at: int, event: Answer) -> Answer:
        lifetime = None if event.get("lifetime", 0) is None else number(event, "lifetime", 1, LONGEST_SAMPLE)
        code = self._connection.send(at, number(event, "channel", 0, 63), hexadecimal(event, "data"), lifetime)
        return self._step([], refused=code and Refused(code))

    def read(self, at: int, event: Answer) -> Answer:
        return self._step([], read=self._connection.read(at, number(event, "channel", 0, 63)))

    def send_chunk(self, at: int, event: Answer) -> Answer:
        size = number(event, "size", 0, 524_288)
        chunk_id = self._submitted // max(len(self._connection.senders), 1)
        code = self._connection.send_chunk(at, content(chunk_id % 65_536, 0, size))
        self._submitted += code is None
        return self._step([], refused=code and Refused(code))

    def read_chunk(self, at: int, _: Answer) -> Answer:
        return self._step([], chunk=self._connection.read_chunk(at))

    def close(self, at: int, event: Answer) -> Answer:
        code, text = number(event, "code", 0, 0xFFFF), field(event, "text", str)
        try:
            return self._step([self._connection.close(at, code, text.encode())])
        except Refused as refused:
            return self._step([], refused=Refused(refused.code))

    def _step(
        self, rows: list[str], refused: Any = None, datagrams: Any = (), read: Any = None, chunk: Any = None, ect: Any = (), marked: int = 0
    ) -> Answer:
        c = self._connection
        marks = {"ecn": {"ect": list(ect), "marked": marked}} if c.marks else {}
        return {
            "rows": rows,
            "state": c.state,
            "refused": refused and {"error": refused.code, "at": -1 if refused.place is None else refused.place},
            "datagrams": list(datagrams),
            "read": read and _read(read),
            "chunk": None if chunk is None else summary(chunk),
            "ended": c.ended and _ended(c.ended),
            "deadline": None if c.deadline == NEVER else int(c.deadline),
            **marks,
        }


class _Moves(_Trace):
    def receive(self, at: int, event: Answer) -> Answer:
        step = super().receive(at, event)
        return {**step, "news": self._connection.news}

    def move(self, at: int, _: Answer) -> Answer:
        self._connection.move(at)
        return self._step([])

    def moved(self, at: int, _: Answer) -> Answer:
        self._connection.relinked(at, True)
        return self._step([])

    def placed(self, at: int, event: Answer) -> Answer:
        self._connection.relinked(at, field(event, "changed", bool))
        return self._step([])

    def end(self, at: int, _: Answer) -> Answer:
        return self._step([self._connection.end(at)])

    def _step(self, rows: list[str], **more: Any) -> Answer:
        """CXO-16."""
        c = self._connection
        trip = c.endpoint.round_trip
        return {**super()._step(rows, **more), "news": False, "srtt": trip.srtt if trip.measured else None, "mode": c.mode}


def _read(read: Delivered) -> Answer:
    content_ = {"skipped": True} if read.data is None else {"data": read.data.hex()}
    return {"sequence": on_wire(read.sequence), **content_}


def _ended(why: Any) -> Answer:
    if why.why != "closed":
        return {"why": why.why}
    return {"why": "closed", "code": why.code, "text": why.text.decode(), "remote": why.remote}
