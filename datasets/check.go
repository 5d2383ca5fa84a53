package datasets

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"winnow/internal/regular"
	"winnow/internal/text"
)

// Problem is a sample that cannot be used, and the reason.
type Problem struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// Duplicates are samples with the same file or the same bytes; in an audit, also samples that show the same image.
type Duplicates struct {
	Paths      []string `json:"paths"`
	Labels     []string `json:"labels"`      // the given label of each
	Splits     []string `json:"splits"`      // the split of each
	LabelsVary bool     `json:"labels_vary"` // the labels differ, so at least one is wrong
	Leak       bool     `json:"leak"`        // the image is in two splits
}

// SplitCount counts the images and classes of a split.
type SplitCount struct {
	Split      string         `json:"split"`
	Samples    int            `json:"samples"`
	Unlabelled int            `json:"unlabelled"`
	Classes    int            `json:"classes"`
	Smallest   int            `json:"smallest_class"` // number of images in the smallest and largest class
	Largest    int            `json:"largest_class"`
	Singletons []string       `json:"singletons"`   // classes with only one image, hence without a positive pair
	Labels     map[string]int `json:"label_counts"` // number of images in each class
}

// CheckReport is the result of Check.
type CheckReport struct {
	Samples    int          `json:"samples"`
	Splits     []SplitCount `json:"splits"`
	Unreadable []Problem    `json:"unreadable"`
	Duplicates []Duplicates `json:"duplicates"`
	// Shared counts the classes that each other split shares with train; it is 0 in the papers' protocol.
	Shared  map[string]int `json:"classes_shared_with_train"`
	Noise   *NoiseReport   `json:"train_noise,omitempty"` // set if true labels are known
	Reading *Reading       `json:"reading,omitempty"`     // how the source was read, and what was left out
}

// Report lists obstacles to training. sums and reasons are what [Dataset.Look] returned for all samples.
func (d *Dataset) Report(sums [][sha256.Size]byte, reasons []string) *CheckReport {
	r := &CheckReport{
		Samples:    len(d.Samples),
		Splits:     d.Count(),
		Unreadable: []Problem{},
		Duplicates: []Duplicates{},
		Reading:    d.Reading,
	}
	r.Shared = countSharedClasses(r.Splits)
	groups := make(map[[sha256.Size]byte][]int)
	for i, reason := range reasons {
		if reason != "" {
			r.Unreadable = append(r.Unreadable, Problem{d.Samples[i].Path, reason})
			continue
		}
		groups[sums[i]] = append(groups[sums[i]], i)
	}
	for i, sum := range sums { // in sample order, not map order
		if rows := groups[sum]; reasons[i] == "" && len(rows) > 1 && rows[0] == i {
			r.Duplicates = append(r.Duplicates, d.Duplicated(rows))
		}
	}
	if d.HasTruth(Train) {
		noise := d.Noise(Train)
		r.Noise = &noise
	}
	return r
}

// Look examines all samples on all cores. It returns the SHA-256 of each file, and the reason why the
// file is not an image, or "".
func (d *Dataset) Look(ctx context.Context, look func(path string) ([sha256.Size]byte, error),
	progress func(done, total int)) (sums [][sha256.Size]byte, reasons []string, err error) {
	samples := d.Samples
	sums, reasons = make([][sha256.Size]byte, len(samples)), make([]string, len(samples))
	group, inner := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	var counting sync.Mutex
	done := 0
	for i := range samples {
		if inner.Err() != nil {
			break
		}
		group.Go(func() (err error) {
			if sums[i], err = look(samples[i].Path); err != nil {
				if gone, ok := errors.AsType[*regular.Outage](err); ok {
					return gone
				}
				reasons[i] = err.Error()
			}
			counting.Lock()
			defer counting.Unlock()
			if done++; progress != nil {
				progress(done, len(samples))
			}
			return nil
		})
	}
	return sums, reasons, cmp.Or(group.Wait(), ctx.Err())
}

