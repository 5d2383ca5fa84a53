// What people call the classes: labels stay what they are everywhere else.

let names = new Map();

export function learn(classes) { names = new Map(classes.filter((c) => c.called).map((c) => [c.name, c.called])); }
export const called = (label) => names.get(label) ?? label;

// full is a name with the label behind it, where that is another word and not in the name already.
export const full = (label) => (called(label).includes(label) ? called(label) : `${called(label)} (${label})`);
