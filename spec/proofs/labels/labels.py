"""CONNECTION.md, section 4: under one key no two uses have the same input.

Every use of E, H, X and mac is read from the text of the document. E and H begin with a label and its length
(CXN-6), so that inputs with different labels differ, and of one label so do inputs of different sizes, and of
equal sizes if each field has a fixed size. So it is enough that

  1. a key is used by one function alone,
  2. each label under one key, and each label of H, is used once, or for inputs of different sizes,
  3. each field that is joined, except the last one, has a size that the text fixes.

`next` is used for one of two inputs: which one, depends on S, of which `next` is made.
"""
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(HERE, "..", "..", "CONNECTION.md"), encoding="utf-8") as file:
    text = file.read()
begin = text.index("## 4 Keys")
text = text[begin:text.index("\n## ", begin)]
failed = 0


def fail(why):
    global failed
    failed += 1
    print(f"NOT PROVED: {why}")


# Sizes of what is joined: of results by their functions, of others as the text says.
SIZES = {"H": 32, "E": 32, "X": 32, "E16": 16, "mac16": 16}
sizes = {"proof": 16}
for name, function in re.findall(r"(\w+)`? *(?:=|is|is `|of a PROOF whose resume is not 0 is `) *(H|E|E16|X|mac16)\(", text):
    if sizes.setdefault(name, SIZES[function]) != SIZES[function]:
        fail(f"{name} has two sizes")


def size(field):
    """The bytes of a field, or None."""
    field = field.strip()
    if m := re.fullmatch(r"bytes (\d+) to (\d+) of \w+", field):
        return int(m[2]) - int(m[1]) + 1
    if m := re.fullmatch(r"(?:the )?(\d+) bytes(?: of the \w+| before it)?", field):
        return int(m[1])
    if m := re.fullmatch(r"\w+ (\d+)", field):
        return int(m[1])
    return 0 if field == '""' else sizes.get(field)


def total(fields):
    """The bytes of joined fields. One field alone needs no fixed size."""
    parts = fields.split("||")
    found = [size(p) for p in parts]
    if None in found[:-1]:
        fail(f"{parts[found.index(None)].strip()!r} in {fields.strip()!r} has no fixed size")
    return found[0] if None in found else sum(found)


def calls(text):
    """Each call, outer and inner, with its arguments."""
    for m in re.finditer(r"\b(E16|E|H|X|mac16)\(", text):
        depth, args, at = 0, [""], m.end()
        while depth >= 0:
            c = text[at]
            depth += {"(": 1, ")": -1}.get(c, 0)
            if c == "," and depth == 0:
                args.append("")
            elif depth >= 0:
                args[-1] += c
            at += 1
        yield m[1], [a.strip() for a in args]


uses, functions = {}, {}
for function, args in calls(text):
    if function == "H":
        key, label, fields = "H", args[0], args[1]
    elif function in ("E", "E16"):
        key, label, fields = args
        key = re.sub(r" of that connection$", "", key)
    else:
        key, label, fields = args[0], "", args[1]
    # CXK-7: k is one of two keys.
    for k in ["answer_key", "resume key"] if key == "k" else [key]:
        functions.setdefault(k, set()).add({"E16": "E"}.get(function, function))
        uses.setdefault((k, label), []).append((function, fields, total(fields) if not fields.startswith("H(") else 32))
        if label and not re.fullmatch(r'"[ -~]{1,200}"', label):
            fail(f"{label} is no label")
for key, which in functions.items():
    if len(which) > 1:
        fail(f"{key} is a key of {sorted(which)}")
hello = next(fields for _, fields, _ in uses["H", '"hello"'])
for (key, label), list_ in uses.items():
    for function, fields, n in list_:
        print(f"{key}: {function} {label} of {fields}" + (f", {n} bytes" if n is not None else ""))
    different = {fields for _, fields, _ in list_}
    known = {n for _, _, n in list_}
    if key == "next" and different == {"shared", "static"} and hello == "the 97 bytes || S":
        continue
    if len(different) > 1 and (None in known or len(known) < len(different)):
        fail(f"{key}, {label}: two inputs can be equal")
print(f"{sum(len(v) for v in uses.values())} uses of {len(functions)} keys, {failed} problems")
sys.exit(1 if failed else 0)
