/** The code of repair slices (REPAIR.md, section 3). */

import { SLICE_SIZE, slicesIn } from "./limits.js";

/** Ids of slices (RPN-6). */
export const MAX_IDS = 8192;

/** Repair slices that an {@link EncodedChunk} keeps. */
const MOST_KEPT = 256;
/** RPC-2. */
const CODE_SEED = 6535;
/** Exponents are below this (RPC-2). */
const SUMS = 16;
const WORDS = SLICE_SIZE / 4;

/** A slice of 1,024 bytes, filled up with zeros, as words of 4 bytes. */
type Words = Uint32Array;

/** RPC-1. */
function mix(h: number): number {
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return h ^ (h >>> 16);
}

/** The exponent of source slice i in repair slice j (RPC-2). */
export function exponent(j: number, i: number): number {
  return (mix(j * 32 + (i >>> 3) + CODE_SEED) >>> (4 * (i & 7))) & 15;
}

/** Bytes of slice `id` of a chunk whose last source slice has `lastBytes` (RPS-2). */
export function repairSliceBytes(numSlices: number, lastBytes: number, id: number): number {
  return numSlices === 1 || id === numSlices - 1 ? lastBytes : SLICE_SIZE;
}

/** x^0 to x^509 (RPC-3). */
const POWERS = powers();
const LOGARITHMS = logarithms();

function powers(): Uint8Array {
  const table = new Uint8Array(2 * 255);
  for (let n = 0, v = 1; n < table.length; n++, v = v < 128 ? 2 * v : (2 * v) ^ 0x11d) table[n] = v;
  return table;
}

function logarithms(): Uint8Array {
  const table = new Uint8Array(256);
  for (let n = 0; n < 255; n++) table[POWERS[n] ?? 0] = n;
  return table;
}

function power(n: number): number {
  return POWERS[n] ?? 0;
}

function times(a: number, b: number): number {
  return a === 0 || b === 0 ? 0 : power((LOGARITHMS[a] ?? 0) + (LOGARITHMS[b] ?? 0));
}

function inverse(a: number): number {
  return power(255 - (LOGARITHMS[a] ?? 0));
}

/** sum += words. */
function add(sum: Words, words: Words): void {
  for (let i = 0; i < WORDS; i++) sum[i]! ^= words[i]!;
}

/** The sum of sums, the one with index e times x^e. */
function horner(sums: readonly Words[]): Words {
  const result = new Uint32Array(WORDS);
  for (const sum of [...sums].reverse()) {
    for (let i = 0; i < WORDS; i++) {
      const v = result[i]!;
      const c = (v >>> 7) & 0x01010101;
      result[i] = ((v & 0x7f7f7f7f) << 1) ^ c ^ (c << 2) ^ (c << 3) ^ (c << 4) ^ sum[i]!;
    }
  }
  return result;
}

function newSums(n: number): Words[] {
  return Array.from({ length: n }, () => new Uint32Array(WORDS));
}

/** The sum of x^a(j, i) times slice i, over the slices that are known (RPC-4). */
function repairSum(j: number, slices: readonly (Words | undefined)[]): Words {
  const sums = newSums(SUMS);
  slices.forEach((words, i) => {
    const sum = sums[exponent(j, i)];
    if (words !== undefined && sum !== undefined) add(sum, words);
  });
  return horner(sums);
}

/** A copy of up to 1,024 bytes, filled up with zeros. */
function toWords(data: Uint8Array): Words {
  const words = new Uint32Array(WORDS);
  new Uint8Array(words.buffer).set(data);
  return words;
}

function toBytes(words: Words, size: number): Uint8Array {
  return new Uint8Array(words.buffer, words.byteOffset, size);
}

/** A chunk and its repair slices. Those depend on its bytes alone, so that many senders may share it (RPC-7). */
export class EncodedChunk {
  /** Bytes of the chunk; 1 to 262,144 of them can be sent. */
  readonly size: number;
  readonly numSlices: number;
  readonly lastBytes: number;
  readonly #slices: readonly Words[];
  readonly #repair = new Map<number, Words>();

