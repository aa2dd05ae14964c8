// Pages in headless Chromium play over a connection, through loss.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { after, before, test } from "node:test";
import { chromium } from "playwright-core";

let browser;

before(async () => {
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  });
});
after(() => browser?.close());

/** Starts the server and returns the address of its page, and the process. */
async function serve(t, ...args) {
  const server = spawn(process.env.BROWSER_EXAMPLE, args, { stdio: ["ignore", "pipe", "inherit"] });
  t.after(() => server.kill());
  for await (const line of server.stdout.setEncoding("utf8")) return { address: line.trim(), server };
  throw new Error("the server has not started");
}

/** Opens the page, and waits until it has the island. */
async function join(t, address, size = { width: 1280, height: 800 }) {
  const page = await browser.newPage({ viewport: size });
  page.errors = [];
  page.on("pageerror", (e) => page.errors.push(e.message));
  t.after(async () => {
    assert.deepEqual(page.errors, []);
    await page.close();
  });
  await page.goto(address);
  await page.waitForFunction(() => document.getElementById("hash").textContent !== "", null, { timeout: 60_000 });
  assert.equal(await text(page, "status"), "playing");
  return page;
}

const text = (page, id) => page.evaluate((id) => document.getElementById(id).textContent, id);
const number = async (page) => /you are player (\d+)/.exec(await text(page, "lines"))[1];
const says = (page, line) => page.evaluate((line) => {
  document.getElementById("line").value = line;
  document.getElementById("say").requestSubmit();
}, line);
const waitForText = (page, id, pattern) =>
  page.waitForFunction(([id, pattern]) => new RegExp(pattern).test(document.getElementById(id).textContent), [id, pattern], { timeout: 60_000 });

/** The color of the map at a point, as red, green and blue. */
const colorAt = (page, x, y) => page.evaluate(([x, y]) => [...document.getElementById("map").getContext("2d").getImageData(x, y, 1, 1).data.slice(0, 3)].join(), [x, y]);

for (const [loss, drop] of [[0, 0], [10, 10]]) {
  test(`two players, ${loss} % lost by the server each way, ${drop} % by the pages`, async (t) => {
    const { address, server } = await serve(t, "--loss", String(loss));
    const [one, other] = await Promise.all([join(t, `${address}?drop=${drop}`), join(t, `${address}?drop=${drop}`)]);
    assert.equal(await text(one, "hash"), await text(other, "hash"));
    for (const page of [one, other]) await waitForText(page, "players", "^2$");

    const before = await colorAt(other, 60, 60);
    const box = await one.locator("#map").boundingBox();
    await one.mouse.move(box.x + (60 / 512) * box.width, box.y + (60 / 512) * box.height);
    await one.mouse.down();
    await one.mouse.up();
    await other.waitForFunction(([x, y, before]) => [...document.getElementById("map").getContext("2d").getImageData(x, y, 1, 1).data.slice(0, 3)].join() !== before, [60, 60, before], { timeout: 60_000 });

    const [who, count] = [await number(one), 20];
    for (let i = 0; i < count; i++) await says(one, `line ${i}`);
    await waitForText(other, "lines", `line ${count - 1}`);
    const lines = await other.evaluate(() => [...document.querySelectorAll("#lines li")].map((e) => e.textContent));
    assert.deepEqual(lines.filter((l) => l.startsWith(`player ${who}:`)), Array.from({ length: count }, (_, i) => `player ${who}: line ${i}`));
    assert.ok(drop === 0 || Number(await text(one, "dropped")) > 5);
    if (process.env.SHOTS) await one.screenshot({ path: `${process.env.SHOTS}/island-${loss}.png` });
    t.diagnostic(`ping ${await text(one, "ping")}, ${await text(one, "in")} datagrams in, ${await text(one, "out")} out, ${await text(one, "dropped")} dropped by the page`);

    server.kill("SIGINT");
    for (const page of [one, other]) await waitForText(page, "status", "^the game is over: the server goes to sleep$");
  });
}

test("a narrow page plays, and leaves", async (t) => {
  const { address } = await serve(t, "--loss", "5");
  const one = await join(t, address, { width: 390, height: 844 });
  const other = await browser.newPage();
  await other.goto(address);
  await waitForText(other, "players", "^2$");
  const who = await number(other);
  await other.close({ runBeforeUnload: true });
  await waitForText(one, "lines", `player ${who} has left`);
  if (process.env.SHOTS) await one.screenshot({ path: `${process.env.SHOTS}/island-narrow.png`, fullPage: true });
});

test("nobody is there", async (t) => {
  const { address } = await serve(t);
  const page = await browser.newPage();
  await page.route("**/about.json", (route) =>
    route.fulfill({ json: { path: "/elsewhere", protocolId: 1, certificateHash: "00".repeat(32) } }),
  );
  await page.goto(address);
  await waitForText(page, "status", "^failed: ");
  await page.close();
});
