// Tags: words that people put on images. Every reviewer sees them, and the filter in Data finds their images.

import { get, el, head, open } from "./dom.js";
import { store } from "./store.js";
import { combobox } from "./combobox.js";
import { count, many, named } from "./words.js";

const dialog = get("tagging"), fresh = "new tag: ", longest = 40;

// write asks which tags rows get or lose, and calls change(give, take) for each choice. The dialog stays open.
export function write(rows, change) {
  const input = el("input", { id: "tag-input", spellcheck: "false", maxlength: String(longest), "aria-label": "Tag", placeholder: "a word of yours, or one of those below" }), held = el("p", { class: "on-tags", role: "status" });
  const has = (tag) => rows.filter((r) => r.tags.includes(tag)).length;
  const draw = () => {
    const on = [...new Set(rows.flatMap((r) => r.tags))].sort();
    held.replaceChildren(...(on.length ? on.map((tag) => chip(tag, rows.length > 1 ? `${tag} ${count(has(tag))}` : tag, () => { change([], [tag]); input.focus(); })) : [el("span", { class: "soft" }, "no tag yet")]));
    box.draw();
  };
  const options = () => {
    const typed = input.value.trim(), list = store.session.tags.map((t) => ({ name: t.name, text: t.name, note: has(t.name) < rows.length ? many(t.images, "image") : "given already" }));
    return typed && !typed.includes(";") && !store.session.tags.some((t) => t.name === typed) ? [...list, { name: fresh + typed, text: fresh + typed, note: "" }] : list;
  };
  const box = combobox(input, { label: "Tags", fixed: true, none: "type a new tag", options, pick: (name) => {
    if (!name) return;
    input.value = "";
    box.draw();
    change([name.startsWith(fresh) && !store.session.tags.some((t) => t.name === name) ? name.slice(fresh.length) : name], []);
  } });
  const heard = () => { if (dialog.open) draw(); };
  store.addEventListener("row", heard);
  store.addEventListener("session", heard);
  dialog.addEventListener("close", () => { store.removeEventListener("row", heard); store.removeEventListener("session", heard); }, { once: true });
  dialog.replaceChildren(head("tagging-name", rows.length === 1 ? `Tags of ${named(rows[0], "number")}` : `Tags of ${many(rows.length, "image")}`), held, el("div", { class: "choice" }, input),
    el("p", { class: "soft" }, el("kbd", {}, "Enter"), " gives the tag, ", el("kbd", {}, "Esc"), " ends"));
  input.after(box.list);
  open(dialog);
  draw();
  input.focus();
}

// chip is a tag with a button that takes it.
function chip(tag, words, take) {
  return el("span", { class: "mark" }, words, el("button", { type: "button", "aria-label": `Remove the tag ${tag}`, title: "Remove", onclick: take }, "×"));
}
// marks are the tags of an image; with take they can be removed.
export const marks = (row, take = null) => (row.tags ?? []).map((tag) => (take ? chip(tag, tag, () => take(tag)) : el("span", { class: "mark", title: tag }, tag)));
