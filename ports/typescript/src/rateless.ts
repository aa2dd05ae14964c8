/** The rule of a sender of repair slices (REPAIR.md, section 7). */

import { ACK_DELAY, FASTEST, measuredInterval, Pace, Rate, SmallestRoundTrip, type Nanos } from "./control.js";
import type { RepairScheduler } from "./repair-sender.js";
import { RoundTrip, since } from "./round-trip.js";
import { max, min, MS, NEVER, type Deadline, type Micros } from "./time.js";

/** How fast it sends, and how much for certainty (RPL-14). */
export interface RatelessProfile {
  readonly kind: "adaptive" | "redundant" | "burst" | "fixed";
  /** Limit in bits a second with IP and UDP headers, 8,528 to 8 * 10^9; 0: none, not for `fixed`. */
  readonly limit: number;
}

export const ADAPTIVE: RatelessProfile = { kind: "adaptive", limit: 0 };

/** Bits of the largest datagram with headers. */
const DATAGRAM_BITS = 8n * 1066n;
const BURST_INTERVAL: Nanos = 85_000n;
const MOST_NEED = 1024;
const KEPT_TIMES = 1024;
const FIRST_WINDOW = 64;
const YIELD_WINDOW = 16;
const DRAIN_WINDOW = 4;
const PROBES = 2;
const PROBE_DELAY: Micros = 250n * MS;

/** How much was lost, in sixteenths of a slice, kept across chunks (RPL-1, RPL-4, steps 3 to 5 of RPL-5). */
export class LossEstimate {
  static readonly #SETTLED = 1536;
  static readonly #PRIOR = 448;
  static readonly #MOST = 16_384;

  /** @param deviations - Z, the square of how many standard deviations are added */
  constructor(
    readonly deviations: number,
    public lost = 16,
    public arrived = 512,
    public settled = false,
  ) {}

  /** Of `passed` numbers that `top` went over, `gained` arrived. */
  count(passed: number, gained: number): void {
    this.arrived += 16 * gained;
    this.lost = Math.max(this.lost + 16 * (passed - gained), 0);
    if (!this.settled && this.arrived >= LossEstimate.#SETTLED) {
      this.arrived -= LossEstimate.#PRIOR;
      this.settled = true;
    }
    if (this.lost + this.arrived > LossEstimate.#MOST) {
      this.lost = Math.trunc(this.lost / 2);
      this.arrived = Math.max(Math.trunc(this.arrived / 2), 1);
    }
  }

  /** How many slices must be under way for `missing` to arrive (RPL-4). Every value is below 2^53. */
  need(missing: number): number {
    const { arrived } = this;
    const lost = Math.min(this.lost, 32 * arrived);
    const mean = Math.trunc((256 * missing * lost) / arrived);
    let variance = mean + Math.trunc((mean * lost) / arrived);
    variance += Math.trunc((variance * 16 * missing) / arrived);
    const spread = Math.floor(Math.sqrt(256 * this.deviations * variance));
    return Math.min(missing + Math.trunc((mean + spread + 128) / 256), MOST_NEED);
  }
}

/** What is kept for the chunk in flight (RPL-2). */
class Flight {
  sent = 0;
  have = 0;
  top = 0;
  /** What has a number below is not under way any more, by the timer. */
  gone = 0;
  mainAt: Micros;
  lastAt: Micros;
  newsAt: Micros;
  probeAt: Micros = 0n;
  /** How many slices may still go out without news. */
  quota: number;
  heldAt: Micros | undefined = undefined;
  isIdle = true;
  readonly #sentAt: Micros[] = [];

  constructor(
    now: Micros,
    readonly numSlices: number,
    wasHeld: boolean,
  ) {
    this.quota = wasHeld ? 1 : Infinity;
    this.mainAt = this.lastAt = this.newsAt = now;
  }

  get missing(): number {
    return this.numSlices - this.have;
  }

