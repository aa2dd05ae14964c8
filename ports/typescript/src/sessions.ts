/** Messages of the handshake, and datagrams of data before they are opened (CONNECTION.md, section 3). */

import { isWithin } from "./limits.js";

/** How datagrams are protected; crc is no protection. */
export type Mode = "crc" | "mac" | "aead";

/** The kinds of datagrams of data. */
export const KINDS: Readonly<Record<Mode, number>> = { crc: 0x40, mac: 0x41, aead: 0x42 };
export const TAG_BYTES: Readonly<Record<Mode, number>> = { crc: 4, mac: 8, aead: 16 };
/** Kind, link and counter of a datagram of data (CXE-1). */
export const HEAD = 9;
export const LARGEST_DATAGRAM = 1225;
export const VERSION = 2;
export const MOST_LANES = 16;
/** The least and most TIMEOUT, in units of 100 ms. */
export const LEAST_TIMEOUT = 10;
export const MOST_TIMEOUT = 36_000;
/** No time is later, in microseconds. */
export const MOST_STAMP = (1n << 62n) - 1n;

export const NO_PROOF = new Uint8Array(16);
/** The identity of a client that has none. */
export const ANONYMOUS = new Uint8Array(8);
/** The key of {@link ANONYMOUS}. */
export const NO_KEY = new Uint8Array(32);

/** What a connection has (CXP-3); `timeout` is in units of 100 ms. */
export interface Agreed {
  /** 0 to 16. */
  readonly lanes: number;
  /** 1: slices as in PROTOCOL.md, 2: as in REPAIR.md; 0 without lanes. */
  readonly variant: number;
  /** 16 bits. */
  readonly extensions: number;
  readonly timeout: number;
}

/** CXH-2, without the version. */
export interface Offer {
  readonly nonce: Uint8Array;
  readonly protocol: number;
  readonly mode: Mode;
  readonly lanes: number;
  /** 8 bits. */
  readonly variants: number;
  /** 16 bits. */
  readonly extensions: number;
  /** In units of 100 ms. */
  readonly timeout: number;
  readonly format: Uint8Array;
  readonly identity: Uint8Array;
  /** The link of the connection to resume; 0: a new one. */
  readonly resume: number;
  readonly digest: Uint8Array;
  readonly share: Uint8Array;
}

export interface Link {
  readonly type: "link";
  readonly nonce: Uint8Array;
  readonly versions: Uint8Array;
  readonly reserved: Uint8Array;
}

export interface Challenge {
  readonly type: "challenge";
  readonly nonce: Uint8Array;
  readonly stamp: bigint;
  readonly cookie: Uint8Array;
  readonly version: number;
  readonly versions: Uint8Array;
}

export interface Proof {
  readonly type: "proof";
  readonly offer: Offer;
  readonly stamp: bigint;
  readonly cookie: Uint8Array;
  readonly move: Uint8Array;
  readonly proof: Uint8Array;
}

export interface Linked {
  readonly type: "linked";
  readonly nonce: Uint8Array;
  readonly link: number;
  readonly share: Uint8Array;
  readonly agreed: Agreed;
  readonly proof: Uint8Array;
}

export interface Refusal {
  readonly type: "refused";
  readonly nonce: Uint8Array;
  readonly version: number;
  /** One of {@link REASONS}, or one that is not known. */
  readonly reason: number;
  readonly proof: Uint8Array;
}

/** A datagram of data; `counter` has its low 32 bits. */
export interface Data {
  readonly type: "data";
  readonly mode: Mode;
  readonly link: number;
  readonly counter: number;
  readonly body: Uint8Array;
  readonly tag: Uint8Array;
}

export type HandshakeMessage = Link | Challenge | Proof | Linked | Refusal;
export type SessionMessage = HandshakeMessage | Data;

/** CXH-8. */
export const REASONS = {
  full: 1,
  identity: 2,
  version: 3,
  protocol: 4,
  mode: 5,
  format: 6,
  variant: 7,
  closed: 8,
  replaced: 9,
} as const;

export type SessionErrorCode =
  | "truncated"
  | "trailing_data"
  | "unknown_kind"
  | "version"
  | "mode"
  | "lanes"
  | "timeout"
  | "stamp"
  | "link"
  | "variant"
  | "reason"
  | "unknown_link"
  | "stale"
  | "duplicate"
  | "tag"
  | "share";

/** A datagram is refused. */
export class SessionError extends Error {
  override readonly name = "SessionError";

  /** @param at - the byte where the fault lies, or -1 */
  constructor(
    readonly code: SessionErrorCode,
    readonly at: number,
  ) {
    super(`${code} at byte ${at}`);
  }
}

