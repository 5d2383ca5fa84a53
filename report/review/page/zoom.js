// The dialog that shows the image file at any size. The wheel, two fingers, + and − zoom; dragging or the arrow keys
// move the image; 0 or a double click fits it into the window.

import { get, el, head, open } from "./dom.js";
import { count, file, tail } from "./words.js";

const dialog = get("zoom"), least = 16, step = 80; // least: maximum scale of a pixel, unless 8 times the fitted scale is larger
let stage = null, image = null, line = null, scale = 1, left = 0, top = 0;
const fingers = new Map();

// zoom shows an image file.
export function zoom({ key, path }) {
  image = el("img", { alt: file(path), draggable: "false" });
  line = el("span", { class: "num", role: "status" }, "loading …");
  stage = el("div", { class: "stage", tabindex: "0", role: "group", "aria-label": "Image: + and − zoom, arrow keys move, 0 fits" }, image);
  const button = (words, name, act) => el("button", { type: "button", class: "icon", "aria-label": name, title: name, onclick: act }, words);
  dialog.replaceChildren(head("zoom-name", tail(path), line, button("−", "Smaller (−)", () => by(0.8)), button("+", "Larger (+)", () => by(1.25)), button("1:1", "Original size (1)", plain), button("▣", "Fit into the window (0)", fit)), stage);
  image.addEventListener("load", fit);
  image.addEventListener("error", () => stage.replaceChildren(el("span", { class: "unreadable", role: "img" }, "cannot be read")));
  stage.addEventListener("wheel", wheel, { passive: false });
  stage.addEventListener("dblclick", fit);
  for (const name of ["pointerdown", "pointermove", "pointerup", "pointercancel"]) stage.addEventListener(name, touch);
  fingers.clear();
  open(dialog);
  image.src = `/image/${encodeURIComponent(key)}`;
  stage.focus();
}

const keys = { "+": () => by(1.25), "=": () => by(1.25), "-": () => by(0.8), "−": () => by(0.8), 0: fit, 1: plain, ArrowLeft: () => move(step, 0), ArrowRight: () => move(-step, 0), ArrowUp: () => move(0, step), ArrowDown: () => move(0, -step) };
dialog.addEventListener("keydown", (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey || !keys[e.key]) return;
  e.preventDefault();
  keys[e.key]();
});
addEventListener("resize", () => { if (dialog.open) draw(); });

const fitting = () => Math.min(stage.clientWidth / image.naturalWidth, stage.clientHeight / image.naturalHeight);
function fit() {
  scale = fitting();
  draw();
}
function plain() { by(1 / scale); }

// by zooms around a point of the stage, by default its centre.
function by(factor, x = stage.clientWidth / 2, y = stage.clientHeight / 2) {
  const small = fitting(), next = Math.min(Math.max(least, 8 * small), Math.max(Math.min(small, 1), scale * factor));
  left = x - (x - left) * next / scale;
  top = y - (y - top) * next / scale;
  scale = next;
  draw();
}
function move(x, y) {
  left += x;
  top += y;
  draw();
}

// draw keeps the image in the stage: centred if it is smaller, otherwise without gaps.
function draw() {
  const within = (at, room, size) => (size <= room ? (room - size) / 2 : Math.min(0, Math.max(room - size, at)));
  if (!image.naturalWidth) return;
  left = within(left, stage.clientWidth, image.naturalWidth * scale);
  top = within(top, stage.clientHeight, image.naturalHeight * scale);
  image.style.transform = `translate(${left}px, ${top}px) scale(${scale})`;
  image.classList.toggle("tiny", scale >= 3);
  line.textContent = `${count(image.naturalWidth)} × ${count(image.naturalHeight)} pixels, ${Math.round(100 * scale)} %`;
}

function wheel(e) {
  e.preventDefault();
  const { left: x, top: y } = stage.getBoundingClientRect();
  by(Math.exp(-e.deltaY * (e.deltaMode ? 0.05 : 0.0015)), e.clientX - x, e.clientY - y);
}

// touch moves the image with one finger or the mouse, and zooms with two fingers around their midpoint.
function touch(e) {
  if (e.type === "pointerdown") {
    fingers.set(e.pointerId, e);
    return stage.setPointerCapture(e.pointerId);
  }
  if (e.type !== "pointermove") return fingers.delete(e.pointerId);
  if (!fingers.has(e.pointerId)) return undefined;
  const before = middle();
  fingers.set(e.pointerId, e);
  const now = middle(), at = stage.getBoundingClientRect();
  move(now.x - before.x, now.y - before.y);
  if (fingers.size === 2) by(now.wide / before.wide, now.x - at.left, now.y - at.top);
  return undefined;
}
function middle() {
  const [a, b = a] = [...fingers.values()];
  return { x: (a.clientX + b.clientX) / 2, y: (a.clientY + b.clientY) / 2, wide: Math.max(1, Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY)) };
}
