"""The client of a connection: its handshake (spec/CONNECTION.md, section 5)."""

from __future__ import annotations

from typing import Callable, NamedTuple

from . import x25519
from .envelope import Envelope
from .sessions import (
    AEAD,
    ANONYMOUS,
    COOKIE_LIFE,
    COOKIE_USE,
    CRC,
    IDENTITY,
    KEPT_CHALLENGES,
    LINK_FAST,
    LINK_INTERVAL,
    LINK_SLOW,
    NO_EXTENSION,
    NO_KEY,
    NO_PROOF,
    OTHER_VERSION,
    PROOF_SPACING,
    REFUSE_WAIT,
    TIMEOUT_UNIT,
    VERSION,
    Agreed,
    Challenge,
    Greeting,
    Keys,
    Linked,
    Meeting,
    Offer,
    Proof,
    Refusal,
    answer_of,
    chosen,
    decode,
    digest_of,
    encode,
    extensions_of,
    link_of,
    move_of,
    new_share,
    same,
)
from .times import NEVER, Clock

LINKING, OPEN, RELINKING, CLOSED = "LINKING", "OPEN", "RELINKING", "CLOSED"


class Terms(NamedTuple):
    """What an end offers (CXP-1); `timeout` is in units of 100 ms."""

    protocol: int = 0
    mode: int = AEAD
    lanes: int = 1
    variants: int = 1
    extensions: int = 0
    timeout: int = 100
    format: bytes = bytes(8)


class Kept:
    """A challenge that was taken."""

    def __init__(self, challenge: Challenge, now: int) -> None:
        self.challenge = challenge
        self.taken_at = now
        self.proved = False
        self.whole = b""  # the transcript, once it was proved


class End(NamedTuple):
    """Why a client is CLOSED (CXC-12): timeout, refused or closed."""

    why: str
    reason: int = 0
    proven: bool = False


