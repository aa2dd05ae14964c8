/** The base algorithm (appendix G), one scheduler for a sender. */

import { HEADER, isWithin, SLICE_SIZE, slicesIn } from "./limits.js";
import { RoundTrip, since } from "./round-trip.js";
import type { Scheduler } from "./sender.js";
import { max, min, MS, NEVER, type Deadline, type Micros } from "./time.js";

/** How fast the algorithm sends (appendix G.5). */
export interface Profile {
  /** Regular rate in bytes a second, 1,066 to 10^9; 0: unlimited. */
  readonly rate: number;
  /** The most bytes that can be saved up, 1,066 to 10^9. */
  readonly cap: number;
  /** Bytes that a chunk can begin with, 0 to the cap. */
  readonly burst: number;
  /** Whether what arrived pays for what is sent (BUD-6). */
  readonly acksPay: boolean;
  /** Least time between two slices, in microseconds. */
  readonly spacing: Micros;
  /** Fixed delay before a slice is sent again, in microseconds; 0: from the round trip. */
  readonly resendDelay: Micros;
}

/** Bytes with headers of a slice that is not the last (BUD-2). */
const FULL_COST = SLICE_SIZE + 13 + HEADER;
/** Bytes with headers of a last slice, without its data (BUD-2). */
const LAST_COST = 14 + HEADER;
/** The most bytes that a slice costs: the least rate and cap (BUD-1). */
const MAX_COST = LAST_COST + SLICE_SIZE;
/** The largest rate and cap (BUD-1). */
const MAX_RATE = 1_000_000_000;

/** All slices at once, then as much as is seen to arrive. */
export const BURST: Profile = {
  rate: 125_000,
  cap: 272_896,
  burst: 272_896,
  acksPay: true,
  spacing: 85n,
  resendDelay: 0n,
};

/** A fixed rate in bytes a second. */
export function fixed(rate: number): Profile {
  const cap = Math.max(16 * MAX_COST, Math.trunc(rate / 50));
  return { rate, cap, burst: 0, acksPay: false, spacing: 0n, resendDelay: 0n };
}

/** A fixed rate in bytes a second, with the resend delay of the article. */
export function article(rate: number): Profile {
  return { ...fixed(rate), resendDelay: 100n * MS };
}

/** Throws RangeError for a figure outside its limits (BUD-1). */
function checkProfile({ rate, cap, burst, spacing, resendDelay }: Profile): void {
  if (rate !== 0 && !isWithin(rate, MAX_COST, MAX_RATE)) throw new RangeError("the rate must be 0 or 1,066 to 10^9 B/s");
  if (!isWithin(cap, MAX_COST, MAX_RATE)) throw new RangeError("the cap must be 1,066 to 10^9 bytes");
  if (!isWithin(burst, 0, cap)) throw new RangeError("the burst must be 0 bytes to the cap");
  if (spacing < 0n || resendDelay < 0n) throw new RangeError("spacing and resend delay must not be negative");
}

/**
 * Sends what was never sent or was found lost, at the pace of a {@link Profile}.
 * The constructor throws RangeError for a profile outside the limits of BUD-1.
 */
export class BaseScheduler implements Scheduler {
  readonly #spacing: Micros;
  readonly #resendDelay: Micros;
  #roundTrip: Samples;
  readonly #budget: Budget;
  #flight = new Flight(0n, 0);
  #spacedUntil: Micros = 0n;

  constructor(profile: Profile) {
    checkProfile(profile);
    this.#spacing = profile.spacing;
    this.#resendDelay = profile.resendDelay;
    this.#roundTrip = new Samples(profile.resendDelay);
    this.#budget = new Budget(profile);
  }

  /** The path is another one; slices sent before give no sample of it (CXL-10). */
  forgetPath(): void {
    this.#roundTrip = new Samples(this.#resendDelay);
    this.#flight.moved();
  }

