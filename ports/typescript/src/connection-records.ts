/** The records of a connection (CONNECTION.md, section 7): the records of channels, and five more. */

import { decodeBody, encodeBody, EncodeError, type Ack, type Slice } from "./codec.js";
import { concat } from "./packets.js";
import {
  check,
  EVERY_CHANNEL,
  isQuiet as areQuiet,
  Reader,
  readRecord,
  RecordError,
  sizeOf,
  Writer,
  writeRecord,
  type ChannelRecord,
  type Channels,
} from "./records.js";
import { decodeRepairBody, encodeRepairBody, type RepairAck, type RepairSlice } from "./repair-codec.js";
import { REPAIR } from "./session-terms.js";

/** The end of the connection; the text is bytes, of UTF-8 (CXR-1). */
export interface CloseRecord {
  readonly type: "close";
  readonly code: number;
  readonly text: Uint8Array;
}

/** CXR-2. */
export interface SliceRecord {
  readonly type: "slice";
  readonly lane: number;
  readonly packet: Slice | RepairSlice;
}

/** CXR-3. */
export interface ChunkAckRecord {
  readonly type: "chunk_ack";
  readonly lane: number;
  readonly packet: Ack | RepairAck;
}

/** How many datagrams came with ECT(0) or CE, and with CE, modulo 2^16 (CXR-9). */
export interface MarksRecord {
  readonly type: "ecn";
  readonly arrived: number;
  readonly congested: number;
}

/** What an end's clock shows, in microseconds modulo 2^48, and of the newest such record when it was sent, modulo 2^32, and how long ago it came (CXR-10). */
export interface ClockRecord {
  readonly type: "clock";
  readonly sent: number;
  readonly echo: number;
  readonly wait: number;
}

export type ConnectionRecord = ChannelRecord | CloseRecord | SliceRecord | ChunkAckRecord | MarksRecord | ClockRecord;

/** What both ends agreed on of records. */
export interface RecordLimits {
  readonly channels: Channels | typeof EVERY_CHANNEL;
  readonly lanes: number;
  /** NAMED or REPAIR. */
  readonly variant: number;
  /** Whether the ends agreed on marks of congestion. */
  readonly hasMarks: boolean;
  /** Whether they agreed on clocks. */
  readonly hasClocks: boolean;
}

const NUMBERS = { close: 7, slice: 8, chunk_ack: 9, ecn: 10, clock: 11 } as const;
const MOST_TEXT = 128;
export const LARGEST_SLICE = 1032;
export const LARGEST_CHUNK_ACK = 38;
export const MARKS_BYTES = 5;
export const CLOCK_BYTES = 15;

/** All records of a payload, whose data lie in it. Throws {@link RecordError} (CXR-5). */
export function decodePayload(payload: Uint8Array, limits: RecordLimits): ConnectionRecord[] {
  check(payload.length > 0, "truncated", 0);
  if (payload.length === 1 && payload[0] === 0) return [{ type: "pad" }];
  const reader = new Reader(payload);
  const records: ConnectionRecord[] = [];
  while (reader.left > 0) records.push(readAny(reader, limits));
  return records;
}

/** The payload of some records; throws {@link RecordError} for what a decoder would refuse (CXR-8). */
export function encodePayload(records: readonly ConnectionRecord[], limits: RecordLimits): Uint8Array {
  check(records.length > 0, "truncated", 0);
  if (records.length === 1 && records[0]?.type === "pad") return Uint8Array.of(0);
  const writer = new Writer();
  for (const [i, record] of records.entries()) {
    writeAny(writer, record, limits, records.length);
    check(record.type !== "slice" || i === records.length - 1, "trailing_data", writer.at);
  }
  return concat(...writer.parts);
}

/** Whether a payload of these records asks for no ack (CXR-6). */
export function isQuiet(records: readonly ConnectionRecord[]): boolean {
  return records.every((record) => {
    if (record.type === "close" || record.type === "chunk_ack" || record.type === "ecn" || record.type === "clock") return true;
    return record.type !== "slice" && areQuiet([record]);
  });
}

/** The bytes of a record. */
export function bytesOf(record: ConnectionRecord, limits: RecordLimits): number {
  if (record.type === "close" || record.type === "slice" || record.type === "chunk_ack" || record.type === "ecn" || record.type === "clock") {
    return encodePayload([record], limits).length;
  }
  return sizeOf(record);
}

/** The bytes of a text of CLOSE; throws {@link RecordError} (CXR-22, CXR-23). */
export function closeText(text: string): Uint8Array {
  const bytes = new TextEncoder().encode(text);
  check(bytes.length <= MOST_TEXT, "length", 3);
  check(new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes) === text, "text", 4);
  return bytes;
}

