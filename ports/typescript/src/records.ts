/** Records of channels (CHANNELS.md, section 3), and the groups of a report (section 5.5). */

import { channel as parameters, isReliable, MOST_GROUPS, MOST_SKIP, mostFragments, type Channel } from "./channels.js";
import type { DecodeErrorCode } from "./codec.js";
import { isWithin } from "./limits.js";
import { concat } from "./packets.js";
import { onWire } from "./seq.js";

/** The payload that says nothing (3.1). */
export interface PadRecord {
  readonly type: "pad";
}

/** A message of an unreliable channel. */
export interface UnreliableRecord {
  readonly type: "unreliable";
  readonly channel: number;
  readonly data: Uint8Array;
}

/** A message in one record. */
export interface MessageRecord {
  readonly type: "message";
  readonly channel: number;
  readonly sequence: number;
  readonly data: Uint8Array;
}

/** Part `index` of the `count` of a message (CHR-9). */
export interface FragmentRecord {
  readonly type: "fragment";
  readonly channel: number;
  readonly sequence: number;
  readonly index: number;
  readonly count: number;
  readonly data: Uint8Array;
}

/** The `count` sequences from `first` on have expired (CHR-10). */
export interface SkipRecord {
  readonly type: "skip";
  readonly channel: number;
  readonly first: number;
  readonly count: number;
}

/** A start, and 32 bits for the sequences below it (CHR-3). */
export type Group = readonly [start: number, bits: number];

/** What has come, what is missing, and what may be sent (CHR-3). */
export interface ReportRecord {
  readonly type: "report";
  readonly channel: number;
  readonly base: number;
  readonly room: number;
  readonly groups: readonly Group[];
}

/** All sequences below `next`, and none from it on, have been sent (CHR-11). */
export interface StatusRecord {
  readonly type: "status";
  readonly channel: number;
  readonly next: number;
}

export type ChannelRecord =
  | PadRecord
  | UnreliableRecord
  | MessageRecord
  | FragmentRecord
  | SkipRecord
  | ReportRecord
  | StatusRecord;

/** A record that belongs to a channel. */
type Carried = Exclude<ChannelRecord, PadRecord>;

/** The channels that are configured, by their ids. */
export type Channels = ReadonlyMap<number, Channel>;

/** What codecs of records refuse (CHANNELS.md, appendix B; CONNECTION.md, appendix B). */
export type RecordErrorCode =
  | "truncated"
  | "unknown_record"
  | "unknown_channel"
  | "channel_kind"
  | "length"
  | "fragment_count"
  | "fragment_index"
  | "room"
  | "group_count"
  | "group_start"
  | "group_order"
  | "group_bits"
  | "group_base"
  | "invalid_field"
  | "not_alone"
  | "text"
  | "lane"
  | "reserved"
  | "lie"
  | "trailing_data"
  | DecodeErrorCode;

export class RecordError extends Error {
  override readonly name = "RecordError";

  /** @param at - the byte of the payload where the fault lies */
  constructor(
    readonly code: RecordErrorCode,
    readonly at: number,
  ) {
    super(`${code} at byte ${at}`);
  }
}

/** The most of channels. */
export const MOST_CHANNELS = 64;

/** All 64 channels, each of which takes every record (CHO-3). */
export const EVERY_CHANNEL = "every channel";

const WIDEST = parameters("ordered", { window: 16_384 });
const MOST_LENGTH = 65_535;
/** Sequences below its start that a group can name. */
const FLAGS = 32;

/** Each type at its number on the wire (CHR-8). */
const TYPES: readonly ChannelRecord["type"][] = ["pad", "unreliable", "message", "fragment", "skip", "report", "status"];

/** All records of a payload; their data lie in it. Throws {@link RecordError} (CHR-1, CHR-2, CHR-12). */
export function decodeRecords(payload: Uint8Array, channels: Channels | typeof EVERY_CHANNEL): ChannelRecord[] {
  check(payload.length > 0, "truncated", 0); // CHR-20
  if (payload.length === 1 && payload[0] === 0) return [{ type: "pad" }];
  const reader = new Reader(payload);
  const records: ChannelRecord[] = [];
  while (reader.left > 0) records.push(readRecord(reader, channels));
  return records;
}

/** The payload of some records; throws {@link RecordError} for what a decoder would refuse (CHR-7). */
export function encodeRecords(records: readonly ChannelRecord[], channels: Channels | typeof EVERY_CHANNEL): Uint8Array {
  check(records.length > 0, "truncated", 0);
  if (records.length === 1 && records[0]?.type === "pad") return Uint8Array.of(0);
  const writer = new Writer();
  for (const record of records) writeRecord(writer, record, channels);
  return concat(...writer.parts);
}

