// The card of the job that the server runs. For images that are not audited yet, it offers to find wrong labels: it
// starts the audit, or first the download of a network, and the list opens when the audit is done. A training is started
// in the end of the list and in the dialog of the export; the card shows its result in all views.

import { get, el } from "./dom.js";
import { ask, post, Failure } from "./api.js";
import { store } from "./store.js";
import { drain } from "./outbox.js";
import { many } from "./words.js";

const every = 1000; // ms between two requests while a job runs
const running = { audit: "Finding wrong labels", network: "Getting a network", train: "Training" };
const stages = { extract: "Embedding the images", score: "Scoring the labels", write: "Writing the report" };
const advice = {
  audit: "No image or label was changed. Correct what the message names, then try again: images that were embedded are not embedded again.",
  network: "Check that this computer is online, then try again: the download continues where it stopped.",
};
let answer = null, timer = 0, drawn = "", closed = false; // closed: the result of the training is not shown any more

export function job() {
  store.addEventListener("view", place);
  store.addEventListener("session", () => { place(); if (!answer) look(); });
}

// place shows the card where it applies: a training everywhere, else in the view Data and where a view lacks an audit.
function place() {
  const { session, view } = store;
  if (!session) return;
  get("job").hidden = !trains() && (!session.missing.audit || session.total > 0 || view !== "data" && document.documentElement.dataset.lacking !== "yes");
}

const trains = () => answer?.job?.kind === "train" && !closed;
const look = () => hear(() => ask("/api/job"));
const start = (kind) => hear(() => post("/api/job/change", { start: kind }));

// training returns a button that trains on the decisions, and the command that does the same.
export const training = (attributes = {}) => [el("button", { type: "button", onclick: train, ...attributes }, "Train"),
  el("details", { class: "next-steps" }, el("summary", {}, "or in a terminal"), command(store.session.train))];

async function train() {
  await drain(); // it uses the decisions on disk
  closed = false;
  await start("train");
  if (!trains()) return;
  for (const dialog of document.querySelectorAll("dialog[open]")) dialog.close();
  get("job").scrollIntoView({ block: "center" });
  get("job").querySelector("button").focus();
}

// command returns a command for a terminal with a button that copies it.
function command(text) {
  const copy = async ({ currentTarget: b }) => { try { await navigator.clipboard.writeText(text); b.textContent = "Copied"; } catch { b.textContent = "Select it"; } };
  return el("div", { class: "copied" }, el("code", {}, text), el("button", { type: "button", class: "plain", onclick: copy }, "Copy"));
}

async function hear(request) {
  clearTimeout(timer);
  const before = answer?.job?.state;
  try {
    answer = await request();
  } catch (e) {
    if (!(e instanceof Failure)) throw e;
    if (e.status) store.say(e.message); // else the connection's banner shows it
  }
  const now = answer?.job;
  if (before === "running" && now.state === "done" && now.kind === "audit") {
    await drain();
    return location.assign("/"); // at the suspects, which the server now has
  }
  if (!answer || now?.state === "running") timer = setTimeout(look, every);
  if (before === "running" && now.state !== "running" && now.kind === "train") await store.refresh(); // the next one gets another folder
  draw();
  return place();
}

function draw() {
  const text = JSON.stringify(answer), part = get("job");
  if (!answer || text === drawn) return;
  drawn = text;
  const focused = part.contains(document.activeElement), { job: now, network } = answer;
  part.dataset.state = now?.state ?? "";
  part.replaceChildren(...(now?.state === "running" ? progress(now) : trains() ? trained(now) : offer(now, network)));
  if (focused) part.querySelector("button:not(:disabled)")?.focus();
}

