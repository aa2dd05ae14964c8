/** One end of a connection (CONNECTION.md, sections 8 and 9). */

import { AdaptiveScheduler } from "./adaptive.js";
import { Congestion } from "./congestion.js";
import {
  bytesOf,
  CLOCK_BYTES,
  closeText,
  decodePayload,
  encodePayload,
  isQuiet,
  LARGEST_CHUNK_ACK,
  LARGEST_SLICE,
  MARKS_BYTES,
  type CloseRecord,
  type ConnectionRecord,
  type RecordLimits,
  type SliceRecord,
} from "./connection-records.js";
import { Endpoint, type Verdict } from "./endpoint.js";
import type { Envelope } from "./envelope.js";
import { Lanes, type ChunkRefusal, type LaneScheduler } from "./lanes.js";
import { isWithin } from "./limits.js";
import { MarkBook, type Ecn } from "./marks.js";
import { Mux, PAYLOAD, type ChannelSetup, type Delivery, type MessageRefusal } from "./mux.js";
import { RatelessScheduler } from "./rateless.js";
import { check, RecordError } from "./records.js";
import { RemoteClock, type Remote } from "./remote-clock.js";
import { LINK_INTERVAL, TIMEOUT_UNIT } from "./session-client.js";
import { CLOCKS, demand, MARKS, NAMED, REPAIR } from "./session-terms.js";
import { HEAD, MOST_LANES, SessionError, TAG_BYTES, type Agreed } from "./sessions.js";
import { Clock, earlier, max, min, MS, NEVER, type Deadline, type Micros } from "./time.js";
import { ackedBy, saidBy, Witness } from "./witness.js";

const SECOND: Micros = 1000n * MS;
const TICK: Micros = 16_667n;
export const BAD_TICK: Micros = 100n * MS;
export const MESSAGE_RATE = 1_000_000;
/** The unit of budgets: millionths of a bit in a byte (CXM-4). */
const BYTE = 8_000_000n;
const BURST = BYTE * 16_384n;
/** Bytes of IP and UDP. */
const HEADERS = 28;
const BESIDE_SLICE = PAYLOAD - LARGEST_SLICE;
const CLOSE_FIRST: Micros = 20n * MS;
const CLOSE_TIMES = [0n, 1n, 3n, 7n, 15n, 31n].map((times) => times * CLOSE_FIRST);
const CLOSE_TIME = SECOND;
const CODES = { failed: 1, lied: 2, worn: 3 } as const;
/** How long keys are used (CXE-12). */
const KEY_TIME = 86_400n * SECOND;
const YIELD_TIME = SECOND;
const MOST_KEEP_ALIVE = 15n * SECOND;
const RECEIVED = 2048;
/** Numbers behind the next packet that reliable channels have (CXM-26). */
const CHANNEL_WINDOW = 256;
const LONGEST_GIVE_UP = 3600n * SECOND;
const PAD = Uint8Array.of(0);

export interface ConnectionOptions {
  readonly side: "client" | "server";
  /** What the session agreed on. */
  readonly agreed: Agreed;
  /** The same at both ends; none by default. Their `giveUp` is best {@link defaultGiveUp}. */
  readonly channels?: ReadonlyMap<number, ChannelSetup>;
  /** Between packets of messages, in microseconds, 5 ms to 100 ms; 16,667 us by default. */
  readonly tick?: Micros;
  /** The pace of everything except slices, in bit/s, 64,000 to 8 * 10^9; 8,000,000 by default. */
  readonly messageRate?: number;
  /** When chunks give up, in microseconds; {@link defaultGiveUp} by default. */
  readonly giveUp?: Micros;
  /** Makes the scheduler of a lane, for the variant that was agreed on; the recommended ones by default. */
  readonly scheduler?: () => LaneScheduler;
  /** 16 secret bytes, which find peers that lie; none by default (CXM-18). */
  readonly seed?: Uint8Array | null;
  /** Chunks that can wait behind those that are sent; 8 by default. */
  readonly waitingChunks?: number;
}