/** Whether a payload of these records asks for no ack (CHR-4). */
export function isQuiet(records: readonly ChannelRecord[]): boolean {
  return records.every(({ type }) => type === "pad" || type === "report");
}

/** The first `most` groups that name these numbers, which ascend (CHV-6). */
export function groupsOf(missing: readonly number[], most: number = MOST_GROUPS): Group[] {
  const groups: Group[] = [];
  for (let last = missing.length - 1; last >= 0; ) {
    const n = missing[last--] ?? 0;
    let bits = 0;
    for (let m = missing[last]; m !== undefined && m >= n - FLAGS; m = missing[--last]) bits += 2 ** (n - 1 - m);
    groups.unshift([onWire(n), bits]);
  }
  return groups.slice(0, most);
}

/** How far above the base of a report each sequence lies that it names. */
export function missingOf({ base, groups }: ReportRecord): number[] {
  return groups.flatMap(([start, bits]) => {
    const distance = onWire(start - base);
    const below = Array.from({ length: FLAGS }, (_, i) => i).filter((i) => (bits >>> i) & 1);
    return [distance, ...below.map((i) => distance - 1 - i)];
  });
}

/** The bytes of a record (CHR-8). */
export function sizeOf(record: ChannelRecord): number {
  switch (record.type) {
    case "pad":
      return 1;
    case "unreliable":
      return 4 + record.data.length;
    case "message":
      return 6 + record.data.length;
    case "fragment":
      return 8 + record.data.length;
    case "skip":
      return 5;
    case "report":
      return 7 + 6 * record.groups.length;
    case "status":
      return 4;
  }
}

// The checks of 3.2, which decoder and encoder share.

export function check(ok: boolean, code: RecordErrorCode, at: number): void {
  if (!ok) throw new RecordError(code, at);
}

/** The parameters of a record's channel (CHR-23, CHR-24). */
function checkChannel(type: ChannelRecord["type"], id: number, channels: Channels | typeof EVERY_CHANNEL, at: number): Channel {
  const configured = channels === EVERY_CHANNEL ? WIDEST : channels.get(id);
  if (configured === undefined || !isWithin(id, 0, MOST_CHANNELS - 1)) throw new RecordError("unknown_channel", at);
  const fits = (type === "unreliable") === !isReliable(configured.kind);
  check(fits || channels === EVERY_CHANNEL, "channel_kind", at);
  return configured;
}

/** CHR-25, CHR-26, CHR-29. */
function checkLength(length: number, [least, most]: Bounds, at: number): void {
  check(isWithin(length, least, most), "length", at);
}

type Bounds = readonly [least: number, most: number];

/** The bytes that a fragment may have (CHR-29). */
function fragmentBounds(index: number, count: number, { data }: Channel): Bounds {
  return [index === count - 1 ? 1 : data, data];
}

/** CHR-27, CHR-28; the index lies at `at`, the count behind it. */
function checkPart(index: number, count: number, limits: Channel, at: number): void {
  check(isWithin(count, 2, mostFragments(limits)), "fragment_count", at + 1);
  check(isWithin(index, 0, count - 1), "fragment_index", at);
}

/** Checks the groups of a report one after the other. */
class GroupChecks {
  #last: number | undefined;
  #distance = 0;

  constructor(
    readonly base: number,
    readonly room: number,
  ) {}

