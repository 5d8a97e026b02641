// Runs: start one, watch it, end it early or altogether, compare what came out.
import { html, useState, count, decimal, percent, seconds, rolesOf } from "../lib.js";
import { post, put, remove } from "../api.js";
import { Problems, Intro, Next, TextField } from "../parts.js";
import { Figure, Lines } from "../charts.js";

const STAGES = ["read", "encode", "cluster", "recode", "write", "verify", "evaluate", "report"];
const WORDS = { read: "Reading", encode: "Encoding", cluster: "Searching groups", recode: "Releasing values", write: "Writing", verify: "Checking the released values", evaluate: "Measuring", report: "Writing the report" };
const SHARE = { read: 0.05, encode: 0.05, cluster: 0.65, recode: 0.05, write: 0.05, verify: 0.05, evaluate: 0.05, report: 0.05 };
const STATES = { waiting: ["Waiting", "busy"], running: ["Running", "busy"], done: ["Checked", "good"], failed: ["Refused", "bad"], cancelled: ["Cancelled", ""], lost: ["Lost", "warn"] };

export const State = ({ run }) => html`<span class="tag ${STATES[run.state]?.[1] ?? ""}">${STATES[run.state]?.[0] ?? run.state}${run.early ? ", ended early" : ""}</span>`;

const overall = (progress) => STAGES.slice(0, STAGES.indexOf(progress.stage)).reduce((sum, stage) => sum + SHARE[stage], 0) + (SHARE[progress.stage] ?? 0) * progress.fraction;

function Curve({ run }) {
  const points = (run.curve ?? []).map(([at, loss]) => [at, loss, `${seconds(at)}: loss ${decimal(loss)}`]);
  const bounds = (run.curve ?? []).filter((point) => point[2] != null).map(([at, , bound]) => [at, bound, `${seconds(at)}: no release can lose less than ${decimal(bound)}`]);
  const end = points.at(-1)?.[0] ?? 1;
  const known = run.bound != null && bounds.length === 0 ? [[points[0]?.[0] ?? 0, run.bound, `Lower bound ${decimal(run.bound)}`], [end, run.bound, `Lower bound ${decimal(run.bound)}`]] : bounds;
  if (points.length < 2) return null;
  return html`<${Figure} title="Loss while searching" text=${known.length ? "The dashed line is the lower bound: no safe release can lose less." : "0: every value exact. 1: nothing left."}
      table=${{ head: ["Seconds", "Loss", "Lower bound"], rows: (run.curve ?? []).map(([at, loss, bound]) => [decimal(at, 1), decimal(loss), decimal(bound ?? run.bound)]), numbers: [0, 1, 2] }}>
    <${Lines} label="Loss while searching" across="seconds" up="loss" height=${200} formatY=${(value) => decimal(value, 3)}
      series=${[{ colour: 1, points, radius: 2.5 }, ...(known.length ? [{ colour: 2, points: known, dashed: true, dots: false }] : [])]} /><//>`;
}

function Active({ run, number }) {
  const [asked, setAsked] = useState(false);
  const stop = (best) => { setAsked(best); post(`/api/projects/${number}/runs/${run.number}/stop`, { best }); };
  const progress = run.progress;
  return html`<section class="card stack"><div class="head"><h2>${run.name}</h2><${State} run=${run} />
      ${run.state === "running" && html`<button class="button small" disabled=${asked || progress?.stage !== "cluster"} onClick=${() => stop(true)}>${asked ? "Ending the search…" : "Take the best so far"}</button>`}
      <button class="button small danger" onClick=${() => stop(false)}>Cancel</button></div>
    <div role="status" class="small muted">${run.state === "waiting" ? "Another run is going on; this one follows." : progress ? `${WORDS[progress.stage] ?? progress.stage}, ${seconds(progress.seconds)}${progress.loss != null ? `, loss ${decimal(progress.loss)}` : ""}` : "Starting a process of its own"}</div>
    <progress max="1" value=${progress ? overall(progress) : 0} aria-label=${`Progress of ${run.name}`}></progress>
    <${Curve} run=${run} /></section>`;
}

function RunList({ runs, number, chosen, choose }) {
  const rename = (run, name) => put(`/api/projects/${number}/runs/${run.number}`, { name });
  const drop = (run) => confirm(`Delete ${run.name} and its files?`) && remove(`/api/projects/${number}/runs/${run.number}`);
  return html`<div class="scroll"><table><caption class="sr">Runs</caption><thead><tr><th scope="col">Name</th><th scope="col">State</th><th scope="col">Algorithm</th><th scope="col" class="number">k</th><th scope="col">Models</th>
      <th scope="col" class="number">Loss</th><th scope="col" class="number">Above best at most</th><th scope="col" class="number">Highest risk</th><th scope="col" class="number">Seconds</th><th><span class="sr">Actions</span></th></tr></thead>
    <tbody>${[...runs].reverse().map((run) => html`<tr class=${run.number === chosen ? "chosen" : ""}>
      <td><${TextField} value=${run.name} change=${(name) => rename(run, name)} label=${`Name of ${run.name}`} size="14" /></td><td><${State} run=${run} /></td><td>${run.algorithm}</td><td class="number">${run.k ?? "–"}</td>
      <td class="small">${run.models?.length ? run.models.join(", ") : "–"}</td><td class="number">${decimal(run.loss)}</td><td class="number">${run.above_best == null ? "–" : percent(run.above_best, 0)}</td>
      <td class="number">${percent(run.highest_risk)}</td><td class="number">${decimal(run.seconds, 1)}</td>
      <td class="number"><span class="row">${run.state === "done" && html`<a class="button small" href="#/${number}/publish/${run.number}">Open</a>`}
        <button class="button quiet small" onClick=${() => choose(run.number === chosen ? null : run.number)} aria-expanded=${run.number === chosen ? "true" : "false"}>Details</button>
        <button class="button quiet small danger" onClick=${() => drop(run)} aria-label=${`Delete ${run.name}`}>Delete</button></span></td></tr>`)}</tbody></table></div>`;
}

