// The page: what was read or simulated, its tracks, and what is at the cursor.
import { parseLog, mergeLogs, unpackText } from './log.js';
import { buildModel, latest, most } from './model.js';
import { readSpec } from './spec.js';
import { explain, ms, bits, bytes, connectionName, count } from './words.js';
import { CanvasPen, SVGPen } from './pen.js';
import { layOut, draw, nearest, machinesOf, looks, gutter, streamName, severalGroups } from './tracks.js';
import { diagram } from './diagram.js';
import { drawMap, cells } from './map.js';
import { Controls, command, readFragment, startMachines, writeFragment } from './playground.js';

const font = 'system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif';
const $ = (id) => document.getElementById(id);
const page = { model: null, spec: null, layout: null, view: { t0: 0, t1: 1 }, told: [], shown: [], events: [], cursor: 0, at: -1, hover: null, theme: null, context: {}, drag: null, playing: 0, signature: '' };

function element(name, properties = {}, ...children) {
  const e = Object.assign(document.createElement(name), properties);
  e.append(...children);
  return e;
}

// theme reads the colors of the style sheet, so that light and dark have one place.
function readTheme() {
  const style = getComputedStyle(document.documentElement);
  const color = (name) => style.getPropertyValue(`--${name}`).trim();
  const theme = { states: [0, 1, 2, 3, 4].map((i) => color(`state${i}`)), stateText: color('state-text'), mapNone: color('map-none') };
  for (const name of ['page', 'panel', 'text', 'soft', 'axis', 'grid', 'chunk', 'rule', 'first', 'again', 'repair', 'probe', 'lost', 'arrived', 'acked', 'accent']) theme[name] = color(name);
  return theme;
}

// show shows the events of a log; keep keeps the window of time and the cursor.
function show(events, keep) {
  const before = page.model;
  page.model = buildModel(events);
  const { model } = page;
  chooseStreams(model, keep ? $('stream').value : null);
  const modes = events.filter((e) => e.kind === 'metrics').map((e) => e.data.mode);
  page.context = { base: modes.length > 0 && modes.every((m) => m === 'base' || m === 'burst') && modes.includes('base') };
  page.view = firstView(model);
  const first = keep && before && page.cursor <= model.t1 ? null : firstTrouble();
  page.cursor = first ? first.t : page.cursor;
  page.at = first?.place ?? latest(page.told, page.cursor);
  page.hover = null;
  resize();
  showFigures();
}

// firstView returns the window of time to begin with: all, or of many chunks the first ones.
function firstView(model) {
  const { chunks } = page.shown.reduce((m, s) => (s.chunks.length > m.chunks.length ? s : m), { chunks: [] });
  return { t0: model.t0, t1: chunks.length > 12 ? chunks[5].until : model.t1 };
}

// isTold reports whether an event is one to step through: not figures, nor rows that change
// no state, which the diagrams show.
function isTold(e) { return e.kind !== 'metrics' && e.kind !== 'rtt_sampled' && !(e.kind === 'state' && e.data.from === e.data.to); }

// firstTrouble returns the first slice that was sent again or dropped, where there is something
// to see; else the middle.
function firstTrouble() {
  const { told, model } = page;
  return told.find((e) => e.kind === 'slice_sent' && e.data.why !== 'first') ?? told.find((e) => e.kind === 'slice_lost' || e.kind === 'datagram_dropped') ?? { t: (model.t0 + model.t1) / 2 };
}

