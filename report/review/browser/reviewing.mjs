// Steps about several reviewers: names, unsure, notes, and the outcome of an image on which reviewers disagree.

import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { readFileSync, writeFileSync } from "node:fs";
import { ready, settled, Visit } from "./visit.mjs";
import { quote, reviewer, Server } from "./server.mjs";
import { at, go, stand, stamp } from "./deciding.mjs";

// undecided returns n consecutive images without any decision.
async function undecided(server, n) {
  const { rows } = await server.ask("/api/rows?state=undecided&by=*&limit=200");
  const from = rows.findIndex((r, i) => rows[i + n - 1]?.id === r.id + n - 1 && rows.slice(i, i + n).every((b) => b.suggested !== b.given));
  assert.ok(from >= 0, `no ${n} undecided images are left`);
  return rows.slice(from, from + n).map((r) => r.id);
}

export const reviewing = [
  ["unsure and a note, by keyboard, and back again", async ({ page, server }) => {
    const [one, two] = await undecided(server, 2);
    await go(page, `state=all&offset=${one}&id=${one}`);
    await stand(page, one);
    await page.keyboard.press("q");
    await settled(page);
    assert.equal((await server.row(one)).decision.action, "unsure");
    assert.equal(await stamp(page, one), "? unsure");
    await stand(page, one);
    await page.keyboard.press("w");
    await page.waitForSelector("#noting[open]");
    await page.keyboard.type("kqd <b>two</b>");
    await page.keyboard.press("Shift+Enter");
    await page.keyboard.type("letters");
    await page.keyboard.press("Enter");
    await settled(page);
    await page.waitForFunction((id) => document.querySelector(`.card[data-id="${id}"] .remarks q`), one);
    const row = await server.row(one);
    assert.deepEqual([row.decision.action, row.note], ["unsure", "kqd <b>two</b>\nletters"]);
    assert.equal(await at(page, one).locator(".remarks").textContent(), "kqd <b>two</b>\nletters", "a note is text");
    await stand(page, one);
    await page.keyboard.press("k");
    await settled(page);
    assert.deepEqual([(await server.row(one)).decision.action, (await server.row(one)).note], ["keep", row.note], "a decision leaves the note alone");
    for (const key of ["u", "u"]) { await page.keyboard.press(key); await settled(page); }
    await page.waitForFunction((id) => !document.querySelector(`.card[data-id="${id}"] .remarks q`), one);
    assert.deepEqual([(await server.row(one)).decision.action, (await server.row(one)).note], ["unsure", ""]);
    await stand(page, two);
    await at(page, two).locator("[data-act=note]").click();
    await page.locator("#note-input").fill("ask Ben");
    await page.getByRole("button", { name: "Save the note" }).click();
    await settled(page);
    await page.locator("#f-state").selectOption("noted");
    await settled(page);
    assert.equal(await page.locator("#found").textContent(), "1 image with a note");
    assert.equal(await page.locator(".card .remarks").textContent(), "ask Ben");
    assert.ok(!(await server.row(two)).decision, "a note is no decision");
    await page.locator("#f-state").selectOption("unsure");
    await settled(page);
    assert.equal(Number(await page.locator(".card").first().getAttribute("data-id")), one);
    await page.locator(".card").first().focus();
    await page.keyboard.press("c"); // make the image undecided again for the next steps
    await settled(page);
    assert.ok(!(await server.row(one)).decision);
    await go(page, "state=all");
  }],
  ["the name is asked for once, and kept by the browser", async ({ browser, server }) => {
    const context = await browser.newContext({ viewport: { width: 1280, height: 720 } });
    const page = await context.newPage();
    await page.goto(server.address);
    await ready(page);
    await page.waitForSelector("#reviewer[open]");
    if ((await server.ask("/api/session")).reviewers.length > 0) assert.match(await page.locator("#reviewer").textContent(), new RegExp(`${reviewer}\\d+ decided`));
    await page.keyboard.type("  Ben Bär ");
    await page.keyboard.press("Enter");
    await page.waitForSelector("#reviewer", { state: "hidden" });
    assert.equal(await page.locator("#who").textContent(), "BB");
    await page.reload();
    await ready(page);
    assert.ok(await page.locator("#reviewer").isHidden(), "it is asked for twice");
    assert.equal(await page.locator("#who").getAttribute("title"), "Reviewer: Ben Bär");
    const id = await page.evaluate(() => Number(document.querySelector(".card").dataset.id));
    await stand(page, id);
    await page.keyboard.press("d");
    await settled(page);
    await go(page, "state=all");
    assert.equal(await stamp(page, id), "✕ dropped");
    await page.locator("#who").click();
    await page.getByRole("button", { name: "Continue without a name" }).click();
    await page.waitForFunction((i) => document.querySelector(`.card[data-id="${i}"] .stamp`).textContent === "" && document.querySelector(`.card[data-id="${i}"] .remarks`).textContent === "", id);
    await page.keyboard.press("u");
    await page.waitForFunction(() => document.getElementById("said").textContent.startsWith("Nothing to undo"));
    await page.locator("#who").click();
    await page.keyboard.type("Ben Bär");
    await page.keyboard.press("Enter");
    await page.waitForFunction((i) => document.querySelector(`.card[data-id="${i}"] .stamp`).textContent === "✕ dropped", id);
    await page.keyboard.press("u");
    await page.waitForFunction((i) => document.querySelector(`.card[data-id="${i}"] .stamp`).textContent === "", id);
    await page.locator("#who").click();
    await page.getByRole("button", { name: "Continue without a name" }).click();
    await page.reload();
    await ready(page);
    assert.ok(await page.locator("#reviewer").isHidden(), "no name is not taken for an answer");
    await context.close();
  }],
  ["two reviewers: each decides, both see who decided what, differences are found", async ({ page, browser, server, set, shots }) => {
    const [one, two, three] = await undecided(server, 3), place = `state=all&offset=${one}&id=${one}`;
    const context = await browser.newContext({ viewport: { width: 1280, height: 720 } }), visit = new Visit(context, server.origin, "Ben"), other = await visit.page();
    await other.goto(server.address);
    await ready(other);
    await go(page, place);
    await go(other, place);
    const act = async (p, id, key) => { await stand(p, id); await p.keyboard.press(key); await settled(p); };
    await act(page, one, "k");
    await other.waitForFunction(() => document.getElementById("precision").textContent.startsWith("0 by you")); // the other tab has received the decision
    assert.equal(await at(other, one).locator(".remarks").textContent(), "", "another's answer is seen before one's own");
    assert.equal(await stamp(other, one), "", "another's decision looks like one's own");
    await act(other, one, "d");
    assert.match(await at(other, one).locator(".remarks").textContent(), /Tess ✓ kept/);
    assert.ok(await other.locator("#conflict").isHidden(), "different people do not get in each other's way");
    await page.waitForFunction((id) => { const c = document.querySelector(`.card[data-id="${id}"]`); return c.querySelector(".remarks").textContent.includes("Ben ✕ dropped") && c.querySelector(".differs").checkVisibility(); }, one);
    await act(page, two, "d");
    await act(other, two, "d");
    await act(other, three, "q");
    assert.deepEqual([(await server.row(one)).outcome, (await server.row(two)).outcome, (await server.row(three)).outcome], ["disagreed", "drop", "undecided"], "who has not decided sees no outcome");
    assert.equal((await server.ask("/api/changes?since=0&reviewer=Ben")).changed.find((c) => c.id === three).outcome, "unsure");
    await stand(other, one);
    await other.keyboard.press("Enter");
    await other.waitForSelector("#focus .voices dl");
    assert.match(await other.locator("#focus .voices").textContent(), /Ben.*dropped.*Tess.*kept.*Reviewers disagree and there is no majority: the label stays as given/);
    await other.screenshot({ path: join(shots, "1280x720-light-reviewers.png") });
    await other.keyboard.press("Escape");
    await other.locator("#f-state").selectOption("differ");
    await settled(other);
    assert.equal(await other.locator("#found").textContent(), "1 image on which reviewers disagree");
    await other.screenshot({ path: join(shots, "1280x720-light-differ.png") });
    await other.locator("#f-state").selectOption("all");
    await settled(other);
    await other.locator("#f-by").selectOption("=Tess");
    await other.getByRole("button", { name: "Decided", exact: true }).click();
    await settled(other);
    const { total } = await server.ask("/api/rows?state=decided&limit=0");
    assert.equal(await other.locator("#found").textContent(), `${total} images decided`);
    await other.keyboard.press("u");
    await other.waitForFunction(() => document.getElementById("said").textContent.startsWith("Undone"));
    assert.ok((await server.row(one)).decision, "one reviewer undoes another's decision");
    await page.locator("#export").click();
    await page.getByRole("button", { name: "Write the file" }).click();
    await page.waitForSelector("#exported dl");
    assert.match(await page.locator("#exported dl").textContent(), /unsure\d+no majority1/);
    const path = (await server.row(one)).path;
    assert.ok(readFileSync(set.out, "utf8").includes(path.includes(",") ? path.slice(0, 5) : path), "what has no majority is left as given");
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: "List of decisions" }).click()]);
    assert.match(readFileSync(await download.path(), "utf8"), /disagreed,,Ben,drop[^]*disagreed,,Tess,keep/);
    await page.keyboard.press("Escape");
    for (const id of [one, two]) await act(page, id, "c"); // make the images undecided again for the next steps
    assert.deepEqual(await visit.found(other), []);
    await context.close();
  }],
  ["classes by their names, found by either, decided by label", async ({ browser, binary, server, set, shots }) => {
    const dir = dirname(set.decisions), file = join(dir, "classes.csv"), { classes } = await server.ask("/api/session");
    const name = (label) => `Bird ${classes.findIndex((c) => c.name === label) + 1} of the woods`;
    writeFileSync(file, `class,name\n${classes.map((c) => `${quote(c.name)},${name(c.name)}`).join("\n")}\n`);
    const named = new Server(binary, { ...set, decisions: join(dir, "named.db"), out: join(dir, "named.csv") }, ["--names", file, "--reviewer", "Zoë"]);
    await named.start();
    const context = await browser.newContext({ viewport: { width: 1280, height: 720 } });
    try {
      const visit = new Visit(context, named.origin), page = await visit.page();
      await page.goto(named.address);
      await ready(page);
      const row = await named.row(0), other = classes.find((c) => ![row.given, row.suggested].includes(c.name) && c.name.startsWith("U+")).name, card = at(page, 0);
      assert.equal(await card.locator(".given .label b").textContent(), name(row.given));
      assert.ok((await card.locator(".given .label b").getAttribute("title")).includes(row.given), "the label is nowhere");
      assert.ok((await page.locator("#pairs button").first().textContent()).includes("of the woods"));
      for (const typed of [name(other), other]) {
        await stand(page, 0);
        await page.keyboard.press("l");
        await page.keyboard.type(typed);
        assert.ok((await page.locator("#chooser [role=option]").first().textContent()).startsWith(name(other)), typed);
        await page.keyboard.press("Enter");
        await settled(page);
        assert.equal((await named.row(0)).decision.label, other);
        await page.keyboard.press("u");
        await page.waitForFunction(() => document.querySelector('.card[data-id="0"] .stamp').textContent === "");
      }
      await page.locator("#f-class").click();
      await page.locator("#f-class").fill(name(row.given));
      await page.keyboard.press("Enter");
      await settled(page);
      assert.equal(new URLSearchParams(new URL(page.url()).hash.slice(1)).get("class"), row.given, "the address names the label");
      assert.equal(await page.locator("#f-class").inputValue(), name(row.given));
      await page.locator("#clear").click();
      await settled(page);
      await page.keyboard.press("m");
      await page.waitForSelector("#map .cell");
      assert.ok((await page.locator("#map .heat > text").allTextContents()).every((t) => t.startsWith("Bird ")));
      await page.screenshot({ path: join(shots, "1280x720-light-names-map.png") });
      await page.keyboard.press("Escape");
      await stand(page, 0);
      await page.keyboard.press("a");
      await settled(page);
      assert.equal(await stamp(page, 0), `→ ${name(row.suggested)}`);
      await page.screenshot({ path: join(shots, "1280x720-light-names.png") });
      await page.locator("#export").click();
      await page.getByRole("button", { name: "Write the file" }).click();
      await page.waitForSelector("#exported dl");
      assert.ok(!readFileSync(join(dir, "named.csv"), "utf8").includes("of the woods"), "a name is written");
      assert.deepEqual(await visit.found(page), []);
      const fresh = await (await browser.newContext()).newPage();
      await fresh.goto(named.address);
      await fresh.waitForSelector("#reviewer[open]");
      assert.equal(await fresh.locator("#reviewer-input").inputValue(), "Zoë", "--reviewer proposes nothing");
      await fresh.screenshot({ path: join(shots, "1280x720-light-who.png") });
      await fresh.context().close();
    } finally {
      await context.close();
      await named.kill("SIGTERM");
    }
  }],
];
