// The sections that are text, tables and bars.

const accelerators = report.accelerators;

function head() {
  document.title = report.plan + ' · planc';
  byId('kicker').textContent = report.plan + ' · ' + placeOf(report);
  byId('what').textContent = report.model + ' on ' + grouped(accelerators) + ' × ' + report.accelerator;
  const parts = [report.mesh.map((axis) => axis.axis + ' ' + grouped(axis.size)).join(' · '),
    grouped(report.sequences) + ' × ' + grouped(report.sequence_length) + ' tokens in ' +
      grouped(report.micro_batches) + (report.micro_batches === 1 ? ' micro-batch' : ' micro-batches'),
    report.schedule, ...report.recompute.map((line) => 'recompute ' + line)];
  byId('how').textContent = parts.filter(Boolean).join('   —   ');
  byId('foot').textContent = 'planc, schema ' + report.schema_version + '. Virtual time: predicted, not measured.';
}

function verdict() {
  const memory = report.memory;
  const left = memory.slack_bytes;
  if (memory.verdict === 'fits')
    return ['good', 'fits, ' + bytes(left) + (memory.reserve_bytes > 0 ? ' above the reserve' : ' to spare')];
  if (memory.verdict === 'tight') return ['bad', 'tight: ' + bytes(-left) + ' into the reserve'];
  return ['bad', 'does not fit: ' + bytes(Math.max(-left, 0)) + ' too much'];
}

function figures() {
  const list = byId('figures');
  const add = (name, of, value, ...below) => list.append(element('div', {}, element('dt', { text: name }),
    element('dd', {}, figure(of, value), element('small', {}, ...below))));
  add('step', 'step_time_s', duration(report.step_time_s),
    figure('tokens_per_s', scaled(report.tokens_per_s)), ' tokens/s, ',
    figure('tokens_per_s_per_accelerator', scaled(report.tokens_per_s_per_accelerator)), ' per accelerator');
  add('MFU', 'mfu.exact', percent(report.mfu.exact) + ' %',
    'exact, of ' + (report.peak.flops_per_s / 1e12).toFixed(1) + ' TFLOP/s ' + report.peak.name + '; full ',
    figure('mfu.full', percent(report.mfu.full)), ', 6nd ', figure('mfu.6nd', percent(report.mfu['6nd'])),
    ', HFU ', figure('hfu.exact', percent(report.hfu.exact)));
  const [mark, sentence] = verdict();
  add('memory', 'memory.peak_bytes', bytes(report.memory.peak_bytes),
    'of ', figure('memory.capacity_bytes', bytes(report.memory.capacity_bytes)), ', ',
    element('span', { class: mark, text: sentence }));
  const exposed = report.communication.reduce((sum, kind) => sum + kind.exposed_fraction, 0);
  const flight = report.communication.reduce((sum, kind) => sum + kind.in_flight_s, 0);
  add('exposed communication', 'exposed', percent(exposed) + ' %',
    'of the step; ' + duration(flight) + ' in flight');
  if (report.bubble) {
    const formula = report.bubble.formula;
    add('bubble', 'bubble.fraction', percent(report.bubble.fraction) + ' %',
      'of the pipeline' + (formula ? '; formula ' + formula + ' = ' + percent(report.bubble.formula_fraction) + ' %' : ''));
  }
}

function waterfall() {
  const shown = tenths(report.waterfall.map((part) => part.fraction));
  let at = 0;
  const rows = report.waterfall.map((part, index) => {
    const { words: name, group, reason } = words[part.cause];
    const from = Math.min(at, at + part.fraction);
    at += part.fraction;
    const text = shown[index].toFixed(1).replace('-', '−');
    return [name, ['number', figure('waterfall.' + index + '.fraction', text)],
      ['number', duration(part.time_s)],
      ['bar', bar([[Math.abs(part.fraction), 'var(--' + group + ')', name + ' ' + text + ' %']], Math.max(from, 0))],
      ['reason', reason]];
  });
  fill('waterfall', rows.filter((cells, index) => shown[index] !== 0));
}

function communication() {
  if (report.communication.length === 0) return remove('communication');
  const most = Math.max(...report.communication.map((kind) => kind.in_flight_s));
  fill('communication', report.communication.map((kind, index) => [kind.kind, kind.over || 'several levels',
    ['number', duration(kind.in_flight_s)], ['number', duration(kind.hidden_s)],
    ['number', figure('communication.' + index + '.exposed_s', duration(kind.exposed_s))],
    ['number wide', duration(kind.exposed_at_least_s)],
    ['bar', bar([[kind.exposed_s / most, 'var(--shade-' + kind.kind + ')', 'exposed ' + duration(kind.exposed_s)],
      [kind.hidden_s / most, 'var(--hid)', 'hidden ' + duration(kind.hidden_s)]])]]));
}

