package datasets

import (
	"context"
	"crypto/sha256"
	"errors"
	"runtime"
	"strings"

	"golang.org/x/sync/errgroup"

	"winnow/internal/regular"
)

// Problem is a sample that cannot be used, and the reason.
type Problem struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// Duplicates are samples whose files hold the same bytes, or that name the same file; in an audit, copies of a picture.
type Duplicates struct {
	Paths      []string `json:"paths"`
	Labels     []string `json:"labels"`      // the given label of each
	Splits     []string `json:"splits"`      // the split of each
	LabelsVary bool     `json:"labels_vary"` // the labels differ: at least one is wrong
	Leak       bool     `json:"leak"`        // the image is in two splits
}

// SplitCount counts the images and classes of a split.
type SplitCount struct {
	Split      string         `json:"split"`
	Samples    int            `json:"samples"`
	Unlabelled int            `json:"unlabelled"`
	Classes    int            `json:"classes"`
	Smallest   int            `json:"smallest_class"` // images of the smallest and largest class
	Largest    int            `json:"largest_class"`
	Singletons []string       `json:"singletons"`   // classes with one image, hence no positive pair
	Labels     map[string]int `json:"label_counts"` // images of each class
}

// CheckReport is the result of Check.
type CheckReport struct {
	Samples    int          `json:"samples"`
	Splits     []SplitCount `json:"splits"`
	Unreadable []Problem    `json:"unreadable"`
	Duplicates []Duplicates `json:"duplicates"`
	// Shared counts the classes that train has in common with each other split; in the papers' protocol there are
	// none.
	Shared map[string]int `json:"classes_shared_with_train"`
	Noise  *NoiseReport   `json:"train_noise,omitempty"` // if true labels are known
	Uneven *Uneven        `json:"uneven,omitempty"`      // if drawing all classes equally often pays off

	Reading *Reading `json:"reading,omitempty"` // how the source was read, and what was left out
}

// Report reports obstacles to training, from the sums and reasons that [Dataset.Look] returned for all samples.
func (d *Dataset) Report(sums [][sha256.Size]byte, reasons []string) *CheckReport {
	r := &CheckReport{
		Samples:    len(d.Samples),
		Splits:     d.Count(),
		Shared:     d.countSharedClasses(),
		Unreadable: []Problem{},
		Duplicates: []Duplicates{},
	}
	r.Uneven, r.Reading = r.newUneven(), d.Reading
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

// Look examines the samples from first up to end on all cores. For each it returns the sha256, and the reason if it
// is not an image, else "".
func (d *Dataset) Look(ctx context.Context, first, end int, look func(path string) ([sha256.Size]byte, error),
	progress func(done, total int)) (sums [][sha256.Size]byte, reasons []string, err error) {
	samples := d.Samples[first:end]
	sums, reasons = make([][sha256.Size]byte, len(samples)), make([]string, len(samples))
	workers := runtime.GOMAXPROCS(0)
	group, ctx := errgroup.WithContext(ctx)
	done := make(chan struct{}, 4*workers)
	counted := make(chan struct{})
	go func() {
		defer close(counted)
		n := 0
		for range done {
			if n++; progress != nil {
				progress(n, len(samples))
			}
		}
	}()
	for w := range workers {
		group.Go(func() error {
			for i := w; i < len(samples); i += workers {
				if err := ctx.Err(); err != nil {
					return err
				}
				var err error
				if sums[i], err = look(samples[i].Path); err != nil {
					if gone, ok := errors.AsType[*regular.Outage](err); ok {
						return gone
					}
					reasons[i] = err.Error()
				}
				done <- struct{}{}
			}
			return nil
		})
	}
	err = group.Wait()
	close(done)
	<-counted
	return sums, reasons, err
}

// Duplicated describes copies of one image, by their positions.
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

// Count describes each split that has samples, in the order train, validation, test, query, gallery.
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

// countSharedClasses counts the classes that each other split has in common with train.
func (d *Dataset) countSharedClasses() map[string]int {
	in := make(map[string]map[int]bool)
	for i := range d.Samples {
		s := &d.Samples[i]
		if in[s.Split] == nil {
			in[s.Split] = make(map[int]bool)
		}
		if s.Label != Unlabelled {
			in[s.Split][s.Label] = true
		}
	}
	counts := make(map[string]int)
	for split, classes := range in {
		if split == Train {
			continue
		}
		n := 0
		for class := range classes {
			if in[Train][class] {
				n++
			}
		}
		counts[split] = n
	}
	return counts
}

// SplitNames lists the splits that have samples, for messages.
func (d *Dataset) SplitNames() string {
	var names []string
	for _, s := range d.Count() {
		names = append(names, s.Split)
	}
	return strings.Join(names, ", ")
}
