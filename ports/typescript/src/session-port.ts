/** The operations of the port for sessions (CONNECTION.md, appendix C). */

import { Envelope, MOST_COUNTER, sealDatagram } from "./envelope.js";
import {
  demand,
  flag,
  formatHex,
  longWithin,
  micros,
  placed,
  readArray,
  readBytes,
  readHex,
  readObject,
  Refusal,
  text,
  within,
} from "./fields.js";
import type { Json, JsonObject } from "./json.js";
import { isWithin } from "./limits.js";
import type { Answer } from "./packet-port.js";
import { SessionClient, type ClientRow, type RandomBytes } from "./session-client.js";
import { answerOf, cookieOf, digestOf, Greeting, isAnonymous, moveOf } from "./session-keys.js";
import { isLiving, SessionServer, type Entry } from "./session-server.js";
import { addressBytes, type Terms } from "./session-terms.js";
import {
  decodeSession,
  encodeSession,
  isZero,
  KINDS,
  LEAST_TIMEOUT,
  MOST_LANES,
  MOST_TIMEOUT,
  NO_PROOF,
  SessionError,
  type Agreed,
  type Challenge,
  type HandshakeMessage,
  type Link,
  type Linked,
  type Mode,
  type Offer,
  type Proof,
  type Refusal as Refused,
  type SessionMessage,
} from "./sessions.js";
import type { Deadline } from "./time.js";

const U8 = 0xff;
const U16 = 0xffff;
const U32 = 0xffff_ffff;
const U64 = (1n << 64n) - 1n;
const MOST_BODY = 1200;
const MOST_STEP = 1n << 31n;

/** CXO-3. */
export function sessionEncode(request: JsonObject): Answer {
  const message = readMessage(readObject(request["message"]));
  return { hex: formatHex(placed(() => encodeSession(message))) };
}

export function sessionDecode(request: JsonObject): Answer {
  const datagram = readHex(request, "hex");
  return { message: describe(placed(() => decodeSession(datagram))) };
}

/** CXO-4. */
export function sessionSeal(request: JsonObject): Answer {
  const [mode, key, link] = [readMode(request), readBytes(request, "key", 32), within(request, "link", 1, U32)];
  const body = readHex(request, "body");
  demand(isWithin(body.length, 1, MOST_BODY));
  return { hex: formatHex(sealDatagram(mode, key, link, longWithin(request, "counter", 0n, MOST_COUNTER), body)) };
}

export function sessionOpen(request: JsonObject): Answer {
  const key = readBytes(request, "key", 32);
  const envelope = new Envelope(readMode(request), within(request, "link", 1, U32), key, key);
  for (const taken of readArray(request["taken"])) {
    const before = envelope.highest;
    if (typeof taken !== "bigint" || taken <= before || taken > MOST_COUNTER) throw new Refusal("bad_request");
    demand(taken <= (before < 0n ? 0n : before) + MOST_STEP);
    envelope.take(taken);
  }
  const datagram = readHex(request, "hex");
  const { counter, body } = placed(() => envelope.open(datagram));
  return { counter, body: formatHex(body) };
}

