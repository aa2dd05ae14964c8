/** The envelope of a connection's datagrams (CONNECTION.md, section 3.1). */

import { sealAead, unsealAead } from "./chacha.js";
import { crc32 } from "./crc32.js";
import { concat } from "./packets.js";
import { long } from "./session-keys.js";
import { decodeSession, HEAD, KINDS, SessionError, TAG_BYTES, type Data, type Mode } from "./sessions.js";
import { hmac, same } from "./sha256.js";

const REPLAY = 2048n;
const HALF = 1n << 31n;
const SPAN = 1n << 32n;
const KEY_LIFE = 1n << 40n;
const MOST_FORGED = { mac: 2 ** 32, aead: 2 ** 36 } as const;
export const MOST_COUNTER = (1n << 62n) - 1n;

/** One end of a connection: its keys, its counter, and which of the peer's counters were opened. */
export class Envelope {
  #counter = 0n;
  #highest = -1n;
  #forged = 0;
  /** The counter that was opened last of those with the same place. */
  readonly #opened = new BigInt64Array(Number(REPLAY)).fill(-1n);

  constructor(
    readonly mode: Mode,
    readonly link: number,
    private readonly sendKey: Uint8Array,
    private readonly receiveKey: Uint8Array,
  ) {}

  /** How many datagrams were sealed. */
  get counter(): bigint {
    return this.#counter;
  }

  /** The highest counter of the peer that was opened, or -1. */
  get highest(): bigint {
    return this.#highest;
  }

  /** Whether the keys have had their time (CXE-10, CXE-11). */
  get isWorn(): boolean {
    return this.#counter >= KEY_LIFE || (this.mode !== "crc" && this.#forged >= MOST_FORGED[this.mode]);
  }

  /** CXE-5. */
  seal(body: Uint8Array): Uint8Array {
    if (this.#counter > MOST_COUNTER) throw new RangeError("no counter is left");
    return sealDatagram(this.mode, this.sendKey, this.link, this.#counter++, body);
  }

  /** The body and its counter (CXE-8); throws {@link SessionError}, and then nothing has changed. */
  open(datagram: Uint8Array): { readonly counter: bigint; readonly body: Uint8Array } {
    const message = decodeSession(datagram);
    if (message.type !== "data") throw new SessionError("unknown_kind", 0);
    if (message.link !== this.link) throw new SessionError("unknown_link", 1);
    if (message.mode !== this.mode) throw new SessionError("mode", 0);
    const counter = this.#counterOf(message);
    const body = bodyOf(this.receiveKey, counter, datagram, message);
    if (body === null) {
      this.#forged++;
      throw new SessionError("tag", datagram.length - TAG_BYTES[message.mode]);
    }
    this.take(counter);
    return { counter, body };
  }

  /** CXE-7. */
  take(counter: bigint): void {
    this.#opened[place(counter)] = counter;
    if (counter > this.#highest) this.#highest = counter;
  }

  /** CXE-6, CXE-23, CXE-24. */
  #counterOf(data: Data): bigint {
    const next = this.#highest + 1n;
    let counter = next + ((((BigInt(data.counter) - next) % SPAN) + SPAN) % SPAN);
    if (counter > this.#highest + HALF) counter -= SPAN;
    if (counter < 0n || counter <= this.#highest - REPLAY) throw new SessionError("stale", 5);
    if (this.#opened[place(counter)] === counter) throw new SessionError("duplicate", 5);
    return counter;
  }
}

function place(counter: bigint): number {
  return Number(counter % REPLAY);
}

/** CXE-1 to CXE-4. */
export function sealDatagram(mode: Mode, key: Uint8Array, link: number, counter: bigint, body: Uint8Array): Uint8Array {
  const head = new DataView(new ArrayBuffer(HEAD));
  head.setUint8(0, KINDS[mode]);
  head.setUint32(1, link, true);
  head.setUint32(5, Number(counter % SPAN), true);
  const bytes = new Uint8Array(head.buffer);
  if (mode === "aead") return concat(bytes, sealAead(key, nonce(counter), body, bytes));
  return concat(bytes, body, tagOf(mode, key, counter, concat(bytes, body)));
}

/** The body, or null if the tag is not valid (CXE-25). */
function bodyOf(key: Uint8Array, counter: bigint, datagram: Uint8Array, { mode, body, tag }: Data): Uint8Array | null {
  if (mode === "aead") return unsealAead(key, nonce(counter), datagram.subarray(HEAD), datagram.subarray(0, HEAD));
  return same(tag, tagOf(mode, key, counter, datagram.subarray(0, -TAG_BYTES[mode]))) ? body : null;
}

function nonce(counter: bigint): Uint8Array {
  return concat(new Uint8Array(4), long(counter));
}

function tagOf(mode: "crc" | "mac", key: Uint8Array, counter: bigint, datagram: Uint8Array): Uint8Array {
  if (mode === "mac") return hmac(key, long(counter), datagram).subarray(0, TAG_BYTES.mac);
  const crc = crc32(concat(key.subarray(0, 8), long(counter)), datagram);
  return Uint8Array.of(crc, crc >>> 8, crc >>> 16, crc >>> 24);
}
