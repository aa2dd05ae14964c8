"""The examples of RFC 8439."""

import unittest

from chunkwire import chacha


class ChachaTest(unittest.TestCase):
    def test_section_2_8_2(self) -> None:
        key = bytes(range(0x80, 0xA0))
        nonce = bytes.fromhex("070000004041424344454647")
        additional = bytes.fromhex("50515253c0c1c2c3c4c5c6c7")
        text = b"Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, sunscreen would be it."
        sealed = chacha.seal(key, nonce, text, additional)
        self.assertEqual(sealed[:16].hex(), "d31a8d34648e60db7b86afbc53ef7ec2")
        self.assertEqual(sealed[-16:].hex(), "1ae10b594f09e26a7e902ecbd0600691")
        self.assertEqual(chacha.unseal(key, nonce, sealed, additional), text)

    def test_each_changed_bit_is_found(self) -> None:
        key, nonce, additional = bytes(32), bytes(12), b"head"
        sealed = chacha.seal(key, nonce, b"body", additional)
        for at in range(len(sealed) * 8):
            changed = bytearray(sealed)
            changed[at // 8] ^= 1 << at % 8
            self.assertIsNone(chacha.unseal(key, nonce, bytes(changed), additional))
        self.assertIsNone(chacha.unseal(key, nonce, sealed, b"Head"))
