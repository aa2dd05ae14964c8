/** One end of the packet layer (PACKETS.md, sections 4 to 8 and 10). */

import { LONGEST_SAMPLE, Loss, Patience, RoundTrip, Seconds, Shown } from "./estimates.js";
import { isWithin } from "./limits.js";
import {
  decodeDatagram,
  encodeDatagrams,
  MOST_ABOVE,
  PacketError,
  type Fragment,
  type FragmentLimits,
  type Header,
  type PacketErrorCode,
  type Regular,
} from "./packets.js";
import { Reassembly } from "./reassembly.js";
import { newest, numberFrom, onWire } from "./seq.js";
import { Clock, earlier, min, MS, NEVER, type Deadline, type Micros } from "./time.js";

const SECOND: Micros = 1000n * MS;
const REASSEMBLY_TIME = SECOND;
const LOST_AFTER = SECOND;
const KEPT = 4n * SECOND;
const ACK_EVERY = 16;
const ACK_DELAY: Micros = 20n * MS;
const ACK_BITS = 32;
/** The payload of an ack-only packet (PKA-3). */
const PAD = Uint8Array.of(0);
/** The largest `firstSent` and `firstReceived`. */
export const MOST_FIRST = 2 ** 32;

/** The parameters of PKP-1, in bytes, packets and numbers. */
export interface EndpointOptions extends FragmentLimits {
  readonly fragmentAbove: number;
  readonly received: number;
  readonly sentMax: number;
  readonly reassembly: number;
  readonly reassemblyPackets: number;
  readonly reassemblyBytes: number;
  readonly firstSent: number;
  readonly firstReceived: number;
}

const DEFAULTS = {
  fragmentSize: 1024,
  maxFragments: 16,
  fragmentAbove: MOST_ABOVE,
  received: 256,
  sentMax: 8192,
  firstSent: 0,
  firstReceived: 0,
};

/** What the layer above says to a payload: take, take quietly, or refuse (5.2). */
export type Verdict = "take" | "quiet" | "refuse";
/** `known` is the newest number that the peer knew of, or null. */
export type Above = (number: number, payload: Uint8Array, known: number | null) => Verdict;

/** The rows of PKR-8. */
export type ReceiveRow = "P1" | "P2" | "P3" | "P4" | "P5" | "P6" | "P7" | "P8" | "P9" | "P10" | "P11" | "P12" | "P13";

/** What became of a datagram; `sampled`: it gave a sample of the round trip (PKC-2). */
export type Receipt =
  | { readonly row: ReceiveRow; readonly error: PacketError }
  | { readonly row: "P11"; readonly number: number }
  | { readonly row: "P6" | "P13"; readonly number: number; readonly payload: Uint8Array; readonly sampled: boolean };

/** The events of PKL-6. */
export interface EndpointEvent {
  readonly event: "acked" | "lost";
  readonly number: number;
}

/** A number that was sent (section 7). */
interface Sent {
  readonly at: Micros;
  readonly bytes: number;
  state: "SENT" | "QUIET" | "LOST" | "ACKED";
}

/** The variables are those of PKR-6 and PKL-7. */
export class Endpoint {
  readonly options: EndpointOptions;
  /** What is known of the path; it is made anew by {@link forgetPath}. */
  roundTrip = new RoundTrip();
  patience = new Patience();
  loss = new Loss();
  shown = new Shown();
  bytesSent = new Seconds();
  bytesReceived = new Seconds();
  bytesAcked = new Seconds();
  /** Datagrams by the code of their refusal (PKR-9). */
  readonly refused = new Map<PacketErrorCode, number>();

  readonly #clock = new Clock();
  readonly #maxPacket: number;
  readonly #reassembly: Reassembly;
  readonly #received = new Set<number>();
  readonly #dead = new Set<number>();
  #next: number;
  #unreported = 0;
  #ackAt: Deadline = NEVER;
  readonly #sent = new Map<number, Sent>();
  #nextToSend: number;
  #firstKept: number;
  /** The oldest number in SENT, or the next to send. */
  #oldest: number;
  #newestAcked = -1;
  #newestLost = -1;
  #events: EndpointEvent[] = [];
  /** The first number that was sent on this path. */
  #pathFrom: number;
  #arriving: Header = { sequence: 0, ack: 0, ackBits: 0 };

