"""The endpoint (spec/PACKETS.md, sections 5 to 7 and 10). F-1 to F-26 are the faults of section 3.4 of RATIONALE.md."""

import random
import unittest

from chunkwire import NEVER, Config, Endpoint, Receipt, Refused
from chunkwire.packets import Header, decode, encode_header, encode_packet

MS = 1_000
SECOND = 1_000_000
SMALL = Config(fragment_size=4, max_fragments=4, fragment_above=4)


def regular(sequence: int, acks: tuple[int, int] = (65_535, 0), payload: bytes = b"hi") -> bytes:
    """A packet of a peer, with its ack and ack bits."""
    return encode_header(Header(sequence % 65_536, *acks)) + payload


def fragments(sequence: int, size: int, acks: tuple[int, int] = (65_535, 0)) -> list[bytes]:
    """The fragments of a packet of a peer with the limits SMALL."""
    return encode_packet(Header(sequence % 65_536, *acks), bytes(range(1, size + 1)), 4, 4)


class EndpointTest(unittest.TestCase):
    def assert_refused(self, receipt: Receipt, row: str, code: str, place: int = -1) -> None:
        self.assertIsNotNone(receipt.error)
        self.assertEqual((receipt.row, receipt.error.code, receipt.error.place), (row, code, place))

    def assert_sends(self, end: Endpoint, now: int, expected: Header) -> None:
        self.assertEqual(decode(end.send(now, b"x")[0], 4, 4).header, expected)


class ReceivingTest(EndpointTest):
    def test_a_packet_and_its_copy(self) -> None:
        """F-4."""
        end = Endpoint(SMALL)
        self.assertEqual(end.receive(0, regular(0)), Receipt("P6", 0, b"hi"))
        self.assert_refused(end.receive(1, regular(0)), "P3", "duplicate")
        self.assertEqual(end.refused, {"duplicate": 1})

    def test_what_does_not_decode(self) -> None:
        """F-11: a datagram of no bytes is refused like others."""
        end = Endpoint(SMALL)
        self.assert_refused(end.receive(0, b""), "P1", "truncated", 0)
        self.assert_refused(end.receive(0, regular(0, payload=b"")), "P1", "empty_payload", 8)
        self.assertEqual(end.deadline, NEVER)

    def test_nothing_is_before_the_first(self) -> None:
        end = Endpoint(SMALL)
        self.assert_refused(end.receive(0, regular(65_535)), "P2", "stale")
        self.assert_refused(end.receive(0, regular(32_512)), "P2", "stale")
        self.assertEqual(end.receive(0, regular(32_511)).row, "P6")
        self.assert_refused(end.receive(0, regular(32_511 - 256)), "P2", "stale")
        self.assertEqual(end.receive(0, regular(32_512 - 256)).row, "P6")

    def test_wraps(self) -> None:
        """F-12, F-15, F-21: across the wrap each seventh packet is lost, and each other is taken once."""
        end = Endpoint(SMALL._replace(first_received=60_000))
        for number in range(60_000, 72_000):
            if number % 7 == 0:
                continue
            self.assertEqual(end.receive(number, regular(number)).number, number)
            if number % 1_000 == 1:
                self.assert_refused(end.receive(number, regular(number)), "P3", "duplicate")

    def test_out_of_order(self) -> None:
        end = Endpoint(SMALL)
        for number in (5, 3, 4):
            self.assertEqual(end.receive(0, regular(number)).row, "P6")
        self.assert_sends(end, 0, Header(0, 5, 0b111))

    def test_what_is_kept_is_bounded(self) -> None:
        end = Endpoint(SMALL._replace(received=64, reassembly=32))
        for number in range(0, 2_000, 2):
            end.receive(number * 100 * MS, regular(number))
            end.receive(number * 100 * MS, fragments(number + 1, 8)[0])
        self.assertLessEqual(len(end._received), 64)
        self.assertLessEqual(len(end._dead), 64)

    def test_a_jump_over_the_whole_window_leaves_nothing(self) -> None:
        """PKR-3."""
        end = Endpoint(SMALL)
        for number in range(40):
            end.receive(0, regular(number))
        end.receive(0, regular(20_000))
        self.assert_sends(end, 0, Header(0, 20_000, 1))

    def test_a_refused_payload_may_come_again(self) -> None:
        """P5, PKR-4."""
        end = Endpoint(SMALL)
        end.send(0, b"x")
        self.assert_refused(end.receive(0, regular(0, (0, 1)), lambda *_: "refuse"), "P5", "refused")
        self.assertEqual((end.take_events(), end.deadline), ([], SECOND))
        self.assert_sends(end, 0, Header(1, 65_535, 0))
        self.assertEqual(end.receive(0, regular(0, (0, 1))).row, "P6")
        self.assertEqual(end.take_events(), [("acked", 0)])

    def test_what_the_layer_above_is_asked(self) -> None:
        end = Endpoint(SMALL)
        asked = []
        above = lambda *packet: asked.append(packet) or "take"
        end.receive(0, regular(3), above)
        end.send(0, b"x")
        end.receive(0, regular(4, (0, 0)), above)
        for datagram in reversed(fragments(5, 5, (65_535, 0))):
            end.receive(0, datagram, above)
        self.assertEqual(asked, [(3, b"hi", None), (4, b"hi", 0), (5, b"\1\2\3\4\5", None)])


