// The view of trainings: which there are, how one goes, and what can be started.

import { get, el, broken } from "./dom.js";
import { ask, Failure } from "./api.js";
import { store } from "./store.js";
import { many, clock } from "./words.js";
import { Follower, percent, states } from "./run.js";
import { form, offers, news } from "./jobs.js";

const every = 4000; // ms between two requests for the list
let list = null, timer = 0, follower = null, seen = "";

export function runs() {
  follower = new Follower(get("run"), { ended: () => look() });
  store.addEventListener("view", enter);
  news.addEventListener("job", () => { draw(true); look(); });
}

function enter() {
  clearTimeout(timer);
  if (store.view !== "runs") return follower.stop();
  return look();
}

async function look(again = false) {
  clearTimeout(timer);
  if (store.view !== "runs") return;
  try {
    list = await ask("/api/runs", again ? { look: 1 } : {});
    draw(again);
  } catch (e) {
    if (!(e instanceof Failure)) throw e; // else the connection's banner shows it
  }
  timer = setTimeout(look, every);
}

// shown is the run that is shown: the one of the address, else one that is at work, else the newest.
const shown = () => list.runs.find((r) => r.key === store.place.run) ?? list.runs.find((r) => r.state === "running") ?? list.runs[0];

function draw(always = false) {
  if (!list || store.view !== "runs") return;
  const one = shown(), text = JSON.stringify([list, one?.key]);
  if (one && follower.key !== one.key || always) follower.follow(one?.key ?? "");
  if (text === seen && !always) return;
  seen = text;
  const box = get("run-list"), at = box.contains(document.activeElement) ? document.activeElement.id : "";
  box.replaceChildren(...list.runs.map((r) => item(r, one)));
  if (at) document.getElementById(at)?.focus();
  const s = list.search, bounds = `${s.in.map((at) => (at === "." ? "the working folder" : at)).join(", ")}, ${s.deepest} folders deep (${many(s.looked, "folder")}${s.partly ? "; there are more than that" : ""})`;
  get("runs-where").replaceChildren(list.runs.length ? "" : "No training of these images was found. ", `Looked in ${bounds}.${s.others ? ` ${many(s.others, "training")} of other images ${s.others === 1 ? "is" : "are"} not shown.` : ""} `,
    el("button", { type: "button", class: "plain", id: "runs-again", onclick: () => look(true) }, "Look again"));
  get("offers").replaceChildren(...offers().map((o) => form(o)));
}

function item(r, one) {
  const main = r.error ? r.error : r.validation === null ? (r.state === "preparing" ? "preparing" : `epoch ${r.epoch} of ${r.epochs}`) : `${r.measure} ${percent(r.validation)}${r.frozen === null ? "" : ` (frozen ${percent(r.frozen)}, whitened ${percent(r.whitened)})`}`;
  return el("li", {}, el("button", { type: "button", class: "pick", id: `pick-${r.key}`, "aria-pressed": String(r.key === one?.key), onclick: () => store.go({ run: r.key }) },
    el("span", {}, el("b", {}, broken(r.dir)), r.state === "preparing" ? "" : el("small", { class: "soft" }, ` ${clock(r.started)}`)), el("span", { class: `tag state ${r.state}` }, states[r.state]), el("span", {}, main)));
}
