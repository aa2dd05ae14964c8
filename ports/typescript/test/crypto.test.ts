import assert from "node:assert/strict";
import { createCipheriv, createHash, createHmac, createPrivateKey, createPublicKey, diffieHellman } from "node:crypto";
import { test } from "node:test";
import { hmac, publicShare, same, sealAead, sha256, sharedSecret, unsealAead } from "chunkwire";
import { hex, Random, unhex } from "./support.js";

const random = new Random(7);

function bytes(size: number): Uint8Array {
  return Uint8Array.from({ length: size }, () => random.below(256));
}

/** Each key has its own r of Poly1305, so that many keys carry into all its limbs. */
const SIZES = [...Array.from({ length: 140 }, (_, i) => i), 1023, 1200];

test("SHA-256 and HMAC are those of OpenSSL", () => {
  for (const size of SIZES) {
    const [data, key] = [bytes(size), bytes(32)];
    assert.equal(hex(sha256(data.subarray(0, 3), data.subarray(3))), createHash("sha256").update(data).digest("hex"));
    assert.equal(hex(hmac(key, data)), createHmac("sha256", key).update(data).digest("hex"));
  }
});

test("ChaCha20-Poly1305 is that of OpenSSL, and refuses each changed byte", () => {
  for (const size of SIZES) {
    const [key, nonce, body, beside] = [bytes(32), bytes(12), bytes(size), bytes(random.below(40))];
    const other = createCipheriv("chacha20-poly1305", key, nonce, { authTagLength: 16 });
    other.setAAD(beside, { plaintextLength: size });
    const expected = Buffer.concat([other.update(body), other.final(), other.getAuthTag()]);
    const sealed = sealAead(key, nonce, body, beside);
    assert.equal(hex(sealed), hex(expected));
    assert.equal(hex(unsealAead(key, nonce, sealed, beside)!), hex(body));
    sealed[random.below(sealed.length)]! ^= 1 << random.below(8);
    assert.equal(unsealAead(key, nonce, sealed, beside), null);
  }
});

const PKCS8 = unhex("302e020100300506032b656e04220420");
const SPKI = unhex("302a300506032b656e032100");

test("X25519 is that of RFC 7748 and of OpenSSL", () => {
  const scalar = unhex("a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4");
  const share = unhex("e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c");
  assert.equal(hex(sharedSecret(scalar, share)), "c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552");
  for (let i = 0; i < 8; i++) {
    const [a, b] = [bytes(32), bytes(32)];
    const privateKey = createPrivateKey({ key: Buffer.concat([PKCS8, a]), format: "der", type: "pkcs8" });
    const publicKey = createPublicKey({ key: Buffer.concat([SPKI, publicShare(b)]), format: "der", type: "spki" });
    assert.equal(hex(sharedSecret(a, publicShare(b))), hex(diffieHellman({ privateKey, publicKey })));
    assert.equal(hex(sharedSecret(b, publicShare(a))), hex(diffieHellman({ privateKey, publicKey })));
  }
});

test("shares that give the same to everybody give zeros, and numbers above 2^255 - 19 are reduced", () => {
  const secret = bytes(32);
  const prime = Uint8Array.from({ length: 32 }, (_, i) => (i === 0 ? 0xed : i === 31 ? 0x7f : 0xff));
  for (const share of [new Uint8Array(32), prime, Uint8Array.from({ length: 32 }, (_, i) => (i === 0 ? 1 : 0))]) {
    assert.equal(hex(sharedSecret(secret, share)), "00".repeat(32));
  }
  const nine = prime.map((byte, i) => (i === 0 ? byte + 9 : byte));
  assert.equal(hex(sharedSecret(secret, nine)), hex(publicShare(secret)));
});

test("same compares every byte", () => {
  const a = bytes(16);
  assert.ok(same(a, a.slice()));
  for (let i = 0; i < 16; i++) assert.ok(!same(a, a.map((byte, k) => (k === i ? byte ^ 0x80 : byte))));
  assert.ok(!same(a, a.subarray(1)));
});
