/** The recommended scheduler of a sender, on the controller (RECOVERY.md, sections 2, 3, 13, 15 and 16). */

import { Controller, Share, type RatelessProfile } from "./control.js";
import { MAX_SLICES, slicesIn } from "./limits.js";
import { ADAPTIVE } from "./rateless.js";
import { since } from "./round-trip.js";
import type { Scheduler } from "./sender.js";
import { earlier, max, min, NEVER, type Deadline, type Micros } from "./time.js";

/** What is remembered of a slice (REC-2): numbers of transmissions, and their times. */
interface Sent {
  first: number;
  firstAt: Micros;
  main: number;
  mainAt: Micros;
  last: number;
  lastAt: Micros;
  resends: number;
  copies: number;
  byTimer: boolean;
}

/** What goes next; none: nothing. */
type Choice = { readonly id: number; readonly isCopy: boolean } | undefined;

/**
 * Decides which slice goes next and when, from what the path shows. The constructor throws RangeError for a profile
 * outside the limits of PRO-1 and PRO-4.
 */
export class AdaptiveScheduler implements Scheduler {
  static readonly #GAP_SIZE = 2;
  static readonly #PROBES = 2;
  static readonly #MAX_COPIES = 4;
  static readonly #COPY_BUDGET = 64;
  static readonly #SPREAD_BUDGET = 512;
  static readonly #MOST_NUMBER = 65_535;
  static readonly #MOST_COUNTED = 255;

  readonly #profile: RatelessProfile;
  readonly #share = new Share();
  #path: Controller;
  readonly #isRedundant: boolean;
  #patience: Micros = 0n;

  /** Of the chunk in flight, from here on. */
  #slices: Sent[] = [];
  readonly #unacked = new Set<number>();
  readonly #lost = new Set<number>();
  #fresh = 0;
  #count = 0;
  #newest = 0;
  /** Up to this number the peer may have refused transmissions (SUS-5). */
  #refused = 0;
  /** The slice of the probe timer (PTO-1). */
  #oldest: number | undefined;
  #sentAt: Micros = 0n;
  #newsAt: Micros = 0n;
  #gapAt: Deadline = NEVER;
  /** Up to this number transmissions went out on another path (REC-12). */
  #moved = 0;
  #isHeld = false;
  #heldAt: Micros = 0n;
  /** The latest event but a hold. */
  #latest: Micros = 0n;

  constructor(profile: RatelessProfile = ADAPTIVE) {
    this.#profile = profile;
    this.#path = new Controller(profile);
    this.#isRedundant = profile.kind === "redundant";
  }

  /** So many new marks of congestion (ECN-1). */
  marks(count: number): void {
    this.#path.marks(count);
  }

  /** Whether other packets on the path must not wait behind slices (ROOM-3). */
  set isYielding(isYielding: boolean) {
    this.#path.isYielding = isYielding;
  }

  /** Whether so much is lost for so long that growth has stopped (BRK-6). */
  get isBroken(): boolean {
    return this.#path.isBroken;
  }

  /** From now on both have what the other knows of the path (LAN-9). */
  adopt(other: AdaptiveScheduler): void {
    this.#move(other.#path);
  }

