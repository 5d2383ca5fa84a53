package datasets

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// unzip reads the archived file whose path ends in name.
func unzip(t *testing.T, path, name string) []byte {
	t.Helper()
	z, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	for _, f := range z.File {
		if f.Name == name || strings.HasSuffix(f.Name, "/"+name) {
			r, err := f.Open()
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			data, err := io.ReadAll(r)
			if err != nil {
				t.Fatal(err)
			}
			return data
		}
	}
	t.Fatalf("%s holds no %s", path, name)
	return nil
}

// labelled returns classes×each training samples, and equally many test samples of other classes.
func labelled(classes, each int) *Dataset {
	var rows []row
	for i := range classes * each {
		rows = append(rows,
			row{path: fmt.Sprintf("t%d", i), label: fmt.Sprint(i % classes), split: Train},
			row{path: fmt.Sprintf("e%d", i), label: fmt.Sprint(classes + i%classes), split: Test})
	}
	return buildDataset(rows, nil)
}

func TestCorruptSymmetric(t *testing.T) {
	const classes, each, rate = 20, 200, 0.3
	d := labelled(classes, each)
	noisy, err := d.Corrupt(Train, Symmetric{Rate: rate}, rand.New(rand.NewPCG(1, 2)))
	if err != nil {
		t.Fatal(err)
	}
	targets := make(map[int]int)
	for i, s := range noisy.Samples {
		if s.Split == Test && (s.Label != d.Samples[i].Label || s.True != Unlabelled) {
			t.Fatalf("test sample %d was touched: %+v", i, s)
		}
		if s.Split != Train {
			continue
		}
		if s.True != d.Samples[i].Label {
			t.Fatalf("sample %d: true %d, was %d", i, s.True, d.Samples[i].Label)
		}
		if s.Label >= classes {
			t.Fatalf("sample %d got label %d of a test class", i, s.Label)
		}
		if s.Label != s.True {
			targets[(s.Label-s.True+classes)%classes]++
		}
	}
	r := noisy.Noise(Train)
	n := float64(classes * each)
	if sd := math.Sqrt(rate * (1 - rate) / n); math.Abs(r.Rate-rate) > 4*sd {
		t.Errorf("realised rate %v, expected %v ± %v", r.Rate, rate, sd)
	}
	for shift, count := range targets { // other classes are equally likely: χ²-like bound per cell
		mean := n * rate / (classes - 1)
		if math.Abs(float64(count)-mean) > 5*math.Sqrt(mean) {
			t.Errorf("shift %d drawn %d times, expected about %.0f", shift, count, mean)
		}
	}
	if len(targets) != classes-1 {
		t.Errorf("%d different shifts, expected %d", len(targets), classes-1)
	}
	if math.Abs(r.WrongPositive-r.ExpectedWrongPositive) > 0.02 ||
		math.Abs(r.WrongNegative-r.ExpectedWrongNegative) > 0.003 {
		t.Errorf("pair rates %.4f, %.4f; expected %.4f, %.4f", r.WrongPositive, r.WrongNegative,
			r.ExpectedWrongPositive, r.ExpectedWrongNegative)
	}
	again, err := d.Corrupt(Train, Symmetric{Rate: rate}, rand.New(rand.NewPCG(1, 2)))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(noisy, again); diff != "" {
		t.Errorf("the same seed gave other labels:\n%s", diff)
	}
}

func TestCorruptPairKeepsTruth(t *testing.T) {
	d := labelled(5, 40)
	once, err := d.Corrupt(Train, Pair{0.5}, rand.New(rand.NewPCG(3, 4)))
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range once.Samples {
		if s.Split == Train && s.Label != s.True && s.Label != (s.True+1)%5 {
			t.Fatalf("sample %d: %d became %d", i, s.True, s.Label)
		}
	}
	twice, err := once.Corrupt(Train, Pair{0.5}, rand.New(rand.NewPCG(5, 6)))
	if err != nil {
		t.Fatal(err)
	}
	for i := range twice.Samples {
		if twice.Samples[i].True != once.Samples[i].True {
			t.Fatalf("sample %d lost its truth", i)
		}
	}
}

func TestCorruptOneClass(t *testing.T) {
	if _, err := labelled(1, 5).Corrupt(Train, Symmetric{Rate: 0.5}, rand.New(rand.NewPCG(1, 1))); err == nil ||
		!strings.Contains(err.Error(), "expected at least 2") {
		t.Errorf("one class: got %v", err)
	}
	for _, rate := range []float64{-0.1, 1, math.NaN()} {
		if _, err := NewNoise("symmetric", rate); err == nil {
			t.Errorf("rate %v was let through", rate)
		}
	}
}

