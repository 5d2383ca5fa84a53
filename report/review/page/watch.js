// Polls the server for decisions of other tabs, and shows a banner while decisions cannot be saved.

import { get } from "./dom.js";
import { ask, connection } from "./api.js";
import { store } from "./store.js";
import { drain, waiting, refused } from "./outbox.js";
import { many, done, who } from "./words.js";
import { me } from "./reviewer.js";
import { watch as cards } from "./card.js";

const every = 2500, retry = 2000; // ms
let timer = 0, busy = false, missed = false;

export function watch() {
  cards(trouble);
  connection.addEventListener("lost", () => { missed = true; draw(); });
  connection.addEventListener("found", () => draw());
  store.addEventListener("outbox", draw);
  get("retry").addEventListener("click", () => look());
  document.addEventListener("visibilitychange", () => { if (!document.hidden) look(); });
  timer = setTimeout(look, every);
}

// trouble returns why decisions cannot be saved now, or "" if they can.
const trouble = () => connection.lost || (refused() ? `Not saved: ${refused().message}.` : "");

function draw() {
  const n = waiting(), words = trouble();
  get("lost").hidden = !words;
  store.trouble = words ? `${words} ${n ? `${many(n, "step")} of yours ${n === 1 ? "is" : "are"} not saved yet and will be sent ${connection.lost ? "when it answers again" : "again"}.` : "All your decisions so far are saved."}` : "";
  get("lost-words").textContent = store.trouble;
  store.emit("trouble");
  get("lost-save").hidden = connection.lost || !refused()?.body?.save;
  for (const id of store.pending.keys()) store.emit("row", id);
}

// look requests the changes since the last time. After a lost connection, it reloads the rows.
async function look() {
  clearTimeout(timer);
  if (busy) return;
  busy = true;
  try {
    if (connection.lost || missed) {
      await store.refresh();
      missed = false;
      await drain();
      if (store.pending.size === 0) await store.load(true);
    } else if (!document.hidden) {
      if (waiting()) await drain();
      let answer;
      do {
        const since = store.session.version, reviewer = me();
        answer = await ask("/api/changes", { since, reviewer });
        if (reviewer !== me()) return; // the response is for another reviewer
        if (answer.audit !== store.sum) return void await store.refresh();
        if (answer.version < since) await store.refresh();
        else if (answer.changed.length > 0) heard(answer);
        store.session.version = answer.version;
      } while (answer.more);
    }
  } catch {
    // The banner shows the error.
  } finally {
    busy = false;
    timer = setTimeout(look, connection.lost ? retry : every);
  }
}

// opinion describes another reviewer's decision about an image.
function opinion({ id, others }) {
  const o = others.find((now) => !store.find(id)?.others.some((was) => was.reviewer === now.reviewer && was.at === now.at));
  return store.find(id) && o ? `${who(o.reviewer)}: #${id + 1} ${o.action === "undecided" ? "has a note" : done(o)}` : "";
}

function heard(answer) {
  const theirs = answer.changed.filter((c) => !store.pending.has(c.id)), other = theirs.map(opinion).find(Boolean), news = store.decided(theirs, true);
  store.standing(answer);
  if (news === 0) return other && store.say(other);
  const one = theirs.find((c) => store.find(c.id)?.elsewhere);
  store.say(`Another tab decided: ${news === 1 && one ? `#${one.id + 1} ${done(store.find(one.id).decision)}` : many(news, "image")}`);
}
