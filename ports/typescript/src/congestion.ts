/** Congestion avoidance with two modes (PACKETS.md, section 9). */

import { Clock, max, min, MS, NEVER, type Deadline, type Micros } from "./time.js";

const SECOND: Micros = 1000n * MS;
const BAD_RTT: Micros = 250n * MS;
const FIRST_RECOVERY = 4n * SECOND;
const LEAST_RECOVERY = 1n * SECOND;
const MOST_RECOVERY = 60n * SECOND;
const SHORT = 10n * SECOND;
const REWARD = 10n * SECOND;
const GOOD_INTERVAL: Micros = 33_333n;
const BAD_INTERVAL: Micros = 100n * MS;

export type CongestionMode = "GOOD" | "BAD";
/** In `default` a path that is long at its best is not bad for that (PKC-4). */
export type CongestionProfile = "article" | "default";

/** What an endpoint knows of its path (PKC-1); the times are in microseconds. */
export interface Conditions {
  /** null: the round trip is not measured. */
  readonly srtt: Micros | null;
  readonly minRtt: Micros;
  readonly silent: boolean;
}

/** The rows of an evaluation: C3 as often as its guard holds, then one other (PKC-2). */
export type CongestionRow = "C1" | "C2" | "C3" | "C4" | "C5" | "C6" | "C7" | "C8";

/** The machine of section 9; its variables are those of PKC-5. */
export class Congestion {
  readonly #profile: CongestionProfile;
  readonly #clock = new Clock();
  #mode: CongestionMode = "BAD";
  #recovery = FIRST_RECOVERY;
  #goodSince: Deadline = NEVER;
  #entered: Micros = 0n;
  #halved: Micros = 0n;
  #nextAt: Micros = 0n;
  #lastSent: Micros | null = null;

  constructor(profile: CongestionProfile = "default") {
    this.#profile = profile;
  }

  get mode(): CongestionMode {
    return this.#mode;
  }

  /** How long conditions must be good before GOOD comes back, in microseconds. */
  get recovery(): Micros {
    return this.#recovery;
  }

  /** When the next packet of the cadence goes out (PKC-3). */
  get nextAt(): Micros {
    return this.#nextAt;
  }

  /** PKC-8. */
  get deadline(): Deadline {
    if (this.#mode === "GOOD") return this.#recovery > LEAST_RECOVERY ? this.#halved + REWARD : NEVER;
    return this.#goodSince === NEVER ? NEVER : this.#goodSince + this.#recovery;
  }

  /** After each sample and each poll of the endpoint (PKC-2). */
  evaluate(time: Micros, conditions: Conditions): CongestionRow[] {
    const now = this.#clock.advance(time);
    const rows: CongestionRow[] = [];
    while (this.#mode === "GOOD" && this.#recovery > LEAST_RECOVERY && now - this.#halved >= REWARD) {
      this.#recovery = max(this.#recovery / 2n, LEAST_RECOVERY);
      this.#halved += REWARD;
      rows.push("C3");
    }
    const bad = this.#isBad(conditions);
    if (this.#mode === "GOOD") rows.push(bad ? this.#enterBad(now) : "C4");
    else rows.push(this.#wait(now, !bad && conditions.srtt !== null));
    return rows;
  }

  /** A packet of the cadence goes out (PKC-3). */
  sent(time: Micros): void {
    const now = this.#clock.advance(time);
    this.#nextAt = max(this.#nextAt + (this.#mode === "GOOD" ? GOOD_INTERVAL : BAD_INTERVAL), now);
    this.#lastSent = now;
  }

  /** PKC-1, PKC-4. */
  #isBad({ srtt, minRtt, silent }: Conditions): boolean {
    const limit = this.#profile === "article" ? BAD_RTT : max(BAD_RTT, (minRtt * 3n) / 2n);
    return silent || (srtt !== null && srtt > limit);
  }

  #enterBad(now: Micros): CongestionRow {
    const short = now - this.#entered < SHORT;
    if (short) this.#recovery = min(this.#recovery * 2n, MOST_RECOVERY);
    this.#mode = "BAD";
    this.#goodSince = NEVER;
    if (this.#lastSent !== null) this.#nextAt = max(this.#nextAt, this.#lastSent + BAD_INTERVAL); // SLOW
    return short ? "C1" : "C2";
  }

  #wait(now: Micros, good: boolean): CongestionRow {
    if (!good) {
      this.#goodSince = NEVER;
      return "C5";
    }
    if (this.#goodSince === NEVER) {
      this.#goodSince = now;
      return "C6";
    }
    if (now - this.#goodSince < this.#recovery) return "C8";
    this.#mode = "GOOD";
    this.#goodSince = NEVER;
    this.#entered = this.#halved = now;
    return "C7";
  }
}
