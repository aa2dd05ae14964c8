import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  channel,
  decodeRecords,
  encodeRecords,
  groupsOf,
  isQuiet,
  nearest,
  onWire,
  RecordError,
  type Channel,
  type ChannelRecord,
  type Group,
} from "chunkwire";
import { hex, unhex } from "./support.js";

const CHANNELS: ReadonlyMap<number, Channel> = new Map([
  [1, channel("ordered", { window: 512 })],
  [2, channel("unordered", { window: 32, data: 4 })],
  [3, channel("unreliable")],
]);

const REPORT = { type: "report", channel: 1, base: 65_530, room: 500, groups: [[3, 0x140], [40, 0]] } as const;
const EXAMPLES: readonly (readonly [ChannelRecord, string])[] = [
  [{ type: "pad" }, "00"],
  [{ type: "unreliable", channel: 3, data: unhex("6869") }, "010302006869"],
  [{ type: "message", channel: 1, sequence: 513, data: unhex("616263") }, "020101020300616263"],
  [{ type: "fragment", channel: 1, sequence: 65_535, index: 2, count: 3, data: unhex("7a") }, "0301ffff020201007a"],
  [{ type: "skip", channel: 1, first: 65_534, count: 4 }, "0401feff03"],
  [{ type: "report", channel: 1, base: 100, room: 512, groups: [] }, "05016400000200"],
  [{ type: "status", channel: 1, next: 700 }, "0601bc02"],
  [REPORT, "0501fafff40102030040010000280000000000"],
];

function assertRefused(run: () => unknown, code: string, at: number, name: string): void {
  assert.throws(run, (error) => error instanceof RecordError && error.code === code && error.at === at, `${name}: ${code} at ${at}`);
}

test("the table of numbers (CHN-4)", () => {
  const cases: readonly [base: number, sequence: number, number: number][] = [
    [0, 0, 0],
    [0, 32_768, 32_768],
    [0, 32_769, -32_767],
    [0, 65_535, -1],
    [65_530, 2, 65_538],
    [65_530, 32_762, 98_298],
    [65_530, 32_763, 32_763],
    [65_538, 65_535, 65_535],
    [131_072, 65_000, 130_536],
  ];
  for (const [base, sequence, number] of cases) assert.equal(nearest(sequence, base), number);
  for (let d = -32_767; d <= 32_768; d++) assert.equal(nearest(onWire(100 + d), 100), 100 + d);
});

describe("records", () => {
  for (const [record, bytes] of EXAMPLES) {
    test(`${record.type} ${bytes} (CHR-8 to CHR-11)`, () => {
      assert.equal(hex(encodeRecords([record], CHANNELS)), bytes);
      assert.deepEqual(decodeRecords(unhex(bytes), CHANNELS), [record]);
    });
  }

  test("in a row", () => {
    const [records, payload] = [EXAMPLES.slice(1).map(([record]) => record), EXAMPLES.slice(1).map(([, bytes]) => bytes).join("")];
    assert.equal(hex(encodeRecords(records, CHANNELS)), payload);
    assert.deepEqual(decodeRecords(unhex(payload), CHANNELS), records);
  });

  test("quiet (CHR-4)", () => {
    const cases: readonly (readonly [readonly ChannelRecord[], boolean])[] = [
      [[{ type: "pad" }], true],
      [[REPORT, REPORT], true],
      [[REPORT, { type: "status", channel: 1, next: 0 }], false],
    ];
    for (const [records, quiet] of cases) assert.equal(isQuiet(records), quiet);
  });

  test("that are cut are refused (CHR-12, CHR-22)", () => {
    for (const [, bytes] of EXAMPLES.slice(1)) {
      for (let end = 2; end < bytes.length; end += 2) {
        assert.throws(() => decodeRecords(unhex(bytes.slice(0, end)), CHANNELS), RecordError);
      }
    }
  });

  test("with one bit changed are refused, or are their own encoding (CHR-6)", () => {
    let taken = 0;
    for (const [, bytes] of EXAMPLES) {
      for (let bit = 0; bit < 4 * bytes.length; bit++) {
        const changed = unhex(bytes);
        changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        try {
          assert.deepEqual(encodeRecords(decodeRecords(changed, CHANNELS), CHANNELS), changed);
          taken++;
        } catch (error) {
          if (!(error instanceof RecordError)) throw error;
        }
      }
    }
    assert.ok(taken > 100);
  });
});

