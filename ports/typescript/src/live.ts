#!/usr/bin/env node
/**
 * One chunk over UDP, as `chunkwire live --help` asks for: a driver around the machines.
 * The environment says what to do: CHUNKWIRE_MODE (send or recv), CHUNKWIRE_ADDRESS (an IPv4
 * address and a port), CHUNKWIRE_PROTOCOL_ID (decimal), and CHUNKWIRE_VARIANT (repair: with repair slices; connection:
 * over a connection; otherwise neither).
 */

import { createSocket, type RemoteInfo, type Socket } from "node:dgram";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { AdaptiveScheduler } from "./adaptive.js";
import { Alarm } from "./alarm.js";
import { decodePacket, encodePacket, type Decoded, type Packet } from "./codec.js";
import { receiveOver, sendOver } from "./live-connection.js";
import { RatelessScheduler } from "./rateless.js";
import { Receiver } from "./receiver.js";
import { decodeRepairPacket, encodeRepairPacket, repairProtocolId, type RepairPacket } from "./repair-codec.js";
import { RepairReceiver } from "./repair-receiver.js";
import { RepairSender } from "./repair-sender.js";
import { Sender } from "./sender.js";
import { type Deadline, type Micros } from "./time.js";

const SECOND: Micros = 1_000_000n;

/** A failure that is reported on standard error. */
class Failure extends Error {}

/** Microseconds of a clock that only runs forward (TIM-2). */
function nowUs(): Micros {
  return process.hrtime.bigint() / 1000n;
}

/** What a protocol makes of a packet, and of a datagram. */
interface Codec<P> {
  readonly encode: (packet: P) => Uint8Array;
  readonly decode: (datagram: Uint8Array) => Decoded<P>;
}

/** A socket and the peer at its other end. */
class Link<P> {
  readonly #socket: Socket = createSocket("udp4");
  readonly #codec: Codec<P>;
  #peer: { readonly address: string; readonly port: number };
  #arrived: P[] = [];
  readonly #alarm = new Alarm();

  constructor(address: string, port: number, codec: Codec<P>) {
    this.#peer = { address, port };
    this.#codec = codec;
    this.#socket.on("error", () => {}); // a datagram that the system refuses is as good as lost
    this.#socket.on("message", (datagram: Buffer, from: RemoteInfo) => this.#take(datagram, from));
  }

