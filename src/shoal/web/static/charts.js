// Charts drawn as SVG. Each has a title, marks that answer the mouse and the keyboard, a table behind it, and an export.
import { html, useState, useRef, useEffect } from "./lib.js";
import { Table } from "./parts.js";

const round = (number) => Math.round(number * 100) / 100;

// Ticks at round numbers.
export function ticks(low, high, wanted = 5) {
  if (!(high > low)) return [low];
  const raw = (high - low) / wanted;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((times) => times * power).find((size) => size >= raw);
  const found = [];
  for (let tick = Math.ceil(low / step - 1e-9) * step; tick <= high + step * 1e-9; tick += step) found.push(Math.abs(tick) < step * 1e-9 ? 0 : tick);
  return found;
}
// What stands at ticks: where two would read the same, all get the figures that tell them apart.
export const ticked = (marks, format) => {
  const words = marks.map(format);
  if (new Set(words).size === words.length) return words;
  const figures = Math.max(0, Math.ceil(-Math.log10(Math.min(...marks.slice(1).map((mark, place) => mark - marks[place]))) - 1e-9));
  return marks.map((mark) => mark.toFixed(figures));
};
export const short = (number) => {
  if (Math.abs(number) >= 1e6) return `${+(number / 1e6).toPrecision(3)} M`;
  if (Math.abs(number) >= 1e4) return `${+(number / 1e3).toPrecision(3)} k`;
  return String(+Number(number).toPrecision(3));
};

const STYLES = ["fill", "stroke", "stroke-width", "stroke-dasharray", "fill-opacity", "font", "font-size", "font-family", "font-weight", "opacity"];

function standalone(svg) {
  const copy = svg.cloneNode(true);
  const originals = [svg, ...svg.querySelectorAll("*")];
  [copy, ...copy.querySelectorAll("*")].forEach((element, place) => {
    const style = getComputedStyle(originals[place]);
    for (const name of STYLES) if (style.getPropertyValue(name)) element.setAttribute(name, style.getPropertyValue(name));
    for (const name of ["class", "tabindex"]) element.removeAttribute(name);
  });
  const [, , width, height] = svg.getAttribute("viewBox").split(" ").map(Number);
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  const back = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  back.setAttribute("width", "100%");
  back.setAttribute("height", "100%");
  back.setAttribute("fill", getComputedStyle(document.body).getPropertyValue("background-color"));
  copy.insertBefore(back, copy.firstChild);
  return { text: new XMLSerializer().serializeToString(copy), width, height };
}

function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 5000);
}

async function exportChart(svg, name, kind) {
  const { text, width, height } = standalone(svg);
  const drawn = new Blob([text], { type: "image/svg+xml" });
  if (kind === "svg") return save(drawn, `${name}.svg`);
  const image = new Image();
  image.src = URL.createObjectURL(drawn);
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = width * 2;
  canvas.height = height * 2;
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  canvas.toBlob((blob) => save(blob, `${name}.png`), "image/png");
}

// The frame of a chart: `table` is {head, rows, numbers}, what the picture shows in words.
export function Figure({ title, text, table, legend, children }) {
  const [asTable, setAsTable] = useState(false);
  const [tip, setTip] = useState(null);
  const place = useRef(null);
  const name = title.toLowerCase().replace(/[^a-z0-9]+/g, "-").slice(0, 50);
  const point = (event) => {
    const mark = event.target.closest?.("[data-tip]");
    const box = mark?.getBoundingClientRect();
    setTip(mark ? { text: mark.dataset.tip, left: Math.min(event.clientX || box.left + box.width / 2, innerWidth - 240), top: (event.clientY || box.top) + 16 } : null);
  };
  return html`<figure ref=${place} onMouseMove=${point} onMouseLeave=${() => setTip(null)} onFocusIn=${point} onKeyUp=${point} onFocusOut=${() => setTip(null)}>
    <figcaption><strong>${title}</strong>
      <button class="button quiet small" aria-pressed=${asTable ? "true" : "false"} onClick=${() => setAsTable(!asTable)}>${asTable ? "Picture" : "Table"}</button>
      <button class="button quiet small" disabled=${asTable} onClick=${() => exportChart(place.current.querySelector("svg.chart"), name, "svg")}>SVG</button>
      <button class="button quiet small" disabled=${asTable} onClick=${() => exportChart(place.current.querySelector("svg.chart"), name, "png")}>PNG</button>
    </figcaption>
    ${legend && !asTable && html`<div class="legend">${legend.map(([colour, word]) => html`<span><i class=${colour}></i>${word}</span>`)}</div>`}
    ${asTable ? html`<${Table} ...${table} caption=${title} />` : children}
    ${text && html`<div class="under">${text}</div>`}
    ${tip && html`<div class="tip" style=${{ left: `${tip.left}px`, top: `${tip.top}px` }}>${tip.text}</div>`}
  </figure>`;
}

