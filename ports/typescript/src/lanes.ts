/** The lanes of one end of a connection (PROTOCOL.md, appendix D; CXM-10): its chunks, and their machines. */

import { AdaptiveScheduler } from "./adaptive.js";
import { BaseScheduler } from "./base.js";
import type { Ack, Slice } from "./codec.js";
import type { ChunkAckRecord, SliceRecord } from "./connection-records.js";
import { isChunkSize } from "./limits.js";
import { RatelessScheduler } from "./rateless.js";
import { Receiver } from "./receiver.js";
import type { RepairAck, RepairSlice } from "./repair-codec.js";
import { RepairReceiver } from "./repair-receiver.js";
import { RepairSender } from "./repair-sender.js";
import { Sender } from "./sender.js";
import { earlier, MS, NEVER, type Deadline, type Micros } from "./time.js";
import type { Witness } from "./witness.js";

const LANE_TURN: Micros = 1000n * MS;

/** A scheduler of named slices, or of repair slices. */
export type LaneScheduler = BaseScheduler | AdaptiveScheduler | RatelessScheduler;

export type ChunkRefusal = "no_lanes" | "chunk_size" | "busy";

/** One direction of a lane in each machine. */
class Lane {
  readonly sender: Sender | RepairSender;
  readonly receiver: Receiver | RepairReceiver;
  /** When its latest slice was sent. */
  spokeAt: Micros = 0n;

  constructor(
    readonly scheduler: LaneScheduler,
    giveUp: Micros,
  ) {
    if (scheduler instanceof RatelessScheduler) {
      this.sender = new RepairSender({ scheduler, giveUp });
      this.receiver = new RepairReceiver({ giveUp });
    } else {
      this.sender = new Sender({ scheduler, giveUp });
      this.receiver = new Receiver({ giveUp });
    }
  }

  get isSending(): boolean {
    return this.sender.state === "SENDING";
  }

  /** Since when the lane waits for a turn (LAN-13); null if it has nothing to send. */
  get waitsSince(): Deadline {
    const { heardAt } = this.sender;
    return heardAt === NEVER || heardAt > this.spokeAt ? heardAt : this.spokeAt;
  }
}

export class Lanes {
  readonly #lanes: readonly Lane[];
  readonly #mostWaiting: number;
  readonly #waiting: Uint8Array[] = [];
  #begun = 0;
  #delivered = 0;

  /** @param mostWaiting - chunks that can wait behind those that are sent */
  constructor(schedulers: readonly LaneScheduler[], giveUp: Micros, mostWaiting: number) {
    this.#lanes = schedulers.map((scheduler) => new Lane(scheduler, giveUp));
    this.#mostWaiting = mostWaiting;
  }

