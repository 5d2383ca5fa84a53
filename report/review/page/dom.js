// Builds the page's elements. Text is always a text node, never markup, because labels and paths are untrusted.

export const get = (id) => document.getElementById(id);

// el builds an element with attributes, listeners (onclick: …) and children (elements or text). It skips null and false.
export function el(name, attributes = {}, ...children) {
  const e = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) e.addEventListener(key.slice(2), value);
    else e.setAttribute(key, value === true ? "" : value);
  }
  e.append(...children.flat().filter((c) => c !== null && c !== undefined && c !== false));
  return e;
}

// svg is like el for SVG elements.
export function svg(name, attributes = {}, ...children) {
  const e = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) e.addEventListener(key.slice(2), value);
    else e.setAttribute(key, value);
  }
  e.append(...children);
  return e;
}

// broken returns a name that allows line breaks between its words.
export const broken = (name) => name.split(/(?<=[_\-./])/).flatMap((part, i) => (i ? [el("wbr"), part] : [part]));

// picture returns a thumbnail, or a placeholder if the file cannot be read. Tiny images are enlarged without smoothing.
export function picture(key, size, alt, attributes = {}) {
  const img = el("img", { alt, decoding: "async", draggable: "false", ...attributes });
  img.addEventListener("load", () => img.classList.toggle("tiny", Math.max(img.naturalWidth, img.naturalHeight) <= 64));
  img.addEventListener("error", () => img.replaceWith(el("span", { class: "unreadable", role: "img", "aria-label": `${alt} (cannot be read)` }, "cannot be read")));
  img.src = size ? thumb(key, size) : `/image/${encodeURIComponent(key)}`;
  return img;
}
export const thumb = (key, size) => `/thumb/${encodeURIComponent(key)}?size=${size}`;

// head returns the first line of a dialog: its title and a button to close it.
export function head(id, name, ...more) {
  return el("div", { class: "head" }, el("h2", { id }, name), el("span", { class: "gap" }), ...more,
    el("button", { type: "button", class: "icon", "aria-label": "Close", onclick: (e) => e.currentTarget.closest("dialog").close() }, "✕"));
}

// open shows a dialog that closes on a click outside of it.
export function open(dialog) {
  if (!dialog.open) dialog.showModal();
  dialog.onmousedown = (e) => { if (e.target === dialog && dialog.role !== "alertdialog") dialog.close(); };
}
