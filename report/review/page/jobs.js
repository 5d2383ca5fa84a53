// Jobs: commands that the page starts, with the command shown. They run as processes of their own, so closing the page
// changes nothing.

import { get, el } from "./dom.js";
import { ask, post, Failure } from "./api.js";
import { store } from "./store.js";

const every = 1500; // ms between two requests for the state of a running job
const titles = { audit: "Audit", train: "Training" }, stages = { extract: "Embedding images", judge: "Scoring labels", write: "Writing images" };
const ends = { done: "done", failed: "failed", stopped: "interrupted" };
let view = null, timer = 0, seen = "";
export const news = new EventTarget(); // "job": the state of the last job, or what can be started, has changed

export async function jobs() {
  store.addEventListener("view", place);
  store.addEventListener("session", place);
  await look();
}

export async function look() {
  clearTimeout(timer);
  try {
    show(await ask("/api/jobs"));
  } catch (e) {
    if (!(e instanceof Failure)) throw e; // else the connection's banner shows it
  }
  if (!view || view.job?.state === "running") timer = setTimeout(look, every);
}

async function change(path, body = {}) {
  try {
    show(await post(path, body));
  } catch (e) {
    if (!(e instanceof Failure)) throw e;
    store.say(e.message);
  }
  clearTimeout(timer);
  timer = setTimeout(look, 200);
}

function show(answer) {
  const text = JSON.stringify(answer), was = view?.job?.state;
  view = answer;
  if (text === seen) return;
  seen = text;
  draw();
  place();
  news.dispatchEvent(new Event("job"));
  if (was === "running" && answer.job.state !== "running") store.say(`${titles[answer.job.kind] ?? "The job"} ${ends[answer.job.state]}`);
}

// draw shows the last job: while it runs on every view, afterwards among the trainings.
function draw() {
  const box = get("job"), { job } = view;
  box.hidden = !job;
  if (!job) return;
  box.dataset.state = job.state;
  const focused = box.contains(document.activeElement), open = box.querySelector("details")?.open ?? job.state === "failed";
  const button = job.state === "running" ? el("button", { type: "button", onclick: () => change("/api/jobs/stop") }, "Stop")
    : job.state === "done" ? "" : el("button", { type: "button", onclick: () => change("/api/jobs/again") }, job.state === "stopped" ? "Go on" : "Try again");
  box.replaceChildren(
    el("div", { class: "row" }, el("h2", {}, titles[job.kind] ?? job.kind), el("span", { class: `tag state ${{ done: "finished" }[job.state] ?? job.state}` }, ends[job.state] ?? "running"), el("span", { class: "gap" }), button),
    el("code", { class: "command" }, job.command),
    job.state === "running" ? el("div", { class: "stages" }, ...job.stages.map(stage)) : "",
    job.state === "running" ? el("p", { class: "soft" }, job.lines.at(-1)?.replace(/^winnow: /, "") ?? "Started.", " It keeps running if you close this page.") : "",
    job.lines.length ? el("details", { open }, el("summary", {}, "What it printed"), el("pre", { tabindex: 0, "aria-label": "Output of the command" }, job.lines.join("\n"))) : "");
  if (focused) box.querySelector("button, summary")?.focus();
}

function stage(s) {
  const bar = el("i"), name = stages[s.name] ?? (s.name || s.unit);
  bar.style.width = `${100 * s.done / Math.max(1, s.total)}%`;
  return el("div", { class: "stage" }, el("span", {}, name), el("div", { class: "meter steps", role: "progressbar", "aria-label": name, "aria-valuemin": 0, "aria-valuemax": s.total, "aria-valuenow": s.done }, bar), el("span", { class: "num" }, `${s.done} of ${s.total} ${s.unit}${s.left ? `, ${s.left} left` : ""}`));
}

// form is an offer with its choice and the command that it runs.
export function form(offer, heading = "h3") {
  const running = view.job?.state === "running", id = `offer-${offer.kind}`, command = el("code", { class: "command" });
  const fields = offer.choices.map((c) => el("label", { class: "field" }, el("span", {}, c.title), el("select", { name: c.name }, ...c.values.map((v) => el("option", { value: v.value }, v.title)))));
  const chosen = () => Object.fromEntries(fields.map((f) => { const s = f.querySelector("select"); return [s.name, s.value]; }));
  const said = () => { command.textContent = offer.choices.length ? offer.choices[0].values.find((v) => v.value === chosen()[offer.choices[0].name]).command : offer.command; };
  for (const f of fields) f.addEventListener("change", said);
  said();
  return el("form", { class: "offer panel", "aria-labelledby": id, onsubmit: (e) => { e.preventDefault(); change("/api/jobs/start", { kind: offer.kind, chosen: chosen() }); } },
    el(heading, { id }, offer.title), el("p", { class: "soft" }, offer.about), ...fields, command,
    el("div", { class: "row" }, el("button", { type: "submit", class: "primary", disabled: running }, "Start"), running ? el("span", { class: "soft" }, "Another job is running.") : ""));
}
export const offers = () => view?.offers ?? [];

// place puts the offer of an audit where a view lacks one.
function place() {
  const lacking = get("lacking"), offer = offers().find((o) => o.kind === "audit");
  lacking.querySelector(".offer")?.remove();
  if (!offer || lacking.hidden || store.session?.total > 0) return;
  lacking.querySelector("pre")?.remove(); // the offer shows the command
  lacking.append(form(offer, "h2"));
}
