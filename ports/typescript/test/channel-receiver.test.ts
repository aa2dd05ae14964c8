import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  channel,
  ChannelReceiver,
  type ChannelKind,
  type FragmentRecord,
  type MessageRecord,
  type ReportRecord,
  type SkipRecord,
  type StatusRecord,
} from "chunkwire";

const SPACE = 1160;
const MS = 1000n;

function open(kind: ChannelKind = "ordered", first = 0): ChannelReceiver {
  return new ChannelReceiver(channel(kind, { window: 32, data: 4, group: 4, first, giveUp: 1000n * MS }));
}

function message(sequence: number): MessageRecord {
  return { type: "message", channel: 0, sequence, data: Uint8Array.of(sequence) };
}

function part(sequence: number, index: number, count: number): FragmentRecord {
  return { type: "fragment", channel: 0, sequence, index, count, data: Uint8Array.of(sequence) };
}

function skip(first: number, count: number): SkipRecord {
  return { type: "skip", channel: 0, first, count };
}

function status(next: number): StatusRecord {
  return { type: "status", channel: 0, next };
}

function report(base: number, room: number, ...groups: [number, number][]): ReportRecord {
  return { type: "report", channel: 0, base, room, groups };
}

/** What is read: of each thing its sequence and its bytes, or null. */
function readAll(receiver: ChannelReceiver): [number, number[] | null][] {
  const things: [number, number[] | null][] = [];
  for (let thing = receiver.read(0n); "data" in thing; thing = receiver.read(0n)) {
    things.push([thing.sequence, thing.data && [...thing.data]]);
  }
  return things;
}

test("parameters (CHP-1, CHP-2)", () => {
  const bad = [{ window: 16 }, { window: 48 }, { window: 32_768 }, { data: 0 }, { data: 1025 }, { group: 1 }, { group: 65 }];
  for (const options of [...bad, { first: -1 }, { first: 2 ** 32 + 1 }, { giveUp: 999_999n }, { giveUp: 3_600_000_001n }]) {
    assert.throws(() => channel("ordered", options), RangeError);
  }
  assert.throws(() => open("unreliable"), RangeError);
});

describe("arrivals", () => {
  test("are read in order, or as they come (CHV-2)", () => {
    for (const [kind, order] of [["ordered", [0, 1]], ["unordered", [1, 0]]] as const) {
      const receiver = open(kind);
      assert.deepEqual([1, 0, 1].map((n) => receiver.data(0n, message(n))), ["V5", "V5", "V1"]);
      assert.deepEqual(readAll(receiver).map(([sequence]) => sequence), order);
    }
  });

  test("are taken up to the limit, which moves by what is read (V2, V7, V10)", () => {
    const receiver = open();
    assert.deepEqual([0, 32, 31].map((n) => receiver.data(0n, message(n))), ["V5", "V2", "V5"]);
    assert.deepEqual([receiver.skip(0n, skip(31, 2)), receiver.skip(0n, skip(30, 3)), receiver.status(0n, status(33))], ["V7", "V7", "V10"]);
    assert.equal(receiver.refused.beyond, 4);
    assert.deepEqual(readAll(receiver), [[0, [0]]]);
    assert.deepEqual([receiver.data(0n, message(32)), receiver.status(0n, status(33))], ["V5", "V9"]);
  });

  test("of sequences beyond the wrap (CHN-4)", () => {
    const receiver = open("ordered", 65_535);
    assert.deepEqual([65_535, 0, 65_534].map((n) => receiver.data(0n, message(n))), ["V5", "V5", "V1"]);
    assert.deepEqual(readAll(receiver).map(([sequence]) => sequence), [65_535, 65_536]);
  });
});

