import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  Client,
  Connection,
  Envelope,
  NAMED,
  RecordError,
  REPAIR,
  Server,
  type ChannelSpec,
  type ClientOptions,
  type EndOptions,
  type Peer,
  type ServerOptions,
} from "chunkwire";
import { Random } from "./support.js";

const MS = 1000n;
const SECOND = 1000n * MS;
const CHANNELS: Record<number, ChannelSpec> = { 0: { kind: "ordered" }, 1: { kind: "unreliable", priority: 9 }, 5: { kind: "unordered" } };

interface Wire {
  readonly loss?: number;
  readonly delay?: bigint;
}

/** A client and a server in virtual time, with a path between them. */
class World {
  now = 0n;
  readonly random: Random;
  readonly client: Client;
  readonly server: Server;
  here = "192.0.2.1:4000";
  peer: Peer | null = null;
  readonly events: string[] = [];
  #flying: { at: bigint; deliver: (now: bigint) => void }[] = [];

  constructor(
    seed: number,
    options: Partial<EndOptions> & Partial<ClientOptions> & Partial<ServerOptions> = {},
    readonly wire: Wire = {},
  ) {
    this.random = new Random(seed);
    const random = (size: number): Uint8Array => Uint8Array.from({ length: size }, () => this.random.below(256));
    this.client = new Client(0n, { random, channels: CHANNELS, ...options });
    this.server = new Server({ random, channels: CHANNELS, anonymous: true, ...options });
  }

  #fly(deliver: (now: bigint) => void): void {
    if (this.random.next() < (this.wire.loss ?? 0)) return;
    const at = this.now + (this.wire.delay ?? 10n * MS) + BigInt(this.random.below(5000));
    this.#flying.push({ at, deliver });
  }

  #poll(): void {
    const from = this.here;
    for (let out = this.client.poll(this.now); out !== null; out = this.client.poll(this.now)) {
      const { datagram } = out;
      this.#fly((now) => {
        const { answer, peer, event } = this.server.receive(now, from, datagram);
        if (event !== null) this.events.push(event);
        this.peer = peer ?? this.peer;
        if (answer !== null) this.#fly((later) => void this.client.receive(later, answer));
      });
    }
    for (let out = this.server.poll(this.now); out !== null; out = this.server.poll(this.now)) {
      const { to, datagram } = out;
      if (to === this.here) this.#fly((now) => void this.client.receive(now, datagram));
    }
  }

  /** Lets time pass until something holds, or for so long. */
  run(limit: bigint, until: () => boolean = () => false): boolean {
    const end = this.now + limit;
    for (;;) {
      this.#poll();
      if (until()) return true;
      const times = [this.client.deadline, this.server.deadline, ...this.#flying.map(({ at }) => at)];
      const next = times.reduce<bigint>((first, at) => (at !== null && at < first ? at : first), end);
      if (next >= end) return false;
      assert.ok(next >= this.now, "no deadline lies in the past");
      this.now = next;
      const here = this.#flying.filter(({ at }) => at <= this.now);
      this.#flying = this.#flying.filter(({ at }) => at > this.now);
      for (const { deliver } of here) deliver(this.now);
    }
  }

  open(): this {
    assert.ok(this.run(5n * SECOND, () => this.client.state === "OPEN" && this.peer !== null));
    return this;
  }
}

function bytes(size: number, random: Random): Uint8Array {
  return Uint8Array.from({ length: size }, () => random.below(256));
}

