"""The server of connections: its handshakes (spec/CONNECTION.md, section 6)."""

from __future__ import annotations

import struct
from typing import Callable, NamedTuple

from . import x25519
from .envelope import Envelope
from .refused import Refused
from .session_client import Terms
from .sessions import (
    ANONYMOUS,
    COOKIE_LIFE,
    CRC,
    ENDED,
    FORMAT,
    FULL,
    HALF_OPEN,
    IDENTITY,
    LINK,
    MODE,
    NO_KEY,
    NO_PROOF,
    OTHER_VERSION,
    PROTOCOL,
    REMEMBER,
    REPLACED,
    SIZES,
    VARIANT,
    VERSION,
    Agreed,
    Greeting,
    Link,
    Linked,
    Offer,
    Proof,
    Refusal,
    agree,
    answered,
    challenge_of,
    chosen,
    cookie_of,
    decode,
    digest_of,
    encode,
    expand,
    move_of,
    new_share,
    prefix,
    same,
)
from .times import NEVER, Clock

FREE, UNCONFIRMED, CONFIRMED, GONE = "FREE", "UNCONFIRMED", "CONFIRMED", "ENDED"


class Limits(NamedTuple):
    connections: int = 1_024
    per_address: int = 256


class Entry:
    """CXS-4."""

    def __init__(self) -> None:
        self.state = FREE

    @property
    def living(self) -> bool:
        return self.state in (UNCONFIRMED, CONFIRMED)


class Taken(NamedTuple):
    """What became of a datagram: the row, the answer, why it was counted before the table, and whose LINKED it is."""

    row: str = ""
    answer: bytes | None = None
    counted: str | None = None
    entry: Entry | None = None


