/** The receiver (section 8), with the recommended timing of acks (section 8.6). */

import { AckTiming } from "./ack-timing.js";
import type { Ack, Slice } from "./codec.js";
import { checkParameters, DEFAULT_GIVE_UP, nextChunkId, previousChunkId } from "./limits.js";
import { Clock, earlier, NEVER, type Deadline, type Micros } from "./time.js";

export interface ReceiverOptions {
  /** `FIRST_ID`: id of the first chunk, 0 unless both ends agree on another. */
  readonly firstChunkId?: number;
  /** `GIVE_UP`: microseconds without a new slice, 1 to 2^61; 10 s by default. */
  readonly giveUp?: Micros;
}

/** The row that a slice took. */
export type SliceRow =
  | "R1" | "R2" | "R3" | "R4" | "R5" | "R6" | "R7" | "R8" | "R9"
  | "R10" | "R11" | "R12" | "R13" | "R14" | "R15" | "R26";

/** What came of a read: R16 delivers a chunk. */
export type ReadResult =
  | { readonly row: "R16"; readonly chunk: Uint8Array }
  | { readonly row: "R17" | "R18" | "R27"; readonly refused: "nothing_to_read" };

/** What came of a poll: an ack goes out, or nothing, or the receiver gives up (R23). */
export type ReceiverPollResult =
  | { readonly row: "R19" | "R21" | "R24"; readonly packet: Ack }
  | { readonly row: "R20" | "R22" | "R25" | "R28"; readonly packet: null }
  | { readonly row: "R23"; readonly packet: null; readonly failed: number };

interface Receiving {
  readonly name: "RECEIVING";
  readonly numSlices: number;
  /** Data of the slices that are here. */
  readonly received: Map<number, Uint8Array>;
  progressAt: Micros;
}

interface Ready {
  readonly name: "READY";
  readonly chunk: Uint8Array;
}

type State = { readonly name: "WAITING" } | Receiving | Ready | { readonly name: "FAILED" };

/** The four states of section 8.1. */
export type ReceiverState = State["name"];

/** Rows that differ by the state only. */
const ROWS = {
  WAITING: { previous: "R3", foreign: "R4", ackDue: "R19", nothingDue: "R20" },
  RECEIVING: { previous: "R11", foreign: "R12", ackDue: "R21", nothingDue: "R22" },
  READY: { previous: "R14", foreign: "R15", ackDue: "R24", nothingDue: "R25" },
} as const;

/** Receives one chunk after the other. It does nothing between events. */
export class Receiver {
  readonly #giveUp: Micros;
  readonly #clock = new Clock();
  readonly #timing = new AckTiming();
  #chunkId: number;
  #state: State = { name: "WAITING" };
  /** `num_slices` of the chunk completed last; 0 while none is. */
  #previousSlices = 0;
  #currentDue = false;
  #previousDue = false;
  /** `held_slices` while a hold is due, else 0. */
  #heldSlices = 0;
  #conflicts = 0;

  constructor({ firstChunkId = 0, giveUp = DEFAULT_GIVE_UP }: ReceiverOptions = {}) {
    checkParameters(firstChunkId, giveUp);
    this.#chunkId = firstChunkId;
    this.#giveUp = giveUp;
  }

  get state(): ReceiverState {
    return this.#state.name;
  }

  /** Id of the chunk that arrives, or is to come next. */
  get chunkId(): number {
    return this.#chunkId;
  }

  /** For each slice of the chunk that arrives whether it is here; empty but in RECEIVING. */
  get received(): boolean[] {
    return this.#state.name === "RECEIVING" ? bitmap(this.#state) : [];
  }

  /** Slices that did not match the fixed number of slices (RCV-7). */
  get conflicts(): number {
    return this.#conflicts;
  }

