"""Channels on the packet layer: parameters and constants (spec/CHANNELS.md, section 2.3 and appendix A).

Times are in microseconds.
"""

from __future__ import annotations

from typing import NamedTuple

MS = 1_000
SECOND = 1_000_000

# CHP-5
FRESH = 128
MOST_GROUPS = 32
MOST_SKIP = 256
OVERTAKEN = 2
HOLD_MARGIN = 10 * MS
HOLD_UNMEASURED = 250 * MS
PROBE_SOON = 20 * MS
PROBE_MARGIN = 20 * MS
LEAST_CAP = 250 * MS
REPEAT_LEAST = 20 * MS
REPEAT_UNMEASURED = 50 * MS
BACKOFF_MOST = 16
REPORT_DELAY = 20 * MS
REPORT_SPACING = 5 * MS

RELIABLE = ("ordered", "unordered")
KINDS = (*RELIABLE, "unreliable", "latest")
MOST_FIRST = 1 << 32
"""The largest FIRST."""


class Channel(NamedTuple):
    """The parameters of CHP-1 that the codec and the machines need."""

    kind: str
    window: int = 1_024
    data: int = 1_024
    group: int = 64
    send_queue: int = 4_096
    give_up: int = 10 * SECOND
    first: int = 0

    @property
    def most_fragments(self) -> int:
        """Of one message."""
        return min(self.group, self.window)


def check_channel(channel: Channel) -> None:
    """Raises ValueError for a parameter that is not allowed (CHP-2)."""
    if channel.kind not in KINDS:
        raise ValueError(f"kind {channel.kind!r} is none of {KINDS}")
    _check("window", channel.window, 32, 16_384)
    if channel.window & (channel.window - 1):
        raise ValueError(f"window {channel.window} is not a power of two")
    _check("data", channel.data, 1, 1_024)
    _check("group", channel.group, 2, 64)
    _check("send_queue", channel.send_queue, channel.most_fragments, 32_768)
    _check("give_up", channel.give_up, SECOND, 3_600 * SECOND)
    _check("first", channel.first, 0, MOST_FIRST)


def check_reliable(channel: Channel) -> None:
    """Raises ValueError for an unreliable channel, too: it has no machine."""
    check_channel(channel)
    if channel.kind not in RELIABLE:
        raise ValueError("an unreliable channel has neither sender nor receiver")


def _check(name: str, value: int, low: int, high: int) -> None:
    if not low <= value <= high:
        raise ValueError(f"{name} {value} is not {low} to {high}")


class Path:
    """What the packet layer knows of the path (CHP-3)."""

    def __init__(self) -> None:
        self.set(None)

    def set(self, srtt: int | None, patience: int = 0) -> None:
        """`srtt` is None while the round trip is not measured."""
        self.measured = srtt is not None
        self.srtt = srtt or 0
        self.patience = patience

    def backed_off(self, wait: int, doublings: int) -> int:
        """A wait that was doubled, up to its cap (CHS-4, CHV-5)."""
        return min(wait << doublings, max(2 * self.srtt, LEAST_CAP))
