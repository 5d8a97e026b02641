// Runs: start one, watch it, end it early or altogether, compare what came out.
import { html, useState, count, decimal, percent, seconds, sentence, rolesOf, besideLoss } from "../lib.js";
import { post, put, remove } from "../api.js";
import { Problems, Intro, Next, Scroll, TextField, Typed } from "../parts.js";
import { Figure, Lines } from "../charts.js";
import { wayOut } from "./kept.js";
import { Compared, MOST_COMPARED } from "./compare.js";

const STAGES = ["read", "encode", "cluster", "recode", "write", "verify", "evaluate", "report"];
const WORDS = { read: "Reading", encode: "Encoding", cluster: "Searching groups", recode: "Releasing values", write: "Writing", verify: "Checking the released values", evaluate: "Measuring", report: "Writing the report" };
const SHARE = { read: 0.05, encode: 0.05, cluster: 0.65, recode: 0.05, write: 0.05, verify: 0.05, evaluate: 0.05, report: 0.05 };
const STATES = { waiting: ["Waiting", "busy"], running: ["Running", "busy"], done: ["Checked", "good"], failed: ["Refused", "bad"], cancelled: ["Cancelled", ""], lost: ["Lost", "warn"] };

export const State = ({ run }) => html`<span class="tag ${STATES[run.state]?.[1] ?? ""}">${STATES[run.state]?.[0] ?? run.state}${run.early ? ", ended early" : ""}</span>${run.given_out && html` <span class="tag warn">given out</span>`}`;

const overall = (progress) => STAGES.slice(0, STAGES.indexOf(progress.stage)).reduce((sum, stage) => sum + SHARE[stage], 0) + (SHARE[progress.stage] ?? 0) * progress.fraction;

function Curve({ run }) {
  const curve = run.curve ?? [], last = curve.at(-1)?.[0] ?? 0;
  if (curve.length < 2) return null;
  const points = curve.map(([at, loss]) => [at, loss, `${seconds(at)}: loss ${decimal(loss)}`]);
  const word = (bound) => `No safe release can lose less than ${decimal(bound)}`;
  const steps = (run.bounds ?? []).map(([at, bound]) => [Math.max(at, curve[0][0]), bound, word(bound)]);
  const bounds = steps.length ? [...steps, [Math.max(last, steps.at(-1)[0]), steps.at(-1)[1], word(steps.at(-1)[1])]] : [];
  return html`<${Figure} title="Loss while searching" legend=${[["f1", "loss of the best groups so far"], ...(bounds.length ? [["f2", "lower bound: no safe release can lose less"]] : [])]} text="0: every value exact. 1: nothing left. The best possible lies between the lines."
      table=${{ head: ["Seconds", "Loss", "Lower bound"], rows: [...curve.map(([at, loss]) => [decimal(at, 1), decimal(loss), ""]), ...(run.bounds ?? []).map(([at, bound]) => [decimal(at, 1), "", decimal(bound)])].sort((a, b) => a[0] - b[0]), numbers: [0, 1, 2] }}>
    <${Lines} label="Loss and lower bound while searching" across="seconds" up="loss" height=${200} formatY=${(value) => decimal(value, 3)}
      series=${[{ colour: 1, points, radius: 2.5 }, ...(bounds.length ? [{ colour: 2, points: bounds, dashed: true, radius: 2.5 }] : [])]} /><//>`;
}

function Active({ run, number }) {
  const [asked, setAsked] = useState(false);
  const stop = (best) => { setAsked(best); post(`/api/projects/${number}/runs/${run.number}/stop`, { best }); };
  const progress = run.progress;
  return html`<section class="card stack"><div class="head"><h2>${run.name}</h2><${State} run=${run} />
      ${run.state === "running" && html`<button class="button small" disabled=${asked || progress?.stage !== "cluster"} onClick=${() => stop(true)}>${asked ? "Ending the search…" : "Take the best so far"}</button>`}
      <button class="button small danger" onClick=${() => stop(false)}>Cancel</button></div>
    <div role="status" class="small muted">${run.state === "waiting" ? "Another run is going on; this one follows." : progress ? `${WORDS[progress.stage] ?? progress.stage}, ${seconds(progress.seconds)}${progress.loss != null ? `, loss ${decimal(progress.loss)}` : progress.stage === "cluster" && !run.curve?.length ? ". The first search on a machine takes longer: it is compiled for it." : ""}` : "Starting a process of its own"}</div>
    <progress max="1" value=${progress ? overall(progress) : 0} aria-label=${`Progress of ${run.name}`}></progress>
    <${Curve} run=${run} /></section>`;
}

