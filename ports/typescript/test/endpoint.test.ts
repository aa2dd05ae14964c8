import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  decodeDatagram,
  encodeDatagrams,
  Endpoint,
  Loss,
  NEVER,
  PacketError,
  Patience,
  RoundTrip,
  Seconds,
  Shown,
  type Above,
  type EndpointOptions,
  type Receipt,
} from "chunkwire";
import { unhex } from "./support.js";

const SMALL = { fragmentSize: 4, maxFragments: 4, fragmentAbove: 4 };
const MS = 1000n;
const SECOND = 1_000_000n;
const X = Uint8Array.of(120);

/** Datagrams of a packet of the peer: its payload is 1, 2 and so on. */
function packet(number: number, size = 2, ack = 65_535, ackBits = 0): Uint8Array[] {
  const payload = Uint8Array.from({ length: size }, (_, i) => i + 1);
  return encodeDatagrams({ sequence: number % 65_536, ack, ackBits }, payload, 4, 4);
}

/** What comes of datagram i of a packet: the row, and the code if it was refused. */
function give(end: Endpoint, now: bigint, datagrams: readonly Uint8Array[], i = 0, above?: Above): string {
  return describeReceipt(end.receive(now, datagrams[i] ?? new Uint8Array(), above));
}

function describeReceipt(receipt: Receipt): string {
  return "error" in receipt ? `${receipt.row} ${receipt.error.code}` : receipt.row;
}

/** The ack and the ack bits of the packet sent next. */
function nextAcks(end: Endpoint, now: bigint): [number, number] {
  const [datagram = new Uint8Array()] = end.send(now, X);
  const sent = decodeDatagram(datagram, SMALL);
  assert.ok(sent.kind === "regular");
  return [sent.header.ack, sent.header.ackBits];
}

function events(end: Endpoint): string[] {
  return end.takeEvents().map(({ event, number }) => `${event} ${number}`);
}

describe("receiving", () => {
  test("a packet and its copy", () => {
    const end = new Endpoint(SMALL);
    assert.equal(give(end, 0n, packet(0)), "P6");
    assert.equal(give(end, 0n, packet(0)), "P3 duplicate");
    assert.equal(give(end, 0n, []), "P1 truncated");
    assert.deepEqual([...end.refused], [["duplicate", 1], ["truncated", 1]]);
  });

  test("the edges of the window", () => {
    const end = new Endpoint(SMALL);
    assert.equal(give(end, 0n, packet(65_535)), "P2 stale");
    assert.equal(give(end, 0n, packet(32_512)), "P2 stale");
    assert.equal(give(end, 0n, packet(32_511)), "P6");
    assert.equal(give(end, 0n, packet(32_255)), "P2 stale");
    assert.equal(give(end, 0n, packet(32_256)), "P6");
    assert.deepEqual(nextAcks(end, 0n), [32_511, 1]);
  });

  test("out of order", () => {
    const end = new Endpoint(SMALL);
    for (const number of [5, 3, 4]) assert.equal(give(end, 0n, packet(number)), "P6");
    assert.deepEqual(nextAcks(end, 0n), [5, 0b111]);
  });

  test("across the wrap", () => {
    const end = new Endpoint({ ...SMALL, firstReceived: 65_000 });
    for (let number = 65_000; number < 66_000; number++) {
      if (number % 7 === 0) continue;
      const receipt = end.receive(0n, packet(number)[0] ?? new Uint8Array());
      assert.ok("payload" in receipt && receipt.number === number);
      assert.equal(give(end, 0n, packet(number)), "P3 duplicate");
    }
  });

  test("what the layer above refused may come again", () => {
    const end = new Endpoint(SMALL);
    const asked: unknown[] = [];
    end.send(0n, X);
    const refuse: Above = (number, payload, known) => {
      asked.push([number, payload.length, known]);
      return "refuse";
    };
    assert.equal(give(end, 0n, packet(0, 2, 0, 1), 0, refuse), "P5 refused");
    assert.equal(give(end, 0n, packet(1, 5), 0, refuse), "P11");
    assert.equal(give(end, 0n, packet(1, 5), 1, refuse), "P12 refused");
    assert.deepEqual([asked, events(end)], [[[0, 2, 0], [1, 5, null]], []]);
    assert.deepEqual([give(end, 0n, packet(0, 2, 0, 1)), give(end, 0n, packet(1, 5)), give(end, 0n, packet(1, 5), 1)], ["P6", "P11", "P13"]);
    assert.deepEqual(events(end), ["acked 0"]);
  });
});

