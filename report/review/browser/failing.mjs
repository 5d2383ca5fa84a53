// Steps about failures: two tabs at once, a killed server, a lost file; and about the exported manifest.

import assert from "node:assert/strict";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join, dirname } from "node:path";
import { ready, settled } from "./visit.mjs";
import { winnow } from "./server.mjs";
import { go, stand, stamp, action } from "./deciding.mjs";

const refused = [/ERR_CONNECTION_REFUSED|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE|ERR_INCOMPLETE|ERR_SOCKET_NOT_CONNECTED/];
// free returns n consecutive undecided images with better suggestions.
async function free(server, n) {
  const { rows } = await server.ask("/api/rows?state=undecided&limit=200");
  const at = rows.findIndex((r, i) => rows[i + n - 1]?.id === r.id + n - 1 && rows.slice(i, i + n).every((b) => n > 3 || b.suggested !== b.given));
  assert.ok(at >= 0, `no ${n} undecided images are left`);
  return rows.slice(at, at + n).map((r) => r.id);
}
const place = (id) => `state=all&offset=${id}&id=${id}`;

export const failing = [
  ["two tabs do not overwrite each other", async ({ page, visit, server }) => {
    visit.excuse(/status of 409/);
    const [one, two, three] = await free(server, 3), other = await visit.page();
    await other.goto(server.origin);
    await ready(other);
    await go(page, place(one));
    // The other tab receives no changes for a while, so that it decides with old versions.
    await other.route("**/api/changes*", (route) => route.fulfill({ json: { version: Number(new URL(route.request().url()).searchParams.get("since")), changed: [], more: false } }));
    await go(other, place(one));
    for (const [id, key, choice, result] of [[one, "k", "theirs", "keep"], [two, "d", "mine", "relabel"]]) {
      await stand(page, id);
      await page.keyboard.press(key);
      await settled(page);
      await stand(other, id);
      await other.keyboard.press("a");
      await other.waitForSelector("#conflict[open]");
      assert.match(await other.locator("#conflict .versus").textContent(), key === "k" ? /theirs: kept.*yours: relabelled/ : /theirs: dropped.*yours: relabelled/);
      assert.equal(await action(server, id), key === "k" ? "keep" : "drop", "it was overwritten before the question");
      await other.locator(`#conflict [data-choice=${choice}]`).click();
      await other.waitForFunction(() => !document.querySelector("#conflict[open]"));
      await settled(other);
      assert.equal(await action(server, id), result);
    }
    assert.equal(await stamp(other, one), "✓ kept");
    // The first tab receives the decision; the other tab receives it when it polls again.
    await page.waitForFunction((id) => document.querySelector(`.card[data-id="${id}"] .stamp`).textContent.startsWith("→"), two);
    await other.unroute("**/api/changes*");
    await stand(page, three);
    await page.keyboard.press("k");
    await other.waitForFunction((id) => document.querySelector(`.card[data-id="${id}"] .stamp`).textContent === "✓ kept", three);
    // Undo must not revert another tab's later decision: "two" was dropped here and then relabelled in the other tab.
    await page.keyboard.press("u");
    await page.waitForFunction((id) => document.querySelector(`.card[data-id="${id}"] .stamp`).textContent === "", three);
    await page.keyboard.press("u");
    await page.waitForFunction(() => document.getElementById("said").textContent.includes("another tab"));
    assert.equal(await action(server, two), "relabel");
    await other.close();
  }],
  ["a killed server: nothing acknowledged is lost, nothing unsaved looks saved", async ({ page, visit, server }) => {
    visit.excuse(...refused, /status of 409/); // a decision that was saved but whose response was lost is a conflict when it is sent again
    const ids = await free(server, 12), acknowledged = new Map();
    page.on("response", async (r) => {
      if (!r.url().endsWith("/api/decide") || r.status() !== 200) return;
      for (const d of (await r.json().catch(() => ({ applied: [] }))).applied) acknowledged.set(d.id, d.decision.action);
    });
    await go(page, place(ids[0]));
    await stand(page, ids[0]);
    for (let i = 0; i < 6; i++) await page.keyboard.press(i % 2 ? "d" : "k");
    await page.waitForFunction((id) => document.querySelector(`.card[data-id="${id}"] .stamp`).textContent === "✕ dropped", ids[1]);
    await server.kill("SIGKILL");
    for (let i = 6; i < 12; i++) await page.keyboard.press(i % 2 ? "d" : "k");
    await page.waitForSelector("#lost:not([hidden])");
    const shown = await page.evaluate((list) => list.map((id) => document.querySelector(`.card[data-id="${id}"] .stamp`).textContent), ids);
    ids.forEach((id, i) => assert.equal(shown[i], acknowledged.has(id) ? (i % 2 ? "✕ dropped" : "✓ kept") : "not saved yet", `number ${id + 1}`));
    assert.ok(shown.includes("not saved yet"));
    assert.match(await page.locator("#lost").textContent(), /not saved yet and will be sent/);
    await server.start();
    for (const [id, was] of acknowledged) assert.equal(await action(server, id), was, `number ${id + 1} was acknowledged`);
    await page.locator("#retry").click().catch(() => {}); // the page may have reconnected by itself
    await page.waitForSelector("#lost", { state: "hidden" });
    await settled(page);
    for (const [i, id] of ids.entries()) assert.equal(await action(server, id), i % 2 ? "drop" : "keep");
    await page.keyboard.press("u");
    await page.waitForFunction((id) => document.querySelector(`.card[data-id="${id}"] .stamp`).textContent === "", ids[11]);
  }],
  ["a lost answer is not decided twice", async ({ page, visit, server }) => {
    visit.excuse(/ERR_FAILED|ERR_ABORTED|status of 409/);
    const [id] = await free(server, 1), { version } = await server.row(id);
    await go(page, place(id));
    await stand(page, id);
    await page.route("**/api/decide", async (route) => { await route.fetch(); await route.abort("failed"); }, { times: 1 });
    await page.keyboard.press("k");
    await page.waitForFunction((i) => document.querySelector(`.card[data-id="${i}"] .stamp`).textContent === "✓ kept", id);
    assert.equal((await server.row(id)).version, version + 1);
    assert.ok(await page.locator("#conflict").isHidden());
  }],
  ["a file of decisions that is moved away: nothing looks saved, all can be downloaded", async ({ page, visit, server, set }) => {
    visit.excuse(/status of 503/, /ERR_FAILED/); // the console may report the lost response late
    const ids = await free(server, 3), away = `${set.decisions}.away`, before = (await server.ask("/api/session")).counts;
    await go(page, place(ids[0]));
    await stand(page, ids[0]);
    renameSync(set.decisions, away);
    for (const key of ["k", "d"]) await page.keyboard.press(key);
    await page.waitForFunction(() => /moved or removed.*2 steps of yours are not saved yet/.test(document.getElementById("lost").textContent)); // the banner may still show an earlier fault
    assert.ok(await page.locator("#lost").isVisible());
    for (const id of ids.slice(0, 2)) assert.equal(await stamp(page, id), "not saved yet");
    await page.keyboard.press("Enter");
    await page.waitForSelector("#focus[open]");
    assert.match(await page.locator("#focus [role=alert]").textContent(), /moved or removed.*2 steps/, "the large view hides it");
    await page.keyboard.press("Escape");
    assert.deepEqual((await server.ask("/api/session")).counts, before);
    const [download] = await Promise.all([page.waitForEvent("download"), page.locator("#lost-save").click()]);
    assert.ok(set.decisions.endsWith(download.suggestedFilename()), download.suggestedFilename());
    assert.ok(readFileSync(await download.path()).subarray(0, 15).equals(Buffer.from("SQLite format 3")));
    renameSync(away, set.decisions);
    await page.locator("#retry").click().catch(() => {}); // the page may have retried by itself
    await page.waitForSelector("#lost", { state: "hidden" });
    await settled(page);
    assert.deepEqual([await action(server, ids[0]), await action(server, ids[1]), await action(server, ids[2])], ["keep", "drop", "undecided"]);
  }],
  ["a server that reviews another audit is told nothing about this one's images", async ({ page, visit, server, set }) => {
    visit.excuse(...refused, /status of 412/);
    const [id] = await free(server, 1), other = join(dirname(set.audit), "other.csv");
    await go(page, place(id));
    await stand(page, id);
    await server.kill();
    await page.keyboard.press("k");
    await page.waitForSelector("#lost:not([hidden])");
    writeFileSync(other, `${readFileSync(set.audit, "utf8").trimEnd().split("\n").slice(0, -1).join("\n")}\n`);
    server.set = { ...set, audit: other };
    await server.start();
    await page.waitForFunction(() => document.getElementById("lost").textContent.includes("serves another audit"));
    assert.equal(await action(server, id), "undecided");
    assert.equal(await stamp(page, id), "not saved yet");
    await server.kill();
    server.set = set;
    await server.start();
    await page.waitForSelector("#lost", { state: "hidden" });
    await settled(page);
    assert.equal(await action(server, id), "keep");
    // Without unsaved decisions, the page reloads itself.
    await server.kill();
    server.set = { ...set, audit: other };
    await server.start();
    await page.waitForFunction((n) => document.getElementById("meter")?.getAttribute("aria-label")?.endsWith(` of ${n}`), set.rows - 1);
    await server.kill();
    server.set = set;
    await server.start();
    await page.waitForFunction((n) => document.getElementById("meter")?.getAttribute("aria-label")?.endsWith(` of ${n}`), set.rows);
    await ready(page);
  }],
  ["export, and winnow takes it", async ({ page, server, set, binary }) => {
    const before = readFileSync(set.manifest, "utf8").trimEnd().split("\n");
    await page.locator("#export").click();
    await page.getByRole("button", { name: "Write the file" }).click();
    await page.waitForSelector("#exported dl");
    assert.ok((await page.locator("#exported .good").textContent()).includes("fixed.csv"));
    const { counts } = await server.ask("/api/session"), after = readFileSync(set.out, "utf8").trimEnd().split("\n");
    assert.ok(counts.drop > 0 && counts.relabel > 0);
    assert.equal(after[0], before[0], "the manifest's own columns");
    assert.equal(after.length, before.length - counts.drop);
    const kept = new Set(before);
    assert.equal(after.filter((line) => !kept.has(line)).length, counts.relabel, "only relabelled rows changed");
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: "Download" }).click()]);
    assert.equal(readFileSync(await download.path(), "utf8"), readFileSync(set.out, "utf8"));
    await page.keyboard.press("Escape");
    const run = join(dirname(set.out), "run");
    winnow(binary, "data", "check", set.out, "--root", set.images);
    winnow(binary, "train", "--manifest", set.out, "--root", set.images, "--features", set.features, "--out", run, "--epochs", "1");
  }],
];
