"""Makes each mistake of mutants.txt in a copy of spec/ and runs the proof, which must refuse it."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(HERE, "mutants.txt"), encoding="utf-8") as file:
    rows = [line.rstrip("\n") for line in file if line.strip() and not line.startswith("#")]
survived = 0
for row in rows:
    command, path, change = (x.strip().replace("\\|", "|") for x in re.split(r"(?<!\\)\|", row))
    was, becomes = (x.strip() for x in change.split(" >>> "))
    with tempfile.TemporaryDirectory() as copy:
        spec = os.path.join(copy, "spec")
        shutil.copytree(os.path.join(HERE, ".."), spec)
        with open(os.path.join(spec, path), encoding="utf-8") as file:
            text = file.read()
        if was not in text:
            print(f"GONE      {row}")
            survived += 1
            continue
        with open(os.path.join(spec, path), "w", encoding="utf-8") as file:
            file.write(text.replace(was, becomes, 1))
        program, *arguments = command.split()
        run = [os.path.join(spec, "proofs", program), *arguments] if program != "dafny" else [
            "dafny", "/compile:0", "/z3exe:./z3-quiet.sh", "/timeLimit:300", arguments[0] + ".dfy"]
        got = subprocess.run(run, cwd=os.path.join(spec, "proofs", "formats"), capture_output=True, text=True)
        said = got.stdout + got.stderr
        refused = got.returncode != 0 and re.search(r"NOT PROVED|has no meaning|Error", said) and "resolution/type" not in said
        print(("refused   " if refused else "SURVIVED  ") + row)
        survived += not refused
print(f"{len(rows)} mistakes, {survived} not refused")
sys.exit(1 if survived else 0)
