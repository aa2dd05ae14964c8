/** The operations of the port for the packet layer (PACKETS.md, appendix C). */

import { Congestion, type Conditions, type CongestionProfile } from "./congestion.js";
import { Endpoint, MOST_FIRST, type Receipt } from "./endpoint.js";
import { demand, flag, formatHex, micros, number, placed, readArray, readHex, readObject, readSample, Refusal, text, within } from "./fields.js";
import type { Json, JsonObject } from "./json.js";
import { decodeDatagram, encodeHeader, MOST_ABOVE, PacketError, type Fragment, type FragmentLimits, type Regular } from "./packets.js";
import { onWire } from "./seq.js";

/** Fields of the response to a request. */
export type Answer = { readonly [field: string]: Json };

const MOST_FRAGMENTS = 256;

/** PKF-4. */
export function packetHeader(request: JsonObject): Answer {
  const header = { sequence: number(request, "sequence"), ack: number(request, "ack"), ackBits: number(request, "ack_bits") };
  return { hex: formatHex(placed(() => encodeHeader(header))) };
}

export function packetDecode(request: JsonObject): Answer {
  const limits = readLimits(request, 1);
  const datagram = readHex(request, "hex");
  return { packet: describe(placed(() => decodeDatagram(datagram, limits))) };
}

/** PKO-3. */
function describe(packet: Regular | Fragment): JsonObject {
  if (packet.kind === "regular") {
    const { sequence, ack, ackBits } = packet.header;
    return { kind: packet.kind, sequence, ack, ack_bits: ackBits, payload: formatHex(packet.payload) };
  }
  return {
    kind: packet.kind,
    sequence: packet.sequence,
    fragment_id: packet.fragmentId,
    num_fragments: packet.numFragments,
    ack: packet.header?.ack,
    ack_bits: packet.header?.ackBits,
    data: formatHex(packet.data),
  };
}

/** PKO-6. */
export function packetCongestion(request: JsonObject): Answer {
  const profile = text(readObject(request["config"]), "profile");
  demand(profile === "article" || profile === "default");
  const machine = new Congestion(profile as CongestionProfile);
  const steps = readArray(request["events"]).map((value) => {
    const event = readObject(value);
    machine.evaluate(micros(event, "at"), readConditions(event));
    return { mode: machine.mode.toLowerCase(), recovery: machine.recovery };
  });
  return { steps };
}

function readConditions(event: JsonObject): Conditions {
  return {
    srtt: event["srtt"] === null ? null : readSample(event, "srtt"),
    minRtt: event["min_rtt"] === undefined ? 0n : readSample(event, "min_rtt"),
    silent: flag(event, "silent"),
  };
}

/** PKO-4. */
export function packetEndpoint(request: JsonObject): Answer {
  const config = readObject(request["config"]);
  const limits = readLimits(config, 2);
  const endpoint = new Endpoint({
    ...limits,
    fragmentAbove: within(config, "fragment_above", limits.fragmentSize, MOST_ABOVE),
    firstSent: within(config, "next_to_send", 0, MOST_FIRST),
    firstReceived: within(config, "next_to_receive", 0, MOST_FIRST),
  });
  return { steps: readArray(request["events"]).map((event) => endpointStep(endpoint, readObject(event))) };
}

/** PKO-5. */
function endpointStep(endpoint: Endpoint, event: JsonObject): Json {
  const { datagrams = [], receipt, error } = run(endpoint, event);
  const events = endpoint.takeEvents();
  const sequences = (name: string): number[] => events.flatMap((e) => (e.event === name ? [onWire(e.number)] : []));
  const refused = error ?? (receipt !== undefined && "error" in receipt ? receipt.error : null);
  const taken = receipt !== undefined && "payload" in receipt ? receipt : null;
  return {
    datagrams: datagrams.map(formatHex),
    delivered: taken && { sequence: onWire(taken.number), payload: formatHex(taken.payload) },
    acked: sequences("acked"),
    lost: sequences("lost"),
    refused: refused && { error: refused.code, at: refused.at },
  };
}

interface Outcome {
  readonly datagrams?: readonly Uint8Array[];
  readonly receipt?: Receipt;
  readonly error?: PacketError;
}

function run(endpoint: Endpoint, event: JsonObject): Outcome {
  const name = text(event, "event");
  switch (name) {
    case "send":
      return send(endpoint, event);
    case "receive":
      return { receipt: endpoint.receive(micros(event, "at"), readHex(event, "datagram")) };
    case "poll": {
      const datagram = endpoint.poll(micros(event, "at"));
      return { datagrams: datagram === null ? [] : [datagram] };
    }
    default:
      throw new Refusal("unsupported");
  }
}

function send(endpoint: Endpoint, event: JsonObject): Outcome {
  const payload = readHex(event, "payload");
  try {
    return { datagrams: endpoint.send(micros(event, "at"), payload) };
  } catch (error) {
    if (error instanceof PacketError) return { error };
    throw error;
  }
}

function readLimits(object: JsonObject, leastFragments: number): FragmentLimits {
  return {
    fragmentSize: within(object, "fragment_size", 1, MOST_ABOVE),
    maxFragments: within(object, "max_fragments", leastFragments, MOST_FRAGMENTS),
  };
}
