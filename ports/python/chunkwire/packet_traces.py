"""The operations of the port for the packet layer (spec/PACKETS.md, appendix C)."""

from __future__ import annotations

from typing import Any

from .congestion import PROFILES, Congestion
from .endpoint import MOST_ABOVE, MOST_FIRST, Config, Endpoint, Receipt, Verdict
from .estimates import LONGEST_SAMPLE
from .fields import BAD_REQUEST, LAST_TIME, field, hexadecimal, number, steps, time
from .packets import Fragment, Header, decode, encode_header
from .refused import Refused
from .seq import on_wire


Answer = dict[str, Any]


def packet_header(request: Answer) -> Answer:
    """PKF-4."""
    header = Header(*(field(request, name, int) for name in ("sequence", "ack", "ack_bits")))
    return {"hex": encode_header(header).hex()}


def packet_decode(request: Answer) -> Answer:
    """PKO-3."""
    size = number(request, "fragment_size", 1, MOST_ABOVE)
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
    """PKO-4."""
    trace = _EndpointTrace(_endpoint(request))
    return {"steps": steps(request, {"send": trace.send, "receive": trace.receive, "poll": trace.poll})}


def packet_estimates(request: Answer) -> Answer:
    """PKO-7."""
    trace = _EstimatesTrace(_endpoint(request))
    names = ("send", "receive", "poll", "quiet", "above")
    return {"steps": steps(request, {name: getattr(trace, name) for name in names})}


def _endpoint(request: Answer) -> Endpoint:
    config = field(request, "config", dict)
    size = number(config, "fragment_size", 1, MOST_ABOVE)
    most = number(config, "max_fragments", 2, 256)
    above = number(config, "fragment_above", size, MOST_ABOVE)
    first_sent, first_received = (number(config, name, 0, MOST_FIRST) for name in ("next_to_send", "next_to_receive"))
    limits = Config(size, most, above, first_sent=first_sent, first_received=first_received)
    return Endpoint(limits)


def packet_congestion(request: Answer) -> Answer:
    """PKO-6."""
    profile = field(field(request, "config", dict), "profile", str)
    if profile not in PROFILES:
        raise Refused(BAD_REQUEST)
    machine = Congestion(profile)
    answers = []
    for event in field(request, "events", list):
        if not isinstance(event, dict):
            raise Refused(BAD_REQUEST)
        at = number(event, "at", 0, LAST_TIME)
        srtt = None
        if "srtt" not in event or event["srtt"] is not None:
            srtt = number(event, "srtt", 0, LONGEST_SAMPLE)
        min_rtt = number(event, "min_rtt", 0, LONGEST_SAMPLE) if "min_rtt" in event else 0
        machine.evaluate(at, srtt, min_rtt, field(event, "silent", bool))
        answers.append({"mode": machine.mode.lower(), "recovery": machine.recovery})
    return {"steps": answers}


class _EndpointTrace:
    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint

    def send(self, at: int, event: Answer, quiet: bool = False) -> Answer:
        payload = hexadecimal(event, "payload")
        try:
            return self._step(self._endpoint.send(at, payload, quiet))
        except Refused as refused:
            return self._step([], error=refused)

    def receive(self, at: int, event: Answer) -> Answer:
        return self._received(self._endpoint.receive(at, hexadecimal(event, "datagram")))

    def _received(self, receipt: Receipt) -> Answer:
        delivered = None
        if receipt.number is not None and receipt.payload is not None:
            delivered = {"sequence": on_wire(receipt.number), "payload": receipt.payload.hex()}
        return self._step([], delivered, receipt.error)

    def poll(self, at: int, event: Answer) -> Answer:
        datagram = self._endpoint.poll(at)
        return self._step([] if datagram is None else [datagram])

    def _step(self, datagrams: list[bytes], delivered: Answer | None = None, error: Refused | None = None) -> Answer:
        """PKO-5."""
        happened = self._endpoint.take_events()
        return {
            "datagrams": [d.hex() for d in datagrams],
            "delivered": delivered,
            "acked": [on_wire(n) for name, n in happened if name == "acked"],
            "lost": [on_wire(n) for name, n in happened if name == "lost"],
            "refused": error and {"error": error.code, "at": error.place},
        }


SAYS: dict[str, Verdict] = {"take": "take", "quietly": "quiet", "refuse": "refuse"}


class _EstimatesTrace(_EndpointTrace):
    """With congestion avoidance (PKO-7)."""

    def __init__(self, endpoint: Endpoint) -> None:
        super().__init__(endpoint)
        self._congestion = Congestion()
        self._says: Verdict = "take"
        self._now = 0

    def send(self, at: int, event: Answer, quiet: bool = False) -> Answer:
        self._now = max(self._now, at)
        return super().send(at, event, quiet)

    def quiet(self, at: int, event: Answer) -> Answer:
        return self.send(at, event, quiet=True)

    def above(self, at: int, event: Answer) -> Answer:
        says = field(event, "says", str)
        if says not in SAYS:
            raise Refused(BAD_REQUEST)
        self._says = SAYS[says]
        return self._step([])

    def receive(self, at: int, event: Answer) -> Answer:
        self._now = max(self._now, at)
        receipt = self._endpoint.receive(at, hexadecimal(event, "datagram"), lambda *_: self._says)
        if receipt.sampled:
            self._evaluate()
        return self._received(receipt)

    def poll(self, at: int, event: Answer) -> Answer:
        self._now = max(self._now, at)
        datagram = self._endpoint.poll(at)
        self._evaluate()
        return self._step([] if datagram is None else [datagram])

    def _evaluate(self) -> None:
        trip = self._endpoint.round_trip
        self._congestion.evaluate(self._now, trip.srtt if trip.measured else None, trip.min_rtt, self._endpoint.silent)

    def _step(self, datagrams: list[bytes], delivered: Answer | None = None, error: Refused | None = None) -> Answer:
        """PKO-8."""
        e, now = self._endpoint, self._now
        trip, shown = e.round_trip, e.shown.figures
        known = {
            "srtt": trip.srtt if trip.measured else None,
            "jitter": trip.jitter,
            "latest": trip.latest,
            "min_rtt": trip.min_rtt,
            "patience": e.patience.at(now),
            "loss": e.loss.per_mille(now),
            "sent": e.bytes_sent.rate(now),
            "received": e.bytes_received.rate(now),
            "acked": e.bytes_acked.rate(now),
            "shown": shown and shown._asdict(),
            "mode": self._congestion.mode.lower(),
            "recovery": self._congestion.recovery,
            "deadline": time(min(e.deadline, self._congestion.deadline)),
        }
        return {**super()._step(datagrams, delivered, error), "estimates": known}
