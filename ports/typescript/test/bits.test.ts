import assert from "node:assert/strict";
import { test } from "node:test";
import { BitReader, BitWriter, crc32 } from "chunkwire";

test("the example of section 3", () => {
  const writer = new BitWriter(3);
  writer.bits(5, 3);
  writer.bits(1, 16);
  writer.align();
  assert.deepEqual(writer.finish(), Uint8Array.of(0x0d, 0, 0));
});

test("values come back as they were put", () => {
  const writer = new BitWriter(16);
  writer.bool(true);
  writer.bits(0xffffffff, 32);
  writer.int(1024, 1, 1024);
  writer.int(3, 3, 4);
  writer.bytes(Uint8Array.of(1, 2));
  const reader = new BitReader(writer.finish());
  assert.equal(reader.bool(), true);
  assert.equal(reader.bits(32), 0xffffffff);
  assert.equal(reader.int(1, 1024), 1024);
  assert.equal(reader.int(3, 4), 3);
  assert.equal(reader.position, 44);
  assert.equal(reader.align(), true);
  assert.deepEqual(reader.bytes(2), Uint8Array.of(1, 2));
  assert.equal(reader.left, 0);
});

test("align puts nothing where the stream is aligned", () => {
  const writer = new BitWriter(2);
  writer.align();
  writer.bits(1, 8);
  writer.align();
  assert.deepEqual(writer.finish(), Uint8Array.of(1));
});

test("values that do not fit are refused", () => {
  const writer = new BitWriter(8);
  assert.throws(() => writer.bits(8, 3), RangeError);
  assert.throws(() => writer.bits(-1, 3), RangeError);
  assert.throws(() => writer.int(257, 1, 256), RangeError);
  assert.throws(() => writer.int(0, 1, 256), RangeError);
  assert.throws(() => new BitReader(Uint8Array.of(1)).bits(9), RangeError);
});

test("the crc of the usual check string", () => {
  assert.equal(crc32(Buffer.from("123456789")), 0xcbf43926);
  assert.equal(crc32(Buffer.from("1234"), Buffer.from("56789")), 0xcbf43926);
  assert.equal(crc32(), 0);
});
