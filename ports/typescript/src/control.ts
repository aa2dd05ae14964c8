/** The controller of a sender: when what is known of the path lets a slice go (RECOVERY.md, sections 3 to 14). */

import { RoundTrip } from "./round-trip.js";
import { max, min, MS, type Micros } from "./time.js";

/** Nanoseconds. */
type Nanos = bigint;
/**
 * How much is in flight, or may be, in 64ths of a slice. Amounts and counts of slices are bigints like times: their
 * products with times, and those of LSS-1, pass 2^53, and a bigint's quotient is rounded toward zero.
 */
type Amount = bigint;

/** How fast it sends, and how much for certainty (RPL-14). */
export interface RatelessProfile {
  readonly kind: "adaptive" | "redundant" | "burst" | "fixed";
  /** Limit in bits a second with IP and UDP headers, 8,528 to 8 * 10^9; 0: none, not for `fixed`. */
  readonly limit: number;
}

/** A slice, in the unit of the limit. */
const WHOLE: Amount = 64n;
/** Below, the pace keeps the limit. */
const TWO_SLICES: Amount = 2n * WHOLE;
/** For so long holds what a path has shown. */
const LIFE: Micros = 10_000n * MS;
/** A decision changes the limit, or takes of what is too much, by so large a part. */
const PART = 4n;
/** Slices of which losses are judged. */
const SUM_MOST = 64n;
/** The calm loss is one of so many slices at most. */
const CALM_PART = 2n;
/** The interval between two slices at most. */
const SLOWEST: Nanos = 1_000_000_000n;
/** Bits of the largest datagram with headers. */
const DATAGRAM_BITS = 8n * 1066n;

/** The square root of an integer below 2^52, rounded down. */
function root(n: number): number {
  return Math.floor(Math.sqrt(n));
}

/** A quotient of integers of which the first may be negative, rounded toward zero. */
function quotient(a: number, b: number): number {
  return Math.trunc(a / b);
}

/** How much was lost, in sixteenths of a slice, kept across chunks (CAP-8, RPL-4). */
export class LossEstimate {
  static readonly #MOST = 16 * 1024;
  static readonly #MOST_NEED = 1024;

  /** @param deviations - Z, the square of how many standard deviations are added */
  constructor(
    readonly deviations: number,
    public lost = 16,
    public arrived = 512,
  ) {}

  /** `gained` slices arrived, and `missing` were lost, or fewer than none if some came late. */
  count(gained: number, missing: number): void {
    this.arrived += 16 * gained;
    this.lost = Math.max(this.lost + 16 * missing, 0);
    if (this.lost + this.arrived > LossEstimate.#MOST) {
      this.lost = quotient(this.lost, 2);
      this.arrived = Math.max(quotient(this.arrived, 2), 1);
    }
  }

  /** How many slices must be under way for `missing` to arrive (RPL-4). Every value is below 2^53. */
  need(missing: number): number {
    const { arrived } = this;
    const lost = Math.min(this.lost, 32 * arrived);
    const mean = quotient(256 * missing * lost, arrived);
    let variance = mean + quotient(mean * lost, arrived);
    variance += quotient(variance * 16 * missing, arrived);
    const spread = root(256 * this.deviations * variance);
    return Math.min(missing + quotient(mean + spread + 128, 256), LossEstimate.#MOST_NEED);
  }
}

/** The round trip without a queue: the smallest sample of late, and the drains that let it be seen (EST-6 to EST-10). */
class Base {
  static readonly #FIRST: Micros = 2_500n * MS;
  static readonly #MISSES = 3;

  #value: Micros = 0n;
  #sampleAt: Micros = 0n;
  #drain: { readonly until: Micros; readonly fullAt: Micros; min: Micros } | undefined;
  /** When the next drain may begin. */
  #drainAt: Micros = 0n;
  /** Whether it has fallen in the drain, or just before. */
  #fell = false;
  #misses = 0;

  /** 0 while there was no sample. */
  get value(): Micros {
    return this.#value;
  }

  get isDraining(): boolean {
    return this.#drain !== undefined;
  }

  isDrainDue(now: Micros): boolean {
    return now >= this.#drainAt;
  }

  /** Idle time is as good as a drain (IDL-1). */
  wasIdle(now: Micros): void {
    this.#drainAt = max(this.#drainAt, now + Base.#FIRST);
  }

