import assert from "node:assert/strict";
import { test } from "node:test";
import { NEVER, Sender, type Scheduler } from "chunkwire";
import { ackOf, pollSender } from "./support.js";

/** A scheduler that returns what a test says, and records its calls. */
class Script implements Scheduler {
  due: number[] = [];
  heard: string[] = [];

  start(now: bigint, size: number): void {
    this.heard.push(`start ${now} ${size}`);
  }

  news(now: bigint, slices: readonly number[]): void {
    this.heard.push(`news ${now} ${slices.join(" ")}`);
  }

  hold(now: bigint): void {
    this.heard.push(`hold ${now}`);
  }

  next(): number | undefined {
    return this.due.shift();
  }

  deadline(): null {
    return NEVER;
  }
}

function start(options: { firstChunkId?: number; giveUp?: bigint } = {}): { sender: Sender; script: Script } {
  const script = new Script();
  return { sender: new Sender({ scheduler: script, ...options }), script };
}

test("a chunk of three slices, one of them lost", () => {
  const { sender, script } = start({ firstChunkId: 65535 });
  assert.deepEqual(sender.submit(0n, new Uint8Array(3000)), { row: "S1" });
  script.due = [0, 1, 2];
  const { row, slices } = pollSender(sender, 0n);
  assert.equal(row, "S14");
  assert.deepEqual(slices.map(({ data }) => data.length), [1024, 1024, 952]);
  assert.deepEqual(sender.ack(50n, ackOf(65535, "101")), { row: "S9" });
  assert.deepEqual(sender.acked, [true, false, true]);
  assert.equal(sender.deadline, 10_000_050n);
  script.due = [1];
  assert.deepEqual(pollSender(sender, 60n).slices, [slices[1]]);
  assert.deepEqual(sender.ack(70n, ackOf(65535, "111")), { row: "S10", delivered: 65535 });
  assert.deepEqual([sender.state, sender.chunkId, sender.deadline], ["IDLE", 0, NEVER]);
  assert.deepEqual(script.heard, ["start 0 3000", "news 50 0 2", "news 70 1"]);
});

test("submits that are refused", () => {
  const { sender } = start({ giveUp: 10n });
  assert.deepEqual(sender.submit(0n, new Uint8Array(0)), { row: "S2", refused: "chunk_size" });
  assert.deepEqual(sender.submit(0n, new Uint8Array(262_145)), { row: "S2", refused: "chunk_size" });
  assert.deepEqual(sender.submit(0n, new Uint8Array(262_144)), { row: "S1" });
  assert.deepEqual(sender.submit(0n, new Uint8Array(1)), { row: "S3", refused: "busy" });
  assert.deepEqual(sender.poll(9n), { row: "S14", packet: null });
  assert.deepEqual(sender.poll(10n), { row: "S15", packet: null, failed: 0 });
  assert.deepEqual(sender.submit(10n, new Uint8Array(1)), { row: "S4", refused: "gave_up" });
  assert.equal(sender.deadline, NEVER);
});

test("acks that change nothing, and holds", () => {
  const { sender, script } = start({ giveUp: 100n });
  assert.equal(sender.ack(0n, ackOf(0, "1")).row, "S5");
  sender.submit(0n, new Uint8Array(2000));
  assert.equal(sender.ack(1n, ackOf(1, "11")).row, "S6");
  assert.equal(sender.ack(1n, ackOf(0, "111")).row, "S6");
  assert.equal(sender.ack(1n, ackOf(0, "11")).row, "S7", "slices that were never sent");
  assert.equal(sender.ack(1n, ackOf(0, "00")).row, "S7", "nothing was sent that it could hold");
  assert.equal(sender.deadline, 100n);
  script.due = [0];
  pollSender(sender, 1n);
  assert.equal(sender.ack(2n, ackOf(0, "00")).row, "S8");
  assert.equal(sender.deadline, 102n);
  assert.deepEqual(script.heard, ["start 0 2000", "hold 2"]);
  assert.equal(sender.ack(4n, ackOf(0, "11")).row, "S9");
  assert.deepEqual(sender.acked, [true, false]);
  assert.equal(sender.ack(5n, ackOf(0, "10")).row, "S7");
  assert.equal(sender.ack(5n, ackOf(0, "00")).row, "S7", "no hold once a slice is acked");
  assert.equal(sender.deadline, 104n);
});

test("time never runs backward", () => {
  const { sender } = start({ giveUp: 100n });
  sender.poll(50n);
  sender.submit(20n, new Uint8Array(1));
  assert.equal(sender.deadline, 150n);
});

test("the largest time to give up", () => {
  const { sender } = start({ giveUp: 1n << 61n });
  sender.submit(5n, new Uint8Array(1));
  assert.equal(sender.deadline, 2_305_843_009_213_693_957n);
  assert.throws(() => start({ giveUp: (1n << 61n) + 1n }), RangeError);
  assert.throws(() => start({ giveUp: 0n }), RangeError);
  assert.throws(() => start({ firstChunkId: 65_536 }), RangeError);
});
