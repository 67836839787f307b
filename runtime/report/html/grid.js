// The schedule as a grid: every pass one cell, so that the order itself is seen.

const cells = { rows: [], columns: 0, size: 24, height: 24 };

/** Columns of passes: each right after what it needs and what its stage ran
 * before. Null where passes were merged or do not fit together. */
function placePasses() {
  const at = new Map(); // 'chunk.batch.kind' to a column
  const lists = stages.map((stage) => {
    const track = stage.tracks[0], list = [];
    for (let i = 0; i < track.count; ++i) {
      const kind = kinds[track.kinds[i]], key = shadeKeys[kind.shade];
      if (kind.count > 1) return null;
      if (key !== 'update')
        list.push({ key, chunk: kind.chunk, batch: track.batches[i], paired: track.with ? track.with[i] : -1,
          pairedChunk: kind.withChunk, shade: kind.shade });
    }
    return list;
  });
  if (lists.includes(null)) return null;
  const chunks = 1 + lists.reduce((most, list) => list.reduce((of, pass) => Math.max(of, pass.chunk), most), 0);
  const name = (chunk, batch, kind) => chunk + '.' + batch + '.' + kind;
  // Of other stages; a forward with a backward beside it needs what both need.
  const needs = (pass) => {
    const names = [];
    const backward = (chunk, batch) => chunk + 1 < chunks && names.push(name(chunk + 1, batch, 'b'));
    if ((pass.key === 'forward' || pass.key === 'together') && pass.chunk > 0)
      names.push(name(pass.chunk - 1, pass.batch, 'f'));
    if (pass.key === 'backward') backward(pass.chunk, pass.batch);
    if (pass.paired >= 0) backward(pass.pairedChunk, pass.paired);
    return names;
  };
  const next = lists.map(() => 0), free = lists.map(() => 0);
  for (let moved = true; moved;) {
    moved = false;
    lists.forEach((list, stage) => {
      for (; next[stage] < list.length; ++next[stage]) {
        const pass = list[next[stage]], before = needs(pass).map((one) => at.get(one));
        if (before.includes(undefined)) break;
        const column = Math.max(free[stage], ...before.map((one) => one + 1));
        pass.column = column;
        free[stage] = column + 1;
        const kind = pass.key === 'backward' ? 'b' : pass.key === 'weight_gradient' ? 'w' : 'f';
        at.set(name(pass.chunk, pass.batch, kind), column);
        if (pass.paired >= 0) at.set(name(pass.pairedChunk, pass.paired, 'b'), column);
        moved = true;
      }
    });
  }
  return next.every((count, stage) => count === lists[stage].length) ? lists : null;
}

function drawGrid() {
  if (cells.rows.length === 0) return;
  const canvas = byId('cells'), plot = canvas.closest('.plot');
  const width = plot.clientWidth, height = cells.rows.length * cells.height + 12;
  canvas.style.width = width + 'px';
  const pen = sized(canvas, width, height);
  pen.clearRect(0, 0, width, height);
  pen.font = '11px system-ui, sans-serif';
  pen.textBaseline = 'middle';
  const left = 64, first = plot.scrollLeft / cells.size - 1, last = first + width / cells.size + 2;
  cells.rows.forEach((list, stage) => {
    const y = 6 + stage * cells.height;
    let low = 0, high = list.length;
    while (low < high) { const middle = (low + high) >> 1; if (list[middle].column < first) low = middle + 1; else high = middle; }
    pen.textAlign = 'center';
    for (let i = low; i < list.length && list[i].column <= last; ++i) {
      const x = left + list[i].column * cells.size - plot.scrollLeft;
      pen.fillStyle = colours.shades[list[i].shade];
      pen.fillRect(x, y, cells.size - (cells.size > 3 ? 1 : 0), cells.height - 2);
      if (cells.size < 18 || list[i].batch < 0) continue;
      pen.fillStyle = colours.inks[list[i].shade];
      pen.fillText(list[i].batch, x + cells.size / 2, y + cells.height / 2 - 1);
    }
  });
  pen.fillStyle = colours.panel;
  pen.fillRect(0, 0, left - 2, height);
  pen.fillStyle = colours.soft;
  pen.textAlign = 'right';
  cells.rows.forEach((list, stage) => {
    if (cells.height >= 12) pen.fillText(stages[stage].name, left - 8, 6 + (stage + 0.5) * cells.height - 1);
  });
}

/** The first passes of each stage, in words. */
function orderTable() {
  const kMost = 64;
  const letters = { forward: 'F', backward: 'B', weight_gradient: 'W', together: 'F' };
  const text = (pass) => letters[pass.key] + pass.batch + (pass.paired >= 0 ? '&B' + pass.paired : '');
  byId('orders').replaceChildren(element('tbody', {}, ...cells.rows.map((list, stage) =>
    row([stages[stage].name, element('code', { text: list.slice(0, kMost).map(text).join(' ') +
      (list.length > kMost ? ' and ' + (list.length - kMost) + ' more' : '') })]))));
}

/** All of it where that leaves cells to see, and on paper; else it scrolls. */
function fitGrid() {
  if (cells.rows.length === 0) return;
  const plot = byId('cells').closest('.plot');
  const room = (plot.clientWidth - 72) / cells.columns;
  const isPaper = window.matchMedia('print').matches;
  cells.size = room >= 24 ? 24 : room >= 5 || isPaper ? room : stages.length > 16 ? 18 : 22;
  if (isPaper) plot.scrollLeft = 0;
  document.querySelector('.gridwide').style.width =
    Math.max(plot.clientWidth - 2, isPaper ? 0 : 72 + cells.columns * cells.size) + 'px';
}

function grid() {
  const rows = stages.length > 1 ? placePasses() : null;
  if (!rows) return remove('grid');
  cells.rows = rows;
  cells.columns = 1 + Math.max(...rows.map((list) => (list.length ? list[list.length - 1].column : 0)));
  if (stages.length > 16) { cells.height = 14; }
  const plot = byId('cells').closest('.plot');
  fitGrid();
  byId('cells').setAttribute('aria-label', 'passes of ' + stages.length + ' stages in ' + cells.columns + ' columns');
  plot.addEventListener('scroll', () => requestAnimationFrame(drawGrid));
  window.addEventListener('resize', () => { fitGrid(); drawGrid(); });
  orderTable();
  drawGrid();
}