export type ConnectionState = "OPEN" | "CLOSING" | "CLOSED";

/** A row of section 9.2. */
export type ConnectionRow = `K${number}`;

/** Why a connection has ended (CXL-7). */
export type Ending =
  | { readonly why: "closed"; readonly code: number; readonly text: string; readonly remote: boolean }
  | { readonly why: "timeout" | "failed" | "lied" | "ended" };

/** Why a datagram, its packet or its payload was refused, and the byte where the fault lies, or -1. */
export interface Refused {
  readonly code: string;
  readonly at: number;
}

/** What became of a datagram; `news`: it acked a packet that none before had acked (CXL-15). */
export interface ConnectionReceipt {
  readonly row: ConnectionRow;
  readonly refused: Refused | null;
  readonly news: boolean;
  /** How many marks of congestion the schedulers were told of. */
  readonly marked: number;
}

/** The rows that a poll took, and the datagram that the last one gives; `ect`: it is to be sent with ECT(0). */
export interface ConnectionPoll {
  readonly rows: readonly ConnectionRow[];
  readonly datagram: Uint8Array | null;
  readonly ect: boolean;
}

/** The records of a packet that is composed (CXM-1). */
interface Composed {
  /** Of steps 2 and 5. */
  readonly charged: readonly ConnectionRecord[];
  /** Of steps 3 and 4. */
  readonly free: readonly ConnectionRecord[];
  readonly slice: SliceRecord | null;
}

/** `GIVE_UP` of channels and chunks for a TIMEOUT, both in microseconds (CXP-6). */
export function defaultGiveUp(timeout: Micros): Micros {
  return min(2n * timeout, LONGEST_GIVE_UP);
}

/** A closing that this end has begun, or an answer to one. */
interface Closing {
  readonly record: CloseRecord;
  readonly at: Micros;
  /** How many times of CXL-5 had passed at the last CLOSE. */
  said: number;
}

/** It does nothing between events. CXL-13 and section 9.2 define its variables and rows. */
export class Connection {
  readonly #clock = new Clock();
  readonly #envelope: Envelope;
  readonly #limits: RecordLimits;
  readonly #timeout: Micros;
  readonly #tickTime: Micros;
  readonly #messageRate: bigint;
  readonly #endpoint = new Endpoint({ received: RECEIVED });
  #congestion = new Congestion();
  readonly #mux: Mux;
  readonly #lanes: Lanes;
  readonly #marks: MarkBook | null;
  readonly #remote: RemoteClock | null;
  readonly #witness: Witness;
  /** Since when no number was acked, although heavy packets are sent (CXL-18). */
  #unackedAt: Deadline = NEVER;
  #state: ConnectionState = "OPEN";
  #ended: Ending | null = null;
  #heardAt: Micros;
  readonly #wornAt: Deadline;
  #sentAt: Deadline = NEVER;
  #confirmed: boolean;
  #messagesAt: Deadline = NEVER;
  #tickAt: Micros;
  #ticking = false;
  #budget = BURST;
  #reports = BURST;
  #budgetAt: Micros;
  #closing: Closing | null = null;
  #saidAt: Deadline = NEVER;
  #again = false;
  #owed = false;
  #moving = false;
  /** Fragments that wait to be sealed. */
  #out: Uint8Array[] = [];
  /** When a poll gave nothing, and no event came since. */
  #polledAt: Deadline = NEVER;
  #told = 0;

