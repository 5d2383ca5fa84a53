// Package datasets describes samples: their paths, given labels and true labels. It contains the readers of manifests
// and the noise models. It reads files and draws from a given random source, but never decodes an image. Training
// packages must not import it, so that training cannot see the true labels.
package datasets

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"winnow/internal/text"
)

// Unlabelled marks a sample without a given label (or, in True, without a known true label).
const Unlabelled = -1

// Names of the splits. Retrieval evaluation uses test (each query is also in the gallery, itself excluded), or query
// and gallery if a manifest has them.
const (
	Train      = "train"
	Validation = "validation"
	Test       = "test"
	Query      = "query"
	Gallery    = "gallery"
)

// Sample is one image: its path, given label and true label.
type Sample struct {
	Path  string   // slash-separated, relative to the dataset's root
	Label int      // given class id, or Unlabelled
	True  int      // true class id, or Unlabelled if unknown
	Split string   // Train, Validation, Test, Query or Gallery
	Extra []string // values of the other columns, parallel to Dataset.Columns
	Row   int      // row number in the source, from 0; for samples without a source, the position in Samples
}

// Dataset is a list of samples and the names of their classes.
type Dataset struct {
	Classes []string // name of each class id: integers in numeric order, otherwise in text order
	Samples []Sample
	Columns []string // names of the other columns, unchanged
	Names   Names    // the column names that the reader was given
	Reading *Reading // how the source was read; nil if there was no source
	Latin1  bool     // whether the source was a table in Latin-1
	Repeats []Repeat // rows left out because they repeat a sample
}

// Select returns the positions of the samples of a split, in order.
func (d *Dataset) Select(split string) []int {
	n := 0
	for i := range d.Samples {
		if d.Samples[i].Split == split {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	rows := make([]int, 0, n)
	for i := range d.Samples {
		if d.Samples[i].Split == split {
			rows = append(rows, i)
		}
	}
	return rows
}

// SourceRows returns the smallest possible number of rows of the source: the number of the last row that became a
// sample or a repeat, counted from 1.
func (d *Dataset) SourceRows() int {
	n := 0
	for i := range d.Samples {
		n = max(n, d.Samples[i].Row+1)
	}
	for i := range d.Repeats {
		n = max(n, d.Repeats[i].Sample.Row+1)
	}
	return n
}

// Paths lists the paths of all samples, in order.
func (d *Dataset) Paths() []string {
	paths := make([]string, len(d.Samples))
	for i := range d.Samples {
		paths[i] = d.Samples[i].Path
	}
	return paths
}

// LabelName returns the name of a sample's given class, "" if it has none.
func (d *Dataset) LabelName(s Sample) string { return d.className(s.Label) }

// Labels lists the given class ids of all samples, in order.
func (d *Dataset) Labels() []int {
	labels := make([]int, len(d.Samples))
	for i := range d.Samples {
		labels[i] = d.Samples[i].Label
	}
	return labels
}

// HasTruth reports whether the true label of every sample of the split is known.
func (d *Dataset) HasTruth(split string) bool {
	found := false
	for i := range d.Samples {
		if d.Samples[i].Split == split {
			if d.Samples[i].True == Unlabelled {
				return false
			}
			found = true
		}
	}
	return found
}

// TrueLabels returns a copy of d in which the known true labels of a split replace the given labels.
func (d *Dataset) TrueLabels(split string) *Dataset {
	out := &Dataset{Classes: d.Classes, Columns: d.Columns, Samples: slices.Clone(d.Samples)}
	for i := range out.Samples {
		if s := &out.Samples[i]; s.Split == split && s.True != Unlabelled {
			s.Label = s.True
		}
	}
	return out
}

// Digest returns a sha256 of the samples in order: paths, splits, given and true class names. Manifests with equal
// samples have the same digest, whatever their format and other columns.
func (d *Dataset) Digest() string {
	sum := sha256.New()
	to := bufio.NewWriter(sum)
	for i := range d.Samples {
		s := &d.Samples[i]
		fmt.Fprintf(to, "%q %q %q %q\n", s.Path, s.Split, d.className(s.Label), d.className(s.True))
	}
	to.Flush()
	return hex.EncodeToString(sum.Sum(nil))
}

// EverySplit is the name that selects all splits.
const EverySplit = "all"

// Choose returns the positions of the samples in the named, comma-separated splits, in the order of the manifest.
func (d *Dataset) Choose(splits string) (at []int, err error) {
	wanted := map[string]bool{}
	for name := range strings.SplitSeq(splits, ",") {
		if name = strings.TrimSpace(name); name != EverySplit && len(d.Select(name)) == 0 {
			return nil, fmt.Errorf("--split: the manifest has no images in %q; it has %s", name, d.SplitNames())
		}
		wanted[name] = true
	}
	for i := range d.Samples {
		if wanted[EverySplit] || wanted[d.Samples[i].Split] {
			at = append(at, i)
		}
	}
	return at, nil
}

// Repeat is a row of the source that lists an image again with the same label and split, or with another label
// ([ReadOptions.Conflicts]).
type Repeat struct {
	Of     int // position of the sample that the row repeats
	Sample Sample
}

// ReadOnce moves samples that repeat another sample to Repeats. An image with two labels is an error; with conflicts,
// its later rows move to Repeats. notes report repeated images, and images in several splits, which stay in each
// split. row returns the place of a sample, such as "row 3".
func (d *Dataset) ReadOnce(row func(sample int) string, conflicts bool) (notes []string, err error) {
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
		case conflicts && (s.Label != old.Label || s.True != old.True):
			d.Repeats, gone[i] = append(d.Repeats, Repeat{was, *s}), true
		case s.Label != old.Label || s.True != old.True:
			kind, a, b := "label", old.Label, s.Label
			if a == b {
				kind, a, b = "true label", old.True, s.True
			}
			return nil, fmt.Errorf("found an image with two %ss: %s, with %q and %q: expected one %[1]s per image: "+
				"correct or delete one of the rows", kind, rows, d.className(a), d.className(b))
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
		notes = append(notes, fmt.Sprintf("leak: %s in two splits, such as %s: the second's results are too good",
			text.Plural(l.Files, "image"), l.First))
	}
	d.leaveOut(gone)
	return notes, nil
}

// JoinSplits keeps the first sample of each image and moves the others to Repeats. An image with one label in several
// splits thus needs only one decision.
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

// isRetrievalSplit reports whether a split may share images with another one: a query is never its own gallery image.
func isRetrievalSplit(split string) bool { return split == Query || split == Gallery }

// leaveOut removes samples and updates the positions in Repeats.
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
