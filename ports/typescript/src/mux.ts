/** All channels of one end (CHANNELS.md, sections 6 and 7). Their packets are composed by a connection. */

import { ChannelReceiver } from "./channel-receiver.js";
import { ChannelSender } from "./channel-sender.js";
import type { Channel } from "./channels.js";
import { sizeOf, type ChannelRecord, type Channels, type ReportRecord, type UnreliableRecord } from "./records.js";
import { earlier, NEVER, type Deadline, type Micros } from "./time.js";

/** The most bytes of a payload. */
export const PAYLOAD = 1160;
const MOST_UNRELIABLE = 16_380;
const MOST_QUEUED = 65_536;
/** What a message of an unreliable channel counts for in a queue, besides its bytes. */
const QUEUED = 10;

/** A channel and its priority, 0 to 255; more is sent first. */
export type ChannelSetup = Channel & { readonly priority?: number };

/** What a channel delivers: data, or null for a sequence that was skipped. */
export interface Delivery {
  readonly sequence: number;
  readonly data: Uint8Array | null;
}

export type MessageRefusal = "message_size" | "queue_full" | "failed" | "unknown_channel";

/** Messages that wait, of an unreliable channel (section 6). */
class Queue<Item> {
  readonly #items: { readonly item: Item; readonly bytes: number }[] = [];
  #bytes = 0;

  get first(): Item | undefined {
    return this.#items[0]?.item;
  }

  hasRoom(size: number): boolean {
    return this.#bytes + size + QUEUED <= MOST_QUEUED;
  }

  push(item: Item, size: number): void {
    this.#items.push({ item, bytes: size + QUEUED });
    this.#bytes += size + QUEUED;
  }

  shift(): Item | undefined {
    const first = this.#items.shift();
    this.#bytes -= first?.bytes ?? 0;
    return first?.item;
  }

  get isOverfull(): boolean {
    return this.#bytes > MOST_QUEUED;
  }
}

export class Mux {
  readonly channels: Channels;
  readonly #senders = new Map<number, ChannelSender>();
  readonly #receivers = new Map<number, ChannelReceiver>();
  readonly #toSend = new Map<number, Queue<Uint8Array>>();
  readonly #toRead = new Map<number, Queue<Delivery>>();
  /** Ids of the same priority, the highest priority first; in each the order of turns. */
  readonly #ranks: number[][];
  /** The channel whose large message was passed over (CHC-7). */
  #alone: number | null = null;

  constructor(channels: ReadonlyMap<number, ChannelSetup>) {
    this.channels = channels;
    const ranks = new Map<number, number[]>();
    for (const [id, setup] of [...channels].sort(([a], [b]) => a - b)) {
      if (setup.kind === "unreliable") {
        this.#toSend.set(id, new Queue());
        this.#toRead.set(id, new Queue());
      } else {
        this.#senders.set(id, new ChannelSender(setup, id));
        this.#receivers.set(id, new ChannelReceiver(setup, id));
      }
    }
    for (const [id, { priority = 0 }] of [...channels].sort(([a], [b]) => a - b)) ranks.set(priority, [...(ranks.get(priority) ?? []), id]);
    this.#ranks = [...ranks].sort(([a], [b]) => b - a).map(([, ids]) => ids);
  }

  /** Null, or why a message is refused. */
  send(now: Micros, channel: number, message: Uint8Array, lifetime: Micros | null): MessageRefusal | null {
    const sender = this.#senders.get(channel);
    if (sender !== undefined) {
      const sent = sender.send(now, message, lifetime);
      return "refused" in sent ? sent.refused : null;
    }
    const queue = this.#toSend.get(channel);
    if (queue === undefined) return "unknown_channel";
    if (message.length < 1 || message.length > MOST_UNRELIABLE) return "message_size";
    if (!queue.hasRoom(message.length)) return "queue_full";
    queue.push(new Uint8Array(message), message.length);
    return null;
  }

  /** What a channel delivers next, or null. */
  read(now: Micros, channel: number): Delivery | null {
    const receiver = this.#receivers.get(channel);
    if (receiver === undefined) return this.#toRead.get(channel)?.shift() ?? null;
    const read = receiver.read(now);
    return "data" in read ? { sequence: read.sequence, data: read.data } : null;
  }

  /** A record of packet `number`, whose header acks our packet `ack`, or -1 (CHC-3). */
  take(now: Micros, number: number, ack: number, record: ChannelRecord): void {
    switch (record.type) {
      case "pad":
        return;
      case "unreliable":
        return this.#takeUnreliable(number, record);
      case "report":
        this.#senders.get(record.channel)?.report(now, record, number, ack);
        return;
      case "skip":
        this.#receivers.get(record.channel)?.skip(now, record);
        return;
      case "status":
        this.#receivers.get(record.channel)?.status(now, record);
        return;
      default:
        this.#receivers.get(record.channel)?.data(now, record);
    }
  }

