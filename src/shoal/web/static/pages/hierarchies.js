// An editor per column: builders with a preview, the tree by hand, files of other tools, and the values left out.
import { html, useState, useEffect, useRef, count, rolesOf, plural } from "../lib.js";
import { post } from "../api.js";
import { Busy, Problems, Intro, Next, Typed, useAnswer } from "../parts.js";
import * as trees from "../trees.js";

const BUILDERS = [
  { name: "none", title: "None", text: "Numbers and dates become ranges, categories become sets such as {A, B}." },
  { name: "prefix", title: "Prefix", text: "Codes lose their last characters: 04109, 0410*, 041**." },
  { name: "ranges", title: "Ranges", text: "Numbers in ranges that get wider from level to level." },
  { name: "dates", title: "Dates", text: "Days by month, quarter, year, decade." },
  { name: "order", title: "Order", text: "Values from low to high, neighbours together." },
  { name: "codes", title: "Codes", text: "ICD-10, ATC or ISCO by chapter, block and group." },
  { name: "regions", title: "Regions", text: "Countries by region and continent." },
  { name: "flat", title: "Flat", text: "Every value right below one root: exact, or not at all." },
  { name: "lines", title: "File", text: "Lines of a file for ARX, anjana or Amnesia: the value first, the root last." },
  { name: "hand", title: "By hand", text: "A tree to rename, move, merge and split." },
];
const START = { prefix: { builder: "prefix" }, ranges: { builder: "ranges" }, dates: { builder: "dates", levels: ["month", "quarter", "year"] }, flat: { builder: "flat" }, codes: { builder: "codes", system: "icd10" }, regions: { builder: "regions" } };
const kindOf = (spec) => (spec == null ? "none" : spec.builder ?? "hand");
const numbers = (text) => text.split(/[,;\s]+/).filter(Boolean).map(Number).filter((number) => !Number.isNaN(number));

function Fields({ spec, set, catalogue, values }) {
  const number = (key, label, rest = {}) => html`<label class="field"><span>${label}</span><${Typed} type="number" value=${spec[key] ?? ""} ...${rest}
    change=${(text) => { const { [key]: before, ...others } = spec; set(text === "" ? others : { ...others, [key]: Number(text) }); }} /></label>`;
  if (spec.builder === "prefix") return html`<div class="row">${number("step", "Characters per level", { min: 1, placeholder: "1" })}</div>`;
  if (spec.builder === "ranges") return html`<div class="row">${number("width", "Width of the finest", { min: 0, step: "any", placeholder: "found" })}${number("factor", "Times wider per level", { min: 2, placeholder: "2" })}${number("levels", "Levels", { min: 1, placeholder: "found" })}
    <label class="field"><span>Or own boundaries, levels parted by |</span><${Typed} type="text" placeholder="0, 18, 40, 65 | 0, 40" value=${(spec.edges ?? []).map((level) => (Array.isArray(level) ? level : [level]).join(", ")).join(" | ")}
      change=${(text) => { const levels = text.split("|").map(numbers).filter((level) => level.length); const { edges, ...others } = spec; set(levels.length ? { builder: "ranges", edges: levels } : others); }} /></label></div>`;
  if (spec.builder === "codes") return html`<div class="row"><label class="field"><span>System</span><select value=${spec.system ?? ""} onChange=${(event) => set({ builder: "codes", system: event.target.value })}><option value="icd10">ICD-10: diagnoses</option><option value="atc">ATC: drugs</option><option value="isco">ISCO: occupations</option></select></label></div>`;
  if (spec.builder === "dates") return html`<fieldset class="row plain"><legend class="sr">Levels</legend>${catalogue.date_levels.map((level) => html`<label class="row"><input type="checkbox" checked=${(spec.levels ?? catalogue.date_levels).includes(level)}
    onChange=${(event) => set({ ...spec, levels: catalogue.date_levels.filter((one) => (one === level ? event.target.checked : (spec.levels ?? catalogue.date_levels).includes(one))) })} />${level}</label>`)}</fieldset>`;
  if (spec.builder === "order") return html`<div class="stack"><label class="field"><span>Values per group, from level to level</span><${Typed} type="text" value=${[].concat(spec.sizes ?? []).join(", ")} change=${(text) => set({ ...spec, sizes: numbers(text) })} /></label>
    <label class="field"><span>Values from low to high, one per line</span><${Typed} tag="textarea" rows="8" value=${(spec.values ?? values ?? []).join("\n")} change=${(text) => set({ ...spec, values: text.split("\n").map((line) => line.trim()).filter(Boolean) })} /></label></div>`;
  return null;
}

