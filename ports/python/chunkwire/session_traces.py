"""The operations of the port for the handshake and the envelope (spec/CONNECTION.md, appendix C)."""

from __future__ import annotations

from typing import Any, Callable

from .envelope import MOST_COUNTER, Envelope, seal
from .fields import BAD_REQUEST, LAST_TIME, field, hexadecimal, number, steps
from .refused import Refused
from .session_client import LINKING, Client, Terms
from .session_server import Limits, Server
from .sessions import (
    ANONYMOUS,
    LEAST_TIMEOUT,
    MODES,
    MOST_LANES,
    MOST_TIMEOUT,
    Agreed,
    Challenge,
    Data,
    Greeting,
    Link,
    Linked,
    Message,
    Offer,
    Proof,
    Refusal,
    address_bytes,
    answer_of,
    cookie_of,
    decode,
    digest_of,
    encode,
    move_of,
)
from .times import NEVER

Answer = dict[str, Any]
MOST_BODY = 1_200
U8, U16, U32, U64 = ((1 << bits) - 1 for bits in (8, 16, 32, 64))
MODE_NAMES = {mode: name for name, mode in MODES.items()}


def session_encode(request: Answer) -> Answer:
    """CXO-3."""
    source = field(request, "message", dict)
    kind = field(source, "type", str)
    if kind not in _MESSAGES:
        raise Refused("unknown_kind", 0)
    return {"hex": encode(_MESSAGES[kind](source)).hex()}


def session_decode(request: Answer) -> Answer:
    """CXO-3."""
    return {"message": _fields(decode(hexadecimal(request, "hex")))}


def session_seal(request: Answer) -> Answer:
    """CXO-4."""
    mode, key, link = mode_from(request), fixed_bytes(request, "key", 32), number(request, "link", 1, U32)
    body = hexadecimal(request, "body")
    if not 1 <= len(body) <= MOST_BODY:
        raise Refused(BAD_REQUEST)
    return {"hex": seal(mode, key, link, number(request, "counter", 0, MOST_COUNTER), body).hex()}


def session_open(request: Answer) -> Answer:
    """CXO-4."""
    key = fixed_bytes(request, "key", 32)
    envelope = Envelope(mode_from(request), number(request, "link", 1, U32), key, key)
    before = 0
    for c in field(request, "taken", list):
        if type(c) is not int or c > MOST_COUNTER or not (0 <= c <= 1 << 31 if envelope.highest < 0 else before < c <= before + (1 << 31)):
            raise Refused(BAD_REQUEST)
        envelope.take(before := c)
    body = envelope.open(hexadecimal(request, "hex"))
    return {"counter": envelope.latest, "body": body.hex()}


def session_keys(request: Answer) -> Answer:
    """CXO-6."""
    key, private, resume = (fixed_bytes(request, name, 32) for name in ("key", "private", "resume"))
    challenge, proof, linked, refused = (_message(request, name, kind) for name, kind in _OF_KEYS)
    server = _server_key(request)
    greeting = Greeting(proof.offer, key, server)
    seen = greeting.seen(challenge)
    move = move_of(resume, seen) if proof.offer.resume else bytes(16)
    right, whole = greeting.prove(seen, move)
    if server and not greeting.know(private, server):
        raise Refused("share", -1)
    meeting = greeting.meet(private, linked.share)
    if meeting is None:
        raise Refused("share", -1)
    keys = meeting.keys(linked)
    made = {
        "hello": greeting.hello,
        "given": greeting.given,
        "first": greeting.first,
        "proof_key": greeting.proof_key,
        "refused_key": greeting.refused_key,
        "next": greeting.next,
        "seen": seen,
        "move": move,
        "proof": right,
        "whole": whole,
        "shared": meeting.shared,
        "second": meeting.second,
        "answer_key": meeting.answer_key,
        "linked": answer_of(resume if proof.offer.resume else meeting.answer_key, whole, linked),
        "refused": answer_of(greeting.refused_key, whole, refused),
        "connection": meeting.connection(linked),
        **keys._asdict(),
    }
    if server:
        made.update(static=greeting.static, known=greeting.known)
    return {name: value.hex() for name, value in made.items()}


def _server_key(source: Answer) -> bytes:
    """The key of a server, or nothing."""
    if "server" not in source:
        return b""
    key = fixed_bytes(source, "server", 32)
    if not any(key):
        raise Refused(BAD_REQUEST)
    return key


_OF_KEYS = (("challenge", Challenge), ("proof", Proof), ("linked", Linked), ("refused", Refusal))


def _message(request: Answer, name: str, kind: type) -> Any:
    try:
        message = decode(hexadecimal(request, name))
    except Refused:
        raise Refused(BAD_REQUEST) from None
    if not isinstance(message, kind):
        raise Refused(BAD_REQUEST)
    return message


