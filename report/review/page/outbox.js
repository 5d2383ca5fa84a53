// The queue of decisions to send to the server. Images are marked until the server has confirmed their decisions.
// Decisions that cannot be sent stay in the queue, in order, and are sent again when the connection is back.

import { post, Failure, connection } from "./api.js";
import { store } from "./store.js";
import { many, done, file } from "./words.js";
import { called } from "./names.js";
import { settle } from "./conflict.js";
import { me as reviewer } from "./reviewer.js";

// The steps to send, in order: {list: [{id, action, label, note, version, path}]} is a batch, {list: [], turn} an undo or redo.
const queue = [];
// The maximum number of decisions per request, which one undo reverts; fewer with notes, because notes are long.
export const most = 2000;
const mostNoted = 500;
let sending = null, tab = "", refusal = null;

export const waiting = () => queue.length;
export const refused = () => refusal; // the Failure for which the first batch waits although the server responds

// A tab keeps its name when it is reloaded, so that it can undo earlier decisions. A duplicated tab gets a new name.
export async function name() {
  const fresh = () => Array.from(crypto.getRandomValues(new Uint8Array(8)), (b) => b.toString(16).padStart(2, "0")).join("");
  tab = sessionStorage.getItem("winnow-tab") || fresh();
  if (navigator.locks && !await hold(tab)) await hold(tab = fresh());
  sessionStorage.setItem("winnow-tab", tab);
}
function hold(name) {
  return new Promise((held) => {
    navigator.locks.request(`winnow-tab-${name}`, { signal: AbortSignal.timeout(500) }, () => { held(true); return new Promise(() => {}); }).catch(() => held(false));
  });
}
export const me = () => tab;

// decide queues a decision for each row. action(row) returns {action, label, note}, or null if the decision is not
// possible for this row. Without note, the row's current note stays.
export function decide(rows, action) {
  const list = [], skipped = rows.length;
  for (const row of rows) {
    const wanted = action(row);
    if (!wanted) continue;
    const label = wanted.label ?? "", waits = store.pending.get(row.id), before = waits ?? row.decision, note = wanted.note ?? waits?.note;
    const same = (before?.action ?? "undecided") === wanted.action && (before?.label ?? "") === label;
    if (same && (note === undefined || note === (waits?.note ?? row.note))) { list.push(null); continue; }
    list.push({ id: row.id, action: wanted.action, label, note, noted: same, create: wanted.create, version: row.version, path: row.path });
  }
  const batch = list.filter(Boolean);
  if (list.length < skipped) store.say(`${many(skipped - list.length, "image")} without a better suggestion left unchanged`);
  const size = batch.some((d) => d.note) ? mostNoted : most;
  for (let i = 0; i < batch.length; i += size) push(batch.slice(i, i + size));
  return list.length > 0;
}
function push(list) {
  queue.push({ list });
  for (const d of list) {
    store.pending.set(d.id, d);
    store.emit("row", d.id);
  }
  store.emit("outbox");
  drain();
}

// drain sends the queued steps in order. It resolves when the queue is empty or the first step cannot be sent.
export function drain() {
  return sending ??= send().then((left) => { sending = null; return left || queue.length === 0 ? undefined : drain(); }, (e) => { sending = null; throw e; });
}
// send sends one step, and returns whether the step stays in the queue because it cannot be sent now.
async function send() {
  while (queue.length > 0) {
    const batch = queue[0];
    batch.out = true;
    if (batch.turn) { await back(batch); continue; }
    try {
      const answer = await post("/api/decide", { tab, reviewer: reviewer(), audit: store.sum, decisions: batch.list.map(({ id, action, label, create, note, version }) => ({ id, action, label, create, note, version })) });
      refusal = null;
      forget(batch);
      arrived(answer.applied);
      store.standing(answer);
      store.say(sentence(batch.list));
    } catch (e) {
      if (!(e instanceof Failure)) throw e;
      if (e.status === 409) { refusal = null; await disputed(batch, e.body.conflicts ?? []); continue; }
      refusal = e.status >= 500 || e.status === 412 ? e : null; // for example a full disk or a moved file (5xx), or another audit (412)
      if (refusal || e.status === 0 || e.status === 401 || e.status === 403) {
        store.emit("outbox");
        return true; // the step stays in the queue
      }
      forget(batch);
      store.say(`Not saved: ${e.message}`);
    }
  }
  return false;
}
function forget(batch) {
  queue.splice(queue.indexOf(batch), 1);
  for (const { id } of batch.list) {
    if (queue.some((b) => b.list.some((d) => d.id === id))) continue;
    store.pending.delete(id);
    store.emit("row", id);
  }
  store.emit("outbox");
}
// arrived handles a confirmed step. It also updates the versions in later steps, which were made after this step.
function arrived(applied) {
  for (const { id, version } of applied) for (const later of queue) for (const d of later.list) if (d.id === id && d.version === version - 1) d.version = version;
  store.decided(applied);
}