function Lines({ number, column, taken }) {
  const [text, setText] = useState("");
  const [problems, setProblems] = useState(null);
  const field = useRef(null);
  const take = async (lines) => {
    try {
      const answer = await post(`/api/projects/${number}/ask`, { ask: "hierarchy", column, spec: { lines } });
      if (!answer.tree) throw Object.assign(new Error(), { problems: [{ message: "The tree is too large to be kept in the page; use a job file." }] });
      taken(trees.toSpec(answer.tree));
    } catch (error) {
      setProblems(error.problems);
    }
  };
  return html`<div class="stack"><label class="field"><span>Lines</span><textarea rows="8" placeholder=${"nurse;health;*\nclerk;office;*"} value=${text} onInput=${(event) => setText(event.target.value)}></textarea></label>
    <div class="row"><button class="button main" disabled=${!text.trim()} onClick=${() => take(text)}>Use these lines</button><button class="button" onClick=${() => field.current.click()}>Load a file</button>
      <input class="sr" tabindex="-1" ref=${field} type="file" accept=".csv,.txt" aria-label="A hierarchy file" onChange=${async (event) => event.target.files[0] && take(await event.target.files[0].text())} /></div><${Problems} problems=${problems} /></div>`;
}

const key = (path) => path.join(".");

function Node({ node, path, editor }) {
  const { open, toggle, chosen, choose, editing, setEditing, edit, drag, drop, over, setOver } = editor;
  const name = key(path), isOpen = open.has(name), isChosen = chosen.some((one) => trees.same(one, path));
  const shown = isOpen ? node.children ?? [] : [];
  const most = editor.most[name] ?? 60;
  const keys = (event) => {
    if (event.key === "F2" && editor.byHand) setEditing(name);
    else if (event.key === "ArrowRight" && node.children && !isOpen) toggle(name);
    else if (event.key === "ArrowLeft" && isOpen) toggle(name);
    else if (["ArrowDown", "ArrowUp", "Home", "End"].includes(event.key)) {
      const all = [...event.target.closest("[role=tree]").querySelectorAll("button.label")], here = all.indexOf(event.target);
      all[{ ArrowDown: here + 1, ArrowUp: here - 1, Home: 0, End: all.length - 1 }[event.key]]?.focus();
    } else return;
    event.preventDefault();
  };
  return html`<li role="treeitem" aria-expanded=${node.children ? String(isOpen) : undefined} aria-selected=${isChosen ? "true" : "false"}>
    <div class="node ${isChosen ? "chosen" : ""} ${over === name ? "over" : ""}" draggable=${editor.byHand && path.length > 0 ? "true" : undefined} onDragStart=${(event) => drag(event, path)}
      onDragOver=${(event) => { if (editor.byHand && node.children) { event.preventDefault(); setOver(name); } }} onDragLeave=${() => setOver(null)} onDrop=${(event) => { event.preventDefault(); drop(path); }}>
      ${node.children ? html`<button class="fold" tabindex="-1" aria-label=${isOpen ? "Fold" : "Unfold"} onClick=${() => toggle(name)}>${isOpen ? "▾" : "▸"}</button>` : html`<span class="fold"></span>`}
      ${editing === name ? html`<input type="text" class="label" aria-label="New name" onFocus=${(event) => event.target.select()} ref=${(field) => field?.focus()} defaultValue=${node.label}
          onKeyDown=${(event) => { if (event.key === "Enter") { editor.back.current = name; event.target.blur(); } if (event.key === "Escape") { editor.back.current = name; setEditing(null); } }} onBlur=${(event) => { setEditing(null); if (event.target.value.trim() && event.target.value !== node.label) edit(trees.rename(editor.tree, path, event.target.value.trim())); }} />`
        : html`<button class="label" ref=${(button) => { if (button && editor.back.current === name) { editor.back.current = null; button.focus(); } }} tabindex=${editor.focused === name ? "0" : "-1"} onFocus=${() => editor.setFocused(name)} onKeyDown=${keys} onClick=${(event) => choose(path, event.ctrlKey || event.metaKey || event.shiftKey)} onDblClick=${() => editor.byHand && node.children && setEditing(name)}>${node.label}</button>`}
      ${node.children ? html`<span class="count">${plural(trees.leaves(node), "value")}</span>` : editor.records.has(node.label) && html`<span class="count">${plural(editor.records.get(node.label), "record")}</span>`}</div>
    ${shown.length > 0 && html`<ul class="tree" role="group">${shown.slice(0, most).map((child, place) => html`<${Node} key=${place} node=${child} path=${[...path, place]} editor=${editor} />`)}
      ${shown.length > most && html`<li><button class="button quiet small" onClick=${() => editor.more(name, most + 200)}>${count(shown.length - most)} more</button></li>`}</ul>`}
  </li>`;
}

