// The model: what the tracks draw, from the events of a log.

const peers = { client: 'server', server: 'client', sender: 'receiver', receiver: 'sender' };

// outward are the events that the end whose chunk it is has; the others happen at its peer.
const outward = new Set(['slice_sent', 'slice_acked', 'slices_counted', 'slice_lost', 'slice_spurious', 'rtt_sampled', 'ack_received']);
const inward = new Set(['slice_received', 'ack_sent']);
const chunkEvents = new Set(['chunk_started', 'chunk_completed', 'chunk_failed']);

// buildModel sorts events into streams (the chunks that one end sends over one lane), machines
// and figures of the controllers.
export function buildModel(events) {
  const model = { events, streams: new Map(), machines: new Map(), controllers: new Map(), t0: 0, t1: 1 };
  if (events.length > 0) {
    const waited = events[0].t > events[events.length - 1].t / 20 ? events[0].t : 0; // a long wait before the first event is not shown
    for (const e of events) e.t -= waited;
    const [from, to] = [events[0].t, events[events.length - 1].t];
    model.t0 = Math.min(0, from);
    model.t1 = Math.max(to, model.t0 + 0.001);
  }
  events.forEach((e, index) => {
    e.index = index;
    take(model, e);
  });
  for (const s of model.streams.values()) s.finish(model.t1);
  return model;
}

function take(model, e) {
  const from = senderOf(e);
  if (from) {
    const stream = streamOf(model, e, from);
    stream.take(e);
    if (flights[e.kind] && typeof e.data.chunk === 'number') noteFlight(model, e, stream);
  }
  if (e.kind === 'state') machineOf(model, e).changes.push(e);
  if (e.kind === 'metrics') controllerOf(model, e).metrics.push(e);
  if (e.kind === 'rtt_sampled') controllerOf(model, e).samples.push(e);
}

// senderOf returns the end that sends the chunk that an event is of, or none.
function senderOf(e) {
  if (outward.has(e.kind)) return e.end || 'sender';
  if (inward.has(e.kind)) return peers[e.end] ?? 'sender';
  if (chunkEvents.has(e.kind)) return e.data.direction === 'in' ? peers[e.end] ?? 'sender' : e.end || 'sender';
  if (e.kind !== 'datagram_dropped' || e.data.chunk === undefined) return '';
  const ofSlice = e.data.carried === 'slice' || e.data.carried === undefined;
  return e.data.direction === 'down' === ofSlice ? 'down' : 'up';
}

function streamOf(model, e, from) {
  const lane = e.data.lane ?? 0;
  if (from === 'down' || from === 'up') from = firstEnd(model, e.group, from);
  const key = `${e.group}/${from}/${lane}`;
  if (!model.streams.has(key)) model.streams.set(key, new Stream(key, e.group, from, lane));
  return model.streams.get(key);
}

// firstEnd returns which end a direction of the network comes from: down is from the client, or
// from the sender where chunks are alone.
function firstEnd(model, group, direction) {
  for (const s of model.streams.values()) {
    if (s.group === group || group === '') {
      if (s.from === 'sender') return direction === 'down' ? 'sender' : 'receiver';
      break;
    }
  }
  return direction === 'down' ? 'client' : 'server';
}

function machineOf(model, e) {
  const key = `${e.group}/${e.end}/${e.data.machine}/${e.data.lane ?? ''}`;
  if (!model.machines.has(key)) {
    model.machines.set(key, { key, group: e.group, end: e.end, lane: e.data.lane, table: String(e.data.machine), changes: [] });
  }
  return model.machines.get(key);
}

function controllerOf(model, e) {
  const key = `${e.group}/${e.end}`;
  if (!model.controllers.has(key)) model.controllers.set(key, { key, group: e.group, end: e.end, metrics: [], samples: [], flight: [] });
  return model.controllers.get(key);
}

