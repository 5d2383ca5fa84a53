// Trainings in the studio: what runs, what it left, and what is started.

import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { accessible, ready, settled, Visit } from "./visit.mjs";
import { Server, winnow } from "./server.mjs";
import { go } from "./deciding.mjs";

const every = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
const windows = [[1280, 720, "light", every], [390, 844, "light", every], [1280, 720, "dark", ["color-contrast"]], [390, 844, "dark", ["color-contrast"]], [1920, 1080, "light", []]];

let server, context, visit, page, dir, set;

// looked goes through all windows: nothing is wider than them, axe finds nothing, and a picture is kept.
async function looked(name, shots, p = page, v = visit) {
  for (const [width, height, scheme, rules] of windows) {
    await p.setViewportSize({ width, height });
    await p.emulateMedia({ colorScheme: scheme });
    await p.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    const wide = await p.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(wide <= 0, `${name} is ${wide} pixels wider than ${width}`);
    if (rules.length) assert.deepEqual(await accessible(p, rules), [], `${name} at ${width}, ${scheme}`);
    await p.screenshot({ path: join(shots, `${name}-${width}-${scheme}.png`), fullPage: true });
  }
  await p.setViewportSize({ width: 1280, height: 720 });
  await p.emulateMedia({ colorScheme: "light" });
  assert.deepEqual(await v.found(p), []);
}

export const running = [
  ["runs: an audit is started where there is none, and its suspects are shown", async ({ browser, binary, set: small, shots }) => {
    set = small;
    dir = join(dirname(set.audit), "running");
    mkdirSync(dir, { recursive: true });
    winnow(binary, "train", "--manifest", set.manifest, "--features", set.features, "--out", join(dir, "watched"), "--screen", "none", "--epochs", "2");
    server = new Server(binary, { manifest: set.manifest, decisions: join(dir, "running.decisions.db"), out: join(dir, "fixed.csv") });
    server.command = "studio";
    server.cwd = dir;
    await server.start();
    context = await browser.newContext({ viewport: { width: 1280, height: 720 }, colorScheme: "light" });
    visit = new Visit(context, server.origin);
    page = await visit.page();
    await page.goto(server.address);
    await ready(page);
    await go(page, "view=suspects");
    const offer = page.locator("#lacking .offer");
    await offer.waitFor();
    assert.match(await offer.locator(".command").textContent(), /^winnow audit \S*noisy\.csv$/);
    await offer.locator("select").selectOption("glyphnet");
    assert.match(await offer.locator(".command").textContent(), /^winnow audit \S*noisy\.csv --model glyphnet$/);
    await looked("audit-offered", shots);
    await offer.locator("button[type=submit]").focus();
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => { const job = document.getElementById("job"); return job?.dataset.state === "done" || job?.dataset.state === "running" && job.offsetHeight > 0; });
    await page.waitForFunction(() => /[1-9]/.test(document.querySelector("#views [data-view=suspects] small")?.textContent), null, { timeout: 120_000 }); // the page loads itself again
    await ready(page);
    await page.waitForSelector(".card[data-id]");
    assert.equal((await server.ask("/api/session")).missing.audit, "");
    assert.deepEqual(await visit.found(page), []);
  }],
  ["runs: a training is started, seen and reported", async ({ shots }) => {
    await page.locator("body").focus();
    await page.locator("#views [data-view=runs]").click();
    await page.waitForFunction(() => /watched/.test(document.getElementById("run-list").textContent));
    const [view] = (await server.ask("/api/jobs")).offers;
    assert.equal(view.kind, "train");
    const offer = page.locator("#offers .offer");
    assert.equal(await offer.locator(".command").textContent(), view.command);
    assert.match(view.command, /^winnow train \S+noisy\.csv --features suspects\.features --out run$/);
    await offer.locator("button[type=submit]").click();
    await page.waitForFunction(() => [...document.querySelectorAll(".run-list .pick")].some((b) => /^run/.test(b.textContent)));
    await page.locator(".run-list .pick", { hasText: /^run/ }).click();
    await page.waitForFunction(() => document.getElementById("run-name")?.textContent === "run" && document.querySelector("#run .state.finished") !== null);
    await page.waitForSelector("#run .curve svg");
    assert.match(page.url(), /view=runs&run=/);
    await looked("runs", shots);
  }],
  ["runs: by the keyboard, and the state after a restart", async () => {
    await page.keyboard.press("1");
    await page.waitForSelector("html[data-view=data]");
    await settled(page);
    await page.keyboard.press(String((await page.locator("#views button").count())));
    await page.waitForSelector("html[data-view=runs]");
    await page.waitForSelector(".run-list .pick");
    await page.locator(".run-list .pick").first().focus();
    await page.keyboard.press("Enter");
    await page.waitForSelector("#run .curve svg");
    const before = await server.ask("/api/jobs");
    visit.excuse(/ERR_CONNECTION_REFUSED|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE/);
    await server.kill();
    await server.start();
    assert.deepEqual((await server.ask("/api/jobs")).job, before.job);
    assert.equal(before.job.state, "done");
    await page.waitForFunction(() => document.getElementById("lost").hidden);
    assert.deepEqual(await visit.found(page), []);
    await context.close();
    await server.kill();
  }],
];
