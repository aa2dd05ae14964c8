/** When a receiver sends its acks (section 8.6). */

import { earlier, max, MS, NEVER, type Deadline, type Micros } from "./time.js";

/** When acks go out (section 8.6). */
export class AckTiming {
  /** Least time between two rounds of acks that nothing urges, in microseconds (AKT-2). */
  static readonly #INTERVAL: Micros = 2n * MS;
  /** New slices that urge an ack (AKT-3). */
  static readonly #URGENT = 16;

  #ackAt: Deadline = NEVER;
  #lastAckAt: Micros | undefined;
  #unreported = 0;
  #lastNew = -1;
  #afterGap = false;

  /** When the acks that are due go out. */
  get ackAt(): Deadline {
    return this.#ackAt;
  }

  /** AKT-1; a time at which acks are to go out stays (RCV-10). */
  start(): void {
    this.#unreported = 0;
    this.#lastNew = -1;
    this.#afterGap = false;
  }

  /** AKT-2. */
  soon(now: Micros): void {
    const soon = this.#lastAckAt === undefined ? now : max(now, this.#lastAckAt + AckTiming.#INTERVAL);
    this.#ackAt = earlier(this.#ackAt, soon);
  }

  /** Acks go out now. */
  atOnce(now: Micros): void {
    this.#ackAt = earlier(this.#ackAt, now);
  }

  /** A new slice was stored (AKT-3, AKT-4). */
  stored(now: Micros, sliceId: number): void {
    const gap = sliceId !== this.#lastNew + 1;
    this.#unreported++;
    if (gap || this.#afterGap || this.#unreported >= AckTiming.#URGENT) this.atOnce(now);
    else this.soon(now);
    this.#lastNew = sliceId;
    this.#afterGap = gap;
  }

  /** AKT-5. */
  isDue(now: Micros): boolean {
    return this.#ackAt !== NEVER && now >= this.#ackAt;
  }

  /** The last ack that was due went out (AKT-5). */
  allSent(now: Micros): void {
    this.#ackAt = NEVER;
    this.#lastAckAt = now;
    this.#unreported = 0;
  }
}
