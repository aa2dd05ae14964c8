/** The operations of the port for connections (CONNECTION.md, appendix C). */

import { BaseScheduler } from "./base.js";
import { describe as describeChannelRecord, describeRead, readLifetime, readRecord, readSizes } from "./channel-port.js";
import { channel, type ChannelKind } from "./channels.js";
import { describePacket, readBaseProfile, readPacket } from "./chunk-json.js";
import { BAD_TICK, Connection, type ConnectionRow, type Ending, type Refused } from "./connection.js";
import { decodePayload, encodePayload, type ChunkAckRecord, type ConnectionRecord, type RecordLimits, type SliceRecord } from "./connection-records.js";
import { Envelope } from "./envelope.js";
import { demand, flag, formatHex, micros, number, placed, readArray, readBytes, readHex, readObject, Refusal, text, within } from "./fields.js";
import type { Json, JsonObject } from "./json.js";
import type { LaneScheduler } from "./lanes.js";
import { MAX_CHUNK } from "./limits.js";
import type { Ecn } from "./marks.js";
import type { ChannelSetup, Delivery } from "./mux.js";
import type { Answer } from "./packet-port.js";
import { RatelessScheduler } from "./rateless.js";
import { EVERY_CHANNEL, RecordError } from "./records.js";
import { describePacket as describeRepairPacket, readPacket as readRepairPacket, readRule } from "./repair-port.js";
import { readMode } from "./session-port.js";
import { CLOCKS, MARKS, NAMED, REPAIR } from "./session-terms.js";
import { LEAST_TIMEOUT, MOST_LANES, MOST_TIMEOUT } from "./sessions.js";
import { content, describeData } from "./trace.js";

const LEAST_TICK = 5_000;
const LEAST_RATE = 64_000;
const MOST_RATE = 8_000_000_000;

/** CXO-11. */
export function connectionEncode(request: JsonObject): Answer {
  const limits = readLimits(request);
  const records = readArray(request["records"]).map((record) => readAny(readObject(record), limits));
  return { hex: formatHex(placed(() => encodePayload(records, limits))) };
}

export function connectionDecode(request: JsonObject): Answer {
  const limits = readLimits(request);
  const payload = readHex(request, "hex");
  return { records: placed(() => decodePayload(payload, limits)).map(describe) };
}

function readLimits(request: JsonObject): RecordLimits {
  const lanes = within(request, "lanes", 0, MOST_LANES);
  const extensions = readExtensions(request);
  return { channels: EVERY_CHANNEL, lanes, variant: readVariant(request), hasMarks: (extensions & MARKS) !== 0, hasClocks: (extensions & CLOCKS) !== 0 };
}

/** RPO-9. */
function readVariant(object: JsonObject): number {
  return object["variant"] === undefined ? NAMED : within(object, "variant", NAMED, REPAIR);
}

function readExtensions(object: JsonObject): number {
  return object["extensions"] === undefined ? 0 : within(object, "extensions", 0, 0xffff);
}

/** A record; its values need not be valid, for the encoder to refuse them. */
function readAny(source: JsonObject, { variant }: RecordLimits): ConnectionRecord {
  const type = text(source, "type");
  switch (type) {
    case "close":
      return { type, code: within(source, "code", 0, 0xffff), text: new TextEncoder().encode(text(source, "text")) };
    case "ecn":
      return { type, arrived: within(source, "arrived", 0, 0xffff), congested: within(source, "congested", 0, 0xffff) };
    case "clock":
      return { type, sent: within(source, "sent", 0, 2 ** 48 - 1), echo: within(source, "echo", 0, 0xffff_ffff), wait: within(source, "wait", 0, 0xffff_ffff) };
    case "slice":
    case "chunk_ack": {
      const packet = { ...source, type: type === "slice" ? type : "ack" };
      const read = variant === REPAIR ? readRepairPacket(packet) : readPacket(packet);
      return { type, lane: number(source, "lane"), packet: read } as SliceRecord | ChunkAckRecord;
    }
    default:
      return readRecord(source);
  }
}

