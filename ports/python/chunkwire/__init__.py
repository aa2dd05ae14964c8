"""The chunk protocol: blocks of up to 256 KiB that reach a peer whole; beside it the packet layer, and its channels.

Written from the specifications, spec/PROTOCOL.md, spec/RECOVERY.md, spec/REPAIR.md, spec/PACKETS.md and spec/CHANNELS.md, whose sentences
the docstrings cite by their ids. The records of channels are in chunkwire.records.
Codec and machines touch neither sockets nor clocks; times are integers in microseconds.
"""

from .adaptive import Adaptive
from .base import BURST, BaseScheduler, Profile, article, fixed
from .channel_receiver import ChannelReceiver, Delivered
from .channel_sender import ChannelSender
from .channels import Channel
from .codec import Ack, Slice, decode_body, decode_packet, encode_body, encode_packet
from .congestion import Congestion
from .controller import Controller
from .endpoint import Config, Endpoint, Receipt
from .limits import HEADER, MAX_ACK, MAX_CHUNK, MAX_DATAGRAM, MAX_SLICES, SLICE_SIZE
from .rateless import Rateless
from .receiver import Receiver
from .records import decode_records, encode_records
from .refused import Refused
from .repair_codec import RepairAck, RepairSlice, decode_repair, decode_repair_body, encode_repair, encode_repair_body
from .repair_receiver import RepairReceiver
from .repair_sender import RepairSender
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
    "Adaptive",
    "BaseScheduler",
    "Channel",
    "ChannelReceiver",
    "ChannelSender",
    "Config",
    "Congestion",
    "Controller",
    "Delivered",
    "Endpoint",
    "Profile",
    "Rateless",
    "Receipt",
    "Receiver",
    "Refused",
    "RepairAck",
    "RepairReceiver",
    "RepairSender",
    "RepairSlice",
    "Scheduler",
    "Sender",
    "Slice",
    "article",
    "decode_body",
    "decode_packet",
    "decode_records",
    "decode_repair",
    "decode_repair_body",
    "encode_body",
    "encode_packet",
    "encode_records",
    "encode_repair",
    "encode_repair_body",
    "fixed",
]
