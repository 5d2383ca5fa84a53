// Requests to the server, and whether it answers.

// A Failure is a refusal: what was wrong in one line, and the status (0: no answer came).
export class Failure extends Error {
  constructor(message, status, body) {
    super(message);
    this.status = status;
    this.body = body;
  }
}

// connection dispatches "lost" and "found"; lost is the reason while there is no answer.
export const connection = new EventTarget();
connection.lost = "";
function hear(lost) {
  const before = connection.lost;
  connection.lost = lost;
  if (Boolean(before) !== Boolean(lost)) connection.dispatchEvent(new Event(lost ? "lost" : "found"));
}

const patience = 20_000; // ms to wait for an answer

async function call(path, options, wait = patience, raw = false) {
  const signals = [AbortSignal.timeout(wait)];
  if (options.signal) signals.push(options.signal);
  let response, body;
  try {
    response = await fetch(path, { ...options, signal: AbortSignal.any(signals), cache: "no-store", credentials: "same-origin" });
    body = raw && response.ok ? await response.arrayBuffer() : (response.headers.get("Content-Type") ?? "").startsWith("application/json") ? await response.json() : { error: (await response.text()).trim() };
  } catch (e) {
    if (options.signal?.aborted) throw e;
    hear("No answer from winnow: was it stopped?");
    throw new Failure(connection.lost, 0);
  }
  if (response.status === 401 || response.status === 403) {
    hear("winnow was restarted: open the address that it printed.");
    throw new Failure(connection.lost, response.status, body);
  }
  hear("");
  if (!response.ok) throw new Failure(body.error || `${path}: ${response.status} ${response.statusText}`, response.status, body);
  return body;
}

export function ask(path, values = {}, signal = undefined) {
  const given = Object.entries(values).filter(([, v]) => v !== "" && v !== null && v !== undefined);
  const query = new URLSearchParams(given).toString();
  return call(query ? `${path}?${query}` : path, { signal });
}
// bytes asks for an answer that is not JSON.
export const bytes = (path) => call(path, {}, patience, true);
export const post = (path, body, wait) => call(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) }, wait);
export const upload = (path, blob, signal) => call(path, { method: "POST", headers: { "Content-Type": blob.type }, body: blob, signal }, 120_000);
