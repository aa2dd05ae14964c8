"""The worked examples of the documents: pairs of a request and its response."""

import json
import re
import subprocess
import sys
import unittest
from pathlib import Path

from chunkwire.port import answer

PORT = Path(__file__).parents[1]
BLOCK = re.compile(r"^```json\n(.*?)^```", re.DOTALL | re.MULTILINE)


def examples(name: str) -> list[tuple[str, str]]:
    document = (PORT / "../../spec" / name).read_text(encoding="utf-8")
    lines = [line for block in BLOCK.findall(document) for line in block.splitlines()]
    return list(zip(lines[::2], lines[1::2], strict=True))


class ExamplesTest(unittest.TestCase):
    def test_each(self) -> None:
        for document, least in (("PROTOCOL.md", 7), ("PACKETS.md", 14), ("CHANNELS.md", 12), ("CONNECTION.md", 30)):
            self.assertGreaterEqual(len(examples(document)), least)
            for request, response in examples(document):
                with self.subTest(request):
                    self.assertEqual(answer(request.encode()), json.loads(response))

    def test_as_a_process(self) -> None:
        requests, responses = zip(*examples("PROTOCOL.md"), *examples("PACKETS.md"), *examples("CHANNELS.md"), *examples("CONNECTION.md"))
        port = subprocess.run(
            [sys.executable, "-m", "chunkwire"],
            input="\n".join(requests),
            capture_output=True,
            cwd=PORT,
            text=True,
            check=True,
        )
        self.assertEqual(port.stdout.splitlines(), list(responses))
        self.assertEqual(port.stderr, "")
