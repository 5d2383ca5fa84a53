// The classes of the data set with their sizes, and how the data set was read, next to the grid of all images.

import { get, el, broken } from "./dom.js";
import { store } from "./store.js";
import { called } from "./names.js";
import { match } from "./combobox.js";
import { count, many } from "./words.js";

const most = 200; // maximum number of classes listed
let order = "name";

export function classes() {
  get("class-find").addEventListener("input", draw);
  get("class-order").addEventListener("change", (e) => { order = e.target.value; draw(); });
  store.addEventListener("rows", draw);
  reading();
}

function draw() {
  if (store.view !== "data") return;
  const { session, place } = store, typed = get("class-find").value, share = (c) => (c.images ? c.suspects / c.images : 0);
  const list = session.classes.filter((c) => c.images > 0).map((c) => ({ ...c, text: called(c.name) }));
  if (order === "images") list.sort((a, b) => b.images - a.images);
  if (order === "suspects") list.sort((a, b) => b.suspects - a.suspects || share(b) - share(a));
  const found = match(list, typed), largest = Math.max(1, ...list.map((c) => c.images));
  get("class-sum").textContent = many(list.length, "class", "classes");
  const held = get("class-list").contains(document.activeElement) ? document.activeElement.dataset.class : "";
  get("class-list").replaceChildren(...found.slice(0, most).map((c) => {
    const item = el("button", { type: "button", "data-class": c.name, "aria-pressed": String(place.class === c.name), title: `${many(c.images, "image")}, ${many(c.suspects, "suspect")}`, onclick: () => store.go({ class: place.class === c.name ? "" : c.name }) },
      el("span", { class: "names" }, broken(c.text)), el("span", { class: "num" }, c.suspects ? el("b", {}, count(c.suspects)) : "", c.suspects ? " of " : "", count(c.images)), el("i", { class: "share" }));
    item.querySelector(".share").style.width = `${100 * c.images / largest}%`;
    return el("li", {}, item);
  }), ...(found.length > most ? [el("li", { class: "soft" }, `${count(found.length - most)} more: type to find them`)] : found.length === 0 ? [el("li", { class: "soft" }, "no such class")] : []));
  if (held) [...get("class-list").querySelectorAll("button")].find((b) => b.dataset.class === held)?.focus();
}

// reading summarizes what was read and what was left out.
function reading() {
  const { reading: r, images, splits, classes: list, manifest } = store.session, named = list.filter((c) => c.images > 0).length;
  const bare = images - r.labelled;
  get("reading").replaceChildren(
    el("summary", {}, el("b", {}, "Read: "), `${many(images, "image")} in ${many(named, "class", "classes")}${r.form ? `, as ${r.form}` : ""}${r.lines.length ? `; ${many(r.lines.length, "remark")}` : ""}`),
    el("dl", {}, el("dt", {}, "from"), el("dd", {}, el("code", {}, manifest)),
      ...splits.flatMap((s) => [el("dt", {}, s.name), el("dd", {}, many(s.images, "image"))]),
      ...(bare ? [el("dt", {}, "without a label"), el("dd", {}, many(bare, "image"))] : [])),
    r.lines.length ? el("ul", {}, ...r.lines.map((line) => el("li", {}, line))) : el("p", { class: "soft" }, "Nothing was left out."));
}
