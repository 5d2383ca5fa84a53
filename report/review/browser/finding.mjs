// Steps about finding images: filters, classes, pages, the confusion map, search by image.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { readable } from "./server.mjs";
import { ready, settled, Visit } from "./visit.mjs";
import { go, stand, current } from "./deciding.mjs";

const texts = (page, selector) => page.locator(selector).allTextContents();

export const finding = [
  ["filters live in the address", async ({ page, server }) => {
    await go(page, "state=all");
    const { classes } = await server.ask("/api/session"), name = classes.find((c) => c.suspects > 1 && c.name.startsWith("U+")).name;
    await page.locator("#f-class").click();
    await page.locator("#f-class").fill(name.toLowerCase());
    await page.keyboard.press("Enter");
    await page.waitForFunction((n) => [...document.querySelectorAll(".card .given .label b")].every((b) => b.textContent === n), readable(name));
    await page.reload();
    await ready(page);
    assert.deepEqual([...new Set(await texts(page, ".card .given .label b"))], [readable(name)]);
    assert.equal(await page.locator("#f-class").inputValue(), readable(name));
    await page.locator("#f-kind").selectOption("suspect");
    await settled(page);
    const expected = await server.ask(`/api/rows?state=all&kind=suspect&class=${encodeURIComponent(name)}`);
    assert.equal(await page.locator("#found").textContent(), `${expected.total} suspect${expected.total === 1 ? "" : "s"}`);
    await page.goBack();
    await settled(page);
    assert.equal(await page.locator("#f-kind").inputValue(), "any", "Back takes the last filter away");
    await page.locator("#clear").click();
    await settled(page);
    assert.equal(new URL(page.url()).hash, "#state=all");
  }],
  ["copies and pictures with problems", async ({ page, server }) => {
    for (const kind of ["group", "problem"]) {
      await page.locator("#f-kind").selectOption(kind);
      await settled(page);
      assert.equal((await server.ask(`/api/rows?state=all&kind=${kind}`)).total, 2);
      assert.equal(await page.locator(`.card[data-kind~="${kind}"]`).count(), 2);
      assert.deepEqual(await texts(page, ".card .findings p:first-child"), ["dark: as night", "dark: as night"]);
      assert.equal(await page.locator(".card .findings img").count(), 2, "each shows the other");
    }
    await page.locator("#clear").click();
    await settled(page);
  }],
  ["score, path and state", async ({ page, server, set }) => {
    const middle = (await server.row(Math.floor(set.rows / 2))).score;
    await page.locator("#f-below").fill(String(middle));
    await page.keyboard.press("Tab");
    await page.waitForFunction((all) => Number.parseInt(document.getElementById("found").textContent) < all, set.rows);
    await page.locator("#f-below").fill("much");
    await page.keyboard.press("Tab");
    assert.equal(await page.locator("#f-below").getAttribute("aria-invalid"), "true");
    await go(page, "state=all");
    await page.locator("#f-text").fill("000.png");
    await page.waitForFunction(() => location.hash.includes("text=000.png"));
    await settled(page);
    assert.ok((await texts(page, ".card .path")).every((t) => t.includes("000.png")));
    await go(page, "");
    await page.getByRole("button", { name: "Decided", exact: true }).click();
    await settled(page);
    assert.equal(await page.locator('.card[data-decided=""]').count(), 0);
  }],
  ["suspects are shown by default, all with one click", async ({ page, server, set }) => {
    await go(page, "");
    const asked = async (more) => (await server.ask(`/api/rows?state=undecided&limit=0${more}`)).total;
    const suspects = await asked("&kind=suspect"), all = await asked("");
    assert.ok(suspects > 0 && suspects < all && all <= set.rows);
    assert.equal(await page.locator("#found").textContent(), `${suspects} suspects to decide`);
    assert.equal(await page.locator("#f-kind").inputValue(), "suspect");
    assert.equal(await page.locator('.card:not([data-kind~="suspect"])').count(), 0);
    await page.locator("#rest").click();
    await settled(page);
    assert.equal(await page.locator("#found").textContent(), `${all} images to decide`);
    assert.match(page.url(), /kind=any/);
    await page.locator("#rest").click();
    await settled(page);
    assert.equal(await page.locator("#found").textContent(), `${suspects} suspects to decide`);
    assert.ok(await page.locator("#clean").isHidden());
    await page.getByRole("button", { name: "All", exact: true }).click();
    await settled(page);
    assert.equal(await page.locator("#found").textContent(), `${set.rows} images`);
  }],
  ["where nothing is suspect, all is shown and it says why", async ({ visit, server }) => {
    const other = await visit.page();
    await other.route("**/api/session", async (route) => {
      const session = await (await route.fetch()).json();
      await route.fulfill({ json: { ...session, kinds: { ...session.kinds, suspect: 0 } } });
    });
    await other.goto(server.origin);
    await ready(other);
    assert.match(await other.locator("#clean").textContent(), /flags no label.*all images are shown/);
    assert.ok(await other.locator("#clean").isVisible());
    assert.ok(await other.locator("#rest").isHidden());
    const { total } = await server.ask("/api/rows?state=undecided&limit=0");
    assert.equal(await other.locator("#found").textContent(), `${total} images to decide`);
    await other.close();
  }],
  ["sorted by score, class and path", async ({ page, server }) => {
    const ids = () => page.evaluate(() => [...document.querySelectorAll(".card")].map((c) => Number(c.dataset.id)));
    await go(page, "state=all");
    for (const sort of ["least", "class", "path", ""]) {
      await page.locator("#f-sort").selectOption(sort);
      await settled(page);
      const { rows } = await server.ask(`/api/rows?state=all&limit=24${sort ? `&sort=${sort}` : ""}`);
      assert.deepEqual(await ids(), rows.map((r) => r.id), sort);
      const key = { least: (r) => -r.rank, class: (r) => r.given, path: (r) => r.path, "": (r) => r.rank }[sort];
      for (const [i, row] of rows.slice(1).entries()) assert.ok(key(rows[i]) <= key(row), `${sort}: ${row.path} after ${rows[i].path}`);
      assert.equal(page.url().includes(`sort=${sort}`), sort !== "");
    }
  }],
  ["every number of a card is explained", async ({ page, server }) => {
    await go(page, "state=all");
    const row = await server.row(0), card = page.locator('.card[data-id="0"]');
    assert.equal(await card.locator(".path").textContent(), row.path.split("/").slice(-2).join("/"), "the folder is missing");
    const seen = await card.locator(".path").evaluate((whole) => [".folder", ".file"].map((part) => whole.querySelector(part).getBoundingClientRect()).every((r, i) => r.width > 40 && (i === 0 || r.right <= whole.getBoundingClientRect().right + 1)));
    assert.ok(seen, "the folder or the file has no room");
    assert.match(await card.locator(".given .num").textContent(), /^([<>] )?[\d.]+ % right$/);
    for (const number of await card.locator(".num, .pick span").all()) if (await number.textContent()) assert.ok((await number.getAttribute("title")).length > 20, await number.textContent());
    const about = await page.locator(`#${await card.getAttribute("aria-describedby")}`).textContent();
    assert.match(about, /Rank 1 in the list.*Probability that the given label is right/);
  }],
  ["pages", async ({ page, set }) => {
    await go(page, "state=all");
    await page.keyboard.press("]");
    await page.waitForFunction(() => location.hash.includes("offset=24"));
    await settled(page);
    assert.equal(await current(page), 24);
    await page.keyboard.press("[");
    await page.waitForFunction(() => !location.hash.includes("offset"));
    await settled(page);
    await page.locator("#pager-top input").fill(String(set.rows));
    await page.keyboard.press("Enter");
    await page.waitForFunction((n) => document.querySelector(".card").dataset.id === String(n - 1), set.rows);
    await page.locator("#compact").click();
    await settled(page);
    await go(page, "state=all&cards=compact");
    assert.equal(await page.locator(".card").count(), Math.min(48, set.rows));
  }],
  ["the next class", async ({ page, server }) => {
    await go(page, "");
    await page.locator("#grid .card").first().focus();
    await page.keyboard.press("n");
    await page.waitForFunction(() => location.hash.includes("class="));
    await settled(page);
    const first = await page.locator("#f-class").inputValue();
    await page.keyboard.press("n");
    await page.waitForFunction((c) => document.getElementById("f-class").value !== c, first);
    await page.keyboard.press("Shift+N");
    await page.waitForFunction((c) => document.getElementById("f-class").value === c, first);
    await settled(page);
    const c = (await server.ask("/api/session")).classes.find((c) => c.name === first);
    assert.ok(c.decided < c.suspects);
    await go(page, "");
  }],
  ["the confusion map", async ({ page, server }) => {
    await page.keyboard.press("m");
    await page.waitForSelector("#map .cell");
    const { pairs } = await server.ask("/api/confusions?limit=300");
    assert.equal(await page.locator("#map tbody tr").count(), pairs.length, "the table tells every pair");
    const least = await page.evaluate(() => Math.min(...[...document.querySelectorAll("#map .heat > text")].map((t) => t.getScreenCTM() && Number.parseFloat(getComputedStyle(t).fontSize) * document.querySelector("#map .heat").getScreenCTM().a)));
    assert.ok(least >= 10.5, `labels of ${least} pixels`);
    assert.deepEqual(await page.evaluate(() => {
      const all = document.querySelector("#map .heat"), box = all.viewBox.baseVal;
      return [...all.querySelectorAll(":scope > text")].filter((t) => {
        const { x, y, width } = t.getBBox(), m = t.transform.baseVal.consolidate()?.matrix ?? { a: 1, b: 0, c: 0, d: 1, e: 0, f: 0 };
        return [x, x + width].some((at) => m.a * at + m.c * y + m.e < 0 || m.a * at + m.c * y + m.e > box.width || m.b * at + m.d * y + m.f < 0);
      }).map((t) => t.textContent);
    }), [], "names that leave the map");
    await page.locator("#map tbody button").first().click();
    await settled(page);
    assert.equal(await page.locator("#f-class").inputValue(), readable(pairs[0].given));
    assert.equal(await page.locator("#f-to").inputValue(), readable(pairs[0].suggested));
    assert.equal(await page.locator('#pairs [aria-pressed="true"]').count(), 1);
    await page.locator('#pairs [aria-pressed="true"]').click();
    await settled(page);
    assert.equal(await page.locator("#f-class").inputValue(), "");
    await page.keyboard.press("m");
    await page.locator("#map .cell").first().click();
    await settled(page);
    assert.notEqual(await page.locator("#f-to").inputValue(), "");
    await go(page, "state=all");
  }],
  ["similar images, and back", async ({ page }) => {
    await stand(page, 4);
    const at = await page.locator(".card[aria-current=true]").getAttribute("data-id");
    await page.keyboard.press("s");
    await page.waitForSelector(".tile .similarity");
    const said = (await page.locator(".tile .similarity .num").allTextContents()).map(Number);
    assert.deepEqual(said, [...said].sort((a, b) => b - a), "most similar first");
    const open = page.locator(".tile .face").first(), id = Number(await page.locator(".tile").first().getAttribute("data-id"));
    await open.click();
    await page.waitForSelector("#focus[open]");
    assert.equal(await page.locator("#focus-name").textContent(), `Number ${id + 1}`);
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
    await page.waitForSelector("html[data-view=suspects]");
    await settled(page);
    assert.equal(await page.locator(".card[aria-current=true]").getAttribute("data-id"), at, "Escape leads back");
  }],
  ["search by an image: chosen, dropped, pasted", async ({ page, server, set }) => {
    const row = await server.row(9), file = join(set.images, row.path), bytes = readFileSync(file).toString("base64");
    const itself = () => page.waitForFunction((p) => document.querySelector(".tile:has(.similarity)")?.title === p, row.path);
    const back = async () => { await page.keyboard.press("Escape"); await page.waitForSelector("html[data-view=suspects]"); await settled(page); };
    await page.locator("#file").setInputFiles(file);
    await itself();
    await back();
    for (const kind of ["drop", "paste"]) {
      await page.evaluate(([k, b]) => {
        const data = new DataTransfer();
        data.items.add(new File([Uint8Array.from(atob(b), (c) => c.charCodeAt(0))], "dropped.png", { type: "image/png" }));
        document.dispatchEvent(k === "drop" ? new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }) : new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
      }, [kind, bytes]);
      await itself();
      assert.match(await page.locator("#asked").textContent(), /Nearest to dropped.png/);
      await back();
    }
  }],
  ["an upload that is no image is refused in one line", async ({ page, visit }) => {
    visit.excuse(/status of 4\d\d/);
    await page.locator("#file").setInputFiles({ name: "broken.png", mimeType: "image/png", buffer: Buffer.from("no picture at all") });
    const line = page.locator("#asked [role=alert]");
    await line.waitFor();
    assert.ok((await line.textContent()).length > 10);
    await page.keyboard.press("Escape");
    await page.waitForSelector("html[data-view=suspects]");
    await settled(page);
  }],
  ["zoom and pan of the file itself", async ({ page, browser, server, shots }) => {
    await go(page, "state=all");
    await stand(page, 4);
    await page.keyboard.press("Enter");
    await page.waitForSelector("#focus[open]");
    await page.locator("#focus .zoomable").first().click();
    const said = page.locator("#zoom [role=status]"), percent = async () => Number((await said.textContent()).match(/([\d,]+) %$/)[1].replaceAll(",", ""));
    const place = () => page.evaluate(() => { const m = new DOMMatrix(getComputedStyle(document.querySelector("#zoom img")).transform); return [m.e, m.f]; });
    await page.waitForFunction(() => / pixels, /.test(document.querySelector("#zoom [role=status]").textContent));
    const size = await page.evaluate(async (key) => { const i = new Image(); i.src = `/image/${key}`; await i.decode(); return `${i.naturalWidth} × ${i.naturalHeight} pixels`; }, (await server.row(4)).key);
    assert.ok((await said.textContent()).startsWith(size), "it is not the original");
    const before = (await server.row(4)).decision, fits = await percent(), middle = await page.locator("#zoom .stage").boundingBox().then((b) => [b.x + b.width / 2, b.y + b.height / 2]);
    await page.keyboard.press("+");
    assert.equal(await percent(), Math.round(fits * 1.25));
    await page.mouse.move(...middle);
    await page.mouse.wheel(0, -600);
    await page.waitForFunction((was) => Number.parseInt(document.querySelector("#zoom [role=status]").textContent.match(/([\d,]+) %$/)[1].replaceAll(",", "")) > 2 * was, fits);
    const [x, y] = await place();
    await page.mouse.down();
    await page.mouse.move(middle[0] + 60, middle[1] - 40);
    await page.mouse.up();
    assert.deepEqual((await place()).map(Math.round), [Math.round(x + 60), Math.round(y - 40)], "it does not follow the mouse");
    await page.screenshot({ path: join(shots, "1280x720-light-zoom.png") });
    await page.keyboard.press("ArrowRight");
    assert.equal(Math.round((await place())[0]), Math.round(x - 20));
    for (let i = 0; i < 40; i++) await page.keyboard.press("ArrowLeft");
    assert.equal((await place())[0], 0, "it leaves the window");
    await page.mouse.dblclick(...middle);
    assert.equal(await percent(), fits, "a double click fits it again");
    await page.keyboard.press("1");
    assert.equal(await percent(), 100);
    await page.keyboard.press("k");
    assert.deepEqual((await server.row(4)).decision, before, "a letter decides while the file is looked at");
    await page.keyboard.press("0");
    assert.equal(await percent(), fits);
    await page.keyboard.press("Escape");
    assert.ok(await page.locator("#zoom").isHidden() && await page.locator("#focus").isVisible(), "Escape leaves only the zoom");
    await page.keyboard.press("Escape");
    const context = await browser.newContext({ viewport: { width: 375, height: 700 }, hasTouch: true }), phone = await new Visit(context, server.origin).page();
    await phone.goto(server.address);
    await ready(phone);
    await phone.locator(".card .face").first().tap();
    await phone.locator("#focus .zoomable").first().tap();
    await phone.waitForFunction(() => / pixels, /.test(document.querySelector("#zoom [role=status]").textContent));
    await phone.evaluate(() => {
      const stage = document.querySelector("#zoom .stage"), finger = (type, id, x) => stage.dispatchEvent(new PointerEvent(type, { pointerId: id, clientX: x, clientY: 300, bubbles: true, pointerType: "touch" }));
      stage.setPointerCapture = () => {}; // synthetic pointers cannot be captured
      finger("pointerdown", 11, 150); finger("pointerdown", 12, 200); finger("pointermove", 12, 300);
    });
    const pinched = await phone.locator("#zoom [role=status]").textContent();
    await phone.keyboard.press("0");
    assert.notEqual(await phone.locator("#zoom [role=status]").textContent(), pinched, "two fingers do not zoom");
    await phone.screenshot({ path: join(shots, "375x700-light-zoom.png") });
    await context.close();
  }],
];