// Duplicated describes the duplicates at the given positions.
func (d *Dataset) Duplicated(rows []int) Duplicates {
	var dup Duplicates
	for _, i := range rows {
		s := &d.Samples[i]
		dup.Paths = append(dup.Paths, s.Path)
		dup.Labels = append(dup.Labels, d.className(s.Label))
		dup.Splits = append(dup.Splits, s.Split)
		dup.LabelsVary = dup.LabelsVary || dup.Labels[0] != d.className(s.Label)
		dup.Leak = dup.Leak || dup.Splits[0] != s.Split
	}
	return dup
}

// Count describes each non-empty split, in the order train, validation, test, query, gallery.
func (d *Dataset) Count() []SplitCount {
	var counts []SplitCount
	for _, split := range []string{Train, Validation, Test, Query, Gallery} {
		rows := d.Select(split)
		if len(rows) == 0 {
			continue
		}
		c := SplitCount{Split: split, Samples: len(rows), Singletons: []string{}, Labels: make(map[string]int)}
		sizes := make(map[int]int)
		for _, i := range rows {
			if label := d.Samples[i].Label; label == Unlabelled {
				c.Unlabelled++
			} else {
				sizes[label]++
			}
		}
		c.Classes = len(sizes)
		for class, n := range sizes {
			c.Labels[d.Classes[class]] = n
			if c.Smallest == 0 || n < c.Smallest {
				c.Smallest = n
			}
			c.Largest = max(c.Largest, n)
			if n == 1 {
				c.Singletons = append(c.Singletons, d.Classes[class])
			}
		}
		sortClasses(c.Singletons)
		counts = append(counts, c)
	}
	return counts
}

// countSharedClasses counts the classes that each other split shares with train.
func countSharedClasses(splits []SplitCount) map[string]int {
	counts := map[string]int{}
	for _, s := range splits {
		if s.Split == Train {
			continue
		}
		counts[s.Split] = 0
		for class := range s.Labels {
			if splits[0].Split == Train && splits[0].Labels[class] > 0 {
				counts[s.Split]++
			}
		}
	}
	return counts
}

// SplitNames lists the non-empty splits, for messages.
func (d *Dataset) SplitNames() string {
	var names []string
	for _, s := range d.Count() {
		names = append(names, s.Split)
	}
	return strings.Join(names, ", ")
}

// WriteCounts writes one line for each split: its images, its classes, unlabelled images and single-image classes.
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

// Write writes the noise report of a split as text.
func (r NoiseReport) Write(w io.Writer, split string) {
	fmt.Fprintf(w, "%s: %d of %d labels wrong (%.2f %%; per class %.1f to %.1f %%)\n",
		split, r.Corrupted, r.Samples, 100*r.Rate, 100*r.ClassMin, 100*r.ClassMax)
	fmt.Fprintf(w, "pairs with one given label but two true labels: %.2f %% (symmetric noise: %.2f %%); pairs with "+
		"two given labels but one true label: %.3f %% (%.3f %%)\n",
		100*r.WrongPositive, 100*r.ExpectedWrongPositive, 100*r.WrongNegative, 100*r.ExpectedWrongNegative)
	fmt.Fprintf(w, "%d true classes, %d given ones; standard deviation of their noise rates: %.2f %% (independent "+
		"flips: %.2f %%)\n",
		r.Classes, r.Labels, 100*r.ClassDeviation, 100*r.BinomialDeviation)
}

// listedCopies is the number of paths printed for each group of duplicates.
const listedCopies = 5

// Write writes the report as text; each list shows at most listed entries.
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

// writeMore prints how many entries of a list were cut off, and the flag that shows them all.
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
		fmt.Fprintf(w, "%d class(es) have one image and thus no pair: %s\n", n,
			text.Line(strings.Join(text.First(r.Lone, 5), ", ")))
	}
}

// Leaks returns how many groups of duplicates occur in two splits.
func (r *CheckReport) Leaks() (n int) {
	for _, dup := range r.Duplicates {
		if dup.Leak {
			n++
		}
	}
	return n
}

// Checked is the reviewers' decision about the label of an image.
type Checked struct {
	Given string `json:"given"`           // the label that was reviewed
	Right bool   `json:"right"`           // whether the label is right
	Label string `json:"label,omitempty"` // the right label if the given one is wrong; "": the image is of no class
	Moved bool   `json:"moved,omitempty"` // winnow moved the image; a decision at its other path is the same
}

