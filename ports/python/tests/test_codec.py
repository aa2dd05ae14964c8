import unittest

from chunkwire import (
    MAX_ACK,
    MAX_DATAGRAM,
    Ack,
    Refused,
    Slice,
    decode_body,
    decode_packet,
    encode_body,
    encode_packet,
)
from chunkwire.codec import Packet, seal

PROTOCOL_ID = 0x11223344
BOUNDARIES: list[Packet] = [
    Slice(0, 0, 1, b"\x00"),
    Slice(65_535, 0, 1, bytes(1_024)),
    Slice(1, 0, 2, bytes(range(256)) * 4),
    Slice(1, 1, 2, b"\xff" * 1_023),
    Slice(7, 254, 256, b"\xff" * 1_024),
    Slice(7, 255, 256, b"\xff" * 1_024),
    Ack(0, 1, frozenset()),
    Ack(65_535, 1, frozenset({0})),
    *(Ack(1, n, frozenset(range(0, n, 2))) for n in (7, 8, 9, 15, 255, 256)),
    Ack(1, 256, frozenset(range(256))),
]


class CodecTest(unittest.TestCase):
    def assert_refused(self, code: str, place: int | None, function, *arguments) -> None:
        with self.assertRaises(Refused) as caught:
            function(*arguments)
        self.assertEqual((caught.exception.code, caught.exception.place), (code, place))

    def test_there_and_back(self) -> None:
        for packet in BOUNDARIES:
            with self.subTest(packet):
                self.assertEqual(decode_body(type(packet), encode_body(packet)), packet)
                self.assertEqual(decode_packet(PROTOCOL_ID, encode_packet(PROTOCOL_ID, packet)), packet)

    def test_sizes(self) -> None:
        self.assertEqual(len(encode_packet(0, Slice(0, 0, 2, bytes(1_024)))), 1_037)
        self.assertEqual(len(encode_packet(0, Slice(0, 1, 2, bytes(1_024)))), MAX_DATAGRAM)
        self.assertEqual(len(encode_packet(0, Slice(0, 0, 1, b"x"))), 15)
        self.assertEqual(len(encode_packet(0, Ack(0, 256, frozenset()))), MAX_ACK)

    def test_encoder_refuses(self) -> None:
        for packet in (
            Slice(-1, 0, 1, b"x"),
            Slice(65_536, 0, 1, b"x"),
            Slice(0, 0, 0, b"x"),
            Slice(0, 256, 257, b"x"),
            Slice(0, -1, 1, b"x"),
            Slice(0, 1, 1, b"x"),
            Slice(0, 0, 1, b""),
            Slice(0, 0, 1, bytes(1_025)),
            Slice(0, 0, 2, bytes(1_023)),
            Ack(-1, 1, frozenset()),
            Ack(0, 0, frozenset()),
            Ack(0, 257, frozenset()),
            Ack(0, 2, frozenset({2})),
            None,
        ):
            with self.subTest(packet):
                self.assert_refused("invalid_field", None, encode_body, packet)
                self.assert_refused("invalid_field", None, encode_packet, 0, packet)

    def test_decoder_refuses_along_the_wire(self) -> None:
        for kind, body, code, place in (
            (Slice, "", "truncated", 0),
            (Slice, "0100", "truncated", 16),
            (Slice, "010002", "truncated", 24),
            (Slice, "01000301", "slice_id_out_of_range", 16),
            (Slice, "0100020204", "truncated", 32),
            (Slice, "010002020404", "nonzero_padding", 42),
            (Slice, "010002020400" + "01020304", "truncated", 48),
            (Slice, "010002020400" + "010203040506", "trailing_data", 88),
            (Slice, "01000102" + "00" * 1_023, "truncated", 32),
            (Ack, "010007", "truncated", 24),
            (Ack, "010006ff", "nonzero_padding", 31),
            (Ack, "010006" + "7f" + "00", "trailing_data", 32),
        ):
            with self.subTest(body):
                self.assert_refused(code, place, decode_body, kind, bytes.fromhex(body))

    def test_decoder_refuses_frames(self) -> None:
        good = encode_packet(PROTOCOL_ID, Slice(1, 0, 1, b"x"))
        for datagram, code, place in (
            (b"", "truncated", 0),
            (good[:3], "truncated", 0),
            (good[:-1], "crc_mismatch", 0),
            (seal(PROTOCOL_ID, bytes(4)), "truncated", 32),
            (seal(PROTOCOL_ID, good[:-1]), "truncated", 88),
            (seal(PROTOCOL_ID, good[:-1] + b"\x98"), "bad_end_check", 88),
            (seal(PROTOCOL_ID, good + b"\x00"), "trailing_data", 120),
        ):
            with self.subTest(datagram):
                self.assert_refused(code, place, decode_packet, PROTOCOL_ID, datagram)
        self.assert_refused("crc_mismatch", 0, decode_packet, PROTOCOL_ID + 1, good)

    def test_accepts_only_what_it_would_encode(self) -> None:
        """LAW-2, for every single bit of a slice and an ack."""
        for packet in (Slice(1, 2, 3, b"12345"), Ack(0x1234, 9, frozenset({0, 8}))):
            datagram = encode_packet(PROTOCOL_ID, packet)
            for bit in range(32, 8 * len(datagram)):
                changed = bytearray(datagram)
                changed[bit // 8] ^= 1 << bit % 8
                sealed = seal(PROTOCOL_ID, bytes(changed))
                try:
                    decoded = decode_packet(PROTOCOL_ID, sealed)
                except Refused:
                    continue
                self.assertEqual(encode_packet(PROTOCOL_ID, decoded), sealed)
