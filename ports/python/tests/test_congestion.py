"""Congestion avoidance (spec/PACKETS.md, section 9)."""

import unittest

from chunkwire import NEVER, Congestion

SECOND = 1_000_000
GOOD, BAD = 100_000, 300_000


def good_at(now: int, profile: str = "article") -> Congestion:
    """In GOOD since a time, at least 4 s."""
    machine = Congestion(profile)
    machine.evaluate(now - 4 * SECOND, GOOD)
    machine.evaluate(now, GOOD)
    assert machine.mode == "GOOD"
    return machine


class CongestionTest(unittest.TestCase):
    def test_begins_bad(self) -> None:
        machine = Congestion()
        self.assertEqual((machine.mode, machine.recovery, machine.deadline), ("BAD", 4 * SECOND, NEVER))
        self.assertEqual(machine.evaluate(0, None), ["C5"], "unknown is not good")
        with self.assertRaises(ValueError):
            Congestion("other")

    def test_good_conditions_for_recovery(self) -> None:
        machine = Congestion()
        self.assertEqual(machine.evaluate(10, GOOD), ["C6"])
        self.assertEqual(machine.deadline, 10 + 4 * SECOND)
        self.assertEqual(machine.evaluate(9 + 4 * SECOND, GOOD), ["C8"])
        self.assertEqual(machine.evaluate(10 + 4 * SECOND, GOOD), ["C7"])
        self.assertEqual(machine.mode, "GOOD")

    def test_the_waiting_begins_anew(self) -> None:
        machine = Congestion()
        machine.evaluate(0, GOOD)
        self.assertEqual(machine.evaluate(SECOND, GOOD, silent=True), ["C5"])
        self.assertEqual(machine.deadline, NEVER)
        self.assertEqual(machine.evaluate(2 * SECOND, GOOD), ["C6"])
        self.assertEqual(machine.evaluate(5 * SECOND, GOOD), ["C8"])
        self.assertEqual(machine.evaluate(6 * SECOND, GOOD), ["C7"])

    def test_limit(self) -> None:
        machine = good_at(10 * SECOND)
        self.assertEqual(machine.evaluate(10 * SECOND, 250_000), ["C4"])
        self.assertEqual(machine.evaluate(10 * SECOND, 250_001), ["C1"])

    def test_a_long_path_is_good_in_the_default_profile(self) -> None:
        """PKC-4."""
        machine = good_at(10 * SECOND, "default")
        self.assertEqual(machine.evaluate(10 * SECOND, 900_000, min_rtt=600_000), ["C4"])
        self.assertEqual(machine.evaluate(10 * SECOND, 900_001, min_rtt=600_000), ["C1"])
        self.assertEqual(good_at(SECOND * 10).evaluate(10 * SECOND, 900_000, min_rtt=600_000), ["C1"])

    def test_short_good_doubles_up_to_60_seconds(self) -> None:
        """PKT-BND-3."""
        machine = Congestion()
        now, waits = 0, []
        for _ in range(6):
            machine.evaluate(now, GOOD)
            waits.append(machine.recovery // SECOND)
            now = machine.deadline
            self.assertEqual(machine.evaluate(now, GOOD), ["C7"])
            now += 1
            self.assertEqual(machine.evaluate(now, BAD), ["C1"])
        self.assertEqual(waits, [4, 8, 16, 32, 60, 60])
        machine.evaluate(now, GOOD)
        machine.evaluate(now + 60 * SECOND, GOOD)
        self.assertEqual(machine.evaluate(now + 110 * SECOND, GOOD), 5 * ["C3"] + ["C4"])
        self.assertEqual(machine.recovery, 1_875_000)
        machine.evaluate(now + 120 * SECOND, GOOD)
        self.assertEqual((machine.recovery, machine.deadline), (SECOND, NEVER))

    def test_exactly_ten_seconds_is_rewarded_and_not_short(self) -> None:
        machine = good_at(4 * SECOND)
        self.assertEqual(machine.evaluate(14 * SECOND - 1, BAD), ["C1"])
        machine = good_at(4 * SECOND)
        self.assertEqual(machine.deadline, 14 * SECOND)
        self.assertEqual(machine.evaluate(14 * SECOND, BAD), ["C3", "C2"])
        self.assertEqual((machine.mode, machine.recovery), ("BAD", 2 * SECOND))

    def test_a_late_evaluation_takes_every_reward(self) -> None:
        machine = good_at(4 * SECOND)
        self.assertEqual(machine.evaluate(40 * SECOND, GOOD), ["C3", "C3", "C4"])
        self.assertEqual((machine.recovery, machine.deadline), (SECOND, NEVER))

    def test_time_does_not_go_back(self) -> None:
        """PKN-3."""
        machine = Congestion()
        machine.evaluate(10 * SECOND, None)
        machine.evaluate(0, GOOD)
        self.assertEqual(machine.deadline, 14 * SECOND)

    def test_cadence(self) -> None:
        """PKC-3."""
        machine = good_at(4 * SECOND)
        machine.sent(5 * SECOND)
        self.assertEqual(machine.next_at, 5 * SECOND, "no burst for the time before")
        machine.sent(5 * SECOND)
        self.assertEqual(machine.next_at, 5 * SECOND + 33_333)
        machine.evaluate(5 * SECOND + 1, BAD)
        self.assertEqual(machine.next_at, 5 * SECOND + 100_000, "SLOW")
        machine.sent(5 * SECOND + 100_000)
        self.assertEqual(machine.next_at, 5 * SECOND + 200_000)
