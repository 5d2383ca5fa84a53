// How numbers, labels and decisions are said.

import { called } from "./names.js";

const whole = new Intl.NumberFormat("en");
export const count = (n) => whole.format(n);
export const many = (n, one, more = `${one}s`) => `${count(n)} ${n === 1 ? one : more}`;

// chance says a probability in percent, number what is none; with no more digits than mean something.
export const chance = (p) => (p < 0.001 ? "< 0.1 %" : p > 0.999 ? "> 99.9 %" : `${(100 * p).toFixed(1)} %`);
export function number(v) {
  if (v === null || v === undefined || !Number.isFinite(v)) return "–";
  return v !== 0 && Math.abs(v) < 1e-6 ? "≈ 0" : String(Number(v.toPrecision(3)));
}
// how says how right the given label of a row looks, or the suggested one.
export function how(row, given) {
  if (row.unjudged) return given ? "not judged" : "";
  const score = given ? row.score : row.suggested_score, probable = given ? row.score_is_probability : row.suggested_score_is_probability;
  if (score === null || score === undefined) return "";
  return probable ? `${chance(score)} right` : `score ${number(score)}`;
}
// tail is a file with its folder, file its bare name.
export const tail = (path) => path.split("/").slice(-2).join("/");
export const file = (path) => path.slice(path.lastIndexOf("/") + 1);

// means says what the number of how means, and rank what the place in the list does.
export function means(row, given) {
  if (row.unjudged) return "The only image of its class: there is nothing to compare it with, so its label is not judged.";
  const probable = given ? row.score_is_probability : row.suggested_score_is_probability;
  if (given) return probable ? "Probability that the given label is right, by the audit: the lower, the more suspect." : "Score of the given label: the lower, the more suspect. It ranks labels and is no probability.";
  return probable ? "Probability that the suggested label is right, by the audit." : "Score of the suggested label: the higher, the better it fits. It is no probability.";
}
export const rank = (row) => `Place ${row.rank} in the list of the audit: 1 is the most suspect label.`;
export const fits = "How well the image fits the class that it fits best, against what other images reach, in deviations: the further below 0, the odder it is.";

export const kinds = { suspect: "suspect", outlier: "fits no class", copy: "copy with another label" };

// done says a decision: as a stamp, and as part of a sentence.
export function stamp(decision) {
  if (!decision) return "";
  return { keep: "✓ kept", drop: "✕ dropped", relabel: `→ ${called(decision.label)}`, unsure: "? unsure" }[decision.action] ?? decision.action;
}
export function done(decision) {
  if (!decision) return "not decided";
  return { keep: "kept", drop: "dropped", relabel: `relabelled ${called(decision.label)}`, unsure: "unsure" }[decision.action] ?? decision.action;
}
// who names a reviewer, and together says what the decisions of all come to.
export const who = (name) => name || "without a name";
export function together(row) {
  if (row.outcome === "disagreed") return "Reviewers differ, and nothing has a majority: left as given.";
  if (row.outcome === "unsure") return "All are unsure: left as given.";
  return `${row.differ ? "Reviewers differ; the majority" : "All who are sure"}: ${done({ action: row.outcome, label: row.outcome_label })}.`;
}
export const better = (row) => row.suggested && row.suggested !== row.given;

// clock says when: the time today, the day before.
export function clock(at) {
  const t = new Date(at);
  if (Number.isNaN(t.getTime())) return String(at ?? "");
  const today = t.toDateString() === new Date().toDateString();
  return today ? t.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit" }) : t.toLocaleString([], { dateStyle: "short", timeStyle: "short" });
}
