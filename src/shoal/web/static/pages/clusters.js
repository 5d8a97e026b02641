// Whether an analyst finds the same clusters in the release: contingency, F-measure, and both against the threshold.
import { html, useState, count, decimal, percent, seconds } from "../lib.js";
import { post, remove } from "../api.js";
import { Busy, Problems, Fact, Slider } from "../parts.js";
import { Figure, Lines } from "../charts.js";
import { useLook } from "./look.js";

const COLOURS = [1, 2, 3, 4, 5, 0];

export function Clusters({ project, run, catalogue }) {
  const { number } = project;
  const [clusters, setClusters] = useState(6);
  const { value, problems, busy } = useLook(number, run, { at: "clusters", clusters }, [clusters], 300);
  const high = value ? Math.max(1, ...value.contingency.flat()) : 1;
  return html`<section class="card stack"><div class="head"><h2>Clusters an analyst would find</h2><label class="row small">Clusters <${Slider} min="2" max="12" value=${clusters} change=${setClusters} show=${(number) => number} /></label></div>
    <p class="muted small">Both tables are clustered by k-means. A row is a cluster of the original, a column one of the release. Where every row has one dark field, the clusters survived.${value?.sampled && ` Of ${count(value.sampled)} records, taken at random.`}</p><${Problems} problems=${problems} />${busy && !value && !problems && html`<${Busy}>Clustering both tables</${Busy}>`}
    <div class="columns even"><div class="stack">${value && html`<div class="facts"><${Fact} name="F-measure" value=${decimal(value.f_measure, 3)} more="1: the same clusters" /><${Fact} name="Match point" value=${decimal(value.match_point, 3)} more="pairs that agree" /><${Fact} name="Adjusted Rand" value=${decimal(value.adjusted_rand, 3)} more="0: by chance" /></div>
      <${Figure} title="Contingency" table=${{ head: ["Original", ...value.contingency[0].map((one, place) => `release ${place + 1}`)], rows: value.contingency.map((row, place) => [`cluster ${place + 1}`, ...row.map(count)]), numbers: value.contingency[0].map((one, place) => place + 1) }}>
        <svg class="chart heat" style=${{ maxWidth: `${value.contingency[0].length * 58 + 70}px` }} viewBox="0 0 ${value.contingency[0].length * 58 + 70} ${value.contingency.length * 30 + 24}" role="group" aria-label="Contingency of the clusters">
          ${value.contingency[0].map((one, place) => html`<text x=${70 + place * 58 + 28} y="14" text-anchor="middle">${place + 1}</text>`)}
          ${value.contingency.map((row, line) => html`<g><text x="60" y=${24 + line * 30 + 19} text-anchor="end">${line + 1}</text>${row.map((cell, place) => html`<g><rect class="f1 mark" tabindex="0" role="img" aria-label=${`Cluster ${line + 1} of the original, ${place + 1} of the release: ${count(cell)} records`} data-tip=${`Cluster ${line + 1} of the original, ${place + 1} of the release: ${count(cell)} records`} x=${70 + place * 58} y=${24 + line * 30} width="56" height="28" rx="3" fill-opacity=${0.06 + (0.84 * cell) / high} />
            <text class=${cell > high * 0.55 ? "on" : ""} x=${70 + place * 58 + 28} y=${24 + line * 30 + 19} text-anchor="middle">${count(cell)}</text></g>`)}</g>`)}</svg><//>`}</div>
      <div class="stack"><${Thresholds} project=${project} run=${run} clusters=${clusters} catalogue=${catalogue} /></div></div></section>`;
}

// The F-measure against h, how many records look the same: found out in the background, by masking anew for every h.
function Thresholds({ project, run, clusters, catalogue }) {
  const { number } = project;
  const [text, setText] = useState("5, 10, 25, 50, 100");
  const [algorithm, setAlgorithm] = useState("tdr");
  const [problems, setProblems] = useState(null);
  const sweeps = project.runs.filter((one) => one.sweep?.clusters === clusters);
  const waiting = project.runs.filter((one) => one.sweep && (one.state === "waiting" || one.state === "running"));
  const done = sweeps.filter((one) => one.state === "done"), failed = sweeps.filter((one) => one.state === "failed");
  const thresholds = [...new Set(text.split(/[,\s]+/).map(Number).filter((h) => Number.isInteger(h) && h >= 2))];
  const start = async () => {
    setProblems(null);
    try {
      await post(`/api/projects/${number}/sweep`, { settings: run.settings ?? project.settings, algorithm, clusters, thresholds });
    } catch (error) {
      setProblems(error.problems);
    }
  };
  const clear = () => Promise.all(sweeps.map((one) => remove(`/api/projects/${number}/runs/${one.number}`)));
  const word = (one, row) => `${one.algorithm}, h ${row.h}, ${clusters} clusters: ${row.error ? "no such release" : `F-measure ${decimal(row.f_measure, 3)}, match point ${decimal(row.match_point, 3)}`}`;
  const names = [...new Set(done.map((one) => one.algorithm))];
  const rowsOf = (name) => done.filter((one) => one.algorithm === name).flatMap((one) => (one.rows ?? []).map((row) => ({ ...row, one }))).sort((a, b) => a.h - b.h);
  return html`<h3>Against h, the number of records that look the same</h3>
    <p class="muted small">For every h the table is anonymized anew, with an eye on the clusters where the algorithm can do that (tdr). Nothing is released.</p>
    <div class="row fields"><label class="field"><span>h</span><input type="text" value=${text} onInput=${(event) => setText(event.target.value)} /></label>
      <label class="field"><span>Anonymized by</span><select value=${algorithm} onChange=${(event) => setAlgorithm(event.target.value)}>${catalogue.algorithms.map((one) => html`<option value=${one.name}>${one.name}</option>`)}</select></label>
      ${sweeps.length > 0 && html`<button class="button quiet small danger" onClick=${clear}>${waiting.length ? "Stop and clear" : "Clear"}</button>`}
      <button class="button" disabled=${!thresholds.length || waiting.length > 0} onClick=${start}>Find out for ${count(clusters)} clusters</button></div>
    <${Problems} problems=${problems} />${failed.map((one) => html`<${Problems} problems=${one.problems} title=${one.name} />`)}
    ${waiting.map((one) => html`<${Busy}>${one.name}: ${one.progress ? `${percent(one.progress.fraction, 0)} after ${seconds(one.progress.seconds)}` : "starting"}<//>`)}
    ${done.length > 0 && html`<${Figure} title=${`F-measure against h, ${clusters} clusters`} legend=${names.map((name, place) => [`f${COLOURS[place % 6]}`, name])} text="1: the same clusters as in the original."
      table=${{ head: ["Algorithm", "h", "F-measure", "Match point", "Adjusted Rand"], rows: names.flatMap((name) => rowsOf(name).map((row) => [name, row.h, row.error ? "no such release" : decimal(row.f_measure, 3), decimal(row.match_point, 3), decimal(row.adjusted_rand, 3)])), numbers: [1, 2, 3, 4] }}>
      <${Lines} label="F-measure against h" across="h" up="F-measure" log=${true} low=${0} height=${210} formatX=${(h) => String(h)} formatY=${(value) => decimal(value, 2)}
        series=${names.map((name, place) => ({ colour: COLOURS[place % 6], points: rowsOf(name).map((row) => [row.h, row.f_measure ?? null, word(row.one, row)]), radius: 4 }))} /><//>`}`;
}
