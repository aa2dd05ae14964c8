/** The rule of a sender of repair slices (REPAIR.md, section 7). */

import { Controller, Share, type RatelessProfile } from "./control.js";
import type { RepairScheduler } from "./repair-sender.js";
import { since } from "./round-trip.js";
import { max, NEVER, type Deadline, type Micros } from "./time.js";

export const ADAPTIVE: RatelessProfile = { kind: "adaptive", limit: 0 };

const MOST_NEED = 1024;
const KEPT_TIMES = 1024;
const PROBES = 2;

/** What is kept for the chunk in flight (RPL-2). */
class Flight {
  sent = 0;
  have = 0;
  top = 0;
  /** What has a number below is not under way any more, by the timer. */
  gone = 0;
  /** What has a number below went out on another path (RPL-16). */
  moved = 0;
  mainAt: Micros;
  lastAt: Micros;
  newsAt: Micros;
  /** How many slices may still go out without news. */
  quota: number;
  heldAt: Micros | undefined = undefined;
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
  readonly #share = new Share();
  #control: Controller;
  #flight: Flight | undefined;
  /** Whether a long hold ended during the chunk in flight, or else during the one before. */
  #wasHeld = false;

  constructor(profile: RatelessProfile = ADAPTIVE) {
    this.#profile = profile;
    this.#control = new Controller(profile);
  }

  /** Whether so much is lost for so long that growth has stopped (BRK-6). */
  get isBroken(): boolean {
    return this.#control.isBroken;
  }

  /** Whether other packets on the path must not wait behind slices (ROOM-3). */
  get isYielding(): boolean {
    return this.#control.isYielding;
  }

  set isYielding(isYielding: boolean) {
    this.#control.isYielding = isYielding;
  }

  /** From now on both have what the other knows of the path (LAN-9). */
  adopt(other: RatelessScheduler): void {
    this.#move(other.#control);
  }

  /** The path of all these lanes is another one, of which nothing is known (CXL-10, RPL-16). */
  static forgetPath(now: Micros, lanes: readonly RatelessScheduler[]): void {
    const [first] = lanes;
    const path = first && Controller.afterOneSlice(first.#profile, now);
    for (const lane of path === undefined ? [] : lanes) {
      lane.#move(path!);
      if (lane.#flight !== undefined) lane.#flight.moved = lane.#flight.sent;
    }
  }

  #move(to: Controller): void {
    if (to === this.#control) return;
    const from = this.#control;
    this.#control = to;
    to.take(this.#share, from);
    if (this.#flight !== undefined) this.#noteFlight(this.#flight);
  }

  /** How many slices are in flight. */
  get inFlight(): number {
    return this.#flight?.size ?? 0;
  }

  /** How many slices the path holds (ROOM-1). */
  get pathSlices(): number {
    return this.#control.pathSlices;
  }

  /** Whether more slices must be under way, if limit and pace allow. */
  get isNeeded(): boolean {
    return this.#flight !== undefined && this.#isNeeded(this.#flight);
  }

  /** So many new marks of congestion (ECN-1). */
  marks(count: number): void {
    this.#control.marks(count);
  }

  /** RPL-2. */
  start(now: Micros, numSlices: number): void {
    this.#flight = new Flight(now, numSlices, this.#wasHeld);
    this.#wasHeld = false;
    this.#control.start(now, this.#share);
  }

  /** RPL-5. */
  news(now: Micros, have: number, top: number): void {
    const flight = this.#flight;
    if (flight === undefined) return;
    if (top > flight.top && top > flight.moved) this.#sample(now, flight, top, have);
    const { gained, missing } = this.#count(now, flight, have, top);
    if (flight.top < flight.gone) this.#control.late(gained - Math.max(top - flight.gone, 0)); // SUS-2
    flight.have = have;
    flight.top = top;
    this.#noteFlight(flight);
    this.#control.news(now, gained, missing);
    flight.heldAt = undefined;
    if (gained === 0 && top - have > MOST_NEED) {
      flight.quota = 0; // a peer that denies everything draws probes only
      return;
    }
    flight.newsAt = now;
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
    this.#noteFlight(flight);
  }

  /** RPL-9. */
  next(now: Micros): boolean {
    const flight = this.#flight;
    if (flight === undefined) return false;
    if (!this.#isWanted(flight) && now >= this.#timer(flight)) this.#timerRanOut(now, flight);
    if (!this.#control.go(now, this.#share, this.#isWanted(flight), flight.sent < flight.numSlices)) return false;
    flight.send(now);
    this.#noteFlight(flight);
    return true;
  }

  /** RPL-13. */
  deadline(): Deadline {
    const flight = this.#flight;
    if (flight === undefined) return NEVER;
    return this.#isWanted(flight) ? this.#control.next : this.#timer(flight);
  }

  #noteFlight(flight: Flight): void {
    if (flight.missing === 0) this.#control.leave(this.#share);
    else this.#control.flies(this.#share, flight.size);
  }

  /** Step 1 of RPL-5, for the latest number that arrived. */
  #sample(now: Micros, flight: Flight, top: number, have: number): void {
    const sentAt = flight.sentAt(top - 1);
    if (sentAt === undefined) return;
    const { roundTrip } = this.#control;
    const r = since(now, sentAt);
    if (have < flight.numSlices || top > flight.gone) this.#control.sample(now, r);
    else if (!roundTrip.isMeasured) roundTrip.limit(r);
  }

  /** Step 2 of RPL-5: how many arrived, and are missing. What the peer could not take is not lost, and what is under way may still be taken. */
  #count(now: Micros, flight: Flight, have: number, top: number): { readonly gained: number; readonly missing: number } {
    const { heldAt, gone, moved, top: before } = flight;
    const isOther = before < moved; // some of it is of another path
    const passed = isOther ? Math.max(top - moved, 0) : top - before;
    const gained = isOther ? Math.min(have - flight.have, passed) : have - flight.have;
    if (heldAt !== undefined) {
      flight.gone = 0;
      this.#noteFlight(flight);
      if (now - heldAt > 2n * this.#control.roundTrip.srtt) this.#wasHeld = true;
      return { gained, missing: 0 };
    }
    if (before >= gone || gone >= top) return { gained, missing: passed - gained };
    const since = top - Math.max(gone, moved);
    return { gained, missing: since - Math.min(gained, since) };
  }

  /** RPL-3. */
  #isWanted(flight: Flight): boolean {
    return this.#isNeeded(flight) && this.#mayGo(flight);
  }

  #isNeeded(flight: Flight): boolean {
    return flight.size < this.#control.loss.need(flight.missing);
  }

  #mayGo(flight: Flight): boolean {
    return flight.quota === Infinity ? this.#control.hasRoom : flight.quota > 0;
  }

  /** RPL-10. */
  #timer({ mainAt, lastAt, newsAt, heldAt }: Flight): Micros {
    const { roundTrip, probeAt } = this.#control;
    if (heldAt !== undefined) return max(lastAt, heldAt) + roundTrip.holdDelay(lastAt - heldAt);
    return max(mainAt + roundTrip.baseDelay, newsAt + roundTrip.margin, probeAt);
  }

  /** RPL-11. */
  #timerRanOut(now: Micros, flight: Flight): void {
    const givenUp = Math.min(flight.sent - Math.max(flight.top, flight.gone, flight.moved), PROBES);
    flight.gone = flight.sent;
    flight.quota = flight.heldAt === undefined ? PROBES : 1;
    this.#noteFlight(flight);
    if (flight.heldAt === undefined) this.#control.timedOut(now, givenUp);
  }
}
