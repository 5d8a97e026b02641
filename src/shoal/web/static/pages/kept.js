// Columns that are published as they are although they tell people apart: dropped, or published knowingly.
import { html } from "../lib.js";

const TELLING = new Set(["near-unique", "tells-apart", "same-as-quasi", "decides-quasi", "not-readable"]);

const allow = (name) => (now) => ({ allow: [...new Set([...(now.allow ?? []), name])] });
const drop = (name) => (now) => ({ roles: { ...now.roles, [name]: "identifying" } });

const kept = (settings, name) => ["sensitive", "insensitive"].includes(settings.roles[name]);

// What can be done about such a problem, as buttons; nothing about others, or if it was done.
export const wayOut = ({ settings }, change) => ({ reason, column }) => TELLING.has(reason) && kept(settings, column) && !settings.allow?.includes(column) && html`<span class="row ways">
  <button class="button small" onClick=${() => change(drop(column))}>Do not publish ${column}</button>
  <button class="button quiet small" onClick=${() => change(allow(column))}>Publish ${column} knowingly</button></span>`;

// That a column is published knowingly, in the list of columns.
export function Allowed({ name, settings, change }) {
  if (!settings.allow?.includes(name) || !kept(settings, name)) return null;
  const back = () => change((now) => ({ allow: now.allow.filter((one) => one !== name) }));
  return html`<div class="row ways"><span class="tag warn" title="It tells people apart, and is published all the same">published knowingly</span>
    <button class="button quiet small" onClick=${back} aria-label=${`Ask again about ${name}`}>Ask again</button></div>`;
}
