/** One chunk over a connection, and again as messages (`chunkwire live --connection`): a driver around Client and Server. */

import { createSocket, type RemoteInfo, type Socket } from "node:dgram";
import { once } from "node:events";
import { randomBytes } from "node:crypto";
import { Alarm } from "./alarm.js";
import { Client, Server, type EndOptions, type Peer } from "./ends.js";
import { type Deadline, type Micros } from "./time.js";

const MESSAGE = 1024;
const LONGEST_WAIT: Micros = 1_000_000n;

/** What both ends agree on (testvectors/LIVE.md). */
function options(protocol: number): EndOptions {
  return { random: (size) => Uint8Array.from(randomBytes(size)), protocol, timeout: 30_000_000n, channels: { 0: { kind: "ordered" } } };
}

/** Microseconds of a clock that only runs forward (CXN-2). */
function nowUs(): Micros {
  return process.hrtime.bigint() / 1000n;
}

interface Address {
  readonly address: string;
  readonly port: number;
}

/** Datagrams as they come. */
class Wire {
  readonly #socket: Socket = createSocket("udp4");
  readonly #alarm = new Alarm();
  /** Holds when the latest datagram is at the system. */
  #sent: Promise<void> = Promise.resolve();

  constructor(take: (datagram: Uint8Array, from: RemoteInfo) => void) {
    this.#socket.on("error", () => {}); // a datagram that the system refuses is as good as lost
    this.#socket.on("message", (datagram: Buffer, from: RemoteInfo) => {
      take(datagram, from);
      this.#alarm.ring();
    });
  }

  async bind({ address, port }: Address): Promise<void> {
    this.#socket.bind(port, address);
    await once(this.#socket, "listening");
  }

  send(datagram: Uint8Array, { address, port }: Address): void {
    this.#sent = new Promise((resolve) => this.#socket.send(datagram, port, address, () => resolve()));
  }

  /** Waits until something comes, or the deadline does. */
  async wait(deadline: Deadline): Promise<void> {
    await this.#alarm.until(nowUs(), deadline, LONGEST_WAIT);
    await new Promise(setImmediate); // lets datagrams in, also those that came while this process had to wait
  }

  async close(): Promise<void> {
    await this.#sent;
    this.#socket.close();
  }
}

/** Sends a chunk, and closes when the server has it; null, or what went wrong. */
export async function sendOver(to: Address, protocol: number, chunk: Uint8Array): Promise<string | null> {
  const client = new Client(nowUs(), options(protocol));
  const wire = new Wire((datagram) => void client.receive(nowUs(), datagram));
  let [hasBegun, isDelivered] = [false, false];
  while (client.state !== "CLOSED") {
    if (client.state === "OPEN" && !hasBegun) {
      hasBegun = true;
      begin(client, chunk);
    }
    if (hasBegun && !isDelivered && client.connection?.isDelivered) {
      isDelivered = true;
      client.close(nowUs());
    }
    for (let out = client.poll(nowUs()); out !== null; out = client.poll(nowUs())) wire.send(out.datagram, to);
    await wire.wait(client.deadline);
  }
  await wire.close();
  return isDelivered ? null : `the connection ended: ${client.ended?.why ?? ""}`;
}

function begin(client: Client, chunk: Uint8Array): void {
  client.sendChunk(nowUs(), chunk);
  for (let at = 0; at < chunk.length; at += MESSAGE) client.send(nowUs(), 0, chunk.subarray(at, at + MESSAGE));
}

/** Receives the chunk of one client until that closes; throws Error for what went wrong. */
export async function receiveOver(at: Address, protocol: number): Promise<Uint8Array> {
  const server = new Server({ ...options(protocol), anonymous: true });
  let peer: Peer | null = null;
  const wire = new Wire((datagram, from) => {
    const received = server.receive(nowUs(), `${from.address}:${from.port}`, datagram);
    if (received.answer !== null) wire.send(received.answer, from);
    peer ??= received.peer;
  });
  await wire.bind(at);
  let chunk: Uint8Array | null = null;
  const messages: Uint8Array[] = [];
  const read = ({ connection }: Peer): boolean => {
    for (let r = connection.read(nowUs(), 0); r !== null; r = connection.read(nowUs(), 0)) if (r.data !== null) messages.push(r.data);
    chunk ??= connection.readChunk(nowUs());
    return connection.state === "CLOSED";
  };
  for (let isOver = false; !isOver; ) {
    await wire.wait(server.deadline);
    isOver = peer !== null && read(peer);
    for (let out = server.poll(nowUs()); out !== null; out = server.poll(nowUs())) wire.send(out.datagram, addressOf(out.to));
  }
  await wire.close();
  if (chunk === null || !Buffer.concat(messages).equals(chunk)) throw new Error("the messages are not the chunk");
  return chunk;
}

function addressOf(text: string): Address {
  const [address = "", port = ""] = text.split(":");
  return { address, port: Number(port) };
}
