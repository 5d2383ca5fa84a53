// The names shown for classes. Everywhere else a class is known by its label.

let names = new Map();

export function learn(classes) { names = new Map(classes.filter((c) => c.called).map((c) => [c.name, c.called])); }
export const called = (label) => names.get(label) ?? label;

// full is a name followed by the label, unless the name contains the label.
export const full = (label) => (called(label).includes(label) ? called(label) : `${called(label)} (${label})`);