// chooseStreams offers all lanes, each connection and each lane, and shows what is chosen: of
// several connections the first one to begin with.
function chooseStreams(model, chosen) {
  const streams = [...model.streams.values()].sort((a, b) => a.group.localeCompare(b.group, 'en', { numeric: true }) || a.from.localeCompare(b.from) || a.lane - b.lane);
  const groups = [...new Set(streams.map((s) => s.group))];
  const several = groups.length > 1;
  const choices = new Map([['', [`all ${streams.length} lanes`, streams]]]);
  if (several) for (const g of groups) choices.set(`connection ${g}`, [connectionName(g), streams.filter((s) => s.group === g)]);
  for (const s of streams) choices.set(s.key, [streamName(s, several), [s]]);
  if (!choices.has(chosen)) chosen = several ? `connection ${groups[0]}` : '';
  const select = $('stream');
  select.replaceChildren(...[...choices].map(([value, [text]]) => new Option(text, value)));
  select.value = chosen;
  $('stream-label').hidden = streams.length < 2;
  page.shown = choices.get(chosen)[1].slice(0, 24);
  const of = new Set(page.shown.map((s) => s.group));
  page.events = model.events.filter((e) => !several || e.group === '' || of.has(e.group));
  page.told = page.events.filter(isTold);
  page.told.forEach((e, i) => { e.place = i; });
}

// resize lays the tracks out anew and draws everything.
function resize() {
  page.theme = readTheme();
  const width = $('plot').clientWidth;
  page.layout = layOut(page.model, page.shown, page.events, width);
  for (const id of ['tracks', 'cursor']) size($(id), width, page.layout.height);
  size($('overview'), width, 28);
  drawLegend();
  redraw();
}

function size(canvas, width, height) {
  const scale = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  canvas.style.height = `${height}px`;
  canvas.getContext('2d').setTransform(scale, 0, 0, scale, 0, 0);
}

function redraw() {
  const context = $('tracks').getContext('2d');
  context.clearRect(0, 0, page.layout.width, page.layout.height);
  draw(new CanvasPen(context, font), page.layout, page.view, page.theme);
  drawOverview();
  drawCursor();
}

const plotWidth = () => page.layout.width - gutter - 14;
const xOf = (t) => gutter + ((t - page.view.t0) / (page.view.t1 - page.view.t0)) * plotWidth();
const timeAt = (x) => page.view.t0 + ((x - gutter) / plotWidth()) * (page.view.t1 - page.view.t0);

// drawOverview draws how much was sent over the whole time, and the window that is shown.
function drawOverview() {
  const { model, theme, view } = page;
  const c = $('overview').getContext('2d');
  const width = page.layout.width;
  c.clearRect(0, 0, width, 28);
  const n = Math.max(1, Math.floor(plotWidth() / 2));
  const bins = [new Array(n).fill(0), new Array(n).fill(0)];
  for (const s of page.shown) for (const k of s.chunks) for (const x of k.sent) bins[x.why === 'first' ? 0 : 1][Math.min(n - 1, Math.floor(((x.t - model.t0) / (model.t1 - model.t0)) * n))]++;
  const top = Math.max(1, most(bins[0].keys(), (i) => bins[0][i] + bins[1][i]));
  c.fillStyle = theme.page;
  c.fillRect(gutter, 0, plotWidth(), 28);
  for (let i = 0; i < n; i++) {
    const [a, b] = [bins[0][i], bins[1][i]].map((v) => (Math.sqrt(v / top) * 25));
    c.fillStyle = theme.first;
    c.fillRect(gutter + i * 2, 28 - a, 1.6, a);
    c.fillStyle = theme.again;
    c.fillRect(gutter + i * 2, 28 - a - b, 1.6, b);
  }
  const x = (t) => gutter + ((t - model.t0) / (model.t1 - model.t0)) * plotWidth();
  c.fillStyle = theme.soft;
  c.globalAlpha = 0.25;
  c.fillRect(gutter, 0, x(view.t0) - gutter, 28);
  c.fillRect(x(view.t1), 0, gutter + plotWidth() - x(view.t1), 28);
  c.globalAlpha = 1;
  c.strokeStyle = theme.accent;
  c.lineWidth = 1.5;
  c.strokeRect(x(view.t0) + 0.75, 0.75, Math.max(3, x(view.t1) - x(view.t0) - 1.5), 26.5);
  c.font = `11px ${font}`;
  c.fillStyle = theme.soft;
  c.textBaseline = 'middle';
  c.fillText('sent', 8, 14);
}

