// The list of images. The document contains only the cards of the current page, however long the list is.

import { get, el, thumb } from "./dom.js";
import { card, mark, fill } from "./card.js";
import { tile } from "./tile.js";
import { group } from "./findings.js";
import { filtered } from "./address.js";
import { store } from "./store.js";
import { count, listName, many } from "./words.js";
import { drain } from "./outbox.js";
import { ending } from "./ending.js";

const list = get("grid"), cards = new Map(); // id → article
let seen = null, origin = -1, held = -1; // origin: the card where a Shift selection started; held: the current card at mousedown

export function grid() {
  seen = new IntersectionObserver((entries) => {
    for (const e of entries) if (e.isIntersecting && store.full) { fill(e.target); seen.unobserve(e.target); }
  }, { rootMargin: "200px" });
  store.addEventListener("loading", () => list.setAttribute("aria-busy", "true"));
  store.addEventListener("rows", draw);
  store.addEventListener("row", (e) => touch(e.detail));
  store.addEventListener("selection", () => { for (const row of store.rows) touch(row.id); });
  store.addEventListener("current", stand);
  list.addEventListener("mousedown", () => { held = store.current; }, true);
  list.addEventListener("focusin", (e) => {
    const at = store.index(Number(e.target.closest("article")?.dataset.id ?? -1));
    if (at >= 0 && at !== store.current) store.move(at);
  });
}

function draw() {
  const inside = list.contains(document.activeElement), dialog = document.querySelector("dialog[open]");
  seen.disconnect();
  cards.clear();
  list.className = { data: "grid mosaic", search: "grid mosaic", findings: "grid groups" }[store.view] ?? (store.full ? "grid" : "grid compact");
  list.replaceChildren(...(store.groups ? store.groups.map(group) : store.rows.map((row) => el("li", {}, list.classList.contains("mosaic") ? tile(row) : card(row)))));
  for (const article of list.querySelectorAll("article")) {
    const id = Number(article.dataset.id);
    if (!cards.has(id)) cards.set(id, article);
    if (store.full) seen.observe(article);
  }
  list.removeAttribute("aria-busy");
  origin = -1;
  found();
  if (inside && !dialog) focus(); else if (store.current > 0 && !dialog) cards.get(store.row.id).scrollIntoView({ block: "nearest" });
  const idle = window.requestIdleCallback ?? ((f) => setTimeout(f, 300));
  idle(() => store.look()?.then((page) => { for (const row of page.rows.slice(0, 12)) new Image().src = thumb(row.key, 320); }, () => {}));
}

function found() {
  const { total, place, view, session } = store, all = view === "data" || view === "search" ? session.images : session.total;
  const what = { undecided: "to decide", decided: "decided", all: "", keep: "kept", drop: "dropped", relabel: "relabelled", unsure: "unsure", disagreed: "without a majority", differ: "on which reviewers disagree", noted: "with a note" }[place.state];
  const name = store.groups ? "group" : store.kind === "suspect" ? listName() : "image";
  get("found").textContent = total === 0 ? (all === 0 ? "The audit has no images" : `No ${name}s ${what}`.trim()) : `${many(total, name)} ${what}`.trim();
  if (store.groups) {
    if (total === 0 && session.total > 0) list.append(el("li", { class: "empty" }, "The audit found none."));
  } else if (view === "search") get("found").textContent = total ? `The ${many(total, "image")} most similar` : "";
  else if (total === 0 && view === "suspects" && place.state === "undecided" && all > 0) list.append(ending(store.kind === "suspect" && !filtered({ ...place, kind: "" }) ? `All ${listName(true)} are decided.` : "All images that match these filters are decided."));
  else if (total === 0) list.append(el("li", { class: "empty" }, place.state === "undecided" && all > 0 ? (store.kind === "suspect" && !filtered({ ...place, kind: "" }) ? `All ${listName(true)} are decided.` : "All images that match these filters are decided.") : "Nothing matches these filters."));
  get("found").hidden = get("found").textContent === "";
  const from = place.offset + 1, to = place.offset + store.length;
  for (const id of ["pager-top", "pager-end"]) {
    const step = (words, name, offset, off) => el("button", { type: "button", "data-page": name, "aria-label": `${name} page`, disabled: off, onclick: () => (name === "Next" ? next() : store.go({ offset })) }, words);
    const jump = el("input", { inputmode: "numeric", size: "7", "aria-label": store.groups ? "Go to group number" : "Go to image number of this list", value: String(from), onchange: (e) => go(e.target.value) });
    get(id).replaceChildren(...(total === 0 || view === "search" ? [] : [
      step("‹", "Previous", place.offset - store.size, place.offset === 0), jump, el("span", {}, `– ${count(to)} of ${count(total)}`), step("›", "Next", 0, to >= total)]));
  }
}
function go(words) {
  const n = Number(words.replaceAll(/[\s,.]/g, ""));
  if (Number.isSafeInteger(n) && n > 0) store.go({ offset: Math.min(n, store.total) - 1 });
}

