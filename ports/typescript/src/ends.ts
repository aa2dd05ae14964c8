/** A client and a server of connections: the handshake and what follows, without sockets and clocks. */

import { channel, type ChannelKind, type ChannelOptions } from "./channels.js";
import { closeRecord, Connection, defaultGiveUp, type ConnectionOptions, type Ending, type Refused } from "./connection.js";
import type { Envelope } from "./envelope.js";
import type { ChunkRefusal } from "./lanes.js";
import type { Ecn } from "./marks.js";
import type { ChannelSetup, Delivery, MessageRefusal } from "./mux.js";
import { SessionClient, TIMEOUT_UNIT, type RandomBytes, type SessionClientOptions, type SessionEnd } from "./session-client.js";
import { isLiving, SessionServer, type Entry, type SessionServerOptions } from "./session-server.js";
import { addressBytes, CLOCKS, formatOf, MARKS, NAMED, REPAIR, type Terms } from "./session-terms.js";
import { isData, REASONS, SessionError, type Agreed, type Mode } from "./sessions.js";
import { earlier, max, NEVER, type Deadline, type Micros } from "./time.js";

const SEED_BYTES = 16;

/** A channel: its kind, its parameters, and its priority, 0 to 255, of which more is sent first. */
export interface ChannelSpec extends ChannelOptions {
  readonly kind: ChannelKind;
  readonly priority?: number;
}

/** What both kinds of ends have. Times are in microseconds. */
export interface EndOptions {
  /** Bytes of a cryptographically secure generator. */
  readonly random: RandomBytes;
  /** 32 bits, the same at both ends; 0 by default. */
  readonly protocol?: number;
  /** The same at both ends; aead by default. */
  readonly mode?: Mode;
  /** By their ids, 0 to 63, the same at both ends; none by default. */
  readonly channels?: Readonly<Record<number, ChannelSpec>>;
  /** Lanes for chunks, 0 to 16; 1 by default. */
  readonly lanes?: number;
  /** {@link NAMED} and {@link REPAIR} by default. */
  readonly variants?: number;
  /** 1 s to 3,600 s; 10 s by default. */
  readonly timeout?: Micros;
  /** Whether the driver reads and sets the field ECN of each datagram; no by default. */
  readonly marks?: boolean;
  readonly tick?: Micros;
  readonly messageRate?: number;
  readonly waitingChunks?: number;
}

/** With an identity and its key, and the public key of the server, where there are such. */
export type ClientOptions = EndOptions & Pick<SessionClientOptions, "identity" | "key" | "server">;

/** With the keys of identities, whether clients without one are accepted, and the private key of the server. */
export type ServerOptions = EndOptions & Pick<SessionServerOptions, "keys" | "anonymous" | "secret" | "maxConnections" | "maxPerAddress">;

function termsOf(options: EndOptions): Terms {
  const { protocol = 0, mode = "aead", lanes = 1, variants = NAMED | REPAIR, timeout = 100n * TIMEOUT_UNIT, marks = false } = options;
  const format = formatOf(setups(options, timeout));
  return { protocol, mode, lanes, variants, extensions: marks ? CLOCKS | MARKS : CLOCKS, timeout: Number(timeout / TIMEOUT_UNIT), format };
}

/** The channels, which give up by default as the agreed timeout says (CXP-6). */
function setups({ channels = {} }: EndOptions, timeout: Micros): Map<number, ChannelSetup> {
  const least = max(defaultGiveUp(timeout), 10n * TIMEOUT_UNIT);
  const entries = Object.entries(channels).map(([id, { kind, priority = 0, ...options }]) => {
    return [Number(id), { ...channel(kind, { giveUp: least, ...options }), priority }] as const;
  });
  return new Map(entries);
}

function connect(now: Micros, envelope: Envelope, side: "client" | "server", agreed: Agreed, options: EndOptions): Connection {
  const { tick, messageRate, waitingChunks, random } = options;
  const own: Partial<ConnectionOptions> = {
    ...(tick === undefined ? {} : { tick }),
    ...(messageRate === undefined ? {} : { messageRate }),
    ...(waitingChunks === undefined ? {} : { waitingChunks }),
  };
  const seed = Uint8Array.from(random(SEED_BYTES)); // CXN-5
  return new Connection(now, envelope, { side, agreed, channels: setups(options, BigInt(agreed.timeout) * TIMEOUT_UNIT), seed, ...own });
}

export type ClientState = "LINKING" | "OPEN" | "RELINKING" | "CLOSING" | "CLOSED";

/** A datagram to be sent; `ect`: with ECT(0) in the field ECN, where the ends have agreed on marks. */
export interface Outgoing {
  readonly datagram: Uint8Array;
  readonly ect: boolean;
}

/** The end that begins. It does nothing between calls: give it what arrives, and poll it at its deadline or before. */
export class Client {
  readonly #options: ClientOptions;
  readonly #session: SessionClient;
  #connection: Connection | null = null;
  #ended: Ending | null = null;