def session_cookie(request: Answer) -> Answer:
    """CXO-5."""
    address, link = address_bytes(field(request, "address", str)), _message(request, "link", Link)
    secret, digest = fixed_bytes(request, "secret", 32), digest_of(link)
    return {"address": address.hex(), "digest": digest.hex(), "cookie": cookie_of(secret, number(request, "stamp", 0, LAST_TIME), address, digest).hex()}


def session_client(request: Answer) -> Answer:
    """CXO-7, CXO-8."""
    config = field(request, "config", dict)
    make = _client_maker(config)
    events = field(request, "events", list)
    if not events:
        return {"steps": []}
    first = number(events[0] if isinstance(events[0], dict) else {}, "at", 0, LAST_TIME)
    trace = _ClientTrace(make(first))
    names = ("poll", "receive", "data", "sent", "move", "close")
    return {"steps": steps(request, {name: getattr(trace, name) for name in names})}


def _client_maker(config: Answer) -> Callable[[int], Client]:
    terms, random = _terms(config), _Random(hexadecimal(config, "random"))
    identity, key, server = fixed_bytes(config, "identity", 8), fixed_bytes(config, "key", 32), _server_key(config)

    def make(at: int) -> Client:
        try:
            return Client(at, terms, identity, key, random, server)
        except ValueError:
            raise Refused(BAD_REQUEST) from None

    return make


def session_server(request: Answer) -> Answer:
    """CXO-9, CXO-10."""
    config = field(request, "config", dict)
    keys = {}
    for source in field(config, "keys", list):
        if not isinstance(source, dict):
            raise Refused(BAD_REQUEST)
        keys[fixed_bytes(source, "identity", 8)] = fixed_bytes(source, "key", 32)
    if ANONYMOUS in keys:
        raise Refused(BAD_REQUEST)
    most = number(config, "max_connections", 1, 1 << 24)
    limits = Limits(most, number(config, "max_per_address", 1, most))
    random = _Random(hexadecimal(config, "random"))
    try:
        server = Server(_terms(config), keys, field(config, "anonymous", bool), random, limits, _server_key(config))
    except ValueError:
        raise Refused(BAD_REQUEST) from None
    trace = _ServerTrace(server)
    return {"steps": steps(request, {name: getattr(trace, name) for name in ("receive", "data", "end", "poll")})}


class _Random:
    def __init__(self, data: bytes) -> None:
        self._left = data

    def __call__(self, n: int) -> bytes:
        if len(self._left) < n:
            raise Refused(BAD_REQUEST)
        taken, self._left = self._left[:n], self._left[n:]
        return taken


class _ClientTrace:
    def __init__(self, client: Client) -> None:
        self._client = client

    def poll(self, at: int, _: Answer) -> Answer:
        rows, datagrams = [], []
        while True:
            row, datagram = self._client.poll(at)
            rows.append(row)
            if datagram is None:
                return self._step(at, rows, datagrams=datagrams)
            datagrams.append(datagram.hex())

    def receive(self, at: int, event: Answer) -> Answer:
        before = self._client.agreed
        datagram = hexadecimal(event, "hex")
        try:
            row = self._client.receive(at, datagram)
        except Refused as refused:
            return self._step(at, [], refused=refused)
        return self._step(at, [row] if row else [], begun=before is None and self._client.agreed is not None)

    def data(self, at: int, _: Answer) -> Answer:
        if self._client.state == LINKING:
            raise Refused(BAD_REQUEST)
        return self._step(at, [self._client.data(at)])

    def sent(self, at: int, _: Answer) -> Answer:
        self._client.sent(at)
        return self._step(at, [])

    def move(self, at: int, _: Answer) -> Answer:
        return self._step(at, [self._client.move(at)])

    def close(self, at: int, _: Answer) -> Answer:
        return self._step(at, [self._client.close(at)])

    def _step(self, at: int, rows: list[str], datagrams: Any = (), refused: Refused | None = None, begun: bool = False) -> Answer:
        c = self._client
        link = None
        if begun:
            link = {"link": c.link, **c.agreed._asdict(), "sealed": seal(c.offer.mode, c.keys.c2s, c.link, 0, b"\0").hex()}
        return {
            "rows": rows,
            "state": c.state,
            "refused": refused and {"error": refused.code, "at": refused.place},
            "datagrams": list(datagrams),
            "link": link,
            "ended": c.ended and c.ended._asdict(),
            "deadline": _deadline(c.deadline, c._clock.latest),
        }


