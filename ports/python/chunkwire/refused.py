"""What an encoder, a decoder or the port does not take."""

from __future__ import annotations


class Refused(Exception):
    """Refused by an encoder, a decoder or the port: `code` says why.

    `place` is an offset, in bits in the chunk protocol (DEC-15) and in bytes in the packet layer and in channels.
    """

    def __init__(self, code: str, place: int | None = None) -> None:
        super().__init__(code)
        self.code = code
        self.place = place
