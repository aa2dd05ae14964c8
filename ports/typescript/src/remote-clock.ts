/** What an end knows of the round trip and of the other end's clock (CONNECTION.md, section 8.4). */

import type { ClockRecord } from "./connection-records.js";
import { max, min, MS, NEVER, type Deadline, type Micros } from "./time.js";

const INTERVAL: Micros = 200n * MS;
const NO_ECHO = 0xffff_ffff;
const DRIFT_PART = 5_000n;
const SMOOTHING = 8n;
const WRAP_SENT = 1n << 48n;
const WRAP_ECHO = 1n << 32n;

/** The smoothed round trip, without what the other end waited, and how much more its clock shows at least and at most. */
export interface Remote {
  readonly rtt: Micros;
  readonly low: Micros;
  readonly high: Micros;
}

/** It learns only from records; it does nothing between them. */
export class RemoteClock {
  #saidAt: Deadline = NEVER;
  /** The newest record. */
  #heard: { readonly number: number; readonly sent: bigint; readonly at: Micros } | null = null;
  #remote: Remote | null = null;
  #knownAt: Micros = 0n;

  /** As of the latest record; null before one answers. */
  get remote(): Remote | null {
    return this.#remote;
  }

  /** The record that a payload gets, if one is due (CXM-29). */
  say(now: Micros): ClockRecord | null {
    if (this.#saidAt !== NEVER && now - this.#saidAt < INTERVAL) return null;
    this.#saidAt = now;
    const heard = this.#heard;
    const echo = heard === null ? 0 : Number(heard.sent % WRAP_ECHO);
    const wait = heard === null ? NO_ECHO : Math.min(Number(now - heard.at), NO_ECHO - 1);
    return { type: "clock", sent: Number(now % WRAP_SENT), echo, wait };
  }

  /** A record came in a packet (CXM-30). */
  hear(now: Micros, number: number, { sent: shown, echo, wait }: ClockRecord): void {
    if (this.#heard !== null && number <= this.#heard.number) return;
    const sent = BigInt(shown);
    this.#heard = { number, sent, at: now };
    const trip = BigInt.asUintN(32, now - BigInt(echo) - BigInt(wait));
    if (wait === NO_ECHO || trip >= WRAP_ECHO / 2n) return;
    let [low, high] = [sent - now, sent - now + trip];
    const before = this.#remote;
    if (before !== null) {
      const wider = (now - this.#knownAt) / DRIFT_PART;
      const narrow = [max(low, before.low - wider), min(high, before.high + wider)] as const;
      if (narrow[0] <= narrow[1]) [low, high] = narrow;
    }
    const rtt = before === null ? trip : before.rtt + (trip - before.rtt) / SMOOTHING; // to zero, as BigInt divides
    this.#remote = { rtt, low, high };
    this.#knownAt = now;
  }
}
