// The button for the theme: light, dark, or the system's.

import { get } from "./dom.js";

const next = { auto: "light", light: "dark", dark: "auto" }, sign = { auto: "◐", light: "☀", dark: "☾" };

export function theme() {
  const button = get("theme");
  const set = (name) => {
    if (name === "auto") delete document.documentElement.dataset.theme; else document.documentElement.dataset.theme = name;
    button.textContent = sign[name];
    button.setAttribute("aria-label", `Colours: ${name === "auto" ? "as the system" : name}. Change`);
    button.title = `Colours: ${name}`;
    localStorage.setItem("winnow-theme", name);
  };
  set(next[localStorage.getItem("winnow-theme")] ? localStorage.getItem("winnow-theme") : "auto");
  button.addEventListener("click", () => set(next[localStorage.getItem("winnow-theme")] ?? "light"));
}
