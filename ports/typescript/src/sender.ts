/** The sender (section 7). */

import type { Ack, Slice } from "./codec.js";
import { checkParameters, DEFAULT_GIVE_UP, isChunkSize, isWithin, nextChunkId, SLICE_SIZE, slicesIn } from "./limits.js";
import { Clock, earlier, NEVER, type Deadline, type Micros } from "./time.js";

/**
 * Decides which slice goes next and when (section 9). It must meet SCH-1 to SCH-4.
 * Times are in microseconds and never go backward.
 */
export interface Scheduler {
  /** A chunk of `size` bytes begins. */
  start(now: Micros, size: number): void;
  /** These slices are now known to have arrived, and were not before. */
  news(now: Micros, slices: readonly number[]): void;
  /** The peer is there, but cannot take the chunk yet. */
  hold(now: Micros): void;
  /** The slice that goes out now, or undefined if none does. */
  next(now: Micros): number | undefined;
  /** When to ask for a slice again (SCH-3). */
  deadline(): Deadline;
}

export interface SenderOptions {
  readonly scheduler: Scheduler;
  /** `FIRST_ID`: id of the first chunk, 0 unless both ends agree on another. */
  readonly firstChunkId?: number;
  /** `GIVE_UP`: microseconds without a newly acked slice or a hold, 1 to 2^61; 10 s by default. */
  readonly giveUp?: Micros;
}

/** What came of a submit (rows S1 to S4). */
export type SubmitResult =
  | { readonly row: "S1" }
  | { readonly row: "S2"; readonly refused: "chunk_size" }
  | { readonly row: "S3"; readonly refused: "busy" }
  | { readonly row: "S4"; readonly refused: "gave_up" };

/** What came of an ack (rows S5 to S11); S10 reports the chunk as delivered. */
export type AckResult =
  | { readonly row: "S5" | "S6" | "S7" | "S8" | "S9" | "S11" }
  | { readonly row: "S10"; readonly delivered: number };

/** What came of a poll (rows S12 to S16): S13 sends the packet, S15 reports that the sender gives up. */
export type SenderPollResult =
  | { readonly row: "S12" | "S14" | "S16"; readonly packet: null }
  | { readonly row: "S13"; readonly packet: Slice }
  | { readonly row: "S15"; readonly packet: null; readonly failed: number };

interface Sending {
  readonly name: "SENDING";
  readonly chunk: Uint8Array;
  readonly numSlices: number;
  readonly sent: Set<number>;
  readonly acked: Set<number>;
  heardAt: Micros;
}

type State = { readonly name: "IDLE" } | Sending | { readonly name: "FAILED" };

/** The three states of section 7.1. */
export type SenderState = State["name"];

/** Sends one chunk after the other. It does nothing between events. */
export class Sender {
  readonly #scheduler: Scheduler;
  readonly #giveUp: Micros;
  readonly #clock = new Clock();
  #chunkId: number;
  #state: State = { name: "IDLE" };