  /** How many are under way. */
  get size(): number {
    return this.sent - Math.max(this.top, this.gone);
  }

  /** When a transmission went out; undefined if that is not known any more. */
  sentAt(number: number): Micros | undefined {
    return number >= this.sent - KEPT_TIMES ? this.#sentAt[number % KEPT_TIMES] : undefined;
  }

  /** Step 6 of RPL-9. */
  send(now: Micros): void {
    this.#sentAt[this.sent % KEPT_TIMES] = now;
    this.lastAt = now;
    if (this.quota === Infinity) this.mainAt = now;
    this.quota--;
    this.sent++;
  }
}

/**
 * Sends as many slices as it takes for the missing ones to arrive, with what it knows of the losses, as fast as the
 * path takes them. The constructor throws RangeError for a profile outside the limits of PRO-1 and PRO-4.
 */
export class RatelessScheduler implements RepairScheduler {
  readonly #profile: RatelessProfile;
  /** The interval of the limit. */
  readonly #limit: Nanos;
  readonly #loss: LossEstimate;
  readonly #roundTrip = new RoundTrip();
  readonly #smallest = new SmallestRoundTrip();
  readonly #rate = new Rate();
  readonly #pace = new Pace();
  #flight: Flight | undefined;
  /** Whether a long hold ended during the chunk in flight, or else during the one before. */
  #wasHeld = false;

  /** Whether other packets on the path must not wait behind slices (WIN-5). */
  isYielding = false;

  constructor(profile: RatelessProfile = ADAPTIVE) {
    const { kind, limit } = profile;
    if (limit !== 0 && (limit < 8 * 1066 || limit > 8e9)) throw new RangeError("the limit must be 8,528 to 8 * 10^9 bit/s");
    if (kind === "fixed" && limit === 0) throw new RangeError("a fixed rate needs a limit");
    this.#profile = profile;
    this.#limit = limit === 0 ? 0n : (DATAGRAM_BITS * 1_000_000_000n) / BigInt(limit);
    this.#loss = new LossEstimate(kind === "redundant" ? 9 : 4);
  }

  /** RPL-2. */
  start(now: Micros, numSlices: number): void {
    this.#roundTrip.start();
    this.#flight = new Flight(now, numSlices, this.#wasHeld);
    this.#wasHeld = false;
    this.#rate.endTrain();
  }

  /** RPL-5. */
  news(now: Micros, have: number, top: number): void {
    const flight = this.#flight;
    if (flight === undefined) return;
    const gained = have - flight.have;
    const { top: before, gone, heldAt } = flight;
    if (top > before) this.#sample(now, flight, top, have);
    if (heldAt !== undefined) this.#release(now, flight, heldAt, gained);
    else if (before < gone && gone < top) this.#loss.count(top - gone, Math.min(gained, top - gone));
    else this.#loss.count(top - before, gained);
    flight.have = have;
    flight.top = top;
    this.#rate.news(now, gained, top, this.#smallest.value, this.#roundTrip.srtt);
    flight.heldAt = undefined;
    if (gained === 0 && top - have > MOST_NEED) {
      flight.quota = 0; // a peer that denies everything draws probes only
      return;
    }
    flight.newsAt = now;
    flight.probeAt = 0n;
    flight.quota = Infinity;
    if (flight.missing === 0) this.#flight = undefined;
  }

  /** RPL-12. */
  hold(now: Micros): void {
    const flight = this.#flight;
    if (flight === undefined) return;
    flight.heldAt ??= now;
    flight.gone = flight.sent;
    flight.quota = 0;
    this.#rate.endTrain();
  }

