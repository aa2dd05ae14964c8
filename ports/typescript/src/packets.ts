/** Headers, regular packets and fragments of the packet layer (PACKETS.md, section 3). */

import { isWithin } from "./limits.js";
import { onWire, SPAN } from "./seq.js";

/** The number of a packet, the newest one known of the peer, and which of the last 32 arrived (PKT-1). */
export interface Header {
  /** 0 to 65,535. */
  readonly sequence: number;
  /** 0 to 65,535. */
  readonly ack: number;
  /** 32 bits; bit n is `ack - n`. */
  readonly ackBits: number;
}

/** A packet in one datagram (3.1). */
export interface Regular {
  readonly kind: "regular";
  readonly header: Header;
  readonly payload: Uint8Array;
}

/** A piece of a packet (3.2). */
export interface Fragment {
  readonly kind: "fragment";
  readonly sequence: number;
  readonly fragmentId: number;
  readonly numFragments: number;
  readonly data: Uint8Array;
  /** Of fragment 0 the header of the packet, else null. */
  readonly header: Header | null;
}

/** The sizes that both ends share. */
export interface FragmentLimits {
  /** Bytes of data in every fragment but the last. */
  readonly fragmentSize: number;
  readonly maxFragments: number;
}

/** What a decoder, an endpoint or an encoder refuses (PACKETS.md, appendix B). */
export type PacketErrorCode =
  | "truncated"
  | "reserved_bits"
  | "not_minimal"
  | "empty_payload"
  | "too_large"
  | "too_many_fragments"
  | "single_fragment"
  | "fragment_id_out_of_range"
  | "sequence_mismatch"
  | "fragment_size"
  | "stale"
  | "duplicate"
  | "dead"
  | "fragment_count"
  | "fragment_duplicate"
  | "reassembly_full"
  | "refused"
  | "payload_size"
  | "invalid_field";

/** The place of a fault that lies in no byte. */
export const NOWHERE = -1;

export class PacketError extends Error {
  override readonly name = "PacketError";

  /** @param at - the byte where the fault lies, or {@link NOWHERE} */
  constructor(
    readonly code: PacketErrorCode,
    readonly at: number = NOWHERE,
  ) {
    super(`${code} at byte ${at}`);
  }
}

const FRAGMENT = 0x01;
const DISTANCE = 0x20;
const NOT_OF_A_HEADER = 0xc1;
const FULL = 0xff;
const LONGEST_DISTANCE = 255;

/** Bytes of a packet that is sent without fragments: the largest `FRAGMENT_ABOVE` (PKP-1). */
export const MOST_ABOVE = 1160;

/** The bytes of PKT-2; throws {@link PacketError} for a value that no field holds (PKF-4). */
export function encodeHeader({ sequence, ack, ackBits }: Header): Uint8Array {
  if (!isWithin(sequence, 0, SPAN - 1) || !isWithin(ack, 0, SPAN - 1) || !isWithin(ackBits, 0, 0xffffffff)) {
    throw new PacketError("invalid_field");
  }
  let prefix = 0;
  const bytes = [sequence & 0xff, sequence >> 8];
  const distance = onWire(sequence - ack);
  if (distance <= LONGEST_DISTANCE) {
    prefix |= DISTANCE;
    bytes.push(distance);
  } else {
    bytes.push(ack & 0xff, ack >> 8);
  }
  for (let i = 0; i < 4; i++) {
    const byte = (ackBits >>> (8 * i)) & 0xff;
    if (byte === FULL) continue;
    prefix |= 2 << i;
    bytes.push(byte);
  }
  return Uint8Array.of(prefix, ...bytes);
}

/** The datagrams of a packet: one, or the fragments of a payload of more than `above` bytes (PKF-1, PKF-2). */
export function encodeDatagrams(header: Header, payload: Uint8Array, fragmentSize: number, above: number): Uint8Array[] {
  const head = encodeHeader(header);
  if (payload.length <= above) return [concat(head, payload)];
  const count = Math.ceil(payload.length / fragmentSize);
  return Array.from({ length: count }, (_, i) => {
    const start = Uint8Array.of(FRAGMENT, header.sequence & 0xff, header.sequence >> 8, i, count - 1);
    const data = payload.subarray(i * fragmentSize, (i + 1) * fragmentSize);
    return i === 0 ? concat(start, head, data) : concat(start, data);
  });
}

