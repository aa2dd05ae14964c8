"""Reads the fields of a request, strictly (PRT-2, PRT-3)."""

from __future__ import annotations

import re
from typing import Any, Callable, TypeVar

from .codec import Ack
from .refused import Refused
from .times import NEVER

T = TypeVar("T")

BAD_REQUEST = "bad_request"
LAST_TIME = (1 << 62) - 1


def field(source: Any, name: str, kind: type[T]) -> T:
    """A field of exactly that type: a bool is no integer."""
    value = source.get(name)
    if type(value) is not kind:
        raise Refused(BAD_REQUEST)
    return value


def number(source: Any, name: str, low: int, high: int) -> int:
    value = field(source, name, int)
    if not low <= value <= high:
        raise Refused(BAD_REQUEST)
    return value


def hexadecimal(source: Any, name: str) -> bytes:
    value = field(source, name, str)
    if not re.fullmatch("([0-9a-f]{2})*", value):
        raise Refused(BAD_REQUEST)
    return bytes.fromhex(value)


def ack_from(source: Any) -> Ack:
    chunk_id, acked = field(source, "chunk_id", int), field(source, "acked", str)
    if not set(acked) <= {"0", "1"}:
        raise Refused("invalid_field")
    return Ack(chunk_id, len(acked), frozenset(k for k, c in enumerate(acked) if c == "1"))


def bit_string(slices: Any, count: int) -> str:
    """One character for each of `count` slices, slice 0 first."""
    return "".join("1" if k in slices else "0" for k in range(count))


def steps(request: Any, handlers: dict[str, Callable[[int, dict[str, Any]], dict[str, Any]]]) -> list[dict[str, Any]]:
    """Gives each event to the handler of its name."""
    answers = []
    for event in field(request, "events", list):
        if not isinstance(event, dict):
            raise Refused(BAD_REQUEST)
        name = field(event, "event", str)
        if name not in handlers:
            raise Refused("unsupported")
        try:
            answers.append(handlers[name](number(event, "at", 0, LAST_TIME), event))
        except Refused:
            raise Refused(BAD_REQUEST) from None
    return answers


def machine_config(config: dict[str, Any]) -> tuple[int, int]:
    """`FIRST_ID` and `GIVE_UP`, within the limits of ENC-1 and section 7.2."""
    return number(config, "first_chunk_id", 0, 0xFFFF), number(config, "give_up_us", 1, 1 << 61)


def time(at: float) -> int | None:
    return None if at == NEVER else int(at)