function describe(record: ConnectionRecord): JsonObject {
  switch (record.type) {
    case "close":
      return { type: record.type, code: record.code, text: textOf(record.text) };
    case "ecn":
    case "clock":
      return { ...record };
    case "slice":
    case "chunk_ack": {
      const { type, lane, packet } = record;
      const fields = "id" in packet || "have" in packet ? describeRepairPacket(packet) : describePacket(packet);
      return { ...fields, type, lane };
    }
    default:
      return describeChannelRecord(record);
  }
}

function textOf(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}

// Machines.

/** CXO-12, CXO-13. */
export function connectionTrace(request: JsonObject): Answer {
  const config = readObject(request["config"]);
  const trace = new Trace(config, readConnection(config));
  return { steps: readArray(request["events"]).map((event) => trace.step(readObject(event))) };
}

/** CXO-15, CXO-16. */
export function connectionMoves(request: JsonObject): Answer {
  const config = readObject(request["config"]);
  const connection = readConnection(config);
  const trace = new Moves(config, connection);
  return { steps: readArray(request["events"]).map((event) => trace.step(readObject(event))) };
}

function readConnection(config: JsonObject): Connection {
  const side = text(config, "side");
  demand(side === "client" || side === "server");
  const [mode, link] = [readMode(config), within(config, "link", 1, 0xffff_ffff)];
  const envelope = new Envelope(mode, link, readBytes(config, "send_key", 32), readBytes(config, "receive_key", 32));
  const agreed = {
    lanes: within(config, "lanes", 0, MOST_LANES),
    variant: readVariant(config),
    extensions: readExtensions(config),
    timeout: within(config, "timeout", LEAST_TIMEOUT, MOST_TIMEOUT),
  };
  const scheduler = readScheduler(config, agreed.variant);
  scheduler();
  return new Connection(micros(config, "begin"), envelope, {
    side: side as "client" | "server",
    agreed,
    channels: readChannels(config),
    tick: BigInt(within(config, "tick", LEAST_TICK, Number(BAD_TICK))),
    messageRate: within(config, "message_rate", LEAST_RATE, MOST_RATE),
    scheduler,
    seed: config["seed"] === undefined ? null : readBytes(config, "seed", 16),
  });
}

function readScheduler(config: JsonObject, variant: number): () => LaneScheduler {
  if (variant === REPAIR) {
    const rule = readRule(config);
    return () => new RatelessScheduler(rule);
  }
  const profile = readBaseProfile(readObject(config["profile"]));
  return () => new BaseScheduler(profile);
}

function readChannels(config: JsonObject): Map<number, ChannelSetup> {
  const channels = new Map<number, ChannelSetup>();
  for (const value of readArray(config["channels"])) {
    const source = readObject(value);
    const [id, priority, kind] = [within(source, "id", 0, 63), within(source, "priority", 0, 255), text(source, "kind")];
    demand(!channels.has(id) && ["ordered", "unordered", "unreliable", "latest"].includes(kind));
    const sizes = kind === "unreliable" || kind === "latest" ? {} : { ...readSizes(source), sendQueue: number(source, "send_queue") };
    channels.set(id, { ...channel(kind as ChannelKind, sizes), priority });
  }
  return channels;
}

interface Outcome {
  readonly rows?: readonly ConnectionRow[];
  readonly refused?: Refused | null;
  readonly datagrams?: readonly Uint8Array[];
  readonly ect?: readonly boolean[];
  readonly marked?: number;
  readonly read?: Delivery | null;
  readonly chunk?: Uint8Array | null;
  readonly news?: boolean;
}

class Trace {
  readonly #lanes: number;
  readonly #hasMarks: boolean;
  #submitted = 0;

  constructor(
    config: JsonObject,
    protected readonly connection: Connection,
  ) {
    this.#lanes = Math.max(number(config, "lanes"), 1);
    this.#hasMarks = (readExtensions(config) & MARKS) !== 0;
  }

  /** CXO-13. */
  step(event: JsonObject): JsonObject {
    return this.describe(this.run(text(event, "event"), micros(event, "at"), event));
  }

