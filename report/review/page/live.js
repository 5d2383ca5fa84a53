// The page of winnow train --watch: one training, while it runs and afterwards.

import { get } from "./dom.js";
import { ask, connection, Failure } from "./api.js";
import { Follower } from "./run.js";
import { theme } from "./theme.js";

let over = false; // a person ended the page, or the training has ended and nothing is asked any more

function lost() {
  const gone = connection.lost !== "" && !over;
  get("lost").hidden = !gone;
  if (gone) get("lost-words").textContent = "winnow does not answer: the training was stopped, or it failed. The terminal says which.";
}

async function run() {
  theme();
  connection.addEventListener("lost", lost);
  connection.addEventListener("found", lost);
  const { runs: [first] } = await ask("/api/runs"), follower = new Follower(get("run"), { ended: end });
  document.title = `${first.name} – winnow train`;
  get("end").addEventListener("click", async () => {
    over = true;
    follower.stop();
    clearTimeout(asking);
    await fetch("/api/end", { method: "POST", headers: { "Content-Type": "application/json" }, body: "{}", credentials: "same-origin" });
    get("end").hidden = true;
    document.getElementById("run-report")?.remove(); // nobody makes it any more
    get("said").textContent = "The page has ended. What it shows stays.";
  });
  await follower.follow(first.key);
  if ((await ask("/api/run", { run: first.key })).state === "finished") end();
  document.documentElement.dataset.ready = "yes";
}

// end tells that the training has ended. The page goes on asking, seldom, so that the server knows that it is open.
let asking = 0;
function end() {
  get("end").hidden = false;
  get("said").textContent = "The training has ended.";
  const again = () => { asking = setTimeout(async () => { await ask("/api/runs").catch(() => {}); again(); }, 20_000); };
  clearTimeout(asking);
  again();
}

addEventListener("unhandledrejection", (e) => { if (e.reason instanceof Failure) e.preventDefault(); });
run();
