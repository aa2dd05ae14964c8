/** The operations of the port for the packet layer (PACKETS.md, appendix C). */

import { Congestion, type Conditions, type CongestionProfile } from "./congestion.js";
import { Endpoint, MOST_FIRST, type Receipt, type Verdict } from "./endpoint.js";
import { demand, flag, formatHex, micros, number, placed, readArray, readHex, readObject, readSample, Refusal, text, within } from "./fields.js";
import type { Json, JsonObject } from "./json.js";
import { decodeDatagram, encodeHeader, MOST_ABOVE, PacketError, type Fragment, type FragmentLimits, type Regular } from "./packets.js";
import { onWire } from "./seq.js";
import { earlier, max } from "./time.js";

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
  const endpoint = readEndpoint(request);
  return {
    steps: readArray(request["events"]).map((value) => {
      const event = readObject(value);
      return describeStep(endpoint, run(endpoint, event, text(event, "event")));
    }),
  };
}

function readEndpoint(request: JsonObject): Endpoint {
  const config = readObject(request["config"]);
  const limits = readLimits(config, 2);
  return new Endpoint({
    ...limits,
    fragmentAbove: within(config, "fragment_above", limits.fragmentSize, MOST_ABOVE),
    firstSent: within(config, "next_to_send", 0, MOST_FIRST),
    firstReceived: within(config, "next_to_receive", 0, MOST_FIRST),
  });
}

/** PKO-5. */
function describeStep(endpoint: Endpoint, { datagrams = [], receipt, error }: Outcome): JsonObject {
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

/** PKO-7: with congestion avoidance. */
export function packetEstimates(request: JsonObject): Answer {
  const trace = new EstimatesTrace(readEndpoint(request));
  return { steps: readArray(request["events"]).map((event) => trace.step(readObject(event))) };
}

const SAYS: Readonly<Record<string, Verdict>> = { take: "take", quietly: "quiet", refuse: "refuse" };

class EstimatesTrace {
  readonly #endpoint: Endpoint;
  readonly #congestion = new Congestion();
  #says: Verdict = "take";
  #now = 0n;

  constructor(endpoint: Endpoint) {
    this.#endpoint = endpoint;
  }

  /** PKO-8. */
  step(event: JsonObject): JsonObject {
    const outcome = this.#run(event);
    const { deadline } = this.#congestion;
    const { roundTrip, patience, loss, bytesSent, bytesReceived, bytesAcked } = this.#endpoint;
    const estimates = {
      srtt: roundTrip.measured ? roundTrip.srtt : null,
      jitter: roundTrip.jitter,
      latest: roundTrip.latest,
      min_rtt: roundTrip.minRtt,
      patience: patience.at(this.#now),
      loss: loss.perMille(this.#now),
      sent: bytesSent.rate(this.#now),
      received: bytesReceived.rate(this.#now),
      acked: bytesAcked.rate(this.#now),
      shown: this.#shown,
      mode: this.#congestion.mode.toLowerCase(),
      recovery: this.#congestion.recovery,
      deadline: earlier(this.#endpoint.deadline, deadline),
    };
    return { ...describeStep(this.#endpoint, outcome), estimates };
  }

  #run(event: JsonObject): Outcome {
    const name = text(event, "event");
    const at = micros(event, "at");
    if (name === "above") {
      const says = SAYS[text(event, "says")];
      if (says === undefined) throw new Refusal("bad_request");
      this.#says = says;
      return {};
    }
    const outcome = run(this.#endpoint, event, name, () => this.#says);
    this.#now = max(this.#now, at);
    const { receipt } = outcome;
    if (name === "poll" || (receipt !== undefined && "sampled" in receipt && receipt.sampled)) {
      const { roundTrip, silent } = this.#endpoint;
      this.#congestion.evaluate(this.#now, { srtt: roundTrip.measured ? roundTrip.srtt : null, minRtt: roundTrip.minRtt, silent });
    }
    return outcome;
  }

  get #shown(): Json {
    const figures = this.#endpoint.shown.figures;
    if (figures === null) return null;
    const { min, max: most, avg, jitterAvg, jitterMax, jitterDev } = figures;
    return { min, max: most, avg, jitter_avg: jitterAvg, jitter_max: jitterMax, jitter_dev: jitterDev };
  }
}

interface Outcome {
  readonly datagrams?: readonly Uint8Array[];
  readonly receipt?: Receipt;
  readonly error?: PacketError;
}

function run(endpoint: Endpoint, event: JsonObject, name: string, above?: () => Verdict): Outcome {
  switch (name) {
    case "send":
      return send(endpoint, event, false);
    case "quiet":
      if (above === undefined) throw new Refusal("unsupported");
      return send(endpoint, event, true);
    case "receive":
      return { receipt: endpoint.receive(micros(event, "at"), readHex(event, "datagram"), above) };
    case "poll": {
      const datagram = endpoint.poll(micros(event, "at"));
      return { datagrams: datagram === null ? [] : [datagram] };
    }
    default:
      throw new Refusal("unsupported");
  }
}

function send(endpoint: Endpoint, event: JsonObject, isQuiet: boolean): Outcome {
  const payload = readHex(event, "payload");
  try {
    return { datagrams: endpoint.send(micros(event, "at"), payload, isQuiet) };
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