class _ServerTrace:
    def __init__(self, server: Server) -> None:
        self._server = server

    def receive(self, at: int, event: Answer) -> Answer:
        address = address_bytes(field(event, "from", str))
        datagram = hexadecimal(event, "hex")
        try:
            taken = self._server.receive(at, address, datagram)
        except Refused as refused:
            if refused.code == BAD_REQUEST:
                raise
            return self._step([], refused=refused, answer=getattr(refused, "answer", None))
        made = taken.row in ("J3", "J7", "J16", "J25")
        return self._step([taken.row] if taken.row else [], answer=taken.answer, counted=taken.counted, entry=taken.entry, made=made)

    def data(self, at: int, event: Answer) -> Answer:
        entry = self._find(event)
        return self._step([self._server.data(at, entry)], entry=entry)

    def end(self, at: int, event: Answer) -> Answer:
        entry = self._find(event)
        return self._step([self._server.end(at, entry, number(event, "reason", 1, 9))], entry=entry)

    def poll(self, at: int, _: Answer) -> Answer:
        return self._step(self._server.poll(at))

    def _find(self, event: Answer) -> Any:
        entry = self._server.find(number(event, "link", 0, U32))
        if entry is None:
            raise Refused(BAD_REQUEST)
        return entry

    def _step(self, rows: list[str], refused: Any = None, answer: Any = None, counted: Any = None, entry: Any = None, made: bool = False) -> Answer:
        s = self._server
        about = None
        if entry is not None:
            sealed = seal(entry.offer.mode, entry.keys.s2c, entry.link, 0, b"\0").hex() if made else None
            about = {"link": entry.link, "state": entry.state, "address": entry.address.hex(), "sealed": sealed}
        return {
            "rows": rows,
            "refused": refused and {"error": refused.code, "at": refused.place},
            "answer": answer.hex() if answer is not None else None,
            "counted": counted,
            "entry": about,
            "living": sum(e.living for e in s.entries),
            "ended": sum(not e.living for e in s.entries),
            "deadline": _deadline(s.deadline, s._clock.latest),
        }


def _deadline(at: float, now: int) -> int | None:
    return None if at == NEVER else int(max(at, now))


def mode_from(source: Answer) -> int:
    name = field(source, "mode", str)
    if name not in MODES:
        raise Refused(BAD_REQUEST)
    return MODES[name]


def _terms(config: Answer) -> Terms:
    return Terms(
        number(config, "protocol", 0, U32),
        mode_from(config),
        number(config, "lanes", 0, MOST_LANES),
        number(config, "variants", 1, U8),
        number(config, "extensions", 0, U16),
        number(config, "timeout", LEAST_TIMEOUT, MOST_TIMEOUT),
        fixed_bytes(config, "format", 8),
    )


def fixed_bytes(source: Answer, name: str, size: int) -> bytes:
    value = hexadecimal(source, name)
    if len(value) != size:
        raise Refused(BAD_REQUEST)
    return value


def _offer(source: Answer) -> Offer:
    mode = MODES.get(field(source, "mode", str), 0)
    return Offer(
        fixed_bytes(source, "nonce", 16),
        number(source, "protocol", 0, U32),
        mode,
        number(source, "lanes", 0, U8),
        number(source, "variants", 0, U8),
        number(source, "extensions", 0, U16),
        number(source, "timeout", 0, U16),
        fixed_bytes(source, "format", 8),
        fixed_bytes(source, "identity", 8),
        number(source, "resume", 0, U32),
        fixed_bytes(source, "digest", 16),
        fixed_bytes(source, "share", 32),
    )


def _linked(source: Answer) -> Linked:
    agreed = Agreed(number(source, "lanes", 0, U8), number(source, "variant", 0, U8), number(source, "extensions", 0, U16), number(source, "timeout", 0, U16))
    return Linked(fixed_bytes(source, "nonce", 16), number(source, "link", 0, U32), fixed_bytes(source, "share", 32), agreed, fixed_bytes(source, "proof", 16))


_MESSAGES: dict[str, Callable[[Answer], Message]] = {
    "link": lambda s: Link(fixed_bytes(s, "nonce", 16), fixed_bytes(s, "versions", 8), fixed_bytes(s, "reserved", 38)),
    "challenge": lambda s: Challenge(fixed_bytes(s, "nonce", 16), number(s, "stamp", 0, U64), fixed_bytes(s, "cookie", 16), number(s, "version", 0, U8), fixed_bytes(s, "versions", 8)),
    "proof": lambda s: Proof(_offer(s), number(s, "stamp", 0, U64), fixed_bytes(s, "cookie", 16), fixed_bytes(s, "move", 16), fixed_bytes(s, "proof", 16)),
    "linked": _linked,
    "refused": lambda s: Refusal(fixed_bytes(s, "nonce", 16), number(s, "version", 0, U8), number(s, "reason", 0, U8), fixed_bytes(s, "proof", 16)),
}
_NAMES = {Link: "link", Challenge: "challenge", Proof: "proof", Linked: "linked", Refusal: "refused", Data: "data"}


def _fields(message: Message) -> Answer:
    """CXO-3."""
    flat = {"type": _NAMES[type(message)]}
    for name, value in message._asdict().items():
        flat.update(value._asdict() if isinstance(value, (Offer, Agreed)) else {name: value})
    return {name: _plain(name, value) for name, value in flat.items()}


def _plain(name: str, value: Any) -> Any:
    if name == "mode":
        return MODE_NAMES[value]
    return value.hex() if isinstance(value, bytes) else value
