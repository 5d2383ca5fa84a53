// The view Map: every image is a point in the plane, coloured by class, split, suspicion or decision. A lasso selects
// images to show or to decide about.

import { get, el, picture } from "./dom.js";
import { ask, post, bytes } from "./api.js";
import { store } from "./store.js";
import { to } from "./views.js";
import { count, many, named, stamp, done } from "./words.js";
import { called } from "./names.js";
import { me } from "./reviewer.js";
import { most } from "./outbox.js";

const canvas = get("points"), pen = canvas.getContext("2d"), tip = get("tip"), every = 700, corners = 100;
const kinds = { suspect: 1, outlier: 2, copy: 4, group: 8, problem: 16 };
const actions = ["undecided", "keep", "drop", "relabel", "unsure", "disagreed"];
let state = null, places = null; // {n, x, y, class, split, kinds, action}
let view = { scale: 0, left: 0, top: 0 }, wide = 0, high = 0, dots = 1;
let colours = "class", lifted = -1, tool = "lasso", path = [], inside = null, over = -1, drag = null, timer = 0, drawing = 0, looking = 0;

export function plane() {
  store.addEventListener("view", () => { if (store.view === "map") enter(); else clearTimeout(timer); });
  store.addEventListener("row", (e) => decided(e.detail));
  for (const b of get("tools").querySelectorAll("[data-tool]")) b.addEventListener("click", () => hold(b.dataset.tool));
  get("colours").addEventListener("change", (e) => { colours = e.target.value; lifted = -1; paint(); });
  get("arrange").addEventListener("click", () => arrange(state?.method === "tsne" ? "pca" : "tsne"));
  get("nearer").addEventListener("click", () => zoom(1.6));
  get("farther").addEventListener("click", () => zoom(1 / 1.6));
  get("whole").addEventListener("click", fit);
  new ResizeObserver(() => { if (store.view === "map" && resize()) draw(); }).observe(canvas.parentElement);
  canvas.addEventListener("pointerdown", down);
  canvas.addEventListener("pointermove", move);
  canvas.addEventListener("pointerup", up);
  canvas.addEventListener("pointercancel", () => { drag = null; path = []; draw(); });
  canvas.addEventListener("pointerleave", () => point(-1));
  canvas.addEventListener("wheel", (e) => { e.preventDefault(); zoom(Math.exp(-e.deltaY * (e.deltaMode ? 0.05 : 0.0015)), e.offsetX, e.offsetY); }, { passive: false });
  canvas.addEventListener("keydown", keys);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => draw());
  get("theme").addEventListener("click", () => { if (store.view === "map") paint(); });
  hold("lasso");
}

// enter requests the state of the map, and the positions when they are computed.
async function enter() {
  clearTimeout(timer);
  if (store.session.missing.vectors || !store.session.similar) return;
  const before = state?.method;
  state = await ask("/api/plane");
  if (store.view !== "map") return;
  showState();
  if (state.method && (!places || state.method !== before)) await load();
  else paint();
  if (state.works) timer = setTimeout(enter, every);
}
async function arrange(method) {
  state = await post("/api/arrange", { method });
  showState();
  clearTimeout(timer);
  timer = setTimeout(enter, every / 4);
}
function showState() {
  const { method, points, share, works, done: step, steps, failed } = state, percent = (v) => `${(100 * v).toFixed(0)} %`;
  const words = method === "pca" ? `principal components, ${percent(share[0])} and ${percent(share[1])} of the variance` : method === "tsne" ? "by similarity (t-SNE): near points are similar, but far points may be similar, too" : "";
  get("plane-words").textContent = [points ? `${many(points, "image")}, ${words}` : "", works ? (works === "tsne" ? (step ? `t-SNE runs: step ${count(step)} of ${count(steps)}` : "t-SNE compares all images") : "Computing the positions …") : "", failed ? `No result: ${failed}` : ""].filter(Boolean).join(". ");
  get("arrange").textContent = method === "tsne" ? "Arrange by principal components" : "Arrange by similarity (t-SNE)";
  get("arrange").disabled = Boolean(works);
  get("arrange").hidden = !method;
}

