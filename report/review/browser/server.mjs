// Makes a small data set with wrong labels with winnow, and runs winnow studio on it; the server can be killed and restarted.

import { execFileSync, spawn } from "node:child_process";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export const reviewer = "Tess";
export const token = "0123456789abcdef0123456789abcdef";
// Labels and paths with markup, quotes and other special characters, as an attacker or an unusual user would write them.
export const hostile = `<img src=x onerror="window.harmed=1">, "sign" & co.`;
const odd = "train/a b#c%3F&d=é?.png";

export function winnow(binary, ...args) {
  return execFileSync(binary, args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

export const quote = (cell) => (/[",\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);

// makeSet writes images, a manifest with 30 % wrong labels, features and the audit into dir.
export function makeSet(binary, dir) {
  const images = join(dir, "glyphs"), clean = join(images, "manifest.csv");
  winnow(binary, "data", "glyphs", "--out", images, "--classes", "24", "--images", "12");
  const lines = readFileSync(clean, "utf8").trimEnd().split("\n").map((line) => line.split(","));
  const victim = lines[1][1], moved = lines[2][0];
  renameSync(join(images, moved), join(images, odd));
  for (const line of lines) {
    if (line[0] === moved) line[0] = odd;
    for (const at of [1, 3]) if (line[at] === victim) line[at] = hostile;
  }
  writeFileSync(clean, lines.map((line, i) => [...line, i ? `photographer ${i % 7}` : "by"].map(quote).join(",")).join("\n") + "\n");
  const set = { images, manifest: join(images, "noisy.csv"), features: join(dir, "features"), audit: join(dir, "suspects.csv"), decisions: join(dir, "decisions.db"), out: join(dir, "fixed.csv"), rows: 0 };
  winnow(binary, "data", "corrupt", clean, "--noise-rate", "0.3", "--out", set.manifest);
  winnow(binary, "extract", "--manifest", set.manifest, "--model", "glyphnet", "--out", set.features);
  winnow(binary, "audit", "--manifest", set.manifest, "--features", set.features, "--scorer", "fitted", "--noise-rate", "0.9", "--out", set.audit); // more suggestions than by default, and enough suspects for all steps
  let marked = 0; // two images become duplicates with a problem, as in an audit of images
  writeFileSync(set.audit, readFileSync(set.audit, "utf8").split("\n").map((line) => (/,false,,,,,(true,)?x[0-9a-f]+$/.test(line) && marked++ < 2 ? line.replace(/,,,,,((true,)?x[0-9a-f]+)$/, ",1,,dark,as night,$1") : line)).join("\n"));
  set.rows = readFileSync(set.audit, "utf8").trimEnd().split("\n").length - 1;
  return set;
}

// Server is a winnow studio that keeps its address when it is started again.
export class Server {
  constructor(binary, set, more = [], env = {}) {
    this.binary = binary;
    this.set = set;
    this.more = more;
    this.env = env;
    this.listen = "127.0.0.1:0";
    this.cwd = undefined; // the working folder
  }
  async start() {
    const { set } = this;
    this.process = spawn(this.binary, ["studio", "--keep-order", ...(set.audit ? ["--audit", set.audit] : []), "--manifest", set.manifest, ...(set.features ? ["--features", set.features] : []), "--decisions", set.decisions, "--out", set.out, "--listen", this.listen, "--token", token, ...this.more], { cwd: this.cwd, env: { ...process.env, ...this.env }, stdio: ["ignore", "pipe", "pipe"] });
    this.said = "";
    this.process.stderr.on("data", (text) => { this.said += text; });
    this.ended = new Promise((end) => { this.process.once("exit", end); });
    this.address = await new Promise((found, failed) => {
      let out = "";
      this.process.stdout.on("data", (text) => {
        out += text;
        const line = out.match(/https?:\/\/\S+/);
        if (line) found(line[0]);
      });
      this.process.once("exit", (code) => failed(new Error(`winnow studio ended with ${code}: ${this.said}`)));
      this.process.once("error", failed);
    });
    this.origin = new URL(this.address).origin;
    this.listen = new URL(this.address).host;
  }
  async kill(signal = "SIGKILL") {
    this.process.kill(signal);
    await this.ended;
  }
  // ask calls the API without the page, as the reviewer of these steps, to check the server's state.
  async ask(path) {
    if (path.startsWith("/api/rows")) path += `&reviewer=${reviewer}`;
    const response = await fetch(this.origin + path, { headers: { Authorization: `Bearer ${token}` } });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return response.json();
  }
  async row(id) { return (await this.ask(`/api/rows?state=all&offset=${id}&limit=1`)).rows[0]; }
}

// readable returns the class name that the page shows for a class of drawn characters.
export const readable = (label) => label.replace(/^U\+([0-9A-F]+)_/, (_, code) => `${String.fromCodePoint(parseInt(code, 16))} `).replaceAll(/(?<=^. .*)_/gu, " ");
