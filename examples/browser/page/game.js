// The game: an island, a dot for each player, and chat.
import { Connection } from "./connection.js";

const POSITIONS = 0;
const CHAT = 1;
const TICK = 1000 / 30; // ms
const SIDE = 512; // points of the island each way
const SPEED = 160; // points a second

const bytesOf = (hex) => Uint8Array.from(hex.match(/../g), (b) => parseInt(b, 16));
const hexOf = (bytes) => Array.from(new Uint8Array(bytes), (b) => b.toString(16).padStart(2, "0")).join("");
const at = (id) => document.getElementById(id);
const show = (id, text) => (at(id).textContent = text);

/** A loss that a link in the address asks for, such as ?drop=10 (percent). */
const percent = Number(new URLSearchParams(location.search).get("drop") ?? 0);
const drop = () => Math.random() * 100 < percent;

const me = { x: SIDE / 2, y: SIDE / 2, toX: SIDE / 2, toY: SIDE / 2 };
const keys = new Set();
let others = [];
let connection = null;
let island = null;

/** Water, sand, grass, rock and snow. */
function paint(heights) {
  const image = new ImageData(SIDE, SIDE);
  heights.forEach((h, i) => {
    const light = 1 + (i % SIDE === 0 ? 0 : h - heights[i - 1]) / 24;
    const [r, g, b] = h < 96 ? [24, 70 + h / 3, 120 + h / 2] : h < 108 ? [214, 196, 140] : h < 168 ? [70 + (h - 108) / 2, 132, 64] : h < 205 ? [122, 112, 100] : [236, 240, 244];
    image.data.set([r * light, g * light, b * light, 255], 4 * i);
  });
  island = new OffscreenCanvas(SIDE, SIDE);
  island.getContext("2d").putImageData(image, 0, 0);
}

async function load(chunk) {
  paint(chunk);
  at("loading").hidden = true;
  show("status", "playing");
  show("hash", hexOf(await crypto.subtle.digest("SHA-256", chunk)));
}

/** After each event of the connection: the island, and lines of chat, as they come. */
function arrived() {
  if (connection === null) return;
  const chunk = island === null ? connection.readChunk() : null;
  if (chunk !== null) load(chunk);
  for (let line = connection.read(CHAT); line !== null; line = connection.read(CHAT)) {
    at("lines").append(Object.assign(document.createElement("li"), { textContent: new TextDecoder().decode(line) }));
    while (at("lines").children.length > 100) at("lines").firstChild.remove();
    at("lines").scrollTop = at("lines").scrollHeight;
  }
  const { ended } = connection;
  if (ended !== null) show("status", ended.why === "closed" && ended.text ? `the game is over: ${ended.text}` : `the connection has ended: ${ended.why}`);
}

/** A tick of the game: what came, a step, and where the player is now. */
function tick() {
  if (connection === null || connection.state === "CLOSED" || island === null) return;
  const all = connection.read(POSITIONS);
  if (all !== null) {
    const view = new DataView(all.buffer, all.byteOffset, all.byteLength);
    others = Array.from({ length: all.length / 12 }, (_, i) => ({ number: view.getUint32(12 * i, true), x: view.getFloat32(12 * i + 4, true), y: view.getFloat32(12 * i + 8, true) }));
  }
  move();
  const message = new DataView(new ArrayBuffer(8));
  message.setFloat32(0, me.x, true);
  message.setFloat32(4, me.y, true);
  connection.send(POSITIONS, new Uint8Array(message.buffer));
  connection.sendNow();
  draw();
}

function move() {
  const step = (SPEED * TICK) / 1000;
  const way = (less, more) => (keys.has(more) ? 1 : 0) - (keys.has(less) ? 1 : 0);
  const [dx, dy] = [way("ArrowLeft", "ArrowRight"), way("ArrowUp", "ArrowDown")];
  if (dx !== 0 || dy !== 0) [me.toX, me.toY] = [me.x + 4 * step * dx, me.y + 4 * step * dy];
  const within = (v) => Math.min(Math.max(v, 0), SIDE);
  const [x, y] = [within(me.toX) - me.x, within(me.toY) - me.y];
  const far = Math.hypot(x, y);
  const part = far > step ? step / far : 1;
  me.x += x * part;
  me.y += y * part;
}

function draw() {
  const c = at("map").getContext("2d");
  c.drawImage(island, 0, 0);
  c.font = "bold 14px system-ui, sans-serif";
  c.textAlign = "center";
  for (const { number, x, y } of others) {
    c.fillStyle = `hsl(${(number * 137) % 360} 85% 55%)`;
    c.strokeStyle = "#fff";
    c.lineWidth = 3;
    c.beginPath();
    c.arc(x, y, 9, 0, 2 * Math.PI);
    c.fill();
    c.stroke();
    c.strokeStyle = "#000a";
    c.strokeText(number, x, y - 14);
    c.fillStyle = "#fff";
    c.fillText(number, x, y - 14);
  }
  const { counts, ping } = connection;
  show("ping", ping === null ? "" : `${ping.toFixed(0)} ms`);
  show("players", others.length);
  for (const [name, n] of Object.entries(counts)) show(name, n);
}

function listen() {
  const map = at("map");
  const steer = (e) => {
    if (e.buttons === 0) return;
    const box = map.getBoundingClientRect();
    me.toX = ((e.clientX - box.left) / box.width) * SIDE;
    me.toY = ((e.clientY - box.top) / box.height) * SIDE;
  };
  map.addEventListener("pointerdown", steer);
  map.addEventListener("pointermove", steer);
  map.addEventListener("keydown", (e) => {
    if (!e.key.startsWith("Arrow")) return;
    keys.add(e.key);
    e.preventDefault();
  });
  map.addEventListener("keyup", (e) => keys.delete(e.key));
  map.addEventListener("blur", () => keys.clear());
  at("say").addEventListener("submit", (e) => {
    e.preventDefault();
    if (at("line").value !== "" && connection?.send(CHAT, new TextEncoder().encode(at("line").value)) === null) at("line").value = "";
  });
  addEventListener("pagehide", () => connection?.close(0, "bye"));
}

async function main() {
  listen();
  const about = await (await fetch("about.json")).json();
  const session = new WebTransport(`https://${location.host}${about.path}`, {
    serverCertificateHashes: [{ algorithm: "sha-256", value: bytesOf(about.certificateHash) }],
  });
  session.closed.catch(() => {});
  await session.ready;
  show("status", "loading the island");
  const channels = { [POSITIONS]: { kind: "latest", priority: 1 }, [CHAT]: { kind: "ordered" } };
  connection = new Connection(session, { protocol: about.protocolId, channels }, { onEvent: arrived, drop });
  setInterval(tick, TICK);
}

main().catch((error) => show("status", `failed: ${error.message}`));