/** CXO-6. */
export function sessionKeys(request: JsonObject): Answer {
  const [key, secret, resume] = [readBytes(request, "key", 32), readBytes(request, "private", 32), readBytes(request, "resume", 32)];
  const challenge = readOf<Challenge>(request, "challenge", "challenge");
  const proof = readOf<Proof>(request, "proof", "proof");
  const linked = readOf<Linked>(request, "linked", "linked");
  const refused = readOf<Refused>(request, "refused", "refused");
  const server = readServerKey(request);
  const greeting = new Greeting(proof.offer, key, server);
  const seen = greeting.seen(challenge);
  const resumes = proof.offer.resume !== 0;
  const move = resumes ? moveOf(resume, seen) : NO_PROOF;
  const { proof: proved, whole } = greeting.prove(seen, move);
  const knows = server === null || greeting.know(secret, server);
  const meeting = knows ? greeting.meet(secret, linked.share) : null;
  if (meeting === null) throw new Refusal("share", -1);
  const keys = meeting.keys(linked);
  const made: Record<string, Uint8Array> = {
    hello: greeting.hello,
    given: greeting.given,
    first: greeting.first,
    proof_key: greeting.proofKey,
    refused_key: greeting.refusedKey,
    next: greeting.next,
    seen,
    move,
    proof: proved,
    whole,
    shared: meeting.shared,
    second: meeting.second,
    answer_key: meeting.answerKey,
    linked: answerOf(resumes ? resume : meeting.answerKey, whole, linked),
    refused: answerOf(greeting.refusedKey, whole, refused),
    connection: meeting.connection(linked),
    c2s: keys.c2s,
    s2c: keys.s2c,
    resume: keys.resume,
    ...(server === null ? {} : { static: greeting.static, known: greeting.known }),
  };
  return Object.fromEntries(Object.entries(made).map(([name, bytes]) => [name, formatHex(bytes)]));
}

/** CXO-5. */
export function sessionCookie(request: JsonObject): Answer {
  const address = addressBytes(text(request, "address"));
  const digest = digestOf(readOf<Link>(request, "link", "link"));
  const cookie = cookieOf(readBytes(request, "secret", 32), micros(request, "stamp"), address, digest);
  return { address: formatHex(address), digest: formatHex(digest), cookie: formatHex(cookie) };
}

function readOf<Message extends HandshakeMessage>(request: JsonObject, field: string, type: Message["type"]): Message {
  const datagram = readHex(request, field);
  try {
    const message = decodeSession(datagram);
    demand(message.type === type);
    return message as Message;
  } catch (error) {
    if (error instanceof SessionError) throw new Refusal("bad_request");
    throw error;
  }
}

function readServerKey(object: JsonObject): Uint8Array | null {
  if (object["server"] === undefined) return null;
  const key = readBytes(object, "server", 32);
  demand(!isZero(key));
  return key;
}

export function readMode(object: JsonObject): Mode {
  const mode = text(object, "mode");
  demand(Object.hasOwn(KINDS, mode));
  return mode as Mode;
}

/** CXO-3; its values need not be valid, for the encoder to refuse them, nor its type. */
function readMessage(source: JsonObject): HandshakeMessage {
  const type = text(source, "type") as HandshakeMessage["type"];
  const bytes = (field: string, size: number): Uint8Array => readBytes(source, field, size);
  switch (type) {
    case "link":
      return { type, nonce: bytes("nonce", 16), versions: bytes("versions", 8), reserved: bytes("reserved", 38) };
    case "challenge": {
      const version = within(source, "version", 0, U8);
      return { type, nonce: bytes("nonce", 16), stamp: readStamp(source), cookie: bytes("cookie", 16), version, versions: bytes("versions", 8) };
    }
    case "proof": {
      const [move, proof] = [bytes("move", 16), bytes("proof", 16)];
      return { type, offer: readOffer(source), stamp: readStamp(source), cookie: bytes("cookie", 16), move, proof };
    }
    case "linked": {
      const [link, agreed] = [within(source, "link", 0, U32), readAgreed(source)];
      return { type, nonce: bytes("nonce", 16), link, share: bytes("share", 32), agreed, proof: bytes("proof", 16) };
    }
    case "refused": {
      const [version, reason] = [within(source, "version", 0, U8), within(source, "reason", 0, U8)];
      return { type, nonce: bytes("nonce", 16), version, reason, proof: bytes("proof", 16) };
    }
    default:
      return { type } as never;
  }
}

function readStamp(source: JsonObject): bigint {
  return longWithin(source, "stamp", 0n, U64);
}

