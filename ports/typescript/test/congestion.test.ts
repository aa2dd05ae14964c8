import assert from "node:assert/strict";
import { test } from "node:test";
import { Congestion, NEVER, type Conditions } from "chunkwire";

const SECOND = 1_000_000n;
const GOOD: Conditions = { srtt: 100_000n, minRtt: 0n, silent: false };
const SILENT: Conditions = { ...GOOD, silent: true };

/** In GOOD since a time. */
function goodSince(now: bigint, profile: "article" | "default" = "article"): Congestion {
  const machine = new Congestion(profile);
  assert.deepEqual(machine.evaluate(now - 4n * SECOND, GOOD), ["C6"]);
  assert.deepEqual(machine.evaluate(now - 1n, GOOD), ["C8"]);
  assert.deepEqual(machine.evaluate(now, GOOD), ["C7"]);
  return machine;
}

test("it begins bad, and unknown is not good", () => {
  const machine = new Congestion();
  assert.deepEqual(machine.evaluate(0n, { ...GOOD, srtt: null }), ["C5"]);
  assert.deepEqual([machine.mode, machine.recovery, machine.deadline], ["BAD", 4n * SECOND, NEVER]);
});

test("the waiting begins anew, and time does not go back", () => {
  const machine = new Congestion();
  machine.evaluate(0n, GOOD);
  assert.equal(machine.deadline, 4n * SECOND);
  assert.deepEqual(machine.evaluate(2n * SECOND, SILENT), ["C5"]);
  assert.deepEqual(machine.evaluate(0n, GOOD), ["C6"]);
  assert.equal(machine.deadline, 6n * SECOND);
});

test("limits of the two profiles", () => {
  const long = { srtt: 900_000n, minRtt: 600_000n, silent: false };
  assert.deepEqual(goodSince(10n * SECOND).evaluate(10n * SECOND, { ...GOOD, srtt: 250_000n }), ["C4"]);
  assert.deepEqual(goodSince(10n * SECOND).evaluate(10n * SECOND, { ...GOOD, srtt: 250_001n }), ["C1"]);
  assert.deepEqual(goodSince(10n * SECOND).evaluate(10n * SECOND, long), ["C1"]);
  assert.deepEqual(goodSince(10n * SECOND, "default").evaluate(10n * SECOND, long), ["C4"]);
  assert.deepEqual(goodSince(10n * SECOND, "default").evaluate(10n * SECOND, { ...long, srtt: 900_001n }), ["C1"]);
});

test("a short good mode doubles the waiting, up to 60 s", () => {
  const machine = new Congestion();
  const waits: bigint[] = [];
  let now = 0n;
  for (let i = 0; i < 6; i++) {
    waits.push(machine.recovery / SECOND);
    machine.evaluate(now, GOOD);
    now = machine.deadline ?? 0n;
    assert.deepEqual(machine.evaluate(now, GOOD), ["C7"]);
    now += 1n;
    assert.deepEqual(machine.evaluate(now, SILENT), ["C1"]);
  }
  assert.deepEqual(waits, [4n, 8n, 16n, 32n, 60n, 60n]);
});

test("10 s are rewarded, and not short", () => {
  assert.deepEqual(goodSince(4n * SECOND).evaluate(14n * SECOND - 1n, SILENT), ["C1"]);
  const machine = goodSince(4n * SECOND);
  assert.equal(machine.deadline, 14n * SECOND);
  assert.deepEqual(machine.evaluate(14n * SECOND, SILENT), ["C3", "C2"]);
  assert.equal(machine.recovery, 2n * SECOND);
  const late = goodSince(4n * SECOND);
  assert.deepEqual(late.evaluate(40n * SECOND, GOOD), ["C3", "C3", "C4"]);
  assert.deepEqual([late.recovery, late.deadline], [SECOND, NEVER]);
});

test("cadence (PKC-3)", () => {
  const machine = goodSince(4n * SECOND);
  machine.sent(5n * SECOND);
  assert.equal(machine.nextAt, 5n * SECOND);
  machine.sent(5n * SECOND);
  assert.equal(machine.nextAt, 5n * SECOND + 33_333n);
  machine.evaluate(5n * SECOND + 1n, SILENT);
  assert.equal(machine.nextAt, 5n * SECOND + 100_000n);
});
