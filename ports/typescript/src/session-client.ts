/** The client of a session: its handshake (CONNECTION.md, section 5). */

import { Envelope } from "./envelope.js";
import {
  choice,
  digestOf,
  extensionsOf,
  Greeting,
  isAnonymous,
  isAnswer,
  linkOf,
  moveOf,
  newShare,
  NO_EXTENSION,
  type Keys,
  type Meeting,
} from "./session-keys.js";
import { checkTerms, demand, type Terms } from "./session-terms.js";
import {
  ANONYMOUS,
  decodeSession,
  encodeSession,
  isZero,
  NO_KEY,
  NO_PROOF,
  REASONS,
  VERSION,
  type Agreed,
  type Challenge,
  type Linked,
  type Offer,
  type Proof,
  type Refusal,
} from "./sessions.js";
import { same } from "./sha256.js";
import { Clock, earlier, max, MS, NEVER, type Deadline, type Micros } from "./time.js";
import { sharedSecret } from "./x25519.js";

const SECOND: Micros = 1000n * MS;
export const LINK_INTERVAL: Micros = 250n * MS;
const LINK_FAST = 2n * SECOND;
const LINK_SLOW = SECOND;
const PROOF_SPACING: Micros = 10n * MS;
const KEPT_CHALLENGES = 32;
const COOKIE_USE = 4n * SECOND;
const COOKIE_LIFE = 5n * SECOND;
const REFUSE_WAIT = SECOND;
/** The unit of TIMEOUT, in microseconds. */
export const TIMEOUT_UNIT: Micros = 100n * MS;

/** So many bytes of a cryptographically secure generator (CXN-5). */
export type RandomBytes = (size: number) => Uint8Array;

export interface SessionClientOptions {
  readonly terms: Terms;
  readonly random: RandomBytes;
  /** 8 bytes, {@link ANONYMOUS} by default, and the key of that, 32 bytes. */
  readonly identity?: Uint8Array;
  readonly key?: Uint8Array;
  /** The public key of the server, 32 bytes, if it has one. */
  readonly server?: Uint8Array | null;
}

export type SessionClientState = "LINKING" | "OPEN" | "RELINKING" | "CLOSED";

/** A row of section 5.2. */
export type ClientRow = `I${number}`;

/** Why a client is CLOSED (CXC-12); `reason` is one of REASONS, or 0. */
export interface SessionEnd {
  readonly why: "timeout" | "refused" | "closed";
  readonly reason: number;
  /** Whether it is certain that the server refused. */
  readonly proven: boolean;
}

export interface SessionClientPoll {
  readonly row: ClientRow;
  readonly datagram: Uint8Array | null;
}

/** A challenge that was taken. */
interface Kept {
  readonly challenge: Challenge;
  readonly takenAt: Micros;
  isProved: boolean;
  /** The transcript, once it was proved. */
  whole: Uint8Array;
}

/** A connection as its client has it from BEGIN on. */
interface Begun {
  readonly link: number;
  readonly share: Uint8Array;
  readonly agreed: Agreed;
  readonly keys: Keys;
  readonly envelope: Envelope;
}

/** Links, links again, and knows whether the server is there. It does nothing between events. */
export class SessionClient {
  readonly #clock = new Clock();
  readonly #random: RandomBytes;
  readonly #key: Uint8Array;
  readonly #server: Uint8Array | null;
  readonly #firstAt: Micros;
  #offer: Offer;
  #state: SessionClientState = "LINKING";
  #begun: Begun | null = null;
  #ended: SessionEnd | null = null;
  #private = new Uint8Array();
  #greeting!: Greeting;
  #challenges: Kept[] = [];
  #beganAt: Micros = 0n;
  #linkAt: Micros = 0n;
  #proofAt: Deadline = NEVER;
  #hint = 0;
  #hintAt: Micros = 0n;
  #heardAt: Micros;
  #spoke = false;

  /** Throws RangeError for a value that is not allowed (CXP-2). */
  constructor(time: Micros, options: SessionClientOptions) {
    const { terms, random, identity = ANONYMOUS, key = NO_KEY, server = null } = options;
    checkTerms(terms);
    demand(identity.length === 8 && key.length === 32, "an identity has 8 bytes, and a key 32");
    demand(!isAnonymous(identity) || isZero(key), "a key needs an identity");
    demand(terms.mode !== "crc" || (server === null && isAnonymous(identity)), "an identity or a server key needs mac or aead");
    demand(server === null || (server.length === 32 && !isZero(sharedSecret(new Uint8Array(32), server))), "the server key is not allowed");
    const now = this.#clock.advance(time);
    this.#random = random;
    this.#key = key;
    this.#server = server;
    this.#firstAt = this.#heardAt = now;
    this.#offer = { ...terms, nonce: NO_PROOF, identity, resume: 0, digest: NO_PROOF, share: NO_KEY };
    this.#renew(now);
  }