function RunList({ runs, project, number, change, chosen, choose, compared, compare }) {
  const tells = wayOut(project, change), moved = project.settings.setting === "moving";
  const left = ({ reason }) => reason === "people-left" && !moved && html`<div class="row ways"><button class="button small" onClick=${() => change({ setting: "moving" })}>Some people left since then</button></div>`;
  const way = (problem) => tells(problem) || left(problem);
  const rename = (run, name) => put(`/api/projects/${number}/runs/${run.number}`, { name });
  const drop = (run) => confirm(`Delete ${run.name} and its files?${run.given_out ? " It was given out: later releases can then not be looked at together with it." : ""}`) && remove(`/api/projects/${number}/runs/${run.number}`);
  return html`<${Scroll} label="Runs"><table class="cards" role="table"><caption class="sr">Runs</caption><thead role="rowgroup"><tr role="row"><th role="columnheader" scope="col"><span class="sr">Compare</span></th><th role="columnheader" scope="col">Name</th><th role="columnheader" scope="col">State</th><th role="columnheader" scope="col">Algorithm</th><th role="columnheader" scope="col" class="number">k</th><th role="columnheader" scope="col" class="wide-only">Models</th>
      <th role="columnheader" scope="col" class="number">Loss</th><th role="columnheader" scope="col" class="number wide-only" title="The lower bound proves that no safe release can be better by more than this">Above the best by at most</th><th role="columnheader" scope="col" class="number">Highest risk</th><th role="columnheader" scope="col" class="number wide-only">Seconds</th><th role="columnheader"><span class="sr">Actions</span></th></tr></thead>
    <tbody role="rowgroup">${[...runs].reverse().map((run) => html`<tr role="row" class=${run.number === chosen ? "chosen" : ""}>
      <td role="cell">${run.state === "done" && html`<input type="checkbox" aria-label=${`Compare ${run.name}`} title="Compare" checked=${compared.includes(run.number)} disabled=${!compared.includes(run.number) && compared.length >= MOST_COMPARED}
        onChange=${(event) => compare(event.target.checked ? [...compared, run.number] : compared.filter((one) => one !== run.number))} />`}</td>
      <td role="cell"><${TextField} value=${run.name} change=${(name) => rename(run, name)} label=${`Name of ${run.name}`} size="14" /></td><td role="cell"><${State} run=${run} />${(run.version ?? 1) !== (project.source.version ?? 1) && html` <span class="tag">earlier table</span>`}</td><td role="cell" data-label="Algorithm">${run.algorithm}</td><td role="cell" class="number" data-label="k">${run.k ?? "–"}</td>
      <td role="cell" class="small wide-only">${run.models?.length ? run.models.join(", ") : "–"}</td><td role="cell" class="number" data-label="Loss">${decimal(run.loss)}</td><td role="cell" class="number wide-only">${run.above_best == null ? "–" : percent(run.above_best, 0)}</td>
      <td role="cell" class="number" data-label="Highest risk">${percent(run.highest_risk)}</td><td role="cell" class="number wide-only">${decimal(run.seconds, 1)}</td>
      <td role="cell" class="number whole"><span class="row actions">${run.state === "done" && html`<a class="button small" href="#/${number}/look/${run.number}">Look</a><a class="button small" href="#/${number}/publish/${run.number}">Publish</a>`}
        <button class="button quiet small" onClick=${() => choose(run.number === chosen ? null : run.number)} aria-expanded=${run.number === chosen ? "true" : "false"}>Details</button>
        <button class="button quiet small danger" onClick=${() => drop(run)} aria-label=${`Delete ${run.name}`}>Delete</button></span></td></tr>
      ${run.problems?.length > 0 && html`<tr role="row"><td role="cell" class="whole" colspan="11"><${Problems} problems=${run.problems} way=${way} /></td></tr>`}`)}</tbody></table><//>`;
}

const STRATEGIES = { keep: "keep the groups of then: newcomers among themselves", search: "search groups anew, and check them with the earlier ones" };

const SINCE = { growing: "people came", moving: "people came, and some left" };

