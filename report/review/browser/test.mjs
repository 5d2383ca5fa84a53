// Tests winnow's pages in a real browser: the review, from opening it to the exported manifest, and the HTML files.
//
//	node test.mjs [words of the steps to run]
//
// WINNOW is the path of the binary, SHOTS the folder for screenshots (default: shots next to this file).

import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve, dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { makeSet, Server } from "./server.mjs";
import { launch, Visit, ready } from "./visit.mjs";
import { deciding } from "./deciding.mjs";
import { advancing } from "./advancing.mjs";
import { finding } from "./finding.mjs";
import { reviewing } from "./reviewing.mjs";
import { failing } from "./failing.mjs";
import { reaching } from "./reaching.mjs";
import { pages } from "./pages.mjs";
import { studio } from "./studio.mjs";
import { leading } from "./leading.mjs";
import { gathering } from "./gathering.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const binary = resolve(process.env.WINNOW ?? join(here, "../../bin/winnow")), shots = resolve(process.env.SHOTS ?? join(here, "shots"));
if (!existsSync(binary)) throw new Error(`${binary} does not exist: run make build, or set WINNOW`);
const dir = mkdtempSync(join(tmpdir(), "winnow-review-")), started = Date.now();
const steps = [...deciding, ...advancing, ...finding, ...reviewing, ...reaching, ...studio, ...gathering, ...leading, ...pages, ...failing].filter(([name]) => process.argv.slice(2).every((word) => name.includes(word)));

let browser, server, failed = 0;
try {
  mkdirSync(shots, { recursive: true });
  const set = makeSet(binary, dir);
  server = new Server(binary, set);
  await server.start();
  browser = await launch();
  console.log(`${set.rows} suspects at ${server.origin}, chromium ${browser.version()}`);
  const context = await browser.newContext({ viewport: { width: 1280, height: 720 }, colorScheme: "light" });
  const visit = new Visit(context, server.origin), page = await visit.page();
  await page.goto(server.address);
  await ready(page);
  assert.equal(new URL(page.url()).search, "", "the token stays in the address");
  for (const [name, run] of steps) {
    const from = Date.now();
    try {
      visit.excuse();
      await run({ page, visit, server, set, binary, browser, shots });
      const faults = await visit.found(page);
      assert.deepEqual(faults, [], "faults of the page");
      console.log(`ok    ${name} (${Date.now() - from} ms)`);
    } catch (e) {
      failed++;
      console.log(`FAIL  ${name}: ${e.stack ?? e}\n${(await visit.found(page).catch(() => [])).join("\n")}`);
      await page.screenshot({ path: join(shots, `failed-${failed}.png`) }).catch(() => {});
      await page.goto(server.origin).then(() => ready(page)).catch(() => {});
    }
  }
  console.log(`${steps.length - failed} of ${steps.length} steps passed, ${visit.requests} requests, none left the origin unnoticed; ${((Date.now() - started) / 1000).toFixed(1)} s; screenshots: ${shots}`);
} finally {
  await browser?.close();
  await server?.kill().catch(() => {});
  rmSync(dir, { recursive: true, force: true });
}
process.exitCode = failed || steps.length === 0 ? 1 : 0;
