/** The server of sessions: its handshakes (CONNECTION.md, section 6). */

import { Envelope } from "./envelope.js";
import {
  answerOf,
  challengeOf,
  choice,
  cookieOf,
  digestOf,
  expand,
  Greeting,
  isAnonymous,
  moveOf,
  newShare,
  type Keys,
} from "./session-keys.js";
import type { RandomBytes } from "./session-client.js";
import { agree, checkTerms, demand, prefixOf, type Terms } from "./session-terms.js";
import {
  ANONYMOUS,
  decodeSession,
  encodeSession,
  NO_KEY,
  NO_PROOF,
  REASONS,
  SessionError,
  VERSION,
  type Agreed,
  type Link,
  type Linked,
  type Offer,
  type Proof,
  type Refusal,
  type SessionMessage,
} from "./sessions.js";
import { same } from "./sha256.js";
import { Clock, earlier, max, MS, NEVER, type Deadline, type Micros } from "./time.js";
import { publicShare } from "./x25519.js";

const SECOND: Micros = 1000n * MS;
const COOKIE_LIFE = 5n * SECOND;
const HALF_OPEN = 5n * SECOND;
const REMEMBER = 10n * SECOND;
const LEAST_LINK = 64;

export interface SessionServerOptions {
  readonly terms: Terms;
  readonly random: RandomBytes;
  /** The keys of identities, each with its 8 bytes. */
  readonly keys?: readonly { readonly identity: Uint8Array; readonly key: Uint8Array }[];
  /** Whether clients without an identity are accepted; no by default. */
  readonly anonymous?: boolean;
  /** The private key of the server, 32 bytes, if it has one. */
  readonly secret?: Uint8Array | null;
  readonly maxConnections?: number;
  readonly maxPerAddress?: number;
}

export type EntryState = "UNCONFIRMED" | "CONFIRMED" | "ENDED";

/** A row of section 6.3. */
export type ServerRow = `J${number}`;

/** A connection as its server has it (CXS-4). */
export interface Entry {
  readonly state: EntryState;
  readonly link: number;
  readonly agreed: Agreed;
  readonly keys: Keys;
  readonly envelope: Envelope;
  /** 18 bytes. */
  readonly address: Uint8Array;
  /** Of the client, 8 bytes. */
  readonly identity: Uint8Array;
}

/**
 * What became of a message: a row of the table, an answer to where it came from, why it was counted before the table,
 * the entry whose LINKED is the answer, and whether that is a new connection, or has another address.
 */
export interface Taken {
  readonly row: ServerRow | null;
  readonly answer: Uint8Array | null;
  readonly counted?: "cookie" | "stale_cookie" | "share";
  readonly error?: SessionError;
  readonly entry?: Entry;
  readonly isMade?: boolean;
  readonly isMoved?: boolean;
}

/** Of a connection: everything is kept anew when it is made. */
interface Made extends Entry {
  state: EntryState;
  address: Uint8Array;
  readonly share: Uint8Array;
  readonly prefix: Uint8Array;
  readonly answerKey: Uint8Array;
  /** The hello that made it, and from where. */
  readonly first: Uint8Array;
  readonly madeAt: Uint8Array;
  /** The latest hello, and its stamp. */
  hello: Uint8Array;
  newest: bigint;
  placedAt: Micros;
  endedAt: Micros;
  reason: number;
}

/** A PROOF that came to the table. */
interface Arrival {
  readonly now: Micros;
  readonly address: Uint8Array;
  readonly proof: Proof;
  readonly greeting: Greeting;
  readonly whole: Uint8Array;
  readonly isChecked: boolean;
}

/** Takes handshakes, and remembers connections until they are forgotten. It does nothing between events. */
export class SessionServer {
  readonly #clock = new Clock();
  readonly #terms: Terms;
  readonly #random: RandomBytes;
  readonly #keys = new Map<string, Uint8Array>();
  readonly #private: Uint8Array | null;
  readonly #public: Uint8Array | null;
  readonly #maxConnections: number;
  readonly #maxPerAddress: number;
  readonly #secret: Uint8Array;
  #stamp = -1n;
  #entries: Made[] = [];