  /** Throws RangeError for a value that is not allowed (CXP-2). */
  constructor(time: Micros, envelope: Envelope, options: ConnectionOptions) {
    const { side, agreed, channels = new Map<number, ChannelSetup>(), tick = TICK, messageRate = MESSAGE_RATE } = options;
    const { lanes, variant, extensions, timeout } = agreed;
    const { scheduler = variant === REPAIR ? newRateless : newAdaptive, seed = null, waitingChunks = 8 } = options;
    demand(isWithin(lanes, 0, MOST_LANES), "there are 0 to 16 lanes");
    demand(tick >= 5n * MS && tick <= 100n * MS, "the tick must be 5 ms to 100 ms");
    demand(isWithin(messageRate, 64_000, 8_000_000_000), "the message rate must be 64,000 to 8 * 10^9 bit/s");
    const schedulers = Array.from({ length: lanes }, scheduler);
    demand(schedulers.every((s) => s instanceof RatelessScheduler === (variant === REPAIR)), "the scheduler is of another variant");
    const now = this.#clock.advance(time);
    this.#envelope = envelope;
    this.#timeout = BigInt(timeout) * TIMEOUT_UNIT;
    this.#tickTime = tick;
    this.#messageRate = BigInt(messageRate);
    this.#mux = new Mux(channels);
    const [hasMarks, hasClocks] = [(extensions & MARKS) !== 0, (extensions & CLOCKS) !== 0];
    this.#limits = { channels: this.#mux.channels, lanes, variant: lanes > 0 ? variant : NAMED, hasMarks, hasClocks };
    this.#lanes = new Lanes(schedulers, options.giveUp ?? defaultGiveUp(this.#timeout), waitingChunks);
    this.#marks = hasMarks ? new MarkBook() : null;
    this.#remote = hasClocks ? new RemoteClock() : null;
    this.#witness = new Witness(lanes, seed);
    this.#confirmed = side === "server";
    this.#heardAt = this.#tickAt = this.#budgetAt = now;
    this.#wornAt = envelope.mode === "crc" ? NEVER : now + KEY_TIME;
  }

  get state(): ConnectionState {
    return this.#state;
  }

  /** Why the connection has ended; null before. */
  get ended(): Ending | null {
    return this.#ended;
  }

  /** Channels that have failed, at this end; the others go on (CXL-17). */
  get failedChannels(): readonly number[] {
    return this.#mux.failed;
  }

  /** Whether everything reliable that was given is at the peer. */
  get isDelivered(): boolean {
    return this.#lanes.rests && !this.#mux.hasUnreleased;
  }

  /** Whether so much is lost for so long that slices are sent no faster (BRK-6). */
  get isBroken(): boolean {
    return this.#lanes.isBroken;
  }

  /** The smoothed round trip in microseconds, null while it is not measured. */
  get roundTrip(): Deadline {
    const { measured, srtt } = this.#endpoint.roundTrip;
    return measured ? srtt : NEVER;
  }

  /** The round trip without what the peer waited, and what its clock shows, which is between `now + low` and `now + high` as of then; null while it is not known. */
  get remote(): Remote | null {
    return this.#remote?.remote ?? null;
  }

  /** The mode of congestion avoidance. */
  get mode(): "GOOD" | "BAD" {
    return this.#congestion.mode;
  }

  /** Whether the client has moved, and waits for the server (CXL-16). */
  get isMoving(): boolean {
    return this.#moving;
  }

