// The table: what its columns are, how they look, what role each has, and who stands alone by them.
import { html, useState, useEffect, useRef, count, percent, ROLES, rolesOf, plural } from "../lib.js";
import { post, upload } from "../api.js";
import { Busy, Problems, Fact, Intro, Next, Paged, Scroll, Typed, useAnswer } from "../parts.js";
import { Allowed } from "./kept.js";
import { Figure, Bars, Columns, Tiny } from "../charts.js";

// A newer version of an uploaded table: what was given out of the older one stays, and the next release holds with it.
function Newer({ project, taken }) {
  const [share, setShare] = useState(null);
  const [problems, setProblems] = useState(null);
  const field = useRef(null);
  const send = async (file) => {
    if (!file) return;
    setShare(0);
    setProblems(null);
    try {
      taken(await upload(file, setShare, `/api/projects/${project.number}/table`));
    } catch (error) {
      setProblems(error.problems);
    }
    setShare(null);
  };
  return html`<section class="card"><h2>A newer version of this table</h2><p>With people who came since, or without some who left. Settings and runs stay; the next release is made to hold together with what was given out.</p>
    ${share == null ? html`<button class="button small" onClick=${() => field.current.click()}>Upload it</button>
      <input class="sr" tabindex="-1" ref=${field} type="file" aria-label="A newer version of the table" onChange=${(event) => { send(event.target.files[0]); event.target.value = ""; }} />` : html`<progress value=${share} max="1" aria-label="Upload"></progress>`}
    <${Problems} problems=${problems} /></section>`;
}

const SCALES = ["integer", "decimal", "date", "category"];

// Columns by role: one is dragged to another role, or picked by a click or Enter and put there.
function Lanes({ settings, setRole }) {
  const [over, setOver] = useState(null);
  const [picked, pick] = useState(null);
  return html`<div class="lanes">${ROLES.map(({ role, title, text }) => {
    const names = rolesOf(settings, role);
    return html`<div class="lane ${over === role ? "over" : ""}" onDragOver=${(event) => { event.preventDefault(); setOver(role); }} onDragLeave=${() => setOver(null)}
        onDrop=${(event) => { event.preventDefault(); setOver(null); setRole(event.dataTransfer.getData("text/plain"), role); }}>
      <h3><span class="spot ${role}"></span>${title}<span class="count">${names.length}</span></h3><p>${text}</p>
      <div class="chips">${names.map((name) => html`<button class="chip" draggable="true" aria-pressed=${picked === name ? "true" : "false"} onClick=${() => pick(picked === name ? null : name)} onDragStart=${(event) => { pick(null); event.dataTransfer.setData("text/plain", name); }}>${name}</button>`)}
        ${picked != null && !names.includes(picked) && html`<button class="button small main" aria-label=${`Put it here: make ${picked} ${title.toLowerCase()}`} onClick=${() => { setRole(picked, role); pick(null); }}>Put it here</button>`}</div></div>`;
  })}</div>`;
}

const known = (role) => ROLES.some((one) => one.role === role);

function Suggestion({ column, role, setRole }) {
  if (!known(column.role)) return html`<span class="tag warn">${column.role}</span> ${column.why}`;
  if (column.role === role) return column.why;
  return html`<button class="button quiet small" onClick=${() => setRole(column.name, column.role)} title="Take this suggestion">${column.role}</button> ${column.why}`;
}

