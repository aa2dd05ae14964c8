/** Acks that lie (CONNECTION.md, section 8.3). */

import type { Ack } from "./codec.js";
import type { ChunkAckRecord, SliceRecord } from "./connection-records.js";
import type { Header } from "./packets.js";
import { MAX_IDS } from "./repair-code.js";
import type { RepairAck } from "./repair-codec.js";
import { newest, onWire, SPAN } from "./seq.js";
import { long } from "./session-keys.js";
import { hmac } from "./sha256.js";
import { MS, NEVER, type Deadline, type Micros } from "./time.js";

const HOLES = 16;
const FIRST_CREDIT = 64;
const MOST_CREDIT = 256;
const INITIAL_WINDOW = 32;
const TRIAL_WAIT: Micros = 1000n * MS;
const ACK_BITS = 32;

/** What the header of a packet says: the number that its `ack` means, and its bits. */
export interface Said {
  readonly ack: number;
  readonly bits: number;
}

export function saidBy({ ack, ackBits }: Header, nextToSend: number): Said {
  return { ack: newest(ack, nextToSend - 1), bits: ackBits };
}

/** The numbers whose bits are set. */
export function ackedBy({ ack, bits }: Said): number[] {
  return Array.from({ length: ACK_BITS }, (_, n) => n).flatMap((n) => ((bits >>> n) & 1 ? [ack - n] : []));
}

/** CXM-21. */
type Proof = "absent" | "open" | "proven";

/** The transmissions of the latest chunk of a lane. */
class Chunk {
  /** The number of each packet. */
  readonly packets: number[] = [];
  /** The numbers of the packets of each slice. */
  readonly ofSlice = new Map<number, number[]>();
  readonly accepted = new Set<number>();
  onCredit = 0;

  constructor(
    readonly count: number,
    readonly numSlices: number,
  ) {}

  add(number: number, id: number): void {
    this.packets.push(number);
    this.ofSlice.set(id, [...(this.ofSlice.get(id) ?? []), number]);
  }

  /** Whether its transmissions are known. */
  get isKnown(): boolean {
    return this.packets.length > 0 && this.packets.length < MAX_IDS;
  }

  forget(): void {
    this.packets.length = 0;
    this.ofSlice.clear();
  }
}

/** What the packet layer says of slices. Without a seed no number is left out. */
export class Witness {
  readonly #seed: Uint8Array | null;
  readonly #chunks: Chunk[];
  /** Numbers of transmissions: whether they were acked. */
  readonly #acked = new Map<number, boolean>();
  #draws = 0;
  #until = 0;
  #credit = FIRST_CREDIT;
  #from = 0;
  #tried = 0;
  #hasArrived = false;
  #heldUntil: Micros = 0n;

  constructor(lanes: number, seed: Uint8Array | null) {
    this.#seed = seed;
    this.#chunks = Array.from({ length: lanes }, () => new Chunk(-1, 0));
  }

  /** No slice is sent before (CXM-23). */
  get heldUntil(): Micros {
    return this.#heldUntil;
  }

  /** A packet with a slice is sent. */
  sent(now: Micros, number: number, { lane, packet }: SliceRecord): void {
    let chunk = this.#chunks[lane]!;
    if (chunk.count < 0 || onWire(chunk.count) !== packet.chunkId) {
      this.#forgetNumbers(chunk);
      this.#chunks[lane] = chunk = new Chunk(chunk.count + 1, packet.numSlices);
    }
    chunk.add(number, "id" in packet ? packet.id : packet.sliceId);
    this.#acked.set(number, false);
    this.#tried++;
    if (!this.#hasArrived && this.#tried >= INITIAL_WINDOW) {
      this.#heldUntil = now + (TRIAL_WAIT << BigInt(Math.min(this.#tried - INITIAL_WINDOW, 2)));
    }
  }

