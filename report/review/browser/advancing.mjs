// Steps about the keyboard focus after a decision: the next undecided image is current, however the decision was made.

import assert from "node:assert/strict";
import { settled } from "./visit.mjs";
import { go, stand, current, action } from "./deciding.mjs";

// label chooses a label by typing its name; take confirms the choice.
const label = (name, take) => async ({ page, open, row, classes }) => {
  await open();
  await page.waitForSelector("#chooser[open]");
  await page.keyboard.type(name(row, classes));
  await take(page);
  await page.waitForSelector("#chooser", { state: "hidden" });
};
const another = (row, classes) => classes.find((c) => c !== row.given && c !== row.suggested && c.startsWith("U+"));
const given = (row) => row.given;
const enter = (page) => page.keyboard.press("Enter");
const mouse = (page) => page.locator("#chooser [role=option]").first().click();
const key = (name) => ({ page }) => page.keyboard.press(name);
const button = (name) => Object.assign(({ page, within }) => page.locator(`${within} [data-act=${name}]`).click(), { onButton: true });

// ways lists the ways to decide about one image, with the decision that the server must have afterwards.
const ways = {
  "K": [key("k"), "keep"],
  "D": [key("d"), "drop"],
  "A": [key("a"), "relabel"],
  "Keep": [button("keep"), "keep"],
  "Drop": [button("drop"), "drop"],
  "Accept": [button("accept"), "relabel"],
  "L, typed, Enter": [(by) => label(another, enter)({ ...by, open: () => by.page.keyboard.press("l") }), "relabel"],
  "L, typed, a click": [(by) => label(another, mouse)({ ...by, open: () => by.page.keyboard.press("l") }), "relabel"],
  "L, the given label": [(by) => label(given, enter)({ ...by, open: () => by.page.keyboard.press("l") }), "keep"],
  "Label…, typed, Enter": [Object.assign((by) => label(another, enter)({ ...by, open: () => button("choose")(by) }), { onButton: true }), "relabel"],
};

// run returns n consecutive undecided images with a better suggestion.
async function run(server, n) {
  const { rows } = await server.ask("/api/rows?state=undecided&limit=200");
  const fits = (r, i) => r && r.suggested !== r.given && r.given.startsWith("U+") && (i === 0 || r.id === rows[rows.indexOf(r) - 1]?.id + 1);
  const at = rows.findIndex((_, from) => rows.slice(from, from + n).length === n && rows.slice(from, from + n).every(fits));
  assert.ok(at >= 0, `no ${n} undecided images are left`);
  return rows.slice(at, at + n);
}
const labelled = async (server, id) => { const d = (await server.row(id)).decision; return d ? `${d.action} ${d.label}` : "undecided"; };
// kept presses K again, which must act on the image shown now.
async function kept(page, server, id, what) {
  await page.keyboard.press("k");
  await settled(page);
  assert.equal(await labelled(server, id), "keep ", `${what}: K is about another image`);
}

