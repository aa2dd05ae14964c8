import assert from "node:assert/strict";
import { test } from "node:test";
import {
  addressBytes,
  channel,
  decodeSession,
  Envelope,
  formatOf,
  publicShare,
  REASONS,
  SessionClient,
  SessionError,
  SessionServer,
  type SessionServerOptions,
  type Terms,
} from "chunkwire";
import { hex, Random } from "./support.js";

const MS = 1000n;
const TERMS: Terms = { protocol: 7, mode: "aead", lanes: 1, variants: 3, extensions: 0, timeout: 100, format: formatOf(new Map()) };
const HERE = addressBytes("192.0.2.1:4000");

function source(seed: number): (size: number) => Uint8Array {
  const random = new Random(seed);
  return (size) => Uint8Array.from({ length: size }, () => random.below(256));
}

function serverOf(options: Partial<SessionServerOptions> = {}): SessionServer {
  return new SessionServer({ terms: TERMS, random: source(1), anonymous: true, ...options });
}

/** Lets the two exchange messages until the client has nothing to send. */
function link(now: bigint, client: SessionClient, server: SessionServer, address = HERE): void {
  for (let poll = client.poll(now); poll.datagram !== null || poll.row === "I16"; poll = client.poll(now)) {
    if (poll.datagram === null) continue;
    const { answer } = server.receive(now, address, poll.datagram);
    if (answer !== null) client.receive(now, answer);
  }
}

function codeOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof SessionError) return `${error.code} ${error.at}`;
    throw error;
  }
  return "";
}

test("both ends have the same keys, in each mode and with a key of the server", () => {
  const secret = source(5)(32);
  const identity = Uint8Array.of(1, 0, 0, 0, 0, 0, 0, 0);
  const key = source(6)(32);
  const whole = { terms: TERMS, keys: [{ identity, key }], secret };
  for (const [mode, server, client] of [
    ["crc", {}, {}],
    ["mac", {}, {}],
    ["aead", whole, { identity, key, server: publicShare(secret) }],
  ] as const) {
    const terms = { ...TERMS, mode };
    const c = new SessionClient(0n, { terms, random: source(2), ...client });
    const s = serverOf({ ...server, terms });
    link(0n, c, s);
    assert.equal(c.state, "OPEN");
    const [entry] = s.entries;
    const sealed = c.envelope!.seal(Uint8Array.of(1, 2, 3));
    assert.deepEqual([...entry!.envelope.open(sealed).body], [1, 2, 3]);
    assert.deepEqual([...c.envelope!.open(entry!.envelope.seal(Uint8Array.of(4))).body], [4]);
    assert.equal(codeOf(() => entry!.envelope.open(sealed)), "duplicate 5");
    assert.equal(s.data(0n, entry!), "J9");
  }
});

test("a client with another key of the server, or another secret, gets no connection", () => {
  const identity = Uint8Array.of(9, 0, 0, 0, 0, 0, 0, 0);
  for (const other of [{ server: publicShare(source(8)(32)) }, { identity, key: source(9)(32) }]) {
    const c = new SessionClient(0n, { terms: TERMS, random: source(2), ...other });
    const s = serverOf({ secret: source(5)(32), keys: [{ identity, key: source(10)(32) }] });
    link(0n, c, s);
    assert.equal(s.entries.length, 0);
    link(1000n * MS, c, s);
    assert.deepEqual(c.ended, { why: "refused", reason: REASONS.identity, proven: false });
  }
});

test("a client that hears nothing links again, from where it is now", () => {
  const [c, s] = [new SessionClient(0n, { terms: TERMS, random: source(2) }), serverOf()];
  link(0n, c, s);
  const [entry] = s.entries;
  s.data(0n, entry!);
  c.sent(MS);
  assert.equal(c.deadline, 3000n * MS); // SILENCE
  const there = addressBytes("[2001:db8::1]:9");
  link(3000n * MS, c, s, there);
  assert.equal(c.state, "OPEN");
  assert.equal(hex(entry!.address), hex(there));
  assert.equal(s.entries.length, 1);
  assert.equal(c.poll(13_000n * MS).row, "I15");
  assert.deepEqual(c.ended, { why: "timeout", reason: 0, proven: false });
});

