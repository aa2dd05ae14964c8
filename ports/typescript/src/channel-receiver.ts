/** The receiver of a reliable channel (CHANNELS.md, section 5). */

import {
  BACKOFF_MOST,
  backedOff,
  MOST_GROUPS,
  mostFragments,
  REPEAT_LEAST,
  REPEAT_UNMEASURED,
  REPORT_DELAY,
  REPORT_SPACING,
  type Channel,
} from "./channels.js";
import { concat } from "./packets.js";
import { groupsOf, type FragmentRecord, type MessageRecord, type ReportRecord, type SkipRecord, type StatusRecord } from "./records.js";
import { nearest, onWire } from "./seq.js";
import { Clock, earlier, max, NEVER, type Deadline, type Micros } from "./time.js";

/** The row that an arrival took. */
export type ArrivalRow = "V1" | "V2" | "V3" | "V4" | "V5" | "V6" | "V7" | "V8" | "V9" | "V10" | "V16" | "V19" | "V20";

/** What came of a read: V11 and V17 deliver; a skipped sequence has null for its data. */
export type ChannelRead =
  | { readonly row: "V11" | "V17"; readonly sequence: number; readonly data: Uint8Array | null }
  | { readonly row: "V12" | "V18" };

/** What came of a poll: a report goes out, or nothing, or the receiver gives up (V13). */
export type ChannelPoll = { readonly row: "V14"; readonly report: ReportRecord } | { readonly row: "V13" | "V15" | "V21" };

/** Why a record was refused. */
export type Refused = "beyond" | "conflict";

/** Bytes of a report that names nothing. */
const SMALLEST = 7;
const GROUP_BYTES = 6;

/** What has come of a sequence (CHV-15): its data, or null if it is skipped; and its group, of a message itself. */
interface Entry {
  readonly data: Uint8Array | null;
  readonly start: number;
  readonly count: number;
}

/** Receives the messages of one channel. It does nothing between events. Variables and rows are those of CHV-8 and CHV-9. */
export class ChannelReceiver {
  readonly #channel: Channel;
  readonly #id: number;
  readonly #clock = new Clock();
  readonly #have = new Map<number, Entry>();
  /** What is done with, of the sequences in `have`. */
  readonly #done = new Set<number>();
  readonly #ready: number[] = [];
  readonly #refused = { beyond: 0, conflict: 0 };
  #failed = false;
  #tail: number;
  #base: number;
  #top: number;
  #progressAt: Micros = 0n;
  #reportAt: Deadline = NEVER;
  #lastReport: Micros | undefined;
  #wait = 0;
  #srtt: Micros | null = null;

  /**
   * @param channel - one that is not unreliable
   * @param id - the id of the channel in its reports
   */
  constructor(channel: Channel, id = 0) {
    if (channel.kind === "unreliable") throw new RangeError("an unreliable channel has no receiver");
    this.#channel = channel;
    this.#id = id;
    this.#tail = this.#base = this.#top = channel.first;
  }

  get state(): "OPEN" | "FAILED" {
    return this.#failed ? "FAILED" : "OPEN";
  }

  /** Records by the code of their refusal (COUNT of CHV-10). */
  get refused(): Readonly<Record<Refused, number>> {
    return this.#refused;
  }

  /** Nothing from it on is taken. */
  get limit(): number {
    return this.#tail + this.#channel.window;
  }

