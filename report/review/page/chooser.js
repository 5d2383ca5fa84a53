// A dialog to choose another label for images by typing.

import { get, el, head, open } from "./dom.js";
import { store } from "./store.js";
import { combobox } from "./combobox.js";
import { called } from "./names.js";
import { how, many, better, offered, named } from "./words.js";

const dialog = get("chooser"), recent = [];
let box = null, then = null;

// choose asks for a label for rows and calls decide(name, create). create: the name may be a new class.
export function choose(rows, decide) {
  then = decide;
  const input = el("input", { id: "chooser-input", spellcheck: "false", "aria-label": "Label", placeholder: "type a part of its name" });
  dialog.replaceChildren(head("chooser-name", rows.length === 1 ? `Label of ${named(rows[0], "number")}` : `Label of ${many(rows.length, "image")}`), input,
    el("p", { class: "soft" }, el("kbd", {}, "↑"), " ", el("kbd", {}, "↓"), " move, ", el("kbd", {}, "Enter"), " chooses, ", el("kbd", {}, "Esc"), " cancels"));
  box = combobox(input, { label: "Classes", fixed: true, options: () => options(rows), pick, create: (typed) => !store.session.classes.some((c) => [c.name, c.called].includes(typed)) && `Create class “${typed}”` });
  open(dialog);
  box.draw();
  input.focus();
}

function pick(name, create) {
  if (!name) return;
  const at = recent.indexOf(name);
  if (at >= 0) recent.splice(at, 1);
  recent.unshift(name);
  recent.length = Math.min(recent.length, 5);
  dialog.close();
  then(name, create);
}

// Likely labels are first: winnow's suggestion, recently chosen labels, then all classes.
function options(rows) {
  const names = new Map();
  if (rows.length === 1 && better(rows[0])) names.set(rows[0].suggested, ["suggested", how(rows[0], false)].filter(Boolean).join(", "));
  else if (rows.length === 1 && offered(rows[0])) names.set(offered(rows[0]), "label of a duplicate");
  for (const name of recent) if (!names.has(name)) names.set(name, "chosen before");
  for (const c of store.session.classes) if (!names.has(c.name)) names.set(c.name, rows.length === 1 && c.name === rows[0].given ? "given label: keeps it" : many(c.images, "image"));
  return [...names].map(([name, note]) => ({ name, text: called(name), note }));
}