class ReassemblyTest(EndpointTest):
    def test_trace_of_the_document(self) -> None:
        """5.3."""
        end = Endpoint(SMALL)
        first, second, third = fragments(0, 10)
        self.assertEqual(end.receive(0, second).row, "P11")
        self.assert_sends(end, 1 * MS, Header(0, 0, 0))
        self.assertEqual(end.receive(2 * MS, first).row, "P11")
        self.assert_refused(end.receive(3 * MS, first), "P9", "fragment_duplicate")
        self.assert_refused(end.receive(4 * MS, fragments(0, 16)[1]), "P8", "fragment_count")
        self.assertEqual(end.receive(5 * MS, third), Receipt("P13", 0, bytes(range(1, 11))))
        self.assert_refused(end.receive(6 * MS, third), "P3", "duplicate")
        self.assert_sends(end, 7 * MS, Header(1, 0, 1))
        late = fragments(1, 8)
        self.assertEqual(end.receive(10 * MS, late[0]).row, "P11")
        self.assertEqual(end.deadline, SECOND + 1 * MS)
        end.poll(1_010 * MS)
        self.assert_refused(end.receive(1_010 * MS, late[1]), "P4", "dead")
        self.assert_refused(end.receive(1_010 * MS, regular(1)), "P4", "dead")

    def test_any_order(self) -> None:
        """F-1, F-20."""
        for order in ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)):
            end = Endpoint(SMALL)
            datagrams = fragments(9, 9, (65_535, 0))
            receipts = [end.receive(0, datagrams[i]) for i in order]
            self.assertEqual([r.row for r in receipts], ["P11", "P11", "P13"])
            self.assertEqual(receipts[-1].payload, bytes(range(1, 10)))

    def test_the_time_limit_holds_without_a_poll(self) -> None:
        """PKX-2, step 5."""
        end = Endpoint(SMALL)
        end.receive(0, fragments(0, 8)[0])
        end.receive(0, fragments(1, 8)[0])
        self.assertEqual(end.receive(SECOND - 1, fragments(0, 8)[1]).row, "P13")
        self.assert_refused(end.receive(SECOND, fragments(1, 8)[1]), "P4", "dead")

    def test_one_window_for_both_kinds(self) -> None:
        """F-6, F-7, F-23."""
        end = Endpoint(SMALL)
        end.receive(0, fragments(0, 8)[0])
        end.receive(0, fragments(1, 8)[0])
        end.receive(0, regular(64))
        self.assert_refused(end.receive(0, fragments(0, 8)[1]), "P7", "stale")
        self.assertEqual(end.receive(0, fragments(1, 8)[1]).row, "P13")

    def test_what_leaves_the_window_is_dropped(self) -> None:
        end = Endpoint(SMALL)
        end.receive(0, fragments(0, 8)[0])
        end.receive(0, regular(63, payload=b"\0"))
        self.assertEqual(end.deadline, SECOND)
        end.receive(0, regular(64, payload=b"\0"))
        self.assertEqual(end.deadline, NEVER)

    def test_a_regular_packet_of_the_same_number(self) -> None:
        """P6."""
        end = Endpoint(SMALL)
        end.receive(0, fragments(0, 8)[0])
        self.assertEqual(end.receive(0, regular(0, payload=b"\0")).row, "P6")
        self.assert_refused(end.receive(0, fragments(0, 8)[1]), "P3", "duplicate")
        self.assertEqual(end.deadline, NEVER, "no reassembly is left")

    def test_the_oldest_makes_room(self) -> None:
        """PKX-3: eight packets at once."""
        end = Endpoint(SMALL)
        for number in range(1, 9):
            end.receive(0, fragments(number, 8)[0])
        self.assert_refused(end.receive(0, fragments(0, 8)[0]), "P10", "reassembly_full")
        self.assertEqual(end.receive(0, fragments(9, 8)[0]).row, "P11")
        self.assert_refused(end.receive(0, fragments(1, 8)[1]), "P4", "dead")
        self.assertEqual(end.receive(0, fragments(2, 8)[1]).row, "P13")

    def test_room_is_made_before_the_window_moves(self) -> None:
        """PKR-2."""
        end = Endpoint(SMALL)
        for number in range(8):
            end.receive(0, fragments(number, 8)[0])
        end.receive(0, fragments(70, 8)[0])
        self.assert_refused(end.receive(0, fragments(0, 8)[1]), "P4", "dead")
        self.assert_refused(end.receive(0, fragments(1, 8)[1]), "P7", "stale")

    def test_bytes_are_bounded(self) -> None:
        """PKX-3, F-9: the last fragment of a packet needs no room."""
        end = Endpoint(SMALL._replace(reassembly_bytes=16))
        first, second, third = fragments(5, 9), fragments(6, 9), fragments(4, 9)
        for datagram in (first[0], first[1], second[0], second[1]):
            self.assertEqual(end.receive(0, datagram).row, "P11")
        self.assert_refused(end.receive(0, third[0]), "P10", "reassembly_full")
        self.assertEqual(end.receive(0, first[2]).row, "P13")
        self.assertEqual(end.receive(0, third[0]).row, "P11")
        self.assertEqual(end.receive(0, third[1]).row, "P11")
        self.assertEqual(end.receive(0, fragments(7, 16)[0]).row, "P11")
        self.assert_refused(end.receive(0, third[2]), "P4", "dead")

    def test_the_bytes_of_the_packet_itself_count(self) -> None:
        """PKX-3."""
        end = Endpoint(SMALL._replace(reassembly_bytes=16))
        for number in (1, 2):
            for datagram in fragments(number, 16)[:2]:
                end.receive(0, datagram)
        self.assert_refused(end.receive(0, fragments(1, 16)[2]), "P10", "reassembly_full")
        self.assertEqual(end.receive(0, fragments(2, 16)[2]).row, "P11")
        self.assert_refused(end.receive(0, fragments(1, 16)[2]), "P4", "dead")

    def test_a_refused_packet_may_come_again(self) -> None:
        """P12."""
        end = Endpoint(SMALL)
        datagrams = fragments(0, 8)
        end.receive(0, datagrams[0])
        self.assert_refused(end.receive(0, datagrams[1], lambda *_: "refuse"), "P12", "refused")
        self.assertEqual([end.receive(0, d).row for d in datagrams], ["P11", "P13"])


