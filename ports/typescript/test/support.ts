import type { Ack, Receiver, Sender, Slice } from "chunkwire";

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
    if (result.row !== "S13") return { row: result.row, slices };
    slices.push(result.packet);
  }
}

/** Polls a receiver until no ack comes; an ack is written as id, colon, bits. */
export function pollReceiver(receiver: Receiver, now: bigint): { row: string; acks: string[]; packets: Ack[] } {
  const packets: Ack[] = [];
  for (;;) {
    const result = receiver.poll(now);
    if (!("packet" in result)) return { row: result.row, acks: packets.map(format), packets };
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
