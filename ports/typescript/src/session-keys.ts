/** Keys, cookies and proofs (CONNECTION.md, section 4), and what follows from a nonce (CXH-15). */

import { concat } from "./packets.js";
import {
  agreementOf,
  ANONYMOUS,
  encodeSession,
  helloOf,
  isZero,
  NO_KEY,
  NO_PROOF,
  VERSION,
  type Challenge,
  type Link,
  type Linked,
  type Mode,
  type Offer,
  type Refusal,
} from "./sessions.js";
import { hmac, same, sha256 } from "./sha256.js";
import { publicShare, sharedSecret } from "./x25519.js";

const PROOF_BYTES = 16;
/** Bits of EXTENSIONS that never have a meaning (CXH-15). */
export const NO_EXTENSION = 0x3000;

/** 32 bytes of HKDF-Expand (CXN-6). */
export function expand(key: Uint8Array, label: string, context: Uint8Array = new Uint8Array()): Uint8Array {
  return hmac(key, Uint8Array.of(label.length), ascii(label), context, Uint8Array.of(1));
}

function digest(label: string, ...parts: readonly Uint8Array[]): Uint8Array {
  const whole = ascii(`chunkwire 2 ${label}`);
  return sha256(Uint8Array.of(whole.length), whole, ...parts);
}

