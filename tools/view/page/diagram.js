// Diagrams of machines, laid out from their tables: a box for each state with the rows that
// stay in it, and an arrow for the rows that lead from one state to another.
import { escapeXML } from './pen.js';

const line = 15;
const between = 34;
const charWidth = 6.7;

// rowText returns a row in words.
function rowText(r) {
  const guard = r.guard === 'always' || r.guard === 'otherwise' ? '' : ` [${r.guard}]`;
  return `${r.row} ${r.event}${guard}`;
}

// layOutDiagram returns the boxes and arrows of a table and the size of them all.
export function layOutDiagram(table) {
  const states = [...new Set([...table.rows.map((r) => r.state), ...table.rows.map((r) => r.next)])];
  const boxes = [];
  for (const name of states) {
    const rows = table.rows.filter((r) => r.state === name && r.next === name);
    const w = Math.max(118, ...rows.map((r) => rowText(r).length * charWidth + 22));
    const before = boxes[boxes.length - 1];
    boxes.push({ name, x: before ? before.x + before.w + between : 10, w, rows });
  }
  const inner = Math.max(1, ...boxes.map((b) => b.rows.length));
  const arrows = [];
  for (const r of table.rows) {
    if (r.state === r.next) continue;
    let a = arrows.find((x) => x.from === r.state && x.to === r.next);
    if (!a) arrows.push((a = { from: r.state, to: r.next, rows: [] }));
    a.rows.push(r);
  }
  const at = (name) => states.indexOf(name);
  const above = arrows.filter((a) => at(a.from) < at(a.to));
  const below = arrows.filter((a) => at(a.from) > at(a.to));
  const topHeight = stack(above, boxes, at);
  const bottomHeight = stack(below, boxes, at);
  const boxTop = topHeight + 12;
  const boxHeight = 30 + inner * line + 6;
  for (const b of boxes) Object.assign(b, { y: boxTop, h: boxHeight });
  route(boxes, above, at, (a) => boxTop - a.level, boxTop);
  route(boxes, below, at, (a) => boxTop + boxHeight + a.level, boxTop + boxHeight);
  return { boxes, arrows, width: boxes[boxes.length - 1].x + boxes[boxes.length - 1].w + 10, height: boxTop + boxHeight + bottomHeight + 12 };
}

// stack gives each arrow a level, short ones nearest to the boxes, so that those whose spans
// overlap do not meet. It returns the height of all.
function stack(arrows, boxes, at) {
  const placed = [];
  let most = 0;
  const span = (a) => Math.abs(at(a.from) - at(a.to));
  const middle = (name) => boxes[at(name)].x + boxes[at(name)].w / 2;
  for (const a of [...arrows].sort((p, q) => span(p) - span(q))) {
    const text = Math.max(...a.rows.map((r) => rowText(r).length)) * charWidth;
    const [from, to] = [Math.min(middle(a.from), middle(a.to)), Math.max(middle(a.from), middle(a.to))];
    const lo = Math.min(from, (from + to - text) / 2 - 6);
    const hi = Math.max(to, (from + to + text) / 2 + 6);
    let level = 16;
    for (const p of placed) if (p.lo < hi && lo < p.hi) level = Math.max(level, p.top + 6);
    a.level = level;
    placed.push({ lo, hi, top: level + a.rows.length * line + 8 });
    most = Math.max(most, level + a.rows.length * line + 8);
  }
  return most;
}

// route gives arrows the places where they leave and reach boxes, side by side.
function route(boxes, arrows, at, yOf, edge) {
  const ports = boxes.map(() => []);
  for (const a of arrows) {
    ports[at(a.from)].push({ a, end: 'x1', other: at(a.to) });
    ports[at(a.to)].push({ a, end: 'x2', other: at(a.from) });
  }
  ports.forEach((list, i) => {
    // The nearest go outside, on the side of the other box.
    list.sort((p, q) => {
      const side = (v) => Math.sign(v.other - i);
      if (side(p) !== side(q)) return side(p) - side(q);
      return side(p) < 0 ? q.other - p.other || p.a.level - q.a.level : q.other - p.other || q.a.level - p.a.level;
    });
    list.forEach((p, n) => { p.a[p.end] = boxes[i].x + (boxes[i].w * (n + 1)) / (list.length + 1); });
  });
  for (const a of arrows) Object.assign(a, { y: yOf(a), edge });
}

