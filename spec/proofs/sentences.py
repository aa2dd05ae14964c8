"""The sentences and constants of the documents, as proofs quote them."""
import json
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
DOCUMENTS = {"PROTOCOL": "protocol", "REPAIR": "repair", "PACKETS": "packets", "CHANNELS": "channels", "CONNECTION": "connection", "RECOVERY": "recovery"}


class Sentences:
    def __init__(self):
        self.texts, self.constants, self.failed, self.count = {}, {}, 0, 0
        for name, file in DOCUMENTS.items():
            with open(os.path.join(HERE, "..", file + ".json"), encoding="utf-8") as f:
                data = json.load(f)
            self.texts[name] = {s["id"]: s["text"] for s in data["sentences"]}
            self.constants[name] = {c["name"]: c["value"] for c in data["constants"]}
            with open(os.path.join(HERE, "..", name + ".md"), encoding="utf-8") as f:
                blocks = re.split(r"\n(?=- \*\*[A-Z]|#)", f.read())
            for block in blocks:  # pseudo-code belongs to its sentence, and is not in the JSON where it is not indented
                for sentence in re.findall(r"\A- \*\*([A-Z][A-Z0-9-]+)\*\*", block):
                    self.texts[name][sentence] = self.texts[name].get(sentence, "") + "".join(
                        " " + " ".join(code.split()) for code in re.findall(r"^```\n(.*?)^```", block, re.S | re.M))

    def quote(self, document, sentence, *formulas):
        """Fails where a sentence no longer says a formula: then what is proved is looked at again."""
        for formula in formulas:
            if formula not in self.texts[document].get(sentence, ""):
                self.fail(f"{sentence} of {document}.md does not say {formula!r}")

    def fail(self, why):
        self.failed += 1
        print(f"NOT PROVED: {why}")

    def done(self, what):
        print(f"{self.count} {what}, {self.failed} problems")
        sys.exit(1 if self.failed else 0)
