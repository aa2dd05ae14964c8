/** X25519 (RFC 7748), which not every browser's Web Crypto has. No branch and no index depends on a secret. */

/** A number modulo 2^255 - 19, in 16 limbs of 16 bits and some more. */
type Field = Float64Array;

const LIMBS = 16;
const RADIX = 65_536;
/** Of {@link multiply}, which is called 3,000 times. */
const PRODUCT = new Float64Array(2 * LIMBS);
const A24 = number(121_665);
const BASE = Uint8Array.from({ length: 32 }, (_, i) => (i === 0 ? 9 : 0));

/** The public share of 32 private bytes. */
export function publicShare(secret: Uint8Array): Uint8Array {
  return sharedSecret(secret, BASE);
}

/** What both ends have in common: 32 bytes, which are zeros for the few shares that give the same to everybody. */
export function sharedSecret(secret: Uint8Array, share: Uint8Array): Uint8Array {
  const u = unpack(share);
  let [x2, z2, x3, z3]: [Field, Field, Field, Field] = [number(1), number(0), u.slice(), number(1)];
  for (let i = 254; i >= 0; i--) {
    const bit = bitOf(secret, i);
    swap(bit, x2, x3);
    swap(bit, z2, z3);
    const [a, b, c, d] = [add(x2, z2), subtract(x2, z2), add(x3, z3), subtract(x3, z3)];
    const [aa, bb, da, cb] = [multiply(a, a), multiply(b, b), multiply(d, a), multiply(c, b)];
    const [sum, difference, e] = [add(da, cb), subtract(da, cb), subtract(aa, bb)];
    x3 = multiply(sum, sum);
    z3 = multiply(u, multiply(difference, difference));
    x2 = multiply(aa, bb);
    z2 = multiply(e, add(aa, multiply(A24, e)));
    swap(bit, x2, x3);
    swap(bit, z2, z3);
  }
  return pack(multiply(x2, invert(z2)));
}

/** Bit `i` of a private share: the low three are 0, and bit 254 is 1. */
function bitOf(secret: Uint8Array, i: number): number {
  if (i < 3) return 0;
  return i === 254 ? 1 : (secret[i >> 3]! >> (i & 7)) & 1;
}

function number(value: number): Field {
  const result = new Float64Array(LIMBS);
  result[0] = value;
  return result;
}

function unpack(bytes: Uint8Array): Field {
  const result = Float64Array.from({ length: LIMBS }, (_, i) => bytes[2 * i]! + 256 * bytes[2 * i + 1]!);
  result[15]! %= RADIX / 2;
  return result;
}

/** The 32 bytes of the number below 2^255 - 19. */
function pack(a: Field): Uint8Array {
  const result = a.slice();
  for (let round = 0; round < 3; round++) carry(result);
  for (let round = 0; round < 2; round++) {
    const less = new Float64Array(LIMBS);
    let borrow = 0;
    for (let i = 0; i < LIMBS; i++) {
      const limb = result[i]! - (i === 0 ? 0xffed : i === 15 ? 0x7fff : 0xffff) - borrow;
      borrow = limb < 0 ? 1 : 0;
      less[i] = limb + borrow * RADIX;
    }
    swap(1 - borrow, result, less);
  }
  return Uint8Array.from({ length: 32 }, (_, i) => (i % 2 === 0 ? result[i >> 1]! : result[i >> 1]! / 256) & 255);
}

/** Exchanges two numbers if the bit is 1. */
function swap(bit: number, a: Field, b: Field): void {
  for (let i = 0; i < LIMBS; i++) {
    const difference = bit * (a[i]! - b[i]!);
    a[i]! -= difference;
    b[i]! += difference;
  }
}

function add(a: Field, b: Field): Field {
  return a.map((limb, i) => limb + b[i]!);
}

function subtract(a: Field, b: Field): Field {
  return a.map((limb, i) => limb - b[i]!);
}

/** The limbs of the factors are below 2^20, so no sum of products reaches 2^53. */
function multiply(a: Field, b: Field): Field {
  const long = PRODUCT.fill(0);
  for (let i = 0; i < LIMBS; i++) {
    for (let k = 0; k < LIMBS; k++) long[i + k]! += a[i]! * b[k]!;
  }
  const result = new Float64Array(LIMBS);
  for (let i = 0; i < LIMBS; i++) result[i] = long[i]! + 38 * long[i + LIMBS]!;
  carry(result);
  carry(result);
  return result;
}

/** 2^256 is 38. */
function carry(a: Field): void {
  let over = 0;
  for (let i = 0; i < LIMBS; i++) {
    const limb = a[i]! + over;
    over = Math.floor(limb / RADIX);
    a[i] = limb - over * RADIX;
  }
  a[0]! += 38 * over;
}

/** a to the power of 2^255 - 21, in which only bits 2 and 4 are 0. */
function invert(a: Field): Field {
  let result: Field = a.slice();
  for (let i = 253; i >= 0; i--) {
    result = multiply(result, result);
    if (i !== 2 && i !== 4) result = multiply(result, a);
  }
  return result;
}