class AcksTest(EndpointTest):
    def test_trace_of_the_document(self) -> None:
        """Section 8."""
        end = Endpoint(SMALL)
        for at in (0, 33_333, 66_666):
            end.send(at, b"x")
        receipt = end.receive(100 * MS, regular(0, (0, 1)))
        self.assertEqual((receipt.sampled, end.take_events()), (True, [("acked", 0)]))
        self.assertIsNone(end.poll(119_999))
        self.assertEqual(end.poll(120 * MS).hex(), "3e0300030100000000")
        self.assertTrue(end.receive(180 * MS, regular(1, (2, 0b101))).sampled)
        self.assertEqual(end.take_events(), [("acked", 2)])
        self.assertEqual((end.round_trip.srtt, end.round_trip.jitter), (101_333, 833))
        end.send(190 * MS, b"x")
        end.poll(1_033_333)
        self.assertEqual(end.take_events(), [("lost", 1)])
        self.assertFalse(end.receive(1_050 * MS, regular(2, (2, 0b111))).sampled)
        self.assertEqual(end.take_events(), [("acked", 1)])
        self.assert_refused(end.receive(1_060 * MS, regular(2, (2, 0b111))), "P3", "duplicate")
        end.receive(1_060 * MS, regular(3, (9, 1)))
        self.assertEqual(end.take_events(), [])
        self.assertIsNotNone(end.poll(1_070 * MS))
        end.poll(1_190 * MS)
        self.assertEqual((end.take_events(), end.silent), ([("lost", 4)], True))

    def test_nothing_received_acks_nothing(self) -> None:
        """F-19."""
        one, other = Endpoint(SMALL), Endpoint(SMALL)
        one.send(0, b"x")
        one.receive(1, other.send(0, b"y")[0])
        self.assertEqual(one.take_events(), [])

    def test_order_of_events(self) -> None:
        end = Endpoint(SMALL)
        for _ in range(40):
            end.send(0, b"x")
        end.receive(0, regular(0, (39, 0xFFFFFFFF)))
        self.assertEqual(end.take_events(), [("acked", n) for n in range(39, 7, -1)])

    def test_every_sixteenth_packet_is_answered_at_once(self) -> None:
        """PKR-1, PKA-3."""
        end = Endpoint(SMALL)
        for number in range(15):
            end.receive(number, regular(number))
        self.assertEqual(end.deadline, 20 * MS)
        end.receive(15, regular(15))
        self.assertEqual(end.deadline, 15)
        self.assertIsNotNone(end.poll(15))
        self.assertIsNone(end.poll(21 * MS))
        end.receive(30 * MS, regular(16))
        self.assertEqual(end.deadline, 50 * MS, "counted from the last packet sent")

    def test_quiet_packets_draw_no_answer(self) -> None:
        """PKR-7, PKT-LIVE-5."""
        end = Endpoint(SMALL)
        end.receive(0, regular(0, payload=b"\0"))
        end.receive(0, regular(1), lambda *_: "quiet")
        self.assertEqual(end.deadline, NEVER)

    def test_packets_that_ask_for_no_ack_are_never_lost(self) -> None:
        """PKL-4, L9, L10."""
        end = Endpoint(SMALL)
        end.send(0, b"\0")
        end.send(0, b"x", quiet=True)
        self.assertEqual(end.deadline, 4 * SECOND)
        end.poll(SECOND)
        self.assertEqual((end.take_events(), end.silent, end.loss.per_mille(2 * SECOND)), ([], False, None))
        self.assertFalse(end.receive(SECOND, regular(0, (1, 1))).sampled)
        self.assertEqual(end.take_events(), [("acked", 1)])
        end.poll(4 * SECOND)
        end.receive(4 * SECOND, regular(1, (1, 0b11)))
        self.assertEqual(end.take_events(), [])


