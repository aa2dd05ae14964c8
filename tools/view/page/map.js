// The map: a cell for each slice of a chunk, with what has become of it.
import { sliceStates } from './model.js';

export const cells = {
  none: ['not sent', 'mapNone'], flying: ['under way', 'first'], lost: ['lost', 'lost'], arrived: ['arrived', 'arrived'], known: ['acked', 'acked'],
};

// drawMap draws the map of a stream's chunk at a time, and returns how many are what.
export function drawMap(canvas, stream, t, theme, width) {
  const counts = { none: 0, flying: 0, lost: 0, arrived: 0, known: 0 };
  const chunk = stream?.chunkAt(t);
  const states = chunk ? sliceStates(stream, chunk, t) : [];
  for (const s of states) counts[s]++;
  const columns = states.length > 400 ? 32 : 16;
  const size = Math.floor(Math.min(width, 256) / columns);
  const rows = Math.max(1, Math.ceil(states.length / columns));
  const scale = window.devicePixelRatio || 1;
  canvas.width = columns * size * scale;
  canvas.height = rows * size * scale;
  canvas.style.width = `${columns * size}px`;
  canvas.style.height = `${rows * size}px`;
  const c = canvas.getContext('2d');
  c.scale(scale, scale);
  states.forEach((state, i) => drawCell(c, state, (i % columns) * size, Math.floor(i / columns) * size, size, theme));
  return { counts, chunk, states, columns, size };
}

// drawCell draws a cell; its shape says the same as its color.
function drawCell(c, state, x, y, size, theme) {
  const s = size - 1.5;
  c.fillStyle = c.strokeStyle = theme[cells[state][1]];
  c.lineWidth = 1.5;
  if (state === 'flying') {
    c.fillRect(x + s * 0.25, y + s * 0.25, s * 0.5, s * 0.5);
  } else if (state === 'lost') {
    c.beginPath();
    c.moveTo(x + 1.5, y + 1.5);
    c.lineTo(x + s - 1.5, y + s - 1.5);
    c.moveTo(x + s - 1.5, y + 1.5);
    c.lineTo(x + 1.5, y + s - 1.5);
    c.stroke();
  } else if (state === 'arrived') {
    c.fillRect(x, y + s / 2, s, s / 2);
    c.strokeRect(x + 0.75, y + 0.75, s - 1.5, s - 1.5);
  } else {
    c.fillRect(x, y, s, s);
  }
}
