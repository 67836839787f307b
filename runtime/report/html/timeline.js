// The step over time: one canvas, drawn from what is in view.

const view = { from: 0, to: picture.length, row: 0, block: -1, rows: [], height: 0, left: 0 };
const kAxis = 22;

/** Rows to draw: a band for each track of each stage. */
function layRows() {
  const few = stages.length <= 4, many = stages.length > 16;
  const compute = few ? 34 : many ? 10 : 20, other = few ? 13 : many ? 4 : 8, gap = few ? 12 : many ? 3 : 7;
  const all = byId('streams').checked;
  let y = kAxis;
  view.rows = [];
  stages.forEach((stage, index) => {
    stage.tracks.forEach((track, at) => {
      if (at > 1 && !all) return;
      const height = at === 0 ? compute : other;
      view.rows.push({ stage: index, track, y, height, isCompute: at === 0 });
      y += height + 1;
    });
    y += gap;
  });
  view.height = y;
  layNames();
}

const scaleOf = () => (byId('canvas').clientWidth - view.left) / (view.to - view.from);
const xOf = (time) => view.left + (time - view.from) * scaleOf();

/** Calls draw(begin, end, kind, index) for the blocks of a track in view; blocks
 * narrower than a pixel share a column in the colour of what most of it is. */
function eachInView(track, origin, draw, drawColumn) {
  const scale = scaleOf();
  let column = null, weights = null, sum = 0;
  const flush = () => {
    if (column !== null && sum > 0) {
      let best = 0;
      for (let i = 1; i < weights.length; ++i) if (weights[i] > weights[best]) best = i;
      drawColumn(column, best, Math.min(1, sum * scale));
    }
    column = null;
  };
  for (let i = firstAfter(track, view.from - origin); i < track.count; ++i) {
    const begin = track.begins[i] + origin, kind = kinds[track.kinds[i]];
    if (begin >= view.to) break;
    if (kind.ticks * scale >= 1.5 && kind.count === 1) {
      flush();
      draw(begin, begin + kind.ticks, kind, i);
      continue;
    }
    // Spread what is wider than a column, or made of several, over its columns.
    const first = Math.floor(xOf(begin)), last = Math.floor(xOf(begin + kind.ticks));
    const share = kind.ticks * kind.busy / (last - first + 1);
    for (let at = Math.max(first, view.left); at <= last && at < byId('canvas').clientWidth; ++at) {
      if (at !== column) { flush(); column = at; weights = new Float64Array(shadeKeys.length); sum = 0; }
      weights[kind.shade] += share;
      sum += share;
    }
  }
  flush();
}

function drawTrack(pen, rowAt) {
  const { track, y, height, isCompute, stage } = rowAt;
  const block = (begin, end, shade, top = y, tall = height) => {
    const x0 = Math.max(xOf(begin), view.left), x1 = xOf(end);
    pen.fillStyle = colours.shades[shade];
    pen.fillRect(x0, top, Math.max(x1 - x0 - (x1 - x0 > 3 ? 0.7 : 0), 0.5), tall);
  };
  const column = (x, shade, alpha) => {
    pen.globalAlpha = 0.25 + 0.75 * alpha;
    pen.fillStyle = colours.shades[shade];
    pen.fillRect(x, y, 1, height);
    pen.globalAlpha = 1;
  };
  if (!isCompute) {
    drawInsides(pen, rowAt, stages[stage].tracks[0], block, column);
    eachInView(track, 0, (begin, end, kind) => block(begin, end, kind.shade), column);
    return;
  }
  eachInView(track, 0, (begin, end, kind, index) => {
    const wide = (end - begin) * scaleOf();
    const tracks = kind.inside >= 0 ? insides[kind.inside].compute : null;
    block(begin, end, kind.shade);
    if (tracks && wide > 60 && tracks.count > 0) {
      const head = height >= 16 ? Math.round(height * 0.45) : 0;
      pen.fillStyle = colours.panel;
      pen.fillRect(Math.max(xOf(begin), view.left), y + head, wide, height - head);
      eachInView(tracks, begin, (from, to, one) => block(from, to, one.shade, y + head, height - head),
        (x, shade, alpha) => {
          pen.globalAlpha = 0.25 + 0.75 * alpha;
          pen.fillStyle = colours.shades[shade];
          pen.fillRect(x, y + head, 1, height - head);
          pen.globalAlpha = 1;
        });
      label(pen, begin, end, { y, height: head, shade: kind.shade, text: textOfRun(track, index, wide) });
    } else {
      label(pen, begin, end, { y, height, shade: kind.shade, text: textOfRun(track, index, wide) });
    }
  }, column);
}

