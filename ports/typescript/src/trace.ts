/** Traces: a machine's answers to a list of events (appendix B). */

import { AdaptiveScheduler } from "./adaptive.js";
import { BaseScheduler, type Profile } from "./base.js";
import type { Ack, Packet, Slice } from "./codec.js";
import type { RatelessProfile } from "./control.js";
import { crc32 } from "./crc32.js";
import type { Json } from "./json.js";
import { SLICE_SIZE } from "./limits.js";
import { Receiver } from "./receiver.js";
import { Sender, type Scheduler } from "./sender.js";
import { NEVER, type Deadline, type Micros } from "./time.js";

/** An event of a sender's trace (TRC-2); `at` is in microseconds, `size` in bytes. */
export type SenderEvent =
  | { readonly event: "submit"; readonly at: Micros; readonly size: number }
  | { readonly event: "ack"; readonly at: Micros; readonly ack: Ack }
  | { readonly event: "poll"; readonly at: Micros; readonly due: readonly number[] }
  | HostEvent;

/** What the host tells the recommended scheduler (RVO-3). */
export type HostEvent =
  | { readonly event: "marks"; readonly at: Micros; readonly count: number }
  | { readonly event: "yield"; readonly at: Micros; readonly yields: boolean };

/** Of which scheduler: the recommended one if it has a kind, the base algorithm, or null for a script. */
export type TraceProfile = RatelessProfile | Profile | null;

/** An event of a receiver's trace (TRC-3); `at` is in microseconds. */
export type ReceiverEvent =
  | { readonly event: "slice"; readonly at: Micros; readonly slice: Slice }
  | { readonly event: "read" | "poll"; readonly at: Micros };

export interface TraceConfig {
  readonly firstChunkId: number;
  /** In microseconds. */
  readonly giveUp: Micros;
}

/** What a machine did at one event, without its state afterward. */
export interface Outcome {
  readonly row: string;
  readonly packets?: readonly Json[];
  readonly chunk?: Json;
  readonly error?: string;
}

/** `size` bytes from byte `start` on of the chunk with an id (TRC-1). */
export function content(chunkId: number, start: number, size: number): Uint8Array {
  return Uint8Array.from({ length: size }, (_, offset) => {
    const i = start + offset;
    return i + 31 * Math.trunc(i / SLICE_SIZE) + 7 * chunkId;
  });
}

/**
 * The steps of a sender (TRC-4); without a profile its scheduler is a script.
 * Throws RangeError for figures outside their limits, and where an event lets the script return what no scheduler may.
 */
export function traceSender(config: TraceConfig, profile: TraceProfile, events: Iterable<SenderEvent>): Json[] {
  const script = new Script();
  const scheduler = profile === null ? script : schedulerOf(profile);
  const sender = new Sender({ ...config, scheduler });
  let latest = "";
  return Array.from(events, (event, position) => {
    if (event.event === "poll") {
      const acked = sender.acked;
      if (event.due.some((id) => acked[id] !== false)) throw new RangeError("due: not in flight, or acked");
      script.due = event.due;
    }
    if (scheduler instanceof AdaptiveScheduler && isOfHost(event)) tell(scheduler, event);
    const { row, packets = [], error } = isOfHost(event) ? { row: latest } : senderOutcome(sender, event); // RVO-4
    latest = row;
    return {
      event: position,
      row,
      state: sender.state,
      chunk_id: sender.chunkId,
      acked: formatBits(sender.acked),
      deadline_us: sender.deadline,
      packets,
      error,
    };
  });
}

/** The steps of a receiver (TRC-4). */
export function traceReceiver(config: TraceConfig, events: Iterable<ReceiverEvent>): Json[] {
  const receiver = new Receiver(config);
  return Array.from(events, (event, position) => {
    const { row, packets = [], chunk, error } = receiverOutcome(receiver, event);
    return {
      event: position,
      row,
      state: receiver.state,
      chunk_id: receiver.chunkId,
      received: formatBits(receiver.received),
      deadline_us: receiver.deadline,
      packets,
      chunk,
      error,
    };
  });
}

/** One character a bit, slice 0 first. */
export function formatBits(bits: readonly boolean[]): string {
  return bits.map((bit) => (bit ? "1" : "0")).join("");
}

/** A scheduler that returns what a trace says (TRC-2). */
class Script implements Scheduler {
  /** Slices that are left to return. */
  due: readonly number[] = [];

  start(): void {}

  news(): void {}

  hold(): void {}

  next(): number | undefined {
    const [first, ...rest] = this.due;
    this.due = rest;
    return first;
  }

  deadline(): Deadline {
    return NEVER;
  }
}

function schedulerOf(profile: RatelessProfile | Profile): Scheduler {
  return "kind" in profile ? new AdaptiveScheduler(profile) : new BaseScheduler(profile);
}

function isOfHost(event: SenderEvent): event is HostEvent {
  return event.event === "marks" || event.event === "yield";
}

function tell(scheduler: AdaptiveScheduler, event: HostEvent): void {
  if (event.event === "marks") scheduler.marks(event.count);
  else scheduler.isYielding = event.yields;
}

function senderOutcome(sender: Sender, event: Exclude<SenderEvent, HostEvent>): Outcome {
  switch (event.event) {
    case "submit": {
      const result = sender.submit(event.at, content(sender.chunkId, 0, event.size));
      return result.row === "S1" ? result : { row: result.row, error: result.refused };
    }
    case "ack":
      return { row: sender.ack(event.at, event.ack).row };
    case "poll":
      return pollAll(() => sender.poll(event.at), describePacket);
  }
}

function receiverOutcome(receiver: Receiver, event: ReceiverEvent): Outcome {
  switch (event.event) {
    case "slice":
      return { row: receiver.slice(event.at, event.slice) };
    case "read": {
      const result = receiver.read(event.at);
      return result.row === "R16"
        ? { row: result.row, chunk: describeData(result.chunk) }
        : { row: result.row, error: result.refused };
    }
    case "poll":
      return pollAll(() => receiver.poll(event.at), describePacket);
  }
}

/** Polls until no packet comes; the row is that of the last poll. */
export function pollAll<P>(
  poll: () => { readonly row: string; readonly packet: P | null },
  describe: (packet: P) => Json,
): Outcome {
  const packets: Json[] = [];
  for (;;) {
    const result = poll();
    if (result.packet === null) return { row: result.row, packets };
    packets.push(describe(result.packet));
  }
}

function describePacket(packet: Packet): Json {
  if (packet.type === "ack") {
    return { type: packet.type, chunk_id: packet.chunkId, acked: formatBits(packet.acked) };
  }
  const { type, chunkId, sliceId, numSlices, data } = packet;
  return { type, chunk_id: chunkId, slice_id: sliceId, num_slices: numSlices, ...describeData(data) };
}

/** Bytes by their length and crc (TRC-1). */
export function describeData(data: Uint8Array): { readonly size: number; readonly crc32: number } {
  return { size: data.length, crc32: crc32(data) };
}
