package datasets

import (
	"fmt"
	"slices"
	"testing"
)

// alike returns a dataset of equally large classes of training images, and some unlabelled images.
func alike(classes, each int) *Dataset {
	d := &Dataset{}
	for c := range classes {
		d.Classes = append(d.Classes, fmt.Sprint("class ", c))
		for i := range each {
			d.Samples = append(d.Samples, Sample{Path: fmt.Sprint(c, "/", i), Label: c, True: Unlabelled, Split: Train})
		}
	}
	for i := range 20 {
		d.Samples = append(d.Samples, Sample{Path: fmt.Sprint("none/", i), Label: Unlabelled, True: Unlabelled,
			Split: Train})
	}
	return d
}

func TestWithValidation(t *testing.T) {
	for name, c := range map[string]struct {
		classes, each   int
		share           float64
		images, holding int // numbers of images and of whole classes held out
	}{
		"new classes":              {100, 30, 0.1, 300, 10},
		"images of few classes":    {10, 100, 0.1, 100, 0},
		"at most 2,000":            {100, 1000, 0.1, 2000, 2},
		"at most 2,000, by images": {10, 5000, 0.1, 2000, 0},
		"small classes of many":    {60, 4, 0.1, 24, 6},
		"pairs":                    {40, 10, 0.1, 80, 0},
		"small classes":            {40, 7, 0.3, 80, 0},
		"pairs of some classes":    {12, 5, 0.25, 16, 0},
		"classes of three":         {30, 3, 0.25, 21, 7},
		"ten classes of four":      {10, 4, 0.25, 12, 3},
		"two classes":              {2, 20, 0.25, 10, 0},
		"too few":                  {3, 10, 0.25, 0, 0},
		"one class":                {1, 100, 0.25, 0, 0},
		"none asked for":           {100, 30, 0, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			d := alike(c.classes, c.each)
			got, held := d.WithValidation(c.share, 1, nil)
			if held.Images != c.images || held.Classes != c.holding {
				t.Fatalf("held out %+v, expected %d images, %d whole classes", held, c.images, c.holding)
			}
			rows := got.Select(Validation)
			if len(rows) != c.images || len(d.Select(Validation)) != 0 {
				t.Fatalf("%d images for validation, %d in the dataset it was made of; expected %d and 0", len(rows),
					len(d.Select(Validation)), c.images)
			}
			of := map[int]int{}
			for _, i := range rows {
				of[got.Samples[i].Label]++
			}
			for class, n := range of {
				if class == Unlabelled || c.holding > 0 && n != c.each ||
					c.holding == 0 && (n < 2 || n > max(2, c.each/4)) {
					t.Errorf("%d of %d images of class %d are held out", n, c.each, class)
				}
			}
			again, _ := d.WithValidation(c.share, 1, nil)
			other, _ := d.WithValidation(c.share, 2, nil)
			if !slices.Equal(again.Select(Validation), rows) || c.images > 0 &&
				slices.Equal(other.Select(Validation), rows) {
				t.Errorf("the draw is not the seed's")
			}
		})
	}
}

// A class larger than the limit on held-out images stays in train.
func TestWithValidationLeavesLargeClasses(t *testing.T) {
	d := alike(60, 20)
	for i := range 3000 {
		d.Samples = append(d.Samples, Sample{Path: fmt.Sprint("large/", i), Label: 0, True: Unlabelled, Split: Train})
	}
	got, held := d.WithValidation(0.1, 3, nil)
	if held.Images != 420 ||
		slices.ContainsFunc(got.Select(Validation), func(i int) bool { return got.Samples[i].Label == 0 }) {
		t.Errorf("held out %+v, expected 21 classes of 20", held)
	}
}

func TestWithValidationKeepsOne(t *testing.T) {
	d := alike(100, 30)
	d.Samples[7].Split = Validation
	if got, held := d.WithValidation(0.1, 1, nil); got != d || held != (Held{}) {
		t.Errorf("held out %+v of a dataset with a validation split", held)
	}
}

func TestWithValidationTakesCheckedFirst(t *testing.T) {
	few, many, checked := alike(10, 100), alike(60, 20), map[int]Checked{}
	for i := range 5 {
		checked[7*100+i] = Checked{}
	}
	got, _ := few.WithValidation(0.1, 1, checked)
	for i := range checked {
		if got.Samples[i].Split != Validation {
			t.Errorf("checked image %d is not held out", i)
		}
	}
	got, _ = alike(12, 5).WithValidation(0.25, 1, map[int]Checked{37: {}, 39: {}})
	if got.Samples[37].Split != Validation || got.Samples[39].Split != Validation {
		t.Errorf("the checked images of a small set are not held out")
	}
	if got, _ = many.WithValidation(0.1, 1, checked); got.Samples[700].Split != Validation {
		t.Errorf("the class with checked images is not held out")
	}
}
