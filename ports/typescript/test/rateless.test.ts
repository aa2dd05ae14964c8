import assert from "node:assert/strict";
import { test } from "node:test";
import {
  ADAPTIVE,
  LossEstimate,
  RatelessScheduler,
  RepairReceiver,
  RepairSender,
  type RatelessProfile,
  type RepairAck,
  type RepairSlice,
} from "chunkwire";
import { pattern, pollRepairReceiver, Random } from "./support.js";

const DELAY = 25_000n;

/** What became of a chunk: when the receiver had it after its submit, in ms, and how many slices went out. */
interface Figures {
  readonly submittedAt: bigint;
  ms: number;
  sent: number;
}

/**
 * Chunks over a path with a round trip of 50 ms and no limit, which loses `loss` of both slices and acks; each is read
 * `readAfter` after it was complete.
 */
class Conversation {
  readonly figures: Figures[] = [];
  readonly #random: Random;
  readonly #sender: RepairSender;
  readonly #receiver = new RepairReceiver();
  readonly #flying: { readonly at: bigint; readonly packet: RepairSlice | RepairAck }[] = [];
  #now = 0n;
  #completed = 0;
  #read = 0;
  #readAt: bigint | null = null;

  constructor(
    profile: RatelessProfile,
    readonly loss: number,
    seed: number,
    readonly chunks: readonly Uint8Array[],
    readonly readAfter: bigint,
  ) {
    this.#random = new Random(seed);
    this.#sender = new RepairSender({ scheduler: new RatelessScheduler(profile) });
  }

