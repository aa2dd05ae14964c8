import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  decodeBody,
  decodePacket,
  encodeBody,
  encodePacket,
  EncodeError,
  frameCrc,
  MAX_ACK,
  MAX_DATAGRAM,
  type Ack,
  type Decoded,
  type Packet,
  type Slice,
} from "chunkwire";

const ID = 0x11223344;
const LAST: Slice = { type: "slice", chunkId: 1, sliceId: 2, numSlices: 3, data: Uint8Array.of(1, 2, 3, 4, 5) };
const FULL: Slice = { type: "slice", chunkId: 65535, sliceId: 254, numSlices: 256, data: new Uint8Array(1024).fill(255) };
const EVEN: Ack = { type: "ack", chunkId: 0x1234, acked: ackOf("101010101").acked };

function ackOf(bits: string): Ack {
  return { type: "ack", chunkId: 7, acked: Array.from(bits, (bit) => bit === "1") };
}

function unhex(text: string): Uint8Array {
  return Uint8Array.from(Buffer.from(text, "hex"));
}

/** The datagram with its crc made right again. */
function sealed(datagram: Uint8Array): Uint8Array {
  const copy = datagram.slice();
  new DataView(copy.buffer).setUint32(0, frameCrc(ID, copy), true);
  return copy;
}

function edited(datagram: Uint8Array, edit: (copy: Uint8Array) => void): Uint8Array {
  const copy = datagram.slice();
  edit(copy);
  return sealed(copy);
}

function assertRefused(decoded: Decoded, code: string, bitOffset: number): void {
  assert.ok(!decoded.ok, "accepted");
  assert.deepEqual([decoded.error.code, decoded.error.bitOffset], [code, bitOffset]);
}

describe("worked examples", () => {
  const cases: readonly [Packet, body: string, datagram: string][] = [
    [LAST, "0100020204000102030405", "4414a8920200040408000102030405e2ac0899"],
    [EVEN, "3412085501", "a83af421692410aa02e2ac0899"],
  ];
  for (const [packet, body, datagram] of cases) {
    test(packet.type, () => {
      assert.deepEqual(encodeBody(packet), unhex(body));
      assert.deepEqual(encodePacket(ID, packet), unhex(datagram));
      assert.deepEqual(decodeBody(packet.type, unhex(body)), { ok: true, packet });
      assert.deepEqual(decodePacket(ID, unhex(datagram)), { ok: true, packet });
    });
  }

  test("padding", () => {
    assertRefused(decodePacket(ID, unhex("689c74d4692410aa06e2ac0899")), "nonzero_padding", 66);
  });
});

test("sizes of section 5", () => {
  assert.equal(encodeBody(FULL).length, 1028);
  assert.equal(encodePacket(ID, FULL).length, 1037);
  const largest: Slice = { ...FULL, sliceId: 255 };
  assert.equal(encodeBody(largest).length, 1030);
  assert.equal(encodePacket(ID, largest).length, MAX_DATAGRAM);
  for (let n = 1; n <= 256; n++) {
    const ack = ackOf("1".repeat(n));
    assert.equal(encodeBody(ack).length, Math.ceil((24 + n) / 8));
    assert.equal(encodePacket(ID, ack).length, Math.ceil((57 + n) / 8) + 4);
  }
  assert.equal(encodePacket(ID, ackOf("1".repeat(256))).length, MAX_ACK);
});

test("what an encoder refuses", () => {
  const bad: readonly [field: string, packet: unknown][] = [
    ["chunk_id", { ...LAST, chunkId: -1 }],
    ["chunk_id", { ...LAST, chunkId: 65536 }],
    ["chunk_id", { ...EVEN, chunkId: 65536 }],
    ["num_slices", { ...LAST, numSlices: 0 }],
    ["num_slices", { ...FULL, numSlices: 257 }],
    ["slice_id", { ...LAST, sliceId: -1 }],
    ["slice_id", { ...LAST, sliceId: 3 }],
    ["data", { ...LAST, data: new Uint8Array(0) }],
    ["data", { ...LAST, data: new Uint8Array(1025) }],
    ["data", { ...LAST, sliceId: 1, data: new Uint8Array(1023) }],
    ["data", { ...FULL, data: new Uint8Array(1025) }],
    ["acked", { ...EVEN, acked: [] }],
    ["acked", ackOf("1".repeat(257))],
    ["type", { ...EVEN, type: "other" }],
  ];
  for (const [field, packet] of bad) {
    const refused = (error: unknown): boolean =>
      error instanceof EncodeError && error.code === "invalid_field" && error.field === field;
    assert.throws(() => encodeBody(packet as Packet), refused, field);
    assert.throws(() => encodePacket(ID, packet as Packet), refused, field);
  }
});

describe("what a decoder refuses", () => {
  const slice = encodePacket(ID, LAST);
  const ack = encodePacket(ID, EVEN);

  test("every shorter datagram", () => {
    const places: readonly [below: number, place: number][] = [
      [4, 0], [5, 32], [7, 33], [8, 49], [9, 57], [10, 65], [15, 80], [19, 120],
    ];
    for (let length = 0; length < slice.length; length++) {
      const cut = slice.slice(0, length);
      const place = places.find(([below]) => length < below)?.[1] ?? NaN;
      assertRefused(decodePacket(ID, length < 4 ? cut : sealed(cut)), "truncated", place);
    }
  });

  test("the crc comes first", () => {
    assertRefused(decodePacket(ID + 1, slice), "crc_mismatch", 0);
    for (let bit = 0; bit < 8 * ack.length; bit++) {
      const flipped = ack.slice();
      flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      assertRefused(decodePacket(ID, flipped), "crc_mismatch", 0);
    }
  });

  test("a slice that the chunk does not have", () => {
    assertRefused(decodeBody("slice", unhex("0100020100")), "slice_id_out_of_range", 16);
    assertRefused(decodeBody("slice", unhex("0100ff00")), "slice_id_out_of_range", 16);
    assertRefused(decodePacket(ID, edited(slice, (copy) => (copy[6] = 0x0a))), "slice_id_out_of_range", 49);
  });

  test("padding", () => {
    for (let bit = 75; bit < 80; bit++) {
      const bad = edited(slice, (copy) => (copy[9] = (copy[9] ?? 0) | (1 << (bit & 7))));
      assertRefused(decodePacket(ID, bad), "nonzero_padding", 75);
    }
    assertRefused(decodeBody("slice", unhex("01000202040401")), "nonzero_padding", 42);
    assertRefused(decodeBody("ack", unhex("0100000300")), "nonzero_padding", 25);
  });

  test("the end check and what follows it", () => {
    assertRefused(decodePacket(ID, edited(slice, (copy) => (copy[15] = 0))), "bad_end_check", 120);
    assertRefused(decodePacket(ID, sealed(Uint8Array.of(...slice, 0))), "trailing_data", 152);
    assertRefused(decodeBody("ack", unhex("341208550100")), "trailing_data", 40);
    assertRefused(decodeBody("slice", unhex("010002020400010203040506")), "trailing_data", 88);
  });

  test("every shorter body", () => {
    for (const packet of [LAST, FULL, EVEN]) {
      const body = encodeBody(packet);
      for (let length = 0; length < body.length; length++) {
        const decoded = decodeBody(packet.type, body.subarray(0, length));
        assert.ok(!decoded.ok && decoded.error.code === "truncated");
      }
    }
  });
});
