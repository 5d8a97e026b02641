// What the release looks like: record by record, group by group, column by column, and to an analyst.
import { html, useState, count, decimal, percent, plural, rolesOf, besideLoss } from "../lib.js";
import { get, post } from "../api.js";
import { Busy, Problems, Fact, Intro, Next, Table, useAnswer } from "../parts.js";
import { Figure, Bars, Columns, Dots } from "../charts.js";
import { Clusters } from "./clusters.js";
import { RunPicker, finished, NoRun } from "./publish.js";

export const useLook = (number, run, question, needed = [], wait = 0) => useAnswer(() => post(`/api/projects/${number}/runs/${run.number}/look`, question), [run.number, ...needed], wait);

function SideBySide({ number, run, group, setGroup }) {
  const [start, setStart] = useState(0);
  const [order, setOrder] = useState("table");
  const size = 20;
  const { value, problems } = useLook(number, run, { at: "rows", start, count: size, order, group }, [start, order, group]);
  const turn = (to) => setStart(Math.max(0, to));
  return html`<section class="card stack"><div class="head"><h2>Original and release</h2>
      ${group != null ? html`<span class="tag busy">Group ${count(group + 1)}</span><button class="button small" onClick=${() => { setGroup(null); setStart(0); }}>All records</button>`
        : html`<label class="row small">Order <select value=${order} onChange=${(event) => { setOrder(event.target.value); setStart(0); }}><option value="table">as in the table</option><option value="group">by group</option><option value="loss">most blurred first</option></select></label>`}</div>
    <${Problems} problems=${problems} />${!value && !problems && html`<${Busy}>Reading the release</${Busy}>`}
    ${value && html`<div class="scroll" tabindex="0" role="region" aria-label="Original and release side by side"><table class="data pairs"><thead><tr><th scope="col" class="number">#</th><th scope="col">Group</th><th scope="col" class="number">Loss</th>${value.columns.map((name) => html`<th scope="col">${name}</th>`)}${value.kept.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
      <tbody>${value.rows.map((row) => html`<tr><td class="number muted">${count(row.row)}</td><td><button class="button quiet small" onClick=${() => { setGroup(row.group); setStart(0); }} title="Show the whole group">${count(row.group + 1)}</button></td><td class="number">${decimal(row.loss, 3)}</td>
        ${row.before.map((cell, place) => html`<td title=${`${cell ?? "missing"} → ${row.after[place] ?? "missing"}`}><span class="was">${cell ?? "missing"}</span><span class=${cell === row.after[place] ? "is same" : "is"}>${row.after[place] ?? "missing"}</span></td>`)}
        ${row.kept.map((cell) => html`<td><span class="was">${cell ?? "missing"}</span><span class="is same">as it is</span></td>`)}</tr>`)}</tbody></table></div>
      <div class="row"><span class="muted small">${group != null ? `The ${plural(value.records, "record")} of this group look the same from outside.` : `Rows ${count(start + 1)} to ${count(Math.min(value.records, start + size))} of ${count(value.records)}`}</span><span class="spring"></span>
        <button class="button small" disabled=${start === 0} onClick=${() => turn(start - size)}>Previous</button><button class="button small" disabled=${start + size >= value.records} onClick=${() => turn(start + size)}>Next</button></div>`}</section>`;
}

function Groups({ number, run, group, setGroup }) {
  const [colour, setColour] = useState("group");
  const { value, problems } = useLook(number, run, { at: "map" });
  if (problems) return html`<section class="card"><${Problems} problems=${problems} /></section>`;
  if (!value) return html`<section class="card"><${Busy}>Drawing the groups</${Busy}></section>`;
  const tip = ([, , of, loss, row]) => `Record ${count(row)}, group ${count(of + 1)} with ${count(value.boxes[of].size)} records, loss ${decimal(loss, 3)}\n${value.columns.map((name, place) => `${name}: ${value.boxes[of].cells[place] ?? "missing"}`).join("\n")}`;
  const sizes = Object.values(value.boxes).map((box) => box.size);
  return html`<section class="card stack"><${Figure} title="Groups" text=${`${value.drawn < value.records ? `${count(Object.keys(value.boxes).length)} of ${count(value.groups)} groups, taken at random. ` : ""}Near dots are alike in the original: the two directions in which the records differ most (${percent(value.explained, 0)} of all their differences), drawn apart where they crowd. Point at a dot to see the box of its group, click it to see the records.`}
      table=${{ head: ["Record", "Group", "Group size", "Loss"], rows: value.points.slice(0, 100).map(([, , of, loss, row]) => [count(row), count(of + 1), count(value.boxes[of].size), decimal(loss, 3)]), numbers: [0, 1, 2, 3] }}>
    <div class="row"><div class="choice" role="group" aria-label="Colour"><button aria-pressed=${colour === "group" ? "true" : "false"} onClick=${() => setColour("group")}>by group</button><button aria-pressed=${colour === "loss" ? "true" : "false"} onClick=${() => setColour("loss")}>by loss</button></div>
      <span class="small muted">${colour === "loss" ? "pale: kept well, dark: blurred" : `groups of ${count(Math.min(...sizes))} to ${count(Math.max(...sizes))}`}</span></div>
    <${Dots} label="Records as dots, near ones alike" points=${value.points} colour=${colour} chosen=${group} choose=${setGroup} tip=${tip} /><//></section>`;
}

