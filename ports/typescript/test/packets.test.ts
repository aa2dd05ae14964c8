import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  decodeDatagram,
  encodeDatagrams,
  encodeHeader,
  newest,
  numberFrom,
  onWire,
  PacketError,
  type Header,
} from "chunkwire";
import { hex, unhex } from "./support.js";

const SMALL = { fragmentSize: 4, maxFragments: 4 };
const FULL = 0xffffffff;

function header(sequence: number, ack: number, ackBits: number): Header {
  return { sequence, ack, ackBits };
}

function assertRefused(run: () => unknown, code: string, at: number, name = ""): void {
  assert.throws(run, (error) => error instanceof PacketError && error.code === code && error.at === at, name);
}

describe("numbers", () => {
  test("the table of the document, with 256 received (PKS-2)", () => {
    const cases: readonly [next: number, sequence: number, number: number | null][] = [
      [0, 0, 0],
      [0, 65535, null],
      [0, 32511, 32511],
      [0, 32512, null],
      [100, 65500, null],
      [65530, 2, 65538],
      [65538, 65290, 65290],
      [65538, 65281, null],
    ];
    for (const [next, sequence, number] of cases) assert.equal(numberFrom(sequence, next - 256), number);
  });

  test("every sequence", () => {
    const low = 131_000;
    for (let d = 0; d < 65_536; d++) assert.equal(numberFrom(onWire(low + d), low), d < 32_768 ? low + d : null);
  });

  test("the newest up to the last (PKS-3)", () => {
    assert.deepEqual([newest(65_535, 65_536), newest(1, 65_536), newest(1, 0)], [65_535, 1, -65_535]);
  });
});

describe("headers", () => {
  const cases: readonly [Header, string][] = [
    [header(0, 65535, 0), "3e00000100000000"],
    [header(100, 99, FULL), "20640001"],
    [header(0, 99, FULL), "0000006300"],
    [header(255, 0, FULL), "20ff00ff"],
    [header(256, 0, FULL), "0000010000"],
    [header(2, 65283, FULL), "200200ff"],
    [header(2, 65282, FULL), "00020002ff"],
    [header(5, 5, 0xffffff7f), "220500007f"],
    [header(1000, 999, 0xff00ffff), "28e8030100"],
    [header(1000, 999, 0x80000000), "3ee8030100000080"],
    [header(40000, 39000, 0xfffffffe), "02409c5898fe"],
    [header(65535, 32767, 0), "1effffff7f00000000"],
  ];
  for (const [value, bytes] of cases) {
    test(bytes, () => {
      assert.equal(hex(encodeHeader(value)), bytes);
      const packet = decodeDatagram(unhex(`${bytes}aa`), SMALL);
      assert.deepEqual(packet, { kind: "regular", header: value, payload: unhex("aa") });
    });
  }

  test("what no field holds (PKF-4)", () => {
    for (const bad of [header(65_536, 0, 0), header(-1, 0, 0), header(0, 0.5, 0), header(0, 0, 2 ** 32)]) {
      assertRefused(() => encodeHeader(bad), "invalid_field", -1);
    }
  });
});

describe("fragments", () => {
  test("of the document (3.4)", () => {
    const payload = Uint8Array.from({ length: 10 }, (_, i) => i + 1);
    const datagrams = encodeDatagrams(header(7, 6, 2), payload, 4, 4);
    const expected = ["01070000023e0700010200000001020304", "010700010205060708", "0107000202090a"];
    assert.deepEqual(datagrams.map(hex), expected);
    for (const [id, datagram] of datagrams.entries()) {
      const fragment = decodeDatagram(datagram, SMALL);
      assert.ok(fragment.kind === "fragment");
      assert.deepEqual([fragment.sequence, fragment.fragmentId, fragment.numFragments], [7, id, 3]);
      assert.deepEqual(fragment.header, id === 0 ? header(7, 6, 2) : null);
      assert.deepEqual([...fragment.data], [...payload.subarray(4 * id, 4 * id + 4)]);
    }
  });

  test("their number is rounded up (PKF-1)", () => {
    const counts = [1, 4, 5, 6, 8, 9, 12, 13, 16].map((size) => encodeDatagrams(header(0, 0, 0), new Uint8Array(size), 4, 5).length);
    assert.deepEqual(counts, [1, 1, 1, 2, 2, 3, 3, 4, 4]);
    const [last] = encodeDatagrams(header(0, 0, 0), new Uint8Array(256), 1, 1).slice(-1);
    assert.equal(hex(last ?? new Uint8Array()), "010000ffff00");
  });
});

test("refusals, in the order of the document", () => {
  const cases: readonly [datagram: string, code: string, at: number][] = [
    ["", "truncated", 0],
    ["40", "reserved_bits", 0],
    ["80", "reserved_bits", 0],
    ["03", "reserved_bits", 0],
    ["21", "reserved_bits", 0],
    ["2064", "truncated", 1],
    ["206400", "truncated", 3],
    ["00640063", "truncated", 3],
    ["0064006300", "not_minimal", 3],
    ["22640001", "truncated", 4],
    ["22640001ff", "not_minimal", 4],
    ["2664000100", "truncated", 5],
    ["2664000100ff", "not_minimal", 5],
    ["20640001", "empty_payload", 4],
    [`20640001${"00".repeat(17)}`, "too_large", 4],
    ["01", "truncated", 1],
    ["010700", "truncated", 3],
    ["01070005", "truncated", 4],
    ["0107000504", "too_many_fragments", 4],
    ["0107000100", "single_fragment", 4],
    ["0107000302090a", "fragment_id_out_of_range", 3],
    ["0107000002", "truncated", 5],
    ["01070000027e", "reserved_bits", 5],
    ["010700000221", "reserved_bits", 5],
    ["01070000023e07", "truncated", 6],
    ["01070000023e0700", "truncated", 8],
    ["01070000020007000600", "not_minimal", 8],
    ["010700000222080001ff", "not_minimal", 9],
    ["010700000220080001", "sequence_mismatch", 6],
    ["010700000220070001010203", "fragment_size", 9],
    ["0107000102010203", "fragment_size", 5],
    ["0107000202", "fragment_size", 5],
    ["01070002020102030405", "fragment_size", 5],
  ];
  for (const [datagram, code, at] of cases) assertRefused(() => decodeDatagram(unhex(datagram), SMALL), code, at, datagram);
});
