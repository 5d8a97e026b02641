// What every module needs: the markup, the hooks, and how numbers are written.
export { html, render, useState, useEffect, useMemo, useRef, useCallback, useLayoutEffect } from "./vendor/htm-preact.js";

export const count = (number) => (number == null ? "–" : Math.round(number).toLocaleString("en-US"));
export const decimal = (number, digits = 4) => (number == null ? "–" : Number(number).toFixed(digits));
// A share as a percentage. What is not all is never shown as 100 %, what is not nothing never as 0 %.
export const percent = (share, digits) => {
  if (share == null) return "–";
  const value = share * 100, places = digits ?? (Number.isInteger(value) ? 0 : 1), least = 10 ** -places;
  const text = value.toFixed(places);
  if (value > 0 && Number(text) === 0) return `< ${least.toFixed(places)} %`;
  if (value < 100 && Number(text) === 100) return `> ${(100 - least).toFixed(places)} %`;
  return `${text} %`;
};
// What the loss does not show, beside it: [title, value, what it means], in the words of the metrics.
export const besideLoss = (catalogue, found) => catalogue.beside_the_loss
  .filter((metric) => found?.[metric.name] != null)
  .map((metric) => [metric.title, (metric.maximum === 1 ? percent : metric.name === "listed_values" ? tenths : count)(found[metric.name]), metric.meaning]);
const tenths = (number) => decimal(number, 1);
export const seconds = (number) => {
  if (number == null) return "–";
  if (number < 10) return `${number.toFixed(1)} s`;
  if (number < 90) return `${Math.round(number)} s`;
  return `${Math.floor(number / 60)} min ${Math.round(number % 60)} s`;
};
export const bytes = (number) => {
  if (number == null) return "";
  if (number < 1000) return `${number} B`;
  return number < 1e6 ? `${(number / 1e3).toFixed(0)} kB` : `${(number / 1e6).toFixed(1)} MB`;
};
export const ROLES = [
  { role: "identifying", title: "Identifying", text: "Names, numbers: tells who it is. Not released." },
  { role: "quasi-identifying", title: "Quasi-identifying", text: "Others may know it: generalized until nobody stands out." },
  { role: "sensitive", title: "Sensitive", text: "Nobody should learn it about a person. Kept, watched by models." },
  { role: "insensitive", title: "Insensitive", text: "Nobody knows it and nobody minds. Kept as it is." },
];
export const rolesOf = (settings, role) => Object.keys(settings.roles).filter((name) => settings.roles[name] === role);
// The first letter large: titles of models and algorithms stand alone here.
export const sentence = (text) => (text ? text[0].toUpperCase() + text.slice(1) : text);
export const plural = (number, one, many) => `${count(number)} ${number === 1 ? one : many ?? one + "s"}`;
