"""The operations of the port for channels (spec/CHANNELS.md, appendix C; CHO-1)."""

from __future__ import annotations

from typing import Any, Callable

from .channel_receiver import ChannelReceiver, Delivered
from .channel_sender import ChannelSender
from .channels import MOST_FIRST, Channel, check_channel
from .estimates import LONGEST_SAMPLE
from .fields import BAD_REQUEST, field, hexadecimal, number, steps, time
from .records import (
    MOST_CHANNEL,
    Fragment,
    Message,
    Pad,
    Record,
    Report,
    Skip,
    Status,
    Unreliable,
    decode_records,
    encode_records,
    groups_of,
)
from .refused import Refused
from .seq import SPAN, first_from, on_wire

Answer = dict[str, Any]

ALL = {channel: Channel("ordered", window=16_384) for channel in range(MOST_CHANNEL + 1)}
"""CHO-3."""
KINDS: dict[str, type[Record]] = {
    "pad": Pad,
    "unreliable": Unreliable,
    "message": Message,
    "fragment": Fragment,
    "skip": Skip,
    "report": Report,
    "status": Status,
}
REFUSALS = {"D1": "message_size", "D2": "queue_full", "D11": "failed"}
"""CHS-15."""


def records_encode(request: Answer) -> Answer:
    """CHO-4, CHO-6."""
    records = [record_from(source) for source in field(request, "records", list)]
    return {"hex": encode_records(records, ALL, any_kind=True).hex()}


def records_decode(request: Answer) -> Answer:
    """CHO-4."""
    return {"records": [plain_record(r) for r in decode_records(hexadecimal(request, "hex"), ALL, any_kind=True)]}


def channel_report(request: Answer) -> Answer:
    """CHO-5."""
    channel, base, room = (field(request, name, int) for name in ("channel", "base", "room"))
    missing = [_ascending(n, base) for n in field(request, "missing", list)]
    if missing != sorted(set(missing)):
        raise Refused(BAD_REQUEST)
    report = Report(channel, base, room, groups_of(missing))
    return {"hex": encode_records([report], ALL, any_kind=True).hex()}


def _ascending(sequence: Any, base: int) -> int:
    """The number that a sequence means, from base on (CHO-5, CHO-6)."""
    if type(sequence) is not int or not 0 <= sequence < SPAN:
        raise Refused(BAD_REQUEST)
    return first_from(sequence, base)


def record_from(source: Any) -> Any:
    """A record of CHO-4, or what the encoder knows as none (CHO-6)."""
    if not isinstance(source, dict):
        raise Refused(BAD_REQUEST)
    kind = KINDS.get(field(source, "type", str))
    if kind is None:
        return None
    return kind(*(_READ.get(name, _integer)(source, name) for name in kind._fields))


def _integer(source: Answer, name: str) -> int:
    return field(source, name, int)


def _groups(source: Answer, name: str) -> tuple[tuple[int, int], ...]:
    groups = field(source, name, list)
    for group in groups:
        if type(group) is not list or [type(n) for n in group] != [int, int]:
            raise Refused(BAD_REQUEST)
    return tuple((start, bits) for start, bits in groups)


_READ: dict[str, Callable[[Answer, str], Any]] = {"data": hexadecimal, "groups": _groups}


def plain_record(record: Record) -> Answer:
    """CHO-4."""
    name = next(name for name, kind in KINDS.items() if kind is type(record))
    return {"type": name, **{key: _plain(value) for key, value in record._asdict().items()}}


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.hex()
    return [list(group) for group in value] if isinstance(value, tuple) else value


def channel_receiver(request: Answer) -> Answer:
    """CHO-7."""
    config = field(request, "config", dict)
    kind = field(config, "kind", str)
    if kind not in ("ordered", "unordered"):
        raise Refused(BAD_REQUEST)
    trace = _ReceiverTrace(ChannelReceiver(_channel(config, kind)))
    handlers = {"record": trace.record, "read": trace.read, "poll": trace.poll, "path": trace.path}
    return {"steps": steps(request, handlers)}


def channel_sender(request: Answer) -> Answer:
    """CHO-9."""
    config = field(request, "config", dict)
    channel = _channel(config, "ordered", send_queue=field(config, "send_queue", int))
    trace = _SenderTrace(ChannelSender(channel))
    handlers = {"send": trace.send, "report": trace.report, "poll": trace.poll, "path": trace.path}
    return {"steps": steps(request, handlers)}


