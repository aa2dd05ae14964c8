import assert from "node:assert/strict";
import { test } from "node:test";
import { article, BaseScheduler, BURST, fixed, NEVER, Sender, type Profile } from "chunkwire";
import { ackOf, pollSender } from "./support.js";

function start(profile: Profile, size: number): Sender {
  const sender = new Sender({ scheduler: new BaseScheduler(profile) });
  sender.submit(0n, new Uint8Array(size));
  return sender;
}

/** Ids of the slices that go out at a time. */
function idsAt(sender: Sender, now: bigint): number[] {
  return pollSender(sender, now).slices.map(({ sliceId }) => sliceId);
}

/** Ids and times of all slices that go out before a time, if the sender is polled at its deadlines. */
function runUntil(sender: Sender, end: bigint): [bigint, number][] {
  const sent: [bigint, number][] = [];
  for (let now = sender.deadline; now !== NEVER && now < end; now = sender.deadline) {
    for (const id of idsAt(sender, now)) sent.push([now, id]);
  }
  return sent;
}

test("the profiles", () => {
  assert.equal(fixed(0).rate, 0);
  assert.equal(fixed(1066).rate, 1066);
  assert.equal(fixed(1_000_000_000).cap, 20_000_000);
  assert.equal(fixed(852_800).cap, 17_056);
  assert.equal(fixed(1_000_000).cap, 20_000);
  assert.equal(article(1066).resendDelay, 100_000n);
});

test("figures outside their limits are refused", () => {
  const good: Profile = { rate: 1066, cap: 1066, burst: 1066, acksPay: false, spacing: 0n, resendDelay: 0n };
  new BaseScheduler(good);
  for (const bad of [
    { rate: 1 }, { rate: 1_000_000_001 }, { rate: -1 }, { rate: 2000.5 }, { cap: 1065, burst: 0 }, { cap: 1_000_000_001 },
    { burst: 1067 }, { burst: -1 }, { spacing: -1n }, { resendDelay: -1n },
  ]) {
    assert.throws(() => new BaseScheduler({ ...good, ...bad }), RangeError);
  }
});

test("a burst goes out 85 us apart", () => {
  const sent = runUntil(start(BURST, 5000), 200_000n);
  assert.deepEqual(sent, [[0n, 0], [85n, 1], [170n, 2], [255n, 3], [340n, 4]]);
});

test("a fixed rate saves up its cap and then pays for each slice", () => {
  const sent = runUntil(start(fixed(106_500), 20 * 1024), 25_000n);
  assert.deepEqual(sent.slice(0, 16).map(([at]) => at), new Array<bigint>(16).fill(0n));
  // 17,056 - 16 * 1,065 = 16 bytes are left over
  assert.deepEqual(sent.slice(16), [[9_850n, 16], [19_850n, 17]]);
});

test("budgets beyond 2^53 are exact", () => {
  const sender = start({ ...fixed(999_999_999), cap: 1_000_000_000 }, 2000);
  assert.deepEqual(idsAt(sender, 0n), [0, 1]);
  sender.ack(999_999_999n, ackOf(0, "11"));
  assert.equal(sender.state, "IDLE");
  sender.submit((1n << 61n) + 1n, new Uint8Array(1));
  assert.deepEqual(idsAt(sender, (1n << 61n) + 1n), [0]);
});

test("two later arrivals show that a slice was lost", () => {
  const sender = start(fixed(0), 4 * 1024);
  assert.deepEqual(idsAt(sender, 0n), [0, 1, 2, 3]);
  sender.ack(10_000n, ackOf(0, "0100"));
  assert.deepEqual(idsAt(sender, 10_000n), []);
  sender.ack(11_000n, ackOf(0, "0110"));
  assert.deepEqual(idsAt(sender, 11_000n), [0]);
});

test("the resend timer probes with the newest slices, 2, then 4", () => {
  const sender = start(fixed(0), 6 * 1024);
  const sent = runUntil(sender, 1_000_000n);
  assert.deepEqual(sent.slice(6), [
    [250_000n, 4], [250_000n, 5],
    [500_000n, 0], [500_000n, 1], [500_000n, 2], [500_000n, 3],
    [750_000n, 4], [750_000n, 5], [750_000n, 0], [750_000n, 1], [750_000n, 2], [750_000n, 3],
  ]);
});

test("a timer that is longer than 250 ms is waited for once", () => {
  const sender = start({ ...fixed(0), resendDelay: 3_000_000n }, 2 * 1024);
  const times = runUntil(sender, 5_000_000n).map(([at]) => at);
  assert.deepEqual([...new Set(times)].slice(0, 5), [0n, 3_000_000n, 3_375_000n, 3_750_000n, 4_125_000n]);
});

test("a bound of the round trip, kept until a smaller one is found", () => {
  const sender = start(fixed(0), 1);
  runUntil(sender, 600_000n);
  sender.ack(600_000n, ackOf(0, "1")); // sent again: a bound only
  sender.submit(1_000_000n, new Uint8Array(1));
  idsAt(sender, 1_000_000n);
  assert.equal(sender.deadline, 1_750_000n); // 600 ms, and 4 * 37.5 ms
  runUntil(sender, 1_800_000n);
  sender.ack(1_900_000n, ackOf(1, "1"));
  sender.submit(2_000_000n, new Uint8Array(1));
  idsAt(sender, 2_000_000n);
  assert.equal(sender.deadline, 2_750_000n);
});

test("a hold stops all but one probe at a time, until slices are newly acked", () => {
  const sender = start(fixed(0), 4 * 1024);
  assert.deepEqual(idsAt(sender, 0n), [0, 1, 2, 3]);
  assert.equal(sender.ack(10n, ackOf(0, "0000")).row, "S8");
  const sent = runUntil(sender, 1_000_000n);
  assert.deepEqual(sent, [[250_010n, 3], [500_010n, 2], [750_010n, 1]]);
});

test("probes of a hold begin at the round trip and become rarer", () => {
  const sender = start(fixed(0), 1);
  idsAt(sender, 0n);
  sender.ack(40_000n, ackOf(0, "1"));
  sender.submit(40_000n, new Uint8Array(1));
  idsAt(sender, 40_000n);
  sender.ack(80_000n, ackOf(1, "0"));
  const times = runUntil(sender, 700_000n).map(([at]) => at);
  assert.deepEqual(times.slice(0, 5), [120_000n, 160_000n, 200_000n, 240_000n, 280_000n]);
  assert.deepEqual(idsAt(sender, 5_000_000n), [0]);
  assert.equal(sender.deadline, 5_250_000n);
});

test("what a hold kept back goes out once slices are newly acked", () => {
  const sender = start(BURST, 4 * 1024);
  assert.deepEqual(idsAt(sender, 0n), [0]);
  sender.ack(10n, ackOf(0, "0000"));
  assert.equal(sender.deadline, 250_010n);
  assert.deepEqual(idsAt(sender, 250_010n), [3]);
  sender.ack(251_000n, ackOf(0, "1000"));
  assert.deepEqual(runUntil(sender, 252_000n), [[251_000n, 1], [251_085n, 2]]);
});

test("what arrived pays for what is sent", () => {
  const sender = start({ ...fixed(1066), burst: 0, acksPay: true, cap: 17_056 }, 20 * 1024);
  assert.equal(idsAt(sender, 0n).length, 16);
  sender.ack(1n, ackOf(0, "11100000000000000000"));
  assert.deepEqual(idsAt(sender, 1n), [16, 17, 18]);
});
