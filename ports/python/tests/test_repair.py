import random
import unittest
import zlib

from chunkwire import (
    MAX_CHUNK,
    NEVER,
    Controller,
    Rateless,
    Refused,
    RepairAck,
    RepairReceiver,
    RepairSender,
    RepairSlice,
    decode_repair,
    decode_repair_body,
    encode_repair,
    encode_repair_body,
)
from chunkwire.controller import Loss
from chunkwire.erasure import Decoder, Encoded, exponents
from chunkwire.rateless import need
from chunkwire.repair_codec import id_of
from chunkwire.repair_receiver import number_of
from chunkwire.traces import content

MS = 1_000
SECOND = 1_000_000


def slice_of(encoded: Encoded, slice_id: int, chunk_id: int = 0) -> RepairSlice:
    return RepairSlice(chunk_id, slice_id, encoded.num_slices, encoded.last_bytes, encoded.slice(slice_id))


class CodeTest(unittest.TestCase):
    def test_repair_slices_have_the_checksums_of_the_document(self) -> None:
        for k, crcs in (
            (1, (0xB997DDCC, 0xE9193FA0, 0xE785AE4A)),
            (2, (0x9DB6D897, 0xE843C435, 0x3AF8CC44)),
            (3, (0xB7CDFE8C, 0xD07C524D, 0xD2BEE67E)),
            (256, (0xE30B4483, 0xB85DFB38, 0x6A4B8894)),
        ):
            encoded = Encoded(content(0, 0, 1_024 * k))
            self.assertEqual(tuple(zlib.crc32(encoded.slice(k + j)) for j in (0, 1, 7_935)), crcs)

    def test_any_independent_slices_rebuild_the_chunk(self) -> None:
        rng = random.Random(1)
        for size in (1, 5, 1_024, 1_025, 5_000, 40_000, MAX_CHUNK - 1):
            for lost in (0.05, 0.5, 0.95):
                chunk = rng.randbytes(size)
                encoded = Encoded(chunk)
                decoder = Decoder(encoded.num_slices)
                ids = [i for i in range(4 * encoded.num_slices) if rng.random() > lost]
                rng.shuffle(ids)
                while decoder.rank < encoded.num_slices:
                    slice_id = ids.pop() if ids else rng.randrange(encoded.num_slices, 8_192)
                    decoder.add(slice_id, encoded.slice(slice_id))
                self.assertEqual(decoder.rebuild()[:size], chunk)

    def test_a_dependent_slice_is_refused(self) -> None:
        rows: dict[int, int] = {}
        for j in range(100):  # rows of two columns are proportional where the difference of exponents is the same
            a, b = exponents(j, 2)
            if (a - b) % 255 in rows:
                break
            rows[(a - b) % 255] = j
        decoder = Decoder(2)
        self.assertTrue(decoder.add(2 + rows[(a - b) % 255], bytes(1_024)))
        self.assertFalse(decoder.add(2 + j, bytes(1_024)))
        self.assertTrue(decoder.add(1, bytes(1_024)))
        self.assertFalse(decoder.add(0, bytes(1_024)))


class CodecTest(unittest.TestCase):
    def test_what_was_encoded_is_decoded(self) -> None:
        for packet in (
            RepairSlice(65_535, 8_191, 256, 1, bytes(1_024)),
            RepairSlice(7, 2, 3, 5, b"abcde"),
            RepairSlice(7, 9, 1, 5, b"abcde"),
            RepairAck(1, 256, 256, 8_191),
            RepairAck(1, 1, 0, 0),
        ):
            self.assertEqual(decode_repair(9, encode_repair(9, packet)), packet)
            self.assertEqual(decode_repair_body(type(packet), encode_repair_body(packet)), packet)

    def test_have_is_not_above_num_slices(self) -> None:
        good = int.from_bytes(encode_repair_body(RepairAck(1, 256, 256, 0)), "little")
        with self.assertRaises(Refused) as caught:
            decode_repair_body(RepairAck, (good | 1 << 24).to_bytes(6, "little"))
        self.assertEqual((caught.exception.code, caught.exception.place), ("have_out_of_range", 24))


