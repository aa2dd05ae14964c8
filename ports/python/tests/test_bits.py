import unittest

from chunkwire.bits import Reader, Writer


class BitsTest(unittest.TestCase):
    def test_example_of_section_3(self) -> None:
        w = Writer()
        w.bits(5, 3)
        w.bits(1, 16)
        w.align()
        self.assertEqual(w.finish(), bytes.fromhex("0d0000"))

    def test_align_when_aligned_adds_nothing(self) -> None:
        w = Writer()
        w.align()
        w.bits(0xAB, 8)
        w.align()
        self.assertEqual(w.finish(), b"\xab")

    def test_widths_of_integers(self) -> None:
        for low, high, width in ((0, 1, 1), (0, 255, 8), (1, 256, 8), (1, 1024, 10), (0, 256, 9)):
            w = Writer()
            w.integer(high, low, high)
            w.bits(1, 1)
            self.assertEqual(Reader(w.finish()).bits(width + 1), high - low | 1 << width)

    def test_what_is_written_is_read(self) -> None:
        w = Writer()
        w.bits(1, 1)
        w.bits(0xDEADBEEF, 32)
        w.integer(700, 1, 1024)
        w.data(b"data")
        r = Reader(w.finish())
        self.assertEqual((r.bits(1), r.bits(32), r.integer(1, 1024)), (1, 0xDEADBEEF, 700))
        self.assertEqual((r.align(), r.data(4), r.left), (0, b"data", 0))