  get state(): SessionClientState {
    return this.#state;
  }

  /** What the ends agreed on, from BEGIN on. */
  get agreed(): Agreed | null {
    return this.#begun?.agreed ?? null;
  }

  /** The envelope of the connection, from BEGIN on. */
  get envelope(): Envelope | null {
    return this.#begun?.envelope ?? null;
  }

  /** The keys of the connection, from BEGIN on. */
  get keys(): Keys | null {
    return this.#begun?.keys ?? null;
  }

  /** Why the client is CLOSED. */
  get ended(): SessionEnd | null {
    return this.#ended;
  }

  /** CXC-13. */
  get deadline(): Deadline {
    if (this.#state === "CLOSED") return NEVER;
    const at = this.#since + this.#timeout;
    if (this.#state === "OPEN") return this.#spoke ? earlier(at, this.#heardAt + this.#silence) : at;
    const next = earlier(earlier(at, this.#linkAt), this.#nextProof);
    return max(this.#stands ? earlier(next, this.#hintAt + REFUSE_WAIT)! : next!, this.#clock.latest);
  }

  // Events (CXC-2).

  /** Takes one row, and gives at most one datagram (CXC-14); poll again until none is given, and once more after I16. */
  poll(time: Micros): SessionClientPoll {
    const now = this.#clock.advance(time);
    const state = this.#state;
    if (state === "CLOSED") return silent("I38");
    if (now - this.#since >= this.#timeout) {
      this.#fail(this.#hint === 0 ? { why: "timeout", reason: 0, proven: false } : this.#hinted);
      return silent(({ LINKING: "I1", OPEN: "I15", RELINKING: "I24" } as const)[state]);
    }
    if (state !== "OPEN") return this.#pollLinking(now, state === "LINKING");
    if (!this.#spoke || now - this.#heardAt < this.#silence) return silent("I17");
    this.#renew(now);
    this.#state = "RELINKING";
    return silent("I16");
  }

  /** A message of the handshake has arrived; null: a client does not take it. Throws SessionError (section 3.3). */
  receive(time: Micros, datagram: Uint8Array): ClientRow | null {
    const now = this.#clock.advance(time);
    const message = decodeSession(new Uint8Array(datagram));
    switch (message.type) {
      case "challenge":
        return this.#challenge(now, message);
      case "linked":
        return this.#linked(now, message);
      case "refused":
        return this.#refused(now, message);
      default:
        return null;
    }
  }

  /** A datagram of the connection with news was opened (CXC-11, CXL-15). */
  data(time: Micros): ClientRow {
    const now = this.#clock.advance(time);
    if (this.#state === "LINKING") throw new RangeError("there is no connection");
    if (this.#state !== "CLOSED") {
      this.#heardAt = now;
      this.#spoke = false;
    }
    return ({ OPEN: "I21", RELINKING: "I35", CLOSED: "I42" } as const)[this.#state];
  }

  /** A datagram of the connection was sent. */
  sent(time: Micros): void {
    this.#clock.advance(time);
    this.#spoke = true;
  }

  /** The address of this end is another one, or may be. */
  move(time: Micros): ClientRow {
    const now = this.#clock.advance(time);
    const row = ({ LINKING: "I13", OPEN: "I22", RELINKING: "I36", CLOSED: "I43" } as const)[this.#state];
    if (this.#state === "CLOSED") return row;
    this.#renew(now);
    if (this.#state === "OPEN") this.#state = "RELINKING";
    return row;
  }

  /** The application, or the connection, has closed. */
  close(time: Micros): ClientRow {
    this.#clock.advance(time);
    const row = ({ LINKING: "I14", OPEN: "I23", RELINKING: "I37", CLOSED: "I44" } as const)[this.#state];
    if (this.#state !== "CLOSED") this.#fail({ why: "closed", reason: 0, proven: false });
    return row;
  }

  // Guards (CXC-3).

  get #isKnown(): boolean {
    return !isAnonymous(this.#offer.identity);
  }

  get #stands(): boolean {
    return this.#hint !== 0 && (this.#state === "LINKING" || !this.#isKnown);
  }

  get #hinted(): SessionEnd {
    return { why: "refused", reason: this.#hint, proven: false };
  }

  get #since(): Micros {
    return this.#state === "LINKING" ? this.#firstAt : this.#heardAt;
  }

  get #timeout(): Micros {
    return BigInt((this.#begun?.agreed ?? this.#offer).timeout) * TIMEOUT_UNIT;
  }

  get #silence(): Micros {
    return (this.#timeout * 3n) / 10n;
  }

  #interval(now: Micros): Micros {
    return now - this.#beganAt < LINK_FAST ? LINK_INTERVAL : LINK_SLOW;
  }

  /** CXC-6. */
  #toProve(now: Micros): Kept | undefined {
    const since = this.#proofAt === NEVER ? null : now - this.#proofAt;
    if (since === null || since >= PROOF_SPACING) {
      const first = this.#challenges.find((kept) => !kept.isProved && isInUse(kept, now));
      if (first !== undefined) return first;
    }
    const last = this.#challenges.at(-1);
    const isAgain = last?.isProved && isInUse(last, now) && since !== null && since >= this.#interval(now);
    return isAgain ? last : undefined;
  }

  /** The first time from now on at which a challenge is to be proved. */
  get #nextProof(): Deadline {
    const [now, proofAt] = [this.#clock.latest, this.#proofAt];
    let at: Deadline = NEVER;
    const soon = proofAt === NEVER ? now : max(now, proofAt + PROOF_SPACING);
    for (const kept of this.#challenges) if (!kept.isProved && isInUse(kept, soon)) at = earlier(at, soon);
    const last = this.#challenges.at(-1);
    if (!last?.isProved || proofAt === NEVER) return at;
    const fast = max(now, proofAt + LINK_INTERVAL);
    const again = fast - this.#beganAt < LINK_FAST ? fast : max(fast, proofAt + LINK_SLOW);
    return isInUse(last, again) ? earlier(at, again) : at;
  }

  /** Whether the proof of an answer is that for a challenge that was proved, and is not too old. */
  #isProven(now: Micros, key: Uint8Array, message: Linked | Refusal): boolean {
    const answered = this.#challenges.filter((kept) => kept.isProved && now - kept.takenAt < COOKIE_LIFE);
    return answered.some((kept) => isAnswer(key, kept.whole, message));
  }

  /** CXC-17. */
  #fits({ link, share, agreed }: Linked): boolean {
    const begun = this.#begun;
    if (this.#state === "RELINKING" && begun !== null) {
      return link === begun.link && same(share, begun.share) && isSameAgreement(agreed, begun.agreed);
    }
    const { lanes, variants, extensions, timeout } = this.#offer;
    const isOffered = (agreed.variant & ~variants) === 0 && (agreed.extensions & ~(extensions & ~NO_EXTENSION)) === 0;
    return isOffered && agreed.lanes <= lanes && agreed.timeout <= timeout;
  }

  #isHint({ reason, proof }: Refusal): boolean {
    if (!same(proof, NO_PROOF)) return false;
    if (reason === REASONS.version) return this.#challenges.length === 0;
    return reason === REASONS.identity && this.#challenges.some(({ isProved }) => isProved);
  }

  // Actions (section 5.3).

  #pollLinking(now: Micros, isFirst: boolean): SessionClientPoll {
    if (this.#stands && now - this.#hintAt >= REFUSE_WAIT) {
      this.#fail(this.#hinted);
      return silent(isFirst ? "I2" : "I45");
    }
    const kept = this.#toProve(now);
    if (kept !== undefined) {
      kept.isProved = true;
      this.#proofAt = now;
      return { row: isFirst ? "I3" : "I25", datagram: encodeSession(this.#prove(kept)) };
    }
    if (now < this.#linkAt) return silent(isFirst ? "I5" : "I27");
    this.#linkAt = now + this.#interval(now);
    return { row: isFirst ? "I4" : "I26", datagram: encodeSession(linkOf(this.#offer.nonce)) };
  }

  #prove(kept: Kept): Proof {
    const { challenge } = kept;
    const seen = this.#greeting.seen(challenge);
    const move = this.#begun === null ? NO_PROOF : moveOf(this.#begun.keys.resume, seen);
    const { proof, whole } = this.#greeting.prove(seen, move);
    kept.whole = whole;
    return { type: "proof", offer: this.#offer, stamp: challenge.stamp, cookie: challenge.cookie, move, proof };
  }

  #challenge(now: Micros, challenge: Challenge): ClientRow {
    if (this.#state === "OPEN") return "I18";
    if (this.#state === "CLOSED") return "I39";
    const isFirst = this.#state === "LINKING";
    if (!this.#isTaken(challenge)) return isFirst ? "I7" : "I29";
    if (this.#challenges.length === 0) this.#hint = 0; // TAKE: CXC-5
    if (this.#challenges.length === KEPT_CHALLENGES) {
      this.#challenges.splice(Math.max(this.#challenges.findIndex(({ isProved }) => !isProved), 0), 1);
    }
    this.#challenges.push({ challenge, takenAt: now, isProved: false, whole: new Uint8Array() });
    return isFirst ? "I6" : "I28";
  }

  /** Whether a challenge is for this attempt, and new. */
  #isTaken(challenge: Challenge): boolean {
    const { nonce, version, versions } = challenge;
    if (!same(nonce, this.#offer.nonce) || version !== VERSION) return false;
    if (choice(linkOf(nonce).versions, versions) !== VERSION) return false;
    const bytes = encodeSession(challenge);
    return !this.#challenges.some((kept) => same(bytes, encodeSession(kept.challenge)));
  }

  #linked(now: Micros, message: Linked): ClientRow {
    if (this.#state === "OPEN") return "I19";
    if (this.#state === "CLOSED") return "I40";
    const isFirst = this.#state === "LINKING";
    const isValid = same(message.nonce, this.#offer.nonce) && this.#fits(message) && (isFirst ? this.#begin(now, message) : this.#isMoved(now, message));
    if (!isValid) return isFirst ? "I9" : "I31";
    this.#state = "OPEN";
    this.#heardAt = now;
    this.#spoke = false;
    this.#challenges = [];
    this.#hint = 0;
    return isFirst ? "I8" : "I30";
  }

  /** BEGIN, if the proof is valid (CXC-7). */
  #begin(now: Micros, message: Linked): boolean {
    const meeting: Meeting | null = this.#greeting.meet(this.#private, message.share);
    if (meeting === null || !this.#isProven(now, meeting.answerKey, message)) return false;
    const { link, share, agreed } = message;
    const keys = meeting.keys(message);
    this.#begun = { link, share, agreed, keys, envelope: new Envelope(this.#offer.mode, link, keys.c2s, keys.s2c) };
    return true;
  }

  #isMoved(now: Micros, message: Linked): boolean {
    return this.#begun !== null && this.#isProven(now, this.#begun.keys.resume, message);
  }

  #refused(now: Micros, message: Refusal): ClientRow {
    if (this.#state === "OPEN") return "I20";
    if (this.#state === "CLOSED") return "I41";
    const isFirst = this.#state === "LINKING";
    const isOurs = same(message.nonce, this.#offer.nonce);
    const isProven = isOurs && this.#isProven(now, this.#greeting.refusedKey, message);
    if (isProven && (isFirst || this.#isKnown)) {
      this.#fail({ why: "refused", reason: message.reason, proven: this.#isKnown });
      return isFirst ? "I10" : "I32";
    }
    if (!isProven && !(isOurs && this.#isHint(message))) return isFirst ? "I12" : "I34";
    if (this.#hint === 0) {
      this.#hint = message.reason; // HINT: CXC-10
      this.#hintAt = now;
    }
    return isFirst ? "I11" : "I33";
  }

  /** RENEW: CXC-9. */
  #renew(now: Micros): void {
    const nonce = Uint8Array.from(this.#random(16));
    this.#private = Uint8Array.from(this.#random(32));
    this.#offer = {
      ...this.#offer,
      nonce,
      extensions: extensionsOf(nonce, this.#offer.extensions),
      resume: this.#begun?.link ?? 0,
      digest: digestOf(linkOf(nonce)),
      share: newShare(this.#offer.mode, this.#private),
    };
    this.#greeting = new Greeting(this.#offer, this.#key, this.#server);
    if (this.#server !== null && this.#begun === null) this.#greeting.know(this.#private, this.#server);
    this.#challenges = [];
    this.#hint = 0;
    this.#beganAt = this.#linkAt = now;
  }

  #fail(end: SessionEnd): void {
    this.#state = "CLOSED";
    this.#ended = end;
  }
}

function silent(row: ClientRow): SessionClientPoll {
  return { row, datagram: null };
}

function isInUse({ takenAt }: Kept, at: Micros): boolean {
  return at - takenAt < COOKIE_USE;
}

function isSameAgreement(a: Agreed, b: Agreed): boolean {
  return a.lanes === b.lanes && a.variant === b.variant && a.extensions === b.extensions && a.timeout === b.timeout;
}
