"""The chunk protocol: blocks of up to 256 KiB that reach a peer whole; and the packet layer beside it.

Written from the specifications, spec/PROTOCOL.md and spec/PACKETS.md, whose sentences the docstrings cite by their ids.
Codec and machines touch neither sockets nor clocks; times are integers in microseconds.
"""

from .base import BURST, BaseScheduler, Profile, article, fixed
from .codec import Ack, Slice, decode_body, decode_packet, encode_body, encode_packet
from .congestion import Congestion
from .endpoint import Config, Endpoint, Receipt
from .limits import HEADER, MAX_ACK, MAX_CHUNK, MAX_DATAGRAM, MAX_SLICES, SLICE_SIZE
from .receiver import Receiver
from .refused import Refused
from .sender import Scheduler, Sender
from .times import NEVER

__all__ = [
    "BURST",
    "HEADER",
    "MAX_ACK",
    "MAX_CHUNK",
    "MAX_DATAGRAM",
    "MAX_SLICES",
    "NEVER",
    "SLICE_SIZE",
    "Ack",
    "BaseScheduler",
    "Config",
    "Congestion",
    "Endpoint",
    "Profile",
    "Receipt",
    "Receiver",
    "Refused",
    "Scheduler",
    "Sender",
    "Slice",
    "article",
    "decode_body",
    "decode_packet",
    "encode_body",
    "encode_packet",
    "fixed",
]
