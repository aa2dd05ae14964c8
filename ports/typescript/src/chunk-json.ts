/** Packets and profiles of the chunk protocol in requests and responses (PROTOCOL.md, appendix B; RECOVERY.md, appendix B). */

import type { Profile } from "./base.js";
import { EncodeError, type Packet } from "./codec.js";
import type { RatelessProfile } from "./control.js";
import { flag, formatHex, number, readHex, readObject, Refusal, text, within } from "./fields.js";
import type { JsonObject } from "./json.js";
import { formatBits, type TraceProfile } from "./trace.js";

/** The longest spacing and resend delay of a trace, in microseconds (TRC-2). */
const LONGEST_DELAY = 1_000_000_000;

export function describePacket(packet: Packet): JsonObject {
  if (packet.type === "ack") {
    return { type: packet.type, chunk_id: packet.chunkId, acked: formatBits(packet.acked) };
  }
  const { type, chunkId, sliceId, numSlices, data } = packet;
  return { type, chunk_id: chunkId, slice_id: sliceId, num_slices: numSlices, data: formatHex(data) };
}

/** A packet; its values need not be valid, for the encoder to refuse them. */
export function readPacket(packet: JsonObject): Packet {
  const type = text(packet, "type");
  if (type === "ack") {
    const [chunkId, bits] = [number(packet, "chunk_id"), text(packet, "acked")];
    if (!isBits(bits)) throw new EncodeError("acked");
    return { type, chunkId, acked: parseBits(bits) };
  }
  if (type !== "slice") throw new EncodeError("type"); // ENC-6
  return {
    type,
    chunkId: number(packet, "chunk_id"),
    sliceId: number(packet, "slice_id"),
    numSlices: number(packet, "num_slices"),
    data: readHex(packet, "data"),
  };
}

export function isBits(bits: string): boolean {
  return /^[01]*$/.test(bits);
}

/** One character a slice, slice 0 first. */
export function parseBits(bits: string): boolean[] {
  return Array.from(bits, (character) => character === "1");
}

/** TRC-2, RVO-1: null is the scripted scheduler. The scheduler checks the limits of BUD-1 or PRO-1. */
export function readProfile(config: JsonObject): TraceProfile {
  if (config["profile"] === null) return null;
  const object = readObject(config["profile"]);
  return "recovery" in object ? readRecovery(object) : readBaseProfile(object);
}

/** TRC-2. */
export function readBaseProfile(object: JsonObject): Profile {
  return {
    rate: number(object, "rate"),
    cap: number(object, "cap"),
    burst: number(object, "burst"),
    acksPay: flag(object, "acks_pay"),
    spacing: BigInt(within(object, "spacing_us", 0, LONGEST_DELAY)),
    resendDelay: BigInt(within(object, "resend_delay_us", 0, LONGEST_DELAY)),
  };
}

/** RVO-1. */
function readRecovery(object: JsonObject): RatelessProfile {
  const name = text(object, "recovery");
  const kind = (["adaptive", "redundant", "burst", "fixed"] as const).find((known) => known === name);
  if (kind === undefined) throw new Refusal("bad_request");
  return { kind, limit: number(object, "rate") };
}
