/** Reads the fields of a request, strictly; where one is missing or of another type the request is a bad one. */

import { LONGEST_SAMPLE } from "./estimates.js";
import type { Json, JsonObject } from "./json.js";
import { isWithin } from "./limits.js";
import { PacketError } from "./packets.js";
import { RecordError } from "./records.js";
import { SessionError } from "./sessions.js";
import { isTime, type Micros } from "./time.js";

/** A request that is answered with an error code. */
export class Refusal extends Error {
  /** @param at - the byte where the fault lies, where the operation answers one */
  constructor(
    readonly code: string,
    readonly at?: number,
  ) {
    super(code);
  }
}

export function demand(ok: boolean): void {
  if (!ok) throw new Refusal("bad_request");
}

export function readObject(value: Json | undefined): JsonObject {
  if (typeof value !== "object" || value === null || isArray(value)) throw new Refusal("bad_request");
  return value;
}

export function readArray(value: Json | undefined): readonly Json[] {
  if (!isArray(value)) throw new Refusal("bad_request");
  return value;
}

function isArray(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

export function text(object: JsonObject, field: string): string {
  const value = object[field];
  if (typeof value !== "string") throw new Refusal("bad_request");
  return value;
}

export function flag(object: JsonObject, field: string): boolean {
  const value = object[field];
  if (typeof value !== "boolean") throw new Refusal("bad_request");
  return value;
}

export function integer(object: JsonObject, field: string): bigint {
  const value = object[field];
  if (typeof value !== "bigint") throw new Refusal("bad_request");
  return value;
}

export function number(object: JsonObject, field: string): number {
  return toNumber(object[field]);
}

/** An integer as a number. Those beyond 2^53 are rounded, and are outside every limit before and after. */
export function toNumber(value: Json | undefined): number {
  if (typeof value !== "bigint") throw new Refusal("bad_request");
  return Number(value);
}

export function within(object: JsonObject, field: string, low: number, high: number): number {
  const value = number(object, field);
  demand(isWithin(value, low, high));
  return value;
}

/** An integer that a double may not hold. */
export function longWithin(object: JsonObject, field: string, low: bigint, high: bigint): bigint {
  const value = integer(object, field);
  demand(value >= low && value <= high);
  return value;
}

/** A time or a duration. */
export function micros(object: JsonObject, field: string): Micros {
  const value = integer(object, field);
  demand(isTime(value));
  return value;
}

/** A figure of the path. */
export function readSample(object: JsonObject, field: string): Micros {
  const value = micros(object, field);
  demand(value <= LONGEST_SAMPLE);
  return value;
}

/** Refuses with code and place (PKO-2, CHO-2). */
export function placed<Value>(run: () => Value): Value {
  try {
    return run();
  } catch (error) {
    if (error instanceof PacketError || error instanceof RecordError || error instanceof SessionError) throw new Refusal(error.code, error.at);
    throw error;
  }
}

export function formatHex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}

export function readHex(object: JsonObject, field: string): Uint8Array {
  const hex = text(object, field);
  demand(/^(?:[0-9a-f]{2})*$/.test(hex));
  return Buffer.from(hex, "hex");
}

/** Bytes of exactly this size. */
export function readBytes(object: JsonObject, field: string, size: number): Uint8Array {
  const bytes = readHex(object, field);
  demand(bytes.length === size);
  return bytes;
}