async function load() {
  const data = await bytes("/api/places"), n = new DataView(data).getUint32(0, true);
  const floats = (at) => new Float32Array(data, at, n), part = (k) => new Uint8Array(data, 4 + 12 * n + k * n, n);
  places = { n, x: floats(4), y: floats(4 + 4 * n), class: new Int32Array(data, 4 + 8 * n, n), split: part(0), kinds: part(1), action: part(2) };
  inside = null;
  path = [];
  lassoed();
  resize();
  fit();
  paint();
}

// decided updates a point after a decision.
function decided(id) {
  const row = store.find(id);
  if (!places || !row || id >= places.n) return;
  places.action[id] = Math.max(0, actions.indexOf(row.outcome ?? row.decision?.action ?? "undecided"));
  if (store.view === "map") soon();
}
const soon = () => { drawing ||= requestAnimationFrame(() => { drawing = 0; paint(); }); };

// The groups that the colours show, [{name, colour, n}], and the group of each point.
let groups = [], of = null;
function paint() {
  if (!places || store.view !== "map") return;
  const dark = isDark();
  const { classes, splits } = store.session, { n } = places, palette = dark ? state.dark : state.light, soft = dark ? "#5a6470" : "#b4b9c1", take = (list) => list.map(([name, colour]) => ({ name, colour, n: 0 }));
  const some = dark ? ["#38a1a9", "#ff69ff", "#ac9313", "#9fff8f", "#9c28ff"] : ["#332288", "#cc6677", "#117733", "#ddcc77", "#882255"];
  of = new Uint32Array(n);
  if (colours === "class") {
    groups = take([...classes.map((c, i) => [called(c.name), palette[i] ?? soft]), ["no label", soft]]);
    for (let i = 0; i < n; i++) of[i] = places.class[i] < 0 ? classes.length : places.class[i];
  } else if (colours === "split") {
    groups = take(splits.map((s, i) => [s.name, some[i % some.length]]));
    of.set(places.split);
  } else if (colours === "suspect") {
    groups = take([["looks right", soft], ["suspect", dark ? "#ff9a4d" : "#d65400"], ["fits no class", dark ? "#ff69ff" : "#aa4499"], ["not audited", dark ? "#39404a" : "#dcdfe4"]]);
    for (let i = 0; i < n; i++) of[i] = places.kinds[i] & kinds.suspect ? 1 : places.kinds[i] & kinds.outlier ? 2 : i >= store.session.total ? 3 : 0;
  } else {
    groups = take([["not decided", soft], ["kept", dark ? "#66c895" : "#1d6f42"], ["dropped", dark ? "#f28b8b" : "#b02f2f"], ["relabelled", dark ? "#7ab2ee" : "#1f5a9c"], ["unsure", dark ? "#ffffff" : "#000000"], ["no majority", dark ? "#f0a85c" : "#9c4f00"]]);
    of.set(places.action);
  }
  for (let i = 0; i < n; i++) if (places.x[i] === places.x[i]) groups[of[i]].n++;
  legend();
  draw();
}
const isDark = () => (document.documentElement.dataset.theme ? document.documentElement.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches);

function legend() {
  const most = 60, list = groups.map((g, i) => ({ ...g, i })).filter((g) => g.n > 0);
  if (colours === "class") list.sort((a, b) => b.n - a.n);
  const key = JSON.stringify([colours, lifted, isDark(), list]);
  if (get("key").dataset.key === key) return;
  get("key").dataset.key = key;
  get("key").replaceChildren(...list.slice(0, most).map((g) => {
    const dot = el("i", { class: "dot" });
    dot.style.background = g.colour;
    return el("li", {}, el("button", { type: "button", "aria-pressed": String(lifted === g.i), onclick: () => { lifted = lifted === g.i ? -1 : g.i; legend(); draw(); } }, dot, el("span", { class: "names" }, g.name), el("span", { class: "num" }, count(g.n))));
  }), ...(list.length > most ? [el("li", { class: "soft" }, `and ${count(list.length - most)} more`)] : []));
}

