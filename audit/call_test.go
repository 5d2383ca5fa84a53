package audit

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/audit/judges"
	"winnow/audit/suspects"
	"winnow/features"
	"winnow/filters/noiserate"
)

// A label is flagged if it is likely wrong and either a better class exists or the image is an outlier.
func TestCall(t *testing.T) {
	list := func() []suspects.Suspect {
		return []suspects.Suspect{
			{Row: 0, Score: 0.1, GivenClass: 0, SuggestedClass: 1},
			{Row: 1, Score: 0.4, GivenClass: 0, SuggestedClass: 0},
			{Row: 2, Score: 0.45, GivenClass: 0, SuggestedClass: 0, Outlier: true},
			{Row: 3, Score: 0.6, GivenClass: 0, SuggestedClass: 1},
			{Row: 4, Score: 1, GivenClass: 2, SuggestedClass: 2, Unjudged: true},
		}
	}
	half := 0.5
	for _, c := range []struct {
		what, scorer string
		blind        bool
		o            job
		want         string // x: flagged
		expected     float64
	}{
		{"likely", judges.Fitted, false, job{}, "x.x..", 0.9 + 0.6 + 0.55 + 0.4},
		{"blind", judges.Fitted, true, job{}, ".....", 0},
		{"ranked", "knn", false, job{}, "x.x..", 0.5 * 4},
		{"asked", judges.Fitted, false, job{Options: Options{Rate: &half}}, "xx...", 0.9 + 0.6 + 0.55 + 0.4},
		{"given", Probabilities, false, job{Auditor: Auditor{Given: &Given{Wrong: []bool{false, false, false, true,
			false}}}}, "...x.", 0.5 * 4},
	} {
		r := Result{Scorer: c.scorer, Blind: c.blind, Suspects: list(), Unjudged: 1,
			Noise: &noiserate.Estimate{Rate: 0.5}}
		r.callWrong(c.o)
		got := ""
		for _, s := range r.Suspects {
			got += map[bool]string{true: "x", false: "."}[s.Flagged]
		}
		if got != c.want || math.Abs(r.Expected-c.expected) > 1e-9 || r.Asked != (c.o.Rate != nil) {
			t.Errorf("%s: %s and %v expected, want %s and %v", c.what, got, r.Expected, c.want, c.expected)
		}
	}
	r := Result{Scorer: "knn", Suspects: list()}
	if r.callWrong(job{}); r.Rate != 0 || !math.IsNaN(r.Expected) {
		t.Errorf("empty list: rate %v, %v expected", r.Rate, r.Expected)
	}
}

// The interval assumes random flips only if the test found uniform noise. Otherwise its upper end is Doubt.
func TestDoubt(t *testing.T) {
	small, large := 0.001, 0.03
	for _, c := range []struct {
		what      string
		flips     float64
		uneven    *float64
		alike     bool
		low, high float64
	}{
		{"flips", 0.2, &small, true, 0.1, 0.3},
		{"by class", 0.2, &large, false, 0.1, 0.5},
		{"not tested", 0.2, nil, false, 0.1, 0.5},
		{"few", 0.01, &small, false, 0, 0.5},
	} {
		r, e := Result{}, noiserate.Estimate{Rate: 0.2, Low: 0.1, High: 0.3, Doubt: 0.5}
		if r.widenInterval(&e, c.flips, c.uneven); r.Alike != c.alike || e.Low != c.low || e.High != c.high {
			t.Errorf("%s: alike %t, %v to %v", c.what, r.Alike, e.Low, e.High)
		}
	}
}

// Randomly flipped labels pass the test for uniform noise; labels that confuse each class with the next do not.
func TestRandomFlipsAreAlike(t *testing.T) {
	for _, habit := range []bool{false, true} {
		z, truth := mislabelled(5, 10, 40, 20, 0.25)
		if habit {
			for i, y := range truth {
				if z.Labels[i] != y && y >= 0 {
					z.Labels[i] = (y + 1) % 10
				}
			}
		}
		r, err := Run(t.Context(), z, Options{Scorer: judges.Fitted})
		if err != nil || r.Alike == habit || r.Noise.High > 0.6 || r.Noise.Low > 0.25 || r.Noise.High < 0.25 {
			t.Errorf("habit %t: alike %t, %+v, %v", habit, r.Alike, r.Noise, err)
		}
	}
}

// Probabilities bound the share of wrong labels even without features.
func TestGivenDoubt(t *testing.T) {
	p := blas32.General{Rows: 4, Cols: 2, Stride: 2, Data: []float32{.9, .1, .9, .1, .2, .8, .6, .4}}
	labels := []int{0, 1, 1, 0}
	r, err := Auditor{Given: ByProbabilities(p, labels)}.Run(t.Context(), features.Set{X: blas32.General{Rows: 4},
		Labels: labels, IDs: []int{0, 1, 2, 3}}, Options{})
	if err != nil || r.NoFindings == nil || r.Noise == nil || r.Noise.Rate != 0.25 || r.Noise.Low != 0 ||
		!(r.Noise.High >= 0.25 && r.Noise.High < 1) || r.Alike || r.Rate != 0.25 {
		t.Errorf("%+v, %+v, %v", r, r.Noise, err)
	}
}
