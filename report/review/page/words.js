// Formats numbers, labels and decisions as text.

import { called } from "./names.js";

const whole = new Intl.NumberFormat("en");
export const count = (n) => whole.format(n);
export const many = (n, one, more = `${one}s`) => `${count(n)} ${n === 1 ? one : more}`;

// chance formats a probability as a percentage, and number any other number, both rounded to meaningful digits.
export const chance = (p) => (p < 0.001 ? "< 0.1 %" : p > 0.999 ? "> 99.9 %" : `${(100 * p).toFixed(1)} %`);
export function number(v) {
  if (v === null || v === undefined || !Number.isFinite(v)) return "–";
  return v !== 0 && Math.abs(v) < 1e-6 ? "≈ 0" : String(Number(v.toPrecision(3)));
}
// how returns the probability or score of a row's given or suggested label.
export function how(row, given) {
  if (row.audited === false) return "";
  if (row.unjudged) return given ? "not judged" : "";
  const score = given ? row.score : row.suggested_score, probable = given ? row.score_is_probability : row.suggested_score_is_probability;
  if (score === null || score === undefined) return "";
  return probable ? `${chance(score)} right` : `score ${number(score)}`;
}
// tail returns a file's folder and name, and file only the name.
export const tail = (path) => path.split("/").slice(-2).join("/");
export const file = (path) => path.slice(path.lastIndexOf("/") + 1);

// named returns a name of an image for sentences: its rank in the list, or its file name.
export const named = (row, word = "Number") => (row.audited ? `${word} ${row.rank}` : tail(row.path));

// means explains the number that how returns, and rank the rank in the list.
export function means(row, given) {
  if (row.unjudged) return "The only image of its class: there is nothing to compare it with, so its label has no score.";
  const probable = given ? row.score_is_probability : row.suggested_score_is_probability;
  if (given) return probable ? "Probability that the given label is right, by the audit: the lower, the more suspect." : "Score of the given label: the lower, the more suspect. It only ranks the labels; it is not a probability.";
  return probable ? "Probability that the suggested label is right, by the audit." : "Score of the suggested label: the higher, the better it fits. It is not a probability.";
}
export const rank = (row) => (row.audited ? `Rank ${row.rank} in the list: 1 is the most suspect label.` : row.path);
export const fits = "How similar the image is to the other images: the further below 0, the less it fits. Below −2.75 it is an outlier.";

export const kinds = { suspect: "suspect", outlier: "fits no class", copy: "duplicate, other label", group: "has a duplicate", problem: "image with a problem" };
export const reasons = { suspect: "The given label looks wrong", outlier: "The image fits no class", copy: "A nearly identical image has another label", group: "Another file contains the same image", problem: "The image is dark, bright, blurred, has little detail or an unusual size or shape, or is grey among colour images" };
// ofList formats a number of images of the main list, which contains suspects or images drawn at random.
let drawn = false;
export const ofList = (n) => many(n, drawn ? "drawn image" : "suspect");
// listName returns the name of these images.
export const listName = (more) => (drawn ? "drawn image" : "suspect") + (more ? "s" : "");
export function drawnAtRandom() {
  drawn = true;
  kinds.suspect = "drawn at random";
  reasons.suspect = "Drawn at random to estimate how many labels are wrong; the label may be right";
}

// stamp and done describe a decision: as a stamp on the card, and as part of a sentence.
export function stamp(decision) {
  if (!decision) return "";
  return { keep: "✓ kept", drop: "✕ dropped", relabel: `→ ${called(decision.label)}`, unsure: "? unsure" }[decision.action] ?? decision.action;
}
export function done(decision) {
  if (!decision) return "not decided";
  return { keep: "kept", drop: "dropped", relabel: `relabelled as ${called(decision.label)}`, unsure: "unsure" }[decision.action] ?? decision.action;
}
// who returns a reviewer's name for sentences; together describes the outcome of all decisions.
export const who = (name) => name || "without a name";
export function together(row) {
  if (row.outcome === "disagreed") return "Reviewers disagree and there is no majority: the label stays as given.";
  if (row.outcome === "unsure") return "All reviewers are unsure: the label stays as given.";
  return `${row.differ ? "Reviewers disagree; by majority" : "All reviewers who are sure agree"}: ${done({ action: row.outcome, label: row.outcome_label })}.`;
}
export const better = (row) => row.suggested && row.suggested !== row.given;
// offered returns the label that A accepts: the suggested label or, if no label is likelier, that of a duplicate.
export const offered = (row) => (better(row) ? row.suggested : row.verdict === "look" ? contrary(row)[0]?.label ?? "" : "");
// contrary returns the duplicates of an image that have another label.
export const contrary = (row) => [...row.group, ...row.copies].filter((p, i, all) => p.label && p.label !== row.given && all.findIndex((q) => q.path === p.path) === i);

// clock formats a time, with the date if it is not today.
export function clock(at) {
  const t = new Date(at);
  if (Number.isNaN(t.getTime())) return String(at ?? "");
  const today = t.toDateString() === new Date().toDateString();
  return today ? t.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit" }) : t.toLocaleString([], { dateStyle: "short", timeStyle: "short" });
}
