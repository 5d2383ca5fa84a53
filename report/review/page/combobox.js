// A field to choose one of many names by typing: an editable combobox with a list box, as ARIA defines it.

import { el } from "./dom.js";
import { count } from "./words.js";

const most = 60; // maximum number of names shown
const loose = 3; // grade of names that only have the typed letters in order

// match returns the options whose text or name matches the typed text, best match first: at the start, at the start of a
// word, anywhere, or as letters in the same order.
export function match(options, typed) {
  const q = typed.trim().toLowerCase();
  if (!q) return options;
  const out = [];
  for (const option of options) {
    const best = Math.min(grade(option.name, q), grade(option.text, q));
    if (best < 4) out.push({ ...option, best });
  }
  return out.sort((a, b) => a.best - b.best); // stable: equal matches stay in the order of the names
}
function grade(name, q) {
  const low = name.toLowerCase(), at = low.indexOf(q);
  if (low === q) return -1;
  if (at > 0) return /[\p{L}\p{N}]/u.test(low[at - 1]) && !/\d/.test(low[at - 1]) ? 2 : 1;
  return at === 0 ? 0 : inOrder(low, q) ? loose : 4;
}
function inOrder(low, q) {
  let at = 0;
  for (const letter of q) if ((at = low.indexOf(letter, at) + 1) === 0) return false;
  return q.length > 1;
}

// combobox turns input into a combobox. options() returns [{name, text, note}] in order; the list shows text. pick(name)
// is called with the chosen name, or with "" when an empty field is confirmed. fixed keeps the list open. create(typed)
// returns the text of an option to create that name, or false; then pick(name, true) is called.
export function combobox(input, { options, pick, label, fixed = false, none = "no such class", create = () => false }) {
  const list = el("ul", { id: `${input.id}-list`, role: "listbox", "aria-label": label, class: "options", hidden: !fixed });
  for (const [k, v] of Object.entries({ role: "combobox", "aria-autocomplete": "list", "aria-expanded": String(fixed), "aria-controls": list.id, autocomplete: "off", autocapitalize: "off" })) input.setAttribute(k, v);
  input.after(list);
  let found = [], active = -1, typed = false;

  function draw() {
    found = match(options(), typed || fixed ? input.value : "");
    const rest = found.length - most;
    found = found.slice(0, most);
    const wanted = input.value.trim(), words = wanted && create(wanted);
    if (words) found[found[0]?.best === loose ? "unshift" : "push"]({ name: wanted, text: words, note: "", made: true });
    list.replaceChildren(...found.map(({ name, text, note }, i) => el("li", { role: "option", id: `${list.id}-${i}`, "aria-selected": "false", onmousedown: (e) => { e.preventDefault(); take(i); }, onmousemove: () => stand(i, false) },
      el("span", {}, text), el("small", {}, [text.includes(name) ? "" : name, note].filter(Boolean).join(" · ")))),
      ...(rest > 0 ? [el("li", { role: "presentation", class: "rest" }, `${count(rest)} more: type to find them`)] : []),
      ...(found.length === 0 ? [el("li", { role: "option", "aria-disabled": "true", "aria-selected": "false", class: "rest" }, none)] : []));
    stand(input.value && (typed || fixed) && found.length ? 0 : fixed && found.length ? 0 : -1);
  }
  function stand(i, scroll = true) {
    list.children[active]?.setAttribute("aria-selected", "false");
    active = i;
    const option = found[i] && list.children[i];
    if (!option) return input.removeAttribute("aria-activedescendant");
    option.setAttribute("aria-selected", "true");
    input.setAttribute("aria-activedescendant", option.id);
    if (scroll) option.scrollIntoView({ block: "nearest" });
  }
  function show(on) {
    if (fixed) return draw();
    list.hidden = !on;
    input.setAttribute("aria-expanded", String(on));
    if (on) draw(); else stand(-1);
  }
  function take(i) {
    const name = found[i]?.name;
    if (name === undefined) return;
    const { made } = found[i];
    input.value = found[i].text;
    typed = false;
    show(false);
    pick(name, made);
  }
  input.addEventListener("input", () => { typed = true; show(true); });
  input.addEventListener("click", () => { if (list.hidden) { typed = false; show(true); input.select(); } });
  input.addEventListener("blur", () => show(false));
  input.addEventListener("keydown", (e) => {
    const n = found.length, step = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 }[e.key];
    if (step) {
      e.preventDefault();
      if (list.hidden) { typed = false; return show(true); }
      if (n) stand(Math.abs(step) > 1 ? Math.min(n - 1, Math.max(0, active + step)) : active < 0 ? (step > 0 ? 0 : n - 1) : (active + step + n) % n);
    } else if (e.key === "Enter") {
      e.preventDefault();
      if (active >= 0 && !list.hidden) take(active);
      else if (input.value.trim() === "") { show(false); pick(""); }
    } else if (e.key === "Escape" && !list.hidden && !fixed) {
      e.preventDefault();
      e.stopPropagation();
      show(false);
    }
  });
  return { draw, list };
}
