// The page's place (view, filters, offset) is kept in its URL, so that a reload, a bookmark or Back returns to it.

export const start = { view: "", find: "", class: "", split: "", to: "", kind: "", above: "", below: "", state: "", text: "", sort: "", by: "", lasso: "", like: "", offset: 0, id: "", cards: "" };
const filters = ["class", "split", "to", "kind", "above", "below", "text", "by", "lasso"];
export const views = ["data", "suspects", "findings", "map", "search"];
export const finds = ["copies", "leaks", "outliers", "problems"];

// The view that opens first, and the decision filter with which each view opens.
let home = "suspects";
export const begin = (view) => { home = view; };
export const usual = (view) => (view === "suspects" ? "undecided" : "all");
// blank returns the place with which a view opens.
export const blank = (view) => ({ ...start, view, state: usual(view) });

export function read() {
  const said = new URLSearchParams(location.hash.slice(1)), view = views.includes(said.get("view")) ? said.get("view") : home, place = blank(view);
  for (const key of Object.keys(start)) if (key !== "view" && said.has(key)) place[key] = said.get(key);
  const offset = Number(place.offset);
  place.offset = Number.isSafeInteger(offset) && offset > 0 ? offset : 0;
  if (!["undecided", "decided", "all", "keep", "drop", "relabel", "unsure", "disagreed", "differ", "noted"].includes(place.state)) place.state = usual(view);
  if (!/^(|\*|=.{0,60})$/u.test(place.by)) place.by = "";
  if (!["", "compact"].includes(place.cards)) place.cards = "";
  if (!["", "suspect", "least", "class", "path"].includes(place.sort)) place.sort = "";
  if (!["", "any", "suspect", "outlier", "copy", "group", "problem"].includes(place.kind)) place.kind = "";
  if (!["", ...finds].includes(place.find)) place.find = "";
  if (!/^(|file|\d+(,\d+)*)$/.test(place.like)) place.like = "";
  return place;
}

// write stores place in the URL; push also adds an entry to the browser's history.
export function write(place, push) {
  const said = new URLSearchParams(), usually = { ...blank(place.view), view: home };
  for (const [key, value] of Object.entries(usually)) if (place[key] !== value && place[key] !== "") said.set(key, place[key]);
  const hash = said.toString();
  if (hash === location.hash.slice(1)) return;
  history[push ? "pushState" : "replaceState"](null, "", hash ? `#${hash}` : location.pathname);
}

export const filtered = (place) => filters.some((key) => place[key] !== "");
export const query = (place) => Object.fromEntries([...filters, "state", "sort"].map((key) => [key, place[key]]));
