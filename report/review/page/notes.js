// Notes about an image, and the decisions of all reviewers about it.

import { get, el, head, open } from "./dom.js";
import { clock, done, many, stamp, together, who, named } from "./words.js";
import { me } from "./reviewer.js";

const longest = 1000;

// write asks for a note about rows and calls keep(note) to save it.
export function write(rows, keep) {
  const dialog = get("noting"), same = rows.every((r) => r.note === rows[0].note);
  const area = el("textarea", { id: "note-input", rows: "4", maxlength: String(longest), "aria-label": "Note", placeholder: "what you saw, or a question" });
  area.value = same ? rows[0].note : "";
  const take = () => { dialog.close(); keep(area.value.trim()); };
  area.addEventListener("keydown", (e) => { if (e.key === "Enter" && !e.shiftKey && !e.isComposing) { e.preventDefault(); take(); } });
  dialog.replaceChildren(head("noting-name", rows.length === 1 ? `Note on ${named(rows[0], "number")}` : `Note on ${many(rows.length, "image")}`), area,
    el("div", { class: "row" }, el("span", { class: "soft" }, el("kbd", {}, "Enter"), " saves it, ", el("kbd", {}, "Shift"), " ", el("kbd", {}, "Enter"), " starts a new line"), el("span", { class: "gap" }), el("button", { type: "button", class: "primary", onclick: take }, "Save the note")));
  open(dialog);
  area.focus();
}

const quoted = (note) => (note ? el("q", {}, note) : "");

// remarks returns the lines on a card: your own note, and the decisions of others.
export const remarks = (row) => [
  row.before ? el("p", { class: "differs" }, `the image changed since you decided (${done(row.before)}): decide again`) : "",
  row.differ ? el("p", { class: "differs" }, together(row)) : "",
  row.note ? el("p", {}, quoted(row.note)) : "",
  ...row.others.map((o) => el("p", { title: clock(o.at) }, el("b", {}, who(o.reviewer)), " ", o.action === "undecided" ? "" : stamp(o), " ", quoted(o.note))),
];

// voices returns a list of all reviewers' decisions and notes about an image, and the outcome.
export function voices(row) {
  if (!row.note && row.others.length === 0) return [];
  const mine = { reviewer: me(), note: row.note, ...(row.decision ?? { action: "undecided" }) };
  const line = (o) => [el("dt", {}, who(o.reviewer)), el("dd", {}, o.action === "undecided" ? "not decided" : done(o), o.at ? el("small", { class: "soft" }, ` · ${clock(o.at)}`) : "", o.note ? el("span", {}, quoted(o.note)) : "")];
  return [el("h3", {}, "Reviewers"), el("dl", {}, ...line(mine), ...row.others.flatMap(line)),
    row.others.some((o) => o.action !== "undecided") ? el("p", { class: row.differ ? "differs" : "soft" }, together(row)) : ""];
}