function touch(id) {
  const row = store.find(id);
  if (row && cards.has(id)) for (const article of list.querySelectorAll(`article[data-id="${id}"]`)) mark(article, row);
}

// stand marks the current card. Tab stops only at parts of the current card.
function stand() {
  for (const [id, article] of cards) {
    const current = store.row?.id === id;
    if ((article.getAttribute("aria-current") === "true") === current && article.tabIndex === (current ? 0 : -1)) continue;
    article.tabIndex = current ? 0 : -1;
    if (current) article.setAttribute("aria-current", "true"); else article.removeAttribute("aria-current");
    for (const part of article.querySelectorAll("button, input")) part.tabIndex = current ? 0 : -1;
  }
}
export function focus() {
  const article = cards.get(store.row?.id);
  article?.focus({ preventScroll: true });
  article?.scrollIntoView({ block: "nearest", behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" });
}

// step moves the current card by one card or by one row of cards. With Shift, it selects the cards in between.
export function step(by, line, selecting) {
  const from = store.current;
  const across = line ? Math.max(1, store.rows.findIndex((r) => cards.get(r.id).offsetTop > cards.get(store.rows[0].id).offsetTop)) : 1;
  const to = from + by * across;
  if (to < 0 || to >= store.rows.length) {
    if (line && to >= store.rows.length && from < store.rows.length - 1) store.move(store.rows.length - 1);
    else if (!selecting) return by > 0 ? next() : previous();
  } else store.move(to);
  if (selecting) stretch(from, store.current);
  focus();
}
export const before = () => held;
// stretch selects all cards from the start of the selection to a card.
export function stretch(from, to) {
  if (origin < 0 || store.selected.size === 0) origin = from;
  store.selected.clear();
  store.beyond = null;
  for (let i = Math.min(origin, to); i <= Math.max(origin, to); i++) store.selected.add(store.rows[i].id);
  store.emit("selection");
}
export function pick(i) { origin = i; store.select(store.rows[i].id); }

// turn goes to another page. Until that page is loaded, keys neither turn pages nor decide, because they would act on
// the image that was decided last.
let turning = false;
export const turns = () => turning;
async function turn(step) {
  if (turning) return;
  turning = true;
  try { await step(); } finally { turning = false; }
}

// next goes to the next page after all decisions on this page are saved.
export const next = (decided = false) => turn(async () => {
  await drain();
  if (store.pending.size > 0) return store.say("Some decisions on this page are not saved yet: try again when they are");
  const { place, total } = store, ended = place.offset + store.length >= total;
  if (ended && (place.state !== "undecided" || store.after() > place.offset)) return decided ? undefined : store.say("This is the end of the list");
  const offset = ended ? 0 : store.after(); // after the last page, start again with the skipped images
  await store.go({ offset }, false);
  focus();
});
export const previous = () => turn(async () => {
  if (store.place.offset === 0) return store.say("This is the start of the list");
  await drain();
  await store.go({ offset: store.place.offset - store.size }, false);
  store.move(store.rows.length - 1);
  focus();
});

// advance goes to the next undecided image of this page or, if there is none, to the next page.
export async function advance(from = store.current) {
  const open = (r) => !r.decision && !store.pending.has(r.id);
  const after = store.rows.findIndex((r, i) => i > from && open(r));
  if (after >= 0) store.move(after);
  else if (store.place.state === "undecided" && store.rows.some(open)) store.move(store.rows.findIndex(open));
  else if (store.place.state === "undecided" || from >= store.rows.length - 1) return next(true);
  else store.move(from + 1);
  if (!document.querySelector("dialog[open]")) focus();
}
