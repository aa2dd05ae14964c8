"""Promela of the transition tables of a document.

  python3 model.py MEANINGS.json [--without ROW] [--change WHAT]

Which row joins which state, event, guard and actions, and in which order, is read from the document's
JSON. Only what a guard or an action means is in MEANINGS.json. A name in a table without a meaning, and a
meaning that no table uses, is an error: a changed table changes the model, or stops it.
Each event asserts that exactly one row applies (7.3 of PROTOCOL.md); where MEANINGS.json says "first", the
first row whose guard holds is meant.
"""
import argparse
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
# Changes of what names mean, with which the properties must fail: actions and guards, or their parts.
CHANGES = {
    "no foreign acks": ("FOREIGN_ACK", "0"),
    "acks are kept": ("s_sent = 0; s_acked = 0;", "s_sent = 0;"),
    "no acks of the previous chunk": ("r_pending = r_pending | PREVIOUS", "skip"),
    "late reports count": ("overtaken", "0"),
    "the latest ack counts": ("s_have = (a_have > s_have -> a_have : s_have)", "s_have = a_have"),
    "no top": ("r_top = (x_i + 1 > r_top -> x_i + 1 : r_top)", "skip"),
    "older proofs count": ("x < e_newest || x == e_newest && HELLO != e_hello", "0"),
    "nothing is remembered": ("e_state == ENDED && x <= e_newest", "0"),
    "an entry is forgotten at once": ("passed >= e_at", "1"),
    "an unproven refusal counts": ("!forged && (k_proved & BIT(x)) && (refused & BIT(x))", "1"),
}


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("meanings")
    p.add_argument("--without", default="")
    p.add_argument("--change", default="")
    a = p.parse_args()
    with open(a.meanings, encoding="utf-8") as f:
        meanings = json.load(f)
    with open(os.path.join(HERE, "..", "..", meanings["document"] + ".json"), encoding="utf-8") as f:
        document = json.load(f)
    tables = {t["name"]: t["rows"] for t in document["tables"]}
    constants = {c["name"]: c["value"] for c in document["constants"]}
    for claim in meanings.get("assumes", []):
        if not eval(claim, {"__builtins__": {}}, constants):
            sys.exit(f"NOT PROVED: {claim} does not hold")
    unused = {(kind, m, name) for kind in ("guards", "actions") for m in meanings[kind] for name in meanings[kind][m]}

    def meaning(kind, machine, name, row):
        if name not in meanings[kind][machine]:
            sys.exit(f"{row['row']} of {machine}: {name!r} has no meaning in {a.meanings}")
        unused.discard((kind, machine, name))
        return meanings[kind][machine][name]

    out = []
    for machine, prefix in meanings["machines"].items():
        for event in dict.fromkeys(r["event"] for r in tables[machine]):
            rows, earlier = [], {}
            for r in tables[machine]:
                if r["event"] != event:
                    continue
                holds = meaning("guards", machine, r["guard"], r)
                before = earlier.setdefault(r["state"], [])
                guard = f"({prefix}_state == {r['state']} && {holds}" + "".join(f" && !{g}" for g in before) + ")"
                if meanings.get("first"):
                    before.append(f"({holds})")
                actions = [meaning("actions", machine, name, r) for name in r["actions"]]
                if r["row"] != a.without:
                    rows.append((guard, "; ".join(actions + [f"{prefix}_state = {r['next']}"]), r["row"]))
            out.append(f"inline {machine.replace('-', '_')}_{event}() {{")
            if not a.without:
                out.append("  assert(" + " + ".join(guard for guard, _, _ in rows) + " == 1);")
            out.append("  if")
            out += [f"  :: {guard} -> {body} /* {row} */" for guard, body, row in rows]
            if a.without:
                out.append("  :: else -> skip")
            out += ["  fi", "}"]
    if unused:
        sys.exit(f"no table uses {sorted(unused)}")
    text = "\n".join(out)
    if a.change:
        was, becomes = CHANGES[a.change]
        if was not in text:
            sys.exit(f"nothing to change: {was}")
        text = text.replace(was, becomes)
    print(text)


if __name__ == "__main__":
    main()