// How wide the place of a chart is, so that its texts keep their size.
function useWidth() {
  const place = useRef(null);
  const [width, setWidth] = useState(560);
  useEffect(() => {
    const watch = new ResizeObserver((entries) => setWidth(Math.max(260, Math.round(entries[0].contentRect.width))));
    watch.observe(place.current);
    return () => watch.disconnect();
  }, []);
  return [place, width];
}

const cut = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

// Horizontal bars; each row is {label, parts: [{value, colour, tip}]}. In a narrow place the label stands above its bars.
export function Bars({ rows, most, format = short, label }) {
  const [place, width] = useWidth();
  const above = width < 480;
  const space = above ? 0 : Math.min(Math.max(260, width * 0.45), Math.max(70, ...rows.map((row) => row.label.length * 6.8 + 10)));
  const parts = rows[0]?.parts.length ?? 1, thick = parts > 1 ? 11 : above ? 12 : 16, head = above ? 17 : 0;
  const step = parts * (thick + 2) + 8 + head;
  const high = most ?? Math.max(1e-9, ...rows.flatMap((row) => row.parts.map((part) => part.value)));
  const room = width - space - 62;
  return html`<div ref=${place}><svg class="chart" viewBox="0 0 ${width} ${rows.length * step + 4}" role="group" aria-label=${label}>
    ${rows.map((row, number) => html`<g>
      <text x=${above ? 0 : space - 8} y=${above ? number * step + 12 : number * step + (step - 8) / 2 + 6} text-anchor=${above ? "start" : "end"}>${cut(row.label, Math.floor((above ? width : space) / 6.4))}<title>${row.label}</title></text>
      ${row.parts.map((part, order) => {
        const top = number * step + head + order * (thick + 2) + 2, long = Math.max(1, (part.value / high) * room);
        return html`<g><rect class="mark ${part.colour ?? "f1"}" x=${space} y=${top} rx="2" tabindex="0" role="img" data-tip=${part.tip} aria-label=${part.tip} width=${round(long)} height=${thick} />
          <text x=${space + long + 6} y=${top + thick / 2 + 4}>${format(part.value)}</text></g>`;
      })}</g>`)}
  </svg></div>`;
}

// Upright bars: one row of {label, value, tip} per colour.
export function Columns({ labels, series, label, height = 190, format = short }) {
  const [place, width] = useWidth();
  const left = 48, bottom = 26, top = 8;
  const high = Math.max(1e-9, ...series.flatMap((one) => one.values));
  const step = (width - left - 4) / labels.length;
  const y = (value) => top + (height - top - bottom) * (1 - value / high);
  const thick = Math.max(2, (step * 0.8) / series.length);
  const every = Math.ceil((labels.length * 46) / (width - left));
  return html`<div ref=${place}><svg class="chart" viewBox="0 0 ${width} ${height}" role="group" aria-label=${label}>
    ${ticks(0, high, 4).map((tick) => html`<g><line class="grid" x1=${left} x2=${width} y1=${y(tick)} y2=${y(tick)} /><text x=${left - 6} y=${y(tick) + 4} text-anchor="end">${format(tick)}</text></g>`)}
    ${labels.map((word, number) => number % every === 0 && html`<text x=${left + (number + 0.5) * step} y=${height - 8} text-anchor="middle">${cut(word, 10)}</text>`)}
    ${series.map((one, order) => one.values.map((value, number) => html`<rect class="mark ${one.colour}" tabindex="0" role="img" data-tip=${one.tips[number]} aria-label=${one.tips[number]} rx="1.5"
      x=${round(left + number * step + step * 0.1 + order * thick)} width=${round(thick)} y=${round(y(value))} height=${round(Math.max(value > 0 ? 1 : 0, y(0) - y(value)))} />`))}
    <line class="axis" x1=${left} x2=${width} y1=${y(0)} y2=${y(0)} />
  </svg></div>`;
}

