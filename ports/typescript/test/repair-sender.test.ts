import assert from "node:assert/strict";
import { test } from "node:test";
import { EncodedChunk, NEVER, RepairSender, type RepairScheduler } from "chunkwire";
import { pattern, repairAck } from "./support.js";

/** Lets as many slices go out as it is told to. */
class Script implements RepairScheduler {
  due = 0;
  readonly told: string[] = [];
  start = (_now: bigint, numSlices: number): void => void this.told.push(`start ${numSlices}`);
  news = (_now: bigint, have: number, top: number): void => void this.told.push(`news ${have} ${top}`);
  hold = (): void => void this.told.push("hold");
  next = (): boolean => this.due > 0 && this.due-- > 0;
  deadline = (): null => NEVER;
}

test("ids go out one after the other, and acks are numbers", () => {
  const script = new Script();
  const sender = new RepairSender({ scheduler: script });
  const poll = (due: number): number[] => {
    const ids: number[] = [];
    script.due = due;
    for (let r = sender.poll(0n); r.packet !== null; r = sender.poll(0n)) ids.push(r.packet.id);
    return ids;
  };
  assert.equal(sender.poll(0n).row, "T12");
  assert.equal(sender.submit(0n, new Uint8Array()).row, "T2");
  assert.equal(sender.submit(0n, pattern(2000)).row, "T1");
  assert.equal(sender.submit(0n, pattern(2000)).row, "T3");
  assert.equal(sender.ack(0n, repairAck(0, 2, 0, 0)).row, "T7", "nothing was sent that it could hold");
  assert.deepEqual(poll(1), [0]);
  assert.equal(sender.ack(0n, repairAck(0, 2, 0, 0)).row, "T8");
  assert.deepEqual(poll(2), [1, 2]);
  assert.equal(sender.ack(1n, repairAck(0, 2, 1, 4)).row, "T6", "that was not sent");
  assert.equal(sender.ack(1n, repairAck(0, 2, 2, 1)).row, "T6", "more than were sent");
  assert.equal(sender.ack(1n, repairAck(0, 3, 1, 1)).row, "T6", "another number of slices");
  assert.equal(sender.ack(1n, repairAck(0, 2, 0, 3)).row, "T9");
  assert.equal(sender.ack(2n, repairAck(0, 2, 0, 0)).row, "T7");
  assert.equal(sender.ack(2n, repairAck(0, 2, 1, 1)).row, "T9");
  assert.deepEqual(sender.counts, { sent: 3, have: 1, top: 3 });
  assert.deepEqual(sender.ack(3n, repairAck(0, 2, 2, 2)), { row: "T10", delivered: 0 });
  assert.deepEqual(script.told, ["start 2", "hold", "news 0 3", "news 1 3", "news 2 3"]);
  assert.equal(sender.ack(3n, repairAck(0, 2, 2, 2)).row, "T5");
});

test("giving up", () => {
  const script = new Script();
  const sender = new RepairSender({ scheduler: script, giveUp: 100n });
  sender.submit(0n, pattern(9));
  assert.equal(sender.deadline, 100n);
  script.due = 1;
  assert.equal(sender.poll(0n).row, "T13");
  assert.equal(sender.ack(50n, repairAck(0, 1, 0, 0)).row, "T8");
  assert.equal(sender.poll(149n).row, "T14");
  assert.deepEqual(sender.poll(150n), { row: "T15", packet: null, failed: 0 });
  assert.equal(sender.poll(150n).row, "T16");
  assert.equal(sender.submit(150n, pattern(9)).row, "T4");
  assert.equal(sender.ack(150n, repairAck(0, 1, 0, 0)).row, "T11");
});

test("several senders share one encoded chunk", () => {
  const chunk = new EncodedChunk(pattern(3000));
  const data = [1, 2].map((firstChunkId) => {
    const script = new Script();
    const sender = new RepairSender({ scheduler: script, firstChunkId });
    sender.submit(0n, chunk);
    script.due = 4;
    for (let i = 0; i < 3; i++) sender.poll(0n);
    const result = sender.poll(0n);
    assert.ok(result.row === "T13");
    return result.packet.data;
  });
  assert.equal(data[0]?.buffer, data[1]?.buffer, "made once");
});