  async bind(): Promise<void> {
    this.#socket.bind(this.#peer.port, this.#peer.address);
    await once(this.#socket, "listening");
  }

  close(): void {
    this.#socket.close();
  }

  send(packet: P): void {
    this.#socket.send(this.#codec.encode(packet), this.#peer.port, this.#peer.address, () => {});
  }

  /** Polls until nothing more comes (SND-3, RCV-1), and returns the last row. */
  sendDue(poll: () => { readonly row: string; readonly packet: P | null }): string {
    for (;;) {
      const result = poll();
      if (result.packet === null) return result.row;
      this.send(result.packet);
    }
  }

  /** The packets that have come, or come first until the deadline; there may be none. */
  async wait(deadline: Deadline): Promise<readonly P[]> {
    if (this.#arrived.length === 0) await this.#alarm.until(nowUs(), deadline, SECOND);
    await new Promise(setImmediate); // lets datagrams in, also those that came while this process had to wait
    const arrived = this.#arrived;
    this.#arrived = [];
    return arrived;
  }

  /** What does not decode is dropped (CON-4). */
  #take(datagram: Buffer, from: RemoteInfo): void {
    const decoded = this.#codec.decode(datagram);
    if (!decoded.ok) return;
    this.#peer = from;
    this.#arrived.push(decoded.packet);
    this.#alarm.ring();
  }
}

/** A sender of either variant, at the rows where it differs. */
interface SendingEnd<P> {
  readonly state: string;
  readonly deadline: Deadline;
  submit(now: Micros, chunk: Uint8Array): { readonly row: string };
  poll(now: Micros): { readonly row: string; readonly packet: P | null };
  take(now: Micros, packet: P): void;
}

/** A receiver of either variant. */
interface ReceivingEnd<P> {
  readonly state: string;
  readonly deadline: Deadline;
  poll(now: Micros): { readonly row: string; readonly packet: P | null };
  read(now: Micros): { readonly row: string; readonly chunk?: Uint8Array };
  take(now: Micros, packet: P): boolean;
}

class NamedSender extends Sender implements SendingEnd<Packet> {
  take(now: Micros, packet: Packet): void {
    if (packet.type === "ack") this.ack(now, packet);
  }
}

class NamedReceiver extends Receiver implements ReceivingEnd<Packet> {
  take(now: Micros, packet: Packet): boolean {
    if (packet.type === "slice") this.slice(now, packet);
    return packet.type === "slice";
  }
}

class SenderWithRepair extends RepairSender implements SendingEnd<RepairPacket> {
  take(now: Micros, packet: RepairPacket): void {
    if (packet.type === "ack") this.ack(now, packet);
  }
}

class ReceiverWithRepair extends RepairReceiver implements ReceivingEnd<RepairPacket> {
  take(now: Micros, packet: RepairPacket): boolean {
    if (packet.type === "slice") this.slice(now, packet);
    return packet.type === "slice";
  }
}

/** Sends standard input as chunk 0. */
async function send<P>(link: Link<P>, sender: SendingEnd<P>): Promise<void> {
  sender.submit(nowUs(), readFileSync(0));
  if (sender.state !== "SENDING") throw new Failure("a chunk has 1 to 262144 bytes");
  while (sender.state === "SENDING") {
    const now = nowUs();
    link.sendDue(() => sender.poll(now));
    for (const packet of await link.wait(sender.deadline)) sender.take(nowUs(), packet); // before the poll (SND-4)
  }
  if (sender.state === "FAILED") throw new Failure("no answer, gave up");
}

/** Writes chunk 0 to standard output, and answers until no slice has come for a second. */
async function receive<P>(link: Link<P>, receiver: ReceivingEnd<P>): Promise<void> {
  await link.bind();
  let chunk: Uint8Array | undefined;
  let quietSince = nowUs();
  while (chunk === undefined || nowUs() - quietSince < 3n * SECOND) {
    for (const packet of await link.wait(receiver.deadline)) {
      if (receiver.take(nowUs(), packet)) quietSince = nowUs(); // to rebuild the chunk may have taken long
    }
    const now = nowUs();
    link.sendDue(() => receiver.poll(now));
    if (receiver.state === "FAILED") throw new Failure("no further slices, gave up");
    chunk ??= receiver.read(now).chunk;
  }
  writeFileSync(1, chunk);
}

/** Runs one end and closes its socket. */
async function run<P>(link: Link<P>, end: (link: Link<P>) => Promise<void>): Promise<void> {
  try {
    await end(link);
  } finally {
    link.close();
  }
}

async function overConnection(mode: "send" | "recv", at: { address: string; port: number }, protocolId: number): Promise<void> {
  if (mode === "recv") {
    writeFileSync(1, await receiveOver(at, protocolId));
    return;
  }
  const problem = await sendOver(at, protocolId, readFileSync(0));
  if (problem !== null) throw new Failure(problem);
}

async function main(): Promise<void> {
  const { CHUNKWIRE_MODE: mode, CHUNKWIRE_ADDRESS: place = "", CHUNKWIRE_PROTOCOL_ID: id = "" } = process.env;
  const [address = "", port = ""] = place.split(":");
  if ((mode !== "send" && mode !== "recv") || address === "" || !/^\d+$/.test(port) || !/^\d+$/.test(id)) {
    throw new Failure("CHUNKWIRE_MODE, CHUNKWIRE_ADDRESS and CHUNKWIRE_PROTOCOL_ID must be set");
  }
  if (process.env["CHUNKWIRE_VARIANT"] === "connection") return overConnection(mode, { address, port: Number(port) }, Number(id));
  if (process.env["CHUNKWIRE_VARIANT"] === "repair") {
    const protocolId = repairProtocolId(Number(id));
    const link = new Link<RepairPacket>(address, Number(port), {
      encode: (packet) => encodeRepairPacket(protocolId, packet),
      decode: (datagram) => decodeRepairPacket(protocolId, datagram),
    });
    await run(link, (l) =>
      mode === "send"
        ? send(l, new SenderWithRepair({ scheduler: new RatelessScheduler() }))
        : receive(l, new ReceiverWithRepair()),
    );
    return;
  }
  const link = new Link<Packet>(address, Number(port), {
    encode: (packet) => encodePacket(Number(id), packet),
    decode: (datagram) => decodePacket(Number(id), datagram),
  });
  await run(link, (l) =>
    mode === "send" ? send(l, new NamedSender({ scheduler: new AdaptiveScheduler() })) : receive(l, new NamedReceiver()),
  );
}

await main().catch((error: unknown) => {
  if (!(error instanceof Failure)) throw error;
  process.stderr.write(`live: ${error.message}\n`);
  process.exitCode = 1;
});