  /** CHR-32, CHR-33. */
  start(start: number, at: number): void {
    this.#distance = onWire(start - this.base);
    check(this.#distance < this.room, "group_start", at);
    check(this.#last === undefined || this.#distance > this.#last + FLAGS, "group_order", at);
  }

  /** CHR-34, CHR-35. */
  bits(bits: number, at: number): void {
    const width = FLAGS - Math.clz32(bits);
    check(width <= this.#distance, "group_bits", at);
    check(this.#last !== undefined || width === this.#distance, "group_base", at - 2);
    this.#last = this.#distance;
  }
}

// Reading.

/** Takes fields off a payload. */
export class Reader {
  at = 0;

  constructor(readonly bytes: Uint8Array) {}

  get left(): number {
    return this.bytes.length - this.at;
  }

  /** CHR-22. */
  take(size: number): Uint8Array {
    check(this.left >= size, "truncated", this.at);
    this.at += size;
    return this.bytes.subarray(this.at - size, this.at);
  }

  /** A field, the low byte first. */
  field(size: 1 | 2 | 4 | 6): number {
    return this.take(size).reduceRight((value, byte) => value * 256 + byte, 0);
  }

  /** A length and its data. */
  data(bounds: Bounds): Uint8Array {
    const at = this.at;
    const length = this.field(2);
    checkLength(length, bounds, at);
    return this.take(length);
  }
}

export function readRecord(reader: Reader, channels: Channels | typeof EVERY_CHANNEL): ChannelRecord {
  const at = reader.at;
  const type = TYPES[reader.field(1)];
  if (type === undefined || type === "pad") throw new RecordError("unknown_record", at); // CHR-21
  const channel = reader.field(1);
  const limits = checkChannel(type, channel, channels, at + 1);
  switch (type) {
    case "unreliable":
      return { type, channel, data: reader.data([1, MOST_LENGTH]) };
    case "message":
      return { type, channel, sequence: reader.field(2), data: reader.data([1, limits.data]) };
    case "fragment":
      return readFragment(reader, channel, limits);
    case "skip":
      return { type, channel, first: reader.field(2), count: reader.field(1) + 1 };
    case "report":
      return readReport(reader, channel, limits);
    case "status":
      return { type, channel, next: reader.field(2) };
  }
}

function readFragment(reader: Reader, channel: number, limits: Channel): FragmentRecord {
  const sequence = reader.field(2);
  const at = reader.at;
  const index = reader.field(1);
  const count = reader.field(1) + 1;
  checkPart(index, count, limits, at);
  return { type: "fragment", channel, sequence, index, count, data: reader.data(fragmentBounds(index, count, limits)) };
}

function readReport(reader: Reader, channel: number, limits: Channel): ReportRecord {
  const base = reader.field(2);
  const room = reader.field(2);
  check(room <= limits.window, "room", reader.at - 2); // CHR-30
  const count = reader.field(1);
  check(count <= MOST_GROUPS, "group_count", reader.at - 1); // CHR-31
  const checks = new GroupChecks(base, room);
  const groups = Array.from({ length: count }, () => readGroup(reader, checks));
  return { type: "report", channel, base, room, groups };
}

function readGroup(reader: Reader, checks: GroupChecks): Group {
  const start = reader.field(2);
  checks.start(start, reader.at - 2);
  const bits = reader.field(4);
  checks.bits(bits, reader.at - 4);
  return [start, bits];
}

// Writing.

export class Writer {
  readonly parts: Uint8Array[] = [];
  at = 0;

  add(part: Uint8Array): void {
    this.parts.push(part);
    this.at += part.length;
  }

  /** A field, the low byte first; a value that it cannot hold is refused (CHR-13). */
  field(value: number, size: 1 | 2 | 4 | 6): void {
    check(isWithin(value, 0, 256 ** size - 1), "invalid_field", this.at);
    this.add(Uint8Array.from({ length: size }, (_, i) => Math.floor(value / 256 ** i)));
  }

  /** A length and its data. */
  data(data: Uint8Array, bounds: Bounds): void {
    checkLength(data.length, bounds, this.at);
    this.field(data.length, 2);
    this.add(data);
  }
}

export function writeRecord(writer: Writer, record: ChannelRecord, channels: Channels | typeof EVERY_CHANNEL): void {
  if (record.type === "pad" || !TYPES.includes(record.type)) throw new RecordError("unknown_record", writer.at);
  const limits = checkChannel(record.type, record.channel, channels, writer.at + 1);
  writer.field(TYPES.indexOf(record.type), 1);
  writer.field(record.channel, 1);
  writeFields(writer, record, limits);
}

function writeFields(writer: Writer, record: Carried, limits: Channel): void {
  switch (record.type) {
    case "unreliable":
      return writer.data(record.data, [1, MOST_LENGTH]);
    case "message":
      writer.field(record.sequence, 2);
      return writer.data(record.data, [1, limits.data]);
    case "fragment":
      return writeFragment(writer, record, limits);
    case "skip":
      writer.field(record.first, 2);
      check(isWithin(record.count, 1, MOST_SKIP), "invalid_field", writer.at);
      return writer.field(record.count - 1, 1);
    case "report":
      return writeReport(writer, record, limits);
    case "status":
      return writer.field(record.next, 2);
  }
}

function writeFragment(writer: Writer, { sequence, index, count, data }: FragmentRecord, limits: Channel): void {
  writer.field(sequence, 2);
  checkPart(index, count, limits, writer.at);
  writer.field(index, 1);
  writer.field(count - 1, 1);
  writer.data(data, fragmentBounds(index, count, limits));
}

function writeReport(writer: Writer, { base, room, groups }: ReportRecord, limits: Channel): void {
  writer.field(base, 2);
  check(isWithin(room, 0, limits.window), "room", writer.at);
  writer.field(room, 2);
  check(groups.length <= MOST_GROUPS, "group_count", writer.at);
  writer.field(groups.length, 1);
  const checks = new GroupChecks(base, room);
  for (const [start, bits] of groups) {
    writer.field(start, 2);
    checks.start(start, writer.at - 2);
    writer.field(bits, 4);
    checks.bits(bits, writer.at - 4);
  }
}
