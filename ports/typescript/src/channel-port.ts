/** The operations of the port for channels (CHANNELS.md, appendix C; CHO-1). */

import { ChannelReceiver, type ChannelPoll, type ChannelRead } from "./channel-receiver.js";
import { channel, type Channel, type ChannelKind } from "./channels.js";
import {
  demand,
  formatHex,
  integer,
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
  type ChannelRecord,
  type Group,
} from "./records.js";
import { onWire, SPAN } from "./seq.js";

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
  return base + onWire(sequence - base);
}

/** The record of a request; its values need not be valid, for the encoder to refuse them, nor its type. */
function readRecord(record: JsonObject): ChannelRecord {
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
function describe(record: ChannelRecord): JsonObject {
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
  return channel(kind as ChannelKind, {
    window: number(config, "window"),
    data: number(config, "data"),
    group: number(config, "group"),
    first: number(config, "first"),
    giveUp: integer(config, "give_up"),
  });
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
  const [record, ...others] = readRecords(readHex(event, "hex"), limits);
  demand(others.length === 0);
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

function readRecords(payload: Uint8Array, limits: Channel): ChannelRecord[] {
  try {
    return decodeRecords(payload, new Map([[0, limits]]));
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
    report: "report" in outcome ? formatHex(encodeRecords([outcome.report], new Map([[0, limits]]))) : null,
    deadline: receiver.deadline,
  };
}

function describeRead(sequence: number, data: Uint8Array | null): JsonObject {
  return { sequence: onWire(sequence), ...(data === null ? { skipped: true } : { data: formatHex(data) }) };
}
