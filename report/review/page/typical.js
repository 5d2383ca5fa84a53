// Typical images of a class, requested once per class and cached.

import { ask } from "./api.js";

const most = 300, known = new Map();

export function typical(name) {
  if (known.has(name)) return known.get(name);
  if (known.size >= most) known.delete(known.keys().next().value);
  const pictures = ask("/api/typical", { class: name, n: 6 }).then((a) => a.pictures ?? []);
  known.set(name, pictures);
  pictures.catch(() => known.delete(name));
  return pictures;
}