test("what a decoder refuses, in the order of the document (CHR-20 to CHR-35)", () => {
  const cases: readonly [payload: string, code: string, at: number][] = [
    ["", "truncated", 0],
    ["0000", "unknown_record", 0],
    ["07", "unknown_record", 0],
    ["0601bc0200", "unknown_record", 4],
    ["06", "truncated", 1],
    ["0640", "unknown_channel", 1],
    ["0604", "unknown_channel", 1],
    ["0603", "channel_kind", 1],
    ["0101", "channel_kind", 1],
    ["060100", "truncated", 2],
    ["01030000", "length", 2],
    ["0103020061", "truncated", 4],
    ["020100000000", "length", 4],
    ["020100000104", "length", 4],
    ["02020000040000", "truncated", 6],
    ["030100000000", "fragment_count", 5],
    ["030200000020", "fragment_count", 5],
    ["030100000201", "fragment_index", 4],
    ["03020000000103000000", "length", 6],
    ["03020000010105000000", "length", 6],
    ["050100000102", "room", 4],
    ["05010000000221", "group_count", 6],
    ["050100000002010002", "group_start", 7],
    ["05010000000201010002000000", "group_bits", 9],
    ["05010000000201010000000000", "group_base", 7],
    ["050100000002020100010000002100", "group_order", 13],
    ["050100000002020100010000000002", "group_start", 13],
    ["05016400000201" + "6300", "group_start", 7],
  ];
  for (const [payload, code, at] of cases) assertRefused(() => decodeRecords(unhex(payload), CHANNELS), code, at, payload);
});

test("what an encoder refuses (CHR-7, CHR-13)", () => {
  const status = { type: "status", channel: 1, next: 0 } as const;
  const message = { type: "message", channel: 1, sequence: 0, data: unhex("61") } as const;
  const fragment = { ...message, type: "fragment", index: 0, count: 2, data: new Uint8Array(1024) } as const;
  const report = { type: "report", channel: 1, base: 0, room: 512, groups: [] } as const;
  const groups = (...all: Group[]): ChannelRecord => ({ ...report, groups: all });
  const cases: readonly [code: string, at: number, ...records: ChannelRecord[]][] = [
    ["truncated", 0],
    ["unknown_record", 4, status, { type: "pad" }],
    ["unknown_record", 0, { type: "pad" }, status],
    ["unknown_channel", 5, status, { ...status, channel: 64 }],
    ["channel_kind", 1, { ...status, channel: 3 }],
    ["length", 2, { type: "unreliable", channel: 3, data: new Uint8Array() }],
    ["length", 2, { type: "unreliable", channel: 3, data: new Uint8Array(65_536) }],
    ["invalid_field", 2, { ...message, sequence: 65_536, data: new Uint8Array() }],
    ["length", 4, { ...message, data: new Uint8Array(1025) }],
    ["fragment_count", 5, { ...fragment, index: 9, count: 65 }],
    ["fragment_index", 4, { ...fragment, index: -1 }],
    ["length", 6, { ...fragment, data: new Uint8Array(1023) }],
    ["invalid_field", 4, { type: "skip", channel: 1, first: 0, count: 257 }],
    ["invalid_field", 2, { ...report, base: -1, room: 513 }],
    ["room", 4, { ...report, room: 513 }],
    ["group_count", 6, groups(...new Array<Group>(33).fill([0, 0]))],
    ["invalid_field", 7, groups([65_536, 0])],
    ["group_start", 7, groups([512, 2 ** 32])],
    ["invalid_field", 9, groups([0, 2 ** 32])],
    ["group_bits", 9, groups([1, 2])],
    ["group_base", 7, groups([1, 0])],
    ["group_order", 13, groups([0, 0], [32, 0])],
    ["invalid_field", 2, { ...status, next: 65_536 }],
  ];
  for (const [code, at, ...records] of cases) assertRefused(() => encodeRecords(records, CHANNELS), code, at, JSON.stringify(records));
});

describe("groups (CHV-6)", () => {
  test("of the document", () => {
    assert.deepEqual(groupsOf([65_530, 65_532, 65_539, 65_576]), REPORT.groups);
  });

  test("the newest are left out", () => {
    assert.deepEqual(groupsOf([0, 33, 66], 2), [[0, 0], [33, 0]]);
    assert.deepEqual(groupsOf([0], 0), []);
  });

  test("one names up to 33 sequences", () => {
    const row = Array.from({ length: 34 }, (_, i) => i);
    assert.deepEqual(groupsOf(row), [[0, 0], [33, 0xffffffff]]);
  });
});
