"""64 bits: each intermediate result of the formulas fits, whatever their variables are.

A row of ranges.json has a formula as its sentence or its pseudo-code says it, and ranges of its variables.
Where a sentence has words in place of a formula, the row quotes these as "says".
The formula is read as NUM-1 of PROTOCOL.md says (from the left, / towards 0), and bounds of each
intermediate result are computed by exact interval arithmetic.
"""
import ast
import json
import math
import os
import sys

import z3

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
from sentences import Sentences  # noqa: E402

spec = Sentences()
largest = [(0, "", "")]


def divide(a, b):
    return abs(a) // abs(b) * (1 if a * b >= 0 else -1)


def corners(f, a, b):
    every = [f(x, y) for x in a for y in b]
    return min(every), max(every)


CALLS = {"max": lambda *a: (max(x[0] for x in a), max(x[1] for x in a)), "min": lambda *a: (min(x[0] for x in a), min(x[1] for x in a)),
         "sum": lambda a: (min(512 * a[0], 0), 512 * a[1]),  # of at most SHOWN latencies
         "ceil": lambda a: (a[0] - 1, a[1] + 1), "abs": lambda a: (0, max(-a[0], a[1])),
         "isqrt": lambda a: (0, math.isqrt(max(a[1], 0)) + 1)}


class Formula:
    def __init__(self, document, sentence, ranges):
        self.document, self.sentence, self.ranges = document, sentence, ranges

    def bounds(self, node):
        b = self.of(node)
        largest.append((max(abs(b[0]), abs(b[1])), self.sentence, ast.unparse(node)))
        return b

    def of(self, node):
        if isinstance(node, ast.Constant):
            return node.value, node.value
        if isinstance(node, ast.Name):
            return self.variable(node.id)
        if isinstance(node, ast.Call):
            return CALLS[node.func.id](*[self.bounds(a) for a in node.args])
        if isinstance(node, ast.UnaryOp):
            a = self.bounds(node.operand)
            return -a[1], -a[0]
        a, b = self.bounds(node.left), self.bounds(node.right)
        if isinstance(node.op, ast.Add):
            return a[0] + b[0], a[1] + b[1]
        if isinstance(node.op, ast.Sub):
            return a[0] - b[1], a[1] - b[0]
        if isinstance(node.op, ast.Mult):
            return corners(lambda x, y: x * y, a, b)
        if isinstance(node.op, ast.Pow):
            return corners(lambda x, y: x**y, a, b)
        if isinstance(node.op, ast.LShift):
            return corners(lambda x, y: x << y, a, b)
        if isinstance(node.op, ast.Mod):  # never below 0
            return 0, b[1] - 1
        if isinstance(node.op, ast.Div):
            if b[0] <= 0 <= b[1]:
                raise ZeroDivisionError(ast.unparse(node))
            return corners(divide, a, b)
        raise ValueError(ast.unparse(node))

    def variable(self, name):
        if name in self.ranges:
            return self.ranges[name]
        for document in (self.document, "PROTOCOL", "PACKETS", "RECOVERY"):
            if name in spec.constants[document]:
                return (spec.constants[document][name],) * 2
        raise KeyError(f"{self.sentence}: {name} has no range")


def value(text):
    """A bound: a number, or an expression of numbers and constants."""
    return eval(str(text), {"__builtins__": {}}, {name: v for document in reversed(spec.constants) for name, v in spec.constants[document].items()})


with open(os.path.join(HERE, "ranges.json"), encoding="utf-8") as file:
    rows = json.load(file)