/** Streams inside runs: one by one where there is room, else how busy they are. */
function drawInsides(pen, { track }, runs, block, column) {
  const scale = scaleOf();
  for (let i = firstAfter(runs, view.from); i < runs.count && runs.begins[i] < view.to; ++i) {
    const kind = kinds[runs.kinds[i]];
    const inside = kind.inside >= 0 ? insides[kind.inside][track.name] : null;
    if (!inside || inside.count === 0) continue;
    if (kind.ticks * scale > 30) {
      eachInView(inside, runs.begins[i], (begin, end, one) => block(begin, end, one.shade), column);
      continue;
    }
    const all = summaries[kind.inside][track.name];
    const from = Math.max(Math.floor(xOf(runs.begins[i] + all.begin)), view.left);
    const to = Math.max(xOf(runs.begins[i] + all.end), from + 1);
    column(from, all.shade, all.busy);
    for (let x = from + 1; x < to; ++x) column(x, all.shade, all.busy);
  }
}

function textOfRun(track, index, wide) {
  const batch = track.batches[index], paired = track.with ? track.with[index] : -1;
  const kind = kinds[track.kinds[index]];
  const name = kind.name >= 0 ? picture.names[kind.name] : '';
  const number = batch < 0 ? '' : batch + (paired >= 0 ? '+' + paired : '');
  return wide > 7 * (name.length + 6) ? name + (number ? ' · ' + number : '') : number;
}

function label(pen, begin, end, { y, height, shade, text }) {
  if (!text || height < 10) return;
  const x0 = Math.max(xOf(begin), view.left), x1 = Math.min(xOf(end), byId('canvas').clientWidth);
  if (pen.measureText(text).width + 6 > x1 - x0) return;
  pen.fillStyle = colours.inks[shade];
  pen.textAlign = 'center';
  pen.fillText(text, (x0 + x1) / 2, y + height / 2);
}

let waiting = false;
function redraw() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => { waiting = false; drawTimeline(); });
}

function drawTimeline() {
  const canvas = byId('canvas'), width = canvas.clientWidth;
  const pen = sized(canvas, width, view.height);
  pen.clearRect(0, 0, width, view.height);
  pen.font = kNameFont;
  pen.textBaseline = 'middle';
  drawAxis(pen, width);
  for (const rowAt of view.rows) drawTrack(pen, rowAt);
  pen.fillStyle = colours.panel;
  pen.fillRect(0, 0, view.left - 4, view.height);
  pen.textAlign = 'right';
  for (const rowAt of view.rows) {
    if (rowAt.name === null) continue;
    const isChosen = view.rows[view.row] && view.rows[view.row].stage === rowAt.stage;
    pen.font = rowAt.isCompute ? kNameFont : kStreamFont;
    pen.fillStyle = rowAt.isCompute && isChosen ? colours.ink : colours.soft;
    pen.fillText(rowAt.name, view.left - 10, rowAt.y + rowAt.height / 2);
  }
  drawMark(pen);
  byId('range').textContent = duration(view.from * picture.tick_s) + ' to ' + duration(view.to * picture.tick_s);
}

function drawMark(pen) {
  const found = view.found;
  if (!found) return;
  const x0 = Math.max(xOf(found.begin), view.left), x1 = xOf(found.end);
  if (x1 < view.left) return;
  pen.strokeStyle = colours.mark;
  pen.lineWidth = 1.5;
  pen.strokeRect(x0 - 0.5, found.y - 1.5, Math.max(x1 - x0, 1) + 1, found.height + 3);
}

// --- What is under a point ---------------------------------------------------------

/** The block of a row at a time; kernels where they are drawn. */
function blockAt(rowAt, time, slack) {
  const { track, stage } = rowAt;
  const hit = (from, origin) => {
    const i = firstAfter(from, time - origin - slack);
    if (i >= from.count || from.begins[i] + origin > time + slack) return null;
    const kind = kinds[from.kinds[i]];
    return { kind, track: from, index: i, begin: from.begins[i] + origin, end: from.begins[i] + origin + kind.ticks,
      y: rowAt.y, height: rowAt.height, stage, batch: from.batches[i], paired: from.with ? from.with[i] : -1 };
  };
  const own = hit(track, 0);
  if (own && !rowAt.isCompute) return own;
  const run = rowAt.isCompute ? own : hit(stages[stage].tracks[0], 0);
  if (!run || run.kind.inside < 0 || run.kind.ticks * scaleOf() <= (rowAt.isCompute ? 60 : 30)) return rowAt.isCompute ? own : null;
  const inside = insides[run.kind.inside][track.name];
  const one = inside ? hit(inside, run.begin) : null;
  return one ? { ...one, batch: run.batch, run } : rowAt.isCompute ? own : null;
}

