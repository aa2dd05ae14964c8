"""The machines of a reliable channel (spec/CHANNELS.md, sections 4 and 5)."""

import unittest

from chunkwire.channel_receiver import ChannelReceiver, Delivered
from chunkwire.channel_sender import ChannelSender
from chunkwire.channels import MS, SECOND, Channel, check_channel
from chunkwire.records import Fragment, Message, Report, Skip, Status, groups_of
from chunkwire.times import NEVER

SPACE = 1_160
ORDERED = Channel("ordered", window=32, data=4, group=4)
UNORDERED = ORDERED._replace(kind="unordered")


def message(sequence: int, data: bytes = b"m") -> Message:
    return Message(0, sequence, data)


def part(sequence: int, index: int, count: int) -> Fragment:
    return Fragment(0, sequence, index, count, b"last" if index == count - 1 else b"part")


class ChannelTest(unittest.TestCase):
    def test_parameters(self) -> None:
        """CHP-1, CHP-2."""
        check_channel(Channel("ordered"))
        check_channel(Channel("unordered", 16_384, 1, 2, 2, SECOND, 1 << 32))
        check_channel(Channel("unreliable", 32, 1_024, 64, 32_768, 3_600 * SECOND))
        for bad in (
            {"kind": "fifo"},
            {"window": 16},
            {"window": 32_768},
            {"window": 48},
            {"data": 0},
            {"data": 1_025},
            {"group": 1},
            {"group": 65},
            {"send_queue": 63},
            {"send_queue": 32_769},
            {"give_up": SECOND - 1},
            {"give_up": 3_600 * SECOND + 1},
            {"first": -1},
            {"first": (1 << 32) + 1},
        ):
            for machine in (ChannelReceiver, ChannelSender):
                with self.subTest(bad), self.assertRaises(ValueError):
                    machine(Channel("ordered")._replace(**bad))
        for machine in (ChannelReceiver, ChannelSender):
            with self.assertRaises(ValueError):
                machine(Channel("unreliable"))


