// Search by image: by an image of the list, or by a file that is chosen, dropped or pasted.

import { get, el, head, open, picture, broken } from "./dom.js";
import { ask, upload, Failure } from "./api.js";
import { store } from "./store.js";
import { me } from "./outbox.js";
import { called, full } from "./names.js";
import { file, tail, many, number, named } from "./words.js";

const dialog = get("similar"), largest = 32 << 20, wanted = 30;
let url = "", asked = null; // stops the last search

export function similar() {
  const input = get("file"), button = get("upload");
  dialog.addEventListener("close", () => { if (!dialog.open) asked?.abort(); }); // this event comes late: the next search may have begun
  button.hidden = !store.session.upload;
  if (!store.session.upload) return;
  button.addEventListener("click", () => input.click());
  input.addEventListener("change", () => { search(input.files[0]); input.value = ""; });
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
    search(e.dataTransfer.files[0]);
  });
  document.addEventListener("paste", (e) => { if (e.clipboardData?.files.length) { e.preventDefault(); search(e.clipboardData.files[0]); } });
}

// like shows the images nearest to an image of the list.
export function like(row) {
  return show(`Similar to ${named(row, "number")}`, () => picture(row.key, 320, named(row)), `${called(row.given)} · ${tail(row.path)}`, (signal) => ask("/api/similar", { key: row.key, n: wanted, tab: me() }, signal), row);
}

function search(blob) {
  if (!blob) return undefined;
  if (!blob.type.startsWith("image/")) return store.say(`${blob.name || "This"} is not an image`);
  if (blob.size > largest) return store.say(`${blob.name || "The image"} is larger than 32 MiB`);
  if (url) URL.revokeObjectURL(url);
  url = URL.createObjectURL(blob);
  return show("Search by image", () => el("img", { src: url, alt: "The image searched for" }), blob.name || "pasted image", (signal) => upload(`/api/search?${new URLSearchParams({ tab: me() })}`, blob, signal), null);
}

async function show(name, shot, words, find, row) {
  asked?.abort();
  const { signal } = asked = new AbortController(), frame = (...rest) => dialog.replaceChildren(head("similar-name", name), el("div", { class: "query" }, el("figure", {}, shot(), el("figcaption", {}, words)), ...rest));
  frame(el("p", { class: "soft", role: "status" }, "Searching …"));
  open(dialog);
  try {
    const { pictures } = await find(signal);
    if (!signal.aborted) frame(el("div", { class: "answers" }, summary(pictures), el("ol", { class: "hits" }, ...pictures.map((p) => hit(p, row)))));
  } catch (e) {
    if (signal.aborted) return;
    if (!(e instanceof Failure)) throw e;
    frame(el("p", { role: "alert" }, e.message));
  }
}

// summary counts the labels of the found images.
function summary(pictures) {
  const labels = new Map();
  for (const p of pictures) labels.set(p.label, (labels.get(p.label) ?? 0) + 1);
  const most = [...labels].sort((a, b) => b[1] - a[1]);
  return el("p", {}, `Labels of the nearest ${pictures.length}: `, ...most.slice(0, 5).flatMap(([name, n], i) => [i ? ", " : "", el("b", {}, called(name)), ` ${n}`]), most.length > 5 ? ` and ${many(most.length - 5, "other")}` : "");
}

function hit(p, row) {
  return el("li", { class: row && p.label === row.given ? "same" : "", title: p.path }, el("button", { type: "button", onclick: () => { dialog.close(); store.tell("visit", p.id); } },
    picture(p.key, 160, "", { loading: "lazy" }), el("b", { title: full(p.label) }, broken(called(p.label))), el("span", { class: "num" }, number(p.similarity)),
    el("span", { class: "aloud" }, ` similarity, ${file(p.path)}, open number ${p.id + 1}`)));
}
