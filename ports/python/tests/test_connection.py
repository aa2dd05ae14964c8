"""Two ends of a connection over a network in memory that loses, doubles and delays."""

import random
import unittest
from typing import Callable

from chunkwire.channels import MS, SECOND, Channel
from chunkwire.connection import CLOSED, Config, Connection
from chunkwire.connection_records import Close, Marks, OnLane, decode_payload, encode_payload
from chunkwire.codec import Ack
from chunkwire.envelope import Envelope
from chunkwire.marks import CE, MarkBook
from chunkwire.mux import Setup
from chunkwire.refused import Refused
from chunkwire.sessions import CRC, MAC

CHANNELS = {0: Setup(Channel("unreliable"), 2), 1: Setup(Channel("ordered"), 1), 2: Setup(Channel("unordered"), 1)}
A, B = bytes(range(32)), bytes(range(32, 64))


def pair(mode: int = MAC, lanes: int = 2) -> tuple[Connection, Connection]:
    config = Config(CHANNELS, lanes)
    return Connection(0, Envelope(mode, 7, A, B), config, True), Connection(0, Envelope(mode, 7, B, A), config, False)


class Network:
    def __init__(self, ends: tuple[Connection, Connection], loss: float = 0.0, seed: int = 1) -> None:
        self.ends, self.loss, self.random = ends, loss, random.Random(seed)
        self.now = 0
        self.under_way: list[tuple[int, int, bytes]] = []

    def run(self, until: int, done: Callable[[], bool] = lambda: False) -> None:
        while self.now < until and not done():
            due = [f for f in self.under_way if f[0] <= self.now]
            self.under_way = [f for f in self.under_way if f[0] > self.now]
            for _, to, datagram in sorted(due):
                self.ends[to].receive(self.now, datagram)
            for i, end in enumerate(self.ends):
                while (datagram := end.poll(self.now)[1]) is not None:
                    self.carry(1 - i, datagram)
            arrivals = [f[0] for f in self.under_way]
            self.now = int(min([*arrivals, *(e.deadline for e in self.ends), until]))

    def carry(self, to: int, datagram: bytes) -> None:
        for _ in range(self.random.choice((1, 1, 1, 2))):
            if self.random.random() >= self.loss:
                self.under_way.append((self.now + self.random.randrange(20, 40) * MS, to, datagram))


class ConnectionTest(unittest.TestCase):
    def test_three_services_over_loss(self) -> None:
        for seed in range(3):
            a, b = pair()
            network = Network((a, b), 0.1, seed)
            chunks = [random.Random(n).randbytes(20_000) for n in range(4)]
            messages = [b"%d" % n * 50 for n in range(200)]
            for chunk in chunks:
                a.send_chunk(0, chunk)
            for message in messages:
                for channel in (1, 2):
                    self.assertIsNone(a.send(0, channel, message))
            got: dict[int, list[bytes]] = {1: [], 2: [], 3: []}

            def read() -> bool:
                for channel in (1, 2):
                    while (delivered := b.read(network.now, channel)) is not None:
                        got[channel].append(delivered.data)
                while (chunk := b.read_chunk(network.now)) is not None:
                    got[3].append(chunk)
                return a.is_delivered

            network.run(20 * SECOND, read)
            self.assertLess(network.now, 20 * SECOND)
            self.assertEqual((got[1], got[3]), (messages, chunks))
            self.assertCountEqual(got[2], messages)

    def test_the_other_end_hears_of_a_close(self) -> None:
        a, b = pair(CRC)
        network = Network((a, b), 0.3, 3)
        network.run(SECOND)
        self.assertEqual(a.close(network.now, 300, b"bye"), "K4")
        network.run(3 * SECOND)
        self.assertEqual((a.state, b.state), (CLOSED, CLOSED))
        self.assertEqual(b.ended, ("closed", 300, b"bye", True))

    def test_silence_ends_it(self) -> None:
        a, b = pair()
        network = Network((a, b))
        network.run(SECOND)
        network.loss = 1.0
        network.run(12 * SECOND)
        self.assertEqual((a.ended.why, b.ended.why), ("timeout", "timeout"))

    def test_an_idle_connection_lives(self) -> None:
        a, b = pair()
        network = Network((a, b), 0.2, 5)
        network.run(120 * SECOND)
        self.assertEqual((a.state, b.state), ("OPEN", "OPEN"))


class MarksTest(unittest.TestCase):
    def test_a_new_path_is_tried_again(self) -> None:
        book = MarkBook()
        self.assertTrue(all(book.sends(0, n) for n in range(4)))
        book.took(0)
        book.hear(0, Marks(1, 1))
        book.end(1, [0, 1])
        self.assertEqual((book.told, book.sends(1, 4)), (1, False))
        book.forget_path()
        self.assertEqual(sum(book.sends(2, 5 + n) for n in range(40)), 10)
        book.hear(1, Marks(1, 1))
        book.end(3, [2, 3])
        book.hear(2, Marks(2, 2))
        book.end(4, [5])
        self.assertEqual((book.told, book.sends(4, 50)), (2, True))

    def test_counts_wrap(self) -> None:
        book = MarkBook()
        for n in range(70_000):
            book.sends(0, n)
            book.came(CE)
            book.hear(n, book.record)
            book.end(0, [n])
        self.assertEqual(book.told, 70_000)


class RecordsTest(unittest.TestCase):
    def test_close_is_alone(self) -> None:
        payload = encode_payload([Close(256, b"bye")], {}, 0)
        self.assertEqual(payload.hex(" "), "07 00 01 03 62 79 65")
        for fault in (payload + b"\x07", payload[:-1], b"\x07\x00\x01\x01\xff", b"\x07\x00\x01\x81" + bytes(129)):
            with self.assertRaises(Refused):
                decode_payload(fault, {}, 0)

    def test_lanes(self) -> None:
        payload = encode_payload([OnLane(0, Ack(5, 3, frozenset({0, 2})))], {}, 1)
        self.assertEqual(payload.hex(" "), "09 00 04 05 00 02 05")
        with self.assertRaisesRegex(Refused, "lane"):
            decode_payload(payload, {}, 0)
