"""The traces of appendix B: events for one machine, and what it does at each."""

from __future__ import annotations

import zlib
from typing import Any, Callable

from .adaptive import Adaptive
from .base import BaseScheduler, Profile
from .codec import Slice, check
from .controller import Controller
from .fields import BAD_REQUEST, ack_from, bit_string, field, machine_config, number, steps, time
from .limits import SLICE_SIZE
from .receiver import Receiver
from .refused import Refused
from .sender import Sender
from .times import NEVER

MAX_SUBMIT = 524_288
MIN_RATE = 8_528
MAX_RATE = 8 * 10**9
"""The limits of PRO-1, in bits a second."""
LONGEST_DELAY = 10**9

Step = dict[str, Any]


def sender_trace(request: dict[str, Any]) -> dict[str, Any]:
    """TRC-2."""
    config = field(request, "config", dict)
    first_id, give_up = machine_config(config)
    scheduler: Script | BaseScheduler | Adaptive
    if "profile" in config and config["profile"] is None:
        scheduler = Script()
    else:
        profile = field(config, "profile", dict)
        scheduler = adaptive_scheduler(profile) if "recovery" in profile else base_scheduler(profile)
    trace = _SenderTrace(Sender(scheduler, first_id, give_up), scheduler)
    handlers = {"submit": trace.submit, "ack": trace.ack, "poll": trace.poll}
    if isinstance(scheduler, Adaptive):
        handlers.update(marks=trace.marks, **{"yield": trace.yields})
    return _steps(request, handlers)


def receiver_trace(request: dict[str, Any]) -> dict[str, Any]:
    """TRC-3."""
    trace = _ReceiverTrace(Receiver(*machine_config(field(request, "config", dict))))
    return _steps(request, {"slice": trace.slice, "read": trace.read, "poll": trace.poll})