for row in rows["formulas"]:
    document, sentence, formula = row["document"], row["sentence"], row["formula"]
    spec.quote(document, sentence, *row.get("says", [formula]))
    ranges = {name: tuple(value(v) for v in (r if isinstance(r, list) else rows["ranges"][r])) for name, r in row["of"].items()}
    begin, spec.count = len(largest), spec.count + 1
    try:
        Formula(document, sentence, ranges).bounds(ast.parse(formula.replace(" mod ", " % ").replace("^", "**"), mode="eval").body)
    except ZeroDivisionError as e:
        spec.fail(f"{sentence}: {e} can divide by 0")
        continue
    most, _, where = max(largest[begin:])
    if most >= 2**63:
        spec.fail(f"{sentence}: {where} of {formula} does not fit")
    else:
        print(f"fits  {sentence:7} {formula}: below 2^{most.bit_length()}")

# RTT-5 keeps its ranges: for all values at once, with z3.
spec.quote("PROTOCOL", "RTT-5", "d = min(r, srtt * 3 / 2 + SAMPLE_SLACK) - srtt", "(d - rttvar) / 4", "d / 8", "(min(-d, rttvar) - rttvar) / 4", "d / 4")
srtt, rttvar, r = z3.Ints("srtt rttvar r")
LONGEST = spec.constants["PROTOCOL"]["LONGEST_SAMPLE"]


def towards_0(a, b):
    return z3.If(a >= 0, a / b, -(-a / b))


slack = towards_0(srtt * 3, 2) + spec.constants["PROTOCOL"]["SAMPLE_SLACK"]
d = z3.If(r < slack, r, slack) - srtt
after_var = z3.If(d >= 0, rttvar + towards_0(d - rttvar, 4), rttvar + towards_0(z3.If(-d < rttvar, -d, rttvar) - rttvar, 4))
after = z3.If(d >= 0, srtt + towards_0(d, 8), srtt + towards_0(d, 4))
given = [0 <= srtt, srtt <= LONGEST, 0 <= rttvar, rttvar <= LONGEST, 0 <= r, r <= LONGEST]
for what, wrong in {"srtt and rttvar stay between 0 and LONGEST_SAMPLE": z3.Or(after < 0, after > LONGEST, after_var < 0, after_var > LONGEST),
                    "srtt moves towards the sample, and not past it": z3.Or(z3.And(r >= srtt, z3.Or(after < srtt, after > r)),
                                                                           z3.And(r <= srtt, z3.Or(after > srtt, after < r)))}.items():
    solver = z3.Solver()
    solver.set("timeout", 3000000)
    spec.count += 1
    if solver.check(*given, wrong) == z3.unsat:
        print(f"proved RTT-5: {what}")
    else:
        spec.fail(f"RTT-5: {what}")

# RPL-4: what the ranges of m and v assume. l is at most 32 * arrived, so that m is below 2^21 and v below 33 of these.
spec.quote("REPAIR", "RPL-4", "l = min(lost, 32 * arrived)", "m = 256 * d * l / arrived", "v = m + m * l / arrived")
n, l, arrived, q = z3.Ints("n l arrived q")
solver = z3.Solver()
solver.set("timeout", 3000000)
spec.count += 1
if solver.check(n >= 0, arrived >= 1, 0 <= l, l <= 32 * arrived, q * arrived <= n * l, q >= 32 * n + 1) == z3.unsat:
    print("proved RPL-4: n * l / arrived is at most 32 * n, for every n")
else:
    spec.fail("RPL-4: n * l / arrived is at most 32 * n")

# CXM-4, CXM-25: the time that counts fills any budget at the lowest rate.
spec.quote("CONNECTION", "CXM-4", "of which at most 10^9 count", "`MESSAGE_RATE / 4` in BAD")
spec.quote("CONNECTION", "CXM-25", "by a quarter of the rate")
least, full = (value(v) for v in rows["ranges"]["budget"])
spec.count += 1
if 64000 // 4 // 4 * 10**9 >= full - least:
    print("fits  CXM-4, CXM-25: 10^9 us fill any budget")
else:
    spec.fail("CXM-4, CXM-25: 10^9 us do not fill a budget")
most, sentence, where = max(largest)
print(f"the largest of {len(largest)} intermediate results is below 2^{most.bit_length()}: {where} of {sentence}")
spec.done("formulas and claims in 64 bits")