  /** When to poll at the latest (CXM-9). */
  get deadline(): Deadline {
    const [now, at] = [this.#clock.latest, this.#nextAt];
    if (at === NEVER) return NEVER;
    return max(at, this.#polledAt === now ? now + 1n : now);
  }

  // Events.

  /** A datagram of data has arrived. */
  receive(time: Micros, datagram: Uint8Array, ecn: Ecn = "not-ect"): ConnectionReceipt {
    if (this.#state === "CLOSED") {
      this.#begin(time);
      return { row: "K16", refused: null, news: false, marked: 0 };
    }
    try {
      return this.receiveOpened(time, this.#envelope.open(datagram).body, ecn);
    } catch (error) {
      if (!(error instanceof SessionError)) throw error;
      this.#begin(time);
      return { row: this.#state === "CLOSING" ? "K9" : "K1", refused: error, news: false, marked: 0 };
    }
  }

  /** The body of a datagram that the envelope has opened, before there was a connection. */
  receiveOpened(time: Micros, body: Uint8Array, ecn: Ecn = "not-ect"): ConnectionReceipt {
    const now = this.#begin(time);
    const told = this.#told;
    const isClosing = this.#state === "CLOSING";
    this.#marks?.came(ecn);
    const { close, refused, lies } = this.#take(now, body);
    const news = this.#learn(now);
    const row = lies ? this.#accuse(now) : this.#hear(now, close, isClosing);
    return { row, refused, news, marked: this.#told - told };
  }

  /** Sends a message; null, or why it is refused. A reliable message expires after its lifetime, in microseconds. */
  send(time: Micros, channel: number, message: Uint8Array, lifetime: Micros | null = null): MessageRefusal | "ended" | null {
    const now = this.#begin(time);
    return this.#state === "OPEN" ? this.#mux.send(now, channel, message, lifetime) : "ended";
  }

  /** Ends a tick of the application: its messages are due now, except on a congested path (CXM-28). */
  endTick(time: Micros): void {
    const now = this.#begin(time);
    if (this.mode === "GOOD") this.#tickAt = min(this.#tickAt, now);
  }

  /** What a channel delivers next, or null; also after the end (CXL-12). */
  read(time: Micros, channel: number): Delivery | null {
    return this.#mux.read(this.#begin(time), channel);
  }

  /** Sends a chunk of 1 to 262,144 bytes, behind those before it; null, or why it is refused. */
  sendChunk(time: Micros, chunk: Uint8Array): ChunkRefusal | "ended" | null {
    const now = this.#begin(time);
    return this.#state === "OPEN" ? this.#lanes.send(now, chunk) : "ended";
  }

  /** The next chunk that is here, or null; also after the end (CXL-12). */
  readChunk(time: Micros): Uint8Array | null {
    return this.#lanes.read(this.#begin(time));
  }

  /**
   * Closes, with a code that is 0 or 256 to 65,535, and a text of at most 128 bytes.
   * Throws {@link RecordError} for others (CXR-4).
   */
  close(time: Micros, code = 0, text = ""): ConnectionRow {
    const record = closeRecord(code, text);
    const now = this.#begin(time);
    if (this.#state !== "OPEN") return this.#state === "CLOSING" ? "K15" : "K17";
    this.#startClosing(now, record, { why: "closed", code, text, remote: false });
    return "K4";
  }

  /** The session says that there is no such connection any more. */
  end(time: Micros): ConnectionRow {
    this.#begin(time);
    const row = ({ OPEN: "K20", CLOSING: "K21", CLOSED: "K22" } as const)[this.#state];
    if (this.#state === "OPEN") this.#end({ why: "ended" });
    this.#state = "CLOSED";
    return row;
  }

  /** The client moves: until it is {@link relinked} it sends nothing (CXL-16). */
  move(time: Micros): void {
    this.#forgetPath(this.#begin(time));
    this.#moving = true;
  }

  /** A client has taken LINKED again, or a server has answered a PROOF of the connection, perhaps at the same address (CXL-11). */
  relinked(time: Micros, isOtherPath: boolean): void {
    const now = this.#begin(time);
    this.#heardAt = now;
    this.#unackedAt = NEVER;
    this.#moving = false;
    if (isOtherPath) this.#forgetPath(now);
  }

  /** Takes rows until one gives a datagram, or none will; poll again until none is given (CXL-14). */
  poll(time: Micros): ConnectionPoll {
    const now = this.#begin(time);
    const rows: ConnectionRow[] = [];
    for (;;) {
      const { row, datagram = null, ect = false, isLast = false } = this.#poll(now);
      rows.push(row);
      if (isLast) this.#polledAt = now;
      if (isLast || datagram !== null) return { rows, datagram, ect };
    }
  }

  // Receiving.

  /** CXM-7. */
  #take(now: Micros, body: Uint8Array): { close: CloseRecord | null; refused: Refused | null; lies: boolean } {
    let close: CloseRecord | null = null;
    let refused: Refused | null = null;
    let lies = false;
    const above = (number: number, payload: Uint8Array, known: number | null): Verdict => {
      try {
        const records = decodePayload(payload, this.#limits);
        if (number < this.#endpoint.nextToReceive - CHANNEL_WINDOW && records.some(isReliable)) return "refuse"; // CXM-26
        lies = this.#state === "OPEN" && this.#lies(records);
        if (lies) throw new RecordError("lie", -1);
        this.#marks?.took(number);
        for (const record of records) {
          if (record.type === "close") close = record;
          else if (this.#state === "OPEN") this.#apply(now, number, known ?? -1, record);
        }
        return this.#state !== "OPEN" || isQuiet(records) ? "quiet" : "take";
      } catch (error) {
        if (!(error instanceof RecordError)) throw error;
        refused = error;
        return "refuse";
      }
    };
    const receipt = this.#endpoint.receive(now, body, above);
    if ("sampled" in receipt && receipt.sampled) this.#evaluate(now);
    if ("error" in receipt) refused ??= receipt.error;
    return { close, refused, lies };
  }

  /** CXM-19 to CXM-21. */
  #lies(records: readonly ConnectionRecord[]): boolean {
    const said = saidBy(this.#endpoint.arriving, this.#endpoint.nextToSend);
    const acked = ackedBy(said);
    if (said.ack < -1 || acked.some((number) => number < 0)) return true;
    if ([said.ack, ...acked].some((number) => this.#endpoint.isLeftOut(number))) return true;
    return records.some((record) => record.type === "chunk_ack" && this.#witness.lies(said, record));
  }

  #apply(now: Micros, number: number, ack: number, record: Exclude<ConnectionRecord, CloseRecord>): void {
    switch (record.type) {
      case "ecn":
        return this.#marks?.hear(number, record);
      case "clock":
        return this.#remote?.hear(now, number, record);
      case "slice":
        return this.#lanes.takeSlice(now, record);
      case "chunk_ack": {
        const said = saidBy(this.#endpoint.arriving, this.#endpoint.nextToSend);
        this.#lanes.takeAck(now, record.lane, this.#witness.believe(said, record));
        return this.#marks?.hear(number, null);
      }
      default:
        return this.#mux.take(now, number, ack, record);
    }
  }

  #hear(now: Micros, close: CloseRecord | null, isClosing: boolean): ConnectionRow {
    this.#heardAt = now;
    this.#confirmed = true;
    if (isClosing) {
      if (close === null) this.#again = true;
      else this.#state = "CLOSED";
      return close === null ? "K11" : "K10";
    }
    if (close === null) return "K3";
    this.#owed = true;
    this.#closing = { record: { type: "close", code: 0, text: new Uint8Array() }, at: now, said: 0 };
    this.#end({ why: "closed", code: close.code, text: new TextDecoder("utf-8", { ignoreBOM: true }).decode(close.text), remote: true });
    return "K2";
  }

  #accuse(now: Micros): ConnectionRow {
    this.#startClosing(now, { type: "close", code: CODES.lied, text: new Uint8Array() }, { why: "lied" });
    return "K23";
  }

  #startClosing(now: Micros, record: CloseRecord, ended: Ending): void {
    this.#state = "CLOSING";
    this.#ended = ended;
    this.#closing = { record, at: now, said: 0 };
    this.#out = [];
  }

  #end(ended: Ending): void {
    this.#state = "CLOSED";
    this.#ended = ended;
    this.#out = [];
  }

  // Polls.

  #poll(now: Micros): { row: ConnectionRow; datagram?: Uint8Array | null; ect?: boolean; isLast?: boolean } {
    if (this.#state === "CLOSED") return this.#owed ? { row: "K18", datagram: this.#say(now) } : { row: "K19", isLast: true };
    if (this.#state === "CLOSING") return this.#pollClosing(now);
    if (now >= this.#endsAt) {
      this.#end({ why: "timeout" });
      return { row: "K5" };
    }
    if (this.#moving) return { row: "K8", isLast: true };
    const packet = this.#hasFailed ? null : this.#packet(now);
    if (packet !== null) return { row: "K7", ...packet };
    if (!this.#hasFailed) return { row: "K8", isLast: true };
    const code = this.#isWorn && !this.#lanes.hasFailed ? CODES.worn : CODES.failed;
    this.#startClosing(now, { type: "close", code, text: new Uint8Array() }, { why: "failed" });
    return { row: "K6" };
  }

  #pollClosing(now: Micros): { row: ConnectionRow; datagram?: Uint8Array; isLast?: boolean } {
    if (this.#closing === null || now - this.#closing.at >= CLOSE_TIME) {
      this.#state = "CLOSED";
      return { row: "K12" };
    }
    const isDue = !this.#moving && isPast(now, this.#nextClose);
    return isDue ? { row: "K13", datagram: this.#say(now) } : { row: "K14", isLast: true };
  }

  /** When a CLOSE is due next (CXL-5, CXL-6). */
  get #nextClose(): Deadline {
    if (this.#closing === null) return NEVER;
    const times = CLOSE_TIMES[this.#closing.said];
    const at = times === undefined ? NEVER : this.#closing.at + times;
    return this.#again && this.#saidAt !== NEVER ? earlier(at, this.#saidAt + CLOSE_FIRST) : at;
  }

  /** SAY: CXL-5. */
  #say(now: Micros): Uint8Array {
    const closing = this.#closing!;
    const [body] = this.#endpoint.send(now, encodePayload([closing.record], this.#limits), true);
    closing.said = CLOSE_TIMES.filter((time) => now - closing.at >= time).length;
    this.#saidAt = now;
    this.#again = this.#owed = false;
    return this.#seal(now, body!);
  }

  #seal(now: Micros, body: Uint8Array): Uint8Array {
    this.#sentAt = now;
    return this.#envelope.seal(body);
  }

  /** A channel that has failed ends nothing else (CXL-17). */
  get #hasFailed(): boolean {
    return this.#lanes.hasFailed || this.#isWorn;
  }

  get #isWorn(): boolean {
    return this.#envelope.isWorn || isPast(this.#clock.latest, this.#wornAt);
  }

  // Composition (section 8).

  /** The next datagram, if a packet is due (CXM-1, CXM-2). */
  #packet(now: Micros): { datagram: Uint8Array; ect: boolean } | null {
    let ect = false;
    if (this.#out.length === 0) {
      this.#tick(now);
      const mayAlways = isPast(now, this.#mux.prompt);
      ect = this.#compose(now, this.#budget >= 0n && (this.#ticking || mayAlways));
      this.#learn(now);
    }
    const body = this.#out.shift();
    return body === undefined ? null : { datagram: this.#seal(now, body), ect };
  }

  /** CXM-3. */
  #tick(now: Micros): void {
    if (this.#ticking || now < this.#tickAt || this.#budget < 0n || !this.#mux.isPending) return;
    this.#ticking = true;
    this.#tickAt = now + (this.mode === "GOOD" ? this.#tickTime : max(this.#tickTime, BAD_TICK));
  }

  /** Whether the datagram is to be sent with ECT(0). */
  #compose(now: Micros, messages: boolean): boolean {
    const composed = this.#records(now, messages);
    const { charged, free, slice } = composed;
    const records = [...free, ...charged, ...(slice === null ? [] : [slice])];
    if (!this.#mux.isPending) this.#ticking = false; // CXM-3
    if (records.length === 0) {
      this.#composeNothing(now);
      return false;
    }
    const payload = encodePayload(records, this.#limits);
    const number = this.#endpoint.nextToSend;
    const ect = slice !== null && this.#marks !== null && this.#marks.sends(now, number);
    this.#out = this.#endpoint.send(now, payload, isQuiet(records));
    if (slice !== null) this.#witness.sent(now, number, slice);
    if (slice !== null || charged.length > 0) this.#heavy(now);
    this.#charge(composed, this.#out);
    return ect;
  }

  /** A packet has a slice or messages (CXM-18, CXL-18). */
  #heavy(now: Micros): void {
    if (this.#unackedAt === NEVER) this.#unackedAt = now;
    if (this.#witness.heavy()) this.#endpoint.leaveOut(now);
  }

  /** A PAD, or an ack alone. */
  #composeNothing(now: Micros): void {
    if (this.#aliveAt <= now) {
      this.#out = this.#endpoint.send(now, PAD, true);
      return;
    }
    const ack = this.#endpoint.poll(now);
    this.#evaluate(now);
    if (ack !== null) this.#out = [ack];
  }

  #records(now: Micros, messages: boolean): Composed {
    this.#lanes.yields(this.#messagesAt !== NEVER && now < this.#messagesAt + YIELD_TIME);
    if (messages && this.#mux.hasLarge) {
      this.#messagesAt = now;
      return { charged: this.#mux.takeLarge(), free: [], slice: null };
    }
    const isAckDue = this.#lanes.isAckDue(now);
    const free = this.#freeRecords(now);
    let left = PAYLOAD - this.#bytesOf(free);
    const isSliceDue = isPast(now, this.#lanes.sliceAt(this.#witness));
    const others = isAckDue || free.length > 0 || messages || this.#aliveAt <= now || isPast(now, this.#endpoint.ackAt);
    const charged: ConnectionRecord[] = [];
    const clock = (others || isSliceDue) && left >= CLOCK_BYTES ? (this.#remote?.say(now) ?? null) : null;
    if (clock !== null) {
      free.push(clock);
      left -= CLOCK_BYTES;
    }
    if (this.#budget >= 0n && (others || isSliceDue)) {
      const beside = BESIDE_SLICE - (clock === null ? 0 : CLOCK_BYTES);
      charged.push(...this.#mux.messages(now, this.#endpoint.nextToSend, others ? left : Math.min(left, beside)));
    }
    if (charged.length > 0) this.#messagesAt = now;
    left -= this.#bytesOf(charged);
    return { charged, free, slice: isSliceDue && left >= LARGEST_SLICE ? this.#lanes.slice(now, this.#witness) : null };
  }

  /** Chunk acks and reports that are due. */
  #freeRecords(now: Micros): ConnectionRecord[] {
    const free: ConnectionRecord[] = [];
    const marks = this.#marks?.record ?? null;
    const beside = marks === null ? 0 : MARKS_BYTES;
    let left = PAYLOAD;
    this.#lanes.acks(
      now,
      () => left >= LARGEST_CHUNK_ACK + beside,
      (record) => {
        free.push(record);
        left -= bytesOf(record, this.#limits);
      },
    );
    if (free.length > 0 && marks !== null) {
      free.push(marks);
      left -= beside;
    }
    if (this.#reports >= 0n) free.push(...this.#mux.reports(now, left));
    return free;
  }

  #bytesOf(records: readonly ConnectionRecord[]): number {
    return records.reduce((sum, record) => sum + bytesOf(record, this.#limits), 0);
  }

  /** CXM-4, CXM-25. */
  #charge({ charged, free, slice }: Composed, bodies: readonly Uint8Array[]): void {
    const around = HEAD + TAG_BYTES[this.#envelope.mode] + HEADERS;
    const whole = bodies.reduce((sum, body) => sum + body.length + around, 0);
    const reports = free.filter(({ type }) => type === "report");
    let bytes = this.#bytesOf(reports);
    if (bytes > 0 && charged.length === 0 && slice === null) bytes += whole - this.#bytesOf(free);
    this.#reports -= BYTE * BigInt(bytes);
    if (charged.length === 0) return;
    this.#budget -= BYTE * BigInt(slice === null ? whole - this.#bytesOf(free) : this.#bytesOf(charged));
  }

  // The path.

  #evaluate(now: Micros): void {
    const { roundTrip, silent } = this.#endpoint;
    this.#congestion.evaluate(now, { srtt: this.roundTrip, minRtt: roundTrip.minRtt, silent });
  }

  /** The end of an event; whether a packet was acked (CXM-6, CXM-16). */
  #learn(now: Micros): boolean {
    const acked = this.#endpoint.takeEvents().flatMap(({ event, number }) => (event === "acked" ? [number] : []));
    if (acked.length > 0) this.#unackedAt = NEVER;
    this.#witness.end(acked, this.#lanes.rests);
    const told = this.#marks?.end(now, acked) ?? 0;
    this.#told += told;
    this.#lanes.marks(told);
    this.#mux.setPath(this.roundTrip, this.#endpoint.patience.at(now));
    return acked.length > 0;
  }

  /** CXL-10. */
  #forgetPath(now: Micros): void {
    this.#unackedAt = NEVER;
    this.#endpoint.forgetPath();
    this.#congestion = new Congestion();
    this.#lanes.forgetPath(now);
    this.#marks?.forgetPath();
    this.#witness.forgetPath(this.#endpoint.nextToSend);
    this.#learn(now);
  }

  // Time.

  /** What each event does first (CXM-4, CXM-25). */
  #begin(time: Micros): Micros {
    const now = this.#clock.advance(time);
    const passed = now - this.#budgetAt;
    this.#budget = min(this.#budget + passed * this.#rate, BURST);
    this.#reports = min(this.#reports + passed * (this.#rate / 4n), BURST);
    this.#budgetAt = now;
    this.#polledAt = NEVER;
    return now;
  }

  get #rate(): bigint {
    return this.mode === "GOOD" ? this.#messageRate : this.#messageRate / 4n;
  }

  /** When it has timed out (CXL-3). */
  get #endsAt(): Micros {
    return (this.#unackedAt === NEVER ? this.#heardAt : min(this.#heardAt, this.#unackedAt)) + this.#timeout;
  }

  get #aliveAt(): Micros {
    if (this.#sentAt === NEVER) return 0n;
    return this.#sentAt + (this.#confirmed ? min(this.#timeout / 8n, MOST_KEEP_ALIVE) : LINK_INTERVAL);
  }

  get #nextAt(): Deadline {
    const now = this.#clock.latest;
    if (this.#state === "CLOSED") return this.#owed ? now : NEVER;
    if (this.#state === "CLOSING") return earlier(this.#moving ? NEVER : this.#nextClose, this.#closing!.at + CLOSE_TIME);
    if (this.#moving) return this.#endsAt;
    if (this.#out.length > 0 || this.#hasFailed) return now;
    return [
      this.#aliveAt,
      this.#endpoint.deadline,
      this.#congestion.deadline,
      this.#reportAt(now),
      this.#lanes.ackAt,
      this.#lanes.sliceAt(this.#witness),
      this.#messagesDueAt(now),
      this.#wornAt,
    ].reduce(earlier, this.#endsAt);
  }

  #reportAt(now: Micros): Deadline {
    const at = this.#mux.reportAt;
    return at === NEVER || this.#reports >= 0n ? at : max(at, now + until(this.#reports, this.#rate / 4n));
  }

  /** CXM-9, 6. */
  #messagesDueAt(now: Micros): Deadline {
    const wanted = this.#ticking ? 0n : earlier(this.#mux.prompt, this.#mux.isPending ? this.#tickAt : NEVER);
    const allowed = this.#budget >= 0n ? now : now + until(this.#budget, this.#rate);
    return wanted === NEVER ? NEVER : max(allowed, wanted);
  }
}

/** Throws RecordError for what an application may not say (CXR-4). */
export function closeRecord(code: number, text: string): CloseRecord {
  check(code === 0 || isWithin(code, 256, 65_535), "reserved", -1);
  return { type: "close", code, text: closeText(text) };
}

function newRateless(): LaneScheduler {
  return new RatelessScheduler();
}

function newAdaptive(): LaneScheduler {
  return new AdaptiveScheduler();
}

/** Microseconds until a budget below 0 is 0. */
function until(budget: bigint, rate: bigint): Micros {
  return (-budget + rate - 1n) / rate;
}

function isPast(now: Micros, deadline: Deadline): boolean {
  return deadline !== NEVER && now >= deadline;
}

/** Whether a record is of a reliable channel (CXM-26). */
function isReliable({ type }: ConnectionRecord): boolean {
  return type === "message" || type === "fragment" || type === "skip" || type === "report" || type === "status";
}