  /** @param chunk - the bytes, which are copied */
  constructor(chunk: Uint8Array) {
    this.size = chunk.length;
    this.numSlices = slicesIn(chunk.length);
    this.lastBytes = chunk.length - SLICE_SIZE * (this.numSlices - 1);
    this.#slices = Array.from({ length: this.numSlices }, (_, i) =>
      toWords(chunk.subarray(SLICE_SIZE * i, SLICE_SIZE * (i + 1))),
    );
  }

  /** The data of slice `id`, source or repair, which must not be changed. */
  slice(id: number): Uint8Array {
    return toBytes(this.#slices[id] ?? this.#repairSlice(id), repairSliceBytes(this.numSlices, this.lastBytes, id));
  }

  #repairSlice(id: number): Words {
    const words = this.#repair.get(id) ?? repairSum(id - this.numSlices, this.#slices);
    if (this.#repair.size < MOST_KEPT) this.#repair.set(id, words);
    return words;
  }
}

/** A repair slice that is held. */
interface Equation {
  readonly id: number;
  readonly data: Words;
  /** Its row, reduced: right at the columns that are missing. */
  readonly row: Uint8Array;
  /** A column at which it alone has something, which is 1. */
  pivot: number;
}

/** Rebuilds a chunk from slices whose rows are independent (RPC-5, RPC-6). */
export class RepairDecoder {
  readonly #ids = new Set<number>();
  readonly #slices: (Words | undefined)[];
  readonly #equations: Equation[] = [];
  /** The columns whose source slice is not here. */
  #missing: number[];

  /** @param lastBytes - bytes of the last source slice */
  constructor(
    readonly numSlices: number,
    readonly lastBytes: number,
  ) {
    this.#slices = new Array<Words | undefined>(numSlices).fill(undefined);
    this.#missing = Array.from({ length: numSlices }, (_, i) => i);
  }

  /** How many slices are held; all of them are independent. */
  get rank(): number {
    return this.#ids.size;
  }

  get isComplete(): boolean {
    return this.rank === this.numSlices;
  }

  has(id: number): boolean {
    return this.#ids.has(id);
  }

  /** Takes a copy of a slice; false if it is here or follows from those that are. */
  add(id: number, data: Uint8Array): boolean {
    if (this.isComplete || this.has(id)) return false;
    const added = id < this.numSlices ? this.#addSource(id, data) : this.#addRepair(id, data);
    if (added) this.#ids.add(id);
    return added;
  }

