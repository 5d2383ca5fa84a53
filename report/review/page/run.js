// One training: where it stands, its curves, what the filter dropped, and how it ended.

import { el, broken } from "./dom.js";
import { ask } from "./api.js";
import { number } from "./words.js";

const every = 2000; // ms between two requests for a running training
export const percent = (v) => (v === null || v === undefined ? "–" : `${(100 * v).toFixed(1)} %`);
export const states = { preparing: "preparing", running: "running", finished: "finished", stopped: "interrupted", failed: "failed" };

// span says how long something takes, in words.
export function span(seconds) {
  const s = Math.round(seconds);
  if (s < 60) return `${s} s`;
  if (s < 5400) return `${Math.round(s / 60)} min`;
  return s < 172_800 ? `${(s / 3600).toFixed(1)} h` : `${Math.round(s / 86_400)} days`;
}

// Follower draws a run into a box, and again when it changes. ended is called once, when a run that it saw running ends.
export class Follower {
  #box; #links; #key = ""; #timer = 0; #shown = ""; #state = ""; #asked = null;
  constructor(box, { links = true, ended = () => {} } = {}) {
    this.#box = box;
    this.#links = links;
    this.ended = ended;
  }
  get key() { return this.#key; }

  // follow shows a run; "" shows none.
  async follow(key) {
    if (key !== this.#key) {
      this.#shown = this.#state = "";
      this.#box.replaceChildren();
    }
    this.#key = key;
    clearTimeout(this.#timer);
    if (key) await this.look();
  }
  stop() { clearTimeout(this.#timer); this.#asked?.abort(); }

  async look() {
    clearTimeout(this.#timer);
    this.#asked?.abort();
    const key = this.#key, mine = this.#asked = new AbortController();
    let wait = every;
    try {
      const run = await ask("/api/run", { run: key }, mine.signal);
      if (mine.signal.aborted) return;
      const text = JSON.stringify({ ...run, left: run.left && Math.round(run.left / 5) });
      if (text !== this.#shown) this.#draw(run);
      this.#shown = text;
      if (["running", "preparing"].includes(this.#state) && run.state === "finished") this.ended(run);
      this.#state = run.state;
      if (!["running", "preparing"].includes(run.state)) wait = 0;
    } catch (e) {
      if (mine.signal.aborted) return;
      if (e.status && e.status !== 401 && e.status !== 403) throw e; // else the connection's banner shows it
    }
    if (wait) this.#timer = setTimeout(() => this.look(), wait);
  }

  #draw(run) {
    const open = this.#box.querySelector("details")?.open ?? false, inside = this.#box.contains(document.activeElement) ? document.activeElement.id : "";
    this.#box.replaceChildren(...draw(run, this.#links, open));
    if (inside) document.getElementById(inside)?.focus();
  }
}

function draw(run, links, open) {
  return [
    el("div", { class: "row" }, el("h2", { class: "run-name", id: "run-name" }, broken(run.name)), el("span", { class: `tag state ${run.state}` }, states[run.state]),
      el("span", { class: "gap" }), ...(links && run.state === "finished" ? [el("a", { class: "button", id: "run-report", href: `/report?run=${run.key}`, target: "_blank", rel: "noopener", title: "As winnow report makes it: this takes a moment" }, "Report")] : [])),
    run.error ? el("p", { class: "warn" }, run.error) : "",
    progress(run),
    ending(run),
    run.steps ? el("dl", { class: "figures" }, ...figures(run).map(([name, value, note]) => el("div", {}, el("dt", {}, name), el("dd", {}, el("b", {}, value), note ? el("small", {}, note) : "")))) : "",
    run.first.length ? el("div", { class: "curves" }, ...run.first.map(curve)) : "",
    run.loss_note ? el("p", { class: "soft" }, run.loss_note) : "",
    run.screened ? el("p", { class: "soft" }, `Before the training: ${run.screened}.`) : "",
    run.others.length ? el("details", { class: "more", open }, el("summary", { id: "run-more" }, `More curves (${run.others.length})`), el("div", { class: "curves" }, ...run.others.map(curve))) : "",
  ].filter((part) => part !== "");
}

function progress(run) {
  if (run.state === "preparing") return el("p", {}, "The training is being prepared: it has written nothing yet.");
  if (!run.steps) return "";
  const words = [`epoch ${run.epoch} of ${run.epochs}`, `step ${run.step} of ${run.steps}`];
  if (run.state === "running") words.push(run.left === null ? "time left: not known yet" : `${run.patience ? "at most " : ""}about ${span(run.left)} left`);
  if (run.took) words.push(`took ${span(run.took)}`);
  const bar = el("i"), meter = el("div", { class: "meter steps", role: "progressbar", "aria-label": "Steps of the training", "aria-valuemin": 0, "aria-valuemax": run.steps, "aria-valuenow": run.step }, bar);
  bar.style.width = `${100 * run.step / run.steps}%`;
  return el("div", { class: "standing-run" }, run.state === "finished" ? "" : meter, el("p", {}, words.join(", ")));
}

function ending(run) {
  if (run.state === "stopped") return el("p", { class: "hint" }, "This training was interrupted. The same command continues where it stopped.");
  if (run.state === "failed" && !run.error) return el("p", { class: "warn" }, "This training ended before its first checkpoint: the same command starts it again.");
  if (!run.verdict) return "";
  return el("div", { class: run.worse ? "warn" : "hint" }, el("p", {}, "On validation: ", run.verdict, "."), el("p", { class: "soft" }, "Written: ", el("code", {}, run.head)));
}

function figures(run) {
  const rows = [[`${run.measure} of validation`, percent(run.validation), run.state === "finished" ? "of the state that is kept" : run.best === null ? "" : `best ${percent(run.best)}, epoch ${run.best_epoch}`]];
  if (run.frozen !== null) rows.push(["without training", percent(run.frozen), "the network’s features"], ["whitened", percent(run.whitened), "no labels used"]);
  if (run.kept !== null) rows.push(["labels kept", percent(run.kept), "by the filter, last epoch"]);
  if (run.loss !== null) rows.push([run.per_pair ? "loss per pair" : "loss", number(run.loss), "smoothed"]);
  return rows;
}

// curve is a drawing of the server's: numbers and escaped text.
const curve = ({ title, svg }) => el("figure", { class: "curve panel" }, el("figcaption", {}, title), new DOMParser().parseFromString(svg, "text/html").querySelector("svg"));
