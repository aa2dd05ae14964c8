"""One chunk over a connection: a driver around the session and the connection, client or server.

`chunkwire live --connection` runs it through live.py, with a channel on which the chunk goes again.
By itself it has no channels:

    live_connection.py send HOST PORT [--key FILE] [--mode unprotected|mac|aead] < chunk
    live_connection.py recv HOST PORT [...] > chunk

`send` is a client and `recv` a server. `chunkwire keygen` writes the key file.
"""

from __future__ import annotations

import argparse
import os
import select
import socket
import sys
import time
from typing import Mapping

from chunkwire.base import BaseScheduler
from chunkwire.connection import CLOSED, Config, Connection
from chunkwire.channels import Channel
from chunkwire.connection_records import NAMED, REPAIR
from chunkwire.mux import Setup
from chunkwire.rateless import Rateless
from chunkwire.refused import Refused
from chunkwire.session_client import Client, Terms
from chunkwire.session_server import CONFIRMED, Entry, Server
from chunkwire.sessions import ANONYMOUS, ENDED, MODES, NO_KEY, TIMEOUT_UNIT, Agreed, address_bytes, format_of
from chunkwire.times import NEVER

SECOND = 1_000_000
LARGEST = 2_048
MESSAGE = 1_024


def now_us() -> int:
    """Microseconds of a clock that only runs forward (CXN-2)."""
    return time.monotonic_ns() // 1_000


def wait(sock: socket.socket, deadline: float) -> tuple[bytes, tuple[str, int]] | None:
    """What comes until the deadline, if something does."""
    seconds = min(max(deadline - now_us(), 0) / SECOND, 1)
    if not select.select([sock], [], [], seconds)[0]:
        return None
    try:
        return sock.recvfrom(LARGEST)
    except OSError:
        return None


def config_of(agreed: Agreed, channels: Mapping[int, Setup]) -> Config:
    scheduler = Rateless if agreed.variant == REPAIR else BaseScheduler
    return Config(channels, agreed.lanes, agreed.timeout * TIMEOUT_UNIT, scheduler=scheduler, variant=agreed.variant)


def is_data(datagram: bytes) -> bool:
    return datagram[:1] in (b"\x40", b"\x41", b"\x42")


def give(sock: socket.socket, datagram: bytes, peer: tuple[str, int]) -> None:
    try:
        sock.sendto(datagram, peer)
    except OSError:
        pass  # a datagram that the system refuses is as good as lost


class Sending:
    """A client that sends one chunk, on channel 0 as well if there is one, and closes when the server has it."""

    def __init__(
        self, sock: socket.socket, server: tuple[str, int], terms: Terms, identity: bytes = ANONYMOUS, key: bytes = NO_KEY, channels: Mapping[int, Setup] = {}
    ) -> None:
        self.sock, self.server, self.channels = sock, server, channels
        self.client = Client(now_us(), terms, identity, key, os.urandom)
        self.connection: Connection | None = None

    def run(self, chunk: bytes) -> str | None:
        while True:
            now = now_us()
            deadline = self.send_due(now)
            if self.client.ended and self.connection is None:
                return f"no connection: {self.client.ended}"
            if self.connection and self.connection.state == CLOSED:
                return None if self.delivered else f"the connection ended: {self.connection.ended}"
            arrived = wait(self.sock, deadline)
            if arrived and arrived[1] == self.server:
                self.take(now_us(), arrived[0], chunk)

    delivered = False

    def take(self, now: int, datagram: bytes, chunk: bytes) -> None:
        try:
            if is_data(datagram) and self.connection:
                if self.connection.receive(now, datagram)[0] in ("K2", "K3", "K10", "K11"):
                    self.client.data(now)
            else:
                self.client.receive(now, datagram)
        except Refused:
            return
        if self.client.envelope and not self.connection:
            self.connection = Connection(now, self.client.envelope, config_of(self.client.agreed, self.channels), is_client=True)
            self.connection.send_chunk(now, chunk)
            for at in range(0, len(chunk) if self.channels else 0, MESSAGE):
                self.connection.send(now, 0, chunk[at : at + MESSAGE])
        if self.connection and not self.delivered and self.connection.is_delivered:
            self.delivered = True
            self.connection.close(now, 0, b"")

    def send_due(self, now: int) -> float:
        while (row_datagram := self.client.poll(now))[1] or row_datagram[0] == "I16":
            if row_datagram[1]:
                give(self.sock, row_datagram[1], self.server)
        if not self.connection:
            return self.client.deadline
        while (datagram := self.connection.poll(now)[1]) is not None:
            give(self.sock, datagram, self.server)
            self.client.sent(now)
        return min(self.client.deadline, self.connection.deadline)


