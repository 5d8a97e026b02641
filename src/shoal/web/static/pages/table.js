// The table: what its columns are, how they look, what role each has, and who stands alone by them.
import { html, useState, useEffect, count, percent, ROLES, rolesOf, plural } from "../lib.js";
import { post } from "../api.js";
import { Busy, Problems, Fact, Intro, Next, Paged, useAnswer } from "../parts.js";
import { Figure, Bars, Columns, Tiny } from "../charts.js";

const SCALES = ["integer", "decimal", "date", "category"];

function Lanes({ settings, setRole }) {
  const [over, setOver] = useState(null);
  return html`<div class="lanes">${ROLES.map(({ role, title, text }) => {
    const names = rolesOf(settings, role);
    return html`<div class="lane ${over === role ? "over" : ""}" onDragOver=${(event) => { event.preventDefault(); setOver(role); }} onDragLeave=${() => setOver(null)}
        onDrop=${(event) => { event.preventDefault(); setOver(null); setRole(event.dataTransfer.getData("text/plain"), role); }}>
      <h3><span class="spot ${role}"></span>${title}<span class="count">${names.length}</span></h3><p>${text}</p>
      <div class="chips">${names.map((name) => html`<span class="chip" draggable="true" onDragStart=${(event) => event.dataTransfer.setData("text/plain", name)}>${name}</span>`)}</div></div>`;
  })}</div>`;
}

const known = (role) => ROLES.some((one) => one.role === role);

function Suggestion({ column, role, setRole }) {
  if (!known(column.role)) return html`<span class="tag warn">${column.role}</span> ${column.why}`;
  if (column.role === role) return column.why;
  return html`<button class="button quiet small" onClick=${() => setRole(column.name, column.role)} title="Take this suggestion">${column.role}</button> ${column.why}`;
}

function ColumnList({ overview, settings, setRole, setScale }) {
  return html`<div class="scroll"><table><caption class="sr">Columns of the table</caption><thead><tr><th scope="col">Column</th><th scope="col">Distribution</th><th scope="col">Scale</th>
      <th scope="col" class="number">Values</th><th scope="col" class="number">Missing</th><th scope="col">Role</th><th scope="col" class="wide-only">Suggested</th></tr></thead>
    <tbody>${overview.columns.map((column) => html`<tr>
      <td class="name"><span class="row"><span class="spot ${settings.roles[column.name]}"></span><strong>${column.name}</strong></span></td>
      <td><${Tiny} picture=${column.picture} name=${column.name} /></td>
      <td><select aria-label=${`Scale of ${column.name}`} value=${settings.scales?.[column.name] ?? ""} onChange=${(event) => setScale(column.name, event.target.value)}>
        <option value="">${column.scale}</option>${SCALES.filter((scale) => scale !== column.scale).map((scale) => html`<option value=${scale}>${scale}</option>`)}</select></td>
      <td class="number">${count(column.distinct)}</td><td class="number">${column.missing ? count(column.missing) : "–"}</td>
      <td><select aria-label=${`Role of ${column.name}`} value=${settings.roles[column.name] ?? ""} onChange=${(event) => setRole(column.name, event.target.value)}>
        ${ROLES.map(({ role, title }) => html`<option value=${role}>${title}</option>`)}</select>
        <div class="narrow-only small muted"><${Suggestion} column=${column} role=${settings.roles[column.name]} setRole=${setRole} /></div></td>
      <td class="small muted wide-only"><${Suggestion} column=${column} role=${settings.roles[column.name]} setRole=${setRole} /></td>
    </tr>`)}</tbody></table></div>`;
}

