"""The operations of repair slices (RPO-1 to RPO-8)."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from .controller import Controller
from .erasure import MAX_IDS, Decoder, Encoded, exponents
from .fields import BAD_REQUEST, field, hexadecimal, machine_config, number, steps, time
from .limits import MAX_CHUNK, MAX_SLICES, SLICE_SIZE
from .rateless import Rateless
from .refused import Refused
from .repair_codec import (
    RepairAck,
    RepairPacket,
    RepairSlice,
    check_repair,
    decode_repair,
    decode_repair_body,
    encode_repair,
    encode_repair_body,
    slice_bytes,
)
from .repair_receiver import RepairReceiver
from .repair_sender import RepairSender
from .times import NEVER
from .traces import MAX_RATE, MAX_SUBMIT, MIN_RATE, content, summary

MOST_SLICES = 1_024
MOST_DUE = 16_384

Step = dict[str, Any]


def repair_row(request: Step) -> Step:
    """RPO-1."""
    k, slice_id = (field(request, name, int) for name in ("num_slices", "slice_id"))
    _need(1 <= k <= MAX_SLICES and k <= slice_id < MAX_IDS)
    return {"exponents": exponents(slice_id - k, k)}


def repair_slice(request: Step) -> Step:
    """RPO-2."""
    chunk_id, size, slice_id = (field(request, name, int) for name in ("chunk_id", "size", "slice_id"))
    _need(0 <= chunk_id <= 0xFFFF and 1 <= size <= MAX_CHUNK and 0 <= slice_id < MAX_IDS)
    return {"slice": summary(encoded(chunk_id, size).slice(slice_id))}


def repair_rebuild(request: Step) -> Step:
    """RPO-3."""
    chunk_id, k, last = (field(request, name, int) for name in ("chunk_id", "num_slices", "last_bytes"))
    ids = field(request, "slice_ids", list)
    if len(ids) > MOST_SLICES or any(type(i) is not int for i in ids):
        raise Refused(BAD_REQUEST)
    _need(0 <= chunk_id <= 0xFFFF and 1 <= k <= MAX_SLICES and 1 <= last <= SLICE_SIZE)
    _need(all(0 <= i < MAX_IDS for i in ids))
    size = (k - 1) * SLICE_SIZE + last
    source = encoded(chunk_id, size)
    decoder = Decoder(k)
    added = "".join("01"[decoder.rank < k and decoder.add(i, source.slice(i))] for i in ids)
    whole = decoder.rank == k
    return {"added": added, "rank": decoder.rank, "chunk": summary(decoder.rebuild()[:size]) if whole else None}


def repair_encode(request: Step) -> Step:
    """RPO-4."""
    packet = packet_from(field(request, "packet", dict))
    if "protocol_id" in request:
        return {"hex": encode_repair(_protocol_id(request), packet).hex()}
    return {"hex": encode_repair_body(packet).hex()}


def repair_decode(request: Step) -> Step:
    """RPO-4."""
    if "protocol_id" in request:
        return {"packet": packet_fields(decode_repair(_protocol_id(request), hexadecimal(request, "hex")))}
    kind = _KINDS.get(field(request, "type", str))
    if kind is None:
        raise Refused(BAD_REQUEST)
    return {"packet": packet_fields(decode_repair_body(kind, hexadecimal(request, "hex")))}


def packet_from(source: Step) -> RepairPacket:
    kind = _KINDS.get(field(source, "type", str))
    if kind is None:
        raise Refused("invalid_field")
    if kind is RepairAck:
        return ack_from(source)
    ids = (field(source, name, int) for name in ("chunk_id", "slice_id", "num_slices", "last_bytes"))
    return RepairSlice(*ids, data=hexadecimal(source, "data"))


def ack_from(source: Step) -> RepairAck:
    return RepairAck(*(field(source, name, int) for name in ("chunk_id", "num_slices", "have", "top")))


def packet_fields(packet: RepairPacket) -> Step:
    if isinstance(packet, RepairSlice):
        return {**_slice_fields(packet), "data": packet.data.hex()}
    return {"type": "ack", **packet._asdict()}


def _slice_fields(s: RepairSlice) -> Step:
    ids = {"chunk_id": s.chunk_id, "slice_id": s.id, "num_slices": s.num_slices, "last_bytes": s.last_bytes}
    return {"type": "slice", **ids}


_KINDS: dict[str, type[RepairPacket]] = {"slice": RepairSlice, "ack": RepairAck}


def repair_sender(request: Step) -> Step:
    """RPO-5, RPO-6 and RPO-8."""
    config = field(request, "config", dict)
    first_id, give_up = machine_config(config)
    if "profile" in config and config["profile"] is None:
        script = _Script()
        trace = _SenderTrace(RepairSender(script, first_id, give_up), script)
    else:
        trace = _SenderTrace(RepairSender(rule_of(config), first_id, give_up), None)
    return _steps(request, {"submit": trace.submit, "ack": trace.ack, "poll": trace.poll})


def rule_of(config: Step) -> Rateless:
    """The rule with the profile of RPO-5."""
    profile = field(config, "profile", dict)
    rate = field(profile, "rate", int)
    burst, fixed, redundant = (field(profile, name, bool) for name in ("burst", "fixed", "redundant"))
    if burst + fixed + redundant > 1 or (fixed and not rate) or (rate and not MIN_RATE <= rate <= MAX_RATE):
        raise Refused(BAD_REQUEST)
    return Rateless(Controller(rate, fixed, burst), redundant)


def repair_receiver(request: Step) -> Step:
    """RPO-5, RPO-7 and RPO-8."""
    trace = _ReceiverTrace(RepairReceiver(*machine_config(field(request, "config", dict))))
    return _steps(request, {"slice": trace.slice, "read": trace.read, "poll": trace.poll})


class _Script:
    """A scheduler that sends what a trace says, and has no deadline."""

    deadline = NEVER

    def __init__(self) -> None:
        self.due = 0

    def start(self, now: int, num_slices: int) -> None:
        pass

    def news(self, now: int, have: int, top: int) -> None:
        pass

    def hold(self, now: int) -> None:
        pass

    def next(self, now: int) -> bool:
        self.due -= 1
        return self.due >= 0


class _SenderTrace:
    _ERRORS = {"T2": "chunk_size", "T3": "busy", "T4": "gave_up"}

    def __init__(self, sender: RepairSender, script: _Script | None) -> None:
        self._sender = sender
        self._script = script

    def submit(self, at: int, event: Step) -> Step:
        size = number(event, "size", 0, MAX_SUBMIT)
        row = self._sender.submit(at, content(self._sender.chunk_id, 0, size))
        step = self._step(row, [])
        if row in self._ERRORS:
            step["error"] = self._ERRORS[row]
        return step

    def ack(self, at: int, event: Step) -> Step:
        ack = ack_from(event)
        _valid(ack)
        return self._step(self._sender.ack(at, ack), [])

    def poll(self, at: int, event: Step) -> Step:
        due = number(event, "due", 0, MOST_DUE) if "due" in event else 0
        if due and (self._script is None or self._sender.state != "SENDING"):
            raise Refused(BAD_REQUEST)
        if self._script is not None:
            self._script.due = due
        packets: list[Step] = []
        row, packet = self._sender.poll(at)
        while packet is not None:
            packets.append({**_slice_fields(packet), **summary(packet.data)})
            row, packet = self._sender.poll(at)
        return self._step(row, packets)

    def _step(self, row: str, packets: list[Step]) -> Step:
        sender = self._sender
        sending = sender.state == "SENDING"
        return {
            "row": row,
            "state": sender.state,
            "chunk_id": sender.chunk_id,
            "sent": sender.sent if sending else 0,
            "have": sender.have if sending else 0,
            "top": sender.top if sending else 0,
            "deadline_us": time(sender.deadline),
            "packets": packets,
        }


class _ReceiverTrace:
    def __init__(self, receiver: RepairReceiver) -> None:
        self._receiver = receiver

    def slice(self, at: int, event: Step) -> Step:
        names = ("chunk_id", "slice_id", "num_slices", "last_bytes")
        packet = RepairSlice(*(field(event, name, int) for name in names), data=b"")
        chunk_id, slice_id, k, last, _ = packet
        if not (0 <= chunk_id <= 0xFFFF and 1 <= k <= MAX_SLICES and 0 <= slice_id < MAX_IDS and 1 <= last <= SLICE_SIZE):
            raise Refused(BAD_REQUEST)
        if "fill" in event:
            data = bytes([number(event, "fill", 0, 255)]) * slice_bytes(slice_id, k, last)
        else:
            data = encoded(chunk_id, (k - 1) * SLICE_SIZE + last).slice(slice_id)
        return self._step(self._receiver.slice(at, packet._replace(data=data)), [])

    def read(self, at: int, event: Step) -> Step:
        row, chunk = self._receiver.read(at)
        outcome = {"error": "nothing_to_read"} if chunk is None else {"chunk": summary(chunk)}
        return {**self._step(row, []), **outcome}

    def poll(self, at: int, event: Step) -> Step:
        packets: list[Step] = []
        row, ack = self._receiver.poll(at)
        while ack is not None:
            packets.append(packet_fields(ack))
            row, ack = self._receiver.poll(at)
        return self._step(row, packets)

    def _step(self, row: str, packets: list[Step]) -> Step:
        receiver = self._receiver
        return {
            "row": row,
            "state": receiver.state,
            "chunk_id": receiver.chunk_id,
            "have": receiver.have,
            "top": receiver.top,
            "inconsistent": receiver.inconsistent,
            "deadline_us": time(receiver.deadline),
            "packets": packets,
        }


def _steps(request: Step, handlers: dict[str, Any]) -> Step:
    return {"steps": [{"event": position, **step} for position, step in enumerate(steps(request, handlers))]}


def _valid(packet: RepairPacket) -> None:
    """What is no packet cannot be an event (TRC-6)."""
    try:
        check_repair(packet)
    except Refused:
        raise Refused(BAD_REQUEST) from None


@lru_cache(maxsize=4)
def encoded(chunk_id: int, size: int) -> Encoded:
    """The chunk of TRC-1, and its repair slices."""
    return Encoded(content(chunk_id, 0, size))


def _need(valid: bool) -> None:
    if not valid:
        raise Refused("invalid_field")


def _protocol_id(request: Step) -> int:
    return number(request, "protocol_id", 0, (1 << 32) - 1)
