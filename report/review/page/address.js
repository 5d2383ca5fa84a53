// The page's place is kept in its address, so that a reload, a bookmark or the browser's Back returns to it.

export const start = { class: "", to: "", kind: "", above: "", below: "", state: "undecided", text: "", sort: "", by: "", offset: 0, id: "", view: "" };
const filters = ["class", "to", "kind", "above", "below", "text", "by"];

export function read() {
  const place = { ...start }, said = new URLSearchParams(location.hash.slice(1));
  for (const key of Object.keys(start)) if (said.has(key)) place[key] = said.get(key);
  const offset = Number(place.offset);
  place.offset = Number.isSafeInteger(offset) && offset > 0 ? offset : 0;
  if (!["undecided", "decided", "all", "keep", "drop", "relabel", "unsure", "disagreed", "differ", "noted"].includes(place.state)) place.state = start.state;
  if (!/^(|\*|=.{0,60})$/u.test(place.by)) place.by = "";
  if (!["", "compact"].includes(place.view)) place.view = "";
  if (!["", "suspect", "least", "class", "path"].includes(place.sort)) place.sort = "";
  if (!["", "any", "suspect", "outlier", "copy", "group", "problem"].includes(place.kind)) place.kind = "";
  return place;
}

// write puts place into the address; push adds a step to the browser's history.
export function write(place, push) {
  const said = new URLSearchParams();
  for (const [key, value] of Object.entries(start)) if (place[key] !== value && place[key] !== "") said.set(key, place[key]);
  const hash = said.toString();
  if (hash === location.hash.slice(1)) return;
  history[push ? "pushState" : "replaceState"](null, "", hash ? `#${hash}` : location.pathname);
}

export const filtered = (place) => filters.some((key) => place[key] !== "");
export const query = (place) => Object.fromEntries([...filters, "state", "sort"].map((key) => [key, place[key]]));
