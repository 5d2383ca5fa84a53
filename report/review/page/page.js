// Connects the parts of the page of winnow studio and winnow studio. Each part is a module that accesses only its own
// elements; modules communicate through the store's events.

import { get, el } from "./dom.js";
import { ask, Failure } from "./api.js";
import { read } from "./address.js";
import { store } from "./store.js";
import { offered, count, many } from "./words.js";
import * as outbox from "./outbox.js";
import * as grid from "./grid.js";
import * as large from "./large.js";
import * as confusions from "./confusions.js";
import * as search from "./search.js";
import * as help from "./keys.js";
import * as reviewer from "./reviewer.js";
import { choose } from "./chooser.js";
import { write } from "./notes.js";
import { zoom } from "./zoom.js";
import { standing } from "./standing.js";
import { filters, another } from "./filters.js";
import { views, to } from "./views.js";
import { first } from "./first.js";
import { job } from "./job.js";
import { classes } from "./classes.js";
import { findings } from "./findings.js";
import * as plane from "./plane.js";
import { views as names } from "./address.js";
import { exporting } from "./exporting.js";
import { sure } from "./sure.js";
import { theme } from "./theme.js";
import { watch } from "./watch.js";

const ways = {
  keep: () => ({ action: "keep" }),
  drop: () => ({ action: "drop" }),
  unsure: () => ({ action: "unsure" }),
  reset: () => ({ action: "undecided" }),
  accept: (row) => (offered(row) ? { action: "relabel", label: offered(row) } : null),
  label: (name, create) => (row) => (name === row.given ? { action: "keep" } : { action: "relabel", label: name, create }),
};

// subjects returns the images that a decision applies to: the image in the large view, else the selected images, else the current image.
function subjects() {
  const one = large.shown();
  if (one) return [one];
  if (store.beyond) return store.beyond;
  if (store.selected.size > 0) return store.rows.filter((r) => store.selected.has(r.id));
  return store.row ? [store.row] : [];
}

// chosen returns the subjects or, on the map, the images in the lasso.
const chosen = async () => (store.view === "map" && !large.shown() && plane.selection() ? plane.rows() : subjects());

async function decide(rows, way) {
  if (store.view === "map" && !large.shown()) return plane.selection() ? void outbox.decide(await plane.rows(), way) : undefined;
  if (grid.turns()) return store.say("The next page is loading");
  if (rows.length === 0 || !outbox.decide(rows, way)) return;
  const many = store.selected.size > 0 && !large.shown();
  store.unselect();
  if (large.visiting()) return;
  const at = rows.map((r) => store.index(r.id));
  if (way === ways.reset || !rows.some((r) => way(r)?.action !== "undecided")) return;
  await grid.advance(many || rows.length > 1 ? Math.max(...at) : store.current);
}

const acts = {
  keep: () => decide(subjects(), ways.keep),
  drop: () => decide(subjects(), ways.drop),
  unsure: () => decide(subjects(), ways.unsure),
  note: () => { const rows = subjects(); if (rows.length && !grid.turns()) write(rows, (note) => outbox.decide(rows, (row) => noted(row, note))); },
  accept: () => decide(subjects(), ways.accept),
  reset: () => decide(subjects(), ways.reset),
  choose: async () => { const rows = await chosen(); if (rows.length) choose(rows, (name, create) => decide(rows, ways.label(name, create))); },
  undo: () => outbox.undo(),
  redo: () => outbox.redo(),
  another: () => large.shown() || another(1),
  before: () => large.shown() || another(-1),
  select: () => { if (!large.shown() && store.row) grid.pick(store.current); },
  zoom: () => { const [row] = subjects(); if (row) zoom(row); },
  similar: async () => search.like(await chosen()),
  map: () => confusions.show(),
  help: () => help.show(),
  group: () => {
    const rows = store.groups?.find((g) => g.rows.some((r) => r.id === store.row?.id))?.rows ?? [];
    for (const row of rows) store.select(row.id, true);
  },
  ...Object.fromEntries(names.map((name, i) => [`view${i + 1}`, () => large.shown() || to(name)])),
  nextPage: () => grid.next(),
  previousPage: () => grid.previous(),
  right: (e) => walk(e, 1, false),
  left: (e) => walk(e, -1, false),
  down: (e) => !large.shown() && walk(e, 1, true),
  up: (e) => !large.shown() && walk(e, -1, true),
  first: () => !large.shown() && (store.move(0), grid.focus()),
  last: () => !large.shown() && (store.move(store.rows.length - 1), grid.focus()),
  open: (e) => !large.shown() && e.target.matches(".card, body") && large.show(),
  leave: () => !large.shown() && (store.view === "map" ? plane.clear() : store.unselect() || store.view === "search" && search.back()),
};
// noted returns the current decision with a new note.
function noted(row, note) {
  const { action = "undecided", label = "" } = store.pending.get(row.id) ?? row.decision ?? {};
  return { action, label, note };
}
function walk(e, by, line) {
  if (!large.shown()) return void grid.step(by, line, e.shiftKey);
  if (!large.visiting()) grid.step(by, false, false);
}