function resize() {
  const box = canvas.parentElement.getBoundingClientRect();
  dots = Math.min(2, devicePixelRatio || 1);
  if (box.width === 0 || wide === box.width && high === box.height) return false;
  const first = wide === 0;
  [wide, high] = [box.width, box.height];
  [canvas.width, canvas.height] = [Math.round(wide * dots), Math.round(high * dots)];
  if (!first && view.scale > 0) return true;
  fit();
  return true;
}
function fit() {
  const scale = Math.max(1, Math.min(wide, high) - 32);
  view = { scale, left: (wide - scale) / 2, top: (high - scale) / 2 };
  draw();
}
function zoom(by, x = wide / 2, y = high / 2) {
  const least = Math.min(wide, high) / 2, scale = Math.min(400 * least, Math.max(least, view.scale * by)), real = scale / view.scale;
  view = { scale, left: x - (x - view.left) * real, top: y - (y - view.top) * real };
  draw();
}

// redraw schedules one drawing for all changes since the last frame.
let frame = 0;
const redraw = () => { frame ||= requestAnimationFrame(() => { frame = 0; draw(); }); };

// draw writes the points to an image buffer, which is fast enough for a million points. Grey points are below, highlighted points on top.
function draw() {
  if (!places || wide === 0 || !of) return;
  const w = canvas.width, h = canvas.height, image = pen.createImageData(w, h), out = new Uint32Array(image.data.buffer), { n, x, y } = places;
  const rgb = (hex, alpha = 255) => (alpha << 24 | parseInt(hex.slice(5, 7), 16) << 16 | parseInt(hex.slice(3, 5), 16) << 8 | parseInt(hex.slice(1, 3), 16)) >>> 0;
  const shades = groups.map((g) => rgb(g.colour)), faded = rgb(isDark() ? "#2c323a" : "#e2e4e8");
  const wished = Math.max(1, Math.round(dots * Math.min(9, (1 + 110 / Math.sqrt(n)) * Math.sqrt(view.scale / Math.min(wide, high))))), size = wished > 3 ? wished | 1 : wished, half = size >> 1;
  const round = size > 3, edge = (half + 0.5) ** 2, scale = view.scale * dots, left = view.left * dots, top = view.top * dots;
  const layer = (below) => {
    for (let i = 0; i < n; i++) {
      if (below !== (lifted < 0 ? colours !== "class" && of[i] === 0 : of[i] !== lifted)) continue;
      const px = Math.round(x[i] * scale + left), py = Math.round(y[i] * scale + top);
      if (!(px >= half && py >= half && px + half < w && py + half < h)) continue;
      const shade = lifted >= 0 && of[i] !== lifted ? faded : shades[of[i]];
      for (let dy = -half; dy < size - half; dy++) for (let dx = -half; dx < size - half; dx++) if (!round || dx * dx + dy * dy <= edge) out[(py + dy) * w + px + dx] = shade;
    }
  };
  if (lifted >= 0 || colours !== "class") layer(true);
  layer(false);
  pen.putImageData(image, 0, 0);
  pen.setTransform(dots, 0, 0, dots, 0, 0);
  const ink = getComputedStyle(canvas).color;
  if (path.length > 1) {
    pen.beginPath();
    path.forEach(([a, b], i) => pen[i ? "lineTo" : "moveTo"](a * view.scale + view.left, b * view.scale + view.top));
    pen.closePath();
    pen.strokeStyle = ink;
    pen.lineWidth = 1.5;
    pen.setLineDash([5, 4]);
    pen.stroke();
    pen.setLineDash([]);
  }
  if (over >= 0) {
    pen.beginPath();
    pen.arc(x[over] * view.scale + view.left, y[over] * view.scale + view.top, 8, 0, 7);
    pen.strokeStyle = ink;
    pen.lineWidth = 2;
    pen.stroke();
  }
  pen.setTransform(1, 0, 0, 1, 0, 0);
  canvas.dataset.drawn = String(Number(canvas.dataset.drawn ?? 0) + 1);
}

