// What must hold: k and further models, each with what it stops and what it does not; priorities; suppression.
import { html, useState, decimal, percent, sentence, rolesOf } from "../lib.js";
import { post } from "../api.js";
import { wayOut } from "./kept.js";
import { Beside, Busy, Problems, Intro, Next, Slider, Typed, useAnswer } from "../parts.js";

// How a model is written: the parts of its text form after the name.
const FORMS = {
  "l-diversity": ["column", { name: "l", value: 3, step: 0.5, least: 1 }],
  "distinct-l": ["column", { name: "l", value: 3, step: 1, least: 2 }],
  "entropy-l": ["column", { name: "l", value: 2, step: 0.5, least: 1 }],
  "recursive-cl": ["column", { name: "c,l", text: "3,2" }],
  "alpha-k": ["column", { name: "alpha", value: 0.5, step: 0.05, least: 0.01 }],
  "t-closeness": ["column", { name: "t", value: 0.5, step: 0.05, least: 0.01 }],
  "beta-likeness": ["column", { name: "beta", value: 4, step: 0.5, least: 0.1 }],
  "delta-disclosure": ["column", { name: "delta", value: 3, step: 0.5, least: 0.1 }],
};
// Models that are written in one line, as on the command line.
const WRITTEN = ["qid", "xy-anonymity", "confidence", "p-alpha", "k-map"];
const escaped = (name) => name.replace(/[\\:+=,]/g, (sign) => `\\${sign}`);
const nameOf = (spec) => spec.split(":")[0];

function AddModel({ models, columns, add }) {
  const offered = models.filter((model) => FORMS[model.name] || WRITTEN.includes(model.name));
  const [name, setName] = useState("l-diversity");
  const model = models.find((one) => one.name === name);
  const number = FORMS[name]?.[1] ?? { name: "As on the command line", line: true };
  const [column, setColumn] = useState(null);
  const [value, setValue] = useState(null);
  const chosen = column ?? columns[0];
  const shown = value ?? number.text ?? number.value ?? `${name}:`;
  const spec = number.line ? shown.trim() : `${name}:${escaped(chosen ?? "")}:${shown}`;
  return html`<div class="stack"><div class="row fields"><label class="field"><span>Model</span><select value=${name} onChange=${(event) => { setName(event.target.value); setValue(null); }}>${offered.map((one) => html`<option value=${one.name}>${one.name}</option>`)}</select></label>
      ${!number.line && html`<label class="field"><span>Of the column</span><select value=${chosen} onChange=${(event) => setColumn(event.target.value)}>${columns.map((one) => html`<option value=${one}>${one}</option>`)}</select></label>`}
      <label class="field"><span>${number.name}</span>${number.line
        ? html`<input type="text" size="30" value=${shown} placeholder=${model?.form} onInput=${(event) => setValue(event.target.value)} />` : number.text
        ? html`<input type="text" size="6" value=${shown} onInput=${(event) => setValue(event.target.value)} />`
        : html`<input type="number" step=${number.step} min=${number.least} value=${shown} onInput=${(event) => setValue(event.target.value)} />`}</label>
      <button class="button" disabled=${number.line ? shown.trim().length <= name.length + 1 : !chosen} onClick=${() => add(spec)}>Add</button></div>
    ${model && html`<p class="small"><strong>${model.name}:</strong> ${model.title}${number.line && html`; written <code>${model.form}</code>`}</p><${Meaning} model=${model} />`}</div>`;
}

const Meaning = ({ model }) => html`<dl><dt>Means</dt><dd>${model.meaning}</dd><dt>Stops</dt><dd>${model.stops}</dd><dt>Does not stop</dt><dd>${model.does_not_stop}</dd></dl>`;

function Priorities({ quasi, priorities, change }) {
  const weights = Array.isArray(priorities) ? {} : priorities ?? {};
  const set = (name, weight) => {
    const { [name]: before, ...others } = weights;
    change({ priorities: weight === 1 ? others : { ...others, [name]: weight } });
  };
  return html`<div>${quasi.map((name) => html`<label class="slider"><span class="name">${name}</span>
    <${Slider} min="0" max="3" step="0.1" value=${weights[name] ?? 1} change=${(weight) => set(name, weight)} show=${(weight) => decimal(weight, 1)} /></label>`)}
    ${Object.keys(weights).length > 0 && html`<button class="button quiet small" onClick=${() => change({ priorities: {} })}>All equal again</button>`}</div>`;
}

