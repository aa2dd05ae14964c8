"""Connections: constants, messages of the handshake, keys and proofs (spec/CONNECTION.md, sections 2 to 4, appendix A).

Times are in microseconds.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import struct
from typing import Callable, Mapping, NamedTuple

from . import x25519
from .channels import RELIABLE, Channel
from .packets import FRAGMENT_SIZE, MAX_FRAGMENTS
from .refused import Refused

MS = 1_000
SECOND = 1_000_000

# CXP-5
LINK_INTERVAL = 250 * MS
LINK_FAST = 2 * SECOND
LINK_SLOW = SECOND
PROOF_SPACING = 10 * MS
KEPT_CHALLENGES = 32
COOKIE_USE = 4 * SECOND
COOKIE_LIFE = 5 * SECOND
REFUSE_WAIT = SECOND
HALF_OPEN = 5 * SECOND
REMEMBER = 10 * SECOND
LARGEST_DATAGRAM = 1_225
TIMEOUT_UNIT = 100 * MS
LEAST_TIMEOUT, MOST_TIMEOUT = 10, 36_000
MOST_LANES = 16

VERSION = 2
CRC, MAC, AEAD = 0x40, 0x41, 0x42
MODES = {"crc": CRC, "mac": MAC, "aead": AEAD}
TAGS = {CRC: 4, MAC: 8, AEAD: 16}
HEAD = 9
"""Kind, link and counter of a datagram of data (CXE-1)."""

LINK, CHALLENGE, PROOF, LINKED, REFUSED = range(0x48, 0x4D)
SIZES = {LINK: 64, CHALLENGE: 50, PROOF: 153, LINKED: 75, REFUSED: 35}
FULL, IDENTITY, OTHER_VERSION, PROTOCOL, MODE, FORMAT, VARIANT, ENDED, REPLACED = range(1, 10)
"""The reasons of CXH-8."""

NO_PROOF = bytes(16)
ANONYMOUS = bytes(8)
NO_KEY = bytes(32)
OFFER = struct.Struct("<B16sIBBBHH8s8sI16s32s")
HELLO = 1 + OFFER.size
_LINK = struct.Struct("<B16s8s38s")
_CHALLENGE = struct.Struct("<16sQ16sB8s")
_PROVED = struct.Struct("<Q16s16s16s")
_LINKED = struct.Struct("<16sI32sBBHH16s")
_REFUSED = struct.Struct("<16sBB16s")


class Agreed(NamedTuple):
    """What a connection has (CXP-3), as bytes 53 to 58 of LINKED."""

    lanes: int
    variant: int
    extensions: int
    timeout: int

    def pack(self) -> bytes:
        return struct.pack("<BBHH", *self)


class Offer(NamedTuple):
    """CXH-2, without the version."""

    nonce: bytes
    protocol: int
    mode: int
    lanes: int
    variants: int
    extensions: int
    timeout: int
    format: bytes
    identity: bytes
    resume: int
    digest: bytes
    share: bytes

    def pack(self) -> bytes:
        return OFFER.pack(VERSION, *self)


class Link(NamedTuple):
    nonce: bytes
    versions: bytes
    reserved: bytes


class Challenge(NamedTuple):
    nonce: bytes
    stamp: int
    cookie: bytes
    version: int
    versions: bytes


class Proof(NamedTuple):
    offer: Offer
    stamp: int
    cookie: bytes
    move: bytes
    proof: bytes


class Linked(NamedTuple):
    nonce: bytes
    link: int
    share: bytes
    agreed: Agreed
    proof: bytes


class Refusal(NamedTuple):
    nonce: bytes
    version: int
    reason: int
    proof: bytes


class Data(NamedTuple):
    """The fields of a datagram of data, which is not opened."""

    mode: int
    link: int
    counter: int
    body: bytes
    tag: bytes


Message = Link | Challenge | Proof | Linked | Refusal | Data
_KINDS = {Link: LINK, Challenge: CHALLENGE, Proof: PROOF, Linked: LINKED, Refusal: REFUSED}


def decode(datagram: bytes) -> Message:
    """Section 3.3: raises Refused with the code and the place of the first check that fails."""
    kind = _kind(datagram)
    if kind in TAGS:
        return _data(datagram)
    _size(datagram, SIZES[kind], SIZES[kind])
    message = _READ[kind](datagram)
    _check(message)
    return message


def encode(message: Message) -> bytes:
    """CXH-11."""
    _check(message)
    kind = bytes([_KINDS[type(message)]])
    if isinstance(message, Link):
        return kind + _LINK.pack(VERSION, *message)
    if isinstance(message, Challenge):
        return kind + _CHALLENGE.pack(*message)
    if isinstance(message, Proof):
        return kind + message.offer.pack() + _PROVED.pack(*message[1:])
    if isinstance(message, Linked):
        return kind + _LINKED.pack(*message[:3], *message.agreed, message.proof)
    return kind + _REFUSED.pack(*message)


def _kind(datagram: bytes) -> int:
    if not datagram:
        raise Refused("truncated", 0)
    kind = datagram[0]
    if kind not in TAGS and kind not in SIZES:
        raise Refused("unknown_kind", 0)
    if kind in (LINK, PROOF) and len(datagram) > 1 and datagram[1] != VERSION:
        raise Refused("version", 1)
    return kind


def _size(datagram: bytes, least: int, most: int) -> None:
    if len(datagram) < least:
        raise Refused("truncated", len(datagram))
    if len(datagram) > most:
        raise Refused("trailing_data", most)


def _data(datagram: bytes) -> Data:
    tag = TAGS[datagram[0]]
    _size(datagram, HEAD + 1 + tag, LARGEST_DATAGRAM)
    mode, link, counter = struct.unpack("<BII", datagram[:HEAD])
    return Data(mode, link, counter, datagram[HEAD:-tag], datagram[-tag:])


def _offer(datagram: bytes) -> Offer:
    return Offer(*OFFER.unpack(datagram[1:HELLO])[1:])


def _linked(datagram: bytes) -> Linked:
    nonce, link, share, *agreed, proof = _LINKED.unpack(datagram[1:])
    return Linked(nonce, link, share, Agreed(*agreed), proof)


_READ: dict[int, Callable[[bytes], Message]] = {
    LINK: lambda d: Link(*_LINK.unpack(d[1:])[1:]),
    CHALLENGE: lambda d: Challenge(*_CHALLENGE.unpack(d[1:])),
    PROOF: lambda d: Proof(_offer(d), *_PROVED.unpack(d[HELLO:])),
    LINKED: _linked,
    REFUSED: lambda d: Refusal(*_REFUSED.unpack(d[1:])),
}


def _check(message: Message) -> None:
    """CXH-25 to CXH-27, CXH-29 to CXH-34, CXH-36."""
    if isinstance(message, Proof):
        offer = message.offer
        _must(offer.mode in TAGS, "mode", 22)
        _must(offer.lanes <= MOST_LANES, "lanes", 23)
        _must(LEAST_TIMEOUT <= offer.timeout <= MOST_TIMEOUT, "timeout", 27)
        _must(offer.mode != CRC or offer.identity == ANONYMOUS, "mode", 22)
    if isinstance(message, (Challenge, Proof)):
        _must(message.stamp < 1 << 62, "stamp", 17 if isinstance(message, Challenge) else HELLO)
    if isinstance(message, Linked):
        _must(message.link != 0, "link", 17)
        _check_agreed(message.agreed)
    if isinstance(message, Refusal):
        _must(message.reason != 0, "reason", 18)


def _check_agreed(agreed: Agreed) -> None:
    one = agreed.variant != 0 and agreed.variant & (agreed.variant - 1) == 0
    _must(agreed.lanes <= MOST_LANES, "lanes", 53)
    _must(one if agreed.lanes else agreed.variant == 0, "variant", 54)
    _must(LEAST_TIMEOUT <= agreed.timeout <= MOST_TIMEOUT, "timeout", 57)


def _must(right: bool, code: str, place: int) -> None:
    if not right:
        raise Refused(code, place)


# Section 4.


def mac(key: bytes, text: bytes) -> bytes:
    return hmac.digest(key, text, "sha256")


def same(a: bytes, b: bytes) -> bool:
    """CXK-9."""
    return hmac.compare_digest(a, b)


def expand(key: bytes, label: str, context: bytes = b"") -> bytes:
    """32 bytes of HKDF-Expand (CXN-6)."""
    return mac(key, bytes([len(label)]) + label.encode() + context + b"\x01")


def extract(salt: bytes, secret: bytes) -> bytes:
    return mac(salt, secret)


def digest(label: str, *parts: bytes) -> bytes:
    label = "chunkwire 2 " + label
    return hashlib.sha256(bytes([len(label)]) + label.encode() + b"".join(parts)).digest()


def new_share(mode: int, private: bytes) -> bytes:
    """CXK-12."""
    return private if mode == CRC else x25519.public(private)


class Keys(NamedTuple):
    """Those of the two directions, and that for proofs that resume (CXK-2, CXK-3)."""

    c2s: bytes
    s2c: bytes
    resume: bytes


class Greeting:
    """What a hello and the key of its identity give (CXK-1); server is the key of the server, or nothing."""

    def __init__(self, offer: Offer, key: bytes, server: bytes = b"") -> None:
        self.mode = offer.mode
        self.hello = digest("hello", bytes([PROOF]) + offer.pack() + server)
        self.static = self.known = b""
        self.given = NO_KEY if offer.identity == ANONYMOUS else expand(key, "chunkwire 2 key")
        self.first = extract(self.hello, self.given)
        self.proof_key, self.refused_key, self.next = (expand(self.first, label) for label in ("proof", "refused", "next"))

    def seen(self, challenge: Challenge) -> bytes:
        """CXK-11."""
        return digest("challenge", self.hello, encode(challenge))

    def prove(self, seen: bytes, move: bytes) -> tuple[bytes, bytes]:
        """The proof of a PROOF, and the transcript with it (CXK-6)."""
        moved = digest("move", seen, move)
        proof = expand(self.proof_key, "proof", moved)[:16]
        return proof, digest("proof", moved, proof)

    def know(self, private: bytes, public: bytes) -> bool:
        """What the client's share and the key of the server give; False if that is nothing (CXK-14)."""
        self.static = x25519.shared(private, public)
        self.known = expand(extract(self.next, self.static), "known")
        return any(self.static)

    def meet(self, private: bytes, share: bytes) -> Meeting | None:
        """What the shares give; None if that is nothing (CXK-12)."""
        shared = bytes(32) if self.mode == CRC else x25519.shared(private, share)
        if self.mode != CRC and not any(shared):
            return None
        return Meeting(self, shared)


