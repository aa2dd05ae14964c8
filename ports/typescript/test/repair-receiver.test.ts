import assert from "node:assert/strict";
import { test } from "node:test";
import { NEVER, RepairReceiver } from "chunkwire";
import { chunkOf, pollRepairReceiver as poll, repairSliceOf as slice } from "./support.js";

test("a chunk from repair slices, read, and its last ack lost", () => {
  const receiver = new RepairReceiver({ firstChunkId: 65535 });
  assert.equal(receiver.slice(0n, slice(65535, 3, 3, 9)), "U2");
  assert.deepEqual(poll(receiver, 0n).acks, ["65535: 1 of 3, top 4"]);
  assert.equal(receiver.slice(10n, slice(65535, 3, 3, 9)), "U7");
  assert.equal(receiver.slice(10n, slice(65535, 4, 3, 9)), "U5");
  assert.equal(receiver.slice(20n, slice(65535, 258, 3, 9)), "U8", "258 follows from 3 and 4");
  assert.deepEqual(poll(receiver, 20n).acks, ["65535: 2 of 3, top 259"]);
  assert.equal(receiver.slice(30n, slice(65535, 2, 3, 9)), "U6");
  assert.deepEqual(poll(receiver, 30n).acks, ["65535: 3 of 3, top 259"]);
  assert.equal(receiver.slice(40n, slice(65535, 900, 3, 9)), "U15");
  assert.equal(receiver.inconsistent, 0);
  const result = receiver.read(50n);
  assert.ok(result.row === "U17");
  assert.deepEqual(result.chunk, chunkOf(65535, 3, 9));
  assert.equal(receiver.slice(60n, slice(65535, 901, 3, 9)), "U3");
  assert.equal(receiver.deadline, 2030n);
  assert.deepEqual(poll(receiver, 2030n).acks, ["65535: 3 of 3, top 259"], "the top stays");
  assert.equal(receiver.deadline, NEVER);
});

test("while a chunk waits to be read", () => {
  const receiver = new RepairReceiver();
  assert.equal(receiver.slice(0n, slice(0, 1, 1, 9)), "U1");
  assert.equal(receiver.slice(1n, slice(0, 0, 2, 9)), "U16", "previous id, other number of slices");
  assert.equal(receiver.slice(1n, slice(0, 0, 1, 8)), "U15", "previous looks at the number of slices alone");
  assert.equal(receiver.slice(1n, slice(1, 7, 5, 9)), "U14");
  assert.deepEqual(poll(receiver, 1n).acks, ["0: 1 of 1, top 2", "1: 0 of 5, top 0"]);
  assert.equal(receiver.read(3n).row, "U17");
  assert.equal(receiver.read(3n).row, "U18");
});

test("another size conflicts, and replaces after half of the time", () => {
  const receiver = new RepairReceiver({ giveUp: 100n });
  receiver.slice(0n, slice(0, 0, 9, 9));
  assert.equal(receiver.slice(49n, slice(0, 0, 9, 8)), "U9");
  assert.equal(receiver.slice(49n, slice(0, 0, 2, 9)), "U9");
  assert.equal(receiver.conflicts, 2);
  assert.equal(receiver.slice(50n, slice(0, 20, 2, 9)), "U10");
  assert.deepEqual([receiver.have, receiver.top], [1, 21]);
  assert.equal(receiver.slice(100n, slice(0, 0, 1, 9)), "U11");
  assert.deepEqual(poll(receiver, 100n).acks, ["0: 1 of 1, top 1"]);
});

test("giving up", () => {
  const receiver = new RepairReceiver({ giveUp: 100n });
  receiver.slice(0n, slice(0, 3, 3, 9));
  receiver.slice(0n, slice(0, 4, 3, 9));
  assert.equal(receiver.slice(60n, slice(0, 258, 3, 9)), "U8", "a dependent slice is no progress");
  assert.equal(receiver.read(60n).row, "U19");
  assert.equal(poll(receiver, 99n).row, "U23");
  assert.deepEqual(receiver.poll(100n), { row: "U24", packet: null, failed: 0 });
  assert.equal(receiver.slice(100n, slice(0, 1, 2, 9)), "U27");
  assert.equal(receiver.read(100n).row, "U28");
  assert.equal(receiver.poll(100n).row, "U29");
  assert.deepEqual([receiver.have, receiver.top, receiver.deadline], [0, 0, NEVER]);
});

test("an ack around a gap goes out at once", () => {
  const receiver = new RepairReceiver();
  receiver.slice(0n, slice(0, 0, 256, 9));
  poll(receiver, 0n);
  receiver.slice(1n, slice(0, 1, 256, 9));
  assert.equal(receiver.deadline, 2000n);
  receiver.slice(3n, slice(0, 3, 256, 9));
  assert.equal(receiver.deadline, 3n);
});

test("spare equations show that a slice was forged", () => {
  const forged = { ...slice(0, 0, 3, 9), data: new Uint8Array(1024).fill(1) };
  const receiver = new RepairReceiver();
  receiver.slice(0n, forged);
  receiver.slice(0n, slice(0, 1, 3, 9));
  assert.equal(receiver.slice(0n, slice(0, 3, 3, 9)), "U6");
  assert.equal(receiver.inconsistent, 1, "the bytes behind the end");
  receiver.slice(1n, slice(0, 7, 3, 8));
  assert.equal(receiver.inconsistent, 1, "another length is not compared");
  receiver.slice(1n, slice(0, 7, 3, 9));
  receiver.slice(1n, slice(0, 8, 3, 9));
  assert.equal(receiver.inconsistent, 2, "the first that comes late");
});

test("after 8,191 the ids begin anew", () => {
  const receiver = new RepairReceiver();
  receiver.slice(0n, slice(0, 4200, 2, 9));
  assert.equal(receiver.top, 4201);
  receiver.slice(0n, slice(0, 8191, 2, 9));
  assert.deepEqual(poll(receiver, 0n).acks, ["0: 2 of 2, top 2"]);
});
