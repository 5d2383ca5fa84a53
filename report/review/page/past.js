// The history: all decisions, newest first, with undo and redo.

import { get, el, head, open, picture } from "./dom.js";
import { ask } from "./api.js";
import { store } from "./store.js";
import { undo, redo, me } from "./outbox.js";
import { clock, done, tail, many, who } from "./words.js";
import { me as reviewer } from "./reviewer.js";

const dialog = get("history"), step = 50;
let shown = 0;

export function past() {
  get("history-open").addEventListener("click", show);
  store.addEventListener("turned", () => { if (dialog.open) show(); });
}

export async function show() {
  shown = 0;
  const list = el("ol", { class: "entries" }), more = el("button", { type: "button", onclick: () => add(list, more) }, "Show more");
  dialog.replaceChildren(head("history-name", "History"),
    el("div", { class: "row" }, el("button", { type: "button", onclick: undo }, "Undo ", el("kbd", {}, "U")), el("button", { type: "button", onclick: redo }, "Redo"), el("span", { class: "soft" }, "in this tab")), list, more);
  open(dialog);
  await add(list, more);
}

async function add(list, more) {
  const { total, entries } = await ask("/api/history", { offset: shown, limit: step, reviewer: reviewer() });
  shown += entries.length;
  list.append(...entries.map(entry));
  if (total === 0) list.append(el("li", { class: "soft" }, "Nothing has been decided yet."));
  more.hidden = shown >= total || entries.length === 0;
  more.textContent = `Show more of ${many(total, "decision")}`;
}

function entry(e) {
  const said = (action, label) => done(action && action !== "undecided" ? { action, label } : null);
  return el("li", { class: e.undone ? "undone" : "" }, el("button", { type: "button", title: e.path, disabled: e.id === null, onclick: () => { dialog.close(); store.emit("visit", e.id); } }, e.key === null ? el("span", { class: "unreadable" }) : picture(e.key, 160, "", { loading: "lazy" }),
    el("span", {}, el("b", {}, e.hidden ? "shown once you have decided" : said(e.action, e.label)), el("small", {}, `${e.id === null ? "not among these images:" : `#${e.id + 1}`} ${tail(e.path)}`),
      el("small", {}, [clock(e.at), e.reviewer !== reviewer() ? who(e.reviewer) : "", e.note !== e.before_note ? (e.note ? `note: ${e.note}` : "note deleted") : "", e.before_action && e.before_action !== "undecided" ? `before: ${said(e.before_action, e.before_label)}` : "", e.undone ? "undone" : "", e.reviewer === reviewer() && e.tab !== me() ? "another tab" : ""].filter(Boolean).join(" · ")))));
}
