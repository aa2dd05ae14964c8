// Receives one world over the datagrams of a WebTransport session.
import { decodeRepairPacket, encodeRepairPacket, repairProtocolId, RepairReceiver } from "./chunkwire/index.js";

const now = () => BigInt(Math.round(performance.now() * 1000)); // microseconds (TIM-2)
const bytesOf = (hex) => Uint8Array.from(hex.match(/../g), (b) => parseInt(b, 16));
const hexOf = (bytes) => Array.from(new Uint8Array(bytes), (b) => b.toString(16).padStart(2, "0")).join("");
const show = (id, text) => (document.getElementById(id).textContent = text);

/** Calls progress(have, of) as slices come; the acks go out by themselves. */
export async function receiveWorld(session, protocolId, { progress, drop = () => false, counts }) {
  const id = repairProtocolId(protocolId);
  const receiver = new RepairReceiver();
  const reader = session.datagrams.readable.getReader();
  const writer = session.datagrams.writable.getWriter();
  let timer = 0;
  let give;
  const gaveUp = new Promise((_, reject) => (give = reject));
  // Packets first, then what is due (RCV-1): after each datagram, and at the deadline.
  const poll = () => {
    for (;;) {
      const result = receiver.poll(now());
      if (result.row === "U24") give(new Error("the server is silent"));
      if (!("packet" in result)) break;
      counts.acks++;
      writer.write(encodeRepairPacket(id, result.packet)).catch(() => {}); // one that is refused is as good as lost
    }
    clearTimeout(timer);
    const due = receiver.deadline;
    if (due !== null) timer = setTimeout(poll, Math.max(0, Math.ceil(Number(due - now()) / 1000)));
  };
  const arrive = async () => {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) throw new Error("the session has ended");
      counts.in++;
      if (drop()) {
        counts.dropped++;
        continue;
      }
      const decoded = decodeRepairPacket(id, value);
      if (!decoded.ok || decoded.packet.type !== "slice") continue; // what does not decode is dropped (CON-4)
      receiver.slice(now(), decoded.packet);
      poll();
      const read = receiver.read(now());
      if (read.chunk) {
        progress(decoded.packet.numSlices, decoded.packet.numSlices);
        keepAnswering(); // the last ack may be lost: then slices come again
        return read.chunk;
      }
      progress(receiver.have, decoded.packet.numSlices);
    }
  };
  const keepAnswering = async () => {
    try {
      for (;;) {
        const { value, done } = await reader.read();
        if (done) return;
        const decoded = decodeRepairPacket(id, value);
        if (decoded.ok && decoded.packet.type === "slice") receiver.slice(now(), decoded.packet);
        poll();
      }
    } catch {
      clearTimeout(timer); // the server closes the session once it has the last ack
    }
  };
  return Promise.race([arrive(), gaveUp]);
}

/** A loss that a link in the address asks for, such as ?drop=10 (percent). */
function dropping() {
  const percent = Number(new URLSearchParams(location.search).get("drop") ?? 0);
  return () => Math.random() * 100 < percent;
}

async function main() {
  const about = await (await fetch("about.json")).json();
  const session = new WebTransport(`https://${location.host}${about.path}`, {
    serverCertificateHashes: [{ algorithm: "sha-256", value: bytesOf(about.certificateHash) }],
  });
  session.closed.catch(() => {});
  await session.ready;
  show("status", "loading");
  const counts = { in: 0, dropped: 0, acks: 0 };
  const start = performance.now();
  const world = await receiveWorld(session, about.protocolId, {
    counts,
    drop: dropping(),
    progress(have, of) {
      document.getElementById("bar").value = have / of;
      show("slices", `${have} of ${of}`);
      for (const [name, n] of Object.entries(counts)) show(name, n);
    },
  });
  show("time", `${Math.round(performance.now() - start)} ms`);
  show("hash", hexOf(await crypto.subtle.digest("SHA-256", world)));
  show("status", `done: ${world.length} bytes`);
}

main().catch((error) => show("status", `failed: ${error.message}`));
