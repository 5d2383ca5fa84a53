package datasets

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// toplineWorld has classes of 10, 5, 2 and 1 training images, an unlabelled image, test images and another column. If
// noisy is true, every third label is wrong.
func toplineWorld(noisy bool) *Dataset {
	d := &Dataset{Classes: []string{"a", "b", "c", "d"}, Columns: []string{"photographer"}}
	add := func(label, truth int, split string) {
		i := len(d.Samples)
		d.Samples = append(d.Samples, Sample{Path: fmt.Sprintf("%d.jpg", i), Label: label, True: truth, Split: split,
			Extra: []string{fmt.Sprint("p", i)}})
	}
	for class, n := range []int{10, 5, 2, 1} {
		for k := range n {
			given := class
			if noisy && k%3 == 1 {
				given = (class + 1) % 4
			}
			truth := Unlabelled
			if noisy {
				truth = class
			}
			add(given, truth, Train)
			if k == 0 {
				add(class, Unlabelled, Test)
			}
		}
	}
	add(Unlabelled, Unlabelled, Train)
	return d
}

// TestTopline checks the counts of every true class, the true labels, and that everything else stays in order.
func TestTopline(t *testing.T) {
	for rate, want := range map[float64][]int{0: {10, 5, 2, 1}, 0.3: {7, 4, 2, 1}, 0.5: {5, 3, 2, 1},
		0.9: {2, 2, 2, 1}} {
		for seed := range uint64(4) {
			d := toplineWorld(true)
			before := toplineWorld(true)
			out, report, err := d.Topline(Train, rate, rand.New(rand.NewPCG(seed, 1)))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(before, d); diff != "" {
				t.Errorf("the dataset itself changed:\n%s", diff)
			}
			got, kept, at := make([]int, 4), 0, -1
			for _, s := range out.Samples {
				var i int
				fmt.Sscan(s.Path, &i)
				if i <= at || s.Extra[0] != fmt.Sprint("p", i) {
					t.Fatalf("%s follows image %d, or lost its column: %+v", s.Path, at, s)
				}
				at = i
				if s.Split != Train || d.Samples[i].Label == Unlabelled {
					if diff := cmp.Diff(d.Samples[i], s); diff != "" {
						t.Errorf("an image that takes no part changed:\n%s", diff)
					}
					continue
				}
				if s.Label != d.Samples[i].True || s.True != s.Label {
					t.Errorf("%s: labelled %d, truly %d", s.Path, s.Label, d.Samples[i].True)
				}
				got[s.Label]++
				kept++
			}
			if diff := cmp.Diff(want, got); diff != "" || len(out.Samples) != kept+5 {
				t.Errorf("rate %v: classes:\n%s", rate, diff)
			}
			wantReport := ToplineReport{Split: Train, Rate: rate, Truth: true, Images: 18, Kept: kept, Relabeled: 6,
				Classes:  4,
				Smallest: 1, Largest: want[0], Raised: map[float64]int{0.3: 1, 0.5: 1, 0.9: 3}[rate],
				Lone: []string{"d"}}
			if diff := cmp.Diff(wantReport, report); diff != "" {
				t.Errorf("rate %v: report:\n%s", rate, diff)
			}
		}
	}
}

// TestToplineSeeds checks that the same seed keeps the same images, that a higher rate keeps a subset of them, and that
// another seed keeps other images.
func TestToplineSeeds(t *testing.T) {
	keep := func(rate float64, seed uint64) string {
		out, _, err := toplineWorld(true).Topline(Train, rate, rand.New(rand.NewPCG(seed, 1)))
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(out.Paths(), " ")
	}
	one, again := keep(0.5, 1), keep(0.5, 1)
	if one != again {
		t.Error("the same seed kept other images")
	}
	if one == keep(0.5, 2) && one == keep(0.5, 3) {
		t.Error("three seeds keep the same images")
	}
	more := " " + keep(0.3, 7) + " "
	for _, path := range strings.Fields(keep(0.7, 7)) {
		if !strings.Contains(more, " "+path+" ") {
			t.Errorf("%s is kept at 0.7 and not at 0.3", path)
		}
	}
}

// TestToplineTruth checks that without true labels the given labels are taken as true, and that partly known true
// labels, and a split without labels, are errors.
func TestToplineTruth(t *testing.T) {
	out, report, err := toplineWorld(false).Topline(Train, 0.5, rand.New(rand.NewPCG(1, 1)))
	if err != nil || report.Truth || report.Relabeled != 0 || report.Kept != 11 || out.HasTruth(Train) {
		t.Errorf("found %+v, %v", report, err)
	}
	half := toplineWorld(true)
	half.Samples[0].True = Unlabelled
	if _, _, err := half.Topline(Train, 0.5, rand.New(rand.NewPCG(1, 1))); err == nil ||
		!strings.Contains(err.Error(), "1 of 18 images have no true label") {
		t.Errorf("found %v", err)
	}
	if _, _, err := half.Topline(Gallery, 0.5, rand.New(rand.NewPCG(1, 1))); err == nil ||
		!strings.Contains(err.Error(), "no image with a label") {
		t.Errorf("found %v", err)
	}
	if _, _, err := half.Topline(Train, 1, rand.New(rand.NewPCG(1, 1))); err == nil ||
		!strings.Contains(err.Error(), "rate is 1") {
		t.Errorf("found %v", err)
	}
}
