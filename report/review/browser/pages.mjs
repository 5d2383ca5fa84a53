// Steps about the HTML files of winnow report, audit and reproduce, and about a page of the documentation if "make site"
// has written it. At every width, the pages must not overflow, print to the console or send requests, must be usable by
// keyboard only, and must pass axe.

import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { accessible, Visit } from "./visit.mjs";
import { winnow } from "./server.mjs";

// makePages writes a small page of each kind, and returns the files by name.
function makePages(binary, dir) {
  const at = (name) => join(dir, name), demo = at("demo"), run = at("run"), suspects = join(demo, "suspects.csv"), site = resolve("site/docs/review.html");
  const manifest = join(demo, "manifest.csv"), features = join(demo, "suspects.features");
  winnow(binary, "--quiet", "quickstart", "--out", demo);
  winnow(binary, "--quiet", "train", "--manifest", manifest, "--root", join(demo, "images"), "--features", features, "--steps", "30", "--out", run);
  winnow(binary, "--quiet", "report", run, "--out", at("report.html"));
  winnow(binary, "--quiet", "reproduce", "audit-judges", "--data", `glyphs=${manifest},${features}`, "--seeds", "2", "--columns", "symmetric 50", "--rows", "fitted", "--rows", "nn", "--out", at("reproduced"));
  return { report: at("report.html"), audit: join(demo, "suspects.html"), reproduce: join(at("reproduced"), "audit-judges", "report.html"), ...(existsSync(site) ? { site } : {}) };
}

const every = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
const windows = [[1280, 800, "light", every], [390, 844, "light", every], [1280, 800, "dark", ["color-contrast"]], [390, 844, "dark", []], [1920, 1080, "light", []], [1920, 1080, "dark", []]];

// wrong lists the elements of a page that are cut off, and the texts that are too small.
const wrong = (page) => page.evaluate(() => {
  const out = [];
  if (document.documentElement.scrollWidth > innerWidth) out.push(`it scrolls sideways: ${document.documentElement.scrollWidth} of ${innerWidth}`);
  const held = (e) => e.closest(".scroll, .charts figure, .figures figure, .path, .aloud, figure svg");
  for (const e of document.querySelectorAll("main *")) {
    const b = e.getBoundingClientRect(), text = [...e.childNodes].some((n) => n.nodeType === Node.TEXT_NODE && n.textContent.trim());
    if (!text || b.width === 0 || !e.checkVisibility({ visibilityProperty: true })) continue;
    if ((b.right > innerWidth + 1 || b.left < -1) && !held(e)) out.push(`cut off: ${e.tagName} ${e.textContent.trim().slice(0, 40)}`);
    const svg = e.ownerSVGElement, size = parseFloat(getComputedStyle(e).fontSize) * (svg?.viewBox.baseVal.width ? svg.getBoundingClientRect().width / svg.viewBox.baseVal.width : 1);
    if (size < 9.9) out.push(`${size.toFixed(1)} px: ${e.tagName} ${e.textContent.trim().slice(0, 40)}`);
  }
  return out.slice(0, 5);
});

// tabbed presses Tab through a page and lists the elements whose focus is not visible. It ends at the first element, or after most stops.
async function tabbed(page, most = 40) {
  const bad = [];
  for (let i = 0; i < most; i++) {
    await page.keyboard.press("Tab");
    const on = await page.evaluate(() => {
      const e = document.activeElement, s = getComputedStyle(e), b = e.getBoundingClientRect();
      return e === document.body ? null : { name: e.id || e.getAttribute("aria-label") || e.textContent.trim().slice(0, 30), seen: parseFloat(s.outlineWidth) >= 2 && s.outlineStyle !== "none" && b.bottom > 0 && b.top < innerHeight };
    });
    if (!on) break;
    if (!on.seen) bad.push(on.name);
  }
  return bad;
}

export const pages = [
  ["pages of files: axe, reflow, sizes, keyboard, screenshots", async ({ browser, binary, shots }) => {
    const dir = mkdtempSync(join(tmpdir(), "winnow-pages-")), files = makePages(binary, dir), bad = [];
    const each = async ([width, height, colorScheme, rules]) => {
      const context = await browser.newContext({ viewport: { width, height }, colorScheme, reducedMotion: "reduce" });
      const visit = new Visit(context, "file://"), page = await visit.page();
      for (const [name, file] of Object.entries(files)) {
        const say = (words) => words.map((w) => `${name}, ${width}×${height}, ${colorScheme}: ${w}`);
        await page.goto(pathToFileURL(file).href);
        assert.equal(await page.locator("header .brand").count(), 1, `${name} has no header`);
        bad.push(...say(await wrong(page)));
        if (rules.length > 0) bad.push(...say(await accessible(page, rules)));
        await page.screenshot({ path: join(shots, `${width}-${colorScheme}-${name}.png`) });
        if (rules === every && width > 400) {
          bad.push(...say((await tabbed(page)).map((what) => `the focus on ${what} is not seen`)));
        }
        bad.push(...say(await visit.found(page)));
      }
      await context.close();
    };
    const left = [...windows];
    await Promise.all([0, 1].map(async () => { while (left.length > 0) await each(left.shift()); }));
    rmSync(dir, { recursive: true });
    assert.deepEqual(bad, []);
  }],
  ["the documentation's site finds sections, and leads to them", async ({ browser }) => {
    const home = resolve("site/index.html");
    if (!existsSync(home)) return console.log("SKIPPED: there is no site/index.html: make site");
    const context = await browser.newContext({ viewport: { width: 390, height: 844 } }), page = await context.newPage();
    await page.goto(pathToFileURL(home).href);
    await page.locator("#query").fill("allow-host token");
    assert.ok(await page.locator("#found li").count() > 1, "nothing is found");
    assert.equal(await page.locator("#page").isVisible(), false, "the page stays beside what is found");
    const [first] = await page.locator("#found a").all(), to = await first.getAttribute("href");
    await page.keyboard.press("Enter");
    await page.waitForURL((url) => url.href.endsWith(to));
    assert.ok(await page.locator(`[id="${to.split("#")[1]}"]`).isVisible(), `${to} is not shown`);
    await page.locator("#query").fill("qwertz plugh");
    assert.equal(await page.locator("#found li").count(), 0);
    await context.close();
  }],
  ["what is cut off or too small is seen", async ({ browser }) => {
    const context = await browser.newContext({ viewport: { width: 390, height: 800 } }), page = await context.newPage();
    await page.setContent('<main><p style="width:500px">wide</p><p style="font-size:8px">small</p></main>');
    assert.equal((await wrong(page)).length, 3);
    await context.close();
  }],
];
