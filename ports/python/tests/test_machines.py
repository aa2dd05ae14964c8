import unittest

from chunkwire import BURST, MAX_CHUNK, NEVER, Ack, BaseScheduler, Receiver, Sender, Slice, article, fixed
from chunkwire.base import Profile

MS = 1_000
SECOND = 1_000_000


def send_all(sender: Sender, now: int) -> list[int]:
    """The slices that go out at a time."""
    out = []
    while (packet := sender.poll(now)[1]) is not None:
        out.append(packet.slice_id)
    return out


def ack_of(sender: Sender, *acked: int) -> Ack:
    return Ack(sender.chunk_id, sender.num_slices, frozenset(acked))


class SenderTest(unittest.TestCase):
    def test_sizes(self) -> None:
        for size, row in ((0, "S2"), (1, "S1"), (MAX_CHUNK, "S1"), (MAX_CHUNK + 1, "S2")):
            self.assertEqual(Sender(BaseScheduler()).submit(0, bytes(size)), row)

    def test_ids_wrap(self) -> None:
        sender = Sender(BaseScheduler(), first_id=65_535)
        sender.submit(0, b"x")
        send_all(sender, 0)
        self.assertEqual(sender.ack(10, ack_of(sender, 0)), "S10")
        self.assertEqual((sender.chunk_id, sender.deadline), (0, NEVER))

    def test_bits_of_slices_never_sent_are_ignored(self) -> None:
        sender = Sender(BaseScheduler(fixed(1_066)))
        sender.submit(0, bytes(MAX_CHUNK))
        self.assertLess(len(send_all(sender, 0)), 256)
        self.assertEqual(sender.ack(1, ack_of(sender, 255)), "S7")
        self.assertEqual(sender.ack(1, Ack(0, 255, frozenset({0}))), "S6")

    def test_gives_up(self) -> None:
        sender = Sender(BaseScheduler(), give_up=SECOND)
        sender.submit(5, b"x")
        self.assertNotEqual(sender.poll(SECOND + 4)[0], "S15")
        self.assertEqual(sender.poll(SECOND + 5)[0], "S15")
        self.assertEqual((sender.submit(0, b"x"), sender.poll(0)[0], sender.deadline), ("S4", "S16", NEVER))

    def test_time_does_not_go_back(self) -> None:
        sender = Sender(BaseScheduler(), give_up=SECOND)
        sender.poll(SECOND)
        sender.submit(0, b"x")
        self.assertNotEqual(sender.poll(2 * SECOND - 1)[0], "S15")