def content(chunk_id: int, start: int, size: int) -> bytes:
    """`size` bytes of a chunk, from `start` on (TRC-1)."""
    return bytes((i + 31 * (i // SLICE_SIZE) + 7 * chunk_id) % 256 for i in range(start, start + size))


class Script:
    """A scheduler that returns what a trace says, and has no deadline."""

    deadline = NEVER

    def __init__(self) -> None:
        self.due: list[int] = []

    def start(self, now: int, size: int) -> None:
        pass

    def news(self, now: int, slices: frozenset[int]) -> None:
        pass

    def hold(self, now: int) -> None:
        pass

    def next(self, now: int) -> int | None:
        return self.due.pop(0) if self.due else None


class _SenderTrace:
    _ERRORS = {"S2": "chunk_size", "S3": "busy", "S4": "gave_up"}

    def __init__(self, sender: Sender, scheduler: Script | BaseScheduler | Adaptive) -> None:
        self._sender = sender
        self._scheduler = scheduler
        self._row = ""

    def submit(self, at: int, event: dict[str, Any]) -> Step:
        size = number(event, "size", 0, MAX_SUBMIT)
        row = self._sender.submit(at, content(self._sender.chunk_id, 0, size))
        step = self._step(row, [])
        if row in self._ERRORS:
            step["error"] = self._ERRORS[row]
        return step

    def ack(self, at: int, event: dict[str, Any]) -> Step:
        ack = ack_from(event)
        check(ack)
        return self._step(self._sender.ack(at, ack), [])

    def poll(self, at: int, event: dict[str, Any]) -> Step:
        if "due" in event:
            self._set_due(field(event, "due", list))
        packets: list[Step] = []
        row, packet = self._sender.poll(at)
        while packet is not None:
            packets.append(
                {
                    "type": "slice",
                    "chunk_id": packet.chunk_id,
                    "slice_id": packet.slice_id,
                    "num_slices": packet.num_slices,
                    **summary(packet.data),
                }
            )
            row, packet = self._sender.poll(at)
        return self._step(row, packets)

    def _set_due(self, due: list[Any]) -> None:
        sender = self._sender
        in_flight = range(sender.num_slices) if sender.state == "SENDING" else range(0)
        valid = all(type(k) is int and k in in_flight and k not in sender.acked for k in due)
        if not valid or (due and not isinstance(self._scheduler, Script)):
            raise Refused(BAD_REQUEST)
        if isinstance(self._scheduler, Script):
            self._scheduler.due = due

    def marks(self, _at: int, event: dict[str, Any]) -> Step:
        """RVO-3."""
        assert isinstance(self._scheduler, Adaptive)
        self._scheduler.marked(number(event, "count", 0, 0xFFFF))
        return self._step(self._row, [])

    def yields(self, _at: int, event: dict[str, Any]) -> Step:
        """RVO-3."""
        assert isinstance(self._scheduler, Adaptive)
        self._scheduler.path.yield_to_others(field(event, "yields", bool))
        return self._step(self._row, [])

    def _step(self, row: str, packets: list[Step]) -> Step:
        """RVO-4: what the host tells takes no row."""
        self._row = row
        sender = self._sender
        return {
            "row": row,
            "state": sender.state,
            "chunk_id": sender.chunk_id,
            "acked": bit_string(sender.acked, sender.num_slices) if sender.state == "SENDING" else "",
            "deadline_us": time(sender.deadline),
            "packets": packets,
        }


class _ReceiverTrace:
    def __init__(self, receiver: Receiver) -> None:
        self._receiver = receiver

    def slice(self, at: int, event: dict[str, Any]) -> Step:
        ids = [field(event, name, int) for name in ("chunk_id", "slice_id", "num_slices")]
        size = number(event, "size", 0, SLICE_SIZE)
        if "fill" in event:
            data = bytes([number(event, "fill", 0, 255)]) * size
        else:
            data = content(ids[0], SLICE_SIZE * ids[1], size)
        packet = Slice(*ids, data=data)
        check(packet)
        return self._step(self._receiver.slice(at, packet), [])

    def read(self, at: int, event: dict[str, Any]) -> Step:
        row, chunk = self._receiver.read(at)
        outcome = {"error": "nothing_to_read"} if chunk is None else {"chunk": summary(chunk)}
        return {**self._step(row, []), **outcome}

    def poll(self, at: int, event: dict[str, Any]) -> Step:
        packets: list[Step] = []
        row, ack = self._receiver.poll(at)
        while ack is not None:
            packets.append({"type": "ack", "chunk_id": ack.chunk_id, "acked": bit_string(ack.acked, ack.num_slices)})
            row, ack = self._receiver.poll(at)
        return self._step(row, packets)

    def _step(self, row: str, packets: list[Step]) -> Step:
        receiver = self._receiver
        return {
            "row": row,
            "state": receiver.state,
            "chunk_id": receiver.chunk_id,
            "received": bit_string(receiver.received, receiver.num_slices),
            "deadline_us": time(receiver.deadline),
            "packets": packets,
        }


def _steps(request: dict[str, Any], handlers: dict[str, Callable[[int, dict[str, Any]], Step]]) -> dict[str, Any]:
    """Gives the events to their handlers (TRC-4)."""
    return {"steps": [{"event": position, **step} for position, step in enumerate(steps(request, handlers))]}


def base_scheduler(source: dict[str, Any]) -> BaseScheduler:
    """The base algorithm with a profile within the limits of BUD-1 and TRC-2."""
    profile = Profile(
        *(field(source, name, int) for name in ("rate", "cap", "burst")),
        acks_pay=field(source, "acks_pay", bool),
        spacing_us=number(source, "spacing_us", 0, LONGEST_DELAY),
        resend_delay_us=number(source, "resend_delay_us", 0, LONGEST_DELAY),
    )
    try:
        return BaseScheduler(profile)
    except ValueError:
        raise Refused(BAD_REQUEST) from None


def adaptive_scheduler(source: dict[str, Any]) -> Adaptive:
    """The recommended scheduler with a profile (RVO-1)."""
    name, rate = field(source, "recovery", str), field(source, "rate", int)
    known = name in ("adaptive", "redundant", "burst", "fixed")
    if not known or (rate and not MIN_RATE <= rate <= MAX_RATE) or (name == "fixed" and not rate):
        raise Refused(BAD_REQUEST)
    return Adaptive(Controller(rate, fixed=name == "fixed", burst=name == "burst"), redundant=name == "redundant")


def summary(data: bytes) -> Step:
    return {"size": len(data), "crc32": zlib.crc32(data)}
