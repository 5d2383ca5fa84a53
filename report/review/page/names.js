// The class names to show. The rest of the page identifies classes by their labels.

let names = new Map();

export function learn(classes) { names = new Map(classes.filter((c) => c.called).map((c) => [c.name, c.called])); }
export const called = (label) => names.get(label) ?? label;

// full returns a class name followed by its label, unless the name contains the label.
export const full = (label) => (called(label).includes(label) ? called(label) : `${called(label)} (${label})`);
