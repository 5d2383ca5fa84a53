// The corrected manifest, written by the server or downloaded.

import { get, el, head, open } from "./dom.js";
import { post, Failure } from "./api.js";
import { store } from "./store.js";
import { drain } from "./outbox.js";
import { count, many } from "./words.js";
import { nextSteps } from "./learned.js";

// The formats of the download, and what each is for.
const forms = [
  ["manifest", "same format as the manifest", "The manifest itself. Rows that you did not change stay the same, byte for byte."],
  ["csv", "CSV manifest", "Columns path, label, split and all others of the manifest."],
  ["imagefolder", "Hugging Face imagefolder", "metadata.csv: put it into the folder of the images."],
  ["fiftyone", "FiftyOne", "labels.json of a FiftyOneImageClassificationDataset."],
  ["cleanlab", "cleanlab's columns", "All images of the audit. Your decisions replace what the audit suspected."],
  ["labelstudio", "Label Studio tasks", ""],
];

export function exporting() {
  get("export").addEventListener("click", show);
}

function show() {
  const dialog = get("exported"), { whole: counts } = store.session, answer = el("div", { role: "status" });
  const [form, link, note] = download();
  const write = el("button", { type: "button", class: "primary", onclick: () => run(write, answer) }, "Write the file");
  write.hidden = !store.session.out; // no file to write; it can still be downloaded
  dialog.replaceChildren(head("exported-name", "Export the corrected manifest"),
    el("p", {}, `The file has all rows of the manifest, without the ${many(counts.drop, "dropped image")} and with a new label for ${many(counts.relabel, "relabelled image")}. All other images keep their given labels: those not decided, unsure (${count(counts.unsure)}), or without a majority of the reviewers (${count(counts.disagreed)}).`),
    nextSteps(),
    store.pending.size ? el("p", { class: "warn" }, `${many(store.pending.size, "decision")} not saved yet will be missing.`) : "",
    el("div", { class: "row" }, write, form, link, el("a", { href: "/api/decided.csv", download: "decided.csv" }, "List of decisions")), note, answer);
  open(dialog);
  if (!write.hidden) write.focus();
}

// download returns a choice of formats, the link to the file, and a note on what it is for.
function download() {
  const choice = el("select", { "aria-label": "Format of the download" }, ...forms.map(([form, name]) => el("option", { value: form }, name)));
  const link = el("a", { download: "", class: "button" }, "Download"), note = el("p", { role: "note" });
  const chosen = () => {
    link.href = `/api/export.csv?form=${choice.value}`;
    const command = store.session.exports?.[choice.value];
    note.replaceChildren(...(choice.value === "labelstudio" ? studio() : [forms.find(([form]) => form === choice.value)[2]]),
      ...(command ? [el("span", { class: "without" }, "Without this page, once it has ended:", el("code", { class: "command" }, command))] : []));
  };
  choice.addEventListener("change", chosen);
  chosen();
  return [choice, link, note];
}

// studio explains how to set up Label Studio for the tasks.
function studio() {
  const { environment, storage } = store.session.studio;
  return ["The suspects with the suggested labels, and your decisions. Use this ", el("a", { href: "/api/labelstudio.xml", download: "" }, "labelling configuration"), ". Start Label Studio with ",
    ...Object.entries(environment).flatMap(([name, value]) => [el("code", {}, `${name}=${value}`), " "]), ". Before you import the tasks, add the source storage Local Files with the path ", el("code", {}, storage), " to the project, without syncing it."];
}

async function run(button, answer) {
  button.disabled = true;
  answer.replaceChildren("Writing …");
  try {
    await drain();
    const done = await post("/api/export", {}, 600_000);
    answer.replaceChildren(el("p", { class: "good" }, "Written: ", el("code", {}, done.path)),
      el("dl", {}, ...[["kept", done.kept], ["relabelled", done.relabelled], ["dropped", done.dropped], ["unsure", done.unsure], ["no majority", done.disagreed], ["not decided", done.undecided]].flatMap(([name, n]) => [el("dt", {}, name), el("dd", {}, count(n))])));
  } catch (e) {
    if (!(e instanceof Failure)) throw e;
    answer.replaceChildren(el("p", { class: "warn", role: "alert" }, e.message));
  } finally {
    button.disabled = false;
  }
}