  /** A packet with a slice or messages is sent; whether the number behind it is skipped (CXM-18). */
  heavy(): boolean {
    if (this.#seed === null) return false;
    if (this.#until === 0) this.#until = this.#draw(this.#seed);
    return --this.#until === 0;
  }

  #draw(seed: Uint8Array): number {
    const block = hmac(seed, long(BigInt(Math.trunc(this.#draws / 32))));
    return 1 + (block[this.#draws++ % 32]! % HOLES);
  }

  #forgetNumbers(chunk: Chunk): void {
    for (const number of chunk.packets) this.#acked.delete(number);
  }

  /** The end of an event in which these numbers were acked; `rests`: nothing is in flight on any lane. */
  end(acked: readonly number[], rests: boolean): void {
    for (const number of acked) {
      if (!this.#acked.has(number)) continue;
      this.#acked.set(number, true);
      this.#credit = Math.min(this.#credit + 1, MOST_CREDIT);
      this.#hasArrived ||= number >= this.#from;
    }
    if (this.#hasArrived || this.#tried < INITIAL_WINDOW) this.#heldUntil = 0n;
    if (!rests || this.#acked.size === 0) return;
    this.#acked.clear();
    for (const chunk of this.#chunks) chunk.forget();
  }

  /** CXL-10. */
  forgetPath(nextToSend: number): void {
    this.#from = nextToSend;
    this.#tried = 0;
    this.#hasArrived = false;
    this.#heldUntil = 0n;
  }

  /** The time at which something held is due, that must not be after `latest`. */
  hold(at: Deadline, latest: Deadline): Deadline {
    if (at === NEVER || at >= this.#heldUntil) return at;
    return latest === NEVER || this.#heldUntil < latest ? this.#heldUntil : latest;
  }

  /** Whether a chunk ack cannot be true (CXM-20, CXM-21). */
  lies(said: Said, { lane, packet }: ChunkAckRecord): boolean {
    const chunk = this.#chunks[lane]!;
    const behind = onWire(chunk.count - packet.chunkId);
    if (chunk.count < 0 || behind > chunk.count || behind >= SPAN / 2) return true;
    if (behind > 0 || !chunk.isKnown) return false;
    if ("have" in packet) return packet.numSlices !== chunk.numSlices || this.#repairLies(said, chunk, packet);
    if (packet.acked.length !== chunk.numSlices) return true;
    return packet.acked.some((bit, id) => bit && !chunk.accepted.has(id) && this.#best(said, chunk, id) === "absent");
  }

  #repairLies(said: Said, { packets }: Chunk, { have, top }: RepairAck): boolean {
    if (top > packets.length) return true;
    if (top > 0 && this.#proofOf(said, packets[top - 1]!) === "absent") return true;
    return have > packets.slice(0, top).filter((number) => this.#proofOf(said, number) !== "absent").length;
  }

  /** What the sender is given of a chunk ack that does not lie (CXM-22). */
  believe(said: Said, { lane, packet }: ChunkAckRecord): Ack | RepairAck {
    const chunk = this.#chunks[lane]!;
    if (onWire(chunk.count) !== packet.chunkId || !chunk.isKnown) return packet;
    if ("have" in packet) return this.#believeRepair(said, chunk, packet);
    const acked = packet.acked.map((bit, id) => bit && (chunk.accepted.has(id) || this.#accept(said, chunk, id)));
    return { ...packet, acked };
  }

  #accept(said: Said, chunk: Chunk, id: number): boolean {
    const best = this.#best(said, chunk, id);
    if (best === "absent" || (best === "open" && this.#credit === 0)) return false;
    if (best === "open") this.#credit--;
    chunk.accepted.add(id);
    return true;
  }

  #believeRepair(said: Said, chunk: Chunk, packet: RepairAck): RepairAck {
    const proven = chunk.packets.slice(0, packet.top).filter((number) => this.#proofOf(said, number) === "proven").length;
    const more = Math.max(0, Math.min(packet.have - proven - chunk.onCredit, this.#credit));
    this.#credit -= more;
    chunk.onCredit += more;
    return { ...packet, have: Math.min(packet.have, proven + chunk.onCredit) };
  }

  /** CXM-21. */
  #proofOf({ ack, bits }: Said, number: number): Proof {
    if (this.#acked.get(number)) return "proven";
    const behind = ack - number;
    if (behind >= ACK_BITS) return "open";
    return behind >= 0 && (bits >>> behind) & 1 ? "proven" : "absent";
  }

  #best(said: Said, chunk: Chunk, id: number): Proof {
    const proofs = (chunk.ofSlice.get(id) ?? []).map((number) => this.#proofOf(said, number));
    return (["proven", "open"] as const).find((proof) => proofs.includes(proof)) ?? "absent";
  }
}
