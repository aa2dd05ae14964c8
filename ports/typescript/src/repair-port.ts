/** The operations of the port for repair slices (REPAIR.md, appendix C). */

import { EncodeError, type PacketType } from "./codec.js";
import { demand, flag, formatHex, integer, micros, number, readArray, readHex, readObject, Refusal, text, toNumber, within } from "./fields.js";
import type { JsonObject } from "./json.js";
import type { RatelessProfile } from "./control.js";
import { isChunkId, isWithin, MAX_CHUNK, MAX_GIVE_UP, MAX_SLICES, SLICE_SIZE } from "./limits.js";
import type { Answer } from "./packet-port.js";
import { RatelessScheduler } from "./rateless.js";
import { EncodedChunk, exponent, MAX_IDS, RepairDecoder, repairSliceBytes } from "./repair-code.js";
import {
  checkRepairAck,
  decodeRepairBody,
  decodeRepairPacket,
  encodeRepairBody,
  encodeRepairPacket,
  type RepairAck,
  type RepairPacket,
  type RepairSlice,
} from "./repair-codec.js";
import { RepairReceiver } from "./repair-receiver.js";
import { RepairSender, type RepairScheduler } from "./repair-sender.js";
import { NEVER, type Deadline } from "./time.js";
import { content, describeData, pollAll, type Outcome } from "./trace.js";

const MOST_ARRIVALS = 1024;
const MOST_DUE = 16_384;

/** RPO-1. */
export function repairRow(request: JsonObject): Answer {
  const numSlices = number(request, "num_slices");
  const id = number(request, "slice_id");
  valid(isNumSlices(numSlices) && isWithin(id, numSlices, MAX_IDS - 1));
  return { exponents: Array.from({ length: numSlices }, (_, i) => exponent(id - numSlices, i)) };
}

/** RPO-2. */
export function repairSlice(request: JsonObject): Answer {
  const chunkId = number(request, "chunk_id");
  const size = number(request, "size");
  const id = number(request, "slice_id");
  valid(isChunkId(chunkId) && isWithin(size, 1, MAX_CHUNK) && isId(id));
  return { slice: describeData(new EncodedChunk(content(chunkId, 0, size)).slice(id)) };
}

/** RPO-3. */
export function repairRebuild(request: JsonObject): Answer {
  const chunkId = number(request, "chunk_id");
  const numSlices = number(request, "num_slices");
  const lastBytes = number(request, "last_bytes");
  const ids = readArray(request["slice_ids"]).map((id) => toNumber(id));
  valid(isChunkId(chunkId) && isNumSlices(numSlices) && isWithin(lastBytes, 1, SLICE_SIZE));
  valid(ids.length <= MOST_ARRIVALS && ids.every(isId));
  const chunk = new EncodedChunk(content(chunkId, 0, SLICE_SIZE * (numSlices - 1) + lastBytes));
  const decoder = new RepairDecoder(numSlices, lastBytes);
  const added = ids.map((id) => (decoder.add(id, chunk.slice(id)) ? "1" : "0")).join("");
  const rank = decoder.rank;
  return { added, rank, chunk: decoder.isComplete ? describeData(decoder.rebuild().chunk) : null };
}

/** RPO-4. */
export function repairEncode(request: JsonObject): Answer {
  const protocolId = readProtocolId(request);
  const packet = readPacket(readObject(request["packet"]));
  return { hex: formatHex(protocolId === undefined ? encodeRepairBody(packet) : encodeRepairPacket(protocolId, packet)) };
}

export function repairDecode(request: JsonObject): Answer {
  const protocolId = readProtocolId(request);
  const bytes = readHex(request, "hex");
  const decoded =
    protocolId === undefined ? decodeRepairBody(readPacketType(request), bytes) : decodeRepairPacket(protocolId, bytes);
  if (!decoded.ok) throw new Refusal(decoded.error.code);
  return { packet: describePacket(decoded.packet) };
}

