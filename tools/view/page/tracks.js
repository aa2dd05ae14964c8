// Tracks: what happened, one under the other over one axis of time.
import { latest, most } from './model.js';
import { bits, connectionName } from './words.js';

export const gutter = 72; // left of the plot, for the axes
const right = 14;
const axisHeight = 26;
const gap = 14;
const head = 18; // a track's title, and as much for its names where they have a line of their own

// looks are the shapes and colors of what was sent, by why.
export const looks = {
  first: { shape: 'dot', color: 'first' },
  lost: { shape: 'triangle', color: 'again' },
  timeout: { shape: 'triangle', color: 'again' },
  probe: { shape: 'square', color: 'probe' },
  extra: { shape: 'square', color: 'probe' },
  repair: { shape: 'diamond', color: 'repair' },
};

// layOut returns the tracks of the streams that are shown and of the events of their
// connections, with their places, and the height of them all.
export function layOut(model, streams, events, width) {
  const tracks = [];
  const height = streams.length > 4 ? 120 : streams.length > 1 ? 180 : 320;
  const several = severalGroups(streams);
  const named = streams.find((s) => s.repair);
  for (const s of streams) tracks.push(slicesTrack(s, s.top < 8 ? 56 : height, several, s === named));
  if (streams.length === 1) tracks.push(progressTrack(streams[0]));
  const senders = new Set(streams.map((s) => `${s.group}/${s.from}`));
  for (const c of model.controllers.values()) {
    const who = several ? ` · ${connectionName(c.group)}, ${c.end}` : senders.size > 1 ? ` · ${c.end}` : '';
    if (senders.has(c.key)) tracks.push(...controllerTracks(c, who));
  }
  const machines = machinesOf(model, streams);
  for (const group of new Set(machines.map((m) => m.group))) tracks.push(statesTrack(machines.filter((m) => m.group === group), several ? ` · ${connectionName(group)}` : ''));
  const other = otherTrack(model, events);
  if (other) tracks.push(other);
  let y = axisHeight;
  for (const t of tracks) {
    t.head = t.names && width < 560 ? 2 * head : head;
    t.area = { x: gutter, y: y + t.head, w: Math.max(width - gutter - right, 10), h: t.height };
    y += t.head + t.height + gap;
  }
  return { tracks, height: y + axisHeight - gap, width };
}

// machinesOf returns the machines of streams, and those of their connections.
export function machinesOf(model, streams) {
  const wanted = [...model.machines.values()].filter((m) => streams.length === 0 || streams.some((s) => m.group === s.group && ofStream(m, s)));
  const order = ['sender', 'repair-sender', 'receiver', 'repair-receiver', 'session-client', 'session-server', 'connection'];
  return wanted.sort((a, b) => order.indexOf(a.table) - order.indexOf(b.table));
}

function ofStream(m, s) {
  if (m.lane === undefined) return true;
  if (m.lane !== s.lane) return false;
  return m.end === (m.table.endsWith('sender') ? s.from : s.to);
}

// draw draws all tracks for a window of time.
export function draw(pen, layout, view, theme) {
  const area = { x: gutter, w: Math.max(layout.width - gutter - right, 10) };
  const x = (t) => area.x + ((t - view.t0) / (view.t1 - view.t0)) * area.w;
  drawTime(pen, layout, view, x, area, theme);
  for (const track of layout.tracks) {
    const a = track.area;
    pen.text(layout.width < 560 ? 8 : a.x, a.y - track.head + 9, track.title, theme.text, { bold: true, size: 12 });
    track.names?.(pen, a, theme);
    track.axis?.(pen, a, theme, view);
    pen.path([[a.x, a.y], [a.x, a.y + a.h], [a.x + a.w, a.y + a.h]], theme.axis);
    pen.clip(a.x, a.y - 3, a.w + 3, a.h + 6, () => track.draw(pen, a, x, view, theme));
  }
}

function drawTime(pen, layout, view, x, area, theme) {
  const { list, digits } = ticks(view.t0, view.t1, Math.max(2, Math.floor(area.w / 110)));
  for (const t of list) {
    for (const track of layout.tracks) pen.path([[x(t), track.area.y], [x(t), track.area.y + track.area.h]], theme.grid);
    for (const y of [axisHeight / 2, layout.height - axisHeight / 2]) pen.text(x(t), y, t.toFixed(digits), theme.soft, { align: 'center' });
  }
  pen.text(8, layout.height - axisHeight / 2, 'time, ms', theme.soft);
}