// flights say what the events of a sender do to the slices of a chunk that are in flight, as
// its scheduler counts them: metrics come once a round trip, these at each change.
const flights = {
  slice_sent(s, c, e) {
    // With repair no event says that the timer ran out; what it lets go first has its time.
    if (s.repair && (e.data.why === 'timeout' || e.data.why === 'probe') && c.timerAt !== e.t) {
      c.flying.clear();
      c.timerAt = e.t;
    }
    c.flying.add(e.data.slice);
  },
  slice_acked(s, c, e) { c.flying.delete(e.data.slice); },
  slice_lost(s, c, e) { c.flying.delete(e.data.slice); },
  slices_counted(s, c, e) {
    for (const id of c.flying) {
      if (id >= e.data.top) break;
      c.flying.delete(id);
    }
  },
  chunk_completed(s, c, e) { if (e.data.direction !== 'in') c.flying.clear(); },
  chunk_failed(s, c, e) { if (e.data.direction !== 'in') c.flying.clear(); },
};

function noteFlight(model, e, stream) {
  const c = stream.chunk(e.data.chunk, e.t);
  const before = c.flying.size;
  flights[e.kind](stream, c, e);
  if (c.flying.size === before) return;
  const list = controllerOf(model, { group: stream.group, end: stream.from }).flight;
  const v = (list.at(-1)?.v ?? 0) + c.flying.size - before;
  if (list.at(-1)?.t === e.t) list.at(-1).v = v;
  else list.push({ t: e.t, v });
}

// Stream is what one end sends over one lane: chunk after chunk.
class Stream {
  constructor(key, group, from, lane) {
    Object.assign(this, { key, group, from, to: peers[from] ?? '', lane, chunks: [], byID: new Map(), events: [], top: 1, repair: false });
  }

  // chunk returns the chunk with an id; ids come again after 65,536 chunks.
  chunk(id, t) {
    let c = this.byID.get(id);
    if (!c) {
      c = { id, start: t, end: null, delivered: null, failed: null, slices: 0, bytes: 0, sent: [], bySlice: new Map(), have: [], known: [], marks: [], flying: new Set(), timerAt: null };
      this.byID.set(id, c);
      this.chunks.push(c);
    }
    return c;
  }

  take(e) {
    const d = e.data;
    if (typeof d.chunk !== 'number') return;
    const c = this.chunk(d.chunk, e.t);
    this.events.push(e);
    if (typeof d.slices === 'number') c.slices = Math.max(c.slices, d.slices);
    if (typeof d.slice === 'number') this.top = Math.max(this.top, d.slice + 1);
    takers[e.kind]?.(this, c, e, d);
  }

  finish(t1) {
    this.chunks = this.chunks.filter((c) => c.begun || c.sent.length + c.have.length > 0); // late acks are no chunk
    this.chunks.sort((a, b) => a.start - b.start);
    for (const c of this.chunks) {
      this.top = Math.max(this.top, c.slices);
      c.until = c.end ?? c.failed ?? t1;
      c.first = c.sent.filter((x) => x.why === 'first').length;
    }
  }

  // chunkAt returns the chunk that is under way at a time, else the latest before it.
  chunkAt(t) {
    let at = this.chunks[0];
    for (const c of this.chunks) {
      if (c.start > t) break;
      at = c;
    }
    return at;
  }
}

