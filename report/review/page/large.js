// The large view of an image: the image, both classes, and optionally an example next to it for comparison.

import { get, el, head, open, picture, thumb, broken } from "./dom.js";
import { how, means, rank, fits, many, number, stamp, done, better, offered, file, tail, named } from "./words.js";
import { store } from "./store.js";
import { typical } from "./typical.js";
import { tags } from "./card.js";
import { called, full } from "./names.js";
import { voices } from "./notes.js";
import { zoom } from "./zoom.js";

const dialog = get("focus");
let guest = null; // the row shown, if it is not on the list's current page
let drawn = 0; // time of the last drawing, in ms

export const shown = () => (dialog.open ? guest ?? store.row : null);
export const visiting = () => guest !== null;
// fresh reports whether the image has just appeared: the second click of a double click must not act on it.
export const fresh = () => dialog.open && performance.now() - drawn < 300;

export function large() {
  store.addEventListener("current", () => { if (dialog.open && !guest) draw(); });
  store.addEventListener("row", (e) => { if (shown()?.id === e.detail) mark(); });
  store.addEventListener("trouble", trouble);
  store.addEventListener("rows", () => { if (dialog.open && !guest && !store.row) dialog.close(); });
  dialog.addEventListener("close", () => {
    if (guest && store.index(guest.id) < 0) store.guests.delete(guest.id);
    guest = null;
    store.emit("closed");
  });
}

// show opens the current row, or a guest, which is a row that is not on the list's current page.
export function show(row = null) {
  guest = row && store.index(row.id) < 0 ? row : null;
  if (guest) store.guests.set(guest.id, guest);
  if (row && !guest) store.move(store.index(row.id));
  if (!guest && !store.row) return;
  draw();
  open(dialog);
  dialog.querySelector(".acts button:not(:disabled)")?.focus();
}

function draw() {
  const row = guest ?? store.row, again = dialog.contains(document.activeElement) ? document.activeElement.dataset.act : "";
  if (!row) return;
  drawn = performance.now();
  const act = (name, words, key, more = {}) => el("button", { type: "button", "data-act": name, onclick: (e) => store.emit("act", { name, row, event: e }), ...more }, words, key ? el("kbd", { "aria-hidden": "true" }, key) : "");
  const shot = el("figure", { class: "shot" }, zoomable(row, whole(row)), el("figcaption", {}, el("b", {}, called(row.given)), el("span", {}, ` · ${row.path}`)));
  const first = head("focus-name", el("span", { title: rank(row) }, named(row)), el("span", { class: "stamp", role: "status" }),
    act("previous", "←", "", { class: "icon", "aria-label": "Previous image", disabled: Boolean(guest) }), act("next", "→", "", { class: "icon", "aria-label": "Next image", disabled: Boolean(guest) }));
  first.firstChild.after(el("span", { class: "tags" }, ...tags(row), row.fit === null ? "" : el("span", { class: "num", title: fits }, `fit ${number(row.fit).replace("-", "−")}`)));
  dialog.replaceChildren(first, el("p", { class: "banner", role: "alert" }),
    el("div", { class: "large" },
      el("div", { class: "shots" }, shot),
      el("div", { class: "evidence" }, el("section", { class: "class-panel voices" }),
        row.given ? panel(row, true) : el("p", { class: "soft" }, "This image has no label."), better(row) ? panel(row, false) : row.audited ? el("p", { class: "soft" }, row.unjudged ? means(row, true) : "No other class fits this image better than the given label.") : "",
        row.problems?.length ? el("section", { class: "class-panel" }, el("h3", {}, "Problems of the image"), el("ul", {}, ...row.problems.map((p) => el("li", {}, p)))) : "",
        copies(row).length ? el("section", { class: "class-panel" }, el("h3", {}, row.group?.length ? "Duplicates: other files with the same image" : "Nearly identical images with another label"), strip(copies(row), "duplicate", true)) : "")),
    el("div", { class: "acts big" },
      act("keep", "Keep", "K", { title: `The label ${full(row.given)} is right` }), act("drop", "Drop", "D", { title: "Remove the image from the data set" }),
      act("accept", offered(row) ? `Accept: ${short(called(offered(row)))}` : "Accept", "A", { class: "accept", disabled: !offered(row), title: offered(row) ? `Change the label to ${full(offered(row))}` : null }), act("choose", "Label…", "L", { title: "Choose another label" }), act("unsure", "Unsure", "Q", { title: "You are not sure: the label stays as given" }),
      el("span", { class: "gap" }), act("note", "Note…", "W"), store.session.similar ? act("similar", "Similar", "S") : "", act("reset", "Not decided", "C"), act("undo", "Undo", "U")));
  mark();
  if (again) (dialog.querySelector(`[data-act="${again}"]:not(:disabled)`) ?? dialog.querySelector(".acts button:not(:disabled)"))?.focus();
}