class Meeting:
    """What a greeting and both shares give (CXK-1)."""

    def __init__(self, greeting: Greeting, shared: bytes) -> None:
        self._hello, self.shared = greeting.hello, shared
        self.second = extract(greeting.known or greeting.next, shared)
        self.answer_key = expand(self.second, "answer")

    def connection(self, linked: Linked) -> bytes:
        return digest("connection", self._hello, encode(linked)[17:59])

    def keys(self, linked: Linked) -> Keys:
        of = self.connection(linked)
        return Keys(*(expand(self.second, label, of) for label in ("c2s", "s2c", "resume")))


def move_of(resume_key: bytes, seen: bytes) -> bytes:
    """CXK-3."""
    return expand(resume_key, "move", seen)[:16]


def answer_of(key: bytes, whole: bytes, message: Message) -> bytes:
    """The proof of a LINKED or REFUSED (CXK-7, CXK-8)."""
    return expand(key, "answer", digest("answer", whole, encode(message)[:-16]))[:16]


def answered(key: bytes, whole: bytes, message: Message) -> Message:
    """The message with its proof."""
    return message._replace(proof=answer_of(key, whole, message))


# Versions (CXH-14, CXH-15).

NO_EXTENSION = 0x3000
"""Bits that never have a meaning."""


def _versions(value: int, place: int) -> bytes:
    never = value & 0xF0 | 0x0A
    return bytes([never, VERSION] if place % 2 else [VERSION, never]) + bytes(6)