class NumbersTest(unittest.TestCase):
    def test_the_receiver_follows_the_numbers_round_the_wrap(self) -> None:
        for k in (1, 3, 256):
            rng, top = random.Random(k), 0
            for _ in range(200):
                sent = top + rng.randrange(3_000)
                self.assertEqual(number_of(id_of(sent, k), k, top), sent)
                top = sent + 1


class SenderTest(unittest.TestCase):
    def send_until(self, sender: RepairSender, now: int, end: int) -> list[int]:
        """The ids that go out from now on."""
        out = []
        while now < end:
            while (packet := sender.poll(now)[1]) is not None:
                out.append(packet.id)
            now = max(now + 1, int(min(sender.deadline, end)))
        return out

    def test_a_loss_is_repaired_without_a_resend(self) -> None:
        sender = RepairSender(Rateless(Controller(8_000_000_000, fixed=True)))
        self.assertEqual(sender.submit(0, bytes(10 * 1_024)), "T1")
        out = self.send_until(sender, 0, 10 * MS)
        self.assertEqual(out, list(range(len(out))))
        self.assertGreater(len(out), 10)
        self.assertEqual(sender.ack(50 * MS, RepairAck(0, 10, 8, len(out))), "T9")
        repair = self.send_until(sender, 50 * MS, 60 * MS)
        self.assertEqual(repair, [len(out), len(out) + 1, len(out) + 2])
        self.assertEqual(sender.ack(90 * MS, RepairAck(0, 10, 10, len(out) + 2)), "T10")
        self.assertEqual((sender.chunk_id, sender.deadline), (1, NEVER))

    def test_foreign_acks_change_nothing(self) -> None:
        sender = RepairSender(Rateless())
        sender.submit(0, bytes(3_000))
        self.send_until(sender, 0, 10)
        for ack in (RepairAck(1, 3, 1, 1), RepairAck(0, 2, 1, 1), RepairAck(0, 3, 1, 50), RepairAck(0, 3, 2, 1)):
            self.assertEqual(sender.ack(1, ack), "T6")
        self.assertEqual((sender.have, sender.top), (0, 0))

    def test_need_grows_with_the_loss(self) -> None:
        loss = Loss()
        without = need(loss, 256, 4)
        loss.count(100, 100)
        self.assertGreater(need(loss, 256, 4), without + 60)
        loss.count(0, 100_000)
        self.assertEqual(need(loss, 256, 4), 1_024)


class ReceiverTest(unittest.TestCase):
    def test_every_row_of_a_conversation(self) -> None:
        encoded, receiver = Encoded(bytes(range(256)) * 12), RepairReceiver()
        give = lambda slice_id, now=0: receiver.slice(now, slice_of(encoded, slice_id))  # noqa: E731
        self.assertEqual([give(1), give(1), give(4), give(5)], ["U2", "U7", "U5", "U6"])
        self.assertEqual(receiver.poll(0), ("U25", RepairAck(0, 3, 3, 6)))
        self.assertEqual([give(6), receiver.read(0)], ["U15", ("U17", bytes(range(256)) * 12)])
        self.assertEqual([give(0), receiver.read(0)[0], receiver.poll(1)[0]], ["U3", "U18", "U21"])
        self.assertEqual(receiver.inconsistent, 0)

    def test_a_forged_slice_is_noticed(self) -> None:
        encoded, receiver = Encoded(bytes(3_072)), RepairReceiver()
        receiver.slice(0, slice_of(encoded, 0)._replace(data=b"x" * 1_024))
        for slice_id in (1, 2, 3):
            receiver.slice(0, slice_of(encoded, slice_id))
        self.assertEqual(receiver.inconsistent, 1)

    def test_conflicts_and_gives_up(self) -> None:
        encoded, receiver = Encoded(bytes(3_000)), RepairReceiver(give_up=SECOND)
        receiver.slice(0, slice_of(encoded, 0))
        other = slice_of(encoded, 0)._replace(last_bytes=7)
        self.assertEqual(receiver.slice(SECOND // 2 - 1, other), "U9")
        self.assertEqual(receiver.slice(SECOND // 2, other), "U10")
        self.assertEqual(receiver.poll(SECOND * 3 // 2)[0], "U24")
        self.assertEqual((receiver.slice(0, other), receiver.read(0)[0], receiver.poll(0)[0]), ("U27", "U28", "U29"))


if __name__ == "__main__":
    unittest.main()
