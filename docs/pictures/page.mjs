// Pictures of the page, for docs/COMMAND.md: a transfer, and the diagrams of its machines.
//
//   docs/pictures/make       makes all of them
import { createRequire } from "node:module";
import { join } from "node:path";

const [folder, page, modules] = process.argv.slice(2);
const { chromium } = createRequire(join(modules, "x.js"))("playwright-core");
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-lcd-text", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});

// open opens the page for a picture: docs/COMMAND.md shows them 830 pixels wide, and texts stay legible.
async function open(width) {
  const tab = await browser.newPage({ viewport: { width, height: 900 }, colorScheme: "light" });
  await tab.goto(`file://${page}`);
  await tab.waitForSelector("body[data-ready]");
  // Out: what nobody can use in a picture, and a list that is half of its bytes.
  await tab.evaluate(() => {
    for (const part of document.querySelectorAll("#keys, .zoom, .tools, #events, #at h3:has(+ #events)")) part.remove();
  });
  await tab.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))); // it is drawn
  return tab;
}

// picture takes a part of the page: from one place to another, in pixels from the top.
async function picture(tab, name, top, bottom) {
  const { width } = tab.viewportSize();
  await tab.screenshot({ path: join(folder, name), fullPage: true, clip: { x: 0, y: top, width, height: bottom - top } });
}

const margin = 10;
const transfer = await open(1090);
const view = await transfer.locator("#view").boundingBox();
await picture(transfer, "transfer.png", 0, view.y + view.height + margin);
const diagrams = await open(830);
const machines = await diagrams.locator("#machines").boundingBox();
await picture(diagrams, "machines.png", machines.y - margin, machines.y + machines.height + margin);
await browser.close();
