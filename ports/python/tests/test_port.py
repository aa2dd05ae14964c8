import json
import unittest
from typing import Any

from chunkwire.port import answer

SLICE = {"type": "slice", "chunk_id": 0, "slice_id": 0, "num_slices": 1, "data": "01"}
CONFIG = {"first_chunk_id": 0, "give_up_us": 10, "profile": None}
PROFILE = {"rate": 0, "cap": 1_066, "burst": 0, "acks_pay": True, "spacing_us": 0, "resend_delay_us": 0}
SUBMIT = {"at": 0, "event": "submit", "size": 2_000}
ENDPOINT = {
    "fragment_size": 4,
    "max_fragments": 4,
    "fragment_above": 4,
    "next_to_send": 0,
    "next_to_receive": 0,
}
RECEIVER = {"kind": "ordered", "window": 32, "data": 4, "group": 4, "first": 0, "give_up": 10**6}
SENDER = {"window": 32, "data": 4, "group": 4, "send_queue": 32, "first": 0, "give_up": 10**6}
ARRIVAL = {"at": 0, "event": "slice", "chunk_id": 0, "slice_id": 0, "num_slices": 1, "size": 5}


def error(line: str) -> tuple[Any, str]:
    response = answer(line.encode())
    return response["id"], response.get("error", "ok")