  /** When to poll again at the latest (CHV-11). */
  get deadline(): Deadline {
    if (this.#failed) return NEVER;
    if (this.#base === this.#top) return this.#reportAt;
    return earlier(earlier(this.#reportAt, this.#progressAt + this.#channel.giveUp), this.#repeatAt);
  }

  /** The round trip of the packet layer in microseconds, or null while it is not measured (CHP-3). */
  setPath(srtt: Micros | null): void {
    this.#srtt = srtt;
  }

  /** A message or a fragment has arrived. */
  data(now: Micros, record: MessageRecord | FragmentRecord): ArrivalRow {
    const at = this.#clock.advance(now);
    if (this.#failed) return "V16";
    const n = nearest(record.sequence, this.#base);
    const entry = entryOf(n, record);
    if (!this.#isNew(n)) return this.#reportSoon(at, "V1");
    if (n >= this.limit) return this.#countBeyond(at, "V2");
    if (this.#conflicts(n, entry)) {
      this.#refused.conflict++;
      return "V3";
    }
    const lost = this.#isLost(entry);
    this.#add(at, lost ? [[n, skipped(n)]] : [[n, entry]], n);
    return lost ? "V4" : "V5";
  }

  /** A skip has arrived. */
  skip(now: Micros, { first, count }: SkipRecord): ArrivalRow {
    const at = this.#clock.advance(now);
    if (this.#failed) return "V19";
    const n = nearest(first, this.#base);
    const fresh = range(n, n + count).filter((m) => this.#isNew(m));
    if (fresh.length === 0) return this.#reportSoon(at, "V6");
    if (n + count > this.limit) return this.#countBeyond(at, "V7");
    const all = [...new Set([...fresh, ...this.#heldWith(fresh)])].sort((a, b) => a - b);
    this.#add(at, all.map((m) => [m, skipped(m)]), n + count - 1); // LOSE: CHV-12
    return "V8";
  }

  /** A status has arrived. */
  status(now: Micros, { next }: StatusRecord): ArrivalRow {
    const at = this.#clock.advance(now);
    if (this.#failed) return "V20";
    const n = nearest(next, this.#base);
    if (n > this.limit) return this.#countBeyond(at, "V10");
    if (this.#base === this.#top && n > this.#top) this.#progressAt = at; // TOP: CHV-14
    this.#top = Math.max(this.#top, n);
    return this.#reportSoon(at, "V9");
  }

  /** The application asks for what is ready; in FAILED, too (CHV-13). */
  read(now: Micros): ChannelRead {
    const at = this.#clock.advance(now);
    const sequence = this.#firstReady();
    if (sequence === undefined) return { row: this.#failed ? "V18" : "V12" };
    if (this.#channel.kind === "unordered") this.#ready.shift();
    const data = this.#deliver(sequence);
    this.#move(at);
    return { row: this.#failed ? "V17" : "V11", sequence, data };
  }

  /** Asks for a report; `space` is how many bytes are left in the packet that is being composed. */
  poll(now: Micros, space: number): ChannelPoll {
    const at = this.#clock.advance(now);
    if (this.#failed) return { row: "V21" };
    if (this.#base < this.#top && at - this.#progressAt >= this.#channel.giveUp) {
      this.#failed = true;
      return { row: "V13" };
    }
    const urged = isPast(at, this.#reportAt);
    if (!(urged || isPast(at, this.#repeatAt)) || space < SMALLEST) return { row: "V15" }; // CHV-5, CHV-7
    if (!urged) this.#wait = Math.min(this.#wait + 1, BACKOFF_MOST); // CHV-6
    this.#reportAt = NEVER;
    this.#lastReport = at;
    return { row: "V14", report: this.#report(space) };
  }

  #isNew(n: number): boolean {
    return n >= this.#base && !this.#have.has(n);
  }

  #reportSoon<Row>(now: Micros, row: Row): Row {
    this.#soon(now);
    return row;
  }

  #countBeyond<Row>(now: Micros, row: Row): Row {
    this.#refused.beyond++;
    return this.#reportSoon(now, row);
  }

  /** SOON: CHV-4. */
  #soon(now: Micros): void {
    this.#reportBy(this.#lastReport === undefined ? now : max(now, this.#lastReport + REPORT_SPACING));
  }

  /** Makes a report due at a time, or before. */
  #reportBy(at: Micros): void {
    this.#reportAt = earlier(this.#reportAt, at);
  }

  /** ADD: CHV-1; `last` is the last sequence of the record. */
  #add(now: Micros, entries: readonly (readonly [number, Entry])[], last: number): void {
    const wasMissing = this.#base < this.#top;
    for (const [n, entry] of entries) this.#have.set(n, entry);
    this.#top = Math.max(this.#top, last + 1);
    while (this.#have.has(this.#base)) this.#base++;
    this.#progressAt = now;
    this.#wait = 0;
    if (wasMissing || this.#base < this.#top) this.#soon(now);
    else this.#reportBy(now + REPORT_DELAY);
    if (this.#channel.kind === "ordered") return;
    for (const [, entry] of entries) if (this.#isWhole(entry)) this.#ready.push(entry.start);
  }

  /** CHG-2. */
  #conflicts(n: number, entry: Entry): boolean {
    if (this.#groupsOver(n).some((other) => !isSameGroup(other, entry))) return true;
    if (!isFragment(entry)) return false;
    return entry.start < this.#channel.first || this.#held(entry).some(([, other]) => other.data !== null && !isSameGroup(other, entry));
  }

  /** The fragments that have come of the groups in which n lies. */
  #groupsOver(n: number): Entry[] {
    const reach = mostFragments(this.#channel) - 1;
    const near = this.#held({ start: n - reach, count: 2 * reach + 1 });
    return near.map(([, entry]) => entry).filter((entry) => isFragment(entry) && n >= entry.start && n < entry.start + entry.count);
  }

  /** What has come of some sequences. */
  #held({ start, count }: Pick<Entry, "start" | "count">): (readonly [number, Entry])[] {
    return range(start, start + count).flatMap((n) => {
      const entry = this.#have.get(n);
      return entry === undefined ? [] : [[n, entry] as const];
    });
  }

  /** CHG-4. */
  #isLost(entry: Entry): boolean {
    if (!isFragment(entry)) return false;
    return entry.start < this.#tail || this.#held(entry).some(([, other]) => other.data === null);
  }

  /** The fragments that have come of each group in which one of these lies (CHG-3). */
  #heldWith(lost: readonly number[]): number[] {
    return lost.flatMap((n) => this.#groupsOver(n)).flatMap((entry) => this.#held(entry).map(([m]) => m));
  }

  #isWhole(entry: Entry): boolean {
    const held = this.#held(entry);
    return held.length === entry.count && held.every(([, other]) => isSameGroup(other, entry));
  }

  /** CHV-2. */
  #firstReady(): number | undefined {
    if (this.#channel.kind === "unordered") return this.#ready[0];
    const entry = this.#have.get(this.#tail);
    return entry !== undefined && this.#isWhole(entry) ? this.#tail : undefined;
  }

  /** DELIVER: CHV-16. */
  #deliver(sequence: number): Uint8Array | null {
    const first = this.#have.get(sequence);
    const parts = first === undefined ? [] : this.#held(first);
    for (const [n, { start, count }] of parts) {
      this.#done.add(n);
      this.#have.set(n, { start, count, data: first?.data === null ? null : new Uint8Array() });
    }
    return first?.data === null ? null : concat(...parts.map(([, { data }]) => data ?? new Uint8Array()));
  }

  /** MOVE: CHV-3. */
  #move(now: Micros): void {
    const before = this.#tail;
    while (this.#done.delete(this.#tail)) this.#have.delete(this.#tail++);
    if (this.#tail > before) this.#reportBy(now + REPORT_DELAY);
  }

  /** When a report is repeated while something is missing (CHV-5). */
  get #repeatAt(): Deadline {
    if (this.#base === this.#top || this.#lastReport === undefined) return NEVER;
    const first = this.#srtt === null ? REPEAT_UNMEASURED : max(this.#srtt, REPEAT_LEAST);
    return this.#lastReport + backedOff(first, this.#wait, this.#srtt ?? 0n);
  }

  /** CHV-6, CHV-17. */
  #report(space: number): ReportRecord {
    const missing = range(this.#base, this.#top).filter((n) => !this.#have.has(n));
    const groups = groupsOf(missing, Math.min(MOST_GROUPS, Math.floor((space - SMALLEST) / GROUP_BYTES)));
    return { type: "report", channel: this.#id, base: onWire(this.#base), room: this.limit - this.#base, groups };
  }
}

/** Of a fragment the group is that of CHG-1. */
function entryOf(n: number, record: MessageRecord | FragmentRecord): Entry {
  const data = new Uint8Array(record.data);
  if (record.type === "message") return { data, start: n, count: 1 };
  return { data, start: n - record.index, count: record.count };
}

function skipped(n: number): Entry {
  return { data: null, start: n, count: 1 };
}

function isFragment({ count }: Entry): boolean {
  return count > 1;
}

function isSameGroup(a: Entry, b: Entry): boolean {
  return a.start === b.start && a.count === b.count;
}

function isPast(now: Micros, deadline: Deadline): boolean {
  return deadline !== NEVER && now >= deadline;
}

function range(start: number, end: number): number[] {
  return Array.from({ length: Math.max(end - start, 0) }, (_, i) => start + i);
}