// disputed handles a conflict: another tab has decided some of these images, and the batch was not saved. A conflict also
// follows a lost response; then the other decision is this tab's own.
async function disputed(batch, conflicts) {
  const wanted = new Map(batch.list.map((d) => [d.id, d]));
  const same = ({ id, decision, note }) => (decision?.action ?? "undecided") === wanted.get(id)?.action && (decision?.label ?? "") === wanted.get(id)?.label && note === (wanted.get(id)?.note ?? note);
  forget(batch);
  store.decided(conflicts, true);
  const others = conflicts.filter((c) => !same(c));
  let rest = batch.list.filter((d) => !conflicts.some((c) => c.id === d.id));
  if (others.length > 0) {
    const choice = await settle(others.map((c) => ({ ...c, path: wanted.get(c.id)?.path ?? "", mine: wanted.get(c.id) })), rest.length);
    if (choice === "cancel") rest = [];
    if (choice === "mine") rest = rest.concat(others.map((c) => ({ ...wanted.get(c.id), version: c.version })));
  }
  if (rest.length > 0) push(rest); // append to the queue that drain is sending
}

function sentence(list) {
  const d = list[0];
  if (list.every((x) => x.noted)) return `${list.length > 1 ? many(list.length, "note") : `Note on #${d.id + 1}`} ${d.note ? "saved" : "deleted"}`;
  if (list.length > 1 && list.every((x) => x.action === "relabel")) return `${many(list.length, "label")} changed${list.every((x) => x.label === d.label) ? ` to ${called(d.label)}` : ""}`;
  if (list.length > 1) return `${many(list.length, "image")} ${list.every((x) => x.action === d.action && x.label === d.label) ? done(d) : "decided"}`;
  return `#${d.id + 1} ${d.action === "undecided" ? "is undecided again" : done(d)} (${file(d.path)})`;
}

// undo reverts the latest batch. A batch not sent yet is removed from the queue; otherwise the server reverts its latest.
export async function undo() {
  const last = queue.at(-1);
  if (last && !last.out && !last.turn) {
    forget(last);
    return store.say("Undone before it was saved");
  }
  await turn({ path: "/api/undo", word: "undone", nothing: "Nothing to undo in this tab" });
}
export const redo = () => turn({ path: "/api/redo", word: "redone", nothing: "Nothing to redo" });

// turn queues an undo or a redo after all earlier decisions.
async function turn(step) {
  if (queue.length > 0 && !sending) return store.say("Some decisions are not saved yet: try again when they are");
  queue.push({ list: [], turn: step });
  await drain();
}
// back sends an undo or a redo. It is never sent twice, because the server may have done it even if no response arrived.
async function back(step) {
  const { path, word, nothing } = step.turn;
  try {
    const answer = await post(path, { tab, reviewer: reviewer() }), list = answer[word] ?? [];
    forget(step);
    arrived(list);
    store.standing(answer);
    store.say(`${word === "undone" ? "Undone" : "Redone"}: ${list.length === 1 ? `#${list[0].id + 1} ${done(list[0].decision?.action === "undecided" ? null : list[0].decision)}` : many(list.length, "image")}`);
    store.emit("turned", list.map((d) => d.id));
  } catch (e) {
    forget(step);
    if (!(e instanceof Failure)) throw e;
    if (e.status === 409) store.decided(e.body.conflicts ?? [], true);
    store.say(e.status === 404 ? nothing : e.status === 409 ? `Not ${word}: another tab has decided since. ${e.message}` : `Not ${word}: ${e.message}`);
  }
}

addEventListener("beforeunload", (e) => { if (queue.length > 0) e.preventDefault(); });
connection.addEventListener("found", () => drain());