class Receiving:
    """A server that takes one chunk from one client, and ends when that has closed."""

    def __init__(self, sock: socket.socket, terms: Terms, keys: dict[bytes, bytes], channels: Mapping[int, Setup] = {}) -> None:
        self.sock, self.terms, self.channels = sock, terms, channels
        self.messages = b""
        self.server = Server(terms, keys, not keys, os.urandom)
        self.connections: dict[int, Connection] = {}
        self.peers: dict[bytes, tuple[str, int]] = {}
        self.chunk: bytes | None = None

    def run(self) -> str | None:
        while True:
            now = now_us()
            deadline = self.send_due(now)
            if any(c.state == CLOSED and self.chunk is not None for c in self.connections.values()):
                if self.channels and self.messages != self.chunk:
                    return f"the messages have {len(self.messages)} bytes, and are not the chunk of {len(self.chunk)}"
                sys.stdout.buffer.write(self.chunk)
                sys.stdout.buffer.flush()
                return None
            arrived = wait(self.sock, deadline)
            if arrived:
                self.take(now_us(), *arrived)

    def take(self, now: int, datagram: bytes, peer: tuple[str, int]) -> None:
        address = address_bytes(f"{peer[0]}:{peer[1]}")
        if is_data(datagram):
            self.take_data(now, datagram, address)
            return
        try:
            answer = self.server.receive(now, address, datagram).answer
        except Refused as refused:
            answer = getattr(refused, "answer", None)
        self.peers[address] = peer
        if answer:
            give(self.sock, answer, peer)

    def take_data(self, now: int, datagram: bytes, address: bytes) -> None:
        entry = self.server.find(int.from_bytes(datagram[1:5], "little"))
        if entry is None or not entry.living or entry.address != address:
            return
        connection = self.connections.get(entry.link) or self.begin(now, entry)
        if connection.receive(now, datagram)[0] in ("K2", "K3", "K10", "K11"):
            self.server.data(now, entry)
            self.connections[entry.link] = connection
        if connection.state == CLOSED:
            self.server.end(now, entry, ENDED)
        self.chunk = self.chunk or connection.read_chunk(now)
        while self.channels and (read := connection.read(now, 0)):
            self.messages += read.data

    def begin(self, now: int, entry: Entry) -> Connection:
        config = config_of(entry.agreed, self.channels)
        return Connection(now, entry.envelope, config, is_client=False)

    def send_due(self, now: int) -> float:
        self.server.poll(now)
        for entry in self.server.entries:
            if entry.state == CONFIRMED and entry.link in self.connections:
                self.send_of(now, entry)
        ended = [c for c in self.connections.values() if c.state == CLOSED]
        return min([self.server.deadline, *(c.deadline for c in self.connections.values() if c not in ended)], default=NEVER)

    def send_of(self, now: int, entry: Entry) -> None:
        while (datagram := self.connections[entry.link].poll(now)[1]) is not None:
            give(self.sock, datagram, self.peers[entry.address])


def live(mode: str, address: tuple[str, int], protocol_id: int) -> str | None:
    """What testvectors/LIVE.md says of connections."""
    channels = {0: Setup(Channel("ordered"))}
    terms = Terms(protocol_id, MODES["aead"], variants=NAMED | REPAIR, timeout=300, format=format_of({i: s.channel for i, s in channels.items()}))
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    if mode == "send":
        return Sending(sock, address, terms, channels=channels).run(sys.stdin.buffer.read())
    sock.bind(address)
    return Receiving(sock, terms, {}, channels).run()


def read_key(path: str) -> tuple[bytes, bytes]:
    """The identity and the key of a key file's only line."""
    words = [line.split() for line in open(path, encoding="utf-8") if line.strip() and not line.startswith("#")]
    ((identity, key),) = words
    return int(identity, 16).to_bytes(8, "little"), bytes.fromhex(key)


def main() -> str | None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("send", "recv"))
    parser.add_argument("host")
    parser.add_argument("port", type=int)
    parser.add_argument("--key", type=read_key, default=(ANONYMOUS, NO_KEY))
    parser.add_argument("--mode", choices=["unprotected", "mac", "aead"], default="aead")
    parser.add_argument("--protocol-id", type=int, default=0x11223344)
    parser.add_argument("--lanes", type=int, default=1)
    args = parser.parse_args()
    identity, key = args.key
    mode = "crc" if args.mode == "unprotected" else args.mode
    terms = Terms(args.protocol_id, MODES[mode], args.lanes, variants=NAMED | REPAIR, format=format_of({}))
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    if args.what == "send":
        return Sending(sock, (args.host, args.port), terms, identity, key).run(sys.stdin.buffer.read())
    sock.bind((args.host, args.port))
    print(f"listening on port {sock.getsockname()[1]}", file=sys.stderr, flush=True)
    keys = {} if identity == ANONYMOUS else {identity: key}
    return Receiving(sock, terms, keys).run()


if __name__ == "__main__":
    sys.exit(main())
