"""The layouts that are proved, as a program: what bytes are, and that they are encoded again.

Reads an object a line: {"layout": L, "hex": H, "parameters": {...}, "given": {...}}.
Writes one a line: {"values": {...}}, or {"code": C, "check": SENTENCE, "at": PLACE}.
"""
import json
import operator
import os
import sys
import zlib

from layouts import NAMED, Fault, Formats, Scope, Walk

with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "formats.json"), encoding="utf-8") as file:
    FORMATS = Formats(file.read())


OPERATORS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "mod": operator.mod, ">>": operator.rshift,
             "^": lambda _, b: 2**b, "/": lambda a, b: a // b if a >= 0 else -(-a // b),
             "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


class Element:
    def __init__(self, nth, before, last):
        self.nth, self.scope, self.last = nth, before, last

    def before(self, name):
        return self.scope.local.get(name, self.scope.values.get(name))


class Judge:
    """What conditions mean for numbers: what prove.py says of unknowns, of one value each."""

    def __init__(self):
        self.bytes = b""

    def branch(self, e):
        return e

    def check(self, e, fault):
        if not e:
            raise fault()

    def negate(self, e):
        return not e

    def join(self, op, a, b):
        return (a and b) if op == "and" else (a or b)

    def number(self, e):
        return int(e)

    def operate(self, op, a, b):
        if op in ("=", "!="):
            return (a == b) == (op == "=")
        return OPERATORS[op](a, b)

    def call(self, walk, name, args):
        a = args[0]
        if name in ("size", "count"):
            return len(a)
        if name == "min":
            return min(args)
        if name == "named":
            return a <= NAMED
        if name == "width":
            return a.bit_length()
        if name == "ones":
            return bin(a).count("1")
        if name == "top_flag":
            return max((i + 1 for i, f in enumerate(a) if f), default=0)
        if name == "zeros":
            return not any(a)
        if name == "utf8":
            return valid(a)
        if name == "frame_crc":
            return zlib.crc32(a.to_bytes(4, "little") + bytes(4) + bytes(walk.medium.bytes[4:]))
        raise KeyError(name)

    def among(self, v, known):
        return v if v in known else -1

    def fits(self, n, bits):
        return 0 <= n < 2**bits

    def wire(self, formats, it, v):
        return it.get("names", {}).get(formats.numbers.get(v), v - it.get("plus", 0))

    def named(self, formats, it, n):
        for name, number in it.get("names", {}).items():
            if n == number:
                return formats.name(name)
        return n + it.get("plus", 0)


def valid(b):
    try:
        b.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


class Reader:
    decoding = True

    def __init__(self, b):
        self.bytes, self.bits, self.at, self.end = b, int.from_bytes(b, "little"), 0, 8 * len(b)

    def left(self):
        return self.end - self.at

    def is_last(self, element):
        return self.left() == 0

    def take(self, size):
        n = self.bits >> self.at & (1 << size) - 1
        self.at += size
        return n

    def read(self, walk, it, s, truncated):
        if "align" in it:
            at = self.at
            if self.take(-at % it["align"]):
                raise Fault(walk.formats.codes[it["zero"]], it["zero"], walk.place(at))
            return None
        size = 8 * walk.text(it["bytes"], s) if "bytes" in it else walk.text(it["flags"], s) if "flags" in it else it["bits"]
        if not 0 <= size <= self.left():
            raise truncated()
        n = self.take(size)
        if "bytes" in it:
            return n.to_bytes(size // 8, "little")
        if "flags" in it:
            return [n >> i & 1 == 1 for i in range(size)]
        return walk.judge.named(walk.formats, it, n)

    def within(self, size, truncated, inner):
        bits, outer = 8 * size(), self.end
        if self.left() < bits:
            f = truncated()
            f.outside = True
            raise f
        self.end = self.at + bits
        inner()
        self.end = outer

    def each(self, walk, it, s, context):
        count = None if it["each"] == "end" else walk.text(it["each"], s)
        values, before = [], None
        while (self.left() > 0) if count is None else len(values) < count:
            e = Scope({}, s, Element(len(values), before, None))
            walk.items(it["items"], e, context)
            values.append(e.values)
            s.elements.setdefault(it.get("name"), []).append(e)
            before = e
        if "name" in it:
            s.values[it["name"]], s.read[it["name"]] = values, it
            s.elements.setdefault(it["name"], [])


class Writer:
    decoding, end = False, 0

    def __init__(self):
        self.bits, self.at, self.late = 0, 0, []

    def is_last(self, element):
        return element.last

    def put(self, n, size, at=None):
        if at is None:
            at, self.at = self.at, self.at + size
        self.bits |= n << at

    def write(self, walk, it, s):
        if "align" in it:
            self.put(0, -self.at % it["align"])
        elif it.get("late"):
            self.late.append((it, s, self.at))
            self.put(0, it["bits"])
        elif "bytes" in it:
            b = walk.find(it["name"], s)
            self.put(int.from_bytes(b, "little"), 8 * len(b))
        elif "flags" in it:
            for f in walk.find(it["name"], s):
                self.put(int(f), 1)
        else:
            self.put(walk.wire(it, s), it["bits"])

    def within(self, size, truncated, inner):
        inner()

    def each(self, walk, it, s, context):
        values = walk.find(it["name"], s) if "name" in it else [{}] * walk.text(it["each"], s)
        before = None
        for i, v in enumerate(values):
            e = Scope(v, s, Element(i, before, i == len(values) - 1))
            walk.items(it["items"], e, context)
            before = e

    def finished(self, walk):
        for it, s, at in self.late:
            self.bytes = self.bits.to_bytes(self.at // 8, "little")
            self.put(walk.text(it["from"], s), it["bits"], at)
        return self.bits.to_bytes(self.at // 8, "little")


def shown(formats, s):
    """The values that were read, as JSON has them."""
    out = {}
    for name, it in s.read.items():
        if name not in s.values or "unsaid" in it:
            continue
        v = s.values[name]
        if "each" in it:
            v = [shown(formats, e) for e in s.elements[name]]
            v = [list(e.values()) for e in v] if it.get("row") else v
        elif "flags" in it:
            v = "".join("01"[f] for f in v)
        elif "bytes" in it:
            v = v.decode() if it.get("text") else v.hex()
        else:
            v = formats.numbers.get(v, v)
        out[name] = v
    return out


def answer(formats, q):
    form, b = q["layout"], bytes.fromhex(q["hex"])
    given = {k: formats.name(v) for k, v in q.get("given", {}).items()}
    reading = Walk(formats, form, Reader(b), Judge(), q.get("parameters", {}), dict(given))
    try:
        values = reading.run()
    except Fault as f:
        return {"code": f.code, "check": f.check, "at": f.at}
    reply = {"values": {**q.get("given", {}), **shown(formats, reading.scope)}}
    if formats.numbers.get(values.get("type")) == "data":
        return reply  # no encoder makes it
    walk = Walk(formats, form, Writer(), Judge(), q.get("parameters", {}), values)
    try:
        walk.run()
        if walk.medium.finished(walk) != b:
            reply["encoded"] = walk.medium.finished(walk).hex()
    except Fault as f:
        reply["encoded"] = f"{f.code} ({f.check})"
    return reply


def main():
    for line in sys.stdin:
        print(json.dumps(answer(FORMATS, json.loads(line)), sort_keys=True, separators=(",", ":")), flush=True)


if __name__ == "__main__":
    main()
