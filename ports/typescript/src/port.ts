#!/usr/bin/env node
/**
 * The port contract: one JSON object a line on standard input, one on standard output for each.
 * At end of input the process exits with 0.
 */

import { describePacket, isBits, parseBits, readPacket, readProfile } from "./chunk-json.js";
import { connectionDecode, connectionEncode, connectionMoves, connectionTrace } from "./connection-port.js";
import { channelReceiver, channelReport, channelSender, recordsDecode, recordsEncode } from "./channel-port.js";
import {
  decodeBody,
  decodePacket,
  encodeBody,
  EncodeError,
  encodePacket,
  type Decoded,
  type PacketType,
  type Slice,
} from "./codec.js";
import {
  demand,
  flag,
  formatHex,
  integer,
  micros,
  number,
  readArray,
  readHex,
  readObject,
  Refusal,
  text,
  toNumber,
  within,
} from "./fields.js";
import { parse, stringify, type Json, type JsonObject } from "./json.js";
import { isChunkId, isSliceSize, isWithin, MAX_CHUNK, MAX_GIVE_UP, MAX_SLICES, SLICE_SIZE } from "./limits.js";
import { packetCongestion, packetDecode, packetEndpoint, packetEstimates, packetHeader, type Answer } from "./packet-port.js";
import { repairDecode, repairEncode, repairReceiver, repairRebuild, repairRow, repairSender, repairSlice } from "./repair-port.js";
import {
  sessionClient,
  sessionCookie,
  sessionDecode,
  sessionEncode,
  sessionKeys,
  sessionOpen,
  sessionSeal,
  sessionServer,
} from "./session-port.js";
import {
  content,
  traceReceiver,
  traceSender,
  type ReceiverEvent,
  type SenderEvent,
  type TraceConfig,
  type TraceProfile,
} from "./trace.js";

const OPS = new Map<string, (request: JsonObject) => Answer>([
  ["encode_body", (request) => ({ hex: formatHex(encodeBody(readPacket(readObject(request["packet"])))) })],
  ["decode_body", (request) => describeDecoded(decodeBody(readPacketType(request), readHex(request, "hex")))],
  ["encode_packet", (request) => ({ hex: formatHex(encodePacket(readProtocolId(request), readPacket(readObject(request["packet"])))) })],
  ["decode_packet", (request) => describeDecoded(decodePacket(readProtocolId(request), readHex(request, "hex")))],
  ["sender", answerSender],
  ["receiver", answerReceiver],
  ["packet_header", packetHeader],
  ["packet_decode", packetDecode],
  ["packet_endpoint", packetEndpoint],
  ["packet_congestion", packetCongestion],
  ["packet_estimates", packetEstimates],
  ["records_encode", recordsEncode],
  ["records_decode", recordsDecode],
  ["channel_report", channelReport],
  ["channel_receiver", channelReceiver],
  ["channel_sender", channelSender],
  ["session_encode", sessionEncode],
  ["session_decode", sessionDecode],
  ["session_seal", sessionSeal],
  ["session_open", sessionOpen],
  ["session_keys", sessionKeys],
  ["session_cookie", sessionCookie],
  ["session_client", sessionClient],
  ["session_server", sessionServer],
  ["connection_encode", connectionEncode],
  ["connection_decode", connectionDecode],
  ["connection", connectionTrace],
  ["connection_moves", connectionMoves],
  ["repair_row", repairRow],
  ["repair_slice", repairSlice],
  ["repair_rebuild", repairRebuild],
  ["repair_encode", repairEncode],
  ["repair_decode", repairDecode],
  ["repair_sender", repairSender],
  ["repair_receiver", repairReceiver],
]);

await main();

/** Answers every line of standard input. */
async function main(): Promise<void> {
  for await (const line of lines(process.stdin)) {
    process.stdout.write(`${stringify(answerLine(line))}\n`);
  }
}

/** The lines of a stream, without their line feeds. */
async function* lines(input: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let rest: Buffer[] = [];
  for await (const data of input) {
    let start = 0;
    for (let end = data.indexOf("\n"); end >= 0; end = data.indexOf("\n", start)) {
      yield Buffer.concat([...rest, data.subarray(start, end)]).toString();
      rest = [];
      start = end + 1;
    }
    if (start < data.length) rest.push(data.subarray(start));
  }
  if (rest.length > 0) yield Buffer.concat(rest).toString();
}

/** The response to one line, whatever it holds. */
function answerLine(line: string): JsonObject {
  let id: Json = null;
  try {
    const request = readObject(parse(line));
    id = integer(request, "id");
    return { id, ok: true, ...answer(request) };
  } catch (error) {
    return { id, ok: false, error: codeOf(error), at: error instanceof Refusal ? error.at : undefined };
  }
}