function progress({ kind, lines, progress: { stage, done, total, unit, left } }) {
  const name = stages[stage] ?? running[kind], bar = el("i", { class: "relabel" });
  bar.style.width = `${100 * done / Math.max(1, total)}%`;
  return [el("div", { class: "row" }, el("h2", { id: "job-head" }, `${running[kind]}…`), el("span", { class: "gap" }), el("button", { type: "button", onclick: () => hear(() => post("/api/job/change", { start: "" })) }, "Stop")),
    total ? el("div", { class: "meter", role: "progressbar", "aria-label": name, "aria-valuemin": 0, "aria-valuemax": total, "aria-valuenow": done }, bar) : "",
    el("p", {}, total ? `${name}: ${done} of ${total} ${unit}${left ? `, about ${left} left` : ""}` : `${stages[stage] ?? (kind === "train" && lines.length ? "Learning" : "Starting")}…`),
    lines.length ? el("p", { class: "soft" }, lines.at(-1)) : "",
    el("p", { class: "soft" }, kind === "train" ? "It learns from the decisions made before it started. You can decide on meanwhile. It ends with winnow." : "You can browse the images and decide about them meanwhile. It ends with winnow.")];
}

// trained returns the result of a training that has ended.
function trained({ state, out, lines, result }) {
  const part = (v) => v.toFixed(4), cell = (d) => el("td", {}, part(d.mean), " ", el("small", {}, `${part(d.low)} to ${part(d.high)}`));
  return [el("div", { class: "row" }, el("h2", { id: "job-head" }, { done: "The training is done", stopped: "The training was stopped", failed: "The training failed" }[state]), el("span", { class: "gap" }), el("button", { type: "button", onclick: () => { closed = true; drawn = ""; draw(); place(); } }, "Close")),
    state === "failed" ? el("pre", { class: "warn", role: "alert", tabindex: 0 }, lines.slice(-3).join("\n")) : "",
    state === "stopped" ? el("p", {}, "What it wrote stays in ", el("code", {}, out), ". Train starts another one.") : "",
    ...(state === "done" ? [result.rows.length ? el("table", {}, el("thead", {}, el("tr", {}, ...["features", "P@1", "MAP@R"].map((name) => el("th", { scope: "col" }, name)))),
      el("tbody", {}, ...result.rows.map((r) => el("tr", {}, el("th", { scope: "row" }, r.name), cell(r.precision_at_1), cell(r.map_at_r))))) : "",
    result.rows.length ? el("p", { class: "soft" }, `Measured on ${many(result.images, "image")} held out from the training, with 95 % intervals. Frozen: the network’s features; whitened: rescaled without labels; trained: on these labels. P@1: how often the most similar image has the same label. MAP@R: how far up all images with the same label are.`) : "",
    el("p", {}, result.verdict[0].toUpperCase() + result.verdict.slice(1), "."), el("p", {}, "Its folder: ", el("code", {}, out)),
    el("details", { class: "next-steps" }, el("summary", {}, "Next, in a terminal: measure, export, search"), ...result.next.map(command))] : [])];
}

function offer(now, network) {
  const failed = now?.state === "failed" && now.kind !== "train", again = (kind) => now?.kind === kind && { failed: "Try again: ", stopped: "Continue: " }[now.state] || "";
  const button = (kind, words, main, off = false) => el("button", { type: "button", class: main && "primary", disabled: off, onclick: () => start(kind) }, again(kind), words);
  const size = `${Math.round(network.bytes / 1e6)} MB`;
  return [el("h2", { id: "job-head" }, "Find wrong labels"),
    failed ? el("div", { class: "warn", role: "alert" }, el("p", {}, el("b", {}, now.kind === "audit" ? "The search for wrong labels failed." : "The network could not be downloaded.")), el("pre", { tabindex: 0, "aria-label": "Last lines of the log" }, now.lines.slice(-3).join("\n")), el("p", {}, advice[now.kind])) : "",
    now?.state === "done" && now.kind === "network" ? el("p", { role: "status" }, "The network is installed.") : "",
    el("p", {}, "winnow embeds every image with a network on this computer and lists the labels that are likely wrong, the duplicates and the outliers. No image leaves this computer."),
    network.name ? el("p", {}, `First it needs a network, which is not installed yet: ${network.name}, ${size}, downloaded once.`) : "",
    el("div", { class: "row" }, network.name ? button("network", `Get a network (${size})`, true) : "", button("audit", "Find wrong labels", !network.name, Boolean(network.name))),
    el("p", { class: "soft" }, "The same in a terminal: ", el("code", {}, store.session.missing.audit))];
}