class EstimatesTest(EndpointTest):
    """PKL-8, PKE-1, PKE-4 to PKE-7, of one conversation."""

    def test_only_ack_itself_gives_a_sample(self) -> None:
        end = Endpoint(SMALL)
        end.send(0, b"x")
        end.send(50 * MS, b"x")
        end.receive(100 * MS, regular(0, (1, 0b11)))
        self.assertEqual((end.round_trip.latest, end.round_trip.srtt), (50 * MS, 50 * MS))
        self.assertEqual((end.shown.figures.min, end.shown.figures.max), (50 * MS, 100 * MS))

    def test_patience_from_what_was_overtaken_by_two(self) -> None:
        end = Endpoint(SMALL)
        for _ in range(4):
            end.send(0, b"x")
        end.receive(80 * MS, regular(0, (2, 1)))
        end.receive(80 * MS, regular(1, (2, 0b11)))
        self.assertEqual(end.patience.at(80 * MS), 0, "number 1 was overtaken by one")
        end.receive(80 * MS, regular(2, (2, 0b101)))
        self.assertEqual(end.patience.at(80 * MS), 90 * MS)

    def test_a_late_ack_leaves_the_loss_as_it_is(self) -> None:
        end = Endpoint(SMALL)
        for _ in range(2):
            end.send(0, b"x")
        end.poll(SECOND)
        end.receive(SECOND, regular(0, (1, 0b11)))
        self.assertEqual((end.loss.per_mille(2 * SECOND), end.silent), (1_000, False))

    def test_rates(self) -> None:
        end = Endpoint(SMALL)
        end.send(0, b"xy")  # 10 bytes
        end.send(0, bytes(6))  # fragments of 17 and 7 bytes
        end.receive(0, regular(0, (0, 1)))  # 10 bytes
        end.receive(0, regular(0, (0, 1)))
        rates = (end.bytes_sent, end.bytes_received, end.bytes_acked)
        self.assertEqual([rate.sum(SECOND) for rate in rates], [34, 10, 10])


