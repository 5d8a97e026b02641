// The open project: its settings with undo and redo, saved as they change, and its runs as the server tells of them.
import { useState, useEffect, useRef, useCallback } from "./lib.js";
import { get, put } from "./api.js";

const SAVE_AFTER = 250; // milliseconds
const STEPS_KEPT = 30; // to go back to after the page was loaded again

export function useProject(number) {
  const [project, setProject] = useState(null);
  const [problems, setProblems] = useState(null);
  const past = useRef([]), future = useRef([]), timer = useRef(null), unsaved = useRef(null), saving = useRef(Promise.resolve());

  const remember = () => put(`/api/projects/${number}/history`, { past: past.current.slice(-STEPS_KEPT), future: future.current.slice(-STEPS_KEPT) }).catch(() => {});

  // Saves what is not saved yet, one after the other; the promise is kept when the server has all of it.
  const save = useCallback(() => {
    clearTimeout(timer.current);
    if (unsaved.current) {
      const settings = unsaved.current;
      unsaved.current = null;
      saving.current = saving.current.then(() => put(`/api/projects/${number}`, { settings })).then(() => { setProblems(null); remember(); }, (error) => setProblems(error.problems));
    }
    return saving.current;
  }, [number]);

  const keep = (settings) => {
    unsaved.current = settings;
    clearTimeout(timer.current);
    timer.current = setTimeout(save, SAVE_AFTER);
    setProject((before) => ({ ...before, settings }));
  };

  useEffect(() => {
    if (!number) return undefined;
    let open = true, stream = null;
    setProject(null);
    setProblems(null);
    past.current = [];
    future.current = [];
    const opened = ({ history, ...found }) => {
      if (!open) return;
      past.current = history?.past ?? [];
      future.current = history?.future ?? [];
      setProject(found);
    };
    get(`/api/projects/${number}`).then(opened, (error) => open && setProblems(error.problems));
    const heard = (message) => {
      const event = JSON.parse(message.data);
      setProject((before) => {
        if (!before) return before;
        if (event.kind === "state") return { ...before, runs: event.runs };
        if (event.kind === "frontier") return { ...before, frontier: event.on };
        const others = before.runs.filter((run) => run.number !== (event.number ?? event.run?.number));
        if (event.kind === "removed") return { ...before, runs: others };
        const earlier = before.runs.find((run) => run.number === event.run.number);
        return { ...before, runs: [...others, { ...earlier, ...event.run, progress: event.run.progress }].sort((a, b) => a.made - b.made) };
      });
    };
    // A hidden tab closes its stream: browsers allow six of them for one server.
    const listen = () => {
      if (document.hidden) {
        stream?.close();
        stream = null;
      } else if (!stream) {
        stream = new EventSource(`/api/projects/${number}/events`);
        stream.onmessage = heard;
      }
    };
    listen();
    document.addEventListener("visibilitychange", listen);
    addEventListener("pagehide", save);
    return () => {
      open = false;
      stream?.close();
      document.removeEventListener("visibilitychange", listen);
      removeEventListener("pagehide", save);
      save();
    };
  }, [number]);

  // Change some settings; `change` may be a function of the settings.
  const change = (patch) => {
    const before = project.settings;
    const after = { ...before, ...(typeof patch === "function" ? patch(before) : patch) };
    if (JSON.stringify(after) === JSON.stringify(before)) return;
    past.current = [...past.current.slice(-99), before];
    future.current = [];
    keep(after);
  };
  // What is settled without anybody having changed it: there is nothing to undo.
  const settle = (patch) => keep({ ...project.settings, ...patch });
  const undo = () => {
    if (!past.current.length) return;
    future.current.push(project.settings);
    keep(past.current.pop());
  };
  const redo = () => {
    if (!future.current.length) return;
    past.current.push(project.settings);
    keep(future.current.pop());
  };
  const rename = async (name) => {
    await put(`/api/projects/${number}`, { name });
    setProject((before) => ({ ...before, name }));
  };
  const beside = (found) => setProject((before) => ({ ...before, earlier: found.earlier, population: found.population }));
  const replaced = (found) => setProject((before) => ({ ...before, source: found.source })); // a newer table
  return { project, problems, change, settle, beside, replaced, undo, redo, rename, save, canUndo: past.current.length > 0, canRedo: future.current.length > 0 };
}