function hold(name) {
  tool = name;
  for (const b of get("tools").querySelectorAll("[data-tool]")) b.setAttribute("aria-pressed", String(b.dataset.tool === name));
  canvas.dataset.tool = name;
}
const at = (e) => [(e.offsetX - view.left) / view.scale, (e.offsetY - view.top) / view.scale];
function down(e) {
  if (!places || e.button !== 0) return;
  canvas.setPointerCapture(e.pointerId);
  drag = { x: e.offsetX, y: e.offsetY, view: { ...view }, lasso: (tool === "lasso") !== e.shiftKey, moved: false };
}
function move(e) {
  if (!drag) return void point(nearest(e.offsetX, e.offsetY));
  if (!drag.moved && Math.hypot(e.offsetX - drag.x, e.offsetY - drag.y) < 4) return;
  if (!drag.moved) { drag.moved = true; point(-1); if (drag.lasso) path = []; }
  if (drag.lasso) path.push(at(e)); else view = { ...view, left: drag.view.left + e.offsetX - drag.x, top: drag.view.top + e.offsetY - drag.y };
  redraw();
}
function up(e) {
  const was = drag;
  drag = null;
  if (!was) return;
  if (!was.moved) {
    const hit = nearest(e.offsetX, e.offsetY);
    if (hit >= 0) store.emit("visit", hit); else clear();
  } else if (was.lasso) close();
}

// close ends the drawing of a lasso and finds the images inside.
function close() {
  if (path.length < 3) return clear();
  const step = Math.ceil(path.length / corners), round = (v) => Math.round(1e4 * v) / 1e4;
  path = path.filter((_, i) => i % step === 0).map(([a, b]) => [round(a), round(b)]);
  const { n, x, y } = places, list = [], low = [0, 1].map((k) => Math.min(...path.map((p) => p[k]))), top = [0, 1].map((k) => Math.max(...path.map((p) => p[k])));
  for (let i = 0; i < n; i++) if (x[i] >= low[0] && x[i] <= top[0] && y[i] >= low[1] && y[i] <= top[1] && holds(x[i], y[i]) && (lifted < 0 || of[i] === lifted)) list.push(i);
  inside = list;
  lassoed();
  draw();
  return undefined;
}
function holds(px, py) {
  let yes = false;
  for (let i = 0, j = path.length - 1; i < path.length; j = i++) {
    const [ax, ay] = path[i], [bx, by] = path[j];
    if ((ay > py) !== (by > py) && px < (bx - ax) * (py - ay) / (by - ay) + ax) yes = !yes;
  }
  return yes;
}
export function clear() {
  path = [];
  inside = null;
  lassoed();
  draw();
}
// selection reports whether a lasso contains images. If so, decisions apply to these images.
export const selection = () => Boolean(inside?.length);

// lassoed shows the actions for the images in the lasso.
function lassoed() {
  const bar = get("lassoed");
  bar.hidden = !inside;
  if (!inside) return;
  const button = (words, act, key) => el("button", { type: "button", onclick: () => store.emit("lasso", act) }, words, el("kbd", { "aria-hidden": "true" }, key));
  bar.replaceChildren(el("b", { role: "status" }, `${many(inside.length, "image")} in the lasso`), ...(inside.length ? [el("button", { type: "button", class: "primary", onclick: list }, "Show them in Data"),
    button("Keep", "keep", "K"), button("Drop", "drop", "D"), button("Label…", "choose", "L"), button("Unsure", "unsure", "Q"), button("Similar", "similar", "S")] : []), el("button", { type: "button", class: "plain", onclick: clear }, "Clear"));
}
// list shows the images in the lasso in the grid of all images. A highlighted class stays as a filter.
const list = () => to("data", { lasso: path.flat().join(","), class: colours === "class" && lifted >= 0 ? store.session.classes[lifted]?.name ?? "" : "" });

