"""Numbers, headers, packets and fragments (spec/PACKETS.md, sections 3 and 4)."""

import random
import unittest

from chunkwire.packets import Fragment, Header, Regular, decode, encode_header, encode_packet
from chunkwire.refused import Refused
from chunkwire.seq import newest, number_from, on_wire

FULL = 0xFFFFFFFF


def decode_hex(datagram: str, fragment_size: int = 4, max_fragments: int = 4):
    return decode(bytes.fromhex(datagram), fragment_size, max_fragments)


class NumbersTest(unittest.TestCase):
    def test_table_of_the_document(self) -> None:
        """PKS-2, with RECEIVED 256."""
        for following, sequence, number in (
            (0, 0, 0),
            (0, 65_535, None),
            (0, 32_511, 32_511),
            (0, 32_512, None),
            (100, 65_500, None),
            (65_530, 2, 65_538),
            (65_538, 65_290, 65_290),
            (65_538, 65_281, None),
        ):
            with self.subTest(following=following, sequence=sequence):
                self.assertEqual(number_from(sequence, following - 256), number)

    def test_every_sequence(self) -> None:
        low = 2 * 65_536 - 100
        for distance in range(65_536):
            expected = low + distance if distance < 32_768 else None
            self.assertEqual(number_from(on_wire(low + distance), low), expected)

    def test_newest_up_to_the_last(self) -> None:
        """PKS-3."""
        for last in (0, 5, 65_535, 65_536, 1 << 32):
            self.assertEqual(newest(on_wire(last), last), last)
            self.assertEqual(newest(on_wire(last - 65_535), last), last - 65_535)
            self.assertEqual(newest(on_wire(last + 1), last), last - 65_535)


class HeaderTest(unittest.TestCase):
    def test_examples_of_the_document(self) -> None:
        for header, expected in (
            (Header(0, 65_535, 0), "3e00000100000000"),
            (Header(100, 99, FULL), "20640001"),
            (Header(0, 99, FULL), "0000006300"),
            (Header(255, 0, FULL), "20ff00ff"),
            (Header(256, 0, FULL), "0000010000"),
            (Header(2, 65_283, FULL), "200200ff"),
            (Header(2, 65_282, FULL), "00020002ff"),
            (Header(5, 5, 0xFFFFFF7F), "220500007f"),
            (Header(1_000, 999, 0xFF00FFFF), "28e8030100"),
            (Header(1_000, 999, 0x80000000), "3ee8030100000080"),
            (Header(40_000, 39_000, 0xFFFFFFFE), "02409c5898fe"),
            (Header(65_535, 32_767, 0), "1effffff7f00000000"),
        ):
            with self.subTest(header):
                self.assertEqual(encode_header(header).hex(), expected)
                self.assertEqual(decode_hex(expected + "aa"), Regular(header, b"\xaa"))

    def test_what_no_field_holds(self) -> None:
        """PKF-4."""
        for header in (Header(65_536, 0, 0), Header(-1, 0, 0), Header(0, 65_536, 0), Header(0, 0, 1 << 32)):
            with self.assertRaises(Refused) as caught:
                encode_header(header)
            self.assertEqual((caught.exception.code, caught.exception.place), ("invalid_field", -1))