function readOffer(source: JsonObject): Offer {
  return {
    nonce: readBytes(source, "nonce", 16),
    protocol: within(source, "protocol", 0, U32),
    mode: text(source, "mode") as Mode,
    lanes: within(source, "lanes", 0, U8),
    variants: within(source, "variants", 0, U8),
    extensions: within(source, "extensions", 0, U16),
    timeout: within(source, "timeout", 0, U16),
    format: readBytes(source, "format", 8),
    identity: readBytes(source, "identity", 8),
    resume: within(source, "resume", 0, U32),
    digest: readBytes(source, "digest", 16),
    share: readBytes(source, "share", 32),
  };
}

function readAgreed(source: JsonObject): Agreed {
  return {
    lanes: within(source, "lanes", 0, U8),
    variant: within(source, "variant", 0, U8),
    extensions: within(source, "extensions", 0, U16),
    timeout: within(source, "timeout", 0, U16),
  };
}

function describe(message: SessionMessage): JsonObject {
  const { offer, agreed, ...own } = { offer: {}, agreed: {}, ...message };
  const fields = Object.entries({ ...own, ...offer, ...agreed }).map(([name, value]) => [name, value instanceof Uint8Array ? formatHex(value) : value]);
  return Object.fromEntries(fields) as JsonObject;
}

// Machines.

function readTerms(config: JsonObject): Terms {
  return {
    protocol: within(config, "protocol", 0, U32),
    mode: readMode(config),
    lanes: within(config, "lanes", 0, MOST_LANES),
    variants: within(config, "variants", 1, U8),
    extensions: within(config, "extensions", 0, U16),
    timeout: within(config, "timeout", LEAST_TIMEOUT, MOST_TIMEOUT),
    format: readBytes(config, "format", 8),
  };
}

/** The bytes of a request, which can be used up (CXN-5). */
function readRandom(config: JsonObject): RandomBytes {
  let left = readHex(config, "random");
  return (size) => {
    demand(left.length >= size);
    const taken = left.subarray(0, size);
    left = left.subarray(size);
    return taken;
  };
}

/** CXO-7. */
export function sessionClient(request: JsonObject): Answer {
  const config = readObject(request["config"]);
  const [terms, random] = [readTerms(config), readRandom(config)];
  const [identity, key, server] = [readBytes(config, "identity", 8), readBytes(config, "key", 32), readServerKey(config)];
  const events = readArray(request["events"]).map((event) => readObject(event));
  const [first] = events;
  if (first === undefined) return { steps: [] };
  const client = new SessionClient(micros(first, "at"), { terms, random, identity, key, server });
  return { steps: events.map((event) => clientStep(client, event)) };
}

/** CXO-8. */
function clientStep(client: SessionClient, event: JsonObject): Json {
  const before = client.envelope;
  const { rows, datagrams = [], refused = null } = runClient(client, event);
  const { agreed, envelope, ended, keys } = client;
  const isBegun = before === null && agreed !== null && envelope !== null && keys !== null;
  return {
    rows,
    state: client.state,
    refused,
    datagrams: datagrams.map(formatHex),
    link: isBegun ? { link: envelope.link, ...agreed, sealed: firstSealed(envelope, keys.c2s) } : null,
    ended: ended && { ...ended },
    deadline: notBefore(client.deadline, event),
  };
}

/** No deadline is before its step. */
function notBefore(deadline: Deadline, event: JsonObject): Deadline {
  const at = micros(event, "at");
  return deadline !== null && deadline < at ? at : deadline;
}

function firstSealed({ mode, link }: Envelope, key: Uint8Array): string {
  return formatHex(sealDatagram(mode, key, link, 0n, new Uint8Array(1)));
}

interface Outcome {
  readonly rows: readonly string[];
  readonly datagrams?: readonly Uint8Array[];
  readonly refused?: Json;
}

