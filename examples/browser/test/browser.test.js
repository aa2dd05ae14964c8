// The page in headless Chromium receives the world, whole, through loss.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { chromium } from "playwright-core";

const folder = mkdtempSync(join(tmpdir(), "browser-"));
let browser;

before(async () => {
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  });
});
after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Starts the server and returns the address of its page. */
async function serve(t, ...args) {
  const server = spawn(process.env.BROWSER_EXAMPLE, args, { stdio: ["ignore", "pipe", "inherit"] });
  t.after(() => server.kill());
  for await (const line of server.stdout.setEncoding("utf8")) return line.trim();
  throw new Error("the server has not started");
}

/** Loads the page and returns what it shows at the end, with the values that the bar had. */
async function load(address) {
  const page = await browser.newPage();
  const errors = [];
  page.on("pageerror", (e) => errors.push(e.message));
  await page.addInitScript(() => {
    globalThis.bar = [];
    new MutationObserver(() => bar.push(document.getElementById("bar").value)).observe(document, { subtree: true, attributes: true, attributeFilter: ["value"] });
  });
  await page.goto(address);
  await page.waitForFunction(() => /^(done|failed)/.test(document.getElementById("status").textContent), null, { timeout: 30_000 });
  const shown = await page.evaluate(() => Object.fromEntries([...document.querySelectorAll("[id]")].map((e) => [e.id, e.textContent])));
  shown.bars = await page.evaluate(() => bar);
  await page.close();
  assert.deepEqual(errors, []);
  return shown;
}

for (const [loss, drop] of [[0, 0], [10, 10], [30, 0]]) {
  test(`a world, ${loss} % lost by the server, ${drop} % by the page`, async (t) => {
    const world = randomBytes(262_144 - 300);
    const file = join(folder, "world");
    writeFileSync(file, world);
    const address = await serve(t, "--world", file, "--loss", String(loss));
    const shown = await load(`${address}?drop=${drop}`);
    assert.equal(shown.status, `done: ${world.length} bytes`);
    assert.equal(shown.hash, createHash("sha256").update(world).digest("hex"));
    assert.equal(shown.slices, "256 of 256");
    assert.equal(shown.bars.at(-1), 1);
    assert.ok(shown.bars.length > 10, `the bar moved ${shown.bars.length} times`);
    assert.ok(shown.bars.every((v, i) => i === 0 || v >= shown.bars[i - 1]), "the bar goes forward");
    assert.ok(Number(shown.in) - Number(shown.dropped) >= 256);
    assert.ok(drop === 0 || Number(shown.dropped) > 5, `${shown.dropped} were dropped`);
    t.diagnostic(`${shown.time}, ${shown.in} datagrams, ${shown.dropped} dropped by the page, ${shown.acks} acks`);
  });
}

test("a page that comes twice has two worlds", async (t) => {
  const address = await serve(t, "--loss", "5");
  const [one, other] = await Promise.all([load(address), load(address)]);
  assert.match(one.status, /^done/);
  assert.equal(one.hash, other.hash);
});

test("nobody is there", async (t) => {
  const address = await serve(t);
  const page = await browser.newPage();
  await page.route("**/about.json", (route) =>
    route.fulfill({ json: { path: "/elsewhere", protocolId: 1, certificateHash: "00".repeat(32) } }),
  );
  await page.goto(address);
  await page.waitForFunction(() => document.getElementById("status").textContent.startsWith("failed: "), null, { timeout: 30_000 });
  await page.close();
});