  /** Throws RangeError for a parameter that is not allowed (PKP-3). */
  constructor(options: Partial<EndpointOptions> = {}) {
    this.options = complete(options);
    this.#maxPacket = this.options.fragmentSize * this.options.maxFragments;
    checkOptions(this.options);
    demand(this.options.reassemblyBytes >= this.#maxPacket, "reassemblyBytes");
    this.#reassembly = new Reassembly(this.options.reassemblyPackets, this.options.reassemblyBytes);
    this.#next = this.options.firstReceived;
    this.#nextToSend = this.#firstKept = this.#oldest = this.#pathFrom = this.options.firstSent;
  }

  /** The number of the next packet. */
  get nextToSend(): number {
    return this.#nextToSend;
  }

  /** 1 + the newest number known of the peer (PKS-2). */
  get nextToReceive(): number {
    return this.#next;
  }

  /** The header of the payload that the layer above is asked for. */
  get arriving(): Header {
    return this.#arriving;
  }

  /** When the ack that is owed goes out by itself (PKA-3). */
  get ackAt(): Deadline {
    return this.#ackAt;
  }

  /** PKC-1. */
  get silent(): boolean {
    return this.#newestLost > this.#newestAcked;
  }

  /** When to poll at the latest (PKI-4). */
  get deadline(): Deadline {
    const oldest = this.#sent.get(this.#oldest);
    const begun = this.#reassembly.firstBegun;
    const first = this.#sent.get(this.#firstKept);
    const old = first === undefined ? NEVER : first.at + KEPT;
    const lost = oldest === undefined ? NEVER : oldest.at + LOST_AFTER;
    const dead = begun === NEVER ? NEVER : begun + REASSEMBLY_TIME;
    return earlier(earlier(this.#ackAt, old), earlier(lost, dead));
  }

  /** The path is another one (CXL-10). */
  forgetPath(): void {
    this.roundTrip = new RoundTrip();
    this.patience = new Patience();
    this.loss = new Loss();
    this.shown = new Shown();
    this.bytesSent = new Seconds();
    this.bytesReceived = new Seconds();
    this.bytesAcked = new Seconds();
    this.#newestLost = -1;
    this.#pathFrom = this.#nextToSend;
  }

  /** What happened since the last call, in order (PKL-6). */
  takeEvents(): EndpointEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }

  // Receiving (section 5).

  /** A datagram has arrived; its bytes are lent to the receipt. */
  receive(time: Micros, datagram: Uint8Array, above: Above = () => "take"): Receipt {
    const now = this.#begin(time);
    const receipt = this.#receive(now, datagram, above);
    if ("error" in receipt) this.refused.set(receipt.error.code, (this.refused.get(receipt.error.code) ?? 0) + 1);
    else this.bytesReceived.add(now, datagram.length);
    return receipt;
  }

  #receive(now: Micros, datagram: Uint8Array, above: Above): Receipt {
    let packet: Regular | Fragment;
    try {
      packet = decodeDatagram(datagram, this.options);
    } catch (error) {
      if (error instanceof PacketError) return { row: "P1", error };
      throw error;
    }
    const sequence = packet.kind === "regular" ? packet.header.sequence : packet.sequence;
    const number = numberFrom(sequence, this.#next - this.options.received);
    if (number === null) return refuse("P2", "stale");
    if (this.#received.has(number)) return refuse("P3", "duplicate");
    if (this.#dead.has(number)) return refuse("P4", "dead");
    if (packet.kind === "regular") return this.#receiveRegular(now, number, packet, above);
    return this.#receiveFragment(now, number, packet, above);
  }

  #receiveRegular(now: Micros, number: number, packet: Regular, above: Above): Receipt {
    const verdict = this.#ask(above, number, packet);
    if (verdict === "refuse") return refuse("P5", "refused");
    this.#reassembly.drop(number);
    return this.#take("P6", now, number, packet, verdict);
  }

  #receiveFragment(now: Micros, number: number, fragment: Fragment, above: Above): Receipt {
    if (number < this.#next - this.options.reassembly) return refuse("P7", "stale");
    const begun = this.#reassembly.get(number);
    if (begun && begun.count !== fragment.numFragments) return refuse("P8", "fragment_count");
    if (begun?.has(fragment.fragmentId)) return refuse("P9", "fragment_duplicate");
    const whole = begun?.completedBy(fragment) ?? null;
    if (whole !== null) return this.#complete(now, number, whole, above);
    const size = fragment.data.length;
    if (!this.#reassembly.hasRoom(number, size)) return refuse("P10", "reassembly_full");
    this.#giveUp(this.#reassembly.inTheWay(number, size)); // STORE (PKR-2)
    this.#reassembly.store(now, number, fragment);
    this.#move(number);
    return { row: "P11", number };
  }

  #complete(now: Micros, number: number, whole: Regular, above: Above): Receipt {
    const verdict = this.#ask(above, number, whole);
    this.#reassembly.drop(number);
    if (verdict === "refuse") return refuse("P12", "refused");
    return this.#take("P13", now, number, whole, verdict);
  }

  /** The verdict of the layer above (5.2). */
  #ask(above: Above, number: number, { header, payload }: Regular): Verdict {
    this.#arriving = header;
    const known = newest(header.ack, this.#nextToSend - 1);
    return above(number, payload, known < 0 ? null : known);
  }

  /** PKR-1, PKR-7. */
  #take(row: "P6" | "P13", now: Micros, number: number, { header, payload }: Regular, verdict: Verdict): Receipt {
    this.#move(number);
    this.#received.add(number);
    const sampled = this.#takeAcks(now, header);
    if (verdict !== "quiet" && !isPad(payload)) {
      this.#unreported += 1;
      this.#ackAt = earlier(this.#ackAt, this.#unreported >= ACK_EVERY ? now : now + ACK_DELAY);
    }
    return { row, number, payload, sampled };
  }

  /** PKR-3. */
  #move(number: number): void {
    if (number < this.#next) return;
    const before = this.#next;
    this.#next = number + 1;
    const low = before - this.options.received;
    for (let old = low; old < Math.min(before, low + this.#next - before); old++) {
      this.#received.delete(old);
      this.#dead.delete(old);
    }
    this.#reassembly.dropBelow(this.#next - this.options.reassembly);
  }

  /** What each event first does (PKN-3; PKX-2, step 5). */
  #begin(time: Micros): Micros {
    const now = this.#clock.advance(time);
    this.#giveUp(this.#reassembly.begunUntil(now - REASSEMBLY_TIME));
    return now;
  }

  #giveUp(numbers: readonly number[]): void {
    for (const number of numbers) {
      this.#reassembly.drop(number);
      this.#dead.add(number);
    }
  }

  // Acks (section 6).

  /** PKA-1, of the packet that goes out next. */
  #header(): Header {
    const ack = this.#next - 1;
    let ackBits = 0;
    for (let n = 0; n < ACK_BITS; n++) if (this.#received.has(ack - n)) ackBits += 2 ** n;
    return { sequence: onWire(this.#nextToSend), ack: onWire(ack), ackBits };
  }

  /** PKA-2; whether there was a sample (PKE-1). */
  #takeAcks(now: Micros, { ack, ackBits }: Header): boolean {
    const newestAcked = this.#newestAcked;
    let sampled = false;
    for (let n = 0; n < ACK_BITS; n++) {
      if (((ackBits >>> n) & 1) === 0) continue;
      const number = newest(onWire(ack - n), this.#nextToSend - 1);
      const sent = this.#sent.get(number);
      if (sent === undefined || sent.state === "ACKED") continue;
      if (sent.state !== "QUIET" && number >= this.#pathFrom) {
        this.#sample(now, min(now - sent.at, LONGEST_SAMPLE), n === 0, number + 2 <= newestAcked);
        sampled ||= n === 0;
      }
      if (sent.state === "SENT" && number >= this.#pathFrom) this.loss.settled(now, false);
      this.bytesAcked.add(now, sent.bytes);
      sent.state = "ACKED"; // L1, L3, L9
      this.#newestAcked = Math.max(this.#newestAcked, number);
      this.#events.push({ event: "acked", number });
    }
    this.#skipSettled();
    return sampled;
  }

  /** PKL-8. */
  #sample(now: Micros, latency: Micros, ofAck: boolean, overtaken: boolean): void {
    if (ofAck) this.roundTrip.sample(now, latency);
    if (overtaken) this.patience.overtaken(now, latency, this.roundTrip.srtt);
    this.shown.add(latency);
  }

  #skipSettled(): void {
    while (this.#oldest < this.#nextToSend && this.#sent.get(this.#oldest)?.state !== "SENT") this.#oldest += 1;
  }

  // Sending (section 6).

  /**
   * The datagrams of a packet, whose number is `nextToSend` before (PKA-4). Throws {@link PacketError} (PKF-3).
   * @param quiet - the peer will take it quietly (PKL-4)
   */
  send(time: Micros, payload: Uint8Array, quiet = false): Uint8Array[] {
    const now = this.#begin(time);
    if (!isWithin(payload.length, 1, this.#maxPacket)) throw new PacketError("payload_size");
    const { fragmentSize, fragmentAbove } = this.options;
    const datagrams = encodeDatagrams(this.#header(), payload, fragmentSize, fragmentAbove);
    const bytes = datagrams.reduce((sum, datagram) => sum + datagram.length, 0);
    this.#keep({ at: now, bytes, state: quiet || isPad(payload) ? "QUIET" : "SENT" });
    this.bytesSent.add(now, bytes);
    this.#unreported = 0;
    this.#ackAt = NEVER;
    return datagrams;
  }

  /** No packet gets the next number (PKS-4). */
  leaveOut(time: Micros): void {
    this.#keep({ at: this.#begin(time), bytes: 0, state: "ACKED" });
  }

  /** Whether a number that is kept was left out. */
  isLeftOut(number: number): boolean {
    return this.#sent.get(number)?.bytes === 0;
  }

  #keep(sent: Sent): void {
    if (this.#nextToSend - this.#firstKept === this.options.sentMax) this.#pushOut(sent.at);
    this.#sent.set(this.#nextToSend++, sent);
    this.#skipSettled();
  }

  /** L4, L6, L8, L11. */
  #pushOut(now: Micros): void {
    if (this.#sent.get(this.#firstKept)?.state === "SENT") this.#lose(now, this.#firstKept);
    this.#forget();
  }

  #forget(): void {
    this.#sent.delete(this.#firstKept);
    this.#firstKept += 1;
    this.#oldest = Math.max(this.#oldest, this.#firstKept);
  }

  #lose(now: Micros, number: number): void {
    if (number >= this.#pathFrom) {
      this.#newestLost = Math.max(this.#newestLost, number);
      this.loss.settled(now, true);
    }
    this.#events.push({ event: "lost", number });
  }

  /** Timers; the ack-only packet that goes out now, if one does (PKI-2). */
  poll(time: Micros): Uint8Array | null {
    const now = this.#begin(time);
    for (let sent = this.#sent.get(this.#oldest); sent && now - sent.at >= LOST_AFTER; sent = this.#sent.get(this.#oldest)) {
      sent.state = "LOST"; // L2
      this.#lose(now, this.#oldest);
      this.#skipSettled();
    }
    for (let sent = this.#sent.get(this.#firstKept); sent && now - sent.at >= KEPT; sent = this.#sent.get(this.#firstKept)) {
      this.#forget(); // L5, L7, L10
    }
    if (this.#ackAt === NEVER || now < this.#ackAt) return null;
    return this.send(now, PAD)[0] ?? null;
  }
}

function isPad(payload: Uint8Array): boolean {
  return payload.length === 1 && payload[0] === PAD[0];
}

function refuse(row: ReceiveRow, code: PacketErrorCode): Receipt {
  return { row, error: new PacketError(code) };
}

/** With every default in its place (PKP-1). */
function complete(options: Partial<EndpointOptions>): EndpointOptions {
  const given = { ...DEFAULTS, ...options };
  const reassembly = given.reassembly ?? Math.min(64, given.received / 2);
  return {
    ...given,
    reassembly,
    reassemblyPackets: given.reassemblyPackets ?? Math.min(8, reassembly),
    reassemblyBytes: given.reassemblyBytes ?? 2 * given.fragmentSize * given.maxFragments,
  };
}

/** PKP-1. */
function checkOptions(options: EndpointOptions): void {
  demand(isWithin(options.fragmentSize, 1, MOST_ABOVE), "fragmentSize");
  demand(isWithin(options.maxFragments, 2, 256), "maxFragments");
  demand(isWithin(options.fragmentAbove, options.fragmentSize, MOST_ABOVE), "fragmentAbove");
  demand(isPower(options.received, 64, 16_384), "received");
  demand(isPower(options.sentMax, 256, 16_384), "sentMax");
  demand(isPower(options.reassembly, 1, options.received / 2), "reassembly");
  demand(isWithin(options.reassemblyPackets, 1, options.reassembly), "reassemblyPackets");
  demand(isWithin(options.firstSent, 0, MOST_FIRST), "firstSent");
  demand(isWithin(options.firstReceived, 0, MOST_FIRST), "firstReceived");
}

function isPower(value: number, low: number, high: number): boolean {
  return isWithin(value, low, high) && (value & (value - 1)) === 0;
}

function demand(ok: boolean, name: string): void {
  if (!ok) throw new RangeError(`${name} is outside its limits`);
}
