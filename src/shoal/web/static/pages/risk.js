// How safe it is: three attackers, what drives the risk, attacks carried out, earlier releases.
import { html, useState, useEffect, count, decimal, percent } from "../lib.js";
import { get, post } from "../api.js";
import { Beside, Busy, Problems, Fact, Intro, Next, Table, useAnswer } from "../parts.js";
import { Figure, Bars, Columns, Lines } from "../charts.js";
import { Grave, RunPicker, finished, NoRun } from "./publish.js";

const range = (interval) => (interval ? `${percent(interval[0])} to ${percent(interval[1])}` : "–");

function Attackers({ risk, number }) {
  const rows = [
    ["Prosecutor, at worst", "knows that a person is in the table", percent(risk.before.highest), percent(risk.after.highest)],
    ["Prosecutor, on average", "the same, for anybody", percent(risk.before.average), percent(risk.after.average)],
    ["Marketer", "links the whole table and counts hits", percent(risk.before.average), percent(risk.after.average)],
    ["Journalist, at worst", "does not know who is in the table", "", risk.journalist ? percent(risk.journalist.highest) : `at most ${percent(risk.after.highest)}`],
    ...(risk.journalist ? [["Journalist, on average", "the same, for anybody", "", percent(risk.journalist.average)]] : []),
  ];
  return html`<section class="card"><h2>Three attackers</h2><p>The chance to find the record of a person by the quasi-identifying columns.</p><${Table} head=${["Attacker", "Who", "Original", "Release"]} numbers=${[2, 3]} rows=${rows} />
    ${!risk.journalist && html`<p class="small muted gap">A table of the population, in <a href="#/${number}/requirement">Requirement</a>, tells the chance of the journalist.</p>`}</section>`;
}

function Attacks({ attack, models, number }) {
  const { linkage, inference, linkability, singling_out: single } = attack;
  const rows = [
    linkage && ["Linkage", `${count(linkage.targets)} persons looked up by all their attributes`, percent(linkage.expected_success), percent(linkage.promised), `at least ${count(linkage.fewest_candidates)} candidates each`],
    single && ["Singling out", `${count(single.targets)} conditions that should fit one person`, percent(single.success), percent(single.baseline), range(single.interval)],
    linkability && ["Linkability", `two halves of the columns joined, ${count(linkability.targets)} tries`, percent(linkability.success), percent(linkability.baseline), range(linkability.interval)],
    inference && ["Inference", `${inference.column} guessed for ${count(inference.targets)} persons`, percent(inference.success), percent(inference.baseline), range(inference.interval)],
  ].filter(Boolean);
  const watched = inference && models.some((spec) => spec.replace(/\\(.)/g, "$1").includes(`:${inference.column}:`));
  return html`<section class="card"><h2>Attacks, carried out</h2><p>By programs that have the release and know the attributes of real persons. The second number is what could be expected without the release, or was promised.</p>
    <${Table} head=${["Attack", "How", "Success", "Without, or promised", "Range"]} numbers=${[2, 3]} rows=${rows} />
    ${inference && inference.success > inference.baseline * 2 && html`<p class="note warn gap"><strong class="name">${inference.column}</strong> is guessed better than chance. ${watched
      ? "The model on it limits how well; a stricter one hides more." : "k-anonymity does not hide what members of a group share; a model on this column does."} Models are chosen in <a href="#/${number}/requirement">Requirement</a>.</p>`}</section>`;
}

const ATTACKS = { F: "A person of both tables, looked for in the earlier release (F)", C: "A person of both tables, looked for in this release (C)", B: "A newcomer, looked for in this release (B)" };
const SETTINGS = { same: "of the same people", growing: "of these people before newcomers came", moving: "of people who come and leave" };

