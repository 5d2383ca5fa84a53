package datasets

import (
	"slices"
	"strings"
)

// builder makes samples of rows as they come, so that of a long manifest nothing is held but its samples: names of classes are kept
// once each, and paths without the lines that they were read from.
type builder struct {
	samples []Sample
	names   []string       // of classes, as they came
	ids     map[string]int // their places
	paths   strings.Builder
	list    *[]string // nil, or what takes the paths in place of the samples
}

// pathsRoom is how many bytes of paths are kept behind each other.
const pathsRoom = 1 << 16

// add adds a row.
func (b *builder) add(r row) {
	if b.list != nil {
		*b.list = append(*b.list, r.path)
		return
	}
	b.samples = append(b.samples, Sample{Path: r.path, Label: b.id(r.label), True: b.id(r.truth), Split: r.split, Extra: r.extra})
}

// id returns the place of a class.
func (b *builder) id(name string) int {
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

// keep returns a path as a string of its own, not part of a line.
func (b *builder) keep(path string) string {
	if b.paths.Cap()-b.paths.Len() < len(path) {
		b.paths = strings.Builder{} // what was kept stays where it is
		b.paths.Grow(max(pathsRoom, len(path)))
	}
	at := b.paths.Len()
	b.paths.WriteString(path)
	return b.paths.String()[at:]
}

// guessAfter rows a file's length says how many are to come.
const guessAfter = 1 << 12

// expect makes room for as many times the rows so far, and a hundredth more, so that a list that grows is not copied again and again.
// Room costs no memory before it is used.
func (b *builder) expect(times float64) {
	switch more := int((times*1.01 - 1) * float64(b.rows())); {
	case more <= 0:
	case b.list != nil:
		*b.list = slices.Grow(*b.list, more)
	default:
		b.samples = slices.Grow(b.samples, more)
	}
}

// rows counts those that were added.
func (b *builder) rows() int {
	if b.list != nil {
		return len(*b.list)
	}
	return len(b.samples)
}

// dataset returns the samples, their classes numbered in order.
func (b *builder) dataset(columns []string) *Dataset {
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