export function RequirementPage({ store, catalogue }) {
  const { project, change } = store;
  const { settings, number } = project;
  const quasi = rolesOf(settings, "quasi-identifying"), sensitive = rolesOf(settings, "sensitive");
  const { value: checked, problems: failed, busy } = useAnswer(() => post(`/api/projects/${number}/check`, { settings }), [JSON.stringify(settings), project.population.join()], 350);
  const models = settings.models ?? [];
  const anonymity = catalogue.models.find((model) => model.name === "k-anonymity");
  const preset = (one) => change({ k: one.k, models: one.l == null ? [] : sensitive.map((name) => `l-diversity:${escaped(name)}:${one.l}`) });
  const isPreset = (one) => settings.k === one.k && JSON.stringify(models) === JSON.stringify(one.l == null ? [] : sensitive.map((name) => `l-diversity:${escaped(name)}:${one.l}`));
  return html`<${Intro} title="Requirement">What must hold for the release. It is checked on the released values, by code that does not know how they were made.<//>
    <section class="verdict" aria-busy=${busy ? "true" : "false"} aria-live="polite"><h2 class="sr">Can it be met?</h2>${!checked && !failed ? html`<${Busy}>Checking whether it can be met</${Busy}>` : null}
      ${failed && html`<${Problems} problems=${failed} />`}
      ${checked && (checked.problems.length === 0 ? html`<div class="note good">Yes: a release of this table can meet it.</div>`
        : html`<${Problems} problems=${checked.problems} title=${checked.impossible ? "No release of this table can meet it" : "Something is not right yet"} way=${wayOut(project, change)} />`)}</section>
    <div class="columns"><div class="stack">
      <section class="card"><h2>Begin with</h2><p>Named after what they give. Change anything below.</p>
        <div class="presets">${catalogue.presets.map((one) => html`<button class="preset" aria-pressed=${isPreset(one) ? "true" : "false"} disabled=${one.l != null && sensitive.length === 0} onClick=${() => preset(one)}><strong>${one.name}</strong><span>${one.text}</span></button>`)}</div></section>
      <section class="card"><h2>k: how many look the same</h2><p>Every record shares its released quasi-identifiers with at least k − 1 others.</p>
        <div class="row"><label class="field"><span class="sr">k</span><${Typed} type="number" min="2" max="100000" value=${settings.k ?? ""} change=${(text) => change({ k: Number(text) || null })} /></label>
          <${Slider} aria-label="k" min="2" max="100" value=${Math.min(100, settings.k ?? 2)} change=${(k) => change({ k })} />
          <span class="muted">The chance to recognise anybody: at most ${percent(1 / (settings.k || 1))}</span></div>
        <div class="model gap"><${Meaning} model=${anonymity} /></div></section>
      <section class="card stack"><div><h2>More than k</h2><p class="muted">k alone does not hide what all members of a group share.</p></div>
        ${models.map((spec) => { const model = catalogue.models.find((one) => one.name === nameOf(spec)); return html`<div class="model"><div class="head row"><strong>${sentence(model?.title ?? nameOf(spec))}</strong><code>${spec}</code><span class="spring"></span>
          <button class="button quiet small danger" onClick=${() => change({ models: models.filter((one) => one !== spec) })} aria-label=${`Remove ${spec}`}>Remove</button></div>${model && html`<${Meaning} model=${model} />`}</div>`; })}
        ${quasi.length ? html`<div class="model"><${AddModel} models=${catalogue.models} columns=${sensitive} add=${(spec) => !models.includes(spec) && change({ models: [...models, spec] })} /></div>`
          : null}${sensitive.length === 0 && html`<p class="muted">No column has the role sensitive: there is nothing to watch. Roles are set in <a href="#/${number}/table">Table</a>.</p>`}</section></div>
      <div class="stack"><section class="card"><h2>What to keep most</h2><p>A column that counts twice is blurred less, at the cost of others.</p>
          ${quasi.length ? html`<${Priorities} quasi=${quasi} priorities=${settings.priorities} change=${change} />` : html`<p class="muted">No quasi-identifying column.</p>`}</section>
        <section class="card"><h2>Suppression</h2><p>So many records may lose all quasi-identifiers, if that blurs the others less.</p>
          <label class="slider"><span>At most</span><${Slider} min="0" max="0.2" step="0.005" value=${settings.suppression_limit ?? 0} change=${(limit) => change({ suppression_limit: limit })} show=${(limit) => percent(limit)} /></label></section>
        <${Beside} store=${store} kind="population" title="Population" text="A table of all who could be meant, such as a register. It is for k-map, and for the risk of a journalist." />
        <section class="card"><h2>Numbers and dates</h2><p>How a group of different numbers is released.</p>
          <select aria-label="How numbers are released" value=${settings.recoding ?? "range"} onChange=${(event) => change({ recoding: event.target.value })}>
            <option value="range">as a range: [20, 29]</option><option value="mean">as the mean</option><option value="midpoint">as the midpoint</option><option value="nodes">as a node of the hierarchy</option>
            <option value="cell-suppression">suppressed where they differ, cell by cell</option><option value="value-suppression">suppressed where they differ, value by value</option></select></section></div>
    </div><${Next} to="#/${number}/run">Run<//>`;
}
