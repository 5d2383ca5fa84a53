package datasets

import (
	"cmp"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"winnow/internal/catalog"
)

// row is one line of a manifest before class names become ids.
type row struct {
	path, label, split, truth string
	extra                     []string
	number                    int // the row's number in the source, from 1; 0: the number of samples before it, plus 1
}

// buildDataset turns rows into a Dataset. Its classes are all given and true labels, in sorted order.
func buildDataset(rows []row, columns []string) *Dataset {
	b := builder{samples: make([]Sample, 0, len(rows))}
	for _, r := range rows {
		b.addSample(r)
	}
	return b.buildSorted(columns)
}

// sortClasses orders class names numerically if all are integers, otherwise as text.
func sortClasses(names []string) {
	numbers := make(map[string]int, len(names))
	for _, name := range names {
		n, err := strconv.Atoi(name)
		if err != nil {
			slices.Sort(names)
			return
		}
		numbers[name] = n
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(numbers[a], numbers[b]), cmp.Compare(a, b)) // "7" and "07" are different classes
	})
}

// cleanPath checks a manifest's path and returns it relative and slash-separated.
func cleanPath(p, strip string) (string, error) {
	if strip != "" {
		rest, ok := strings.CutPrefix(p, strip)
		if !ok {
			return "", fmt.Errorf("path %.200q does not begin with the prefix to strip, %q", p, strip)
		}
		p = strings.TrimLeft(rest, "/")
	}
	p = strings.TrimPrefix(p, "./")
	switch {
	case p == "":
		return "", fmt.Errorf("path is empty")
	case isAddress.MatchString(p):
		return "", refuseRooted(p, "an address")
	case isDrive.MatchString(p):
		return "", refuseRooted(p, "on a Windows drive")
	case path.IsAbs(p):
		return "", refuseRooted(p, "absolute")
	case !validPath(p):
		p = path.Clean(p)
		if !validPath(p) {
			return "", fmt.Errorf("path %.200q leaves the root", p)
		}
	}
	return p, nil
}

// refuseRooted returns the error for a path with a root of its own.
func refuseRooted(p, is string) error {
	return fmt.Errorf("path %.200q is %s, expected a path relative to the root: strip the root from the paths (winnow "+
		"data import --strip-prefix), and pass it as --root", p, is)
}

// isAddress and isDrive match paths with a root of their own: s3://bucket/a.png, C:
//
// hotos\a.jpg.
var (
	isAddress = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]+://`)
	isDrive   = regexp.MustCompile(`^[A-Za-z]:[\\/]`)
)

// fromWindows replaces backslashes by slashes if no path contains a slash, and returns the number of paths with
// backslashes. If a path has slashes, a backslash may belong to a name.
func fromWindows(samples []Sample) (n int, err error) {
	for i := range samples {
		if strings.Contains(samples[i].Path, "/") {
			return 0, nil
		}
		if strings.Contains(samples[i].Path, `\`) {
			n++
		}
	}
	for i := range samples {
		p := &samples[i].Path
		if *p, err = cleanPath(strings.ReplaceAll(*p, `\`, "/"), ""); n == 0 || err != nil {
			return n, err
		}
	}
	return n, nil
}

// validPath is [fs.ValidPath], except that it allows names that are not UTF-8: such a name affects its own image, not
// the whole manifest.
func validPath(p string) bool { return fs.ValidPath(strings.ToValidUTF8(p, "?")) }

// splits lists the accepted names of each split, the canonical name first.
var splits = [][]string{{Train, "training"}, {Validation, "val", "valid", "dev"}, {Test, "testing", "holdout"}, {Query},
	{Gallery}}

// ParseSplit returns the split for a name in any letter case: "val", "valid" and "dev" mean validation.
func ParseSplit(name string) (string, error) {
	names, err := catalog.Find("split", strings.ToLower(name), splits, func(names []string) []string { return names })
	if err != nil {
		return "", err
	}
	return names[0], nil
}

// Merge joins datasets in order. Class names are kept; class ids are assigned again.
func Merge(parts ...*Dataset) *Dataset {
	var columns []string
	place, n := map[string]int{}, 0 // each column's position
	for _, p := range parts {
		n += len(p.Samples)
		for _, c := range p.Columns {
			if _, known := place[c]; !known {
				place[c] = len(columns)
				columns = append(columns, c)
			}
		}
	}
	b := builder{samples: make([]Sample, 0, n)}
	for _, p := range parts {
		at := make([]int, len(p.Columns))
		for i, c := range p.Columns {
			at[i] = place[c]
		}
		ids := make([]int, len(p.Classes)) // each class's index in b, plus 1; 0: not looked up yet
		class := func(id int) int {
			if id == Unlabelled {
				return Unlabelled
			}
			if ids[id] == 0 {
				ids[id] = b.numberClassName(p.Classes[id]) + 1
			}
			return ids[id] - 1
		}
		for _, s := range p.Samples {
			s.Row = len(b.samples)
			s.Label, s.True = class(s.Label), class(s.True)
			if len(columns) > 0 {
				extra := make([]string, len(columns))
				for j, v := range s.Extra {
					extra[at[j]] = v
				}
				s.Extra = extra
			}
			b.samples = append(b.samples, s)
		}
	}
	return b.buildSorted(columns)
}

// className returns the name of a class id, "" for Unlabelled.
func (d *Dataset) className(id int) string {
	if id == Unlabelled {
		return ""
	}
	return d.Classes[id]
}

// builder turns rows into samples and stores each class name once.
type builder struct {
	samples []Sample
	names   []string       // class names in order of appearance
	ids     map[string]int // the index of each name in names
}

// addSample adds a row as a sample.
func (b *builder) addSample(r row) {
	if r.number == 0 {
		r.number = len(b.samples) + 1
	}
	b.samples = append(b.samples, Sample{Path: r.path, Label: b.numberClassName(r.label),
		True: b.numberClassName(r.truth), Split: r.split, Extra: r.extra, Row: r.number - 1})
}

// numberClassName returns the index of a class name, adding the name if it is new.
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