  /** CHU-5, CHU-6. */
  #takeUnreliable(number: number, { channel, data }: UnreliableRecord): void {
    const queue = this.#toRead.get(channel);
    queue?.push({ sequence: number, data: new Uint8Array(data) }, data.length);
    while (queue?.isOverfull) queue.shift();
  }

  /** What the packet layer knows of the path (CHP-3). */
  setPath(srtt: Micros | null, patience: Micros): void {
    for (const sender of this.#senders.values()) sender.setPath(srtt, patience);
    for (const receiver of this.#receivers.values()) receiver.setPath(srtt);
  }

  /** Channels whose sender or receiver has given up. */
  get failed(): number[] {
    return [...this.#senders.keys()].filter((id) => this.#senders.get(id)?.state === "FAILED" || this.#receivers.get(id)?.state === "FAILED");
  }

  /** Whether something reliable that was given may not be at the peer. */
  get hasUnreleased(): boolean {
    return [...this.#senders.values()].some(({ unreleased }) => unreleased > 0);
  }

  // Composition.

  /** Reports that are due, as many as fit. */
  reports(now: Micros, space: number): ReportRecord[] {
    const found: ReportRecord[] = [];
    let left = space;
    for (const receiver of this.#receivers.values()) {
      const { deadline } = receiver;
      const polled = deadline !== NEVER && deadline <= now ? receiver.poll(now, left) : null;
      if (polled === null || !("report" in polled)) continue;
      found.push(polled.report);
      left -= sizeOf(polled.report);
    }
    return found;
  }

  /** Whether a large message is to go alone. */
  get hasLarge(): boolean {
    return this.#alone !== null;
  }

  /** The message that goes alone. */
  takeLarge(): UnreliableRecord[] {
    const channel = this.#alone;
    const data = channel === null ? undefined : this.#toSend.get(channel)?.shift();
    this.#alone = null;
    return channel === null || data === undefined ? [] : [{ type: "unreliable", channel, data }];
  }

  /** By priority, of equal ones the unreliable first (CHC-8). */
  messages(now: Micros, number: number, space: number): ChannelRecord[] {
    const found: ChannelRecord[] = [];
    let left = space;
    for (const rank of this.#ranks) {
      for (const id of rank) left = this.#unreliable(id, found, left);
      let first: number | undefined;
      for (const id of rank) {
        const before = found.length;
        left = this.#reliable(now, number, id, found, left);
        if (found.length > before) first ??= id;
      }
      if (first !== undefined) rank.push(...rank.splice(rank.indexOf(first), 1)); // the others go first now
    }
    return found;
  }

  #unreliable(channel: number, found: ChannelRecord[], space: number): number {
    const queue = this.#toSend.get(channel);
    let left = space;
    for (let data = queue?.first; queue !== undefined && data !== undefined; data = queue.first) {
      const size = sizeOf({ type: "unreliable", channel, data });
      if (size > PAYLOAD && (found.length > 0 || left < PAYLOAD)) {
        this.#alone ??= channel;
        return left;
      }
      if (size <= PAYLOAD && size > left) return left;
      found.push({ type: "unreliable", channel, data });
      queue.shift();
      left -= size;
    }
    return left;
  }

  #reliable(now: Micros, number: number, channel: number, found: ChannelRecord[], space: number): number {
    const sender = this.#senders.get(channel);
    let left = space;
    if (sender === undefined || sender.deadline === NEVER || sender.deadline > now) return left;
    for (let polled = sender.poll(now, number, left); "record" in polled; polled = sender.poll(now, number, left)) {
      found.push(polled.record);
      left -= sizeOf(polled.record);
    }
    return left;
  }

  // Time.

  /** Whether something waits that was never sent, and may go (CXM-3). */
  get isPending(): boolean {
    return [...this.#senders.values()].some(({ isPending }) => isPending) || [...this.#toSend.values()].some(({ first }) => first !== undefined);
  }

  /** When something is due that does not wait for the tick (CHC-10). */
  get prompt(): Deadline {
    return [...this.#senders.values()].reduce<Deadline>((at, { prompt }) => earlier(at, prompt), NEVER);
  }

  /** When a receiver is due. */
  get reportAt(): Deadline {
    return [...this.#receivers.values()].reduce<Deadline>((at, { deadline }) => earlier(at, deadline), NEVER);
  }
}
