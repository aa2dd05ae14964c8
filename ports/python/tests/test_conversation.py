"""Chunks through a network that loses, doubles, delays and reorders, all in memory."""

import heapq
import random
import unittest
from typing import Any

from chunkwire import (
    BURST,
    BaseScheduler,
    Controller,
    Rateless,
    Receiver,
    RepairReceiver,
    RepairSender,
    Sender,
    article,
    decode_packet,
    decode_repair,
    encode_packet,
    encode_repair,
    fixed,
)

PROTOCOL_ID = 0xC0FFEE
READ_EVERY = 30_000


class Conversation:
    encode, decode = staticmethod(encode_packet), staticmethod(decode_packet)
    accepted = "S1"

    def __init__(self, sender: Any, receiver: Any, seed: int) -> None:
        self.random = random.Random(seed)
        self.sender, self.receiver = sender, receiver
        self.network: list[tuple[int, int, bytes]] = []
        self.sent = 0
        self.now = 0

    def run(self, chunks: list[bytes]) -> list[bytes]:
        """What the receiver's reader gets, in the end."""
        waiting, read = list(chunks), []
        next_read = 0
        while waiting or self.sender.state == "SENDING" or len(read) < len(chunks):
            if waiting and self.sender.submit(self.now, waiting[0]) == self.accepted:
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
                self.put(self.encode(PROTOCOL_ID, packet))
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
            packet = self.decode(PROTOCOL_ID, heapq.heappop(self.network)[-1])
            if hasattr(packet, "data"):
                self.receiver.slice(self.now, packet)
            else:
                self.sender.ack(self.now, packet)


class RepairConversation(Conversation):
    encode, decode = staticmethod(encode_repair), staticmethod(decode_repair)
    accepted = "T1"


class ConversationTest(unittest.TestCase):
    SIZES = (1, 1_024, 1_025, 100_000, 262_144)

    def run_chunks(self, conversation: Conversation) -> None:
        chunks = [conversation.random.randbytes(size) for size in self.SIZES]
        self.assertEqual(conversation.run(chunks), chunks)
        self.assertEqual(conversation.sender.chunk_id, (65_534 + len(self.SIZES)) % 65_536)

    def test_chunks_arrive_in_order_and_whole(self) -> None:
        for seed, profile in enumerate((BURST, fixed(500_000), article(500_000), fixed(0))):
            with self.subTest(profile):
                self.run_chunks(Conversation(Sender(BaseScheduler(profile), 65_534), Receiver(65_534), seed))

    def test_chunks_with_repair_arrive_in_order_and_whole(self) -> None:
        rules = (Rateless(), Rateless(redundant=True), Rateless(Controller(4_000_000, fixed=True)), Rateless(Controller(burst=True)))
        for seed, rule in enumerate(rules):
            with self.subTest(seed):
                self.run_chunks(RepairConversation(RepairSender(rule, 65_534), RepairReceiver(65_534), seed))