// copies returns the other images of a row's group of duplicates or, if the audit has no groups, those with other labels.
const copies = (row) => (row.group?.length ? row.group : row.copies ?? []);

// zoomable makes an image that shows its file in the zoom dialog when it is clicked.
const zoomable = (row, shot) => el("button", { type: "button", class: "zoomable", "data-act": "zoom", title: "Zoom (Z)", "aria-label": `Zoom: ${file(row.path)}`, onclick: () => zoom(row) }, shot);
const short = (name) => (name.length > 18 ? `${name.slice(0, 17)}…` : name);

// whole shows the thumbnail immediately, and the image file when it is loaded.
function whole(row) {
  const small = picture(row.key, 512, `${named(row)}: ${file(row.path)}`, { class: "whole" }), full = new Image();
  full.onload = () => { if (Math.max(full.naturalWidth, full.naturalHeight) > 512) small.src = full.src; };
  full.src = `/image/${encodeURIComponent(row.key)}`;
  return small;
}

function panel(row, given) {
  const name = given ? row.given : row.suggested, kind = strip([], "typical");
  typical(name).then((list) => kind.replaceChildren(...strip(list.filter((p) => p.key !== row.key), "typical").childNodes), () => kind.replaceChildren("–"));
  const c = store.session.classes.find((c) => c.name === name);
  return el("section", { class: given ? "class-panel given" : "class-panel to" },
    el("h3", {}, el("small", {}, given ? "given" : "suggested"), " ", el("b", { title: full(name) }, broken(called(name))), called(name) === name ? "" : el("small", { class: "size" }, name), " ",
      el("span", { class: "num", title: means(row, given) }, how(row, given)), c ? el("small", { class: "size", title: "Number of images with this label" }, many(c.images, "image")) : ""),
    el("p", { class: "what" }, "typical images"), kind,
    ...(row.audited ? [el("p", { class: "what" }, "images nearest to this one"), strip(given ? row.given_neighbours : row.suggested_neighbours, "nearest")] : []));
}
function strip(list, what, labelled) {
  return el("div", { class: "strip" }, ...list.map((p) => el("button", { type: "button", class: `example ${what}`, "aria-pressed": "false", title: `${full(p.label)}\n${p.path}`, "aria-label": `Compare with ${what} image labelled ${called(p.label)}: ${file(p.path)}`, onclick: (e) => compare(e.currentTarget, p, what) },
    picture(p.key, 160, ""), labelled ? el("small", {}, called(p.label)) : "")));
}

// compare shows an example next to the image, or removes the example.
function compare(button, p, what) {
  const shots = dialog.querySelector(".shots"), on = button.getAttribute("aria-pressed") === "true";
  for (const b of dialog.querySelectorAll(".example[aria-pressed=true]")) b.setAttribute("aria-pressed", "false");
  shots.querySelector(".held")?.remove();
  if (on) return;
  button.setAttribute("aria-pressed", "true");
  shots.append(el("figure", { class: "shot held" }, zoomable(p, picture(p.key, 512, `${what} image labelled ${called(p.label)}`, { class: "whole" })), el("figcaption", {}, el("b", {}, called(p.label)), ` · ${what} · ${tail(p.path)}`)));
}

// The large view shows the trouble banner itself, because it covers the top of the page.
function trouble() {
  const line = dialog.querySelector(".banner");
  if (!line) return;
  line.hidden = !store.trouble;
  if (line.textContent !== store.trouble) line.textContent = store.trouble;
}

function mark() {
  trouble();
  const row = shown() ?? guest ?? store.row, waits = store.pending.get(row.id), sign = dialog.querySelector(".stamp");
  dialog.dataset.decided = waits ? "" : row.decision?.action ?? "";
  dialog.classList.toggle("pending", Boolean(waits));
  sign.textContent = waits ? "not saved yet" : row.decision ? stamp(row.decision) : "";
  sign.title = done(row.decision);
  const said = voices(row), panel = dialog.querySelector(".voices");
  panel.replaceChildren(...said);
  panel.hidden = said.length === 0;
  dialog.querySelector("[data-act=reset]").disabled = !row.decision || Boolean(waits);
}
export const ahead = (row) => { if (row) { new Image().src = thumb(row.key, 512); typical(row.given).catch(() => {}); if (better(row)) typical(row.suggested).catch(() => {}); } };
