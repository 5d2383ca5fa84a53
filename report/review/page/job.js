// The card "Find wrong labels" of images that are not audited yet. It starts the audit, or first the download of a
// network, and shows its progress. The list opens when the audit is done.

import { get, el } from "./dom.js";
import { ask, post, Failure } from "./api.js";
import { store } from "./store.js";
import { drain } from "./outbox.js";

const every = 1000; // ms between two requests while a job runs
const running = { audit: "Finding wrong labels", network: "Getting a network" };
const stages = { extract: "Embedding the images", score: "Scoring the labels", write: "Writing the report" };
const advice = {
  audit: "No image or label was changed. Correct what the message names, then try again: images that were embedded are not embedded again.",
  network: "Check that this computer is online, then try again: the download continues where it stopped.",
};
let answer = null, timer = 0, drawn = "";

export function job() {
  store.addEventListener("view", place);
  store.addEventListener("session", place);
  place();
}

// place shows the card where it applies: in the view Data, and where a view lacks an audit.
function place() {
  const { session, view } = store;
  if (!session) return;
  get("job").hidden = !session.missing.audit || session.total > 0 || view !== "data" && document.documentElement.dataset.lacking !== "yes";
  if (!get("job").hidden && !answer) look();
}

const look = () => hear(() => ask("/api/job"));
const start = (kind) => hear(() => post("/api/job/change", { start: kind }));

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
  return draw();
}

function draw() {
  const text = JSON.stringify(answer), part = get("job");
  if (!answer || text === drawn) return;
  drawn = text;
  const focused = part.contains(document.activeElement), { job: now, network } = answer;
  part.dataset.state = now?.state ?? "";
  part.replaceChildren(...(now?.state === "running" ? progress(now) : offer(now, network)));
  if (focused) part.querySelector("button:not(:disabled)")?.focus();
}

function progress({ kind, lines, progress: { stage, done, total, unit, left } }) {
  const name = stages[stage] ?? running[kind], bar = el("i", { class: "relabel" });
  bar.style.width = `${100 * done / Math.max(1, total)}%`;
  return [el("div", { class: "row" }, el("h2", { id: "job-head" }, `${running[kind]}…`), el("span", { class: "gap" }), el("button", { type: "button", onclick: () => hear(() => post("/api/job/change", { start: "" })) }, "Stop")),
    total ? el("div", { class: "meter", role: "progressbar", "aria-label": name, "aria-valuemin": 0, "aria-valuemax": total, "aria-valuenow": done }, bar) : "",
    el("p", {}, total ? `${name}: ${done} of ${total} ${unit}${left ? `, about ${left} left` : ""}` : `${stages[stage] ?? "Starting"}…`),
    lines.length ? el("p", { class: "soft" }, lines.at(-1)) : "",
    el("p", { class: "soft" }, "You can browse the images and decide about them meanwhile. It ends with winnow.")];
}

function offer(now, network) {
  const failed = now?.state === "failed", again = (kind) => now?.kind === kind && { failed: "Try again: ", stopped: "Continue: " }[now.state] || "";
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
