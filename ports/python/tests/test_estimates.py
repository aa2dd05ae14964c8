"""Estimates (spec/PACKETS.md, section 8)."""

import unittest

from chunkwire.estimates import Loss, Patience, RoundTrip, Seconds, Shown

SECOND = 1_000_000


class RoundTripTest(unittest.TestCase):
    def test_table_of_the_document(self) -> None:
        """PKE-2."""
        path = RoundTrip()
        for sample, srtt, jitter in (
            (100_000, 100_000, 0),
            (113_334, 101_333, 833),
            (80_000, 99_200, 2_114),
            (80_000, 97_280, 3_181),
            (600_000, 147_552, 34_402),
            (100_009, 142_798, 35_223),
            (100_000, 138_519, 35_696),
        ):
            path.sample(0, sample)
            self.assertEqual((path.srtt, path.jitter, path.latest), (srtt, jitter, sample))

    def test_smallest_of_two_periods(self) -> None:
        """PKE-3."""
        path = RoundTrip()
        for now, sample, smallest in (
            (0, 50, 50),
            (5 * SECOND - 1, 70, 50),
            (5 * SECOND, 80, 50),
            (10 * SECOND, 90, 80),
            (15 * SECOND - 1, 60, 60),
            (31 * SECOND, 95, 60),
            (36 * SECOND, 96, 95),
        ):
            path.sample(now, sample)
            self.assertEqual(path.min_rtt, smallest, now)


class OtherEstimatesTest(unittest.TestCase):
    def test_patience(self) -> None:
        """PKE-4."""
        patience = Patience()
        patience.overtaken(SECOND, 80_000, 100_000)
        self.assertEqual(patience.at(SECOND), 90_000)
        patience.overtaken(SECOND, 800_000, 100_000)
        self.assertEqual(patience.at(2 * SECOND - 1), 150_000)
        self.assertEqual(patience.at(2 * SECOND), 150_000 - 9_375)
        self.assertEqual(patience.at(10**12), 15, "below 16 it stays")

    def test_loss_of_ten_whole_seconds(self) -> None:
        """PKE-5, PKE-9."""
        loss = Loss()
        self.assertIsNone(loss.per_mille(0))
        for lost in (True, False, False):
            loss.settled(SECOND, lost)
        self.assertIsNone(loss.per_mille(2 * SECOND - 1), "the second is not over")
        self.assertEqual(loss.per_mille(2 * SECOND), 333)
        loss.settled(2 * SECOND, False)
        self.assertEqual(loss.per_mille(3 * SECOND), 250)
        self.assertEqual(loss.per_mille(12 * SECOND - 1), 250)
        self.assertEqual(loss.per_mille(12 * SECOND), 0)
        self.assertIsNone(loss.per_mille(13 * SECOND))

    def test_rate(self) -> None:
        """PKE-7."""
        sent = Seconds()
        sent.add(0, 1_000)
        sent.add(SECOND, 250)
        self.assertEqual((sent.rate(SECOND), sent.rate(2 * SECOND), sent.rate(11 * SECOND)), (800, 1_000, 200))
        sent.add(10 * SECOND, 1)
        self.assertEqual(sent.sum(10 * SECOND), 1_250, "nothing is dropped too early")

    def test_figures(self) -> None:
        """PKE-6."""
        shown = Shown()
        self.assertIsNone(shown.figures)
        for latency in (10, 20, 60):
            shown.add(latency)
        self.assertEqual(shown.figures, (10, 60, 30, 20, 50, 21))
        for _ in range(512):
            shown.add(1 << 40)
        self.assertEqual(shown.figures, (1 << 26, 1 << 26, 1 << 26, 0, 0, 0))