function Together({ store, run, done }) {
  const { project } = store;
  const { number } = project;
  const [setting, setSetting] = useState("same");
  const others = done.filter((one) => one.number !== run.number && one.made < run.made);
  const given = others.filter((one) => one.given_out).at(-1);
  const [earlier, setEarlier] = useState("");
  const [state, setState] = useState({});
  const check = async (which, how) => {
    setEarlier(which);
    setSetting(how);
    if (!which) return setState({});
    setState({ busy: true });
    const [at, name] = which.startsWith("run:") ? ["together", which.slice(4)] : ["beside", which.slice(5)];
    try {
      setState({ value: await post(`/api/projects/${number}/runs/${run.number}/look`, { at, earlier: name, setting: how }) });
    } catch (error) {
      setState({ problems: error.problems });
    }
  };
  useEffect(() => { if (given) check(`run:${given.number}`, setting); }, []);
  return html`<${Beside} store=${store} kind="earlier" title="Joined with an earlier release" text="Was another release of these people published before? Whoever has both may know more than either tells. Choose a run of this project, or upload the file that was published. One that is marked as given out, in Publish, is looked at at once.">
    <div class="stack gap"><div class="row fields"><label class="field"><span>Published before</span><select value=${earlier} onChange=${(event) => check(event.target.value, setting)}><option value="">nothing</option>
        ${others.map((one) => html`<option value=${`run:${one.number}`}>${one.name}: ${one.algorithm}, k ${one.k ?? "–"}${one.given_out ? ", given out" : ""}</option>`)}${project.earlier.map((name) => html`<option value=${`file:${name}`}>${name}</option>`)}</select></label>
      ${earlier.startsWith("file:") && html`<label class="field"><span>It is</span><select value=${setting} onChange=${(event) => check(earlier, event.target.value)}>${Object.entries(SETTINGS).map(([name, words]) => html`<option value=${name}>${words}</option>`)}</select></label>`}</div>
    ${state.busy && html`<${Busy}>Looking at both</${Busy}>`}<${Problems} problems=${state.problems} />
    ${state.value && html`<div class="note ${state.value.passed ? "good" : "bad"}">${state.value.passed ? `Together they still hide everybody among ${state.value.k}.` : `Together they do NOT hide everybody among ${state.value.k}. Publish one of them only.`}</div>
      <${Table} head=${["Attack", "Result", "Fewest candidates", "Persons below k"]} numbers=${[2, 3]} rows=${state.value.checks.map((one) => [ATTACKS[one.attack] ?? one.attack, one.passed ? "holds" : "fails", count(one.smallest_anonymity), count(one.persons_below)])} />`}</div><//>`;
}

function Drivers({ combinations }) {
  const shown = [...combinations.combinations].sort((a, b) => b.unique - a.unique).slice(0, 8), attributes = combinations.attributes ?? [];
  return html`<div class="columns even"><section class="card"><${Figure} title="Columns that drive the risk" text="How much smaller the average risk of the original would be without the column."
      table=${{ head: ["Column", "Risk alone", "Adds to the average", "Stand alone because of it"], rows: attributes.map((one) => [one.attribute, percent(one.alone), percent(one.added_average), count(one.added_unique)]), numbers: [1, 2, 3] }}>
      <${Bars} label="Columns that drive the risk" format=${(value) => percent(value)} rows=${attributes.slice(0, 10).map((one) => ({ label: one.attribute, parts: [{ value: Math.max(0, one.added_average), colour: "f2", tip: `${one.attribute}: adds ${percent(one.added_average)} to the average risk; ${count(one.added_unique)} persons stand alone because of it` }] }))} /><//></section>
    <section class="card"><${Figure} title="Combinations that single out" text="Records of the original that stand alone by these columns only."
      table=${{ head: ["Columns", "Stand alone", "Below 5", "Average risk"], rows: combinations.combinations.map((one) => [one.columns.join(" + "), count(one.unique), count(one.at_risk), percent(one.average)]), numbers: [1, 2, 3] }}>
      <${Bars} label="Combinations that single out" format=${count} rows=${shown.map((one) => ({ label: one.columns.join(" + "), parts: [{ value: one.unique, colour: "f2", tip: `${one.columns.join(" + ")}: ${count(one.unique)} stand alone` }] }))} /><//></section></div>`;
}

function Disclosure({ disclosure }) {
  const rows = Object.entries(disclosure).map(([name, one]) => [name, count(one.values), count(one.fewest_values), count(one.records_in_uniform_classes), percent(one.baseline), percent(one.best_guess)]);
  if (!rows.length) return null;
  return html`<section class="card"><h2>What a group gives away</h2><p>About sensitive columns: how well they can be guessed by who knows the group of a person, against by who knows only the table.</p>
    <${Table} head=${["Column", "Values", "Fewest in a group", "Records in groups with one value", "Guess from the table", "Guess from the group"]} numbers=${[1, 2, 3, 4, 5]} rows=${rows} /></section>`;
}