// Releases that are out in the world: a next one is made to hold together with them.
function GivenOut({ runs, settings, change }) {
  const out = runs.filter((run) => run.given_out);
  if (!out.length) return null;
  const on = settings.hold_together !== false;
  const named = (text) => text.split(",").map((name) => name.trim()).filter(Boolean);
  return html`<section class="card stack"><div><h2>Given out before</h2><p class="muted">${out.map((run) => run.name).join(", ")}. Whoever has several releases may know more than each of them tells.</p></div>
    <label class="row"><input type="checkbox" checked=${on} onChange=${(event) => change({ hold_together: event.target.checked ? null : false })} />Make the next release so that all hold together</label>
    ${on && html`<div class="row fields"><label class="field"><span>How</span><select value=${settings.strategy ?? "keep"} onChange=${(event) => change({ strategy: event.target.value === "keep" ? null : event.target.value })}>${Object.entries(STRATEGIES).map(([name, words]) => html`<option value=${name}>${words}</option>`)}</select></label>
      <label class="field"><span>Columns that tell persons apart in both tables</span><${Typed} type="text" placeholder="all common columns" value=${(settings.person_key ?? []).join(", ")} change=${(text) => change({ person_key: named(text) })} /></label>
      <label class="field"><span>Since then</span><select value=${settings.setting ?? "growing"} onChange=${(event) => change({ setting: event.target.value === "growing" ? null : event.target.value })}>${Object.entries(SINCE).map(([name, words]) => html`<option value=${name}>${words}</option>`)}</select></label>
      <label class="field"><span>Columns whose values may have changed since</span><${Typed} type="text" placeholder="none" value=${(settings.changing ?? []).join(", ")} change=${(text) => change({ changing: named(text) })} /></label></div>`}</section>`;
}

const COLOURS = [1, 2, 3, 4, 5, 0];

// What filled the frontier by itself, as runs; points of a sample stand apart, and bound nothing.
const pointsOf = (run) => {
  const sampled = run.of > run.records;
  return run.points.filter((point) => !point.problems).map((point) => ({ ...point, name: `${point.algorithm}, k ${point.k}`, algorithm: sampled ? `${point.algorithm}, sample` : point.algorithm, bound: sampled ? null : point.bound, models: run.models }));
};

function ByItself({ run, number, on, ready }) {
  const all = run ? run.frontier.algorithms.length * run.frontier.ks.length : 0, failed = run ? run.points.filter((point) => point.problems) : [];
  const busy = run?.state === "running" || run?.state === "waiting";
  const anew = async () => { await remove(`/api/projects/${number}/runs/${run.number}`); await put(`/api/projects/${number}/frontier`, { on: true }); };
  const states = { waiting: `waits until no other run goes on; ${run?.points.length} of ${all} done`, running: `${run?.points.length} of ${all} done`, done: `all ${all} done`, failed: "it could not be read" };
  return html`<div class="row"><label class="row small"><input type="checkbox" checked=${on} onChange=${(event) => put(`/api/projects/${number}/frontier`, { on: event.target.checked })} />Fill it by itself, in the background</label>
      <span class="small muted" role="status">${run ? `${run.frontier.algorithms.join(", ")}: ${states[run.state] ?? `stopped, ${run.points.length} of ${all} done`}` : on && !ready ? "It begins when the first run has finished." : ""}</span>
      ${busy && html`<button class="button quiet small" onClick=${() => post(`/api/projects/${number}/runs/${run.number}/stop`, { best: false })}>Stop</button>`}
      ${on && run && !busy && run.state !== "done" && html`<button class="button quiet small" onClick=${() => put(`/api/projects/${number}/frontier`, { on: true })}>Go on</button>`}
      ${on && run && !busy && ready && html`<button class="button quiet small" title="By the settings of the last finished run" onClick=${anew}>Begin anew</button>`}</div>
    ${run?.of > run?.records && html`<p class="small muted">Its points are of a sample of ${count(run.records)} of the ${count(run.of)} records: groups are easier to find among all of them, so a release of the whole table usually loses less.</p>`}
    ${failed.length > 0 && html`<details class="small muted"><summary>${failed.length} of them cannot be made</summary><ul>${failed.map((point) => html`<li>${point.algorithm}, k ${point.k}: ${point.problems[0].message}</li>`)}</ul></details>`}
    <${Problems} problems=${run?.problems} kind="warn" />`;
}

