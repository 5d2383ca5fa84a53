// What the review has learned: how many labels are wrong in all and how many are left, how far the first check is, what
// moved, when to stop, and what comes then. Nothing of it is there if the list has one order.

import { get, el, svg } from "./dom.js";
import { post } from "./api.js";
import { store } from "./store.js";
import { undo } from "./outbox.js";
import { count, many } from "./words.js";

export function learned() {
  store.addEventListener("session", draw);
  store.addEventListener("rows", draw);
}

const span = ({ estimate, low, high }) => `about ${count(Math.round(estimate))} (${count(Math.floor(low))} to ${count(Math.ceil(high))})`;

function draw() {
  const { learned: l, how_learn: how, total } = store.session, part = get("learned");
  get("how-learn").hidden = !how;
  get("how-learn").textContent = how ?? "";
  part.hidden = !l;
  if (!l) return;
  const c = l.count, ends = l.met || c.settled === total;
  part.replaceChildren(
    ends ? ending(l, total) : l.check ? check(l.check) : "",
    el("div", { class: "sums" },
      fact("found", count(c.found), "wrong labels found so far"),
      fact("left", c.known ? span(c.left) : "not known yet", c.known ? "wrong labels not found yet, with the interval that holds them with 95 % confidence" : "estimated from images drawn at random: a few are mixed in"),
      fact("wrong in all", c.known ? span(c.wrong) : "not known yet", `of ${count(total)} labels; ${many(c.draws, "random draw")} so far`),
      fact("pace", l.pace ? `${count(Math.round(l.pace))} an hour` : "–", "decisions of all who review now"),
      l.rule ? fact("until " + l.rule, l.met ? "reached" : time(l), "by what is expected to be found; the rule itself goes by the interval that holds at all times") : "",
      band(l.trend, total)),
    moved(l), agreement(l.agreement));
}
const fact = (name, value, title) => el("div", { class: "sum", title }, el("small", {}, name), el("b", {}, value));

function time({ hours }) {
  if (hours === null) return "not known yet";
  const minutes = Math.max(1, Math.round(60 * hours));
  return minutes < 90 ? `about ${many(minutes, "minute")}` : `about ${count(Math.round(hours))} hours`;
}

function check({ done, of }) {
  const skip = el("button", { type: "button", id: "skip", onclick: leave }, "Skip the check");
  return el("div", { class: "hint check-first" }, el("p", {}, el("b", {}, `Two-minute check: ${done} of ${of} random images. `), "The suspects alone do not show how many labels are wrong in all; these images do. Then the suspects follow."), skip);
}
async function leave() {
  store.standing(await post("/api/skip", {}));
  await store.load();
  store.say("The check is skipped: the random images that you answered count");
}

// band shows how the estimate of all wrong labels and its interval changed.
function band(trend, total) {
  if (!trend || trend.length < 2) return "";
  const last = trend.at(-1), from = trend[0].decided, width = Math.max(1, last.decided - from), wide = 200, high = 40;
  const most = Math.max(1, Math.min(total, 1.5 * Math.max(...trend.slice(Math.floor(trend.length / 3)).map((p) => p.high))));
  const x = (p) => (wide * (p.decided - from) / width).toFixed(1), y = (v) => (high - high * Math.min(v, most) / most).toFixed(1);
  const line = (list, value) => list.map((p) => `${x(p)},${y(value(p))}`);
  const name = `Wrong labels in all, as estimated after ${count(from)} to ${count(last.decided)} decisions: first ${span(trend[0])}, now ${span(last)}`;
  return el("figure", { class: "band", title: name }, svg("svg", { viewBox: `0 0 ${wide} ${high}`, preserveAspectRatio: "none", role: "img", "aria-label": name },
    svg("polygon", { points: [...line(trend, (p) => p.high), ...line([...trend].reverse(), (p) => p.low)].join(" ") }),
    svg("polyline", { points: line(trend, (p) => p.estimate).join(" ") })));
}

// moved says what the decisions since this page was shown changed further down.
function moved({ up, down }) {
  if (!up && !down) return "";
  return el("p", { class: "moved", role: "status" }, `${many(up, "unseen image")} moved up the list, ${count(down)} down. `, el("button", { type: "button", class: "plain", onclick: () => undo() }, "Undo the last decision"));
}

function agreement(a) {
  if (!a) return "";
  const name = a.measure === "cohen" ? "Cohen’s κ" : "Fleiss’ κ", two = (v) => v.toFixed(2);
  return el("p", { class: "agreement", title: "1: reviewers always agree; 0: as often as by chance. The interval holds it with 95 % confidence" },
    `${many(a.reviewers, "reviewer")} agree on ${Math.round(100 * a.agreed)} % of ${many(a.images, "image")} that more than one decided: ${name} ${two(a.kappa)} (${two(a.low)} to ${two(a.high)})`);
}

// ending says that the review may end, and what to do next.
function ending(l, total) {
  const all = l.count.settled === total;
  return el("div", { class: "hint ended" }, el("p", {}, el("b", {}, all ? "All images are decided. " : `“Until ${l.rule}” is reached. `), all ? "" : `${l.text[0].toUpperCase()}${l.text.slice(1)}. You can stop here, or go on.`), nextSteps());
}

// nextSteps says how to go on with the decisions.
export function nextSteps() {
  const { out, next } = store.session;
  return el("div", { class: "next-steps" }, el("p", {}, out ? "Press Export…, or end winnow with Ctrl-C: both write " : "End winnow with Ctrl-C. All decisions are kept.", out ? el("code", {}, out) : "", out ? ". Then train on it:" : " Then:"),
    ...(next ?? []).map((command) => el("pre", {}, el("code", {}, command))));
}