/** The parts, one after the other. */
export function concat(...parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** What a datagram holds (PKD-1 to PKD-11); payload and data lie in it. Throws {@link PacketError}. */
export function decodeDatagram(datagram: Uint8Array, limits: FragmentLimits): Regular | Fragment {
  const reader = new Reader(datagram);
  const prefix = datagram[0];
  if (prefix === undefined) throw new PacketError("truncated", 0); // PKD-1
  if ((prefix & 1) === 0) return readRegular(reader, limits);
  check(prefix === FRAGMENT, "reserved_bits", 0); // PKD-2
  return readFragment(reader, limits);
}

/** Takes fields off a datagram. */
class Reader {
  at = 0;

  constructor(readonly bytes: Uint8Array) {}

  get left(): number {
    return this.bytes.length - this.at;
  }

  /** A field of 1 or 2 bytes, the low one first. */
  field(size: 1 | 2): number {
    check(this.left >= size, "truncated", this.at);
    let value = 0;
    for (let i = 0; i < size; i++) value += (this.bytes[this.at + i] ?? 0) << (8 * i);
    this.at += size;
    return value;
  }

  rest(): Uint8Array {
    return this.bytes.subarray(this.at);
  }
}

function readRegular(reader: Reader, { fragmentSize, maxFragments }: FragmentLimits): Regular {
  const header = readHeader(reader);
  check(reader.left >= 1, "empty_payload", reader.at); // PKD-6
  check(reader.left <= fragmentSize * maxFragments, "too_large", reader.at);
  return { kind: "regular", header, payload: reader.rest() };
}

/** PKD-2 to PKD-5, of a regular packet or within fragment 0 (PKD-14). */
function readHeader(reader: Reader): Header {
  const prefixAt = reader.at;
  const prefix = reader.field(1);
  check((prefix & NOT_OF_A_HEADER) === 0, "reserved_bits", prefixAt);
  const sequence = reader.field(2);
  return { sequence, ack: readAck(reader, prefix, sequence), ackBits: readAckBits(reader, prefix) };
}

/** PKD-4. */
function readAck(reader: Reader, prefix: number, sequence: number): number {
  const at = reader.at;
  if ((prefix & DISTANCE) !== 0) return onWire(sequence - reader.field(1));
  const ack = reader.field(2);
  check(onWire(sequence - ack) > LONGEST_DISTANCE, "not_minimal", at);
  return ack;
}

/** PKD-5. */
function readAckBits(reader: Reader, prefix: number): number {
  let ackBits = 0;
  for (let i = 0; i < 4; i++) {
    const at = reader.at;
    const present = (prefix & (2 << i)) !== 0;
    const byte = present ? reader.field(1) : FULL;
    check(!present || byte !== FULL, "not_minimal", at);
    ackBits += byte * 2 ** (8 * i);
  }
  return ackBits;
}

function readFragment(reader: Reader, { fragmentSize, maxFragments }: FragmentLimits): Fragment {
  reader.at = 1;
  const sequence = reader.field(2); // PKD-3
  const fragmentId = reader.field(1); // PKD-7
  const numFragments = reader.field(1) + 1;
  check(numFragments <= maxFragments, "too_many_fragments", 4); // PKD-8
  check(numFragments >= 2, "single_fragment", 4);
  check(fragmentId < numFragments, "fragment_id_out_of_range", 3); // PKD-9
  const header = fragmentId === 0 ? readHeader(reader) : null; // PKD-10
  check(header === null || header.sequence === sequence, "sequence_mismatch", 6);
  const least = fragmentId === numFragments - 1 ? 1 : fragmentSize;
  check(isWithin(reader.left, least, fragmentSize), "fragment_size", reader.at); // PKD-11
  return { kind: "fragment", sequence, fragmentId, numFragments, data: reader.rest(), header };
}

function check(ok: boolean, code: PacketErrorCode, at: number): void {
  if (!ok) throw new PacketError(code, at);
}
