// Accepts all suggested labels above a probability at once, after it has shown how many mistakes to expect.

import { get, el, head, open } from "./dom.js";
import { ask } from "./api.js";
import { store } from "./store.js";
import { count, many } from "./words.js";
import { me } from "./reviewer.js";
import { most } from "./outbox.js";

const least = 0.99;
let asked = 0;

// sure keeps the button up to date. accept decides about rows by their suggested labels.
export function sure(accept) {
  const button = get("sure");
  let timer = 0;
  const soon = () => { clearTimeout(timer); timer = setTimeout(look, 250); };
  for (const name of ["view", "rows", "session"]) store.addEventListener(name, soon);
  button.addEventListener("click", () => show(accept));
}
const query = () => ({ ...store.asked, sort: "suspect", sure: least, reviewer: me() });

async function look() {
  const button = get("sure"), mine = ++asked;
  if (store.view !== "suspects" || store.session.drawn || store.place.state !== "undecided") { button.hidden = true; return; }
  const { total } = await ask("/api/rows", { ...query(), limit: 0 });
  if (mine !== asked) return;
  button.hidden = total < 2;
  button.textContent = `Accept all above ${100 * least} % (${count(total)})…`;
}

async function show(accept) {
  const dialog = get("accepting"), { mistakes } = await ask("/api/rows", { ...query(), limit: 0 }), rows = await store.every(query());
  const part = rows.slice(0, most), share = rows.length ? mistakes / rows.length : 0, percent = share < 0.001 ? "fewer than 0.1 %" : `about ${(100 * share).toFixed(1)} %`;
  dialog.replaceChildren(head("accepting-name", `Accept all above ${100 * least} %`),
    el("p", {}, `This changes ${many(part.length, "label")} to the suggested ${part.length === 1 ? "one" : "ones"}${rows.length > part.length ? `, the first of ${count(rows.length)}` : ""}. By the audit’s probabilities, expect ${percent} of these changes to be mistakes (${share * part.length < 1 ? "fewer than 1" : `about ${count(Math.round(share * part.length))}`} of ${count(part.length)}). Undo takes all of them back.`),
    el("div", { class: "row" }, el("button", { type: "button", class: "primary", disabled: part.length === 0, onclick: () => { dialog.close(); accept(part); } }, `Change ${many(part.length, "label")}`), el("button", { type: "button", onclick: () => dialog.close() }, "Cancel")));
  open(dialog);
  dialog.querySelector("button.primary").focus();
}
