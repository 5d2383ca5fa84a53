package datasets

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"winnow/internal/text"
)

// Change is an image whose label or split differs between two versions of a dataset.
type Change struct {
	Path string `json:"path"`
	Was  string `json:"was"`
	Now  string `json:"now"`
}

// Changes lists what differs between two versions of a dataset. Images are compared by path, not by content.
type Changes struct {
	Added      []string `json:"added"`
	Removed    []string `json:"removed"`
	Relabelled []Change `json:"relabelled"`
	Moved      []Change `json:"moved"`    // to another split
	Repeated   []string `json:"repeated"` // with the same labels and splits as before, but in more rows
}

// CompareVersions returns the changes from one version of a dataset to the next. If an image has several labels or
// splits, it compares all of them.
func CompareVersions(old, now *Dataset) *Changes {
	was, is := old.listByPath(), now.listByPath()
	c := &Changes{Added: []string{}, Removed: []string{}, Relabelled: []Change{}, Moved: []Change{},
		Repeated: []string{}}
	for _, path := range slices.Sorted(maps.Keys(was)) {
		a, b := was[path], is[path]
		if b == nil {
			c.Removed = append(c.Removed, path)
			continue
		}
		if a.labels != b.labels {
			c.Relabelled = append(c.Relabelled, Change{path, a.labels, b.labels})
		}
		if a.splits != b.splits {
			c.Moved = append(c.Moved, Change{path, a.splits, b.splits})
		}
		if a.labels == b.labels && a.splits == b.splits && a.rows < b.rows {
			c.Repeated = append(c.Repeated, path)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(is)) {
		if was[path] == nil {
			c.Added = append(c.Added, path)
		}
	}
	return c
}

// Touched returns the paths that were added, relabelled, moved or repeated.
func (c *Changes) Touched() map[string]bool {
	touched := map[string]bool{}
	for _, path := range slices.Concat(c.Added, c.Repeated) {
		touched[path] = true
	}
	for _, change := range slices.Concat(c.Relabelled, c.Moved) {
		touched[change.Path] = true
	}
	return touched
}

// String counts the changes.
func (c *Changes) String() string {
	return fmt.Sprintf("%d added, %d removed, %d relabelled, %d moved to another split, %d listed again", len(c.Added),
		len(c.Removed), len(c.Relabelled), len(c.Moved), len(c.Repeated))
}

// Write writes the changes as text.
func (c *Changes) Write(w io.Writer) error {
	fmt.Fprintln(w, c)
	for _, path := range c.Added {
		fmt.Fprintf(w, "+ %s\n", text.Line(path))
	}
	for _, path := range c.Removed {
		fmt.Fprintf(w, "- %s\n", text.Line(path))
	}
	for _, k := range slices.Concat(c.Relabelled, c.Moved) {
		fmt.Fprintf(w, "~ %s: %s → %s\n", text.Line(k.Path), text.Line(k.Was), text.Line(k.Now))
	}
	for _, path := range c.Repeated {
		fmt.Fprintf(w, "= %s: listed again\n", text.Line(path))
	}
	return nil
}

// givenNames holds all labels and splits of an image, in order, separated by " | ", and its number of rows.
type givenNames struct {
	labels, splits string
	rows           int
}

// listByPath returns the labels and splits of every image.
func (d *Dataset) listByPath() map[string]*givenNames {
	all := make(map[string]*givenNames, len(d.Samples))
	add := func(s Sample) {
		l := all[s.Path]
		if l == nil {
			all[s.Path] = &givenNames{d.LabelName(s), s.Split, 1}
			return
		}
		l.rows++
		l.labels, l.splits = addSorted(l.labels, d.LabelName(s)), addSorted(l.splits, s.Split)
	}
	for _, s := range d.Samples {
		add(s)
	}
	for _, r := range d.Repeats {
		r.Sample.Path = d.Samples[r.Of].Path
		add(r.Sample)
	}
	return all
}

// addSorted adds a name to a sorted list, unless the list contains it.
func addSorted(list, name string) string {
	names := append(strings.Split(list, " | "), name)
	slices.Sort(names)
	return strings.Join(slices.Compact(names), " | ")
}
