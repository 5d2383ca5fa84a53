// The filters next to the list, and the decision tabs above it.

import { get, el } from "./dom.js";
import { store, anywhere } from "./store.js";
import { filtered } from "./address.js";
import { combobox } from "./combobox.js";
import { kinds, ofList, listName, count, who } from "./words.js";
import { called } from "./names.js";
import { me } from "./reviewer.js";

const form = get("filters");
const states = { undecided: "To decide", decided: "Decided", all: "All" };
const outcomes = { all: "any", keep: "kept", drop: "dropped", relabel: "relabelled", unsure: "unsure", noted: "with a note", differ: "reviewers disagree" };

export function filters() {
  for (const key of ["class", "to"]) combobox(form.elements[key], { label: key === "class" ? "Given labels" : "Suggested labels", options, pick: (name) => store.go({ [key]: name }) });
  for (const key of ["class", "to"]) form.elements[key].addEventListener("change", (e) => {
    const typed = e.target.value.trim(), value = store.session.classes.find((c) => c.name === typed || c.called === typed)?.name ?? "";
    if (typed === "" || value) { if (store.place[key] !== value) store.go({ [key]: value }); } else e.target.value = called(store.place[key]);
  });
  form.elements.kind.addEventListener("change", (e) => store.go({ kind: e.target.value }));
  for (const key of ["state", "by", "split"]) form.elements[key].addEventListener("change", (e) => store.go({ [key]: e.target.value }));
  form.elements.sort.addEventListener("change", (e) => store.go({ sort: e.target.value }));
  get("inside").addEventListener("click", () => store.go({ lasso: "" }));
  get("rest").addEventListener("click", () => store.go({ kind: store.kind ? "any" : "" }));
  for (const key of ["above", "below"]) form.elements[key].addEventListener("change", (e) => {
    const words = e.target.value.trim().replace(",", "."), fine = words === "" || Number.isFinite(Number(words));
    e.target.setAttribute("aria-invalid", String(!fine));
    if (fine) store.go({ [key]: words }); else store.say(`A score is a number, not “${words}”`);
  });
  let typing = 0;
  form.elements.text.addEventListener("input", (e) => {
    clearTimeout(typing);
    typing = setTimeout(() => store.go({ text: e.target.value }, false), 250);
  });
  form.addEventListener("submit", (e) => e.preventDefault());
  form.addEventListener("reset", (e) => { e.preventDefault(); reset(); });
  get("states").replaceChildren(...Object.entries(states).map(([value, words]) => el("button", { type: "button", "data-value": value, onclick: () => store.go({ state: value }) }, words)));
  get("compact").addEventListener("click", () => store.go({ cards: store.place.cards ? "" : "compact", offset: store.place.offset + Math.max(0, store.current) }));
  store.addEventListener("rows", draw);
  store.addEventListener("session", others);
  store.addEventListener("loading", draw);
  const side = get("side"), button = get("side-open");
  button.addEventListener("click", () => button.setAttribute("aria-expanded", String(side.classList.toggle("open"))));
}
export function reset() {
  const { state, sort, cards } = store.place;
  store.go({ ...anywhere(), state, sort, cards });
}
const options = () => store.session.classes.map((c) => ({ name: c.name, text: called(c.name), note: c.suspects ? ofList(c.suspects) : `${count(c.images)} images` }));

function draw() {
  const { place, session } = store;
  for (const key of ["class", "to", "above", "below", "text"]) if (document.activeElement !== form.elements[key]) form.elements[key].value = key === "class" || key === "to" ? called(place[key]) : place[key];
  const kind = form.elements.kind;
  if (kind.options.length === 0) kind.append(...Object.entries({ any: "any", ...kinds }).map(([value, words]) => el("option", { value }, value !== "any" ? `${words} (${count(session.kinds[value] ?? 0)})` : words)));
  kind.value = store.kind || "any";
  const { sort, split } = form.elements;
  sort.replaceChildren(...sorts().map(([value, words]) => el("option", { value }, words)));
  sort.value = place.sort;
  get("split").hidden = session.splits.length < 2;
  split.replaceChildren(el("option", { value: "" }, "any"), ...session.splits.map((s) => el("option", { value: s.name }, `${s.name} (${count(s.images)})`)));
  split.value = place.split;
  for (const id of ["judged-to", "judged-kind", "judged-score"]) get(id).hidden = session.total === 0;
  get("inside").hidden = !place.lasso;
  const { suspect } = session.kinds, all = session.total, rest = get("rest");
  rest.hidden = store.view !== "suspects" || place.state !== "undecided" || !suspect || suspect === all || !["", "any"].includes(place.kind);
  rest.textContent = store.kind ? "Show all images" : `Only the ${ofList(suspect)}`;
  get("clean").hidden = store.view !== "suspects" || Boolean(suspect) || all === 0;
  get("clean").textContent = "The audit flags no label, so there are no suspects: all images are shown.";
  get("clear").hidden = !filtered(place);
  const state = states[place.state] ? place.state : ["noted", "differ"].includes(place.state) ? "all" : "decided";
  form.elements.state.replaceChildren(...Object.entries(outcomes).map(([value, words]) => el("option", { value }, words)), ...(place.by === "*" ? [el("option", { value: "disagreed" }, "no majority")] : []));
  form.elements.state.value = states[place.state] ? "all" : place.state;
  others();
  for (const b of get("states").children) b.setAttribute("aria-pressed", String(b.dataset.value === state));
  get("compact").setAttribute("aria-pressed", String(place.cards === "compact"));
}

// sorts returns the sort orders that a view offers.
function sorts() {
  const score = [["suspect", "score, lowest first"], ["least", "score, highest first"]], all = [["class", "given label"], ["path", "path"]];
  if (store.view === "data") return [["", "manifest order"], ...(store.session.total ? score : []), ...all];
  if (store.session.learns && store.place.state === "undecided") return [["", "likely wrong, learned"], ...score, ...all];
  if (store.session.drawn) return [["", "random order"], ...score, ...all];
  return [["", score[0][1]], score[1], ...all];
}

// others shows the choice of a reviewer whose decisions the filter uses, if there are several reviewers.
function others() {
  const names = store.session.reviewers.map((r) => r.name).filter((name) => name !== me()), { by } = store.place, select = form.elements.by;
  get("by").hidden = names.length === 0 && by === "";
  const list = [["", "you"], ["*", "all reviewers"], ...names.map((name) => [`=${name}`, who(name)])];
  if (!list.some(([value]) => value === by)) list.push([by, who(by.slice(1))]);
  if (document.activeElement !== select) select.replaceChildren(...list.map(([value, words]) => el("option", { value }, words)));
  select.value = by;
}

// another goes to the next (by: 1) or the previous (by: -1) class with undecided suspects.
export function another(by) {
  const list = store.session.classes, n = list.length, at = list.findIndex((c) => c.name === store.place.class);
  for (let i = 1; i <= n; i++) {
    const c = list[(((at < 0 && by < 0 ? 0 : at) + by * i) % n + n) % n];
    if (store.view === "data" && c.images > 0) {
      store.say(`${called(c.name)}: ${count(c.images)} images`);
      return store.go({ class: c.name });
    }
    if (store.view !== "data" && c.decided < c.suspects) {
      store.say(`${called(c.name)}: ${ofList(c.suspects)}, ${count(c.decided)} decided`);
      return store.go({ class: c.name });
    }
  }
  store.say(`No class has ${listName(true)} left to decide`);
}
