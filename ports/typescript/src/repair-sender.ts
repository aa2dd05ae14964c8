/** The sender of repair slices (REPAIR.md, section 5). */

import { checkParameters, DEFAULT_GIVE_UP, isChunkSize, nextChunkId } from "./limits.js";
import { EncodedChunk } from "./repair-code.js";
import { idOf, numberOfField, type RepairAck, type RepairSlice } from "./repair-codec.js";
import type { SenderState } from "./sender.js";
import { Clock, earlier, NEVER, type Deadline, type Micros } from "./time.js";

/**
 * Decides when the next slice goes out (section 5.4). It must meet RPX-9 to RPX-11.
 * Times are in microseconds and never go backward.
 */
export interface RepairScheduler {
  /** A chunk begins. */
  start(now: Micros, numSlices: number): void;
  /** What has arrived, as numbers; one of them has grown. */
  news(now: Micros, have: number, top: number): void;
  /** The peer is there, but cannot take the chunk yet. */
  hold(now: Micros): void;
  /** Whether the next slice goes out now; then it counts as sent. */
  next(now: Micros): boolean;
  /** When to ask again (RPX-10). */
  deadline(): Deadline;
}

export interface RepairSenderOptions {
  readonly scheduler: RepairScheduler;
  /** `FIRST_ID`: id of the first chunk, 0 unless both ends agree on another. */
  readonly firstChunkId?: number;
  /** `GIVE_UP`: microseconds without news or a hold, 1 to 2^61; 10 s by default. */
  readonly giveUp?: Micros;
}

/** What came of a submit (rows T1 to T4). */
export type RepairSubmitResult =
  | { readonly row: "T1" }
  | { readonly row: "T2"; readonly refused: "chunk_size" }
  | { readonly row: "T3"; readonly refused: "busy" }
  | { readonly row: "T4"; readonly refused: "gave_up" };

/** What came of an ack (rows T5 to T11); T10 reports the chunk as delivered. */
export type RepairAckResult =
  | { readonly row: "T5" | "T6" | "T7" | "T8" | "T9" | "T11" }
  | { readonly row: "T10"; readonly delivered: number };

/** What came of a poll (rows T12 to T16): T13 sends the packet, T15 reports that the sender gives up. */
export type RepairSenderPollResult =
  | { readonly row: "T12" | "T14" | "T16"; readonly packet: null }
  | { readonly row: "T13"; readonly packet: RepairSlice }
  | { readonly row: "T15"; readonly packet: null; readonly failed: number };

interface Sending {
  readonly name: "SENDING";
  readonly chunk: EncodedChunk;
  sent: number;
  have: number;
  top: number;
  heardAt: Micros;
}

type State = { readonly name: "IDLE" } | Sending | { readonly name: "FAILED" };

/** Sends one chunk after the other. It does nothing between events. */
export class RepairSender {
  readonly #scheduler: RepairScheduler;
  readonly #giveUp: Micros;
  readonly #clock = new Clock();
  #chunkId: number;
  #state: State = { name: "IDLE" };

  constructor({ scheduler, firstChunkId = 0, giveUp = DEFAULT_GIVE_UP }: RepairSenderOptions) {
    checkParameters(firstChunkId, giveUp);
    this.#scheduler = scheduler;
    this.#chunkId = firstChunkId;
    this.#giveUp = giveUp;
  }

  get state(): SenderState {
    return this.#state.name;
  }

  /** Id of the chunk in flight, else of the next one. */
  get chunkId(): number {
    return this.#chunkId;
  }

