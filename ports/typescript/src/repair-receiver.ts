/** The receiver of repair slices (REPAIR.md, section 6), with the recommended timing of acks (section 6.5). */

import { AckTiming } from "./ack-timing.js";
import { checkParameters, DEFAULT_GIVE_UP, nextChunkId, previousChunkId } from "./limits.js";
import type { ReceiverOptions, ReceiverState } from "./receiver.js";
import { RepairDecoder } from "./repair-code.js";
import { idOf, numberOfArrival, type RepairAck, type RepairSlice } from "./repair-codec.js";
import { Clock, earlier, NEVER, type Deadline, type Micros } from "./time.js";

/** The row that a slice took. */
export type RepairSliceRow =
  | "U1" | "U2" | "U3" | "U4" | "U5" | "U6" | "U7" | "U8" | "U9"
  | "U10" | "U11" | "U12" | "U13" | "U14" | "U15" | "U16" | "U27";

/** What came of a read: U17 delivers a chunk. */
export type RepairReadResult =
  | { readonly row: "U17"; readonly chunk: Uint8Array }
  | { readonly row: "U18" | "U19" | "U28"; readonly refused: "nothing_to_read" };

/** What came of a poll: an ack goes out, or nothing, or the receiver gives up (U24). */
export type RepairReceiverPollResult =
  | { readonly row: "U20" | "U22" | "U25"; readonly packet: RepairAck }
  | { readonly row: "U21" | "U23" | "U26" | "U29"; readonly packet: null }
  | { readonly row: "U24"; readonly packet: null; readonly failed: number };

interface Receiving {
  readonly name: "RECEIVING";
  /** The slices that are here. */
  readonly held: RepairDecoder;
  /** A number. */
  top: number;
  progressAt: Micros;
  /** The first dependent repair slice (RPR-11). */
  spare: RepairSlice | undefined;
}

interface Ready {
  readonly name: "READY";
  readonly chunk: Uint8Array;
  readonly held: RepairDecoder;
  /** Whether a slice that came late was compared with the chunk (RPR-11). */
  isCompared: boolean;
}

type State = { readonly name: "WAITING" } | Receiving | Ready | { readonly name: "FAILED" };

/** Rows that differ by the state only. */
const ROWS = {
  WAITING: { previous: "U3", foreign: "U4", ackDue: "U20", nothingDue: "U21" },
  RECEIVING: { previous: "U12", foreign: "U13", ackDue: "U22", nothingDue: "U23" },
  READY: { previous: "U15", foreign: "U16", ackDue: "U25", nothingDue: "U26" },
} as const;

/** Receives one chunk after the other. It does nothing between events. */
export class RepairReceiver {
  readonly #giveUp: Micros;
  readonly #clock = new Clock();
  readonly #timing = new AckTiming();
  #chunkId: number;
  #state: State = { name: "WAITING" };
  /** `num_slices` and `top` of the chunk completed last; 0 while none is. */
  #previousSlices = 0;
  #previousTop = 0;
  #currentDue = false;
  #previousDue = false;
  /** `held_slices` while a hold is due, else 0. */
  #heldSlices = 0;
  #conflicts = 0;
  #inconsistent = 0;

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

  /** How many independent slices are here of the chunk that arrives; 0 but in RECEIVING. */
  get have(): number {
    return this.#state.name === "RECEIVING" ? this.#state.held.rank : 0;
  }

  /** One more than the highest number that arrived of that chunk; 0 but in RECEIVING. */
  get top(): number {
    return this.#state.name === "RECEIVING" ? this.#state.top : 0;
  }

  /** Slices that did not match the fixed size of the chunk (RPR-4). */
  get conflicts(): number {
    return this.#conflicts;
  }

