// A small card, for the grid of all images and for findings: the image, its label and its decision.

import { el, picture } from "./dom.js";
import { store } from "./store.js";
import { better, file, named, kinds, chance } from "./words.js";
import { called, full } from "./names.js";
import { mark } from "./card.js";

const act = (name, row, event) => store.emit("act", { name, row, event });

export function tile(row) {
  const box = el("input", { type: "checkbox", tabindex: "-1", "aria-label": `Select ${named(row)}` });
  box.addEventListener("click", (e) => act("select", row, e));
  const suspect = row.kinds.includes("suspect") && better(row), odd = row.kinds.filter((k) => k !== "suspect").map((k) => kinds[k] ?? k);
  const article = el("article", { class: "card tile", tabindex: "-1", "data-id": row.id, title: row.path },
    el("button", { type: "button", class: "face", tabindex: "-1", "aria-label": "Show large", onclick: (e) => act(e.ctrlKey || e.metaKey ? "select" : "open", row, e) },
      picture(row.key, 160, `${named(row)}: ${file(row.path)}`, { loading: "lazy" })),
    el("label", { class: "pick" }, box), store.session.similar ? el("button", { type: "button", class: "sign", tabindex: "-1", title: "Similar images (S)", "aria-label": "Similar images", onclick: (e) => act("similar", row, e) }, "≈") : "", el("span", { class: "stamp" }),
    el("p", { class: "name", title: full(row.given) }, row.given ? called(row.given) : el("i", {}, "no label")),
    row.similarity === undefined ? "" : el("p", { class: "similarity", "data-same": String(row.same) }, el("span", { class: "num" }, row.similarity.toFixed(3)), { true: " same label", false: " other label" }[row.same] ?? ""),
    suspect ? el("p", { class: "better", title: `${full(row.suggested)}${row.score_is_probability ? `; the given label is ${chance(row.score)} right` : ""}` }, "→ ", called(row.suggested)) : odd.length ? el("p", { class: "odd" }, odd.join(", ")) : "");
  mark(article, row);
  return article;
}