func TestSplits(t *testing.T) {
	shares := []Share{{Train, 0.5}, {Validation, 0.2}, {Test, 0.3}}
	d := labelled(10, 6)
	if err := d.Deal(shares, false, 1); err != nil {
		t.Fatal(err)
	}
	of := make(map[int]string)
	for i, s := range d.Samples {
		if was, ok := of[s.Label]; ok && was != s.Split {
			t.Fatalf("sample %d: class %d stands in %s and %s", i, s.Label, was, s.Split)
		}
		of[s.Label] = s.Split
	}
	counts := make(map[string]int)
	for _, split := range of {
		counts[split]++
	}
	if diff := cmp.Diff(map[string]int{Train: 10, Validation: 4, Test: 6}, counts); diff != "" {
		t.Errorf("classes per split (-want +got):\n%s", diff)
	}
	if err := d.Deal(shares, true, 1); err != nil {
		t.Fatal(err)
	}
	for class := range d.Classes {
		per := make(map[string]int)
		for _, s := range d.Samples {
			if s.Label == class {
				per[s.Split]++
			}
		}
		if diff := cmp.Diff(map[string]int{Train: 3, Validation: 1, Test: 2}, per); diff != "" {
			t.Fatalf("class %d (-want +got):\n%s", class, diff)
		}
	}
	for _, byImage := range []bool{false, true} {
		if err := d.Deal([]Share{{"Train", 0.5}, {"val", 0.5}}, byImage, 1); err != nil {
			t.Fatal(err)
		}
		if n := len(d.Select(Train)) + len(d.Select(Validation)); n != len(d.Samples) {
			t.Errorf("by image %v: found %d of %d samples in train and validation, dealt to Train and val", byImage,
				n, len(d.Samples))
		}
	}
	if err := d.Deal([]Share{{Train, 0.5}, {Test, 0.4}}, false, 1); err == nil {
		t.Error("shares that sum to 0.9 were let through")
	}
}

func TestCheck(t *testing.T) {
	fsys := fstest.MapFS{
		"a.png": {Data: []byte("one")}, "b.png": {Data: []byte("two")}, "c.png": {Data: []byte("one")},
		"d.png": {Data: []byte("bad")}, "e.png": {Data: []byte("three")},
	}
	d := buildDataset([]row{
		{path: "a.png", label: "x", split: Train}, {path: "b.png", label: "x", split: Train},
		{path: "c.png", label: "y", split: Test}, {path: "d.png", label: "y", split: Train},
		{path: "e.png", label: "x", split: Test}, {path: "gone.png", label: "z", split: Test},
	}, nil)
	look := func(path string) (sum [sha256.Size]byte, err error) {
		data, err := fs.ReadFile(fsys, path)
		if string(data) == "bad" {
			err = errors.New("not a picture")
		}
		return sha256.Sum256(data), err
	}
	calls := 0
	r, err := checked(context.Background(), d, look, func(done, total int) { calls++ })
	if err != nil {
		t.Fatal(err)
	}
	if calls != 6 {
		t.Errorf("progress was told %d times, expected 6", calls)
	}
	want := &CheckReport{
		Samples: 6,
		Splits: []SplitCount{
			{Split: Train, Samples: 3, Classes: 2, Smallest: 1, Largest: 2, Singletons: []string{"y"},
				Labels: map[string]int{"x": 2, "y": 1}},
			{Split: Test, Samples: 3, Classes: 3, Smallest: 1, Largest: 1, Singletons: []string{"x", "y", "z"},
				Labels: map[string]int{"x": 1, "y": 1, "z": 1}},
		},
		Unreadable: []Problem{{"d.png", "not a picture"}, {"gone.png", "open gone.png: file does not exist"}},
		Duplicates: []Duplicates{{Paths: []string{"a.png", "c.png"}, Labels: []string{"x", "y"},
			Splits: []string{Train, Test}, LabelsVary: true, Leak: true}},
		Shared: map[string]int{Test: 2},
	}
	if diff := cmp.Diff(want, r); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := checked(ctx, d, look, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: got %v", err)
	}
}

// checked examines all samples and returns the report.
func checked(ctx context.Context, d *Dataset, look func(string) ([sha256.Size]byte, error),
	progress func(done, total int)) (*CheckReport, error) {
	sums, reasons, err := d.Look(ctx, look, progress)
	return d.Report(sums, reasons), err
}
