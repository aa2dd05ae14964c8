import assert from "node:assert/strict";
import { test } from "node:test";
import { NEVER, Receiver } from "chunkwire";
import { pollReceiver, sliceOf } from "./support.js";

test("a chunk, read, and its last ack lost", () => {
  const receiver = new Receiver({ firstChunkId: 65535 });
  assert.equal(receiver.slice(0n, sliceOf(65535, 0, 2, 1)), "R2");
  assert.deepEqual(pollReceiver(receiver, 0n).acks, ["65535:10"]);
  assert.equal(receiver.slice(10n, sliceOf(65535, 1, 2, 2)), "R6");
  assert.deepEqual(pollReceiver(receiver, 10n).acks, ["65535:11"]);
  const result = receiver.read(20n);
  assert.ok(result.row === "R16");
  assert.deepEqual(result.chunk, Uint8Array.from({ length: 2048 }, (_, i) => (i < 1024 ? 1 : 2)));
  assert.equal(receiver.slice(30n, sliceOf(65535, 1, 2)), "R3");
  assert.equal(receiver.deadline, 2010n);
  assert.deepEqual(pollReceiver(receiver, 2009n).acks, []);
  assert.deepEqual(pollReceiver(receiver, 2010n).acks, ["65535:11"]);
  assert.equal(receiver.deadline, NEVER);
});

test("at the start 65535 is no previous chunk of 0", () => {
  const receiver = new Receiver();
  assert.equal(receiver.slice(0n, sliceOf(65535, 0, 1)), "R4");
  assert.equal(receiver.slice(0n, sliceOf(1, 0, 1)), "R4");
  assert.equal(receiver.deadline, NEVER);
});

test("while a chunk waits to be read", () => {
  const receiver = new Receiver();
  assert.equal(receiver.slice(0n, sliceOf(0, 0, 1)), "R1");
  assert.equal(receiver.slice(1n, sliceOf(0, 0, 2)), "R15", "previous id, other number of slices");
  assert.equal(receiver.slice(1n, sliceOf(0, 0, 1)), "R14");
  assert.equal(receiver.slice(1n, sliceOf(1, 2, 5)), "R13");
  assert.deepEqual(pollReceiver(receiver, 1n).acks, ["0:1", "1:00000"]);
  assert.equal(receiver.slice(2n, sliceOf(1, 2, 5)), "R13");
  assert.equal(receiver.read(3n).row, "R16");
  assert.equal(receiver.read(3n).row, "R17");
  assert.equal(receiver.deadline, 2001n, "the hold stays due");
  assert.equal(receiver.slice(4n, sliceOf(1, 0, 5)), "R2");
  assert.deepEqual(pollReceiver(receiver, 2001n).acks, ["1:10000"], "the hold is forgotten");
});

test("a wrong number of slices conflicts, and pins anew after half of the time", () => {
  const receiver = new Receiver({ giveUp: 100n });
  receiver.slice(0n, sliceOf(0, 0, 9));
  assert.equal(receiver.slice(49n, sliceOf(0, 0, 2)), "R8");
  assert.equal(receiver.conflicts, 1);
  assert.equal(receiver.slice(50n, sliceOf(0, 1, 2)), "R9");
  assert.deepEqual(receiver.received, [false, true]);
  assert.equal(receiver.slice(100n, sliceOf(0, 0, 1)), "R10");
  assert.deepEqual(pollReceiver(receiver, 100n).acks, ["0:1"]);
});

test("giving up", () => {
  const receiver = new Receiver({ giveUp: 100n });
  receiver.slice(0n, sliceOf(0, 0, 2));
  assert.equal(receiver.slice(60n, sliceOf(0, 0, 2)), "R7", "a duplicate is no progress");
  assert.deepEqual(pollReceiver(receiver, 99n).acks, ["0:10"]);
  assert.deepEqual(receiver.poll(100n), { row: "R23", packet: null, failed: 0 });
  assert.equal(receiver.slice(100n, sliceOf(0, 1, 2)), "R26");
  assert.equal(receiver.read(100n).row, "R27");
  assert.equal(receiver.poll(100n).row, "R28");
  assert.equal(receiver.deadline, NEVER);
});

test("new slices in order are acked every 2 ms or 16 slices, after a gap at once", () => {
  const receiver = new Receiver();
  receiver.slice(0n, sliceOf(0, 0, 256));
  pollReceiver(receiver, 0n);
  for (let id = 1; id <= 15; id++) receiver.slice(1n, sliceOf(0, id, 256));
  assert.equal(receiver.deadline, 2000n);
  receiver.slice(2n, sliceOf(0, 16, 256));
  assert.equal(receiver.deadline, 2n);
  pollReceiver(receiver, 2n);
  receiver.slice(3n, sliceOf(0, 18, 256));
  assert.equal(receiver.deadline, 3n, "a gap");
  pollReceiver(receiver, 3n);
  receiver.slice(4n, sliceOf(0, 19, 256));
  assert.equal(receiver.deadline, 4n, "after a gap");
  pollReceiver(receiver, 4n);
  receiver.slice(5n, sliceOf(0, 20, 256));
  assert.equal(receiver.deadline, 2004n);
});
