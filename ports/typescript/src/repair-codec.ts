/** The packets of repair slices (REPAIR.md, section 4), and the numbers of transmissions (section 2.3). */

import { BitWriter, type BitReader } from "./bits.js";
import { check, decode, EncodeError, need, readFrame, readPadding, refuseUnless, writeFrame, type Decoded, type PacketType } from "./codec.js";
import { isChunkId, isWithin, MAX_DATAGRAM, MAX_SLICES, SLICE_SIZE } from "./limits.js";
import { MAX_IDS, repairSliceBytes } from "./repair-code.js";

/** A slice, source or repair (section 4.1). */
export interface RepairSlice {
  readonly type: "slice";
  /** 0 to 65,535. */
  readonly chunkId: number;
  /** 0 to 8,191; a source slice below `numSlices`. */
  readonly id: number;
  /** 1 to 256. */
  readonly numSlices: number;
  /** Bytes of the last source slice, 1 to 1,024. */
  readonly lastBytes: number;
  readonly data: Uint8Array;
}

/** Reports how many independent slices are here, and the latest (section 4.2). */
export interface RepairAck {
  readonly type: "ack";
  /** 0 to 65,535. */
  readonly chunkId: number;
  /** 1 to 256. */
  readonly numSlices: number;
  /** 0 to `numSlices`. */
  readonly have: number;
  /** The field: an id, 0 to 8,191. */
  readonly top: number;
}

export type RepairPacket = RepairSlice | RepairAck;

/** Encodes a packet without a frame (RPS-1, RPA-1); throws EncodeError. */
export function encodeRepairBody(packet: RepairPacket): Uint8Array {
  checkPacket(packet);
  const writer = new BitWriter(MAX_DATAGRAM);
  writeBody(writer, packet);
  return writer.finish();
}

/** Encodes a packet inside its frame; throws EncodeError. */
export function encodeRepairPacket(protocolId: number, packet: RepairPacket): Uint8Array {
  checkPacket(packet);
  return writeFrame(protocolId, packet.type, (writer) => writeBody(writer, packet));
}

/** Decodes a packet without a frame (RPD-6). */
export function decodeRepairBody(type: PacketType, body: Uint8Array): Decoded<RepairPacket> {
  return decode(body, (reader) => readBody(reader, type));
}

/** Decodes a datagram (RPD-6). */
export function decodeRepairPacket(protocolId: number, datagram: Uint8Array): Decoded<RepairPacket> {
  return decode(datagram, (reader) => readFrame(reader, protocolId, datagram, (type) => readBody(reader, type)));
}

/** The protocol id of a lane with repair slices (RPI-1). */
export function repairProtocolId(protocolId: number, lanes = 1, lane = 0): number {
  return (protocolId + 256 + 16 * (lanes - 1) + lane) >>> 0;
}

/** How many ids take turns once all are used up. */
function repeating(numSlices: number): number {
  return MAX_IDS - numSlices;
}

/** The id of a transmission (RPN-2). */
export function idOf(numSlices: number, number: number): number {
  return number < MAX_IDS ? number : numSlices + ((number - numSlices) % repeating(numSlices));
}

/** The number of an id that arrives at a receiver (RPN-3). */
export function numberOfArrival(numSlices: number, top: number, id: number): number {
  if (id < numSlices) return id;
  const ids = repeating(numSlices);
  const near = Math.max(top, numSlices);
  const ahead = (id - idOf(numSlices, near) + ids) % ids;
  const number = near + ahead;
  return ahead < Math.trunc(ids / 2) || number - ids < numSlices ? number : number - ids;
}

/** The number of an ack's field at a sender of `sent` slices; undefined if there is none (RPN-5). */
export function numberOfField(numSlices: number, sent: number, field: number): number | undefined {
  if (field > sent) return undefined;
  return field < numSlices ? field : sent - ((sent - field) % repeating(numSlices));
}

/** RPE-6. */
function checkPacket(packet: RepairPacket): void {
  switch (packet.type) {
    case "slice":
      return checkRepairSlice(packet);
    case "ack":
      return checkRepairAck(packet);
    default:
      throw new EncodeError("type"); // ENC-6: from callers without types
  }
}

/** Throws EncodeError unless the slice is valid. */
export function checkRepairSlice({ chunkId, id, numSlices, lastBytes, data }: RepairSlice): void {
  refuseUnless(isChunkId(chunkId), "chunk_id"); // ENC-1
  refuseUnless(isWithin(numSlices, 1, MAX_SLICES), "num_slices"); // ENC-2
  refuseUnless(isWithin(id, 0, MAX_IDS - 1), "id"); // RPE-1
  refuseUnless(isWithin(lastBytes, 1, SLICE_SIZE), "last_bytes"); // RPE-2
  refuseUnless(data.length === repairSliceBytes(numSlices, lastBytes, id), "data"); // RPE-3
}

/** Throws EncodeError unless the ack is valid. */
export function checkRepairAck({ chunkId, numSlices, have, top }: RepairAck): void {
  refuseUnless(isChunkId(chunkId), "chunk_id"); // ENC-1
  refuseUnless(isWithin(numSlices, 1, MAX_SLICES), "num_slices"); // ENC-2
  refuseUnless(isWithin(have, 0, numSlices), "have"); // RPE-4
  refuseUnless(isWithin(top, 0, MAX_IDS - 1), "top"); // RPE-5
}

function writeBody(writer: BitWriter, packet: RepairPacket): void {
  if (packet.type === "slice") writeSlice(writer, packet);
  else writeAck(writer, packet);
}

/** RPS-1. */
function writeSlice(writer: BitWriter, { chunkId, id, numSlices, lastBytes, data }: RepairSlice): void {
  writer.bits(chunkId, 16);
  writer.bits(id, 13);
  writer.int(numSlices, 1, MAX_SLICES);
  writer.int(lastBytes, 1, SLICE_SIZE);
  writer.bytes(data);
}

/** RPA-1. */
function writeAck(writer: BitWriter, { chunkId, numSlices, have, top }: RepairAck): void {
  writer.bits(chunkId, 16);
  writer.int(numSlices, 1, MAX_SLICES);
  writer.bits(have, 9);
  writer.bits(top, 13);
}

function readBody(reader: BitReader, type: PacketType): RepairPacket {
  return type === "slice" ? readSlice(reader) : readAck(reader);
}

function readBits(reader: BitReader, n: number): number {
  need(reader, n);
  return reader.bits(n);
}

/** DEC-4, RPD-1, DEC-6, RPD-2, DEC-10, DEC-11. */
function readSlice(reader: BitReader): RepairSlice {
  const chunkId = readBits(reader, 16);
  const id = readBits(reader, 13);
  const numSlices = readBits(reader, 8) + 1;
  const lastBytes = readBits(reader, 10) + 1;
  readPadding(reader);
  const size = repairSliceBytes(numSlices, lastBytes, id);
  need(reader, 8 * size);
  return { type: "slice", chunkId, id, numSlices, lastBytes, data: reader.bytes(size) };
}

/** DEC-4, DEC-6, RPD-3 to RPD-5, DEC-10. */
function readAck(reader: BitReader): RepairAck {
  const chunkId = readBits(reader, 16);
  const numSlices = readBits(reader, 8) + 1;
  const haveAt = reader.position;
  const have = readBits(reader, 9);
  check(have <= numSlices, "have_out_of_range", haveAt);
  const top = readBits(reader, 13);
  readPadding(reader);
  return { type: "ack", chunkId, numSlices, have, top };
}
