'use strict';
// What all parts of the page share: numbers as planc writes them, elements,
// and the picture's blocks unpacked.

const data = JSON.parse(document.getElementById('data').textContent);
const report = data.report, picture = data.picture, words = data.words.causes;

const byId = (id) => document.getElementById(id);

function element(name, options, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(options || {})) {
    if (key === 'text') made.textContent = value;
    else if (key === 'style') Object.assign(made.style, value);
    else made.setAttribute(key, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

// --- Numbers -----------------------------------------------------------------

/** Three digits, as the text report has them. */
function threeDigits(value) {
  const size = Math.abs(value);
  if (size >= 99.95) return Math.round(value).toLocaleString('en-US');
  return value.toFixed(size >= 9.995 ? 1 : 2);
}
function duration(seconds) {
  if (seconds === 0) return '0 s';
  for (const [unit, scale] of [['s', 1], ['ms', 1e3], ['µs', 1e6], ['ns', 1e9]])
    if (Math.abs(seconds) * scale >= 0.9995) return threeDigits(seconds * scale) + ' ' + unit;
  return Math.round(seconds * 1e12) + ' ps';
}
function bytes(value) {
  for (const [unit, scale] of [['TiB', 2 ** 40], ['GiB', 2 ** 30], ['MiB', 2 ** 20], ['KiB', 2 ** 10]])
    if (Math.abs(value) >= scale * 0.9995) return (value / scale).toFixed(1) + ' ' + unit;
  return value + ' B';
}
const percent = (fraction) => (100 * fraction).toFixed(1);
const grouped = (value) => Math.round(value).toLocaleString('en-US');
function scaled(value) {
  if (value >= 99.95 && value < 9999.5) return grouped(value);
  for (const [unit, scale] of [['T', 1e12], ['B', 1e9], ['M', 1e6], ['k', 1e3], ['', 1]])
    if (value >= scale * 0.9995) return threeDigits(value / scale) + (unit && ' ' + unit);
  return threeDigits(value);
}
/** Tenths of a percent that add up to a whole: the first rounded to the nearest,
 * the others by largest remainder. */
function tenths(fractions) {
  const parts = fractions.map((fraction) => Math.floor(1000 * fraction + 1e-9));
  parts[0] = Math.round(1000 * fractions[0]);
  let left = Math.round(1000 * fractions.reduce((sum, one) => sum + one, 0)) - parts.reduce((sum, one) => sum + one, 0);
  const order = fractions.map((fraction, index) => [1000 * fraction - parts[index], index]).slice(1)
    .sort((a, b) => b[0] - a[0] || a[1] - b[1]);
  for (const [, index] of order) if (left-- > 0) ++parts[index];
  return parts.map((part) => part / 10);
}
const placeOf = (row) => (row.line > 0 ? row.file + ':' + row.line : row.file || '');

/** A figure that says which number of the report it is. */
const figure = (of, text) => element('span', { 'data-of': of, text });

// --- Tables ------------------------------------------------------------------

/** A row; the first cell is its head. Cells: text, element or [class, either]. */
function row(cells) {
  return element('tr', {}, ...cells.map((cell, index) => {
    const [kind, value] = Array.isArray(cell) ? cell : ['', cell];
    const made = element(index === 0 ? 'th' : 'td', index === 0 ? { scope: 'row' } : {});
    if (kind) made.className = kind;
    made.append(value === null || value === undefined ? '' : value);
    return made;
  }));
}
function fill(section, rows) {
  const body = document.querySelector('#' + section + ' tbody');
  body.replaceChildren(...rows.map(row));
}
function remove(id) { byId(id).remove(); }

/** A bar of parts [share 0-1, colour, words], after an empty share. */
function bar(parts, from = 0) {
  const track = element('div', { class: 'track', role: 'img',
    'aria-label': parts.map((part) => part[2]).filter(Boolean).join(', ') });
  if (from > 0) track.append(element('span', { style: { width: 100 * from + '%', minWidth: '0' } }));
  for (const [share, colour, label] of parts)
    if (share > 0)
      track.append(element('span', { title: label || '', style: { width: 100 * share + '%', background: colour } }));
  return track;
}

// --- Colours -----------------------------------------------------------------

const style = () => getComputedStyle(document.documentElement);
const shadeKeys = picture.shades.map((shade) => shade.key);
/** What is read best on a colour. */
function inkOn(colour) {
  const [red, green, blue] = colour.match(/[0-9a-f]{2}/gi).map((hex) => parseInt(hex, 16));
  return red * 299 + green * 587 + blue * 114 > 110000 ? '#0c1116' : '#ffffff';
}
let colours = {};
function readColours() {
  const now = style();
  const of = (name) => now.getPropertyValue(name).trim();
  const shades = shadeKeys.map((key) => of('--shade-' + key));
  colours = { shades, inks: shades.map(inkOn),
    ink: of('--ink'), soft: of('--soft'), line: of('--line'), panel: of('--panel'),
    paper: of('--paper'), accent: of('--accent'), mark: of('--mark') };
  return colours;
}
function legend(list, entries) {
  list.replaceChildren(...entries.map(([colour, text]) => {
    const item = element('li', { text });
    item.style.setProperty('--c', colour);
    return item;
  }));
}

// --- Blocks ------------------------------------------------------------------

const kinds = picture.kinds.map(([ticks, busy, shade, name, place, inside, count, chunk, withChunk]) =>
  ({ ticks, busy: busy / 1000, shade, name, place, inside, count, chunk, withChunk }));

/** Columns of one track: begins in ticks, kinds, micro-batches. */
function unpacked(track, columns) {
  const count = track.blocks.length / columns;
  const made = { name: track.name, count, begins: new Float64Array(count),
    kinds: new Uint32Array(count), batches: new Int32Array(count).fill(-1), with: track.with };
  let end = 0;
  for (let i = 0; i < count; ++i) {
    made.begins[i] = end + track.blocks[columns * i];
    made.kinds[i] = track.blocks[columns * i + 1];
    if (columns === 3) made.batches[i] = track.blocks[columns * i + 2];
    end = made.begins[i] + kinds[made.kinds[i]].ticks;
  }
  return made;
}
const insides = picture.insides.map((inside) => {
  const tracks = {};
  for (const track of inside.tracks) tracks[track.name] = unpacked(track, 2);
  return tracks;
});
const stages = picture.stages.map((stage) => ({ name: stage.name, ranks: stage.ranks,
  memory: stage.memory, tracks: stage.tracks.map((track) => unpacked(track, 3)) }));

/** The first block that ends after a time. */
function firstAfter(track, time) {
  let low = 0, high = track.count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (track.begins[middle] + kinds[track.kinds[middle]].ticks > time) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Of the streams inside a run: when it begins and ends, how busy it is. */
const summaries = insides.map((tracks) => {
  const made = {};
  for (const [name, track] of Object.entries(tracks)) {
    if (track.count === 0) continue;
    let busy = 0;
    const byShade = new Float64Array(shadeKeys.length);
    for (let i = 0; i < track.count; ++i) {
      busy += kinds[track.kinds[i]].ticks;
      byShade[kinds[track.kinds[i]].shade] += kinds[track.kinds[i]].ticks;
    }
    const last = track.count - 1;
    const begin = track.begins[0], end = track.begins[last] + kinds[track.kinds[last]].ticks;
    made[name] = { begin, end, busy: end > begin ? busy / (end - begin) : 1,
      shade: byShade.indexOf(Math.max(...byShade)) };
  }
  return made;
});

/** A canvas as wide as its box, sharp on dense screens. */
function sized(canvas, width, height) {
  const dense = Math.min(window.devicePixelRatio || 1, 2);
  if (canvas.width !== Math.round(width * dense) || canvas.height !== Math.round(height * dense)) {
    canvas.width = Math.round(width * dense);
    canvas.height = Math.round(height * dense);
    canvas.style.height = height + 'px';
  }
  const pen = canvas.getContext('2d');
  pen.setTransform(dense, 0, 0, dense, 0, 0);
  return pen;
}
