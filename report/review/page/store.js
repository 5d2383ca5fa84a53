// The state of the page: the session, the rows of the list's current page, the current row, and the selected rows.
// Events: "session" (counts, precision, hint), "rows" (another page), "row" (detail: id), "current", "selection", "said".

import { ask } from "./api.js";
import { read, write, query, blank, begin, finds } from "./address.js";
import { me } from "./reviewer.js";
import { learn } from "./names.js";
import { drawnAtRandom } from "./words.js";

class Store extends EventTarget {
  session = null;
  sum = null; // hash of the audit shown: its decisions must not be sent to another audit
  place = read();
  rows = [];
  groups = null; // groups of findings: [{rows, why, images, likely}]; null: the rows are not grouped
  total = 0; // number of rows or groups on all pages
  current = -1; // index in rows
  selected = new Set(); // ids
  beyond = null; // all matching rows, if those on other pages are selected, too
  trouble = ""; // why decisions cannot be saved now
  pending = new Map(); // id → decision that is not confirmed yet
  sources = {}; // view → function that requests its rows, for views with their own requests
  guests = new Map(); // id → row that is shown but not on this page
  versions = new Map(); // id → latest known version
  #asked = null;
  #ahead = null;

  emit(name, detail) { this.dispatchEvent(new CustomEvent(name, { detail })); }
  say(words) { this.emit("said", words); }
  get view() { return this.place.view; }
  get full() { return this.view === "suspects" && this.place.cards !== "compact"; } // whether cards show examples
  get size() { return this.view === "data" || this.view === "search" ? 120 : this.view === "findings" ? 12 : this.full ? 24 : 48; }
  get length() { return this.groups ? this.groups.length : this.rows.length; }
  // finding is the kind of finding shown, by default the first kind with findings.
  get finding() { return this.place.find || Object.entries(this.session?.findings ?? {}).sort(([a], [b]) => finds.indexOf(a) - finds.indexOf(b)).find(([, n]) => n > 0)?.[0] || finds[0]; }
  // kind is the filter by kind. For images to decide it is by default the suspects, if there are any.
  get kind() {
    const { kind, state } = this.place;
    if (kind) return kind === "any" ? "" : kind;
    if (this.view !== "suspects") return "";
    return state === "undecided" && this.session?.kinds.suspect ? "suspect" : "";
  }
  // left is the number of undecided suspects.
  get left() { return this.session.classes.reduce((n, c) => n + Math.max(0, c.suspects - c.decided), 0); }
  get row() { return this.rows[this.current] ?? null; }
  find(id) { return this.rows.find((r) => r.id === id) ?? this.guests.get(id) ?? null; }
  index(id) { return this.rows.findIndex((r) => r.id === id); }

  // go changes the place (filters, state, offset, view) and loads it.
  async go(changes, push = true) {
    const offset = "offset" in changes ? changes.offset : 0;
    this.place = { ...this.place, id: "", ...changes, offset: Math.max(0, offset) };
    write(this.place, push);
    await this.load();
  }

