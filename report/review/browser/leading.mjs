// Steps about many decisions at once, new classes, and what follows the end of the list, such as a training, on a server with its own decisions.

import assert from "node:assert/strict";
import { Server } from "./server.mjs";
import { Visit, accessible, ready, settled } from "./visit.mjs";

export const leading = [
  ["a new class, all above 99 %, and the end of the list leads on", async ({ browser, binary, set, shots }) => {
    const server = new Server(binary, { ...set, decisions: `${set.decisions}.leading.db`, out: `${set.out}.leading.csv` });
    await server.start();
    try {
      const context = await browser.newContext({ viewport: { width: 1440, height: 900 } }), visit = new Visit(context, server.origin), page = await visit.page();
      const said = async (words) => page.waitForFunction((w) => document.getElementById("said").textContent.includes(w), words);
      await page.goto(server.address);
      await ready(page);
      await page.locator(".card").nth(0).focus();
      await page.keyboard.press("x");
      await page.keyboard.press("Shift+ArrowRight");
      await page.keyboard.press("l");
      await page.keyboard.type("car");
      await page.locator("[role=option]", { hasText: "Create class “car”" }).click();
      await said("2 labels changed to car");
      assert.equal((await server.row(1)).decision.label, "car");
      await page.reload();
      await ready(page);
      const before = await server.ask("/api/session"), sure = await server.ask("/api/rows?state=undecided&kind=suspect&sure=0.99&limit=0");
      if (sure.total > 1) {
        await page.locator("#sure", { hasText: `(${sure.total})` }).click();
        await page.waitForSelector("#accepting[open]");
        assert.match(await page.locator("#accepting").textContent(), new RegExp(`This changes ${sure.total} labels .* mistakes`));
        await page.locator("#accepting .primary").click();
        await said(`${sure.total} labels changed`);
        assert.equal((await server.ask("/api/session")).counts.relabel, before.counts.relabel + sure.total);
      }
      for (;;) { // keep what is left
        await settled(page);
        if (await page.locator("#grid .empty").count()) break;
        await page.locator("#grid .pick input").first().check();
        const all = page.locator("#picked button", { hasText: "Select all on this page" });
        if (await all.count()) await all.click();
        const first = await page.locator(".card").first().getAttribute("data-id");
        await page.keyboard.press("k");
        await page.waitForFunction((id) => document.querySelector(".card")?.dataset.id !== id, first);
      }
      assert.match(await page.locator("#grid .empty").textContent(), /All suspects are decided\..*relabelled/);
      await page.screenshot({ path: `${shots}/leading.png` });
      assert.match(await page.locator("#grid .empty code").textContent(), /^winnow train .* --decisions .*runs.fixed$/);
      await page.locator("#grid .empty").getByRole("button", { name: "Train" }).click();
      await page.waitForSelector("#job:not([hidden])");
      await page.waitForSelector("#job[data-state=done] table");
      assert.deepEqual(await page.locator("#job tbody th").allTextContents(), ["frozen", "whitened", "trained"]);
      await page.locator("#job summary").click();
      assert.match(await page.locator("#job code").allTextContents().then((all) => all.join("\n")), /runs.fixed\nwinnow eval .*\nwinnow export .*\nwinnow index .*\nwinnow search /);
      assert.deepEqual(await accessible(page, ["wcag2a", "wcag2aa", "best-practice"]), []);
      await page.screenshot({ path: `${shots}/trained.png` });
      await page.reload(); // the result stays until it is closed
      await ready(page);
      await page.locator("#job").getByRole("button", { name: "Close" }).click();
      assert.ok(await page.locator("#job").isHidden());
      await page.locator("#grid .empty button", { hasText: "Export…" }).click();
      await page.waitForSelector("#exported[open]");
      assert.match(await page.locator("#exported code").last().textContent(), /runs.fixed-2$/);
      await page.keyboard.press("Escape");
      assert.deepEqual(await visit.found(page), []);
      const bare = await context.browser().newContext(), shut = await bare.newPage();
      await shut.goto(server.origin);
      assert.match(await shut.locator("body").textContent(), /Copy the whole address that it printed/);
      await bare.close();
      await context.close();
    } finally {
      await server.kill();
    }
  }],
];