  /** The queue is that of others from now on (OTH-2). */
  contest(now: Micros): void {
    this.#drainAt = now + Base.#FIRST;
  }

  /** It is not any more (OTH-4). */
  endContest(now: Micros): void {
    this.#drainAt = now + LIFE;
  }

  /** EST-7. */
  drain(now: Micros, r: Micros, srtt: Micros): void {
    this.#drain = { until: now + 2n * max(srtt, r), fullAt: now + r, min: r };
  }

  /**
   * @param srtt - the smoothed round trip, with this sample
   * @param target - for the queue, as it was before this sample
   * @returns if a drain has ended, whether there was a sample near the base
   */
  sample(now: Micros, r: Micros, srtt: Micros, target: Micros, hasOthers: boolean): { readonly isNear: boolean } | undefined {
    const isFirst = this.#value === 0n || now - this.#sampleAt >= LIFE;
    this.#sampleAt = now;
    if (isFirst) return this.#restart(now, r);
    if (r < this.#value) this.#fall(now, r, srtt, this.#value - r >= target / PART, hasOthers);
    const ended = this.#endIfDue(now, r, target);
    if (!this.isDraining && this.#isDue(now, hasOthers)) this.drain(now, r, srtt);
    return ended;
  }

  /** EST-6. */
  #restart(now: Micros, r: Micros): undefined {
    this.#value = r;
    this.#drain = undefined;
    this.#drainAt = now + Base.#FIRST;
    this.#misses = 0;
  }

  /** EST-8: other senders drain. */
  #fall(now: Micros, r: Micros, srtt: Micros, isMuch: boolean, hasOthers: boolean): void {
    if (isMuch) {
      this.#fell = true;
      if (!this.isDraining && !hasOthers) this.drain(now, r, srtt);
    }
    this.#value = r;
  }

  /** EST-7. */
  #isDue(now: Micros, hasOthers: boolean): boolean {
    return now >= this.#drainAt && (!hasOthers || now - this.#drainAt >= LIFE);
  }

  #endIfDue(now: Micros, r: Micros, target: Micros): { readonly isNear: boolean } | undefined {
    const drain = this.#drain;
    if (drain === undefined) return undefined;
    drain.min = min(drain.min, r);
    const isNear = drain.min <= this.#value + target / 2n;
    if (now < drain.until && !(isNear && !this.#fell && now >= drain.fullAt)) return undefined;
    this.#stop(now);
    this.#judge(isNear, drain.min);
    return { isNear };
  }

  /** EST-9, step 4: whether a drain has ended that no sample ended; it says nothing of the path. */
  expire(now: Micros): boolean {
    if (this.#drain === undefined || now < this.#drain.until) return false;
    this.#stop(now);
    return true;
  }

  /** EST-9, step 3. */
  #stop(now: Micros): void {
    this.#drain = undefined;
    this.#drainAt = now + (this.#fell ? Base.#FIRST : LIFE);
    this.#fell = false;
  }

  /** EST-10. */
  #judge(isNear: boolean, smallest: Micros): void {
    this.#misses = isNear ? 0 : this.#misses + 1;
    if (this.#misses < Base.#MISSES) return;
    this.#value = smallest;
    this.#misses = 0;
  }
}

/** The circuit breaker: it stops growth where more than can be calm is lost for long (BRK-3 to BRK-5). */
class Breaker {
  #isBroken = false;
  /** When no more than that was lost for the last time. */
  #calmAt: Micros = 0n;
  #lost = 0n;
  #passed = 0n;

  get isBroken(): boolean {
    return this.#isBroken;
  }

  start(now: Micros): void {
    this.#calmAt = now;
  }

  putOff(idle: Micros): void {
    this.#calmAt += idle;
  }

  /** BRK-3, SUS-4. */
  count(lost: bigint, passed: bigint): void {
    this.#lost += lost;
    this.#passed += passed;
  }