// ticks returns round numbers from lo to hi, about n of them, and the digits that they need.
export function ticks(lo, hi, n) {
  const raw = (hi - lo) / n || 1;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((f) => f * power).find((s) => s >= raw * 0.999);
  const list = [];
  for (let i = Math.ceil(lo / step - 1e-9); i * step <= hi + step * 1e-9; i++) list.push(i * step);
  return { list, digits: Math.max(0, -Math.floor(Math.log10(step) + 1e-9)) };
}

// valueAxis draws ticks of a track's values from 0 to top, at least one above 0.
function valueAxis(pen, a, theme, top, text, n = 4) {
  const about = Math.min(n, Math.max(1, Math.floor(a.h / 24)));
  let { list, digits } = ticks(0, top, about);
  if (list.length < 2) ({ list, digits } = ticks(0, top, 2 * about));
  text ??= (v) => v.toFixed(digits);
  for (const v of list) {
    const y = a.y + a.h - (v / top) * a.h;
    if (v > 0) pen.path([[a.x, y], [a.x + a.w, y]], theme.grid);
    pen.text(a.x - 6, y, text(v), theme.soft, { align: 'right' });
  }
}

// streamName says which lane it is, and of several connections which one.
export function streamName(s, several) {
  return `lane ${s.lane}, ${s.from} to ${s.to}${several && s.group ? `, ${connectionName(s.group)}` : ''}`;
}

// severalGroups reports whether streams are of more than one connection.
export function severalGroups(streams) { return new Set(streams.map((s) => s.group)).size > 1; }

// slicesTrack returns the track of a stream; named: it says which part of it are repair slices.
function slicesTrack(stream, height, several, named) {
  const k = stream.repair ? most(stream.chunks, (c) => c.slices) : 0;
  return {
    kind: 'slices', stream, height, title: `Slices by number · ${streamName(stream, several)}`,
    y: (a, slice) => a.y + a.h - ((slice + 0.5) / stream.top) * a.h,
    axis(pen, a, theme) { valueAxis(pen, a, theme, stream.top, (v) => (Number.isInteger(v) ? String(v) : ''), 6); },
    draw(pen, a, x, view, theme) {
      drawChunks(pen, a, x, stream, theme);
      if (k > 0 && stream.top > k) {
        const y = a.y + a.h - (k / stream.top) * a.h;
        pen.path([[a.x, y], [a.x + a.w, y]], theme.repair, { dash: [5, 4] });
        if (named) pen.text(a.x + 8, y - 8 < a.y + 4 ? y + 9 : y - 8, `repair slices: ${k} and above`, theme.repair);
      }
      drawSlices(pen, this, a, x, view, theme);
    },
  };
}

// A chunk whose time is less wide than this is drawn as a block.
const blockWidth = 12;

// drawChunks marks when chunks begin and are done.
function drawChunks(pen, a, x, stream, theme) {
  stream.chunks.forEach((c, i) => {
    const [from, to] = [x(c.start), x(c.until)];
    pen.rect(from, a.y, Math.max(to - from, 1), a.h, theme.chunk, i % 2 === 0 ? 1 : 0.5);
    if (to - from < blockWidth) return drawBlock(pen, a, from, to, stream, c, theme);
    if (c.failed !== null) pen.path([[x(c.failed), a.y], [x(c.failed), a.y + a.h]], theme.lost, { width: 2 });
    if (c.delivered !== null) flag(pen, a, theme, x(c.delivered), to - from, 'all arrived', theme.arrived, a.h - 24);
    if (c.end !== null) flag(pen, a, theme, x(c.end), to - from, 'sender knows', theme.acked, a.h - 10);
    if (c.failed !== null) flag(pen, a, theme, x(c.failed), to - from, 'failed', theme.lost, a.h - 10);
    if (stream.chunks.length > 1 && to - from > 50) pen.text(from + 4, a.y + 8, `chunk ${c.id}`, theme.soft);
  });
}

// drawBlock draws a chunk that is too narrow for its slices: how many it has, and how many were
// sent beyond the first time.
function drawBlock(pen, a, from, to, stream, c, theme) {
  const w = Math.max(to - from - 1, 1);
  const h = (n) => Math.min(1, n / stream.top) * a.h;
  const beyond = c.sent.length - c.first;
  pen.rect(from, a.y + a.h - h(c.slices), w, h(c.slices), theme.first, 0.4);
  pen.rect(from, a.y + a.h - h(beyond), w, h(beyond), theme[stream.repair ? 'repair' : 'again'], 0.9);
  if (c.failed !== null) pen.rect(from, a.y, Math.max(w, 2), a.h, theme.lost, 0.8);
}