function answer(request: JsonObject): Answer {
  const op = OPS.get(text(request, "op"));
  if (op === undefined) throw new Refusal("unsupported");
  return op(request);
}

function codeOf(error: unknown): string {
  if (error instanceof Refusal || error instanceof EncodeError) return error.code;
  if (error instanceof SyntaxError || error instanceof RangeError) return "bad_request";
  throw error;
}

// Packets.

function describeDecoded(decoded: Decoded): Answer {
  if (!decoded.ok) throw new Refusal(decoded.error.code);
  return { packet: describePacket(decoded.packet) };
}

function readPacketType(request: JsonObject): PacketType {
  const type = text(request, "type");
  demand(type === "slice" || type === "ack");
  return type as PacketType;
}

function readProtocolId(request: JsonObject): number {
  return within(request, "protocol_id", 0, 0xffffffff);
}

// Traces.

function answerSender(request: JsonObject): Answer {
  const config = readObject(request["config"]);
  const traceConfig = readConfig(config);
  const profile = readProfile(config);
  return { steps: traceSender(traceConfig, profile, readEvents(request, (event) => readSenderEvent(event, profile))) };
}

function answerReceiver(request: JsonObject): Answer {
  const config = readObject(request["config"]);
  return { steps: traceReceiver(readConfig(config), readEvents(request, readReceiverEvent)) };
}

/** The events of a trace, each read when its turn comes: of several bad ones the first counts. */
function* readEvents<Event>(request: JsonObject, read: (event: JsonObject) => Event): Generator<Event> {
  for (const event of readArray(request["events"])) yield read(readObject(event));
}

/** TRC-2, TRC-3. */
function readConfig(config: JsonObject): TraceConfig {
  const giveUp = integer(config, "give_up_us");
  demand(giveUp >= 1n && giveUp <= MAX_GIVE_UP);
  return { firstChunkId: readChunkId(config, "first_chunk_id"), giveUp };
}

/** RVO-3: what only the recommended scheduler has. */
function readHostEvent(event: JsonObject, name: "marks" | "yield"): SenderEvent {
  if (name === "marks") return { event: name, at: micros(event, "at"), count: within(event, "count", 0, 0xffff) };
  return { event: name, at: micros(event, "at"), yields: flag(event, "yields") };
}

/** TRC-2; only with a script events may say what is due. */
function readSenderEvent(event: JsonObject, profile: TraceProfile): SenderEvent {
  const name = text(event, "event");
  if ((name === "marks" || name === "yield") && profile !== null && "kind" in profile) return readHostEvent(event, name);
  switch (name) {
    case "submit":
      return { event: name, at: micros(event, "at"), size: within(event, "size", 0, 2 * MAX_CHUNK) };
    case "ack": {
      const bits = text(event, "acked");
      demand(isBits(bits) && isWithin(bits.length, 1, MAX_SLICES));
      return { event: name, at: micros(event, "at"), ack: { type: "ack", chunkId: readChunkId(event, "chunk_id"), acked: parseBits(bits) } };
    }
    case "poll":
      return { event: name, at: micros(event, "at"), due: readDue(event, profile === null) };
    default:
      throw new Refusal("unsupported");
  }
}

/** Slice ids that the scripted scheduler returns; an empty list counts as absent. */
function readDue(event: JsonObject, scripted: boolean): number[] {
  if (event["due"] === undefined) return [];
  const due = readArray(event["due"]).map((id) => toNumber(id));
  demand(scripted || due.length === 0);
  return due;
}

/** TRC-3. */
function readReceiverEvent(event: JsonObject): ReceiverEvent {
  const name = text(event, "event");
  switch (name) {
    case "slice":
      return { event: name, at: micros(event, "at"), slice: readTraceSlice(event) };
    case "read":
    case "poll":
      return { event: name, at: micros(event, "at") };
    default:
      throw new Refusal("unsupported");
  }
}

function readTraceSlice(event: JsonObject): Slice {
  const chunkId = readChunkId(event, "chunk_id");
  const numSlices = within(event, "num_slices", 1, MAX_SLICES);
  const sliceId = within(event, "slice_id", 0, numSlices - 1);
  const size = number(event, "size");
  demand(isSliceSize(sliceId, numSlices, size));
  const data =
    event["fill"] === undefined
      ? content(chunkId, SLICE_SIZE * sliceId, size)
      : new Uint8Array(size).fill(within(event, "fill", 0, 255));
  return { type: "slice", chunkId, sliceId, numSlices, data };
}

function readChunkId(object: JsonObject, field: string): number {
  const id = number(object, field);
  demand(isChunkId(id));
  return id;
}
