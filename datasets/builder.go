package datasets

import (
	"slices"
	"strings"
)

// builder turns rows into samples one by one, so a long manifest takes no memory except for its samples: class
// names are stored once, and paths without the lines they were read from.
type builder struct {
	samples []Sample
	names   []string       // of classes, in order of appearance
	ids     map[string]int // their indexes in names
	paths   strings.Builder
}

// pathsRoom is the size in bytes of the blocks in which paths are stored.
const pathsRoom = 1 << 16

// addSample adds a row as a sample.
func (b *builder) addSample(r row) {
	b.samples = append(
		b.samples,
		Sample{Path: r.path, Label: b.numberClassName(r.label), True: b.numberClassName(r.truth), Split: r.split,
			Extra: r.extra},
	)
}

// numberClassName returns the index of a class.
func (b *builder) numberClassName(name string) int {
	if name == "" {
		return Unlabelled
	}
	id, ok := b.ids[name]
	if !ok {
		if b.ids == nil {
			b.ids = make(map[string]int)
		}
		name = strings.Clone(name)
		id = len(b.names)
		b.names, b.ids[name] = append(b.names, name), id
	}
	return id
}

// clonePath returns a copy of path, so that the line it is part of can be freed.
func (b *builder) clonePath(path string) string {
	if b.paths.Cap()-b.paths.Len() < len(path) {
		b.paths = strings.Builder{} // earlier paths keep the old block
		b.paths.Grow(max(pathsRoom, len(path)))
	}
	at := b.paths.Len()
	b.paths.WriteString(path)
	return b.paths.String()[at:]
}

// guessAfter is the number of rows after which the file's length predicts the total.
const guessAfter = 1 << 12

// reserveRows reserves room for times as many rows as so far, and one percent more, so that a growing list is not
// copied repeatedly. Reserved room costs no memory before it is used.
func (b *builder) reserveRows(times float64) {
	b.samples = slices.Grow(b.samples, max(int((times*1.01-1)*float64(b.countAdded())), 0))
}

// countAdded returns the number of rows added.
func (b *builder) countAdded() int { return len(b.samples) }

// buildSorted returns the samples, with classes numbered in sorted order.
func (b *builder) buildSorted(columns []string) *Dataset {
	d := &Dataset{Columns: columns, Samples: b.samples, Classes: append([]string(nil), b.names...)}
	sortClasses(d.Classes)
	place := make([]int, len(d.Classes))
	for id, name := range d.Classes {
		place[b.ids[name]] = id
	}
	for i := range d.Samples {
		s := &d.Samples[i]
		if s.Label != Unlabelled {
			s.Label = place[s.Label]
		}
		if s.True != Unlabelled {
			s.True = place[s.True]
		}
	}
	return d
}