def _channel(config: Answer, kind: str, **more: int) -> Channel:
    """Parameters that CHP-1 allows (CHO-12)."""
    figures = {name: field(config, name, int) for name in ("window", "data", "group", "give_up", "first")}
    channel = Channel(kind, **figures, **more)
    try:
        check_channel(channel)
    except ValueError:
        raise Refused(BAD_REQUEST) from None
    return channel


def _only_record(event: Answer, channel: Channel) -> Record:
    """The one record of an event, on channel 0 (CHO-11, CHO-12)."""
    records = decode_records(hexadecimal(event, "hex"), {0: channel})
    if len(records) != 1:
        raise Refused(BAD_REQUEST)
    return records[0]


def _hex(record: Record, channel: Channel) -> str:
    return encode_records([record], {0: channel}).hex()


def _space(event: Answer) -> int:
    return number(event, "space", 0, 0xFFFF)


def _figure(event: Answer, name: str) -> int:
    return number(event, name, 0, LONGEST_SAMPLE)


def _srtt(event: Answer) -> int | None:
    return None if "srtt" in event and event["srtt"] is None else _figure(event, "srtt")


class _ReceiverTrace:
    def __init__(self, receiver: ChannelReceiver) -> None:
        self._receiver = receiver

    def record(self, at: int, event: Answer) -> Answer:
        record = _only_record(event, self._receiver.channel)
        if isinstance(record, (Message, Fragment)):
            return self._step(self._receiver.data(at, record))
        if isinstance(record, Skip):
            return self._step(self._receiver.skip(at, record))
        if isinstance(record, Status):
            return self._step(self._receiver.status(at, record))
        raise Refused(BAD_REQUEST)

    def read(self, at: int, event: Answer) -> Answer:
        row, delivered = self._receiver.read(at)
        return self._step(row, delivered)

    def poll(self, at: int, event: Answer) -> Answer:
        row, report = self._receiver.poll(at, _space(event))
        return self._step(row, report=report)

    def path(self, at: int, event: Answer) -> Answer:
        """CHO-11."""
        self._receiver.path.set(_srtt(event))
        return self._step(None)

    def _step(self, row: str | None, delivered: Delivered | None = None, report: Report | None = None) -> Answer:
        """CHO-8."""
        read = None
        if delivered is not None:
            content = {"skipped": True} if delivered.data is None else {"data": delivered.data.hex()}
            read = {"sequence": on_wire(delivered.sequence), **content}
        return {
            "row": row,
            "state": self._receiver.state,
            "read": read,
            "report": report and _hex(report, self._receiver.channel),
            "deadline": time(self._receiver.deadline),
        }


class _SenderTrace:
    def __init__(self, sender: ChannelSender) -> None:
        self._sender = sender

    def send(self, at: int, event: Answer) -> Answer:
        lifetime = None
        if "lifetime" not in event or event["lifetime"] is not None:
            lifetime = number(event, "lifetime", 1, LONGEST_SAMPLE)
        return self._step([self._sender.send(at, hexadecimal(event, "data"), lifetime)])

    def report(self, at: int, event: Answer) -> Answer:
        record = _only_record(event, self._sender.channel)
        if not isinstance(record, Report):
            raise Refused(BAD_REQUEST)
        packet, ack = number(event, "number", 0, MOST_FIRST), number(event, "ack", -1, MOST_FIRST)
        return self._step([self._sender.report(at, record, packet, ack)])

    def poll(self, at: int, event: Answer) -> Answer:
        """CHO-9."""
        packet, space = number(event, "number", 0, MOST_FIRST), _space(event)
        row, record = self._sender.poll(at, packet, space)
        rows, records = [row], []
        while record is not None:
            records.append(_hex(record, self._sender.channel))
            space -= len(records[-1]) // 2
            row, record = self._sender.poll(at, packet, space)
            rows.append(row)
        return self._step(rows, records)

    def path(self, at: int, event: Answer) -> Answer:
        """CHO-11."""
        self._sender.path.set(_srtt(event), _figure(event, "patience"))
        return self._step([])

    def _step(self, rows: list[str], records: list[str] | None = None) -> Answer:
        """CHO-10."""
        sender = self._sender
        return {
            "rows": rows,
            "state": sender.state,
            "refused": REFUSALS.get(rows[0]) if rows else None,
            "records": records or [],
            "base": sender.base,
            "limit": sender.limit,
            "deadline": time(sender.deadline),
        }