  /** Throws RangeError for a value that is not allowed (CXP-2). */
  constructor(options: SessionServerOptions) {
    const { terms, random, keys = [], anonymous = false, secret = null, maxConnections = 1024 } = options;
    const { maxPerAddress = Math.max(16, Math.trunc(maxConnections / 4)) } = options;
    checkTerms(terms);
    demand(terms.mode !== "crc" || (keys.length === 0 && secret === null), "identities and a server key need mac or aead");
    for (const { identity, key } of keys) {
      demand(identity.length === 8 && key.length === 32 && !isAnonymous(identity), "an identity has 8 bytes, and a key 32");
      this.#keys.set(nameOf(identity), key);
    }
    if (anonymous) this.#keys.set(nameOf(ANONYMOUS), NO_KEY);
    this.#terms = terms;
    this.#random = random;
    this.#private = secret;
    this.#public = secret && publicShare(secret);
    this.#maxConnections = maxConnections;
    this.#maxPerAddress = maxPerAddress;
    this.#secret = Uint8Array.from(random(32));
  }

  /** All connections that are not forgotten. */
  get entries(): readonly Entry[] {
    return this.#entries;
  }

  /** CXS-17. */
  get deadline(): Deadline {
    let at: Deadline = NEVER;
    for (const entry of this.#entries) {
      if (entry.state === "UNCONFIRMED") at = earlier(at, entry.placedAt + HALF_OPEN);
      if (entry.state === "ENDED") at = earlier(at, entry.endedAt + REMEMBER);
    }
    return at === NEVER ? NEVER : max(at, this.#clock.latest);
  }

  /** The connection with a link. */
  find(link: number): Entry | undefined {
    return this.#entries.find((entry) => entry.link === link);
  }

  /** A message of the handshake has arrived from an address of 18 bytes. */
  receive(time: Micros, address: Uint8Array, datagram: Uint8Array): Taken {
    const now = this.#clock.advance(time);
    const own = new Uint8Array(datagram);
    let message: SessionMessage;
    try {
      message = decodeSession(own);
    } catch (error) {
      if (error instanceof SessionError) return { row: null, answer: otherVersion(own, error), error };
      throw error;
    }
    if (message.type === "link") return { row: null, answer: this.#link(now, address, message) };
    return message.type === "proof" ? this.#proof(now, Uint8Array.from(address), message) : { row: null, answer: null };
  }

  /** A datagram of the connection was opened. */
  data(time: Micros, entry: Entry): ServerRow {
    this.#clock.advance(time);
    const row = ({ UNCONFIRMED: "J9", CONFIRMED: "J18", ENDED: "J26" } as const)[entry.state];
    if (entry.state === "UNCONFIRMED") (entry as Made).state = "CONFIRMED";
    return row;
  }

  /** The connection has ended; the reason is one of REASONS (CXS-12). */
  end(time: Micros, entry: Entry, reason: number): ServerRow {
    const now = this.#clock.advance(time);
    const row = ({ UNCONFIRMED: "J12", CONFIRMED: "J20", ENDED: "J29" } as const)[entry.state];
    if (isLiving(entry)) Object.assign(entry, { state: "ENDED", reason, endedAt: now, newest: this.#stamp });
    return row;
  }

  /** Forgets (CXS-14), with a row for each that is forgotten. */
  poll(time: Micros): ServerRow[] {
    const now = this.#clock.advance(time);
    const half = this.#entries.filter((e) => e.state === "UNCONFIRMED" && now - e.placedAt >= HALF_OPEN);
    const over = this.#entries.filter((e) => e.state === "ENDED" && now - e.endedAt >= REMEMBER);
    for (const entry of [...half, ...over]) this.#entries.splice(this.#entries.indexOf(entry), 1);
    return [...half.map(() => "J10" as const), ...over.map(() => "J27" as const)];
  }

  // What needs no entry (section 6.1).

  #link(now: Micros, address: Uint8Array, link: Link): Uint8Array {
    if (choice(link.versions, challengeOf(link.nonce, 0n, NO_PROOF).versions) !== VERSION) {
      return encodeSession(refusal(link.nonce, REASONS.version));
    }
    this.#stamp = max(now, this.#stamp + 1n);
    const cookie = cookieOf(this.#secret, this.#stamp, address, digestOf(link));
    return encodeSession(challengeOf(link.nonce, this.#stamp, cookie));
  }

  /** CXS-2. */
  #proof(now: Micros, address: Uint8Array, proof: Proof): Taken {
    const { offer, stamp, cookie, move } = proof;
    if (now - stamp >= COOKIE_LIFE) return { row: null, answer: null, counted: "stale_cookie" };
    if (!same(cookie, cookieOf(this.#secret, stamp, address, offer.digest))) return { row: null, answer: null, counted: "cookie" };
    const key = this.#keys.get(nameOf(offer.identity));
    const greeting = new Greeting(offer, key ?? expand(this.#secret, "decoy", offer.identity), this.#public);
    const seen = greeting.seen(challengeOf(offer.nonce, stamp, cookie));
    const { proof: expected, whole } = greeting.prove(seen, move);
    const unproven = { row: null, answer: encodeSession(refusal(offer.nonce, REASONS.identity)) };
    if (!same(proof.proof, expected) || key === undefined) return unproven;
    const entry = this.#entryOf(offer, greeting.hello, address);
    const isChecked = offer.resume === 0 || entry?.link === offer.resume;
    if (entry && isChecked && offer.resume !== 0 && !same(move, moveOf(entry.keys.resume, seen))) return unproven;
    const arrival = { now, address, proof, greeting, whole, isChecked };
    const agreed = agree(this.#terms, offer);
    const reason = this.#mismatch(offer) ?? (agreed === null ? REASONS.variant : null);
    if (reason !== null || agreed === null) return { row: null, answer: refuse(arrival, reason ?? 0) };
    if (entry === undefined) return this.#free(arrival, agreed);
    return entry.state === "ENDED" ? this.#ended(arrival, agreed, entry) : this.#living(arrival, agreed, entry);
  }

  /** CXS-3. */
  #entryOf({ identity, resume }: Offer, hello: Uint8Array, address: Uint8Array): Made | undefined {
    const known = this.#entries.filter((entry) => same(entry.identity, identity));
    if (!isAnonymous(identity)) return known[0];
    if (resume !== 0) return known.find(({ link }) => link === resume);
    return known.find(({ first, madeAt }) => same(first, hello) && same(madeAt, address));
  }

  #mismatch({ protocol, mode, format }: Offer): number | null {
    if (protocol !== this.#terms.protocol) return REASONS.protocol;
    if (mode !== this.#terms.mode) return REASONS.mode;
    return same(format, this.#terms.format) ? null : REASONS.format;
  }

  // The table (section 6.3).

  #free(arrival: Arrival, agreed: Agreed): Taken {
    if (arrival.proof.offer.resume !== 0) return refused("J1", arrival, REASONS.closed);
    if (!this.#hasRoom(arrival.address)) return refused("J2", arrival, REASONS.full);
    return this.#make("J3", arrival, agreed);
  }

  #living(arrival: Arrival, agreed: Agreed, entry: Made): Taken {
    const isHalf = entry.state === "UNCONFIRMED";
    const { stamp, offer } = arrival.proof;
    const isSame = same(arrival.greeting.hello, entry.hello);
    if (!arrival.isChecked) return refused(isHalf ? "J8" : "J17", arrival, REASONS.replaced);
    const isOld = stamp < entry.newest || (stamp === entry.newest && !isSame) || isFirstAgain(arrival, entry);
    if (isOld) return { row: isHalf ? "J4" : "J13", answer: null };
    if (isSame) return this.#place(isHalf ? "J5" : "J14", arrival, entry);
    if (offer.resume !== 0) return this.#place(isHalf ? "J6" : "J15", arrival, entry);
    return this.#make(isHalf ? "J7" : "J16", arrival, agreed, entry);
  }

  #ended(arrival: Arrival, agreed: Agreed, entry: Made): Taken {
    if (same(arrival.greeting.hello, entry.hello)) return refusedAgain("J21", arrival, entry);
    if (arrival.proof.stamp <= entry.newest || isFirstAgain(arrival, entry)) return { row: "J22", answer: null };
    if (arrival.proof.offer.resume !== 0) return refusedAgain("J23", arrival, entry);
    if (!this.#hasRoom(arrival.address)) return refused("J24", arrival, REASONS.full);
    return this.#make("J25", arrival, agreed, entry);
  }

  /** CXS-7. */
  #hasRoom(address: Uint8Array): boolean {
    const prefix = prefixOf(address);
    const living = this.#entries.filter(isLiving);
    const ended = this.#entries.filter((entry) => !isLiving(entry));
    return [living, ended].every((entries, i) => {
      const here = entries.filter((entry) => same(entry.prefix, prefix));
      const times = i === 0 ? 1 : 4;
      return entries.length < times * this.#maxConnections && here.length < times * this.#maxPerAddress;
    });
  }

  // Actions (section 6.4).

  /** CXS-8, CXS-19; the entry before, if there is one, is replaced, and has ended. */
  #make(row: ServerRow, arrival: Arrival, agreed: Agreed, before?: Made): Taken {
    const { address, greeting, proof } = arrival;
    const { nonce, mode, identity, share: theirs } = proof.offer;
    const secret = Uint8Array.from(this.#random(32));
    const hasKey = this.#private === null || greeting.know(this.#private, theirs);
    const meeting = hasKey ? greeting.meet(secret, theirs) : null;
    if (meeting === null) return { row: null, answer: null, counted: "share" };
    const [link, share] = [this.#draw(), newShare(mode, secret)];
    const keys = meeting.keys({ type: "linked", nonce, link, share, agreed, proof: NO_PROOF });
    const entry: Made = {
      state: "UNCONFIRMED",
      link,
      share,
      agreed,
      keys,
      identity,
      address,
      envelope: new Envelope(mode, link, keys.s2c, keys.c2s),
      prefix: prefixOf(address),
      answerKey: meeting.answerKey,
      first: greeting.hello,
      madeAt: address,
      hello: greeting.hello,
      newest: proof.stamp,
      placedAt: arrival.now,
      endedAt: 0n,
      reason: 0,
    };
    if (before === undefined) this.#entries.push(entry);
    else {
      this.#entries[this.#entries.indexOf(before)] = entry;
      before.state = "ENDED";
    }
    return { ...this.#place(row, arrival, entry), isMade: true };
  }

  /** CXN-5. */
  #draw(): number {
    for (;;) {
      const link = this.#random(4).reduceRight((value, byte) => 256 * value + byte, 0);
      if (link !== 0 && this.find(link) === undefined) return link;
    }
  }

  /** CXS-9, CXS-10. */
  #place(row: ServerRow, { now, address, proof, greeting, whole }: Arrival, entry: Made): Taken {
    const isMoved = !same(address, entry.address);
    entry.hello = greeting.hello;
    entry.newest = proof.stamp;
    entry.placedAt = now;
    entry.address = address;
    const { link, share, agreed } = entry;
    const linked: Linked = { type: "linked", nonce: proof.offer.nonce, link, share, agreed, proof: NO_PROOF };
    const key = proof.offer.resume === 0 ? entry.answerKey : entry.keys.resume;
    return { row, answer: encodeSession({ ...linked, proof: answerOf(key, whole, linked) }), entry, isMoved };
  }
}

/** Whether a connection has not ended. */
export function isLiving({ state }: Entry): boolean {
  return state !== "ENDED";
}

/** CXS-1. */
function otherVersion(datagram: Uint8Array, { code }: SessionError): Uint8Array | null {
  if (code !== "version" || datagram[0] !== 0x48 || datagram.length < LEAST_LINK) return null;
  return encodeSession(refusal(datagram.subarray(2, 18), REASONS.version));
}

function refusal(nonce: Uint8Array, reason: number): Refusal {
  return { type: "refused", nonce, version: VERSION, reason, proof: NO_PROOF };
}

/** CXS-11. */
function refuse({ proof, greeting, whole }: Arrival, reason: number): Uint8Array {
  const bare = refusal(proof.offer.nonce, reason);
  return encodeSession({ ...bare, proof: answerOf(greeting.refusedKey, whole, bare) });
}

function refused(row: ServerRow, arrival: Arrival, reason: number): Taken {
  return { row, answer: refuse(arrival, reason) };
}

function refusedAgain(row: ServerRow, arrival: Arrival, entry: Made): Taken {
  if (arrival.isChecked) entry.endedAt = arrival.now;
  return refused(row, arrival, entry.reason);
}

/** The last part of *old*: an anonymous client has another hello since. */
function isFirstAgain({ proof, greeting }: Arrival, entry: Made): boolean {
  return isAnonymous(proof.offer.identity) && proof.offer.resume === 0 && !same(greeting.hello, entry.hello);
}

function nameOf(identity: Uint8Array): string {
  return identity.join();
}
