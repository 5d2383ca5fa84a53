// A card of the list: an image, its given and its suggested label with examples of both classes, and decision buttons.

import { el, picture, broken } from "./dom.js";
import { how, many, means, rank, offered, contrary, kinds, reasons, stamp, done, better, file, tail, named } from "./words.js";
import { store } from "./store.js";
import { typical } from "./typical.js";
import { called, full } from "./names.js";
import { remarks } from "./notes.js";

// act tells page.js which button of a card was pressed.
const act = (name, row, event) => store.emit("act", { name, row, event });

export function card(row) {
  const button = (name, words, key, more = {}) => el("button", { type: "button", tabindex: "-1", "data-act": name, onclick: (e) => act(name, row, e), ...more }, words, key ? el("kbd", { "aria-hidden": "true" }, key) : "");
  const sign = (name, glyph, words, key) => el("button", { type: "button", class: "sign", tabindex: "-1", "data-act": name, title: `${words} (${key})`, "aria-label": words, onclick: (e) => act(name, row, e) }, glyph);
  const box = el("input", { type: "checkbox", tabindex: "-1", "aria-label": `Select number ${row.rank}` });
  box.addEventListener("click", (e) => act("select", row, e));
  const article = el("article", { class: "card case", tabindex: "-1", "data-id": row.id, "aria-describedby": `about-${row.id}` },
    el("div", { class: "top" }, el("label", { class: "pick" }, box, el("span", { title: rank(row) }, `#${row.rank}`)), ...tags(row), el("span", { class: "tag differ", title: "Reviewers who are sure disagree", hidden: true }, "reviewers disagree"), caption(row.path), el("span", { class: "stamp" }),
      sign("note", "✎", "Note", "W"), store.session.similar ? sign("similar", "≈", "Similar images", "S") : ""),
    el("div", { class: "sides" },
      el("button", { type: "button", class: "face", tabindex: "-1", "aria-label": "Show large", onclick: (e) => act("open", row, e) }, picture(row.key, 320, `Number ${row.rank}: ${file(row.path)}`, { loading: "lazy" })),
      el("div", { class: "classes" }, side(row, true), side(row, false))),
    found(row),
    el("div", { class: "remarks" }),
    el("div", { class: "acts" },
      button("keep", "Keep", "K", { title: `The label ${full(row.given)} is right` }), button("drop", "Drop", "D", { title: "Remove the image from the data set" }),
      button("accept", "Accept", "A", { disabled: !offered(row), title: offered(row) ? `Change the label to ${full(offered(row))}` : "No other label fits better" }),
      button("choose", "Label…", "L", { title: "Choose another label" }), button("unsure", "Unsure", "Q", { title: "You are not sure: the label stays as given" })),
    el("p", { class: "aloud", id: `about-${row.id}` }, [rank(row), `${how(row, true)}: ${means(row, true)}`, better(row) && how(row, false) ? `${how(row, false)}: ${means(row, false)}` : ""].join(" ")));
  article.dataset.kind = row.kinds.join(" ");
  mark(article, row);
  return article;
}
// tags returns a card's tags, without duplicates and problems, which the card shows below.
export const tags = (row) => row.kinds.filter((k) => k !== "group" && k !== "problem").map((k) => el("span", { class: `tag ${k}`, title: reasons[k] ?? null }, kinds[k] ?? k));

// found shows the problems and the duplicates of the image.
function found(row) {
  const group = row.group.length ? row.group : row.copies, problems = row.problems ?? [], others = [...new Set(contrary(row).map((p) => called(p.label)))];
  if (!group.length && !problems.length) return "";
  return el("div", { class: "findings" }, ...problems.map((p) => el("p", {}, p)),
    group.length ? el("p", {}, `duplicates: ${many(group.length, "other file")}`, ...(others.length ? [", labelled ", el("b", {}, others.slice(0, 3).join(", "))] : [])) : "",
    group.length ? el("div", { class: "strip", "data-full": "yes" }, ...group.slice(0, 5).map((p) => example(p, "duplicate"))) : "");
}

// side shows one of the two labels, given or suggested, with examples of the class.
function side(row, given) {
  const none = !given && !better(row);
  return el("div", { class: given ? "side-class given" : "side-class to" },
    el("p", { class: "label" }, el("small", {}, given ? "given" : "suggested", el("span", { class: "num", title: given || !none ? means(row, given) : null }, given || !none ? how(row, given) : "")),
      el("b", { title: full(given ? row.given : row.suggested) }, none ? (row.unjudged ? "–" : offered(row) ? `${called(offered(row))}, as its duplicate` : row.kinds.includes("outlier") ? "fits no class" : "no label fits better") : broken(called(given ? row.given : row.suggested)))),
    none ? "" : el("div", { class: "strip", "data-class": given ? row.given : row.suggested }, ...(given ? row.given_neighbours : row.suggested_neighbours).slice(0, 3).map((p) => example(p, "nearest"))));
}
// caption shows a file's folder and name. If they do not fit, it cuts the folder's end, and the start of a name wider than 60 %.
function caption(path) {
  const name = file(path), folder = tail(path).slice(0, -name.length);
  return el("span", { class: "path both", title: path }, folder ? el("span", { class: "folder" }, folder) : "", el("span", { class: "file" }, name));
}
const example = (p, what) => picture(p.key, 160, `${what} ${called(p.label)}`, { loading: "lazy", class: what, title: `${what} image labelled ${full(p.label)}\n${p.path}` });

// fill adds typical images of both classes, before the nearest images, to a card that becomes visible.
export function fill(article) {
  for (const strip of article.querySelectorAll(".strip:not([data-full])")) {
    strip.dataset.full = "yes";
    typical(strip.dataset.class).then((list) => {
      const shown = new Set(Array.from(strip.querySelectorAll("img"), (i) => i.title.split("\n")[1]));
      const row = store.find(Number(article.dataset.id));
      strip.prepend(...list.filter((p) => !shown.has(p.path) && p.key !== row?.key).slice(0, 2).map((p) => example(p, "typical")));
    }, () => delete strip.dataset.full);
  }
}

// mark updates a card's decision, and whether the decision is saved and the card is selected.
export function mark(article, row) {
  const waits = store.pending.get(row.id), chosen = store.selected.has(row.id), sign = article.querySelector(".stamp");
  article.classList.toggle("pending", Boolean(waits));
  article.classList.toggle("selected", chosen);
  article.dataset.decided = waits ? "" : row.decision?.action ?? "";
  sign.textContent = waits ? (connection() ? "not saved yet" : "saving …") : stamp(row.decision);
  const differ = article.querySelector(".differ");
  if (differ) differ.hidden = !row.differ;
  article.querySelector(".remarks")?.replaceChildren(...remarks(row).filter(Boolean));
  sign.title = waits ? "The server has not confirmed the decision yet" : row.elsewhere && row.decision ? "Decided in another tab" : "";
  article.querySelector("input").checked = chosen;
  article.setAttribute("aria-label", `${named(row)}: ${row.given ? `given ${called(row.given)}` : "no label"}, ${better(row) ? `suggested ${called(row.suggested)} ${how(row, false)}, ` : row.audited ? "no label fits better, " : ""}${waits ? "not saved yet" : done(row.decision)}${row.note ? ", with a note" : ""}${row.differ ? ", reviewers disagree" : ""}${chosen ? ", selected" : ""}`);
}
let connection = () => "";
export const watch = (lost) => { connection = lost; };
