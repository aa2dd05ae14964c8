"""One chunk over UDP, as `chunkwire live --help` asks for: a driver around the machines.

The environment says what to do: CHUNKWIRE_MODE (send or recv), CHUNKWIRE_ADDRESS (an IPv4
address and a port), CHUNKWIRE_PROTOCOL_ID (decimal) and CHUNKWIRE_VARIANT (slices, repair or
connection).
"""

from __future__ import annotations

import os
import select
import socket
import sys
import time

from typing import Any

from chunkwire import (
    MAX_CHUNK,
    Adaptive,
    Rateless,
    Receiver,
    Refused,
    RepairReceiver,
    RepairSender,
    Sender,
    decode_packet,
    decode_repair,
    encode_packet,
    encode_repair,
)

import live_connection

SECOND = 1_000_000


class Named:
    """The chunk protocol (spec/PROTOCOL.md)."""

    encode, decode = staticmethod(encode_packet), staticmethod(decode_packet)
    accepted, sender_fails, receiver_fails = "S1", "S15", "R23"
    offset = 0
    receiver = Receiver

    @staticmethod
    def sender() -> Sender:
        return Sender(Adaptive())


class Repair:
    """Slices of repair (spec/REPAIR.md); RPI-1 adds the offset to the protocol id."""

    encode, decode = staticmethod(encode_repair), staticmethod(decode_repair)
    accepted, sender_fails, receiver_fails = "T1", "T15", "U24"
    offset = 256
    receiver = RepairReceiver

    @staticmethod
    def sender() -> RepairSender:
        return RepairSender(Rateless())


def now_us() -> int:
    """Microseconds of a clock that only runs forward (TIM-2)."""
    return time.monotonic_ns() // 1_000


class Link:
    """A socket and the peer at its other end."""

    def __init__(self, peer: tuple[str, int], protocol_id: int, variant: Any) -> None:
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.peer = peer
        self.variant = variant
        self._protocol_id = (protocol_id + variant.offset) % (1 << 32)

    def send_due(self, machine: Any, now: int) -> str:
        """Polls until nothing more comes, and returns the last row (SND-3, RCV-1)."""
        row, packet = machine.poll(now)
        while packet is not None:
            try:
                self.socket.sendto(self.variant.encode(self._protocol_id, packet), self.peer)
            except OSError:
                pass  # a datagram that the system refuses is as good as lost
            row, packet = machine.poll(now)
        return row

    def wait(self, deadline: float) -> Any:
        """The packet that comes until the deadline, if one does; what does not decode is none (CON-4)."""
        seconds = min(max(deadline - now_us(), 0) / SECOND, 1)
        if not select.select([self.socket], [], [], seconds)[0]:
            return None
        try:
            datagram, self.peer = self.socket.recvfrom(2_048)
            return self.variant.decode(self._protocol_id, datagram)
        except (OSError, Refused):
            return None


def send(link: Link) -> str | None:
    """Sends standard input as chunk 0. What went wrong, if something did."""
    sender = link.variant.sender()
    now = now_us()
    if sender.submit(now, sys.stdin.buffer.read(MAX_CHUNK + 1)) != link.variant.accepted:
        return f"a chunk has 1 to {MAX_CHUNK} bytes"
    while sender.state == "SENDING":
        if link.send_due(sender, now) == link.variant.sender_fails:
            return "no answer, gave up"
        packet = link.wait(sender.deadline)
        now = now_us()
        if packet is not None and not hasattr(packet, "data"):  # before the poll at the same time (SND-4)
            sender.ack(now, packet)
    return None


def receive(link: Link) -> str | None:
    """Writes chunk 0 to standard output, and answers until no slice has come for a second."""
    receiver = link.variant.receiver()
    link.socket.bind(link.peer)
    chunk = None
    quiet_since = now = now_us()
    while chunk is None or now - quiet_since < 3 * SECOND:
        packet = link.wait(receiver.deadline)
        now = now_us()
        if hasattr(packet, "data"):
            receiver.slice(now, packet)
            quiet_since = now_us()  # to rebuild a chunk takes a while
        if link.send_due(receiver, now) == link.variant.receiver_fails:
            return "no further slices, gave up"
        if chunk is None:
            chunk = receiver.read(now)[1]
    sys.stdout.buffer.write(chunk)
    sys.stdout.buffer.flush()
    return None


def main() -> str | None:
    try:
        mode = {"send": send, "recv": receive}[os.environ["CHUNKWIRE_MODE"]]
        host, _, port = os.environ["CHUNKWIRE_ADDRESS"].partition(":")
        if os.environ.get("CHUNKWIRE_VARIANT") == "connection":
            return live_connection.live(os.environ["CHUNKWIRE_MODE"], (host, int(port)), int(os.environ["CHUNKWIRE_PROTOCOL_ID"]))
        variant = {"slices": Named, "repair": Repair}[os.environ.get("CHUNKWIRE_VARIANT", "slices")]
        link = Link((host, int(port)), int(os.environ["CHUNKWIRE_PROTOCOL_ID"]), variant)
    except (KeyError, ValueError):
        return "CHUNKWIRE_MODE, CHUNKWIRE_ADDRESS and CHUNKWIRE_PROTOCOL_ID must be set"
    return mode(link)


if __name__ == "__main__":
    problem = main()
    sys.exit(problem and f"live: {problem}")