class Client:
    """`random(n)` gives n bytes (CXN-5), and `server` is the key of the server, or nothing. Rows are those of the table."""

    def __init__(self, now: int, terms: Terms, identity: bytes, key: bytes, random: Callable[[int], bytes], server: bytes = b"") -> None:
        if identity == ANONYMOUS and key != NO_KEY or (server or identity != ANONYMOUS) and terms.mode == CRC:
            raise ValueError("a key needs an identity, and an identity or a server key mac or aead")
        if server and not any(x25519.shared(bytes(32), server)):
            raise ValueError("a server key that may not be used")
        self._clock = Clock()
        self._random, self._key, self._server = random, key, server
        now = self._clock.advance(now)
        self.offer = Offer(bytes(16), *terms, identity, 0, bytes(16), bytes(32))
        self.state = LINKING
        self.first_at = now
        self.proof_at: int | None = None
        self.hint_at = 0
        self.heard_at, self.spoke, self.confirmed = now, False, False
        self.link = 0
        self.share = b""
        self.agreed: Agreed | None = None
        self.keys: Keys | None = None
        self.envelope: Envelope | None = None
        self.ended: End | None = None
        self._renew(now)

    # Events (CXC-2). Each returns its row.

    def poll(self, now: int) -> tuple[str, bytes | None]:
        """At most one datagram (CXC-14)."""
        now = self._clock.advance(now)
        if self.state == CLOSED:
            return "I38", None
        if now - self._since() >= self._timeout():
            self._fail(End("refused", self.hint) if self.hint else End("timeout"))
            return {LINKING: "I1", OPEN: "I15", RELINKING: "I24"}[self._was], None
        if self.state == OPEN:
            if self.spoke and now - self.heard_at >= self._silence():
                self._renew(now)
                self.state = RELINKING
                return "I16", None
            return "I17", None
        return self._poll_linking(now)

    def _poll_linking(self, now: int) -> tuple[str, bytes | None]:
        linking = self.state == LINKING
        if self._stands() and now - self.hint_at >= REFUSE_WAIT:
            self._fail(End("refused", self.hint))
            return "I2" if linking else "I45", None
        challenge = self._to_prove(now)
        if challenge:
            challenge.proved, self.proof_at = True, now
            return "I3" if linking else "I25", encode(self._proof(challenge))
        if now >= self.link_at:
            self.link_at = now + self._interval(now)
            return "I4" if linking else "I26", encode(link_of(self.offer.nonce))
        return "I5" if linking else "I27", None

    def receive(self, now: int, datagram: bytes) -> str:
        """A message of the handshake; raises Refused for what is none (section 3.3)."""
        now = self._clock.advance(now)
        message = decode(datagram)
        if isinstance(message, Challenge):
            return self._challenge(now, message)
        if isinstance(message, Linked):
            return self._linked(now, message)
        if isinstance(message, Refusal):
            return self._refused(now, message)
        return ""

    def data(self, now: int) -> str:
        """A datagram of the connection was opened (CXC-11)."""
        now = self._clock.advance(now)
        row = {OPEN: "I21", RELINKING: "I35", CLOSED: "I42", LINKING: ""}[self.state]
        if self.state in (OPEN, RELINKING):
            self.heard_at, self.spoke, self.confirmed = now, False, True
        return row

    def sent(self, now: int) -> None:
        """A datagram of the connection was sent."""
        self._clock.advance(now)
        self.spoke = True

    def move(self, now: int) -> str:
        now = self._clock.advance(now)
        row = {LINKING: "I13", OPEN: "I22", RELINKING: "I36", CLOSED: "I43"}[self.state]
        if self.state != CLOSED:
            self._renew(now)
            self.state = LINKING if self.state == LINKING else RELINKING
        return row

    def close(self, now: int) -> str:
        self._clock.advance(now)
        row = {LINKING: "I14", OPEN: "I23", RELINKING: "I37", CLOSED: "I44"}[self.state]
        if self.state != CLOSED:
            self._fail(End("closed"))
        return row

    @property
    def deadline(self) -> float:
        """CXC-13."""
        if self.state == CLOSED:
            return NEVER
        at = self._since() + self._timeout()
        if self.state == OPEN:
            return min(at, self.heard_at + self._silence()) if self.spoke else at
        at = min(at, self.link_at, self._next_proof())
        return min(at, self.hint_at + REFUSE_WAIT) if self._stands() else at

    # Guards (CXC-3).

    def _stands(self) -> bool:
        return self.hint != 0 and (self.state == LINKING or self.offer.identity == ANONYMOUS)

    def _since(self) -> int:
        return self.first_at if self.state == LINKING else self.heard_at

    def _timeout(self) -> int:
        own = self.offer.timeout if self.state == LINKING or self.agreed is None else self.agreed.timeout
        return own * TIMEOUT_UNIT

    def _silence(self) -> int:
        return self._timeout() * 3 // 10

    def _interval(self, now: int) -> int:
        return LINK_INTERVAL if now - self.began_at < LINK_FAST else LINK_SLOW

    def _to_prove(self, now: int) -> Kept | None:
        """CXC-6."""
        since = None if self.proof_at is None else now - self.proof_at
        if since is None or since >= PROOF_SPACING:
            for kept in self.challenges:
                if not kept.proved and now - kept.taken_at < COOKIE_USE:
                    return kept
        if self.challenges and since is not None and since >= self._interval(now):
            last = self.challenges[-1]
            if last.proved and now - last.taken_at < COOKIE_USE:
                return last
        return None

    def _next_proof(self) -> float:
        """The first time from now on at which a challenge is to be proved."""
        now, at = self._clock.latest, NEVER
        for kept in self.challenges:
            if not kept.proved:
                first = now if self.proof_at is None else max(now, self.proof_at + PROOF_SPACING)
                at = min(at, self._in_use(kept, first))
        if self.challenges and self.challenges[-1].proved and self.proof_at is not None:
            soon = max(now, self.proof_at + LINK_INTERVAL)
            if soon - self.began_at >= LINK_FAST:
                soon = max(soon, self.proof_at + LINK_SLOW)
            at = min(at, self._in_use(self.challenges[-1], soon))
        return at

    @staticmethod
    def _in_use(kept: Kept, at: int) -> float:
        return at if at - kept.taken_at < COOKIE_USE else NEVER

    def _answered(self, now: int) -> list[Kept]:
        """Those whose answer counts."""
        return [k for k in self.challenges if k.proved and now - k.taken_at < COOKIE_LIFE]

    def _right(self, now: int, message: Linked) -> bool:
        if message.nonce != self.offer.nonce or not self._fits(message):
            return False
        self._meeting = None if self.state == RELINKING else self._greeting.meet(self._private, message.share)
        key = self._meeting.answer_key if self._meeting else self.keys.resume if self.keys else None
        return key is not None and self._answers(now, key, message)

    def _fits(self, message: Linked) -> bool:
        """CXC-17."""
        if self.state == RELINKING:
            return (message.link, message.share, message.agreed) == (self.link, self.share, self.agreed)
        a, o = message.agreed, self.offer
        return a.lanes <= o.lanes and not a.variant & ~o.variants and not a.extensions & ~(o.extensions & ~NO_EXTENSION) and a.timeout <= o.timeout

    def _is_proven(self, now: int, message: Refusal) -> bool:
        return self._answers(now, self._greeting.refused_key, message)

    def _answers(self, now: int, key: bytes, message: Linked | Refusal) -> bool:
        return any(same(message.proof, answer_of(key, k.whole, message)) for k in self._answered(now))

    def _is_hint(self, message: Refusal) -> bool:
        if message.proof != NO_PROOF:
            return False
        if message.reason == OTHER_VERSION:
            return not self.challenges
        return message.reason == IDENTITY and any(k.proved for k in self.challenges)

    # Messages and actions (section 5.3).

    def _challenge(self, now: int, message: Challenge) -> str:
        if self.state in (OPEN, CLOSED):
            return "I18" if self.state == OPEN else "I39"
        linking = self.state == LINKING
        known = any(k.challenge == message for k in self.challenges)
        choice = chosen(link_of(self.offer.nonce).versions, message.versions)
        if message.nonce != self.offer.nonce or known or not message.version == choice == VERSION:  # CXC-3
            return "I7" if linking else "I29"
        if not self.challenges:
            self.hint = 0
        if len(self.challenges) == KEPT_CHALLENGES:
            self.challenges.remove(next((k for k in self.challenges if not k.proved), self.challenges[0]))
        self.challenges.append(Kept(message, now))
        return "I6" if linking else "I28"

    def _linked(self, now: int, message: Linked) -> str:
        if self.state in (OPEN, CLOSED):
            return "I19" if self.state == OPEN else "I40"
        linking = self.state == LINKING
        if not self._right(now, message):
            return "I9" if linking else "I31"
        if linking:
            self._begin(message)
        self.state = OPEN
        self.heard_at, self.spoke = now, False
        self.challenges, self.hint = [], 0
        return "I8" if linking else "I30"

    def _begin(self, message: Linked) -> None:
        """CXC-7."""
        self.link, self.share, self.agreed = message.link, message.share, message.agreed
        self.keys = self._meeting.keys(message)
        self.envelope = Envelope(self.offer.mode, self.link, self.keys.c2s, self.keys.s2c)

    def _refused(self, now: int, message: Refusal) -> str:
        if self.state in (OPEN, CLOSED):
            return "I20" if self.state == OPEN else "I41"
        linking = self.state == LINKING
        ours = message.nonce == self.offer.nonce
        known = self.offer.identity != ANONYMOUS
        proven = ours and self._is_proven(now, message)
        if proven and (linking or known):
            self._fail(End("refused", message.reason, known))
            return "I10" if linking else "I32"
        if proven or ours and self._is_hint(message):
            if not self.hint:
                self.hint, self.hint_at = message.reason, now
            return "I11" if linking else "I33"
        return "I12" if linking else "I34"

    def _proof(self, kept: Kept) -> Proof:
        seen = self._greeting.seen(kept.challenge)
        move = move_of(self.keys.resume, seen) if self.keys else NO_PROOF
        proof, kept.whole = self._greeting.prove(seen, move)
        return Proof(self.offer, kept.challenge.stamp, kept.challenge.cookie, move, proof)

    def _renew(self, now: int) -> None:
        """CXC-9."""
        nonce, self._private = self._random(16), self._random(32)
        extensions, digest = extensions_of(nonce, self.offer.extensions), digest_of(link_of(nonce))
        share = new_share(self.offer.mode, self._private)
        self.offer = self.offer._replace(nonce=nonce, extensions=extensions, resume=self.link, digest=digest, share=share)
        self._greeting = Greeting(self.offer, self._key, self._server)
        if self._server and not self.link:
            self._greeting.know(self._private, self._server)
        self._meeting: Meeting | None = None
        self.challenges: list[Kept] = []
        self.hint = 0
        self.began_at = self.link_at = now

    def _fail(self, end: End) -> None:
        self._was, self.state, self.ended = self.state, CLOSED, end