test("what is refused is refused by its reason", () => {
  const channels = new Map([[3, channel("ordered")]]);
  const others: readonly [Partial<Terms>, number][] = [
    [{ protocol: 8 }, REASONS.protocol],
    [{ mode: "mac" }, REASONS.mode],
    [{ format: formatOf(channels) }, REASONS.format],
    [{ variants: 4 }, REASONS.variant],
  ];
  for (const [other, reason] of others) {
    const c = new SessionClient(0n, { terms: { ...TERMS, ...other }, random: source(2) });
    link(0n, c, serverOf());
    assert.equal(c.ended?.reason, reason);
  }
});

test("a server forgets: half a connection after 5 s, an ended one after 10 s", () => {
  const [c, s] = [new SessionClient(0n, { terms: TERMS, random: source(2) }), serverOf()];
  link(0n, c, s);
  assert.equal(s.deadline, 5000n * MS);
  s.data(0n, s.entries[0]!);
  assert.equal(s.deadline, null);
  s.end(MS, s.entries[0]!, REASONS.closed);
  assert.deepEqual(s.poll(10_000n * MS), []);
  assert.deepEqual(s.poll(10_001n * MS), ["J27"]);
});

test("an envelope tells 2,048 counters apart, and a forged datagram changes nothing (CXE-8)", () => {
  const key = source(3)(32);
  const [a, b] = [new Envelope("mac", 5, key, key), new Envelope("mac", 5, key, key)];
  const sealed = Array.from({ length: 2050 }, (_, i) => a.seal(Uint8Array.of(i)));
  const forged = Uint8Array.from(sealed[2049]!);
  forged[forged.length - 1]! ^= 1;
  assert.equal(codeOf(() => b.open(forged)), "tag 10");
  b.open(sealed[2048]!);
  assert.equal(codeOf(() => b.open(sealed[0]!)), "stale 5");
  assert.equal(b.open(sealed[1]!).counter, 1n);
  assert.equal(codeOf(() => b.open(sealed[1]!)), "duplicate 5");
  assert.equal(codeOf(() => new Envelope("mac", 6, key, key).open(sealed[1]!)), "unknown_link 1");
  assert.equal(codeOf(() => new Envelope("aead", 5, key, key).open(sealed[1]!)), "mode 0");
});

test("what arrives is copied: a driver can use its buffer again", () => {
  const [c, s] = [new SessionClient(0n, { terms: TERMS, random: source(2) }), serverOf()];
  const buffer = Buffer.alloc(200);
  const give = (datagram: Uint8Array): Buffer => (buffer.set(datagram), buffer.subarray(0, datagram.length));
  const challenge = s.receive(0n, HERE, give(c.poll(0n).datagram!)).answer!;
  c.receive(0n, give(challenge));
  buffer.fill(0);
  const linked = s.receive(0n, HERE, give(c.poll(0n).datagram!)).answer!;
  c.receive(0n, give(linked));
  assert.equal(c.state, "OPEN");
  assert.equal(codeOf(() => decodeSession(linked.subarray(1))), "unknown_kind 0");
});

test("addresses (CXN-7)", () => {
  const mapped = "00000000000000000000ffff";
  assert.equal(hex(addressBytes("192.0.2.1:40000")), `${mapped}c0000201409c`);
  assert.equal(hex(addressBytes("[::ffff:192.0.2.1]:40000")), `${mapped}c0000201409c`);
  assert.equal(hex(addressBytes("[2001:db8::1]:1")), "20010db8000000000000000000000001" + "0100");
  const texts = ["192.0.2.01:1", "192.0.2.256:1", "1.2.3:1", "1.2.3.4:65536", "[1::2::3]:1", "[1:2:3:4:5:6:7:8::]:1", "[1.2.3.4::]:1", "[fe80::1%a]:1", "2001:db8::1:1", "pipe"];
  assert.equal(new Set(texts.map((text) => hex(addressBytes(text)))).size, texts.length);
  for (const text of texts) assert.notEqual(hex(addressBytes(text)).slice(0, 24), mapped);
});