// What each column lost, and what a mean loss does not show.
function Losses({ catalogue, losses, metrics }) {
  const titles = catalogue.beside_the_loss.map((metric) => metric.title);
  const cells = (of) => { const found = new Map(besideLoss(catalogue, of)); return titles.map((title) => found.get(title) ?? "–"); };
  const words = (of) => besideLoss(catalogue, of).map(([title, value]) => `${title}: ${value}`).join("\n");
  return html`<section class="card stack"><${Figure} title="Loss by column" text="0: every value exact. 1: nothing left." table=${{ head: ["Column", "Loss", ...titles], rows: losses.map(([name, loss, of]) => [name, decimal(loss), ...cells(of)]), numbers: [1, 2, 3, 4] }}>
      <${Bars} label="Loss by column" format=${(value) => decimal(value, 3)} rows=${losses.map(([name, loss, of]) => ({ label: name, parts: [{ value: loss, colour: "f1", tip: `${name}: loss ${decimal(loss)}\n${words(of)}` }] }))} /><//>
    <dl class="beside">${besideLoss(catalogue, metrics).map(([title, value, meaning]) => html`<dt>${title}</dt><dd><strong>${value}</strong> <span class="muted">${meaning}</span></dd>`)}</dl></section>`;
}

function Distribution({ number, run, columns }) {
  const [column, setColumn] = useState(columns[0]);
  const { value, problems } = useLook(number, run, { at: "distribution", column }, [column]);
  const side = html`<label class="row small">Column <select value=${column} onChange=${(event) => setColumn(event.target.value)}>${columns.map((name) => html`<option value=${name}>${name}</option>`)}</select></label>`;
  const shown = value && value.labels.length > 10 ? value.labels.map((label, place) => place).sort((a, b) => value.before[b] - value.before[a]).slice(0, 10).sort((a, b) => a - b) : value?.labels.map((label, place) => place);
  return html`<section class="card stack"><div class="row">${side}</div><${Problems} problems=${problems} />${!value && !problems && html`<${Busy}>Counting</${Busy}>`}
    ${value && html`<${Figure} title=${`Distribution of ${column}`} legend=${[["f0", "original"], ["f1", "as the release tells it"]]} text=${shown.length < value.labels.length ? `The ${shown.length} commonest of ${value.labels.length}.` : "Ranges and groups are shared out over the values that they stand for."}
      table=${{ head: ["Values", "Original", "Release"], rows: value.labels.map((label, place) => [label, count(value.before[place]), count(value.after[place])]), numbers: [1, 2] }}>
      <${Bars} label=${`Distribution of ${column}, before and after`} format=${count} rows=${shown.map((place) => ({ label: value.labels[place], parts: [{ value: value.before[place], colour: "f0", tip: `${value.labels[place]}: ${count(value.before[place])} in the original` }, { value: value.after[place], colour: "f1", tip: `${value.labels[place]}: ${count(value.after[place])} by the release` }] }))} /><//>`}</section>`;
}

function Associations({ evaluation }) {
  const tables = evaluation.utility?.tables ?? [];
  const strongest = [...tables].sort((a, b) => b.association_before - a.association_before).slice(0, 8);
  const correlations = (evaluation.utility?.correlations ?? []).filter((one) => one.before != null && one.after != null);
  if (!strongest.length) return null;
  return html`<section class="card"><${Figure} title="What goes together" legend=${[["f0", "original"], ["f1", "release"]]} text="Association of two columns (Cramér's V): 0 none, 1 one tells the other. The strongest ones."
      table=${{ head: ["Columns", "Original", "Release", "Distance"], rows: tables.map((one) => [`${one.one} + ${one.other}`, decimal(one.association_before, 3), decimal(one.association_after, 3), decimal(one.distance, 3)]), numbers: [1, 2, 3] }}>
      <${Bars} label="Associations before and after" most=${1} format=${(value) => decimal(value, 2)} rows=${strongest.map((one) => ({ label: `${one.one} + ${one.other}`, parts: [{ value: one.association_before, colour: "f0", tip: `${one.one} + ${one.other}: ${decimal(one.association_before, 3)} in the original` }, { value: Math.max(0, one.association_after), colour: "f1", tip: `${one.one} + ${one.other}: ${decimal(one.association_after, 3)} in the release` }] }))} /><//>
      ${correlations.length > 0 && html`<h3 class="gap">Correlations of numbers</h3><${Table} head=${["Columns", "Original", "Release"]} numbers=${[1, 2]} rows=${correlations.map((one) => [`${one.one}, ${one.other}`, decimal(one.before, 3), decimal(one.after, 3)])} />`}</section>`;
}