export const advancing = Object.entries({ grid: "", compact: "&cards=compact", large: "" }).flatMap(([view, more]) => [
  [`${view}: after every kind of decision the next image is current`, async ({ page, server }) => {
    const classes = (await server.ask("/api/session")).classes.map((c) => c.name);
    for (const [what, [decide, expected]] of Object.entries(ways)) {
      if (view === "compact" && decide.onButton) continue; // compact cards have no buttons
      const [row, next, third] = await run(server, 3);
      await go(page, `state=all&offset=${row.id}&id=${row.id}${more}`);
      await stand(page, row.id);
      if (view === "large") { await page.keyboard.press("Enter"); await page.waitForSelector("#focus[open]"); }
      await decide({ page, row, classes, within: view === "large" ? "#focus" : `.card[data-id="${row.id}"]` });
      await settled(page);
      assert.equal(await action(server, row.id), expected, what);
      assert.equal(await current(page), next.id, `${what}: the next image is not current`);
      const on = await page.evaluate(() => ({ large: document.activeElement.closest("#focus") !== null, card: Number(document.activeElement.closest(".card")?.dataset.id ?? -1), name: document.getElementById("focus-name")?.textContent }));
      assert.deepEqual([on.large, on.card], view === "large" ? [true, -1] : [false, next.id], `${what}: the keyboard is elsewhere`);
      if (view === "large") assert.equal(on.name, `Number ${next.rank}`);
      const before = await labelled(server, row.id);
      await kept(page, server, next.id, what);
      assert.equal(await labelled(server, row.id), before, `${what}: the decision before was overwritten`);
      assert.equal(await current(page), third.id, `${what}, K`);
      // Undo one by one: each time the image whose decision was undone is current. C keeps it undecided.
      for (const id of [next.id, row.id]) {
        await page.keyboard.press("u");
        await page.waitForFunction((n) => Number(document.querySelector(".card[aria-current]")?.dataset.id) === n, id);
        assert.equal(await action(server, id), "undecided", `${what}, U`);
      }
      await page.keyboard.press("Shift+U");
      await page.waitForFunction((n) => document.querySelector(`.card[data-id="${n}"] .stamp`).textContent !== "", row.id);
      assert.equal(await current(page), row.id, `${what}, redone`);
      await page.keyboard.press("c");
      await settled(page);
      assert.equal(await action(server, row.id), "undecided", `${what}, C`);
      assert.equal(await current(page), row.id, `${what}, C`);
      if (view === "large") await page.keyboard.press("Escape");
    }
  }],
]).concat([
  ["several at once: the image behind the last of them is current", async ({ page, server }) => {
    const rows = await run(server, 4), classes = (await server.ask("/api/session")).classes.map((c) => c.name);
    for (const [what, decide] of Object.entries({ "D": key("d"), "L, typed, Enter": (by) => label(another, enter)({ ...by, open: () => by.page.keyboard.press("l") }) })) {
      await go(page, `state=all&offset=${rows[0].id}&id=${rows[0].id}`);
      await stand(page, rows[0].id);
      for (const press of ["x", "Shift+ArrowRight", "Shift+ArrowRight"]) await page.keyboard.press(press);
      await decide({ page, row: rows[0], classes });
      await settled(page);
      assert.equal(await current(page), rows[3].id, what);
      const before = await labelled(server, rows[0].id);
      await kept(page, server, rows[3].id, what);
      assert.equal(await labelled(server, rows[0].id), before, what);
      for (const _ of [0, 1]) { await page.keyboard.press("u"); await settled(page); }
      await page.waitForFunction((n) => document.querySelector(`.card[data-id="${n}"] .stamp`).textContent === "", rows[0].id);
    }
  }],
  ["a key that is held down and a double click decide once", async ({ page, server }) => {
    const [one, two, three] = await run(server, 3);
    await go(page, `state=all&offset=${one.id}&id=${one.id}`);
    await stand(page, one.id);
    for (let i = 0; i < 5; i++) await page.keyboard.down("k");
    await page.keyboard.up("k");
    await settled(page);
    assert.deepEqual([await action(server, one.id), await action(server, two.id)], ["keep", "undecided"], "held down");
    assert.equal(await current(page), two.id);
    await page.keyboard.press("Enter");
    await page.waitForSelector("#focus[open]");
    await page.locator("#focus [data-act=drop]").dblclick();
    await settled(page);
    assert.deepEqual([await action(server, two.id), await action(server, three.id)], ["drop", "undecided"], "a double click");
    await page.keyboard.press("Escape");
    for (const _ of [0, 1]) { await page.keyboard.press("u"); await settled(page); }
  }],
  ["an undo is about what was decided before it, however fast the next decision comes", async ({ page, server }) => {
    const [one, two] = await run(server, 2);
    await go(page, `state=all&offset=${one.id}&id=${one.id}`);
    await stand(page, one.id);
    let free = () => {};
    const held = new Promise((go) => { free = go; });
    await page.route("**/api/decide", async (route) => { await held; await route.continue(); });
    for (const press of ["k", "u", "d"]) await page.keyboard.press(press);
    free();
    await page.waitForFunction((id) => document.querySelector(`.card[data-id="${id}"] .stamp`).textContent === "✕ dropped", two.id);
    await page.unroute("**/api/decide");
    await settled(page);
    assert.deepEqual([await action(server, one.id), await action(server, two.id)], ["undecided", "drop"]);
    await page.keyboard.press("u");
    await page.waitForFunction((id) => document.querySelector(`.card[data-id="${id}"] .stamp`).textContent === "", two.id);
    // Decide about the same image again, with the version after the undo.
    await stand(page, one.id);
    await page.keyboard.press("k");
    await settled(page);
    await stand(page, one.id);
    for (const press of ["u", "d"]) await page.keyboard.press(press);
    await page.waitForFunction((id) => document.querySelector(`.card[data-id="${id}"] .stamp`).textContent === "✕ dropped", one.id);
    assert.ok(await page.locator("#conflict").isHidden());
    await page.keyboard.press("u");
    await page.waitForFunction((id) => document.querySelector(`.card[data-id="${id}"] .stamp`).textContent === "", one.id);
  }],
  ["keys typed while the page turns decide nothing, and turn it once", async ({ page, server }) => {
    await go(page, "");
    const progress = await page.locator("#progress").textContent(), before = await page.evaluate(() => [...document.querySelectorAll(".card")].map((c) => Number(c.dataset.id)));
    let hold = () => {};
    const held = new Promise((free) => { hold = free; });
    for (const id of before.slice(1)) { await stand(page, id); await page.keyboard.press("k"); await settled(page); }
    await stand(page, before[0]);
    await page.route("**/api/rows*", async (route) => { await held; await route.continue(); });
    await page.keyboard.press("k");
    await page.waitForSelector("#grid[aria-busy]");
    for (const press of ["d", "a", "d"]) await page.keyboard.press(press);
    hold();
    await page.waitForFunction((ids) => { const c = document.querySelector(".card"); return c && !ids.includes(Number(c.dataset.id)); }, before);
    await page.unroute("**/api/rows*");
    await settled(page);
    for (const id of before) assert.equal(await action(server, id), "keep", `number ${id + 1} was decided again while the page turned`);
    const after = await page.evaluate(() => [...document.querySelectorAll(".card")].map((c) => Number(c.dataset.id)));
    assert.equal(after[0], Math.max(...before) + 1, "a page was passed over");
    for (const id of after) assert.equal(await action(server, id), "undecided", `number ${id + 1} was never looked at`);
    for (const _ of before) await page.keyboard.press("u");
    await page.waitForFunction((words) => document.getElementById("progress").textContent === words, progress);
  }],
]);