function TreeEditor({ tree, byHand, edit, uncovered, records }) {
  const [open, setOpen] = useState(new Set(["", ...(tree.children ?? []).slice(0, 4).map((child, place) => String(place))]));
  const [chosen, setChosen] = useState([]);
  const [editing, setEditing] = useState(null);
  const [over, setOver] = useState(null);
  const [focused, setFocused] = useState("");
  const [most, setMost] = useState({});
  const dragged = useRef(null), back = useRef(null); // where the keyboard goes back to after a new name
  const change = (after) => { setChosen([]); edit(after); };
  const editor = {
    tree, byHand, open, chosen, editing, setEditing, over, setOver, most, focused, setFocused, records, back,
    more: (name, number) => setMost({ ...most, [name]: number }),
    toggle: (name) => { const next = new Set(open); if (!next.delete(name)) next.add(name); setOpen(next); },
    choose: (path, more) => setChosen(!more ? [path] : chosen.some((one) => trees.same(one, path)) ? chosen.filter((one) => !trees.same(one, path)) : [...chosen, path]),
    edit: change,
    drag: (event, path) => { event.stopPropagation(); dragged.current = chosen.some((one) => trees.same(one, path)) ? chosen : [path]; event.dataTransfer.setData("text/plain", ""); },
    drop: (path) => { setOver(null); if (dragged.current && trees.at(tree, path).children) change(trees.move(tree, dragged.current, path)); dragged.current = null; },
  };
  const paths = chosen.filter((path) => path.length);
  const one = paths.length === 1 ? trees.at(tree, paths[0]) : null;
  const nodes = paths.map((path) => trees.at(tree, path));
  const apart = !paths.some((path) => paths.some((other) => other !== path && trees.within(path, other)));
  const mergeable = paths.length > 1 && apart && nodes.every((node) => node.children);
  const above = paths[0]?.slice(0, -1) ?? [];
  const splittable = above.length > 0 && paths.every((path) => trees.same(path.slice(0, -1), above)) && trees.at(tree, above).children.length > paths.length;
  const named = (label) => { const given = prompt("Name of the new group", label); return given?.trim(); };
  return html`<div class="stack">
    ${byHand && html`<div class="row" role="toolbar" aria-label="Change the tree">
      <button class="button small" disabled=${chosen.length !== 1 || !trees.at(tree, chosen[0]).children} onClick=${() => setEditing(key(chosen[0]))} title="F2, or a double click">Rename</button>
      <button class="button small" disabled=${!paths.length} onClick=${() => { const label = named("new group"); if (label) change(trees.group(tree, paths, label)); }} title="A new group that holds what is chosen">Group together</button>
      <button class="button small" disabled=${!mergeable} onClick=${() => change(trees.merge(tree, paths))} title="Makes one group of all chosen ones">Merge</button>
      <button class="button small" disabled=${!splittable} onClick=${() => { const label = named(`${trees.at(tree, above).label} 2`); if (label) change(trees.split(tree, paths, label)); }} title="Moves what is chosen into a new group beside its own">Split off</button>
      <button class="button small" disabled=${!one?.children} onClick=${() => change(trees.dissolve(tree, paths[0]))}>Take apart</button>
      <label class="row small"><span>Move to</span><select disabled=${!paths.length} value="" onChange=${(event) => { const goal = trees.groups(tree)[Number(event.target.value)]; if (goal) change(trees.move(tree, paths, goal.path)); event.target.value = ""; }}>
        <option value="">…</option>${trees.groups(tree).map((goal, order) => html`<option value=${order}>${"  ".repeat(goal.depth)}${goal.label}</option>`)}</select></label>
      <span class="small muted">${chosen.length ? `${plural(chosen.length, "node")} chosen` : "Click chooses, Ctrl+click more; drag to move."}</span></div>`}
    ${uncovered.length > 0 && html`<div class="note warn"><strong>Values not covered: ${count(uncovered.length)}.</strong> Each must have its place.
      <div class="chips gap">${uncovered.slice(0, 40).map((value) => html`<span class="chip still">${value}</span>`)}${uncovered.length > 40 && html`<span class="muted">and more</span>`}</div>
      <div class="row gap"><button class="button small" onClick=${() => change(trees.add(tree, uncovered))}>Put them below the root</button>
        <label class="row small"><span>or below</span><select value="" onChange=${(event) => { const goal = trees.groups(tree)[Number(event.target.value)]; if (goal) change(trees.add(tree, uncovered, goal.path)); }}><option value="">…</option>${trees.groups(tree).map((goal, order) => html`<option value=${order}>${goal.label}</option>`)}</select></label></div></div>`}
    <ul class="tree" role="tree" aria-label="The hierarchy" aria-multiselectable="true"><${Node} node=${tree} path=${[]} editor=${editor} /></ul></div>`;
}

