"""Records of channels, and the groups of a report (spec/CHANNELS.md, sections 2.2, 3 and 5.5)."""

import random
import unittest

from chunkwire.channels import Channel
from chunkwire.records import (
    Fragment,
    Message,
    Pad,
    Report,
    Skip,
    Status,
    Unreliable,
    decode_records,
    encode_records,
    groups_of,
    is_quiet,
    size,
)
from chunkwire.refused import Refused
from chunkwire.seq import first_from, nearest, on_wire

CHANNELS = {1: Channel("ordered", window=512), 2: Channel("unordered", window=32, data=4), 3: Channel("unreliable")}
REPORT = Report(1, 65_530, 500, ((3, 0x140), (40, 0)))
EXAMPLES = (
    (Pad(), "00"),
    (Unreliable(3, b"hi"), "010302006869"),
    (Message(1, 513, b"abc"), "020101020300616263"),
    (Fragment(1, 65_535, 2, 3, b"z"), "0301ffff020201007a"),
    (Skip(1, 65_534, 4), "0401feff03"),
    (Report(1, 100, 512), "05016400000200"),
    (Status(1, 700), "0601bc02"),
    (REPORT, "0501fafff40102030040010000280000000000"),
)


class NumbersTest(unittest.TestCase):
    def test_table_of_the_document(self) -> None:
        """CHN-4."""
        for base, sequence, number in (
            (0, 0, 0),
            (0, 32_768, 32_768),
            (0, 32_769, -32_767),
            (0, 65_535, -1),
            (65_530, 2, 65_538),
            (65_530, 32_762, 98_298),
            (65_530, 32_763, 32_763),
            (65_538, 65_535, 65_535),
            (131_072, 65_000, 130_536),
        ):
            with self.subTest(base=base, sequence=sequence):
                self.assertEqual(nearest(sequence, base), number)

    def test_every_sequence(self) -> None:
        """CHN-4, CHN-5."""
        for base in (0, 65_530, 131_000):
            for ahead in range(-32_767, 32_769):
                self.assertEqual(nearest(on_wire(base + ahead), base), base + ahead)
            for ahead in (0, 1, 65_535):
                self.assertEqual(first_from(on_wire(base + ahead), base), base + ahead)


