import assert from "node:assert/strict";
import { test } from "node:test";
import {
  article,
  BaseScheduler,
  BURST,
  decodePacket,
  encodePacket,
  fixed,
  Receiver,
  Sender,
  type Deadline,
  type Packet,
  type Profile,
} from "chunkwire";
import { pollReceiver, pollSender } from "./support.js";

const PROTOCOL_ID = 0xc0ffee;

/** A link that loses, doubles, delays and reorders datagrams; times in microseconds. */
class Link {
  readonly #flying: { at: bigint; to: "sender" | "receiver"; datagram: Uint8Array }[] = [];
  #x = 88_172_645;

  constructor(
    readonly loss: number,
    readonly delay: number,
    readonly jitter: number,
  ) {}

  send(now: bigint, to: "sender" | "receiver", packet: Packet): void {
    if (this.random() < this.loss) return;
    const copies = this.random() < 0.05 ? 2 : 1;
    for (let i = 0; i < copies; i++) {
      const at = now + BigInt(this.delay + Math.floor(this.jitter * this.random()));
      this.#flying.push({ at, to, datagram: encodePacket(PROTOCOL_ID, packet) });
    }
    this.#flying.sort((a, b) => Number(a.at - b.at));
  }

  get deadline(): Deadline {
    return this.#flying[0]?.at ?? null;
  }

  /** Takes what has arrived. */
  *arrivals(now: bigint): Generator<[to: "sender" | "receiver", Packet]> {
    for (let next = this.#flying[0]; next !== undefined && next.at <= now; next = this.#flying[0]) {
      this.#flying.shift();
      const decoded = decodePacket(PROTOCOL_ID, next.datagram);
      assert.ok(decoded.ok);
      yield [next.to, decoded.packet];
    }
  }

  random(): number {
    this.#x ^= this.#x << 13;
    this.#x ^= this.#x >>> 17;
    this.#x ^= this.#x << 5;
    return (this.#x >>> 0) / 2 ** 32;
  }
}

/** Sends chunks of these sizes, each read after a while, and returns how long it took. */
function transfer(profile: Profile, link: Link, sizes: readonly number[]): bigint {
  const chunks = sizes.map((size, c) => Uint8Array.from({ length: size }, (_, i) => i * 7 + (i >> 8) + c));
  const sender = new Sender({ scheduler: new BaseScheduler(profile), firstChunkId: 65535 });
  const receiver = new Receiver({ firstChunkId: 65535 });
  const read: Uint8Array[] = [];
  let [now, submitted, delivered, readAt] = [0n, 0, 0, null as Deadline];

  while (delivered < chunks.length || read.length < chunks.length) {
    const chunk = chunks[submitted];
    if (sender.state === "IDLE" && chunk !== undefined) {
      assert.equal(sender.submit(now, chunk).row, "S1");
      submitted++;
    }
    for (const [to, packet] of link.arrivals(now)) {
      if (to === "receiver" && packet.type === "slice") receiver.slice(now, packet);
      if (to === "sender" && packet.type === "ack" && sender.ack(now, packet).row === "S10") delivered++;
    }
    for (const slice of pollSender(sender, now).slices) link.send(now, "receiver", slice);
    for (const ack of pollReceiver(receiver, now).packets) link.send(now, "sender", ack);
    if (receiver.state === "READY") readAt ??= now + 30_000n;
    if (readAt !== null && now >= readAt) {
      const result = receiver.read(now);
      assert.ok(result.row === "R16");
      read.push(result.chunk);
      readAt = null;
    }
    const deadlines = [sender.deadline, receiver.deadline, link.deadline, readAt].filter((at) => at !== null);
    if (sender.state === "IDLE" && submitted < chunks.length) continue;
    if (deadlines.length === 0) break;
    const next = deadlines.reduce((a, b) => (b < a ? b : a));
    if (next > now) now = next;
  }
  assert.deepEqual(read, chunks);
  assert.equal(delivered, chunks.length);
  return now;
}

const SIZES = [262_144, 1, 1024, 1025, 100_000];

for (const loss of [0, 0.01, 0.3]) {
  test(`burst, ${100 * loss} % lost`, () => {
    transfer(BURST, new Link(loss, 20_000, 5_000), SIZES);
  });
  test(`fixed rate, ${100 * loss} % lost`, () => {
    transfer(fixed(1_000_000), new Link(loss, 1_000, 50_000), SIZES);
  });
}

test("the rate of the article", () => {
  const took = transfer(article(125_000), new Link(0, 1_000, 0), [262_144]);
  assert.ok(took > 2_000_000n && took < 2_200_000n, `${took} us`);
});

test("a clean link takes one round trip and the burst", () => {
  const took = transfer(BURST, new Link(0, 1_000, 0), [262_144]);
  assert.ok(took < 60_000n, `${took} us`);
});
