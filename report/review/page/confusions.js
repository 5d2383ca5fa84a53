// The confused classes: a list of the most frequent pairs next to the images, and a map of all pairs.

import { get, el, svg, head, open, broken } from "./dom.js";
import { ask } from "./api.js";
import { store } from "./store.js";
import { called, full } from "./names.js";
import { count, ofList, listName, many } from "./words.js";

const listed = 8, mapped = 20, rows = 300, longest = 200; // pairs in the list, classes on the map, rows of its table, width of a name in px

export async function confusions() {
  get("map-open").addEventListener("click", show);
  store.addEventListener("rows", here);
  const { pairs } = await ask("/api/confusions", { limit: listed });
  get("pairs").replaceChildren(...pairs.map((p) => el("li", {}, el("button", { type: "button", "data-given": p.given, "data-suggested": p.suggested, onclick: () => choose(p) },
    el("span", { class: "names" }, el("span", {}, broken(called(p.given))), el("span", {}, "→ ", broken(called(p.suggested)))), el("span", { class: "num", title: ofList(p.suspects) }, count(p.suspects))))));
  if (pairs.length === 0) get("pairs").append(el("li", { class: "soft" }, "none"));
  here();
}
function here() {
  for (const b of get("pairs").querySelectorAll("button")) b.setAttribute("aria-pressed", String(b.dataset.given === store.place.class && b.dataset.suggested === store.place.to));
}
function choose({ given, suggested }) {
  get("map").close();
  const on = store.place.class === given && store.place.to === suggested;
  store.go(on ? { class: "", to: "" } : { class: given, to: suggested });
}

export async function show() {
  const dialog = get("map");
  dialog.replaceChildren(head("map-name", "Confusion map"), el("p", { class: "soft" }, "Loading …"));
  open(dialog);
  const { pairs } = await ask("/api/confusions", { limit: rows });
  const shown = order(pairs);
  dialog.replaceChildren(head("map-name", "Confusion map"),
    pairs.length === 0 ? el("p", {}, `No ${listName()} has a suggested label of another class.`) : el("div", { class: "map" },
      el("figure", { tabindex: "0" }, drawing(pairs, shown), el("figcaption", { class: "soft" }, `Rows: given label; columns: suggested label. The darker a cell, the more ${listName(true)}. Shown are the ${shown.length} most confused of ${many(store.session.classes.length, "class", "classes")}. The table lists the same pairs.`)),
      el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Pairs of classes" }, table(pairs))));
}

function table(pairs) {
  return el("table", {},
    el("thead", {}, el("tr", {}, ...["given → suggested", listName(true), "decided", "accepted"].map((t) => el("th", { scope: "col" }, t)))),
    el("tbody", {}, ...pairs.map((p) => el("tr", {}, el("th", { scope: "row" }, el("button", { type: "button", class: "plain", onclick: () => choose(p) }, el("span", {}, broken(called(p.given)), el("br"), "→ ", broken(called(p.suggested))))),
      el("td", {}, count(p.suspects)), el("td", {}, count(p.decided)), el("td", {}, count(p.accepted))))));
}

// order returns the classes of the most frequent pairs, each next to the class with which it is most confused.
export function order(pairs) {
  const links = new Map(), add = (a, b, n) => { if (!links.has(a)) links.set(a, new Map()); links.get(a).set(b, (links.get(a).get(b) ?? 0) + n); };
  for (const p of pairs) {
    if (links.size >= mapped && !(links.has(p.given) && links.has(p.suggested))) continue;
    add(p.given, p.suggested, p.suspects);
    add(p.suggested, p.given, p.suspects);
  }
  const out = [], left = new Set(links.keys());
  let at = pairs[0]?.given;
  while (left.size > 0 && out.length < mapped) {
    if (at === undefined) [at] = left;
    out.push(at);
    left.delete(at);
    at = [...links.get(at)].filter(([name]) => left.has(name)).sort((a, b) => b[1] - a[1])[0]?.[0];
  }
  return out;
}

// widths measures the names in the map's font, and shortens names that are too wide with ….
function widths(names) {
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = `14px ${getComputedStyle(document.body).fontFamily}`;
  const wide = (text) => pen.measureText(text).width;
  return names.map((name) => {
    let letters = [...called(name)], text = letters.join("");
    while (wide(text) > longest && letters.length > 1) text = `${(letters = letters.slice(0, -1)).join("")}…`;
    return { text, width: wide(text) };
  });
}

function drawing(pairs, names) {
  const cell = 24, middle = 17, turned = 50 * Math.PI / 180, n = names.length, at = new Map(names.map((name, i) => [name, i])), most = Math.max(1, ...pairs.map((p) => p.suspects));
  const written = widths(names), width = Math.max(...written.map((w) => w.width));
  const left = Math.ceil(width) + 14, top = Math.ceil(width * Math.sin(turned)) + 22, right = Math.ceil(Math.max(...written.map((w, i) => i * cell + 22 + w.width * Math.cos(turned) - n * cell), 0)) + 8;
  const out = svg("svg", { viewBox: `0 0 ${left + n * cell + right} ${top + n * cell + 4}`, role: "img", "aria-label": `Map of the ${n} classes confused most`, class: "heat" });
  names.forEach((name, i) => {
    out.append(svg("text", { x: left - 8, y: top + i * cell + middle, "text-anchor": "end" }, written[i].text),
      svg("text", { transform: `translate(${left + i * cell + 15} ${top - 8}) rotate(-50)` }, written[i].text),
      svg("rect", { x: left + i * cell, y: top + i * cell, width: cell - 1, height: cell - 1, class: "same" }),
      svg("line", { x1: left, x2: left + n * cell, y1: top + (i + 1) * cell - 0.5, y2: top + (i + 1) * cell - 0.5 }));
  });
  for (const p of pairs) {
    const x = at.get(p.suggested), y = at.get(p.given);
    if (x === undefined || y === undefined) continue;
    const strength = 0.15 + 0.85 * Math.sqrt(p.suspects / most);
    out.append(svg("g", { class: "cell", onclick: () => choose(p) },
      svg("title", {}, `${full(p.given)} → ${full(p.suggested)}: ${ofList(p.suspects)}, ${p.decided} decided, ${p.accepted} accepted`),
      svg("rect", { x: left + x * cell, y: top + y * cell, width: cell - 1, height: cell - 1, rx: 3, "fill-opacity": strength.toFixed(2) }),
      svg("text", { x: left + x * cell + (cell - 1) / 2, y: top + y * cell + middle, "text-anchor": "middle", class: `${strength > 0.6 ? "on" : ""} ${p.suspects > 99 ? "long" : ""}` }, p.suspects > 999 ? `${Math.round(p.suspects / 1000)}k` : String(p.suspects))));
  }
  return out;
}