  /** The path of all these lanes is another one, of which nothing is known (CXL-10). */
  static forgetPath(now: Micros, lanes: readonly AdaptiveScheduler[]): void {
    const [first] = lanes;
    const path = first && Controller.afterOneSlice(first.#profile, now);
    if (path !== undefined) for (const lane of lanes) lane.#moveTo(path);
  }

  #move(to: Controller): void {
    if (to === this.#path) return;
    const from = this.#path;
    this.#path = to;
    to.take(this.#share, from);
    if (this.#unacked.size > 0) this.#noteFlight();
  }

  /** REC-12. */
  #moveTo(to: Controller): void {
    this.#move(to);
    this.#patience = 0n;
    this.#moved = this.#count;
  }

  /** How many slices are in flight. */
  get inFlight(): number {
    return this.#unacked.size === 0 ? 0 : Array.from(this.#flying()).length;
  }

  /** How many slices the path holds (ROOM-1). */
  get pathSlices(): number {
    return this.#path.pathSlices;
  }

  /** REC-2. */
  start(now: Micros, size: number): void {
    this.#slices = Array.from({ length: slicesIn(size) }, () => {
      return { first: 0, firstAt: 0n, main: 0, mainAt: 0n, last: 0, lastAt: 0n, resends: 0, copies: 0, byTimer: false };
    });
    this.#unacked.clear();
    for (const id of this.#slices.keys()) this.#unacked.add(id);
    this.#lost.clear();
    this.#fresh = this.#count = this.#newest = this.#refused = this.#moved = 0;
    this.#oldest = undefined;
    this.#sentAt = this.#newsAt = now;
    this.#gapAt = NEVER;
    this.#isHeld = false;
    this.#path.start(now, this.#share);
    this.#patience -= this.#patience / 16n;
  }

  /** REC-3. */
  news(now: Micros, ids: readonly number[]): void {
    this.#latest = now;
    this.#measure(now, ids);
    const numbers = ids.map((id) => this.#arrivedAs(now, id));
    this.#newest = Math.max(this.#newest, ...numbers);
    for (const id of ids) {
      this.#unacked.delete(id);
      this.#lost.delete(id);
    }
    if (this.#isHeld) this.#refused = this.#count;
    this.#newsAt = now;
    this.#isHeld = false;
    this.#path.news(now, numbers.filter((number) => number > this.#moved).length, this.#findLost(now));
  }

  /** REC-4. */
  hold(now: Micros): void {
    if (!this.#isHeld) this.#heldAt = now;
    this.#isHeld = true;
    this.#lost.clear();
    this.#noteFlight();
  }

  /** REC-5. */
  next(now: Micros): number | undefined {
    this.#latest = now;
    if (this.#gapAt !== NEVER && now >= this.#gapAt) this.#path.news(now, 0, this.#findLost(now));
    const timer = this.#timer;
    if (this.#next() === undefined && timer !== NEVER && now >= timer) this.#runOut(now);
    const choice = this.#choose();
    const goes = this.#path.go(now, this.#share, choice !== undefined, choice?.id === this.#fresh);
    if (!goes || choice === undefined) return undefined;
    this.#send(now, choice.id, choice.isCopy);
    return choice.id;
  }

  /** REC-7. */
  deadline(): Deadline {
    if (this.#unacked.size === 0) return NEVER;
    if (this.#choose() !== undefined) return this.#path.next;
    const at = earlier(this.#timer, this.#gapAt);
    return this.#firstLost(true) === undefined ? at : earlier(at, this.#path.silentAt);
  }

  /** `next` of REC-9. */
  #next(): number | undefined {
    const lost = this.#firstLost(false);
    if (lost !== undefined) {
      if (this.#path.hasRoom) return lost;
      return this.#isHeld || this.#latest >= this.#path.silentAt ? this.#firstLost(true) : undefined;
    }
    if (this.#fresh === this.#slices.length || this.#isHeld) return undefined;
    return this.#path.hasRoom ? this.#fresh : undefined;
  }

  /** `chosen` of REC-9. */
  #choose(): Choice {
    const next = this.#next();
    if (next !== undefined) return { id: next, isCopy: false };
    if (this.#lost.size > 0 || this.#fresh < this.#slices.length || this.#isHeld || !this.#path.hasRoom) return undefined;
    const copied = this.#copied();
    return copied === undefined ? undefined : { id: copied, isCopy: true };
  }

  /** The smallest slice of those that are lost, or of those of them that the timer found. */
  #firstLost(byTimer: boolean): number | undefined {
    let first: number | undefined;
    for (const id of this.#lost) {
      if ((first === undefined || id < first) && (!byTimer || this.#of(id).byTimer)) first = id;
    }
    return first;
  }

  /** REC-6. */
  #send(now: Micros, id: number, isCopy: boolean): void {
    const sent = this.#of(id);
    sent.last = ++this.#count;
    sent.lastAt = this.#sentAt = now;
    if (isCopy) sent.copies = Math.min(sent.copies + 1, AdaptiveScheduler.#MOST_COUNTED);
    else {
      sent.main = this.#count;
      sent.mainAt = now;
      if (id === this.#fresh) {
        sent.first = Math.min(this.#count, AdaptiveScheduler.#MOST_NUMBER);
        sent.firstAt = now;
        this.#fresh++;
      } else {
        sent.resends = Math.min(sent.resends + 1, AdaptiveScheduler.#MOST_COUNTED);
        sent.copies = 0;
        this.#lost.delete(id);
      }
    }
    if (this.#oldest === undefined || this.#oldest === id) this.#findOldest();
    this.#noteFlight();
  }

  #of(id: number): Sent {
    return this.#slices[id] as Sent;
  }

  /** The slices that fly, the smallest first (REC-2). */
  *#flying(): Generator<number> {
    for (let id = 0; id < this.#fresh; id++) {
      if (this.#unacked.has(id) && !this.#lost.has(id)) yield id;
    }
  }

  #noteFlight(): void {
    if (this.#unacked.size === 0) this.#path.leave(this.#share);
    else this.#path.flies(this.#share, this.inFlight);
  }

  #findOldest(): void {
    this.#oldest = this.#best(this.#flying(), (a, b) => a.last < b.last);
  }

  /** The slice that comes before all others. */
  #best(ids: Iterable<number>, isBefore: (a: Sent, b: Sent) => boolean): number | undefined {
    let best: number | undefined;
    for (const id of ids) {
      if (best === undefined || isBefore(this.#of(id), this.#of(best))) best = id;
    }
    return best;
  }

  /** EST-5. */
  get #least(): Micros {
    return (this.#path.smallestRoundTrip * 15n) / 16n;
  }

  /** EST-2 to EST-4. */
  #measure(now: Micros, ids: readonly number[]): void {
    const { roundTrip } = this.#path;
    const ofPath = ids.filter((id) => this.#of(id).first > this.#moved); // REC-12
    const latest = (isFit: (sent: Sent) => boolean): Sent | undefined => {
      const id = this.#best(ofPath.filter((candidate) => isFit(this.#of(candidate))), (a, b) => a.last > b.last);
      return id === undefined ? undefined : this.#of(id);
    };
    const once = latest((sent) => sent.resends === 0 && sent.copies === 0);
    if (once !== undefined) return this.#path.sample(now, since(now, once.lastAt));
    const sent = latest((candidate) => !roundTrip.isMeasured || this.#isSample(now, candidate));
    if (sent === undefined) return;
    if (roundTrip.isMeasured) this.#path.sampleResent(since(now, sent.mainAt));
    else roundTrip.limit(since(now, sent.firstAt));
  }

  /** EST-3. */
  #isSample(now: Micros, sent: Sent): boolean {
    const r = now - sent.mainAt;
    return r >= this.#least && (sent.copies === 0 || r < this.#path.roundTrip.srtt);
  }

  /** LOS-1, LOS-4, SUS-2: the number of the transmission that arrived. */
  #arrivedAs(now: Micros, id: number): number {
    const sent = this.#of(id);
    const { isMeasured, srtt } = this.#path.roundTrip;
    if (sent.resends === 0) return sent.main;
    if (!isMeasured) return sent.first;
    if (!this.#lost.has(id) && now - sent.mainAt >= this.#least) return sent.main;
    if (sent.byTimer) this.#path.late(1);
    else if (sent.resends === 1) {
      this.#patience = max(this.#patience, min((since(now, sent.firstAt) * 9n) / 8n, (srtt * 3n) / 2n));
    }
    return sent.first;
  }

  /** LOS-2, LOS-3: how many the path has lost (SUS-5, REC-12). */
  #findLost(now: Micros): number {
    let missing = 0;
    this.#gapAt = NEVER;
    for (const id of [...this.#flying()]) {
      const { last, lastAt } = this.#of(id);
      if (last + AdaptiveScheduler.#GAP_SIZE > this.#newest) continue;
      if (now < lastAt + this.#patience) this.#gapAt = earlier(this.#gapAt, lastAt + this.#patience);
      else {
        this.#lose(id, false);
        if (last > Math.max(this.#refused, this.#moved)) missing++;
      }
    }
    this.#findOldest();
    this.#noteFlight();
    return missing;
  }

  #lose(id: number, byTimer: boolean): void {
    this.#lost.add(id);
    this.#of(id).byTimer = byTimer;
  }

  /** When the timer runs out (PTO-1, PTO-2, PTO-5). */
  get #timer(): Deadline {
    const { roundTrip, probeAt } = this.#path;
    if (this.#isHeld) return max(this.#sentAt, this.#heldAt) + roundTrip.holdDelay(this.#sentAt - this.#heldAt);
    if (this.#oldest === undefined) return NEVER;
    return max(this.#of(this.#oldest).lastAt + roundTrip.baseDelay, this.#newsAt + roundTrip.margin, probeAt);
  }

  /** PTO-3 to PTO-5. */
  #runOut(now: Micros): void {
    if (this.#isHeld) {
      const sent = [...this.#unacked].filter((id) => id < this.#fresh);
      if (sent.length > 0) this.#lose(Math.max(...sent), true);
    } else {
      let givenUp = 0;
      for (let n = 0; n < AdaptiveScheduler.#PROBES; n++) {
        const id = this.#best(this.#flying(), (a, b) => a.resends < b.resends || (a.resends === b.resends && a.last > b.last));
        if (id === undefined) continue;
        if (this.#of(id).last > this.#moved) givenUp++; // REC-12
        this.#lose(id, true);
      }
      this.#path.timedOut(now, givenUp);
    }
    this.#noteFlight();
  }

  /** CPY-1 to CPY-3. */
  #copied(): number | undefined {
    const { roundTrip, pathSlices } = this.#path;
    const now = this.#latest;
    if (!roundTrip.isKnown || now - this.#newsAt > 4n * roundTrip.baseDelay) return undefined;
    const [budget, more] = this.#isRedundant ? [AdaptiveScheduler.#SPREAD_BUDGET, 2] : [AdaptiveScheduler.#COPY_BUDGET, 1];
    const all = Math.min(budget, Math.trunc(Math.min(pathSlices, MAX_SLICES) / 2));
    const most = Math.min(AdaptiveScheduler.#MAX_COPIES, Math.trunc(all / this.#unacked.size));
    const isFit = ({ copies, resends, mainAt }: Sent): boolean =>
      1 + copies < Math.min(most, more + resends) && now - mainAt < roundTrip.srtt / 2n;
    const fit = [...this.#flying()].filter((id) => isFit(this.#of(id)));
    return this.#best(fit, (a, b) => a.last < b.last);
  }
}