  /** How often a slice and a rebuilt chunk did not agree, so that one was forged (RPR-11). */
  get inconsistent(): number {
    return this.#inconsistent;
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

  /** A valid slice has arrived. On a tie with the deadline it comes before the poll (RCV-2). */
  slice(now: Micros, slice: RepairSlice): RepairSliceRow {
    const at = this.#clock.advance(now);
    const state = this.#state;
    if (state.name === "FAILED") return "U27";
    if (this.#isPrevious(slice)) {
      this.#previousDue = true; // RCV-13
      this.#timing.soon(at);
      if (state.name === "READY") this.#compareLate(state, slice);
      return ROWS[state.name].previous;
    }
    if (slice.chunkId !== this.#chunkId) return ROWS[state.name].foreign; // RCV-4
    switch (state.name) {
      case "WAITING":
        return this.#begin(at, slice) ? "U1" : "U2";
      case "RECEIVING":
        return this.#sliceReceiving(state, at, slice);
      case "READY":
        return this.#hold(at, slice);
    }
  }

  /** The application asks for a complete chunk. */
  read(now: Micros): RepairReadResult {
    this.#clock.advance(now);
    const state = this.#state;
    switch (state.name) {
      case "WAITING":
        return { row: "U18", refused: "nothing_to_read" };
      case "RECEIVING":
        return { row: "U19", refused: "nothing_to_read" };
      case "FAILED":
        return { row: "U28", refused: "nothing_to_read" };
      case "READY":
        this.#state = { name: "WAITING" };
        return { row: "U17", chunk: state.chunk };
    }
  }

  /** Asks which ack is to be sent; repeat until none comes (RCV-1, RCV-9). */
  poll(now: Micros): RepairReceiverPollResult {
    const at = this.#clock.advance(now);
    const state = this.#state;
    if (state.name === "FAILED") return { row: "U29", packet: null };
    if (state.name === "RECEIVING" && at - state.progressAt >= this.#giveUp) return this.#fail();
    const packet = this.#timing.isDue(at) ? this.#takeAck() : undefined;
    if (packet === undefined) return { row: ROWS[state.name].nothingDue, packet: null };
    if (!this.#anyDue()) this.#timing.allSent(at);
    return { row: ROWS[state.name].ackDue, packet };
  }

  /** RCV-3, RCV-6. */
  #isPrevious({ chunkId, numSlices }: RepairSlice): boolean {
    return chunkId === previousChunkId(this.#chunkId) && numSlices === this.#previousSlices;
  }

  /** RPR-4, RPR-5. */
  #sliceReceiving(state: Receiving, now: Micros, slice: RepairSlice): RepairSliceRow {
    if (slice.numSlices !== state.held.numSlices || slice.lastBytes !== state.held.lastBytes) {
      if (now - state.progressAt >= this.#giveUp / 2n) return this.#begin(now, slice) ? "U11" : "U10";
      this.#conflicts++;
      return "U9";
    }
    noteTop(state, slice);
    if (state.held.has(slice.id)) return this.#answer(now, "U7");
    if (this.#store(state, now, slice)) return this.#complete(state, now) ? "U6" : "U5";
    if (slice.id >= slice.numSlices) state.spare ??= { ...slice, data: new Uint8Array(slice.data) };
    return this.#answer(now, "U8");
  }

  /** ACK CURRENT (RCV-13). */
  #answer<Row>(now: Micros, row: Row): Row {
    this.#currentDue = true;
    this.#timing.soon(now);
    return row;
  }

  /** HOLD (RCV-14). */
  #hold(now: Micros, slice: RepairSlice): "U14" {
    this.#heldSlices = slice.numSlices;
    this.#timing.soon(now);
    return "U14";
  }

  /** START and STORE (RPR-7); returns whether the chunk is complete. */
  #begin(now: Micros, slice: RepairSlice): boolean {
    const held = new RepairDecoder(slice.numSlices, slice.lastBytes);
    const state: Receiving = { name: "RECEIVING", held, top: 0, progressAt: now, spare: undefined };
    this.#state = state;
    this.#heldSlices = 0;
    this.#timing.start();
    noteTop(state, slice);
    this.#store(state, now, slice);
    return this.#complete(state, now);
  }

  /** STORE (RPR-8); false: the slice is dependent, and is not stored (RPR-10). */
  #store(state: Receiving, now: Micros, { id, data }: RepairSlice): boolean {
    if (!state.held.add(id, data)) return false;
    state.progressAt = now;
    this.#currentDue = true;
    this.#timing.stored(now, id);
    return true;
  }

  /** COMPLETE if nothing is missing any more (RPR-9); returns whether that is so. */
  #complete({ held, top, spare }: Receiving, now: Micros): boolean {
    if (!held.isComplete) return false;
    const { chunk, isConsistent } = held.rebuild();
    if (!isConsistent) this.#inconsistent++;
    if (spare !== undefined) this.#compare(held, spare);
    this.#state = { name: "READY", chunk, held, isCompared: false };
    this.#previousSlices = held.numSlices;
    this.#previousTop = top;
    this.#chunkId = nextChunkId(this.#chunkId);
    this.#currentDue = false;
    this.#previousDue = true;
    this.#timing.atOnce(now); // ACQ-3
    return true;
  }

  /** Step 3 of RPR-11. */
  #compareLate(state: Ready, slice: RepairSlice): void {
    const { id, numSlices, lastBytes } = slice;
    if (state.isCompared || id < numSlices || lastBytes !== state.held.lastBytes || state.held.has(id)) return;
    state.isCompared = true;
    this.#compare(state.held, slice);
  }

  #compare(held: RepairDecoder, { id, data }: RepairSlice): void {
    if (!held.matches(id, data)) this.#inconsistent++;
  }

  /** U24, RPR-13. */
  #fail(): RepairReceiverPollResult {
    this.#state = { name: "FAILED" };
    return { row: "U24", packet: null, failed: this.#chunkId };
  }

  #anyDue(): boolean {
    return this.#previousDue || this.#currentDue || this.#heldSlices > 0;
  }

  /** SEND ACK (RCV-16, RPR-12). */
  #takeAck(): RepairAck | undefined {
    if (this.#previousDue) {
      this.#previousDue = false;
      const numSlices = this.#previousSlices;
      const top = idOf(numSlices, this.#previousTop);
      return { type: "ack", chunkId: previousChunkId(this.#chunkId), numSlices, have: numSlices, top };
    }
    if (this.#currentDue && this.#state.name === "RECEIVING") {
      this.#currentDue = false;
      const { held, top } = this.#state;
      const { numSlices, rank: have } = held;
      return { type: "ack", chunkId: this.#chunkId, numSlices, have, top: idOf(numSlices, top) };
    }
    if (this.#heldSlices > 0) {
      const numSlices = this.#heldSlices;
      this.#heldSlices = 0;
      return { type: "ack", chunkId: this.#chunkId, numSlices, have: 0, top: 0 };
    }
    return undefined;
  }
}

/** NOTE TOP (RPR-6). */
function noteTop(state: Receiving, { id, numSlices }: RepairSlice): void {
  state.top = Math.max(state.top, numberOfArrival(numSlices, state.top, id) + 1);
}