function Queries({ evaluation }) {
  const queries = evaluation.queries?.by_selectivity ?? [];
  if (!queries.length) return null;
  return html`<section class="card"><${Figure} title="Counting queries" text=${`Median error of ${count(evaluation.queries.asked)} random counts, by the share of the records that they ask for. Small counts are always harder.`}
      table=${{ head: ["Share asked for", "Queries", "Median error", "Mean error"], rows: queries.map((one) => [one.selectivity, count(one.queries), percent(one.median), percent(one.mean)]), numbers: [1, 2, 3] }}>
      <${Columns} label="Median error of counting queries" labels=${queries.map((one) => one.selectivity)} format=${(value) => percent(value, 0)} series=${[{ colour: "f3", values: queries.map((one) => one.median ?? 0), tips: queries.map((one) => `${one.selectivity}: median error ${percent(one.median)}, ${count(one.queries)} queries`) }]} /><//></section>`;
}

function Learning({ number, run, columns }) {
  const [column, setColumn] = useState(null);
  const [state, setState] = useState({});
  const learn = async (name) => {
    setColumn(name);
    setState({ busy: true });
    try {
      setState({ value: await post(`/api/projects/${number}/runs/${run.number}/look`, { at: "learning", column: name }) });
    } catch (error) {
      setState({ problems: error.problems });
    }
  };
  const models = [...new Set((state.value?.results ?? []).map((one) => one.model))];
  const of = (model, trained) => state.value.results.find((one) => one.model === model && one.trained === trained)?.accuracy ?? 0;
  const COLOURS = { original: "f0", release: "f1", majority: "f2" };
  return html`<section class="card stack"><div class="head"><h2>Classification</h2><label class="row small">Foretell <select value=${column ?? ""} onChange=${(event) => event.target.value && learn(event.target.value)}><option value="">choose a column</option>${columns.map((name) => html`<option value=${name}>${name}</option>`)}</select></label></div>
    <p class="muted small">Models learn from the original or from the release, and are tried on original records that they have not seen.</p><${Problems} problems=${state.problems} />${state.busy && html`<${Busy}>Learning</${Busy}>`}
    ${state.value?.skipped && html`<p class="note warn">${state.value.skipped}</p>`}
    ${models.length > 0 && html`<${Figure} title=${`Accuracy for ${column}`} legend=${[["f0", "from the original"], ["f1", "from the release"], ["f2", "always the commonest"]]} text=${`${state.value.grouped ? `Foretold: ${state.value.grouped}. ` : ""}Learnt from ${count(state.value.trained_on)} records, tried on ${count(state.value.tested_on)}${state.value.sampled ? ", drawn at random" : ""}.`}
      table=${{ head: ["Model", "Learnt from", "Accuracy"], rows: state.value.results.map((one) => [one.model, one.trained, percent(one.accuracy)]), numbers: [2] }}>
      <${Bars} label="Accuracy of models" most=${1} format=${(value) => percent(value)} rows=${models.map((model) => ({ label: model, parts: ["original", "release", "majority"].map((trained) => ({ value: of(model, trained), colour: COLOURS[trained], tip: `${model}, ${trained}: ${percent(of(model, trained))}` })) }))} /><//>`}</section>`;
}

export function LookPage({ store, catalogue, run: wanted }) {
  const { project } = store;
  const { number } = project;
  const [done, run] = finished(project, wanted);
  const [group, setGroup] = useState(null);
  const { value: details } = useAnswer(() => (run ? get(`/api/projects/${number}/runs/${run.number}`) : Promise.resolve(null)), [run?.number]);
  if (!run) return html`<${NoRun} number=${number} title="Look" />`;
  const losses = Object.entries(details?.summary?.per_attribute ?? {}).map(([name, metrics]) => [name, metrics.gcp, metrics]).sort((a, b) => b[1] - a[1]);
  const settings = details?.settings ?? project.settings;
  const kept = [...rolesOf(settings, "sensitive"), ...rolesOf(settings, "insensitive")];
  return html`<${Intro} title="Look" side=${html`<${RunPicker} runs=${done} run=${run} number=${number} step="look" />`}>What was lost, and what an analyst still finds. The original is shown to you only.<//>
    <div class="stack" key=${run.number}><${SideBySide} number=${number} run=${run} group=${group} setGroup=${setGroup} />
      <div class="columns even"><div class="stack"><${Groups} number=${number} run=${run} group=${group} setGroup=${setGroup} />
          ${details?.evaluation && html`<${Associations} evaluation=${details.evaluation} /><${Learning} number=${number} run=${run} columns=${kept} />`}</div>
        <div class="stack">${losses.length > 0 && html`<${Losses} catalogue=${catalogue} losses=${losses} metrics=${details.summary.metrics} />`}
          ${losses.length > 0 && html`<${Distribution} number=${number} run=${run} columns=${losses.map(([name]) => name)} />`}
          ${details?.evaluation && html`<${Queries} evaluation=${details.evaluation} />`}</div></div>
      <${Clusters} project=${project} run=${run} catalogue=${catalogue} />
    </div><${Next} to="#/${number}/risk/${run.number}">Risk<//>`;
}