export function RiskPage({ store, run: wanted }) {
  const { project } = store;
  const { number } = project;
  const [done, run] = finished(project, wanted);
  const { value, problems } = useAnswer(() => (run ? get(`/api/projects/${number}/runs/${run.number}`) : Promise.resolve(null)), [run?.number]);
  if (!run) return html`<${NoRun} number=${number} title="Risk" />`;
  const intro = html`<${Intro} title="Risk" side=${html`<${RunPicker} runs=${done} run=${run} number=${number} step="risk" />`}>How easily somebody could be recognised, before and after, and what was tried.<//>`;
  if (problems) return html`${intro}<${Problems} problems=${problems} />`;
  if (!value?.evaluation) return html`${intro}<${Busy}>Reading what was found</${Busy}>`;
  const { risk, combinations, attack, samples } = value.evaluation;
  return html`${intro}<div class="stack" key=${run.number}>
      <div class="facts"><${Fact} name="Highest risk" value=${percent(risk.after.highest)} mood=${risk.after.highest > risk.threshold ? "bad" : "good"} more=${`before: ${percent(risk.before.highest)}`} /><${Fact} name="Average risk" value=${percent(risk.after.average)} more=${`before: ${percent(risk.before.average)}`} />
        <${Fact} name="Stand alone" value=${count(risk.after.unique)} mood=${risk.after.unique ? "bad" : "good"} more=${`before: ${count(risk.before.unique)}`} /><${Fact} name="Risk above ${percent(risk.threshold, 0)}" value=${count(risk.after.at_risk)} mood=${risk.after.at_risk ? "bad" : "good"} more=${`before: ${count(risk.before.at_risk)}`} /></div>
      <${Grave} story=${value.story} />
      <div class="columns even"><section class="card"><${Figure} title="Records by size of their group" legend=${[["f0", "original"], ["f1", "release"]]}
          table=${{ head: ["Group size", "Original", "Release"], rows: risk.sizes_before.map((one, place) => [one.sizes, count(one.records), count(risk.sizes_after[place]?.records)]), numbers: [1, 2] }}>
          <${Columns} label="Records by size of their group, before and after" labels=${risk.sizes_before.map((one) => one.sizes)} series=${[["f0", risk.sizes_before, "original"], ["f1", risk.sizes_after, "release"]].map(([colour, sizes, word]) => ({ colour, values: sizes.map((one) => one.records), tips: sizes.map((one) => `Groups of ${one.sizes}: ${count(one.records)} records of the ${word}`) }))} /><//></section>
        <section class="card"><${Figure} title="Records above a risk" legend=${[["f0", "original"], ["f1", "release"]]} text="How many records have a higher chance than this to be recognised."
          table=${{ head: ["Risk above", "Original", "Release"], rows: risk.curve_before.map((one, place) => [percent(one.risk), percent(one.share), percent(risk.curve_after[place]?.share)]), numbers: [1, 2] }}>
          <${Lines} label="Share of records above a risk, before and after" across="risk" up="share of the records" low=${0} height=${190} formatX=${(value) => percent(value, 0)} formatY=${(value) => percent(value, 0)} series=${[[0, risk.curve_before, "original"], [1, risk.curve_after, "release"]].map(([colour, curve, word]) => ({ colour, points: curve.map((one) => [one.risk, one.share, `${word}: ${percent(one.share)} of the records have a risk above ${percent(one.risk)}`]), radius: 3 }))} /><//></section></div>
      <${Attackers} risk=${risk} number=${number} />
      ${combinations && html`<${Drivers} combinations=${combinations} />`}
      ${attack && html`<${Attacks} attack=${attack} models=${run.models ?? []} number=${number} />`}
      ${risk.disclosure && html`<${Disclosure} disclosure=${risk.disclosure} />`}
      <${Together} store=${store} run=${run} done=${done} />
      ${samples?.length > 0 && html`<p class="small muted">Looked at samples only: ${samples.join("; ")}.</p>`}
    </div><${Next} to="#/${number}/publish/${run.number}">Publish<//>`;
}