function flag(pen, a, theme, x, room, text, color, dy) {
  pen.path([[x, a.y], [x, a.y + a.h]], color, { dash: [2, 3] });
  if (room < 90) return;
  const w = pen.width(text, 10);
  pen.rect(x - w - 7, a.y + dy - 7, w + 6, 14, theme.chunk, 0.85);
  pen.text(x - 4, a.y + dy, text, color, { align: 'right', size: 10 });
}

// drawSlices draws what was under way, what arrived, what was acked, and what was sent, in this
// order. What falls on the same pixel is drawn once, and what looks the same in one stroke.
function drawSlices(pen, track, a, x, view, theme) {
  const r = Math.max(1.5, Math.min(3.2, (a.h / track.stream.top) * 0.8));
  const layers = new Map();
  const add = (layer, t, slice, item) => {
    if (!layers.has(layer)) layers.set(layer, { seen: new Set(), items: [] });
    const { seen, items } = layers.get(layer);
    const key = (x(t) | 0) * 8192 + (track.y(a, slice) | 0);
    if (!seen.has(key)) items.push(item(x(t), track.y(a, slice)));
    seen.add(key);
  };
  const within = (t) => t >= view.t0 && t <= view.t1;
  const mark = (layer, t, slice) => { if (within(t)) add(layer, t, slice, (px, py) => [px, py]); };
  for (const c of track.stream.chunks) {
    if (c.start > view.t1 || c.until < view.t0 || x(c.until) - x(c.start) < blockWidth) continue;
    for (const s of c.sent) {
      const why = looks[s.why] ? s.why : 'first';
      if (s.arrived && s.arrived.t >= view.t0 && s.t <= view.t1) add(`way ${why}`, s.t, s.slice, (px, py) => [[px, py], [x(s.arrived.t), py]]);
      if (s.arrived) mark('arrived', s.arrived.t, s.slice);
      mark(why, s.t, s.slice);
      if (s.dropped) mark('dropped', s.t, s.slice);
    }
    for (const m of c.marks) if (m.mark !== 'lost') mark(m.mark === 'received' ? 'arrived' : m.mark, m.t, m.slice);
  }
  const items = (layer) => layers.get(layer)?.items ?? [];
  for (const why in looks) pen.lines(items(`way ${why}`), theme[looks[why].color], { alpha: 0.22, width: Math.max(1, r * 0.7) });
  pen.marks('tick', items('arrived'), Math.max(r, 2), theme.arrived);
  pen.marks('ring', items('acked'), Math.max(r * 0.9, 1.4), theme.acked);
  pen.marks('ring', items('spurious'), Math.max(r * 0.9, 2), theme.lost);
  for (const why in looks) pen.marks(looks[why].shape, items(why), why === 'first' ? r : Math.max(r, 2.5), theme[looks[why].color]);
  pen.marks('cross', items('dropped').map(([px, py]) => [px + r + 4, py]), Math.max(r, 2.2), theme.lost);
}

// steps returns the corners of a line that keeps each value until the next.
function steps(list, value, x, y, view) {
  const points = [];
  let before = null;
  const from = Math.max(0, latest(list, view.t0));
  for (let i = from; i < list.length; i++) {
    const v = value(list[i]);
    const px = x(list[i].t);
    if (before !== null) points.push([px, y(before)]);
    if (v === undefined || v === null) {
      before = null;
      continue;
    }
    points.push([px, y(v)]);
    before = v;
    if (list[i].t > view.t1) break;
  }
  if (before !== null) points.push([x(view.t1), y(before)]);
  return points;
}

function names(...list) {
  return (pen, a, theme) => {
    let x = a.x + a.w;
    for (const [text, color] of [...list].reverse()) {
      pen.text(x, a.y - 9, text, theme[color], { align: 'right' });
      x -= pen.width(text, 11) + 6;
      pen.rect(x - 14, a.y - 10.5, 14, 3, theme[color]);
      x -= 30;
    }
  };
}

function progressTrack(s) {
  const top = Math.max(1, most(s.chunks, (c) => c.slices));
  return {
    kind: 'progress', height: 64, title: 'Progress, slices',
    names: names(['at the receiver', 'arrived'], ['that the sender knows of', 'acked']),
    axis(pen, a, theme) { valueAxis(pen, a, theme, top, undefined, 2); },
    draw(pen, a, x, view, theme) {
      const y = (v) => a.y + a.h - (Math.min(v, top) / top) * a.h;
      for (const c of s.chunks) {
        const zero = { t: c.start, v: 0 };
        const until = { ...view, t1: Math.min(view.t1, c.until) };
        if (c.have.length) pen.path(steps([zero, ...c.have], (p) => p.v, x, y, until), theme.arrived, { width: 1.6 });
        if (c.known.length) pen.path(steps([zero, ...c.known], (p) => p.v, x, y, until), theme.acked, { width: 1.6 });
      }
    },
  };
}