// Runs over several k and algorithms, by themselves or started here, of which only the numbers are kept.
function Frontier({ runs, number, settings, catalogue, on }) {
  const [ks, setKs] = useState("2, 5, 10, 25, 50");
  const [algorithms, setAlgorithms] = useState(["shoal", "mondrian"]);
  const [problems, setProblems] = useState(null);
  const own = runs.find((run) => run.frontier);
  const done = [...runs.filter((run) => run.state === "done" && run.k != null && !run.sweep && !run.frontier), ...(own ? pointsOf(own) : [])];
  const others = runs.filter((run) => !run.published && !run.sweep && !run.frontier), waiting = others.filter((run) => run.state === "waiting" || run.state === "running");
  const names = [...new Set(done.map((run) => run.algorithm))];
  const series = names.map((name, order) => ({ colour: COLOURS[order % 6], points: done.filter((run) => run.algorithm === name).sort((a, b) => a.k - b.k || a.loss - b.loss).map((run) => [run.k, run.loss, `${run.name}: ${name}, k ${run.k}\nloss ${decimal(run.loss)}, highest risk ${percent(run.highest_risk)}, ${seconds(run.seconds)}`]), radius: 4.5 }));
  const bounds = done.filter((run) => run.bound != null && !(run.models?.length)).sort((a, b) => a.k - b.k).map((run) => [run.k, run.bound, `k ${run.k}: no release can lose less than ${decimal(run.bound)}`]);
  const numbers = ks.split(/[,\s]+/).map(Number).filter((k) => Number.isInteger(k) && k >= 2);
  const start = async () => {
    try {
      setProblems(null);
      await post(`/api/projects/${number}/frontier`, { settings, ks: [...new Set(numbers)], algorithms });
    } catch (error) {
      setProblems(error.problems);
    }
  };
  const clear = () => Promise.all(others.map((run) => remove(`/api/projects/${number}/runs/${run.number}`)));
  return html`<section class="card stack"><div><h2>The frontier</h2><p class="muted">What each k costs, and with which algorithm. These runs go on in the background; only their numbers are kept.</p></div>
    <${ByItself} run=${own} number=${number} on=${on} ready=${runs.some((run) => run.published && run.state === "done")} />
    <div class="row fields"><label class="field"><span>k</span><input type="text" value=${ks} onInput=${(event) => setKs(event.target.value)} /></label>
      <details><summary>${algorithms.length === 1 ? algorithms[0] : `${algorithms.length} algorithms`}</summary><div class="row gap">${catalogue.algorithms.map((one) => html`<label class="row small"><input type="checkbox" checked=${algorithms.includes(one.name)} onChange=${(event) => setAlgorithms(event.target.checked ? [...algorithms, one.name] : algorithms.filter((name) => name !== one.name))} />${one.name}</label>`)}</div></details>
      <span class="spring"></span>${others.length > 0 && html`<button class="button quiet small danger" onClick=${clear}>${waiting.length ? "Stop and clear" : "Clear"}</button>`}
      <button class="button" disabled=${!numbers.length || !algorithms.length || waiting.length > 0} onClick=${start}>${waiting.length ? `${others.length - waiting.length} of ${others.length} done` : "Fill the frontier"}</button></div>
    <${Problems} problems=${problems} />
    ${others.some((run) => run.state === "failed") && html`<${Problems} kind="warn" problems=${others.filter((run) => run.state === "failed").slice(0, 4).map((run) => ({ ...run.problems[0], message: `${run.name}: ${run.problems[0].message}` }))} />`}
    ${done.length > 0 && html`<${Figure} title="Loss against k" legend=${[...names.map((name, order) => [`f${COLOURS[order % 6]}`, name]), ...(bounds.length ? [["f0", "lower bound"]] : [])]} text=${`Every dot is a run. Lower is better${bounds.length ? "; nothing can lie below the dashed line" : ""}.`}
      table=${{ head: ["Run", "Algorithm", "k", "Loss", "Lower bound", "Highest risk", "Seconds"], rows: done.map((run) => [run.name, run.algorithm, run.k, decimal(run.loss), decimal(run.bound), percent(run.highest_risk), decimal(run.seconds, 1)]), numbers: [2, 3, 4, 5, 6] }}>
      <${Lines} label="Loss against k of all finished runs" across="k" up="loss" log=${true} low=${0} series=${[...series, ...(bounds.length ? [{ colour: 0, points: bounds, dashed: true, dots: bounds.length === 1 }] : [])]} formatX=${(k) => String(k)} formatY=${(value) => decimal(value, 2)} /><//>`}</section>`;
}

