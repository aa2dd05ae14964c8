import {
  EncodedChunk,
  type Ack,
  type Receiver,
  type RepairAck,
  type RepairReceiver,
  type RepairSlice,
  type Sender,
  type Slice,
} from "chunkwire";

/** An ack with one character for each slice. */
export function ackOf(chunkId: number, bits: string): Ack {
  return { type: "ack", chunkId, acked: Array.from(bits, (bit) => bit === "1") };
}

/** A slice as large as its place in the chunk allows, all bytes `fill`. */
export function sliceOf(chunkId: number, sliceId: number, numSlices: number, fill = 0): Slice {
  return { type: "slice", chunkId, sliceId, numSlices, data: new Uint8Array(1024).fill(fill) };
}

/** Polls a sender until no slice comes. */
export function pollSender(sender: Sender, now: bigint): { row: string; slices: Slice[] } {
  const slices: Slice[] = [];
  for (;;) {
    const result = sender.poll(now);
    if (result.packet === null) return { row: result.row, slices };
    slices.push(result.packet);
  }
}

/** Polls a receiver until no ack comes; an ack is written as id, colon, bits. */
export function pollReceiver(receiver: Receiver, now: bigint): { row: string; acks: string[]; packets: Ack[] } {
  const packets: Ack[] = [];
  for (;;) {
    const result = receiver.poll(now);
    if (result.packet === null) return { row: result.row, acks: packets.map(format), packets };
    packets.push(result.packet);
  }
}

function format({ chunkId, acked }: Ack): string {
  return `${chunkId}:${acked.map(Number).join("")}`;
}

export function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}

export function unhex(text: string): Uint8Array {
  return Uint8Array.from(Buffer.from(text, "hex"));
}

/** Byte i of slice s is (i + 31 s) mod 256, as in the examples of REPAIR.md. */
export function pattern(size: number): Uint8Array {
  return Uint8Array.from({ length: size }, (_, i) => (i % 1024) + 31 * (i >> 10));
}

/** The chunk of `numSlices`, the last with `lastBytes`; each id has another one. */
export function chunkOf(chunkId: number, numSlices: number, lastBytes: number): Uint8Array {
  return pattern(1024 * (numSlices - 1) + lastBytes).map((byte) => byte + chunkId);
}

/** Slice `id` of {@link chunkOf}. */
export function repairSliceOf(chunkId: number, id: number, numSlices: number, lastBytes: number): RepairSlice {
  const data = new EncodedChunk(chunkOf(chunkId, numSlices, lastBytes)).slice(id);
  return { type: "slice", chunkId, id, numSlices, lastBytes, data: data.slice() };
}

export function repairAck(chunkId: number, numSlices: number, have: number, top: number): RepairAck {
  return { type: "ack", chunkId, numSlices, have, top };
}

/** Polls a receiver of repair slices until no ack comes. */
export function pollRepairReceiver(receiver: RepairReceiver, now: bigint): { row: string; acks: string[]; packets: RepairAck[] } {
  const packets: RepairAck[] = [];
  for (;;) {
    const result = receiver.poll(now);
    if (result.packet === null) {
      const acks = packets.map(({ chunkId, have, numSlices, top }) => `${chunkId}: ${have} of ${numSlices}, top ${top}`);
      return { row: result.row, acks, packets };
    }
    packets.push(result.packet);
  }
}

/** Seeded numbers. */
export class Random {
  #x: number;

  constructor(seed: number) {
    this.#x = seed * 2_654_435_761 | 1;
    for (let i = 0; i < 8; i++) this.next();
  }

  /** 0 to 1, not 1. */
  next(): number {
    this.#x ^= this.#x << 13;
    this.#x ^= this.#x >>> 17;
    this.#x ^= this.#x << 5;
    return (this.#x >>> 0) / 2 ** 32;
  }

  below(n: number): number {
    return Math.floor(n * this.next());
  }

  shuffle<T>(items: readonly T[]): T[] {
    const shuffled = [...items];
    shuffled.forEach((item, i) => {
      const other = this.below(i + 1);
      [shuffled[i], shuffled[other]] = [shuffled[other]!, item];
    });
    return shuffled;
  }
}
