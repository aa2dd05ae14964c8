"""Numbers that wrap: each rule that turns a number of the wire into one that does not wrap.

Proved with z3 for all integers, without bounds where none is named. A claim quotes its sentence.
"""
import os
import sys

import z3

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from sentences import Sentences  # noqa: E402

spec = Sentences()
M = 65536


def prove(claim, what, *given, holds=True):
    """A claim that follows from what is given; with holds=False one that does not, and a case shows it."""
    solver = z3.Solver()
    solver.set("timeout", 3000000)
    solver.add(*given)
    solver.add(z3.Not(claim))
    spec.count += 1
    if solver.check() != (z3.unsat if holds else z3.sat):
        spec.fail(what)
    elif holds:
        print(f"proved   {what}")
    else:
        print(f"refuted  {what}")


n, m, s, w, base, next_, received = z3.Ints("n m s w base next received")

spec.quote("PACKETS", "PKS-2", "low = next - RECEIVED", "d = (s - low) mod 65536", "E = low + d", "d >= 32768")
low = next_ - received
d = (s - low) % M
meant = low + d
of_packets = [next_ >= 0, received >= 64, received <= 16384]
prove(z3.And(meant == n, d < 32768), "PKS-2: what is at most RECEIVED behind next and 32,767 - RECEIVED ahead is understood",
      *of_packets, s == n % M, next_ - received <= n, n <= next_ + 32767 - received)
prove(z3.And(meant % M == s, next_ - received <= meant, meant <= next_ + 32767 - received), "PKS-2: what is not stale is in that range",
      *of_packets, 0 <= s, s < M, d < 32768)

spec.quote("PACKETS", "PKS-3", "A = next_to_send - 1 - ((next_to_send - 1 - a) mod 65536)")
acked = next_ - 1 - (next_ - 1 - s) % M
prove(z3.And(acked % M == s, acked < next_, z3.Implies(z3.And(n < next_, n % M == s), n <= acked)),
      "PKS-3: A is the newest number below next_to_send that is a modulo 65,536", 0 <= s, s < M)

spec.quote("CHANNELS", "CHN-4", "n mod 65536 = s", "base - 32767 <= n <= base + 32768")


def near(x):
    return z3.And(base - 32767 <= x, x <= base + 32768)


prove(n == m, "CHN-4: there is at most one such number", near(n), near(m), n % M == s, m % M == s)
one = base - 32767 + (s - (base - 32767)) % M
prove(z3.And(near(one), one % M == s), "CHN-4: there is one", 0 <= s, s < M)
prove(n == base + (w - base) % M, "CHN-5: a base is understood if it is 0 to 65,535 above the sender's", w == n % M, base <= n, n <= base + 65535)

# CHN-6. s: a sequence. sent: the sender's when the packet was composed. more: (RECEIVED - 1) * FRESH.
spec.quote("CHANNELS", "CHN-6", "2 * WINDOW + (RECEIVED - 1) * FRESH", "65,536")
sent, tail, limit, window, more, inside = z3.Ints("sent tail limit window more inside")
of_channels = [window >= 1, more >= 0, tail <= base, limit == tail + window, sent <= s + window, base <= sent + more, s < base + window, n % M == s % M]
prove(n == s, "CHN-6: data or a SKIP that is not below base, and not at or above limit, is taken for what it is",
      *of_channels, 2 * window + more <= M, base <= n, n < limit)
prove(n == s, "CHN-6: the same with a bound of 65,537", *of_channels, 2 * window + more <= M + 1, base <= n, n < limit, holds=False)
fresh = spec.constants["CHANNELS"]["FRESH"]
for of_window in (2**k for k in range(5, 15)):
    for of_received in (2**k for k in range(6, 15)):
        if 2 * of_window + (of_received - 1) * fresh > M:
            continue
        most = min(fresh, of_window)  # new sequences in a packet
        prove(n == s, f"CHN-6: STATUS, which says next = sent, with WINDOW {of_window} and RECEIVED {of_received}",
              tail <= base, limit == tail + of_window, 0 <= inside, inside <= most, base <= s + inside + (of_received - 1) * most,
              s <= base + of_window, n % M == s % M, base <= n, n <= limit)

