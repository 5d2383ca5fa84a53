// Suggestions of what to try first, shown above all images while there are no decisions.

import { get, el } from "./dom.js";
import { store } from "./store.js";
import { count, many } from "./words.js";
import { to } from "./views.js";

const closed = "winnow-first"; // key in the browser's local storage

export function first() {
  store.addEventListener("view", draw);
  store.addEventListener("session", draw);
}

const key = (name) => el("kbd", {}, name);
const link = (words, view) => el("button", { type: "button", class: "plain", onclick: () => to(view) }, words);

// steps returns the suggestions that apply to this data set.
function steps({ kinds, findings, similar }) {
  const found = Object.entries(findings).reduce((sum, [kind, n]) => sum + (kind === "leaks" ? 0 : n), 0);
  return [
    kinds.suspect > 0 && [link("Suspects", "suspects"), `: ${many(kinds.suspect, "label")} to review. `, key("A"), " accepts the suggested label, ", key("K"), " keeps the given label, ", key("D"), " drops the image, ", key("U"), " undoes."],
    found > 0 && [link("Findings", "findings"), `: ${count(found)} ${found === 1 ? "group" : "groups"} of duplicates, outliers and images with problems, each decided with one click.`],
    similar && [link("Map", "map"), ": draw a lasso around points far from the rest of their class, and decide about them."],
  ].filter(Boolean);
}

function draw() {
  const { session, view } = store, part = get("first");
  if (!session) return;
  const decided = session.whole.keep + session.whole.drop + session.whole.relabel, list = steps(session);
  part.hidden = view !== "data" || localStorage.getItem(closed) === "closed" || !(list.length && decided === 0);
  if (part.hidden) return;
  part.replaceChildren(el("div", { class: "row" }, el("h2", { id: "first-head" }, `${["", "One thing", "Two things", "Three things"][list.length]} to try`), el("span", { class: "gap" }),
    el("button", { type: "button", class: "plain", onclick: () => { localStorage.setItem(closed, "closed"); draw(); } }, "Close")),
  el("ol", {}, ...list.map((words) => el("li", {}, ...words))));
}
