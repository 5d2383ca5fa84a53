// Steps about accessibility: keyboard only, screen readers, narrow windows, both themes. They also take screenshots.

import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { accessible, ready, settled, Visit } from "./visit.mjs";
import { Server, token } from "./server.mjs";
import { go, stand, current, action } from "./deciding.mjs";

// views are the states of the page to check, each with the actions that lead to it from the list.
const views = {
  list: async () => {},
  compact: async (page) => { await go(page, "state=all&cards=compact"); },
  large: async (page) => { await page.keyboard.press("Enter"); await page.waitForSelector("#focus .strip img"); },
  label: async (page) => { await page.keyboard.press("l"); await page.waitForSelector("#chooser [aria-selected=true]"); },
  map: async (page) => { await page.keyboard.press("m"); await page.waitForSelector("#map .cell"); },
  similar: async (page) => { await page.keyboard.press("s"); await page.waitForSelector(".tile .similarity"); },
  help: async (page) => { await page.keyboard.press("?"); await page.waitForSelector("#helping[open]"); },
  selected: async (page) => { await page.keyboard.press("x"); await page.keyboard.press("Shift+ArrowRight"); },
};
const windows = [[1280, 720, "light"], [1280, 720, "dark"], [1024, 640, "light"], [375, 700, "light"], [375, 700, "dark"]];
// checks returns axe's rules for a window: all rules if the layout differs, only contrast if only the colours differ.
const every = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
const checks = {
  "1280 light": { rules: every, views: Object.keys(views).filter((name) => name !== "compact") },
  "1280 dark": { rules: ["color-contrast"], views: ["list", "large", "label", "map", "similar"] },
  "375 light": { rules: every, views: ["list", "large", "map", "selected"] },
};

async function pictures(page) {
  await page.waitForFunction(() => [...document.images].filter((i) => { const b = i.getBoundingClientRect(); return b.width > 0 && b.bottom > 0 && b.top < innerHeight; }).every((i) => i.complete));
}

