// Where a table comes from, and the projects that are there.
import { html, useState, useRef, useEffect, count, bytes, plural } from "../lib.js";
import { get, post, remove, upload } from "../api.js";
import { Busy, Problems, Intro, Scroll } from "../parts.js";

const openProject = (number) => { location.hash = `#/${number}/table`; };

function Upload({ limit, endings, failed }) {
  const [share, setShare] = useState(null);
  const [over, setOver] = useState(false);
  const field = useRef(null);
  const send = async (file) => {
    if (!file) return;
    setShare(0);
    try {
      openProject((await upload(file, setShare)).number);
    } catch (error) {
      failed(error.problems);
      setShare(null);
    }
  };
  return html`<section class="card"><h2>Upload a table</h2><p>CSV, Parquet, Arrow, Excel, SPSS, Stata or SAS, up to ${Math.round(limit / 2 ** 20)} MB. It stays on this machine.</p>
    <div class="drop ${over ? "over" : ""}" onDragOver=${(event) => { event.preventDefault(); setOver(true); }} onDragLeave=${() => setOver(false)}
      onDrop=${(event) => { event.preventDefault(); setOver(false); send(event.dataTransfer.files[0]); }}>
      ${share == null
        ? html`<p class="muted">Drop a file here, or</p><button class="button" onClick=${() => field.current.click()}>Choose a file</button>
          <input class="sr" tabindex="-1" ref=${field} type="file" aria-label="The file to upload" accept=${endings.join(",")} onChange=${(event) => send(event.target.files[0])} />`
        : html`<p role="status">Uploading: ${Math.round(share * 100)} %</p><progress value=${share} max="1" aria-label="Upload"></progress>`}
    </div></section>`;
}

function Folders({ folders, failed }) {
  const [at, setAt] = useState({ number: 0, below: "" });
  const [entries, setEntries] = useState(null);
  const root = folders[at.number];
  useEffect(() => {
    if (!root.folder) return;
    get(`/api/folders/${at.number}?below=${encodeURIComponent(at.below)}`).then((found) => setEntries(found.entries), (error) => failed(error.problems));
  }, [at]);
  const open = async (below) => {
    try {
      openProject((await post("/api/projects", { kind: "file", number: at.number, below })).number);
    } catch (error) {
      failed(error.problems);
    }
  };
  const inside = (name) => (at.below ? `${at.below}/${name}` : name);
  return html`<section class="card"><h2>Open a file of this machine</h2><p>It is read where it lies and not copied.</p>
    ${folders.length > 1 && html`<select aria-label="Folder" value=${at.number} onChange=${(event) => setAt({ number: Number(event.target.value), below: "" })}>${folders.map((one) => html`<option value=${one.number}>${one.name}</option>`)}</select>`}
    ${root.folder
      ? html`<div class="small muted gap">${root.name}${at.below && ` / ${at.below.replaceAll("/", " / ")}`}</div>
        <ul class="files">${at.below && html`<li><button onClick=${() => setAt({ ...at, below: at.below.split("/").slice(0, -1).join("/") })}>↑ back</button></li>`}
        ${(entries ?? []).map((entry) => html`<li><button onClick=${() => (entry.folder ? setAt({ ...at, below: inside(entry.name) }) : open(inside(entry.name)))}>
          <span>${entry.folder ? "▸ " : ""}${entry.name}</span><span class="size">${bytes(entry.bytes)}</span></button></li>`)}
        ${entries?.length === 0 && html`<li class="muted small">No tables here.</li>`}</ul>`
      : html`<button class="button gap" onClick=${() => open("")}>Open ${root.name}</button>`}
  </section>`;
}

