// The dialog to write the corrected manifest on the server, or to download it.

import { get, el, head, open } from "./dom.js";
import { post, Failure } from "./api.js";
import { store } from "./store.js";
import { drain } from "./outbox.js";
import { count, many } from "./words.js";

export function exporting() {
  get("export").addEventListener("click", show);
}

function show() {
  const dialog = get("exported"), { whole: counts } = store.session, answer = el("div", { role: "status" });
  const write = el("button", { type: "button", class: "primary", onclick: () => run(write, answer) }, store.session.out?.endsWith("/") ? "Write class folders" : "Write the file");
  write.hidden = !store.session.out; // without an output file, the manifest can only be downloaded
  dialog.replaceChildren(head("exported-name", "Export the corrected manifest"),
    el("p", {}, `The file has all rows of the manifest, without the ${many(counts.drop, "dropped image")} and with a new label for ${many(counts.relabel, "relabelled image")}. All other images keep their given labels: those not decided, unsure (${count(counts.unsure)}), or without a majority of the reviewers (${count(counts.disagreed)}).`),
    nextSteps(),
    store.pending.size ? el("p", { class: "warn" }, `${many(store.pending.size, "decision")} not saved yet will be missing.`) : "",
    el("div", { class: "row" }, write, el("a", { href: "/api/export.csv", download: "", class: "button" }, "Download"), el("a", { href: "/api/decided.csv", download: "decided.csv" }, "List of decisions")), answer);
  open(dialog);
  if (!write.hidden) write.focus();
}

// nextSteps shows the commands to run after the review.
function nextSteps() {
  const { out, next } = store.session;
  return el("div", { class: "next-steps" }, el("p", {}, out ? "Write " : "End winnow with Ctrl-C. All decisions are kept.", out ? el("code", {}, out) : "", out ? ". For a terminal:" : " Then:"),
    ...(next ?? []).map((command) => el("pre", {}, el("code", {}, command))));
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