// takers say what the events of a chunk do to it.
const takers = {
  chunk_started(s, c, e, d) {
    c.begun = true;
    c.start = Math.min(c.start, e.t);
    if (typeof d.bytes === 'number') c.bytes = d.bytes;
  },
  slice_sent(s, c, e, d) {
    const sent = { t: e.t, slice: d.slice, why: d.why, times: d.times ?? 1, arrived: null, dropped: null, acked: null, as: '', e };
    if (d.why === 'repair') s.repair = true;
    c.sent.push(sent);
    of(c, d.slice).push(sent);
  },
  datagram_dropped(s, c, e, d) {
    if (d.carried === 'ack') return;
    const sent = (c.bySlice.get(d.slice) ?? []).findLast((x) => x.dropped === null && x.arrived === null);
    if (sent) sent.dropped = e;
  },
  slice_received(s, c, e, d) {
    const sent = (c.bySlice.get(d.slice) ?? []).find((x) => x.dropped === null && x.arrived === null);
    if (sent) {
      sent.arrived = e;
      sent.as = d.as;
    } else {
      c.marks.push({ t: e.t, slice: d.slice, mark: 'received', e });
    }
    if (d.as === 'new') c.have.push({ t: e.t, v: c.have.length + 1 });
  },
  slice_acked(s, c, e, d) {
    c.marks.push({ t: e.t, slice: d.slice, mark: 'acked', e });
    c.known.push({ t: e.t, v: c.known.length + 1 });
  },
  slices_counted(s, c, e, d) {
    s.repair = true;
    c.known.push({ t: e.t, v: d.have, top: d.top });
  },
  slice_lost(s, c, e, d) { c.marks.push({ t: e.t, slice: d.slice, mark: 'lost', e }); },
  slice_spurious(s, c, e, d) { c.marks.push({ t: e.t, slice: d.slice, mark: 'spurious', e }); },
  chunk_completed(s, c, e, d) {
    if (typeof d.bytes === 'number') c.bytes = d.bytes;
    if (d.direction === 'in') c.delivered = e.t;
    else c.end = e.t;
  },
  chunk_failed(s, c, e) { c.failed = e.t; },
};

function of(c, slice) {
  if (!c.bySlice.has(slice)) c.bySlice.set(slice, []);
  return c.bySlice.get(slice);
}

// most returns the largest of what a function finds in a list, or 0.
export function most(list, of) {
  let m = 0;
  for (const x of list) m = Math.max(m, of(x));
  return m;
}

// latest returns the index of the last entry that is not after t, or -1.
export function latest(list, t) {
  let lo = 0;
  let hi = list.length;
  while (lo < hi) {
    const mid = (lo + hi) >> 1;
    if (list[mid].t <= t) lo = mid + 1;
    else hi = mid;
  }
  return lo - 1;
}

const mostCells = 8192;

// sliceStates returns for each slice of a chunk what has become of it by a time: none, flying,
// lost, arrived or known; with repair, of each transmission.
export function sliceStates(stream, chunk, t) {
  const n = stream.repair ? Math.max(chunk.slices, most(chunk.sent, (s) => (s.t <= t ? s.slice + 1 : 0))) : chunk.slices || stream.top;
  const states = new Array(Math.min(n, mostCells)).fill('none');
  const rank = { none: 0, flying: 1, lost: 2, arrived: 3, known: 4 };
  const raise = (slice, state) => {
    if (states[slice] !== undefined && rank[state] > rank[states[slice]]) states[slice] = state;
  };
  for (const s of chunk.sent) {
    if (s.t > t) break;
    if (states[s.slice] === 'lost') states[s.slice] = 'none';
    raise(s.slice, s.dropped && s.dropped.t <= t ? 'lost' : 'flying');
    if (s.arrived && s.arrived.t <= t) raise(s.slice, 'arrived');
  }
  for (const m of chunk.marks) {
    if (m.t > t) break;
    if (m.mark === 'acked') raise(m.slice, 'known');
    if (m.mark === 'received') raise(m.slice, 'arrived');
  }
  if (stream.repair) markCounted(chunk, states, t);
  if (chunk.end !== null && chunk.end <= t) markKnown(stream, states);
  return states;
}

// markKnown takes a chunk's slices as known: what arrived of them, where any of them will do.
function markKnown(stream, states) {
  states.forEach((s, i) => { if (!stream.repair || s === 'arrived') states[i] = 'known'; });
}

// markCounted takes what arrived below the top that an ack counted as known.
function markCounted(chunk, states, t) {
  const i = latest(chunk.known, t);
  if (i < 0) return;
  const top = chunk.known[i].top ?? 0;
  for (let k = 0; k < top && k < states.length; k++) if (states[k] === 'arrived') states[k] = 'known';
}
