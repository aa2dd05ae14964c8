/** Packets of which fragments are missing (PACKETS.md, section 5.3). */

import { concat, type Fragment, type Header, type Regular } from "./packets.js";
import { NEVER, type Deadline, type Micros } from "./time.js";

/** What is here of one packet. */
export class Parts {
  readonly #data = new Map<number, Uint8Array>();
  #header: Header | null = null;
  #bytes = 0;

  constructor(
    readonly begun: Micros,
    readonly count: number,
  ) {}

  /** Bytes of data. */
  get bytes(): number {
    return this.#bytes;
  }

  has(fragmentId: number): boolean {
    return this.#data.has(fragmentId);
  }

  /** Keeps a copy of the fragment's own size (PKX-1). */
  store({ fragmentId, data, header }: Fragment): void {
    this.#data.set(fragmentId, new Uint8Array(data));
    this.#header = header ?? this.#header;
    this.#bytes += data.length;
  }

  /** The packet, if no other fragment is missing, else null (PKX-4). */
  completedBy(fragment: Fragment): Regular | null {
    const header = fragment.header ?? this.#header;
    if (this.#data.size + 1 < this.count || header === null) return null;
    const parts = Array.from({ length: this.count }, (_, id) => this.#data.get(id) ?? fragment.data);
    return { kind: "regular", header, payload: concat(...parts) };
  }
}

/** The packets that are begun, by number. */
export class Reassembly {
  readonly #parts = new Map<number, Parts>();

  constructor(
    readonly mostPackets: number,
    readonly mostBytes: number,
  ) {}

  get(number: number): Parts | undefined {
    return this.#parts.get(number);
  }

  /** Whether a fragment fits at least without all packets with smaller numbers (PKX-3). */
  hasRoom(number: number, size: number): boolean {
    return this.#fits([...this.#parts].filter(([other]) => other >= number), number, size);
  }

  /** The numbers that must be dropped for a fragment to fit, for which there is room (PKX-3). */
  inTheWay(number: number, size: number): number[] {
    const left = this.#ascending();
    const dropped: number[] = [];
    while (!this.#fits(left, number, size)) dropped.push(...left.splice(0, 1).map(([other]) => other));
    return dropped;
  }

  #fits(beside: readonly [number, Parts][], number: number, size: number): boolean {
    const packets = beside.filter(([other]) => other !== number).length + 1;
    const bytes = beside.reduce((sum, [, parts]) => sum + parts.bytes, size);
    return packets <= this.mostPackets && bytes <= this.mostBytes;
  }

  store(now: Micros, number: number, fragment: Fragment): void {
    const parts = this.#parts.get(number) ?? new Parts(now, fragment.numFragments);
    this.#parts.set(number, parts);
    parts.store(fragment);
  }

  drop(number: number): void {
    this.#parts.delete(number);
  }

  dropBelow(first: number): void {
    for (const number of this.#parts.keys()) if (number < first) this.#parts.delete(number);
  }

  /** The numbers whose first fragment came then or before, ascending. */
  begunUntil(time: Micros): number[] {
    return this.#ascending().flatMap(([number, parts]) => (parts.begun <= time ? [number] : []));
  }

  /** When the first fragment of the oldest reassembly came. */
  get firstBegun(): Deadline {
    let first: Deadline = NEVER;
    for (const { begun } of this.#parts.values()) if (first === NEVER || begun < first) first = begun;
    return first;
  }

  #ascending(): [number, Parts][] {
    return [...this.#parts].sort(([a], [b]) => a - b);
  }
}
