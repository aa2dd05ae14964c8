"""One chunk over UDP, as `chunkwire live --help` asks for: a driver around the machines.

The environment says what to do: CHUNKWIRE_MODE (send or recv), CHUNKWIRE_ADDRESS (an IPv4
address and a port) and CHUNKWIRE_PROTOCOL_ID (decimal).
"""

from __future__ import annotations

import os
import select
import socket
import sys
import time

from chunkwire import MAX_CHUNK, Ack, BaseScheduler, Receiver, Refused, Sender, Slice, decode_packet, encode_packet

SECOND = 1_000_000


def now_us() -> int:
    """Microseconds of a clock that only runs forward (TIM-2)."""
    return time.monotonic_ns() // 1_000


class Link:
    """A socket and the peer at its other end."""

    def __init__(self, peer: tuple[str, int], protocol_id: int) -> None:
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.peer = peer
        self._protocol_id = protocol_id

    def send_due(self, machine: Sender | Receiver, now: int) -> str:
        """Polls until nothing more comes, and returns the last row (SND-3, RCV-1)."""
        row, packet = machine.poll(now)
        while packet is not None:
            try:
                self.socket.sendto(encode_packet(self._protocol_id, packet), self.peer)
            except OSError:
                pass  # a datagram that the system refuses is as good as lost
            row, packet = machine.poll(now)
        return row

    def wait(self, deadline: float) -> Slice | Ack | None:
        """The packet that comes until the deadline, if one does; what does not decode is none (CON-4)."""
        seconds = min(max(deadline - now_us(), 0) / SECOND, 1)
        if not select.select([self.socket], [], [], seconds)[0]:
            return None
        try:
            datagram, self.peer = self.socket.recvfrom(2_048)
            return decode_packet(self._protocol_id, datagram)
        except (OSError, Refused):
            return None


def send(link: Link) -> str | None:
    """Sends standard input as chunk 0. What went wrong, if something did."""
    sender = Sender(BaseScheduler())
    now = now_us()
    if sender.submit(now, sys.stdin.buffer.read(MAX_CHUNK + 1)) != "S1":
        return f"a chunk has 1 to {MAX_CHUNK} bytes"
    while sender.state == "SENDING":
        if link.send_due(sender, now) == "S15":
            return "no answer, gave up"
        packet = link.wait(sender.deadline)
        now = now_us()
        if isinstance(packet, Ack):  # before the poll at the same time (SND-4)
            sender.ack(now, packet)
    return None


def receive(link: Link) -> str | None:
    """Writes chunk 0 to standard output, and answers until no slice has come for a second."""
    receiver = Receiver()
    link.socket.bind(link.peer)
    chunk = None
    quiet_since = now = now_us()
    while chunk is None or now - quiet_since < SECOND:
        packet = link.wait(receiver.deadline)
        now = now_us()
        if isinstance(packet, Slice):
            quiet_since = now
            receiver.slice(now, packet)
        if link.send_due(receiver, now) == "R23":
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
        link = Link((host, int(port)), int(os.environ["CHUNKWIRE_PROTOCOL_ID"]))
    except (KeyError, ValueError):
        return "CHUNKWIRE_MODE, CHUNKWIRE_ADDRESS and CHUNKWIRE_PROTOCOL_ID must be set"
    return mode(link)


if __name__ == "__main__":
    problem = main()
    sys.exit(problem and f"live: {problem}")
