// A dialog for images that were decided in two tabs. It shows both decisions and asks which of them to keep.

import { get, el, open } from "./dom.js";
import { done, many, tail, count } from "./words.js";

const shown = 6;

// settle asks about conflicts [{id, path, decision (theirs), mine}] and returns "mine", "theirs" or "cancel".
// others is the number of images in the same batch without a conflict.
export function settle(conflicts, others) {
  const dialog = get("conflict"), back = document.activeElement;
  const decided = (d) => done(d?.action === "undecided" ? null : d);
  return new Promise((answer) => {
    let choice = "cancel";
    const choose = (name, words, primary) => el("button", { type: "button", class: primary ? "primary" : null, "data-choice": name, onclick: () => { choice = name; dialog.close(); } }, words);
    dialog.replaceChildren(
      el("h2", { id: "conflict-name" }, "Decided in another tab"),
      el("p", { id: "conflict-words" }, `${many(conflicts.length, "image")} ${conflicts.length === 1 ? "has" : "have"} been decided in another tab since you saw ${conflicts.length === 1 ? "it" : "them"}. Your decisions were not saved.`),
      el("ul", { class: "disputes" }, ...conflicts.slice(0, shown).map((c) => el("li", {},
        el("b", {}, `#${c.id + 1}`), ` ${tail(c.path)}`,
        el("span", { class: "versus" }, el("span", {}, "theirs: ", el("b", {}, decided(c.decision))), el("span", {}, "yours: ", el("b", {}, decided(c.mine))))))),
      conflicts.length > shown ? el("p", {}, `and ${count(conflicts.length - shown)} more`) : "",
      el("div", { class: "row" },
        choose("theirs", others > 0 ? `Keep theirs, save your other ${count(others)}` : "Keep theirs", true),
        choose("mine", conflicts.length === 1 && others === 0 ? "Use mine" : "Use mine for all"),
        others > 0 ? choose("cancel", "Save none of yours") : ""));
    dialog.onclose = () => { back?.focus?.(); answer(choice); };
    open(dialog);
  });
}
