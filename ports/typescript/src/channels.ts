/** Parameters and constants of channels (CHANNELS.md, section 2.3 and appendix A). */

import { isWithin } from "./limits.js";
import { max, min, MS, type Micros } from "./time.js";

export type ChannelKind = "ordered" | "unordered" | "unreliable";

/** Parameters that both ends share, except `sendQueue` and `giveUp` (CHP-1). */
export interface ChannelOptions {
  /** Sequences that may be under way: a power of two, 32 to 16,384; 1,024 by default. */
  readonly window?: number;
  /** The most bytes of a record's data: 1 to 1,024, which is the default. */
  readonly data?: number;
  /** The most fragments of a message: 2 to 64, which is the default. */
  readonly group?: number;
  /** Entries that wait at the sender, or are under way: the most fragments of a message to 32,768; 4,096 by default. */
  readonly sendQueue?: number;
  /** The first sequence: 0 to 2^32, 0 by default. */
  readonly first?: number;
  /** Microseconds without progress: 1 s to 3,600 s, 10 s by default. */
  readonly giveUp?: Micros;
}

export type Channel = Required<ChannelOptions> & { readonly kind: ChannelKind };

const MOST_WINDOW = 16_384;
const SECOND: Micros = 1000n * MS;

/** What appendix A names, in microseconds where it is a bigint (CHP-5). */
export const MOST_GROUPS = 32;
export const LEAST_CAP: Micros = 250n * MS;
export const REPEAT_LEAST: Micros = 20n * MS;
export const REPEAT_UNMEASURED: Micros = 50n * MS;
export const BACKOFF_MOST = 16;
export const REPORT_DELAY: Micros = 20n * MS;
export const REPORT_SPACING: Micros = 5n * MS;
export const MOST_SKIP = 256;
/** New sequences in a packet. */
export const FRESH = 128;
/** Packets that must overtake one before it is taken for lost. */
export const OVERTAKEN = 2;
export const HOLD_MARGIN: Micros = 10n * MS;
export const HOLD_UNMEASURED: Micros = 250n * MS;
export const PROBE_SOON: Micros = 20n * MS;
export const PROBE_MARGIN: Micros = 20n * MS;

/** A channel with every parameter; throws RangeError for one that is not allowed (CHP-2). */
export function channel(kind: ChannelKind, options: ChannelOptions = {}): Channel {
  const { window = 1024, data = 1024, group = 64, sendQueue = 4096, first = 0, giveUp = 10n * SECOND } = options;
  const isPower = isWithin(window, 32, MOST_WINDOW) && (window & (window - 1)) === 0;
  if (!isPower) throw new RangeError("the window must be a power of two, 32 to 16,384");
  if (!isWithin(data, 1, 1024)) throw new RangeError("the data must be 1 to 1,024 bytes");
  if (!isWithin(group, 2, 64)) throw new RangeError("the group must be 2 to 64 fragments");
  if (!isWithin(sendQueue, Math.min(group, window), 32_768)) throw new RangeError("the queue must have room for a message, and at most 32,768");
  if (!isWithin(first, 0, 2 ** 32)) throw new RangeError("the first sequence must be 0 to 2^32");
  if (giveUp < SECOND || giveUp > 3600n * SECOND) throw new RangeError("the time to give up must be 1 s to 3,600 s");
  return { kind, window, data, group, sendQueue, first, giveUp };
}

/** The most fragments of a message. */
export function mostFragments({ group, window }: Channel): number {
  return Math.min(group, window);
}

/** A wait of `first` that was doubled `wait` times, up to its cap (CHV-5). */
export function backedOff(first: Micros, wait: number, srtt: Micros): Micros {
  return min(first << BigInt(wait), max(2n * srtt, LEAST_CAP));
}
