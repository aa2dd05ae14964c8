"""One encoding: what is proved of each layout of formats.json, for all values, with z3.

decoded   What a decoder takes, an encoder takes: it makes the same decisions, none of its checks
          fails, and each part that it writes is the part that was read.
encoded   What an encoder takes, a decoder takes: it reads each part as it was written, none of
          its checks fails, nothing is left, and each value is the one that was written.

With the theorem of tokens.dfy: bytes that are taken have one value, and a value has one encoding.
A list is looked at in any one of its elements, with any number of elements before and behind it.

  python3 prove.py [--only LAYOUT] [--formats FILE]
  python3 prove.py --mutants    mistakes that must not be proved
"""
import argparse
import itertools
import os
import re
import sys

import z3

from layouts import NAMED, Formats, Scope, Walk

HERE = os.path.dirname(os.path.abspath(__file__))

# What a decoder is given besides bytes.
GIVEN = {"chunk-body": {"type": ["slice", "ack"]}, "repair-body": {"type": ["slice", "ack"]}}
# What is encoded alone: a decoder reads it as a part of another layout.
ENCODED = {"packet-header"}
# What no encoder of a layout makes: an envelope is sealed by the machine that has its keys.
SEALED = {"session-data"}
# Parameters that are configured, or agreed on, and their values.
RANGES = {"WINDOW": (32, 16384), "DATA": (1, 1024), "GROUP": (2, 64), "CONFIGURED": (0, 1), "KIND": (0, 2),
          "LANES": (0, 16), "REPAIR": (0, 1), "MARKS": (0, 1), "CLOCKS": (0, 1), "PROTOCOL_ID": (0, 2**32 - 1)}


class Abandoned(Exception):
    """A path that is not followed."""


class Wrong(Exception):
    """A claim that does not hold."""


class Data:
    """Bytes or flags: how many, and what they are."""

    def __init__(self, size, content):
        self.size, self.content = size, content


class List:
    """A list: how many elements, and the values of the one that is looked at."""

    def __init__(self, count, element):
        self.count, self.element = count, element


class Element:
    def __init__(self, nth, behind, earlier):
        self.nth, self.behind, self.earlier = nth, behind, earlier  # bits of the elements behind; names of the one before

    def before(self, name):
        if name not in self.earlier:
            self.earlier[name] = fresh("before_" + name)
        return self.earlier[name]


numbers = itertools.count()


def fresh(name, sort=z3.Int):
    return sort(f"{name}!{next(numbers)}")


def symbolic(*v):
    return any(isinstance(x, z3.ExprRef) for x in v)


INT = z3.IntSort()
UNKNOWN = {  # functions of which only one thing is used: the same arguments have the same value
    "width": z3.Function("width", INT, INT), "ones": z3.Function("ones", INT, INT), "top_flag": z3.Function("top_flag", INT, INT),
    "shift": z3.Function("shift", INT, INT, INT), "utf8": z3.Function("utf8", INT, z3.BoolSort()),
    "zeros": z3.Function("zeros", INT, z3.BoolSort()), "crc": z3.Int("frame_crc"),
}


TRIAL, TRIALS = 10000, 30  # ms of the solver's first attempt at a claim, and attempts


