/** The operations of the port for channels (CHANNELS.md, appendix C; CHO-1). */

import { ChannelReceiver, type ChannelPoll, type ChannelRead } from "./channel-receiver.js";
import { ChannelSender, type SentRecord } from "./channel-sender.js";
import { channel, type Channel, type ChannelKind } from "./channels.js";
import { MOST_FIRST } from "./endpoint.js";
import { LONGEST_SAMPLE } from "./estimates.js";
import {
  demand,
  formatHex,
  integer,
  longWithin,
  micros,
  number,
  placed,
  readArray,
  readHex,
  readObject,
  readSample,
  Refusal,
  text,
  toNumber,
  within,
} from "./fields.js";
import type { Json, JsonObject } from "./json.js";
import { isWithin } from "./limits.js";
import type { Answer } from "./packet-port.js";
import {
  decodeRecords,
  encodeRecords,
  EVERY_CHANNEL,
  groupsOf,
  RecordError,
  sizeOf,
  type ChannelRecord,
  type Group,
} from "./records.js";
import { firstFrom, onWire, SPAN } from "./seq.js";

const MOST_SPACE = 65_535;

/** CHO-4, CHO-6. */
export function recordsEncode(request: JsonObject): Answer {
  const records = readArray(request["records"]).map((record) => readRecord(readObject(record)));
  return { hex: formatHex(placed(() => encodeRecords(records, EVERY_CHANNEL))) };
}

export function recordsDecode(request: JsonObject): Answer {
  const payload = readHex(request, "hex");
  return { records: placed(() => decodeRecords(payload, EVERY_CHANNEL)).map(describe) };
}

/** CHO-5. */
export function channelReport(request: JsonObject): Answer {
  const [id, base, room] = [number(request, "channel"), number(request, "base"), number(request, "room")];
  const missing = readArray(request["missing"]).map((sequence) => readAhead(sequence, base));
  demand(missing.every((n, i) => i === 0 || n > (missing[i - 1] ?? n)));
  const report = { type: "report", channel: id, base, room, groups: groupsOf(missing) } as const;
  return { hex: formatHex(placed(() => encodeRecords([report], EVERY_CHANNEL))) };
}

/** The number that a sequence means, from `base` on (CHO-5, CHO-6). */
function readAhead(value: Json, base: number): number {
  const sequence = toNumber(value);
  demand(isWithin(sequence, 0, SPAN - 1));
  return firstFrom(sequence, base);
}

/** The record of a request; its values need not be valid, for the encoder to refuse them, nor its type. */
export function readRecord(record: JsonObject): ChannelRecord {
  const type = text(record, "type") as ChannelRecord["type"];
  switch (type) {
    case "unreliable":
      return { type, channel: number(record, "channel"), data: readHex(record, "data") };
    case "message":
      return { type, channel: number(record, "channel"), sequence: number(record, "sequence"), data: readHex(record, "data") };
    case "fragment": {
      const [index, count] = [number(record, "index"), number(record, "count")];
      const [id, sequence] = [number(record, "channel"), number(record, "sequence")];
      return { type, channel: id, sequence, index, count, data: readHex(record, "data") };
    }
    case "skip":
      return { type, channel: number(record, "channel"), first: number(record, "first"), count: number(record, "count") };
    case "report": {
      const groups = readArray(record["groups"]).map(readGroup);
      return { type, channel: number(record, "channel"), base: number(record, "base"), room: number(record, "room"), groups };
    }
    case "status":
      return { type, channel: number(record, "channel"), next: number(record, "next") };
    default:
      return { type };
  }
}

function readGroup(value: Json): Group {
  const group = readArray(value);
  demand(group.length === 2);
  return [toNumber(group[0]), toNumber(group[1])];
}

/** CHO-4. */
export function describe(record: ChannelRecord): JsonObject {
  if ("data" in record) return { ...record, data: formatHex(record.data) };
  return { ...record };
}

/** CHO-7. */
export function channelReceiver(request: JsonObject): Answer {
  const limits = readChannel(readObject(request["config"]));
  const receiver = new ChannelReceiver(limits);
  return { steps: readArray(request["events"]).map((event) => run(receiver, limits, readObject(event))) };
}

function readChannel(config: JsonObject): Channel {
  const kind = text(config, "kind");
  demand(kind === "ordered" || kind === "unordered");
  return channel(kind as ChannelKind, { ...readSizes(config), first: number(config, "first") });
}

/** What every channel with a machine has. */
export function readSizes(config: JsonObject): { window: number; data: number; group: number; giveUp: bigint } {
  const [window, data, group] = [number(config, "window"), number(config, "data"), number(config, "group")];
  return { window, data, group, giveUp: integer(config, "give_up") };
}

