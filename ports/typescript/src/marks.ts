/** Marks of congestion (CONNECTION.md, section 8.2). */

import type { MarksRecord } from "./connection-records.js";
import { SPAN } from "./seq.js";
import { MS, NEVER, type Deadline, type Micros } from "./time.js";

/** The field ECN of an IP header. */
export type Ecn = "not-ect" | "ect1" | "ect0" | "ce";

const PROBES = 10;
const TRUSTED: Micros = 1000n * MS;
const NUMBERS = 1024;

/** What an end counted, and what it knows of the marks of what it sent. */
export class MarkBook {
  #arrived = 0;
  #congested = 0;
  #hasFailed = false;
  #sent = 0;
  #acked = 0;
  #counted = 0;
  #probes = 0;
  #grewAt: Deadline = NEVER;
  readonly #numbers = new Set<number>();
  #largest = -1;
  #said: Omit<MarksRecord, "type"> = { arrived: 0, congested: 0 };
  #judged = this.#said;
  /** Of packets with a record that counts, and of all that were taken. */
  #newest = -1;
  #latest = -1;
  #hasNews = false;

  /** A datagram was opened (CXM-13). */
  came(ecn: Ecn): void {
    if (ecn === "ect0" || ecn === "ce") this.#arrived++;
    if (ecn === "ce") this.#congested++;
  }

  /** CXM-14. */
  get record(): MarksRecord | null {
    if (this.#arrived === 0) return null;
    return { type: "ecn", arrived: this.#arrived % SPAN, congested: this.#congested % SPAN };
  }

  /** Whether the packet of a slice is sent with ECT(0) (CXM-15). */
  sends(now: Micros, number: number): boolean {
    const isTrusted = this.#grewAt !== NEVER && now - this.#grewAt < TRUSTED;
    if (this.#hasFailed || (this.#probes >= PROBES && !isTrusted)) return false;
    this.#sent++;
    this.#probes++;
    this.#numbers.add(number);
    this.#largest = number;
    for (const old of this.#numbers) {
      if (this.#counts(old)) break;
      this.#numbers.delete(old);
    }
    return true;
  }

  #counts(number: number): boolean {
    return number > this.#largest - NUMBERS;
  }

  /** A packet was taken, whatever is in it. */
  took(number: number): void {
    this.#latest = Math.max(this.#latest, number);
  }

  /** A record of a packet that was taken: an ECN, or null for a CHUNK_ACK. */
  hear(number: number, marks: MarksRecord | null): void {
    if (number < this.#newest) return;
    this.#newest = number;
    this.#hasNews = true;
    if (marks !== null) this.#said = { arrived: marks.arrived, congested: marks.congested };
  }

  /** The end of an event in which these numbers were acked (CXM-16); how many marks the schedulers are told of. */
  end(now: Micros, acked: readonly number[]): number {
    this.#acked += acked.filter((number) => this.#numbers.has(number)).length;
    if (!this.#hasNews) return 0;
    const arrived = modulo(this.#said.arrived - this.#judged.arrived);
    const congested = modulo(this.#said.congested - this.#judged.congested);
    this.#hasNews = false;
    this.#judged = this.#said;
    if (this.#hasFailed || congested > arrived || arrived > this.#sent - this.#counted) {
      this.#hasFailed = true;
      return 0;
    }
    this.#counted += arrived;
    if (arrived > 0) {
      this.#probes = 0;
      this.#grewAt = now;
    }
    if (this.#acked > this.#counted && this.#newest === this.#latest) this.#hasFailed = true;
    return congested;
  }

  /** CXM-17. */
  forgetPath(): void {
    this.#hasFailed = false;
    this.#acked = this.#counted;
    this.#numbers.clear();
    this.#probes = 0;
    this.#grewAt = NEVER;
  }
}

function modulo(difference: number): number {
  return (difference + SPAN) % SPAN;
}
