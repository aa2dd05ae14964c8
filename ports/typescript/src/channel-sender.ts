/** The sender of a reliable channel (CHANNELS.md, section 4). */

import {
  BACKOFF_MOST,
  backedOff,
  FRESH,
  HOLD_MARGIN,
  HOLD_UNMEASURED,
  MOST_SKIP,
  mostFragments,
  OVERTAKEN,
  PROBE_MARGIN,
  PROBE_SOON,
  type Channel,
  isReliable,
} from "./channels.js";
import { isWithin } from "./limits.js";
import { missingOf, sizeOf, type FragmentRecord, type MessageRecord, type ReportRecord, type SkipRecord, type StatusRecord } from "./records.js";
import { firstFrom, onWire } from "./seq.js";
import { Clock, earlier, max, NEVER, type Deadline, type Micros } from "./time.js";

/** What came of a send: D3 takes the message, and the others refuse it (CHS-15). */
export type ChannelSend =
  | { readonly row: "D3" }
  | { readonly row: "D1"; readonly refused: "message_size" }
  | { readonly row: "D2"; readonly refused: "queue_full" }
  | { readonly row: "D11"; readonly refused: "failed" };

/** What a sender puts into a packet. */
export type SentRecord = MessageRecord | FragmentRecord | SkipRecord | StatusRecord;

/** What came of a poll: a record to be sent, or nothing; D7 reports that the sender gives up (CHS-11). */
export type ChannelSenderPoll =
  | { readonly row: "D8" | "D9"; readonly record: SentRecord }
  | { readonly row: "D7" | "D10" | "D13" };

/** Bytes of a status. */
const SMALLEST = 4;
const SKIP_BYTES = 5;

/** CHS-14; without a record it has expired. */
interface Entry {
  record: MessageRecord | FragmentRecord | null;
  packet: number;
  at: Micros;
  isAgain: boolean;
}

/** Sends the messages of one channel. It does nothing between events. CHS-7 and section 4.2 define its variables and rows. */
export class ChannelSender {
  readonly #channel: Channel;
  readonly #id: number;
  readonly #clock = new Clock();
  /** From `base` to `next`. */
  readonly #entries = new Map<number, Entry>();
  /** Records that were sent and are due. */
  readonly #marked = new Set<number>();
  /** When sequences expire, the earliest first. */
  readonly #dies: { readonly at: Micros; readonly sequence: number }[] = [];
  #failed = false;
  #base: number;
  #next: number;
  #sent: number;
  #resent: number;
  #limit: number;
  #heard = -1;
  #heardAt: Micros = 0n;
  #saidAt: Micros = 0n;
  #backoff = 0;
  #packetNow = -1;
  #fresh = 0;
  #implausible = 0;
  #srtt: Micros | null = null;
  #patience: Micros = 0n;

  /**
   * @param channel - one that is not unreliable
   * @param id - the id of the channel in its records
   */
  constructor(channel: Channel, id = 0) {
    if (!isReliable(channel.kind)) throw new RangeError("an unreliable channel has no sender");
    this.#channel = channel;
    this.#id = id;
    this.#base = this.#next = this.#sent = this.#resent = channel.first;
    this.#limit = channel.first + channel.window;
  }

  get state(): "OPEN" | "FAILED" {
    return this.#failed ? "FAILED" : "OPEN";
  }

  /** The lowest sequence that is not released. */
  get base(): number {
    return this.#base;
  }

  /** Nothing from it on may be sent. */
  get limit(): number {
    return this.#limit;
  }

  /** Entries that were not released; when the channel has failed, they were perhaps not delivered. */
  get unreleased(): number {
    return this.#entries.size;
  }

  /** Reports that name numbers that were never sent (COUNT in D5). */
  get implausible(): number {
    return this.#implausible;
  }

  /** Whether something waits that was never sent, and may go (CHC-9). */
  get isPending(): boolean {
    return !this.#failed && this.#sent < this.#end;
  }