def link_of(nonce: bytes) -> Link:
    reserved = (nonce * 3)[:38] if nonce[2] < 16 else bytes(38)
    return Link(nonce, _versions(nonce[0], nonce[1]), reserved)


def challenge_of(nonce: bytes, stamp: int, cookie: bytes) -> Challenge:
    return Challenge(nonce, stamp, cookie, VERSION, _versions(nonce[15], nonce[14]))


def extensions_of(nonce: bytes, extensions: int) -> int:
    return extensions & ~NO_EXTENSION | nonce[3] % 2 << 12


def chosen(client: bytes, server: bytes) -> int:
    return next((v for v in client if v and v % 16 != 10 and v in server), 0)


def digest_of(link: Link) -> bytes:
    """CXH-3."""
    return digest("link", encode(link))[:16]


KIND_NUMBERS = {"ordered": 0, "unordered": 1, "unreliable": 2, "latest": 3}


def format_of(channels: Mapping[int, Channel]) -> bytes:
    """FORMAT (CXP-4), with the defaults of the packet layer."""
    text = struct.pack("<HHB", FRAGMENT_SIZE, MAX_FRAGMENTS, len(channels))
    for i, c in sorted(channels.items()):
        sizes = (0, 0, 0) if c.kind not in RELIABLE else (c.window, c.data, c.group)
        text += struct.pack("<BBHHB", i, KIND_NUMBERS[c.kind], *sizes)
    return hashlib.sha256(text).digest()[:8]


def address_bytes(text: str) -> bytes:
    """CXN-7."""
    host, colon, port = text.rpartition(":")
    try:
        ip = ipaddress.ip_address(host[1:-1] if host.startswith("[") and host.endswith("]") else host)
        number = int(port)
        if ":" in host and not host.startswith("[") or host.startswith("[") and ip.version == 4 or not port.isdecimal() or number >= 1 << 16 or "%" in host:
            raise ValueError
    except ValueError:
        return hashlib.sha256(text.encode()).digest()[:18]
    whole = bytes(10) + b"\xff\xff" + ip.packed if ip.version == 4 else ip.packed
    return whole + struct.pack("<H", number)


def prefix(address: bytes) -> bytes:
    """CXN-8."""
    return address[:16] if address[:12] == bytes(10) + b"\xff\xff" else address[:8]


def cookie_of(secret: bytes, stamp: int, address: bytes, digest: bytes) -> bytes:
    """CXK-4."""
    return mac(expand(secret, "cookie"), struct.pack("<Q", stamp) + address + digest + bytes([VERSION]))[:16]


def agree(offer: Offer, lanes: int, variants: int, extensions: int, timeout: int) -> Agreed | None:
    """CXP-3, or None if there is no common variant."""
    lanes = min(lanes, offer.lanes)
    common = variants & offer.variants
    if lanes and not common:
        return None
    variant = 1 << common.bit_length() - 1 if lanes else 0
    return Agreed(lanes, variant, extensions & offer.extensions & ~NO_EXTENSION, min(timeout, offer.timeout))