const COLOURS = [1, 2, 3, 4, 5, 0];

function Frontier({ runs }) {
  const done = runs.filter((run) => run.state === "done" && run.k != null);
  if (done.length < 2) return null;
  const names = [...new Set(done.map((run) => run.algorithm))];
  const series = names.map((name, order) => ({ colour: COLOURS[order % 6], points: done.filter((run) => run.algorithm === name).sort((a, b) => a.k - b.k || a.loss - b.loss).map((run) => [run.k, run.loss, `${run.name}: ${name}, k ${run.k}\nloss ${decimal(run.loss)}, highest risk ${percent(run.highest_risk)}`]), line: false, radius: 5 }));
  return html`<section class="card"><${Figure} title="Loss against k" legend=${names.map((name, order) => [`f${COLOURS[order % 6]}`, name])} text="Each dot is a finished run of this project."
    table=${{ head: ["Run", "Algorithm", "k", "Loss", "Lower bound", "Highest risk"], rows: done.map((run) => [run.name, run.algorithm, run.k, decimal(run.loss), decimal(run.bound), percent(run.highest_risk)]), numbers: [2, 3, 4, 5] }}>
    <${Lines} label="Loss against k of all finished runs" across="k" up="loss" log=${true} low=${0} series=${series} formatX=${(k) => String(k)} formatY=${(value) => decimal(value, 2)} /><//></section>`;
}

export function RunPage({ store, catalogue }) {
  const { project, change, save } = store;
  const { settings, number, runs } = project;
  const [name, setName] = useState("");
  const [problems, setProblems] = useState(null);
  const [chosen, choose] = useState(null);
  const active = runs.filter((run) => run.state === "running" || run.state === "waiting");
  const algorithm = catalogue.algorithms.find((one) => one.name === (settings.algorithm ?? "shoal"));
  const quasi = rolesOf(settings, "quasi-identifying");
  const start = async () => {
    setProblems(null);
    await save();
    try {
      await post(`/api/projects/${number}/runs`, { name, settings });
      setName("");
    } catch (error) {
      setProblems(error.problems);
    }
  };
  const details = runs.find((run) => run.number === chosen);
  return html`<${Intro} title="Run">A run searches groups of records that lose as little as possible, checks the released values, and writes nothing if they do not hold.<//>
    <div class="stack">
      <section class="card stack"><div class="row"><label class="field"><span>Name</span><input type="text" value=${name} placeholder=${`Run ${runs.length + 1}`} onInput=${(event) => setName(event.target.value)} /></label>
          <label class="field"><span>Algorithm</span><select value=${algorithm.name} onChange=${(event) => change({ algorithm: event.target.value, effort: event.target.value === "shoal" ? settings.effort : null })}>${catalogue.algorithms.map((one) => html`<option value=${one.name}>${one.name}</option>`)}</select></label>
          ${algorithm.name === "shoal" && html`<label class="field"><span>Effort</span><select value=${settings.effort ?? "default"} onChange=${(event) => change({ effort: event.target.value === "default" ? null : event.target.value })}><option value="low">low: quick</option><option value="default">default</option><option value="high">high: loses less</option></select></label>`}
          <label class="field"><span>Seed</span><input type="number" min="0" value=${settings.seed ?? 0} onChange=${(event) => change({ seed: Math.max(0, Math.round(Number(event.target.value))) })} /></label>
          <span class="spring"></span><button class="button main" onClick=${start} disabled=${quasi.length === 0}>Start the run</button></div>
        <p class="small muted">${algorithm.title} (${algorithm.citation}). k ${settings.k ?? "–"}${settings.models?.length ? `, ${settings.models.join(", ")}` : ""}; ${quasi.length} quasi-identifying columns.</p>
        <${Problems} problems=${problems} title="It cannot be started" /></section>
      ${active.map((run) => html`<${Active} key=${run.number} run=${run} number=${number} />`)}
      ${runs.length > 0 && html`<section class="card"><h2>Runs</h2><${RunList} runs=${runs} number=${number} chosen=${chosen} choose=${choose} /></section>`}
      ${details && html`<section class="card stack"><div class="head"><h2>${details.name}</h2><${State} run=${details} /></div><${Problems} problems=${details.problems} /><${Curve} run=${details} />
        ${details.state === "done" && html`<p class="small muted">${count(details.records)} records in ${count(details.classes)} groups, the smallest of ${count(details.smallest_class)}; ${count(details.suppressed)} suppressed. ${Object.entries(details.stages ?? {}).map(([stage, took]) => `${stage} ${seconds(took)}`).join(", ")}.</p>`}
        <div><button class="button small" onClick=${() => change(() => details.settings)} disabled=${!details.settings}>Take over its settings</button></div></section>`}
      <${Frontier} runs=${runs} />
    </div>${runs.some((run) => run.state === "done") && html`<${Next} to="#/${number}/publish">Publish<//>`}`;
}
