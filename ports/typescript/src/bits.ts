/** Bit packing (section 3). */

/** Bits that `int(v, low, high)` takes (BIT-3). */
function bitsFor(low: number, high: number): number {
  return 32 - Math.clz32(high - low);
}

/** Bits from `position` up to the next multiple of 8. */
function bitsToByte(position: number): number {
  return (8 - (position % 8)) % 8;
}

/** Puts values into a stream of bits, the least significant bit of a byte first (BIT-1). */
export class BitWriter {
  readonly #bytes: Uint8Array;
  #position = 0;

  /** @param capacity - bytes that the stream can grow to */
  constructor(capacity: number) {
    this.#bytes = new Uint8Array(capacity);
  }

  /** Puts the low `n` bits of `value`, 1 to 32, the least significant first (BIT-2). */
  bits(value: number, n: number): void {
    if (!Number.isInteger(value) || value < 0 || value >= 2 ** n) {
      throw new RangeError(`${value} does not fit into ${n} bits`);
    }
    for (let i = 0; i < n; i++) this.#bit((value >>> i) & 1);
  }

  /** Puts an integer from `low` to `high` (BIT-3). */
  int(value: number, low: number, high: number): void {
    if (value > high) throw new RangeError(`${value} is above ${high}`);
    this.bits(value - low, bitsFor(low, high));
  }

  /** Puts one bit, 1 for true (BIT-4). */
  bool(value: boolean): void {
    this.#bit(value ? 1 : 0);
  }

  /** Puts zero bits up to the next multiple of 8 from the start of the stream (BIT-5). */
  align(): void {
    this.#position += bitsToByte(this.#position);
  }

  /** Aligns, then puts the bytes as they are (BIT-6). */
  bytes(data: Uint8Array): void {
    this.align();
    this.#bytes.set(data, this.#position / 8);
    this.#position += 8 * data.length;
  }

  /** The stream so far, filled up with zero bits (BIT-7). */
  finish(): Uint8Array {
    this.align();
    return this.#bytes.slice(0, this.#position / 8);
  }

  #bit(bit: number): void {
    const index = this.#position >>> 3;
    const byte = this.#bytes[index];
    if (byte === undefined) throw new RangeError("the stream is full");
    this.#bytes[index] = byte | (bit << (this.#position & 7));
    this.#position++;
  }
}

/** Takes values from a stream of bits. Whoever reads asks {@link left} first. */
export class BitReader {
  readonly #bytes: Uint8Array;
  #position = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** Bits from the start of the stream to the next one that is read. */
  get position(): number {
    return this.#position;
  }

  /** Bits not yet read. */
  get left(): number {
    return 8 * this.#bytes.length - this.#position;
  }

  /** Takes `n` bits, 1 to 32, as an unsigned number (BIT-2). */
  bits(n: number): number {
    let value = 0;
    for (let i = 0; i < n; i++) value |= this.#bit() << i;
    return value >>> 0;
  }

  /** Takes an integer from `low` on (BIT-3). All ranges of the protocol are powers of two, so none is too large. */
  int(low: number, high: number): number {
    return low + this.bits(bitsFor(low, high));
  }

  /** Takes one bit (BIT-4). */
  bool(): boolean {
    return this.#bit() === 1;
  }

  /** Takes the bits up to the next multiple of 8 and returns whether all of them are zero (BIT-5). */
  align(): boolean {
    const padding = bitsToByte(this.#position);
    return padding === 0 || this.bits(padding) === 0;
  }

  /** Takes a copy of `n` bytes; the stream must be aligned (BIT-6). */
  bytes(n: number): Uint8Array {
    if (8 * n > this.left) throw new RangeError("read beyond the stream");
    const start = this.#position / 8;
    this.#position += 8 * n;
    return new Uint8Array(this.#bytes.subarray(start, start + n));
  }

  #bit(): number {
    const byte = this.#bytes[this.#position >>> 3];
    if (byte === undefined) throw new RangeError("read beyond the stream");
    const bit = (byte >>> (this.#position & 7)) & 1;
    this.#position++;
    return bit;
  }
}
