// The search lists sections that contain all words, first those with a word in the title. build puts the variable sections before this line.
const query = document.getElementById("query"), found = document.getElementById("found"), page = document.getElementById("page");
document.getElementById("menu").open = innerWidth >= 900;
for (const s of sections) s.all = `${s.p} ${s.s} ${s.t}`.toLowerCase();

function look() {
  const words = query.value.toLowerCase().split(/\s+/).filter(Boolean);
  page.hidden = words.length > 0;
  found.hidden = words.length === 0;
  if (words.length === 0) return;
  const value = (s) => words.reduce((sum, w) => sum + (s.s.toLowerCase().includes(w) ? 4 : 0) + (s.p.toLowerCase().includes(w) ? 2 : 0), 0) - (/^(docs\/log|experiments|CHANGELOG)/.test(s.a) ? 3 : 0);
  const hits = sections.filter((s) => words.every((w) => s.all.includes(w))).map((s) => [value(s), s]).sort((a, b) => b[0] - a[0]);
  const item = ([, s]) => {
    const li = document.createElement("li"), a = document.createElement("a"), p = document.createElement("p");
    a.href = root + s.a;
    a.textContent = s.s === s.p ? s.p : `${s.p}: ${s.s}`;
    const at = Math.max(0, s.t.toLowerCase().indexOf(words[0]) - 60);
    p.textContent = (at ? "…" : "") + s.t.slice(at, at + 180) + (at + 180 < s.t.length ? "…" : "");
    li.append(a, p);
    return li;
  };
  const head = document.createElement("h1"), list = document.createElement("ol");
  head.textContent = hits.length === 0 ? "No section contains all these words" : hits.length > 30 ? `The first 30 of ${hits.length} sections` : `${hits.length} ${hits.length === 1 ? "section" : "sections"}`;
  list.append(...hits.slice(0, 30).map(item));
  found.replaceChildren(head, list);
}
query.addEventListener("input", look);
document.getElementById("search").addEventListener("submit", (e) => { e.preventDefault(); found.querySelector("a")?.click(); });
found.addEventListener("click", (e) => { if (e.target.closest("a")) { query.value = ""; look(); } });
