import assert from "node:assert/strict";
import { test } from "node:test";
import {
  decodeRepairBody,
  decodeRepairPacket,
  EncodeError,
  encodeRepairBody,
  encodeRepairPacket,
  idOf,
  numberOfArrival,
  numberOfField,
  repairProtocolId,
  type RepairPacket,
} from "chunkwire";
import { hex, repairAck, repairSliceOf, unhex } from "./support.js";

test("bodies and datagrams by hand", () => {
  const slice: RepairPacket = { type: "slice", chunkId: 1, id: 2, numSlices: 3, lastBytes: 5, data: unhex("0102030405") };
  assert.equal(hex(encodeRepairBody(slice)), "0100024080000102030405");
  assert.equal(hex(encodeRepairPacket(0x11223344, slice)), "a0ca68a40200048000010102030405e2ac0899");
  assert.equal(hex(encodeRepairBody(repairAck(0x1234, 9, 5, 12))), "341208051800");
  assert.equal(hex(encodeRepairPacket(0x11223344, repairAck(0x1234, 9, 5, 12))), "139b10126924100a3000e2ac0899");
});

test("round trips", () => {
  const packets = [
    repairSliceOf(65535, 8191, 256, 1),
    repairSliceOf(0, 255, 256, 1),
    repairSliceOf(7, 5000, 1, 33),
    repairAck(65535, 256, 256, 8191),
    repairAck(0, 1, 0, 0),
  ];
  for (const packet of packets) {
    assert.deepEqual(decodeRepairPacket(9, encodeRepairPacket(9, packet)), { ok: true, packet });
    assert.deepEqual(decodeRepairBody(packet.type, encodeRepairBody(packet)), { ok: true, packet });
  }
});

test("what the encoder refuses", () => {
  const slice = repairSliceOf(0, 3, 4, 9);
  const bad: RepairPacket[] = [
    { ...slice, chunkId: 65536 },
    { ...slice, id: 8192 },
    { ...slice, numSlices: 257 },
    { ...slice, numSlices: 0 },
    { ...slice, lastBytes: 0 },
    { ...slice, lastBytes: 1025 },
    { ...slice, id: 4 },
    repairAck(0, 4, 5, 9),
    repairAck(0, 257, 5, 9),
    repairAck(0, 4, 4, 8192),
  ];
  for (const packet of bad) assert.throws(() => encodeRepairBody(packet), EncodeError);
});

test("the first fault, and its place", () => {
  const faultOf = (type: "slice" | "ack", body: string): string => {
    const decoded = decodeRepairBody(type, unhex(body));
    return decoded.ok ? "ok" : `${decoded.error.code} ${decoded.error.bitOffset}`;
  };
  const slice = "0700036020000102"; // slice 3 of 4, 2 bytes
  assert.equal(faultOf("slice", slice), "ok");
  assert.equal(faultOf("slice", slice.slice(0, 2)), "truncated 0");
  assert.equal(faultOf("slice", slice.slice(0, 6)), "truncated 16");
  assert.equal(faultOf("slice", slice.slice(0, 8)), "truncated 29");
  assert.equal(faultOf("slice", slice.slice(0, 10)), "truncated 37");
  assert.equal(faultOf("slice", slice.slice(0, 14)), "truncated 48");
  assert.equal(faultOf("slice", "0700036020800102"), "nonzero_padding 47");
  assert.equal(faultOf("slice", `${slice}00`), "trailing_data 64");
  assert.equal(faultOf("ack", "070003041200"), "ok");
  assert.equal(faultOf("ack", "070003"), "truncated 24");
  assert.equal(faultOf("ack", "0700030512"), "have_out_of_range 24");
  assert.equal(faultOf("ack", "0700030412"), "truncated 33");
  assert.equal(faultOf("ack", "070003041240"), "nonzero_padding 46");
});

test("numbers and ids", () => {
  assert.deepEqual([0, 8191, 8192, 8192 + 8189].map((n) => idOf(3, n)), [0, 8191, 3, 3]);
  const arrivals = [[0, 0], [0, 5], [6, 1], [3, 8191], [8192, 3], [8192, 8190], [8192, 4096], [8192, 4097], [8192, 2]];
  assert.deepEqual(
    arrivals.map(([top = 0, id = 0]) => numberOfArrival(3, top, id)),
    [0, 5, 1, 8191, 8192, 8190, 12285, 4097, 2],
  );
  const fields = [[300, 300], [300, 301], [8191, 3], [8192, 3], [20000, 3622], [20000, 3623], [20000, 2]];
  assert.deepEqual(
    fields.map(([sent = 0, field = 0]) => numberOfField(3, sent, field)),
    [300, undefined, 3, 8192, 20000, 11812, 2],
  );
});

test("protocol ids", () => {
  assert.deepEqual([repairProtocolId(0), repairProtocolId(7, 8, 5), repairProtocolId(0xfffffff0, 16, 15)], [256, 380, 0x1ef]);
});