describe("through loss", () => {
  for (const variants of [NAMED, REPAIR]) {
    for (const [lanes, loss] of [[1, 0], [1, 0.1], [3, 0.1]] as const) {
      test(`chunks and messages both ways: variant ${variants}, ${lanes} lanes, loss ${loss}`, () => {
        const w = new World(variants + lanes, { variants, lanes }, { loss });
        w.open();
        const connection = w.peer!.connection;
        const [up, down] = [bytes(200_000, w.random), bytes(70_000, w.random)];
        for (const chunk of [up, down]) assert.equal(w.client.sendChunk(w.now, chunk), null);
        assert.equal(connection.sendChunk(w.now, down), null);
        for (let i = 0; i < 100; i++) {
          w.client.send(w.now, 0, Uint8Array.of(i));
          connection.send(w.now, 5, Uint8Array.of(i, 1));
        }
        const chunks: Uint8Array[] = []; // a lane takes the next one when the one before was read
        const isDone = (): boolean => {
          const chunk = connection.readChunk(w.now);
          if (chunk !== null) chunks.push(chunk);
          return w.client.connection!.isDelivered && connection.isDelivered && chunks.length === 2;
        };
        assert.ok(w.run(20n * SECOND, isDone));
        assert.deepEqual(chunks, [up, down]);
        assert.deepEqual(w.client.readChunk(w.now), down);
        const read = Array.from({ length: 100 }, () => connection.read(w.now, 0)?.data?.[0]);
        assert.deepEqual(read, Array.from({ length: 100 }, (_, i) => i));
        const others = Array.from({ length: 100 }, () => w.client.read(w.now, 5)?.data?.[0] ?? -1);
        assert.deepEqual(others.sort((a, b) => a - b), Array.from({ length: 100 }, (_, i) => i));
      });
    }
  }

  test("large unreliable messages go alone, in fragments", () => {
    const w = new World(3).open();
    const message = bytes(16_380, w.random);
    w.client.send(w.now, 0, Uint8Array.of(1));
    assert.equal(w.client.send(w.now, 1, message), null);
    assert.equal(w.client.send(w.now, 1, bytes(16_381, w.random)), "message_size");
    assert.equal(w.client.send(w.now, 2, Uint8Array.of(1)), "unknown_channel");
    w.run(SECOND, () => w.client.connection!.isDelivered);
    w.run(SECOND);
    assert.deepEqual(w.peer!.connection.read(w.now, 1)?.data, message);
  });
});