function drawLegend() {
  const { theme } = page;
  const repair = page.shown.some((s) => s.repair);
  const kinds = new Set(page.shown.flatMap((s) => s.chunks.flatMap((c) => c.sent.map((x) => x.why))));
  const items = [['first', 'sent for the first time', looks.first]];
  if (!repair || kinds.has('lost') || kinds.has('timeout')) items.push(['lost', repair ? 'sent as the timer ran out' : 'sent again', looks.lost]);
  if (repair) items.push(['repair', 'repair slice', looks.repair]);
  if (kinds.has('probe') || kinds.has('extra')) items.push(['probe', 'probe or copy', looks.probe]);
  items.push(['cross', 'dropped on the way', { shape: 'cross', color: 'lost' }], ['tick', 'arrived', { shape: 'tick', color: 'arrived' }]);
  if (!repair) items.push(['ring', 'acked', { shape: 'ring', color: 'acked' }]);
  $('legend').replaceChildren(...items.map(([, text, look]) => {
    const canvas = element('canvas', { width: 28, height: 28 });
    canvas.style.width = canvas.style.height = '14px';
    const c = canvas.getContext('2d');
    c.scale(2, 2);
    new CanvasPen(c, font).marks(look.shape, [[7, 7]], look.shape === 'dot' ? 3.2 : 4, theme[look.color]);
    return element('li', {}, canvas, text);
  }));
}

// drawCursor draws the cursor, and shows what is at its time.
function drawCursor() {
  const { layout, theme } = page;
  const c = $('cursor').getContext('2d');
  c.clearRect(0, 0, layout.width, layout.height);
  const x = xOf(page.cursor);
  if (x >= gutter - 1 && x <= gutter + plotWidth() + 1) {
    c.strokeStyle = theme.accent;
    c.lineWidth = 1.25;
    c.beginPath();
    c.moveTo(x, 20);
    c.lineTo(x, layout.height - 20);
    c.stroke();
    label(c, x, ms(page.cursor));
  }
  if (page.hover) {
    c.strokeStyle = theme.text;
    c.lineWidth = 1.5;
    c.beginPath();
    c.arc(page.hover.x, page.hover.y, 7, 0, 2 * Math.PI);
    c.stroke();
  }
  if (page.drag && Math.abs(page.drag.x - page.drag.from) > 3) {
    c.globalAlpha = 0.18;
    c.fillStyle = theme.accent;
    c.fillRect(Math.min(page.drag.x, page.drag.from), 24, Math.abs(page.drag.x - page.drag.from), layout.height - 48);
    c.globalAlpha = 1;
  }
  showAt();
}

function label(c, x, text) {
  c.font = `600 11px ${font}`;
  const w = c.measureText(text).width + 12;
  const left = Math.min(Math.max(x - w / 2, 2), page.layout.width - w - 2);
  c.fillStyle = page.theme.accent;
  c.fillRect(left, 4, w, 17);
  c.fillStyle = page.theme.panel;
  c.textBaseline = 'middle';
  c.fillText(text, left + 6, 13);
}

function contextOf(e) {
  const lane = e.data.lane ?? 0;
  const stream = [...page.model.streams.values()].find((s) => s.group === e.group && s.lane === lane && (s.from === e.end || s.to === e.end));
  return { ...page.context, repair: stream?.repair ?? false };
}