  /** SCH-5. */
  start(now: Micros, size: number): void {
    this.#roundTrip.start();
    this.#flight = new Flight(now, size);
    this.#spacedUntil = max(this.#spacedUntil, now);
    this.#budget.start(now);
  }

  /** SCH-6. */
  next(now: Micros): number | undefined {
    const flight = this.#flight;
    if (this.#timerRanOut(now)) this.#probe(now);
    if (now < this.#spacedUntil) return undefined; // SPC-1
    const k = flight.nextDue();
    if (k === undefined) return undefined;
    this.#budget.pay(now);
    if (!this.#budget.take(flight.cost(k))) return undefined;
    flight.send(now, k);
    this.#spacedUntil = max(this.#spacedUntil, now - 20n * MS) + this.#spacing; // SPC-2
    return k;
  }

  /** SCH-8. */
  news(now: Micros, slices: readonly number[]): void {
    const flight = this.#flight;
    flight.newsAt = now;
    flight.backoff = 0;
    flight.probe = flight.numSlices;
    const transmissions = slices.map((k) => flight.transmission(k));
    this.#roundTrip.sample(now, transmissions.filter(({ first }) => flight.isOfPath(first)));
    for (const transmission of transmissions) this.#arrive(now, transmission);
    flight.remove(slices);
    if (flight.heldAt !== undefined) this.#release(now);
    this.#findLost(now);
    this.#budget.pay(now);
    this.#budget.acked(slices.reduce((sum, k) => sum + flight.cost(k), 0n));
  }

  /** SCH-10: what is sent to a peer that cannot take it is wasted. */
  hold(now: Micros): void {
    this.#flight.heldAt ??= now;
    this.#flight.due.clear();
  }

  /** SCH-9. */
  deadline(): Deadline {
    const flight = this.#flight;
    const k = flight.nextDue();
    if (k !== undefined) return max(this.#spacedUntil, this.#budget.coveredAt(flight.cost(k)));
    return flight.unacked.size > 0 ? this.#timer() : NEVER;
  }

  /** GAP-1. */
  #arrive(now: Micros, transmission: Transmission): void {
    const { first, last, lastAt } = transmission;
    const isLast = !isResent(transmission) || this.#roundTrip.isPlausible(now - lastAt);
    this.#flight.arrived = Math.max(this.#flight.arrived, isLast ? last : first);
    this.#flight.atBest = Math.max(this.#flight.atBest, last);
  }

  /** The hold has ended: what was never sent is due again (SCH-8). */
  #release(now: Micros): void {
    this.#flight.heldAt = undefined;
    for (const k of this.#flight.unsent()) this.#enter(now, k);
  }

  /** GAP-2. */
  #findLost(now: Micros): void {
    for (const k of this.#flight.lost()) this.#enter(now, k);
  }

  /** SPC-3. */
  #enter(now: Micros, k: number): void {
    if (this.#flight.due.size === 0) this.#spacedUntil = max(this.#spacedUntil, now);
    this.#flight.due.add(k);
  }

  /** When the resend timer runs out (TMR-1, TMR-5, TMR-6). */
  #timer(): Micros {
    const { sentAt, newsAt, heldAt, backoff } = this.#flight;
    if (heldAt !== undefined) return max(sentAt, heldAt) + this.#roundTrip.holdDelay(sentAt - heldAt);
    const base = this.#roundTrip.baseDelay;
    const delay = backoff === 0 ? base : min(base << BigInt(backoff), max(base / 8n, 250n * MS));
    return max(sentAt + delay, newsAt + this.#roundTrip.margin);
  }

  #timerRanOut(now: Micros): boolean {
    const { due, unacked } = this.#flight;
    return due.size === 0 && unacked.size > 0 && now >= this.#timer();
  }

  /** TMR-4. */
  #probe(now: Micros): void {
    const flight = this.#flight;
    flight.arrived = flight.atBest;
    this.#findLost(now);
    flight.backoff = Math.min(flight.backoff + 1, 3);
    const probes = flight.heldAt !== undefined ? 1 : Math.min(2 << (flight.backoff - 1), flight.unacked.size);
    for (let i = 0; i < probes; i++) this.#enter(now, flight.nextProbe());
  }
}

/** When a slice was sent, by number and time; numbers count from 1 (SCH-7). */
interface Transmission {
  readonly first: number;
  readonly firstAt: Micros;
  readonly last: number;
  readonly lastAt: Micros;
}

function isResent({ first, last }: Transmission): boolean {
  return first !== last;
}

/** What is kept for the chunk in flight (appendix G.1). */
class Flight {
  readonly numSlices: number;
  /** Slices not known to have arrived. */
  readonly unacked: Set<number>;
  /** Those of them that are to be sent. */
  readonly due: Set<number>;
  probe: number;
  /** The highest number of a transmission known to have arrived. */
  arrived = 0;
  /** The highest number of a transmission that may have arrived. */
  atBest = 0;
  /** Time of the latest transmission; of the start while there is none. */
  sentAt: Micros;
  /** Time of the latest newly acked slice. */
  newsAt: Micros;
  /** Since when the peer cannot take the chunk; undefined while it can. */
  heldAt: Micros | undefined = undefined;
  backoff = 0;
  readonly #lastCost: bigint;
  readonly #transmissions = new Map<number, Transmission>();
  #cursor = 0;
  #count = 0;
  /** Up to this number transmissions went out on another path. */
  #moved = 0;