function runClient(client: SessionClient, event: JsonObject): Outcome {
  const name = text(event, "event");
  const at = micros(event, "at");
  switch (name) {
    case "poll":
      return pollClient(client, at);
    case "receive":
      return receiveClient(client, at, readHex(event, "hex"));
    case "data":
      return { rows: [client.data(at)] };
    case "sent":
      client.sent(at);
      return { rows: [] };
    case "move":
      return { rows: [client.move(at)] };
    case "close":
      return { rows: [client.close(at)] };
    default:
      throw new Refusal("unsupported");
  }
}

function pollClient(client: SessionClient, at: bigint): Outcome {
  const rows: ClientRow[] = [];
  const datagrams: Uint8Array[] = [];
  for (;;) {
    const { row, datagram } = client.poll(at);
    rows.push(row);
    if (datagram === null) return { rows, datagrams };
    datagrams.push(datagram);
  }
}

function receiveClient(client: SessionClient, at: bigint, datagram: Uint8Array): Outcome {
  try {
    const row = client.receive(at, datagram);
    return { rows: row === null ? [] : [row] };
  } catch (error) {
    if (error instanceof SessionError) return { rows: [], refused: { error: error.code, at: error.at } };
    throw error;
  }
}

/** CXO-9. */
export function sessionServer(request: JsonObject): Answer {
  const config = readObject(request["config"]);
  const keys = readArray(config["keys"]).map((value) => {
    const source = readObject(value);
    return { identity: readBytes(source, "identity", 8), key: readBytes(source, "key", 32) };
  });
  demand(!keys.some(({ identity }) => isAnonymous(identity)));
  const maxConnections = within(config, "max_connections", 1, 1 << 24);
  const maxPerAddress = within(config, "max_per_address", 1, maxConnections);
  const limits = { maxConnections, maxPerAddress };
  const [terms, anonymous, secret] = [readTerms(config), flag(config, "anonymous"), readServerKey(config)];
  const server = new SessionServer({ terms, random: readRandom(config), keys, anonymous, secret, ...limits });
  return { steps: readArray(request["events"]).map((event) => serverStep(server, readObject(event))) };
}

/** CXO-10. */
function serverStep(server: SessionServer, event: JsonObject): Json {
  const { rows, refused = null, answer = null, counted = null, entry, isMade = false } = runServer(server, event);
  const living = server.entries.filter(isLiving).length;
  return {
    rows,
    refused,
    answer: answer && formatHex(answer),
    counted,
    entry: entry === undefined ? null : describeEntry(entry, isMade),
    living,
    ended: server.entries.length - living,
    deadline: server.deadline,
  };
}

function describeEntry({ link, state, address, envelope, keys }: Entry, isMade: boolean): JsonObject {
  return { link, state, address: formatHex(address), sealed: isMade ? firstSealed(envelope, keys.s2c) : null };
}

interface ServerOutcome extends Outcome {
  readonly answer?: Uint8Array | null;
  readonly counted?: string;
  readonly entry?: Entry;
  readonly isMade?: boolean;
}

function runServer(server: SessionServer, event: JsonObject): ServerOutcome {
  const name = text(event, "event");
  const at = micros(event, "at");
  switch (name) {
    case "receive": {
      const { row, error, ...taken } = server.receive(at, addressBytes(text(event, "from")), readHex(event, "hex"));
      return { ...taken, rows: row === null ? [] : [row], refused: error ? { error: error.code, at: error.at } : null };
    }
    case "data": {
      const entry = findEntry(server, event);
      return { rows: [server.data(at, entry)], entry };
    }
    case "end": {
      const entry = findEntry(server, event);
      return { rows: [server.end(at, entry, within(event, "reason", 1, 9))], entry };
    }
    case "poll":
      return { rows: server.poll(at) };
    default:
      throw new Refusal("unsupported");
  }
}

function findEntry(server: SessionServer, event: JsonObject): Entry {
  const entry = server.find(within(event, "link", 0, U32));
  if (entry === undefined) throw new Refusal("bad_request");
  return entry;
}
