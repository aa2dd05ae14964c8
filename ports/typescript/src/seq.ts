/** Sequence numbers of packets (PACKETS.md, section 4) and channels (CHR-5): they never wrap, and the wire has their low 16 bits. */

export const SPAN = 65_536;

/** The low 16 bits of a number; it may be negative. */
export function onWire(number: number): number {
  return ((number % SPAN) + SPAN) % SPAN;
}

/** The number from `low` on that a sequence means, or null: it is stale (PKS-2). */
export function numberFrom(sequence: number, low: number): number | null {
  const distance = onWire(sequence - low);
  return distance >= SPAN / 2 || low + distance < 0 ? null : low + distance;
}

/** The newest number up to `last` with these low 16 bits (PKS-3); it may be negative. */
export function newest(sequence: number, last: number): number {
  return last - onWire(last - sequence);
}

/** The number from `base - 32767` to `base + 32768` that a sequence of a channel means; it may be negative (CHN-4). */
export function nearest(sequence: number, base: number): number {
  return newest(sequence, base + SPAN / 2);
}

/** The first number from `base` on that a sequence means (CHN-5). */
export function firstFrom(sequence: number, base: number): number {
  return base + onWire(sequence - base);
}