  /** Null, or why a chunk is refused; its bytes are copied. */
  send(now: Micros, chunk: Uint8Array): ChunkRefusal | null {
    if (this.#lanes.length === 0) return "no_lanes";
    if (!isChunkSize(chunk.length)) return "chunk_size";
    if (this.#waiting.length >= this.#mostWaiting) return "busy";
    this.#waiting.push(new Uint8Array(chunk));
    this.#submit(now);
    return null;
  }

  /** LAN-5. */
  read(now: Micros): Uint8Array | null {
    const lane = this.#lanes[this.#delivered % Math.max(this.#lanes.length, 1)];
    const read = lane?.receiver.read(now);
    if (read === undefined || !("chunk" in read)) return null;
    this.#delivered++;
    return read.chunk;
  }

  takeSlice(now: Micros, { lane, packet }: SliceRecord): void {
    const receiver = this.#lanes[lane]!.receiver;
    if (receiver instanceof RepairReceiver) receiver.slice(now, packet as RepairSlice);
    else receiver.slice(now, packet as Slice);
  }

  takeAck(now: Micros, lane: number, ack: Ack | RepairAck): void {
    const sender = this.#lanes[lane]!.sender;
    if (sender instanceof RepairSender) sender.ack(now, ack as RepairAck);
    else sender.ack(now, ack as Ack);
    this.#submit(now);
  }

  /** Whether nothing is in flight, and nothing waits. */
  get rests(): boolean {
    return this.#waiting.length === 0 && this.#lanes.every(({ sender }) => sender.state === "IDLE");
  }

  /** Whether a machine has given up (LAN-6). */
  get hasFailed(): boolean {
    return this.#lanes.some(({ sender, receiver }) => sender.state === "FAILED" || receiver.state === "FAILED");
  }

  /** Whether so much is lost for so long that growth has stopped (BRK-6). */
  get isBroken(): boolean {
    return this.#lanes.some(({ scheduler }) => !(scheduler instanceof BaseScheduler) && scheduler.isBroken);
  }

  // What is sent.

  /** The chunk acks that are due while `hasRoom` says so, by ascending lane; it is told of each. */
  acks(now: Micros, hasRoom: () => boolean, found: (record: ChunkAckRecord) => void): void {
    for (const [lane, { receiver }] of this.#lanes.entries()) {
      while (isDue(receiver.deadline, now) && hasRoom()) {
        const polled = receiver.poll(now);
        if (polled.packet === null) break;
        found({ type: "chunk_ack", lane, packet: polled.packet });
      }
    }
  }

  /** Whether a chunk ack is due. */
  isAckDue(now: Micros): boolean {
    return this.#lanes.some(({ receiver }) => isDue(receiver.deadline, now));
  }

  /** The slice that is sent now; none is from when a machine gives up (LAN-6). */
  slice(now: Micros, witness: Witness): SliceRecord | null {
    this.#submit(now);
    for (const index of this.#turns(now)) {
      const lane = this.#lanes[index]!;
      if (this.hasFailed) return null;
      if (now < witness.heldUntil && !isDue(lane.sender.givesUpAt, now)) continue;
      const polled = lane.sender.poll(now);
      if (polled.packet === null) continue;
      lane.spokeAt = now;
      this.#submit(now);
      return { type: "slice", lane: index, packet: polled.packet };
    }
    return null;
  }

  /** When a sender is due, or may send again. */
  sliceAt(witness: Witness): Deadline {
    return this.#lanes.reduce<Deadline>((at, { sender }) => earlier(at, witness.hold(sender.deadline, sender.givesUpAt)), NEVER);
  }

  get ackAt(): Deadline {
    return this.#lanes.reduce<Deadline>((at, { receiver }) => earlier(at, receiver.deadline), NEVER);
  }

  // The path.

  /** Whether other packets must not wait behind slices (ROOM-3). */
  yields(isYielding: boolean): void {
    for (const { scheduler } of this.#lanes) if (!(scheduler instanceof BaseScheduler)) scheduler.isYielding = isYielding;
  }

  /** The path marked so many datagrams (CXM-16): the lane whose chunk began last tells all that share its path. */
  marks(count: number): void {
    const scheduler = this.#before(this.#begun)?.scheduler;
    if (count > 0 && scheduler !== undefined && !(scheduler instanceof BaseScheduler)) scheduler.marks(count);
  }

  /** CXL-10. */
  forgetPath(now: Micros): void {
    const schedulers = this.#lanes.map(({ scheduler }) => scheduler);
    for (const scheduler of schedulers) if (scheduler instanceof BaseScheduler) scheduler.forgetPath();
    AdaptiveScheduler.forgetPath(now, schedulers.filter((s) => s instanceof AdaptiveScheduler));
    RatelessScheduler.forgetPath(now, schedulers.filter((s) => s instanceof RatelessScheduler));
  }

  /** LAN-4, LAN-7: the next chunk begins when its lane is idle, and the one before lets it. */
  #submit(now: Micros): void {
    while (this.#waiting.length > 0) {
      const [lane, before] = [this.#lanes[this.#begun % this.#lanes.length]!, this.#before(this.#begun)!];
      if (lane.sender.state !== "IDLE" || !this.#mayFollow(before)) return;
      adopt(lane.scheduler, before.scheduler); // LAN-9
      lane.sender.submit(now, this.#waiting.shift()!);
      this.#begun++;
    }
  }

  /** The lane of the chunk before another one. */
  #before(chunk: number): Lane | undefined {
    return this.#lanes.at((chunk - 1) % Math.max(this.#lanes.length, 1));
  }

  /** LAN-7, LAN-10. */
  #mayFollow({ sender, scheduler, isSending }: Lane): boolean {
    if (!isSending) return true;
    if (sender instanceof Sender && !sender.isSent) return false;
    if (scheduler instanceof BaseScheduler) return true;
    if (scheduler instanceof RatelessScheduler && scheduler.isNeeded) return false;
    const inFlight = this.#lanes.reduce((sum, lane) => sum + (lane.isSending ? inFlightOf(lane.scheduler) : 0), 0);
    return inFlight < scheduler.pathSlices;
  }

  /** Lanes that wait, the longest silent first (LAN-13), and then the lanes of earlier chunks (LAN-8). */
  #turns(now: Micros): number[] {
    const count = this.#lanes.length;
    const order = Array.from({ length: count }, (_, i) => (this.#begun + i) % count);
    const since = (index: number): Micros => this.#lanes[index]!.waitsSince ?? now;
    const waiting = order.filter((index) => now - since(index) >= LANE_TURN);
    const rest = order.filter((index) => !waiting.includes(index));
    return [...waiting.sort((a, b) => Number(since(a) - since(b))), ...rest];
  }
}

function inFlightOf(scheduler: LaneScheduler): number {
  return scheduler instanceof BaseScheduler ? 0 : scheduler.inFlight;
}

/** LAN-9: the base algorithm takes nothing over. */
function adopt(scheduler: LaneScheduler, from: LaneScheduler | undefined): void {
  if (scheduler instanceof RatelessScheduler && from instanceof RatelessScheduler) scheduler.adopt(from);
  if (scheduler instanceof AdaptiveScheduler && from instanceof AdaptiveScheduler) scheduler.adopt(from);
}

function isDue(at: Deadline, now: Micros): boolean {
  return at !== NEVER && at <= now;
}
