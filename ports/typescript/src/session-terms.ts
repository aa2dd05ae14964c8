/** What the ends of a connection offer and agree on (CONNECTION.md, section 2.3), and addresses (section 2.2). */

import type { Channels } from "./records.js";
import { isWithin } from "./limits.js";
import { isReliable } from "./channels.js";
import { concat } from "./packets.js";
import { NO_EXTENSION } from "./session-keys.js";
import { isZero, KINDS, LEAST_TIMEOUT, MOST_LANES, MOST_TIMEOUT, type Agreed, type Mode, type Offer } from "./sessions.js";
import { sha256 } from "./sha256.js";

/** The variants: slices as in PROTOCOL.md, and as in REPAIR.md. */
export const NAMED = 1;
export const REPAIR = 2;
/** The extension of marks of congestion. */
export const MARKS = 1;
/** The extension of clocks. */
export const CLOCKS = 2;

/** What an end offers (CXP-1). */
export interface Terms {
  /** 32 bits, equal at both ends. */
  readonly protocol: number;
  readonly mode: Mode;
  /** 0 to 16; 0: no chunks. */
  readonly lanes: number;
  /** A set: the sum of {@link NAMED} and {@link REPAIR}, or one of them. */
  readonly variants: number;
  /** A set: the sum of {@link MARKS} and {@link CLOCKS}, one of them, or 0. */
  readonly extensions: number;
  /** In units of 100 ms, 10 to 36,000. */
  readonly timeout: number;
  /** {@link formatOf} the channels, 8 bytes. */
  readonly format: Uint8Array;
}

/** Throws RangeError for terms that are not allowed (CXP-2). */
export function checkTerms(terms: Terms): void {
  const { protocol, mode, lanes, variants, extensions, timeout, format } = terms;
  demand(isWithin(protocol, 0, 0xffffffff), "the protocol id must have 32 bits");
  demand(mode in KINDS, "the mode must be crc, mac or aead");
  demand(isWithin(lanes, 0, MOST_LANES), "there are 0 to 16 lanes");
  demand(isWithin(variants, lanes > 0 ? 1 : 0, 255), "the variants must have 8 bits, and one with lanes");
  demand(isWithin(extensions, 0, 0xffff), "the extensions must have 16 bits");
  demand(isWithin(timeout, LEAST_TIMEOUT, MOST_TIMEOUT), "the timeout must be 1 s to 3,600 s");
  demand(format.length === 8, "the format must have 8 bytes");
}

export function demand(ok: boolean, message: string): void {
  if (!ok) throw new RangeError(message);
}

/** CXP-3, or null if no variant is common. */
export function agree(own: Terms, offer: Offer): Agreed | null {
  const lanes = Math.min(own.lanes, offer.lanes);
  const common = own.variants & offer.variants;
  if (lanes > 0 && common === 0) return null;
  const variant = lanes > 0 ? 1 << (31 - Math.clz32(common)) : 0;
  const extensions = own.extensions & offer.extensions & ~NO_EXTENSION;
  return { lanes, variant, extensions, timeout: Math.min(own.timeout, offer.timeout) };
}

const KIND_NUMBERS = { ordered: 0, unordered: 1, unreliable: 2, latest: 3 } as const;

/** FORMAT (CXP-4), with the defaults of the packet layer. */
export function formatOf(channels: Channels): Uint8Array {
  const ids = [...channels.keys()].sort((a, b) => a - b);
  const parts = ids.map((id) => {
    const { kind, window, data, group } = channels.get(id)!;
    const [w, d, g] = !isReliable(kind) ? [0, 0, 0] : [window, data, group];
    return Uint8Array.of(id, KIND_NUMBERS[kind], w, w >> 8, d, d >> 8, g);
  });
  return sha256(Uint8Array.of(0, 4, 16, 0, ids.length), ...parts).slice(0, 8);
}

const IPV4_AS_IPV6 = Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255);

/** The 18 bytes of an address: of "192.0.2.1:40000", of "[2001:db8::1]:40000", or of any other text (CXN-7). */
export function addressBytes(text: string): Uint8Array {
  const [, six, four, digits = ""] = /^(?:\[([0-9a-fA-F:.]+)\]|([0-9.]+)):(\d+)$/.exec(text) ?? [];
  const ip = six === undefined ? four && ipv4(four) : ipv6(six);
  const port = Number(digits);
  if (!ip || port > 0xffff) return sha256(new TextEncoder().encode(text)).slice(0, 18);
  return concat(ip.length === 4 ? IPV4_AS_IPV6 : new Uint8Array(), ip, Uint8Array.of(port, port >> 8));
}

/** CXN-8. */
export function prefixOf(address: Uint8Array): Uint8Array {
  const isIpv4 = isZero(address.subarray(0, 10)) && address[10] === 255 && address[11] === 255;
  return address.subarray(0, isIpv4 ? 16 : 8);
}

function ipv4(text: string): Uint8Array | null {
  const bytes = text.split(".");
  const isValid = bytes.length === 4 && bytes.every((byte) => /^(0|[1-9]\d{0,2})$/.test(byte) && Number(byte) < 256);
  return isValid ? Uint8Array.from(bytes, Number) : null;
}

function ipv6(text: string): Uint8Array | null {
  const [head = "", tail, ...more] = text.split("::");
  const [first, last] = [groups(head, tail === undefined), tail === undefined ? [] : groups(tail, true)];
  if (first === null || last === null || more.length > 0) return null;
  const missing = 16 - first.length - last.length;
  if (tail === undefined ? missing !== 0 : missing < 2) return null;
  return Uint8Array.from([...first, ...new Array<number>(missing).fill(0), ...last]);
}

/** The bytes of groups; the last can be an IPv4 address if they are at the end. */
function groups(text: string, isEnd: boolean): number[] | null {
  if (text === "") return [];
  const bytes: number[] = [];
  const parts = text.split(":");
  for (const [i, part] of parts.entries()) {
    const four = isEnd && i === parts.length - 1 && part.includes(".") ? ipv4(part) : null;
    if (four !== null) bytes.push(...four);
    else if (/^[0-9a-fA-F]{1,4}$/.test(part)) bytes.push(parseInt(part, 16) >> 8, parseInt(part, 16) & 255);
    else return null;
  }
  return bytes;
}
