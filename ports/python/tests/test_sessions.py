"""A client and a server of connections over a network in memory, and who attacks them."""

import random
import unittest

from chunkwire import x25519
from chunkwire.refused import Refused
from chunkwire.session_client import Client, Terms
from chunkwire.session_server import Limits, Server
from chunkwire.sessions import AEAD, ANONYMOUS, CRC, ENDED, IDENTITY, MAC, MODE, MS, NO_KEY, NO_PROOF, REPLACED, Refusal, address_bytes, encode

IDENTITY_1, KEY_1 = bytes.fromhex("0100000000000000"), bytes(range(32))
HERE, THERE = address_bytes("192.0.2.1:1"), address_bytes("192.0.2.2:2")


def generator(seed: int):
    return random.Random(seed).randbytes


def server(mode: int = AEAD, anonymous: bool = False, **limits: int) -> Server:
    return Server(Terms(mode=mode), {IDENTITY_1: KEY_1}, anonymous, generator(1), Limits(**limits))


def client(now: int = 0, mode: int = AEAD, seed: int = 2, key: bytes = KEY_1) -> Client:
    return Client(now, Terms(mode=mode), IDENTITY_1, key, generator(seed))


def talk(c: Client, s: Server, now: int, address: bytes = HERE) -> list[str]:
    """One exchange after another while the client has something to say; the rows of the server."""
    rows = []
    while (datagram := c.poll(now)[1]) is not None:
        taken = s.receive(now, address, datagram)
        rows.append(taken.row)
        if taken.answer is not None:
            assert len(taken.answer) < len(datagram)
            c.receive(now, taken.answer)
    return rows


class HandshakeTest(unittest.TestCase):
    def test_both_have_the_same_keys(self) -> None:
        for mode in (MAC, AEAD):
            c, s = client(mode=mode), server(mode)
            self.assertEqual(talk(c, s, 10), ["", "J3"])
            self.assertEqual(c.state, "OPEN")
            (entry,) = s.entries
            self.assertEqual(entry.envelope.open(c.envelope.seal(b"to the server")), b"to the server")
            self.assertEqual(c.envelope.open(entry.envelope.seal(b"to the client")), b"to the client")
            self.assertEqual(s.data(20, entry), "J9")
            with self.assertRaises(Refused):  # its own datagram, sent back
                c.envelope.open(c.envelope.seal(b"x"))

    def test_a_move_keeps_the_keys(self) -> None:
        c, s = client(), server()
        talk(c, s, 0)
        s.data(1, s.entries[0])
        self.assertEqual(c.move(20 * MS), "I22")
        self.assertEqual(talk(c, s, 20 * MS, THERE), ["", "J15"])
        self.assertEqual((c.state, s.entries[0].address), ("OPEN", THERE))

    def test_silence_resumes_and_a_restart_is_noticed(self) -> None:
        c, s = client(), server()
        talk(c, s, 0)
        c.sent(1)
        self.assertEqual(c.deadline, 3_000 * MS)
        self.assertEqual(talk(c, server(), 3_000 * MS), [])  # I16
        self.assertEqual(talk(c, server(), 3_000 * MS), ["", "J1"])
        self.assertEqual(c.ended, ("refused", ENDED, True))

    def test_refusals(self) -> None:
        c, s = client(key=bytes(32)[:-1] + b"\1"), server()
        talk(c, s, 0)
        self.assertEqual((c.state, c.hint), ("LINKING", IDENTITY))
        self.assertEqual(c.poll(1_000 * MS)[0], "I2")
        self.assertEqual(c.ended, ("refused", IDENTITY, False))
        c = client(mode=MAC)
        talk(c, s, 0)
        self.assertEqual(c.ended, ("refused", MODE, True))

    def test_another_instance_replaces(self) -> None:
        c, s = client(), server()
        talk(c, s, 0)
        self.assertEqual(talk(client(seed=3), s, 1, THERE), ["", "J7"])
        c.move(20 * MS)
        talk(c, s, 20 * MS)
        self.assertEqual(c.ended, ("refused", REPLACED, True))

    def test_an_observer_ends_nothing(self) -> None:
        c, s = client(), server()
        link = c.poll(0)[1]
        c.receive(0, encode(Refusal(c.offer.nonce, 2, 3, NO_PROOF)))
        self.assertEqual(c.hint, 3)
        c.receive(1, s.receive(1, HERE, link).answer)
        self.assertEqual(c.hint, 0)
        proof = c.poll(1)[1]
        self.assertEqual(s.receive(1, THERE, proof).counted, "cookie")
        self.assertEqual(s.receive(5_000_001, HERE, proof).counted, "stale_cookie")

    def test_room(self) -> None:
        s = Server(Terms(mode=CRC), {}, True, generator(1), Limits(2, 1))
        first, second = (Client(0, Terms(mode=CRC), ANONYMOUS, NO_KEY, generator(seed)) for seed in (4, 5))
        self.assertEqual([talk(first, s, 0)[-1], talk(second, s, 0)[-1]], ["J3", "J2"])
        self.assertEqual(s.poll(5_000 * MS), ["J10"])


    def test_anonymous_clients_share_keys_that_are_not_sent(self) -> None:
        s = server(anonymous=True)
        c = Client(0, Terms(), ANONYMOUS, NO_KEY, generator(6))
        self.assertEqual(talk(c, s, 0), ["", "J3"])
        self.assertEqual(c.envelope.open(s.entries[0].envelope.seal(b"x")), b"x")

    def test_nothing_protects_an_identity_without_a_mac(self) -> None:
        with self.assertRaises(ValueError):
            client(mode=CRC)
        with self.assertRaises(ValueError):
            server(CRC)


class X25519Test(unittest.TestCase):
    """RFC 7748, section 5.2."""

    def test_the_vectors_of_the_document(self) -> None:
        for private, other, want in (
            (
                "a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4",
                "e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c",
                "c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552",
            ),
        ):
            self.assertEqual(x25519.shared(bytes.fromhex(private), bytes.fromhex(other)).hex(), want)

    def test_both_have_the_same(self) -> None:
        random_bytes = generator(7)
        for _ in range(3):
            a, b = random_bytes(32), random_bytes(32)
            self.assertEqual(x25519.shared(a, x25519.public(b)), x25519.shared(b, x25519.public(a)))

    def test_a_share_of_low_order_gives_nothing(self) -> None:
        self.assertEqual(x25519.shared(bytes(range(32)), bytes(32)), bytes(32))


class EnvelopeTest(unittest.TestCase):
    def test_each_once_in_any_order(self) -> None:
        c, s = client(), server()
        talk(c, s, 0)
        sealed = [c.envelope.seal(bytes([n])) for n in range(9)]
        random.Random(1).shuffle(sealed)
        opened = sorted(s.entries[0].envelope.open(d) for d in sealed)
        self.assertEqual(opened, [bytes([n]) for n in range(9)])
        for datagram in sealed:
            with self.assertRaisesRegex(Refused, "duplicate"):
                s.entries[0].envelope.open(datagram)