  /** Throws RangeError for an option that is not allowed. */
  constructor(now: Micros, options: ClientOptions) {
    const { random, identity, key, server = null } = options;
    const known = identity === undefined || key === undefined ? {} : { identity, key };
    this.#options = options;
    this.#session = new SessionClient(now, { terms: termsOf(options), random, server, ...known });
  }

  /** LINKING until the server has answered; RELINKING while the client looks for it again, and the connection goes on. */
  get state(): ClientState {
    if (this.#connection === null || this.#connection.state === "OPEN") return this.#session.state;
    return this.#connection.state;
  }

  /** The connection, null before there is one. The client polls it, and gives it what arrives. */
  get connection(): Connection | null {
    return this.#connection;
  }

  /** Why there is no connection any more, or none was made; null before. */
  get ended(): Ending | SessionEnd | null {
    const ended = this.#ended ?? this.#connection?.ended ?? null;
    return ended === null || ended.why === "ended" ? this.#session.ended : ended;
  }

  /** When to poll at the latest, in microseconds; null: at no time. */
  get deadline(): Deadline {
    return earlier(this.#session.deadline, this.#connection?.deadline ?? NEVER);
  }

  /** A datagram of the server has arrived, whose bytes are copied; null, or why it was refused. */
  receive(now: Micros, datagram: Uint8Array, ecn: Ecn = "not-ect"): Refused | null {
    if (this.#connection === null || !isData(datagram)) return this.#receiveMessage(now, datagram);
    const { news, refused } = this.#connection.receive(now, datagram, ecn);
    if (news) this.#session.data(now);
    this.#settle(now);
    return refused;
  }

  /** The next datagram to be sent, or null; poll again until it is null. */
  poll(now: Micros): Outgoing | null {
    let polled = this.#session.poll(now);
    if (polled.row === "I16") polled = this.#session.poll(now);
    if (polled.datagram !== null) return { datagram: polled.datagram, ect: false };
    this.#settle(now);
    const { datagram, ect } = this.#connection?.poll(now) ?? { datagram: null, ect: false };
    if (datagram !== null) this.#session.sent(now);
    this.#settle(now);
    return datagram && { datagram, ect };
  }

  /** Sends a message, by default without an end of its time; null, or why it is refused. */
  send(now: Micros, channelId: number, message: Uint8Array, lifetime: Micros | null = null): MessageRefusal | "ended" | "linking" | null {
    return this.#connection?.send(now, channelId, message, lifetime) ?? this.#refusal;
  }

  /** What a channel delivers next, or null. */
  read(now: Micros, channelId: number): Delivery | null {
    return this.#connection?.read(now, channelId) ?? null;
  }

  /** Sends a chunk of 1 to 262,144 bytes; null, or why it is refused. */
  sendChunk(now: Micros, chunk: Uint8Array): ChunkRefusal | "ended" | "linking" | null {
    return this.#connection?.sendChunk(now, chunk) ?? this.#refusal;
  }

  /** The next chunk that is here, or null. */
  readChunk(now: Micros): Uint8Array | null {
    return this.#connection?.readChunk(now) ?? null;
  }

  /** Closes, with a code that is 0 or 256 to 65,535 and a text of at most 128 bytes; throws RecordError for others. */
  close(now: Micros, code = 0, text = ""): void {
    if (this.#connection !== null) {
      this.#connection.close(now, code, text);
    } else if (this.#session.state !== "CLOSED") {
      closeRecord(code, text);
      this.#ended = { why: "closed", code, text, remote: false };
      this.#session.close(now);
    }
  }

  /** The address of this end has changed: the client links again, and the connection goes on. */
  move(now: Micros): void {
    this.#session.move(now);
    this.#connection?.move(now);
  }

  get #refusal(): "ended" | "linking" | null {
    if (this.#connection !== null) return null;
    return this.#session.state === "CLOSED" ? "ended" : "linking";
  }

  #receiveMessage(now: Micros, datagram: Uint8Array): Refused | null {
    const before = this.#session.state;
    try {
      this.#session.receive(now, datagram);
    } catch (error) {
      if (error instanceof SessionError) return error;
      throw error;
    }
    if (before !== "OPEN" && this.#session.state === "OPEN") this.#link(now);
    this.#settle(now);
    return null;
  }

  /** BEGIN, or MOVED. */
  #link(now: Micros): void {
    const { agreed, envelope } = this.#session;
    if (this.#connection !== null) this.#connection.relinked(now, true);
    else if (agreed !== null && envelope !== null) this.#connection = connect(now, envelope, "client", agreed, this.#options);
  }

  /** Ends what must end with the other. */
  #settle(now: Micros): void {
    if (this.#connection === null) return;
    if (this.#session.state === "CLOSED") this.#connection.end(now);
    else if (this.#connection.state === "CLOSED") this.#session.close(now);
  }
}

/** A connection at its server. */
export interface Peer {
  readonly connection: Connection;
  /** 8 bytes, zeros if the client has none. */
  readonly identity: Uint8Array;
  /** Where the client is, or was last. */
  readonly address: string;
}

interface Made extends Peer {
  readonly entry: Entry;
  address: string;
}

/** What came of a datagram: an answer to where it came from, whose it was, and what became of that. */
export interface Received {
  readonly answer: Uint8Array | null;
  readonly peer: Peer | null;
  readonly event: "accepted" | "moved" | null;
  readonly refused: Refused | null;
}

/** A datagram to be sent to an address. */
export interface OutgoingTo extends Outgoing {
  readonly to: string;
}

const NOTHING: Received = { answer: null, peer: null, event: null, refused: null };

/** The end that accepts. It does nothing between calls: give it what arrives, and poll it at its deadline or before. */
export class Server {
  readonly #options: ServerOptions;
  readonly #session: SessionServer;
  #peers: Made[] = [];

  /** Throws RangeError for an option that is not allowed. */
  constructor(options: ServerOptions) {
    this.#options = options;
    this.#session = new SessionServer({ ...options, terms: termsOf(options) });
  }

  /** The connections that have not ended, or whose end is still to be sent. */
  get peers(): readonly Peer[] {
    return this.#peers;
  }

  /** When to poll at the latest, in microseconds; null: at no time. */
  get deadline(): Deadline {
    return this.#peers.reduce<Deadline>((at, { connection }) => earlier(at, connection.deadline), this.#session.deadline);
  }

  /** A datagram has arrived from an address such as "192.0.2.1:40000"; its bytes are copied. */
  receive(now: Micros, from: string, datagram: Uint8Array, ecn: Ecn = "not-ect"): Received {
    return isData(datagram) ? this.#receiveData(now, from, datagram, ecn) : this.#receiveMessage(now, from, datagram);
  }

  /** The next datagram to be sent, or null; poll again until it is null. */
  poll(now: Micros): OutgoingTo | null {
    this.#session.poll(now);
    for (const peer of this.#peers) {
      const { datagram, ect } = peer.connection.poll(now);
      this.#settle(now, peer);
      if (datagram !== null) return { to: peer.address, datagram, ect };
    }
    this.#peers = this.#peers.filter(({ connection }) => connection.state !== "CLOSED");
    return null;
  }

  /** CXE-9: data count only from the address of their connection. */
  #receiveData(now: Micros, from: string, datagram: Uint8Array, ecn: Ecn): Received {
    if (datagram.length < 5) return { ...NOTHING, refused: { code: "truncated", at: datagram.length } };
    const link = datagram.subarray(1, 5).reduceRight((value, byte) => 256 * value + byte, 0);
    const entry = this.#session.find(link);
    const address = addressBytes(from);
    if (entry === undefined || !isLiving(entry) || entry.address.some((byte, i) => byte !== address[i])) {
      return { ...NOTHING, refused: { code: "unknown_link", at: 1 } };
    }
    const peer = this.#peers.find((known) => known.entry === entry);
    if (peer === undefined) return this.#accept(now, from, entry, datagram, ecn);
    const { row, refused } = peer.connection.receive(now, datagram, ecn);
    if (row !== "K1" && row !== "K9" && row !== "K16") this.#session.data(now, entry);
    this.#settle(now, peer);
    return { ...NOTHING, peer, refused };
  }

  /** CONFIRM: the first datagram that is opened makes the connection (CXL-9). */
  #accept(now: Micros, from: string, entry: Entry, datagram: Uint8Array, ecn: Ecn): Received {
    let body: Uint8Array;
    try {
      body = entry.envelope.open(datagram).body;
    } catch (error) {
      if (error instanceof SessionError) return { ...NOTHING, refused: error };
      throw error;
    }
    this.#session.data(now, entry);
    const connection = connect(now, entry.envelope, "server", entry.agreed, this.#options);
    const peer = { connection, identity: entry.identity, address: from, entry };
    this.#peers.push(peer);
    const { refused } = connection.receiveOpened(now, body, ecn);
    this.#settle(now, peer);
    return { ...NOTHING, peer, event: "accepted", refused };
  }

  #receiveMessage(now: Micros, from: string, datagram: Uint8Array): Received {
    const { answer, error = null, entry, isMoved = false } = this.#session.receive(now, addressBytes(from), datagram);
    for (const { entry: other, connection } of this.#peers) if (!isLiving(other)) connection.end(now); // replaced, if it was open
    const peer = this.#peers.find((known) => known.entry === entry);
    if (peer === undefined) return { ...NOTHING, answer, refused: error };
    peer.address = from;
    peer.connection.relinked(now, isMoved);
    return { answer, peer, event: isMoved ? "moved" : null, refused: error };
  }

  /** Ends the entry of a connection that has closed. */
  #settle(now: Micros, { connection, entry }: Made): void {
    if (connection.state === "CLOSED" && isLiving(entry)) this.#session.end(now, entry, REASONS.closed);
  }
}
