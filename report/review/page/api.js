// Sends requests to the server, and tracks whether the server responds.

// A Failure is the error for a refused request: a message in one line, and the HTTP status (0: no response).
export class Failure extends Error {
  constructor(message, status, body) {
    super(message);
    this.status = status;
    this.body = body;
  }
}

// connection dispatches "lost" and "found". While the server does not respond, connection.lost is the reason.
export const connection = new EventTarget();
connection.lost = "";
function hear(lost) {
  const before = connection.lost;
  connection.lost = lost;
  if (Boolean(before) !== Boolean(lost)) connection.dispatchEvent(new Event(lost ? "lost" : "found"));
}

const patience = 20_000; // ms to wait for a response

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
    hear("winnow was restarted: open the URL that it printed.");
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
// bytes requests a binary response.
export const bytes = (path) => call(path, {}, patience, true);
export const post = (path, body, wait) => call(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) }, wait);
export const upload = (path, blob, signal) => call(path, { method: "POST", headers: { "Content-Type": blob.type }, body: blob, signal }, 120_000);