  /** When something is due that does not wait for the application's tick (CHC-10). */
  get prompt(): Deadline {
    if (!this.isPending) return this.deadline;
    if (this.#marked.size > 0) return this.#clock.latest;
    return earlier(this.#heardAt + this.#channel.giveUp, this.#dies[0]?.at ?? NEVER);
  }

  /** When to poll again at the latest (CHS-5). */
  get deadline(): Deadline {
    if (this.#failed || this.#entries.size === 0) return NEVER;
    if (this.#lowestDue !== undefined) return this.#clock.latest;
    return earlier(earlier(this.#probeAt, this.#heardAt + this.#channel.giveUp), this.#dies[0]?.at ?? NEVER);
  }

  /** The round trip of the packet layer, null while it is not measured, and its patience, in microseconds (CHP-3). */
  setPath(srtt: Micros | null, patience: Micros): void {
    this.#srtt = srtt;
    this.#patience = patience;
  }

  /** The application wants a message sent, until its lifetime ends if it has one; the bytes are copied. */
  send(time: Micros, message: Uint8Array, lifetime: Micros | null = null): ChannelSend {
    const now = this.#begin(time);
    if (this.#failed) return { row: "D11", refused: "failed" };
    const { data, sendQueue } = this.#channel;
    const count = Math.ceil(message.length / data);
    if (!isWithin(count, 1, mostFragments(this.#channel))) return { row: "D1", refused: "message_size" };
    if (this.#entries.size + count > sendQueue) return { row: "D2", refused: "queue_full" };
    if (this.#entries.size === 0) this.#heardAt = this.#saidAt = now; // APPEND: CHS-10
    const own = new Uint8Array(message);
    for (let index = 0; index < count; index++) {
      if (lifetime !== null) this.#dieAt(now + lifetime, this.#next);
      this.#append(index, count, own.subarray(index * data, (index + 1) * data));
    }
    return { row: "D3" };
  }

  /**
   * A report has arrived.
   * @param number - of the packet that it came in
   * @param ack - the number of ours that the header of this packet acks, or -1
   */
  report(time: Micros, report: ReportRecord, number: number, ack = -1): "D4" | "D5" | "D6" | "D12" {
    const now = this.#begin(time);
    if (this.#failed) return "D12";
    if (number <= this.#heard) return "D4";
    const base = firstFrom(report.base, this.#base);
    const named = missingOf(report).map((distance) => base + distance);
    if (base > this.#sent || named.some((n) => n >= this.#sent)) {
      this.#implausible++;
      return "D5";
    }
    this.#heard = number;
    this.#heardAt = now;
    if (named.length > 0) this.#backoff = 0;
    this.#release(base, base + report.room);
    this.#mark(now, named, ack);
    return "D6";
  }

  /** Asks for a record for packet `number`, in which `space` bytes are left; repeat until none is given (CHS-12). */
  poll(time: Micros, number: number, space: number): ChannelSenderPoll {
    const now = this.#begin(time);
    if (this.#failed) return { row: "D13" };
    if (this.#entries.size > 0 && now - this.#heardAt >= this.#channel.giveUp) {
      this.#failed = true;
      return { row: "D7" };
    }
    if (number !== this.#packetNow) {
      this.#packetNow = number; // CHS-13
      this.#fresh = 0;
    }
    const first = this.#lowestDue;
    if (first !== undefined) return this.#sendDue(now, number, first, space);
    if (this.#entries.size === 0 || now < this.#probeAt || space < SMALLEST) return { row: "D10" };
    return { row: "D9", record: this.#probe(now, space) };
  }

  /** CHS-8. */
  #begin(time: Micros): Micros {
    const now = this.#clock.advance(time);
    while (!this.#failed && this.#dies.length > 0 && this.#dies[0]!.at <= now) {
      const entry = this.#entries.get(this.#dies.shift()!.sequence);
      if (entry !== undefined) entry.record = null; // EXPIRE: CHX-1
      this.#forgetTimes();
    }
    return now;
  }

  /** Of released messages. */
  #forgetTimes(): void {
    while (this.#dies.length > 0 && this.#dies[0]!.sequence < this.#base) this.#dies.shift();
  }

  /** What may be sent lies below. */
  get #end(): number {
    return Math.min(this.#next, this.#limit);
  }

  #dieAt(at: Micros, sequence: number): void {
    let place = this.#dies.length;
    while (place > 0 && this.#dies[place - 1]!.at > at) place--;
    this.#dies.splice(place, 0, { at, sequence });
  }

  #append(index: number, count: number, data: Uint8Array): void {
    const place = { channel: this.#id, sequence: onWire(this.#next), data };
    const record = count === 1 ? ({ type: "message", ...place } as const) : ({ type: "fragment", index, count, ...place } as const);
    this.#entries.set(this.#next++, { record, packet: -1, at: 0n, isAgain: false });
  }

  /** RELEASE and ROOM: CHS-2. */
  #release(base: number, limit: number): void {
    if (base > this.#base || limit > this.#limit) this.#backoff = 0;
    for (; this.#base < base; this.#base++) {
      this.#entries.delete(this.#base);
      this.#marked.delete(this.#base);
    }
    this.#limit = Math.max(this.#limit, limit);
    this.#forgetTimes();
  }

  /** MARK: CHS-3. */
  #mark(now: Micros, named: readonly number[], ack: number): void {
    const patience = max(this.#patience, (this.#srtt ?? 0n) / 2n);
    for (const n of named) {
      const entry = this.#entries.get(n);
      if (entry === undefined) continue;
      const age = now - entry.at;
      const isOvertaken = ack - entry.packet >= (entry.isAgain ? 1 : OVERTAKEN);
      if (age >= patience && (isOvertaken || age >= this.#hold)) this.#marked.add(n);
    }
  }

  /** HOLD: CHS-3. */
  get #hold(): Micros {
    return this.#srtt === null ? HOLD_UNMEASURED : this.#srtt + max(this.#srtt / 4n, HOLD_MARGIN);
  }

  /** Of the next probe: CHS-4. */
  get #isEarly(): boolean {
    return this.#backoff === 0 && this.#resent > this.#base;
  }

  /** When PROBE_WAIT has passed: CHS-4. */
  get #probeAt(): Micros {
    if (this.#isEarly) return this.#saidAt + PROBE_SOON;
    return this.#saidAt + backedOff(this.#hold + PROBE_MARGIN, Math.max(this.#backoff, 1) - 1, this.#srtt ?? 0n);
  }

  /** Below limit: all that was sent lies there, and all that was not is due. */
  get #lowestDue(): number | undefined {
    if (this.#marked.size > 0) return Math.min(...this.#marked);
    return this.#sent < this.#end ? this.#sent : undefined;
  }

  #isDue(n: number): boolean {
    return this.#marked.has(n) || (n >= this.#sent && n < this.#end);
  }

  #sendDue(now: Micros, number: number, first: number, space: number): ChannelSenderPoll {
    const { record, count } = this.#recordFor(first);
    if (count === 0 || sizeOf(record) > space) return { row: "D10" };
    this.#transmit(now, number, first, count);
    return { row: "D8", record };
  }

  /** The record for `first`, and how many sequences it has: none if CHS-13 does not allow it (CHS-1, CHS-6). */
  #recordFor(first: number): { readonly record: SentRecord; readonly count: number } {
    const record = this.#entries.get(first)?.record;
    if (record) return { record, count: this.#allowed(first, 1) };
    let run = 0;
    while (run < MOST_SKIP && this.#isDue(first + run) && this.#entries.get(first + run)?.record === null) run++;
    const count = this.#allowed(first, run);
    return { record: { type: "skip", channel: this.#id, first: onWire(first), count }, count };
  }

  /** How many of these sequences the packet may carry (CHS-13). */
  #allowed(first: number, count: number): number {
    const end = Math.max(first, this.#sent) + FRESH - this.#fresh;
    return Math.min(count, Math.max(end - first, 0));
  }

  /** SEND, from step 3 on (CHS-1). */
  #transmit(now: Micros, number: number, first: number, count: number): void {
    const end = first + count;
    for (let n = first; n < end; n++) {
      const entry = this.#entries.get(n)!;
      if (n < this.#sent) {
        entry.isAgain = true;
        this.#resent = Math.max(this.#resent, n + 1);
      }
      entry.packet = number;
      entry.at = now;
      this.#marked.delete(n);
    }
    this.#fresh += Math.max(end - Math.max(first, this.#sent), 0);
    this.#sent = Math.max(this.#sent, end);
    this.#saidAt = now;
  }

  /** PROBE: CHS-4. */
  #probe(now: Micros, space: number): StatusRecord {
    if (!this.#isEarly) this.#repeatOldest(space - SMALLEST);
    this.#saidAt = now;
    this.#backoff = Math.min(this.#backoff + 1, BACKOFF_MOST);
    return { type: "status", channel: this.#id, next: onWire(this.#sent) };
  }

  /** The lowest entries that were sent become due, as many as fit (CHS-4). */
  #repeatOldest(space: number): void {
    let [left, run] = [space, 0];
    for (let n = this.#base; n < this.#sent; n++) {
      const record = this.#entries.get(n)!.record;
      run = record === null ? (run === MOST_SKIP ? 1 : run + 1) : 0;
      left -= record === null ? (run === 1 ? SKIP_BYTES : 0) : sizeOf(record);
      if (left < 0) return;
      this.#marked.add(n);
    }
  }
}
