#!/usr/bin/env node
/**
 * One chunk over UDP, as `chunkwire live --help` asks for: a driver around the machines.
 * The environment says what to do: CHUNKWIRE_MODE (send or recv), CHUNKWIRE_ADDRESS (an IPv4
 * address and a port) and CHUNKWIRE_PROTOCOL_ID (decimal).
 */

import { createSocket, type RemoteInfo, type Socket } from "node:dgram";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { BaseScheduler, BURST } from "./base.js";
import { decodePacket, encodePacket, type Packet } from "./codec.js";
import { Receiver } from "./receiver.js";
import { Sender } from "./sender.js";
import { NEVER, type Deadline, type Micros } from "./time.js";

const SECOND: Micros = 1_000_000n;

/** A failure that is reported on standard error. */
class Failure extends Error {}

/** Microseconds of a clock that only runs forward (TIM-2). */
function nowUs(): Micros {
  return process.hrtime.bigint() / 1000n;
}

/** A socket and the peer at its other end. */
class Link {
  readonly #socket: Socket = createSocket("udp4");
  readonly #protocolId: number;
  #peer: { readonly address: string; readonly port: number };
  #arrived: Packet[] = [];
  #wake = (): void => {};

  constructor(address: string, port: number, protocolId: number) {
    this.#peer = { address, port };
    this.#protocolId = protocolId;
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

  send(packet: Packet): void {
    this.#socket.send(encodePacket(this.#protocolId, packet), this.#peer.port, this.#peer.address, () => {});
  }

  /** Polls until nothing more comes (SND-3, RCV-1), and returns the last row. */
  sendDue(poll: () => { readonly row: string } | { readonly row: string; readonly packet: Packet }): string {
    for (;;) {
      const result = poll();
      if (!("packet" in result)) return result.row;
      this.send(result.packet);
    }
  }

  /** The packets that have come, or come first until the deadline; there may be none. */
  async wait(deadline: Deadline): Promise<readonly Packet[]> {
    const left = deadline === NEVER ? SECOND : deadline - nowUs();
    if (this.#arrived.length === 0 && left > 0n) {
      const milliseconds = Math.ceil(Number(left < SECOND ? left : SECOND) / 1000);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, milliseconds);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    } else {
      await new Promise(setImmediate); // lets datagrams in
    }
    const arrived = this.#arrived;
    this.#arrived = [];
    return arrived;
  }

  /** What does not decode is dropped (CON-4). */
  #take(datagram: Buffer, from: RemoteInfo): void {
    const decoded = decodePacket(this.#protocolId, datagram);
    if (!decoded.ok) return;
    this.#peer = from;
    this.#arrived.push(decoded.packet);
    this.#wake();
  }
}

/** Sends standard input as chunk 0. */
async function send(link: Link): Promise<void> {
  const sender = new Sender({ scheduler: new BaseScheduler(BURST) });
  if (sender.submit(nowUs(), readFileSync(0)).row !== "S1") throw new Failure("a chunk has 1 to 262144 bytes");
  while (sender.state === "SENDING") {
    const now = nowUs();
    if (link.sendDue(() => sender.poll(now)) === "S15") throw new Failure("no answer, gave up");
    for (const packet of await link.wait(sender.deadline)) {
      if (packet.type === "ack") sender.ack(nowUs(), packet); // before the poll (SND-4)
    }
  }
}

/** Writes chunk 0 to standard output, and answers until no slice has come for a second. */
async function receive(link: Link): Promise<void> {
  const receiver = new Receiver();
  await link.bind();
  let chunk: Uint8Array | undefined;
  let quietSince = nowUs();
  while (chunk === undefined || nowUs() - quietSince < SECOND) {
    for (const packet of await link.wait(receiver.deadline)) {
      if (packet.type !== "slice") continue;
      quietSince = nowUs();
      receiver.slice(quietSince, packet);
    }
    const now = nowUs();
    if (link.sendDue(() => receiver.poll(now)) === "R23") throw new Failure("no further slices, gave up");
    const result = chunk === undefined ? receiver.read(now) : undefined;
    if (result?.row === "R16") chunk = result.chunk;
  }
  writeFileSync(1, chunk);
}

async function main(): Promise<void> {
  const { CHUNKWIRE_MODE: mode, CHUNKWIRE_ADDRESS: place = "", CHUNKWIRE_PROTOCOL_ID: id = "" } = process.env;
  const [address = "", port = ""] = place.split(":");
  if ((mode !== "send" && mode !== "recv") || address === "" || !/^\d+$/.test(port) || !/^\d+$/.test(id)) {
    throw new Failure("CHUNKWIRE_MODE, CHUNKWIRE_ADDRESS and CHUNKWIRE_PROTOCOL_ID must be set");
  }
  const link = new Link(address, Number(port), Number(id));
  try {
    await (mode === "send" ? send(link) : receive(link));
  } finally {
    link.close();
  }
}

await main().catch((error: unknown) => {
  if (!(error instanceof Failure)) throw error;
  process.stderr.write(`live: ${error.message}\n`);
  process.exitCode = 1;
});
