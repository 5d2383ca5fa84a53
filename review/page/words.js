// How numbers, labels and decisions are said.

const whole = new Intl.NumberFormat("en");
export const count = (n) => whole.format(n);
export const many = (n, one, more = `${one}s`) => `${count(n)} ${n === 1 ? one : more}`;

// chance says a share of 1 in percent, and what is no share as a number.
export function chance(p) {
  if (p === null || p === undefined || !Number.isFinite(p)) return "";
  if (p < 0 || p > 1) return number(p);
  if (p > 0.99 && p < 1) return "> 99 %";
  if (p < 0.01 && p > 0) return "< 1 %";
  return `${Math.round(100 * p)} %`;
}
export function number(v) {
  if (v === null || v === undefined || !Number.isFinite(v)) return "–";
  return String(Number(v.toPrecision(Math.abs(v) < 0.001 ? 1 : 3)));
}
export const file = (path) => path.slice(path.lastIndexOf("/") + 1);

export const kinds = { suspect: "suspect", outlier: "fits no class", copy: "copy with another label" };

// done says a decision: as a stamp, and as part of a sentence.
export function stamp(decision) {
  if (!decision) return "";
  return { keep: "✓ kept", drop: "✕ dropped", relabel: `→ ${decision.label}` }[decision.action] ?? decision.action;
}
export function done(decision) {
  if (!decision) return "not decided";
  return { keep: "kept", drop: "dropped", relabel: `relabelled ${decision.label}` }[decision.action] ?? decision.action;
}
export const better = (row) => row.suggested && row.suggested !== row.given;

// clock says when: the time today, the day before.
export function clock(at) {
  const t = new Date(at);
  if (Number.isNaN(t.getTime())) return String(at ?? "");
  const today = t.toDateString() === new Date().toDateString();
  return today ? t.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit" }) : t.toLocaleString([], { dateStyle: "short", timeStyle: "short" });
}
