/** Packets, bodies and datagrams (sections 4 to 6). */

import { BitReader, BitWriter } from "./bits.js";
import { crc32 } from "./crc32.js";
import { isChunkId, isSliceSize, isWithin, MAX_DATAGRAM, MAX_SLICES, SLICE_SIZE } from "./limits.js";

/** A piece of a chunk (section 4.1). */
export interface Slice {
  readonly type: "slice";
  /** 0 to 65,535. */
  readonly chunkId: number;
  /** 0 to `numSlices - 1`. */
  readonly sliceId: number;
  /** 1 to 256. */
  readonly numSlices: number;
  /** 1,024 bytes, 1 to 1,024 in the last slice. */
  readonly data: Uint8Array;
}

/** Reports which slices of a chunk have arrived (section 4.2). */
export interface Ack {
  readonly type: "ack";
  /** 0 to 65,535. */
  readonly chunkId: number;
  /** For each slice of the chunk, 1 to 256 of them, whether the receiver has it. */
  readonly acked: readonly boolean[];
}

export type Packet = Slice | Ack;
export type PacketType = Packet["type"];

/** What a decoder refuses (section 6.3). */
export type DecodeErrorCode =
  | "truncated"
  | "crc_mismatch"
  | "slice_id_out_of_range"
  | "have_out_of_range"
  | "nonzero_padding"
  | "bad_end_check"
  | "trailing_data";

/** An encoder cannot represent a packet (section 6.2). */
export class EncodeError extends Error {
  override readonly name = "EncodeError";
  readonly code = "invalid_field";

  /** @param field - name of the field that cannot be represented */
  constructor(readonly field: string) {
    super(`invalid_field: ${field}`);
  }
}

/** A decoder refuses a datagram or a body (section 6.3). */
export class DecodeError extends Error {
  override readonly name = "DecodeError";

  /** @param bitOffset - where the field begins that failed, in bits from the start */
  constructor(
    readonly code: DecodeErrorCode,
    readonly bitOffset: number,
  ) {
    super(`${code} at bit ${bitOffset}`);
  }
}

/** What comes of decoding: a packet or the reason why there is none. */
export type Decoded<P = Packet> =
  | { readonly ok: true; readonly packet: P }
  | { readonly ok: false; readonly error: DecodeError };

const END_CHECK = 0x9908ace2;
const CRC_SIZE = 4;

/** Encodes a packet without a frame (SLC-1, ACK-1); throws {@link EncodeError}. */
export function encodeBody(packet: Packet): Uint8Array {
  checkPacket(packet);
  const writer = new BitWriter(MAX_DATAGRAM);
  writeBody(writer, packet);
  return writer.finish();
}

/**
 * Encodes a packet inside its frame (FRM-1); throws {@link EncodeError}.
 * @param protocolId - the 32-bit number that both ends share (FRM-5)
 */
export function encodePacket(protocolId: number, packet: Packet): Uint8Array {
  checkPacket(packet);
  return writeFrame(protocolId, packet.type, (writer) => writeBody(writer, packet));
}

/** A datagram with a body inside its frame (FRM-1). */
export function writeFrame(protocolId: number, type: PacketType, write: (writer: BitWriter) => void): Uint8Array {
  const writer = new BitWriter(MAX_DATAGRAM);
  writer.bits(0, 8 * CRC_SIZE);
  writer.bool(type === "ack"); // FRM-3
  write(writer);
  writer.align();
  writer.bits(END_CHECK, 32);
  const datagram = writer.finish();
  setUint32(datagram, frameCrc(protocolId, datagram));
  return datagram;
}

/** Decodes a packet without a frame (DEC-4 to DEC-11, DEC-14). */
export function decodeBody(type: PacketType, body: Uint8Array): Decoded {
  return decode(body, (reader) => readBody(reader, type));
}

/**
 * Decodes a datagram (DEC-1 to DEC-14).
 * @param protocolId - the 32-bit number that both ends share (FRM-5)
 */
export function decodePacket(protocolId: number, datagram: Uint8Array): Decoded {
  return decode(datagram, (reader) => readFrame(reader, protocolId, datagram, (type) => readBody(reader, type)));
}

/** Reads the frame of a datagram around its body (DEC-1 to DEC-3, DEC-12, DEC-13). */
export function readFrame<P>(reader: BitReader, protocolId: number, datagram: Uint8Array, read: (type: PacketType) => P): P {
  need(reader, 8 * CRC_SIZE); // DEC-1
  check(reader.bits(8 * CRC_SIZE) === frameCrc(protocolId, datagram), "crc_mismatch", 0); // DEC-2
  need(reader, 1); // DEC-3
  const packet = read(reader.bool() ? "ack" : "slice");
  need(reader, 32); // DEC-12
  const at = reader.position;
  check(reader.bits(32) === END_CHECK, "bad_end_check", at); // DEC-13
  return packet;
}

