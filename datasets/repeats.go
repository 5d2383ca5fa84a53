package datasets

import (
	"fmt"
	"strings"

	"winnow/internal/text"
)

// Repeat is a row of a source that lists an image again with the same label and split. It was read once.
type Repeat struct {
	Of     int // the sample that it repeats
	Sample Sample
}

// ReadOnce leaves out the samples that repeat another one, into Repeats. An image with two labels is an error. notes
// report repeated images, and images that are in several splits: those stay in each. row names a sample by its place,
// such as "row 3".
func (d *Dataset) ReadOnce(row func(sample int) string) (notes []string, err error) {
	first, inSplit := make(map[string]int, len(d.Samples)), map[[2]string]int{}
	gone := map[int]bool{}
	var twice, leaked leftList
	for i := range d.Samples {
		s := &d.Samples[i]
		path := strings.ReplaceAll(s.Path, `\`, "/")
		was, known := first[path]
		if !known {
			first[path] = i
			continue
		}
		old := &d.Samples[was]
		old.Path = path
		rows := fmt.Sprintf("%q in %s and %s", text.Shortened(path, 200), row(was), row(i))
		same, known := inSplit[[2]string{path, s.Split}]
		if s.Split == old.Split {
			same, known = was, true
		}
		switch {
		case s.Label != old.Label || s.True != old.True:
			return nil, fmt.Errorf("found an image with two labels: %s, labelled %q and %q (true labels %q and %q): "+
				"expected one label per image: correct or delete one of the rows", rows, d.LabelName(*old),
				d.LabelName(*s), d.className(old.True), d.className(s.True))
		case known:
			twice.addMany("", "", rows, 1)
			d.Repeats, gone[i] = append(d.Repeats, Repeat{same, *s}), true
		default:
			inSplit[[2]string{path, s.Split}] = i
			if !isRetrievalSplit(s.Split) || !isRetrievalSplit(old.Split) {
				leaked.addMany("", "", fmt.Sprintf("%s (%s and %s)", rows, old.Split, s.Split), 1)
			}
		}
	}
	for _, l := range twice {
		notes = append(notes, fmt.Sprintf("%s repeated with the same label and read once, such as %s",
			text.Plural(l.Files, "row"), l.First))
	}
	for _, l := range leaked {
		notes = append(notes, fmt.Sprintf("leak: %s in two splits, such as %s: measures on the second are too good",
			text.Plural(l.Files, "image"), l.First))
	}
	d.leaveOut(gone)
	return notes, nil
}

// JoinSplits leaves out all samples of an image but the first, into Repeats, where it has one label in several splits:
// people decide about it once.
func (d *Dataset) JoinSplits() {
	first, into, gone := map[string]int{}, map[int]int{}, map[int]bool{}
	again := d.Repeats
	for i := range d.Samples {
		was, known := first[d.Samples[i].Path]
		if !known {
			first[d.Samples[i].Path] = i
			continue
		}
		into[i], gone[i] = was, true
		again = append(again, Repeat{was, d.Samples[i]})
	}
	d.Repeats = again
	for k, r := range again {
		if was, joined := into[r.Of]; joined {
			d.Repeats[k].Of = was
		}
	}
	d.leaveOut(gone)
}

// isRetrievalSplit reports whether a split may share images with another such: a query is left out of its own gallery.
func isRetrievalSplit(split string) bool { return split == Query || split == Gallery }

// leaveOut removes samples, and lets Repeats name the others by their new positions.
func (d *Dataset) leaveOut(gone map[int]bool) {
	if len(gone) == 0 {
		return
	}
	kept, to := d.Samples[:0], make([]int, len(d.Samples))
	for i, s := range d.Samples {
		if to[i] = len(kept); !gone[i] {
			kept = append(kept, s)
		}
	}
	d.Samples = kept
	for k := range d.Repeats {
		d.Repeats[k].Of = to[d.Repeats[k].Of]
	}
}
