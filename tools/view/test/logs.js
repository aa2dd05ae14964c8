// Logs that the tests make, in the format of package eventlog.
import { writeFileSync } from 'node:fs';

const header = (title, type) => ({
  file_schema: 'urn:ietf:params:qlog:file:sequential', serialization_format: 'application/qlog+json-seq', title,
  trace: {
    vantage_point: { name: 'chunkwire test', type },
    common_fields: { time_format: 'relative_to_epoch', reference_time: { clock_type: 'monotonic', epoch: 'unknown' } },
    event_schemas: ['urn:chunkwire:events:chunkwire-1'],
  },
});

// writeLog writes a log of events [time, name, end, data] and returns the file's name.
export function writeLog(file, events, { title = 'test', type = 'network', group = '1' } = {}) {
  const records = events.map(([time, name, end, data]) => ({ time, name: `chunkwire:${name}`, group_id: group, end, data }));
  writeFileSync(file, [header(title, type), ...records].map((r) => `\x1e${JSON.stringify(r)}\n`).join(''));
  return file;
}

// transfer returns the events of a chunk whose slices all arrive but those of lost, which are
// sent again.
export function transfer({ lane = 0, chunk = 0, slices = 64, start = 0, lost = [], from = 'client', to = 'server', ends = [from, to] } = {}) {
  const events = [];
  const at = (time, name, end, data) => { if (ends.includes(end) || end === 'network') events.push([Number(time.toFixed(3)), name, end, { lane, chunk, ...data }]); };
  at(start, 'state', from, { machine: 'sender', from: 'IDLE', to: 'SENDING', row: 'S1' });
  at(start, 'chunk_started', from, { bytes: slices * 1024, slices, direction: 'out' });
  const round = 20;
  const send = (time, slice, times, why) => at(time, 'slice_sent', from, { slice, bytes: 1040, times, why });
  const arrive = (time, slice) => {
    at(time, 'slice_received', to, { slice, bytes: 1040, as: 'new' });
    at(time + 10, 'slice_acked', from, { slice });
  };
  at(start + 10, 'state', to, { machine: 'receiver', from: 'WAITING', to: 'RECEIVING', row: 'R2' });
  at(start + 10, 'chunk_started', to, { slices, direction: 'in' });
  for (let k = 0; k < slices; k++) {
    send(start + k * 0.5, k, 1, 'first');
    if (!lost.includes(k)) arrive(start + k * 0.5 + 10, k);
  }
  const late = start + slices * 0.5 + round;
  lost.forEach((k, i) => {
    at(late + i, 'slice_lost', from, { slice: k, why: 'overtaken' });
    send(late + i, k, 2, 'lost');
    arrive(late + i + 10, k);
  });
  const end = late + lost.length + round;
  at(end - 8, 'state', to, { machine: 'receiver', from: 'RECEIVING', to: 'READY', row: 'R6' });
  at(end - 8, 'chunk_completed', to, { bytes: slices * 1024, direction: 'in', elapsed_ms: end - 18 - start });
  at(end, 'state', from, { machine: 'sender', from: 'SENDING', to: 'IDLE', row: 'S10' });
  at(end, 'chunk_completed', from, { bytes: slices * 1024, direction: 'out', elapsed_ms: end - start });
  at(end, 'metrics', from, { rate: 8e6, window: 60, limit: 100, in_flight: 0, rtt_ms: 20, min_rtt_ms: 20, mode: 'steady' });
  return events.sort((a, b) => a[0] - b[0]);
}