  /** BRK-4: whether there is a cut. */
  judge(now: Micros): boolean {
    if (this.#passed < SUM_MOST) return false;
    if (CALM_PART * this.#lost <= this.#passed) {
      this.#isBroken = false;
      this.#calmAt = now;
    }
    this.#lost = this.#passed = 0n;
    if (now - this.#calmAt < LIFE) return false;
    this.#isBroken = true;
    return true;
  }
}

/** What was lost of what left the path, in slices. */
interface Sums {
  readonly lost: bigint;
  readonly passed: bigint;
}

const NO_SUMS: Sums = { lost: 0n, passed: 0n };

/** The loss that is expected at any rate. */
class CalmLoss {
  static readonly #PRIOR_LOST = 2n;
  static readonly #PRIOR_PASSED = 32n;
  static readonly #MOST = 8192n;
  static readonly #OPEN_PART = 8n;
  static readonly #VARIANCES = 18n;

  /** In sixteenths of a slice. */
  #lost = 0n;
  #passed = 0n;

  /** LSS-3, LSS-8. */
  forget(): void {
    this.#lost = this.#passed = 0n;
  }

  /** p and b of LSS-1: p of b are lost. */
  get #share(): readonly [bigint, bigint] {
    const b = this.#passed + 16n * CalmLoss.#PRIOR_PASSED;
    return [min(this.#lost + CalmLoss.#PRIOR_LOST, b / CALM_PART), b];
  }

  /** LSS-1: whether more was lost than chance explains; of LSS-3, where the same is lost after a cut. */
  isExceeded({ lost, passed }: Sums, isOpening: boolean, isSame = false): boolean {
    const [known, b] = this.#share;
    const opening = isOpening ? max(known, b / CalmLoss.#OPEN_PART) : known;
    const p = isSame ? b / CALM_PART : opening;
    const e = (WHOLE * passed * p) / b;
    const x = WHOLE * lost - e;
    return x > 0n && x * x > CalmLoss.#VARIANCES * WHOLE * ((e * (b - p)) / b);
  }

  /** LSS-3: whether most of it is not lost at a lower rate. */
  isGone({ lost, passed }: Sums): boolean {
    const [p, b] = this.#share;
    return passed * p >= PART * b && 2n * lost * b < passed * p;
  }

  /** LSS-6. */
  learn({ lost, passed }: Sums, isShort: boolean): void {
    const [p, b] = this.#share;
    if (!isShort && lost * b > passed * p) return;
    this.#lost += 16n * lost;
    this.#passed += 16n * passed;
    if (this.#passed <= 16n * CalmLoss.#MOST) return;
    this.#lost /= 2n;
    this.#passed /= 2n;
  }
}

/** What was before a cut for loss, until its look is over (LSS-5). */
interface Before {
  readonly size: Amount;
  readonly ceiling: Amount;
  readonly sums: Sums;
  readonly isOpening: boolean;
}

/** How much may be in flight, so that the queue stays short and little is lost (sections 4 to 11). */
class Limit {
  static readonly #FIRST: Amount = 16n * WHOLE;
  static readonly #LEAST: Amount = WHOLE / 2n;
  static readonly #DRAIN_SLICES = 4;
  static readonly #OPEN_FACTOR = 3n;
  static readonly #TARGET_LEAST: Micros = 5n * MS;
  static readonly #TARGET_MOST: Micros = 20n * MS;
  static readonly #STEP: Amount = 24n;
  static readonly #QUIET_MOST = 32;
  static readonly #DOUBLE_PART = 8n;
  static readonly #CONTEST_ROWS = 6;

  readonly base = new Base();
  readonly breaker = new Breaker();
  readonly #calm = new CalmLoss();
  isYielding = false;

  #size: Amount = Limit.#FIRST;
  #isOpening = true;
  #step: Amount = Limit.#STEP;
  #quiet = 0;
  #ceiling: Amount = 0n;
  #low: Amount = 0n;

  #latest: Micros = 0n;
  #isSampled = false;
  #beganAt: Micros = 0n;
  #decidesAt: Micros | undefined;
  #countsAt: Micros | undefined;
  #least: Micros | undefined;
  #waits: Micros = 0n;
  #samples = 0n;
  #leastWait: Micros = 0n;
  #flight = 0;
  #most: Amount = 0n;
  #round = { lost: 0n, passed: 0n };
  #marked = 0;

  #phase: "steady" | "recovers" | "looks" = "steady";
  #sums = NO_SUMS;
  #before: Before | undefined;

  #hasOthers = false;
  #above = 0;
  #from: Amount = 0n;
  #fromSpeed = 0n;
  #isHit = false;

  constructor(readonly roundTrip: RoundTrip) {}

  get size(): Amount {
    return this.#size;
  }

  get isOpening(): boolean {
    return this.#isOpening;
  }

  /** The allowance (ROOM-1). */
  get slices(): number {
    const slices = Number(max(this.#size, TWO_SLICES) / WHOLE);
    return this.base.isDraining ? Math.min(slices, Limit.#DRAIN_SLICES) : slices;
  }

  get flight(): number {
    return this.#flight;
  }

  set flight(slices: number) {
    this.#flight = slices;
    this.#most = max(this.#most, BigInt(slices) * WHOLE);
  }

  /** ROOM-3. */
  get #target(): Micros {
    const t = min(max(this.base.value / PART, Limit.#TARGET_LEAST), Limit.#TARGET_MOST);
    return this.isYielding ? t / 2n : t;
  }

  /** ECN-1. */
  marks(count: number): void {
    this.#marked += count;
  }

  /** A clean sample (EST-2, from step 2 on). */
  sample(now: Micros, r: Micros): void {
    this.#latest = r;
    this.#isSampled = true;
    const was = this.base.value;
    const target = this.#target;
    const ended = this.base.sample(now, r, this.roundTrip.srtt, target, this.#hasOthers);
    if (was - this.base.value >= target / PART) this.#calm.forget(); // LSS-8
    if (ended === undefined) return;
    if (ended.isNear && this.#hasOthers) this.#endContest(now);
    this.#beginDecision(now);
  }

  /** A sample of a slice that was sent again (DCS-9). */
  resent(r: Micros): void {
    this.#wait(max(r - this.base.value, 0n));
  }

  /** EST-9, step 4. */
  expire(now: Micros): void {
    if (this.base.expire(now)) this.#beginDecision(now);
  }

  /** DCS-1 to DCS-3. */
  news(now: Micros, gained: number, missing: number): void {
    this.#round.lost += BigInt(missing);
    this.#round.passed += BigInt(gained + missing);
    this.#open(gained);
    if (this.#latest === 0n) return;
    if (this.#decidesAt === undefined) {
      this.#beganAt = now;
      this.#decidesAt = now + this.#interval;
      this.breaker.start(now);
    }
    this.#takeSample(now, this.#decidesAt);
    if (now < this.#decidesAt) return;
    this.#decide(now);
    this.#beginDecision(now);
  }

  /** DCS-2. */
  #takeSample(now: Micros, decidesAt: Micros): void {
    if (!this.#isSampled) return;
    this.#isSampled = false;
    this.#wait(this.#latest - this.base.value);
    if (this.#countsAt !== undefined && now < this.#countsAt) return;
    if (this.#least === undefined || (now <= decidesAt && this.#latest < this.#least)) this.#least = this.#latest;
  }

  /** DCS-6. */
  #beginDecision(now: Micros): void {
    this.#most = BigInt(this.#flight) * WHOLE;
    this.#round = { lost: 0n, passed: 0n };
    this.#waits = this.#samples = 0n;
    this.#least = this.#countsAt = undefined;
    this.#beganAt = now;
    this.#decidesAt = now + this.#interval;
  }

  /** How long it is until a decision. */
  get #interval(): Micros {
    return this.#latest + this.#latest / PART;
  }

  /** ROOM-4, ROOM-5. */
  #open(gained: number): void {
    if (!this.#isOpening || gained <= 0 || this.#latest - this.base.value > this.#target / 2n) return;
    let size = min(this.#size + (Limit.#OPEN_FACTOR - 1n) * WHOLE * BigInt(gained), Limit.#OPEN_FACTOR * this.#most);
    if (this.#ceiling > 0n && size >= this.#ceiling) {
      size = this.#ceiling;
      this.#isOpening = false;
    }
    this.#size = max(this.#size, size);
  }

  /** A chunk begins, and none was in flight (IDL-1): whether the idle time counts as news. */
  resume(now: Micros, idle: Micros): boolean {
    const isLong = idle >= this.#latest;
    if (this.#decidesAt === undefined) return false;
    if (isLong) {
      this.#beganAt += idle;
      this.#decidesAt += idle;
      this.breaker.putOff(idle);
      this.base.wasIdle(now);
      this.#fade(idle);
    }
    if (this.#countsAt === undefined) { // DCS-4
      this.#countsAt = now + this.#interval;
      this.#decidesAt = max(this.#decidesAt, this.#countsAt + this.#latest / PART);
    }
    return isLong;
  }

  /** IDL-2. */
  #fade(idle: Micros): void {
    for (let left = idle; left >= 2n * LIFE && this.#size > Limit.#FIRST; left -= LIFE) {
      this.#size = max(this.#size / 2n, Limit.#FIRST);
    }
  }

  /** DCS-5, DCS-7, DCS-8. */
  #decide(now: Micros): void {
    const least = this.#least ?? this.base.value;
    const q = least - this.base.value;
    const t = this.#target;
    const isLossy = this.#isLossy(t);
    if (this.base.isDraining) return;
    const used = min(this.#most, this.#size);
    const isFull = this.#most + WHOLE > (this.#size * 7n) / 8n;
    this.#judgeOthers(now, used, q, t);
    const wanted = (used * (this.base.value + t / 2n)) / least; // it leaves half of the target in the queue
    const fit = q > t && !this.#hasOthers ? max(wanted, used / 2n) : used;
    if (isLossy) this.#answerLoss(now, used, fit);
    else if (this.#marked > 0) this.#cutForLoss(now, used, min(fit, used - used / PART)); // ECN-3
    else if (fit < used) {
      this.#cut(fit);
      this.#ceiling = 0n;
    } else if (isFull && !this.#isOpening && !this.breaker.isBroken && this.#phase !== "looks") {
      this.#grow(q < t / 2n);
      if (q > t / 2n && !this.#hasOthers) this.#size -= (used - wanted) / PART; // DLY-3
    }
    this.#marked = 0;
    const { lost, passed } = this.#found;
    this.breaker.count(lost, passed);
    if (this.breaker.judge(now)) this.#cut(Limit.#LEAST);
  }

  /** What was lost and left the path since the decision before; not below 0, if some came late. */
  get #found(): Sums {
    return { lost: max(this.#round.lost, 0n), passed: max(this.#round.passed, 0n) };
  }

  /** DLY-2. */
  #cut(size: Amount): void {
    this.#size = max(size, Limit.#LEAST);
    this.#step = Limit.#STEP;
    this.#quiet = 0;
    this.#isOpening = false;
  }

  /** LSS-5. */
  #answerLoss(now: Micros, used: Amount, fit: Amount): void {
    const { lost, passed } = this.#round;
    const arrived = (used * max(passed - lost, 0n)) / max(passed, 1n);
    this.#before = { size: this.#size, ceiling: this.#ceiling, sums: this.#sums, isOpening: this.#isOpening };
    this.#cutForLoss(now, used, min(fit, used - used / PART, (arrived * 7n) / 8n));
  }

  /** LSS-5, ECN-3. */
  #cutForLoss(now: Micros, used: Amount, size: Amount): void {
    this.#cut(size);
    this.#ceiling = used;
    this.#low = this.#size;
    this.#isHit = true;
    this.#phase = "recovers";
    this.#sums = NO_SUMS;
    if (this.#hasOthers && this.base.isDrainDue(now)) this.base.drain(now, this.#latest, this.roundTrip.srtt); // OTH-3
  }

  /** GRO-1 to GRO-5. */
  #grow(isShort: boolean): void {
    const isQuiet = this.#hasOthers ? !this.#isHit : isShort && this.#size >= this.#ceiling;
    this.#quiet = isQuiet ? this.#quiet + 1 : 0;
    const least = this.#hasOthers ? WHOLE : Limit.#STEP;
    const back = (this.#ceiling - this.#size) / BigInt(Limit.#QUIET_MOST);
    if (this.#quiet > Limit.#QUIET_MOST) this.#step = max(min(2n * this.#step, this.#size / Limit.#DOUBLE_PART), least);
    else this.#step = this.#hasOthers || !isShort ? least : max(least, back); // GRO-3
    this.#size += min(this.#step, this.#size / PART);
  }

  /** LSS-2 to LSS-4. */
  #isLossy(t: Micros): boolean {
    const found = this.#found;
    if (this.#phase === "recovers") {
      this.#phase = "looks";
      this.#marked = 0;
      return false;
    }
    const isShort = this.#isShort(t);
    this.#sums = { lost: this.#sums.lost + found.lost, passed: this.#sums.passed + found.passed };
    if (this.#phase === "looks") {
      const { lost, passed } = this.#sums;
      const before = this.#before;
      if (before !== undefined && passed * before.sums.lost < PART * before.sums.passed && lost < PART) return false;
      this.#phase = "steady";
      this.#look(this.#sums, isShort);
      this.#sums = NO_SUMS;
      this.#before = undefined;
      return false;
    }
    if (this.#calm.isExceeded(this.#sums, this.#isOpening)) return true;
    while (this.#sums.passed > SUM_MOST) {
      this.#sums = { lost: this.#sums.lost / 2n, passed: this.#sums.passed / 2n };
    }
    if (this.#size <= this.#low + this.#low / PART) this.#calm.learn(found, isShort);
    return false;
  }

  /** DCS-9. */
  #wait(w: Micros): void {
    this.#leastWait = this.#samples > 0n ? min(this.#leastWait, w) : w;
    this.#waits += w;
    this.#samples++;
  }

  /** DCS-7: a queue that does not empty is full, however short it is. */
  #isShort(t: Micros): boolean {
    if (this.#samples === 0n) return false;
    const average = this.#waits / this.#samples;
    const stands = this.#samples >= PART && 2n * this.#leastWait > average && this.#leastWait > t / (PART * PART);
    return !stands && average <= t / PART;
  }

  /** LSS-3. */
  #look(found: Sums, isShort: boolean): void {
    const before = this.#before;
    const isSame = before !== undefined && isShort && found.passed > 0n
      && PART * before.sums.lost >= before.sums.passed && PART * found.lost * before.sums.passed >= (PART - 1n) * before.sums.lost * found.passed;
    if (isSame) this.#calm.learn(before.sums, isShort);
    if (this.#calm.isGone(found)) this.#calm.forget();
    this.#calm.learn(found, isShort);
    if (before === undefined || this.breaker.isBroken) return;
    if (this.#calm.isExceeded(before.sums, this.#isOpening, isSame)) return;
    this.#size = max(this.#size, before.size); // the cut was in vain
    this.#ceiling = before.ceiling;
    this.#isOpening = before.isOpening;
  }

  /** OTH-2, OTH-3. */
  #judgeOthers(now: Micros, used: Amount, q: Micros, t: Micros): void {
    if (this.#hasOthers) {
      if (this.base.isDrainDue(now) && !this.#isHit) this.base.drain(now, this.#latest, this.roundTrip.srtt);
    } else if (q <= t / 2n) {
      this.#above = Math.max(this.#above - 1, 0);
    } else if (q > t) {
      const speed = max(this.#round.passed - this.#round.lost, 0n) * 1_000_000n / max(now - this.#beganAt, 1n); // DCS-7
      if (this.#above === 0) [this.#from, this.#fromSpeed] = [used, speed];
      this.#above = (this.#above + 1) % Limit.#CONTEST_ROWS;
      if (this.#above === 0 && (used <= WHOLE || PART * speed < (PART - 1n) * this.#fromSpeed)) this.#contest(now);
    }
  }

  /** OTH-2, step 5. */
  #contest(now: Micros): void {
    this.#hasOthers = true;
    this.#quiet = 0;
    this.#isHit = false;
    this.#size = max(this.#size, this.#from);
    this.base.contest(now);
  }

  /** OTH-4. */
  #endContest(now: Micros): void {
    this.#hasOthers = false;
    this.#above = 0;
    this.base.endContest(now);
  }

  /** PTO-7. */
  silence(): void {
    if (this.roundTrip.isMeasured) {
      this.#ceiling = this.#size;
      this.#size = max(this.#size / 2n, min(this.#size, TWO_SLICES));
    } else this.#size = max(min(this.#size, this.#most) / 2n, TWO_SLICES);
    this.#step = Limit.#STEP;
    this.#quiet = 0;
    this.#isOpening = !this.breaker.isBroken;
  }
}

/** When the next slice may go out (PAC-4, PAC-5). */
class Pace {
  static readonly #CATCH_UP: Nanos = 20_000_000n;

  #at: Nanos = 0n;

  /** When the next slice may go out, rounded up. */
  get at(): Micros {
    return (this.#at + 999n) / 1000n;
  }

  /** Time with nothing to send is not made up for (PAC-5). */
  skip(now: Micros): void {
    this.#at = max(this.#at, 1000n * now);
  }

  /** PAC-4. */
  sent(now: Micros, interval: Nanos): void {
    this.#at = max(this.#at, 1000n * now - Pace.#CATCH_UP) + interval;
  }
}

/** A sender's part in a controller, which the senders of a connection share (LAN-9). */
export class Share {
  flight = 0;
  /** Whether a chunk is in flight. */
  isActive = false;
  /** Whether there was something to send at the latest poll. */
  wants = false;
}

/**
 * What a sender knows of the path, and when that lets a slice go. The constructor throws RangeError for a profile
 * outside the limits of PRO-1 and PRO-4.
 */
export class Controller {
  static readonly #BURST_INTERVAL: Nanos = 85_000n;
  static readonly #FASTEST: Nanos = 7_000n;
  static readonly #MOST_DOUBLED = 10;
  static readonly #SILENT_DELAYS = 3n;
  static readonly #SILENT_ACKS = 8;
  static readonly #GAP_SIZE = 2n;

  readonly roundTrip = new RoundTrip();
  readonly loss: LossEstimate;
  readonly #kind: RatelessProfile["kind"];
  /** The interval of the profile's limit; 0: none. */
  readonly #least: Nanos;
  readonly #limit = new Limit(this.roundTrip);
  readonly #pace = new Pace();
  /** Senders with a chunk in flight. */
  #active = 0;
  /** Senders that had something to send at their latest poll (PAC-5). */
  #wanting = 0;
  #timeouts = 0;
  #unanswered = 0;
  #suspects = 0;
  #isSilenced = false;
  #probeAt: Micros = 0n;
  #heardAt: Micros = 0n;

  constructor({ kind, limit }: RatelessProfile) {
    if (limit !== 0 && (limit < 8 * 1066 || limit > 8e9)) throw new RangeError("the limit must be 8,528 to 8 * 10^9 bit/s");
    if (kind === "fixed" && limit === 0) throw new RangeError("a fixed rate needs a limit");
    this.#kind = kind;
    this.#least = limit === 0 ? 0n : (DATAGRAM_BITS * 1_000_000_000n) / BigInt(limit);
    this.loss = new LossEstimate(kind === "redundant" ? 9 : 4);
  }

  /** Whether other packets on the path must not wait behind slices (ROOM-3). */
  get isYielding(): boolean {
    return this.#limit.isYielding;
  }

  set isYielding(isYielding: boolean) {
    this.#limit.isYielding = isYielding;
  }

  /** Whether so much is lost for so long that growth has stopped (BRK-6). */
  get isBroken(): boolean {
    return this.#limit.breaker.isBroken;
  }

  /** No probe before (PTO-3). */
  get probeAt(): Micros {
    return this.#probeAt;
  }

  /** From when on there is a silence (ROOM-7). */
  get silentAt(): Micros {
    return this.#heardAt + this.roundTrip.baseDelay;
  }

  /** The smallest clean sample of late, 0 before there is one. */
  get smallestRoundTrip(): Micros {
    return this.#limit.base.value;
  }

  /** The allowance: how many slices may be in flight (ROOM-1). */
  get pathSlices(): number {
    return this.#limit.slices;
  }

  /** Whether the allowance lets a slice go (ROOM-1). */
  get hasRoom(): boolean {
    return this.#kind === "burst" || this.#kind === "fixed" || this.#limit.flight < this.#limit.slices;
  }

  /** When the pace lets the next slice go. */
  get next(): Micros {
    return this.#pace.at;
  }

  /** So many new marks of congestion (ECN-1). */
  marks(count: number): void {
    this.#limit.marks(count);
  }

  /** A sender begins a chunk (REC-2). */
  start(now: Micros, share: Share): void {
    if (!share.isActive) {
      if (this.#active === 0 && this.#limit.resume(now, now - this.#heardAt)) this.#heardAt = now;
      share.isActive = true;
      this.#active++;
    }
    this.flies(share, 0); // what is left of one that was given up
    this.roundTrip.start();
  }

  /** A sender has so many slices in flight (REC-1). */
  flies(share: Share, slices: number): void {
    this.#limit.flight += slices - share.flight;
    share.flight = slices;
  }

  /** A sender's chunk has arrived, or another controller takes it. */
  leave(share: Share): void {
    this.flies(share, 0);
    this.#want(share, false);
    if (share.isActive) this.#active--;
    share.isActive = false;
  }

  /** A sender that has a part in another controller gets one here; a chunk that is in flight stays so (CXL-10). */
  take(share: Share, from: Controller): void {
    const isActive = share.isActive;
    from.leave(share);
    share.isActive = isActive;
    if (isActive) this.#active++;
  }

  /** What a new controller has that has sent one slice, of which nothing is in flight (CXL-10). */
  static afterOneSlice(profile: RatelessProfile, now: Micros): Controller {
    const [made, share] = [new Controller(profile), new Share()];
    made.start(now, share);
    made.go(now, share, true, true);
    made.leave(share);
    return made;
  }

  /** A clean sample of the round trip (EST-2). */
  sample(now: Micros, measured: Micros): void {
    const r = max(measured, 1n);
    this.roundTrip.measure(r);
    this.#limit.sample(now, r);
  }

  /** A sample of a slice that was sent again (EST-3). */
  sampleResent(measured: Micros): void {
    const r = max(measured, 1n);
    this.roundTrip.measure(r);
    this.#limit.resent(r);
  }

  /** REC-11: `gained` slices arrived, and `missing` were lost, or fewer than none if some came late. */
  news(now: Micros, gained: number, missing: number): void {
    let found = missing;
    if (gained > 0) {
      if (this.#suspectsAreLost) found += this.#suspects;
      else this.#limit.breaker.count(BigInt(this.#suspects), BigInt(this.#suspects)); // SUS-4
      this.#suspects = this.#timeouts = this.#unanswered = 0;
      this.#heardAt = now;
      this.#isSilenced = false;
      this.#probeAt = 0n;
    }
    this.#limit.expire(now);
    this.loss.count(gained, missing);
    this.#limit.news(now, gained, found);
  }

  /** SUS-3. */
  get #suspectsAreLost(): boolean {
    return !this.#isSilenced && this.#limit.size < (Controller.#GAP_SIZE + 1n) * WHOLE * BigInt(this.#active);
  }

  /** So many slices that a timer gave up have arrived (SUS-2). */
  late(count: number): void {
    this.#suspects = Math.max(this.#suspects - Math.max(count, 0), 0);
  }

  /** Whether what is wanted goes out: then it counts as sent (from step 3 of REC-5 and RPL-9 on). */
  go(now: Micros, share: Share, isWanted: boolean, isFresh: boolean): boolean {
    if (this.#wanting === 0) this.#pace.skip(now);
    this.#want(share, isWanted);
    if (!isWanted || now < this.#pace.at) return false;
    this.#unanswered++;
    this.#pace.sent(now, this.#interval(isFresh));
    return true;
  }

  #want(share: Share, wants: boolean): void {
    this.#wanting += Number(wants) - Number(share.wants);
    share.wants = wants;
  }

  /** The timer ran out without news, and gave up so many slices (SUS-1, PTO-3, PTO-7). */
  timedOut(now: Micros, givenUp: number): void {
    this.#suspects += givenUp;
    const { isMeasured, baseDelay } = this.roundTrip;
    const doubled = BigInt(Math.min(this.#timeouts, Controller.#MOST_DOUBLED));
    this.#probeAt = now + min(baseDelay << doubled, max(baseDelay, SLOWEST / 1000n));
    this.#timeouts++;
    const isLong = now - this.#heardAt >= Controller.#SILENT_DELAYS * baseDelay;
    if (isMeasured && (this.#isSilenced || !isLong || !this.#isTooSilent)) return;
    this.#limit.silence();
    this.#isSilenced = true;
  }

  /** Whether eight acks were to be expected. */
  get #isTooSilent(): boolean {
    const { lost, arrived } = this.loss;
    const there = quotient(this.#unanswered * arrived, arrived + lost);
    return quotient(there * arrived, arrived + lost) >= Controller.#SILENT_ACKS;
  }

  /** PRO-1, PRO-2, PRO-4. */
  #interval(isFresh: boolean): Nanos {
    if (isFresh && this.#kind === "burst") return max(Controller.#BURST_INTERVAL, this.#least);
    return max(this.#kind === "fixed" ? 0n : this.#pathInterval, Controller.#FASTEST, this.#least);
  }

  /** PAC-3, PAC-8, PAC-9. */
  get #pathInterval(): Nanos {
    if (this.smallestRoundTrip === 0n) return Controller.#BURST_INTERVAL;
    const { size, isOpening } = this.#limit;
    const spread = (1000n * WHOLE * this.roundTrip.srtt) / size;
    if (isOpening) return min(spread / 2n, SLOWEST);
    return min(size >= TWO_SLICES ? (spread * 15n) / 16n : spread, SLOWEST);
  }
}
