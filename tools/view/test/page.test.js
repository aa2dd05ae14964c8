// The pages in a browser, opened from files: what they show, that they ask for nothing, and that
// no script or request of a log's gets anywhere.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import { transfer, writeLog } from './logs.js';

const repository = resolve(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'view'));
const chunkwire = process.env.CHUNKWIRE ?? join(folder, 'chunkwire');
const playground = process.env.PLAYGROUND ?? join(folder, 'playground.html');
let browser;

before(async () => {
  const go = (...args) => execFileSync('go', args, { cwd: repository, stdio: 'inherit' });
  if (!process.env.CHUNKWIRE) go('build', '-o', chunkwire, './cmd/chunkwire');
  if (!process.env.PLAYGROUND) go('run', './tools/view/pack', '-o', playground);
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
  });
});

after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true });
});

// open opens a page from its file. What it asks for beside itself, and what it complains about,
// is in page.faults.
async function open(file, { fragment = '', ...options } = {}) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, ...options });
  const url = pathToFileURL(file).href;
  page.faults = [];
  page.on('request', (r) => { if (r.url().split('#')[0] !== url && !/^(data|blob):/.test(r.url())) page.faults.push(`request ${r.url().slice(0, 100)}`); });
  page.on('console', (m) => { if (['error', 'warning'].includes(m.type())) page.faults.push(`console ${m.text()}`); });
  page.on('pageerror', (e) => page.faults.push(`error ${e.message}`));
  page.on('dialog', (d) => { page.faults.push(`dialog ${d.message()}`); d.dismiss(); });
  await page.goto(url + fragment);
  await page.waitForSelector('body[data-ready]');
  return page;
}

async function close(page) {
  assert.deepEqual(page.faults, []);
  await page.close();
}

// view makes the page of logs.
function view(...logs) {
  const out = join(folder, `${Math.random()}.html`);
  execFileSync(chunkwire, ['view', '-o', out, ...logs]);
  return out;
}

const log = (name, events, header) => writeLog(join(folder, name), events, header);