class Server:
    """`keys` has the key of each identity, `random(n)` gives n bytes (CXN-5), and `private` is that of the server key, or nothing."""

    def __init__(
        self, terms: Terms, keys: dict[bytes, bytes], anonymous: bool, random: Callable[[int], bytes], limits: Limits = Limits(), private: bytes = b""
    ) -> None:
        if (keys or private) and terms.mode == CRC:
            raise ValueError("identities and a server key need mac or aead")
        self._private, self._public = private, x25519.public(private) if private else b""
        self._clock = Clock()
        self._terms, self._keys, self._limits, self._random = terms, keys, limits, random
        if anonymous:
            self._keys = {**keys, ANONYMOUS: NO_KEY}
        self._secret = random(32)
        self._stamp = -1
        self.entries: list[Entry] = []

    def receive(self, now: int, address: bytes, datagram: bytes) -> Taken:
        """A message of the handshake from an address; raises Refused for what is none, with the answer as `answer`."""
        now = self._clock.advance(now)
        try:
            message = decode(datagram)
        except Refused as refused:
            refused.answer = self._other_version(datagram, refused)
            raise
        if isinstance(message, Link):
            return Taken(answer=self._link(now, address, message))
        if isinstance(message, Proof):
            return self._proof(now, address, message)
        return Taken()

    def find(self, link: int) -> Entry | None:
        return next((e for e in self.entries if e.link == link), None)

    def data(self, now: int, entry: Entry) -> str:
        """A datagram of its connection was opened."""
        self._clock.advance(now)
        row = {UNCONFIRMED: "J9", CONFIRMED: "J18", GONE: "J26"}[entry.state]
        if entry.state == UNCONFIRMED:
            entry.state = CONFIRMED
        return row

    def end(self, now: int, entry: Entry, reason: int) -> str:
        """CXS-12."""
        now = self._clock.advance(now)
        row = {UNCONFIRMED: "J12", CONFIRMED: "J20", GONE: "J29"}[entry.state]
        if entry.living:
            entry.state, entry.reason, entry.ended_at, entry.newest = GONE, reason, now, self._stamp
        return row

    def poll(self, now: int) -> list[str]:
        """The rows of those that are forgotten (CXS-14), J10 first."""
        now = self._clock.advance(now)
        half = [e for e in self.entries if e.state == UNCONFIRMED and now - e.placed_at >= HALF_OPEN]
        over = [e for e in self.entries if e.state == GONE and now - e.ended_at >= REMEMBER]
        self.entries = [e for e in self.entries if e not in half and e not in over]
        return ["J10"] * len(half) + ["J27"] * len(over)

    @property
    def deadline(self) -> float:
        """CXS-17."""
        at = [e.placed_at + HALF_OPEN for e in self.entries if e.state == UNCONFIRMED]
        at += [e.ended_at + REMEMBER for e in self.entries if e.state == GONE]
        return min(at, default=NEVER)

    # What needs no entry (section 6.1).

    @staticmethod
    def _other_version(datagram: bytes, refused: Refused) -> bytes | None:
        """CXS-1."""
        if refused.code != "version" or datagram[0] != LINK or len(datagram) < SIZES[LINK]:
            return None
        return encode(Refusal(datagram[2:18], VERSION, OTHER_VERSION, NO_PROOF))

    def _link(self, now: int, address: bytes, link: Link) -> bytes:
        if chosen(link.versions, challenge_of(link.nonce, 0, NO_PROOF).versions) != VERSION:
            return encode(Refusal(link.nonce, VERSION, OTHER_VERSION, NO_PROOF))
        self._stamp = max(now, self._stamp + 1)
        cookie = cookie_of(self._secret, self._stamp, address, digest_of(link))
        return encode(challenge_of(link.nonce, self._stamp, cookie))

    def _proof(self, now: int, address: bytes, proof: Proof) -> Taken:
        """CXS-2."""
        offer = proof.offer
        if now - proof.stamp >= COOKIE_LIFE:
            return Taken(counted="stale_cookie")
        if not same(proof.cookie, cookie_of(self._secret, proof.stamp, address, offer.digest)):
            return Taken(counted="cookie")
        unproven = Taken(answer=encode(Refusal(offer.nonce, VERSION, IDENTITY, NO_PROOF)))
        key = self._keys.get(offer.identity)
        greeting = Greeting(offer, expand(self._secret, "decoy", offer.identity) if key is None else key, self._public)
        seen = greeting.seen(challenge_of(offer.nonce, proof.stamp, proof.cookie))
        right, whole = greeting.prove(seen, proof.move)
        if not same(proof.proof, right) or key is None:
            return unproven
        entry = self._entry(offer, greeting.hello, address)
        checked = offer.resume == 0 or entry is not None and offer.resume == entry.link
        if checked and offer.resume and not same(proof.move, move_of(entry.keys.resume, seen)):
            return unproven
        agreed, reason = self._mismatch(offer)
        event = _Event(now, address, proof, greeting, whole, checked, agreed)
        if reason:
            return Taken(answer=self._refuse(event, reason))
        return self._step(event, entry)

    def _entry(self, offer: Offer, hello: bytes, address: bytes) -> Entry | None:
        """CXS-3."""
        of_identity = [e for e in self.entries if e.offer.identity == offer.identity]
        if offer.identity != ANONYMOUS:
            return next(iter(of_identity), None)
        if offer.resume:
            return next((e for e in of_identity if e.link == offer.resume), None)
        return next((e for e in of_identity if (e.first, e.made_at) == (hello, address)), None)

    def _mismatch(self, offer: Offer) -> tuple[Agreed | None, int]:
        own = self._terms
        for reason, a, b in ((PROTOCOL, own.protocol, offer.protocol), (MODE, own.mode, offer.mode), (FORMAT, own.format, offer.format)):
            if a != b:
                return None, reason
        agreed = agree(offer, own.lanes, own.variants, own.extensions, own.timeout)
        return agreed, 0 if agreed else VARIANT

    # The table (section 6.3).

    def _step(self, event: _Event, entry: Entry | None) -> Taken:
        if entry is None:
            return self._free(event)
        return self._ended(event, entry) if entry.state == GONE else self._living(event, entry)

    def _free(self, event: _Event) -> Taken:
        if event.offer.resume:
            return self._refused("J1", event, ENDED)
        if not self._room(event.address):
            return self._refused("J2", event, FULL)
        return self._make("J3", event, Entry())

    def _living(self, event: _Event, entry: Entry) -> Taken:
        half, offer, stamp = entry.state == UNCONFIRMED, event.offer, event.proof.stamp
        same_hello = event.greeting.hello == entry.hello
        if not event.checked:
            return self._refused("J8" if half else "J17", event, REPLACED)
        if stamp < entry.newest or stamp == entry.newest and not same_hello or self._first_again(event, entry):
            return Taken("J4" if half else "J13")
        if same_hello:
            return self._place("J5" if half else "J14", event, entry)
        if offer.resume:
            return self._place("J6" if half else "J15", event, entry)
        return self._make("J7" if half else "J16", event, entry)

    def _ended(self, event: _Event, entry: Entry) -> Taken:
        if event.greeting.hello == entry.hello:
            return self._refused_again("J21", event, entry)
        if event.proof.stamp <= entry.newest or self._first_again(event, entry):
            return Taken("J22")
        if event.offer.resume:
            return self._refused_again("J23", event, entry)
        if not self._room(event.address):
            return self._refused("J24", event, FULL)
        return self._make("J25", event, entry)

    @staticmethod
    def _first_again(event: _Event, entry: Entry) -> bool:
        """The last part of *old*: an anonymous client has another hello since."""
        offer = event.offer
        return offer.identity == ANONYMOUS and offer.resume == 0 and event.greeting.hello != entry.hello

    def _room(self, address: bytes) -> bool:
        """CXS-7."""
        of = prefix(address)
        for entries, times in (([e for e in self.entries if e.living], 1), ([e for e in self.entries if e.state == GONE], 4)):
            here = [e for e in entries if e.prefix == of]
            if len(entries) >= times * self._limits.connections or len(here) >= times * self._limits.per_address:
                return False
        return True

    # Actions (section 6.4).

    def _make(self, row: str, event: _Event, entry: Entry) -> Taken:
        """CXS-8, and CXS-19."""
        private = self._random(32)
        if self._private and not event.greeting.know(self._private, event.offer.share):
            return Taken(counted="share")
        meeting = event.greeting.meet(private, event.offer.share)
        if meeting is None:
            return Taken(counted="share")
        if entry not in self.entries:
            self.entries.append(entry)
        entry.link, entry.share = self._draw(), new_share(event.offer.mode, private)
        entry.state, entry.offer, entry.agreed, entry.prefix = UNCONFIRMED, event.offer, event.agreed, prefix(event.address)
        entry.first, entry.made_at, entry.answer_key = event.greeting.hello, event.address, meeting.answer_key
        entry.keys = meeting.keys(Linked(event.offer.nonce, entry.link, entry.share, entry.agreed, NO_PROOF))
        entry.envelope = Envelope(event.offer.mode, entry.link, entry.keys.s2c, entry.keys.c2s)
        return self._place(row, event, entry)

    def _draw(self) -> int:
        """CXN-5. In J7, J16 and J25 the entry still has its old link."""
        while True:
            (link,) = struct.unpack("<I", self._random(4))
            if link and all(getattr(e, "link", 0) != link for e in self.entries):
                return link

    def _place(self, row: str, event: _Event, entry: Entry) -> Taken:
        """CXS-9, CXS-10."""
        proof = event.proof
        entry.hello, entry.newest, entry.placed_at, entry.address = event.greeting.hello, proof.stamp, event.now, event.address
        linked = Linked(event.offer.nonce, entry.link, entry.share, entry.agreed, NO_PROOF)
        answer = answered(entry.keys.resume if event.offer.resume else entry.answer_key, event.whole, linked)
        return Taken(row, encode(answer), entry=entry)

    def _refused(self, row: str, event: _Event, reason: int) -> Taken:
        return Taken(row, self._refuse(event, reason))

    def _refused_again(self, row: str, event: _Event, entry: Entry) -> Taken:
        if event.checked:
            entry.ended_at = event.now
        return self._refused(row, event, entry.reason)

    @staticmethod
    def _refuse(event: _Event, reason: int) -> bytes:
        """CXS-11."""
        bare = Refusal(event.offer.nonce, VERSION, reason, NO_PROOF)
        return encode(answered(event.greeting.refused_key, event.whole, bare))


class _Event(NamedTuple):
    """A PROOF that came to the table."""

    now: int
    address: bytes
    proof: Proof
    greeting: Greeting
    whole: bytes
    checked: bool
    agreed: Agreed | None

    @property
    def offer(self) -> Offer:
        return self.proof.offer