class ReceiverTest(unittest.TestCase):
    def read_all(self, receiver: ChannelReceiver, now: int = 0) -> list[Delivered]:
        things = []
        while (thing := receiver.read(now)[1]) is not None:
            things.append(thing)
        return things

    def test_order(self) -> None:
        """V1, V5, V11, V12."""
        ordered, unordered = ChannelReceiver(ORDERED), ChannelReceiver(UNORDERED)
        for receiver in (ordered, unordered):
            self.assertEqual([receiver.data(0, message(n)) for n in (1, 0, 1)], ["V5", "V5", "V1"])
        self.assertEqual([d.sequence for d in self.read_all(ordered)], [0, 1])
        self.assertEqual([d.sequence for d in self.read_all(unordered)], [1, 0])
        self.assertEqual(ordered.read(0), ("V12", None))

    def test_window(self) -> None:
        """V2, V7, V10: it moves by what is read."""
        receiver = ChannelReceiver(ORDERED)
        self.assertEqual(receiver.data(0, message(0)), "V5")
        self.assertEqual([receiver.data(0, message(32)), receiver.data(0, message(31))], ["V2", "V5"])
        self.assertEqual([receiver.skip(0, Skip(0, 31, 2)), receiver.status(0, Status(0, 33))], ["V7", "V10"])
        self.assertEqual(receiver.counts, {"beyond": 3})
        self.assertEqual([d.sequence for d in self.read_all(receiver)], [0])
        self.assertEqual([receiver.data(0, message(32)), receiver.status(0, Status(0, 33))], ["V5", "V9"])

    def test_groups(self) -> None:
        """CHG-1, CHV-2: a group is ready when it is whole, in an unordered channel at that event."""
        for channel, first in ((ORDERED, 0), (UNORDERED, 3)):
            receiver = ChannelReceiver(channel)
            rows = [receiver.data(0, record) for record in (part(2, 2, 3), part(0, 0, 3), message(3), part(1, 1, 3))]
            self.assertEqual(rows, ["V5"] * 4)
            things = self.read_all(receiver)
            self.assertEqual(things[0].sequence, first)
            self.assertIn(Delivered(0, b"partpartlast"), things)

    def test_conflicts(self) -> None:
        """CHG-2."""
        receiver = ChannelReceiver(ORDERED._replace(first=10))
        for record in (part(12, 0, 2), message(15)):
            self.assertEqual(receiver.data(0, record), "V5")
        for record in (message(13), part(13, 0, 2), part(13, 1, 3), part(10, 1, 2), part(16, 2, 3), part(11, 0, 2)):
            with self.subTest(record):
                self.assertEqual(receiver.data(0, record), "V3")
        self.assertEqual(receiver.counts, {"conflict": 6})
        self.assertEqual(receiver.data(0, part(13, 1, 2)), "V5")

    def test_lost_groups(self) -> None:
        """CHG-3, CHG-4: what a skip covers takes its groups along, and no other fragment of them is held."""
        receiver = ChannelReceiver(UNORDERED)
        for record in (part(0, 0, 3), part(2, 2, 3), message(5)):
            receiver.data(0, record)
        self.assertEqual(receiver.skip(0, Skip(0, 1, 1)), "V8")
        self.assertEqual(receiver.skip(0, Skip(0, 0, 3)), "V6")
        self.assertEqual(receiver.skip(0, Skip(0, 3, 1)), "V8")
        self.assertEqual(receiver.data(0, part(4, 1, 2)), "V4")
        expected = [(5, b"m"), (0, None), (1, None), (2, None), (3, None), (4, None)]
        self.assertEqual(self.read_all(receiver), expected)

    def test_a_sequence_in_two_groups(self) -> None:
        """CHG-3: each group that it lies in is given up."""
        receiver = ChannelReceiver(ORDERED)
        for record in (part(0, 0, 2), part(2, 1, 3), part(3, 2, 3)):
            self.assertEqual(receiver.data(0, record), "V5")
        self.assertEqual(receiver.skip(0, Skip(0, 1, 1)), "V8")
        self.assertEqual(self.read_all(receiver), [(n, None) for n in range(4)])

    def test_times_of_reports(self) -> None:
        """CHV-1, CHV-4, CHV-5: at once when something is missing, else after REPORT_DELAY, and spaced."""
        receiver = ChannelReceiver(ORDERED)
        receiver.data(100 * MS, message(0))
        self.assertEqual(receiver.deadline, 120 * MS)
        receiver.data(101 * MS, message(2))
        self.assertEqual(receiver.deadline, 101 * MS)
        self.assertEqual(receiver.poll(101 * MS, 6), ("V15", None))
        self.assertEqual(receiver.poll(101 * MS, 7), ("V14", Report(0, 1, 31)))
        self.assertEqual(receiver.deadline, 151 * MS)
        receiver.data(102 * MS, message(2))
        self.assertEqual(receiver.deadline, 106 * MS)
        self.assertEqual(receiver.poll(106 * MS, 13), ("V14", Report(0, 1, 31, ((1, 0),))))

    def test_repeated_reports(self) -> None:
        """CHV-5, CHV-6: doubled up to the cap, and only by those that are not due otherwise."""
        receiver = ChannelReceiver(ORDERED)
        receiver.status(0, Status(0, 1))
        now, waits = 0, []
        for _ in range(6):
            self.assertEqual(receiver.poll(now, SPACE)[0], "V14")
            waits.append((receiver.deadline - now) // MS)
            now = int(receiver.deadline)
        self.assertEqual(waits, [50, 100, 200, 250, 250, 250])
        receiver.path.set(200 * MS)
        self.assertEqual(receiver.poll(now, SPACE)[0], "V15")
        self.assertEqual(receiver.deadline, now + 150 * MS)

    def test_gives_up(self) -> None:
        """V13, V16 to V21."""
        receiver = ChannelReceiver(ORDERED._replace(give_up=SECOND))
        receiver.data(0, message(0))
        receiver.data(5, message(2))
        self.assertEqual(receiver.poll(SECOND + 4, SPACE)[0], "V14")
        self.assertEqual(receiver.deadline, SECOND + 5)
        self.assertEqual((receiver.poll(SECOND + 5, SPACE)[0], receiver.state), ("V13", "FAILED"))
        self.assertEqual(receiver.deadline, NEVER)
        self.assertEqual([receiver.data(0, message(1)), receiver.skip(0, Skip(0, 1, 1))], ["V16", "V19"])
        self.assertEqual([receiver.status(0, Status(0, 5)), receiver.poll(0, SPACE)[0]], ["V20", "V21"])
        self.assertEqual(receiver.read(0), ("V17", Delivered(0, b"m")))
        self.assertEqual(receiver.read(0), ("V18", None))


class SenderTest(unittest.TestCase):
    def setUp(self) -> None:
        self.sender = ChannelSender(ORDERED)

    def packet(self, now: int, number: int, space: int = SPACE) -> list:
        """The records of a packet (CHS-12)."""
        records = []
        while (record := self.sender.poll(now, number, space)[1]) is not None:
            records.append(record)
        return records

    def report(self, now: int, number: int, base: int, missing: tuple = (), ack: int = -1, room: int = 32) -> str:
        return self.sender.report(now, Report(0, base % 65_536, room, groups_of(missing)), number, ack)

    def test_sizes(self) -> None:
        """D1, D2, D3, CHS-10."""
        sender = ChannelSender(ORDERED._replace(send_queue=6))
        rows = [sender.send(0, bytes(n)) for n in (0, 17, 16, 9, 5, 1)]
        self.assertEqual(rows, ["D1", "D1", "D3", "D2", "D3", "D2"])

    def test_fragments(self) -> None:
        self.sender.send(0, b"abcde")
        self.sender.send(0, b"abcd")
        first, second = Fragment(0, 0, 0, 2, b"abcd"), Fragment(0, 1, 1, 2, b"e")
        self.assertEqual(self.packet(0, 0), [first, second, Message(0, 2, b"abcd")])

    def test_window(self) -> None:
        """CHS-2: nothing goes beyond limit, which does not fall."""
        for _ in range(40):
            self.sender.send(0, b"m")
        self.assertEqual(len(self.packet(0, 0)), 32)
        self.assertEqual(self.report(1, 0, 3, room=32), "D6")
        self.assertEqual([r.sequence for r in self.packet(1, 1)], [32, 33, 34])
        self.assertEqual(self.report(1, 1, 4, room=0), "D6")
        self.assertEqual((self.sender.base, self.sender.limit), (4, 35))

    def test_reports(self) -> None:
        """D4, D5."""
        self.sender.send(0, b"m")
        self.packet(0, 0)
        self.assertEqual([self.report(1, 3, 2), self.report(1, 3, 0, (0, 1)), self.report(1, 3, 0)], ["D5", "D5", "D6"])
        self.assertEqual([self.report(1, 3, 1), self.report(1, 2, 1), self.report(1, 4, 1)], ["D4", "D4", "D6"])
        self.assertEqual(self.sender.implausible, 2)
        self.assertEqual(self.sender.deadline, NEVER)

    def test_marks(self) -> None:
        """CHS-3: two packets overtake a record, one is enough for a record that was sent again."""
        self.sender.path.set(20 * MS, 10 * MS)
        self.sender.send(0, b"m")
        self.packet(0, 5)
        for number, (now, ack, marked) in enumerate(
            ((9, 7, False), (10, 6, False), (10, 7, True), (19, 6, False), (20, 5, False), (20, 6, True))
        ):
            with self.subTest(now=now, ack=ack):
                self.assertEqual(self.report(now * MS, number, 0, (0,), ack=ack), "D6")
                self.assertEqual(self.packet(now * MS, 5), [message(0)] if marked else [])

    def test_marks_by_time(self) -> None:
        """CHS-3: after HOLD, but not before patience; never within half a round trip."""
        for patience, now in ((0, 125), (130, 130)):
            self.setUp()
            self.sender.path.set(100 * MS, patience * MS)
            self.sender.send(0, b"m")
            self.packet(0, 0)
            self.report(now * MS - 1, 0, 0, (0,))
            self.assertEqual(self.packet(now * MS - 1, 1), [])
            self.report(now * MS, 1, 0, (0,))
            self.assertEqual(self.packet(now * MS, 1), [message(0)])

    def test_probes(self) -> None:
        """CHS-4: they back off, and take along the oldest that fit."""
        self.sender.path.set(40 * MS)
        for data in (b"a", b"abcd", b"a"):
            self.sender.send(0, data)
        self.packet(0, 0)
        waits, now = [], 0
        for number in range(1, 6):
            waits.append((self.sender.deadline - now) // MS)
            now = int(self.sender.deadline)
            self.assertEqual(self.packet(now - 1, number), [])
            self.assertEqual(self.sender.poll(now, number, 3), ("D10", None))
            records = self.packet(now, number, space=4 + 7 + 10 + 6)
            self.assertEqual(records, [Status(0, 3), message(0, b"a"), message(1, b"abcd")])
        self.assertEqual(waits, [70, 70, 140, 250, 250])

    def test_early_probes(self) -> None:
        """CHS-4: 20 ms after a resend, alone; a mark makes the next one early again, and a release of it none."""
        self.sender.path.set(100 * MS)
        for _ in range(2):
            self.sender.send(0, b"m")
        self.packet(0, 0)
        for number, now in enumerate((200 * MS, 250 * MS)):
            self.report(now, number, 0, (0,), ack=9)
            self.assertEqual(self.packet(now, 1), [message(0)])
            self.assertEqual(self.sender.deadline, now + 20 * MS)
        self.assertEqual(self.packet(270 * MS, 2), [Status(0, 2)])
        self.assertEqual(self.sender.deadline, 415 * MS)
        self.report(300 * MS, 2, 0, (0,), ack=2)
        self.packet(300 * MS, 3)
        self.report(310 * MS, 3, 1)
        self.assertEqual(self.sender.deadline, 445 * MS)
        self.assertEqual(self.packet(445 * MS, 4), [Status(0, 2), message(1)])

    def test_backoff_ends(self) -> None:
        """CHS-2: with a report that names something, or moves base or limit, and with no other."""
        for base, room, missing, wait in ((1, 31, (), 250), (1, 31, (1,), 70), (2, 30, (), 70), (1, 32, (), 70)):
            with self.subTest(base=base, room=room, missing=missing):
                self.setUp()
                self.sender.path.set(40 * MS, SECOND)
                for _ in range(3):
                    self.sender.send(0, b"m")
                self.packet(0, 0)
                self.report(0, 0, 1, room=31)
                for number in range(1, 4):
                    now = int(self.sender.deadline)
                    self.assertEqual(self.packet(now, number, space=4), [Status(0, 3)])
                self.report(now, 1, base, missing, room=room)
                self.assertEqual(self.sender.deadline - now, wait * MS)

    def test_probe_of_what_is_gone(self) -> None:
        """CHS-4, CHS-1: a run costs one skip."""
        for n in range(5):
            self.sender.send(0, b"m", None if n in (0, 3) else 10)
        self.packet(0, 0)
        now = int(self.sender.deadline)
        self.assertEqual(now, 10)
        self.assertEqual(self.packet(10, 1), [])
        now = int(self.sender.deadline)
        expected = [Status(0, 5), message(0), Skip(0, 1, 2), message(3)]
        self.assertEqual(self.packet(now, 2, space=4 + 7 + 5 + 7 + 4), expected)

    def test_expiry(self) -> None:
        """CHX-1, CHX-2, CHX-4: what was not sent goes as skips."""
        self.sender.send(0, b"abcde", 10)
        self.sender.send(0, b"m")
        self.sender.send(0, b"m", 9)
        self.assertEqual(self.packet(10, 0), [Skip(0, 0, 2), message(2), Skip(0, 3, 1)])

    def test_fresh(self) -> None:
        """CHS-13: 128 new sequences a packet, by messages and skips together."""
        self.sender = ChannelSender(Channel("ordered"))
        for n in range(300):
            self.sender.send(0, b"m", None if n == 100 else 10)
        self.assertEqual(self.packet(10, 0), [Skip(0, 0, 100), message(100), Skip(0, 101, 27)])
        self.assertEqual(self.packet(10, 1), [Skip(0, 128, 128)])
        self.assertEqual(self.packet(10, 2), [Skip(0, 256, 44)])

    def test_skip_of_256(self) -> None:
        """CHS-1: what was sent before is not fresh."""
        self.sender = ChannelSender(Channel("ordered"))
        for _ in range(300):
            self.sender.send(0, b"m", 10)
        for number in range(3):
            self.packet(10, number)
        self.report(SECOND, 0, 0, tuple(range(299)), room=512)
        self.assertEqual(self.packet(SECOND, 3), [Skip(0, 0, 256), Skip(0, 256, 43)])

    def test_gives_up(self) -> None:
        """D7, D11 to D13; CHS-11."""
        sender = ChannelSender(ORDERED._replace(give_up=SECOND))
        sender.send(0, b"m", 5)
        sender.poll(0, 0, SPACE)
        self.assertEqual(sender.poll(SECOND, 1, SPACE), ("D7", None))
        self.assertEqual((sender.state, sender.unreleased, sender.deadline), ("FAILED", 1, NEVER))
        self.assertEqual([sender.send(0, b"m"), sender.report(0, Report(0, 1, 32), 9)], ["D11", "D12"])
        self.assertEqual(sender.poll(0, 1, SPACE), ("D13", None))
