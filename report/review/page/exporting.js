// The dialog to write the corrected manifest on the server, or to download it.

import { get, el, head, open } from "./dom.js";
import { post, Failure } from "./api.js";
import { store } from "./store.js";
import { drain } from "./outbox.js";
import { training } from "./job.js";
import { count, many } from "./words.js";

export function exporting() {
  get("export").addEventListener("click", show);
}

function show() {
  const dialog = get("exported"), { whole: counts, out } = store.session, answer = el("div", { role: "status" }), folder = out?.endsWith("/");
  const write = el("button", { type: "button", class: "primary", onclick: () => run(write, answer) }, folder ? "Write class folders" : "Write the file");
  write.hidden = !out; // without an output file, the manifest can only be downloaded
  dialog.replaceChildren(head("exported-name", folder ? "Export fixed class folders" : "Export the corrected manifest"),
    el("p", {}, folder ? ["A new folder, ", el("code", {}, out), `, gets every image in the folder of its label: ${many(counts.relabel, "relabelled image")} in another one, ${many(counts.drop, "dropped image")} set aside. Your own images stay as they are.`]
      : ["The file", out ? [", ", el("code", {}, out), ","] : "", ` has all rows of the manifest, without the ${many(counts.drop, "dropped image")} and with a new label for ${many(counts.relabel, "relabelled image")}.`]),
    el("p", {}, `All other images keep their given labels: those not decided, unsure (${count(counts.unsure)}), or without a majority of the reviewers (${count(counts.disagreed)}). Every decision is saved; you can continue after the export.`),
    store.pending.size ? el("p", { class: "warn" }, `${many(store.pending.size, "decision")} not saved yet will be missing.`) : "",
    el("div", { class: "row" }, write, el("a", { href: "/api/export.csv", download: "", class: "button" }, folder ? "Download a list" : "Download"), el("a", { href: "/api/decided.csv", download: "decided.csv" }, "List of decisions")), answer, el("p", {}, "Or train on the corrected labels, to see whether they helped. It needs no export."), el("div", { class: "row" }, ...training()));
  open(dialog);
  if (!write.hidden) write.focus();
}

async function run(button, answer) {
  button.disabled = true;
  answer.replaceChildren("Writing …");
  try {
    await drain();
    const done = await post("/api/export", {}, 600_000);
    answer.replaceChildren(el("p", { class: "good" }, "Written: ", el("code", {}, done.path)),
      ...(done.folder ? [el("p", {}, `${many(done.folder.moves, "image")} with a changed path, listed in `, el("code", {}, done.folder.list), ...(done.folder.aside ? [". Dropped images are in ", el("code", {}, done.folder.aside)] : []), ".")] : []),
      el("dl", {}, ...[["kept", done.kept], ["relabelled", done.relabelled], ["dropped", done.dropped], ["unsure", done.unsure], ["no majority", done.disagreed], ["not decided", done.undecided]].flatMap(([name, n]) => [el("dt", {}, name), el("dd", {}, count(n))])));
  } catch (e) {
    if (!(e instanceof Failure)) throw e;
    answer.replaceChildren(el("p", { class: "warn", role: "alert" }, e.message));
  } finally {
    button.disabled = false;
  }
}
