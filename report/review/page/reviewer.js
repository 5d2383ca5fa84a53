// The reviewer's name. It is asked for once and kept in a cookie, because cookies are shared by all ports of the host.

import { get, el, head, open } from "./dom.js";
import { store } from "./store.js";
import { count, many, who } from "./words.js";

const cookie = "winnow-reviewer", longest = 60, year = 365 * 24 * 3600;
let name = "";

export const me = () => name;

// known reads the name from the cookie. It returns whether the reviewer has given a name or chosen to have no name.
export function known() {
  const found = document.cookie.split("; ").find((c) => c.startsWith(`${cookie}=`));
  if (found === undefined) return false;
  try { name = decodeURIComponent(found.slice(cookie.length + 1)).trim().slice(0, longest); } catch { return false; }
  draw();
  return true;
}

// reviewer shows the name. other is called with a new name and returns whether it may be used now.
export function reviewer(other) {
  get("who").addEventListener("click", () => question(other));
  draw();
}

function draw() {
  const button = get("who"), initials = name.split(/\s+/).map((word) => [...word][0] ?? "").slice(0, 2).join("").toUpperCase();
  button.textContent = initials || "–";
  button.title = `Reviewer: ${who(name)}`;
  button.setAttribute("aria-label", `Reviewer: ${who(name)}. Change`);
}

// question shows the dialog that asks for the name.
export function question(other) {
  const dialog = get("reviewer"), input = el("input", { id: "reviewer-input", maxlength: String(longest), spellcheck: "false", autocomplete: "off", placeholder: "your name", value: name || store.session.reviewer });
  const { reviewers } = store.session, unnamed = reviewers.find((r) => r.name === "");
  const take = async (wanted) => {
    if (!await other(wanted)) return;
    name = wanted;
    document.cookie = `${cookie}=${encodeURIComponent(name)}; max-age=${year}; path=/; samesite=strict`;
    dialog.close();
    draw();
    store.emit("reviewer");
  };
  const form = el("form", { class: "row" }, input, el("button", { type: "submit", class: "primary" }, "Use this name"), el("button", { type: "button", onclick: () => take("") }, "Continue without a name"));
  form.addEventListener("submit", (e) => { e.preventDefault(); if (input.value.trim()) take(input.value.trim()); else input.focus(); });
  input.setAttribute("aria-label", "Your name");
  dialog.replaceChildren(head("reviewer-name", "Who is reviewing?"),
    el("p", {}, "Each decision is saved with the reviewer's name. Several people can review the same images: each decides independently, and the export uses the decision of more than half of them."), form,
    unnamed ? el("p", { class: "soft" }, `${many(unnamed.decided, "image")} of this audit ${unnamed.decided === 1 ? "was" : "were"} decided without a name: to continue these decisions, continue without a name.`) : "",
    reviewers.some((r) => r.name) ? el("dl", {}, ...reviewers.flatMap((r) => [el("dt", {}, who(r.name)), el("dd", {}, `${count(r.decided)} decided`)])) : "");
  open(dialog);
  input.focus();
  input.select();
}