function controllerTracks(c, of) {
  const list = c.metrics;
  const peak = (...names) => most(names, (n) => most(list, (e) => e.data[n] ?? 0));
  const tracks = [];
  const rate = peak('rate');
  const given = list.every((e) => e.data.mode === 'fixed' || e.data.mode === 'base');
  if (rate > 0) tracks.push(lineTrack('rate', `Rate${of}`, list, rate * 1.08, [[given ? 'of the profile' : 'of the pace', 'rate', 'first']], (v) => (v === 0 ? '0' : bits(v))));
  if (list.length > 0) {
    const flight = Math.max(most(c.flight, (p) => p.v), peak('in_flight'), 4);
    const top = Math.min(Math.max(flight, peak('limit')), 3 * flight) * 1.08;
    tracks.push(limitTrack(c, of, top));
  }
  const rtt = Math.max(peak('rtt_ms'), most(c.samples, (e) => e.data.rtt_ms));
  if (rtt > 0) tracks.push(rttTrack(c, of, rtt * 1.1));
  if (list.length > 0) tracks.push(bandTrack('mode', `Mode of the controller${of}`, [{ label: '', changes: list.map((e) => ({ t: e.t, to: String(e.data.mode) })) }]));
  return tracks;
}

function lineTrack(kind, title, list, top, lines, text) {
  return {
    kind, height: 64, title, names: names(...lines.map(([name, , color]) => [name, color])),
    axis(pen, a, theme) { valueAxis(pen, a, theme, top, text, 3); },
    draw(pen, a, x, view, theme) {
      const y = (v) => a.y + a.h - (v / top) * a.h;
      for (const [, member, color] of lines) {
        const points = steps(list, (e) => e.data[member], x, y, view);
        if (points.length > 1) pen.path(points, theme[color], { width: 1.6 });
      }
    },
  };
}

function limitTrack(c, of, top) {
  const members = [['limit', 'limit', 'repair']].filter(([, member]) => c.metrics.some((e) => e.data[member] !== undefined));
  const title = members.length > 0 ? 'Limit and in flight, slices' : 'In flight, slices';
  const lines = lineTrack('limit', `${title}${of}`, c.metrics, top, members);
  const drawLines = lines.draw;
  lines.names = names(['in flight', 'acked'], ...members.map(([name, , color]) => [name, color]));
  lines.draw = (pen, a, x, view, theme) => {
    pen.path(steps(c.flight, (p) => p.v, x, (v) => a.y + a.h - (v / top) * a.h, view), theme.acked, { width: 1.6 });
    drawLines(pen, a, x, view, theme);
  };
  return lines;
}

function rttTrack(c, of, top) {
  const lines = lineTrack('rtt', `Round trip, ms${of}`, c.metrics, top, [['smoothed', 'rtt_ms', 'first'], ['smallest', 'min_rtt_ms', 'acked']]);
  const drawLines = lines.draw;
  lines.names = names(['sample', 'again'], ['smoothed', 'first'], ['smallest', 'acked']);
  lines.draw = (pen, a, x, view, theme) => {
    const samples = c.samples.filter((s) => s.t >= view.t0 && s.t <= view.t1);
    pen.marks('dot', samples.map((s) => [x(s.t), a.y + a.h - (s.data.rtt_ms / top) * a.h]), 1.6, theme.again);
    drawLines(pen, a, x, view, theme);
  };
  return lines;
}

const bandHeight = 18;

function bandTrack(kind, title, bands) {
  return {
    kind, height: bands.length * (bandHeight + 3), title, bands,
    draw(pen, a, x, view, theme) {
      bands.forEach((band, row) => drawBand(pen, a, x, view, theme, band, a.y + row * (bandHeight + 3)));
    },
    axis(pen, a, theme) {
      bands.forEach((band, row) => pen.text(a.x - 6, a.y + row * (bandHeight + 3) + bandHeight / 2, band.label, theme.soft, { align: 'right', size: band.label.length > 11 ? 9 : 11 }));
    },
  };
}

