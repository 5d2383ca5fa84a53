#!/usr/bin/env node
// Runs winnow of the package for this platform, which npm installed as an optional dependency.
const { spawn } = require("child_process");
const fail = (text) => { console.error("winnow: " + text); process.exit(1); };
const platform = "PACKAGE-" + process.platform + "-" + process.arch;
let program;
try { program = require.resolve(platform + "/winnow"); } catch { fail("found no npm package " + platform + ", expected it next to this one: install again without --omit=optional, or use an archive"); }
const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
for (const signal of ["SIGINT", "SIGHUP"]) process.on(signal, () => {}); // the terminal sends them to winnow too
process.on("SIGTERM", () => child.kill("SIGTERM"));
child.on("error", (error) => fail(error.message));
child.on("exit", (code, signal) => process.exit(signal ? 128 + require("os").constants.signals[signal] : code));
