// The view Search: similar images. The query is an image of the data set, the centre of several images, or a file that
// is chosen, dropped or pasted. The results are shown in the grid, where they can be decided.

import { get, el, picture } from "./dom.js";
import { ask, upload, Failure } from "./api.js";
import { store } from "./store.js";
import { to } from "./views.js";
import { me } from "./outbox.js";
import { me as reviewer } from "./reviewer.js";
import { combobox } from "./combobox.js";
import { called } from "./names.js";
import { count, many, tail } from "./words.js";

const largest = 32 << 20, wanted = 120, most = 1000, offers = 30, pause = 150;
const own = "file"; // the place's query for a search by a file, which only this tab has
let file = null; // {blob, url}
let offered = [], typing = 0, came = false;

export function search() {
  const input = get("file"), field = get("s-path"), { no_upload: lacks } = store.session;
  store.sources.search = find;
  store.addEventListener("view", () => { if (store.view === "search") begin(); });
  const box = combobox(field, { label: "Images", none: "no path contains this", options: () => offered.map((r) => ({ name: r.path, text: r.path, note: r.given ? called(r.given) : "no label" })), pick: (path) => { const row = offered.find((r) => r.path === path); if (row) like([row]); } });
  field.addEventListener("input", () => {
    clearTimeout(typing);
    typing = setTimeout(async () => {
      const text = field.value.trim();
      offered = text ? (await ask("/api/rows", { scope: "all", state: "all", sort: "path", text, limit: offers })).rows : [];
      if (field.value.trim() === text) box.draw();
    }, pause);
  });
  get("upload").disabled = Boolean(lacks);
  get("s-how").textContent = lacks || "Or drop or paste an image on this page. It is kept in memory on this machine only.";
  if (lacks) return;
  get("upload").addEventListener("click", () => input.click());
  input.addEventListener("change", () => { by(input.files[0]); input.value = ""; });
  document.addEventListener("dragover", (e) => {
    if (![...e.dataTransfer.types].includes("Files")) return;
    e.preventDefault();
    document.body.classList.add("dropping");
  });
  document.addEventListener("dragleave", (e) => { if (!e.relatedTarget) document.body.classList.remove("dropping"); });
  document.addEventListener("drop", (e) => {
    document.body.classList.remove("dropping");
    if (e.dataTransfer.files.length === 0) return;
    e.preventDefault();
    by(e.dataTransfer.files[0]);
  });
  document.addEventListener("paste", (e) => { if (e.clipboardData?.files.length) { e.preventDefault(); by(e.clipboardData.files[0]); } });
}

// like searches for the images nearest to an image of the data set, or to the centre of several images.
export function like(rows) {
  if (rows.length === 0) return undefined;
  if (!store.session.similar) return store.say("There are no vectors to search: the view Search shows the command that makes them");
  if (rows.length > most) return store.say(`A search by the centre takes at most ${count(most)} images`);
  return go(rows.map((r) => r.key).join(","));
}
function by(blob) {
  if (!blob) return undefined;
  if (!blob.type.startsWith("image/")) return store.say(`${blob.name || "This"} is not an image`);
  if (blob.size > largest) return store.say(`${blob.name || "The image"} is larger than 32 MiB`);
  if (file) URL.revokeObjectURL(file.url);
  file = { blob, url: URL.createObjectURL(blob) };
  return go(own);
}
function go(key) {
  came ||= store.view !== "search";
  for (const d of document.querySelectorAll("dialog[open]")) d.close();
  store.unselect();
  return store.place.like === key ? store.load() : to("search", { like: key });
}
// back returns to the place from which the search was started, and reports whether there is such a place.
export function back() {
  if (!came) return false;
  came = false;
  history.back();
  return true;
}

// find requests the results of the place's search.
async function find(signal) {
  const { like: key } = store.place, nothing = { rows: [], total: 0 };
  if (!key || key === own && !file) return draw([], nothing);
  const more = { n: wanted, tab: me(), reviewer: reviewer() };
  try {
    const page = key === own ? await upload(`/api/search?${new URLSearchParams(more)}`, file.blob, signal) : await ask("/api/similar", { key, ...more }, signal);
    return draw(page.query ?? [], page);
  } catch (e) {
    if (signal.aborted || !(e instanceof Failure)) throw e;
    return draw([], nothing, e.message);
  }
}

// begin shows the empty view and clears the results of an earlier search.
function begin() {
  get("asked").hidden = !store.place.like;
  get("asked").replaceChildren(el("p", { class: "soft", role: "status" }, "Searching …"));
}

// draw shows the query, and how many results have the same label.
function draw(query, page, failed = "") {
  const { like: key } = store.place, asked = get("asked"), labels = tally(query), label = labels[0]?.[0] ?? "";
  for (const row of page.rows) row.same = label ? row.given === label : null;
  asked.hidden = !key;
  if (!key) return page;
  const gone = key === own && !file, other = page.rows.filter((r) => r.same === false);
  const shots = key === own ? (file ? [el("img", { src: file.url, alt: "The query image" })] : []) : query.slice(0, 6).map((p) => picture(p.key, 160, tail(p.path), { title: p.path }));
  const name = key === own ? file?.blob.name || "a pasted image" : query.length === 1 ? query[0].path : `the centre of ${many(query.length, "image")}`;
  asked.replaceChildren(...shots, el("div", { class: "words" },
    gone ? el("p", { role: "status" }, "The file is no longer available: choose it again.") : failed ? el("p", { role: "alert" }, failed) : el("p", {}, "Nearest to ", el("b", {}, name), label ? [", ", labels.length > 1 ? "mostly labelled " : "labelled ", el("b", {}, called(label))] : ""),
    page.rows.length ? el("p", {}, "Labels of the results: ", ...words(tally(page.rows.map((r) => ({ label: r.given }))))) : "",
    other.length ? el("button", { type: "button", onclick: () => { for (const r of other) store.select(r.id, true); } }, `Select the ${count(other.length)} with another label`) : ""));
  return page;
}
// tally counts the rows of each label, the most frequent label first.
function tally(list) {
  const labels = new Map();
  for (const { label } of list) labels.set(label, (labels.get(label) ?? 0) + 1);
  return [...labels].sort((a, b) => b[1] - a[1]);
}
const words = (list) => [...list.slice(0, 5).flatMap(([name, n], i) => [i ? ", " : "", el("b", {}, name ? called(name) : "none"), ` ${n}`]), list.length > 5 ? ` and ${many(list.length - 5, "other")}` : ""];