// simulated checks that the page shows what the command that it names prints, and returns that.
async function simulated(page) {
  await page.waitForFunction(() => document.body.dataset.command === document.querySelector('#controls code').textContent);
  const command = await page.textContent('#controls code');
  let printed;
  try {
    printed = execFileSync(chunkwire, command.split(' ').slice(1), { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  } catch (e) {
    printed = e.stdout; // a transfer that failed
  }
  assert.equal(await page.evaluate(() => document.body.dataset.report), printed.trim(), command);
  const report = JSON.parse(printed);
  const shown = await page.$$eval('#figures dd', (all) => Object.fromEntries(all.map((dd) => [dd.dataset.figure, dd.firstChild.textContent])));
  for (const [name, text] of Object.entries(shown)) {
    const value = report[name]?.median ?? report[name];
    assert.equal(text, value === null ? '–' : String(Number(value.toFixed(3))), `${name}, ${command}`);
  }
  return report;
}

// logged checks that the page has the events that --log writes.
async function logged(page) {
  const file = join(folder, 'simulated');
  const command = `${await page.textContent('#controls code')} --log ${file}`;
  spawnSync(chunkwire, command.split(' ').slice(1));
  const written = readFileSync(file, 'utf8').split('\n').slice(1);
  const shown = (await page.evaluate(() => window.chunkwire.page.result.log)).split('\n').slice(1);
  assert.ok(shown.length > 10, command);
  assert.equal(shown.join('\n'), written.join('\n'), command);
}

test('the playground shows what simulate --json prints', async () => {
  const page = await open(playground);
  const first = await simulated(page);
  assert.equal(first.ok, true);
  for (const fragment of [
    '#loss=20&variant=slices&seed=7', '#rate=1000000&queue=65536&loss=5&profile=fixed', '#rate=0&rtt_ms=200&jitter_ms=20&loss=10', '#size=1000&loss=50&seed=3',
    '#profile=article&loss=2', '#profile=base&loss=5&size=65536', '#loss=20&warm=1', '#profile=redundant&loss=5&variant=slices&warm=1', '#profile=burst&rate=2000000&queue=32768',
  ]) {
    const before = await page.evaluate((f) => {
      location.hash = f;
      return document.body.dataset.command;
    }, fragment);
    await page.waitForFunction((b) => document.body.dataset.command !== b, before);
    await simulated(page);
    await logged(page);
  }
  await close(page);
});

test('sliders and keys change what is simulated, and the link repeats it', async () => {
  const page = await open(playground);
  for (const [name, key, times] of [['loss', 'ArrowRight', 9], ['rtt_ms', 'ArrowRight', 15], ['rate', 'ArrowLeft', 2], ['queue', 'ArrowLeft', 1], ['jitter_ms', 'ArrowRight', 4], ['size', 'ArrowLeft', 1], ['seed', 'ArrowUp', 3], ['warm', 'Space', 1]]) {
    await page.focus(`#set-${name}`);
    for (let i = 0; i < times; i++) await page.keyboard.press(key);
  }
  const report = await simulated(page);
  assert.deepEqual([report.loss_percent, report.rtt_ms, report.rate_bits, report.queue_bytes, report.jitter_ms, report.size, report.seed, report.warm], [9.5, 80, 2e6, 131072, 4, 131072, 4, true]);
  await page.selectOption('#set-variant', 'slices');
  await page.selectOption('#set-profile', 'redundant');
  const last = await simulated(page);
  assert.equal(last.variant, 'slices');
  const again = await open(playground, { fragment: await page.evaluate(() => location.hash) });
  assert.deepEqual(await simulated(again), last);
  await close(again);
  await close(page);
});

test('the second block alone is shown, from its beginning', async () => {
  const page = await open(playground, { fragment: '#loss=20&warm=1' });
  await simulated(page);
  assert.equal(await page.textContent('#map-title'), 'Slices of chunk 1');
  const { t0, start } = await page.evaluate(() => ({ t0: window.chunkwire.page.model.t0, start: window.chunkwire.page.shown[0].chunks[0].start }));
  assert.equal(t0, start);
  assert.match(await page.textContent('#legend'), /dropped on the way/);
  await close(page);
});

test('a link with nonsense falls back to what is allowed', async () => {
  const page = await open(playground, { fragment: '#loss=1e999&rtt_ms=-5&rate=7&profile=%3Cscript%3E&seed=1.5&size=&variant=repair&warm=2' });
  const report = await simulated(page);
  assert.deepEqual([report.loss_percent, report.rtt_ms, report.rate_bits, report.profile, report.seed], [5, 0, 1e7, 'adaptive', 1]);
  await close(page);
});

test('keys move the cursor, and say what happened and why', async () => {
  const page = await open(view(log('keys', transfer({ lost: [5, 40] }))));
  await page.focus('#plot');
  const text = () => page.getAttribute('#plot', 'aria-valuetext');
  await page.keyboard.press('Home');
  assert.match(await text(), /^0\.000 ms: .*IDLE → SENDING/);
  await page.keyboard.press('PageDown');
  assert.match(await text(), /Slice 5 counts as lost: slices that were sent after it were acked/);
  await page.keyboard.press('PageDown');
  assert.match(await text(), /Slice 5 was sent for the second time, because it counts as lost/);
  assert.match(await page.textContent('#said'), /LOS-2 spec\/RECOVERY\.md: A flying slice/);
  await page.keyboard.press('ArrowRight');
  assert.doesNotMatch(await text(), /Slice 5 was sent/);
  for (const key of ['+', 'Shift+ArrowRight', '-', '0', 'End']) await page.keyboard.press(key);
  assert.match(await page.textContent('.machine'), /In IDLE; the last row was S10/);
  await close(page);
});

test('pointing at a slice that was sent again says why', async () => {
  const page = await open(view(log('hover', transfer({ lost: [5] }))));
  const at = await page.evaluate(() => {
    const { layout, view } = window.chunkwire.page;
    const track = layout.tracks.find((t) => t.kind === 'slices');
    const box = document.getElementById('plot').getBoundingClientRect();
    const sent = track.stream.chunks[0].sent.find((s) => s.times === 2);
    return { x: box.left + track.area.x + ((sent.t - view.t0) / (view.t1 - view.t0)) * track.area.w, y: box.top + track.y(track.area, sent.slice) };
  });
  await page.mouse.move(at.x, at.y);
  assert.match(await page.textContent('#tip'), /Slice 5 was sent for the second time, because it counts as lost.*LOS-2/s);
  await page.mouse.click(at.x, at.y);
  await page.mouse.move(2, 2);
  assert.equal(await page.isHidden('#tip'), true);
  await close(page);
});

test('lanes, both ends, a failure, nothing', async () => {
  const lanes = await open(view(log('lanes', [0, 1, 2, 3].flatMap((lane) => [0, 1].flatMap((chunk) => transfer({ lane, chunk, start: chunk * 90, lost: [lane] }))))));
  assert.equal(await lanes.$eval('#stream', (s) => s.options.length), 5);
  assert.match(await lanes.textContent('#summary'), /8 chunks over 4 lanes/);
  await lanes.selectOption('#stream', '1/client/2');
  assert.match(await lanes.textContent('#summary'), /2 chunks over 1 lane/);
  await close(lanes);

  const message = [15, 'message_sent', 'client', { channel: 1, bytes: 9 }];
  const several = await open(view(log('seven', transfer({ lost: [3] }), { group: '7' }), log('nine', [...transfer({ lost: [1, 2], slices: 6 }), message], { group: '9' })));
  assert.equal(await several.$eval('#stream', (s) => s.value), 'connection 7');
  assert.match(await several.textContent('#summary'), /64.0 KiB in 64 slices: there after .* with 65 slices sent/);
  assert.match(await several.textContent('#said'), /Slice 3 was sent for the second time/);
  await several.selectOption('#stream', 'connection 9');
  assert.match(await several.textContent('#summary'), /6.0 KiB in 6 slices: there after .* with 8 slices sent/);
  assert.match(await several.textContent('#figures'), /Messages1/);
  await several.selectOption('#stream', '');
  assert.match(await several.textContent('#summary'), /2 chunks over 2 lanes/);
  assert.deepEqual(await several.evaluate(() => window.chunkwire.page.layout.tracks.filter((t) => t.kind === 'states').map((t) => t.title)), ['States of the machines · connection 00000007', 'States of the machines · connection 00000009']);
  await close(several);

  const ends = await open(view(log('client', transfer({ ends: ['client'], lost: [3] }), { title: 'chunkwire send', type: 'client' }), log('server', transfer({ ends: ['server'], lost: [3] }), { title: 'chunkwire recv', type: 'server' })));
  assert.equal(await ends.textContent('#title'), 'chunkwire send and chunkwire recv');
  assert.match(await ends.textContent('#summary'), /64.0 KiB in 64 slices: there after/);
  assert.equal((await ends.$$('.machine')).length, 2);
  await close(ends);

  const failed = await open(view(log('failed', [...transfer({ ends: ['client'] }).slice(0, 60), [9000, 'state', 'client', { lane: 0, machine: 'sender', from: 'SENDING', to: 'FAILED', row: 'S15' }], [9000, 'chunk_failed', 'client', { lane: 0, chunk: 0, direction: 'out', why: 'gave_up' }]])));
  assert.equal(await failed.textContent('#summary'), '1 chunk of 1 failed');
  await failed.focus('#plot');
  await failed.keyboard.press('End');
  assert.match(await failed.textContent('#said'), /Chunk 0 failed: gave up.*SND-19/s);
  await close(failed);

  const empty = await open(view(log('empty', [])));
  assert.equal(await empty.textContent('#summary'), 'The log has no events.');
  await empty.focus('#plot');
  for (const key of ['Home', 'End', 'ArrowLeft', 'ArrowRight', 'PageDown', '+', '-']) await empty.keyboard.press(key);
  await close(empty);
});

test('what a log says stays text', async () => {
  const evil = '<img src=x onerror=alert(1)><script>alert(2)</script>"\'&</title><base href="http://127.0.0.1:9/">';
  const events = [
    [0, 'connection_started', 'client', { role: evil, mode: evil, variant: evil, lanes: 1, remote: evil }],
    ...transfer({ slices: 8 }),
    [95, evil, evil, { lane: 0, chunk: 0, slice: evil, why: evil }],
    [96, 'state', 'client', { machine: evil, from: evil, to: evil, row: evil }],
    [97, 'state', 'client', { lane: 0, machine: 'sender', from: evil, to: evil, row: evil }],
    [97.5, 'slice_sent', 'client', { lane: 0, chunk: 0, slice: 1e9, times: 'x', why: '__proto__' }],
    [98, 'metrics', 'client', { mode: evil, rate: 1e6, in_flight: 3 }],
    [99, 'connection_ended', 'client', { why: evil, text: evil, code: 1 }],
  ];
  const page = await open(view(log(`${'x'.repeat(3)}"><script>alert(3)<.log`.replace('/', ''), events, { title: evil, group: evil })));
  assert.equal(await page.textContent('#title'), evil);
  await page.focus('#plot');
  await page.keyboard.press('End');
  assert.match(await page.textContent('#said'), /<img src=x/);
  for (let i = 0; i < 6; i++) await page.keyboard.press('ArrowLeft');
  assert.equal((await page.$$('img, base, script:not([type])')).length, 0);
  await close(page);
});

// Each of these records made a page that showed nothing but "Cannot convert object to primitive value" and the like.
test('a record that is no event is left out, and the rest is shown', async () => {
  const object = { toString: 1, valueOf: 1 };
  const sent = { lane: 0, chunk: 0, slice: 1, bytes: 1024, times: 1, why: 'first' };
  for (const [time, name, end, data, group] of [
    [1, 'slice_sent', object, sent], [1, 'slice_sent', '__proto__', sent], [1, 'slice_sent', 'client', sent, object],
    [1, 'slice_sent', 'client', { ...sent, why: object }], [1, 'slice_sent', 'client', { ...sent, why: null }],
    [1, 'slice_sent', 'client', { ...sent, why: 'constructor' }], [1, 'slice_received', 'server', { ...sent, as: '__proto__' }],
    [1, 'slice_sent', 'client', { ...sent, slice: 0.5 }], [1, 'slice_received', 'server', { lane: 0, chunk: 0 }],
    [1, 'state', 'client', { lane: 0, machine: object, from: 'IDLE', to: 'IDLE', row: 'S1' }], [1, 'state', 'client'], [1, 'metrics', 'client'],
    [1, 'rtt_sampled', 'client', {}], [1, '__defineGetter__', 'client', sent], [1e300, 'slice_sent', 'client', sent], [-1e300, 'slice_sent', 'client', sent],
  ]) {
    const events = [...transfer({ slices: 8 }), [time, name, end, data]];
    const page = await open(view(writeLog(join(folder, 'odd.log'), events, group === undefined ? {} : { group })));
    const left = JSON.stringify([time, name, end, data]);
    if (group === undefined) assert.match(await page.textContent('#summary'), /8 slices/, left);
    assert.doesNotMatch(await page.textContent('#note'), /could not be shown/, left);
    await close(page);
  }
});

test('what is in flight at each change is what the controller counts', async () => {
  for (const variant of [[], ['--plain'], ['--plain', '--profile', 'base']]) {
    const log = join(folder, `flight${variant.length}.log`);
    execFileSync(chunkwire, ['simulate', ...variant, '--seeds', '1', '--rate', '1M', '--queue', '16K', '--loss', '20', '--log', log], { stdio: 'ignore' });
    const page = await open(view(log));
    const pairs = await page.evaluate(() => {
      const [c] = window.chunkwire.page.model.controllers.values();
      // A figure can be of before or after another change at the same time.
      return c.metrics.map((e) => [e.data.in_flight, c.flight.findLast((p) => p.t < e.t)?.v ?? 0, c.flight.findLast((p) => p.t <= e.t).v]);
    });
    assert.ok(pairs.length > 5, `${pairs.length} figures`);
    for (const [told, before, at] of pairs) assert.ok(told >= Math.min(before, at) - 1 && told <= Math.max(before, at) + 1, `${told} in flight, counted ${before} and ${at}`);
    await close(page);
  }
});

test('200,000 events open within seconds', async () => {
  const events = [];
  for (let chunk = 0; events.length < 200_000; chunk++) for (const e of transfer({ chunk, slices: 256, start: chunk * 170, lost: [1, 50, 200] })) events.push(e);
  const file = view(log('large', events));
  assert.ok(statSync(file).size < 8 << 20, `${statSync(file).size} bytes`);
  const start = Date.now();
  const page = await open(file);
  const took = Date.now() - start;
  assert.ok(took < 15_000, `${took} ms`);
  const moved = await page.evaluate(() => {
    const start = performance.now();
    for (let i = 0; i < 10; i++) document.getElementById('plot').dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight' }));
    return (performance.now() - start) / 10;
  });
  assert.ok(moved < 200, `${moved} ms for a step`);
  await close(page);
});

test('narrow and dark: nothing is cut off', async () => {
  for (const width of [700, 390]) {
    const page = await open(playground, { viewport: { width, height: 900 }, colorScheme: 'dark' });
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${width} wide`);
    await close(page);
  }
});