  /** RPL-9. */
  next(now: Micros): boolean {
    const flight = this.#flight;
    if (flight === undefined) return false;
    if (!this.#isWanted(flight) && now >= this.#timer(flight)) this.#timerRanOut(now, flight);
    if (this.#isEnough(flight) || this.#smallest.isDraining) this.#rate.ranDry(now);
    if (!this.#isWanted(flight)) {
      flight.isIdle = true;
      return false;
    }
    if (flight.isIdle) this.#pace.skip(now);
    flight.isIdle = false;
    if (!this.#pace.isReady(now)) return false;
    if (this.#pace.sent(now, this.#interval(flight))) this.#rate.ranDry(now);
    flight.send(now);
    return true;
  }

  /** RPL-13. */
  deadline(): Deadline {
    const flight = this.#flight;
    if (flight === undefined) return NEVER;
    return this.#isWanted(flight) ? this.#pace.at : this.#timer(flight);
  }

  /** Step 1 of RPL-5, for the latest number that arrived. */
  #sample(now: Micros, flight: Flight, top: number, have: number): void {
    const sentAt = flight.sentAt(top - 1);
    if (sentAt === undefined) return;
    const r = since(now, sentAt);
    if (have === flight.numSlices && top <= flight.gone) {
      if (!this.#roundTrip.isMeasured) this.#roundTrip.limit(r);
      return;
    }
    this.#smallest.sample(now, r, this.#roundTrip.srtt);
    this.#roundTrip.measure(r);
  }

  /** News after a hold: what the peer could not take is not lost, and what is under way may still be taken. */
  #release(now: Micros, flight: Flight, heldAt: Micros, gained: number): void {
    this.#loss.count(gained, gained);
    flight.gone = 0;
    if (now - heldAt > 2n * this.#roundTrip.srtt) this.#wasHeld = true;
  }

  /** Whether all that can be needed is under way. */
  #isEnough(flight: Flight): boolean {
    return flight.size >= this.#loss.need(flight.missing);
  }

  /** RPL-3. */
  #isWanted(flight: Flight): boolean {
    return !this.#isEnough(flight) && flight.size < this.#windowOf(flight) && flight.quota > 0;
  }

  /** RPL-7. */
  #windowOf({ have }: Flight): number {
    const perSlice = this.#rate.perSlice;
    if (this.#profile.kind === "burst" || this.#profile.kind === "fixed") return Infinity;
    if (perSlice === undefined) return (this.isYielding ? YIELD_WINDOW : FIRST_WINDOW) + have;
    if (this.#smallest.isDraining) return DRAIN_WINDOW;
    const holds = ((this.#smallest.value + ACK_DELAY) * 1000n) / perSlice;
    return Number((this.isYielding ? holds : (holds * 3n) / 2n) + 8n);
  }

  /** PAC-1 to PAC-3, PRO-1, PRO-2, PRO-4. */
  #interval({ sent, numSlices }: Flight): Nanos {
    const measured = measuredInterval(this.#rate.perSlice);
    switch (this.#profile.kind) {
      case "fixed":
        return max(this.#limit, FASTEST);
      case "burst":
        return max(this.#limit, sent < numSlices ? BURST_INTERVAL : measured);
      default:
        return max(this.#limit, measured);
    }
  }

  /** RPL-10. */
  #timer({ mainAt, lastAt, newsAt, probeAt, heldAt }: Flight): Micros {
    if (heldAt !== undefined) return max(lastAt, heldAt) + this.#roundTrip.holdDelay(lastAt - heldAt);
    return max(mainAt + this.#roundTrip.baseDelay, newsAt + this.#roundTrip.margin, probeAt);
  }

  /** RPL-11. */
  #timerRanOut(now: Micros, flight: Flight): void {
    this.#rate.endTrain();
    flight.gone = flight.sent;
    if (flight.heldAt !== undefined) {
      flight.quota = 1;
      return;
    }
    flight.quota = PROBES;
    const waited = max(this.#roundTrip.baseDelay, now - flight.newsAt);
    flight.probeAt = now + min(waited / (this.#roundTrip.isKnown ? 8n : 4n), PROBE_DELAY);
  }
}