const TYPES: Readonly<Record<HandshakeMessage["type"], number>> = { link: 0x48, challenge: 0x49, proof: 0x4a, linked: 0x4b, refused: 0x4c };
const SIZES: Readonly<Record<HandshakeMessage["type"], number>> = { link: 64, challenge: 50, proof: 153, linked: 75, refused: 35 };
/** Where things lie in a PROOF: an offer is 96 bytes. */
const HELLO = 97;

/** The bytes of kind and offer of a PROOF. */
export function helloOf(message: Uint8Array): Uint8Array {
  return message.subarray(0, HELLO);
}

/** Whether a datagram is data, and none of the handshake. */
export function isData(datagram: Uint8Array): boolean {
  return modeOf(datagram[0]) !== undefined;
}

/** Section 3.3: throws {@link SessionError} for the first check that fails. What is returned lies in the datagram. */
export function decodeSession(datagram: Uint8Array): SessionMessage {
  const kind = datagram[0];
  check(kind !== undefined, "truncated", 0);
  const mode = modeOf(kind);
  if (mode !== undefined) return readData(datagram, mode);
  const type = (Object.keys(TYPES) as HandshakeMessage["type"][]).find((known) => TYPES[known] === kind);
  if (type === undefined) throw new SessionError("unknown_kind", 0);
  const hasVersion = type === "link" || type === "proof";
  check(!hasVersion || datagram.length < 2 || datagram[1] === VERSION, "version", 1);
  checkSize(datagram, SIZES[type], SIZES[type]);
  const message = readMessage(type, new Reader(datagram, 1));
  checkMessage(message);
  return message;
}

/** Throws {@link SessionError} for what a decoder would refuse (CXH-11). */
export function encodeSession(message: HandshakeMessage): Uint8Array {
  checkMessage(message);
  const writer = new Writer(SIZES[message.type]);
  writer.number(TYPES[message.type], 1);
  writeMessage(writer, message);
  return writer.bytes;
}

/** What both ends hash of an agreement (CXK-1): bytes 17 to 58 of LINKED. */
export function agreementOf(linked: Linked): Uint8Array {
  return encodeSession(linked).subarray(17, 59);
}

// Checks (CXH-25 to CXH-27, CXH-29 to CXH-36).

function check(ok: boolean, code: SessionErrorCode, at: number): void {
  if (!ok) throw new SessionError(code, at);
}

function checkSize(datagram: Uint8Array, least: number, most: number): void {
  check(datagram.length >= least, "truncated", datagram.length);
  check(datagram.length <= most, "trailing_data", most);
}

function checkMessage(message: HandshakeMessage): void {
  switch (message.type) {
    case "link":
      return;
    case "challenge":
      return check(message.stamp <= MOST_STAMP, "stamp", 17);
    case "proof":
      return checkProof(message);
    case "linked":
      return checkLinked(message);
    case "refused":
      return check(message.reason !== 0, "reason", 18);
    default:
      throw new SessionError("unknown_kind", 0); // from callers without types
  }
}

function checkProof({ offer, stamp }: Proof): void {
  check(offer.mode in KINDS, "mode", 22);
  check(offer.lanes <= MOST_LANES, "lanes", 23);
  check(isWithin(offer.timeout, LEAST_TIMEOUT, MOST_TIMEOUT), "timeout", 27);
  check(offer.mode !== "crc" || isZero(offer.identity), "mode", 22);
  check(stamp <= MOST_STAMP, "stamp", HELLO);
}

function checkLinked({ link, agreed }: Linked): void {
  const { lanes, variant, timeout } = agreed;
  const isOne = variant !== 0 && (variant & (variant - 1)) === 0;
  check(link !== 0, "link", 17);
  check(lanes <= MOST_LANES, "lanes", 53);
  check(lanes > 0 ? isOne : variant === 0, "variant", 54);
  check(isWithin(timeout, LEAST_TIMEOUT, MOST_TIMEOUT), "timeout", 57);
}

/** Whether all bytes are zero; the time does not depend on them. */
export function isZero(bytes: Uint8Array): boolean {
  return bytes.reduce((all, byte) => all | byte, 0) === 0;
}

// Fields.

function modeOf(kind: number | undefined): Mode | undefined {
  return (Object.keys(KINDS) as Mode[]).find((mode) => KINDS[mode] === kind);
}

/** Takes fields off a datagram, the low byte first. */
class Reader {
  readonly #bytes: Uint8Array;
  #at: number;

  constructor(bytes: Uint8Array, at: number) {
    this.#bytes = bytes;
    this.#at = at;
  }

