"""Layouts of formats.json, walked in both directions.

The walk is the one of the language's description (conform/layout): a list of items, in their
order. What an item does with bits is left to a medium, and what a condition means to a judge:
medium.py has bytes for both, prove.py has unknowns and a solver. So what is proved and what
answers the vectors is one program.
"""
import json
import re

NAMED = -1000  # names are numbers from here down: no field of a layout has a negative number


class Fault(Exception):
    """A check that fails: its code, its sentence, its place in the unit of the layout."""

    def __init__(self, code, check, at):
        super().__init__(code, check, at)
        self.code, self.check, self.at = code, check, at


class Formats:
    """What formats.json declares."""

    def __init__(self, text):
        self.data = json.loads(text)
        self.layouts = {x["layout"]: x for x in self.data["layouts"]}
        self.parameters = self.data["parameters"]
        self.codes = {row["id"]: row["codes"][0] for table in self.data["checks"] for row in table["rows"] if row["codes"]}
        self.names, self.numbers = {}, {}  # a text and its number, and back
        self.parsed = {}

    def name(self, text):
        if text not in self.names:
            self.names[text] = NAMED - len(self.names)
            self.numbers[self.names[text]] = text
        return self.names[text]

    def expression(self, text):
        if text not in self.parsed:
            self.parsed[text] = Parser(text).whole()
        return self.parsed[text]

    def values(self, items):
        """The values that a list of items has by itself, not in an element of a list: name to item."""
        found = {}
        for it in items:
            if "use" in it:
                found.update(self.values(self.layouts[it["use"]]["items"]))
            elif "value" in it:
                found[it["value"]] = it
            elif "name" in it and "from" not in it:
                found[it["name"]] = it
        return found


TOKEN = re.compile(r"\s*(\d+|[A-Za-z_][A-Za-z_0-9]*(?:\.[a-z_0-9]+)?|'[a-z_0-9]*'|<=|>=|!=|>>|[-+*/()<>=,^])")


class Parser:
    """An expression as a tree of tuples: an operator and its operands."""

    def __init__(self, text):
        self.text, self.tokens, at = text, [], 0
        while text[at:].strip():
            m = TOKEN.match(text, at)
            if not m:
                raise ValueError(text)
            self.tokens.append(m[1])
            at = m.end()

    def take(self, *which):
        return self.tokens.pop(0) if self.tokens and self.tokens[0] in which else None

    def whole(self):
        e = self.either()
        if self.tokens:
            raise ValueError(self.text)
        return e

    def row(self, operand, *which):
        e = operand()
        while op := self.take(*which):
            e = (op, e, operand())
        return e

    def either(self):
        return self.row(self.both, "or")

    def both(self):
        return self.row(self.negation, "and")

    def negation(self):
        return ("not", self.negation()) if self.take("not") else self.comparison()

    def comparison(self):
        a, all_of = self.sum(), None
        while op := self.take("<", "<=", "=", "!=", ">=", ">"):
            b = self.sum()
            one = (op, a, b)
            all_of, a = (one if all_of is None else ("and", all_of, one)), b
        return a if all_of is None else all_of

    def sum(self):
        return self.row(self.product, "+", "-")

    def product(self):
        return self.row(self.power, "*", "/", "mod", ">>")

    def power(self):
        return self.row(self.one, "^")

    def one(self):
        t = self.tokens.pop(0)
        if t == "(":
            e = self.either()
            if not self.take(")"):
                raise ValueError(self.text)
            return e
        if t[0].isdigit():
            return ("number", int(t))
        if t[0] == "'":
            return ("text", t[1:-1])
        if self.take("("):
            args = []
            while not self.take(")"):
                args.append(self.either())
                self.take(",")
            return ("call", t, *args)
        return ("name", t)


class Scope:
    """The values that are known in a layout or in an element of a list."""

    def __init__(self, values, up=None, element=None):
        self.values, self.local, self.places = values, {}, {}
        self.read, self.elements = {}, {}  # the items of values, and the scopes of lists, as they were read
        self.up, self.element = up, element


