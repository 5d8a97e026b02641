// The release and everything that goes with it.
import { html, useState, useEffect, count, decimal, percent, plural, besideLoss } from "../lib.js";
import { get, post, put } from "../api.js";
import { Busy, Problems, Fact, Intro, Table, Copy, useAnswer } from "../parts.js";
import { State } from "./run.js";

const FILES = [
  ["release", "The release", "The table to publish. The check above looked at these very bytes."],
  ["public-report", "Public report", "To publish beside the release: sizes, guarantee, loss. Nothing that helps an attacker."],
  ["public-certificate", "Public certificate", "To publish beside the release: who gets it can check the release again. No values."],
  ["report", "Internal report", "For your files: risk by attribute, attacks, queries. Not to be published."],
  ["certificate", "Certificate", "For your files: what was checked, and of which table. It would confirm a guess of the table: not to be published."],
  ["job", "Job file", "For your files: everything that was set. It gives the same bytes again."],
];

export function RunPicker({ runs, run, number, step }) {
  return html`<label class="field"><span>Run</span><select value=${run.number} onChange=${(event) => { location.hash = `#/${number}/${step}/${event.target.value}`; }}>
    ${[...runs].reverse().map((one) => html`<option value=${one.number}>${one.name}: ${one.algorithm}, k ${one.k ?? "–"}, loss ${decimal(one.loss)}</option>`)}</select></label>`;
}

export const finished = (project, number) => {
  const done = project.runs.filter((run) => run.state === "done" && run.published);
  return [done, done.find((run) => run.number === number) ?? done.at(-1)];
};

export const NoRun = ({ number, title }) => html`<${Intro} title=${title}>There is no finished run yet.<//><a class="button main" href="#/${number}/run">Go to Run</a>`;

function Verified({ number, run }) {
  const [round, setRound] = useState(0);
  const { value, problems, busy } = useAnswer(() => post(`/api/projects/${number}/runs/${run.number}/verify`), [run.number, round]);
  return html`<section class="card stack"><div class="head"><h2>The released values, checked once more</h2><button class="button small" disabled=${busy} onClick=${() => setRound(round + 1)}>Check again</button></div>
    ${busy && !value && html`<${Busy}>Reading the release as anybody would</${Busy}>`}<${Problems} problems=${problems} />
    ${value && html`<div class="note ${value.passed ? "good" : "bad"}" role="status">${value.passed ? "The release holds." : "The release does NOT hold. Do not publish it."} ${value.same_file ? "It is the certified file, byte for byte." : "It is not the certified file."}</div>
      <${Table} head=${["Requirement", "Result", "Groups that fail"]} numbers=${[2]} rows=${value.checks.map((check) => [check.model, check.passed ? "holds" : "FAILS", count(check.offending_classes)])} />
      ${value.notes?.map((note) => html`<p class="small muted">${note}</p>`)}`}</section>`;
}

// What the release does not protect against, in the words of its report; what must not be missed comes first.
function Remains({ story }) {
  if (!story?.length) return null;
  const { title, sentences } = story.at(-1);
  return html`<section class="card stack"><h2>${title}</h2><${Grave} story=${story} />
    <ul class="sentences">${sentences.filter(([, grave]) => !grave).map(([text]) => html`<li>${text}</li>`)}</ul></section>`;
}

export function Grave({ story }) {
  const found = (story ?? []).flatMap((chapter) => chapter.sentences).filter(([, grave]) => grave);
  return found.length > 0 && html`<div class="note warn"><strong>Decide knowingly</strong><ul>${found.map(([text]) => html`<li>${text}</li>`)}</ul></div>`;
}

export function PublishPage({ store, catalogue, run: wanted }) {
  const { project } = store;
  const { number } = project;
  const [done, run] = finished(project, wanted);
  const [lines, setLines] = useState(null);
  const { value: details } = useAnswer(() => (run ? get(`/api/projects/${number}/runs/${run.number}`) : Promise.resolve(null)), [run?.number]);
  useEffect(() => { if (run) get(`/api/projects/${number}/runs/${run.number}/files/commands`).then(setLines, () => setLines(null)); }, [run?.number]);
  if (!run) return html`<${NoRun} number=${number} title="Publish" />`;
  const file = (name) => `/api/projects/${number}/runs/${run.number}/files/${name}`;
  return html`<${Intro} title="Publish" side=${html`<${RunPicker} runs=${done} run=${run} number=${number} step="publish" />`}>Download the release with its certificate and reports, and the lines that make it again.<//>
    <div class="stack"><div class="facts"><${Fact} name="Records" value=${count(run.records)} more=${`${count(run.suppressed)} suppressed`} /><${Fact} name="Smallest group" value=${count(run.smallest_class)} mood="good" more=${`${count(run.classes)} groups`} />
        <${Fact} name="Highest risk" value=${percent(run.highest_risk)} more="to recognise a person" /><${Fact} name="Loss" value=${decimal(run.loss)} more=${run.bound == null ? "0 exact, 1 nothing left" : `no release below ${decimal(run.bound)}`} /></div>
      <section class="card"><h2 class="sr">Beside the loss</h2><dl class="beside">${besideLoss(catalogue, run.beside_the_loss).map(([title, value, meaning]) => html`<dt>${title}</dt><dd><strong>${value}</strong> <span class="muted">${meaning}</span></dd>`)}</dl></section>
      <${Verified} key=${run.number} number=${number} run=${run} />
      <${Remains} story=${details?.story} />
      <section class="card"><h2>Download</h2><p>${run.name} <${State} run=${run} /></p><div class="downloads">
        ${FILES.filter(([name]) => name === "job" || !lines || lines.files.includes(name)).map(([name, title, text]) => html`<div class="download"><h3>${title}</h3><p>${text}</p><div class="row"><a class="button small ${name === "release" ? "main" : ""}" href=${file(name)} download>Download</a>
          ${name.endsWith("report") && html`<a class="button small" href=${file(`${name}-page`)} target="_blank" rel="noopener">Look</a>`}
          ${name === "certificate" && lines?.files.includes("proof") && html`<a class="button small" href=${file("proof")} title="Shown together with the public certificate it proves which table that one is of" download>With the salt</a>`}</div></div>`)}
        ${(lines?.beside ?? []).map((name) => html`<div class="download"><h3 class="name">${name}</h3><p>What the job file needs beside it: ${name.startsWith("earlier-") ? "of an earlier release" : "the population"}.</p><div><a class="button small" href=${file(encodeURIComponent(name))} download>Download</a></div></div>`)}
        ${["sample", "upload"].includes(project.source.kind) && html`<div class="download"><h3>The table</h3><p>What was ${project.source.kind === "sample" ? "invented" : "uploaded"}, to run the job elsewhere. Not to be published.</p><div><a class="button small" href="/api/projects/${number}/table" download>Download</a></div></div>`}</div></section>
      <section class="card"><h2>Given out</h2><label class="row gap"><input type="checkbox" checked=${run.given_out === true} onChange=${(event) => put(`/api/projects/${number}/runs/${run.number}`, { given_out: event.target.checked })} />This release was published or handed to somebody</label>
        <p class="muted small gap">The next runs of this project are then made so that their release holds together with it, and Risk looks at both: whoever has both may know more than either tells.</p>
        ${run.together_with > 0 ? html`<p class="small gap">This one was made to hold together with ${plural(run.together_with, "release")} given out before.</p>` : done.some((one) => one.given_out && one.number !== run.number && (one.given_out_at ?? one.made) < run.made) && html`<p class="note warn gap">This run was not made together with what was given out before. Look at both in <a href="#/${number}/risk/${run.number}">Risk</a> first.</p>`}</section>
      <section class="card stack"><div><h2>The same bytes again</h2><p class="muted">${run.early ? "This run was ended early: the lines below search to the end, so their release will differ, and lose no more." : "Put the job file beside the table. The same table, job and seed give the same bytes, here and anywhere."}</p></div>
        ${lines ? html`<h3>On the command line</h3><${Copy} label="Command line" text=${`${lines.job}\n${lines.verify}`} /><h3>In Python</h3><${Copy} label="Python" text=${lines.python} /><details><summary>All settings in Python</summary><${Copy} label="Settings in Python" text=${lines.settings} /></details>` : html`<${Busy}>Writing them down</${Busy}>`}</section>
    </div>`;
}
