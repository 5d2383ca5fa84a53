// A visit of a page in a browser. It collects faults: console errors, violations of the content security policy, script
// errors, and requests to other origins.

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";
import { reviewer as tess } from "./server.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

export function browserPath() {
  for (const name of ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]) {
    try { return execFileSync("sh", ["-c", `command -v ${name}`], { encoding: "utf8" }).trim(); } catch { /* the next one */ }
  }
  throw new Error("no chromium in PATH");
}
export const launch = () => chromium.launch({ executablePath: browserPath(), args: process.getuid?.() === 0 ? ["--no-sandbox"] : [] });

export class Visit {
  faults = []; // faults found so far
  requests = 0;
  #excused = []; // patterns of console messages that a step allows

  constructor(context, origin, reviewer = tess) {
    this.reviewer = reviewer;
    this.context = context;
    this.origin = origin;
  }
  excuse(...patterns) { this.#excused = patterns; }

  async page() {
    if (this.origin.startsWith("http")) await this.context.addCookies([{ name: "winnow-reviewer", value: this.reviewer, url: this.origin }]);
    const page = await this.context.newPage();
    page.setDefaultTimeout(30_000); // long, for busy machines
    await page.addInitScript(() => {
      window.violations = [];
      document.addEventListener("securitypolicyviolation", (e) => window.violations.push(`${e.violatedDirective} ${e.blockedURI}`));
    });
    page.on("console", (m) => {
      if (["error", "warning"].includes(m.type()) && !this.#excused.some((p) => p.test(m.text()))) this.faults.push(`console ${m.type()}: ${m.text()}`);
    });
    page.on("pageerror", (e) => this.faults.push(`script: ${e.stack ?? e}`));
    page.on("request", (r) => {
      this.requests++;
      if (!r.url().startsWith(`${this.origin}/`) && !/^(blob|data):/.test(r.url())) this.faults.push(`a request leaves the origin: ${r.url()}`);
    });
    return page;
  }

  // found returns the faults since the last call.
  async found(page) {
    const violations = page.isClosed() ? [] : await page.evaluate(() => window.violations.splice(0));
    return [...this.faults.splice(0), ...violations.map((v) => `content security policy: ${v}`)];
  }
}

export async function ready(page) {
  await page.waitForSelector("html[data-ready]");
  await settled(page);
}
// settled waits until the list is loaded and all decisions are saved.
export const settled = (page) => page.waitForFunction(() => !document.querySelector("#grid[aria-busy]") && !document.querySelector(".pending"));

// accessible lists the violations that axe finds in the visible page, by these rules or sets of rules. It checks only
// six of the cards, because all cards are alike.
export async function accessible(page, rules) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate((only) => window.axe.run({ include: document, exclude: [".grid > li:nth-child(n+7)", ".cases > :nth-child(n+7)", ".points"] }, { resultTypes: ["violations"], runOnly: only, preload: location.protocol !== "file:" }), rules);
  return violations.map((v) => `${v.id} (${v.help}): ${v.nodes.slice(0, 3).map((n) => `${n.html.slice(0, 160)} ${n.any[0]?.message ?? ""}`).join(" | ")}`);
}