  /** When to poll again at the latest (RCV-17). */
  get deadline(): Deadline {
    switch (this.#state.name) {
      case "FAILED":
        return NEVER;
      case "RECEIVING":
        return earlier(this.#timing.ackAt, this.#state.progressAt + this.#giveUp);
      default:
        return this.#timing.ackAt;
    }
  }

  /** A valid slice has arrived (RCV-1). On a tie with the deadline it comes before the poll (RCV-2). */
  slice(now: Micros, slice: Slice): SliceRow {
    const at = this.#clock.advance(now);
    const state = this.#state;
    if (state.name === "FAILED") return "R26";
    if (this.#isPrevious(slice)) {
      this.#previousDue = true; // RCV-13
      this.#timing.soon(at);
      return ROWS[state.name].previous;
    }
    if (slice.chunkId !== this.#chunkId) return ROWS[state.name].foreign; // RCV-4
    switch (state.name) {
      case "WAITING":
        return this.#begin(at, slice) ? "R1" : "R2";
      case "RECEIVING":
        return this.#sliceReceiving(state, at, slice);
      case "READY":
        return this.#hold(at, slice);
    }
  }

  /** The application asks for a complete chunk. */
  read(now: Micros): ReadResult {
    this.#clock.advance(now);
    const state = this.#state;
    switch (state.name) {
      case "WAITING":
        return { row: "R17", refused: "nothing_to_read" };
      case "RECEIVING":
        return { row: "R18", refused: "nothing_to_read" };
      case "FAILED":
        return { row: "R27", refused: "nothing_to_read" };
      case "READY":
        this.#state = { name: "WAITING" };
        return { row: "R16", chunk: state.chunk };
    }
  }

  /** Asks which ack is to be sent; repeat until none comes (RCV-1, RCV-9). */
  poll(now: Micros): ReceiverPollResult {
    const at = this.#clock.advance(now);
    const state = this.#state;
    if (state.name === "FAILED") return { row: "R28", packet: null };
    if (state.name === "RECEIVING" && at - state.progressAt >= this.#giveUp) return this.#fail();
    const packet = this.#timing.isDue(at) ? this.#takeAck() : undefined;
    if (packet === undefined) return { row: ROWS[state.name].nothingDue, packet: null };
    if (!this.#anyDue()) this.#timing.allSent(at);
    return { row: ROWS[state.name].ackDue, packet };
  }

  /** RCV-3, RCV-6. */
  #isPrevious({ chunkId, numSlices }: Slice): boolean {
    return chunkId === previousChunkId(this.#chunkId) && numSlices === this.#previousSlices;
  }

  /** RCV-7, RCV-8. */
  #sliceReceiving(state: Receiving, now: Micros, slice: Slice): SliceRow {
    if (slice.numSlices !== state.numSlices) {
      if (now - state.progressAt >= this.#giveUp / 2n) return this.#begin(now, slice) ? "R10" : "R9";
      this.#conflicts++;
      return "R8";
    }
    if (state.received.has(slice.sliceId)) {
      this.#currentDue = true; // RCV-13
      this.#timing.soon(now);
      return "R7";
    }
    return this.#store(state, now, slice) ? "R6" : "R5";
  }

  /** HOLD (RCV-14). */
  #hold(now: Micros, slice: Slice): "R13" {
    this.#heldSlices = slice.numSlices;
    this.#timing.soon(now);
    return "R13";
  }

  /** START, then STORE and perhaps COMPLETE (RCV-10); returns whether the chunk is complete. */
  #begin(now: Micros, slice: Slice): boolean {
    const state: Receiving = { name: "RECEIVING", numSlices: slice.numSlices, received: new Map(), progressAt: now };
    this.#state = state;
    this.#heldSlices = 0;
    this.#timing.start();
    return this.#store(state, now, slice);
  }

  /** STORE and, if nothing is missing any more, COMPLETE (RCV-11); returns whether the chunk is complete. */
  #store(state: Receiving, now: Micros, { sliceId, data }: Slice): boolean {
    state.received.set(sliceId, new Uint8Array(data));
    state.progressAt = now;
    this.#currentDue = true;
    this.#timing.stored(now, sliceId);
    if (state.received.size < state.numSlices) return false;
    this.#complete(state, now);
    return true;
  }

  /** COMPLETE (RCV-12). */
  #complete(state: Receiving, now: Micros): void {
    this.#previousSlices = state.numSlices;
    this.#chunkId = nextChunkId(this.#chunkId);
    this.#state = { name: "READY", chunk: join(state) };
    this.#currentDue = false;
    this.#previousDue = true;
    this.#timing.atOnce(now); // ACQ-3
  }

  /** R23, RCV-15. */
  #fail(): ReceiverPollResult {
    this.#state = { name: "FAILED" };
    return { row: "R23", packet: null, failed: this.#chunkId };
  }

  #anyDue(): boolean {
    return this.#previousDue || this.#currentDue || this.#heldSlices > 0;
  }

  /** SEND ACK (RCV-16). */
  #takeAck(): Ack | undefined {
    if (this.#previousDue) {
      this.#previousDue = false;
      return ack(previousChunkId(this.#chunkId), filled(this.#previousSlices, true));
    }
    if (this.#currentDue) {
      this.#currentDue = false;
      return ack(this.#chunkId, this.received);
    }
    if (this.#heldSlices > 0) {
      const acked = filled(this.#heldSlices, false);
      this.#heldSlices = 0;
      return ack(this.#chunkId, acked);
    }
    return undefined;
  }
}

function ack(chunkId: number, acked: readonly boolean[]): Ack {
  return { type: "ack", chunkId, acked };
}

function filled(length: number, bit: boolean): boolean[] {
  return new Array<boolean>(length).fill(bit);
}

function bitmap({ numSlices, received }: Receiving): boolean[] {
  return Array.from({ length: numSlices }, (_, id) => received.has(id));
}

/** The chunk whose slices are all here, one after the other. */
function join({ numSlices, received }: Receiving): Uint8Array {
  const parts = Array.from({ length: numSlices }, (_, id) => received.get(id) ?? new Uint8Array());
  const chunk = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    chunk.set(part, offset);
    offset += part.length;
  }
  return chunk;
}