  /** @param size - bytes of the chunk */
  constructor(now: Micros, size: number) {
    this.numSlices = slicesIn(size);
    this.unacked = new Set(Array(this.numSlices).keys());
    this.due = new Set(this.unacked);
    this.probe = this.numSlices;
    this.sentAt = now;
    this.newsAt = now;
    this.#lastCost = BigInt(LAST_COST + size - SLICE_SIZE * (this.numSlices - 1));
  }

  /** Bytes that slice k costs (BUD-2). */
  cost(k: number): bigint {
    return k === this.numSlices - 1 ? this.#lastCost : BigInt(FULL_COST);
  }

  /** The slice of `due` that goes next: the first from the cursor on, else the first of all (SCH-6). */
  nextDue(): number | undefined {
    const due = [...this.due].sort((a, b) => a - b);
    return due.find((k) => k >= this.#cursor) ?? due[0];
  }

  /** The slice that is probed next: the largest below the last probe, else the largest of all (TMR-4). */
  nextProbe(): number {
    const unacked = [...this.unacked];
    const below = unacked.filter((k) => k < this.probe);
    this.probe = Math.max(...(below.length > 0 ? below : unacked));
    return this.probe;
  }

  /** Slices in flight that two later transmissions have overtaken (GAP-2). */
  lost(): number[] {
    return [...this.unacked].filter((k) => {
      const last = this.#transmissions.get(k)?.last ?? 0;
      return !this.due.has(k) && last + 2 <= this.arrived;
    });
  }

  /** Slices that were never sent. */
  unsent(): number[] {
    return [...this.unacked].filter((k) => !this.#transmissions.has(k));
  }

  /** The transmissions of a slice that was sent. */
  transmission(k: number): Transmission {
    const transmission = this.#transmissions.get(k);
    if (transmission === undefined) throw new RangeError(`slice ${k} was never sent`);
    return transmission;
  }

  /** The path is another one. */
  moved(): void {
    this.#moved = this.#count;
  }

  /** Whether a transmission went out on this path. */
  isOfPath(number: number): boolean {
    return number > this.#moved;
  }

  /** SCH-7. */
  send(now: Micros, k: number): void {
    const last = ++this.#count;
    const { first, firstAt } = this.#transmissions.get(k) ?? { first: last, firstAt: now };
    this.#transmissions.set(k, { first, firstAt, last, lastAt: now });
    this.sentAt = now;
    this.due.delete(k);
    this.#cursor = k + 1;
  }

  /** These slices have arrived. */
  remove(slices: readonly number[]): void {
    for (const k of slices) {
      this.unacked.delete(k);
      this.due.delete(k);
    }
  }
}

/** The estimates of the round trip, and how samples are taken (appendix G.2). */
class Samples extends RoundTrip {
  #minRtt: Micros = 0n;

  /** Takes at most one sample from newly acked slices (RTT-1). */
  sample(now: Micros, news: readonly Transmission[]): void {
    const once = latest(news.filter((sent) => !isResent(sent)));
    if (once !== undefined) return this.#take(since(now, once.lastAt));
    if (this.isMeasured) {
      const plausible = latest(news.filter((sent) => this.isPlausible(now - sent.lastAt)));
      if (plausible !== undefined) this.measure(since(now, plausible.lastAt)); // RTT-3
      return;
    }
    const any = latest(news);
    if (any !== undefined) this.limit(since(now, any.firstAt));
  }

  /** Whether a slice may have taken so long: an ack cannot be faster than any before (GAP-1, RTT-3). */
  isPlausible(elapsed: Micros): boolean {
    return this.isMeasured && elapsed >= this.#minRtt;
  }

  /** RTT-2. */
  #take(r: Micros): void {
    this.#minRtt = this.isMeasured ? min(this.#minRtt, r) : r;
    this.measure(r);
  }
}

/** The transmission with the largest latest number. */
function latest(transmissions: readonly Transmission[]): Transmission | undefined {
  return transmissions.reduce<Transmission | undefined>(
    (best, next) => (best === undefined || next.last > best.last ? next : best),
    undefined,
  );
}

/**
 * Bytes that may be sent (appendix G.4). Amounts are in millionths of a byte, so that a rate in bytes a second
 * times microseconds is exact; they reach beyond 2^53, so they are bigints.
 */
class Budget {
  static readonly #UNIT = 1_000_000n;
  /** The longest time that pays, in microseconds (BUD-3). */
  static readonly #LONGEST: Micros = 1_000_000_000n;