  protected describe(outcome: Outcome): JsonObject {
    const { rows = [], refused = null, datagrams = [], ect = [], marked = 0, read = null, chunk = null } = outcome;
    const { state, ended, deadline, remote } = this.connection;
    return {
      rows,
      state,
      refused: refused && { error: refused.code, at: refused.at },
      datagrams: datagrams.map(formatHex),
      read: read && describeRead(read.sequence, read.data),
      chunk: chunk && { ...describeData(chunk) },
      ended: ended && describeEnding(ended),
      deadline,
      ecn: this.#hasMarks ? { ect, marked } : undefined,
      clock: remote === null ? undefined : { ...remote },
    };
  }

  protected run(name: string, at: bigint, event: JsonObject): Outcome {
    const { connection } = this;
    switch (name) {
      case "receive": {
        const { row, ...more } = connection.receive(at, readHex(event, "hex"), readEcn(event));
        return { rows: [row], ...more };
      }
      case "poll":
        return this.#poll(at);
      case "send":
        return refusedBy(connection.send(at, readChannelId(event), readHex(event, "data"), readLifetime(event)));
      case "tick":
        connection.endTick(at);
        return {};
      case "read":
        return { read: connection.read(at, readChannelId(event)) };
      case "send_chunk":
        return this.#sendChunk(at, within(event, "size", 0, 2 * MAX_CHUNK));
      case "read_chunk":
        return { chunk: connection.readChunk(at) };
      case "close":
        return close(connection, at, within(event, "code", 0, 0xffff), text(event, "text"));
      default:
        throw new Refusal("unsupported");
    }
  }

  #poll(at: bigint): Outcome {
    const [rows, datagrams, ect]: [ConnectionRow[], Uint8Array[], boolean[]] = [[], [], []];
    for (;;) {
      const polled = this.connection.poll(at);
      rows.push(...polled.rows);
      if (polled.datagram === null) return { rows, datagrams, ect };
      datagrams.push(polled.datagram);
      ect.push(polled.ect);
    }
  }

  #sendChunk(at: bigint, size: number): Outcome {
    const id = Math.trunc(this.#submitted / this.#lanes) % 65_536;
    const refused = this.connection.sendChunk(at, content(id, 0, size));
    if (refused === null) this.#submitted++;
    return refusedBy(refused);
  }
}

class Moves extends Trace {
  protected override run(name: string, at: bigint, event: JsonObject): Outcome {
    const { connection } = this;
    switch (name) {
      case "move":
        connection.move(at);
        return {};
      case "moved":
        connection.relinked(at, true);
        return {};
      case "placed":
        connection.relinked(at, flag(event, "changed"));
        return {};
      case "end":
        return { rows: [connection.end(at)] };
      default:
        return super.run(name, at, event);
    }
  }

  /** CXO-16. */
  protected override describe(outcome: Outcome): JsonObject {
    const { roundTrip, mode } = this.connection;
    return { ...super.describe(outcome), news: outcome.news ?? false, srtt: roundTrip, mode: mode.toLowerCase() };
  }
}

function readChannelId(event: JsonObject): number {
  return within(event, "channel", 0, 63);
}

const FIELD: readonly Ecn[] = ["ect1", "ect0", "ce"];

function readEcn(event: JsonObject): Ecn {
  if (event["ecn"] === undefined) return "not-ect";
  const name = text(event, "ecn");
  const ecn = FIELD.find((known) => known === name);
  if (ecn === undefined) throw new Refusal("bad_request");
  return ecn;
}

function refusedBy(code: string | null): Outcome {
  return { refused: code === null ? null : { code, at: -1 } };
}

function close(connection: Connection, at: bigint, code: number, words: string): Outcome {
  try {
    return { rows: [connection.close(at, code, words)] };
  } catch (error) {
    if (error instanceof RecordError) return refusedBy(error.code);
    throw error;
  }
}

function describeEnding(ended: Ending): Json {
  return { ...ended };
}