describe("reassembly", () => {
  test("the trace of the document", () => {
    const end = new Endpoint(SMALL);
    assert.equal(give(end, 0n, packet(0, 10), 1), "P11");
    assert.deepEqual(nextAcks(end, 1n * MS), [0, 0]);
    assert.equal(give(end, 2n * MS, packet(0, 10), 0), "P11");
    assert.equal(give(end, 3n * MS, packet(0, 10), 0), "P9 fragment_duplicate");
    assert.equal(give(end, 4n * MS, packet(0, 16), 1), "P8 fragment_count");
    const receipt = end.receive(5n * MS, packet(0, 10)[2] ?? new Uint8Array());
    assert.ok("payload" in receipt && receipt.row === "P13");
    assert.deepEqual([...receipt.payload], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    assert.equal(give(end, 6n * MS, packet(0, 10), 2), "P3 duplicate");
    assert.deepEqual(nextAcks(end, 7n * MS), [0, 1]);
    assert.equal(give(end, 10n * MS, packet(1, 8), 0), "P11");
    end.poll(1010n * MS);
    assert.equal(give(end, 1010n * MS, packet(1, 8), 1), "P4 dead");
    assert.equal(give(end, 1010n * MS, packet(1)), "P4 dead");
  });

  test("the time limit holds without a poll", () => {
    const end = new Endpoint(SMALL);
    give(end, 0n, packet(0, 8));
    give(end, 0n, packet(1, 8));
    assert.equal(give(end, SECOND - 1n, packet(0, 8), 1), "P13");
    assert.equal(give(end, SECOND, packet(1, 8), 1), "P4 dead");
  });

  test("one window for both kinds", () => {
    const end = new Endpoint(SMALL);
    for (const number of [0, 1, 2]) give(end, 0n, packet(number, 8));
    assert.equal(give(end, 0n, packet(2)), "P6");
    give(end, 0n, packet(64));
    assert.equal(give(end, 0n, packet(0, 8), 1), "P7 stale");
    assert.equal(give(end, 0n, packet(1, 8), 1), "P13");
    assert.equal(end.deadline, 20n * MS, "none is left");
  });

  test("the oldest makes room, before the window moves", () => {
    const end = new Endpoint(SMALL);
    for (let number = 1; number <= 8; number++) give(end, 0n, packet(number, 8));
    assert.equal(give(end, 0n, packet(0, 8)), "P10 reassembly_full");
    assert.equal(give(end, 0n, packet(70, 8)), "P11");
    assert.deepEqual([1, 2, 7].map((number) => give(end, 0n, packet(number, 8), 1)), ["P4 dead", "P7 stale", "P13"]);
  });

  test("bytes are bounded, and the last fragment needs none", () => {
    const end = new Endpoint({ ...SMALL, reassemblyBytes: 16 });
    for (const number of [5, 6]) for (const i of [0, 1]) assert.equal(give(end, 0n, packet(number, 9), i), "P11");
    assert.equal(give(end, 0n, packet(4, 9)), "P10 reassembly_full");
    assert.equal(give(end, 0n, packet(5, 9), 2), "P13");
    for (const i of [0, 1]) assert.equal(give(end, 0n, packet(4, 9), i), "P11");
    assert.equal(give(end, 0n, packet(7, 16)), "P11");
    assert.equal(give(end, 0n, packet(4, 9), 2), "P4 dead");
  });
});

describe("acks", () => {
  test("the trace of the document", () => {
    const end = new Endpoint(SMALL);
    for (const at of [0n, 33_333n, 66_666n]) end.send(at, X);
    give(end, 100n * MS, packet(0, 2, 0, 1));
    assert.deepEqual(events(end), ["acked 0"]);
    assert.deepEqual([end.poll(120n * MS - 1n), end.poll(120n * MS)], [null, unhex("3e0300030100000000")]);
    give(end, 180n * MS, packet(1, 2, 2, 0b101));
    assert.deepEqual([events(end), end.roundTrip.srtt, end.roundTrip.jitter], [["acked 2"], 101_333n, 833n]);
    end.send(190n * MS, X);
    assert.equal(end.deadline, 1_033_333n);
    end.poll(1_033_333n);
    assert.deepEqual(events(end), ["lost 1"]);
    give(end, 1050n * MS, packet(2, 2, 2, 0b111));
    assert.deepEqual(events(end), ["acked 1"]);
    give(end, 1060n * MS, packet(3, 2, 9, 1));
    assert.deepEqual(events(end), []);
    assert.notEqual(end.poll(1070n * MS), null);
    end.poll(1190n * MS);
    assert.deepEqual([events(end), end.silent], [["lost 4"], true]);
  });

  test("every sixteenth packet is answered at once, and a quiet one never", () => {
    const end = new Endpoint(SMALL);
    for (let number = 0; number < 15; number++) give(end, 0n, packet(number));
    assert.equal(end.deadline, 20n * MS);
    give(end, 7n, packet(15));
    assert.equal(end.deadline, 7n);
    assert.notEqual(end.poll(7n), null);
    give(end, 7n, packet(18));
    assert.equal(end.deadline, 7n + 20n * MS, "counted from the last packet sent");
    end.poll(7n + 20n * MS);
    assert.equal(give(end, 8n, [unhex("3e1000010000000000")]), "P6");
    assert.equal(give(end, 8n, packet(17), 0, () => "quiet"), "P6");
    assert.equal(end.deadline, 7n + 4n * SECOND, "to forget the first ack-only packet");
    end.poll(5n * SECOND);
    assert.equal(end.deadline, NEVER);
  });

  test("what asks for no ack is never lost", () => {
    const end = new Endpoint(SMALL);
    end.send(0n, Uint8Array.of(0));
    end.send(0n, X, true);
    end.poll(SECOND);
    assert.deepEqual([events(end), end.silent], [[], false]);
    const receipt = end.receive(SECOND, packet(0, 2, 1, 1)[0] ?? new Uint8Array());
    assert.deepEqual([events(end), "sampled" in receipt && receipt.sampled], [["acked 1"], false]);
  });

  test("late acks count, for 4 s", () => {
    const end = new Endpoint(SMALL);
    for (let i = 0; i < 3; i++) end.send(0n, X);
    give(end, SECOND, packet(0, 2, 0, 1));
    end.poll(SECOND);
    assert.deepEqual(events(end), ["acked 0", "lost 1", "lost 2"], "the datagram comes before the timers");
    give(end, 4n * SECOND, packet(1, 2, 1, 1));
    assert.deepEqual(events(end), ["acked 1"]);
    end.poll(4n * SECOND);
    give(end, 4n * SECOND, packet(2, 2, 2, 1));
    assert.deepEqual([events(end), end.silent], [[], true]);
  });

  test("pushed out", () => {
    const end = new Endpoint({ ...SMALL, sentMax: 256, firstSent: 65_500 });
    for (let i = 0; i < 257; i++) end.send(0n, X);
    assert.deepEqual(events(end), ["lost 65500"]);
    give(end, 0n, packet(0, 2, 65_501, 0b11));
    give(end, 0n, packet(1, 2, 65_756 % 65_536, 1));
    give(end, 0n, packet(2, 2, 65_757 % 65_536, 1));
    assert.deepEqual(events(end), ["acked 65501", "acked 65756"]);
    for (let i = 0; i < 2; i++) end.send(0n, X);
    assert.deepEqual([events(end), end.deadline], [["lost 65502"], SECOND], "65501 was acked");
  });
});

test("sizes and parameters", () => {
  const end = new Endpoint();
  for (const size of [0, 16_385]) {
    assert.throws(() => end.send(0n, new Uint8Array(size)), (error) => error instanceof PacketError && error.code === "payload_size");
  }
  assert.equal(end.nextToSend, 0);
  assert.deepEqual(end.send(0n, new Uint8Array(1160)).map((d) => d.length), [1168]);
  assert.deepEqual(end.send(0n, new Uint8Array(1161)).map((d) => d.length), [1037, 142]);
  assert.equal(end.send(0n, new Uint8Array(16_384)).length, 16);
  new Endpoint({ received: 64 });
  const bad: Partial<EndpointOptions>[] = [
    { fragmentSize: 0 },
    { fragmentSize: 1161, fragmentAbove: 1161 },
    { maxFragments: 1 },
    { maxFragments: 257 },
    { fragmentAbove: 1023 },
    { received: 96 },
    { sentMax: 128 },
    { reassembly: 256 },
    { reassemblyPackets: 65 },
    { reassemblyBytes: 16_383 },
    { firstSent: -1 },
    { firstReceived: 2 ** 32 + 1 },
  ];
  for (const options of bad) assert.throws(() => new Endpoint(options), RangeError, JSON.stringify(options));
});

describe("estimates", () => {
  test("only ack itself gives a sample (PKE-1)", () => {
    const end = new Endpoint(SMALL);
    end.send(0n, X);
    end.send(50n * MS, X);
    give(end, 100n * MS, packet(0, 2, 1, 0b11));
    assert.deepEqual([end.roundTrip.srtt, end.shown.figures?.min, end.shown.figures?.max], [50n * MS, 50n * MS, 100n * MS]);
    assert.deepEqual([end.bytesSent, end.bytesReceived, end.bytesAcked].map((bytes) => bytes.sum(SECOND)), [18, 11, 18]);
  });

  test("patience comes from what was overtaken by two (PKE-4)", () => {
    const end = new Endpoint(SMALL);
    for (let i = 0; i < 4; i++) end.send(0n, X);
    give(end, 80n * MS, packet(0, 2, 2, 1));
    give(end, 80n * MS, packet(1, 2, 2, 0b11));
    assert.equal(end.patience.at(80n * MS), 0n);
    give(end, 80n * MS, packet(2, 2, 2, 0b101));
    assert.equal(end.patience.at(80n * MS), 90n * MS);
  });

  test("a late ack leaves the loss as it is, and ends the silence (PKE-5, PKC-1)", () => {
    const end = new Endpoint(SMALL);
    for (let i = 0; i < 2; i++) end.send(0n, X);
    end.poll(SECOND);
    assert.ok(end.silent);
    give(end, SECOND, packet(0, 2, 1, 0b11));
    assert.deepEqual([end.loss.perMille(2n * SECOND), end.silent], [1000, false]);
  });

  test("round trip (PKE-2, PKE-3)", () => {
    const path = new RoundTrip();
    const figures = [100_000n, 113_334n, 80_000n, 80_000n, 600_000n, 100_009n, 100_000n].map((sample) => {
      path.sample(0n, sample);
      return [path.srtt, path.jitter];
    });
    assert.deepEqual(figures.slice(2), [[99_200n, 2_114n], [97_280n, 3_181n], [147_552n, 34_402n], [142_798n, 35_223n], [138_519n, 35_696n]]);
    const other = new RoundTrip();
    const times = [0n, 5n * SECOND - 1n, 5n * SECOND, 10n * SECOND, 15n * SECOND - 1n, 31n * SECOND, 36n * SECOND];
    const smallest = [50n, 70n, 80n, 90n, 60n, 95n, 96n].map((sample, i) => {
      other.sample(times[i] ?? 0n, sample);
      return other.minRtt;
    });
    assert.deepEqual(smallest, [50n, 50n, 50n, 80n, 60n, 60n, 95n]);
  });

  test("patience (PKE-4)", () => {
    const patience = new Patience();
    patience.overtaken(SECOND, 80_000n, 100_000n);
    assert.equal(patience.at(SECOND), 90_000n);
    patience.overtaken(SECOND, 800_000n, 100_000n);
    assert.deepEqual([patience.at(2n * SECOND - 1n), patience.at(2n * SECOND), patience.at(10n ** 12n)], [150_000n, 140_625n, 15n]);
  });

  test("loss and rates (PKE-5, PKE-7)", () => {
    const loss = new Loss();
    for (const lost of [true, false, false]) loss.settled(SECOND, lost);
    assert.deepEqual([loss.perMille(SECOND), loss.perMille(2n * SECOND), loss.perMille(12n * SECOND)], [null, 333, null]);
    const sent = new Seconds();
    sent.add(0n, 1000);
    sent.add(SECOND, 250);
    assert.deepEqual([SECOND, 2n * SECOND, 11n * SECOND].map((at) => sent.rate(at)), [800, 1000, 200]);
  });

  test("figures for display (PKE-6)", () => {
    assert.equal(new Shown().figures, null);
    const shown = new Shown();
    for (const latency of [10n, 20n, 60n]) shown.add(latency);
    assert.deepEqual(shown.figures, { min: 10n, max: 60n, avg: 30n, jitterAvg: 20n, jitterMax: 50n, jitterDev: 21n });
    for (let i = 0; i < 512; i++) shown.add(1n << 40n);
    assert.equal(shown.figures?.min, 1n << 26n);
  });
});
