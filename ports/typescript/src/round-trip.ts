/** The estimate of the round trip, and the delays that follow from it (appendices G.2 and G.3). */

import { max, min, MS, type Micros } from "./time.js";

/** Kept across chunks. When a sample is taken the scheduler decides. */
export class RoundTrip {
  readonly #fixedDelay: Micros;
  #known: "nothing" | "bound" | "measured" = "nothing";
  #srtt: Micros = 0n;
  #rttvar: Micros = 0n;
  /** The smallest found. */
  #bound: Micros | undefined;

  /** @param fixedDelay - the profile's fixed delay in microseconds, or 0 */
  constructor(fixedDelay: Micros = 0n) {
    this.#fixedDelay = fixedDelay;
  }

  /** Whether it is measured, or a bound is known. */
  get isKnown(): boolean {
    return this.#known !== "nothing";
  }

  get isMeasured(): boolean {
    return this.#known === "measured";
  }

  /** The smoothed round trip, 0 while nothing is known. */
  get srtt(): Micros {
    return this.#srtt;
  }

  /** RTT-6. */
  start(): void {
    if (this.isMeasured || this.#bound === undefined) return;
    this.#srtt = this.#bound;
    this.#rttvar = this.#bound / 16n;
    this.#known = "bound";
  }

  /** Takes a sample (RTT-2, RTT-5). */
  measure(r: Micros): void {
    if (this.isMeasured) return this.#smooth(r);
    this.#srtt = r;
    this.#rttvar = r / 8n;
    this.#known = "measured";
  }

  /** The round trip is not longer (RTT-4). */
  limit(elapsed: Micros): void {
    this.#bound = this.#bound === undefined ? elapsed : min(this.#bound, elapsed);
  }

  /** The base delay of the resend timer, in microseconds (TMR-2). */
  get baseDelay(): Micros {
    if (this.#fixedDelay > 0n) return this.#fixedDelay;
    if (this.#known === "nothing") return 250n * MS;
    return min(this.#srtt + this.#variation, 3000n * MS);
  }

  /** The margin of the resend timer, in microseconds (TMR-3). */
  get margin(): Micros {
    if (this.#fixedDelay > 0n || this.#known === "nothing") return 0n;
    return min(this.#variation, this.baseDelay);
  }

  /** How long after a probe of a hold the next one follows; `lasted` is from the hold to that probe (H of TMR-6). */
  holdDelay(lasted: Micros): Micros {
    if (this.#fixedDelay > 0n) return this.#fixedDelay;
    const least = this.#known === "nothing" ? 250n * MS : max(this.#srtt, 2n * MS);
    return min(max(least, lasted / 4n), 250n * MS);
  }

  /** V of TMR-2. */
  get #variation(): Micros {
    return max(5n * MS, this.#srtt / 8n, 4n * this.#rttvar);
  }

  /** RTT-5. */
  #smooth(r: Micros): void {
    const d = min(r, (this.#srtt * 3n) / 2n + MS) - this.#srtt;
    const deviation = d >= 0n ? d : min(-d, this.#rttvar);
    this.#rttvar += (deviation - this.#rttvar) / 4n;
    this.#srtt += d / (d >= 0n ? 8n : 4n);
  }
}

/** How long ago something was, 2^40 us at the most (RTT-7). */
export function since(now: Micros, at: Micros): Micros {
  return min(now - at, 1n << 40n);
}