  take(size: number): Uint8Array {
    this.#at += size;
    return this.#bytes.subarray(this.#at - size, this.#at);
  }

  number(size: 1 | 2 | 4): number {
    return this.take(size).reduceRight((value, byte) => 256 * value + byte, 0);
  }

  long(): bigint {
    const low = this.number(4);
    return (BigInt(this.number(4)) << 32n) | BigInt(low);
  }
}

class Writer {
  readonly bytes: Uint8Array;
  #at = 0;

  constructor(size: number) {
    this.bytes = new Uint8Array(size);
  }

  put(bytes: Uint8Array): void {
    this.bytes.set(bytes, this.#at);
    this.#at += bytes.length;
  }

  number(value: number, size: 1 | 2 | 4): void {
    for (let i = 0; i < size; i++) this.bytes[this.#at++] = Math.floor(value / 256 ** i);
  }

  long(value: bigint): void {
    this.number(Number(value & 0xffffffffn), 4);
    this.number(Number(value >> 32n), 4);
  }
}

function readData(datagram: Uint8Array, mode: Mode): Data {
  const tag = TAG_BYTES[mode];
  checkSize(datagram, HEAD + 1 + tag, LARGEST_DATAGRAM);
  const reader = new Reader(datagram, 1);
  const [link, counter] = [reader.number(4), reader.number(4)];
  return { type: "data", mode, link, counter, body: reader.take(datagram.length - HEAD - tag), tag: reader.take(tag) };
}

function readMessage(type: HandshakeMessage["type"], r: Reader): HandshakeMessage {
  switch (type) {
    case "link":
      r.take(1);
      return { type, nonce: r.take(16), versions: r.take(8), reserved: r.take(38) };
    case "challenge":
      return { type, nonce: r.take(16), stamp: r.long(), cookie: r.take(16), version: r.number(1), versions: r.take(8) };
    case "proof":
      return { type, offer: readOffer(r), stamp: r.long(), cookie: r.take(16), move: r.take(16), proof: r.take(16) };
    case "linked":
      return { type, nonce: r.take(16), link: r.number(4), share: r.take(32), agreed: readAgreed(r), proof: r.take(16) };
    case "refused":
      return { type, nonce: r.take(16), version: r.number(1), reason: r.number(1), proof: r.take(16) };
  }
}

function readOffer(r: Reader): Offer {
  r.take(1);
  return {
    nonce: r.take(16),
    protocol: r.number(4),
    mode: modeOf(r.number(1)) ?? ("" as Mode), // checkProof refuses it
    lanes: r.number(1),
    variants: r.number(1),
    extensions: r.number(2),
    timeout: r.number(2),
    format: r.take(8),
    identity: r.take(8),
    resume: r.number(4),
    digest: r.take(16),
    share: r.take(32),
  };
}

function readAgreed(r: Reader): Agreed {
  return { lanes: r.number(1), variant: r.number(1), extensions: r.number(2), timeout: r.number(2) };
}

function writeMessage(w: Writer, message: HandshakeMessage): void {
  switch (message.type) {
    case "link":
      w.number(VERSION, 1);
      [message.nonce, message.versions, message.reserved].forEach((field) => w.put(field));
      return;
    case "challenge":
      w.put(message.nonce);
      w.long(message.stamp);
      w.put(message.cookie);
      w.number(message.version, 1);
      return w.put(message.versions);
    case "proof":
      writeOffer(w, message.offer);
      w.long(message.stamp);
      [message.cookie, message.move, message.proof].forEach((field) => w.put(field));
      return;
    case "linked":
      w.put(message.nonce);
      w.number(message.link, 4);
      w.put(message.share);
      writeAgreed(w, message.agreed);
      return w.put(message.proof);
    case "refused":
      w.put(message.nonce);
      w.number(message.version, 1);
      w.number(message.reason, 1);
      return w.put(message.proof);
  }
}

function writeOffer(w: Writer, offer: Offer): void {
  w.number(VERSION, 1);
  w.put(offer.nonce);
  w.number(offer.protocol, 4);
  w.number(KINDS[offer.mode], 1);
  w.number(offer.lanes, 1);
  w.number(offer.variants, 1);
  w.number(offer.extensions, 2);
  w.number(offer.timeout, 2);
  w.put(offer.format);
  w.put(offer.identity);
  w.number(offer.resume, 4);
  w.put(offer.digest);
  w.put(offer.share);
}

function writeAgreed(w: Writer, { lanes, variant, extensions, timeout }: Agreed): void {
  w.number(lanes, 1);
  w.number(variant, 1);
  w.number(extensions, 2);
  w.number(timeout, 2);
}