class PacketTest(unittest.TestCase):
    header = Header(7, 6, 2)

    def test_fragments_of_the_document(self) -> None:
        """3.4."""
        payload = bytes(range(1, 11))
        datagrams = encode_packet(self.header, payload, 4, 4)
        self.assertEqual(
            [d.hex() for d in datagrams],
            ["01070000023e0700010200000001020304", "010700010205060708", "0107000202090a"],
        )
        fragments = [decode(d, 4, 4) for d in datagrams]
        self.assertEqual([f.header for f in fragments], [self.header, None, None])
        self.assertEqual(b"".join(f.data for f in fragments), payload)

    def test_sizes(self) -> None:
        """PKF-1, F-17: the number of fragments is rounded up."""
        for size, count in ((1, 1), (4, 1), (5, 1), (6, 2), (8, 2), (9, 3), (12, 3), (13, 4), (16, 4)):
            datagrams = encode_packet(self.header, bytes(size), 4, 5)
            self.assertEqual(len(datagrams), count)
            for datagram in datagrams:
                decode(datagram, 4, 4)

    def test_256_fragments(self) -> None:
        """F-22."""
        last = decode(encode_packet(self.header, bytes(256), 1, 1)[-1], 1, 256)
        self.assertEqual((last.fragment_id, last.num_fragments), (255, 256))

    def test_refusals(self) -> None:
        """PKD-1 to PKD-14, in the order of the document."""
        for datagram, code, place in (
            ("", "truncated", 0),
            ("40", "reserved_bits", 0),
            ("80", "reserved_bits", 0),
            ("03", "reserved_bits", 0),
            ("21", "reserved_bits", 0),
            ("20", "truncated", 1),
            ("2064", "truncated", 1),
            ("206400", "truncated", 3),
            ("00640063", "truncated", 3),
            ("0064006300", "not_minimal", 3),
            ("00640065ff", "not_minimal", 3),
            ("22640001", "truncated", 4),
            ("22640001ff", "not_minimal", 4),
            ("2664000100", "truncated", 5),
            ("2664000100ff", "not_minimal", 5),
            ("20640001", "empty_payload", 4),
            ("20640001" + "00" * 17, "too_large", 4),
            ("01", "truncated", 1),
            ("0107", "truncated", 1),
            ("010700", "truncated", 3),
            ("01070005", "truncated", 4),
            ("0107000504", "too_many_fragments", 4),
            ("0107000100", "single_fragment", 4),
            ("0107000302090a", "fragment_id_out_of_range", 3),
            ("0107000002", "truncated", 5),
            ("01070000027e", "reserved_bits", 5),
            ("010700000221", "reserved_bits", 5),
            ("01070000023e", "truncated", 6),
            ("01070000023e07", "truncated", 6),
            ("01070000023e0700", "truncated", 8),
            ("01070000020007000600", "not_minimal", 8),
            ("010700000222070001ff", "not_minimal", 9),
            ("010700000220080001", "sequence_mismatch", 6),
            ("01070000022008000101020304", "sequence_mismatch", 6),
            ("010700000222080001ff", "not_minimal", 9),
            ("010700000220070001" + "010203", "fragment_size", 9),
            ("010700000220070001" + "0102030405", "fragment_size", 9),
            ("0107000102" + "010203", "fragment_size", 5),
            ("0107000202", "fragment_size", 5),
            ("0107000202" + "0102030405", "fragment_size", 5),
        ):
            with self.subTest(datagram):
                with self.assertRaises(Refused) as caught:
                    decode_hex(datagram)
                self.assertEqual((caught.exception.code, caught.exception.place), (code, place))

    def test_accepts_only_what_it_would_encode(self) -> None:
        """PKT-4: what decodes is its own encoding."""
        seed = random.randrange(1 << 32)
        source = random.Random(seed)
        taken = 0
        for _ in range(5_000):
            datagram = bytearray(source.randbytes(source.randrange(5, 14)))
            datagram[0] = source.choice((0x01, 0x00, 0x20, 0x22, 0x3E))
            datagram[4] &= 3
            try:
                packet = decode(bytes(datagram), 4, 4)
            except Refused:
                continue
            taken += 1
            if isinstance(packet, Regular):
                again = encode_header(packet.header) + packet.payload
            else:
                ids = bytes([packet.fragment_id, packet.num_fragments - 1])
                head = encode_header(packet.header) if packet.header else b""
                again = b"\x01" + packet.sequence.to_bytes(2, "little") + ids + head + packet.data
            self.assertEqual(again, datagram, f"seed {seed}")
        self.assertGreater(taken, 100, f"seed {seed}")

    def test_one_bit_changed(self) -> None:
        """PKT-4, for every bit of a header and a first fragment."""
        for datagram in (encode_header(self.header) + b"hi", encode_packet(self.header, bytes(9), 4, 4)[0]):
            for bit in range(8 * len(datagram)):
                changed = bytearray(datagram)
                changed[bit // 8] ^= 1 << bit % 8
                try:
                    packet = decode(bytes(changed), 4, 4)
                except Refused:
                    continue
                header = packet.header
                self.assertIsNotNone(header)
                start = 0 if isinstance(packet, Regular) else 5
                self.assertEqual(encode_header(header), changed[start : start + len(encode_header(header))])


class FragmentTest(unittest.TestCase):
    def test_only_the_first_has_a_header(self) -> None:
        self.assertEqual(decode_hex("0107000102" + "01020304"), Fragment(7, 1, 3, b"\1\2\3\4"))
