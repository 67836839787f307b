// What is written around the timeline: names of rows, times.

const kNameFont = '11px system-ui, sans-serif', kStreamFont = '10px system-ui, sans-serif';

/** The name of a row, null where the row is too low for one. */
function nameOfRow(rowAt) {
  if (rowAt.isCompute) return rowAt.height >= 9 ? stages[rowAt.stage].name : null;
  return rowAt.height >= 12 ? rowAt.track.name : null;
}

/** As wide a margin as the longest name, of at most a third of the canvas;
 * what is longer ends in an ellipsis. */
function layNames() {
  const canvas = byId('canvas'), pen = canvas.getContext('2d');
  const most = Math.floor(canvas.clientWidth / 3), beside = 14;
  const fitted = (text) => {
    if (text === null || pen.measureText(text).width <= most - beside) return text;
    let length = text.length - 1;
    while (length > 1 && pen.measureText(text.slice(0, length) + '…').width > most - beside) --length;
    return text.slice(0, length) + '…';
  };
  let widest = 0;
  for (const rowAt of view.rows) {
    pen.font = rowAt.isCompute ? kNameFont : kStreamFont;
    rowAt.name = fitted(nameOfRow(rowAt));
    if (rowAt.name !== null) widest = Math.max(widest, pen.measureText(rowAt.name).width);
  }
  view.left = Math.ceil(widest) + beside;
}

/** Seconds between marks: the least of 1, 2 or 5 times a power of ten whose
 * labels stand apart; infinite where there is no room at all. */
function axisStep(pen) {
  const perSecond = scaleOf() / picture.tick_s, gap = 14;
  if (!(perSecond > 0)) return Infinity;
  const least = Math.min(Math.max((byId('canvas').clientWidth - view.left) / 6, 48), 80);
  const ends = [view.from * picture.tick_s, view.to * picture.tick_s];
  for (let power = Math.floor(Math.log10(least / perSecond)); ; ++power)
    for (const times of [1, 2, 5]) {
      const step = times * 10 ** power;
      const widest = Math.max(...ends.map((time) => pen.measureText(axisText(Math.floor(time / step) * step, step)).width));
      if (step * perSecond >= Math.max(widest + gap, least)) return step;
    }
}
function drawAxis(pen, width) {
  const step = axisStep(pen);
  pen.textAlign = 'center';
  const first = Math.ceil(view.from * picture.tick_s / step);
  for (let i = first; i * step <= view.to * picture.tick_s; ++i) {
    const x = xOf(i * step / picture.tick_s), text = axisText(i * step, step), half = pen.measureText(text).width / 2;
    pen.fillStyle = colours.line;
    pen.fillRect(x, kAxis - 4, 1, view.height);
    pen.fillStyle = colours.soft;
    if (x - half >= view.left - 4 && x + half <= width - 2) pen.fillText(text, x, kAxis / 2);
  }
}
function axisText(time, step) {
  for (const [unit, scale] of [['s', 1], ['ms', 1e3], ['µs', 1e6], ['ns', 1e9]])
    if (Math.abs(time) * scale >= 1 || unit === 'ns')
      return time === 0 ? '0' : (time * scale).toFixed(Math.max(0, Math.ceil(-Math.log10(step * scale) - 0.001))) + ' ' + unit;
}
