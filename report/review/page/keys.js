// The table of keyboard shortcuts, which the help shows, and the listener for the keys.

import { get, el, head, open } from "./dom.js";

let on = localStorage.getItem("winnow-keys") !== "off";

// keys installs the listener. acts has a function for every name in the table.
export function keys(acts) {
  document.addEventListener("keydown", (e) => {
    if (e.repeat && e.key === "Enter" && e.target.matches("button")) return e.preventDefault(); // a key that is held down presses a button only once
    const name = meaning(e);
    if (!name || !acts[name]) return undefined;
    if (acts[name](e) !== false) e.preventDefault();
    return undefined;
  });
  get("help").addEventListener("click", show);
}

const singles = { k: "keep", d: "drop", a: "accept", l: "choose", "/": "choose", c: "reset", q: "unsure", w: "note", u: "undo", U: "redo", n: "another", N: "before", x: "select", s: "similar", z: "zoom", m: "map", "?": "help", "[": "previousPage", "]": "nextPage", g: "group", 1: "view1", 2: "view2", 3: "view3", 4: "view4", 5: "view5" };
const moves = { ArrowRight: "right", ArrowLeft: "left", ArrowDown: "down", ArrowUp: "up", Home: "first", End: "last", Enter: "open", Escape: "leave" };

function meaning(e) {
  if (e.isComposing || e.defaultPrevented) return "";
  const target = e.target, types = target.matches("textarea, select, [contenteditable], input:not([type=checkbox])");
  const above = document.querySelector("dialog[open]:not(#focus)");
  if (types || above || e.repeat && (e.key === "Enter" || !moves[e.key])) return "";
  const letter = e.key.length === 1 ? e.key.toLowerCase() : e.key;
  if ((e.ctrlKey || e.metaKey) && !e.altKey) return letter === "z" ? (e.shiftKey ? "redo" : "undo") : letter === "y" ? "redo" : "";
  if (e.altKey || e.ctrlKey || e.metaKey) return "";
  if (moves[e.key]) return moves[e.key];
  return on ? singles[e.key] ?? singles[letter] ?? "" : "";
}

const table = [
  ["K", "keep: the given label is right"], ["D", "drop: remove the image from the data set"], ["A", "accept the suggested label"], ["L or /", "choose another label by typing"], ["Q", "unsure: the label stays as given"], ["W", "write a note"], ["C", "make the image undecided again"],
  ["U or Ctrl+Z", "undo"], ["Shift+U or Ctrl+Y", "redo"], ["←, →, ↑, ↓", "move between images"], ["Home, End", "first, last image of the page"], ["[, ]", "previous, next page"], ["1 to 5", "the views: data, suspects, findings, map, search"],
  ["Enter", "show the image large; Esc: back"], ["X, Shift+arrows", "select several images, then decide them at once; by mouse with Ctrl or Shift"], ["G", "select the group of findings"], ["N, Shift+N", "next, previous class with undecided images"],
  ["Z", "zoom into the image; +, −, 0, 1, arrows"], ["S", "images similar to this image, or to the centre of the selected images; Esc: back"], ["M", "confusion map"], ["?", "this help"]];

const numbers = [
  ["#12", "rank in the list: 1 is the most suspect label"], ["3.0 % right", "probability that this label is right, by the audit"],
  ["score 0.12", "used if the audit has no probabilities: the lower the score of the given label, the more suspect the label"], ["not judged", "the only image of its class: there is nothing to compare it with"],
  ["fit −3.2", "how similar the image is to the other images: the further below 0, the less it fits; below −2.75 it is an outlier"], ["2 of 3 wrong", "of 3 labels decided as right or wrong, 2 were dropped or relabelled; the 95 % confidence interval of this share is in parentheses"],
  ["reviewers disagree", "reviewers who were sure decided differently: the export uses the decision of more than half of them, otherwise the given label"]];

export function show() {
  const dialog = get("helping"), box = el("input", { type: "checkbox", id: "single" });
  box.checked = on;
  box.addEventListener("change", () => { on = box.checked; localStorage.setItem("winnow-keys", on ? "on" : "off"); document.documentElement.dataset.keys = on ? "on" : "off"; });
  dialog.replaceChildren(head("helping-name", "How to review"),
    el("p", {}, "Each card shows an image with its given label and the label that winnow suggests. Below each label are images of that class: typical images (dashed frame) and the images most similar to this image. Decide which label is right. Every decision is saved immediately and can be undone."),
    el("dl", { class: "keys" }, ...table.flatMap(([k, words]) => [el("dt", {}, ...k.split(/( or |, )/).map((part) => (/^( or |, )$/.test(part) ? part : el("kbd", {}, part)))), el("dd", {}, words)])),
    el("h3", {}, "What the numbers mean"), el("dl", { class: "keys" }, ...numbers.flatMap(([name, words]) => [el("dt", {}, name), el("dd", {}, words)])),
    el("label", { class: "check" }, box, " Use single-letter keys (turn this off if you use speech input)"));
  open(dialog);
}
export const letters = () => { document.documentElement.dataset.keys = on ? "on" : "off"; };