spec.quote("REPAIR", "RPN-2", "k + ((n - k) mod R)", "R = MAX_IDS - k")
spec.quote("REPAIR", "RPN-3", "p = max(t, k)", "d = (i - id(p)) mod R", "p + d - R", "d < R / 2")
spec.quote("REPAIR", "RPN-5", "f + (T - f) / R * R")
ids = spec.constants["REPAIR"]["MAX_IDS"]
i, t, f, sent = z3.Ints("i t f T")
for k in (1, 2, 3, 100, 255, 256):
    r = ids - k

    def identity(x):
        return z3.If(x < ids, x, k + (x - k) % r)

    p = z3.If(t > k, t, z3.IntVal(k))
    d = (i - identity(p)) % r
    number = z3.If(d < r / 2, p + d, p + d - r)
    number = z3.If(i < k, i, z3.If(number < k, number + r, number))
    prove(number == n, f"RPN-3, k = {k}: what is nearer than R / 2 to top is understood", t >= 0, i == identity(n), n >= k, n - p < r / 2, p - n <= r / 2)
    prove(z3.And(identity(number) == i, number >= 0, number < p + r), f"RPN-3, k = {k}: the number has the id", t >= 0, 0 <= i, i < ids)
    field = z3.If(z3.And(f < k, f <= sent), f, z3.If(z3.And(k <= f, f <= sent), f + (sent - f) / r * r, -1))
    prove(z3.If(field >= 0, z3.And(identity(field) == f, field <= sent, z3.Implies(z3.And(n >= 0, n <= sent, identity(n) == f), n <= field)),
                z3.Implies(z3.And(n >= 0, n <= sent), identity(n) != f)),
          f"RPN-5, k = {k}: it is the largest number with the id, or there is no such number", sent >= 0, 0 <= f, f < ids)

spec.quote("CONNECTION", "CXE-6", "c mod 2^32 = w", "highest - 2^31 < c <= highest + 2^31")
highest = z3.Int("highest")
HALF = 2**31


def open_(c):
    return z3.And(highest - HALF < c, c <= highest + HALF)


prove(n == m, "CXE-6: there is at most one counter", open_(n), open_(m), n % 2**32 == w, m % 2**32 == w)
counter = highest - HALF + 1 + (w - (highest - HALF + 1)) % 2**32
prove(z3.And(open_(counter), counter % 2**32 == w), "CXE-6: there is one", 0 <= w, w < 2**32)
prove((counter == n) == open_(n), "CXE-6: it is the true one exactly where that is in the range", w == n % 2**32)

spec.quote("CONNECTION", "CXM-20", "b = (c - chunk_id) mod 65536", "`b <= c`", "`b < 32768`")
c = z3.Int("c")
b = (c - s) % M
prove(z3.And(c - b == n, b <= c, b < 32768), "CXM-20: a chunk of which a slice was sent, at most 32,767 before the latest, is recognized",
      s == n % M, 0 <= n, n <= c, c - n < 32768)
prove(z3.Not(z3.And(b <= c, b < 32768)), "CXM-20: a chunk that is at most 32,768 ahead lies", s == n % M, c >= 0, c < n, n <= c + 32768)
spec.quote("CONNECTION", "CXM-13", "modulo 2^16")
spec.quote("CONNECTION", "CXM-16", "minus the values of the last ECN that this step used (0 at first), modulo 2^16")
prove((n % M - m % M) % M == n - m, "CXM-16: a count grows by what was counted, if that is below 65,536", n >= m, n - m < M)
spec.quote("CONNECTION", "CXM-26", "below `next - 256`", "For CHN-6 `RECEIVED` is therefore 256")
spec.quote("CHANNELS", "CHP-1", "a power of two, 32 to 16,384")
prove(2 * window + (256 - 1) * fresh <= M, "CXM-26: CHN-6 holds of every WINDOW in a connection", 32 <= window, window <= 16384)

spec.quote("PROTOCOL", "CON-9", "65,535 further chunks")
prove(n == m, "CON-9: two chunks with one id are the same, or 65,536 or more apart", n % M == m % M, n - m < M, m - n < M)

# LAN-3. A step of the crc for a bit loses nothing, so that different protocol ids have different crcs of what follows them.
spec.quote("PROTOCOL", "LAN-3", "there is at most one")
x, y = z3.BitVecs("x y", 32)
POLYNOMIAL = 0xEDB88320


def step(c):
    return z3.If(c & 1 == 1, z3.LShR(c, 1) ^ POLYNOMIAL, z3.LShR(c, 1))


prove(x == y, "LAN-3: one bit of the crc loses nothing", step(x) == step(y))


def register(v):
    """The register behind the four bytes of a protocol id, from 0: linear in the id."""
    c = 0
    for k in range(4):
        c ^= v >> 8 * k & 0xFF
        for _ in range(8):
            c = c >> 1 ^ (POLYNOMIAL if c & 1 else 0)
    return c


rows, rank = [register(1 << k) for k in range(32)], 0
for bit in range(32):
    pivot = next((r for r in rows if r >> bit & 1), None)
    if pivot is not None:
        rank += 1
        rows = [r ^ pivot if r >> bit & 1 else r for r in rows if r is not pivot]
spec.count += 1
if rank != 32:
    spec.fail("LAN-3: two protocol ids have one register")
else:
    print("computed LAN-3: different protocol ids have different registers (rank 32)")
spec.done("claims about numbers that wrap")
