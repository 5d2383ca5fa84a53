package datasets

import (
	"fmt"
	"hash/maphash"
	"slices"
	"strings"

	"winnow/internal/text"
)

// Repeat is a row of a source that lists an image again with the same label and split. It was read once.
type Repeat struct {
	Row    int // its position among the rows of the source
	Of     int // the sample that it repeats
	Sample Sample
}

// ReadOnce leaves out the samples that repeat another one, into Repeats. An image with two labels is an error. notes
// report repeated images, and images that are in several splits: those stay in each. row names a sample by its place,
// such as "row 3". Time and memory are those of sorting 4 bytes per sample, unless many repeat.
func (d *Dataset) ReadOnce(row func(sample int) string) (notes []string, err error) {
	again := d.listedAgain()
	if len(again) == 0 {
		return nil, nil
	}
	first, inSplit := map[string]int{}, map[[2]string]int{}
	gone := map[int]bool{}
	var twice, leaked, conflict []string
	for _, i := range again {
		s := &d.Samples[i]
		path := strings.ReplaceAll(s.Path, `\`, "/")
		was, known := first[path]
		if !known {
			first[path], inSplit[[2]string{path, s.Split}] = i, i
			continue
		}
		old := &d.Samples[was]
		old.Path = path
		rows := fmt.Sprintf("%q in %s and %s", text.Shortened(path, 200), row(was), row(i))
		same, known := inSplit[[2]string{path, s.Split}]
		switch {
		case s.Label != old.Label:
			conflict = append(conflict, fmt.Sprintf("%s, labelled %q and %q", rows, d.LabelName(*old), d.LabelName(*s)))
		case s.True != old.True:
			conflict = append(conflict, fmt.Sprintf("%s, with the true labels %q and %q", rows, d.className(old.True),
				d.className(s.True)))
		case known:
			twice = append(twice, rows)
			d.Repeats, gone[i] = append(d.Repeats, Repeat{i, same, *s}), true
		default:
			inSplit[[2]string{path, s.Split}] = i
			if !isRetrievalSplit(s.Split) || !isRetrievalSplit(old.Split) {
				leaked = append(leaked, fmt.Sprintf("%s (%s and %s)", rows, old.Split, s.Split))
			}
		}
	}
	if len(conflict) > 0 {
		return nil, fmt.Errorf("%s with two labels, such as %s: expected one label per image: correct or delete one "+
			"of the rows", text.Plural(len(conflict), "image"), conflict[0])
	}
	if len(twice) > 0 {
		notes = append(notes, fmt.Sprintf("%s repeated with the same label and read once, such as %s",
			text.Plural(len(twice), "row"), twice[0]))
	}
	if len(leaked) > 0 {
		notes = append(notes, fmt.Sprintf("leak: %s in two splits, such as %s: measures on the second are too good",
			text.Plural(len(leaked), "image"), leaked[0]))
	}
	d.leaveOut(gone)
	return notes, nil
}

// JoinSplits leaves out all samples of an image but the first, into Repeats, where it has one label in several splits:
// people decide about it once.
func (d *Dataset) JoinSplits() {
	first, into, gone := map[string]int{}, map[int]int{}, map[int]bool{}
	again, rows := d.Repeats, d.SourceRows()
	for _, i := range d.listedAgain() {
		was, known := first[d.Samples[i].Path]
		if !known {
			first[d.Samples[i].Path] = i
			continue
		}
		into[i], gone[i] = was, true
		again = append(again, Repeat{rows[i], was, d.Samples[i]})
	}
	d.Repeats = again
	for k, r := range again {
		if was, joined := into[r.Of]; joined {
			d.Repeats[k].Of = was
		}
	}
	slices.SortFunc(d.Repeats, func(a, b Repeat) int { return a.Row - b.Row })
	d.leaveOut(gone)
}

// isRetrievalSplit reports whether a split may share images with another such: a query is left out of its own gallery.
func isRetrievalSplit(split string) bool { return split == Query || split == Gallery }

// listedAgain returns the positions of the samples whose path, or its hash, is that of another one.
func (d *Dataset) listedAgain() (at []int) {
	seed := maphash.MakeSeed()
	hashOf := func(i int) uint32 {
		return uint32(maphash.String(seed, strings.ReplaceAll(d.Samples[i].Path, `\`, "/")))
	}
	hashes := make([]uint32, len(d.Samples))
	for i := range hashes {
		hashes[i] = hashOf(i)
	}
	slices.Sort(hashes)
	several := map[uint32]bool{}
	for i := 1; i < len(hashes); i++ {
		if hashes[i] == hashes[i-1] {
			several[hashes[i]] = true
		}
	}
	for i := 0; i < len(hashes) && len(several) > 0; i++ {
		if several[hashOf(i)] {
			at = append(at, i)
		}
	}
	return at
}

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

// SourceRows returns the position of each sample among the rows of the source, which may repeat some.
func (d *Dataset) SourceRows() []int {
	rows, repeats := make([]int, len(d.Samples)), d.Repeats
	for i, row := 0, 0; i < len(rows); row++ {
		if len(repeats) > 0 && repeats[0].Row == row {
			repeats = repeats[1:]
			continue
		}
		rows[i] = row
		i++
	}
	return rows
}

// withRepeats returns d with its repeated rows as samples, and the decisions and columns of these samples.
func (d *Dataset) withRepeats(decisions map[int]Decision, more []Column) (*Dataset, map[int]Decision, []Column) {
	if len(d.Repeats) == 0 {
		return d, decisions, more
	}
	made, of := *d, make([]int, len(d.Samples)+len(d.Repeats)) // the sample of d of each row
	made.Samples, made.Repeats = make([]Sample, len(of)), nil
	for i, row := range d.SourceRows() {
		made.Samples[row], of[row] = d.Samples[i], i
	}
	for _, r := range d.Repeats {
		made.Samples[r.Row], of[r.Row] = r.Sample, r.Of
	}
	do, wide := map[int]Decision{}, make([]Column, len(more))
	for k, c := range more {
		wide[k] = Column{c.Name, map[int]string{}}
	}
	for row, i := range of {
		if what, ok := decisions[i]; ok {
			do[row] = what
		}
		for k, c := range more {
			wide[k].Cells[row] = c.Cells[i]
		}
	}
	return &made, do, wide
}
