/** ChaCha20-Poly1305 (RFC 8439), which Web Crypto lacks. */

import { concat } from "./packets.js";
import { same } from "./sha256.js";

const TAG = 16;
const BLOCK = 64;
/** "expand 32-byte k". */
const CONSTANTS = [0x61707865, 0x3320646e, 0x79622d32, 0x6b206574] as const;
/** Of Poly1305: bits of a limb, and limbs of a number of 130 bits. */
const BITS = 13;
const MASK = (1 << BITS) - 1;
const LIMBS = 10;

/** The encrypted body, and the tag after it. The key has 32 bytes, the nonce 12. */
export function sealAead(key: Uint8Array, nonce: Uint8Array, body: Uint8Array, additional: Uint8Array): Uint8Array {
  const cipher = new Cipher(key, nonce);
  const hidden = cipher.encrypt(body);
  return concat(hidden, cipher.tag(hidden, additional));
}

/** The body, or null if the tag is wrong. */
export function unsealAead(key: Uint8Array, nonce: Uint8Array, sealed: Uint8Array, additional: Uint8Array): Uint8Array | null {
  const cipher = new Cipher(key, nonce);
  const hidden = sealed.subarray(0, -TAG);
  return same(sealed.subarray(-TAG), cipher.tag(hidden, additional)) ? cipher.encrypt(hidden) : null;
}

/** The key stream of one nonce. */
class Cipher {
  readonly #start = new Uint32Array(16);
  readonly #words = new Uint32Array(16);
  readonly #block = new Uint8Array(BLOCK);

  constructor(key: Uint8Array, nonce: Uint8Array) {
    const [k, n] = [viewOf(key), viewOf(nonce)];
    this.#start.set(CONSTANTS);
    for (let i = 0; i < 8; i++) this.#start[4 + i] = k.getUint32(4 * i, true);
    for (let i = 0; i < 3; i++) this.#start[13 + i] = n.getUint32(4 * i, true);
  }

  /** Encrypts, and decrypts what is encrypted. */
  encrypt(data: Uint8Array): Uint8Array {
    const result = new Uint8Array(data.length);
    for (let at = 0; at < data.length; at += BLOCK) {
      const stream = this.#next(1 + at / BLOCK);
      const end = Math.min(at + BLOCK, data.length);
      for (let i = at; i < end; i++) result[i] = data[i]! ^ stream[i - at]!;
    }
    return result;
  }