class RecordsTest(unittest.TestCase):
    def assert_refused(self, code: str, place: int, run, *arguments) -> None:
        with self.subTest(arguments):
            with self.assertRaises(Refused) as caught:
                run(*arguments, CHANNELS)
            self.assertEqual((caught.exception.code, caught.exception.place), (code, place))

    def test_examples_of_the_document(self) -> None:
        """CHR-8 to CHR-11."""
        for record, expected in EXAMPLES:
            with self.subTest(record):
                self.assertEqual(encode_records([record], CHANNELS).hex(), expected)
                decoded = decode_records(bytes.fromhex(expected), CHANNELS)
                self.assertEqual(decoded, [record])
                self.assertIs(type(decoded[0]), type(record))
                self.assertEqual(size(record), len(expected) // 2)
        records = [record for record, _ in EXAMPLES[1:]]
        payload = "".join(expected for _, expected in EXAMPLES[1:])
        self.assertEqual(encode_records(records, CHANNELS).hex(), payload)
        self.assertEqual(decode_records(bytes.fromhex(payload), CHANNELS), records)

    def test_what_a_report_names(self) -> None:
        """CHR-3."""
        self.assertEqual(sorted(REPORT.missing()), [0, 2, 9, 46])
        self.assertEqual(sorted(Report(1, 0, 512, ((32, 0xFFFFFFFF),)).missing()), list(range(33)))

    def test_decoder(self) -> None:
        """CHR-20 to CHR-35, in the order of the document."""
        for payload, code, place in (
            ("", "truncated", 0),
            ("0000", "unknown_record", 0),
            ("07", "unknown_record", 0),
            ("0601bc0200", "unknown_record", 4),
            ("06", "truncated", 1),
            ("0640", "unknown_channel", 1),
            ("0604", "unknown_channel", 1),
            ("0603", "channel_kind", 1),
            ("0101", "channel_kind", 1),
            ("060100", "truncated", 2),
            ("0103", "truncated", 2),
            ("01030000", "length", 2),
            ("0103020061", "truncated", 4),
            ("02010000", "truncated", 4),
            ("020100000000", "length", 4),
            ("020100000104", "length", 4),
            ("0202000005000000", "length", 4),
            ("02020000040000", "truncated", 6),
            ("0301000000", "truncated", 5),
            ("030100000000", "fragment_count", 5),
            ("030100000040", "fragment_count", 5),
            ("030200000020", "fragment_count", 5),
            ("030100000201", "fragment_index", 4),
            ("0301000001010000", "length", 6),
            ("03020000000103000000", "length", 6),
            ("03020000010105000000", "length", 6),
            ("04010000", "truncated", 4),
            ("050100000102", "room", 4),
            ("050200002100", "room", 4),
            ("05010000000221", "group_count", 6),
            ("05010000000201", "truncated", 7),
            ("050100000002010002", "group_start", 7),
            ("050100000002010100", "truncated", 9),
            ("050100000002010100020000", "truncated", 9),
            ("05010000000201010002000000", "group_bits", 9),
            ("05010000000201010000000000", "group_base", 7),
            ("05010000000201200000000000", "group_base", 7),
            ("05010000000202010001000000" + "2100", "group_order", 13),
            ("05010000000202010001000000" + "0002", "group_start", 13),
            ("05016400" + "0002" + "01" + "6300", "group_start", 7),
        ):
            self.assert_refused(code, place, decode_records, bytes.fromhex(payload))

    def test_encoder(self) -> None:
        """CHR-7, CHR-13."""
        ok = Status(1, 0)
        for code, place, *records in (
            ("truncated", 0),
            ("unknown_record", 4, ok, Pad()),
            ("unknown_record", 0, Pad(), ok),
            ("unknown_record", 4, ok, None),
            ("unknown_channel", 5, ok, Status(-1, 0)),
            ("unknown_channel", 5, ok, Status(64, 0)),
            ("channel_kind", 1, Unreliable(1, b"a")),
            ("length", 2, Unreliable(3, b"")),
            ("length", 2, Unreliable(3, bytes(65_536))),
            ("invalid_field", 2, Message(1, 65_536, b"")),
            ("length", 4, Message(1, 0, b"")),
            ("length", 4, Message(1, 0, bytes(1_025))),
            ("invalid_field", 2, Fragment(1, -1, 9, 1, b"")),
            ("fragment_count", 5, Fragment(1, 0, 9, 1, b"")),
            ("fragment_count", 5, Fragment(1, 0, 0, 65, b"")),
            ("fragment_index", 4, Fragment(1, 0, 2, 2, b"")),
            ("fragment_index", 4, Fragment(1, 0, -1, 2, b"")),
            ("length", 6, Fragment(2, 0, 0, 2, b"abc")),
            ("length", 6, Fragment(2, 0, 1, 2, b"abcde")),
            ("invalid_field", 2, Skip(1, 65_536, 0)),
            ("invalid_field", 4, Skip(1, 0, 0)),
            ("invalid_field", 4, Skip(1, 0, 257)),
            ("invalid_field", 2, Report(1, -1, 600)),
            ("room", 4, Report(1, 0, 513, ((0, 0),) * 33)),
            ("room", 4, Report(1, 0, -1)),
            ("group_count", 6, Report(1, 0, 512, ((0, 0),) * 33)),
            ("invalid_field", 7, Report(1, 0, 512, ((65_536, 0),))),
            ("group_start", 7, Report(1, 0, 512, ((512, 1 << 32),))),
            ("invalid_field", 9, Report(1, 0, 512, ((0, 1 << 32),))),
            ("group_bits", 9, Report(1, 0, 512, ((1, 2),))),
            ("group_base", 7, Report(1, 0, 512, ((1, 0),))),
            ("group_order", 13, Report(1, 0, 512, ((0, 0), (32, 0)))),
            ("invalid_field", 2, Status(1, 65_536)),
        ):
            self.assert_refused(code, place, encode_records, records)

    def test_accepts_only_what_it_would_encode(self) -> None:
        """CHR-6, CHR-12."""
        seed = random.randrange(1 << 32)
        source = random.Random(seed)
        taken = 0
        for _ in range(20_000):
            payload = bytearray(b"".join(bytes.fromhex(source.choice(EXAMPLES[1:])[1]) for _ in range(2)))
            for _ in range(source.randrange(3)):
                payload[source.randrange(len(payload))] = source.choice((0, 1, 2, 3, 64, source.randrange(256)))
            del payload[source.randrange(len(payload) * 4) + 1 :]
            try:
                records = decode_records(bytes(payload), CHANNELS)
            except Refused as refused:
                self.assertLessEqual(refused.place, len(payload), f"seed {seed}")
                continue
            taken += 1
            self.assertEqual(encode_records(records, CHANNELS), payload, f"seed {seed}")
        self.assertGreater(taken, 1_000, f"seed {seed}")

    def test_quiet(self) -> None:
        """CHR-4."""
        self.assertTrue(is_quiet([Pad()]))
        self.assertTrue(is_quiet([REPORT, REPORT]))
        self.assertFalse(is_quiet([REPORT, Status(1, 0)]))


class GroupsTest(unittest.TestCase):
    def test_every_small_set(self) -> None:
        """CHV-6, against its pseudo-code; the report that comes of it is one that a decoder takes."""
        seed = random.randrange(1 << 32)
        source = random.Random(seed)
        for _ in range(500):
            base, top = 65_500, 65_500 + source.randrange(1, 150)
            density = source.random()
            missing = [n for n in range(base, top) if n == base or source.random() < density]
            have = set(range(base, top)) - set(missing)
            groups = groups_of(missing)
            self.assertEqual(list(groups), pseudo_code(base, top, have), f"seed {seed}")
            report = Report(1, on_wire(base), 512, groups)
            self.assertEqual(decode_records(encode_records([report], CHANNELS), CHANNELS), [report], f"seed {seed}")
            self.assertEqual(sorted(base + d for d in report.missing()), missing, f"seed {seed}")

    def test_the_newest_are_left_out(self) -> None:
        self.assertEqual(groups_of([0, 33, 66, 99], most=2), ((0, 0), (33, 0)))
        self.assertEqual(groups_of([0], most=0), ())
        self.assertEqual(len(groups_of(range(0, 33 * 40, 33))), 32)


def pseudo_code(base: int, top: int, have: set[int]) -> list[tuple[int, int]]:
    groups: list[tuple[int, int]] = []
    n = top - 1
    while True:
        while n >= base and n in have:
            n -= 1
        if n < base:
            return groups
        bits = 0
        for i in range(32):
            if n - 1 - i >= base and n - 1 - i not in have:
                bits += 2**i
        groups.insert(0, (n % 65_536, bits))
        n -= 33
