"""Section 2: limits."""

SLICE_SIZE = 1_024
MAX_SLICES = 256
MAX_CHUNK = SLICE_SIZE * MAX_SLICES
MAX_DATAGRAM = 1_038
MAX_ACK = 44
HEADER = 28

GIVE_UP = 10_000_000
"""`GIVE_UP` of both machines unless configured, in microseconds."""


def slice_count(size: int) -> int:
    """How many slices a chunk of `size` bytes has (LIM-2)."""
    return (size + SLICE_SIZE - 1) // SLICE_SIZE


def check_config(first_id: int, give_up: int) -> None:
    """Raises ValueError unless a machine can be set up so (ENC-1, sections 7.2 and 8.2)."""
    if not 0 <= first_id <= 0xFFFF:
        raise ValueError(f"first_id {first_id} is not 0 to 65535")
    if not 1 <= give_up <= 1 << 61:
        raise ValueError(f"give_up {give_up} is not 1 to 2^61 microseconds")