  constructor({ scheduler, firstChunkId = 0, giveUp = DEFAULT_GIVE_UP }: SenderOptions) {
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

  /** For each slice of the chunk in flight whether it is acked; empty if there is none. */
  get acked(): boolean[] {
    const state = this.#state;
    if (state.name !== "SENDING") return [];
    return Array.from({ length: state.numSlices }, (_, id) => state.acked.has(id));
  }

  /** Whether each slice of the chunk in flight was sent, or no chunk is in flight. */
  get isSent(): boolean {
    return this.#state.name !== "SENDING" || this.#state.sent.size === this.#state.numSlices;
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

  /** The application wants a chunk sent (SND-1). The bytes are copied (SLC-4). */
  submit(now: Micros, chunk: Uint8Array): SubmitResult {
    const at = this.#clock.advance(now);
    switch (this.#state.name) {
      case "SENDING":
        return { row: "S3", refused: "busy" };
      case "FAILED":
        return { row: "S4", refused: "gave_up" };
      case "IDLE":
        if (!isChunkSize(chunk.length)) return { row: "S2", refused: "chunk_size" };
        this.#start(at, new Uint8Array(chunk));
        return { row: "S1" };
    }
  }

  /** A valid ack has arrived (SND-2). On a tie with the deadline it comes before the poll (SND-4). */
  ack(now: Micros, ack: Ack): AckResult {
    const at = this.#clock.advance(now);
    switch (this.#state.name) {
      case "IDLE":
        return { row: "S5" };
      case "FAILED":
        return { row: "S11" };
      case "SENDING":
        return this.#ackSending(this.#state, at, ack);
    }
  }

  /** Asks what is to be sent; repeat until the row is not S13 (SND-3). */
  poll(now: Micros): SenderPollResult {
    const at = this.#clock.advance(now);
    switch (this.#state.name) {
      case "IDLE":
        return { row: "S12", packet: null };
      case "FAILED":
        return { row: "S16", packet: null };
      case "SENDING":
        return this.#pollSending(this.#state, at);
    }
  }

  /** SND-10. */
  #start(now: Micros, chunk: Uint8Array): void {
    this.#state = {
      name: "SENDING",
      chunk,
      numSlices: slicesIn(chunk.length),
      sent: new Set(),
      acked: new Set(),
      heardAt: now,
    };
    this.#scheduler.start(now, chunk.length);
  }

  /** SND-5 to SND-8. */
  #ackSending(state: Sending, now: Micros, ack: Ack): AckResult {
    if (ack.chunkId !== this.#chunkId || ack.acked.length !== state.numSlices) return { row: "S6" };
    const news = newsOf(state, ack);
    if (news.length > 0) return this.#note(state, now, news);
    if (state.acked.size > 0 || state.sent.size === 0 || ack.acked.includes(true)) return { row: "S7" };
    state.heardAt = now; // HEAR, SND-11
    this.#scheduler.hold(now);
    return { row: "S8" };
  }

  /** NOTE and, if nothing is missing any more, COMPLETE (SND-12, SND-13). */
  #note(state: Sending, now: Micros, news: readonly number[]): AckResult {
    state.heardAt = now;
    for (const id of news) state.acked.add(id);
    this.#scheduler.news(now, news);
    if (state.acked.size < state.numSlices) return { row: "S9" };

    const delivered = this.#chunkId;
    this.#chunkId = nextChunkId(delivered);
    this.#state = { name: "IDLE" };
    return { row: "S10", delivered };
  }

  /** SND-9, SND-14, SND-15. */
  #pollSending(state: Sending, now: Micros): SenderPollResult {
    if (now - state.heardAt >= this.#giveUp) {
      this.#state = { name: "FAILED" };
      return { row: "S15", packet: null, failed: this.#chunkId };
    }
    const sliceId = this.#scheduler.next(now);
    if (sliceId === undefined) return { row: "S14", packet: null };
    if (!isWithin(sliceId, 0, state.numSlices - 1)) throw new RangeError(`the chunk has no slice ${sliceId}`);
    state.sent.add(sliceId);
    return { row: "S13", packet: this.#slice(state, sliceId) };
  }

  /** Slice `sliceId` of the chunk in flight (LIM-2). */
  #slice({ chunk, numSlices }: Sending, sliceId: number): Slice {
    const start = SLICE_SIZE * sliceId;
    const data = chunk.subarray(start, start + SLICE_SIZE);
    return { type: "slice", chunkId: this.#chunkId, sliceId, numSlices, data };
  }
}

/** The slices that an ack has set, that were sent, and that are not yet acked (SND-6, SND-7). */
function newsOf({ sent, acked }: Sending, ack: Ack): number[] {
  return ack.acked.flatMap((bit, id) => (bit && sent.has(id) && !acked.has(id) ? [id] : []));
}
