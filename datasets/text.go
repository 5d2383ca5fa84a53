package datasets

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"winnow/internal/text"
)

// WriteCounts writes a line for each split: images, classes, and oddities.
func (d *Dataset) WriteCounts(w io.Writer) {
	for _, s := range d.Count() {
		fmt.Fprintf(w, "%-10s %7d images  %6d classes of %d to %d images", s.Split, s.Samples, s.Classes, s.Smallest,
			s.Largest)
		if s.Unlabelled > 0 {
			fmt.Fprintf(w, "  %d unlabelled", s.Unlabelled)
		}
		if n := len(s.Singletons); n > 0 {
			fmt.Fprintf(w, "  %d class(es) with one image", n)
		}
		fmt.Fprintln(w)
	}
}

// Write writes the report of a split as text.
func (r NoiseReport) Write(w io.Writer, split string) {
	fmt.Fprintf(w, "%s: %d of %d labels wrong (%.2f %%; per class %.1f to %.1f %%)\n",
		split, r.Corrupted, r.Samples, 100*r.Rate, 100*r.ClassMin, 100*r.ClassMax)
	fmt.Fprintf(w, "pairs said alike that differ: %.2f %% (symmetric noise: %.2f %%); pairs said different that "+
		"are alike: %.3f %% (%.3f %%)\n",
		100*r.WrongPositive, 100*r.ExpectedWrongPositive, 100*r.WrongNegative, 100*r.ExpectedWrongNegative)
	fmt.Fprintf(w, "%d true classes, %d given ones; rates of the classes deviate by %.2f %% (independent flips: "+
		"%.2f %%)\n",
		r.Classes, r.Labels, 100*r.ClassDeviation, 100*r.BinomialDeviation)
}

// listedCopies is how many paths of a group of duplicates are written.
const listedCopies = 5

// Write writes the report as text; lists show at most listed entries.
func (r *CheckReport) Write(w io.Writer, d *Dataset, listed int) {
	d.WriteCounts(w)
	for _, split := range slices.Sorted(maps.Keys(r.Shared)) {
		if n := r.Shared[split]; n > 0 {
			fmt.Fprintf(w, "%d classes of %s are also in train: this measures known classes, not the papers' "+
				"unseen ones\n", n, split)
		}
	}
	if r.Noise != nil {
		r.Noise.Write(w, Train)
	}
	if r.Uneven != nil {
		r.Uneven.writeUneven(w)
	}
	for _, s := range r.Splits {
		if len(s.Singletons) > 0 {
			fmt.Fprintf(w, "%s: %d classes have one image and so no positive pair: %s\n", s.Split, len(s.Singletons),
				text.Line(strings.Join(text.First(s.Singletons, listed), ", ")))
		}
	}
	fmt.Fprintf(w, "unreadable: %d\n", len(r.Unreadable))
	for _, p := range text.First(r.Unreadable, listed) {
		fmt.Fprintf(w, "  %s: %s\n", text.Line(p.Path), text.Line(p.Reason))
	}
	writeMore(w, listed, len(r.Unreadable))
	vary := 0
	for _, dup := range r.Duplicates {
		if dup.LabelsVary {
			vary++
		}
	}
	fmt.Fprintf(w, "the same bytes under several paths: %d groups, %d with different labels, %d in two splits\n",
		len(r.Duplicates), vary, r.Leaks())
	for _, dup := range text.First(r.Duplicates, listed) {
		fmt.Fprint(w, " ")
		for i, p := range text.First(dup.Paths, listedCopies) {
			fmt.Fprintf(w, " %s (%s, %s)", text.Line(p), text.Line(dup.Labels[i]), dup.Splits[i])
		}
		if n := len(dup.Paths) - listedCopies; n > 0 {
			fmt.Fprintf(w, " … and %d more", n)
		}
		fmt.Fprintln(w)
	}
	writeMore(w, listed, len(r.Duplicates))
}

// writeMore says how many entries of a list were cut off, and where to find them.
func writeMore(w io.Writer, listed, n int) {
	if n > listed {
		fmt.Fprintf(w, "  … %d more: --json lists all\n", n-listed)
	}
}

// Write writes the report as text.
func (r ToplineReport) Write(w io.Writer) {
	fmt.Fprintf(w, "%s: %d of %d images kept (%.2f %%), in %d classes of %d to %d; of all %d labels %d were wrong\n",
		r.Split, r.Kept, r.Images, 100*float64(r.Kept)/float64(r.Images), r.Classes, r.Smallest, r.Largest, r.Images,
		r.Relabeled)
	if r.Raised > 0 {
		fmt.Fprintf(w, "%d class(es) keep more than their share, to have two images\n", r.Raised)
	}
	if n := len(r.Lone); n > 0 {
		fmt.Fprintf(w, "%d class(es) have one image, and no pair of two: %s\n", n,
			text.Line(strings.Join(text.First(r.Lone, 5), ", ")))
	}
}