function ColumnList({ overview, settings, change, setRole, setScale }) {
  return html`<${Scroll} label="Columns of the table"><table class="cards" role="table"><caption class="sr">Columns of the table</caption><thead role="rowgroup"><tr role="row"><th role="columnheader" scope="col">Column</th><th role="columnheader" scope="col">Distribution</th><th role="columnheader" scope="col">Scale</th>
      <th role="columnheader" scope="col" class="number">Values</th><th role="columnheader" scope="col" class="number">Missing</th><th role="columnheader" scope="col">Role</th><th role="columnheader" scope="col" class="wide-only">Suggested</th></tr></thead>
    <tbody role="rowgroup">${overview.columns.map((column) => html`<tr role="row">
      <td role="cell" class="name whole"><span class="row"><span class="spot ${settings.roles[column.name]}"></span><strong>${column.name}</strong></span></td>
      <td role="cell"><${Tiny} picture=${column.picture} name=${column.name} /></td>
      <td role="cell"><select aria-label=${`Scale of ${column.name}`} value=${settings.scales?.[column.name] ?? ""} onChange=${(event) => setScale(column.name, event.target.value)}>
        <option value="">${column.scale}</option>${SCALES.filter((scale) => scale !== column.scale).map((scale) => html`<option value=${scale}>${scale}</option>`)}</select></td>
      <td role="cell" class="number" data-label="Values">${count(column.distinct)}</td><td role="cell" class="number ${column.missing ? "" : "nothing"}" data-label="Missing">${column.missing ? count(column.missing) : "–"}</td>
      <td role="cell" class="whole"><select aria-label=${`Role of ${column.name}`} value=${settings.roles[column.name] ?? ""} onChange=${(event) => setRole(column.name, event.target.value)}>
        ${ROLES.map(({ role, title }) => html`<option value=${role}>${title}</option>`)}</select>
        <div class="narrow-only small muted"><${Suggestion} column=${column} role=${settings.roles[column.name]} setRole=${setRole} /><${Allowed} name=${column.name} settings=${settings} change=${change} /></div></td>
      <td role="cell" class="small muted wide-only"><${Suggestion} column=${column} role=${settings.roles[column.name]} setRole=${setRole} /><${Allowed} name=${column.name} settings=${settings} change=${change} /></td>
    </tr>`)}</tbody></table><//>`;
}