// said returns an event in words, with the sentences of the specification.
function said(e) {
  const { text, ids } = explain(e, contextOf(e));
  const parts = [element('p', { textContent: text })];
  for (const id of ids) {
    const sentence = page.spec.sentences.get(id);
    if (!sentence) continue;
    const words = sentence.text.length > 170 ? `${sentence.text.slice(0, 170).replace(/\s\S*$/, '')} …` : sentence.text;
    parts.push(element('p', { className: 'sentence' }, element('b', { textContent: `${id} ` }), `${sentence.document}: ${words.replace(/[*`]/g, '')}`));
  }
  return parts;
}

// showAt shows the event, the map, the events around and the machines at the cursor's time.
function showAt() {
  const { model, cursor } = page;
  const e = page.hover?.e ?? page.told[page.at];
  $('time').textContent = ms(cursor);
  $('said').replaceChildren(...(e ? said(e) : [element('p', { textContent: model.events.length ? 'Nothing has happened yet.' : 'The log has no events.' })]));
  const plot = $('plot');
  plot.setAttribute('aria-valuemin', model.t0);
  plot.setAttribute('aria-valuemax', model.t1);
  plot.setAttribute('aria-valuenow', cursor);
  plot.setAttribute('aria-valuetext', `${ms(cursor)}: ${e ? explain(e, contextOf(e)).text : 'no event'}`);
  showMap();
  showEvents();
  showMachines();
}

function showMap() {
  const stream = page.hover?.stream ?? activeStream();
  const { counts, chunk } = drawMap($('map'), stream, page.cursor, page.theme, $('at').clientWidth - 30);
  $('map-title').textContent = chunk ? `Slices of chunk ${chunk.id}${page.shown.length > 1 ? `, ${streamName(stream, severalGroups(page.shown))}` : ''}` : 'Map of slices';
  $('map-counts').replaceChildren(...Object.entries(counts).map(([state, n]) => {
    const swatch = element('i');
    swatch.style.background = page.theme[cells[state][1]];
    return element('li', {}, swatch, `${n} ${cells[state][0]}`);
  }));
}

// activeStream returns the stream of the event at the cursor, else the first that is shown.
function activeStream() {
  const e = page.told[page.at];
  const lane = e?.data.lane;
  return page.shown.find((s) => e && s.group === e.group && s.lane === lane && s.events.includes(e)) ?? page.shown[0];
}

function showEvents() {
  const events = page.told;
  const now = page.hover ? page.hover.e.place : page.at;
  const from = Math.max(0, Math.min(now - 4, events.length - 10));
  $('events').replaceChildren(...events.slice(from, from + 10).map((e) => {
    const text = explain(e, contextOf(e)).text;
    const li = element('li', { className: e.place === now ? 'now' : '', title: text }, element('time', { textContent: e.t.toFixed(3) }), element('span', { textContent: text }));
    if (e.place === now) li.setAttribute('aria-current', 'true');
    return li;
  }));
}

function showMachines() {
  const stream = activeStream();
  const machines = machinesOf(page.model, stream ? [stream] : []).filter((m) => page.spec.tables.has(m.table)).slice(0, 8);
  const states = machines.map((m) => {
    const i = latest(m.changes, page.cursor);
    return i < 0 ? { state: String(m.changes[0].data.from), row: '' } : { state: String(m.changes[i].data.to), row: String(m.changes[i].data.row), t: m.changes[i].t };
  });
  const signature = JSON.stringify([machines.map((m) => m.key), states]);
  if (signature === page.signature) return;
  page.signature = signature;
  $('machines-title').textContent = `Machines (${machines.length})`;
  $('machines').replaceChildren(...machines.map((m, i) => machineFigure(m, states[i])));
}

function machineFigure(m, { state, row, t }) {
  const table = page.spec.tables.get(m.table);
  const figure = element('figure', { className: 'machine' });
  const where = [m.end, m.lane === undefined ? '' : `lane ${m.lane}`].filter(Boolean).join(', ');
  figure.append(element('h2', { textContent: `${m.table} (${where})` }));
  figure.append(element('p', { textContent: row ? `In ${state}; the last row was ${row}, at ${ms(t)}. Rows are those of ${table.document}.` : `In ${state}; no row was taken yet.` }));
  const holder = element('div');
  holder.innerHTML = diagram(table, { state, row }); // of the specification's own words, escaped
  figure.append(holder);
  return figure;
}

// showFigures shows what it all took.
function showFigures() {
  const figures = page.result ? resultFigures(page.result.report) : logFigures();
  $('figures').replaceChildren(...figures.map(([name, value, unit, id]) => {
    const dd = element('dd', { textContent: value }, unit ? element('small', { textContent: ` ${unit}` }) : '');
    dd.dataset.figure = id ?? '';
    return element('div', {}, element('dt', { textContent: name }), dd);
  }));
  $('summary').textContent = summary();
}

// resultFigures returns the figures of a report, each as `simulate --json` prints it.
function resultFigures(r) {
  const value = (v) => (v === null ? '–' : v.toFixed(3).replace(/\.?0+$/, ''));
  return [
    ['Delivered', value(r.deliver_ms?.median ?? null), 'ms', 'deliver_ms'],
    ['Sender knows', value(r.acked_ms?.median ?? null), 'ms', 'acked_ms'],
    ['Slices sent', value(r.slices_sent), '', 'slices_sent'],
    ['Bytes down / size', value(r.bytes_down_ratio), '', 'bytes_down_ratio'],
    ['Bytes up / size', value(r.bytes_up_ratio), '', 'bytes_up_ratio'],
  ];
}

function logFigures() {
  const { model } = page;
  const chunks = page.shown.flatMap((s) => s.chunks);
  const sent = chunks.flatMap((c) => c.sent);
  const again = sent.filter((s) => s.why !== 'first');
  const n = (kind) => page.events.filter((e) => e.kind === kind).length;
  const list = [
    ['Time', ms(model.t1 - model.t0).replace(' ms', ''), 'ms'], ['Chunks', chunks.length.toLocaleString('en-US')],
    ['Slices sent', sent.length.toLocaleString('en-US')], ['Beyond the first', again.length.toLocaleString('en-US'), sent.length ? `${((100 * again.length) / sent.length).toFixed(1)} %` : ''],
  ];
  const acks = page.events.filter((e) => e.kind === 'datagram_dropped' && e.data.carried === 'ack').length;
  if (n('datagram_dropped')) list.push(['Dropped on the way', n('datagram_dropped').toLocaleString('en-US'), acks ? count(acks, 'ack') : '']);
  if (n('packet_sent')) list.push(['Packets sent', n('packet_sent').toLocaleString('en-US'), `${n('packet_lost')} lost`]);
  if (n('message_sent')) list.push(['Messages', n('message_sent').toLocaleString('en-US')]);
  list.push(['Events', page.events.length.toLocaleString('en-US')]);
  return list;
}

function summary() {
  if (page.result) return resultSummary(page.result.report);
  const chunks = page.shown.flatMap((s) => s.chunks);
  const failed = chunks.filter((c) => c.failed !== null).length;
  if (chunks.length === 0) return page.model.events.length ? `${count(page.model.events.length, 'event')}, and no chunk among them` : 'The log has no events.';
  if (failed) return `${count(failed, 'chunk')} of ${chunks.length} failed`;
  if (chunks.length > 1) return summaryOfMany(chunks);
  const [c] = chunks;
  const lost = c.sent.filter((s) => s.dropped).length;
  const what = `${c.bytes ? bytes(c.bytes) : 'A chunk'} in ${count(c.slices, 'slice')}`;
  const sent = `${count(c.sent.length, 'slice')} sent${lost ? `, ${lost} of them dropped` : ''}`;
  return c.delivered !== null ? `${what}: there after ${ms(c.delivered - c.start, 1)}, with ${sent}` : `${what}, with ${sent}`;
}

// summaryOfMany says how fast several chunks were, how much was sent again, and which chunk took longest.
function summaryOfMany(chunks) {
  const [from, to] = [Math.min(...chunks.map((c) => c.start)), Math.max(...chunks.map((c) => c.until))];
  const size = chunks.reduce((n, c) => n + c.bytes, 0);
  const sent = chunks.flatMap((c) => c.sent);
  const again = sent.filter((s) => s.why !== 'first').length;
  const slowest = chunks.reduce((m, c) => (c.until - c.start > m.until - m.start ? c : m));
  const lane = page.shown.find((s) => s.chunks.includes(slowest)).lane;
  return `${count(chunks.length, 'chunk')} over ${count(page.shown.length, 'lane')}${size ? ` at ${bits((8000 * size) / (to - from))}` : ''}: ${count(sent.length, 'slice')} sent, ${again} of them beyond the first time; the slowest, chunk ${slowest.id} of lane ${lane}, took ${ms(slowest.until - slowest.start, 0)}`;
}

function resultSummary(r) {
  const block = `${r.warm ? 'The second block of a connection, ' : ''}${bytes(r.size)}`;
  if (!r.ok) return `${block}: not there within ${ms(r.limit_ms, 0)} of virtual time`;
  return `${block}${r.warm ? ',' : ''} is there after ${ms(r.deliver_ms.median, 1)}, with ${count(r.slices_sent, 'slice')} sent`;
}

// moveTo moves the cursor to a time, or to an event.
function moveTo(t, index) {
  page.cursor = Math.min(Math.max(t, page.model.t0), page.model.t1);
  page.at = index ?? latest(page.told, page.cursor);
  page.hover = null;
  const span = page.view.t1 - page.view.t0;
  if (page.cursor < page.view.t0 || page.cursor > page.view.t1) zoomTo(page.cursor - span / 2, page.cursor + span / 2);
  else drawCursor();
}

function moveBy(n) {
  const events = page.told;
  const i = Math.min(Math.max(page.at + n, 0), events.length - 1);
  if (events[i]) moveTo(events[i].t, i);
}

// moveToTrouble moves to the next loss or resend, or to the one before.
function moveToTrouble(step) {
  const events = page.told;
  for (let i = page.at + step; i >= 0 && i < events.length; i += step) {
    const e = events[i];
    if (e.kind === 'slice_lost' || e.kind === 'datagram_dropped' || e.kind === 'datagram_refused' || (e.kind === 'slice_sent' && e.data.why !== 'first')) return moveTo(e.t, i);
  }
}

function zoomTo(t0, t1) {
  const { model } = page;
  const all = model.t1 - model.t0;
  const span = Math.min(Math.max(t1 - t0, Math.min(0.05, all)), all);
  const from = Math.min(Math.max(t0 + (t1 - t0 - span) / 2, model.t0), model.t1 - span);
  page.view = { t0: from, t1: from + span };
  requestDraw();
}

function zoomBy(factor, t = page.cursor) {
  const { t0, t1 } = page.view;
  const at = t < t0 || t > t1 ? (t0 + t1) / 2 : t;
  zoomTo(at - (at - t0) * factor, at + (t1 - at) * factor);
}

function panBy(part) {
  const d = (page.view.t1 - page.view.t0) * part;
  zoomTo(page.view.t0 + d, page.view.t1 + d);
}

let pending = 0;
function requestDraw() {
  pending ||= requestAnimationFrame(() => {
    pending = 0;
    redraw();
  });
}

// play lets the cursor run over what is shown, in eight seconds.
function play() {
  const stop = page.playing !== 0;
  cancelAnimationFrame(page.playing);
  page.playing = 0;
  $('play').textContent = stop ? '▶' : '❚❚';
  $('play').setAttribute('aria-pressed', String(!stop));
  $('play').setAttribute('aria-label', stop ? 'Play' : 'Pause');
  if (stop) return;
  if (page.cursor >= page.view.t1 - 1e-6 || page.cursor < page.view.t0) moveTo(page.view.t0);
  let before = performance.now();
  const step = (now) => {
    moveTo(Math.min(page.cursor + ((now - before) / 8000) * (page.view.t1 - page.view.t0), page.view.t1));
    before = now;
    if (page.cursor >= page.view.t1 - 1e-6) return play();
    page.playing = requestAnimationFrame(step);
  };
  page.playing = requestAnimationFrame(step);
}

const keys = {
  ArrowLeft: (e) => (e.shiftKey ? panBy(-0.2) : moveBy(-1)), ArrowRight: (e) => (e.shiftKey ? panBy(0.2) : moveBy(1)),
  PageUp: () => moveToTrouble(-1), PageDown: () => moveToTrouble(1),
  Home: () => moveTo(page.model.t0, 0), End: () => moveTo(page.model.t1),
  '+': () => zoomBy(0.6), '=': () => zoomBy(0.6), '-': () => zoomBy(1 / 0.6), 0: () => zoomTo(page.model.t0, page.model.t1), ' ': play,
};

function listen() {
  const plot = $('plot');
  plot.addEventListener('keydown', (e) => {
    if (!keys[e.key] || e.ctrlKey || e.metaKey || e.altKey) return;
    e.preventDefault();
    keys[e.key](e);
  });
  const place = (e) => {
    const box = plot.getBoundingClientRect();
    return [e.clientX - box.left, e.clientY - box.top];
  };
  plot.addEventListener('pointermove', (e) => {
    const [x, y] = place(e);
    if (page.drag) page.drag.x = x;
    else hover(x, y, e);
    drawCursor();
  });
  plot.addEventListener('pointerdown', (e) => {
    if (e.button !== 0) return;
    const [x] = place(e);
    page.drag = { from: x, x };
    plot.setPointerCapture(e.pointerId);
  });
  plot.addEventListener('pointerup', (e) => {
    const { drag } = page;
    page.drag = null;
    if (!drag) return;
    const [a, b] = [timeAt(Math.min(drag.from, drag.x)), timeAt(Math.max(drag.from, drag.x))];
    if (Math.abs(drag.x - drag.from) > 6) zoomTo(Math.max(a, page.model.t0), Math.min(b, page.model.t1));
    else pin(...place(e));
  });
  plot.addEventListener('pointerleave', unhover);
  plot.addEventListener('dblclick', () => zoomTo(page.model.t0, page.model.t1));
  plot.addEventListener('wheel', wheel, { passive: false });
  listenOverview();
  $('zoom-in').addEventListener('click', () => zoomBy(0.6));
  $('zoom-out').addEventListener('click', () => zoomBy(1 / 0.6));
  $('zoom-all').addEventListener('click', () => zoomTo(page.model.t0, page.model.t1));
  $('play').addEventListener('click', play);
  $('save-svg').addEventListener('click', saveSVG);
  $('stream').addEventListener('change', () => {
    chooseStreams(page.model, $('stream').value);
    moveTo(page.cursor);
    resize();
    showFigures();
  });
  new ResizeObserver(() => page.model && page.layout.width !== plot.clientWidth && resize()).observe(plot);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', resize);
}

function wheel(e) {
  const [dx, dy] = [e.deltaX, e.deltaY];
  if (e.ctrlKey || e.metaKey) zoomBy(Math.exp(dy / 300), timeAt(e.clientX - $('plot').getBoundingClientRect().left));
  else if (e.shiftKey || Math.abs(dx) > Math.abs(dy)) panBy((dx || dy) / 1200);
  else return;
  e.preventDefault();
}

function listenOverview() {
  const overview = $('overview');
  const move = (e) => {
    if (!(e.buttons & 1)) return;
    const x = e.clientX - overview.getBoundingClientRect().left;
    const t = page.model.t0 + ((x - gutter) / plotWidth()) * (page.model.t1 - page.model.t0);
    const half = (page.view.t1 - page.view.t0) / 2;
    zoomTo(t - half, t + half);
  };
  overview.addEventListener('pointerdown', (e) => {
    overview.setPointerCapture(e.pointerId);
    move(e);
  });
  overview.addEventListener('pointermove', move);
}

// hover shows what is near a point.
function hover(x, y, e) {
  page.hover = nearest(page.layout, page.view, x, y);
  const tip = $('tip');
  tip.hidden = !page.hover;
  if (!page.hover) return;
  tip.replaceChildren(element('p', { className: 'when', textContent: ms(page.hover.e.t) }), ...said(page.hover.e));
  tip.style.left = `${Math.min(e.clientX + 16, innerWidth - tip.offsetWidth - 8)}px`;
  tip.style.top = `${e.clientY + tip.offsetHeight + 20 > innerHeight ? Math.max(4, e.clientY - tip.offsetHeight - 12) : e.clientY + 16}px`;
}

function unhover() {
  page.hover = null;
  $('tip').hidden = true;
  drawCursor();
}

// pin puts the cursor where the pointer is, or at the event that is near.
function pin(x, y) {
  const near = nearest(page.layout, page.view, x, y);
  moveTo(near ? near.e.t : timeAt(x), near?.e.place);
}

// saveSVG saves the tracks as a picture.
function saveSVG() {
  const url = URL.createObjectURL(new Blob([svgOfTracks()], { type: 'image/svg+xml' }));
  element('a', { href: url, download: 'chunkwire.svg' }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

// svgOfTracks returns the tracks as they are shown, as an SVG.
function svgOfTracks() {
  const pen = new SVGPen(page.layout.width, page.layout.height, page.theme.panel, font);
  draw(pen, page.layout, page.view, page.theme);
  return pen.toString();
}

function note(text) {
  $('note').textContent = text;
  $('note').hidden = text === '';
}

// openLogs shows the logs that are in the page.
async function openLogs(blocks) {
  const texts = await Promise.all(blocks.map(unpackText));
  const records = texts.reduce((n, t) => n + t.split('\x1e').length - 1, 0);
  $('summary').textContent = `reading ${count(records, 'event')}`;
  await new Promise((drawn) => { setTimeout(drawn, 20); });
  const logs = texts.map((t, i) => parseLog(t, blocks[i].dataset.name));
  $('title').textContent = logs.map((l) => l.title || l.name).join(' and ');
  const bad = logs.reduce((n, l) => n + l.bad, 0);
  const lost = logs.flatMap((l) => l.events).filter((e) => e.kind === 'log_dropped').reduce((n, e) => n + (e.data.count ?? 0), 0);
  note([bad ? `${count(bad, 'record')} of the log could not be read, and ${bad === 1 ? 'is' : 'are'} left out.` : '', lost ? `The log lacks ${count(lost, 'event')}: they came faster than they could be written.` : ''].join(' ').trim());
  show(mergeLogs(logs), false);
}

// openPlayground makes ready the machines, and simulates with each change.
async function openPlayground(block) {
  $('title').textContent = 'playground';
  $('summary').textContent = 'Loading the machines …';
  const simulate = await startMachines(block);
  const run = (settings) => {
    const result = simulate(settings);
    if (location.hash !== writeFragment(settings)) history.replaceState(null, '', writeFragment(settings) === '#' ? location.pathname + location.search : writeFragment(settings));
    note(result.error || result.report.error || '');
    if (result.error) return;
    page.result = result;
    show(mergeLogs([parseLog(result.log, '')]), page.told.length > 0);
    Object.assign(document.body.dataset, { report: result.text, command: command(settings) });
  };
  const controls = new Controls($('controls'), readFragment(location.hash), run);
  addEventListener('hashchange', () => controls.set(readFragment(location.hash)));
  $('copy').hidden = false;
  $('copy').addEventListener('click', () => navigator.clipboard?.writeText(location.href));
  run(controls.settings);
}

async function main() {
  page.spec = readSpec(await unpackText($('specification')));
  page.model = buildModel([]);
  page.layout = { tracks: [], width: 0, height: 0 };
  $('machines-part').open = innerWidth > 560; // on a narrow screen the diagrams are wider than it
  const machines = $('machines-wasm');
  if (machines) await openPlayground(machines);
  else await openLogs([...document.querySelectorAll('script[data-log]')]);
  listen();
  Object.assign(window, { chunkwire: { page, svgOfTracks, diagram: (name) => diagram(page.spec.tables.get(name), { standalone: true, theme: page.theme }) } });
  document.body.dataset.ready = 'true';
}

main().catch((e) => note(`The page could not be shown: ${e.message}`));
