"""Chunks through a network that loses, doubles, delays and reorders, all in memory."""

import heapq
import random
import unittest

from chunkwire import (
    BURST,
    BaseScheduler,
    Profile,
    Receiver,
    Sender,
    Slice,
    article,
    decode_packet,
    encode_packet,
    fixed,
)

PROTOCOL_ID = 0xC0FFEE
READ_EVERY = 30_000


class Conversation:
    def __init__(self, profile: Profile, seed: int) -> None:
        self.random = random.Random(seed)
        self.sender = Sender(BaseScheduler(profile), first_id=65_534)
        self.receiver = Receiver(first_id=65_534)
        self.network: list[tuple[int, int, bytes]] = []
        self.sent = 0
        self.now = 0

    def run(self, chunks: list[bytes]) -> list[bytes]:
        """What the receiver's reader gets, in the end."""
        waiting, read = list(chunks), []
        next_read = 0
        while waiting or self.sender.state == "SENDING" or len(read) < len(chunks):
            if waiting and self.sender.submit(self.now, waiting[0]) == "S1":
                waiting.pop(0)
            if self.now >= next_read:
                next_read = self.now + READ_EVERY
                chunk = self.receiver.read(self.now)[1]
                if chunk is not None:
                    read.append(chunk)
            self.poll()
            arrival = self.network[0][0] if self.network else next_read
            self.now = max(self.now, int(min(self.sender.deadline, self.receiver.deadline, arrival, next_read)))
            self.arrive()
        return read

    def poll(self) -> None:
        for machine in (self.sender, self.receiver):
            while (packet := machine.poll(self.now)[1]) is not None:
                self.put(encode_packet(PROTOCOL_ID, packet))
        if "FAILED" in (self.sender.state, self.receiver.state):
            raise AssertionError("gave up")

    def put(self, datagram: bytes) -> None:
        copies = self.random.choices((0, 1, 2), (20, 77, 3))[0]
        for _ in range(copies):
            self.sent += 1
            at = self.now + 20_000 + self.random.randrange(5_000)
            heapq.heappush(self.network, (at, self.sent, datagram))

    def arrive(self) -> None:
        while self.network and self.network[0][0] <= self.now:
            packet = decode_packet(PROTOCOL_ID, heapq.heappop(self.network)[-1])
            if isinstance(packet, Slice):
                self.receiver.slice(self.now, packet)
            else:
                self.sender.ack(self.now, packet)


class ConversationTest(unittest.TestCase):
    def test_chunks_arrive_in_order_and_whole(self) -> None:
        sizes = (1, 1_024, 1_025, 100_000, 262_144)
        for seed, profile in enumerate((BURST, fixed(500_000), article(500_000), fixed(0))):
            with self.subTest(profile):
                conversation = Conversation(profile, seed)
                chunks = [conversation.random.randbytes(size) for size in sizes]
                self.assertEqual(conversation.run(chunks), chunks)
                self.assertEqual(conversation.sender.chunk_id, (65_534 + len(sizes)) % 65_536)