describe("groups of fragments", () => {
  test("are delivered whole (CHG-1, CHV-2)", () => {
    const receiver = open("unordered");
    for (const record of [part(2, 2, 3), part(0, 0, 3), message(3), part(1, 1, 3)]) assert.equal(receiver.data(0n, record), "V5");
    assert.deepEqual(readAll(receiver), [[3, [3]], [0, [0, 1, 2]]]);
  });

  test("conflict with others, and with messages (CHG-2)", () => {
    const receiver = open("ordered", 10);
    for (const record of [part(12, 0, 2), message(15)]) assert.equal(receiver.data(0n, record), "V5");
    const bad = [message(13), part(13, 0, 2), part(13, 1, 3), part(10, 1, 2), part(16, 2, 3), part(11, 0, 2)];
    for (const record of bad) assert.equal(receiver.data(0n, record), "V3");
    assert.equal(receiver.refused.conflict, bad.length);
    assert.equal(receiver.data(0n, part(13, 1, 2)), "V5");
  });

  test("are lost with what is skipped (CHG-3, CHG-4)", () => {
    const receiver = open("unordered");
    for (const record of [part(0, 0, 3), part(2, 2, 3), message(5)]) receiver.data(0n, record);
    assert.deepEqual([skip(1, 1), skip(0, 3), skip(3, 1)].map((record) => receiver.skip(0n, record)), ["V8", "V6", "V8"]);
    assert.equal(receiver.data(0n, part(4, 1, 2)), "V4");
    const expected = [[5, [5]], [0, null], [1, null], [2, null], [3, null], [4, null]];
    assert.deepEqual(readAll(receiver), expected);
  });

  test("each that a skipped sequence lies in is given up (CHG-3)", () => {
    const receiver = open();
    for (const record of [part(0, 0, 2), part(2, 1, 3), part(3, 2, 3)]) assert.equal(receiver.data(0n, record), "V5");
    assert.equal(receiver.skip(0n, skip(1, 1)), "V8");
    assert.deepEqual(readAll(receiver), [0, 1, 2, 3].map((n) => [n, null]));
  });
});

describe("reports", () => {
  test("follow at once when something is missing, else later, and are spaced (CHV-1, CHV-4)", () => {
    const receiver = open();
    receiver.data(100n * MS, message(0));
    assert.equal(receiver.deadline, 120n * MS);
    receiver.data(101n * MS, message(2));
    assert.equal(receiver.deadline, 101n * MS);
    assert.deepEqual(receiver.poll(101n * MS, 6), { row: "V15" });
    assert.deepEqual(receiver.poll(101n * MS, 7), { row: "V14", report: report(1, 31) });
    assert.equal(receiver.deadline, 151n * MS);
    receiver.data(102n * MS, message(2));
    assert.equal(receiver.deadline, 106n * MS);
    assert.deepEqual(receiver.poll(106n * MS, 13), { row: "V14", report: report(1, 31, [1, 0]) });
  });

  test("are repeated, ever more slowly (CHV-5, CHV-6)", () => {
    const receiver = open();
    receiver.status(0n, status(1));
    let now = 0n;
    const waits = [50n, 100n, 200n, 250n, 250n].map(() => {
      assert.equal(receiver.poll(now, SPACE).row, "V14");
      const wait = (receiver.deadline ?? 0n) - now;
      now += wait;
      return wait / MS;
    });
    assert.deepEqual(waits, [50n, 100n, 200n, 250n, 250n]);
    receiver.setPath(200n * MS);
    assert.equal(receiver.deadline, now + 150n * MS);
  });

  test("follow what is read (CHV-3)", () => {
    const receiver = open();
    receiver.data(0n, message(0));
    receiver.poll(20n * MS, SPACE);
    receiver.read(30n * MS);
    assert.equal(receiver.deadline, 50n * MS);
    assert.deepEqual(receiver.poll(50n * MS, SPACE), { row: "V14", report: report(1, 32) });
    assert.equal(receiver.deadline, null);
  });
});

test("it gives up, and what is ready can still be read (V13, V16 to V21)", () => {
  const receiver = open();
  receiver.data(0n, message(0));
  receiver.data(5n, message(2));
  assert.equal(receiver.poll(1000n * MS + 4n, SPACE).row, "V14");
  assert.equal(receiver.deadline, 1000n * MS + 5n);
  assert.deepEqual([receiver.poll(1000n * MS + 5n, SPACE).row, receiver.state, receiver.deadline], ["V13", "FAILED", null]);
  assert.deepEqual([receiver.data(0n, message(1)), receiver.skip(0n, skip(1, 1)), receiver.status(0n, status(5))], ["V16", "V19", "V20"]);
  assert.deepEqual([receiver.poll(0n, SPACE).row, receiver.read(0n).row, receiver.read(0n).row], ["V21", "V17", "V18"]);
});