class SentTest(EndpointTest):
    def test_lost_after_a_second_and_forgotten_after_four(self) -> None:
        """L2, L3, L5: F-18, an ack that has come prevents it."""
        end = Endpoint(SMALL)
        for _ in range(3):
            end.send(0, b"x")
        end.receive(SECOND, regular(0, (0, 1)))
        end.poll(SECOND)
        self.assertEqual(end.take_events(), [("acked", 0), ("lost", 1), ("lost", 2)])
        end.receive(4 * SECOND, regular(1, (1, 1)))
        self.assertEqual(end.take_events(), [("acked", 1)])
        end.poll(4 * SECOND)
        end.receive(4 * SECOND, regular(2, (2, 1)))
        self.assertEqual((end.take_events(), end.silent), ([], True))

    def test_time_does_not_go_back(self) -> None:
        end = Endpoint(SMALL)
        end.poll(5 * SECOND)
        end.send(0, b"x")
        end.poll(6 * SECOND - 1)
        self.assertEqual(end.take_events(), [])
        end.poll(6 * SECOND)
        self.assertEqual(end.take_events(), [("lost", 0)])

    def test_pushed_out(self) -> None:
        """L4."""
        end = Endpoint(SMALL._replace(sent_max=256))
        for _ in range(256):
            end.send(0, b"x")
        self.assertEqual(end.take_events(), [])
        end.send(0, b"x")
        self.assertEqual(end.take_events(), [("lost", 0)])
        end.receive(0, regular(0, (1, 0b11)))
        self.assertEqual(end.take_events(), [("acked", 1)], "number 0 is not kept")
        for _ in range(2):
            end.send(0, b"x")
        self.assertEqual(end.take_events(), [("lost", 2)], "number 1 was acked")
        end.poll(SECOND)
        self.assertEqual(end.take_events(), [("lost", number) for number in range(3, 259)])

    def test_silence_ends_by_news_and_not_by_time(self) -> None:
        end = Endpoint(SMALL)
        end.send(0, b"x")
        end.poll(SECOND)
        end.poll(10 * SECOND)
        self.assertTrue(end.silent)
        end.send(10 * SECOND, b"x")
        end.receive(10 * SECOND, regular(0, (1, 1)))
        self.assertFalse(end.silent)

    def test_sizes(self) -> None:
        """PKF-3, F-8."""
        end = Endpoint()
        for size in (0, 16_385):
            with self.assertRaises(Refused) as caught:
                end.send(0, bytes(size))
            self.assertEqual((caught.exception.code, caught.exception.place), ("payload_size", -1))
        self.assertEqual(end.next_to_send, 0)
        self.assertEqual([len(d) for d in end.send(0, bytes(1_160))], [1_168])
        self.assertEqual([len(d) for d in end.send(0, bytes(1_161))], [1_037, 142])
        self.assertEqual(len(end.send(0, bytes(16_384))), 16)

    def test_parameters(self) -> None:
        """PKP-1, PKP-3."""
        Endpoint(Config(received=64))
        for bad in (
            Config(fragment_size=0),
            Config(fragment_size=1_161, fragment_above=1_161),
            Config(max_fragments=1),
            Config(max_fragments=257),
            Config(fragment_above=1_023),
            Config(fragment_above=1_161),
            Config(received=32),
            Config(received=96),
            Config(sent_max=128),
            Config(sent_max=32_768),
            Config(reassembly=256),
            Config(reassembly_packets=65),
            Config(reassembly_bytes=16_383),
            Config(first_sent=-1),
            Config(first_received=(1 << 32) + 1),
        ):
            with self.subTest(bad), self.assertRaises(ValueError):
                Endpoint(bad)


