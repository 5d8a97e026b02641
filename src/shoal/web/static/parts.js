// Small parts that several pages use.
import { html, useState, useEffect, useRef, count } from "./lib.js";
import { remove, upload } from "./api.js";

export const Busy = ({ children }) => html`<div class="busy-line" role="status"><span class="spinner"></span>${children}</div>`;

// What is wrong; `way` makes of a problem the buttons that mend it, which then stand in the place of its hint.
export function Problems({ problems, kind = "bad", title, way }) {
  if (!problems || problems.length === 0) return null;
  const hint = (problem) => problem.hint && html`${" "}<span class="hint">(${problem.hint})</span>`;
  const line = (problem) => html`${problem.column != null && html`<strong class="name">${problem.column}</strong>${": "}`}${problem.message}${way?.(problem) || hint(problem)}`;
  return html`<div class="note ${kind}" role="alert">
    ${title && html`<strong>${title}</strong>`}
    ${problems.length === 1 ? html`<div>${line(problems[0])}</div>` : html`<ul>${problems.map((problem) => html`<li>${line(problem)}</li>`)}</ul>`}
  </div>`;
}

export const Fact = ({ name, value, more, mood = "" }) => html`<div class="fact ${mood}">
  <div class="name">${name}</div><div class="value">${value}</div>${more && html`<div class="more">${more}</div>`}
</div>`;

export const Intro = ({ title, children, side }) => html`<div class="intro"><div><h1>${title}</h1><p>${children}</p></div>${side && html`<div>${side}</div>`}</div>`;

export const Next = ({ to, children, disabled }) => html`<div class="next">
  <a class="button main" href=${disabled ? undefined : to} aria-disabled=${disabled ? "true" : undefined}>${children} →</a>
</div>`;

// A place that is wider than the window may be; then the keyboard can scroll it.
export function Scroll({ label, children }) {
  const place = useRef(null);
  const [wide, setWide] = useState(false);
  useEffect(() => {
    const watch = new ResizeObserver(() => setWide(place.current != null && place.current.scrollWidth > place.current.clientWidth + 1));
    watch.observe(place.current);
    return () => watch.disconnect();
  }, []);
  return html`<div class="scroll" ref=${place} tabindex=${wide ? "0" : undefined} role=${wide ? "region" : undefined} aria-label=${wide ? label : undefined}>${children}</div>`;
}

// A table with plain texts; `numbers` tells which columns hold numbers. In a narrow window the rows of a wide one are cards.
export function Table({ head, rows, numbers = [], caption }) {
  const kind = (place) => (numbers.includes(place) ? "number" : "name");
  const cell = (text, place) => html`<td role="cell" class="${kind(place)} ${place === 0 ? "whole" : ""}" data-label=${place === 0 ? undefined : head[place]}>${text}</td>`;
  return html`<${Scroll} label=${caption ?? head.filter(Boolean).join(", ")}><table role="table" class=${head.length > 3 ? "cards" : ""}>
    ${caption && html`<caption class="sr">${caption}</caption>`}
    <thead role="rowgroup"><tr role="row">${head.map((text, place) => html`<th role="columnheader" scope="col" class=${kind(place)}>${text}</th>`)}</tr></thead>
    <tbody role="rowgroup">${rows.map((row) => html`<tr role="row">${row.map(cell)}</tr>`)}</tbody></table><//>`;
}

// A question whose answer is shown when it comes; the newest one counts.
export function useAnswer(question, needed, wait = 0) {
  const [state, setState] = useState({ busy: true });
  const round = useRef(0);
  useEffect(() => {
    const mine = ++round.current;
    setState((before) => ({ ...before, busy: true }));
    const timer = setTimeout(async () => {
      try {
        const value = await question();
        if (mine === round.current) setState({ value, busy: false });
      } catch (error) {
        if (mine === round.current) setState({ problems: error.problems ?? [{ message: String(error.message ?? error) }], busy: false });
      }
    }, wait);
    return () => clearTimeout(timer);
  }, needed);
  return state;
}