function valid(ok: boolean): void {
  if (!ok) throw new Refusal("invalid_field");
}

function isNumSlices(n: number): boolean {
  return isWithin(n, 1, MAX_SLICES);
}

function isId(id: number): boolean {
  return isWithin(id, 0, MAX_IDS - 1);
}

/** Undefined for a bare body. */
function readProtocolId(request: JsonObject): number | undefined {
  return request["protocol_id"] === undefined ? undefined : within(request, "protocol_id", 0, 0xffffffff);
}

function readPacketType(request: JsonObject): PacketType {
  const type = text(request, "type");
  demand(type === "slice" || type === "ack");
  return type as PacketType;
}

export function readPacket(packet: JsonObject): RepairPacket {
  const type = text(packet, "type");
  switch (type) {
    case "slice":
      return { ...readSliceFields(packet), data: readHex(packet, "data") };
    case "ack":
      return readAck(packet);
    default:
      throw new Refusal("invalid_field"); // ENC-6
  }
}

function readSliceFields(object: JsonObject): Omit<RepairSlice, "data"> {
  return {
    type: "slice",
    chunkId: number(object, "chunk_id"),
    id: number(object, "slice_id"),
    numSlices: number(object, "num_slices"),
    lastBytes: number(object, "last_bytes"),
  };
}

function readAck(object: JsonObject): RepairAck {
  return {
    type: "ack",
    chunkId: number(object, "chunk_id"),
    numSlices: number(object, "num_slices"),
    have: number(object, "have"),
    top: number(object, "top"),
  };
}

export function describePacket(packet: RepairPacket): JsonObject {
  if (packet.type === "slice") return { ...describeSlice(packet), data: formatHex(packet.data) };
  const { type, chunkId, numSlices, have, top } = packet;
  return { type, chunk_id: chunkId, num_slices: numSlices, have, top };
}

function describeSlice({ type, chunkId, id, numSlices, lastBytes }: RepairSlice): JsonObject {
  return { type, chunk_id: chunkId, slice_id: id, num_slices: numSlices, last_bytes: lastBytes };
}

/** A packet in a step (RPO-8). */
function summarize(packet: RepairPacket): JsonObject {
  return packet.type === "slice" ? { ...describeSlice(packet), ...describeData(packet.data) } : describePacket(packet);
}

// Traces.

interface TraceConfig {
  readonly firstChunkId: number;
  readonly giveUp: bigint;
}

/** RPO-5. */
function readConfig(config: JsonObject): TraceConfig {
  const firstChunkId = number(config, "first_chunk_id");
  const giveUp = integer(config, "give_up_us");
  demand(isChunkId(firstChunkId) && giveUp >= 1n && giveUp <= MAX_GIVE_UP);
  return { firstChunkId, giveUp };
}

/** Null is the scripted scheduler. */
function readProfile(config: JsonObject): RatelessScheduler | null {
  return config["profile"] === null ? null : new RatelessScheduler(readRule(config));
}

/** RPO-5. The scheduler checks the limits of the rate. */
export function readRule(config: JsonObject): RatelessProfile {
  const profile = readObject(config["profile"]);
  const kinds = (["redundant", "burst", "fixed"] as const).filter((kind) => flag(profile, kind));
  demand(kinds.length <= 1);
  return { kind: kinds[0] ?? "adaptive", limit: number(profile, "rate") };
}

/** What a packet is refused for is wrong with the request (RPO-5). */
function demandValid(check: () => void): void {
  try {
    check();
  } catch (error) {
    demand(!(error instanceof EncodeError));
    throw error;
  }
}

/** The scripted scheduler: it lets as many slices go out as an event says. */
class Script implements RepairScheduler {
  due = 0;

  start(): void {}

  news(): void {}

  hold(): void {}

  next(): boolean {
    return this.due > 0 && this.due-- > 0;
  }

  deadline(): Deadline {
    return NEVER;
  }
}