class PortTest(unittest.TestCase):
    """PRT-3 and what the section on traces wants of a request."""

    def assert_error(self, code: str, **fields: Any) -> None:
        with self.subTest(fields):
            self.assertEqual(error(json.dumps({"id": 5, **fields})), (5, code))

    def test_lines_that_are_no_requests(self) -> None:
        ids = ('{"id":"1"}', '{"id":1.0}', '{"id":true}', '{"id":NaN}')
        for line in ("", "{", "[]", "1", "null", "{}", "[" * 9_999, *ids):
            self.assertEqual(error(line), (None, "bad_request"))
        self.assertEqual(answer(b'{"id":1,"op":"\xff"}')["id"], None)

    def test_ops(self) -> None:
        self.assert_error("bad_request")
        self.assert_error("bad_request", op=1)
        self.assert_error("unsupported", op="encode_chunk")

    def test_encode(self) -> None:
        self.assert_error("ok", op="encode_body", packet=SLICE)
        for packet in ({}, None, 1, {**SLICE, "chunk_id": "0"}, {**SLICE, "data": "0"}, {**SLICE, "data": "AB"}):
            self.assert_error("bad_request", op="encode_body", packet=packet)
        for name in SLICE:
            self.assert_error("bad_request", op="encode_body", packet={k: v for k, v in SLICE.items() if k != name})
        for packet in (
            {**SLICE, "chunk_id": 1 << 70},
            {**SLICE, "type": "frame"},
            {"type": "ack", "chunk_id": 0, "acked": ""},
            {"type": "ack", "chunk_id": 0, "acked": "12"},
        ):
            self.assert_error("invalid_field", op="encode_body", packet=packet)
        self.assert_error("ok", op="encode_packet", packet=SLICE, protocol_id=(1 << 32) - 1)
        for protocol_id in (-1, 1 << 32, "1", 1.0, False, None):
            self.assert_error("bad_request", op="encode_packet", packet=SLICE, protocol_id=protocol_id)

    def test_decode(self) -> None:
        self.assert_error("truncated", op="decode_body", type="ack", hex="")
        self.assert_error("bad_request", op="decode_body", type="frame", hex="")
        self.assert_error("bad_request", op="decode_body", type="ack", hex="0A")
        self.assert_error("bad_request", op="decode_packet", hex="00")

    def test_sender(self) -> None:
        acked = {"at": 0, "event": "ack", "chunk_id": 0, "acked": "10"}
        poll = {"at": 0, "event": "poll", "due": [0, 1]}
        self.assert_error("ok", op="sender", config=CONFIG, events=[SUBMIT, poll, acked])
        self.assert_error("ok", op="sender", config=CONFIG, events=[SUBMIT, {**poll, "due": []}])
        for due in ([2], [-1], [0.0], [True], None, 0):
            self.assert_error("bad_request", op="sender", config=CONFIG, events=[SUBMIT, {**poll, "due": due}])
        self.assert_error("bad_request", op="sender", config=CONFIG, events=[poll])
        self.assert_error("bad_request", op="sender", config=CONFIG, events=[SUBMIT, poll, acked, poll])
        for bad in ({"size": 524_289}, {"size": -1}, {"at": -1}, {"at": 1 << 62}, {"at": None}, {"event": 1}):
            self.assert_error("bad_request", op="sender", config=CONFIG, events=[{**SUBMIT, **bad}])
        for bad in ("", "2", "0" * 257):
            self.assert_error("bad_request", op="sender", config=CONFIG, events=[{**acked, "acked": bad}])
        self.assert_error("unsupported", op="sender", config=CONFIG, events=[{"at": 0, "event": "read"}])
        self.assert_error("bad_request", op="sender", config=CONFIG, events=[1])

    def test_sender_config(self) -> None:
        for bad in ({"give_up_us": 0}, {"give_up_us": (1 << 61) + 1}, {"first_chunk_id": 65_536}, {"profile": 1}):
            self.assert_error("bad_request", op="sender", config={**CONFIG, **bad}, events=[])
        without = {k: v for k, v in CONFIG.items() if k != "profile"}
        self.assert_error("bad_request", op="sender", config=without, events=[])
        self.assert_error("ok", op="sender", config={**CONFIG, "profile": PROFILE}, events=[])
        for bad in (
            {"rate": 1_065},
            {"rate": 10**9 + 1},
            {"cap": 1_065},
            {"burst": 1_067},
            {"acks_pay": 1},
            {"spacing_us": -1},
            {"spacing_us": 10**9 + 1},
            {"resend_delay_us": -1},
            {"resend_delay_us": 10**9 + 1},
        ):
            self.assert_error("bad_request", op="sender", config={**CONFIG, "profile": {**PROFILE, **bad}}, events=[])
        due = {"at": 0, "event": "poll", "due": [0]}
        self.assert_error("bad_request", op="sender", config={**CONFIG, "profile": PROFILE}, events=[SUBMIT, due])

    def test_receiver(self) -> None:
        self.assert_error("ok", op="receiver", config=CONFIG, events=[ARRIVAL, {**ARRIVAL, "fill": 255}])
        for bad in ({"size": 0}, {"size": 1_025}, {"slice_id": 1}, {"chunk_id": -1}, {"fill": 256}, {"fill": None}):
            self.assert_error("bad_request", op="receiver", config=CONFIG, events=[{**ARRIVAL, **bad}])
        self.assert_error("unsupported", op="receiver", config=CONFIG, events=[SUBMIT])

    def test_packet_header(self) -> None:
        """PKF-4."""
        header = {"op": "packet_header", "sequence": 65_535, "ack": 65_535, "ack_bits": (1 << 32) - 1}
        self.assert_error("ok", **header)
        for bad in ({"sequence": 65_536}, {"ack": -1}, {"ack_bits": 1 << 32}, {"ack_bits": 1 << 70}):
            self.assert_error("invalid_field", **{**header, **bad})
        for bad in ({"sequence": "1"}, {"ack": None}, {"ack_bits": 1.0}, {"ack": True}):
            self.assert_error("bad_request", **{**header, **bad})
        self.assertEqual(answer(json.dumps({"id": 1, **header, "ack": -1}).encode())["at"], -1)

    def test_packet_decode(self) -> None:
        """PKO-3."""
        packet = {"op": "packet_decode", "fragment_size": 1_160, "max_fragments": 1, "hex": "20640001ff"}
        self.assert_error("ok", **packet)
        self.assert_error("empty_payload", **{**packet, "hex": "20640001"})
        for bad in (
            {"fragment_size": 0},
            {"fragment_size": 1_161},
            {"max_fragments": 0},
            {"max_fragments": 257},
            {"hex": "FF"},
            {"hex": None},
        ):
            self.assert_error("bad_request", **{**packet, **bad})

    def test_packet_endpoint(self) -> None:
        """PKO-4."""
        send = {"at": 0, "event": "send", "payload": "01"}
        self.assert_error("ok", op="packet_endpoint", config=ENDPOINT, events=[send, {"at": 0, "event": "poll"}])
        for bad in (
            {"fragment_size": 0},
            {"fragment_size": 5},
            {"fragment_above": 1_161},
            {"max_fragments": 1},
            {"max_fragments": 257},
            {"next_to_send": (1 << 32) + 1},
            {"next_to_receive": -1},
        ):
            self.assert_error("bad_request", op="packet_endpoint", config={**ENDPOINT, **bad}, events=[])
        for bad in ({"at": -1}, {"at": 1 << 62}, {"payload": "0"}, {"event": "receive"}, {"event": 1}):
            self.assert_error("bad_request", op="packet_endpoint", config=ENDPOINT, events=[send, {**send, **bad}])
        self.assert_error("unsupported", op="packet_endpoint", config=ENDPOINT, events=[{**send, "event": "read"}])

    def test_packet_congestion(self) -> None:
        """PKO-6."""
        event = {"at": 0, "srtt": None, "silent": False}
        config = {"profile": "article"}
        self.assert_error("ok", op="packet_congestion", config=config, events=[event, {**event, "min_rtt": 1 << 40}])
        for bad in (
            {"at": -1},
            {"srtt": -1},
            {"srtt": (1 << 40) + 1},
            {"min_rtt": None},
            {"min_rtt": (1 << 40) + 1},
            {"silent": 0},
        ):
            self.assert_error("bad_request", op="packet_congestion", config=config, events=[{**event, **bad}])
        self.assert_error("bad_request", op="packet_congestion", config=config, events=[{"at": 0, "silent": False}])
        for profile in ("GOOD", None, 1):
            self.assert_error("bad_request", op="packet_congestion", config={"profile": profile}, events=[])

    def test_records(self) -> None:
        """CHO-2, CHO-4, CHO-6."""
        message = {"type": "message", "channel": 63, "sequence": 0, "data": "61"}
        report = {"type": "report", "channel": 0, "base": 0, "room": 16_384, "groups": [[0, 0]]}
        self.assert_error("ok", op="records_encode", records=[message, report])
        self.assert_error("truncated", op="records_encode", records=[])
        self.assert_error("unknown_record", op="records_encode", records=[message, {"type": "ack"}])
        self.assert_error("unknown_record", op="records_encode", records=[{"type": "pad"}, message])
        for bad in (
            *({k: v for k, v in message.items() if k != name} for name in message),
            *({**report, "groups": groups} for groups in (None, [1], [[1]], [[1, 2, 3]], [[1, "2"]], [[1, True]])),
            {**message, "sequence": 1.0},
            {**message, "data": "6A"},
            1,
            None,
        ):
            self.assert_error("bad_request", op="records_encode", records=[{**message, "channel": 64}, bad])
        self.assert_error("bad_request", op="records_encode", records={})
        self.assert_error("bad_request", op="records_decode", hex="0")
        self.assert_error("truncated", op="records_decode", hex="")
        response = answer(json.dumps({"id": 1, "op": "records_encode", "records": [message, {"type": "ack"}]}).encode())
        self.assertEqual(response["at"], 7)

    def test_channel_report(self) -> None:
        """CHO-5, CHO-6."""
        report = {"op": "channel_report", "channel": 0, "base": 65_535, "room": 9, "missing": [65_535, 0, 8]}
        for code, fields in (
            ("group_start", {}),
            ("ok", {"room": 10}),
            ("ok", {"missing": []}),
            ("group_base", {"missing": [1]}),
            ("room", {"room": 16_385}),
            ("invalid_field", {"base": 65_536, "missing": []}),
            ("unknown_channel", {"channel": 64}),
            ("bad_request", {"missing": [65_535, 65_535]}),
            ("bad_request", {"missing": [0, 65_535]}),
            ("bad_request", {"missing": [65_536]}),
            ("bad_request", {"missing": ["0"]}),
            ("bad_request", {"missing": None}),
            ("bad_request", {"room": None}),
        ):
            self.assert_error(code, **{**report, **fields})

    def test_channel_receiver(self) -> None:
        """CHO-7, CHO-12."""
        record = {"at": 0, "event": "record", "hex": "02000000010061"}
        poll, path = {"at": 0, "event": "poll", "space": 65_535}, {"at": 0, "event": "path", "srtt": None}
        trace = {"op": "channel_receiver", "config": RECEIVER}
        read = {"at": 0, "event": "read"}
        self.assert_error("ok", **trace, events=[record, poll, path, {**path, "srtt": 1 << 40}, read])
        for bad in (
            {**record, "hex": "020100000100" + "61"},
            {**record, "hex": record["hex"] * 2},
            {**record, "hex": "00"},
            {**record, "hex": ""},
            {**record, "hex": "01000100" + "61"},
            {**record, "hex": "05000000000000"},
            {**record, "hex": "020000000500" + "00" * 5},
            {**record, "at": -1},
            {**poll, "space": 65_536},
            {**poll, "at": 1 << 62},
            {**path, "srtt": (1 << 40) + 1},
            {"at": 0, "event": "path"},
        ):
            self.assert_error("bad_request", **trace, events=[bad])
        self.assert_error("unsupported", **trace, events=[{"at": 0, "event": "send"}])
        for bad in ({"kind": "unreliable"}, {"kind": None}, {"window": 33}, {"data": 0}, {"group": 65}, {"give_up": 1}):
            self.assert_error("bad_request", op="channel_receiver", config={**RECEIVER, **bad}, events=[])

    def test_channel_sender(self) -> None:
        """CHO-9, CHO-12."""
        send = {"at": 0, "event": "send", "data": "61", "lifetime": None}
        poll = {"at": 0, "event": "poll", "number": 1 << 32, "space": 0}
        report = {"at": 0, "event": "report", "hex": "05000000000000", "number": 0, "ack": -1}
        path = {"at": 0, "event": "path", "srtt": None, "patience": 0}
        trace = {"op": "channel_sender", "config": SENDER}
        self.assert_error("ok", **trace, events=[send, poll, report, path, {**send, "data": "", "lifetime": 1 << 40}])
        for bad in (
            {"at": 0, "event": "send", "data": "61"},
            {**send, "lifetime": 0},
            {**send, "lifetime": (1 << 40) + 1},
            {**poll, "number": -1},
            {**poll, "number": (1 << 32) + 1},
            {**poll, "space": -1},
            {**report, "hex": "06000000"},
            {**report, "hex": "05010000000000"},
            {**report, "number": None},
            {**report, "ack": -2},
            {**path, "patience": None},
            {**path, "srtt": -1},
        ):
            self.assert_error("bad_request", **trace, events=[bad])
        self.assert_error("unsupported", **trace, events=[{"at": 0, "event": "read"}])
        for bad in ({"send_queue": 3}, {"send_queue": None}, {"first": -1}, {"window": 16}):
            self.assert_error("bad_request", op="channel_sender", config={**SENDER, **bad}, events=[])