// Rows of a table that stays on the server: one page at a time.
export function Paged({ load, needed = [], size = 25, label }) {
  const [start, setStart] = useState(0);
  const { value, problems, busy } = useAnswer(() => load(start, size), [start, ...needed]);
  if (problems) return html`<${Problems} problems=${problems} />`;
  if (!value) return html`<${Busy}>Reading rows</${Busy}>`;
  const last = Math.min(value.records, start + size);
  return html`<div class="scroll" tabindex="0" role="region" aria-label=${label}><table class="data" aria-busy=${busy ? "true" : "false"}>
      <thead><tr><th class="number" scope="col">#</th>${value.columns.map((name) => html`<th scope="col" title=${name}>${name}</th>`)}</tr></thead>
      <tbody>${value.rows.map((row, place) => html`<tr><td class="number muted">${count(start + place + 1)}</td>
        ${row.map((cell) => (cell == null || cell === "" ? html`<td class="absent">missing</td>` : html`<td title=${cell}>${cell}</td>`))}</tr>`)}</tbody>
    </table></div>
    <div class="row gap"><span class="muted small">Rows ${count(start + 1)} to ${count(last)} of ${count(value.records)}</span><span class="spring"></span>
      <button class="button small" disabled=${start === 0} onClick=${() => setStart(0)}>First</button>
      <button class="button small" disabled=${start === 0} onClick=${() => setStart(Math.max(0, start - size))}>Previous</button>
      <button class="button small" disabled=${last >= value.records} onClick=${() => setStart(start + size)}>Next</button></div>`;
}

// Further tables of a project: the population, or releases that were published before.
export function Beside({ store, kind, title, text, children }) {
  const { project, beside } = store;
  const [share, setShare] = useState(null);
  const [problems, setProblems] = useState(null);
  const field = useRef(null);
  const place = `/api/projects/${project.number}/beside/${kind}`;
  const send = async (file) => {
    if (!file) return;
    setShare(0);
    setProblems(null);
    try {
      beside(await upload(file, setShare, place));
    } catch (error) {
      setProblems(error.problems);
    }
    setShare(null);
  };
  const drop = async (name) => beside(await remove(`${place}?name=${encodeURIComponent(name)}`));
  return html`<section class="card"><h2>${title}</h2><p>${text}</p>
    ${project[kind].length > 0 && html`<ul class="plain gap">${project[kind].map((name) => html`<li class="row"><span class="name">${name}</span><span class="spring"></span><button class="button quiet small danger" aria-label=${`Take ${name} away`} onClick=${() => drop(name)}>Take away</button></li>`)}</ul>`}
    <div class="gap">${share == null ? html`<button class="button small" onClick=${() => field.current.click()}>${project[kind].length && kind === "population" ? "Upload another one" : "Upload a file"}</button>
      <input class="sr" tabindex="-1" ref=${field} type="file" aria-label=${`A file: ${title}`} onChange=${(event) => { send(event.target.files[0]); event.target.value = ""; }} />`
      : html`<progress value=${share} max="1" aria-label="Upload"></progress>`}</div>
    <${Problems} problems=${problems} />${children}</section>`;
}

export function Copy({ text, label }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 1500);
  };
  return html`<div class="copy"><pre tabindex="0" aria-label=${label}>${text}</pre>
    <button class="button small" onClick=${copy}>${copied ? "Copied" : "Copy"}</button></div>`;
}

// A field that keeps what is being typed, whatever is drawn anew meanwhile; `change` gets the text when it is left.
export function Typed({ tag = "input", value, change, ...rest }) {
  const [typed, setTyped] = useState(null);
  const taken = (event) => { setTyped(null); if (event.target.value !== String(value)) change(event.target.value); };
  return html`<${tag} ...${rest} value=${typed ?? value} onInput=${(event) => setTyped(event.target.value)} onChange=${taken} />`;
}

// The same with a slider: `show` writes the number beside it while it moves.
export function Slider({ value, change, show, ...rest }) {
  const [moved, setMoved] = useState(null);
  const taken = (event) => { setMoved(null); change(Number(event.target.value)); };
  return html`<input type="range" ...${rest} value=${moved ?? value} onInput=${(event) => setMoved(Number(event.target.value))} onChange=${taken} />${show && html`<output>${show(moved ?? value)}</output>`}`;
}

// A text that is changed when the field is left or Enter is pressed.
export function TextField({ value, change, label, ...rest }) {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  const commit = () => (text.trim() && text !== value ? change(text.trim()) : setText(value));
  return html`<input type="text" aria-label=${label} value=${text} onInput=${(event) => setText(event.target.value)} onBlur=${commit}
    onKeyDown=${(event) => { if (event.key === "Enter") event.target.blur(); if (event.key === "Escape") setText(value); }} ...${rest} />`;
}