describe("the life of a connection", () => {
  test("each end knows the round trip, and what the other clock shows", () => {
    const w = new World(11, {}, { loss: 0.1 }).open();
    w.run(5n * SECOND);
    for (const { remote } of [w.client.connection!, w.peer!.connection]) {
      assert.ok(remote !== null && remote.rtt >= 20n * MS && remote.rtt <= 31n * MS, `the round trip is ${remote?.rtt} us`);
      assert.ok(remote.low <= 0n && remote.high >= 0n && remote.high - remote.low <= remote.rtt, "they have the same clock here");
    }
  });

  test("a client that closes says why, and both end", () => {
    const w = new World(4, {}, { loss: 0.2 }).open();
    assert.throws(() => w.client.close(w.now, 255), RecordError);
    assert.throws(() => w.client.close(w.now, 256, "x".repeat(129)), RecordError);
    w.client.close(w.now, 300, "Tschüß");
    assert.equal(w.client.state, "CLOSING");
    assert.equal(w.client.send(w.now, 0, Uint8Array.of(1)), "ended");
    w.run(3n * SECOND);
    assert.equal(w.client.state, "CLOSED");
    assert.deepEqual(w.peer!.connection.ended, { why: "closed", code: 300, text: "Tschüß", remote: true });
    assert.deepEqual(w.client.ended, { why: "closed", code: 300, text: "Tschüß", remote: false });
    assert.equal(w.server.peers.length, 0);
  });

  test("a client that moves goes on from there", () => {
    const w = new World(5).open();
    w.client.sendChunk(w.now, bytes(100_000, w.random));
    w.run(20n * MS);
    w.here = "198.51.100.7:5";
    w.client.move(w.now);
    assert.ok(w.client.connection!.isMoving);
    assert.ok(w.run(5n * SECOND, () => w.client.connection!.isDelivered));
    assert.deepEqual(w.events, ["accepted", "moved"]);
    assert.equal(w.peer!.address, w.here);
    assert.equal(w.peer!.connection.readChunk(w.now)?.length, 100_000);
  });

  test("a client whose address changes in silence finds that out", () => {
    const w = new World(6).open();
    w.run(SECOND);
    w.here = "198.51.100.7:5";
    w.client.send(w.now, 0, Uint8Array.of(1));
    assert.ok(w.run(6n * SECOND, () => w.client.connection!.isDelivered));
    assert.deepEqual(w.events, ["accepted", "moved"]);
  });

  test("an end that hears nothing gives up", () => {
    const wire = { loss: 0 };
    const w = new World(7, { timeout: 2n * SECOND }, wire).open();
    wire.loss = 1;
    w.run(3n * SECOND);
    assert.equal(w.client.state, "CLOSED");
    assert.equal(w.client.ended?.why, "timeout");
    assert.deepEqual(w.peer!.connection.ended, { why: "timeout" });
  });

  test("another connection of the same identity takes its place", () => {
    const w = new World(8);
    const [identity, key] = [Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8), bytes(32, w.random)];
    const first = new World(9, { identity, key, keys: [{ identity, key }], anonymous: false }).open();
    const before = first.peer!;
    first.run(50n * MS);
    const random = (size: number): Uint8Array => bytes(size, w.random);
    const other = new Client(first.now, { random, channels: CHANNELS, identity, key });
    for (let out = other.poll(first.now); out !== null && other.state !== "OPEN"; out = other.poll(first.now)) {
      const { answer } = first.server.receive(first.now, "192.0.2.9:9", out.datagram);
      if (answer !== null) other.receive(first.now, answer);
    }
    assert.equal(other.state, "OPEN");
    assert.deepEqual(before.connection.ended, { why: "ended" });
    first.run(15n * SECOND);
    assert.equal(first.client.state, "CLOSED");
    assert.deepEqual(first.client.ended, { why: "refused", reason: 9, proven: true });
  });

  test("a client that is not let in knows why, and sends nothing before", () => {
    const w = new World(10, { anonymous: false });
    assert.equal(w.client.send(0n, 0, Uint8Array.of(1)), "linking");
    w.run(5n * SECOND);
    assert.equal(w.client.state, "CLOSED");
    assert.deepEqual(w.client.ended, { why: "refused", reason: 2, proven: false });
    assert.equal(w.client.send(w.now, 0, Uint8Array.of(1)), "ended");
    assert.equal(w.client.deadline, null);
  });
});

test("a peer that acks what it did not get is found (CXM-19)", () => {
  const key = new Uint8Array(32);
  const agreed = { lanes: 1, variant: REPAIR, extensions: 0, timeout: 100 };
  const a = new Connection(0n, new Envelope("mac", 1, key, key), { side: "server", agreed, seed: new Uint8Array(16) });
  const liar = new Connection(0n, new Envelope("mac", 1, key, key), { side: "client", agreed });
  a.sendChunk(0n, new Uint8Array(30_000));
  const sent: Uint8Array[] = [];
  for (let now = 0n; sent.length < 20; now += MS) {
    const { datagram } = a.poll(now);
    if (datagram !== null) sent.push(datagram);
  }
  for (const datagram of sent) assert.equal(liar.receive(100n * MS, datagram).refused, null);
  const honest = liar.poll(100n * MS).datagram!;
  assert.equal(a.receive(100n * MS, honest).row, "K3");
  // All bits of the header are set, also those of the numbers that belong to no packet.
  const envelope = new Envelope("mac", 1, key, key);
  for (let i = 0; i < 9; i++) envelope.seal(Uint8Array.of(0));
  const lie = envelope.seal(Uint8Array.of(0x00, 0x09, 0x00, 0x0f, 0x00, 0x00));
  assert.deepEqual(a.receive(101n * MS, lie).row, "K23");
  assert.deepEqual(a.ended, { why: "lied" });
});