class BaseSchedulerTest(unittest.TestCase):
    def start(self, profile: Profile, size: int) -> Sender:
        sender = Sender(BaseScheduler(profile))
        sender.submit(0, bytes(size))
        return sender

    def test_spacing(self) -> None:
        sender = self.start(BURST, 2_048)
        self.assertEqual(send_all(sender, 0), [0])
        self.assertEqual(sender.deadline, 85)
        self.assertEqual((send_all(sender, 84), send_all(sender, 85)), ([], [1]))

    def test_gap_rule(self) -> None:
        sender = self.start(fixed(0), 4 * 1_024)
        send_all(sender, 0)
        sender.ack(10, ack_of(sender, 2))
        self.assertEqual(send_all(sender, 10), [0])
        sender.ack(11, ack_of(sender, 2, 3))
        self.assertEqual(send_all(sender, 11), [1])

    def test_probes_double_and_back_off(self) -> None:
        sender = self.start(fixed(0), 256 * 1_024)
        send_all(sender, 0)
        self.assertEqual(sender.deadline, 250 * MS)
        self.assertEqual(send_all(sender, 250 * MS), [254, 255])
        self.assertEqual(len(send_all(sender, 500 * MS)), 4)
        self.assertEqual(len(send_all(sender, 750 * MS)), 8)

    def test_fixed_resend_delay(self) -> None:
        sender = self.start(article(0), 1)
        send_all(sender, 0)
        self.assertEqual(sender.deadline, 100 * MS)

    def test_hold_leaves_only_probes(self) -> None:
        sender = self.start(BURST, 10 * 1_024)
        self.assertEqual(send_all(sender, 0), [0])
        self.assertEqual(sender.ack(50, ack_of(sender)), "S8")
        self.assertEqual((sender.deadline, send_all(sender, 85)), (250 * MS + 50, []))
        self.assertEqual(send_all(sender, 250 * MS + 50), [9])
        sender.ack(251 * MS, ack_of(sender, 0, 9))
        self.assertEqual(send_all(sender, 251 * MS), [1])

    def test_an_ack_before_the_first_slice_is_no_hold(self) -> None:
        sender = Sender(BaseScheduler())
        sender.submit(SECOND, bytes(2_048))
        self.assertEqual(sender.ack(SECOND, ack_of(sender)), "S7")
        self.assertEqual(sender.deadline, SECOND)

    def test_probes_of_a_hold_become_rarer(self) -> None:
        """TMR-6: they begin at the round trip."""
        sender = self.start(BURST, 1)
        send_all(sender, 0)
        sender.ack(40 * MS, ack_of(sender, 0))
        sender.submit(40 * MS, b"x")
        send_all(sender, 40 * MS)
        self.assertEqual(sender.ack(80 * MS, ack_of(sender)), "S8")
        for at, delay in ((120, 40), (160, 40), (480, 100), (5_000, 250)):
            self.assertLessEqual(sender.deadline, at * MS)
            self.assertEqual((send_all(sender, at * MS), sender.deadline), ([0], (at + delay) * MS))

    def test_bound_of_the_round_trip(self) -> None:
        """RTT-4, RTT-6: only resent slices, so the next chunk's timer follows the bound."""
        sender = self.start(fixed(0), 1)
        send_all(sender, 0)
        send_all(sender, 250 * MS)
        sender.ack(400 * MS, ack_of(sender, 0))
        sender.submit(SECOND, b"x")
        send_all(sender, SECOND)
        self.assertEqual(sender.deadline, SECOND + 400 * MS + 4 * 25 * MS)

    def test_budget(self) -> None:
        sender = self.start(fixed(20_000), 256 * 1_024)
        self.assertEqual(len(send_all(sender, 0)), 17_056 // 1_065)
        missing = 1_065 - 17_056 % 1_065
        self.assertEqual(sender.deadline, missing * 50)
        self.assertEqual(send_all(sender, missing * 50 - 1), [])
        self.assertEqual(send_all(sender, missing * 50), [16])

    def test_profiles(self) -> None:
        self.assertEqual((fixed(10**6).cap, fixed(0).cap), (20_000, 17_056))

    def test_refuses_figures_outside_their_limits(self) -> None:
        """BUD-1, 7.2, 8.2."""
        good = Profile(1_066, cap=1_066, burst=1_066, acks_pay=False, spacing_us=0, resend_delay_us=0)
        BaseScheduler(good)
        for bad in (
            {"rate": 1},
            {"rate": 10**9 + 1},
            {"rate": -1},
            {"cap": 1_065, "burst": 0},
            {"cap": 10**9 + 1},
            {"burst": 1_067},
            {"burst": -1},
            {"spacing_us": -1},
            {"resend_delay_us": -1},
        ):
            with self.subTest(bad), self.assertRaises(ValueError):
                BaseScheduler(good._replace(**bad))
        for first_id, give_up in ((-1, 1), (65_536, 1), (0, 0), (0, (1 << 61) + 1)):
            with self.assertRaises(ValueError):
                Sender(BaseScheduler(), first_id, give_up)
            with self.assertRaises(ValueError):
                Receiver(first_id, give_up)


class ReceiverTest(unittest.TestCase):
    def test_no_previous_chunk_at_the_start(self) -> None:
        receiver = Receiver()
        self.assertEqual(receiver.slice(0, Slice(65_535, 0, 1, b"x")), "R4")
        self.assertEqual(receiver.deadline, NEVER)

    def test_completes_and_holds(self) -> None:
        receiver = Receiver(first_id=65_535)
        self.assertEqual(receiver.slice(0, Slice(65_535, 0, 1, b"x")), "R1")
        self.assertEqual(receiver.poll(0), ("R24", Ack(65_535, 1, frozenset({0}))))
        self.assertEqual(receiver.slice(1, Slice(0, 0, 2, bytes(1_024))), "R13")
        self.assertEqual(receiver.deadline, 2 * MS)
        self.assertEqual(receiver.poll(2 * MS), ("R24", Ack(0, 2, frozenset())))
        self.assertEqual(receiver.slice(3 * MS, Slice(65_535, 0, 1, b"x")), "R14")
        self.assertEqual(receiver.read(3 * MS), ("R16", b"x"))
        self.assertEqual(receiver.read(3 * MS), ("R17", None))

    def test_acks(self) -> None:
        receiver = Receiver()
        receiver.slice(0, Slice(0, 0, 100, bytes(1_024)))
        self.assertEqual((receiver.poll(0)[0], receiver.poll(0)[0]), ("R21", "R22"))
        receiver.slice(10, Slice(0, 1, 100, bytes(1_024)))
        self.assertEqual(receiver.deadline, 2 * MS)
        receiver.slice(20, Slice(0, 3, 100, bytes(1_024)))
        self.assertEqual(receiver.poll(20), ("R21", Ack(0, 100, frozenset({0, 1, 3}))))

    def test_conflicts_repin_after_half_of_give_up(self) -> None:
        receiver = Receiver(give_up=11)
        receiver.slice(0, Slice(0, 0, 2, bytes(1_024)))
        self.assertEqual(receiver.slice(4, Slice(0, 0, 3, bytes(1_024))), "R8")
        self.assertEqual(receiver.conflicts, 1)
        self.assertEqual(receiver.slice(5, Slice(0, 0, 3, bytes(1_024))), "R9")
        self.assertEqual(receiver.slice(10, Slice(0, 0, 1, b"x")), "R10")

    def test_gives_up(self) -> None:
        receiver = Receiver(give_up=SECOND)
        receiver.slice(0, Slice(0, 0, 2, bytes(1_024)))
        receiver.poll(0)
        self.assertEqual(receiver.deadline, SECOND)
        self.assertEqual(receiver.poll(SECOND), ("R23", None))
        self.assertEqual((receiver.slice(SECOND, Slice(0, 1, 2, b"x")), receiver.deadline), ("R26", NEVER))