  /** How many slices of the chunk in flight went out, how many independent ones arrived, and up to which. */
  get counts(): { readonly sent: number; readonly have: number; readonly top: number } {
    if (this.#state.name !== "SENDING") return { sent: 0, have: 0, top: 0 };
    const { sent, have, top } = this.#state;
    return { sent, have, top };
  }

  /** When news or a hold came last; null if there is no chunk in flight. */
  get heardAt(): Deadline {
    return this.#state.name === "SENDING" ? this.#state.heardAt : NEVER;
  }

  /** When this gives up, if no ack arrives. */
  get givesUpAt(): Deadline {
    return this.#state.name === "SENDING" ? this.#state.heardAt + this.#giveUp : NEVER;
  }

  /** When to poll again at the latest (SND-16). */
  get deadline(): Deadline {
    if (this.#state.name !== "SENDING") return NEVER;
    return earlier(this.#scheduler.deadline(), this.#state.heardAt + this.#giveUp);
  }

  /** The application wants a chunk sent (SND-1): bytes, which are copied, or what several senders share. */
  submit(now: Micros, chunk: Uint8Array | EncodedChunk): RepairSubmitResult {
    const at = this.#clock.advance(now);
    switch (this.#state.name) {
      case "SENDING":
        return { row: "T3", refused: "busy" };
      case "FAILED":
        return { row: "T4", refused: "gave_up" };
      case "IDLE":
        if (!isChunkSize(chunk instanceof EncodedChunk ? chunk.size : chunk.length)) {
          return { row: "T2", refused: "chunk_size" };
        }
        this.#start(at, chunk instanceof EncodedChunk ? chunk : new EncodedChunk(chunk));
        return { row: "T1" };
    }
  }

  /** A valid ack has arrived (SND-2). On a tie with the deadline it comes before the poll (SND-4). */
  ack(now: Micros, ack: RepairAck): RepairAckResult {
    const at = this.#clock.advance(now);
    switch (this.#state.name) {
      case "IDLE":
        return { row: "T5" };
      case "FAILED":
        return { row: "T11" };
      case "SENDING":
        return this.#ackSending(this.#state, at, ack);
    }
  }

  /** Asks what is to be sent; repeat until the row is not T13 (SND-3). */
  poll(now: Micros): RepairSenderPollResult {
    const at = this.#clock.advance(now);
    switch (this.#state.name) {
      case "IDLE":
        return { row: "T12", packet: null };
      case "FAILED":
        return { row: "T16", packet: null };
      case "SENDING":
        return this.#pollSending(this.#state, at);
    }
  }

  /** RPX-5. */
  #start(now: Micros, chunk: EncodedChunk): void {
    this.#state = { name: "SENDING", chunk, sent: 0, have: 0, top: 0, heardAt: now };
    this.#scheduler.start(now, chunk.numSlices);
  }

  /** RPX-3, RPX-4. */
  #ackSending(state: Sending, now: Micros, { chunkId, numSlices, have, top: field }: RepairAck): RepairAckResult {
    if (chunkId !== this.#chunkId || numSlices !== state.chunk.numSlices) return { row: "T6" };
    const top = numberOfField(numSlices, state.sent, field);
    if (top === undefined || have > top) return { row: "T6" };
    if (have > state.have || top > state.top) return this.#note(state, now, have, top);
    if (state.have > 0 || state.top > 0 || state.sent === 0) return { row: "T7" };
    state.heardAt = now; // HEAR, SND-11
    this.#scheduler.hold(now);
    return { row: "T8" };
  }

  /** NOTE and, if nothing is missing any more, COMPLETE (RPX-6, RPX-8). */
  #note(state: Sending, now: Micros, have: number, top: number): RepairAckResult {
    state.heardAt = now;
    state.have = Math.max(state.have, have);
    state.top = Math.max(state.top, top);
    this.#scheduler.news(now, state.have, state.top);
    if (state.have < state.chunk.numSlices) return { row: "T9" };

    const delivered = this.#chunkId;
    this.#chunkId = nextChunkId(delivered);
    this.#state = { name: "IDLE" };
    return { row: "T10", delivered };
  }

  /** SND-9, RPX-7. */
  #pollSending(state: Sending, now: Micros): RepairSenderPollResult {
    if (now - state.heardAt >= this.#giveUp) {
      this.#state = { name: "FAILED" };
      return { row: "T15", packet: null, failed: this.#chunkId };
    }
    if (!this.#scheduler.next(now)) return { row: "T14", packet: null };
    const { numSlices, lastBytes } = state.chunk;
    const id = idOf(numSlices, state.sent++);
    const data = state.chunk.slice(id);
    return { row: "T13", packet: { type: "slice", chunkId: this.#chunkId, id, numSlices, lastBytes, data } };
  }
}
