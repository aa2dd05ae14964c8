import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { decodePacket, encodePacket, frameCrc, type Ack, type Packet, type Slice } from "chunkwire";

/** ACC-1. */
function generator(seed: number): () => number {
  let x = seed;
  return () => {
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    return x >>> 0;
  };
}

/** ACC-2. */
function randomPacket(next: () => number): Packet {
  const isAck = next() % 2 === 1;
  const chunkId = next() % 65536;
  const numSlices = (next() % 256) + 1;
  return isAck ? randomAck(next, chunkId, numSlices) : randomSlice(next, chunkId, numSlices);
}

function randomSlice(next: () => number, chunkId: number, numSlices: number): Slice {
  const sliceId = next() % numSlices;
  const length = sliceId === numSlices - 1 ? (next() % 1024) + 1 : 1024;
  const f = next();
  return { type: "slice", chunkId, sliceId, numSlices, data: Uint8Array.from({ length }, (_, i) => f + i) };
}

function randomAck(next: () => number, chunkId: number, numSlices: number): Ack {
  const words = Array.from({ length: Math.ceil(numSlices / 32) }, () => next());
  const acked = Array.from({ length: numSlices }, (_, k) => (((words[k >> 5] ?? 0) >>> (k & 31)) & 1) === 1);
  return { type: "ack", chunkId, acked };
}

/** ACC-3: the datagram with one bit flipped and its crc made right again. */
function flipped(protocolId: number, datagram: Uint8Array, bit: number): Uint8Array {
  const copy = datagram.slice();
  copy[bit >> 3] = (copy[bit >> 3] ?? 0) ^ (1 << (bit & 7));
  new DataView(copy.buffer).setUint32(0, frameCrc(protocolId, copy), true);
  return copy;
}

function randomHash(seed: number, packets: number): string {
  const next = generator(seed);
  const hash = createHash("sha256");
  for (let i = 0; i < packets; i++) {
    const protocolId = next();
    const packet = randomPacket(next);
    const datagram = encodePacket(protocolId, packet);
    assert.deepEqual(decodePacket(protocolId, datagram), { ok: true, packet });
    const bit = (next() % (8 * datagram.length - 32)) + 32;
    const decoded = decodePacket(protocolId, flipped(protocolId, datagram, bit));
    hash.update(datagram).update(`${decoded.ok ? "ok" : decoded.error.code}\n`);
  }
  return hash.digest("hex");
}

test("1,000 random packets", () => {
  assert.equal(randomHash(1, 1000), "c276c9b513e1806fbb010a34535526ac0f0f7a826619575705d90899a55f7ad5");
});