// Lines and points over two axes; a series is {name, colour, points: [[x, y, tip]], line, dashed, dots}.
export function Lines({ series, label, height = 240, across, up, low = null, log = false, formatX = short, formatY = short }) {
  const [place, width] = useWidth();
  const left = 68, bottom = 40, top = 10, right = 14;
  const points = series.flatMap((one) => one.points).filter((point) => point[1] != null);
  const shown = (x) => (log ? Math.log10(Math.max(x, 1e-9)) : x);
  const xs = points.map((point) => shown(point[0])), ys = points.map((point) => point[1]);
  const [x0, x1] = [Math.min(...xs, Infinity), Math.max(...xs, -Infinity)];
  const y0 = low ?? Math.min(...ys), span = Math.max(1e-9, Math.max(...ys) - y0);
  const y1 = Math.max(...ys) + span * 0.06, yBase = low ?? y0 - span * 0.06;
  const px = (x) => left + ((shown(x) - x0) / Math.max(1e-9, x1 - x0 || 1)) * (width - left - right - 10) + 5 + (x1 === x0 ? (width - left - right) / 2 : 0);
  const py = (y) => top + (1 - (y - yBase) / Math.max(1e-9, y1 - yBase)) * (height - top - bottom);
  if (points.length === 0) return html`<p class="muted">Nothing to draw yet.</p>`;
  const marks = log ? [...new Set(points.map((point) => point[0]))].sort((a, b) => a - b) : ticks(x0, x1, Math.max(2, Math.floor(width / 110)));
  const words = ticked(marks, formatX);
  return html`<div ref=${place}><svg class="chart" viewBox="0 0 ${width} ${height}" role="group" aria-label=${label}>
    ${ticks(yBase, y1, 5).map((tick) => html`<g><line class="grid" x1=${left} x2=${width - right} y1=${py(tick)} y2=${py(tick)} /><text x=${left - 7} y=${py(tick) + 4} text-anchor="end">${formatY(tick)}</text></g>`)}
    ${marks.map((tick, order) => html`<text x=${px(tick)} y=${height - bottom + 17} text-anchor="middle">${words[order]}</text>`)}
    <text x=${(left + width - right) / 2} y=${height - 5} text-anchor="middle">${across}</text>
    <text transform="translate(11 ${(height - bottom) / 2}) rotate(-90)" text-anchor="middle">${up}</text>
    ${series.map((one) => {
      const known = one.points.filter((point) => point[1] != null);
      return html`<g>${one.line !== false && known.length > 1 && html`<polyline class="line s${one.colour} ${one.dashed ? "dashed" : ""}" points=${known.map((point) => `${round(px(point[0]))},${round(py(point[1]))}`).join(" ")} />`}
        ${one.dots !== false && known.map((point) => html`<circle class="mark f${one.colour}" tabindex="0" role="img" data-tip=${point[2]} aria-label=${point[2]} cx=${round(px(point[0]))} cy=${round(py(point[1]))} r=${one.radius ?? 3.5} />`)}</g>`;
    })}
    <line class="axis" x1=${left} x2=${width - right} y1=${height - bottom} y2=${height - bottom} />
  </svg></div>`;
}

// The small picture of a column.
export function Tiny({ picture, name }) {
  const bars = picture.bars;
  if (!bars.length) return html`<span class="muted small">no values</span>`;
  const high = Math.max(1, ...bars.map((bar) => bar.records)), step = 120 / bars.length;
  const words = picture.kind === "values"
    ? `${name}: ${bars.slice(0, 3).map((bar) => `${bar.label} (${bar.records})`).join(", ")}${picture.other_values ? `, ${picture.other_values} other values` : ""}`
    : `${name}: from ${bars[0].label.split(" to ")[0]} to ${bars.at(-1).label.split(" to ").at(-1)}`;
  return html`<svg class="tiny" viewBox="0 0 120 30" role="img" aria-label=${words}><title>${words}</title>
    ${bars.map((bar, number) => html`<rect class=${picture.kind === "values" ? "f3" : "f1"} x=${number * step} y=${30 - (bar.records / high) * 29} width=${Math.max(1, step - 1)} height=${(bar.records / high) * 29}><title>${bar.label}: ${bar.records}</title></rect>`)}
  </svg>`;
}

