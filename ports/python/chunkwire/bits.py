"""Section 3: bit packing. Bit i of the stream is bit i of a little-endian number (BIT-1)."""


def _width(low: int, high: int) -> int:
    return (high - low).bit_length()


class Writer:
    """Puts values into a stream. The caller has checked that they fit."""

    def __init__(self) -> None:
        self._stream = 0
        self._size = 0

    def bits(self, value: int, count: int) -> None:
        """BIT-2; BIT-4 with a count of 1."""
        self._stream |= value << self._size
        self._size += count

    def integer(self, value: int, low: int, high: int) -> None:
        """BIT-3."""
        self.bits(value - low, _width(low, high))

    def align(self) -> None:
        """BIT-5."""
        self._size += -self._size % 8

    def data(self, data: bytes) -> None:
        """BIT-6."""
        self.align()
        self.bits(int.from_bytes(data, "little"), 8 * len(data))

    def finish(self) -> bytes:
        """The stream as bytes (BIT-7)."""
        self.align()
        return self._stream.to_bytes(self._size // 8, "little")


class Reader:
    """Takes values out of a stream. The caller looks at `left` before it reads."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.at = 0

    @property
    def left(self) -> int:
        """How many bits are left."""
        return 8 * len(self._data) - self.at

    def bits(self, count: int) -> int:
        """BIT-2; BIT-4 with a count of 1."""
        end = self.at + count
        window = int.from_bytes(self._data[self.at // 8 : (end + 7) // 8], "little")
        value = window >> self.at % 8 & (1 << count) - 1
        self.at = end
        return value

    def integer(self, low: int, high: int) -> int:
        """BIT-3."""
        return self.bits(_width(low, high)) + low

    def align(self) -> int:
        """The padding bits of BIT-5, as a number."""
        return self.bits(-self.at % 8)

    def data(self, count: int) -> bytes:
        """BIT-6, after `align`."""
        return self.bits(8 * count).to_bytes(count, "little")
