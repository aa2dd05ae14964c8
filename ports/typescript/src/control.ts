/** The controller of a sender of repair slices: when what is known of the path lets a slice go (RECOVERY.md). */

import { RoundTrip, since } from "./round-trip.js";
import { max, min, MS, type Micros } from "./time.js";

/** Nanoseconds. */
export type Nanos = bigint;

/** How fast it sends, and how much for certainty (RPL-14). */
export interface RatelessProfile {
  readonly kind: "adaptive" | "redundant" | "burst" | "fixed";
  /** Limit in bits a second with IP and UDP headers, 8,528 to 8 * 10^9; 0: none, not for `fixed`. */
  readonly limit: number;
}

/** How long a receiver may wait with an ack. */
const ACK_DELAY: Micros = 2n * MS;
/** The least interval between two slices. */
const FASTEST: Nanos = 7_000n;
/** The longest. */
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
  static readonly #SETTLED = 1536;
  static readonly #PRIOR = 448;
  static readonly #MOST = 16_384;
  static readonly #MOST_NEED = 1024;

  /** @param deviations - Z, the square of how many standard deviations are added */
  constructor(
    readonly deviations: number,
    public lost = 16,
    public arrived = 512,
    public settled = false,
  ) {}

  /** `gained` slices arrived, and `missing` were lost, or fewer than none if some came late. */
  count(gained: number, missing: number): void {
    this.arrived += 16 * gained;
    this.lost = Math.max(this.lost + 16 * missing, 0);
    if (!this.settled && this.arrived >= LossEstimate.#SETTLED) {
      this.arrived -= LossEstimate.#PRIOR;
      this.settled = true;
    }
    if (this.lost + this.arrived > LossEstimate.#MOST) {
      this.lost = quotient(this.lost, 2);
      this.arrived = Math.max(quotient(this.arrived, 2), 1);
    }
  }

  /** No more is known to be lost than `calm`, in 1024ths, and a little (CAP-3). */
  forget(calm: number): void {
    this.lost = Math.min(this.lost, quotient(this.arrived * (calm + 8), 1024 - Math.min(calm, 1000)));
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
export class SmallestRoundTrip {
  static readonly #LIFE: Micros = 10_000n * MS;
  static readonly #FIRST: Micros = 2_500n * MS;
  static readonly #EVERY: Micros = 10_000n * MS;
  static readonly #LATE: Micros = 7_000n * MS;
  static readonly #SOON: Micros = 500n * MS;
  static readonly #ALARM_FIRST: Micros = 1_000n * MS;
  static readonly #FALL: Micros = MS;
  static readonly #MISSES = 3;

  #value: Micros = 0n;
  #sampleAt: Micros | undefined;
  #busySince: Micros = 0n;
  #drain: { readonly until: Micros; readonly fullAt: Micros; min: Micros } | undefined;
  /** When the next drain begins. */
  #drainAt: Micros = 0n;
  #endedAt: Micros = 0n;
  /** How long after a drain much loss may begin the next one. */
  #gap: Micros = 0n;
  /** Whether it has fallen in the drain, or just before. */
  #fell = false;
  #misses = 0;

  /** 0 while there was no sample. */
  get value(): Micros {
    return this.#value;
  }

  /** Whether the sender waits for the queue to empty. */
  get isDraining(): boolean {
    return this.#drain !== undefined;
  }

  /** A chunk begins, and none is in flight. */
  busy(now: Micros): void {
    this.#busySince = now;
  }

  /** The queue is taken for the path (CTD-4). */
  take(value: Micros): void {
    this.#value = value;
  }

  /** The path is contested from now on (CTD-1, CTD-2). */
  contest(now: Micros): void {
    this.#drain = undefined;
    this.#drainAt = now + SmallestRoundTrip.#EVERY;
  }

  /** It is not contested any more (CTD-3). */
  endContest(now: Micros): void {
    this.#drainAt = now + SmallestRoundTrip.#SOON;
  }

  /** Much is lost without a queue (LMT-4). */
  alarm(now: Micros, r: Micros, srtt: Micros): void {
    const isEarly = now - this.#busySince < SmallestRoundTrip.#ALARM_FIRST || now - this.#endedAt < this.#gap;
    if (!this.isDraining && !isEarly) this.#begin(now, r, srtt);
  }

  /**
   * @param srtt - the smoothed round trip, with this sample
   * @returns if a drain has ended, whether there was a sample near the smallest one
   */
  sample(now: Micros, r: Micros, srtt: Micros, isContested: boolean): { readonly isNear: boolean } | undefined {
    const isLate = this.#sampleAt === undefined || now - this.#sampleAt >= SmallestRoundTrip.#LIFE;
    this.#sampleAt = now;
    if (isLate) return this.#restart(now, r);
    if (r < this.#value) this.#fall(now, r, srtt, isContested);
    const ended = this.#endIfDue(now, r, isContested);
    if (!this.isDraining && this.#isDue(now, isContested)) this.#begin(now, r, srtt);
    return ended;
  }

  /** EST-6. */
  #restart(now: Micros, r: Micros): undefined {
    this.#value = r;
    this.#drain = undefined;
    this.#drainAt = now + SmallestRoundTrip.#FIRST;
    this.#misses = 0;
  }

  /** EST-8. */
  #fall(now: Micros, r: Micros, srtt: Micros, isContested: boolean): void {
    if (this.#value - r >= SmallestRoundTrip.#FALL) {
      this.#fell = true;
      if (!this.isDraining && !isContested) this.#begin(now, r, srtt);
    }
    this.#value = r;
  }

  /** EST-7. */
  #isDue(now: Micros, isContested: boolean): boolean {
    if (now < this.#drainAt) return false;
    const wasBusy = now - this.#busySince >= SmallestRoundTrip.#FIRST;
    return isContested || wasBusy || now - this.#drainAt >= SmallestRoundTrip.#LATE;
  }

  #begin(now: Micros, r: Micros, srtt: Micros): void {
    this.#drain = { until: now + 2n * max(srtt, r), fullAt: now + r, min: r };
  }

  #endIfDue(now: Micros, r: Micros, isContested: boolean): { readonly isNear: boolean } | undefined {
    const drain = this.#drain;
    if (drain === undefined) return undefined;
    drain.min = min(drain.min, r);
    const isNear = drain.min <= this.#value + max(this.#value / 8n, ACK_DELAY);
    if (now < drain.until && !(isNear && !this.#fell && now >= drain.fullAt)) return undefined;
    this.#end(now, drain.min, isNear, isContested);
    return { isNear };
  }

  /** A drain whose time is over says nothing of the path if no sample ended it (EST-9). */
  expire(now: Micros): void {
    if (this.#drain !== undefined && now >= this.#drain.until) this.#stop(now);
  }

  /** EST-9. */
  #stop(now: Micros): void {
    this.#drain = undefined;
    this.#endedAt = now;
    this.#drainAt = now + (this.#fell ? SmallestRoundTrip.#SOON : SmallestRoundTrip.#EVERY);
    const longer = min(2n * max(this.#gap, SmallestRoundTrip.#ALARM_FIRST), SmallestRoundTrip.#EVERY);
    this.#gap = this.#fell ? SmallestRoundTrip.#SOON : longer;
    this.#fell = false;
  }

  /** EST-10. */
  #end(now: Micros, smallest: Micros, isNear: boolean, isContested: boolean): void {
    this.#stop(now);
    if (isNear) this.#misses = 0;
    else if (!isContested && ++this.#misses === SmallestRoundTrip.#MISSES) {
      this.#value = smallest;
      this.#misses = 0;
    }
  }
}

/** A run of acks whose time gives a rate (RAT-1). */
interface Train {
  readonly since: Micros;
  newsAt: Micros;
  /** The longest time between two acks. */
  pause: Micros;
  gained: number;
}

/** How long the path takes for a slice (RAT-1 to RAT-5). */
export class Rate {
  static readonly #LONG_TRAIN = 16;
  static readonly #SHORT_TRAIN = 4;
  static readonly #TRAIN_TIME: Micros = 20n * MS;
  static readonly #EPOCH: Micros = 10n * MS;

  #train: Train | undefined;
  #passed = 0;
  #ranDryAt: Micros | undefined;
  /** The smallest sample of this epoch, which began at a time, and of the one before. */
  #epoch: { readonly at: Micros; smallest: Nanos; readonly before: Nanos | undefined } | undefined;
  /** Nanoseconds a slice of the latest whole train, without its pause; 0 while there was none. */
  #arrival: Nanos = 0n;

  /** @param fixed - what is taken as given (PRO-4) */
  constructor(readonly fixed?: Nanos) {}

  /** `per_slice`; undefined while it is unknown. */
  get perSlice(): Nanos | undefined {
    return this.fixed ?? this.#measured;
  }

  /** The interval for the rate that is measured, 0 while it is unknown (PAC-1 to PAC-3). */
  get interval(): Nanos {
    return min(((this.#measured ?? 0n) * 7n) / 8n, SLOWEST);
  }

  get #measured(): Nanos | undefined {
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

  /** In how long a slice arrived of late, 0 while that is unknown (CAP-2). */
  arrival(now: Micros): Nanos {
    const train = this.#train;
    if (train === undefined || train.gained < 2) return this.#arrival;
    return max(this.#arrival, (1000n * since(now, train.since + train.pause)) / BigInt(train.gained));
  }

  /**
   * `gained` slices have arrived, and `passed` transmissions have passed the path (RAT-1).
   *
   * @param calm - loss that does not depend on the rate, in 1024ths
   */
  news(now: Micros, gained: number, passed: number, minRtt: Micros, srtt: Micros, calm: number): void {
    this.#passed += passed;
    if (gained === 0) return;
    const train = this.#train;
    if (train !== undefined) {
      train.gained += gained;
      train.pause = max(train.pause, now - train.newsAt);
      train.newsAt = now;
      const isShort = train.gained >= Rate.#SHORT_TRAIN && now - train.since >= max(minRtt / 2n, Rate.#TRAIN_TIME);
      if (train.gained < Rate.#LONG_TRAIN && !isShort) return;
      this.#sample(now, train, srtt, calm);
    }
    this.#train = { since: now, newsAt: now, pause: 0n, gained: 0 };
    this.#passed = 0;
  }

  /** RAT-2 to RAT-4. */
  #sample(now: Micros, train: Train, srtt: Micros, calm: number): void {
    const took = 1000n * since(now, train.since);
    const gained = BigInt(train.gained);
    this.#arrival = max(took - 1000n * since(train.pause, 0n), 0n) / gained;
    let x = took / gained;
    if (this.#passed > train.gained) {
      const most = BigInt(Math.min(Math.max(calm, 256), 512));
      x = max(took / BigInt(this.#passed), (x * (1024n - most)) / 1024n);
    }
    x = max(x, FASTEST);
    const known = this.#measured;
    const wasBusy = this.#ranDryAt === undefined || this.#ranDryAt < train.since - srtt;
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

/** Whether slices are lost because of the rate, though no queue is seen; losses are in 1024ths (CAP-1 to CAP-7). */
export class Cap {
  static readonly #MUCH_LOST = 128;
  static readonly #LEAST_LOST = 16;
  static readonly #MOST_LOST = 768;
  static readonly #FIRST_WAIT = 24n;
  static readonly #LONGEST_WAIT = 384n;
  static readonly #BAD = 4;

  /** 0: none. */
  #interval: Nanos = 0n;
  #isSeeking = false;
  /** Accounts in a row with loss. */
  #bad = 0;
  #raisedAt: Micros = 0n;
  /** The interval of the look; 0: there is none. */
  #look: Nanos = 0n;
  /** The loss before it. */
  #before = 0;
  #calm = 0;
  #lookAt: Micros = 0n;
  #wait = 0n;
  #account: { readonly since: Micros; arrived: number; lost: number } = { since: 0n, arrived: 0, lost: 0 };

  constructor(
    readonly roundTrip: RoundTrip,
    readonly rate: Rate,
    readonly loss: LossEstimate,
  ) {}

  /** The shortest interval; 0: none. */
  get least(): Nanos {
    return max(this.#interval, this.#look);
  }

  /** Loss that does not depend on the rate. */
  get calm(): number {
    return this.#calm;
  }

  /** A chunk begins, and none is in flight: a look is over (REC-2). */
  start(now: Micros): void {
    this.#look = 0n;
    this.#begin(now);
  }

  /** CAP-1. */
  news(now: Micros, gained: number, missing: number, latest: Micros): void {
    const { srtt } = this.roundTrip;
    const account = this.#account;
    if (srtt === 0n || now < account.since) return;
    account.arrived += gained;
    account.lost = Math.max(account.lost + missing, 0);
    this.#raise(now, srtt);
    const n = account.arrived + account.lost;
    const took = since(now, account.since);
    if (!this.#isComplete(n, took, srtt)) return;
    const interval = (1000n * took) / BigInt(Math.max(account.arrived, 1));
    const p = quotient(account.lost * 1024, n);
    if (this.#look > 0n) this.#judgeLook(now, n, p, interval, latest);
    else if (this.#interval > 0n) this.#judge(now, n, p, interval, latest);
    else this.#suspect(now, p, interval, latest);
  }

  #begin(at: Micros): void {
    this.#account = { since: at, arrived: 0, lost: 0 };
  }

  #isComplete(n: number, took: Micros, srtt: Micros): boolean {
    const hasCap = this.#look === 0n && this.#interval > 0n;
    const slices = this.#look > 0n ? 64 : hasCap ? 32 : 128;
    return n > 0 && took >= srtt && (n >= slices || took >= (hasCap ? 4n : 8n) * srtt);
  }

  /** CAP-2. */
  #suspect(now: Micros, p: number, interval: Nanos, latest: Micros): void {
    const isUsual = p < Cap.#MUCH_LOST || this.#account.lost < Cap.#LEAST_LOST || p <= quotient(this.#calm * 5, 4) + 16;
    if (isUsual || now < this.#lookAt) return this.#begin(now);
    const arrival = this.rate.arrival(now);
    this.#look = max(arrival, this.rate.interval);
    this.#before = p;
    if (p >= Cap.#MOST_LOST || arrival === 0n) this.#look = min(max(this.#look, interval), SLOWEST);
    this.#begin(now + latest);
  }

  /** CAP-3, CAP-4. */
  #judgeLook(now: Micros, n: number, p: number, interval: Nanos, latest: Micros): void {
    const expected = quotient(this.#before * n, 1024);
    const { lost } = this.#account;
    if (4 * lost < 3 * expected && lost + 3 * root(lost + 1) < expected) {
      this.#interval = min(max(this.#look, interval), SLOWEST);
      this.#isSeeking = true;
      this.#bad = 0;
      this.loss.forget(this.#calm);
      this.#look = 0n;
    } else if (p >= Cap.#MOST_LOST && interval >= 2n * this.#look && interval < SLOWEST) {
      this.#look = interval;
    } else {
      this.#calm = p;
      this.#look = 0n;
      this.#wait = min(max(2n * this.#wait, Cap.#FIRST_WAIT), Cap.#LONGEST_WAIT);
      this.#lookAt = now + this.#wait * this.roundTrip.srtt;
    }
    this.#begin(now + latest);
  }

  /** CAP-5, CAP-6. */
  #judge(now: Micros, n: number, p: number, interval: Nanos, latest: Micros): void {
    const expected = quotient(5 * this.#calm * n, 4096);
    if (this.#account.lost <= expected + 2 + 2 * root(expected)) return this.#keep(now);
    this.#bad++;
    if (this.#bad >= Cap.#BAD && 2 * p > this.#before) {
      this.#interval = 0n;
      this.#calm = p;
    } else {
      const slower = max((this.#interval * 8n) / 7n, min(interval, 2n * this.#interval));
      this.#interval = min(slower, SLOWEST);
      this.#isSeeking = false;
    }
    this.#begin(now + latest);
  }

  /** CAP-5: little was lost. */
  #keep(now: Micros): void {
    this.#bad = 0;
    if (this.#isSeeking) this.#interval = (this.#interval * 3n) / 4n;
    if (this.#interval < ((this.rate.perSlice ?? 0n) * 5n) / 8n) this.#interval = 0n;
    this.#begin(now);
  }

  /** CAP-7. */
  #raise(now: Micros, srtt: Micros): void {
    if (this.#interval === 0n || this.#look > 0n || this.#isSeeking || now - this.#raisedAt < srtt) return;
    this.#raisedAt = now;
    const rounds = 4000n * srtt;
    this.#interval = max((this.#interval * rounds) / (rounds + this.#interval), 1n);
  }
}

/** Decisions in a row with a queue above the target (CTD-8). */
interface Row {
  readonly at: Micros;
  /** Before the first cut. */
  readonly limit: number;
  lost: number;
  isAbrupt: boolean;
  /** How many showed the same in a row, without loss, and what. */
  flat: number;
  flatLow: Micros;
}

/** How much may be in flight, in eighths of a slice, so that the queue stays short (LMT-1 to LMT-9, CTD-1 to CTD-8). */
export class Limit {
  static readonly #FIRST = 256;
  static readonly #LEAST = 4;
  static readonly #TARGET_LEAST: Micros = 5n * MS;
  static readonly #TARGET_MOST: Micros = 20n * MS;
  static readonly #SUM_MOST = 256;
  static readonly #CALM_MOST = 1024;
  static readonly #CALM_PRIOR = 64;
  static readonly #RISES = 8;
  static readonly #LEAST_RISE: Micros = 10n * MS;
  static readonly #RISE_SLACK: Micros = 5n * MS;
  static readonly #CALM_QUEUE: Micros = 5n * MS;
  static readonly #CALM_ROUNDS = 2;
  static readonly #QUIET: Micros = 20_000n * MS;
  static readonly #STEADY = 4;
  static readonly #STEADY_BAND: Micros = 2n * MS;
  static readonly #CROWD = 64;
  /** A smaller limit is held by the pace. */
  static readonly TWO_SLICES = 16;

  #size = Limit.#FIRST;
  #step = 8;
  #isOpening = true;
  /** The latest sample. */
  #latest: Micros = 0n;
  #isSampled = false;
  /** When the next decision begins, and the one that has begun. */
  #roundAt: Micros | undefined;
  #decision: { readonly closesAt: Micros; low: Micros } | undefined;
  #lowBefore: Micros = 0n;
  /** Since the latest decision. */
  #flight = 0;
  #most = 0;
  #isFull = false;
  #lost = 0;
  #passed = 0;
  /** Whether it held a slice back since the latest poll. */
  #isBlocked = false;
  #marked = 0;
  #sum = { lost: 0, passed: 0 };
  #calm = { lost: 0, passed: 0 };
  #isContested = false;
  #calmRounds = 0;
  #noise: Micros = 0n;
  #rises = 0;
  #risesFrom: Micros = 0n;
  #row: Row | undefined;

  constructor(
    readonly roundTrip: RoundTrip,
    readonly smallest: SmallestRoundTrip,
    readonly rate: Rate,
  ) {}

  get latest(): Micros {
    return this.#latest;
  }

  get isContested(): boolean {
    return this.#isContested;
  }

  /** In slices (LMT-9). */
  get slices(): number {
    return quotient(Math.max(this.#size, Limit.TWO_SLICES), 8);
  }

  /** What is in flight, in slices. */
  get flight(): number {
    return this.#flight;
  }

  set flight(slices: number) {
    this.#flight = slices;
    this.#most = Math.max(this.#most, 8 * slices);
  }

  /** ECN-1. */
  marks(count: number): void {
    this.#marked += count;
  }

  /** It holds a slice back (LMT-9). */
  hold(): void {
    this.#isFull = true;
    this.#isBlocked = true;
  }

  /** Whether it held one back since it was asked before. */
  wasBlocked(): boolean {
    const was = this.#isBlocked;
    this.#isBlocked = false;
    return was;
  }

  /** The interval of the pace (PAC-2, PAC-6). */
  interval(ns: Nanos): Nanos {
    const round = (this.#latest * 8000n) / BigInt(this.#size);
    if (this.#isContested) return min(ns, (round * 3n) / 4n);
    if (this.#size < Limit.TWO_SLICES) {
      this.hold();
      return max(ns, round);
    }
    return this.#isOpening ? ns : max(ns, round / 2n);
  }

  /** PTO-7, first step. */
  lowerUnmeasured(): void {
    this.#lower(Math.max(quotient(Math.min(this.#size, this.#most), 2), Limit.TWO_SLICES));
  }

  /** PTO-7, second step. */
  lowerSilent(): void {
    this.#lower(Math.max(quotient(this.#size, 2), Math.min(this.#size, Limit.TWO_SLICES)));
  }

  /** A sample of the round trip, in the event at hand. */
  sample(now: Micros, r: Micros): void {
    this.#isSampled = true;
    this.#latest = r;
    const ended = this.smallest.sample(now, r, this.roundTrip.srtt, this.#isContested);
    if (ended === undefined) return;
    this.#noise = (this.#noise * 3n) / 4n; // CTD-5
    if (this.#isContested && ended.isNear) this.#endContest(now);
  }

  /** LMT-1, LMT-2. */
  news(now: Micros, gained: number, missing: number): void {
    this.#lost += missing;
    this.#passed += missing + gained;
    if (this.#isOpening && this.#queue(this.#latest) <= this.#target / 2n) {
      const grown = this.#size + 8 * Math.max(Math.min(2 * (gained + missing), 3 * gained), 0);
      this.#size = Math.min(grown, Math.max(3 * this.#most, Limit.#FIRST));
    }
    const low = this.#decided(now);
    if (low === undefined) return;
    this.#judge(now, low);
    this.#lowBefore = low;
    this.#most = 8 * this.#flight;
    this.#isFull = false;
    this.#lost = this.#passed = this.#marked = 0;
    this.#roundAt = now + this.#latest;
  }

  #lower(size: number): void {
    this.#size = size;
    this.#step = Math.max(quotient(size, 4), 1);
  }

  /** LMT-2: the smallest sample of a decision that is due. */
  #decided(now: Micros): Micros | undefined {
    if (!this.#isSampled) return undefined;
    this.#isSampled = false;
    this.#roundAt ??= now + this.#latest;
    if (this.#decision !== undefined) this.#decision.low = min(this.#decision.low, this.#latest);
    else if (now >= this.#roundAt) {
      this.#decision = { closesAt: now + this.#latest / 4n, low: this.#latest };
      return undefined;
    }
    if (this.#decision === undefined || now < this.#decision.closesAt) return undefined;
    const { low } = this.#decision;
    this.#decision = undefined;
    return low;
  }

  get #target(): Micros {
    return min(max(this.smallest.value / 4n, Limit.#TARGET_LEAST), Limit.#TARGET_MOST);
  }

  #queue(r: Micros): Micros {
    return r - this.smallest.value - this.#noise;
  }

  /** LMT-3 to LMT-8. */
  #judge(now: Micros, low: Micros): void {
    const used = this.#isFull ? this.#size : Math.min(this.#most, this.#size);
    const isLossy = this.#isLossy(low);
    this.#alarm(now, used, low);
    this.#judgeContest(now, used, low);
    const q = this.#queue(low); // which CTD-4 may have changed
    const t = this.#target;
    if (this.smallest.isDraining) return;
    if (this.#isContested) this.#compete(used, isLossy);
    else if (q > t) this.#cutByDelay(used, low, t);
    else if (this.#marked > 0 || (isLossy && q > t / 2n)) this.#cut(quotient(used * 7, 8)); // LMT-6
    else if (this.#isFull && !this.#isOpening) this.#grow(q < t / 2n);
  }

  /** LMT-5. */
  #cutByDelay(used: number, low: Micros, t: Micros): void {
    const kept = (BigInt(used) * (this.smallest.value + this.#noise + t / 2n)) / low;
    this.#cut(Math.max(Number(kept), quotient(used, 2)));
  }

  #cut(size: number): void {
    this.#size = Math.max(size, Limit.#LEAST);
    this.#step = 8;
    this.#isOpening = false;
  }

  /** LMT-7. */
  #grow(isEmpty: boolean): void {
    if (!isEmpty) this.#step = 8;
    this.#size += this.#step;
    if (isEmpty) this.#step = Math.min(2 * this.#step, quotient(this.#size, 2));
    this.#step = Math.max(this.#step, Math.min(8, quotient(this.#size, 4)), 1);
  }

  /** LMT-3. */
  #isLossy(low: Micros): boolean {
    const sum = this.#sum;
    sum.lost += this.#lost;
    sum.passed += this.#passed;
    const expected = quotient(5 * sum.passed * this.#calm.lost, 4 * (this.#calm.passed + Limit.#CALM_PRIOR));
    const isLossy = this.#marked > 0 || sum.lost - expected - 2 * root(expected) > (this.#isContested ? 0 : 2);
    if (isLossy) this.#sum = { lost: 0, passed: 0 };
    else if (sum.passed > Limit.#SUM_MOST) this.#sum = { lost: quotient(sum.lost, 2), passed: quotient(sum.passed, 2) };
    if (!this.#isContested && this.#queue(low) <= this.#target / 2n) this.#countCalm();
    return isLossy;
  }

  /** LMT-3, step 4. */
  #countCalm(): void {
    const calm = this.#calm;
    calm.lost += Math.max(this.#lost, 0);
    calm.passed += Math.max(this.#passed, 0);
    if (calm.passed > Limit.#CALM_MOST) this.#calm = { lost: quotient(calm.lost, 2), passed: quotient(calm.passed, 2) };
  }

  /** LMT-4. */
  #alarm(now: Micros, used: number, low: Micros): void {
    const q = this.#queue(low);
    if (this.#lost < 3 || q > this.#target) return;
    if (8 * this.#lost >= this.#passed && !this.#isContested) this.smallest.alarm(now, this.#latest, this.roundTrip.srtt);
    if (this.#isOpening && 4 * this.#lost >= this.#passed && q >= this.#target / 8n) {
      this.#isOpening = false;
      this.#step = Math.max(quotient(used, 4), 1);
    }
  }

  /** CTD-7. */
  #judgeContest(now: Micros, used: number, low: Micros): void {
    const q = this.#queue(low);
    const t = this.#target;
    if (this.smallest.isDraining) return;
    if (this.#isContested) {
      this.#calmRounds = q > max(t, Limit.#CALM_QUEUE) ? 0 : this.#calmRounds + 1;
      if (this.#calmRounds === Limit.#CALM_ROUNDS) this.#endContest(now);
    } else if (q <= t) {
      this.#rises = 0;
      this.#row = undefined;
    } else {
      this.#noteRise(low, q);
      const row = (this.#row ??= { at: now, limit: used, lost: 0, isAbrupt: false, flat: 0, flatLow: 0n });
      this.#noteRow(row, low, q);
      this.#judgeRow(now, row, used, low, q);
    }
  }

  /** CTD-8: how often the queue rose. */
  #noteRise(low: Micros, q: Micros): void {
    if (this.#rises === 0) {
      this.#rises = 1;
      this.#risesFrom = low;
    } else if (low > this.#lowBefore) this.#rises++;
    else if (low < this.#lowBefore - max(Limit.#RISE_SLACK, q / 16n)) this.#rises = 0;
  }

  /** CTD-8. */
  #noteRow(row: Row, low: Micros, q: Micros): void {
    row.lost += this.#lost;
    row.isAbrupt ||= q > 2n * this.#target;
    if (this.#lost > 0) return;
    const d = low - row.flatLow;
    if (row.flat > 0 && max(d, -d) <= max(Limit.#STEADY_BAND, this.smallest.value / 32n)) row.flat++;
    else {
      row.flat = 1;
      row.flatLow = low;
    }
  }

  /** CTD-1, CTD-4, CTD-2. */
  #judgeRow(now: Micros, row: Row, used: number, low: Micros, q: Micros): void {
    const hasYielded = this.#size <= Math.max(quotient(row.limit, 2), Limit.TWO_SLICES);
    const rose = low >= this.#risesFrom + max((this.#target * 3n) / 2n, Limit.#LEAST_RISE);
    if (this.#rises >= Limit.#RISES && rose) {
      this.#contest(now, Math.max(used, quotient(row.limit, 2)));
    } else if (hasYielded && row.flat >= Limit.#STEADY && row.isAbrupt && this.#isBeyondCrowd(used, q)) {
      this.#reopen(row, low);
    } else if (hasYielded && row.lost === 0 && now - row.at >= Limit.#QUIET) {
      this.#contest(now, Math.max(used, row.limit));
    }
  }

  /** Whether no crowd made the queue (CTD-4). */
  #isBeyondCrowd(used: number, q: Micros): boolean {
    const perSlice = min(this.rate.perSlice ?? 0n, SLOWEST);
    return 8000n * q > BigInt(Limit.#CROWD * Math.max(used, Limit.TWO_SLICES)) * perSlice;
  }

  #contest(now: Micros, size: number): void {
    this.#isContested = true;
    this.#calmRounds = 0;
    this.#rises = 0;
    this.#row = undefined;
    this.#size = Math.max(size, Limit.TWO_SLICES);
    this.smallest.contest(now);
  }

  /** CTD-3. */
  #endContest(now: Micros): void {
    this.#isContested = false;
    this.#rises = 0;
    this.#row = undefined;
    this.smallest.endContest(now);
  }

  /** CTD-4. */
  #reopen(row: Row, low: Micros): void {
    const d = low - this.smallest.value;
    if (d <= this.smallest.value) this.#noise = d;
    else {
      this.smallest.take(low);
      this.#noise = 0n;
    }
    this.#size = Math.max(this.#size, row.limit);
    this.#isOpening = true;
    this.#row = undefined;
  }

  /** CTD-6. */
  #compete(used: number, isLossy: boolean): void {
    if (isLossy) this.#size = Math.max(quotient(used * 7, 10), Limit.#LEAST);
    else if (this.#isFull) this.#size += Math.min(8, quotient(this.#size, 4));
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

/**
 * What a sender knows of the path, and when that lets a slice go. The constructor throws RangeError for a profile
 * outside the limits of PRO-1 and PRO-4.
 */
export class Controller {
  static readonly #BURST_INTERVAL: Nanos = 85_000n;
  static readonly #LONGEST_PROBE: Micros = 1_000n * MS;
  static readonly #MOST_DOUBLED = 10;
  static readonly #SILENT_TIMERS = 3;
  static readonly #SILENT_ACKS = 8;
  static readonly #DRAIN_WINDOW = 4;
  static readonly #YIELD_WINDOW = 20;

  readonly roundTrip = new RoundTrip();
  readonly loss: LossEstimate;
  readonly #kind: RatelessProfile["kind"];
  /** The interval of the profile's limit; 0: none. */
  readonly #least: Nanos;
  readonly #smallest = new SmallestRoundTrip();
  readonly #rate: Rate;
  readonly #cap: Cap;
  readonly #limit: Limit;
  readonly #pace = new Pace();
  #isIdle = true;
  #timeouts = 0;
  #unanswered = 0;
  #isSilenced = false;
  #probeAt: Micros = 0n;
  #heardAt: Micros = 0n;

  /** Whether other packets on the path must not wait behind slices (WIN-5). */
  isYielding = false;

  constructor({ kind, limit }: RatelessProfile) {
    if (limit !== 0 && (limit < 8 * 1066 || limit > 8e9)) throw new RangeError("the limit must be 8,528 to 8 * 10^9 bit/s");
    if (kind === "fixed" && limit === 0) throw new RangeError("a fixed rate needs a limit");
    this.#kind = kind;
    this.#least = limit === 0 ? 0n : (DATAGRAM_BITS * 1_000_000_000n) / BigInt(limit);
    this.loss = new LossEstimate(kind === "redundant" ? 9 : 4);
    this.#rate = new Rate(kind === "fixed" ? max(this.#least, FASTEST) : undefined);
    this.#cap = new Cap(this.roundTrip, this.#rate, this.loss);
    this.#limit = new Limit(this.roundTrip, this.#smallest, this.#rate);
  }

  /** No probe before (PTO-3). */
  get probeAt(): Micros {
    return this.#probeAt;
  }

  /** From when on there is a silence (LMT-10). */
  get silentAt(): Micros {
    return this.#heardAt + this.roundTrip.baseDelay;
  }

  /** The smallest clean sample of late, 0 before there is one. */
  get smallestRoundTrip(): Micros {
    return this.#smallest.value;
  }

  /** How many slices may be in flight when a chunk begins (WIN-6). */
  get pathSlices(): number {
    const isOpen = this.#limit.isContested && !this.#smallest.isDraining;
    return isOpen ? this.#limitSlices : Math.min(this.#limitSlices, this.#window);
  }

  /** So many new marks of congestion (ECN-1). */
  marks(count: number): void {
    this.#limit.marks(count);
  }

  /** When the pace lets the next slice go. */
  get next(): Micros {
    return this.#pace.at;
  }

  set flight(slices: number) {
    this.#limit.flight = slices;
  }

  /** A chunk begins (REC-2). */
  start(now: Micros): void {
    this.flight = 0;
    this.#smallest.busy(now);
    this.#cap.start(now);
    this.#isIdle = true;
    this.roundTrip.start();
    this.endTrain();
  }

  endTrain(): void {
    this.#rate.endTrain();
  }

  ranDry(now: Micros): void {
    this.#rate.ranDry(now);
  }

  /** A clean sample of the round trip (EST-2). */
  sample(now: Micros, measured: Micros): void {
    const r = max(measured, 1n);
    this.roundTrip.measure(r);
    this.#limit.sample(now, r);
  }

  /** REC-11, PTO-6: `missing` slices were lost, or fewer than none if some came late. */
  news(now: Micros, gained: number, passed: number, missing: number): void {
    if (gained > 0) {
      this.#heardAt = now;
      this.#timeouts = this.#unanswered = 0;
      this.#isSilenced = false;
      this.#probeAt = 0n;
    }
    this.#smallest.expire(now);
    this.loss.count(gained, missing);
    this.#rate.news(now, gained, passed, this.#smallest.value, this.roundTrip.srtt, this.#cap.calm);
    this.#cap.news(now, gained, missing, this.#limit.latest);
    this.#limit.news(now, gained, missing);
  }

  /** Whether window and limit let a slice go (WIN-3, LMT-9). If not, it may count as held back. */
  hasRoom(): boolean {
    if (this.#kind === "burst" || this.#kind === "fixed") return true;
    const { flight, isContested } = this.#limit;
    if (flight >= this.#limitSlices) {
      this.#limit.hold();
      return false;
    }
    return (isContested && !this.#smallest.isDraining) || flight < this.#window;
  }

  /** Whether what is wanted goes out: then it counts as sent (from step 3 of RPL-9 on). */
  go(now: Micros, isWanted: boolean, isFresh: boolean): boolean {
    if (this.#limit.wasBlocked() || this.#smallest.isDraining) this.ranDry(now);
    if (this.#isIdle) this.#pace.skip(now);
    this.#isIdle = !isWanted;
    if (!isWanted || !this.#pace.isReady(now)) return false;
    this.#unanswered++;
    if (this.#pace.sent(now, this.#interval(isFresh))) this.ranDry(now);
    return true;
  }

  /** The timer ran out without news (PTO-3, PTO-7). */
  timedOut(now: Micros): void {
    this.endTrain();
    const { isMeasured, baseDelay } = this.roundTrip;
    const doubled = BigInt(Math.min(this.#timeouts, Controller.#MOST_DOUBLED));
    this.#probeAt = now + min((isMeasured ? baseDelay / 8n : baseDelay) << doubled, Controller.#LONGEST_PROBE);
    this.#timeouts++;
    if (!isMeasured) this.#limit.lowerUnmeasured();
    else if (!this.#isSilenced && this.#timeouts >= Controller.#SILENT_TIMERS && this.#isTooSilent) this.#limit.lowerSilent();
    else return;
    this.#isSilenced = true;
  }

  /** Whether eight acks were to be expected. */
  get #isTooSilent(): boolean {
    const { lost, arrived } = this.loss;
    const there = quotient(this.#unanswered * arrived, arrived + lost);
    return quotient(there * arrived, arrived + lost) >= Controller.#SILENT_ACKS;
  }

  /** WIN-5. */
  get #limitSlices(): number {
    const { slices } = this.#limit;
    return this.isYielding && this.#rate.perSlice === undefined ? Math.min(slices, Controller.#YIELD_WINDOW) : slices;
  }

  /** WIN-2, WIN-4, WIN-5. */
  get #window(): number {
    const { perSlice } = this.#rate;
    if (perSlice === undefined) return Infinity;
    if (this.#smallest.isDraining) return Controller.#DRAIN_WINDOW;
    const holds = ((this.#smallest.value + ACK_DELAY) * 1000n) / perSlice;
    return Number((this.isYielding ? holds : (holds * 3n) / 2n) + 8n);
  }

  /** PAC-7, PRO-1, PRO-2, PRO-4. */
  #interval(isFresh: boolean): Nanos {
    if (isFresh && this.#kind === "burst") return max(Controller.#BURST_INTERVAL, this.#least);
    if (this.#rate.fixed !== undefined) return this.#rate.fixed;
    const path = min(max(this.#limit.interval(this.#rate.interval), this.#cap.least), SLOWEST);
    return max(path, FASTEST, this.#least);
  }
}