// diagram returns the SVG of a table, with a state and a row that are highlighted.
export function diagram(table, { state = '', row = '', standalone = false, theme = null } = {}) {
  const d = layOutDiagram(table);
  const arrows = d.arrows.map((a) => arrowSVG(a, row)); // all lines are behind all texts
  const parts = [...arrows.map(([lines]) => lines), ...arrows.map(([, texts]) => texts), ...d.boxes.map((b) => boxSVG(b, state, row))];
  const style = standalone ? `<style>${standaloneStyle(theme)}</style><rect width="100%" height="100%" fill="${theme.panel}"/>` : '';
  const title = `Diagram of the machine ${table.name}: ${state ? `it is in ${state}, and row ${row || 'none'} was the last` : 'all states and rows'}`;
  return `<svg xmlns="http://www.w3.org/2000/svg" class="diagram" viewBox="0 0 ${d.width} ${d.height}" width="${d.width}" height="${d.height}" role="img" aria-label="${escapeXML(title)}">${style}${parts.join('')}</svg>`;
}

function boxSVG(b, state, row) {
  const rows = b.rows.map((r, i) => rowSVG(r, b.x + 10, b.y + 42 + i * line, b.w - 20, r.row === row));
  return `<g class="state${b.name === state ? ' current' : ''}"><rect x="${b.x}" y="${b.y}" width="${b.w}" height="${b.h}" rx="8"/>` +
    `<text class="name" x="${b.x + b.w / 2}" y="${b.y + 20}" text-anchor="middle">${escapeXML(b.name)}</text>${rows.join('')}</g>`;
}

function rowSVG(r, x, y, width, on) {
  const text = rowText(r);
  const most = Math.floor(width / charWidth);
  const shown = text.length > most ? `${text.slice(0, most - 1)}…` : text;
  const mark = on ? `<rect class="lit" x="${x - 4}" y="${y - 11}" width="${width + 8}" height="${line}" rx="3"/>` : '';
  return `${mark}<text class="row${on ? ' on' : ''}" x="${x}" y="${y}">${escapeXML(shown)}<title>${escapeXML(`${text}${r.actions.length ? ` / ${r.actions.join(', ')}` : ''}`)}</title></text>`;
}

function arrowSVG(a, row) {
  const on = a.rows.some((r) => r.row === row);
  const up = a.y < a.edge;
  const r = 7 * (up ? 1 : -1);
  const h = 7 * Math.sign(a.x2 - a.x1);
  const tip = a.edge - (up ? 2 : -2);
  const path = `M${a.x1} ${a.edge}V${a.y + r}Q${a.x1} ${a.y} ${a.x1 + h} ${a.y}H${a.x2 - h}Q${a.x2} ${a.y} ${a.x2} ${a.y + r}V${tip - (up ? 6 : -6)}`;
  const s = up ? -1 : 1;
  const head = `M${a.x2} ${tip}l-4.5 ${8 * s}h9z`;
  const middle = (a.x1 + a.x2) / 2;
  const texts = a.rows.map((x, i) => {
    const y = up ? a.y - 5 - (a.rows.length - 1 - i) * line : a.y + 13 + i * line;
    const width = rowText(x).length * charWidth + 8;
    const lit = x.row === row;
    return `${lit ? `<rect class="lit" x="${middle - width / 2}" y="${y - 11}" width="${width}" height="${line}" rx="3"/>` : ''}<text class="row${lit ? ' on' : ''}" x="${middle}" y="${y}" text-anchor="middle">${escapeXML(rowText(x))}<title>${escapeXML(`${rowText(x)}${x.actions.length ? ` / ${x.actions.join(', ')}` : ''}`)}</title></text>`;
  });
  return [`<g class="arrow${on ? ' current' : ''}"><path class="line" d="${path}"/><path class="head" d="${head}"/></g>`, `<g class="labels">${texts.join('')}</g>`];
}

// standaloneStyle is what the page's style sheet says of diagrams, for a picture alone.
function standaloneStyle(t) {
  return `text{font:11px ui-monospace,Menlo,Consolas,monospace;fill:${t.text}}.name{font:600 13px system-ui,sans-serif}.state rect{fill:${t.panel};stroke:${t.axis}}.arrow .line{fill:none;stroke:${t.soft};stroke-width:1.3}.arrow .head{fill:${t.soft}}.labels text{paint-order:stroke;stroke:${t.panel};stroke-width:4px}`;
}