// Checks holds decisions about the labels of images, by path.
type Checks struct {
	File string `json:"file"`
	Open int    `json:"open"` // undecided images: the reviewers were unsure or disagreed
	// Changed counts the images whose file has changed since the decision.
	Changed int                `json:"picture_changed,omitempty"`
	By      map[string]Checked `json:"by_path"`
}

// Sum returns a sha256 of the decisions, which does not depend on the file that held them.
func (c *Checks) Sum() string {
	h := sha256.New()
	for _, path := range slices.Sorted(maps.Keys(c.By)) {
		k := c.By[path]
		fmt.Fprintf(h, "%q %q %t %q\n", path, k.Given, k.Right, k.Label)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Matched holds the decisions about the samples of one dataset.
type Matched struct {
	At    map[int]Checked // decisions by sample position
	Stale int             // samples whose label has changed since the decision, which is therefore ignored
	Gone  int             // decided images that are missing from the dataset
}

// Match finds the samples that the decisions are about. If the label of a sample has changed since, as in a corrected
// manifest, then a decision "right" is ignored; a decision "wrong" becomes "right" if the new label is the chosen
// one. Match returns an error if most decisions are about other images.
func (c *Checks) Match(d *Dataset) (Matched, error) {
	m := Matched{At: map[int]Checked{}}
	rows := map[string]int{} // how many samples have each decided path
	for i := range d.Samples {
		if path := d.Samples[i].Path; c.hasCheck(path) {
			rows[path]++
		}
	}
	for i := range d.Samples {
		s := &d.Samples[i]
		k, ok := c.By[s.Path]
		if !ok {
			continue
		}
		switch now := d.LabelName(*s); {
		case now == k.Given:
			m.At[i] = k
		case !k.Right && k.Label != "" && now == k.Label:
			m.At[i] = Checked{Given: now, Right: true}
		case k.Right, rows[s.Path] > 1: // for an image with several labels, the decision is about one of them
			m.Stale++
		default:
			k.Given = now
			m.At[i] = k
		}
	}
	example := ""
	for path, k := range c.By {
		// corrected manifests leave out images of no class
		if rows[path] == 0 && !k.Moved && (k.Right || k.Label != "") {
			if m.Gone++; example == "" || path < example {
				example = path
			}
		}
	}
	if m.Gone > len(rows) {
		return m, fmt.Errorf("%s: has decisions about %d images, but %d of them are not in the dataset, such as %q: "+
			"name a file of decisions about these images", c.File, m.Gone+len(rows), m.Gone, example)
	}
	return m, nil
}

func (c *Checks) hasCheck(path string) bool { _, ok := c.By[path]; return ok }

// Wrong counts the samples with a wrong label. none counts those among them that belong to no class.
func (m *Matched) Wrong() (wrong, none int) {
	for _, k := range m.At {
		if !k.Right {
			wrong++
			if k.Label == "" {
				none++
			}
		}
	}
	return wrong, none
}

// Relabelled returns a copy of d with the decided labels. Samples of no class become unlabelled.
func (m *Matched) Relabelled(d *Dataset) *Dataset {
	made := *d
	made.Samples = slices.Clone(d.Samples)
	classes := slices.Clone(d.Classes)
	for _, k := range m.At {
		if k.Label != "" && !k.Right && !slices.Contains(classes, k.Label) {
			classes = append(classes, k.Label)
		}
	}
	sortClasses(classes)
	id := make(map[string]int, len(classes))
	for i, name := range classes {
		id[name] = i
	}
	moved := func(label int) int {
		if label == Unlabelled {
			return Unlabelled
		}
		return id[d.Classes[label]]
	}
	made.Classes = classes
	for i := range made.Samples {
		s := &made.Samples[i]
		s.Label, s.True = moved(s.Label), moved(s.True)
		if k, ok := m.At[i]; ok && !k.Right {
			if s.Label = Unlabelled; k.Label != "" {
				s.Label = id[k.Label]
			}
		}
	}
	return &made
}

// Decisions returns the fixes for the wrong labels: they are replaced, and images of no class are dropped.
func (m *Matched) Decisions() map[int]Decision {
	do := map[int]Decision{}
	for i, k := range m.At {
		if !k.Right {
			do[i] = Decision{Drop: k.Label == "", Label: k.Label}
		}
	}
	return do
}