function Exposure({ ask, read, settings }) {
  const quasi = rolesOf(settings, "quasi-identifying");
  const { value, problems, busy } = useAnswer(() => ask({ ask: "risk", quasi }), [quasi.join("\n"), read], 250);
  if (problems) return html`<${Problems} problems=${problems} />`;
  if (!value) return html`<section class="card"><${Busy}>Counting who stands alone</${Busy}></section>`;
  if (!value.profile) return html`<section class="card"><h2>Who stands alone</h2><p>Give at least one column the role <em>quasi-identifying</em>: the ones that others may know about a person.</p></section>`;
  const { profile, sizes, combinations } = value;
  const shown = combinations.filter((one) => one.unique > 0).slice(0, 8);
  return html`<section class="card stack" aria-busy=${busy ? "true" : "false"}><div><h2>Who stands alone</h2><p class="muted">By the ${plural(quasi.length, "quasi-identifying column")}, before anything is done.</p></div>
    <div class="facts"><${Fact} name="Stand alone" value=${percent(profile.unique_share)} more=${`${count(profile.unique)} records`} mood=${profile.unique ? "bad" : "good"} />
      <${Fact} name="In groups below 5" value=${percent(profile.at_risk_share)} more=${`${count(profile.at_risk)} records`} mood=${profile.at_risk ? "bad" : "good"} /></div>
    <${Figure} title="Records by size of their group" text="A group: records with the same values in all quasi-identifying columns."
      table=${{ head: ["Group size", "Groups", "Records"], rows: sizes.map((one) => [one.sizes, count(one.classes), count(one.records)]), numbers: [1, 2] }}>
      <${Columns} label="Records by size of their group" labels=${sizes.map((one) => one.sizes)} height=${150} series=${[{ colour: "f2", values: sizes.map((one) => one.records), tips: sizes.map((one) => `Groups of ${one.sizes}: ${count(one.records)} records`) }]} /><//>
    ${shown.length > 0 && html`<${Figure} title="What singles people out" text=${`The share of records that stand alone by these columns only.${value.estimated ? " Estimated from a part of the records." : ""}`}
      table=${{ head: ["Columns", "Stand alone", "Share"], rows: combinations.map((one) => [one.columns.join(" + "), count(one.unique), percent(one.unique_share)]), numbers: [1, 2] }}>
      <${Bars} label="Combinations of columns that single people out" most=${1} format=${(share) => percent(share)} rows=${shown.map((one) => ({ label: one.columns.join(" + "), parts: [{ value: one.unique_share, colour: "f2", tip: `${one.columns.join(" + ")}\n${count(one.unique)} records stand alone` }] }))} /><//>`}
  </section>`;
}

const DATES = ["%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%d.%m.%Y %H:%M", "%d %b %Y", "%d-%b-%Y"];

// Columns that are nearly numbers or dates: as categories, a release would list their values.
function Nearly({ settings, change, columns }) {
  const stated = settings.date_formats ?? {};
  const doubts = columns.filter((column) => column.near && !settings.scales?.[column.name] && !stated[column.name]);
  const category = (name) => change((now) => ({ scales: { ...now.scales, [name]: "category" } }));
  const dates = (name, form) => change((now) => { const { [name]: before, ...others } = now.date_formats ?? {}; return { date_formats: form ? { ...others, [name]: form } : others }; });
  const ways = { "comma-numbers": ({ name }) => html`<button class="button small" onClick=${() => change({ csv: { ...settings.csv, decimal_comma: true } })}>Read decimal commas</button>`,
    "other-dates": ({ name }) => html`<label class="row small">They are written <select aria-label=${`How dates of ${name} are written`} value="" onChange=${(event) => dates(name, event.target.value)}><option value="">choose</option>${DATES.map((form) => html`<option value=${form}>${written(form)}</option>`)}</select></label>` };
  return html`${doubts.map((column) => html`<div class="note warn gap"><strong class="name">${column.name}</strong>: nearly all of its values are ${column.near.what}, but it would be taken for a category, whose values a release lists.
      <div class="row gap">${ways[column.near.kind]?.(column) ?? html`<span class="small">Name the other texts above, if they mean “missing”.</span>`}<button class="button quiet small" onClick=${() => category(column.name)}>It is a category</button></div></div>`)}
    ${Object.entries(stated).map(([name, form]) => html`<p class="small row gap"><span><strong class="name">${name}</strong>: dates such as ${written(form)}</span><button class="button quiet small" aria-label=${`Forget how dates of ${name} are written`} onClick=${() => dates(name, null)}>Forget</button></p>`)}`;
}

const written = (form) => Object.entries({ "%d": "31", "%m": "12", "%b": "Dec", "%Y": "1950", "%H": "18", "%M": "30" }).reduce((text, [part, value]) => text.replace(part, value), form);

// How the table is to be read: texts that mean 'missing', and whether several records are of one person.
function Reading({ settings, change, columns, overview }) {
  const texts = [...new Set(overview.columns.flatMap((column) => column.missing_texts ?? []))].filter((text) => text && !(settings.missing ?? []).includes(text));
  const guess = overview.person && !settings.person ? overview.person : null;
  const missing = (text) => change({ missing: text.split(",").map((text) => text.trim()).filter(Boolean) });
  const person = (event) => change((now) => ({ person: event.target.value || null, roles: event.target.value ? { ...now.roles, [event.target.value]: "identifying" } : now.roles }));
  return html`<section class="card"><h2>Reading</h2><div class="row gap"><label class="field"><span>Texts that mean “missing”</span><${Typed} type="text" placeholder="?, n/a" value=${(settings.missing ?? []).join(", ")} change=${missing} /><small>besides empty cells</small></label>
    <label class="field"><span>Several records of one person?</span><select value=${settings.person ?? ""} onChange=${person}><option value="">no: one record each</option>${columns.map((name) => html`<option value=${name}>told apart by ${name}</option>`)}</select><small>k then counts persons; the column is not released</small></label>
    <label class="row small"><input type="checkbox" checked=${settings.csv?.decimal_comma === true} onChange=${(event) => change({ csv: { ...settings.csv, decimal_comma: event.target.checked || null } })} />Decimal commas: 3,5 means 3.5</label></div>
    <${Nearly} settings=${settings} change=${change} columns=${overview.columns} />
    ${texts.length > 0 && html`<div class="note gap">Probably mean “missing”: ${texts.map((text) => html`<code>${text}</code> `)} <button class="button small" onClick=${() => change((now) => ({ missing: [...(now.missing ?? []), ...texts] }))}>Take them so</button></div>`}
    ${guess && html`<div class="note gap"><strong class="name">${guess.column}</strong> may tell persons apart: ${guess.why}. <button class="button small" onClick=${() => person({ target: { value: guess.column } })}>It does</button></div>`}
    ${overview.settled?.length > 0 && html`<p class="small muted gap">One column tells another: ${overview.settled.slice(0, 6).map((one) => `${one.by} tells ${one.column}`).join("; ")}. Give them the same role.</p>`}</section>`;
}

export function TablePage({ store }) {
  const { project, change, settle, save, replaced } = store;
  const { settings, number } = project;
  const read = JSON.stringify([settings.csv, settings.date_formats, project.source.version]); // the server reads the table as the settings say
  const ask = (question) => save().then(() => post(`/api/projects/${number}/ask`, question));
  const { value: overview, problems } = useAnswer(() => ask({ ask: "overview", missing: settings.missing ?? [] }), [number, (settings.missing ?? []).join("\n"), read]);
  // The first time a table is seen, its columns get the suggested roles, to be changed here.
  useEffect(() => {
    if (overview && overview.columns.some((column) => !settings.roles[column.name])) {
      settle({ roles: Object.fromEntries(overview.columns.map((column) => [column.name, settings.roles[column.name] ?? (known(column.role) ? column.role : column.safe_role)])) });
    }
  }, [overview]);
  const setRole = (name, role) => change((now) => ({ roles: { ...now.roles, [name]: role } }));
  const setScale = (name, scale) => change((now) => {
    const { [name]: before, ...others } = now.scales ?? {};
    return { scales: scale ? { ...others, [name]: scale } : others };
  });
  if (problems) return html`<div class="stack"><${Problems} problems=${problems} title="The table cannot be read" />
    ${Object.keys(settings.roles).length > 0 && html`<${Reading} settings=${settings} change=${change} overview=${{ columns: [] }} columns=${Object.keys(settings.roles)} />`}</div>`;
  if (!overview) return html`<${Busy}>Reading ${project.source.name}</${Busy}>`;
  return html`<${Intro} title="Table">What is each column to an attacker? The roles below are suggestions from names and values: only you know who may know what.<//>
    <div class="stack">
      <div class="facts"><${Fact} name="Records" value=${count(overview.records)} /><${Fact} name="Columns" value=${count(overview.columns.length)} />
        <${Fact} name="Quasi-identifying" value=${count(rolesOf(settings, "quasi-identifying").length)} /><${Fact} name="Cells without a value" value=${count(overview.columns.reduce((sum, column) => sum + column.missing, 0))} /></div>
      <section class="card"><h2>Roles</h2><p>Drag a column to another role, or click it and then its new place; the list below does the same.</p><${Lanes} settings=${settings} setRole=${setRole} /></section>
      <div class="columns"><div class="stack"><section class="card"><h2>Columns</h2>${overview.pictured && html`<p>Pictures are drawn from ${count(overview.pictured)} records, taken at random.</p>`}
          <${ColumnList} overview=${overview} settings=${settings} change=${change} setRole=${setRole} setScale=${setScale} /></section><${Reading} settings=${settings} change=${change} overview=${overview} columns=${overview.columns.map((column) => column.name)} />
          ${["sample", "upload"].includes(project.source.kind) && project.runs.length > 0 && html`<${Newer} project=${project} taken=${replaced} />`}</div>
        <${Exposure} ask=${ask} read=${read} settings=${settings} /></div>
      <section class="card"><h2>Records</h2><p>As they are in the file. Only you see them.</p><${Paged} label="Records of the table" needed=${[read]} load=${(start, size) => ask({ ask: "rows", start, count: size })} /></section>
    </div><${Next} to="#/${number}/hierarchies">Hierarchies<//>`;
}