// rows fetches the rows of the images in the lasso, to decide about them.
export async function rows() {
  if (inside.length > most) {
    store.say(`At most ${count(most)} images can be decided at once: show them in Data, or draw a smaller lasso`);
    return [];
  }
  const wanted = new Set(inside), found = await store.every({ scope: "all", state: "all", lasso: path.flat().join(",") });
  return found.filter((r) => wanted.has(r.id));
}

function nearest(px, py) {
  if (!places) return -1;
  const { n, x, y } = places, a = (px - view.left) / view.scale, b = (py - view.top) / view.scale;
  let best = -1, least = (12 / view.scale) ** 2;
  for (let i = 0; i < n; i++) {
    const d = (x[i] - a) ** 2 + (y[i] - b) ** 2;
    if (d < least && (lifted < 0 || of[i] === lifted)) { best = i; least = d; }
  }
  return best;
}

// point shows the image of a point.
function point(i) {
  if (i === over) return;
  over = i;
  tip.hidden = true;
  redraw();
  clearTimeout(looking);
  if (i >= 0) looking = setTimeout(() => describe(i), 40);
}
async function describe(i) {
  const { rows: [row] } = await ask("/api/rows", { scope: "all", state: "all", sort: "suspect", offset: i, limit: 1, reviewer: me() });
  if (over !== i || row?.id !== i) return;
  tip.replaceChildren(picture(row.key, 160, ""), el("b", {}, row.given ? called(row.given) : "no label"), el("span", {}, row.path), el("small", {}, [row.split, row.decision ? stamp(row.decision) : ""].filter(Boolean).join(", ")));
  tip.hidden = false;
  const px = places.x[i] * view.scale + view.left, py = places.y[i] * view.scale + view.top, { offsetWidth: w, offsetHeight: h } = tip;
  tip.style.left = `${Math.max(4, px + 16 + w < wide ? px + 16 : px - 16 - w)}px`;
  tip.style.top = `${Math.max(4, Math.min(high - h - 4, py - h / 2))}px`;
  get("plane-said").textContent = `${named(row)}: ${row.given ? called(row.given) : "no label"}, ${done(row.decision)}`;
}

// The arrow keys go from point to point; with Shift they move the map.
function keys(e) {
  if (e.ctrlKey || e.metaKey || e.altKey) return;
  const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }, way = ways[e.key];
  if (way && e.shiftKey) { view = { ...view, left: view.left - 60 * way[0], top: view.top - 60 * way[1] }; draw(); } else if (way) point(next(...way));
  else if (e.key === "+" || e.key === "=") zoom(1.6);
  else if (e.key === "-") zoom(1 / 1.6);
  else if (e.key === "0") fit();
  else if (e.key === "Enter" && over >= 0) store.emit("visit", over);
  else if (e.key === "Escape") { clear(); point(-1); } else return;
  e.preventDefault();
}
// next returns the next point in a direction, preferring points close to the line in that direction.
function next(dx, dy) {
  if (!places) return -1;
  const { n, x, y } = places, from = over >= 0 ? [x[over], y[over]] : [(wide / 2 - view.left) / view.scale, (high / 2 - view.top) / view.scale];
  let best = over, least = Infinity;
  for (let i = 0; i < n; i++) {
    const a = x[i] - from[0], b = y[i] - from[1], along = a * dx + b * dy, aside = Math.abs(a * dy - b * dx);
    if (over < 0 ? a * a + b * b < least : along > 0 && aside <= along && along + 2 * aside < least) { best = i; least = over < 0 ? a * a + b * b : along + 2 * aside; }
  }
  return best;
}
