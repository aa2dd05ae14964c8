import unittest

from chunkwire.random_packets import random_packets_hash


class RandomPacketsTest(unittest.TestCase):
    def test_hash_of_the_document(self) -> None:
        """ACC-3."""
        self.assertEqual(
            random_packets_hash(1, 1_000),
            "c276c9b513e1806fbb010a34535526ac0f0f7a826619575705d90899a55f7ad5",
        )