// How far values may be lifted: level 0 is exact, the highest is the root.
function Cap({ store, column, shape, sample }) {
  const { project, change } = store;
  const top = shape ? shape.levels - 1 : 0;
  const cap = project.settings.at_most?.[column];
  const set = (level) => change((now) => { const { [column]: before, ...others } = now.at_most ?? {}; return { at_most: level == null ? others : { ...others, [column]: level } }; });
  const path = sample?.find((one) => new Set(one).size > 2) ?? sample?.[0] ?? [];
  const word = (level) => (level === 0 ? "exact: never generalized" : `level ${level}${path[level] != null ? `, such as ${path[level]}` : ""}`);
  return html`<div class="row fields"><label class="field"><span>At most as blurred as</span><select value=${cap ?? ""} onChange=${(event) => set(event.target.value === "" ? null : Number(event.target.value))}>
      <option value="">no limit</option>${Array.from({ length: Math.max(1, top) }, (nothing, level) => html`<option value=${level}>${word(level)}</option>`)}</select></label>
    <span class="small muted">${cap == null ? "A release may go as far as it must." : "Whether that can be met is told in Requirement."}</span></div>`;
}

function Editor({ number, column, store, catalogue, fitting }) {
  const { project, change } = store;
  const spec = project.settings.hierarchies?.[column];
  const [loading, setLoading] = useState(false);
  const kind = loading ? "lines" : kindOf(spec);
  const set = (next) => { setLoading(false); change((now) => { const { [column]: before, ...others } = now.hierarchies ?? {}; return { hierarchies: next == null ? others : { ...others, [column]: next } }; }); };
  const values = useAnswer(() => post(`/api/projects/${number}/ask`, { ask: "values", column, count: 2000 }), [column]);
  const now = JSON.stringify(spec ?? null);
  const [edited, setEdited] = useState(null); // the tree as it was edited last, until the server has answered
  const shown = useAnswer(async () => (spec ? { ...(await post(`/api/projects/${number}/ask`, { ask: "hierarchy", column, spec })), of: now, kind: kindOf(spec) } : null), [column, now], 120);
  const known = (values.value?.values ?? []).map(([value]) => value);
  const pick = (name) => {
    if (name === "lines") setLoading(true);
    else if (name === "none") set(null);
    else if (name === "order") set({ builder: "order", sizes: [2, 4], values: [...known].sort((a, b) => a.localeCompare(b, "en", { numeric: true })) });
    else if (name === "hand") set(shown.value?.tree ? trees.toSpec(shown.value.tree) : { "*": known });
    else set(START[name]);
  };
  // Numbers that are codes must be said to be categories, or their hierarchy is not used.
  const take = () => { setLoading(false); change((now) => ({ hierarchies: { ...now.hierarchies, [column]: fitting.builder }, ...(fitting.as_category ? { scales: { ...now.scales, [column]: "category" } } : {}) })); };
  const save = () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([trees.toLines(shown.value.tree)], { type: "text/csv" }));
    link.download = `${column.replace(/[^\w-]+/g, "_")}.csv`;
    link.click();
  };
  const answer = shown.value?.kind === kind ? shown.value : null; // else it is of what was chosen before
  const fresh = answer?.of === now, tree = edited?.of === now ? edited.tree : answer?.tree;
  const edit = (changed) => { const next = trees.toSpec(changed); setEdited({ of: JSON.stringify(next), tree: changed }); set(next); };
  return html`<section class="card stack"><div class="head"><h2 class="name">${column}</h2><span class="muted small">${values.value ? plural(values.value.distinct, "different value") : ""}</span></div>
    <div class="choice wrap" role="group" aria-label="How the hierarchy is made">${BUILDERS.map((one) => html`<button disabled=${(one.name === "hand" || one.name === "order") && (!values.value || shown.busy)} aria-pressed=${kind === one.name ? "true" : "false"} onClick=${() => pick(one.name)}>${one.title}</button>`)}</div>
    ${fitting && kind === "none" && html`<div class="note">${fitting.needed ? "Suggested" : "Possible, not needed"}: <strong>${fitting.builder.builder}</strong>, ${fitting.why}. <button class="button small" onClick=${take}>Take it</button></div>`}
    <p class="muted small">${BUILDERS.find((one) => one.name === kind)?.text}</p>
    ${kind === "lines" ? html`<${Lines} number=${number} column=${column} taken=${set} />` : spec?.builder && html`<${Fields} spec=${spec} set=${set} catalogue=${catalogue} values=${known} />`}
    <${Problems} problems=${shown.problems} title="This makes no hierarchy for the column" />
    ${spec && !loading && shown.busy && !answer && !shown.problems && html`<${Busy}>Building the tree</${Busy}>`}
    ${project.settings.roles[column] === "quasi-identifying" && (answer || !spec) && !loading && html`<${Cap} store=${store} column=${column} shape=${answer?.shape} sample=${answer?.sample} />`}
    ${answer && !loading && html`<div class="row small muted"><span>${plural(answer.shape.levels, "level")}, ${plural(answer.shape.leaves, "leaf", "leaves")}; nodes per level: ${answer.shape.nodes_per_level.join(", ")}</span><span class="spring"></span>
        ${answer.tree && html`<button class="button quiet small" onClick=${save}>Save as a file for ARX</button>`}</div>
      ${tree ? html`<${TreeEditor} key=${column} tree=${tree} byHand=${kind === "hand" && (fresh || edited?.of === now)} uncovered=${fresh ? answer.uncovered : []} records=${new Map(values.value?.values ?? [])} edit=${edit} />`
        : html`<p class="muted">The tree is too large to be shown; some of its paths:</p><ul>${answer.sample.map((path) => html`<li class="small">${path.join(" → ")}</li>`)}</ul>`}`}
  </section>`;
}