// --- Memory --------------------------------------------------------------------

const memoryParts = [['parameters', 'parameters', '#4f86b8'], ['gradients', 'gradients', '#3f9470'],
  ['optimizer', 'optimizer states', '#8377ab'], ['activations', 'activations', '#d98032'],
  ['gathered', 'gathered parameters', '#7da552'], ['buffers', 'buffers', '#77706a'],
  ['logits', 'logits and loss', '#b4513b'], ['workspace', 'workspace', '#bf9a1f']];

function memoryTable() {
  const memory = report.memory;
  const [mark, sentence] = verdict();
  byId('verdict').append('The fullest stage holds ' + bytes(memory.peak_bytes) + ' of ' + bytes(memory.capacity_bytes) + ': ',
    element('span', { class: mark, text: sentence }), '.');
  if (memory.remedy) byId('verdict').append(' ' + memory.remedy.replaceAll('\n', '; '));
  const used = memoryParts.filter(([key]) => memory.stages.some((stage) => stage[key + '_bytes'] > 0));
  legend(document.querySelector('#memory .legend'), used.map(([, name, colour]) => [colour, name]));
  document.querySelector('#memory thead').replaceChildren(element('tr', {},
    element('th', { scope: 'col', text: 'stage' }), element('th', { scope: 'col', class: 'number', text: 'at its fullest' }),
    ...used.map(([, name]) => element('th', { scope: 'col', class: 'number wide', text: name })),
    element('th', { scope: 'col', class: 'bar' }, element('span', { class: 'hidden', text: 'parts' }))));
  const most = Math.max(memory.capacity_bytes, memory.peak_bytes);
  fill('memory', memory.stages.map((stage, index) => [stage.stage,
    ['number', figure('memory.stages.' + index + '.peak_bytes', bytes(stage.peak_bytes))],
    ...used.map(([key]) => ['number wide', stage[key + '_bytes'] > 0 ? bytes(stage[key + '_bytes']) : '']),
    ['bar', bar(used.map(([key, name, colour]) =>
      [stage[key + '_bytes'] / most, colour, name + ' ' + bytes(stage[key + '_bytes'])]))]]));
}

const svg = (name, attributes, text) => {
  const made = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text) made.textContent = text;
  return made;
};

/** Bytes over the step: every stage thin, the chosen one strong. */
function memoryCurve() {
  const select = byId('stage'), plot = byId('memoryplot');
  if (stages.every((stage) => stage.memory.length === 0)) return select.closest('figure').remove();
  const peaks = report.memory.stages.map((stage) => stage.peak_bytes);
  stages.forEach((stage, index) => select.append(element('option', { value: index, text: stage.name })));
  select.value = peaks.indexOf(Math.max(...peaks));
  const draw = () => {
    const chosen = Number(select.value), width = plot.clientWidth || 800, height = 220;
    const left = 64, bottom = 24, top = 12, right = 12;
    const most = Math.max(report.memory.capacity_bytes, ...peaks) * 1.04;
    const x = (ticks) => left + (width - left - right) * ticks / picture.length;
    const y = (value) => top + (height - top - bottom) * (1 - value / most);
    const path = (memory) => {
      let at = 0, out = '';
      for (let i = 0; i < memory.length; i += 2) {
        at += memory[i];
        out += (i === 0 ? 'M' : 'H') + x(Math.max(at, 0)).toFixed(1) + (i === 0 ? ' ' : 'V') + y(memory[i + 1]).toFixed(1);
      }
      return out + 'H' + x(picture.length).toFixed(1);
    };
    const drawing = svg('svg', { viewBox: '0 0 ' + width + ' ' + height, height, role: 'img',
      'aria-label': 'memory of ' + stages[chosen].name + ' over the step, at most ' + bytes(peaks[chosen]) });
    for (let i = 0; i <= 4; ++i) {
      const value = most * i / 4;
      drawing.append(svg('path', { d: 'M' + left + ' ' + y(value) + 'H' + (width - right), stroke: 'var(--line)' }),
        svg('text', { x: left - 8, y: y(value) + 4, 'text-anchor': 'end' }, bytes(value)));
      const time = picture.length * i / 4;
      drawing.append(svg('text', { x: x(time), y: height - 7, 'text-anchor': i === 4 ? 'end' : i === 0 ? 'start' : 'middle' },
        duration(time * picture.tick_s)));
    }
    stages.forEach((stage, index) => index === chosen || drawing.append(
      svg('path', { d: path(stage.memory), fill: 'none', stroke: 'var(--wait)', 'stroke-opacity': '.45' })));
    drawing.append(svg('path', { d: path(stages[chosen].memory), fill: 'none', stroke: 'var(--accent)', 'stroke-width': '2' }));
    const usable = report.memory.capacity_bytes - report.memory.reserve_bytes;
    drawing.append(svg('path', { d: 'M' + left + ' ' + y(usable) + 'H' + (width - right), stroke: 'var(--bad)', 'stroke-dasharray': '5 4' }),
      svg('text', { x: width - right - 4, y: y(usable) + (usable > most * 0.9 ? 14 : -5), 'text-anchor': 'end' }, 'usable ' + bytes(usable)));
    plot.replaceChildren(drawing);
    byId('memoryat').textContent = stages[chosen].name + ' at its fullest: ' + bytes(peaks[chosen]);
  };
  select.addEventListener('change', draw);
  window.addEventListener('resize', draw);
  draw();
}

