// The end of a list: what was decided, and what to do next, each with one click.

import { get, el } from "./dom.js";
import { store } from "./store.js";
import { count, many } from "./words.js";
import { to } from "./views.js";
import { training } from "./job.js";

const titles = { copies: "duplicates", outliers: "outliers", problems: "problems" };

// ending returns the card that the list shows when all its images are decided.
export function ending(words) {
  const { counts: c, left } = store.session, button = (text, onclick, more = {}) => el("button", { type: "button", onclick, ...more }, text);
  const parts = [["relabelled", c.relabel], ["dropped", c.drop], ["kept", c.keep], ["unsure", c.unsure], ["without a majority", c.disagreed]].filter(([, n]) => n > 0);
  const finds = Object.entries(titles).filter(([kind]) => left[kind] > 0), [train, command] = training();
  return el("li", { class: "empty" }, el("h3", {}, words), parts.length ? el("p", {}, parts.map(([name, n]) => `${count(n)} ${name}`).join(", ")) : "",
    el("div", { class: "row next" },
      ...finds.map(([kind, name]) => button(`Findings: ${many(left[kind], "group")} of ${name} left`, () => to("findings", { find: kind }))),
      button("Export…", () => get("export").click(), { class: "primary" }), train, command),
    finds.length ? "" : el("p", {}, "Nothing is left in Findings."));
}
