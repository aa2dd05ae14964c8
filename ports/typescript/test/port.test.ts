import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { EXAMPLES } from "./examples.js";

const PORT = fileURLToPath(new URL("../port.js", import.meta.url));

/** The lines that the port answers to these. */
function ask(input: string): string[] {
  const { status, stdout, stderr } = spawnSync(process.execPath, [PORT], { input, encoding: "utf8" });
  assert.equal(stderr, "");
  assert.equal(status, 0);
  return stdout.split("\n").slice(0, -1);
}

test("the examples of the document", () => {
  const requests = EXAMPLES.map(([request]) => `${request}\n`).join("");
  assert.deepEqual(ask(requests), EXAMPLES.map(([, response]) => response));
});

test("what is not a request", () => {
  const bad = ["", "x", "[1]", '{"op":"nope"}', '{"id":"1","op":"nope"}', '{"id":1.5,"op":"nope"}', '{"id":1', "{}{}"];
  assert.deepEqual(ask(`${bad.join("\n")}\n`), bad.map(() => '{"id":null,"ok":false,"error":"bad_request"}'));
  const known: readonly [request: string, error: string][] = [
    ['{"id":1,"op":"nope"}', "unsupported"],
    ['{"id":1}', "bad_request"],
    ['{"id":1,"op":"encode_body"}', "bad_request"],
    ['{"id":1,"op":"decode_body","type":"ack","hex":"AB"}', "bad_request"],
    ['{"id":1,"op":"decode_packet","protocol_id":4294967296,"hex":""}', "bad_request"],
    ['{"id":1,"op":"decode_packet","protocol_id":1,"hex":""}', "truncated"],
    ['{"id":1,"op":"encode_body","packet":{"type":"ack","chunk_id":65536,"acked":"1"}}', "invalid_field"],
    ['{"id":1,"op":"encode_body","packet":{"type":"x","chunk_id":1}}', "invalid_field"],
    ['{"id":1,"op":"receiver","config":{"first_chunk_id":0,"give_up_us":1},"events":[{"at":0,"event":"x"}]}', "unsupported"],
  ];
  const answers = ask(known.map(([request]) => `${request}\n`).join(""));
  assert.deepEqual(answers, known.map(([, error]) => `{"id":1,"ok":false,"error":"${error}"}`));
});

test("traces that are not valid", () => {
  const config = { first_chunk_id: 0, give_up_us: 10 };
  const profile = { rate: 1066, cap: 1066, burst: 1066, acks_pay: true, spacing_us: 0, resend_delay_us: 0 };
  const sender = (event: object): object => ({ op: "sender", config: { ...config, profile }, events: [{ at: 0, ...event }] });
  const paced = (figures: object): object => ({ op: "sender", config: { ...config, profile: { ...profile, ...figures } }, events: [] });
  const scripted = (due: unknown): object => {
    const submit = { at: 0, event: "submit", size: 1 };
    return { op: "sender", config: { ...config, profile: null }, events: [submit, { at: 0, event: "poll", due }] };
  };
  const receiver = (event: object): object => {
    const slice = { at: 0, event: "slice", chunk_id: 0, slice_id: 0, num_slices: 1, size: 1 };
    return { op: "receiver", config, events: [{ ...slice, ...event }] };
  };
  const good = [sender({ event: "submit", size: 524_288 }), paced({ rate: 0 }), scripted([0, 0]), scripted([]), receiver({ fill: 255 })];
  const bad = [
    sender({ event: "submit", size: 524_289 }),
    sender({ event: "submit", size: -1 }),
    sender({ event: "ack", chunk_id: 0, acked: "" }),
    sender({ event: "ack", chunk_id: 0, acked: "12" }),
    sender({ event: "ack", chunk_id: 65_536, acked: "1" }),
    sender({ event: "poll", at: -1 }),
    sender({ event: "poll", due: [0] }),
    paced({ rate: 1065 }),
    paced({ rate: 1_000_000_001 }),
    paced({ cap: 1065 }),
    paced({ burst: 1067 }),
    paced({ spacing_us: -1 }),
    paced({ spacing_us: 1_000_000_001 }),
    paced({ resend_delay_us: 1_000_000_001 }),
    scripted([1]),
    scripted(null),
    receiver({ size: 1025 }),
    receiver({ slice_id: 1 }),
    receiver({ fill: 256 }),
    receiver({ fill: null }),
    receiver({ at: 2 ** 62 }),
  ];
  const toLine = (request: object): string => JSON.stringify({ id: 1, ...request }).replace(String(2 ** 62), String(1n << 62n));
  const answers = ask(`${[...good, ...bad].map(toLine).join("\n")}\n`);
  for (const answer of answers.slice(0, good.length)) assert.match(answer, /^\{"id":1,"ok":true,/);
  assert.deepEqual(answers.slice(good.length), bad.map(() => '{"id":1,"ok":false,"error":"bad_request"}'));
});

test("what the packet layer refuses", () => {
  const header = { op: "packet_header", sequence: 1, ack: 0, ack_bits: 0 };
  const packet = { op: "packet_decode", fragment_size: 1160, max_fragments: 1, hex: "20640001ff" };
  const limits = { fragment_size: 4, max_fragments: 4, fragment_above: 4, next_to_send: 0, next_to_receive: 0 };
  const send = { at: 0, event: "send", payload: "01" };
  const endpoint = (config: object, event: object = {}): object => ({ op: "packet_endpoint", config: { ...limits, ...config }, events: [{ ...send, ...event }] });
  const conditions = { at: 0, srtt: null, silent: false };
  const congestion = (event: object): object => ({ op: "packet_congestion", config: { profile: "default" }, events: [{ ...conditions, ...event }] });
  const good = [header, packet, endpoint({}), endpoint({ next_to_send: 2 ** 32 }), congestion({ srtt: 2 ** 40, min_rtt: 0 })];
  const bad = [
    { ...header, sequence: "1" },
    { ...header, ack: null },
    { ...packet, fragment_size: 1161 },
    { ...packet, max_fragments: 0 },
    { ...packet, hex: "F0" },
    endpoint({ fragment_size: 5 }),
    endpoint({ max_fragments: 1 }),
    endpoint({ fragment_above: 1161 }),
    endpoint({ next_to_receive: 2 ** 32 + 1 }),
    endpoint({}, { at: -1 }),
    endpoint({}, { payload: "0" }),
    endpoint({}, { event: "receive" }),
    congestion({ srtt: 2 ** 40 + 1 }),
    congestion({ srtt: undefined }),
    congestion({ min_rtt: null }),
    congestion({ silent: 0 }),
    { ...congestion({}), config: { profile: "GOOD" } },
  ];
  const answers = ask([...good, ...bad].map((request) => `${JSON.stringify({ id: 1, ...request })}\n`).join(""));
  for (const answer of answers.slice(0, good.length)) assert.match(answer, /^\{"id":1,"ok":true,/);
  assert.deepEqual(answers.slice(good.length), bad.map(() => '{"id":1,"ok":false,"error":"bad_request"}'));
  const placed = [{ ...header, sequence: 65_536 }, { ...packet, hex: "20640001" }, endpoint({}, { event: "read" })];
  assert.deepEqual(ask(placed.map((request) => `${JSON.stringify({ id: 1, ...request })}\n`).join("")), [
    '{"id":1,"ok":false,"error":"invalid_field","at":-1}',
    '{"id":1,"ok":false,"error":"empty_payload","at":4}',
    '{"id":1,"ok":false,"error":"unsupported"}',
  ]);
});

test("integers beyond 2^53 are exact, and the last line needs no line feed", () => {
  const request =
    '{"id":9007199254740993,"op":"sender","config":{"first_chunk_id":0,"give_up_us":2305843009213693952,"profile":null},' +
    '"events":[{"at":5,"event":"submit","size":10},{"at":6,"event":"submit","size":524288}]}';
  const [answer = ""] = ask(request);
  assert.match(answer, /^\{"id":9007199254740993,.*"deadline_us":2305843009213693957,.*"error":"busy"\}\]\}$/);
});

