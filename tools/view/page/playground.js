// The playground: controls, and the machines in WebAssembly.
import { unpack } from './log.js';
import { bits, bytes } from './words.js';

const steps = (...list) => list;
const rates = steps(0, 250e3, 500e3, 1e6, 2e6, 5e6, 10e6, 20e6, 50e6, 100e6, 200e6, 500e6, 1e9);
const queues = steps(0, 8192, 16384, 32768, 65536, 131072, 262144, 524288, 1048576);
const sizes = steps(1000, 4096, 16384, 32768, 65536, 131072, 262144);

// The controls: those with steps choose one of a list, the others a number.
const controls = [
  { name: 'loss', label: 'Loss, each way', min: 0, max: 90, step: 0.5, preset: 5, show: (v) => `${v} %`, flag: (v) => `--loss ${v}` },
  { name: 'rtt_ms', label: 'Round trip', min: 0, max: 400, step: 2, preset: 50, show: (v) => `${v} ms`, flag: (v) => `--rtt ${v}ms` },
  { name: 'jitter_ms', label: 'Jitter, each way', min: 0, max: 100, step: 1, preset: 0, show: (v) => `${v} ms`, flag: (v) => `--jitter ${v}ms` },
  { name: 'rate', label: 'Rate of the link', steps: rates, preset: 10e6, show: (v) => (v === 0 ? 'unlimited' : bits(v)), flag: (v) => `--rate ${v}` },
  { name: 'queue', label: 'Queue before it', steps: queues, preset: 262144, show: (v) => (v === 0 ? 'unlimited' : bytes(v)), flag: (v) => `--queue ${v}` },
  { name: 'size', label: 'Size of the block', steps: sizes, preset: 262144, show: bytes, flag: (v) => `--size ${v}` },
  { name: 'profile', label: 'Profile', choices: ['adaptive', 'burst', 'redundant', 'fixed', 'base', 'article'], preset: 'adaptive', flag: (v) => `--profile ${v}` },
  { name: 'variant', label: 'Variant', choices: ['repair', 'slices'], preset: 'repair', flag: (v) => (v === 'slices' ? '--plain' : '--repair') },
  { name: 'seed', label: 'Seed', number: true, min: 0, max: 2 ** 31, preset: 1, flag: (v) => `--seed ${v}` },
  { name: 'warm', label: 'Second block of its connection', check: true, preset: false, flag: (v) => (v ? '--warm' : '') },
];

// readFragment returns the settings that a link's fragment says; what is not allowed there is
// the preset.
export function readFragment(fragment) {
  const said = new URLSearchParams(fragment.replace(/^#/, ''));
  return allowed(Object.fromEntries(controls.map((c) => [c.name, said.has(c.name) ? valueOf(c, said.get(c.name)) : c.preset])));
}

function valueOf(c, text) {
  if (c.check) return text === '1' || text === 'true';
  if (c.choices) return c.choices.includes(text) ? text : c.preset;
  const v = Number(text);
  if (text.trim() === '' || !Number.isFinite(v)) return c.preset;
  if (c.steps) return c.steps.includes(v) ? v : c.preset;
  const bounded = Math.min(c.max, Math.max(c.min, v));
  return c.number ? Math.trunc(bounded) : bounded;
}

// writeFragment returns the fragment of settings.
export function writeFragment(settings) {
  return `#${controls.filter((c) => settings[c.name] !== c.preset).map((c) => `${c.name}=${c.check ? Number(settings[c.name]) : settings[c.name]}`).join('&')}`;
}

// allowed settles what does not go together, as the command refuses it.
function allowed(s) {
  if (s.profile === 'base' || s.profile === 'article') s.variant = 'slices';
  if (s.rate === 0) s.queue = 0;
  return s;
}

// command returns the command that prints the same figures.
export function command(settings) {
  return ['chunkwire simulate --seeds 1', ...controls.map((c) => c.flag(settings[c.name]))].filter(Boolean).join(' ') + ' --json';
}

// startMachines makes ready the machines in WebAssembly, and returns a function from settings to
// the result: the report, as text and as an object, and the log.
export async function startMachines(element) {
  const go = new Go();
  const { instance } = await WebAssembly.instantiate(await unpack(element), go.importObject);
  go.run(instance);
  return (settings) => {
    const { report, log, error } = globalThis.chunkwireSimulate(JSON.stringify(settings));
    return { error, text: report, report: report ? JSON.parse(report) : null, log };
  };
}

// Controls are the form of the settings. changed is called with them, a moment after each change.
export class Controls {
  constructor(form, settings, changed) {
    this.form = form;
    this.settings = settings;
    this.changed = changed;
    this.timer = 0;
    this.fields = new Map();
    const title = document.createElement('h2');
    title.textContent = 'Network and sender';
    form.append(title, ...controls.map((c) => this.field(c)));
    this.code = document.createElement('code');
    const says = document.createElement('p');
    says.className = 'run';
    says.textContent = 'The same figures from the command:';
    form.append(says, this.code);
    form.addEventListener('submit', (e) => e.preventDefault());
    form.hidden = false;
    this.show();
  }

  field(c) {
    const div = document.createElement('div');
    div.className = c.check ? 'field check' : 'field';
    const label = document.createElement('label');
    label.textContent = c.label;
    label.htmlFor = `set-${c.name}`;
    const input = c.choices ? document.createElement('select') : document.createElement('input');
    input.id = `set-${c.name}`;
    input.name = c.name;
    if (c.choices) for (const v of c.choices) input.append(new Option(v === 'slices' ? 'sent again' : v === 'repair' ? 'repair slices' : v, v));
    else input.type = c.check ? 'checkbox' : c.number ? 'number' : 'range';
    if (c.steps) Object.assign(input, { min: 0, max: c.steps.length - 1, step: 1 });
    else if (!c.choices && !c.check) Object.assign(input, { min: c.min, max: c.max, step: c.step ?? 1 });
    const output = document.createElement('output');
    output.htmlFor = input.id;
    input.addEventListener('input', () => this.take(c, input));
    this.fields.set(c.name, { c, input, output });
    if (c.check) div.append(input, label);
    else if (c.choices || c.number) div.append(label, input);
    else div.append(label, output, input);
    return div;
  }

  take(c, input) {
    const v = c.check ? input.checked : c.steps ? c.steps[Number(input.value)] : c.choices ? input.value : valueOf(c, input.value);
    this.set({ ...this.settings, [c.name]: v }, 60);
  }

  set(settings, delay = 0) {
    this.settings = allowed(settings);
    this.show();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.changed(this.settings), delay);
  }

  show() {
    for (const [name, { c, input, output }] of this.fields) {
      const v = this.settings[name];
      if (c.check) input.checked = v;
      else if (document.activeElement !== input || !c.number) input.value = c.steps ? c.steps.indexOf(v) : v;
      output.textContent = c.show ? c.show(v) : '';
      if (c.show) input.setAttribute('aria-valuetext', c.show(v));
    }
    this.fields.get('variant').input.disabled = ['base', 'article'].includes(this.settings.profile);
    this.fields.get('queue').input.disabled = this.settings.rate === 0;
    this.code.textContent = command(this.settings);
  }
}
