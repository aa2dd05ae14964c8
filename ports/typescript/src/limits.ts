/** Limits of section 2.3, in bytes unless another unit is named, and what follows from them. */

import { MS, type Micros } from "./time.js";

/** Bytes in every slice but the last. */
export const SLICE_SIZE = 1024;
/** Slices in a chunk. */
export const MAX_SLICES = 256;
/** Bytes in a chunk. */
export const MAX_CHUNK = 262_144;
/** Bytes in a datagram. */
export const MAX_DATAGRAM = 1038;
/** Bytes in a datagram that holds an ack. */
export const MAX_ACK = 44;
/** Bytes that IPv4 and UDP add to a datagram. */
export const HEADER = 28;

/** `GIVE_UP` unless configured (sections 7.2 and 8.2). */
export const DEFAULT_GIVE_UP: Micros = 10_000n * MS;
/** The largest `GIVE_UP` that can be configured. */
export const MAX_GIVE_UP: Micros = 1n << 61n;

/** Number of ids of chunks; ids count modulo this. */
const CHUNK_IDS = 65_536;

/** The id of the chunk after `id` (CID-2). */
export function nextChunkId(id: number): number {
  return (id + 1) % CHUNK_IDS;
}

/** The id of the chunk before `id` (CID-3). */
export function previousChunkId(id: number): number {
  return (id + CHUNK_IDS - 1) % CHUNK_IDS;
}

/** Whether `id` is an id that a chunk can have (ENC-1). */
export function isChunkId(id: number): boolean {
  return isWithin(id, 0, CHUNK_IDS - 1);
}

/** Whether a chunk of `size` bytes is allowed (LIM-1). */
export function isChunkSize(size: number): boolean {
  return isWithin(size, 1, MAX_CHUNK);
}

/** Slices in a chunk of `size` bytes (LIM-2). */
export function slicesIn(size: number): number {
  return Math.ceil(size / SLICE_SIZE);
}

/** Whether slice `sliceId` of `numSlices` may hold `size` bytes (LIM-3). */
export function isSliceSize(sliceId: number, numSlices: number, size: number): boolean {
  return sliceId === numSlices - 1 ? isWithin(size, 1, SLICE_SIZE) : size === SLICE_SIZE;
}

/** Whether `value` is an integer from `low` to `high`. */
export function isWithin(value: number, low: number, high: number): boolean {
  return Number.isInteger(value) && value >= low && value <= high;
}

/** Throws unless `FIRST_ID` and `GIVE_UP` (microseconds) are within their limits. */
export function checkParameters(firstChunkId: number, giveUp: Micros): void {
  if (!isChunkId(firstChunkId)) throw new RangeError("the first chunk id must be 0 to 65,535");
  if (giveUp < 1n || giveUp > MAX_GIVE_UP) throw new RangeError("the time to give up must be 1 us to 2^61 us");
}
