"""Connections: constants, messages of the handshake, keys and proofs (spec/CONNECTION.md, sections 2 to 4, appendix A).

Times are in microseconds.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import struct
from typing import Callable, Mapping, NamedTuple

from .channels import Channel
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

VERSION = 1
CRC, MAC, AEAD = 0x40, 0x41, 0x42
MODES = {"crc": CRC, "mac": MAC, "aead": AEAD}
TAGS = {CRC: 4, MAC: 8, AEAD: 16}
HEAD = 9
"""Kind, link and counter of a datagram of data (CXE-1)."""

LINK, CHALLENGE, PROOF, LINKED, REFUSED = range(0x48, 0x4D)
SIZES = {LINK: 64, CHALLENGE: 41, PROOF: 89, LINKED: 59, REFUSED: 35}
FULL, IDENTITY, OTHER_VERSION, PROTOCOL, MODE, FORMAT, VARIANT, ENDED, REPLACED = range(1, 10)
"""The reasons of CXH-8."""

NO_PROOF = bytes(16)
ANONYMOUS = bytes(8)
NO_KEY = bytes(32)
OFFER = struct.Struct("<B16sIBBBHH8s8sI")
_CHALLENGE = struct.Struct("<16sQ16s")
_LINKED = struct.Struct("<16sI16sBBHH16s")
_REFUSED = struct.Struct("<16sBB16s")


class Agreed(NamedTuple):
    """What a connection has (CXP-3), as bytes 37 to 42 of LINKED."""

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

    def pack(self) -> bytes:
        return OFFER.pack(VERSION, *self)


class Link(NamedTuple):
    offer: Offer


class Challenge(NamedTuple):
    nonce: bytes
    stamp: int
    cookie: bytes


class Proof(NamedTuple):
    offer: Offer
    stamp: int
    cookie: bytes
    proof: bytes


class Linked(NamedTuple):
    nonce: bytes
    link: int
    server_nonce: bytes
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
    if kind == LINK and any(datagram[49:]):
        raise Refused("padding", next(at for at in range(49, 64) if datagram[at]))
    return message


def encode(message: Message) -> bytes:
    """CXH-11."""
    _check(message)
    kind = bytes([_KINDS[type(message)]])
    if isinstance(message, Link):
        return kind + message.offer.pack() + bytes(15)
    if isinstance(message, Challenge):
        return kind + _CHALLENGE.pack(*message)
    if isinstance(message, Proof):
        return kind + message.offer.pack() + struct.pack("<Q16s16s", *message[1:])
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
    return Offer(*OFFER.unpack(datagram[1:49])[1:])


def _linked(datagram: bytes) -> Linked:
    nonce, link, server_nonce, *agreed, proof = _LINKED.unpack(datagram[1:])
    return Linked(nonce, link, server_nonce, Agreed(*agreed), proof)


_READ: dict[int, Callable[[bytes], Message]] = {
    LINK: lambda d: Link(_offer(d)),
    CHALLENGE: lambda d: Challenge(*_CHALLENGE.unpack(d[1:])),
    PROOF: lambda d: Proof(_offer(d), *struct.unpack("<Q16s16s", d[49:])),
    LINKED: _linked,
    REFUSED: lambda d: Refusal(*_REFUSED.unpack(d[1:])),
}


def _check(message: Message) -> None:
    """CXH-25 to CXH-34, but for the zeros of LINK."""
    if isinstance(message, (Link, Proof)):
        offer = message.offer
        _must(offer.mode in TAGS, "mode", 22)
        _must(offer.lanes <= MOST_LANES, "lanes", 23)
        _must(LEAST_TIMEOUT <= offer.timeout <= MOST_TIMEOUT, "timeout", 27)
    if isinstance(message, (Challenge, Proof)):
        _must(message.stamp < 1 << 62, "stamp", 17 if isinstance(message, Challenge) else 49)
    if isinstance(message, Linked):
        _must(message.link != 0, "link", 17)
        _check_agreed(message.agreed)
    if isinstance(message, Refusal):
        _must(FULL <= message.reason <= REPLACED, "reason", 18)


def _check_agreed(agreed: Agreed) -> None:
    one = agreed.variant != 0 and agreed.variant & (agreed.variant - 1) == 0
    _must(agreed.lanes <= MOST_LANES, "lanes", 37)
    _must(one if agreed.lanes else agreed.variant == 0, "variant", 38)
    _must(LEAST_TIMEOUT <= agreed.timeout <= MOST_TIMEOUT, "timeout", 41)


def _must(right: bool, code: str, place: int) -> None:
    if not right:
        raise Refused(code, place)


# Section 4.


def mac(key: bytes, text: bytes) -> bytes:
    return hmac.digest(key, text, "sha256")


def same(a: bytes, b: bytes) -> bool:
    """CXK-9."""
    return hmac.compare_digest(a, b)


class Keys(NamedTuple):
    """Those of the two directions, and that for proofs that resume (CXK-2, CXK-3)."""

    c2s: bytes
    s2c: bytes
    resume: bytes


def derive(key: bytes, offer: bytes, link: int, server_nonce: bytes, agreed: Agreed) -> Keys:
    base = mac(key, b"chunkwire 1 keys" + offer + struct.pack("<I", link) + server_nonce + agreed.pack())
    return Keys(*(mac(base, name) for name in (b"c2s", b"s2c", b"resume")))


KIND_NUMBERS = {"ordered": 0, "unordered": 1, "unreliable": 2}


def format_of(channels: Mapping[int, Channel]) -> bytes:
    """FORMAT (CXP-4), with the defaults of the packet layer."""
    text = struct.pack("<HHB", FRAGMENT_SIZE, MAX_FRAGMENTS, len(channels))
    for i, c in sorted(channels.items()):
        sizes = (0, 0, 0) if c.kind == "unreliable" else (c.window, c.data, c.group)
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


def cookie_of(secret: bytes, stamp: int, address: bytes, offer: bytes) -> bytes:
    """CXK-4."""
    return mac(secret, struct.pack("<Q", stamp) + address + offer)[:16]


def proof_of(key: bytes, message: Message, offer: bytes, stamp: int, cookie: bytes) -> bytes:
    """CXK-6 to CXK-8: offer, stamp and cookie are those of the PROOF that the message answers."""
    before = encode(message)[:-16]
    bound = struct.pack("<Q", stamp) + cookie
    if isinstance(message, Proof):
        return mac(key, b"client" + before)[:16]
    if isinstance(message, Linked):
        return mac(key, b"server" + before + bound)[:16]
    return mac(key, b"refused" + before + offer + bound)[:16]


def proven(key: bytes, message: Message, offer: bytes, stamp: int, cookie: bytes) -> Message:
    """The message with its proof."""
    return message._replace(proof=proof_of(key, message, offer, stamp, cookie))


def agree(offer: Offer, lanes: int, variants: int, extensions: int, timeout: int) -> Agreed | None:
    """CXP-3, or None if there is no common variant."""
    lanes = min(lanes, offer.lanes)
    common = variants & offer.variants
    if lanes and not common:
        return None
    variant = 1 << common.bit_length() - 1 if lanes else 0
    return Agreed(lanes, variant, extensions & offer.extensions, min(timeout, offer.timeout))