class ConversationTest(unittest.TestCase):
    def test_two_ends_over_a_bad_path(self) -> None:
        """PKT-SAFE-1, PKT-SAFE-2, PKL-1: across the wrap, lost, doubled and late datagrams, 1 in 4 packets fragmented."""
        seed = random.randrange(1 << 32)
        source = random.Random(seed)
        ends = [
            Endpoint(SMALL._replace(first_sent=65_500, first_received=100)),
            Endpoint(SMALL._replace(first_sent=100, first_received=65_500)),
        ]
        path: list[tuple[int, int, bytes]] = []
        sent: list[dict[int, bytes]] = [{}, {}]
        taken: list[dict[int, bytes]] = [{}, {}]
        settled: list[dict[int, list[str]]] = [{}, {}]

        def put(to: int, now: int, datagrams: list[bytes]) -> None:
            for datagram in datagrams:
                if source.random() < 0.1:
                    continue
                for _ in range(1 + (source.random() < 0.05)):
                    path.append((now + source.randrange(10 * MS, 200 * MS), to, datagram))

        for now in range(0, 20 * SECOND, 10 * MS):
            for me, end in enumerate(ends):
                for item in [p for p in path if p[0] <= now and p[1] == me]:
                    path.remove(item)
                    receipt = end.receive(now, item[2])
                    if receipt.payload is not None:
                        self.assertNotIn(receipt.number, taken[me], f"seed {seed}")
                        taken[me][receipt.number] = receipt.payload
                if source.random() < 0.4 and now < 15 * SECOND:
                    payload = source.randbytes(source.choice((2, 3, 4, 13)))
                    sent[me][end.next_to_send] = payload
                    put(1 - me, now, end.send(now, payload))
                if ack_only := end.poll(now):
                    put(1 - me, now, [ack_only])
                for event, number in end.take_events():
                    settled[me].setdefault(number, []).append(event)
        for me in (0, 1):
            got = {n: p for n, p in taken[1 - me].items() if p != b"\0"}
            self.assertGreater(len(got), 100, f"seed {seed}")
            self.assertLessEqual(got.items(), sent[me].items(), f"seed {seed}")
            acked = {n for n, events in settled[me].items() if "acked" in events}
            self.assertLessEqual(acked, taken[1 - me].keys(), f"seed {seed}")
            for number in sent[me]:
                self.assertIn(settled[me][number], (["acked"], ["lost"], ["lost", "acked"]), f"seed {seed}")
            self.assertEqual(ends[me].deadline, NEVER, "both fell silent")