export function HierarchiesPage({ store, catalogue }) {
  const { project } = store;
  const { settings, number } = project;
  const columns = [...rolesOf(settings, "quasi-identifying"), ...rolesOf(settings, "sensitive")];
  const [chosen, choose] = useState(null);
  const column = columns.includes(chosen) ? chosen : columns[0];
  const { value: overview } = useAnswer(() => post(`/api/projects/${number}/ask`, { ask: "overview", missing: settings.missing ?? [] }), [number]);
  const fittingOf = (name) => overview?.columns.find((one) => one.name === name)?.hierarchy;
  const waiting = columns.filter((name) => !settings.hierarchies?.[name] && fittingOf(name)?.needed);
  const takeAll = () => store.change((now) => ({
    hierarchies: { ...now.hierarchies, ...Object.fromEntries(waiting.map((name) => [name, fittingOf(name).builder])) },
    scales: { ...now.scales, ...Object.fromEntries(waiting.filter((name) => fittingOf(name).as_category).map((name) => [name, "category"])) },
  }));
  return html`<${Intro} title="Hierarchies">What a value may become when it must be less exact: a postcode its area, an occupation its branch. A good hierarchy loses meaning slowly.<//>
    ${columns.length === 0 ? html`<p class="note warn">Give columns a role first, in <a href="#/${number}/table">Table</a>.</p>` : html`<div class="columns left">
      <nav class="card" aria-label="Columns"><div class="sidelist">${columns.map((name) => html`<button aria-pressed=${name === column ? "true" : "false"} onClick=${() => choose(name)}><span class="spot ${settings.roles[name]}"></span><span class="name">${name}</span>
        ${settings.at_most?.[name] != null && html`<span class="tag warn" title="May be blurred up to this level">≤ ${settings.at_most[name]}</span>`}
        <span class="tag">${{ none: "none", hand: "tree" }[kindOf(settings.hierarchies?.[name])] ?? kindOf(settings.hierarchies?.[name])}</span></button>`)}</div>
        ${waiting.length > 1 && html`<button class="button small gap" onClick=${takeAll}>Take all ${waiting.length} suggestions</button>`}</nav>
      <${Editor} key=${column} number=${number} column=${column} store=${store} catalogue=${catalogue} fitting=${fittingOf(column)} /></div>`}
    <${Next} to="#/${number}/requirement">Requirement<//>`;
}
