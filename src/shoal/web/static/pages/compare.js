// Several runs beside each other: what came out, what was set differently, and what each column lost.
import { html, count, decimal, percent, seconds, besideLoss } from "../lib.js";
import { get } from "../api.js";
import { Busy, Problems, Table, useAnswer } from "../parts.js";
import { Figure, Bars } from "../charts.js";

const COLOURS = [1, 2, 3, 4, 5, 0];
export const MOST_COMPARED = COLOURS.length;
const NUMBERS = [
  ["Loss", (run) => decimal(run.loss)],
  ["No release can lose less than", (run) => decimal(run.bound)],
  ["Above the best by at most", (run) => (run.above_best == null ? "–" : percent(run.above_best, 0))],
  ["Highest risk", (run) => percent(run.highest_risk)],
  ["Average risk", (run) => percent(run.average_risk)],
  ["Groups", (run) => count(run.classes)],
  ["Smallest group", (run) => count(run.smallest_class)],
  ["Records suppressed", (run) => count(run.suppressed)],
  ["Time", (run) => seconds(run.seconds)],
];
const WORDS = { k: "k", models: "Models", algorithm: "Algorithm", effort: "Effort", seed: "Seed", suppression_limit: "Suppression at most", priorities: "Priorities", at_most: "At most as blurred as", recoding: "Numbers and dates", roles: "Roles", hierarchies: "Hierarchies", scales: "Scales", missing: "Texts that mean “missing”", csv: "Reading", date_formats: "Dates written", person: "Persons", parameters: "Parameters", strategy: "After earlier releases", hold_together: "Together with them", setting: "Since then", changing: "May have changed" };
const names = (value) => Object.entries(value).map(([name, of]) => `${name}: ${of}`).join(", ");

// A setting in a cell; of large ones only whether they differ from the first run's.
function written(setting, value, first) {
  if (setting === "hierarchies" || setting === "roles") {
    const changed = [...new Set([...Object.keys(value ?? {}), ...Object.keys(first ?? {})])].filter((name) => JSON.stringify(value?.[name]) !== JSON.stringify(first?.[name]));
    return value === first ? "as here" : changed.length ? `differ: ${changed.join(", ")}` : "the same";
  }
  if (value == null || value === "" || (typeof value === "object" && Object.keys(value).length === 0)) return "–";
  if (setting === "suppression_limit") return percent(value);
  return Array.isArray(value) ? value.join(", ") : typeof value === "object" ? names(value) : String(value);
}

export function Compared({ number, runs, catalogue }) {
  const { value, problems } = useAnswer(() => Promise.all(runs.map((run) => get(`/api/projects/${number}/runs/${run.number}`))), [runs.map((run) => run.number).join()]);
  if (problems) return html`<section class="card"><${Problems} problems=${problems} /></section>`;
  if (!value || value.length !== runs.length) return html`<section class="card"><${Busy}>Reading the runs</${Busy}></section>`;
  const settings = value.map((run) => run.settings);
  const plain = (setting) => settings.map((one) => written(setting, one[setting] ?? null, null));
  const differing = Object.keys(WORDS).filter((setting) => new Set(settings.map((one) => (setting === "hierarchies" || setting === "roles" ? JSON.stringify(one[setting] ?? {}) : written(setting, one[setting] ?? null)))).size > 1);
  const beside = runs.map((run) => new Map(besideLoss(catalogue, run.beside_the_loss)));
  const rows = [
    ...NUMBERS.map(([word, of]) => [word, ...runs.map(of)]),
    ...catalogue.beside_the_loss.map(({ title }) => [title, ...beside.map((found) => found.get(title) ?? "–")]),
    ...differing.map((setting) => [WORDS[setting], ...(setting === "hierarchies" || setting === "roles" ? settings.map((one) => written(setting, one[setting], settings[0][setting])) : plain(setting))]),
  ];
  const columns = [...new Set(value.flatMap((run) => Object.keys(run.summary?.per_attribute ?? {})))];
  const loss = (run, name) => run.summary?.per_attribute?.[name]?.gcp;
  return html`<section class="card stack"><h2>Compared</h2>
    <${Table} caption="Runs beside each other" head=${["", ...runs.map((run) => run.name)]} rows=${rows} numbers=${runs.map((run, place) => place + 1)} />
    ${columns.length > 0 && html`<${Figure} title="Loss by column and run" legend=${runs.map((run, place) => [`f${COLOURS[place]}`, run.name])} text="0: every value exact. 1: nothing left."
      table=${{ head: ["Column", ...runs.map((run) => run.name)], rows: columns.map((name) => [name, ...value.map((run) => decimal(loss(run, name)))]), numbers: runs.map((run, place) => place + 1) }}>
      <${Bars} label="Loss by column and run" format=${(one) => decimal(one, 3)} rows=${columns.map((name) => ({ label: name, parts: value.map((run, place) => ({ value: loss(run, name) ?? 0, colour: `f${COLOURS[place]}`, tip: `${name}, ${run.name}: loss ${decimal(loss(run, name))}` })) }))} /><//>`}</section>`;
}
