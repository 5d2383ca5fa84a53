// The view Findings: an audit's findings other than suspects, in groups that one click decides. They are duplicates,
// duplicates in different splits, outliers, and images with problems.

import { get, el } from "./dom.js";
import { store } from "./store.js";
import { finds } from "./address.js";
import { tile } from "./tile.js";
import { count, fits, many } from "./words.js";
import { called } from "./names.js";
import { choose } from "./chooser.js";

const titles = { copies: "Duplicates", leaks: "Leaks", outliers: "Outliers", problems: "Problems" };
const notes = {
  copies: "Files that show the same image, perhaps scaled, mirrored, slightly cropped or saved again. Groups with different labels are first.",
  leaks: "Duplicates in different splits: an image used for testing is also used for training, which biases the results.",
  outliers: "Images unlike nearly all others, whatever their labels. The farthest are first.",
  problems: "Measured when the images were read: dark, bright, blurred, with little detail, of unusual size or shape, or grey among colour images.",
};

export function findings() {
  get("finds").replaceChildren(...finds.map((kind) => el("button", { type: "button", "data-value": kind, onclick: () => store.go({ find: kind }) }, titles[kind], " ", el("small", { class: "num" }))));
  store.addEventListener("view", draw);
}
function draw() {
  const { session, finding: find } = store;
  for (const b of get("finds").children) {
    b.setAttribute("aria-pressed", String(b.dataset.value === find));
    b.querySelector("small").textContent = session.total ? count(session.findings[b.dataset.value] ?? 0) : "";
  }
  get("find-note").textContent = notes[find];
}

// group draws a group with the decision buttons for its kind.
export function group(g, number) {
  const { finding: find } = store, { rows } = g, part = (words, title, decide) => el("button", { type: "button", title, onclick: decide }, words);
  const all = (words, action, title) => part(words, title, () => decideAll(rows, () => ({ action })));
  const buttons = find === "outliers" || find === "problems" ? [all("Drop all", "drop", "Remove these images from the data set"), all("Keep all", "keep", "These labels are right")] : copies(g);
  const label = part("Label all…", "Give all of them another label", () => choose(rows, (name, create) => decideAll(rows, (row) => (row.given === name ? { action: "keep" } : { action: "relabel", label: name, create }))));
  const id = `group-${number}`;
  return el("li", {}, el("section", { class: "group", "aria-labelledby": id },
    el("div", { class: "row" }, el("h3", { id }, title(g)), el("span", { class: "gap" }), ...buttons, label, all("Clear", "undecided", "Make all of them undecided again")),
    el("div", { class: "tiles" }, ...rows.map((row) => el("div", {}, tile(row), el("small", { class: "why", title: find === "outliers" ? fits : null }, why(row))))),
    g.images > rows.length ? el("p", { class: "soft" }, `The first ${rows.length} of ${count(g.images)} are shown.`) : ""));
}
const decideAll = (rows, way) => store.emit("group", { rows, way });

function title(g) {
  if (store.finding === "problems") return `${many(g.images, "image")}: ${g.why}`;
  if (store.finding === "outliers") return many(g.images, "outlier");
  const labels = new Set(g.rows.map((r) => r.given)), splits = [...new Set(g.rows.map((r) => r.split))];
  return [many(g.images, "duplicate"), labels.size > 1 ? `different labels: ${[...labels].slice(0, 3).map((l) => called(l) || "none").join(", ")}` : called([...labels][0]) || "no label", splits.length > 1 ? `in ${splits.join(" and ")}` : ""].filter(Boolean).join("; ");
}
function why(row) {
  if (store.finding === "problems") return row.problems.join("; ");
  if (store.finding === "outliers") return row.fit === null ? "" : `fit ${row.fit.toFixed(1).replace("-", "−")}`;
  return [store.session.splits.length > 1 ? row.split : "", row.verdict === "look" ? "look" : ""].filter(Boolean).join(", ");
}

// copies returns the decision buttons for a group of duplicates: which of them to keep, and with which label.
function copies(g) {
  const { rows } = g, labels = [...new Set(g.rows.map((r) => r.given))], splits = [...new Set(rows.map((r) => r.split))], likely = g.likely || (labels.length === 1 ? labels[0] : "");
  const stays = rows.find((r) => r.given === likely) ?? rows[0];
  const one = el("button", { type: "button", title: `Keep ${stays.path} and remove the others from the data set`, onclick: () => decideAll(rows, (row) => ({ action: row.id === stays.id ? "keep" : "drop" })) }, "Keep one, drop the others");
  const from = store.finding === "leaks" ? splits.map((split) => el("button", { type: "button", title: `Remove the duplicates in ${split} from the data set`, onclick: () => decideAll(rows.filter((r) => r.split === split), () => ({ action: "drop" })) }, `Drop from ${split}`)) : [];
  const offers = labels.length > 1 ? (likely ? [likely] : labels.filter(Boolean).slice(0, 3)) : [];
  const as = offers.map((name) => el("button", { type: "button", title: likely ? "The audit finds this label more likely" : "Give this label to all of them", onclick: () => decideAll(rows, (row) => (row.given === name ? { action: "keep" } : { action: "relabel", label: name })) }, `All are ${called(name)}`));
  const whole = labels.length === 1 && store.finding === "copies" ? [el("button", { type: "button", title: "Keep all duplicates with their labels", onclick: () => decideAll(rows, () => ({ action: "keep" })) }, "Keep all")] : [];
  return [...as, ...(store.finding === "leaks" ? from : [one]), ...whole];
}
