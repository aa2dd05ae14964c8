// Numbers and events in words.

// ms writes a time in milliseconds.
export function ms(t, digits = 3) { return `${t.toFixed(digits)} ms`; }

const scales = { bits: ['bit/s', 'kbit/s', 'Mbit/s', 'Gbit/s'], bytes: ['B', 'KiB', 'MiB', 'GiB'] };

export function bits(n) { return scaled(n, 1000, scales.bits); }
export function bytes(n) { return scaled(n, 1024, scales.bytes); }

function scaled(n, base, units) {
  let i = 0;
  while (n >= base && i < units.length - 1) {
    n /= base;
    i++;
  }
  return `${i === 0 || n >= 100 ? n.toFixed(0) : n.toFixed(1)} ${units[i]}`;
}

// connectionName writes a connection as captures do: its link in hexadecimal.
export function connectionName(group) { return `connection ${/^\d+$/.test(group) ? Number(group).toString(16).padStart(8, '0') : group}`; }

export function count(n, thing) { return `${n.toLocaleString('en-US')} ${thing}${n === 1 ? '' : 's'}`; }

const ordinals = ['', 'first', 'second', 'third', 'fourth', 'fifth'];
const nth = (n) => ordinals[n] ?? `${n}th`;

// Why a slice was sent: the sentence, and the ids that say so, for slices with names and for
// repair slices.
const whySent = {
  first: { text: () => 'for the first time', named: [], repair: ['RPX-7'] },
  lost: { text: (d) => `for the ${nth(d.times)} time, because it counts as lost: slices that were sent after it have been acked, and it has not`, named: ['LOS-2', 'GAP-2'], repair: [] },
  timeout: { text: (d) => `for the ${nth(d.times)} time, because the probe timer ran out: no ack came for so long that ${d.times > 1 ? 'it' : 'what is under way'} counts as lost`, named: ['PTO-4', 'TMR-4'], repair: ['RPL-11'] },
  probe: { text: () => 'to ask whether the receiver can take the chunk now: it holds one that was not read yet', named: ['PTO-5', 'TMR-6'], repair: ['RPL-11'] },
  repair: { text: () => 'as a repair slice: it makes up for any slice that was lost', named: [], repair: ['RPC-4'] },
  extra: { text: (d) => `for the ${nth(d.times)} time, as a copy, before there was a sign that it was lost`, named: ['CPY-2'], repair: ['RPL-14'] },
};

const received = {
  new: ['is new', 'RCV-11', 'RPR-8'], duplicate: ['was here already; the receiver acks it again', 'RCV-8', 'RPR-5'],
  late: ['is of the chunk before; the receiver acks that again', 'RCV-3', 'RPR-3'],
  early: ['is of the next chunk, and this one waits to be read: the receiver answers with a hold', 'RCV-14', 'RPR-12'],
  dependent: ['adds nothing: it follows from those that are here', '', 'RPR-10'],
  conflict: ['disagrees with the size of the chunk, and is counted', 'RCV-7', 'RPR-4'],
  foreign: ['is of no chunk that the receiver expects', 'RCV-4', 'RPR-3'],
  deferred: ['would cost more time than repair slices may take', '', 'RPH-3'],
};

const dropped = { loss: 'lost on the way', queue: 'dropped, because the queue before the link was full', outage: 'lost in an outage' };

