// The mended manifest: written by the server, or downloaded.

import { get, el, head, open } from "./dom.js";
import { tell, Failure } from "./api.js";
import { store } from "./store.js";
import { drain } from "./outbox.js";
import { count, many } from "./words.js";

export function exporting() {
  get("export").addEventListener("click", show);
}

function show() {
  const dialog = get("exported"), { counts } = store.session, answer = el("div", { role: "status" });
  const write = el("button", { type: "button", class: "primary", onclick: () => run(write, answer) }, "Write the file");
  write.hidden = !store.session.out; // nowhere to write to: it can still be downloaded
  dialog.replaceChildren(head("exported-name", "Export the mended manifest"),
    el("p", {}, `All rows of the manifest, without the ${many(counts.drop, "dropped image")} and with the new label of ${many(counts.relabel, "relabelled one")}. Undecided images are unchanged, and so is what is unsure (${count(counts.unsure)}) or has no majority of the reviewers for any decision (${count(counts.disagreed)}). `, el("code", {}, "winnow train --manifest"), " takes the file."),
    store.pending.size ? el("p", { class: "warn" }, `${many(store.pending.size, "decision")} not saved yet will be missing.`) : "",
    el("div", { class: "row" }, write, el("a", { href: "/api/export.csv", download: "mended.csv", class: "button" }, "Download as CSV"), el("a", { href: "/api/decided.csv", download: "decided.csv" }, "List of decisions")), answer);
  open(dialog);
  if (!write.hidden) write.focus();
}

async function run(button, answer) {
  button.disabled = true;
  answer.replaceChildren("Writing …");
  try {
    await drain();
    const done = await tell("/api/export", {}, 600_000);
    answer.replaceChildren(el("p", { class: "good" }, "Written: ", el("code", {}, done.path)),
      el("dl", {}, ...[["kept", done.kept], ["relabelled", done.relabelled], ["dropped", done.dropped], ["unsure", done.unsure], ["no majority", done.disagreed], ["not decided", done.undecided]].flatMap(([name, n]) => [el("dt", {}, name), el("dd", {}, count(n))])));
  } catch (e) {
    if (!(e instanceof Failure)) throw e;
    answer.replaceChildren(el("p", { class: "warn", role: "alert" }, e.message));
  } finally {
    button.disabled = false;
  }
}