test("thousands of lines", () => {
  const [[request = "", response = ""] = []] = EXAMPLES;
  const answers = ask(`${request}\n`.repeat(5000));
  assert.equal(answers.length, 5000);
  assert.ok(answers.every((answer) => answer === response));
});

test("what the channels refuse", () => {
  const message = { type: "message", channel: 63, sequence: 0, data: "61" };
  const report = { type: "report", channel: 0, base: 0, room: 16_384, groups: [[0, 0]] };
  const encode = (...records: unknown[]): object => ({ op: "records_encode", records });
  const missing = (...sequences: unknown[]): object => ({ op: "channel_report", channel: 0, base: 65_535, room: 10, missing: sequences });
  const config = { kind: "ordered", window: 32, data: 4, group: 4, first: 0, give_up: 1_000_000 };
  const receiver = (event: object, limits: object = {}): object => ({
    op: "channel_receiver",
    config: { ...config, ...limits },
    events: [{ at: 0, ...event }],
  });
  const record = (bytes: string): object => receiver({ event: "record", hex: bytes });
  const good = [
    encode(message, report),
    missing(65_535, 0, 8),
    missing(),
    record("02000000010061"),
    receiver({ event: "poll", space: 65_535 }),
    receiver({ event: "path", srtt: null }),
  ];
  const bad = [
    encode({ ...message, channel: 64 }, { ...message, sequence: 1.5 }),
    encode({ ...message, data: "6A" }),
    encode({ ...report, groups: [[1]] }),
    encode({ ...report, groups: [1] }),
    encode({ channel: 0 }),
    encode(null),
    missing(65_535, 65_535),
    missing(0, 65_535),
    missing(65_536),
    missing("0"),
    record("02010000010061"),
    record("0200000001006102000000010061"),
    record("00"),
    record("0100010061"),
    record("05000000000000"),
    record("020000000500" + "00".repeat(5)),
    receiver({ event: "poll", space: 65_536 }),
    receiver({ event: "path" }),
    receiver({ event: "path", srtt: 2 ** 40 + 1 }),
    receiver({ event: "read", at: -1 }),
    receiver({ event: "read" }, { kind: "unreliable" }),
    receiver({ event: "read" }, { window: 33 }),
    receiver({ event: "read" }, { give_up: 1 }),
  ];
  const line = (request: object): string => `${JSON.stringify({ id: 1, ...request })}\n`;
  const answers = ask([...good, ...bad].map(line).join(""));
  for (const answer of answers.slice(0, good.length)) assert.match(answer, /^\{"id":1,"ok":true,/);
  assert.deepEqual(answers.slice(good.length), bad.map(() => '{"id":1,"ok":false,"error":"bad_request"}'));
  const placed = [encode(message, { type: "ack" }), encode(), missing(0), { op: "records_decode", hex: "0000" }, receiver({ event: "send" })];
  assert.deepEqual(ask(placed.map(line).join("")), [
    '{"id":1,"ok":false,"error":"unknown_record","at":7}',
    '{"id":1,"ok":false,"error":"truncated","at":0}',
    '{"id":1,"ok":false,"error":"group_base","at":7}',
    '{"id":1,"ok":false,"error":"unknown_record","at":0}',
    '{"id":1,"ok":false,"error":"unsupported"}',
  ]);
});
