"""The port contract of appendix B: a request a line on standard input, a response a line on standard output."""

from __future__ import annotations

import json
import sys
from typing import Any, Callable

from .channel_traces import channel_receiver, channel_report, channel_sender, records_decode, records_encode
from .codec import Ack, Packet, Slice, decode_body, decode_packet, encode_body, encode_packet
from .connection_traces import connection, connection_decode, connection_encode, connection_moves
from .fields import BAD_REQUEST, ack_from, bit_string, field, hexadecimal, number
from .packet_traces import packet_congestion, packet_decode, packet_endpoint, packet_estimates, packet_header
from .refused import Refused
from .repair_traces import (
    repair_decode,
    repair_encode,
    repair_rebuild,
    repair_receiver,
    repair_row,
    repair_sender,
    repair_slice,
)
from .session_traces import (
    session_client,
    session_cookie,
    session_decode,
    session_encode,
    session_keys,
    session_open,
    session_seal,
    session_server,
)
from .traces import receiver_trace, sender_trace


def main() -> None:
    """Answers until the end of input."""
    for line in sys.stdin.buffer:
        print(json.dumps(answer(line), separators=(",", ":")), flush=True)


def answer(line: bytes) -> dict[str, Any]:
    """The response to one line (PRT-1)."""
    request_id = op = None
    try:
        request = _parse(line)
        request_id = field(request, "id", int)
        op = field(request, "op", str)
        if op not in _OPS:
            raise Refused("unsupported")
        return {"id": request_id, "ok": True, **_OPS[op](request)}
    except Refused as refused:
        response = {"id": request_id, "ok": False, "error": refused.code}
        if op in _PLACED and refused.place is not None:
            response["at"] = refused.place
        return response


def _parse(line: bytes) -> dict[str, Any]:
    try:
        request = json.loads(line.decode(), parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise Refused(BAD_REQUEST) from None
    if not isinstance(request, dict):
        raise Refused(BAD_REQUEST)
    return request


def _no_constant(name: str) -> None:
    raise ValueError(name + " is not JSON")


def _encode_body(request: dict[str, Any]) -> dict[str, Any]:
    return {"hex": encode_body(_packet(request)).hex()}


def _decode_body(request: dict[str, Any]) -> dict[str, Any]:
    kind = _KINDS.get(field(request, "type", str))
    if kind is None:
        raise Refused(BAD_REQUEST)
    return {"packet": _packet_fields(decode_body(kind, hexadecimal(request, "hex")))}


def _encode_packet(request: dict[str, Any]) -> dict[str, Any]:
    return {"hex": encode_packet(_protocol_id(request), _packet(request)).hex()}


def _decode_packet(request: dict[str, Any]) -> dict[str, Any]:
    return {"packet": _packet_fields(decode_packet(_protocol_id(request), hexadecimal(request, "hex")))}


def _protocol_id(request: dict[str, Any]) -> int:
    return number(request, "protocol_id", 0, (1 << 32) - 1)


def _packet(request: dict[str, Any]) -> Packet:
    """PRT-2."""
    source = field(request, "packet", dict)
    kind = _KINDS.get(field(source, "type", str))
    if kind is None:
        raise Refused("invalid_field")  # ENC-6
    if kind is Ack:
        return ack_from(source)
    ids = (field(source, name, int) for name in ("chunk_id", "slice_id", "num_slices"))
    return Slice(*ids, data=hexadecimal(source, "data"))


def _packet_fields(packet: Packet) -> dict[str, Any]:
    if isinstance(packet, Slice):
        return {"type": "slice", **packet._asdict(), "data": packet.data.hex()}
    return {"type": "ack", "chunk_id": packet.chunk_id, "acked": bit_string(packet.acked, packet.num_slices)}


_KINDS: dict[str, type[Packet]] = {"slice": Slice, "ack": Ack}

_OPS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "encode_body": _encode_body,
    "decode_body": _decode_body,
    "encode_packet": _encode_packet,
    "decode_packet": _decode_packet,
    "sender": sender_trace,
    "receiver": receiver_trace,
    "repair_row": repair_row,
    "repair_slice": repair_slice,
    "repair_rebuild": repair_rebuild,
    "repair_encode": repair_encode,
    "repair_decode": repair_decode,
    "repair_sender": repair_sender,
    "repair_receiver": repair_receiver,
    "packet_header": packet_header,
    "packet_decode": packet_decode,
    "packet_endpoint": packet_endpoint,
    "packet_estimates": packet_estimates,
    "packet_congestion": packet_congestion,
    "records_encode": records_encode,
    "records_decode": records_decode,
    "channel_report": channel_report,
    "channel_receiver": channel_receiver,
    "channel_sender": channel_sender,
    "session_encode": session_encode,
    "session_decode": session_decode,
    "session_seal": session_seal,
    "session_open": session_open,
    "session_keys": session_keys,
    "session_cookie": session_cookie,
    "session_client": session_client,
    "session_server": session_server,
    "connection_encode": connection_encode,
    "connection_decode": connection_decode,
    "connection": connection,
    "connection_moves": connection_moves,
}

_PLACED = frozenset(
    {"packet_header", "packet_decode", "records_encode", "records_decode", "channel_report"}
    | {"session_encode", "session_decode", "session_seal", "session_open", "session_keys", "session_cookie", "connection_encode", "connection_decode"}
)
"""Where a refusal has its place in bytes (PKO-2, CHO-2, CXO-2)."""