// What happened, by kind of event: its sentence, and ids of the specification.
const kinds = {
  connection_started: (d) => [`Connection started as ${d.role}: ${d.mode}, ${d.variant}, ${count(d.lanes ?? 1, 'lane')}${d.remote ? ` with ${d.remote}` : ''}`],
  connection_moved: (d) => [`The peer's address is now ${d.remote}`],
  connection_ended: (d) => [`Connection ended: ${String(d.why).replace(/_/g, ' ')}${d.code !== undefined ? `, code ${d.code}` : ''}${d.text ? `, “${d.text}”` : ''}`],
  state: (d) => [`The ${d.machine} took row ${d.row}: ${d.from === d.to ? `it stays in ${d.to}` : `${d.from} → ${d.to}`}`],
  datagram_refused: (d) => [`A datagram of ${count(d.size, 'byte')} was refused: ${String(d.code).replace(/_/g, ' ')}`, d.sentence],
  chunk_started: (d) => [`Chunk ${d.chunk} began${d.direction === 'in' ? ' to arrive' : ''}: ${count(d.slices, 'slice')}${d.bytes ? `, ${bytes(d.bytes)}` : ''}`],
  slice_acked: (d) => [`Slice ${d.slice} was acked`, 'SND-9'],
  slices_counted: (d) => [`An ack counted ${count(d.have, 'independent slice')} here; the highest id below ${d.top}`, 'RPX-6'],
  slice_lost: (d, base) => [d.why === 'timeout' ? `Slice ${d.slice} counts as lost: the probe timer ran out` : `Slice ${d.slice} counts as lost: slices that were sent after it were acked`, (d.why === 'timeout' ? whySent.timeout : whySent.lost).named[base ? 1 : 0]],
  slice_spurious: (d, base) => [`Slice ${d.slice} had arrived after all: it was sent again for nothing`, base ? 'GAP-1' : 'LOS-1'],
  rtt_sampled: (d, base) => [`The round trip of slice ${d.slice} was ${ms(d.rtt_ms)}`, base ? 'RTT-2' : 'EST-2'],
  ack_sent: (d) => [`The receiver sent an ack: ${d.complete ? 'it has the whole chunk' : `it has ${d.have} of ${count(d.slices, 'slice')}`}`, 'RCV-16'],
  ack_received: (d) => [`An ack came back: ${d.complete ? 'the receiver has the whole chunk' : `the receiver has ${d.have} of ${count(d.slices, 'slice')}`}`],
  chunk_completed: (d) => [`${d.direction === 'in' ? 'The receiver has all of' : 'The sender knows that the receiver has all of'} chunk ${d.chunk}, ${ms(d.elapsed_ms ?? 0)} after it began`],
  chunk_failed: (d) => [`Chunk ${d.chunk} failed: ${String(d.why).replace(/_/g, ' ')}`, 'SND-19'],
  metrics: (d) => [`The controller is in mode ${d.mode}: ${metricsText(d)}`],
  packet_sent: (d) => [`Packet ${d.number} was sent, ${count(d.bytes, 'byte')}`],
  packet_received: (d) => [`Packet ${d.number} arrived, ${count(d.bytes, 'byte')}`],
  packet_acked: (d) => [`Packet ${d.number} was acked`],
  packet_lost: (d) => [`Packet ${d.number} counts as lost`],
  message_sent: (d) => [`A message for channel ${d.channel} was sent, ${count(d.bytes, 'byte')}`],
  message_delivered: (d) => [`Message ${d.sequence} of channel ${d.channel} was delivered, ${count(d.bytes, 'byte')}`],
  channel_failed: (d) => [`Channel ${d.channel} failed: ${String(d.why).replace(/_/g, ' ')}`, 'CXL-17'],
  datagram_dropped: (d) => [`${d.carried === 'ack' ? 'An ack' : d.slice !== undefined ? `Slice ${d.slice}` : 'A datagram'} was ${dropped[d.why] ?? `dropped: ${d.why}`}`],
  log_dropped: (d) => [`The log left out ${count(d.count ?? 0, 'event')}: they came faster than they could be written`],
};

function metricsText(d) {
  const parts = [];
  if (d.rate !== undefined) parts.push(`rate ${bits(d.rate)}`);
  if (d.limit !== undefined) parts.push(`limit ${count(d.limit, 'slice')}`);
  if (d.in_flight !== undefined) parts.push(`${count(d.in_flight, 'slice')} in flight`);
  if (d.rtt_ms !== undefined) parts.push(`round trip ${ms(d.rtt_ms)}`);
  return parts.join(', ') || 'nothing is known yet';
}

// explain returns what happened in a plain sentence, and the sentences of the specification
// behind it. base says that the base algorithm of PROTOCOL.md is the scheduler.
export function explain(e, { repair = false, base = false } = {}) {
  const d = e.data;
  if (e.kind === 'slice_sent') {
    const why = whySent[d.why] ?? { text: () => String(d.why ?? ''), named: [], repair: [] };
    const named = why.named.length > 1 ? [why.named[base ? 1 : 0]] : why.named;
    return { text: `Slice ${d.slice} was sent ${why.text(d)}.`, ids: repair ? why.repair : named };
  }
  if (e.kind === 'slice_received') {
    const [text, named, ofRepair] = received[d.as] ?? [String(d.as ?? ''), '', ''];
    return { text: `Slice ${d.slice} arrived: it ${text}.`, ids: [repair ? ofRepair : named].filter(Boolean) };
  }
  const [text, ...ids] = kinds[e.kind]?.(d, base) ?? [`${e.kind.replace(/_/g, ' ')}: ${JSON.stringify(d)}`];
  return { text: `${text}.`, ids: ids.filter(Boolean) };
}