  // load requests the place's rows. It discards a response for an earlier place.
  async load(keep = false) {
    this.#asked?.abort();
    const mine = this.#asked = new AbortController();
    this.beyond = null;
    this.emit("view");
    if (this.view === "map") {
      Object.assign(this, { rows: [], groups: null, total: 0, current: -1 });
      this.unselect();
      return undefined;
    }
    this.emit("loading");
    const place = this.place, key = this.#key(place.offset), ahead = this.#ahead;
    this.#ahead = null;
    let page;
    try {
      page = !keep && ahead?.key === key && ahead.version === this.session?.version ? await ahead.page : await this.#rows(place.offset, mine.signal);
    } catch (e) {
      if (mine.signal.aborted) return undefined;
      throw e;
    }
    if (mine.signal.aborted) return undefined;
    this.groups = page.groups ?? null;
    if (page.groups) page.rows = [...new Map(page.groups.flatMap((g) => g.rows).map((row) => [row.id, row])).values()];
    if (page.rows.length === 0 && place.offset > 0 && page.total > 0) return this.go({ offset: Math.floor((page.total - 1) / this.size) * this.size }, false);
    const at = Number(place.id || -1), was = keep ? this.row?.id : -1;
    this.rows = page.rows;
    this.total = page.total;
    for (const row of this.rows) this.heard(row.id, row.version);
    for (const id of [...this.selected]) if (this.index(id) < 0) this.selected.delete(id);
    const first = this.rows.findIndex((r) => r.id === was || r.id === at);
    this.current = this.rows.length ? Math.max(0, first) : -1;
    this.emit("rows");
    this.emit("current");
    this.emit("selection");
    return undefined;
  }
  #key(offset) { return JSON.stringify([query(this.place), this.view, this.finding, this.kind, offset, this.size]); }
  // asked returns the query for the server: the filters, and the images that they apply to.
  get asked() { return { ...query(this.place), ...(this.view === "data" ? { scope: "all", sort: this.place.sort || "manifest" } : {}), kind: this.kind }; }
  #rows(offset, signal) {
    if (this.sources[this.view]) return this.sources[this.view](signal);
    if (this.view === "findings") return ask("/api/findings", { kind: this.finding, offset, limit: this.size, reviewer: me() }, signal);
    return ask("/api/rows", { ...this.asked, offset, limit: this.size, reviewer: me() }, signal);
  }

  // look requests the next page in advance. Any later decision makes the result stale.
  look() {
    const offset = this.place.offset + this.size;
    if (offset >= this.total || this.place.state === "undecided" && this.rows.some((r) => r.decision)) return null;
    const page = this.#rows(offset);
    page.catch(() => {});
    this.#ahead = { key: this.#key(offset), version: this.session?.version, page };
    return page;
  }
  stale() { this.#ahead = null; }

  // after returns the offset of the next page. Rows of this page that do not match the filter any more are not counted.
  after() {
    const { state, by } = this.place;
    const action = (r) => (by === "*" ? r.outcome : by && by !== `=${me()}` ? r.others.find((o) => by === `=${o.reviewer}`)?.action : r.decision?.action) ?? "undecided";
    const stays = (r) => (state === "all" ? true : state === "differ" ? r.differ : state === "noted" ? r.note || r.others.some((o) => o.note) : state === "decided" ? action(r) !== "undecided" : action(r) === state);
    return this.place.offset + (this.groups ? this.groups.length : this.rows.filter(stays).length);
  }

  move(to) {
    if (this.rows.length === 0) return;
    this.current = Math.min(this.rows.length - 1, Math.max(0, to));
    this.place.id = String(this.row.id);
    write(this.place, false);
    this.emit("current");
  }
  select(id, on = !this.selected.has(id)) {
    if (on) this.selected.add(id); else this.selected.delete(id);
    this.beyond = null;
    this.emit("selection");
  }
  unselect() {
    if (this.selected.size === 0) return false;
    this.selected.clear();
    this.beyond = null;
    this.emit("selection");
    return true;
  }

  // every fetches all rows of a query, for a decision about all of them.
  async every(asked) {
    const out = [], limit = 200;
    for (let offset = 0, total = 1; offset < total; offset += limit) {
      const page = await ask("/api/rows", { ...asked, offset, limit, reviewer: me() });
      total = page.total;
      out.push(...page.rows);
    }
    return out.map((row) => {
      if (this.index(row.id) >= 0) return this.rows[this.index(row.id)];
      this.guests.set(row.id, row);
      this.heard(row.id, row.version);
      return row;
    });
  }

  // begin reloads the list for another reviewer, whose decisions have their own versions.
  async begin() {
    this.versions.clear();
    this.stale();
    await this.load(true);
    this.emit("session");
  }

  heard(id, version) { this.versions.set(id, Math.max(version, this.versions.get(id) ?? 0)); }

  // decided applies decisions and versions from the server, and returns how many of them are new.
  decided(list, elsewhere = false) {
    let news = 0;
    for (const { id, decision, version, ...seen } of list) {
      if ((this.versions.get(id) ?? 0) < version) news++;
      this.heard(id, version);
      const row = this.find(id), now = decision && decision.action !== "undecided" ? decision : null;
      if (!row || row.version > version) continue;
      if (row.version !== version) row.elsewhere = elsewhere;
      Object.assign(row, seen, { decision: now, version });
      this.emit("row", id);
    }
    if (news || elsewhere) this.stale();
    return news;
  }

  // standing applies the progress of the review and of the classes.
  standing({ counts, whole, left, precision, hint, reviewers, classes = [] }) {
    Object.assign(this.session, { counts, whole, left, precision, hint, reviewers });
    const touched = new Map(classes.map((c) => [c.name, c.decided]));
    for (const c of this.session.classes) if (touched.has(c.name)) c.decided = touched.get(c.name);
    for (const { name } of classes) if (!this.session.classes.some((c) => c.name === name)) this.session.classes.push({ name, called: "", images: 0, suspects: 0, decided: 0 });
    this.emit("session");
  }
  async refresh() {
    const session = await ask("/api/session");
    this.sum ??= session.sum;
    if (this.sum !== session.sum) return this.pending.size === 0 ? location.reload() : undefined; // decisions in the queue belong to the old audit
    if (session.drawn) drawnAtRandom();
    if (!this.session) {
      begin(session.home);
      this.place = read();
    }
    this.session = session;
    learn(session.classes);
    this.emit("session");
    return undefined;
  }
}

export const store = new Store();
export const anywhere = () => blank(store.view);
