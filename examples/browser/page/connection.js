// A connection of the TypeScript port over the datagrams of a WebTransport session.
import { Client } from "./chunkwire/index.js";

const now = () => BigInt(Math.round(performance.now() * 1000)); // microseconds (CXN-2)
const random = (size) => crypto.getRandomValues(new Uint8Array(size));

/** Drives a Client: it calls onEvent after each datagram and each time that something was due. */
export class Connection {
  counts = { in: 0, out: 0, dropped: 0 };
  #client;
  #writer;
  #drop;
  #onEvent;
  #timer = 0;

  /** Options are those of Client, without random; drop tells for each datagram whether it is lost on purpose. */
  constructor(session, options, { onEvent, drop = () => false }) {
    this.#client = new Client(now(), { random, ...options });
    this.#writer = session.datagrams.writable.getWriter();
    this.#drop = drop;
    this.#onEvent = onEvent;
    this.#receive(session.datagrams.readable.getReader()).catch(() => {}); // the connection times out, or has ended
    this.#turn();
  }

  get state() {
    return this.#client.state;
  }

  get ended() {
    return this.#client.ended;
  }

  /** Milliseconds; null while it is not known. */
  get ping() {
    const us = this.#client.connection?.remote?.rtt ?? null;
    return us === null ? null : Number(us) / 1000;
  }

  send(channel, message) {
    return this.#client.send(now(), channel, message);
  }

  /** Ends a tick of the game: all messages so far are sent at once. */
  sendNow() {
    this.#client.connection?.endTick(now());
    this.#turn();
  }

  /** The next message of a channel, or null. */
  read(channel) {
    return this.#client.read(now(), channel)?.data ?? null;
  }

  readChunk() {
    return this.#client.readChunk(now());
  }

  close(code, text) {
    this.#client.close(now(), code, text);
    this.#turn();
  }

  async #receive(reader) {
    for (let { value, done } = await reader.read(); !done; { value, done } = await reader.read()) {
      this.counts.in++;
      if (this.#drop()) this.counts.dropped++;
      else this.#client.receive(now(), value);
      this.#turn();
    }
  }

  /** Sends what is due, and waits for what will be. */
  #turn() {
    clearTimeout(this.#timer);
    for (let out = this.#client.poll(now()); out !== null; out = this.#client.poll(now())) {
      this.counts.out++;
      if (this.#drop()) this.counts.dropped++;
      else this.#writer.write(out.datagram).catch(() => {}); // one that is refused is as good as lost
    }
    const due = this.#client.deadline;
    if (due !== null) this.#timer = setTimeout(() => this.#turn(), Math.max(0, Math.ceil(Number(due - now()) / 1000)));
    this.#onEvent();
  }
}
