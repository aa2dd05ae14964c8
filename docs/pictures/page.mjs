// Pictures of the page, for README: a transfer, and the diagrams of a table.
//
//   docs/pictures/make       makes all of them
import { createRequire } from "node:module";
import { join } from "node:path";

const [folder, page, modules] = process.argv.slice(2);
const { chromium } = createRequire(join(modules, "x.js"))("playwright-core");
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});
const tab = await browser.newPage({ viewport: { width: 1280, height: 1100 }, colorScheme: "light" });
await tab.goto(`file://${page}`);
await tab.waitForFunction(() => globalThis.chunkwire !== undefined);
await tab.waitForTimeout(500); // until it is drawn
await tab.screenshot({ path: join(folder, "transfer.png"), clip: { x: 0, y: 0, width: 1280, height: 1085 }, fullPage: true });
await tab.screenshot({ path: join(folder, "machines.png"), clip: { x: 0, y: 1150, width: 1280, height: 415 }, fullPage: true });
await browser.close();