  run(): Figures[] {
    while (this.#read < this.chunks.length || this.#sender.state === "SENDING") {
      this.#submit();
      this.#arrive();
      this.#readDue();
      this.#send();
      const { deadline } = this.#sender;
      const times = [deadline, this.#receiver.deadline, this.#flying[0]?.at ?? null, this.#readAt].filter((at) => at !== null);
      const isIdle = this.#sender.state === "IDLE" && this.figures.length < this.chunks.length;
      const next = isIdle ? this.#now : times.reduce((a, b) => (b < a ? b : a), 1n << 62n);
      assert.ok(next < 60_000_000n || this.#read === this.chunks.length, "no stall");
      this.#now = next;
    }
    return this.figures;
  }

  #submit(): void {
    const chunk = this.chunks[this.figures.length];
    if (this.#sender.state !== "IDLE" || chunk === undefined) return;
    this.#sender.submit(this.#now, chunk);
    this.figures.push({ submittedAt: this.#now, ms: 0, sent: 0 });
  }

  #arrive(): void {
    for (let next = this.#flying[0]; next !== undefined && next.at <= this.#now; next = this.#flying[0]) {
      this.#flying.shift();
      if (next.packet.type === "ack") this.#sender.ack(this.#now, next.packet);
      else if (["U1", "U6"].includes(this.#receiver.slice(this.#now, next.packet))) this.#complete();
    }
  }

  #complete(): void {
    const figures = this.figures[this.#completed++];
    if (figures !== undefined) figures.ms = Math.round(Number(this.#now - figures.submittedAt) / 1000);
    this.#readAt = this.#now + this.readAfter;
  }

  #readDue(): void {
    if (this.#readAt === null || this.#now < this.#readAt) return;
    const result = this.#receiver.read(this.#now);
    assert.ok(result.row === "U17");
    assert.deepEqual(result.chunk, this.chunks[this.#read++]);
    this.#readAt = null;
  }

  #send(): void {
    for (let r = this.#sender.poll(this.#now); r.packet !== null; r = this.#sender.poll(this.#now)) {
      const figures = this.figures.at(-1);
      if (figures !== undefined) figures.sent++;
      this.#post(r.packet);
    }
    for (const ack of pollRepairReceiver(this.#receiver, this.#now).packets) this.#post(ack);
  }

  #post(packet: RepairSlice | RepairAck): void {
    if (this.#random.next() >= this.loss) this.#flying.push({ at: this.#now + DELAY, packet });
  }
}

function transfer(profile: RatelessProfile, loss: number, seed: number, sizes: readonly number[], readAfter = 0n): Figures[] {
  return new Conversation(profile, loss, seed, sizes.map(pattern), readAfter).run();
}

test("what is needed (RPL-4)", () => {
  const rows = [
    [1, 16, 512, 1, 2],
    [2, 16, 512, 3, 3],
    [8, 16, 512, 9, 10],
    [32, 16, 512, 36, 37],
    [256, 16, 512, 281, 290],
    [256, 0, 4160, 256, 256],
    [256, 220, 4096, 281, 286],
    [20, 220, 4096, 23, 24],
    [256, 4096, 4096, 576, 608],
  ] as const;
  for (const [missing, lost, arrived, four, nine] of rows) {
    assert.equal(new LossEstimate(4, lost, arrived).need(missing), four);
    assert.equal(new LossEstimate(9, lost, arrived).need(missing), nine);
  }
});

test("what is counted", () => {
  const loss = new LossEstimate(4);
  loss.count(64, 0);
  assert.deepEqual([loss.lost, loss.arrived], [16, 512 + 1024]);
  loss.count(4, 6);
  assert.deepEqual([loss.lost, loss.arrived], [112, 1600]);
  loss.count(2, -2);
  assert.deepEqual([loss.lost, loss.arrived], [80, 1632], "what comes late takes its loss back");
  loss.count(1024, 0);
  assert.deepEqual([loss.lost, loss.arrived], [40, 9008], "halved");
});

test("a clean path: three round trips and a half while the limit opens, then less than one", () => {
  const [cold, warm] = transfer(ADAPTIVE, 0, 1, [262_144, 262_144]);
  assert.deepEqual([cold?.ms, cold?.sent], [185, 261]);
  assert.deepEqual([warm?.ms, warm?.sent], [43, 259]);
});

test("loss costs a warm chunk no round trip", () => {
  for (const loss of [0.05, 0.2]) {
    const ms = Array.from({ length: 20 }, (_, seed) => transfer(ADAPTIVE, loss, seed + 1, [262_144, 262_144])[1]?.ms ?? 0);
    ms.sort((a, b) => a - b);
    assert.ok((ms[10] ?? 0) < 43 + 20, `${100 * loss} %: ${ms.join(" ")}`);
  }
});

test("half is lost, in all profiles, and small chunks", () => {
  const profiles: RatelessProfile[] = [
    ADAPTIVE,
    { kind: "redundant", limit: 0 },
    { kind: "burst", limit: 0 },
    { kind: "fixed", limit: 50_000_000 },
    { kind: "adaptive", limit: 10_000_000 },
  ];
  for (const profile of profiles) transfer(profile, 0.5, 7, [100_000, 1, 3000, 1025, 262_144]);
});

test("a limit holds", () => {
  const [first] = transfer({ kind: "adaptive", limit: 8 * 1066 * 1000 }, 0, 1, [102_400]);
  assert.ok((first?.ms ?? 0) >= 124, `${first?.ms} ms for 100 slices, of which one goes out each ms`);
});

test("a slow reader: after a long hold one slice asks first", () => {
  const figures = transfer(ADAPTIVE, 0, 1, [262_144, 262_144, 262_144, 262_144], 400_000n);
  const sent = figures.map((figure) => figure.sent);
  assert.ok(sent.slice(2).every((n) => n < 300), sent.join(" "));
});

test("what a profile refuses", () => {
  for (const profile of [
    { kind: "fixed", limit: 0 },
    { kind: "burst", limit: 8527 },
    { kind: "adaptive", limit: 8e9 + 1 },
  ] as const) {
    assert.throws(() => new RatelessScheduler(profile), RangeError);
  }
});