function ascii(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

/** A number in 8 bytes, the low one first. */
export function long(value: bigint): Uint8Array {
  return Uint8Array.from({ length: 8 }, (_, i) => Number((value >> BigInt(8 * i)) & 255n));
}

/** CXK-12. */
export function newShare(mode: Mode, secret: Uint8Array): Uint8Array {
  return mode === "crc" ? secret : publicShare(secret);
}

/** The keys of the two directions, and the key for proofs that resume (CXK-2, CXK-3). */
export interface Keys {
  readonly c2s: Uint8Array;
  readonly s2c: Uint8Array;
  readonly resume: Uint8Array;
}

/** What follows from a hello and the key of its identity (CXK-1). */
export class Greeting {
  readonly hello: Uint8Array;
  readonly given: Uint8Array;
  readonly first: Uint8Array;
  readonly proofKey: Uint8Array;
  readonly refusedKey: Uint8Array;
  readonly next: Uint8Array;
  #static = new Uint8Array();
  #known = new Uint8Array();
  readonly #mode: Mode;

  /** @param server - the public key of the server, or nothing */
  constructor(offer: Offer, key: Uint8Array, server: Uint8Array | null) {
    this.#mode = offer.mode;
    const proof = encodeSession({ type: "proof", offer, stamp: 0n, cookie: NO_PROOF, move: NO_PROOF, proof: NO_PROOF });
    this.hello = digest("hello", helloOf(proof), server ?? new Uint8Array());
    this.given = isZero(offer.identity) ? NO_KEY : expand(key, "chunkwire 2 key");
    this.first = hmac(this.hello, this.given);
    this.proofKey = expand(this.first, "proof");
    this.refusedKey = expand(this.first, "refused");
    this.next = expand(this.first, "next");
  }

  /** What the client's share and the key of the server have in common; empty without {@link know}. */
  get static(): Uint8Array {
    return this.#static;
  }

  get known(): Uint8Array {
    return this.#known;
  }

  /** CXK-11. */
  seen(challenge: Challenge): Uint8Array {
    return digest("challenge", this.hello, encodeSession(challenge));
  }

  /** The proof of a PROOF, and the transcript with it (CXK-6). */
  prove(seen: Uint8Array, move: Uint8Array): { readonly proof: Uint8Array; readonly whole: Uint8Array } {
    const moved = digest("move", seen, move);
    const proof = expand(this.proofKey, "proof", moved).subarray(0, PROOF_BYTES);
    return { proof, whole: digest("proof", moved, proof) };
  }

  /** Mixes in the key of the server; false if the two have nothing in common (CXK-14). */
  know(secret: Uint8Array, share: Uint8Array): boolean {
    this.#static = Uint8Array.from(sharedSecret(secret, share));
    this.#known = Uint8Array.from(expand(hmac(this.next, this.#static), "known"));
    return !isZero(this.#static);
  }

  /** What follows with both shares; null if they have nothing in common (CXK-12). */
  meet(secret: Uint8Array, share: Uint8Array): Meeting | null {
    const shared = this.#mode === "crc" ? new Uint8Array(32) : sharedSecret(secret, share);
    if (this.#mode !== "crc" && isZero(shared)) return null;
    return new Meeting(this, shared);
  }
}

/** What follows from a greeting and both shares (CXK-1). */
export class Meeting {
  readonly second: Uint8Array;
  readonly answerKey: Uint8Array;
  readonly #hello: Uint8Array;

  constructor(
    greeting: Greeting,
    readonly shared: Uint8Array,
  ) {
    this.#hello = greeting.hello;
    this.second = hmac(greeting.known.length > 0 ? greeting.known : greeting.next, shared);
    this.answerKey = expand(this.second, "answer");
  }

  connection(linked: Linked): Uint8Array {
    return digest("connection", this.#hello, agreementOf(linked));
  }

  keys(linked: Linked): Keys {
    const connection = this.connection(linked);
    const [c2s, s2c, resume] = ["c2s", "s2c", "resume"].map((label) => expand(this.second, label, connection));
    return { c2s: c2s!, s2c: s2c!, resume: resume! };
  }
}

/** CXK-3. */
export function moveOf(resumeKey: Uint8Array, seen: Uint8Array): Uint8Array {
  return expand(resumeKey, "move", seen).subarray(0, PROOF_BYTES);
}

/** The proof of a LINKED or REFUSED (CXK-7, CXK-8). */
export function answerOf(key: Uint8Array, whole: Uint8Array, message: Linked | Refusal): Uint8Array {
  return expand(key, "answer", digest("answer", whole, encodeSession(message).subarray(0, -PROOF_BYTES))).subarray(0, PROOF_BYTES);
}

/** Whether a LINKED or REFUSED has its proof (CXK-9). */
export function isAnswer(key: Uint8Array, whole: Uint8Array, message: Linked | Refusal): boolean {
  return same(message.proof, answerOf(key, whole, message));
}

// Versions (CXH-14, CXH-15).

function versionsOf(value: number, isSwapped: boolean): Uint8Array {
  const never = (value & 0xf0) | 0x0a;
  return concat(isSwapped ? Uint8Array.of(never, VERSION) : Uint8Array.of(VERSION, never), new Uint8Array(6));
}

/** The LINK of an attempt. */
export function linkOf(nonce: Uint8Array): Link {
  const reserved = nonce[2]! < 16 ? concat(nonce, nonce, nonce.subarray(0, 6)) : new Uint8Array(38);
  return { type: "link", nonce, versions: versionsOf(nonce[0]!, nonce[1]! % 2 === 1), reserved };
}

export function challengeOf(nonce: Uint8Array, stamp: bigint, cookie: Uint8Array): Challenge {
  return { type: "challenge", nonce, stamp, cookie, version: VERSION, versions: versionsOf(nonce[15]!, nonce[14]! % 2 === 1) };
}

/** What a client with these extensions offers. */
export function extensionsOf(nonce: Uint8Array, extensions: number): number {
  return (extensions & ~NO_EXTENSION) | ((nonce[3]! % 2) << 12);
}

/** The choice of two lists, or 0. */
export function choice(client: Uint8Array, server: Uint8Array): number {
  return client.find((version) => version !== 0 && version % 16 !== 10 && server.includes(version)) ?? 0;
}

/** CXH-3. */
export function digestOf(link: Link): Uint8Array {
  return digest("link", encodeSession(link)).subarray(0, 16);
}

/** CXK-4. */
export function cookieOf(secret: Uint8Array, stamp: bigint, address: Uint8Array, linkDigest: Uint8Array): Uint8Array {
  return hmac(expand(secret, "cookie"), long(stamp), address, linkDigest, Uint8Array.of(VERSION)).subarray(0, 16);
}

/** Whether an identity means an anonymous client. */
export function isAnonymous(identity: Uint8Array): boolean {
  return same(identity, ANONYMOUS);
}