class Walk:
    """A walk along a layout. The medium reads or writes, the judge says what holds."""

    def __init__(self, formats, form, medium, judge, parameters, values=None):
        self.formats, self.medium, self.judge, self.parameters = formats, medium, judge, parameters
        self.form = formats.layouts[form]
        self.scope = Scope({} if values is None else values)
        self.decoding = medium.decoding

    def run(self):
        context = (self.form.get("whole"),)
        self.items(self.form["items"], self.scope, context)
        return self.scope.values

    # Expressions.

    def value(self, e, s):
        op = e[0]
        if op == "number":
            return e[1]
        if op == "text":
            return self.formats.name(e[1])
        if op == "name":
            return self.get(e[1], s)
        if op == "call":
            return self.judge.call(self, e[1], [self.value(a, s) for a in e[2:]])
        if op in ("and", "or"):
            a = self.value(e[1], s)
            if isinstance(a, bool) and a == (op == "or"):
                return a
            return self.judge.join(op, a, self.value(e[2], s))
        if op == "not":
            return self.judge.negate(self.value(e[1], s))
        return self.judge.operate(op, self.value(e[1], s), self.value(e[2], s))

    def text(self, text, s):
        return self.value(self.formats.expression(text), s)

    def get(self, name, s):
        if name.startswith("before."):
            while s.element is None:
                s = s.up
            return s.element.before(name[7:])
        if name[0].isupper():
            return self.parameter(name, s)
        found = self.find(name, s)
        if found is not None:
            return found
        while s.element is None and s.up is not None:
            s = s.up
        if name == "nth":
            return s.element.nth
        if name == "is_first":
            return self.judge.operate("=", s.element.nth, 0)
        if name == "is_last":
            return self.medium.is_last(s.element)
        if name == "left":
            return self.judge.operate("/", self.medium.left(), 8)
        raise KeyError(name)

    def find(self, name, s):
        while s is not None:
            for known in (s.local, s.values):
                if name in known:
                    return known[name]
            s = s.up
        return None

    def parameter(self, name, s):
        p = self.parameters.get(name, self.formats.parameters[name])
        return p(lambda other: self.find(other, s)) if callable(p) else p

    # Items.

    def items(self, items, s, context):
        for it in items:
            if "when" in it and not self.judge.branch(self.text(it["when"], s)):
                if "else" in it:
                    s.local[it["name"]] = it["else"]
                continue
            self.item(it, s, context)

    def item(self, it, s, context):
        at = self.medium.at
        if "check" in it:
            self.check(it["check"], s, at)
        elif "let" in it:
            s.local[it["let"]] = self.text(it["is"], s)
        elif "value" in it:
            if self.decoding:
                s.values[it["value"]] = self.text(it["is"], s)
                s.read[it["value"]] = it
        elif "use" in it:
            self.use(it, s, context)
        elif "each" in it:
            self.medium.each(self, it, s, context)
        else:
            self.field(it, s, context, at)

    def field(self, it, s, context, at):
        name = it.get("name")
        if name:
            s.places[name] = at
        if self.decoding:
            v = self.medium.read(self, it, s, lambda: self.truncated(it, context, at))
            if name:
                (s.local if "from" in it else s.values)[name] = v
                s.read[name] = it
        else:
            self.given(it, s, at)
        for check in it.get("checks", []):
            self.check(check, s, at)
        if not self.decoding:
            self.medium.write(self, it, s)

    def given(self, it, s, at):
        """What an encoder writes: computed, or of the values. A name that the field lacks is -1."""
        name = it.get("name")
        if not name:
            return
        if "from" in it and not it.get("late"):
            v = self.text(it["from"], s)
            s.local[name] = self.judge.number(v)
        if "names" in it:
            v = self.find(name, s)
            known = [self.formats.name(n) for n in it["names"]]
            s.local[name] = self.judge.among(v, known)
        if "holds" in it and not it.get("late"):
            self.judge.check(self.judge.fits(self.wire(it, s), it["bits"]), lambda: Fault("invalid_field", it["holds"], self.place(at)))

    def wire(self, it, s):
        """The number that a field has on the wire."""
        v = self.find(it["name"], s)
        return self.judge.wire(self.formats, it, v)

    def use(self, it, s, context):
        inner = self.formats.layouts[it["use"]]
        context = (inner.get("whole", context[0]),)
        if "within" not in it:
            self.items(inner["items"], s, context)
            return
        at = self.medium.at
        try:
            self.medium.within(lambda: self.text(it["within"], s), lambda: self.truncated(it, context, at),
                               lambda: self.items(inner["items"], s, context))
        except Fault as f:
            if not self.decoding:
                raise Fault("invalid_field", it["refused"], self.place(at)) from f
            if not getattr(f, "outside", False):
                f.check = it["as"]
            raise

    # Faults.

    def place(self, bit):
        return bit // 8 if self.form["unit"] == "bytes" else bit

    def truncated(self, it, context, at):
        if self.form.get("short") == "end":
            at = self.medium.end
        return Fault("truncated", it.get("whole", context[0]), self.place(at))

    def check(self, c, s, at):
        if c.get("by", "") == ("encoder" if self.decoding else "decoder"):
            return
        self.judge.check(self.text(c["ok"], s), lambda: self.fault(c, s, at))

    def fault(self, c, s, at):
        code, where = c.get("code") or self.formats.codes.get(c["id"]), c.get("at", "")
        if where == "none":
            return Fault(code, c["id"], -1)
        if where.isdigit():
            return Fault(code, c["id"], int(where))
        if where[:1].isupper():
            return Fault(code, c["id"], self.parameter(where, s))
        if where == "here":
            at = self.medium.at
        elif where == "end":
            at = self.medium.end
        elif where:
            while where not in s.places:
                s = s.up
            at = s.places[where]
        return Fault(code, c["id"], self.place(at))