function run(receiver: ChannelReceiver, limits: Channel, event: JsonObject): Json {
  const name = text(event, "event");
  switch (name) {
    case "record":
      return describeStep(receiver, limits, { row: arrive(receiver, limits, event) });
    case "read":
      return describeStep(receiver, limits, receiver.read(micros(event, "at")));
    case "poll":
      return describeStep(receiver, limits, receiver.poll(micros(event, "at"), within(event, "space", 0, MOST_SPACE)));
    case "path":
      micros(event, "at"); // CHO-11
      receiver.setPath(event["srtt"] === null ? null : readSample(event, "srtt"));
      return describeStep(receiver, limits, { row: null });
    default:
      throw new Refusal("unsupported");
  }
}

/** CHO-11, CHO-12. */
function arrive(receiver: ChannelReceiver, limits: Channel, event: JsonObject): string {
  const at = micros(event, "at");
  const record = readOnly(event, limits);
  switch (record?.type) {
    case "message":
    case "fragment":
      return receiver.data(at, record);
    case "skip":
      return receiver.skip(at, record);
    case "status":
      return receiver.status(at, record);
    default:
      throw new Refusal("bad_request");
  }
}

/** The one record of an event. */
function readOnly(event: JsonObject, limits: Channel): ChannelRecord | undefined {
  const payload = readHex(event, "hex");
  try {
    const [record, ...others] = decodeRecords(payload, new Map([[0, limits]]));
    demand(others.length === 0);
    return record;
  } catch (error) {
    if (error instanceof RecordError) throw new Refusal("bad_request");
    throw error;
  }
}

/** CHO-8. */
function describeStep(receiver: ChannelReceiver, limits: Channel, outcome: ChannelRead | ChannelPoll | { readonly row: string | null }): JsonObject {
  return {
    row: outcome.row,
    state: receiver.state,
    read: "data" in outcome ? describeRead(outcome.sequence, outcome.data) : null,
    report: "report" in outcome ? hexOf(outcome.report, limits) : null,
    deadline: receiver.deadline,
  };
}

export function describeRead(sequence: number, data: Uint8Array | null): JsonObject {
  return { sequence: onWire(sequence), ...(data === null ? { skipped: true } : { data: formatHex(data) }) };
}

/** CHO-9. */
export function channelSender(request: JsonObject): Answer {
  const config = readObject(request["config"]);
  const limits = channel("ordered", { ...readSizes(config), sendQueue: number(config, "send_queue"), first: number(config, "first") });
  const sender = new ChannelSender(limits);
  return { steps: readArray(request["events"]).map((event) => senderStep(sender, limits, readObject(event))) };
}

/** CHO-10. */
function senderStep(sender: ChannelSender, limits: Channel, event: JsonObject): Json {
  const { rows, refused = null, records = [] } = runSender(sender, limits, event);
  const { state, base, limit, deadline } = sender;
  return { rows, state, refused, records: records.map((record) => hexOf(record, limits)), base, limit, deadline };
}

function hexOf(record: ChannelRecord, limits: Channel): string {
  return formatHex(encodeRecords([record], new Map([[0, limits]])));
}

interface SenderOutcome {
  readonly rows: readonly string[];
  readonly refused?: string;
  readonly records?: readonly SentRecord[];
}

function runSender(sender: ChannelSender, limits: Channel, event: JsonObject): SenderOutcome {
  const name = text(event, "event");
  const at = micros(event, "at");
  switch (name) {
    case "send": {
      const { row, ...more } = sender.send(at, readHex(event, "data"), readLifetime(event));
      return { rows: [row], ...more };
    }
    case "report": {
      const record = readOnly(event, limits);
      if (record?.type !== "report") throw new Refusal("bad_request");
      return { rows: [sender.report(at, record, within(event, "number", 0, MOST_FIRST), within(event, "ack", -1, MOST_FIRST))] };
    }
    case "poll":
      return pollSender(sender, at, within(event, "number", 0, MOST_FIRST), within(event, "space", 0, MOST_SPACE));
    case "path":
      sender.setPath(event["srtt"] === null ? null : readSample(event, "srtt"), readSample(event, "patience"));
      return { rows: [] };
    default:
      throw new Refusal("unsupported");
  }
}

/** Null for a message that does not expire. */
export function readLifetime(event: JsonObject): bigint | null {
  return event["lifetime"] === null ? null : longWithin(event, "lifetime", 1n, LONGEST_SAMPLE);
}

function pollSender(sender: ChannelSender, at: bigint, packet: number, space: number): SenderOutcome {
  const [rows, records]: [string[], SentRecord[]] = [[], []];
  for (let left = space; ; ) {
    const polled = sender.poll(at, packet, left);
    rows.push(polled.row);
    if (!("record" in polled)) return { rows, records };
    records.push(polled.record);
    left -= sizeOf(polled.record);
  }
}
