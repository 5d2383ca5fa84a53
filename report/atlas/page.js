"use strict";
(() => {
  const get = (id) => document.getElementById(id);
  const frame = get("frame"), map = get("map"), card = get("card"), ring = get("ring"), said = get("said");
  const circles = map.querySelectorAll(".points .p"), n = data.x.length, size = 1000, shape = data.height / size;
  let view = { x: 0, y: 0, w: size }, chosen = -1, lifted = null;
  const middle = () => ({ x: view.x + view.w / 2, y: view.y + view.w * shape / 2 });

  // look shows the current view. Points and names grow less than the drawing does.
  function look() {
    const zoom = size / view.w;
    view.x = Math.min(Math.max(view.x, 0), size - view.w);
    view.y = Math.min(Math.max(view.y, 0), (size - view.w) * shape);
    map.setAttribute("viewBox", `${view.x} ${view.y} ${view.w} ${view.w * shape}`);
    const pixel = unit(map.getBoundingClientRect()), signs = map.querySelector(".signs");
    map.style.setProperty("--r", `${Math.max(data.radius / Math.sqrt(zoom), 1.7 * pixel)}px`);
    signs.style.fontSize = `${Math.max(17 / zoom, 12 * pixel)}px`;
    signs.style.strokeWidth = `${4 * pixel}px`;
    ring.setAttribute("r", 9 * pixel);
    if (chosen >= 0) place();
  }
  function zoom(by, x = middle().x, y = middle().y) {
    const w = Math.min(size, Math.max(size / 60, view.w / by));
    view = { x: x - (x - view.x) * w / view.w, y: y - (y - view.y) * w / view.w, w };
    look();
  }
  // unit returns how many units a pixel is; at returns the place of an event in units.
  const unit = (box) => Math.max(view.w / box.width, view.w * shape / box.height);
  function at(event) {
    const box = map.getBoundingClientRect(), scale = unit(box), m = middle();
    return { x: m.x + (event.clientX - box.left - box.width / 2) * scale, y: m.y + (event.clientY - box.top - box.height / 2) * scale, scale };
  }

  const up = (i) => !lifted || lifted(i);
  function nearest(p, within) {
    let best = -1, least = within * within;
    for (let i = 0; i < n; i++) {
      const dx = data.x[i] - p.x, dy = data.y[i] - p.y, d = dx * dx + dy * dy;
      if (d < least && up(i)) { best = i; least = d; }
    }
    return best;
  }

  function lines(i) {
    const label = data.names[data.label[i]], truth = data.names[data.true[i]], split = data.names[data.split[i]];
    const out = [label || "no label", data.path[i]];
    if (truth && truth !== label) out.push(`true label: ${truth}`);
    if (data.score[i] !== null) out.push(`score ${data.score[i]}`);
    if (split) out.push(split);
    return out;
  }
  function choose(i, aloud) {
    if (i === chosen) return;
    chosen = i;
    ring.style.visibility = i < 0 ? "hidden" : "visible";
    card.style.display = i < 0 ? "none" : "flex";
    if (i < 0) return;
    ring.setAttribute("cx", data.x[i]);
    ring.setAttribute("cy", data.y[i]);
    const text = lines(i), body = card.querySelector("div"), picture = card.querySelector("i");
    body.replaceChildren(...text.map((line, k) => {
      const e = document.createElement(k === 0 ? "b" : "div");
      e.textContent = line;
      return e;
    }));
    picture.style.display = data.sheets.length ? "block" : "none";
    if (data.sheets.length) {
      const each = data.across * data.across, on = i % each, rows = Math.ceil(Math.min(each, n - (i - on)) / data.across);
      picture.style.backgroundImage = `url(${data.sheets[(i - on) / each]})`;
      picture.style.backgroundSize = `${96 * data.across}px ${96 * rows}px`;
      picture.style.backgroundPosition = `${-96 * (on % data.across)}px ${-96 * Math.floor(on / data.across)}px`;
    }
    place();
    if (aloud) said.textContent = text.join(", ");
  }
  // place puts the card next to its point, within the frame.
  function place() {
    const box = frame.getBoundingClientRect(), inner = map.getBoundingClientRect(), scale = unit(inner), m = middle();
    const x = inner.left - box.left + inner.width / 2 + (data.x[chosen] - m.x) / scale;
    const y = inner.top - box.top + inner.height / 2 + (data.y[chosen] - m.y) / scale;
    const w = card.offsetWidth, h = card.offsetHeight;
    card.style.left = `${Math.max(4, x + 16 + w < box.width ? x + 16 : x - 16 - w)}px`;
    card.style.top = `${Math.min(Math.max(4, y - h / 2), Math.max(4, box.height - h - 6))}px`;
  }

  // lift highlights the points that pass a test; the others fade.
  function lift(test) {
    lifted = test;
    map.classList.toggle("lifted", Boolean(test));
    let count = 0;
    for (let i = 0; i < n; i++) {
      const is = Boolean(test) && test(i);
      circles[i].classList.toggle("up", is);
      if (is) count++;
    }
    if (chosen >= 0 && !up(chosen)) choose(-1);
    return count;
  }

  let drag = null;
  map.addEventListener("pointerdown", (e) => { drag = { x: e.clientX, y: e.clientY, view: { ...view }, moved: false }; });
  window.addEventListener("pointerup", () => { drag = null; });
  map.addEventListener("pointermove", (e) => {
    const p = at(e);
    if (drag && e.buttons && view.w < size) {
      view.x = drag.view.x - (e.clientX - drag.x) * p.scale;
      view.y = drag.view.y - (e.clientY - drag.y) * p.scale;
      look();
    }
    choose(nearest(p, 14 * p.scale));
  });
  map.addEventListener("click", (e) => { const p = at(e); choose(nearest(p, 24 * p.scale), true); });
  frame.addEventListener("pointerleave", () => choose(-1));
  map.addEventListener("wheel", (e) => { e.preventDefault(); const p = at(e); zoom(e.deltaY < 0 ? 1.25 : 0.8, p.x, p.y); }, { passive: false });
  get("in").onclick = () => zoom(1.6);
  get("out").onclick = () => zoom(1 / 1.6);
  get("all").onclick = () => zoom(1 / size);

  // next returns the next point in a direction: near along it, and not far to the side.
  function next(dx, dy) {
    if (chosen < 0) return nearest(middle(), 2 * size);
    let best = chosen, least = Infinity;
    for (let i = 0; i < n; i++) {
      const x = data.x[i] - data.x[chosen], y = data.y[i] - data.y[chosen];
      const along = x * dx + y * dy, aside = Math.abs(x * dy - y * dx);
      if (along > 0 && aside <= along && up(i) && along + 2 * aside < least) { best = i; least = along + 2 * aside; }
    }
    return best;
  }
  frame.addEventListener("keydown", (e) => {
    if (e.target !== frame || e.ctrlKey || e.metaKey || e.altKey) return;
    const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const [x, y] = chosen < 0 ? [] : [data.x[chosen], data.y[chosen]];
    if (ways[e.key]) {
      const to = next(...ways[e.key]);
      if (to >= 0) {
        const inside = data.x[to] > view.x && data.x[to] < view.x + view.w && data.y[to] > view.y && data.y[to] < view.y + view.w * shape;
        if (!inside) { view.x = data.x[to] - view.w / 2; view.y = data.y[to] - view.w * shape / 2; look(); }
        choose(to, true);
      }
    } else if (e.key === "+" || e.key === "=") zoom(1.6, x, y);
    else if (e.key === "-") zoom(1 / 1.6, x, y);
    else if (e.key === "0") zoom(1 / size);
    else if (e.key === "Escape") choose(-1);
    else return;
    e.preventDefault();
  });

  const buttons = [...get("legend").querySelectorAll("button")], find = get("find"), found = get("found");
  const release = () => buttons.forEach((b) => b.setAttribute("aria-pressed", "false"));
  buttons.forEach((button) => {
    button.onclick = () => {
      const on = button.getAttribute("aria-pressed") !== "true", shade = Number(button.dataset.shade);
      release();
      find.value = found.textContent = "";
      button.setAttribute("aria-pressed", String(on));
      lift(on ? (i) => data.shade[i] === shade : null);
    };
  });
  find.oninput = () => {
    const text = find.value.trim().toLowerCase();
    release();
    if (!text) { lift(null); found.textContent = ""; return; }
    const names = data.names.map((name) => name.toLowerCase().includes(text));
    const count = lift((i) => names[data.label[i]] || data.path[i].toLowerCase().includes(text));
    found.textContent = `${count} of ${n} points`;
  };
  window.addEventListener("resize", look);
  look();
})();