// --- Tables ----------------------------------------------------------------------

function lines() {
  if (report.lines.length === 0) return remove('lines');
  fill('lines', report.lines.map((line) => [element('code', { text: placeOf(line) }),
    element('code', { text: line.text }), ['number', duration(line.cost_s)], line.what]));
}

function orders() {
  const all = report.orders;
  if (!all) return remove('order');
  const order = (name, key) => [name, ['number', figure('orders.' + key + '.step_time_s', duration(all[key].step_time_s))],
    ['number', percent(all[key].mfu) + ' %'], ['number', all[key].exposed_fraction === undefined ? '' : percent(all[key].exposed_fraction) + ' %'],
    ['number', all[key].bubble_fraction === undefined || all[key].bubble_fraction === null ? '' : percent(all[key].bubble_fraction) + ' %']];
  const rows = [order('program order', 'program'), order(all.framework_buckets + ', the framework', 'framework'),
    order('planc', 'chosen')];
  if (all.chosen_without_in_network_reduction)
    rows.push(order('planc, where no switch sums', 'chosen_without_in_network_reduction'));
  rows.push(order('no order beats', 'bound'));
  fill('order', rows);
}

/** A change of the step, with its sign. */
const signed = (text, value) => (value < 0 ? '−' : value > 0 ? '+' : '') + text;

function sensitivities() {
  const all = data.explanation;
  if (!all || all.sensitivities.length === 0) return remove('more');
  fill('more', all.sensitivities.map((one) => [one.resource, one.has,
    ['number', signed(duration(Math.abs(one.change_s)), one.change_s)],
    ['number', signed((100 * Math.abs(one.change_fraction)).toFixed(3) + ' %', one.change_fraction)],
    ['bar', bar([[Math.min(Math.max(-one.change_fraction * 100, 0), 1), 'var(--accent)',
      'one percent saves ' + (-100 * one.change_fraction).toFixed(3) + ' percent']])]]));
  byId('ways').replaceChildren(...all.exposed.filter((one) => one.hidden_if.length > 0).map((one) =>
    element('li', { text: one.kind + ' communication, ' + duration(one.exposed_s) + ' exposed, would be hidden with ' +
      one.hidden_if.map((way) => way.resource + ' ' + way.needs + ' (has ' + way.has + ')').join(', or ') })));
}

function expectations() {
  if (report.expectations.length === 0) return remove('expectations');
  fill('expectations', report.expectations.map((one) => [element('code', { text: one.text }),
    ['number', one.found === null ? 'unknown' : foundText(one)],
    [one.holds ? 'good' : 'bad', one.holds ? 'holds' : 'fails']]));
}
function foundText(one) {
  if (one.metric === 'memory') return bytes(one.found);
  if (one.metric === 'step_time') return duration(one.found);
  return Math.abs(one.found) <= 1 ? percent(one.found) + ' %' : threeDigits(one.found);
}

function diagnostics() {
  if (report.diagnostics.length === 0) return remove('diagnostics');
  fill('diagnostics', report.diagnostics.map((one) => [[one.severity === 'error' ? 'bad' : '', one.severity],
    element('code', { text: placeOf(one) }), one.message + ' [' + one.code + ']']));
}

function assumptions() {
  const rows = data.assumptions.rows;
  if (rows.length === 0) return remove('assumptions');
  const out = [];
  let of = '';
  for (const one of rows) {
    if (one.of !== of) out.push([element('b', { text: of = one.of }), '', element('code', { text: one.file })]);
    out.push([element('code', { text: one.name }), one.value, one.source]);
  }
  fill('assumptions', out);
}

function sectionLinks() {
  byId('sections').replaceChildren(...[...document.querySelectorAll('main section')].map((section) =>
    element('li', {}, element('a', { href: '#' + section.id, text: section.querySelector('h2').textContent }))));
}

document.addEventListener('DOMContentLoaded', () => {
  readColours();
  for (const part of [head, figures, waterfall, timeline, grid, communication, memoryTable, memoryCurve,
    lines, orders, sensitivities, expectations, diagnostics, assumptions, sectionLinks])
    part();
  document.documentElement.dataset.ready = 'yes';
});
