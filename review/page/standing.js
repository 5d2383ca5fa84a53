// How far the review is, how many of the decided labels were wrong, and when it is sensible to stop.

import { get } from "./dom.js";
import { count } from "./words.js";
import { store } from "./store.js";

export function standing() {
  store.addEventListener("session", draw);
}
function draw() {
  const { counts, total, precision, hint, title } = store.session, decided = counts.keep + counts.drop + counts.relabel;
  get("title").textContent = title;
  document.title = `${title ? `${title} – ` : ""}winnow review`;
  const meter = get("meter");
  for (const action of ["relabel", "drop", "keep"]) meter.querySelector(`.${action}`).style.width = `${total ? 100 * counts[action] / total : 0}%`;
  meter.setAttribute("aria-label", `${count(counts.relabel)} relabelled, ${count(counts.drop)} dropped, ${count(counts.keep)} kept of ${count(total)}`);
  meter.title = meter.getAttribute("aria-label");
  get("progress").textContent = `${count(decided)} of ${count(total)} decided`;
  get("precision").textContent = said(precision);
  get("hint").hidden = !hint;
  get("hint").textContent = hint ?? "";
}
function said(p) {
  if (!p || p.judged === 0) return "no label judged yet";
  const recent = p.recent && p.judged > 50 ? `; last ${p.recent.judged}: ${bare(p.recent.estimate)} %` : "";
  return `${count(p.wrong)} of ${count(p.judged)} wrong: ${bare(p.estimate)} % (${bare(p.low)}–${bare(p.high)} %)${recent}`;
}
const bare = (share) => String(Math.round(100 * share));