export const reaching = [
  ["--open shows a file that lets in once", async ({ browser, binary, set }) => {
    const dir = dirname(set.decisions), told = join(dir, "told"), program = join(dir, "xdg-open");
    writeFileSync(program, `#!/bin/sh\nprintf '%s\\n' "$@" > "$TOLD.new" && mv "$TOLD.new" "$TOLD"\n`, { mode: 0o755 });
    const server = new Server(binary, { ...set, decisions: join(dir, "opened.db") }, ["--open"], { TOLD: told, PATH: `${dir}:${process.env.PATH}` });
    await server.start();
    const context = await browser.newContext(), page = await context.newPage();
    try {
      while (!existsSync(told)) await page.waitForTimeout(20);
      const file = readFileSync(told, "utf8").trim(), text = readFileSync(file, "utf8");
      assert.ok(!file.includes("token") && !text.includes(token), "the token is seen by others");
      await page.goto(`file://${file}`);
      await page.waitForURL(`${server.origin}/`);
      await ready(page);
      assert.ok(!existsSync(file), "the file stays");
      assert.ok((await context.cookies()).every((c) => !c.value.includes(token)), "the cookie tells the token");
      const again = await browser.newContext(), answer = await (await again.newPage()).goto(text.match(/url=([^"]+)/)[1]);
      assert.equal(answer.status(), 403, "it lets in twice");
      await again.close();
    } finally {
      await context.close();
      await server.kill("SIGTERM");
    }
  }],
  ["single-key shortcuts can be turned off", async ({ page, server }) => {
    await go(page, "state=undecided");
    const id = await current(page);
    await stand(page, id);
    await page.keyboard.press("?");
    await page.locator("#single").click();
    await page.keyboard.press("Escape");
    await stand(page, id);
    await page.keyboard.press("d");
    await page.waitForTimeout(100);
    assert.equal(await action(server, id), "undecided", "a letter decides although they are off");
    await page.keyboard.press("ArrowRight");
    assert.equal(await current(page), id + 1, "arrow keys go on working");
    await page.locator("#help").click();
    await page.locator("#single").click();
    await page.keyboard.press("Escape");
    await stand(page, id);
    await page.keyboard.press("d");
    await settled(page);
    assert.equal(await action(server, id), "drop", "a letter does nothing although they are on again");
  }],
  ["letters typed into fields decide nothing", async ({ page, server }) => {
    const before = (await server.ask("/api/session")).counts;
    await page.locator("#f-text").fill("");
    await page.locator("#f-text").pressSequentially("kdax");
    await page.waitForTimeout(400);
    assert.deepEqual((await server.ask("/api/session")).counts, before);
    await page.locator("#f-text").fill("");
    await page.waitForTimeout(400);
    await settled(page);
  }],
  ["the Tab key alone reaches everything, and is seen", async ({ page }) => {
    await go(page, "state=all");
    await page.reload();
    await ready(page);
    const reached = new Set();
    for (let i = 0; i < 80; i++) {
      await page.keyboard.press("Tab");
      const on = await page.evaluate(() => {
        const e = document.activeElement, s = getComputedStyle(e), b = e.getBoundingClientRect();
        if (e === document.body) return null;
        return { name: e.id || e.dataset.act || e.dataset.page || e.dataset.value || e.classList[0] || e.tagName, seen: parseFloat(s.outlineWidth) >= 2 && s.outlineStyle !== "none", inside: b.width > 0 && b.bottom > 0 && b.top < innerHeight && b.right > 0 && b.left < innerWidth };
      });
      if (!on || reached.has(on.name) && on.name === "skip") break;
      assert.ok(on.seen, `${on.name}: its focus is not seen`);
      assert.ok(on.inside, `${on.name}: it has the focus outside of the window`);
      reached.add(on.name);
    }
    for (const name of ["skip", "undo", "export", "theme", "help", "f-class", "f-to", "f-kind", "f-above", "f-below", "f-text", "map-open", "undecided", "Next", "compact", "card", "keep", "drop", "accept", "choose", "unsure", "note", "similar", "f-state", "who"]) assert.ok(reached.has(name), `the Tab key does not reach ${name}: ${[...reached].join(" ")}`);
    const stops = await page.locator('.card button:not([tabindex="-1"]), .card input:not([tabindex="-1"])').count();
    assert.ok(stops <= 9, `${stops} stops within the cards: only the current one has any`);
  }],
  ["the theme can be chosen", async ({ page }) => {
    const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await paper();
    await page.locator("#theme").click();
    assert.equal(await paper(), light);
    await page.locator("#theme").click();
    assert.notEqual(await paper(), light);
    await page.reload();
    await ready(page);
    assert.notEqual(await paper(), light, "a reload keeps the theme");
    await page.locator("#theme").click();
    assert.equal(await paper(), light);
  }],
  ["every view in every window: axe, reflow, screenshot", async ({ browser, server, set, shots }) => {
    const bad = [];
    const each = async ([width, height, colorScheme]) => {
      const context = await browser.newContext({ viewport: { width, height }, colorScheme, reducedMotion: "reduce" });
      const visit = new Visit(context, server.origin), page = await visit.page();
      await page.goto(server.address);
      await ready(page);
      for (const [name, show] of Object.entries(views)) {
        const covered = !["list", "compact", "selected"].includes(name); // covered by a dialog: few cards suffice, and are faster
        await go(page, covered ? `state=all&offset=${set.rows - 6}` : "state=all");
        await page.locator(".card").nth(4).focus();
        await show(page);
        await pictures(page);
        const where = `${name}, ${width}×${height}, ${colorScheme}`;
        const check = checks[`${width} ${colorScheme}`];
        if (check?.views.includes(name)) bad.push(...(await accessible(page, check.rules)).map((words) => `${where}: ${words}`));
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${where}: it scrolls sideways`);
        await page.screenshot({ path: join(shots, `${width}x${height}-${colorScheme}-${name}.png`) });
        await page.keyboard.press("Escape");
        if (name === "similar") await page.waitForSelector("html[data-view=suspects]");
      }
      assert.equal(await page.evaluate(() => getComputedStyle(document.querySelector("button")).transitionDuration), "0s", "it moves although less motion is wanted");
      assert.deepEqual(await visit.found(page), []);
      await context.close();
    };
    const left = [...windows]; // two windows at a time, because each sometimes waits for the server
    await Promise.all([0, 1].map(async () => { while (left.length > 0) await each(left.shift()); }));
    assert.deepEqual(bad, []);
  }],
  ["axe sees a fault", async ({ page }) => {
    await page.evaluate(() => { const b = document.createElement("button"); b.id = "nameless"; document.querySelector("main").append(b); });
    assert.match((await accessible(page, ["button-name"])).join("\n"), /button-name/);
    await page.evaluate(() => document.getElementById("nameless").remove());
  }],
  ["320 pixels wide, nothing is lost", async ({ browser, server }) => {
    const context = await browser.newContext({ viewport: { width: 320, height: 640 } }), page = await new Visit(context, server.origin).page();
    await page.goto(server.address);
    await ready(page);
    for (const show of [views.list, views.large, views.similar, views.help]) {
      await page.locator(".card").first().focus();
      await show(page);
      const wide = await page.evaluate(() => [...document.querySelectorAll("button, input, select, h1, h2, p")].filter((e) => e.checkVisibility() && !e.closest(".skip, .scroll, .heat")).filter((e) => { const b = e.getBoundingClientRect(); return b.width > 0 && (b.right > innerWidth + 1 || b.left < -1); }).map((e) => `${e.tagName} ${e.id} ${e.textContent.slice(0, 30)}`));
      assert.deepEqual(wide, [], "cut off at the side");
      await page.keyboard.press("Escape");
      await page.waitForSelector("html[data-view=suspects]");
      await settled(page);
    }
    await context.close();
  }],
];