function drawBand(pen, a, x, view, theme, band, y) {
  const list = band.changes;
  for (let i = Math.max(0, latest(list, view.t0)); i < list.length && list[i].t <= view.t1; ) {
    let j = i + 1;
    while (j < list.length && list[j].to === list[i].to) j++;
    const from = Math.max(x(list[i].t), a.x);
    const to = Math.min(j < list.length ? x(list[j].t) : a.x + a.w, a.x + a.w);
    pen.rect(from, y, Math.max(to - from - 1, 1), bandHeight, theme.states[stateColor(list[i].to) % theme.states.length]);
    if (to - from > list[i].to.length * 7 + 8) pen.text((from + to) / 2, y + bandHeight / 2, list[i].to, theme.stateText, { align: 'center', size: 11 });
    i = j;
  }
}

// stateColor returns the color of a state or mode, the same for the same name.
const paletteOf = { IDLE: 0, WAITING: 0, CLOSED: 0, FREE: 0, SENDING: 1, RECEIVING: 1, LINKING: 1, UNCONFIRMED: 1, opening: 1, READY: 2, OPEN: 2, CONFIRMED: 2, steady: 2, FAILED: 3, ENDED: 3, contested: 3, broken: 3, silent: 0, look: 4, CLOSING: 4, RELINKING: 4, drain: 4 };
export function stateColor(name) { return paletteOf[name] ?? 0; }

// statesTrack has a band a machine; those of several lanes have the lane behind their name.
function statesTrack(machines, of) {
  const lanes = machines.some((m) => m.lane > 0);
  return bandTrack('states', `States of the machines${of}`, machines.map((m) => ({
    label: (m.table === 'connection' ? `conn. ${m.end}` : m.table.replace('repair-', '').replace('session-', '')) + (lanes && m.lane !== undefined ? ` ${m.lane}` : ''),
    machine: m, changes: [{ t: m.changes[0].t - 1e9, to: m.changes[0].data.from }, ...m.changes.map((e) => ({ t: e.t, to: e.data.to, e }))],
  })));
}

// otherTrack counts packets and messages over time, if there are any.
function otherTrack(model, events) {
  const kinds = [['packets sent', 'packet_sent', 'first'], ['lost', 'packet_lost', 'lost'], ['messages', 'message_sent', 'repair'], ['refused', 'datagram_refused', 'again']];
  const present = kinds.filter(([, kind]) => events.some((e) => e.kind === kind));
  if (present.length === 0) return null;
  const bins = 200;
  const width = (model.t1 - model.t0) / bins;
  const lists = new Map(present.map(([, kind]) => [kind, new Array(bins).fill(0)]));
  for (const e of events) {
    const list = lists.get(e.kind);
    if (list) list[Math.min(bins - 1, Math.floor((e.t - model.t0) / width))]++;
  }
  const rate = (n) => (n * 1000) / width;
  const top = Math.max(1, rate(most([...lists.values()], (l) => most(l, (v) => v)))) * 1.08;
  return {
    kind: 'other', height: 64, title: 'Packets and messages a second', names: names(...present.map(([name, , color]) => [name, color])),
    axis(pen, a, theme) { valueAxis(pen, a, theme, top, (v) => String(Math.round(v)), 3); },
    draw(pen, a, x, view, theme) {
      for (const [, kind, color] of present) {
        const points = lists.get(kind).map((n, i) => ({ t: model.t0 + i * width, v: rate(n) }));
        pen.path(steps(points, (p) => p.v, x, (v) => a.y + a.h - (v / top) * a.h, view), theme[color], { width: 1.4 });
      }
    },
  };
}

// nearest returns the event of a mark near a point of the tracks, and where it is, or null.
export function nearest(layout, view, px, py) {
  for (const track of layout.tracks) {
    const a = track.area;
    if (track.kind !== 'slices' || py < a.y - 4 || py > a.y + a.h + 4) continue;
    const x = (t) => a.x + ((t - view.t0) / (view.t1 - view.t0)) * a.w;
    let best = null;
    const look = (e, t, slice, dx = 0) => {
      const [mx, my] = [x(t) + dx, track.y(a, slice)];
      const d = (mx - px) ** 2 + (my - py) ** 2;
      if (d < 144 && (!best || d < best.d)) best = { d, e, x: mx, y: my, stream: track.stream };
    };
    for (const c of track.stream.chunks) {
      for (const s of c.sent) {
        look(s.e, s.t, s.slice);
        if (s.arrived) look(s.arrived, s.arrived.t, s.slice);
        if (s.dropped) look(s.dropped, s.t, s.slice, 7);
      }
      for (const m of c.marks) if (m.mark !== 'lost') look(m.e, m.t, m.slice);
    }
    return best;
  }
  return null;
}
