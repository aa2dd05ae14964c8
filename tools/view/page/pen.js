// Pens: what tracks draw with, onto a canvas or into an SVG picture.

// CanvasPen draws onto a canvas' context.
export class CanvasPen {
  constructor(context, font) {
    this.c = context;
    this.font = font;
  }

  rect(x, y, w, h, color, alpha = 1) {
    this.c.globalAlpha = alpha;
    this.c.fillStyle = color;
    this.c.fillRect(x, y, w, h);
    this.c.globalAlpha = 1;
  }

  path(points, color, { width = 1, alpha = 1, dash = [] } = {}) {
    const c = this.c;
    c.globalAlpha = alpha;
    c.strokeStyle = color;
    c.lineWidth = width;
    c.setLineDash(dash);
    c.beginPath();
    points.forEach(([x, y], i) => (i === 0 ? c.moveTo(x, y) : c.lineTo(x, y)));
    c.stroke();
    c.setLineDash([]);
    c.globalAlpha = 1;
  }

  // lines draws many lines in one stroke.
  lines(list, color, { width = 1, alpha = 1 } = {}) {
    const c = this.c;
    if (list.length === 0) return;
    c.globalAlpha = alpha;
    c.strokeStyle = color;
    c.lineWidth = width;
    c.beginPath();
    for (const points of list) points.forEach(([x, y], i) => (i === 0 ? c.moveTo(x, y) : c.lineTo(x, y)));
    c.stroke();
    c.globalAlpha = 1;
  }

  // marks draws many marks of one shape.
  marks(shape, list, r, color) {
    const c = this.c;
    if (list.length === 0) return;
    c.fillStyle = c.strokeStyle = color;
    c.lineWidth = markWidth(r);
    c.beginPath();
    for (const [x, y] of list) {
      for (const stroke of outline(shape, x, y, r)) {
        if (stroke.circle) {
          c.moveTo(x + r, y);
          c.arc(x, y, r, 0, 2 * Math.PI);
        } else {
          stroke.forEach(([px, py], i) => (i === 0 ? c.moveTo(px, py) : c.lineTo(px, py)));
        }
      }
    }
    if (filled.has(shape)) c.fill();
    else c.stroke();
  }

  text(x, y, text, color, { align = 'left', bold = false, size = 11, alpha = 1 } = {}) {
    const c = this.c;
    c.globalAlpha = alpha;
    c.fillStyle = color;
    c.textAlign = align;
    c.textBaseline = 'middle';
    c.font = `${bold ? '600 ' : ''}${size}px ${this.font}`;
    c.fillText(text, x, y);
    c.globalAlpha = 1;
  }

  // width returns how wide a text is.
  width(text, size) {
    this.c.font = `${size}px ${this.font}`;
    return this.c.measureText(text).width;
  }

  clip(x, y, w, h, draw) {
    this.c.save();
    this.c.beginPath();
    this.c.rect(x, y, w, h);
    this.c.clip();
    draw();
    this.c.restore();
  }
}

// SVGPen collects an SVG picture.
export class SVGPen {
  constructor(width, height, background, font) {
    Object.assign(this, { w: width, h: height, font, parts: [], clips: 0 });
    this.rect(0, 0, width, height, background);
  }

  rect(x, y, w, h, color, alpha = 1) {
    this.parts.push(`<rect x="${n(x)}" y="${n(y)}" width="${n(w)}" height="${n(h)}" fill="${color}"${opacity(alpha)}/>`);
  }

  path(points, color, { width = 1, alpha = 1, dash = [] } = {}) {
    const dashes = dash.length ? ` stroke-dasharray="${dash.join(' ')}"` : '';
    this.parts.push(`<polyline points="${points.map(([x, y]) => `${n(x)},${n(y)}`).join(' ')}" fill="none" stroke="${color}" stroke-width="${width}"${opacity(alpha)}${dashes}/>`);
  }

  lines(list, color, { width = 1, alpha = 1 } = {}) {
    if (list.length === 0) return;
    this.parts.push(`<path d="${list.map(pathOf).join('')}" fill="none" stroke="${color}" stroke-width="${n(width)}"${opacity(alpha)}/>`);
  }

  marks(shape, list, r, color) {
    if (list.length === 0) return;
    const paint = filled.has(shape) ? `fill="${color}"` : `fill="none" stroke="${color}" stroke-width="${n(markWidth(r))}"`;
    const strokes = list.flatMap(([x, y]) => outline(shape, x, y, r).map((s) => (s.circle ? circlePath(x, y, r) : pathOf(s))));
    this.parts.push(`<path d="${strokes.join('')}" ${paint}/>`);
  }

  text(x, y, text, color, { align = 'left', bold = false, size = 11, alpha = 1 } = {}) {
    const anchor = { left: 'start', center: 'middle', right: 'end' }[align];
    this.parts.push(`<text x="${n(x)}" y="${n(y)}" dy="0.35em" fill="${color}" font-size="${size}"${bold ? ' font-weight="600"' : ''} text-anchor="${anchor}"${opacity(alpha)}>${escapeXML(text)}</text>`);
  }

  width(text, size) { return text.length * size * 0.56; }

  clip(x, y, w, h, draw) {
    const id = `clip${this.clips++}`;
    this.parts.push(`<clipPath id="${id}"><rect x="${n(x)}" y="${n(y)}" width="${n(w)}" height="${n(h)}"/></clipPath><g clip-path="url(#${id})">`);
    draw();
    this.parts.push('</g>');
  }

  toString() {
    return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${this.w} ${this.h}" width="${this.w}" height="${this.h}" font-family="${escapeXML(this.font)}">\n${this.parts.join('\n')}\n</svg>\n`;
  }
}

const filled = new Set(['dot', 'triangle', 'diamond', 'square']);

// outline returns the strokes of a mark's shape.
function outline(shape, x, y, r) {
  switch (shape) {
    case 'triangle': return [[[x, y - r * 1.3], [x + r * 1.2, y + r * 0.9], [x - r * 1.2, y + r * 0.9], [x, y - r * 1.3]]];
    case 'diamond': return [[[x, y - r * 1.3], [x + r * 1.3, y], [x, y + r * 1.3], [x - r * 1.3, y], [x, y - r * 1.3]]];
    case 'square': return [[[x - r, y - r], [x + r, y - r], [x + r, y + r], [x - r, y + r], [x - r, y - r]]];
    case 'cross': return [[[x - r, y - r], [x + r, y + r]], [[x - r, y + r], [x + r, y - r]]];
    case 'tick': return [[[x, y - r], [x, y + r]]];
    default: return [{ circle: true }]; // dot and ring
  }
}

const markWidth = (r) => Math.max(1, Math.min(1.6, r * 0.6));
const n = (v) => Number(v.toFixed(1));
const pathOf = (points) => `M${points.map(([x, y]) => `${n(x)} ${n(y)}`).join('L')}`;
const circlePath = (x, y, r) => `M${n(x + r)} ${n(y)}a${n(r)} ${n(r)} 0 1 0 ${n(-2 * r)} 0a${n(r)} ${n(r)} 0 1 0 ${n(2 * r)} 0`;
const opacity = (alpha) => (alpha === 1 ? '' : ` opacity="${alpha}"`);

// escapeXML makes text safe in XML.
export function escapeXML(text) {
  return String(text).replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
}
