/** What a sender learns of the path's rate, and how fast it sends (RECOVERY.md, sections 3, 4 and 6). */

import { since } from "./round-trip.js";
import { max, min, MS, type Micros } from "./time.js";

/** Nanoseconds. */
export type Nanos = bigint;

/** How long a receiver may wait with an ack. */
export const ACK_DELAY: Micros = 2n * MS;
/** The least interval between two slices. */
export const FASTEST: Nanos = 7_000n;
/** The longest that is measured. */
const SLOWEST: Nanos = 1_000_000_000n;

/** The smallest sample of the round trip of late (EST-6, EST-7). */
export class SmallestRoundTrip {
  static readonly #LIFE: Micros = 10_000n * MS;

  #value: Micros = 0n;
  #sampleAt: Micros | undefined;
  #nearAt: Micros = 0n;
  #drain: { readonly until: Micros; min: Micros } | undefined;

  /** 0 while there was no sample. */
  get value(): Micros {
    return this.#value;
  }

  /** Whether the sender waits for the queue to empty. */
  get isDraining(): boolean {
    return this.#drain !== undefined;
  }

  /** @param srtt - the smoothed round trip before this sample */
  sample(now: Micros, measured: Micros, srtt: Micros): void {
    const r = max(measured, 1n);
    const isLate = this.#sampleAt === undefined || now - this.#sampleAt >= SmallestRoundTrip.#LIFE;
    this.#sampleAt = now;
    if (isLate) return this.#set(now, r);
    if (r <= this.#value + max(this.#value / 8n, ACK_DELAY)) return this.#set(now, min(this.#value, r));
    if (this.#drain !== undefined) {
      this.#drain.min = min(this.#drain.min, r);
      if (now >= this.#drain.until) this.#set(now, this.#drain.min);
    } else if (now - this.#nearAt >= SmallestRoundTrip.#LIFE) {
      this.#drain = { until: now + 2n * srtt, min: r };
    }
  }

  /** A drain ends. */
  #set(now: Micros, value: Micros): void {
    this.#value = value;
    this.#nearAt = now;
    this.#drain = undefined;
  }
}

/** How long the path takes for a slice (RAT-1 to RAT-5). */
export class Rate {
  static readonly #LONG_TRAIN = 16;
  static readonly #SHORT_TRAIN = 4;
  static readonly #TRAIN_TIME: Micros = 20n * MS;
  static readonly #EPOCH: Micros = 10n * MS;

  #train: { readonly since: Micros; readonly from: number; gained: number } | undefined;
  #ranDryAt: Micros | undefined;
  /** The smallest sample of this epoch, which began at a time, and of the one before. */
  #epoch: { readonly at: Micros; smallest: Nanos; readonly before: Nanos | undefined } | undefined;

  /** `per_slice`; undefined while it is unknown. */
  get perSlice(): Nanos | undefined {
    if (this.#epoch === undefined) return undefined;
    const { smallest, before } = this.#epoch;
    return before === undefined ? smallest : min(smallest, before);
  }

  /** Something else than the path and the pace holds the sender back (RAT-4). */
  ranDry(now: Micros): void {
    this.#ranDryAt = now;
  }

  endTrain(): void {
    this.#train = undefined;
  }

  /** `gained` slices have arrived, and `newest` is the highest number that did (RAT-1). */
  news(now: Micros, gained: number, newest: number, minRtt: Micros, srtt: Micros): void {
    const train = this.#train;
    if (train !== undefined) {
      train.gained += gained;
      const elapsed = now - train.since;
      const isShort = train.gained >= Rate.#SHORT_TRAIN && elapsed >= max(minRtt / 2n, Rate.#TRAIN_TIME);
      if (train.gained < Rate.#LONG_TRAIN && !isShort) return;
      this.#sample(now, train.since, train.gained, newest - train.from, srtt);
    }
    this.#train = { since: now, from: newest, gained: 0 };
  }

  /** RAT-2, RAT-3 with the limit of a half, RAT-4. */
  #sample(now: Micros, began: Micros, gained: number, over: number, srtt: Micros): void {
    const took = 1000n * since(now, began);
    let x = took / BigInt(gained);
    if (over > gained) x = max(took / BigInt(over), x / 2n);
    x = max(x, FASTEST);
    const known = this.perSlice;
    const wasBusy = this.#ranDryAt === undefined || this.#ranDryAt < began - srtt;
    if (known === undefined || x < known || wasBusy) this.#count(now, x, srtt);
  }

  /** RAT-5. */
  #count(now: Micros, x: Nanos, srtt: Micros): void {
    const epoch = this.#epoch;
    if (epoch === undefined) this.#epoch = { at: now, smallest: x, before: undefined };
    else if (now - epoch.at >= max(srtt, Rate.#EPOCH)) this.#epoch = { at: now, smallest: x, before: epoch.smallest };
    else epoch.smallest = min(epoch.smallest, x);
  }
}

/** When the next slice may go out (PAC-3 to PAC-5). */
export class Pace {
  static readonly #CATCH_UP: Nanos = 20_000_000n;

  #at: Nanos = 0n;

  /** When the next slice may go out, rounded up. */
  get at(): Micros {
    return (this.#at + 999n) / 1000n;
  }

  isReady(now: Micros): boolean {
    return 1000n * now >= this.#at;
  }

  /** Time with nothing to send is not made up for (PAC-5). */
  skip(now: Micros): void {
    this.#at = max(this.#at, 1000n * now);
  }

  /** PAC-4; returns whether the driver came so late that the pace was not the limit. */
  sent(now: Micros, interval: Nanos): boolean {
    const earliest = 1000n * now - Pace.#CATCH_UP;
    const isLate = this.#at < earliest;
    this.#at = max(this.#at, earliest) + interval;
    return isLate;
  }
}

/** The interval for a rate that was measured (PAC-1 to PAC-3). */
export function measuredInterval(perSlice: Nanos | undefined): Nanos {
  return perSlice === undefined ? FASTEST : min(max((perSlice * 7n) / 8n, FASTEST), SLOWEST);
}