class Judge:
    """What holds on one path: first it is assumed, then, in the other direction, proved."""

    def __init__(self, decisions):
        self.solver = z3.Solver()
        self.solver.set("timeout", TRIAL)
        self.decisions, self.taken, self.open = decisions, [], []
        self.proving, self.claims = False, 0
        self.typed = set()
        self.assume(z3.And(UNKNOWN["crc"] >= 0, UNKNOWN["crc"] < 2**32))

    # Logic.

    def assume(self, e):
        if isinstance(e, bool):
            if not e:
                raise Abandoned
            return
        self.solver.add(e)

    def possible(self, e):
        if e is False:
            return False
        answer = self.solver.check() if e is True else self.solver.check(e)
        for seed in range(1, TRIALS):  # what takes forever with one seed takes a moment with another
            if answer != z3.unknown:
                break
            other = z3.Solver()
            other.set("timeout", seed * TRIAL)
            other.set("random_seed", seed)
            other.add(self.solver.assertions())
            answer = other.check() if e is True else other.check(e)
        if answer == z3.unknown:
            raise Wrong("the solver does not know")
        return answer == z3.sat

    def prove(self, e, what):
        self.claims += 1
        if self.possible(self.negate(e)):
            raise Wrong(what)

    def branch(self, e):
        if isinstance(e, bool):
            return e
        if self.proving:
            self.claims += 1
            if not self.possible(z3.Not(e)):
                return True
            if not self.possible(e):
                return False
            raise Wrong(f"the other direction does not decide {z3.simplify(e)}")
        if len(self.taken) < len(self.decisions):
            way = self.decisions[len(self.taken)]
        else:
            way = self.possible(e)
            if way and self.possible(z3.Not(e)):
                self.open.append(self.taken + [False])
        self.taken.append(way)
        self.solver.add(e if way else z3.Not(e))
        return way

    def check(self, e, fault):
        if self.proving:
            f = fault()
            self.prove(e, f"{f.check} ({f.code}) can fail in the other direction")
        else:
            self.assume(e)

    # Values.

    def negate(self, e):
        return not e if isinstance(e, bool) else z3.Not(e)

    def join(self, op, a, b):
        if not symbolic(a, b):
            return (a and b) if op == "and" else (a or b)
        return z3.And(a, b) if op == "and" else z3.Or(a, b)

    def number(self, e):
        if isinstance(e, bool):
            return int(e)
        return z3.If(e, 1, 0) if isinstance(e, z3.BoolRef) else e

    def operate(self, op, a, b):
        if op == "+":
            return a + b
        if op == "-":
            return a - b
        if op == "*":
            return a * b
        if op == "^":
            return 2**b
        if op in ("/", ">>"):
            if op == ">>":
                if symbolic(b):
                    return UNKNOWN["shift"](a, b)
                b = 2**b
                return a / b if symbolic(a) else a // b
            return z3.If(a >= 0, a / b, -(-a / b)) if symbolic(a) else a // b  # towards 0
        if op == "mod":
            return a % b
        if op in ("=", "!="):
            same = a == b
            return same if op == "=" else self.negate(same)
        return {"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}[op]

    def call(self, walk, name, args):
        a = args[0]
        if name == "size":
            return a.size
        if name == "count":
            return a.count
        if name == "min":
            return z3.If(a <= args[1], a, args[1]) if symbolic(*args) else min(args)
        if name == "named":
            return self.operate("<=", a, NAMED)
        if name == "frame_crc":
            return UNKNOWN["crc"]
        if name in ("utf8", "zeros"):
            return UNKNOWN[name](a.content)
        if name == "top_flag":
            top = UNKNOWN[name](a.content)
            self.assume(z3.And(top >= 0, top <= a.size))
            return top
        if name in ("width", "ones"):
            return UNKNOWN[name](a)
        raise KeyError(name)

    def among(self, v, known):
        return z3.If(z3.Or([v == k for k in known]), v, -1)

    def wire(self, formats, it, v):
        n = v - it.get("plus", 0)
        for name, number in it.get("names", {}).items():
            n = z3.If(v == formats.name(name), z3.IntVal(number), n)
        return n

    def named(self, formats, it, n):
        v = n + it.get("plus", 0)
        for name, number in it.get("names", {}).items():
            v = z3.If(n == number, z3.IntVal(formats.name(name)), v)
        return v

    def fits(self, n, bits):
        return z3.And(n >= 0, n < 2**bits) if symbolic(n) else 0 <= n < 2**bits

    def same(self, a, b, what):
        if isinstance(a, Data):
            self.prove(a.size == b.size, what + ": the size differs")
            if a.content is not b.content:
                raise Wrong(what + ": other bytes")
        elif isinstance(a, List):
            self.prove(a.count == b.count, what + ": the number of elements differs")
            self.all_same(a.element, b.element)
        else:
            self.prove(a == b, what + ": the value differs")

    def all_same(self, a, b):
        """The values of a decoder, and those that were written or would be."""
        if a is None or b is None:
            if a is not b:
                raise Wrong("a list is empty in one direction alone")
            return
        for name in set(a) | set(b):
            if name not in a or name not in b:
                raise Wrong(f"{name} is a value in one direction alone")
            self.same(a[name], b[name], name)


class Wanted(dict):
    """The values that an encoder is given: any, made when they are looked at."""

    def __init__(self, formats, judge, items):
        super().__init__()
        self.formats, self.judge, self.declared = formats, judge, formats.values(items)

    def __contains__(self, name):
        return name in self.declared or super().__contains__(name)

    def __getitem__(self, name):
        if not super().__contains__(name):
            self[name] = self.make(name, self.declared[name])
        return super().__getitem__(name)

    def make(self, name, it):
        if "bytes" in it or "flags" in it:
            v = Data(fresh("size_" + name), fresh("content_" + name))
            self.judge.assume(v.size >= 0)
            return v
        if "each" in it:
            empty = fresh("empty_" + name, z3.Bool)
            if self.judge.branch(empty):
                return List(0, None)
            count = fresh("count_" + name)
            self.judge.assume(count >= 1)
            return List(count, Wanted(self.formats, self.judge, it["items"]))
        v = fresh(name)
        if "names" in it:
            self.judge.assume(z3.Or(v == -1, *[v == self.formats.name(n) for n in it["names"]]))
        elif it.get("text"):
            self.judge.assume(v <= NAMED)
        else:
            self.judge.assume(v > NAMED)
        return v


class Tape:
    """The parts of a datagram. The first direction makes them, the second one finds them."""

    def __init__(self, judge, decoding):
        self.judge, self.decoding = judge, decoding
        self.parts, self.found, self.ranges = [], None, []
        self.at, self.end = 0, None
        if decoding:
            self.begin_reading(fresh("end"))

    def begin_reading(self, end):
        self.end = end
        self.judge.assume(z3.And(end >= 0, end % 8 == 0))

    def turn(self):
        """The other direction, with the parts that are there."""
        if not self.judge.possible(True):
            raise Abandoned  # no values take this path
        self.judge.proving = True
        for claim in self.ranges:
            self.judge.prove(*claim)
        self.found, end, self.at = iter(self.parts), self.at if self.end is None else self.end, 0
        self.decoding, self.end = not self.decoding, end

    def next(self, it):
        kind, part = next(self.found, (None, None))
        if kind is not it:
            raise Wrong("the other direction has another part")
        return part

    def left(self):
        return self.end - self.at

    def is_last(self, element):
        return self.left() == 0 if self.decoding else element.behind == 0

    # Reading.

    def size(self, walk, it, s):
        if "align" in it:
            return (-self.at) % it["align"]
        if "bytes" in it:
            return 8 * walk.text(it["bytes"], s)
        if "flags" in it:
            return walk.text(it["flags"], s)
        return it["bits"]

    def read(self, walk, it, s, truncated):
        size = self.size(walk, it, s)
        self.judge.check(self.judge.join("and", size >= 0, self.left() >= size), truncated)
        if self.found is None:
            part = self.made(it, size)
            self.parts.append((it, part))
        else:
            part = self.next(it)
        if self.judge.proving:
            self.judge.prove(size == self.width(it, part), f"{it.get('name', 'padding')}: another size is read")
        self.at = self.at + size
        if "align" in it:
            return None
        return part if isinstance(part, Data) else self.judge.named(walk.formats, it, part)

    def width(self, it, part):
        if "align" in it:
            return part
        if isinstance(part, Data):
            return part.size * (8 if "bytes" in it else 1)
        return it["bits"]

    def made(self, it, size):
        if "align" in it:
            if "zero" not in it:
                raise Wrong("padding can be anything")
            return size
        if "bytes" in it or "flags" in it:
            v = Data(size / 8 if "bytes" in it and symbolic(size) else size // 8 if "bytes" in it else size, fresh("content"))
            return v
        n = fresh(it["name"])
        self.judge.assume(z3.And(n >= 0, n < 2 ** it["bits"]))
        return n

    # Writing.

    def write(self, walk, it, s):
        name = it.get("name")
        if "align" in it:
            part = (-self.at) % it["align"]
        elif "bytes" in it or "flags" in it:
            part = walk.find(name, s)
            expected = walk.text(it["bytes" if "bytes" in it else "flags"], s) if it.get("bytes") != "left" else part.size
            if self.found is None and ("flags" in it or not symbolic(expected)):
                self.judge.typed.add(f"{name}: its size")  # an array, or flags with their number
                self.judge.assume(part.size == expected)
        else:
            part = self.judge.number(walk.text(it["from"], s)) if it.get("late") else walk.wire(it, s)
            if self.found is None and it not in self.checked(walk):
                self.judge.typed.add(f"{name}: {it['bits']} bits")
                self.judge.assume(self.judge.fits(part, it["bits"]))
            elif self.found is None:
                self.ranges.append((self.judge.fits(part, it["bits"]), f"{name}: the field cannot hold it"))
        if self.found is None:
            self.parts.append((it, part))
        else:
            was = self.next(it)
            self.judge.same(was if not isinstance(was, int) else z3.IntVal(was), part, name or "padding")
        self.at = self.at + self.width(it, part)

    def checked(self, walk):
        """The numbers that are computed, or that a check of an encoder is about."""
        if not hasattr(walk, "of_checks"):
            walk.of_checks = []
            self.collect(walk.formats, walk.form["items"], walk.of_checks, set(), walk.form.get("exact", False))
        return walk.of_checks

    def collect(self, formats, items, found, about, exact):
        for it in items:
            for c in it.get("checks", []) + [it[k] for k in it if k == "check"]:
                if c.get("by") != "decoder":
                    about.update(re.findall(r"[a-z_0-9]+", c["ok"]))
        for it in items:
            if "use" in it:
                inner = formats.layouts[it["use"]]
                self.collect(formats, inner["items"], found, set(about), exact or inner.get("exact", False))
            elif "each" in it:
                self.collect(formats, it["items"], found, set(about), exact)
            elif "bits" in it and ("from" in it or "holds" in it or not exact and it["name"] in about):
                found.append(it)

    # Both.

    def within(self, size, truncated, inner):
        if not self.decoding:
            inner()
            return
        bits, outer = 8 * size(), self.end
        self.judge.check(self.left() >= bits, truncated)
        self.end = self.at + bits
        inner()
        self.judge.prove(self.at == self.end, "what is within a size does not fill it")
        self.end = outer

    def each(self, walk, it, s, context):
        """A list, in one of its elements."""
        judge, name, counted = self.judge, it.get("name"), it["each"] != "end"
        if not name and counted:
            for _ in range(walk.text(it["each"], s)):
                walk.items(it["items"], Scope({}, s), context)
            return
        judge.prove(self.at % 8 == 0, "a list begins within a byte")
        was = walk.find(name, s) if name and not self.decoding else None
        if self.found is None:
            count = was.count if was else (walk.text(it["each"], s) if counted else fresh("count"))
            empty = judge.branch(count == 0)
            part = None if empty else self.element(count)
            self.parts.append((it, part))
        else:
            part = self.next(it)
            count = was.count if was else part[0] if part else 0
            if counted and (self.decoding or not name):
                judge.prove(walk.text(it["each"], s) == (part[0] if part else 0), "another number of elements is read")
        if part is None:
            if self.decoding and not counted:
                judge.check(self.left() == 0, lambda: walk.truncated(it, context, self.at))
            if self.decoding and name:
                s.values[name] = List(0, None)
            return
        count, before, element = part
        self.at = self.at + before
        begin = self.at
        values = was.element if was else {}
        inner = Scope(values, s, element)
        walk.items(it["items"], inner, context)
        size = self.at - begin
        judge.prove(z3.And(size >= 8, size % 8 == 0) if symbolic(size) else size >= 8 and size % 8 == 0, "an element is no bytes, or not whole ones")
        self.at = self.at + element.behind
        if self.decoding:
            judge.check(self.left() >= 0, lambda: walk.truncated(it, context, self.at))
            if not counted:
                judge.check(self.left() == 0, lambda: walk.truncated(it, context, self.at))
            if name:
                s.values[name] = List(count, values)

    def element(self, count):
        nth, before, behind = fresh("nth"), fresh("before"), fresh("behind")
        self.judge.assume(z3.And(count >= 1, nth >= 0, nth < count, before >= 0, behind >= 0, before % 8 == 0, behind % 8 == 0,
                                 (before == 0) == (nth == 0), (behind == 0) == (nth == count - 1)))
        return count, before, Element(nth, behind, {})


class Only(Walk):
    """A walk that does not go where no encoder goes."""

    def use(self, it, s, context):
        if it["use"] in SEALED:
            raise Abandoned
        super().use(it, s, context)

    def place(self, bit):
        return None  # of a fault that cannot be


def path(formats, form, judge, decoding):
    parameters = {}
    for name, (low, high) in RANGES.items():
        parameters[name] = z3.Int(name)
        judge.assume(z3.And(parameters[name] >= low, parameters[name] <= high))
    items = formats.layouts[form]["items"]
    tape = Tape(judge, decoding)
    given = {name: z3.Int("given_" + name) for name in GIVEN.get(form, {})}
    for name, v in given.items():
        judge.assume(z3.Or([v == formats.name(n) for n in GIVEN[form][name]]))
    first = dict(given) if decoding else Wanted(formats, judge, items)
    first.update(given)
    Only(formats, form, tape, judge, parameters, first).run()
    if decoding:
        judge.prove(tape.at == tape.end, "something is left that nobody read")
    tape.turn()
    second = first if decoding else dict(given)
    Only(formats, form, tape, judge, parameters, second).run()
    if next(tape.found, None) is not None:
        raise Wrong("the other direction has fewer parts")
    if not decoding:
        judge.prove(tape.at == tape.end, "something is left")
        judge.all_same(second, first)


def prove(formats, form, decoding):
    """All paths of a layout in one direction first. Returns how many paths and claims, and what is typed."""
    todo, paths, claims, typed = [[]], 0, 0, set()
    while todo:
        judge = Judge(todo.pop())
        try:
            path(formats, form, judge, decoding)
            paths += 1
        except Abandoned:
            pass
        except Wrong as wrong:
            raise Wrong(f"{form}, {'decoded' if decoding else 'encoded'}: {wrong}") from None
        todo += judge.open
        claims += judge.claims
        typed |= judge.typed
    return paths, claims, typed


def tops(formats):
    used = set()

    def look(items):
        for it in items:
            used.add(it.get("use"))
            look(it.get("items", []))
    for f in formats.layouts.values():
        look(f["items"])
    return [name for name in formats.layouts if name not in used]


def mutants():
    """Each line of mutants.txt is a mistake in formats.json, and the layout that it must be found in."""
    with open(os.path.join(HERE, "..", "..", "formats.json"), encoding="utf-8") as f:
        text = f.read()
    survived = 0
    with open(os.path.join(HERE, "mutants.txt"), encoding="utf-8") as f:
        lines = [line.rstrip("\n") for line in f if line.strip() and not line.startswith("#")]
    for line in lines:
        form, _, change = line.partition(": ")
        was, _, becomes = change.partition(" =>")
        if was not in text:
            print(f"GONE      {line}")
            survived += 1
            continue
        changed = re.sub(r",\s*([}\]])", r"\1", text.replace(was, becomes.strip()))
        try:
            formats = Formats(changed)
            for decoding in [True, False]:
                prove(formats, form, decoding)
            print(f"SURVIVED  {line}")
            survived += 1
        except Wrong as wrong:
            print(f"refused   {line}\n            {wrong}")
    print(f"{len(lines)} mistakes, {survived} not refused")
    return 1 if survived else 0


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--formats", default=os.path.join(HERE, "..", "..", "formats.json"))
    p.add_argument("--only")
    p.add_argument("--mutants", action="store_true")
    a = p.parse_args()
    if a.mutants:
        return mutants()
    with open(a.formats, encoding="utf-8") as f:
        formats = Formats(f.read())
    failed = False
    for form in tops(formats):
        if a.only and form != a.only:
            continue
        try:
            d = (0, 0) if form in ENCODED else prove(formats, form, True)
            e = prove(formats, form, False)
        except Wrong as wrong:
            print(f"NOT PROVED: {wrong}")
            failed = True
            continue
        print(f"{form}: {d[0]} + {e[0]} paths, {d[1] + e[1]} claims proved")
        for t in sorted(e[2]):
            print(f"  by its type: {t}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
