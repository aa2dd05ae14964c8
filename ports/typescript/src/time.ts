/**
 * A time or a duration in microseconds, not negative and below 2^62 (section 2.2).
 * Times reach beyond 2^53, so they are bigints.
 */
export type Micros = bigint;

/** Whether a time or a duration is within its limits. */
export function isTime(value: bigint): boolean {
  return value >= 0n && value < 1n << 62n;
}

/** A time that does not come. */
export const NEVER = null;

/** A time, or {@link NEVER}. */
export type Deadline = Micros | typeof NEVER;

/** Microseconds in a millisecond. */
export const MS: Micros = 1000n;

/** The earlier of two deadlines. */
export function earlier(a: Deadline, b: Deadline): Deadline {
  if (a === NEVER) return b;
  if (b === NEVER) return a;
  return a < b ? a : b;
}

/** The smallest of some integers. */
export function min(first: bigint, ...others: readonly bigint[]): bigint {
  return others.reduce((a, b) => (b < a ? b : a), first);
}

/** The largest of some integers. */
export function max(first: bigint, ...others: readonly bigint[]): bigint {
  return others.reduce((a, b) => (b > a ? b : a), first);
}

/** A machine's clock, which never runs backward (TIM-1, CHN-3). */
export class Clock {
  #latest: Micros = 0n;

  get latest(): Micros {
    return this.#latest;
  }

  /** Takes note of a time and returns it, or the latest one if that is later. */
  advance(now: Micros): Micros {
    this.#latest = max(this.#latest, now);
    return this.#latest;
  }
}