function show(found) {
  view.found = found;
  const detail = byId('detail');
  if (!found) { detail.replaceChildren(); return redraw(); }
  const { kind } = found;
  const shade = picture.shades[kind.shade].words;
  const name = kind.name >= 0 ? picture.names[kind.name] : kind.count > 1 ? kind.count + ' blocks, mostly ' + shade : shade;
  const parts = [stages[found.stage].name, shade !== name ? shade : '',
    found.batch >= 0 ? 'micro-batch ' + found.batch + (found.paired >= 0 ? ' and ' + found.paired : '') : '',
    duration((found.end - found.begin) * picture.tick_s) + (kind.busy < 1 ? ', ' + percent(kind.busy) + ' % of it busy' : ''),
    'from ' + duration(found.begin * picture.tick_s)];
  detail.replaceChildren(element('div', {}, element('b', { text: name }), '   ' + parts.filter(Boolean).join(' · ')));
  const place = kind.place >= 0 ? picture.places[kind.place] : null;
  if (place) detail.append(element('div', {}, element('code', { text: placeOf(place) + '   ' + place.text })));
  redraw();
}

function rowUnder(y) {
  return view.rows.findIndex((rowAt) => y >= rowAt.y - 1 && y <= rowAt.y + rowAt.height + 1);
}
function pick(x, y) {
  const index = rowUnder(y);
  if (index < 0 || x < view.left) return null;
  return { index, found: blockAt(view.rows[index], view.from + (x - view.left) / scaleOf(), 2 / scaleOf()) };
}

// --- Moving ------------------------------------------------------------------------

function look(from, to) {
  const least = Math.min(picture.length, Math.max(picture.length / 2e7, 64));
  const span = Math.min(Math.max(to - from, least), picture.length);
  from = Math.min(Math.max(from + (to - from - span) / 2, 0), picture.length - span);
  view.from = from;
  view.to = from + span;
  redraw();
}
function zoom(factor, x) {
  const at = x === undefined ? (view.from + view.to) / 2 : view.from + (x - view.left) / scaleOf();
  look(at - (at - view.from) * factor, at + (view.to - at) * factor);
}
const pan = (share) => {
  const by = Math.min(Math.max((view.to - view.from) * share, -view.from), picture.length - view.to);
  look(view.from + by, view.to + by);
};

/** To the block before or after, in the row that is chosen. */
function step(by) {
  const rowAt = view.rows[view.row], track = rowAt.track;
  if (track.count === 0) return;
  let index = view.found && view.found.track === track ? view.found.index + by : firstAfter(track, view.from);
  index = Math.min(Math.max(index, 0), track.count - 1);
  const begin = track.begins[index], kind = kinds[track.kinds[index]], end = begin + kind.ticks;
  if (begin < view.from || end > view.to) {
    const half = Math.max((view.to - view.from) / 2, end - begin);
    look((begin + end) / 2 - half, (begin + end) / 2 + half);
  }
  show({ kind, track, index, begin, end, y: rowAt.y, height: rowAt.height, stage: rowAt.stage,
    batch: track.batches[index], paired: track.with ? track.with[index] : -1 });
}

const actions = { in: () => zoom(0.5), out: () => zoom(2), left: () => pan(-0.25), right: () => pan(0.25),
  all: () => look(0, picture.length) };
const keys = { '+': actions.in, '=': actions.in, '-': actions.out, ArrowLeft: actions.left, ArrowRight: actions.right,
  0: actions.all, Home: actions.all, '.': () => step(1), ',': () => step(-1), Escape: () => show(null),
  ArrowDown: () => { view.row = Math.min(view.row + 1, view.rows.length - 1); step(0); },
  ArrowUp: () => { view.row = Math.max(view.row - 1, 0); step(0); } };

