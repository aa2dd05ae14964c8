"""The operations of the port for the packet layer (spec/PACKETS.md)."""

from __future__ import annotations

from typing import Any

from .congestion import PROFILES, Congestion
from .endpoint import LONGEST_DATAGRAM, Config, Endpoint
from .fields import BAD_REQUEST, LAST_TIME, field, hexadecimal, number, steps
from .packets import Fragment, Header, decode, encode_header
from .refused import Refused
from .seq import SPAN, on_wire

LONGEST_UDP = 65_535
LAST_NUMBER = (1 << 62) - 1

Answer = dict[str, Any]


def packet_header(request: Answer) -> Answer:
    sequence, ack = (number(request, name, 0, SPAN - 1) for name in ("sequence", "ack"))
    return {"hex": encode_header(Header(sequence, ack, number(request, "ack_bits", 0, (1 << 32) - 1))).hex()}


def packet_decode(request: Answer) -> Answer:
    size = number(request, "fragment_size", 1, LONGEST_UDP)
    most = number(request, "max_fragments", 1, 256)
    packet = decode(hexadecimal(request, "hex"), size, most)
    if not isinstance(packet, Fragment):
        return {"packet": {"kind": "regular", **packet.header._asdict(), "payload": packet.payload.hex()}}
    acks = {}
    if packet.header:
        acks = {"ack": packet.header.ack, "ack_bits": packet.header.ack_bits}
    return {
        "packet": {
            "kind": "fragment",
            "sequence": packet.sequence,
            "fragment_id": packet.fragment_id,
            "num_fragments": packet.num_fragments,
            **acks,
            "data": packet.data.hex(),
        }
    }


def packet_endpoint(request: Answer) -> Answer:
    config = field(request, "config", dict)
    size = number(config, "fragment_size", 1, LONGEST_DATAGRAM)
    most = number(config, "max_fragments", 2, 256)
    above = number(config, "fragment_above", size, LONGEST_DATAGRAM)
    counters = (number(config, name, 0, LAST_NUMBER) for name in ("next_to_send", "next_to_receive"))
    trace = _EndpointTrace(Endpoint(Config(size, most, above), *counters))
    return {"steps": steps(request, {"send": trace.send, "receive": trace.receive, "poll": trace.poll})}


def packet_congestion(request: Answer) -> Answer:
    profile = field(field(request, "config", dict), "profile", str)
    if profile not in PROFILES:
        raise Refused(BAD_REQUEST)
    machine = Congestion(profile)
    answers = []
    latest = 0
    for event in field(request, "events", list):
        if not isinstance(event, dict):
            raise Refused(BAD_REQUEST)
        latest = max(latest, number(event, "at", 0, LAST_TIME))
        srtt = None
        if "srtt" not in event or event["srtt"] is not None:
            srtt = number(event, "srtt", 0, LAST_TIME)
        machine.evaluate(latest, srtt, None, field(event, "silent", bool))
        answers.append({"mode": machine.mode.lower(), "recovery": machine.recovery})
    return {"steps": answers}


class _EndpointTrace:
    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint

    def send(self, at: int, event: Answer) -> Answer:
        payload = hexadecimal(event, "payload")
        try:
            return self._step(self._endpoint.send(at, payload))
        except Refused as refused:
            return self._step([], error=refused)

    def receive(self, at: int, event: Answer) -> Answer:
        receipt = self._endpoint.receive(at, hexadecimal(event, "datagram"))
        delivered = None
        if receipt.number is not None and receipt.payload is not None:
            delivered = {"sequence": on_wire(receipt.number), "payload": receipt.payload.hex()}
        return self._step([], delivered, receipt.error)

    def poll(self, at: int, event: Answer) -> Answer:
        datagram = self._endpoint.poll(at)
        return self._step([] if datagram is None else [datagram])

    def _step(self, datagrams: list[bytes], delivered: Answer | None = None, error: Refused | None = None) -> Answer:
        happened = self._endpoint.take_events()
        return {
            "datagrams": [d.hex() for d in datagrams],
            "delivered": delivered,
            "acked": [on_wire(n) for name, n in happened if name == "acked"],
            "lost": [on_wire(n) for name, n in happened if name == "lost"],
            "refused": error and {"error": error.code, "at": error.place},
        }
