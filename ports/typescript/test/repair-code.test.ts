import assert from "node:assert/strict";
import { test } from "node:test";
import { crc32, EncodedChunk, exponent, RepairDecoder } from "chunkwire";
import { pattern, Random } from "./support.js";

const ALL_SLICES = [1, 2, 3, 4, 5, 8, 9, 31, 72, 147, 256];

test("repair slices of a chunk of full slices", () => {
  const crcs = new Map([
    [1, "b997ddcc e9193fa0 e785ae4a"],
    [2, "9db6d897 e843c435 3af8cc44"],
    [3, "b7cdfe8c d07c524d d2bee67e"],
    [256, "e30b4483 b85dfb38 6a4b8894"],
  ]);
  for (const [k, expected] of crcs) {
    const chunk = new EncodedChunk(pattern(1024 * k));
    const actual = [0, 1, 7935].map((j) => crc32(chunk.slice(k + j)).toString(16).padStart(8, "0"));
    assert.equal(actual.join(" "), expected, `${k} slices`);
  }
});

test("exponents are below 16, and all of them occur", () => {
  const all = new Set(Array.from({ length: 256 }, (_, i) => exponent(8190, i)));
  assert.deepEqual([...all].sort((a, b) => a - b), Array.from({ length: 16 }, (_, e) => e));
});

test("a chunk of one slice has short repair slices, others have full ones", () => {
  assert.equal(new EncodedChunk(pattern(5)).slice(8191).length, 5);
  const chunk = new EncodedChunk(pattern(1025));
  assert.deepEqual([0, 1, 2].map((id) => chunk.slice(id).length), [1024, 1, 1024]);
});

test("the chunk is copied", () => {
  const bytes = pattern(2000);
  const chunk = new EncodedChunk(bytes);
  bytes.fill(0);
  assert.deepEqual(chunk.slice(1), pattern(2000).subarray(1024));
});

test("source slices and repair slices in any order rebuild the chunk", () => {
  const random = new Random(1);
  let extra = 0;
  for (let run = 0; run < 200; run++) {
    const k = 1 + random.below(run < 180 ? 32 : 256);
    const bytes = pattern(1024 * (k - 1) + 1 + random.below(1024));
    const chunk = new EncodedChunk(bytes);
    const lost = random.below(k + 1);
    const source = random.shuffle(Array.from({ length: k }, (_, id) => id)).slice(lost);
    const ids = random.shuffle([...source, ...Array.from({ length: lost + 8 }, (_, j) => k + j)]);
    const decoder = new RepairDecoder(k, chunk.lastBytes);
    for (const id of ids) {
      if (decoder.isComplete) break;
      const rank = decoder.rank;
      const added = decoder.add(id, chunk.slice(id));
      assert.equal(decoder.rank, rank + (added ? 1 : 0));
      assert.equal(decoder.add(id, chunk.slice(id)), false, "twice");
      if (!added) extra++;
    }
    assert.ok(decoder.isComplete);
    assert.deepEqual(decoder.rebuild(), { chunk: bytes, isConsistent: true });
  }
  assert.ok(extra < 10, `${extra} dependent`);
});

test("repair slices alone: the first are enough, but for two numbers of slices", () => {
  for (const k of ALL_SLICES) {
    const bytes = pattern(1024 * k - 1);
    const chunk = new EncodedChunk(bytes);
    const decoder = new RepairDecoder(k, 1023);
    let id = k;
    while (!decoder.isComplete) decoder.add(id, chunk.slice(id++));
    assert.equal(id - k, k === 72 || k === 147 ? k + 1 : k);
    assert.deepEqual(decoder.rebuild().chunk, bytes);
  }
});

test("a source slice that comes late may follow from repair slices", () => {
  const chunk = new EncodedChunk(pattern(3000));
  const decoder = new RepairDecoder(3, 952);
  const added = [3, 22, 0, 3, 1, 2].map((id) => decoder.add(id, chunk.slice(id)));
  assert.deepEqual(added, [true, true, false, false, true, false]);
  assert.deepEqual(decoder.rebuild().chunk, pattern(3000));
  assert.ok(decoder.matches(4, chunk.slice(4)));
  assert.ok(!decoder.matches(4, chunk.slice(5)));
});

test("what counts as filled up does not come out as zeros from a wrong slice", () => {
  const chunk = new EncodedChunk(pattern(3000));
  const decoder = new RepairDecoder(3, 952);
  decoder.add(0, chunk.slice(1));
  decoder.add(1, chunk.slice(1));
  decoder.add(3, chunk.slice(3));
  assert.equal(decoder.rebuild().isConsistent, false);
});
