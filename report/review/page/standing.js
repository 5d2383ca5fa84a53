// Shows the progress of the review, how many of the decided labels were wrong, and a hint when to stop.

import { get } from "./dom.js";
import { count } from "./words.js";
import { store } from "./store.js";
import { me } from "./reviewer.js";

export function standing() {
  store.addEventListener("session", draw);
  store.addEventListener("view", draw);
}
function draw() {
  const { precision, hint, title, reviewers } = store.session, audit = store.view === "suspects" && store.session.total > 0, counts = audit ? store.session.counts : store.session.whole, open = counts.unsure + counts.disagreed, decided = counts.keep + counts.drop + counts.relabel + open, suspects = audit && store.session.classes.some((c) => c.suspects > 0), images = audit ? store.session.total : store.session.images, total = suspects ? decided + store.left : images;
  get("title").textContent = title;
  document.title = `${title ? `${title} – ` : ""}winnow studio`;
  const meter = get("meter");
  for (const [action, n] of Object.entries({ relabel: counts.relabel, drop: counts.drop, keep: counts.keep, open })) meter.querySelector(`.${action}`).style.width = `${total ? 100 * n / total : 0}%`;
  meter.setAttribute("aria-label", `${count(counts.relabel)} relabelled, ${count(counts.drop)} dropped, ${count(counts.keep)} kept${open ? `, ${count(counts.unsure)} unsure, ${count(counts.disagreed)} without a majority` : ""} of ${count(images)}`);
  meter.title = meter.getAttribute("aria-label");
  get("progress").textContent = suspects ? `${count(decided)} decided, ${count(store.left)} left` : `${count(decided)} of ${count(images)} decided`;
  get("precision").textContent = [reviewers.some((r) => r.name !== me()) ? `${count(reviewers.find((r) => r.name === me())?.decided ?? 0)} by you` : "", said(precision, decided, store.session.drawn)].filter(Boolean).join("; ");
  get("hint").hidden = !hint || !audit;
  get("hint").textContent = hint ?? "";
}
function said(p, decided, drawn) {
  if (!p || p.judged === 0) return p?.expected && !drawn ? `the audit expects ${count(Math.round(p.expected))} to be wrong` : decided ? "no label decided as right or wrong yet" : "";
  const recent = p.recent && p.judged > 50 ? `; last ${p.recent.judged}: ${bare(p.recent.estimate)} %` : "";
  return `${count(p.wrong)} of ${count(p.judged)} wrong: ${bare(p.estimate)} % (${bare(p.low)}–${bare(p.high)} %)${recent}`;
}
const bare = (share) => String(Math.round(100 * share));
