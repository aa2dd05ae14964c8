// A log: JSON text sequences, as package eventlog writes them.

// unpack returns the text that a data block of the page holds: gzip, in base64.
export async function unpackText(element) {
  return new TextDecoder().decode(await unpack(element));
}

// unpack returns the bytes that a data block of the page holds.
export async function unpack(element) {
  const binary = atob(element.textContent.trim());
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// parseLog returns the header and the events of a log. A record that is no JSON, or no event,
// is counted and left out: the rest of a log that was cut off is still of use.
export function parseLog(text, name) {
  const log = { name, title: name, vantage: '', wall: null, events: [], bad: 0 };
  let first = true;
  for (const record of text.split('\x1e')) {
    if (record.trim() === '') continue;
    const value = parseRecord(record);
    if (first && value && value.file_schema) {
      readHeader(log, value);
    } else if (isEvent(value)) {
      log.events.push({
        t: value.time, kind: kindOf(value),
        group: String(value.group_id ?? ''), end: String(value.end ?? ''), data: value.data ?? {},
      });
    } else {
      log.bad++;
    }
    first = false;
  }
  return log;
}

function parseRecord(record) {
  try {
    return JSON.parse(record);
  } catch {
    return null;
  }
}

// The largest values of members that are numbers: what is more, or no number, is no event. Times may have decimals.
const limits = {
  lane: 255, chunk: 65535, slice: 1 << 20, slices: 1 << 20, have: 1 << 20, top: 1 << 20, times: 2 ** 31, bytes: 2 ** 40, size: 2 ** 40, count: 2 ** 53,
  rate: 2 ** 53, limit: 2 ** 53, in_flight: 2 ** 53, rtt_ms: 2 ** 53, min_rtt_ms: 2 ** 53, elapsed_ms: 2 ** 53, lanes: 2 ** 53,
};

// The farthest time, in ms: 34 years.
const farthest = 2 ** 40;

// The members without which an event of a kind cannot be drawn.
const slice = ['lane', 'chunk', 'slice'];
const needed = new Map(Object.entries({
  state: ['machine', 'from', 'to', 'row'], metrics: ['mode'],
  chunk_started: ['lane', 'chunk', 'slices', 'direction'], chunk_completed: ['lane', 'chunk', 'direction'], chunk_failed: ['lane', 'chunk', 'direction'],
  slice_sent: [...slice, 'why'], slice_acked: slice, slice_lost: slice, slice_spurious: slice, slice_received: [...slice, 'as'], rtt_sampled: [...slice, 'rtt_ms'],
  slices_counted: ['lane', 'chunk', 'have', 'top'], ack_sent: ['lane', 'chunk', 'have'], ack_received: ['lane', 'chunk', 'have'],
  datagram_dropped: ['direction'],
}));

function isEvent(v) {
  if (!v || typeof v.time !== 'number' || !(Math.abs(v.time) <= farthest) || !isText(v.name)) return false;
  if (!isText(v.group_id ?? '') || !isText(v.end ?? '')) return false;
  const data = v.data ?? {};
  if (typeof data !== 'object') return false;
  return Object.keys(data).every((name) => isValue(name, data[name])) && (needed.get(kindOf(v)) ?? []).every((name) => Object.hasOwn(data, name));
}

const kindOf = (v) => v.name.replace(/^chunkwire:/, '');

// isText reports whether a value is a text, and none with which a table of names finds what each object has.
function isText(v) {
  return typeof v === 'string' && !(v.replace(/^chunkwire:/, '') in Object.prototype);
}

function isValue(name, v) {
  if (!Object.hasOwn(limits, name)) return isText(v) || typeof v === 'number' || typeof v === 'boolean';
  return typeof v === 'number' && v >= 0 && v <= limits[name] && (Number.isInteger(v) || name.endsWith('_ms'));
}

const textOf = (v) => (typeof v === 'string' ? v : '');

function readHeader(log, header) {
  const trace = header.trace ?? {};
  if (typeof header.title === 'string') log.title = header.title;
  log.vantage = textOf(trace.vantage_point?.type);
  log.by = textOf(trace.vantage_point?.name);
  const wall = Date.parse(textOf(trace.common_fields?.reference_time?.wall_clock_time));
  if (!Number.isNaN(wall)) log.wall = wall;
}

// mergeLogs puts the events of both ends' logs on one time axis: by their wall clocks, if both
// have one. Equal times keep their order.
export function mergeLogs(logs) {
  const walls = logs.map((l) => l.wall);
  const base = walls.every((w) => w !== null) ? Math.min(...walls) : null;
  let events = [];
  for (const log of logs) {
    const shift = base === null ? 0 : log.wall - base;
    for (const e of log.events) {
      e.t += shift;
      if (!e.end && log.vantage) e.end = log.vantage;
    }
    events = events.concat(log.events);
  }
  let sorted = true;
  for (let i = 1; i < events.length && sorted; i++) sorted = events[i - 1].t <= events[i].t;
  if (!sorted) events.sort((a, b) => a.t - b.t);
  return events;
}