function Exposure({ number, settings }) {
  const quasi = rolesOf(settings, "quasi-identifying");
  const { value, problems, busy } = useAnswer(() => post(`/api/projects/${number}/ask`, { ask: "risk", quasi }), [quasi.join("\n")], 250);
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

// How the table is to be read: texts that mean 'missing', and whether several records are of one person.
function Reading({ settings, change, columns, overview }) {
  const texts = [...new Set(overview.columns.flatMap((column) => column.missing_texts ?? []))].filter((text) => text && !(settings.missing ?? []).includes(text));
  const guess = overview.person && !settings.person ? overview.person : null;
  const missing = (event) => change({ missing: event.target.value.split(",").map((text) => text.trim()).filter(Boolean) });
  const person = (event) => change((now) => ({ person: event.target.value || null, roles: event.target.value ? { ...now.roles, [event.target.value]: "identifying" } : now.roles }));
  return html`<section class="card"><h2>Reading</h2><div class="row gap"><label class="field"><span>Texts that mean “missing”</span><input type="text" placeholder="?, n/a" value=${(settings.missing ?? []).join(", ")} onChange=${missing} /><small>besides empty cells</small></label>
    <label class="field"><span>Several records of one person?</span><select value=${settings.person ?? ""} onChange=${person}><option value="">no: one record each</option>${columns.map((name) => html`<option value=${name}>told apart by ${name}</option>`)}</select><small>k then counts persons; the column is not released</small></label></div>
    ${texts.length > 0 && html`<div class="note gap">Probably mean “missing”: ${texts.map((text) => html`<code>${text}</code> `)} <button class="button small" onClick=${() => change((now) => ({ missing: [...(now.missing ?? []), ...texts] }))}>Take them so</button></div>`}
    ${guess && html`<div class="note gap"><strong class="name">${guess.column}</strong> may tell persons apart: ${guess.why}. <button class="button small" onClick=${() => person({ target: { value: guess.column } })}>It does</button></div>`}
    ${overview.settled?.length > 0 && html`<p class="small muted gap">One column tells another: ${overview.settled.slice(0, 6).map((one) => `${one.by} tells ${one.column}`).join("; ")}. Give them the same role.</p>`}</section>`;
}

export function TablePage({ store }) {
  const { project, change } = store;
  const { settings, number } = project;
  const { value: overview, problems } = useAnswer(() => post(`/api/projects/${number}/ask`, { ask: "overview", missing: settings.missing ?? [] }), [number, (settings.missing ?? []).join("\n")]);
  // The first time a table is seen, its columns get the suggested roles, to be changed here.
  useEffect(() => {
    if (overview && overview.columns.some((column) => !settings.roles[column.name])) {
      change({ roles: Object.fromEntries(overview.columns.map((column) => [column.name, settings.roles[column.name] ?? (known(column.role) ? column.role : column.safe_role)])) });
    }
  }, [overview]);
  const setRole = (name, role) => change((now) => ({ roles: { ...now.roles, [name]: role } }));
  const setScale = (name, scale) => change((now) => {
    const { [name]: before, ...others } = now.scales ?? {};
    return { scales: scale ? { ...others, [name]: scale } : others };
  });
  if (problems) return html`<${Problems} problems=${problems} title="The table cannot be read" />`;
  if (!overview) return html`<${Busy}>Reading ${project.source.name}</${Busy}>`;
  return html`<${Intro} title="Table">What is each column to an attacker? The roles below are suggestions from names and values: only you know who may know what.<//>
    <div class="stack">
      <div class="facts"><${Fact} name="Records" value=${count(overview.records)} /><${Fact} name="Columns" value=${count(overview.columns.length)} />
        <${Fact} name="Quasi-identifying" value=${count(rolesOf(settings, "quasi-identifying").length)} /><${Fact} name="Cells without a value" value=${count(overview.columns.reduce((sum, column) => sum + column.missing, 0))} /></div>
      <section class="card"><h2>Roles</h2><p>Drag a column to another role, or choose it in the list below.</p><${Lanes} settings=${settings} setRole=${setRole} /></section>
      <div class="columns"><div class="stack"><section class="card"><h2>Columns</h2>${overview.pictured && html`<p>Pictures are drawn from ${count(overview.pictured)} records, taken at random.</p>`}
          <${ColumnList} overview=${overview} settings=${settings} setRole=${setRole} setScale=${setScale} /></section><${Reading} settings=${settings} change=${change} overview=${overview} columns=${overview.columns.map((column) => column.name)} /></div>
        <${Exposure} number=${number} settings=${settings} /></div>
      <section class="card"><h2>Records</h2><p>As they are in the file. Only you see them.</p><${Paged} label="Records of the table" load=${(start, size) => post(`/api/projects/${number}/ask`, { ask: "rows", start, count: size })} /></section>
    </div><${Next} to="#/${number}/hierarchies">Hierarchies<//>`;
}