// Reading.

function readAny(reader: Reader, limits: RecordLimits): ConnectionRecord {
  const at = reader.at;
  switch (reader.bytes[at]) {
    case NUMBERS.close:
      return readClose(reader, at);
    case NUMBERS.slice:
      return readSlice(reader, limits);
    case NUMBERS.chunk_ack:
      return readChunkAck(reader, limits);
    case NUMBERS.ecn:
      if (!limits.hasMarks) break;
      reader.field(1);
      return { type: "ecn", arrived: reader.field(2), congested: reader.field(2) };
    case NUMBERS.clock:
      if (!limits.hasClocks) break;
      reader.field(1);
      return { type: "clock", sent: reader.field(6), echo: reader.field(4), wait: reader.field(4) };
  }
  return readRecord(reader, limits.channels);
}

function readClose(reader: Reader, at: number): CloseRecord {
  reader.field(1);
  check(at === 0, "not_alone", at);
  const code = reader.field(2);
  const length = reader.field(1);
  check(length <= MOST_TEXT, "length", reader.at - 1);
  const text = reader.take(length);
  check(isText(text), "text", reader.at - length);
  check(reader.left === 0, "not_alone", reader.at);
  return { type: "close", code, text };
}

function isText(bytes: Uint8Array): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

function readLane(reader: Reader, { lanes }: RecordLimits): number {
  reader.field(1);
  const lane = reader.field(1);
  check(lane < lanes, "lane", reader.at - 1);
  return lane;
}

function readSlice(reader: Reader, limits: RecordLimits): SliceRecord {
  const lane = readLane(reader, limits);
  return { type: "slice", lane, packet: readBody(reader, reader.left, "slice", limits) as Slice | RepairSlice };
}

function readChunkAck(reader: Reader, limits: RecordLimits): ChunkAckRecord {
  const lane = readLane(reader, limits);
  return { type: "chunk_ack", lane, packet: readBody(reader, reader.field(1), "ack", limits) as Ack | RepairAck };
}

function readBody(reader: Reader, length: number, type: "slice" | "ack", { variant }: RecordLimits): SliceRecord["packet"] | ChunkAckRecord["packet"] {
  const at = reader.at;
  const body = reader.take(length);
  const decoded = variant === REPAIR ? decodeRepairBody(type, body) : decodeBody(type, body);
  if (decoded.ok) return decoded.packet;
  throw new RecordError(decoded.error.code, at + (decoded.error.bitOffset >> 3));
}

// Writing.

function writeAny(writer: Writer, record: ConnectionRecord, limits: RecordLimits, count: number): void {
  switch (record.type) {
    case "close":
      return writeClose(writer, record, count);
    case "slice":
    case "chunk_ack":
      return writeOnLane(writer, record, limits);
    case "ecn":
      check(limits.hasMarks, "unknown_record", writer.at);
      writer.field(NUMBERS.ecn, 1);
      writer.field(record.arrived, 2);
      return writer.field(record.congested, 2);
    case "clock":
      check(limits.hasClocks, "unknown_record", writer.at);
      writer.field(NUMBERS.clock, 1);
      writer.field(record.sent, 6);
      writer.field(record.echo, 4);
      return writer.field(record.wait, 4);
    default:
      return writeRecord(writer, record, limits.channels);
  }
}

function writeClose(writer: Writer, { code, text }: CloseRecord, count: number): void {
  check(writer.at === 0, "not_alone", writer.at);
  writer.field(NUMBERS.close, 1);
  writer.field(code, 2);
  check(text.length <= MOST_TEXT, "length", writer.at);
  writer.field(text.length, 1);
  check(isText(text), "text", writer.at);
  writer.add(text);
  check(count === 1, "not_alone", writer.at);
}

function writeOnLane(writer: Writer, { type, lane, packet }: SliceRecord | ChunkAckRecord, { lanes, variant }: RecordLimits): void {
  writer.field(NUMBERS[type], 1);
  check(lane >= 0 && lane < lanes, "lane", writer.at);
  writer.field(lane, 1);
  const isAck = type === "chunk_ack";
  try {
    const body = variant === REPAIR ? encodeRepairBody(packet as RepairSlice | RepairAck) : encodeBody(packet as Slice | Ack);
    if (isAck) writer.field(body.length, 1);
    writer.add(body);
  } catch (error) {
    if (error instanceof EncodeError) throw new RecordError("invalid_field", writer.at + (isAck ? 1 : 0));
    throw error;
  }
}
