// The page: where we are, the steps from left to right, and the perspective of the step.
import { html, render, useState, useEffect } from "./lib.js";
import { get } from "./api.js";
import { Busy, Problems, TextField } from "./parts.js";
import { useProject } from "./store.js";
import { StartPage } from "./pages/start.js";
import { TablePage } from "./pages/table.js";
import { HierarchiesPage } from "./pages/hierarchies.js";
import { RequirementPage } from "./pages/requirement.js";
import { RunPage } from "./pages/run.js";
import { LookPage } from "./pages/look.js";
import { RiskPage } from "./pages/risk.js";
import { PublishPage } from "./pages/publish.js";

const STEPS = [
  { step: "table", title: "Table", page: TablePage },
  { step: "hierarchies", title: "Hierarchies", page: HierarchiesPage },
  { step: "requirement", title: "Requirement", page: RequirementPage },
  { step: "run", title: "Run", page: RunPage },
  { step: "look", title: "Look", page: LookPage },
  { step: "risk", title: "Risk", page: RiskPage },
  { step: "publish", title: "Publish", page: PublishPage },
];

const place = () => {
  const [, number, step, run] = location.hash.split("/");
  return { number: number || null, step: STEPS.some((one) => one.step === step) ? step : "table", run: run || null };
};

function useTheme() {
  const [theme, setTheme] = useState(localStorage.getItem("theme") ?? "system");
  useEffect(() => {
    if (theme === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    localStorage.setItem("theme", theme);
  }, [theme]);
  return [theme, setTheme];
}

function Theme() {
  const [theme, setTheme] = useTheme();
  const after = { system: "light", light: "dark", dark: "system" };
  return html`<button class="button quiet small" title="Light, dark, or as the system has it" onClick=${() => setTheme(after[theme])}>
    <span class="sr">Colours: </span>${{ system: "Auto", light: "Light", dark: "Dark" }[theme]}</button>`;
}

// Who is logged in, where there are users.
function Account({ user }) {
  const leave = async () => {
    await fetch("/api/leave", { method: "POST", headers: { "X-Shoal": "1" }, credentials: "same-origin", redirect: "manual" });
    location.href = "/login";
  };
  return user ? html`<span class="small muted">${user}</span><button class="button quiet small" onClick=${leave}>Log out</button>` : null;
}

// A word, and in a narrow window a sign for it.
const Short = ({ sign, word }) => html`<span class="sign" aria-hidden="true">${sign}</span><span class="word">${word}</span>`;

function Steps({ number, current, state }) {
  return html`<nav class="steps" aria-label="Steps">${STEPS.map(({ step, title }, order) => html`
    <a href="#/${number}/${step}" class=${state[step] ? "done" : ""} aria-current=${step === current ? "step" : undefined}>
      <span class="dot" aria-hidden="true">${order + 1}</span><span class="word">${title}</span></a>`)}</nav>`;
}

function Workbench({ number, step, run, catalogue }) {
  const store = useProject(number);
  const { project, problems, rename, undo, redo, canUndo, canRedo } = store;
  useEffect(() => {
    const pressed = (event) => {
      if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "z" || event.target.closest("input, textarea")) return;
      event.preventDefault();
      if (event.shiftKey) redo();
      else undo();
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  });
  useEffect(() => {
    document.title = project ? `${project.name}: ${STEPS.find((one) => one.step === step).title} – Shoal` : "Shoal workbench";
    document.querySelector("main")?.focus({ preventScroll: true });
    scrollTo(0, 0);
  }, [project?.name, step]);
  const done = project?.runs.some((one) => one.state === "done");
  const roles = project ? Object.values(project.settings.roles) : [];
  const state = { table: roles.includes("quasi-identifying"), requirement: project?.settings.k >= 2, run: done, hierarchies: Object.keys(project?.settings.hierarchies ?? {}).length > 0 };
  const Page = STEPS.find((one) => one.step === step).page;
  return html`<header class="top">
      <div class="bar"><a class="brand" href="#/"><img src="/static/icon.svg" alt="" />Shoal</a>
        ${project && html`<div class="where"><span aria-hidden="true">/</span><${TextField} value=${project.name} change=${rename} label="Name of the project" /><small>${project.source.name}</small></div>`}
        <span class="spring"></span>
        ${project && html`<button class="button quiet small" disabled=${!canUndo} onClick=${undo} title="Undo the last change of a setting (Ctrl+Z)"><${Short} sign="↶" word="Undo" /></button>
          <button class="button quiet small" disabled=${!canRedo} onClick=${redo} title="Do it again (Ctrl+Shift+Z)"><${Short} sign="↷" word="Redo" /></button>`}
        <${Theme} /><${Account} user=${catalogue.user} /></div>
      ${project && html`<${Steps} number=${number} current=${step} state=${state} />`}</header>
    <main tabindex="-1" id="content">
      ${problems && html`<${Problems} problems=${problems} />`}
      ${!project && !problems && html`<${Busy}>Opening the project</${Busy}>`}
      ${project && html`<${Page} key=${number} store=${store} catalogue=${catalogue} run=${run} />`}
    </main>`;
}

function App() {
  const [where, setWhere] = useState(place());
  const [catalogue, setCatalogue] = useState(null);
  const [problems, setProblems] = useState(null);
  useEffect(() => {
    const moved = () => setWhere(place());
    addEventListener("hashchange", moved);
    get("/api/catalogue").then(setCatalogue, (error) => setProblems(error.problems));
    return () => removeEventListener("hashchange", moved);
  }, []);
  if (problems) return html`<main><${Problems} problems=${problems} /></main>`;
  if (!catalogue) return html`<main><${Busy}>Starting</${Busy}></main>`;
  if (where.number) return html`<a class="skip" href="#content" onClick=${(event) => { event.preventDefault(); document.querySelector("main").focus(); }}>Skip to the content</a>
    <${Workbench} key=${where.number} ...${where} catalogue=${catalogue} />`;
  return html`<header class="top"><div class="bar"><a class="brand" href="#/"><img src="/static/icon.svg" alt="" />Shoal</a><span class="spring"></span><${Theme} /><${Account} user=${catalogue.user} /></div></header>
    <main tabindex="-1"><${StartPage} catalogue=${catalogue} /></main>`;
}

render(html`<${App} />`, document.getElementById("app"));
