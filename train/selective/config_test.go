package selective

import (
	"math"
	"strings"
	"testing"

	"winnow/features"
	"winnow/head"
	"winnow/train"
)

func TestDefaultsAreThePapers(t *testing.T) {
	for _, method := range Methods() {
		if err := Default(method).Validate(); err != nil {
			t.Error(err)
		}
		if !strings.HasSuffix(Title(method), "on frozen features") {
			t.Errorf("%s is called %q", method, Title(method))
		}
	}
	if c := Default(SelCL); c.Temperature != 0.1 || c.Alpha != 0.5 || c.Beta != 0.5 || c.Average != 0.999 ||
		c.Negatives != 10000 || c.Queue != 100 || c.Similarity != 0.01 || c.WarmUp != 1 {
		t.Errorf("%+v", c)
	}
	if c := Default(TCL); c.Temperature != 0.25 || c.WarmUp != 20 || c.Mixup != 1 || c.Cross != 1 || c.Align != 1 ||
		c.Entropy != 1 || c.Balance != 1 {
		t.Errorf("%+v", c)
	}
}

func TestNewRefuses(t *testing.T) {
	set := features.NewSet(6, 3)
	h, err := head.New(t.Context(), head.Config{In: 3, Out: 2, Init: head.Random}, set.X, train.Rand(1, "head", 0))
	if err != nil {
		t.Fatal(err)
	}
	for want, in := range map[string]Input{
		"1 classes, expected at least 2":         {Head: h, Train: set, Classes: 1, Batch: 4},
		"batches of 1 rows, expected at least 2": {Head: h, Train: set, Classes: 2, Batch: 1},
		"found dimension 4, expected 3":          {Head: h, Train: features.NewSet(6, 4), Classes: 2, Batch: 4},
	} {
		if _, err := New(Default(TCL), in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("found %v, expected …%s…", err, want)
		}
	}
}

// Numbers stay finite for sets with one class, sets with all labels different, and batches of two images.
func TestDegenerateBatches(t *testing.T) {
	for name, labels := range map[string]func(i int) int{
		"one class": func(int) int { return 1 }, "every label different": func(i int) int { return i },
	} {
		for _, method := range Methods() {
			cfg := Default(method)
			cfg.WarmUp, cfg.QueueStart = 0, 0
			set, _ := clusters(1, 3, 5, 0)
			for i := range set.Labels {
				set.Labels[i] = labels(i)
			}
			b := newBed(t, cfg, set, set.Labels, set.Len(), 3, 1)
			b.run(t)
			for _, p := range b.learner.Params() {
				for _, v := range p.Data {
					if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
						t.Fatalf("%s: %s: %s holds %v", name, method, p.Name, v)
					}
				}
			}
		}
	}
}