  /** The chunk, once it is complete, and whether what counts as filled up came out as zeros. */
  rebuild(): { readonly chunk: Uint8Array; readonly isConsistent: boolean } {
    this.#solve();
    const tail = toBytes(this.#slices[this.numSlices - 1] ?? new Uint32Array(WORDS), SLICE_SIZE).subarray(this.lastBytes);
    const isConsistent = tail.every((byte) => byte === 0);
    tail.fill(0);
    const chunk = new Uint8Array(SLICE_SIZE * this.numSlices);
    this.#slices.forEach((words, i) => {
      if (words !== undefined) chunk.set(toBytes(words, SLICE_SIZE), SLICE_SIZE * i);
    });
    return { chunk: chunk.slice(0, SLICE_SIZE * (this.numSlices - 1) + this.lastBytes), isConsistent };
  }

  /** Whether these are the data of a repair slice of the chunk, once that was rebuilt. */
  matches(id: number, data: Uint8Array): boolean {
    const expected = toBytes(repairSum(id - this.numSlices, this.#slices), SLICE_SIZE);
    return data.every((byte, t) => byte === expected[t]);
  }

  /** A source slice makes its column known. If that was a pivot its row needs another one, or was the slice's own. */
  #addSource(i: number, data: Uint8Array): boolean {
    const equation = this.#equations.find(({ pivot }) => pivot === i);
    const column = equation && this.#missing.find((c) => c !== i && equation.row[c] !== 0);
    if (equation !== undefined && column === undefined) return false;
    this.#slices[i] = toWords(data);
    this.#missing = this.#missing.filter((c) => c !== i);
    if (equation !== undefined && column !== undefined) this.#pivotOn(equation, column);
    return true;
  }

  #addRepair(id: number, data: Uint8Array): boolean {
    const row = this.#rowOf(id);
    for (const equation of this.#equations) this.#subtract(row, row[equation.pivot] ?? 0, equation.row);
    const column = this.#missing.find((c) => row[c] !== 0);
    if (column === undefined) return false;
    const equation = { id, data: toWords(data), row, pivot: column };
    this.#pivotOn(equation, column);
    this.#equations.push(equation);
    return true;
  }

  /** RPC-5. */
  #rowOf(id: number): Uint8Array {
    return Uint8Array.from({ length: this.numSlices }, (_, i) => power(exponent(id - this.numSlices, i)));
  }

  /** row -= factor * other, at the columns that are missing. */
  #subtract(row: Uint8Array, factor: number, other: Uint8Array): void {
    if (factor === 0) return;
    for (const c of this.#missing) row[c]! ^= times(factor, other[c] ?? 0);
  }

  /** Makes the column the pivot of an equation, and 0 in all others. */
  #pivotOn(equation: Equation, column: number): void {
    const { row } = equation;
    const factor = inverse(row[column] ?? 0);
    for (const c of this.#missing) row[c] = times(factor, row[c] ?? 0);
    equation.pivot = column;
    for (const other of this.#equations) {
      if (other !== equation) this.#subtract(other.row, other.row[column] ?? 0, row);
    }
  }

  /** Makes the missing slices (section 3.3). */
  #solve(): void {
    const known = this.#equations.map(({ id, data }) => {
      const sum = repairSum(id - this.numSlices, this.#slices);
      add(sum, data);
      return sum;
    });
    const matrix = this.#equations.map(({ id }) => {
      const row = this.#rowOf(id);
      return Uint8Array.from(this.#missing, (c) => row[c] ?? 0);
    });
    const inverted = invert(matrix);
    this.#missing.forEach((column, n) => {
      this.#slices[column] = combine(inverted[n] ?? new Uint8Array(), known);
    });
    this.#missing = [];
    this.#equations.length = 0;
  }
}

/** The inverse of a square matrix of full rank, which is changed. */
function invert(matrix: readonly Uint8Array[]): Uint8Array[] {
  const m = matrix.length;
  const rows = matrix.map((row, r) => {
    const wide = new Uint8Array(2 * m);
    wide.set(row);
    wide[m + r] = 1;
    return wide;
  });
  for (let p = 0; p < m; p++) {
    const chosen = rows.findIndex((row, r) => r >= p && row[p] !== 0);
    const row = rows[chosen];
    if (row === undefined) throw new RangeError("the rows are dependent");
    [rows[chosen], rows[p]] = [rows[p]!, row];
    scale(row, inverse(row[p] ?? 0));
    for (const other of rows) {
      if (other !== row) eliminate(other, other[p] ?? 0, row);
    }
  }
  return rows.map((row) => row.subarray(m));
}

function scale(row: Uint8Array, factor: number): void {
  for (let c = 0; c < row.length; c++) row[c] = times(factor, row[c] ?? 0);
}

function eliminate(row: Uint8Array, factor: number, other: Uint8Array): void {
  if (factor === 0) return;
  for (let c = 0; c < row.length; c++) row[c]! ^= times(factor, other[c] ?? 0);
}

/** The sum of slices, each times its coefficient: one sum for each bit of the coefficients. */
function combine(coefficients: Uint8Array, slices: readonly Words[]): Words {
  const planes = newSums(8);
  slices.forEach((words, n) => {
    const coefficient = coefficients[n] ?? 0;
    planes.forEach((plane, bit) => {
      if ((coefficient >>> bit) & 1) add(plane, words);
    });
  });
  return horner(planes);
}