function Databases({ databases, failed }) {
  const [number, setNumber] = useState(0);
  const [tables, setTables] = useState(null);
  const [table, setTable] = useState("");
  const [key, setKey] = useState("");
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    setTables(null);
    get(`/api/databases/${number}`).then((found) => { setTables(found.tables); setTable(found.tables[0] ?? ""); }, (error) => { setTables([]); failed(error.problems); });
  }, [number]);
  const open = async () => {
    setBusy(true);
    try {
      openProject((await post("/api/projects", { kind: "database", number, table, key })).number);
    } catch (error) {
      failed(error.problems);
      setBusy(false);
    }
  };
  return html`<section class="card"><h2>Open a table of a database</h2><p>It is read where it is, and nothing is written there.</p>
    <div class="stack gap">${databases.length > 1 && html`<label class="field"><span>Database</span><select value=${number} onChange=${(event) => setNumber(Number(event.target.value))}>${databases.map((one) => html`<option value=${one.number}>${one.kind}${one.table ? `: ${one.table}` : ` ${one.number + 1}`}</option>`)}</select></label>`}
      ${tables == null ? html`<${Busy}>Asking the ${databases[number].kind} database</${Busy}>` : tables.length === 0 ? html`<p class="muted small">No table can be read there.</p>`
        : html`<label class="field"><span>Table</span><select value=${table} onChange=${(event) => setTable(event.target.value)}>${tables.map((name) => html`<option value=${name}>${name}</option>`)}</select></label>
          <label class="field"><span>Columns that order its rows</span><input type="text" placeholder="id" value=${key} onInput=${(event) => setKey(event.target.value)} /><small>optional; else rows are ordered by content</small></label>
          <div><button class="button" disabled=${busy} onClick=${open}>${busy ? "Opening…" : `Open ${table}`}</button></div>`}</div></section>`;
}

export function StartPage({ catalogue }) {
  const [projects, setProjects] = useState(null);
  const [problems, setProblems] = useState(null);
  const [busy, setBusy] = useState(false);
  const load = () => get("/api/projects").then((found) => setProjects(found.projects), (error) => setProblems(error.problems));
  useEffect(() => { load(); document.title = "Shoal workbench"; }, []);
  const sample = async () => {
    setBusy(true);
    try {
      openProject((await post("/api/projects", { kind: "sample" })).number);
    } catch (error) {
      setProblems(error.problems);
      setBusy(false);
    }
  };
  const drop = async (project) => {
    if (!confirm(`Delete “${project.name}” with its ${plural(project.runs, "run")}? Files you have downloaded stay.`)) return;
    await remove(`/api/projects/${project.number}`);
    load();
  };
  return html`<${Intro} title="Publish a table so that nobody in it can be singled out">Begin with a table. The steps then lead from left to right: say what the columns are, what must hold, run, look, and download a checked release. Nothing leaves this machine.<//>
    <div class="stack"><${Problems} problems=${problems} />
      <div class="doors">
        <section class="card"><h2>Try the sample</h2><p>An invented hospital: ten thousand stays, twelve columns, with hierarchies.</p>
          <button class="button main" disabled=${busy} onClick=${sample}>${busy ? "Inventing patients…" : "Open the sample"}</button></section>
        <${Upload} limit=${catalogue.upload_limit} endings=${catalogue.endings} failed=${setProblems} />
        ${catalogue.databases.length > 0 && html`<${Databases} databases=${catalogue.databases} failed=${setProblems} />`}
        ${catalogue.folders.length > 0 && html`<${Folders} folders=${catalogue.folders} failed=${setProblems} />`}
      </div>
      ${projects == null && html`<${Busy}>Looking for projects</${Busy}>`}
      ${projects?.length > 0 && html`<section class="card"><h2>Projects</h2><${Scroll} label="Projects"><table class="gap"><thead><tr><th scope="col">Name</th><th scope="col">Table</th><th scope="col" class="number">Runs</th><th scope="col">Begun</th><th><span class="sr">Delete</span></th></tr></thead>
        <tbody>${projects.map((project) => html`<tr><td class="name"><a href="#/${project.number}/table">${project.name}</a></td><td class="name">${project.table}</td><td class="number">${count(project.runs)}</td>
          <td>${new Date(project.made * 1000).toLocaleString()}</td><td class="number"><button class="button quiet small danger" onClick=${() => drop(project)} aria-label=${`Delete ${project.name}`}>Delete</button></td></tr>`)}</tbody></table><//></section>`}
    </div>`;
}
