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
        t: value.time, kind: value.name.replace(/^chunkwire:/, ''),
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

// The largest values of members that are numbers: what is more, or no number, is no event.
const limits = {
  lane: 255, chunk: 65535, slice: 1 << 20, slices: 1 << 20, have: 1 << 20, top: 1 << 20, times: 2 ** 31, bytes: 2 ** 40, size: 2 ** 40, count: 2 ** 53,
  rate: 2 ** 53, window: 2 ** 53, limit: 2 ** 53, in_flight: 2 ** 53, rtt_ms: 2 ** 53, min_rtt_ms: 2 ** 53, elapsed_ms: 2 ** 53, lanes: 2 ** 53,
};

function isEvent(v) {
  if (!v || typeof v.time !== 'number' || !Number.isFinite(v.time) || typeof v.name !== 'string') return false;
  if (v.data === undefined) return true;
  if (typeof v.data !== 'object' || v.data === null) return false;
  for (const name in v.data) {
    const n = v.data[name];
    if (Object.hasOwn(limits, name) && !(typeof n === 'number' && n >= 0 && n <= limits[name])) return false;
  }
  return true;
}

function readHeader(log, header) {
  const trace = header.trace ?? {};
  if (typeof header.title === 'string') log.title = header.title;
  log.vantage = String(trace.vantage_point?.type ?? '');
  log.by = String(trace.vantage_point?.name ?? '');
  const wall = Date.parse(trace.common_fields?.reference_time?.wall_clock_time ?? '');
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