// The smallest polygon around some places.
function outline(places) {
  const sorted = [...places].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const turns = (a, b, c) => (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
  const half = (order) => order.reduce((found, place) => {
    while (found.length > 1 && turns(found.at(-2), found.at(-1), place) <= 0) found.pop();
    return [...found, place];
  }, []);
  return [...half(sorted).slice(0, -1), ...half(sorted.reverse()).slice(0, -1)];
}

// Records as dots: [x, y, group, loss, row]. Groups have one of six colours; the chosen one, and the one pointed at, are
// outlined. One dot takes the keyboard; arrows lead from group to group, Enter chooses.
export function Dots({ points, colour, chosen, choose, tip, label, height = 440 }) {
  const [place, width] = useWidth();
  const xs = points.map((point) => point[0]), ys = points.map((point) => point[1]);
  const x0 = Math.min(...xs), y0 = Math.min(...ys), wide = Math.max(1e-9, Math.max(...xs) - x0), tall = Math.max(1e-9, Math.max(...ys) - y0);
  const most = Math.max(1e-9, ...points.map((point) => point[3]));
  const [pointed, setPointed] = useState(null);
  const classOf = (group) => `f${[1, 2, 3, 4, 5, 0][group % 6]}`;
  const at = (point) => [round(8 + ((point[0] - x0) / wide) * (width - 16)), round(8 + (1 - (point[1] - y0) / tall) * (height - 16))];
  const inOrder = chosen == null ? points : [...points].sort((a, b) => (a[2] === chosen) - (b[2] === chosen));
  const shown = [...new Set([chosen, pointed])].filter((group) => group != null);
  const first = new Map();
  for (const point of points) if (!first.has(point[2])) first.set(point[2], point);
  const groups = [...first.keys()].sort((a, b) => first.get(a)[0] - first.get(b)[0]);
  const reached = groups.includes(pointed ?? chosen) ? pointed ?? chosen : groups[0];
  const keys = (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (step) {
      setPointed(groups[(groups.indexOf(reached) + step + groups.length) % groups.length]);
    } else if (event.key === "Enter" || event.key === " ") choose(reached);
    else return;
    event.preventDefault();
  };
  return html`<div ref=${place}><svg class="chart dots" viewBox="0 0 ${width} ${height}" role="group" aria-label=${label} onMouseLeave=${() => setPointed(null)}>
    ${shown.map((group) => html`<polygon class="box ${colour === "loss" ? "s1 f1" : `s${classOf(group).slice(1)} ${classOf(group)}`}" points=${outline(points.filter((point) => point[2] === group).map(at)).map((corner) => corner.join(",")).join(" ")} />`)}
    ${inOrder.map((point) => html`<circle class="mark ${colour === "loss" ? "f1" : classOf(point[2])}" data-tip=${tip(point)} onClick=${() => choose(point[2])} onMouseEnter=${() => setPointed(point[2])}
      fill-opacity=${chosen != null && point[2] !== chosen ? 0.2 : colour === "loss" ? 0.12 + 0.88 * (point[3] / most) : 0.75} r=${shown.includes(point[2]) ? 5.5 : 3.4} cx=${at(point)[0]} cy=${at(point)[1]} />`)}
    ${reached != null && html`<circle class="cursor mark" tabindex="0" role="button" aria-label=${`${tip(first.get(reached))}. Arrow keys lead to other groups, Enter shows the records.`} data-tip=${tip(first.get(reached))} onKeyDown=${keys} onFocus=${() => setPointed(reached)} onBlur=${() => setPointed(null)} r="9" cx=${at(first.get(reached))[0]} cy=${at(first.get(reached))[1]} />`}
  </svg></div>`;
}
