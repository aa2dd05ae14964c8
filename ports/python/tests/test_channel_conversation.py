"""Channels over two endpoints, whose packets are lost, doubled, delayed and reordered, all in memory."""

import heapq
import random
import unittest

from chunkwire.channel_receiver import ChannelReceiver
from chunkwire.channel_sender import ChannelSender
from chunkwire.channels import MS, Channel
from chunkwire.endpoint import Endpoint
from chunkwire.records import (
    Fragment,
    Message,
    Record,
    Report,
    Skip,
    Status,
    decode_records,
    encode_records,
    is_quiet,
    size,
)

PAYLOAD = 1_160
FRAME = 16 * MS
END = 30_000 * MS


class Side:
    """One end: a packet layer, the sender of its messages, the receiver of the other's."""

    def __init__(self, channel: Channel) -> None:
        self.endpoint = Endpoint()
        self.channel = channel
        self.sender, self.receiver = ChannelSender(channel), ChannelReceiver(channel)
        self.read: list[tuple[int, bytes | None]] = []

    def compose(self, now: int) -> list[bytes]:
        """The datagrams of a packet, if there is something to say (CHC-1, CHC-7)."""
        round_trip = self.endpoint.round_trip
        srtt = round_trip.srtt if round_trip.measured else None
        for path in (self.sender.path, self.receiver.path):
            path.set(srtt, self.endpoint.patience.at(now))
        number = self.endpoint.next_to_send
        records: list[Record] = []
        space = PAYLOAD
        report = self.receiver.poll(now, space)[1]
        if report:
            records.append(report)
            space -= size(report)
        while (record := self.sender.poll(now, number, space)[1]) is not None:
            records.append(record)
            space -= size(record)
        if not records:
            datagram = self.endpoint.poll(now)
            return [] if datagram is None else [datagram]
        payload = encode_records(records, {0: self.channel})
        return self.endpoint.send(now, payload, quiet=is_quiet(records))

    def arrive(self, now: int, datagram: bytes) -> None:
        """CHC-3."""

        def above(number: int, payload: bytes, known: "int | None") -> str:
            records = decode_records(payload, {0: self.channel})
            for record in records:
                self._take(now, record, number, -1 if known is None else known)
            return "quiet" if is_quiet(records) else "take"

        self.endpoint.receive(now, datagram, above)

    def _take(self, now: int, record: Record, number: int, ack: int) -> None:
        if isinstance(record, Report):
            self.sender.report(now, record, number, ack)
        elif isinstance(record, (Message, Fragment)):
            self.receiver.data(now, record)
        elif isinstance(record, Skip):
            self.receiver.skip(now, record)
        elif isinstance(record, Status):
            self.receiver.status(now, record)

    def read_all(self, now: int) -> None:
        while (thing := self.receiver.read(now)[1]) is not None:
            self.read.append((thing.sequence, thing.data))


class Conversation:
    def __init__(self, channel: Channel, seed: int, loss: int) -> None:
        self.random = random.Random(seed)
        self.sides = (Side(channel), Side(channel))
        self.loss = loss
        self.network: list[tuple[int, int, int, bytes]] = []
        self.put = 0

    def run(self, messages: int, lifetimes: bool) -> list[dict[int, tuple[bytes, bool]]]:
        """What each side sent: by its first sequence the data, and whether it may expire."""
        sent: list[dict[int, tuple[bytes, bool]]] = [{}, {}]
        for now in range(0, END, FRAME // 4):
            while self.network and self.network[0][0] <= now:
                _, _, to, datagram = heapq.heappop(self.network)
                self.sides[to].arrive(now, datagram)
            for side in self.sides:
                side.read_all(now)
            if now % FRAME == 0:
                for side, kept in zip(self.sides, sent):
                    for _ in range(min(self.random.randrange(8), messages - len(kept))):
                        self.send(now, side, kept, lifetimes)
            for i, side in enumerate(self.sides):
                for datagram in side.compose(now):
                    self.carry(now, 1 - i, datagram)
            if all(len(kept) == messages and not side.sender.unreleased for side, kept in zip(self.sides, sent)):
                return sent
        raise AssertionError("did not end")

    def send(self, now: int, side: Side, kept: dict[int, tuple[bytes, bool]], lifetimes: bool) -> None:
        data = self.random.randbytes(self.random.choice((1, 8, 30, 200)))
        lifetime = self.random.choice((None, 30 * MS, 200 * MS)) if lifetimes else None
        first = side.sender.next
        if side.sender.send(now, data, lifetime) == "D3":
            kept[first] = (data, lifetime is not None)

    def carry(self, now: int, to: int, datagram: bytes) -> None:
        copies = self.random.choices((0, 1, 2), (self.loss, 97 - self.loss, 3))[0]
        for _ in range(copies):
            self.put += 1
            heapq.heappush(self.network, (now + self.random.randrange(20, 60) * MS, self.put, to, datagram))


class ConversationTest(unittest.TestCase):
    def converse(self, kind: str, loss: int, lifetimes: bool) -> None:
        seed = random.randrange(1 << 32)
        channel = Channel(kind, window=64, data=16, group=16, first=65_500)
        conversation = Conversation(channel, seed, loss)
        sent = conversation.run(300, lifetimes)
        for side, kept in ((conversation.sides[1], sent[0]), (conversation.sides[0], sent[1])):
            with self.subTest(kind, loss=loss, lifetimes=lifetimes, seed=seed):
                self.judge(side, kept, lifetimes)

    def judge(self, side: Side, kept: dict[int, tuple[bytes, bool]], lifetimes: bool) -> None:
        sequences = [sequence for sequence, _ in side.read]
        self.assertEqual(len(sequences), len(set(sequences)))
        if side.channel.kind == "ordered":  # CHT-SAFE-1
            self.assertEqual(sequences, sorted(sequences))
        delivered = {sequence: data for sequence, data in side.read if data is not None}
        for sequence, data in delivered.items():  # CHT-SAFE-2, CHT-SAFE-5
            self.assertEqual(data, kept[sequence][0])
        for sequence in kept.keys() - delivered.keys():  # CHT-SAFE-3
            self.assertTrue(lifetimes and kept[sequence][1])
            self.assertIn((sequence, None), side.read)
        self.assertEqual(side.receiver.counts["conflict"], 0)

    def test_ordered(self) -> None:
        """CHT-LIVE-1, CHT-SAFE-1."""
        for loss in (0, 5, 40):
            self.converse("ordered", loss, lifetimes=False)
        self.converse("ordered", 20, lifetimes=True)

    def test_unordered(self) -> None:
        """CHT-LIVE-1, CHT-SAFE-2."""
        for loss in (0, 5, 40):
            self.converse("unordered", loss, lifetimes=False)
        self.converse("unordered", 20, lifetimes=True)