/** The crc of a datagram, whose first 4 bytes do not count (FRM-2); `protocolId` is 32 bits. */
export function frameCrc(protocolId: number, datagram: Uint8Array): number {
  const prefix = new Uint8Array(8);
  setUint32(prefix, protocolId);
  return crc32(prefix, datagram.subarray(CRC_SIZE));
}

function setUint32(bytes: Uint8Array, value: number): void {
  new DataView(bytes.buffer, bytes.byteOffset).setUint32(0, value, true);
}

/** ENC-1 to ENC-6. */
function checkPacket(packet: Packet): void {
  switch (packet.type) {
    case "slice":
      return checkSlice(packet);
    case "ack":
      return checkAck(packet);
    default:
      throw new EncodeError("type"); // ENC-6: from callers without types
  }
}

function checkSlice({ chunkId, sliceId, numSlices, data }: Slice): void {
  refuseUnless(isChunkId(chunkId), "chunk_id"); // ENC-1
  refuseUnless(isWithin(numSlices, 1, MAX_SLICES), "num_slices"); // ENC-2
  refuseUnless(isWithin(sliceId, 0, numSlices - 1), "slice_id"); // ENC-3
  refuseUnless(isSliceSize(sliceId, numSlices, data.length), "data"); // ENC-4
}

/** ENC-5 cannot be violated: the bits are as many as the slices. */
function checkAck({ chunkId, acked }: Ack): void {
  refuseUnless(isChunkId(chunkId), "chunk_id"); // ENC-1
  refuseUnless(isWithin(acked.length, 1, MAX_SLICES), "acked"); // ENC-2
}

export function refuseUnless(ok: boolean, field: string): void {
  if (!ok) throw new EncodeError(field);
}

function writeBody(writer: BitWriter, packet: Packet): void {
  if (packet.type === "slice") writeSlice(writer, packet);
  else writeAck(writer, packet);
}

/** SLC-1. */
function writeSlice(writer: BitWriter, { chunkId, sliceId, numSlices, data }: Slice): void {
  writer.bits(chunkId, 16);
  writer.int(sliceId, 0, MAX_SLICES - 1);
  writer.int(numSlices, 1, MAX_SLICES);
  if (sliceId === numSlices - 1) writer.int(data.length, 1, SLICE_SIZE);
  writer.bytes(data);
}

/** ACK-1. */
function writeAck(writer: BitWriter, { chunkId, acked }: Ack): void {
  writer.bits(chunkId, 16);
  writer.int(acked.length, 1, MAX_SLICES);
  for (const bit of acked) writer.bool(bit);
}

/** Decodes the whole of some bytes (DEC-14). */
export function decode<P>(bytes: Uint8Array, read: (reader: BitReader) => P): Decoded<P> {
  try {
    const reader = new BitReader(bytes);
    const packet = read(reader);
    check(reader.left === 0, "trailing_data", reader.position); // DEC-14
    return { ok: true, packet };
  } catch (error) {
    if (error instanceof DecodeError) return { ok: false, error };
    throw error;
  }
}

function readBody(reader: BitReader, type: PacketType): Packet {
  return type === "slice" ? readSlice(reader) : readAck(reader);
}

/** DEC-4 to DEC-8, DEC-10, DEC-11. */
function readSlice(reader: BitReader): Slice {
  need(reader, 16);
  const chunkId = reader.bits(16);
  need(reader, 8);
  const sliceIdAt = reader.position;
  const sliceId = reader.int(0, MAX_SLICES - 1);
  need(reader, 8);
  const numSlices = reader.int(1, MAX_SLICES);
  check(sliceId < numSlices, "slice_id_out_of_range", sliceIdAt); // SLC-2, DEC-7
  const size = sliceId === numSlices - 1 ? readSliceBytes(reader) : SLICE_SIZE;
  readPadding(reader);
  need(reader, 8 * size);
  return { type: "slice", chunkId, sliceId, numSlices, data: reader.bytes(size) };
}

/** DEC-8. */
function readSliceBytes(reader: BitReader): number {
  need(reader, 10);
  return reader.int(1, SLICE_SIZE);
}

/** DEC-4, DEC-6, DEC-9, DEC-10. */
function readAck(reader: BitReader): Ack {
  need(reader, 16);
  const chunkId = reader.bits(16);
  need(reader, 8);
  const numSlices = reader.int(1, MAX_SLICES);
  need(reader, numSlices);
  const acked = Array.from({ length: numSlices }, () => reader.bool());
  readPadding(reader);
  return { type: "ack", chunkId, acked };
}

/** DEC-10. */
export function readPadding(reader: BitReader): void {
  const at = reader.position;
  check(reader.align(), "nonzero_padding", at);
}

/** Refuses unless `bits` are left. */
export function need(reader: BitReader, bits: number): void {
  check(reader.left >= bits, "truncated", reader.position);
}

/** Refuses unless a check holds. */
export function check(ok: boolean, code: DecodeErrorCode, bitOffset: number): void {
  if (!ok) throw new DecodeError(code, bitOffset);
}
