// Steps about deciding by keyboard: keep, drop, accept, another label, several at once, and undo of each.

import assert from "node:assert/strict";
import { ready, settled } from "./visit.mjs";
import { hostile, readable } from "./server.mjs";

export const at = (page, id) => page.locator(`.card[data-id="${id}"]`);
export const stamp = async (page, id) => (await at(page, id).locator(".stamp").textContent()).trim();
export const action = async (server, id) => (await server.row(id)).decision?.action ?? "undecided";
export const current = (page) => page.evaluate(() => Number(document.querySelector(".card[aria-current]")?.dataset.id ?? -1));
export async function go(page, hash) {
  await page.evaluate((h) => { location.hash = h; }, hash);
  await page.waitForTimeout(30);
  await settled(page);
}
// stand moves the keyboard focus to an image of the current page.
export async function stand(page, id) {
  await at(page, id).focus();
  assert.equal(await current(page), id);
}

export const deciding = [
  ["the page loads", async ({ page, set, server }) => {
    const cards = await page.locator(".card").count();
    assert.equal(cards, Math.min(24, set.rows));
    assert.ok(await page.evaluate(() => document.querySelectorAll("article").length <= 60));
    assert.match(await page.title(), /suspects\.csv – winnow studio/);
    const headers = (await fetch(server.origin, { headers: { Authorization: "Bearer 0123456789abcdef0123456789abcdef" } })).headers;
    const policy = headers.get("content-security-policy");
    for (const part of ["default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'"]) assert.ok(policy.includes(part), `${part} is missing in ${policy}`);
    assert.ok(!policy.includes("unsafe"), policy);
    await page.waitForFunction(() => [...document.querySelectorAll(".card .face img")].slice(0, 4).every((i) => i.naturalWidth > 0));
  }],
  ["the guards of this test see what they guard against", async ({ page, visit }) => {
    await page.evaluate(() => { document.body.append(Object.assign(document.createElement("div"), { id: "spoiled" })); document.getElementById("spoiled").setAttribute("style", "color:red"); fetch("http://127.0.0.1:9/x").catch(() => {}); });
    await page.waitForTimeout(100);
    const faults = (await visit.found(page)).join("\n");
    assert.match(faults, /style-src/);
    assert.match(faults, /connect-src|leaves the origin/);
    await page.evaluate(() => document.getElementById("spoiled").remove());
    visit.excuse(/Content Security Policy|Refused/);
  }],
  ["hostile names are text", async ({ page }) => {
    await go(page, new URLSearchParams({ class: hostile, state: "all" }).toString());
    assert.ok(await page.locator(".card").count() > 0, "no image has the hostile label");
    assert.equal((await page.locator(".card .given .label b").first().textContent()), hostile);
    assert.equal(await page.evaluate(() => window.harmed), undefined);
    await go(page, "state=all&text=b%23c");
    assert.equal(await page.locator(".card").count(), 1);
    await page.waitForFunction(() => document.querySelector(".card .face img")?.naturalWidth > 0);
    await go(page, "");
  }],
  ["keep, drop and accept by keyboard", async ({ page, server }) => {
    await stand(page, 0);
    for (const key of ["k", "d", "a"]) { await page.keyboard.press(key); await settled(page); }
    assert.deepEqual([await stamp(page, 0), await stamp(page, 1)], ["✓ kept", "✕ dropped"]);
    assert.match(await stamp(page, 2), /^→ /);
    assert.equal(await current(page), 3, "it goes on to the next image");
    assert.deepEqual([await action(server, 0), await action(server, 1), await action(server, 2)], ["keep", "drop", "relabel"]);
    assert.equal((await server.row(2)).decision.label, (await server.row(2)).suggested);
    assert.match(await page.locator("#progress").textContent(), /^3 decided, \d+ left$/);
    assert.match(await page.locator("#precision").textContent(), /2 of 3 wrong: 67 % \(\d+–\d+ %\)/);
  }],
  ["a label chosen by typing", async ({ page, server }) => {
    await stand(page, 3);
    const row = await server.row(3), classes = (await server.ask("/api/session")).classes.map((c) => c.name);
    const wanted = classes.find((c) => c !== row.given && c !== row.suggested && c.startsWith("U+"));
    await page.keyboard.press("l");
    const input = page.locator("#chooser-input");
    assert.equal(await input.getAttribute("role"), "combobox");
    const active = async () => page.locator(`#${await input.getAttribute("aria-activedescendant")}`).textContent();
    assert.ok((await active()).startsWith(readable(row.suggested)), "the suggestion comes first");
    await page.keyboard.press("ArrowDown");
    assert.ok(!(await active()).startsWith(readable(row.suggested)), "arrow keys move");
    await page.keyboard.press("Escape");
    assert.equal(await action(server, 3), "undecided", "Escape leaves without a decision");
    await page.keyboard.press("/");
    await page.keyboard.type(wanted.slice(2).toLowerCase());
    assert.ok((await active()).startsWith(readable(wanted)), await active());
    await page.keyboard.press("Enter");
    await settled(page);
    assert.deepEqual((await server.row(3)).decision.label, wanted);
    assert.equal(await stamp(page, 3), `→ ${readable(wanted)}`);
  }],
  ["undo and redo", async ({ page, server }) => {
    const sign = (id, words) => page.waitForFunction(([i, w]) => document.querySelector(`.card[data-id="${i}"] .stamp`).textContent.slice(0, 1) === w, [id, words]);
    await page.keyboard.press("u"); await sign(3, "");
    assert.equal(await action(server, 3), "undecided");
    await page.keyboard.press("Control+z"); await sign(2, "");
    await page.keyboard.press("Control+y"); await sign(2, "→");
    await page.keyboard.press("Shift+U"); await sign(3, "→");
    assert.equal(await action(server, 3), "relabel");
  }],
  ["a reload keeps decisions, place and undo", async ({ page, server }) => {
    await go(page, "state=all&id=5");
    await page.reload();
    await ready(page);
    assert.equal(await current(page), 5);
    assert.deepEqual([await stamp(page, 0), await stamp(page, 1)], ["✓ kept", "✕ dropped"]);
    await page.keyboard.press("u");
    await page.waitForFunction(() => document.querySelector('.card[data-id="3"] .stamp').textContent === "");
    assert.equal(await action(server, 3), "undecided");
  }],
  ["several at once", async ({ page, server }) => {
    await stand(page, 6);
    await page.keyboard.press("x");
    await page.keyboard.press("Shift+ArrowRight");
    await page.keyboard.press("Shift+ArrowRight");
    assert.match(await page.locator("#picked").textContent(), /3 images selected/);
    await page.keyboard.press("d");
    await settled(page);
    assert.deepEqual([await action(server, 6), await action(server, 7), await action(server, 8)], ["drop", "drop", "drop"]);
    assert.ok(await page.locator("#picked").isHidden());
    await page.keyboard.press("u");
    await page.waitForFunction(() => [6, 7, 8].every((i) => document.querySelector(`.card[data-id="${i}"] .stamp`).textContent === ""));
    await at(page, 10).locator("input").click();
    await at(page, 12).locator("input").click({ modifiers: ["Shift"] });
    assert.match(await page.locator("#picked").textContent(), /3 images selected/);
    await page.keyboard.press("Escape");
    assert.ok(await page.locator("#picked").isHidden());
  }],
  ["large: decide, go on, compare", async ({ page, server }) => {
    await stand(page, 6);
    await page.keyboard.press("Enter");
    await page.waitForSelector("#focus[open]");
    assert.match(await page.locator("#focus-name").textContent(), /Number 7/);
    await page.locator("#focus .example").first().click();
    assert.equal(await page.locator("#focus .shot").count(), 2);
    await page.keyboard.press("d");
    await settled(page);
    assert.match(await page.locator("#focus-name").textContent(), /Number 8/);
    assert.equal(await action(server, 6), "drop");
    await page.keyboard.press("ArrowLeft");
    assert.match(await page.locator("#focus .stamp").textContent(), /dropped/);
    await page.keyboard.press("c");
    await page.waitForFunction(() => document.querySelector("#focus .stamp").textContent === "");
    assert.equal(await action(server, 6), "undecided");
    await page.keyboard.press("Escape");
    assert.ok(await page.locator("#focus").isHidden());
    assert.equal(await page.evaluate(() => document.activeElement.dataset.id), "6", "the keyboard is back on the card");
  }],
  ["deciding to the end of a page turns it", async ({ page, server }) => {
    await go(page, "");
    const before = await page.evaluate(() => [...document.querySelectorAll(".card")].map((c) => c.dataset.id));
    for (let i = 0; i < before.length; i++) await page.keyboard.press("k");
    await page.waitForFunction((first) => { const c = document.querySelector(".card"); return c && c.dataset.id !== first && !document.querySelector(".pending"); }, before[0]);
    const after = await page.evaluate(() => [...document.querySelectorAll(".card")].map((c) => c.dataset.id));
    assert.equal(after.filter((id) => before.includes(id)).length, 0, "no image comes twice");
    assert.equal(Number(after[0]), Math.max(...before.map(Number)) + 1, "no image is passed over");
    assert.equal((await server.ask("/api/session")).counts.keep, before.length + 1);
  }],
];
