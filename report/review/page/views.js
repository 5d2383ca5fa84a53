// The navigation between the views.

import { get, el } from "./dom.js";
import { store } from "./store.js";
import { blank, views as names, finds } from "./address.js";
import { count } from "./words.js";

const titles = { data: "Data", suspects: "Suspects", findings: "Findings", map: "Map", search: "Search" };

export function views() {
  get("views").replaceChildren(...names.map((name, i) => el("button", { type: "button", "data-view": name, "aria-keyshortcuts": String(i + 1), onclick: () => to(name) }, titles[name], el("small", { class: "num" }))));
  store.addEventListener("view", draw);
  store.addEventListener("session", draw);
}

// to shows a view. The class filter is kept if both views have one.
export function to(name, changes = {}) {
  const { view, class: label } = store.place;
  if (view === name && Object.keys(changes).length === 0) return undefined;
  return store.go({ ...blank(name), class: name === "data" || name === "suspects" ? label : "", ...changes });
}

function draw() {
  const { session, view } = store;
  if (!session) return;
  document.documentElement.dataset.view = view;
  const found = finds.reduce((sum, kind) => sum + (kind === "leaks" ? 0 : session.findings[kind] ?? 0), 0);
  const sizes = { data: session.images, suspects: session.kinds.suspect, findings: found };
  for (const b of get("views").children) {
    if (b.dataset.view === view) b.setAttribute("aria-current", "page"); else b.removeAttribute("aria-current");
    b.querySelector("small").textContent = sizes[b.dataset.view] ? count(sizes[b.dataset.view]) : "";
  }
  lacking();
}

// lacking explains which input of a view is missing. The card "Find wrong labels" makes it, or a command.
function lacking() {
  const { session, view } = store, { audit, vectors } = session.missing, part = get("lacking"), unaudited = audit && session.total === 0;
  const kind = { suspects: "suspects", findings: "duplicates, outliers or problems" }[view];
  const words = (view === "map" || view === "search") && vectors ? `${titles[view]} needs the vectors of the images. An audit makes them${unaudited ? "." : ":"}`
    : kind && unaudited ? `These images are not audited yet, so there are no ${kind}.` : "";
  part.hidden = !words;
  part.replaceChildren(...(words ? [el("p", {}, words)] : []), ...(words && !unaudited ? [el("pre", {}, el("code", {}, vectors))] : []));
  document.documentElement.dataset.lacking = words ? "yes" : "no";
}