/** RPO-6. */
export function repairSender(request: JsonObject): Answer {
  const config = readObject(request["config"]);
  const traceConfig = readConfig(config);
  const script = new Script();
  const rule = readProfile(config);
  const sender = new RepairSender({ ...traceConfig, scheduler: rule ?? script });
  const steps = readArray(request["events"]).map((value, position) => {
    const event = readObject(value);
    const { row, packets = [], error } = senderEvent(sender, event, rule === null ? script : null);
    const { sent, have, top } = sender.counts;
    const state = { event: position, row, state: sender.state, chunk_id: sender.chunkId };
    return { ...state, sent, have, top, deadline_us: sender.deadline, packets, error };
  });
  return { steps };
}

function senderEvent(sender: RepairSender, event: JsonObject, script: Script | null): Outcome {
  const name = text(event, "event");
  switch (name) {
    case "submit": {
      const chunk = content(sender.chunkId, 0, within(event, "size", 0, 2 * MAX_CHUNK));
      const result = sender.submit(micros(event, "at"), chunk);
      return result.row === "T1" ? result : { row: result.row, error: result.refused };
    }
    case "ack": {
      const ack = readAck(event);
      demandValid(() => checkRepairAck(ack));
      return { row: sender.ack(micros(event, "at"), ack).row };
    }
    case "poll": {
      const at = micros(event, "at");
      const due = event["due"] === undefined ? 0 : within(event, "due", 0, MOST_DUE);
      demand(due === 0 || (script !== null && sender.state === "SENDING"));
      if (script !== null) script.due = due;
      return pollAll(() => sender.poll(at), summarize);
    }
    default:
      throw new Refusal("unsupported");
  }
}

/** RPO-7. */
export function repairReceiver(request: JsonObject): Answer {
  const receiver = new RepairReceiver(readConfig(readObject(request["config"])));
  const chunks = new Map<string, EncodedChunk>();
  const steps = readArray(request["events"]).map((value, position) => {
    const { row, packets = [], chunk, error } = receiverEvent(receiver, readObject(value), chunks);
    const { have, top, inconsistent, deadline } = receiver;
    const state = { event: position, row, state: receiver.state, chunk_id: receiver.chunkId };
    return { ...state, have, top, inconsistent, deadline_us: deadline, packets, chunk, error };
  });
  return { steps };
}

function receiverEvent(receiver: RepairReceiver, event: JsonObject, chunks: Map<string, EncodedChunk>): Outcome {
  const name = text(event, "event");
  switch (name) {
    case "slice": {
      const slice = readTraceSlice(event, chunks);
      return { row: receiver.slice(micros(event, "at"), slice) };
    }
    case "read": {
      const result = receiver.read(micros(event, "at"));
      return result.row === "U17"
        ? { row: result.row, chunk: describeData(result.chunk) }
        : { row: result.row, error: result.refused };
    }
    case "poll": {
      const at = micros(event, "at");
      return pollAll(() => receiver.poll(at), summarize);
    }
    default:
      throw new Refusal("unsupported");
  }
}

/** A slice with the bytes that it has in its chunk, or `fill`; the chunks are made once for a trace. */
function readTraceSlice(event: JsonObject, chunks: Map<string, EncodedChunk>): RepairSlice {
  const fields = readSliceFields(event);
  const { chunkId, id, numSlices, lastBytes } = fields;
  demand(isChunkId(chunkId) && isNumSlices(numSlices) && isId(id) && isWithin(lastBytes, 1, SLICE_SIZE));
  if (event["fill"] !== undefined) {
    const data = new Uint8Array(repairSliceBytes(numSlices, lastBytes, id)).fill(within(event, "fill", 0, 255));
    return { ...fields, data };
  }
  const size = SLICE_SIZE * (numSlices - 1) + lastBytes;
  const key = `${chunkId} ${size}`;
  const chunk = chunks.get(key) ?? new EncodedChunk(content(chunkId, 0, size));
  chunks.set(key, chunk);
  return { ...fields, data: chunk.slice(id) };
}