  readonly #rate: bigint;
  readonly #cap: bigint;
  readonly #burst: bigint;
  readonly #acksPay: boolean;
  #left: bigint;
  #paidAt: Micros = 0n;
  #byTime = 0n;

  constructor({ rate, cap, burst, acksPay }: Profile) {
    this.#rate = BigInt(rate);
    this.#cap = BigInt(cap) * Budget.#UNIT;
    this.#burst = BigInt(burst) * Budget.#UNIT;
    this.#acksPay = acksPay;
    this.#left = this.#cap;
  }

  /** BUD-5, and what SCH-5 says of the budget. */
  start(now: Micros): void {
    this.pay(now);
    this.#left = max(this.#left, this.#burst);
    this.#byTime = 0n;
  }

  /** Refills the budget by time (BUD-3). */
  pay(now: Micros): void {
    const earned = this.#rate * min(now - this.#paidAt, Budget.#LONGEST);
    this.#paidAt = now;
    this.#byTime = min(this.#byTime + earned, this.#cap);
    this.#left = min(this.#left + earned, this.#cap);
  }

  /** Takes a cost in bytes if the budget covers it, and returns whether it did (BUD-2). */
  take(cost: bigint): boolean {
    if (this.#rate === 0n) return true;
    const amount = cost * Budget.#UNIT;
    if (this.#left < amount) return false;
    this.#left -= amount;
    return true;
  }

  /** When the budget covers a cost in bytes (BUD-4). */
  coveredAt(cost: bigint): Micros {
    const missing = cost * Budget.#UNIT - this.#left;
    if (this.#rate === 0n || missing <= 0n) return this.#paidAt;
    return this.#paidAt + (missing + this.#rate - 1n) / this.#rate;
  }

  /** Slices of this cost in bytes have arrived (BUD-6). */
  acked(cost: bigint): void {
    if (!this.#acksPay) return;
    const amount = cost * Budget.#UNIT;
    if (amount > this.#byTime) this.#left = min(this.#left + amount - this.#byTime, this.#cap);
    this.#byTime = 0n;
  }
}
