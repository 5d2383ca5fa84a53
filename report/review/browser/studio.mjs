// Steps about the views other than Suspects: all images, findings and the map, by mouse and by keyboard, at every width.

import assert from "node:assert/strict";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { accessible, ready, settled, Visit } from "./visit.mjs";
import { Server, hostile, quote } from "./server.mjs";
import { go } from "./deciding.mjs";

const every = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
const windows = [[1280, 720, "light", every], [390, 844, "light", every], [1280, 720, "dark", ["color-contrast"]], [390, 844, "dark", ["color-contrast"]], [1920, 1080, "light", []]];
const places = { data: "view=data", suspects: "view=suspects", copies: "view=findings&find=copies", leaks: "view=findings&find=leaks", outliers: "view=findings&find=outliers", problems: "view=findings&find=problems", map: "view=map" };

// cells parses a CSV file without line breaks in cells.
function cells(text) {
  return text.trimEnd().split("\n").map((line) => [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map((m) => (m[1] === undefined ? m[2] : m[1].replaceAll('""', '"'))));
}

// makeStudio writes an audit of all images of a set, with findings of every kind, to a new folder.
export function makeStudio(set, name = "studio") {
  const dir = join(dirname(set.audit), name);
  mkdirSync(dir, { recursive: true });
  const [head, ...rows] = cells(readFileSync(set.audit, "utf8")), [names, ...images] = cells(readFileSync(set.manifest, "utf8")), at = (name) => head.indexOf(name);
  for (const row of rows) row[at("copy_group")] = row[at("problems")] = row[at("problems_why")] = "";
  const of = (row) => row[at("given_label")], first = rows[5], other = rows.find((r) => of(r) !== of(first)), like = rows.filter((r) => of(r) === of(rows[9]) && r !== first && r !== other).slice(0, 3);
  for (const row of [first, other]) row[at("copy_group")] = "1";
  for (const row of like) row[at("copy_group")] = "2";
  first[at("copy_verdict")] = "right";
  other[at("copy_verdict")] = "wrong";
  for (const row of rows.slice(40, 70)) row[at("outlier")] = "true";
  for (const row of rows.slice(20, 23)) { row[at("problems")] = "dark"; row[at("problems_why")] = "as night"; }
  // A leak: one duplicate of the second group is moved to the test split.
  const split = names.indexOf("split"), path = names.indexOf("path"), moved = images.find((row) => row[path] === like[0][at("path")]);
  moved[split] = "test";
  const write = (name, list) => { const file = join(dir, name); writeFileSync(file, list.map((row) => row.map(quote).join(",")).join("\n") + "\n"); return file; };
  return { ...set, audit: write("suspects.csv", [head, ...rows]), manifest: write("studio.csv", [names, ...images]), decisions: join(dir, "studio.decisions.db"), out: join(dir, "fixed.csv"), images: images.length, dir };
}

let server, context, visit, page, set;
const outcome = async (id) => { const { decision } = (await server.ask(`/api/rows?scope=all&state=all&offset=${id}&limit=1&sort=suspect`)).rows[0]; return decision ? `${decision.action} ${decision.label}`.trim() : "undecided"; };
const ids = () => page.evaluate(() => [...document.querySelectorAll("#grid article")].map((a) => Number(a.dataset.id)));
const said = (pattern) => page.waitForFunction((p) => new RegExp(p).test(document.getElementById("said").textContent), pattern);
// mapped waits until the map is computed and drawn.
const mapped = () => page.waitForFunction(() => Number(document.getElementById("points").dataset.drawn) > 0 && /image/.test(document.getElementById("plane-words").textContent));

export const studio = [
  ["studio: it opens at the suspects, and the key 1 shows all images", async ({ browser, binary, set: small }) => {
    set = makeStudio(small);
    server = new Server(binary, set, ["--root", small.images]);
    await server.start();
    context = await browser.newContext({ viewport: { width: 1280, height: 720 }, colorScheme: "light" });
    visit = new Visit(context, server.origin);
    page = await visit.page();
    await page.goto(server.address);
    await ready(page);
    assert.match(await page.locator("#views [aria-current]").textContent(), /^Suspects/);
    await page.keyboard.press("1");
    await page.waitForSelector("html[data-view=data]");
    assert.equal(await page.locator("#views [aria-current]").textContent(), `Data${set.images}`);
    assert.equal(await page.locator("#found").textContent(), `${set.images} images`);
    assert.equal(await page.locator(".tile").count(), 120);
    await page.waitForFunction(() => [...document.querySelectorAll(".tile img")].slice(0, 8).every((i) => i.naturalWidth > 0));
    assert.match(await page.locator("#reading summary").textContent(), new RegExp(`${set.images} images in 24 classes`));
    assert.equal(await page.locator("#first-head").textContent(), "Three things to try");
    for (const view of ["suspects", "findings", "map"]) {
      await page.locator("#first").getByRole("button", { name: view[0].toUpperCase() + view.slice(1) }).click();
      await page.waitForFunction((name) => document.documentElement.dataset.view === name && document.getElementById("first").hidden, view);
      await page.goBack();
      await page.locator("#first").waitFor();
    }
    await page.locator("#first").getByRole("button", { name: "Close" }).click();
    assert.equal(await page.locator("#first").isVisible(), false);
    await page.reload();
    await ready(page);
    assert.equal(await page.locator("#first").isVisible(), false, "what was closed is back");
    assert.deepEqual(await visit.found(page), []);
  }],
  ["studio: classes, splits and paths choose", async () => {
    const { classes, splits } = await server.ask("/api/session"), c = classes.filter((k) => k.images > 0)[1];
    await page.locator("#class-list button").nth(1).click();
    await settled(page);
    assert.equal(await page.locator("#found").textContent(), `${c.images} images`);
    assert.equal(await page.locator("#class-list [aria-pressed=true]").count(), 1);
    await page.locator("#class-list button").nth(1).click();
    await settled(page);
    const test = splits.find((s) => s.name === "test");
    await page.locator("#f-split").selectOption("test");
    await settled(page);
    assert.equal(await page.locator("#found").textContent(), `${test.images} images`);
    assert.match(page.url(), /split=test/);
    await page.locator("#clear").click();
    await settled(page);
    await page.locator("#class-find").fill("nothing is called so");
    assert.match(await page.locator("#class-list").textContent(), /no such class/);
    await page.locator("#class-find").fill("");
    await page.locator("#f-sort").selectOption("suspect");
    await settled(page);
    assert.deepEqual((await ids()).slice(0, 5), [0, 1, 2, 3, 4]);
    assert.deepEqual(await visit.found(page), []);
  }],
  ["studio: many at once, by Ctrl, Shift and the keyboard", async () => {
    const list = await ids(), face = (i) => page.locator(".tile .face").nth(i);
    await face(2).click({ modifiers: ["Control"] });
    await face(4).click({ modifiers: ["Control"] });
    assert.match(await page.locator("#picked").textContent(), /2 images selected/);
    await page.keyboard.press("d");
    await said("2 images dropped");
    assert.deepEqual([await outcome(list[2]), await outcome(list[3]), await outcome(list[4])], ["drop", "undecided", "drop"]);
    await page.locator(`.tile[data-id="${list[6]}"]`).focus();
    await face(9).click({ modifiers: ["Shift"] });
    assert.match(await page.locator("#picked").textContent(), /4 images selected/);
    await page.keyboard.press("l");
    await page.waitForSelector("#chooser[open]");
    const label = (await server.ask("/api/session")).classes[0].name;
    await page.keyboard.type(label);
    await page.keyboard.press("Enter");
    await said("4 (images|labels)");
    for (const id of list.slice(6, 10)) assert.match(await outcome(id), /^(relabel|keep)/);
    await page.keyboard.press("u");
    await said("Undone");
    await page.keyboard.press("u");
    await page.waitForFunction(() => document.querySelectorAll(".tile .stamp:not(:empty)").length === 0);
    assert.equal(await outcome(list[2]), "undecided");
    await page.keyboard.press("Enter");
    await page.waitForSelector("#focus[open]");
    await page.keyboard.press("Escape");
    assert.deepEqual(await visit.found(page), []);
  }],
  ["studio: all that match, also on other pages, with one undo", async () => {
    await go(page, "view=data&split=train");
    const train = (await server.ask("/api/session")).splits.find((s) => s.name === "train").images;
    assert.ok(train > 120, "it fits on one page");
    await page.keyboard.press("x");
    await page.getByRole("button", { name: "Select all on this page" }).click();
    assert.match(await page.locator("#picked").textContent(), /120 images selected/);
    await page.getByRole("button", { name: /that match$/ }).click();
    await page.waitForFunction((n) => document.getElementById("picked").textContent.startsWith(`${n} images selected`), train);
    await page.locator(".tile").first().focus();
    await page.keyboard.press("q");
    await said(`${train} images unsure`);
    assert.equal((await server.ask("/api/session")).whole.unsure, train);
    await page.keyboard.press("u");
    await said("Undone");
    assert.equal((await server.ask("/api/session")).whole.unsure, 0);
    await go(page, "view=data");
    await settled(page);
    assert.deepEqual(await visit.found(page), []);
  }],
  ["studio: an image that the audit does not have is decided and exported", async () => {
    const { total, images } = await server.ask("/api/session");
    assert.ok(images > total, "the audit has all images: nothing is tested");
    const [row] = (await server.ask(`/api/rows?scope=all&state=all&offset=${total}&limit=1`)).rows;
    assert.equal(row.audited, false);
    await go(page, new URLSearchParams({ view: "data", text: row.path }).toString());
    await page.locator(".tile").first().focus();
    await page.keyboard.press("d");
    await settled(page);
    assert.equal(await outcome(row.id), "drop");
    await page.locator("#export").click();
    await page.locator("#exported .primary").click();
    await page.waitForSelector("#exported .good");
    assert.ok(!readFileSync(set.out, "utf8").includes(`${row.path},`));
    await page.keyboard.press("Escape");
    await page.keyboard.press("u");
    await said("Undone");
    assert.deepEqual(await visit.found(page), []);
  }],
  ["studio: a click decides a group of findings", async () => {
    await page.keyboard.press("3");
    await settled(page);
    assert.equal(await page.locator("#views [aria-current]").getAttribute("data-view"), "findings");
    assert.equal(await page.locator("#found").textContent(), "2 groups");
    const group = page.locator(".group").first(), list = await group.locator("article").evaluateAll((all) => all.map((a) => Number(a.dataset.id)));
    assert.match(await group.locator("h3").textContent(), /2 duplicates; different labels/);
    const rows = await Promise.all(list.map((id) => server.ask(`/api/rows?scope=all&state=all&offset=${id}&limit=1&sort=suspect`).then((a) => a.rows[0])));
    const right = rows.find((r) => r.verdict === "right").given;
    await group.getByRole("button", { name: /^All are/ }).click();
    await said("2 images");
    assert.deepEqual((await Promise.all(list.map(outcome))).sort(), ["keep", `relabel ${right}`]);
    await page.keyboard.press("u");
    await said("Undone");
    assert.deepEqual(await Promise.all(list.map(outcome)), ["undecided", "undecided"]);
    await page.locator("#finds [data-value=leaks]").click();
    await settled(page);
    assert.equal(await page.locator(".group").count(), 1);
    await page.getByRole("button", { name: "Drop from test" }).click();
    await said("dropped");
    const leak = (await server.ask("/api/findings?kind=leaks")).groups[0].rows;
    for (const r of leak) assert.equal(await outcome(r.id), r.split === "test" ? "drop" : "undecided", r.path);
    await page.keyboard.press("u");
    await said("Undone");
    await page.locator("#finds [data-value=outliers]").click();
    await settled(page);
    assert.equal(await page.locator(".group").count(), 2, "30 outliers");
    // Keyboard: G selects the group, K keeps its images.
    await page.locator(".tile").first().focus();
    await page.keyboard.press("g");
    assert.match(await page.locator("#picked").textContent(), /24 images selected/);
    await page.keyboard.press("k");
    await said("24 images kept");
    await page.keyboard.press("u");
    await said("Undone");
    await page.locator("#finds [data-value=problems]").click();
    await settled(page);
    assert.match(await page.locator(".group").textContent(), /3 images: dark.*dark: as night/s);
    assert.deepEqual(await visit.found(page), []);
  }],
  ["studio: the map, a lasso, and its images in the grid", async () => {
    await page.keyboard.press("4");
    await mapped();
    assert.match(await page.locator("#plane-words").textContent(), new RegExp(`${set.images} images, principal components`));
    const box = await page.locator("#points").boundingBox(), to = (x, y) => [box.x + box.width / 2 + x, box.y + box.height / 2 + y];
    await page.mouse.move(...to(-60, -60));
    await page.mouse.down();
    for (const corner of [[60, -60], [60, 60], [-60, 60], [-60, -59]]) await page.mouse.move(...to(...corner), { steps: 5 });
    await page.mouse.up();
    const n = Number((await page.locator("#lassoed b").textContent()).match(/^\d+/)[0]);
    assert.ok(n > 3 && n < set.images, `${n} images in the lasso`);
    const whole = (await server.ask("/api/session")).whole.drop;
    await page.keyboard.press("d");
    await said("dropped");
    assert.equal((await server.ask("/api/session")).whole.drop, whole + n);
    await page.locator("#colours").selectOption("action");
    assert.match(await page.locator("#key").textContent(), new RegExp(`dropped${n}`));
    await page.keyboard.press("Escape");
    await page.locator("#arrange").focus();
    await page.keyboard.press("u");
    await said("Undone");
    assert.doesNotMatch(await page.locator("#key").textContent(), /dropped/);
    await page.locator("#colours").selectOption("class");
    await page.mouse.move(...to(-60, -60));
    await page.mouse.down();
    for (const corner of [[60, -60], [60, 60], [-60, 60], [-60, -59]]) await page.mouse.move(...to(...corner), { steps: 5 });
    await page.mouse.up();
    await page.getByRole("button", { name: "Show them in Data" }).click();
    await settled(page);
    assert.equal(await page.locator("#found").textContent(), `${n} images`);
    await page.reload();
    await ready(page);
    assert.equal(await page.locator("#found").textContent(), `${n} images`, "a reload keeps the lasso");
    await page.locator("#inside").click();
    await settled(page);
    assert.equal(await page.locator("#found").textContent(), `${set.images} images`);
    assert.deepEqual(await visit.found(page), []);
  }],
  ["studio: the map by the keyboard, and t-SNE", async () => {
    await page.keyboard.press("4");
    await mapped();
    await page.locator("#points").focus();
    await page.keyboard.press("ArrowRight");
    await page.waitForSelector("#tip:not([hidden])");
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("+");
    await page.keyboard.press("Enter");
    await page.waitForSelector("#focus[open]");
    await page.keyboard.press("Escape");
    await page.locator("#arrange").click();
    await page.waitForFunction(() => /t-SNE (runs|compares)|by similarity/.test(document.getElementById("plane-words").textContent));
    await page.waitForFunction(() => /by similarity/.test(document.getElementById("plane-words").textContent), undefined, { timeout: 120_000 });
    assert.deepEqual(await visit.found(page), []);
  }],
  ["studio: what is missing is named with its command", async ({ browser, binary, set: small }) => {
    const dir = join(set.dir, "bare");
    mkdirSync(dir, { recursive: true });
    const manifest = join(dir, "bare.csv"); // suspects.csv next to the other manifest would be used
    writeFileSync(manifest, readFileSync(set.manifest));
    const bare = new Server(binary, { ...set, manifest, audit: "", features: "", decisions: join(dir, "bare.decisions.db") }, ["--root", small.images]);
    await bare.start();
    try {
      const other = await browser.newContext({ viewport: { width: 1280, height: 720 } }), look = new Visit(other, bare.origin), p = await look.page();
      await p.goto(bare.address);
      await ready(p);
      assert.equal(await p.locator("#found").textContent(), `${set.images} images`);
      for (const key of ["2", "3", "4", "5"]) {
        await p.keyboard.press(key);
        await p.waitForSelector("#lacking:not([hidden])");
        assert.match(await p.locator("#job code").textContent(), /^winnow audit .*bare\.csv/);
        assert.deepEqual(await accessible(p, ["wcag2a", "wcag2aa"]), []);
      }
      await p.keyboard.press("1");
      await p.locator(".tile").first().focus();
      await p.keyboard.press("k");
      await p.waitForFunction(() => document.querySelector("#progress").textContent.startsWith("1 of"));
      assert.deepEqual(await look.found(p), []);
      await other.close();
    } finally {
      await bare.kill();
    }
  }],
  ["studio: without a network it is fetched from the page; its failure says what to do", async ({ browser, binary, shots, set: small }) => {
    const dir = join(set.dir, "photos"), gone = "http://127.0.0.1:9";
    for (const name of ["cat", "dog"]) mkdirSync(join(dir, name), { recursive: true });
    for (const [i, image] of readdirSync(small.images, { recursive: true }).filter((f) => f.endsWith(".png")).slice(0, 4).entries()) copyFileSync(join(small.images, image), join(dir, ["cat", "dog"][i % 2], `${i}.png`));
    const bare = new Server(binary, { manifest: dir, decisions: join(set.dir, "photos.db"), out: join(set.dir, "photos-fixed.csv") }, [], { WINNOW_MODELS: join(set.dir, "none", "models.json"), WINNOW_MODEL_DIRS: "", HTTPS_PROXY: gone, https_proxy: gone, NO_PROXY: "", no_proxy: "" });
    bare.cwd = set.dir;
    await bare.start();
    const other = await browser.newContext({ viewport: { width: 1280, height: 720 } }), look = new Visit(other, bare.origin), p = await look.page();
    try {
      await p.goto(bare.address);
      await ready(p);
      assert.ok(await p.getByRole("button", { name: "Find wrong labels" }).isDisabled(), "an audit without a network");
      await p.screenshot({ path: join(shots, "1280x720-light-studio-bare.png") });
      await p.getByRole("button", { name: "Get a network (14 MB)" }).click();
      await p.getByRole("alert").locator("pre").waitFor();
      const words = await p.getByRole("alert").filter({ has: p.locator("pre") }).textContent();
      assert.match(words, /could not be downloaded.*online, then try again/s);
      assert.doesNotMatch(words, /winnow models|--from/, "advice for a terminal");
      assert.deepEqual(await accessible(p, every), []);
      await p.screenshot({ path: join(shots, "1280x720-light-studio-failed.png") });
      await p.getByRole("button", { name: "Try again: Get a network" }).waitFor();
      assert.deepEqual(await look.found(p), []);
    } finally {
      await other.close();
      await bare.kill();
    }
  }],
  ["studio: wrong labels are found from the page, and the suspects open", async ({ browser, binary, shots, set: small }) => {
    const dir = join(set.dir, "found"), manifest = join(dir, "found.csv"), taken = join(dir, "suspects.html");
    mkdirSync(dir, { recursive: true });
    const drawn = cells(readFileSync(set.manifest, "utf8")).filter((row) => !row.includes(hostile)); // drawn characters only: their network is built in
    writeFileSync(manifest, drawn.map((row) => row.map(quote).join(",")).join("\n") + "\n");
    writeFileSync(taken, "mine"); // of another audit: it stays
    const found = new Server(binary, { manifest, decisions: join(dir, "found.db"), out: join(dir, "fixed.csv") }, ["--root", small.images], { WINNOW_MODELS: join(set.dir, "none", "models.json"), WINNOW_MODEL_DIRS: "" });
    found.cwd = dir;
    await found.start();
    const other = await browser.newContext({ viewport: { width: 1280, height: 720 } }), look = new Visit(other, found.origin), p = await look.page();
    try {
      await p.goto(found.address);
      await ready(p);
      await p.locator(".tile").first().focus();
      await p.keyboard.press("d"); // a decision made before the audit stays
      await settled(p);
      await p.getByRole("button", { name: "Find wrong labels" }).click();
      await p.waitForSelector("#job[data-state=running]");
      assert.match(await p.locator("#job").textContent(), /^Finding wrong labels…Stop/);
      assert.equal((await p.request.post(`${found.origin}/api/job/change`, { data: { start: "audit" }, headers: { Origin: found.origin } })).status(), 409);
      await p.keyboard.press("2");
      await p.waitForSelector("html[data-view=suspects]");
      assert.ok(await p.locator("#job").isVisible(), "no progress in this view");
      await p.screenshot({ path: join(shots, "1280x720-light-studio-running.png") });
      const again = p.getByRole("button", { name: "Continue: Find wrong labels" });
      await p.getByRole("button", { name: "Stop" }).click({ timeout: 2_000 }).catch(() => {}); // a fast machine has ended the audit before
      await p.waitForFunction(() => document.querySelector("#job")?.dataset.state !== "running");
      if (await again.isVisible()) await again.click();
      await p.waitForFunction(() => /^Suspects\d/.test(document.querySelector("#views [aria-current]")?.textContent), undefined, { timeout: 120_000 });
      await ready(p);
      assert.ok(await p.locator("#job").isHidden());
      assert.equal((await found.ask("/api/session")).whole.drop, 1);
      assert.match((await found.ask("/api/session")).audit, /found-suspects\.csv$/);
      assert.equal(readFileSync(taken, "utf8"), "mine");
      assert.deepEqual(await look.found(p), []);
    } finally {
      await other.close();
      await found.kill();
    }
  }],
  ["studio: every view in every window: axe, reflow, screenshot", async ({ browser, shots }) => {
    const bad = [];
    for (const [width, height, colorScheme, rules] of windows) {
      const shown = await browser.newContext({ viewport: { width, height }, colorScheme, reducedMotion: "reduce" }), look = new Visit(shown, server.origin), p = await look.page();
      await p.goto(server.address);
      await ready(p);
      for (const [name, place] of Object.entries(places)) {
        await go(p, place);
        if (name === "map") await p.waitForFunction(() => Number(document.getElementById("points").dataset.drawn) > 0);
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