export function RunPage({ store, catalogue }) {
  const { project, change, save } = store;
  const { settings, number } = project;
  const runs = project.runs.filter((run) => run.published);
  const [name, setName] = useState("");
  const [problems, setProblems] = useState(null);
  const [chosen, choose] = useState(null);
  const [compared, compare] = useState([]);
  const active = runs.filter((run) => run.state === "running" || run.state === "waiting");
  const algorithm = catalogue.algorithms.find((one) => one.name === (settings.algorithm ?? "shoal"));
  const quasi = rolesOf(settings, "quasi-identifying");
  const labels = [...rolesOf(settings, "sensitive"), ...rolesOf(settings, "insensitive")]; // what an analyst may want to foretell
  const chooseAlgorithm = (wanted) => change((now) => ({ algorithm: wanted, effort: wanted === "shoal" ? now.effort : null, class: catalogue.algorithms.find((one) => one.name === wanted).takes_class ? now.class : null }));
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
  const beside = runs.filter((run) => compared.includes(run.number));
  const details = runs.find((run) => run.number === chosen);
  return html`<${Intro} title="Run">A run searches groups of records that lose as little as possible, checks the released values, and writes nothing if they do not hold.<//>
    <div class="stack">
      <section class="card stack"><div class="row fields"><label class="field"><span>Name</span><input type="text" value=${name} placeholder=${`Run ${runs.length + 1}`} onInput=${(event) => setName(event.target.value)} /></label>
          <label class="field"><span>Algorithm</span><select value=${algorithm.name} onChange=${(event) => chooseAlgorithm(event.target.value)}>${catalogue.algorithms.map((one) => html`<option value=${one.name}>${one.name}</option>`)}</select></label>
          ${algorithm.name === "shoal" && html`<label class="field"><span>Effort</span><select value=${settings.effort ?? "default"} onChange=${(event) => change({ effort: event.target.value === "default" ? null : event.target.value })}><option value="low">low: quick</option><option value="default">default</option><option value="high">high: loses less</option></select></label>`}
          ${algorithm.takes_class && html`<label class="field"><span>Class label</span><select value=${settings.class ?? ""} onChange=${(event) => change({ class: event.target.value || null })}><option value="">none</option>${labels.map((one) => html`<option value=${one}>${one}</option>`)}</select></label>`}
          <label class="field"><span>Seed</span><${Typed} type="number" min="0" value=${settings.seed ?? 0} change=${(text) => change({ seed: Math.max(0, Math.round(Number(text))) })} /></label>
          <span class="spring"></span><button class="button main" onClick=${start} disabled=${quasi.length === 0}>Start the run</button></div>
        <p class="small muted">${sentence(algorithm.title)} (${algorithm.citation}). k ${settings.k ?? "–"}${settings.models?.length ? `, ${settings.models.join(", ")}` : ""}; ${quasi.length} quasi-identifying columns.</p>
        <${Problems} problems=${problems} title="It cannot be started" way=${wayOut(project, change)} /></section>
      <${GivenOut} runs=${runs} settings=${settings} change=${change} />
      ${active.map((run) => html`<${Active} key=${run.number} run=${run} number=${number} />`)}
      ${runs.length > 0 && html`<section class="card"><div class="head"><h2>Runs</h2>${runs.filter((run) => run.state === "done").length > 1 && html`<span class="small muted">Tick two or more to compare them.</span>`}</div><${RunList} runs=${runs} project=${project} number=${number} change=${change} chosen=${chosen} choose=${choose} compared=${compared} compare=${compare} /></section>`}
      ${beside.length > 1 && html`<${Compared} number=${number} runs=${beside} catalogue=${catalogue} />`}
      ${details && html`<section class="card stack"><div class="head"><h2>${details.name}</h2><${State} run=${details} /></div><${Curve} run=${details} />
        ${details.state === "done" && html`<p class="small muted">${count(details.records)} records in ${count(details.classes)} groups, the smallest of ${count(details.smallest_class)}; ${count(details.suppressed)} suppressed. ${besideLoss(catalogue, details.beside_the_loss).map(([title, value]) => `${title}: ${value}. `)}${Object.entries(details.stages ?? {}).map(([stage, took]) => `${stage} ${seconds(took)}`).join(", ")}.</p>`}
        <div><button class="button small" onClick=${() => change(() => details.settings)} disabled=${!details.settings}>Take over its settings</button></div></section>`}
      <${Frontier} runs=${project.runs} number=${number} settings=${settings} catalogue=${catalogue} on=${project.frontier !== false} />
    </div>${runs.some((run) => run.state === "done") && html`<${Next} to="#/${number}/look">Look<//>`}`;
}