// acted handles a button of a card or of the large view. It acts on the button's image or, if that is selected, on all selected images.
function acted({ detail: { name, row, event } }) {
  if (event.detail > 1 && large.fresh() && ways[name]) return undefined;
  if (name === "previous" || name === "next") return walk(event, name === "next" ? 1 : -1, false);
  const at = store.index(row.id);
  if (name === "select") {
    if (event.shiftKey && at >= 0) grid.stretch(grid.before(), at); else grid.pick(at);
    store.move(at);
    return undefined;
  }
  if (at >= 0 && !large.shown()) {
    if (!store.selected.has(row.id) && name !== "open" && name !== "similar" && name !== "note") store.unselect();
    store.move(at);
  }
  if (name === "open") return event.shiftKey ? grid.stretch(grid.before(), at) : large.show(row);
  return acts[name]();
}

// visit shows any image of the audit in the large view, even if the filters hide it.
async function visit(id) {
  const here = store.index(id);
  if (here >= 0) return large.show(store.rows[here]);
  const { rows } = await ask("/api/rows", { scope: "all", state: "all", offset: id, limit: 1, reviewer: reviewer.me() });
  if (rows[0]?.id !== id) return store.say(`There is no image number ${id + 1}`);
  store.heard(id, rows[0].version);
  large.show(rows[0]);
}

// back moves the keyboard focus to an image whose decision was undone or redone.
function back(id) {
  const at = store.index(id);
  if (at < 0 || large.visiting()) return;
  store.move(at);
  if (!document.querySelector("dialog[open]")) grid.focus();
}

function picked() {
  const n = store.beyond?.length ?? store.selected.size, bar = get("picked"), whole = store.selected.size === store.rows.length && store.total > store.rows.length && !store.groups && !store.beyond;
  bar.hidden = n === 0;
  if (n === 0) return;
  const button = (name, words, key) => el("button", { type: "button", onclick: () => acts[name]() }, words, el("kbd", { "aria-hidden": "true" }, key));
  bar.replaceChildren(el("b", { role: "status" }, `${many(n, "image")} selected`), button("keep", "Keep", "K"), button("drop", "Drop", "D"), button("accept", "Accept each", "A"), button("choose", "Label…", "L"), button("unsure", "Unsure", "Q"), button("note", "Note…", "W"), ...(store.session.similar ? [button("similar", "Similar", "S")] : []),
    whole ? el("button", { type: "button", class: "plain", onclick: beyond }, `Select all ${count(store.total)} that match`)
      : store.selected.size < store.rows.length ? el("button", { type: "button", class: "plain", onclick: () => { for (const r of store.rows) store.selected.add(r.id); store.emit("selection"); } }, "Select all on this page") : "",
    el("button", { type: "button", class: "plain", onclick: () => store.unselect() }, "Clear the selection"));
}

// beyond selects all images that match the filters, including those on other pages.
async function beyond() {
  if (store.total > outbox.most) return store.say(`At most ${count(outbox.most)} images can be decided at once: filter more`);
  const asked = store.asked, rows = await store.every(asked);
  if (JSON.stringify(asked) !== JSON.stringify(store.asked)) return undefined;
  store.beyond = rows;
  return store.emit("selection");
}

// renamed reports whether the reviewer's name may change: all decisions under the old name must be saved.
async function renamed() {
  await outbox.drain();
  if (outbox.waiting() > 0) store.say("Decisions under the old name are not saved yet: change the name when they are");
  return outbox.waiting() === 0;
}

let saying = 0;
function said(words) {
  const line = get("said");
  line.textContent = words;
  clearTimeout(saying);
  saying = setTimeout(() => { line.textContent = ""; }, 6000);
}

async function run() {
  theme();
  help.letters();
  store.addEventListener("said", (e) => said(e.detail));
  store.addEventListener("act", acted);
  store.addEventListener("lasso", (e) => acts[e.detail]());
  store.addEventListener("group", ({ detail: { rows, way } }) => decide(rows, way));
  store.addEventListener("visit", (e) => visit(e.detail));
  store.addEventListener("selection", picked);
  store.addEventListener("closed", () => grid.focus());
  store.addEventListener("current", () => { if (large.shown()) large.ahead(store.rows[store.current + 1]); });
  store.addEventListener("turned", (e) => back(e.detail[0]));
  get("undo").addEventListener("click", acts.undo);
  get("redo").addEventListener("click", acts.redo);
  addEventListener("popstate", () => { store.place = read(); store.load(); });
  addEventListener("hashchange", () => { if (JSON.stringify(read()) !== JSON.stringify(store.place)) { store.place = read(); store.load(); } });
  store.addEventListener("reviewer", () => store.begin());
  const named = reviewer.known();
  await outbox.name();
  standing();
  views();
  first();
  job();
  findings();
  plane.plane();
  grid.grid();
  large.large();
  filters();
  help.keys(acts);
  exporting();
  sure(async (rows) => { if (outbox.decide(rows, ways.accept)) { await outbox.drain(); await store.load(); } });
  watch();
  await store.refresh();
  search.search();
  classes();
  await Promise.all([store.load(), confusions.confusions()]);
  document.documentElement.dataset.ready = "yes";
  reviewer.reviewer(renamed);
  let asked = named; // the name is asked for at the first decision
  const naming = () => { if (!asked && store.view === "suspects") { asked = true; reviewer.question(renamed); } };
  store.addEventListener("view", naming);
  naming();
  if (store.session.notice) store.say(store.session.notice);
}

// Refusals by the server are only shown; other errors are faults of the page and are also logged to the console.
addEventListener("unhandledrejection", (e) => {
  if (e.reason instanceof Failure) { e.preventDefault(); if (e.reason.status !== 0) said(e.reason.message); } else said(`An error in this page: ${e.reason?.message ?? e.reason}`);
});
run();
