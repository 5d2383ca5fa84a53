// Steps about collecting images in the studio by search. All steps share one server and one browser page.

import assert from "node:assert/strict";
import { join } from "node:path";
import { accessible, ready, settled, Visit } from "./visit.mjs";
import { Server } from "./server.mjs";
import { go } from "./deciding.mjs";
import { makeStudio } from "./studio.mjs";

const every = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
const windows = [[1280, 720, "light", every], [390, 844, "light", every], [1280, 720, "dark", ["color-contrast"]], [390, 844, "dark", ["color-contrast"]], [1920, 1080, "light", []]];
let server, context, visit, page, set, files;
const rowOf = async (id) => (await server.ask(`/api/rows?scope=all&state=all&offset=${id}&limit=1&sort=suspect`)).rows[0];
const outcome = async (id) => (await rowOf(id)).decision?.action ?? "undecided";
const ids = () => page.evaluate(() => [...document.querySelectorAll("#grid article")].map((a) => Number(a.dataset.id)));
const said = (pattern) => page.waitForFunction((p) => new RegExp(p).test(document.getElementById("said").textContent), pattern);
const found = () => page.waitForSelector("#asked b");

export const gathering = [
  ["gathering: search by a path that is typed, and decide about what is found", async ({ browser, binary, set: small }) => {
    set = makeStudio(small, "gathering");
    files = small.images;
    server = new Server(binary, set, ["--root", small.images]);
    await server.start();
    context = await browser.newContext({ viewport: { width: 1280, height: 720 }, colorScheme: "light" });
    visit = new Visit(context, server.origin);
    page = await visit.page();
    await page.goto(server.address);
    await ready(page);
    await page.keyboard.press("5");
    await page.waitForSelector("html[data-view=search]");
    const wanted = await rowOf(7), part = wanted.path.split("/").at(-1);
    await page.locator("#s-path").fill(part);
    await page.waitForFunction((p) => [...document.querySelectorAll("#s-path-list [role=option]")].some((o) => o.textContent.startsWith(p)), wanted.path);
    for (let i = 0; i < 30 && !(await page.locator("#s-path-list [aria-selected=true]").textContent()).startsWith(wanted.path); i++) await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await found();
    assert.ok((await page.locator("#asked").textContent()).includes(wanted.path));
    const { rows } = await server.ask(`/api/similar?key=${wanted.key}&n=120`), list = await ids();
    assert.deepEqual(list, rows.map((r) => r.id));
    assert.ok(!list.includes(wanted.id), "an image finds itself");
    const other = rows.filter((r) => r.given !== wanted.given).length;
    assert.equal(await page.locator(".similarity[data-same=false]").count(), other);
    assert.match(await page.locator(".tile .similarity").first().textContent(), /^\d\.\d{3} (same|other) label$/);
    await page.getByRole("button", { name: /with another label$/ }).click();
    assert.match(await page.locator("#picked").textContent(), new RegExp(`^${other} images selected`));
    await page.keyboard.press("Escape");
    await page.locator(".tile").nth(1).focus();
    await page.keyboard.press("d");
    await settled(page);
    assert.equal(await outcome(list[1]), "drop");
    assert.equal(await page.locator(".tile[aria-current=true]").getAttribute("data-id"), String(list[2]), "the next one is current");
    await page.keyboard.press("u");
    await said("Undone");
    await page.reload();
    await ready(page);
    await found();
    assert.deepEqual(await ids(), list, "a reload keeps the search");
    assert.deepEqual(await visit.found(page), []);
  }],
  ["gathering: search by a card, by a selection's centre, by a lasso, by a file; and back", async () => {
    await go(page, "view=data");
    const list = await ids(), rows = await Promise.all(list.slice(3, 6).map(rowOf));
    await page.locator(".tile").nth(3).hover();
    await page.locator(".tile .sign").nth(3).click();
    await found();
    assert.ok((await page.locator("#asked").textContent()).includes(rows[0].path));
    await page.keyboard.press("Escape");
    await page.waitForSelector("html[data-view=data]");
    await settled(page);
    await page.locator(".tile").nth(3).focus();
    await page.keyboard.press("Shift+ArrowRight");
    await page.keyboard.press("Shift+ArrowRight");
    await page.keyboard.press("s");
    await found();
    assert.match(await page.locator("#asked").textContent(), /the centre of 3 images/);
    const centre = await ids();
    assert.ok(rows.every((r) => !centre.includes(r.id)), "the selection is among the results");
    await page.keyboard.press("Escape");
    await page.waitForSelector("html[data-view=data]");
    await page.keyboard.press("4");
    await page.waitForFunction(() => Number(document.getElementById("points").dataset.drawn) > 0);
    const box = await page.locator("#points").boundingBox(), to = (x, y) => [box.x + box.width / 2 + x, box.y + box.height / 2 + y];
    await page.mouse.move(...to(-50, -50));
    await page.mouse.down();
    for (const corner of [[50, -50], [50, 50], [-50, 50], [-50, -49]]) await page.mouse.move(...to(...corner), { steps: 5 });
    await page.mouse.up();
    await page.locator("#lassoed").getByRole("button", { name: "Similar" }).click();
    await found();
    assert.match(await page.locator("#asked").textContent(), /the centre of \d+ images/);
    await page.locator("#file").setInputFiles(join(files, rows[0].path));
    await page.waitForFunction((p) => document.querySelector(".tile")?.title === p && document.querySelector(".similarity .num").textContent === "1.000", rows[0].path);
    assert.match(await page.locator("#asked").textContent(), new RegExp(`Nearest to ${rows[0].path.split("/").at(-1)}`));
    await page.reload();
    await ready(page);
    assert.match(await page.locator("#asked").textContent(), /no longer available/);
    assert.deepEqual(await visit.found(page), []);
  }],
  ["gathering: search in every window: axe, reflow, screenshot", async ({ browser, shots }) => {
    const bad = [], { key } = await rowOf(9);
    for (const [width, height, colorScheme, rules] of windows) {
      const shown = await browser.newContext({ viewport: { width, height }, colorScheme, reducedMotion: "reduce" }), look = new Visit(shown, server.origin), p = await look.page();
      await p.goto(server.address);
      await ready(p);
      for (const [name, place] of Object.entries({ begin: "view=search", search: `view=search&like=${key}` })) {
        await go(p, place);
        if (name === "search") await p.waitForSelector("#asked b");
        await p.waitForFunction(() => [...document.images].filter((i) => { const b = i.getBoundingClientRect(); return b.width > 0 && b.bottom > 0 && b.top < innerHeight; }).every((i) => i.complete));
        const where = `${name}, ${width}×${height}, ${colorScheme}`;
        if (rules.length) bad.push(...(await accessible(p, rules)).map((words) => `${where}: ${words}`));
        if (!await p.evaluate(() => document.documentElement.scrollWidth <= innerWidth)) bad.push(`${where}: it scrolls sideways`);
        await p.screenshot({ path: join(shots, `${width}x${height}-${colorScheme}-studio-${name}.png`) });
      }
      bad.push(...await look.found(p));
      await shown.close();
    }
    await context.close();
    await server.kill();
    assert.deepEqual(bad, []);
  }],
];