  /** The tag of what is encrypted, and of what is sent beside it in the clear (sections 2.6 and 2.8). */
  tag(hidden: Uint8Array, additional: Uint8Array): Uint8Array {
    const sizes = new DataView(new ArrayBuffer(16));
    sizes.setUint32(0, additional.length, true);
    sizes.setUint32(8, hidden.length, true);
    const text = concat(additional, padding(additional), hidden, padding(hidden), new Uint8Array(sizes.buffer));
    return poly1305(this.#next(0).slice(0, 32), text);
  }

  /** Block `counter` of the key stream (section 2.3); the next one takes its place. */
  #next(counter: number): Uint8Array {
    const [x, start, block] = [this.#words, this.#start, this.#block];
    start[12] = counter;
    x.set(start);
    for (let i = 0; i < 10; i++) {
      for (let k = 0; k < 4; k++) quarter(x, k, 4 + k, 8 + k, 12 + k);
      for (let k = 0; k < 4; k++) quarter(x, k, 4 + ((k + 1) & 3), 8 + ((k + 2) & 3), 12 + ((k + 3) & 3));
    }
    for (let i = 0; i < 16; i++) {
      const word = x[i]! + start[i]!;
      for (let k = 0; k < 4; k++) block[4 * i + k] = word >>> (8 * k);
    }
    return block;
  }
}

function quarter(x: Uint32Array, a: number, b: number, c: number, d: number): void {
  x[a]! += x[b]!;
  x[d] = left(x[d]! ^ x[a]!, 16);
  x[c]! += x[d]!;
  x[b] = left(x[b]! ^ x[c]!, 12);
  x[a]! += x[b]!;
  x[d] = left(x[d]! ^ x[a]!, 8);
  x[c]! += x[d]!;
  x[b] = left(x[b]! ^ x[c]!, 7);
}

function left(word: number, by: number): number {
  return (word << by) | (word >>> (32 - by));
}

function padding(data: Uint8Array): Uint8Array {
  return new Uint8Array((16 - (data.length % 16)) % 16);
}

/** Section 2.5, of a text of whole blocks. Each sum of products of limbs is below 2^53. */
function poly1305(key: Uint8Array, text: Uint8Array): Uint8Array {
  const r = new Float64Array(LIMBS);
  addLimbs(r, key, 0, 0);
  for (let i = 0; i < LIMBS; i++) r[i]! &= CLAMP[i]!;
  let [sum, next] = [new Float64Array(LIMBS), new Float64Array(LIMBS)];
  for (let at = 0; at < text.length; at += 16) {
    addLimbs(sum, text, at, 1);
    multiply(sum, r, next);
    [sum, next] = [next, sum];
  }
  return plus(whole(sum), key.subarray(16));
}

/** 0x0ffffffc0ffffffc0ffffffc0fffffff in limbs. */
const CLAMP = new Float64Array(LIMBS);
addLimbs(CLAMP, Uint8Array.of(255, 255, 255, 15, 252, 255, 255, 15, 252, 255, 255, 15, 252, 255, 255, 15), 0, 0);

/** Adds the 16 bytes from `at` on, with `above` as the next byte. */
function addLimbs(sum: Float64Array, bytes: Uint8Array, at: number, above: number): void {
  for (let i = 0; i < LIMBS; i++) {
    const [first, shift] = [(BITS * i) >> 3, (BITS * i) & 7];
    let bits = 0;
    for (let k = 0; k < 3; k++) bits |= (first + k < 16 ? bytes[at + first + k]! : first + k === 16 ? above : 0) << (8 * k);
    sum[i]! += (bits >> shift) & MASK;
  }
}

/** a * r modulo 2^130 - 5, in limbs of 13 bits and a little more. */
function multiply(a: Float64Array, r: Float64Array, result: Float64Array): void {
  let carry = 0;
  for (let i = 0; i < LIMBS; i++) {
    let d = carry;
    for (let k = 0; k < LIMBS; k++) d += a[k]! * (k <= i ? r[i - k]! : 5 * r[i + LIMBS - k]!);
    carry = Math.floor(d / (MASK + 1));
    result[i] = d - carry * (MASK + 1);
  }
  result[0]! += 5 * carry;
}

/** The number below 2^130 - 5, in limbs. */
function whole(sum: Float64Array): Float64Array {
  let carry = 0;
  for (let round = 0; round < 2; round++) {
    for (let i = 0; i < LIMBS; i++) {
      const d = sum[i]! + carry;
      carry = Math.floor(d / (MASK + 1));
      sum[i] = d - carry * (MASK + 1);
    }
    carry *= 5;
  }
  const less = new Float64Array(LIMBS);
  carry = 5;
  for (let i = 0; i < LIMBS; i++) {
    const d = sum[i]! + carry;
    carry = d > MASK ? 1 : 0;
    less[i] = d - carry * (MASK + 1);
  }
  return less.map((limb, i) => carry * limb + (1 - carry) * sum[i]!);
}

/** The low 128 bits of the sum with 16 bytes. */
function plus(number: Float64Array, bytes: Uint8Array): Uint8Array {
  const result = new Uint8Array(16);
  let carry = 0;
  for (let i = 0; i < 16; i++) {
    const [limb, shift] = [Math.floor((8 * i) / BITS), (8 * i) % BITS];
    const bits = number[limb]! + (number[limb + 1] ?? 0) * (MASK + 1);
    const byte = ((bits >> shift) & 255) + bytes[i]! + carry;
    result[i] = byte;
    carry = byte >> 8;
  }
  return result;
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
}