function listen(canvas) {
  canvas.addEventListener('keydown', (event) => {
    if (!(event.key in keys) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    keys[event.key]();
  });
  canvas.addEventListener('wheel', (event) => {
    const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY);
    if (!sideways && document.activeElement !== canvas && !event.ctrlKey) return;
    event.preventDefault();
    if (sideways || event.shiftKey) pan((event.deltaX || event.deltaY) / canvas.clientWidth);
    else zoom(Math.exp(event.deltaY / 300), event.offsetX);
  }, { passive: false });
  const fingers = new Map();
  let pressed = null, apart = 0;
  canvas.addEventListener('pointerdown', (event) => {
    fingers.set(event.pointerId, event.offsetX);
    pressed = { x: event.offsetX, moved: false };
    apart = 0;
    if (event.pointerType === 'mouse') canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener('pointermove', (event) => {
    if (!fingers.has(event.pointerId)) {
      if (event.pointerType === 'mouse') { const at = pick(event.offsetX, event.offsetY); show(at && at.found); }
      return;
    }
    const before = fingers.get(event.pointerId);
    fingers.set(event.pointerId, event.offsetX);
    if (fingers.size === 2) {
      const [a, b] = [...fingers.values()], now = Math.abs(a - b);
      if (apart > 0 && now > 8) zoom(apart / now, (a + b) / 2);
      apart = now;
      pressed.moved = true;
    } else if (pressed && (pressed.moved || Math.abs(event.offsetX - pressed.x) > 4)) {
      pressed.moved = true;
      pan((before - event.offsetX) / (canvas.clientWidth - view.left));
    }
  });
  const released = (event) => {
    fingers.delete(event.pointerId);
    if (event.type !== 'pointerup' || !pressed || pressed.moved) return;
    const at = pick(event.offsetX, event.offsetY);
    if (at) view.row = at.index;
    show(at && at.found);
  };
  for (const name of ['pointerup', 'pointercancel']) canvas.addEventListener(name, released);
}

/** What a table says of what the canvas shows. */
function stageTable() {
  const sums = (track) => {
    let sum = 0;
    for (let i = 0; track && i < track.count; ++i) sum += kinds[track.kinds[i]].ticks * kinds[track.kinds[i]].busy;
    return sum;
  };
  byId('stages').replaceChildren(element('thead', {}, element('tr', {}, ...['stage', 'ranks', 'passes', 'computes', 'waits between'].map(
    (text, index) => element('th', { scope: 'col', class: index > 0 ? 'number' : '', text })))),
  element('tbody', {}, ...stages.map((stage) => {
    const waits = stage.tracks.find((track) => track.name === 'waiting');
    return row([stage.name, ['number', grouped(stage.ranks)], ['number', grouped(stage.tracks[0].count)],
      ['number', duration(sums(stage.tracks[0]) * picture.tick_s)], ['number', duration(sums(waits) * picture.tick_s)]]);
  })));
}

/** Ends may lie in the next step: a step's time is what one more takes. */
function spill() {
  const drawn = picture.length * picture.tick_s, over = drawn - report.step_time_s;
  if (over > report.step_time_s / 1000)
    byId('spill').textContent = 'Steps follow each other every ' + duration(report.step_time_s) + '; this one, ' + duration(drawn) +
      ' from its first begin to its last end, ends ' + duration(over) + ' into the next.';
}

function timeline() {
  const canvas = byId('canvas');
  byId('streams').checked = stages.length <= 8;
  byId('streams').addEventListener('change', () => { layRows(); show(null); });
  layRows();
  canvas.setAttribute('aria-label', 'timeline of ' + stages.length + (stages.length === 1 ? ' stage' : ' stages') +
    ' over ' + duration(picture.length * picture.tick_s));
  const used = new Set(kinds.map((kind) => kind.shade));
  legend(document.querySelector('#timeline .legend'), picture.shades.map((shade, index) => [index, shade])
    .filter(([index]) => used.has(index)).map(([, shade]) => ['var(--shade-' + shade.key + ')', shade.words]));
  for (const button of document.querySelectorAll('#timeline button'))
    button.addEventListener('click', () => actions[button.dataset.do]());
  listen(canvas);
  stageTable();
  spill();
  window.addEventListener('resize', () => { layNames(); redraw(); });
  for (const query of ['(prefers-color-scheme: dark)', 'print'])
    window.matchMedia(query).addEventListener('change', () => { readColours(); drawTimeline(); fitGrid(); drawGrid(); });
  drawTimeline();
}
