package audit

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/audit/judges"
	"winnow/audit/suspects"
	"winnow/features"
)

// With zero options, every scorer of the catalog finds the wrong labels, also if rows do not have unit length, and the
// estimated noise rate is close to the true rate.
func TestRun(t *testing.T) {
	z, truth := mislabelled(5, 10, 24, 20, 0.25)
	long := z.Rows(listLabelled(z.Labels))
	for i := range long.Len() {
		for j := range long.Row(i) {
			long.Row(i)[j] *= float32(1 + i%3)
		}
	}
	for _, scorer := range append([]string{""}, Names()...) {
		if scorer == Crossfit {
			continue // tested in package crossfit
		}
		r, err := Run(context.Background(), long, Options{Scorer: scorer})
		if err != nil {
			t.Fatalf("%s: %v", scorer, err)
		}
		d, err := r.Measure(z.Labels, truth)
		if err != nil || d.AUROC < 0.75 || d.Removed != int(r.Rate*float64(z.Len())) {
			t.Errorf("%s: AUROC %v, %d flagged, %v", scorer, d.AUROC, d.Removed, err)
		}
		if scorer == "" && (r.Scorer != judges.Combined || r.Why == "" || math.Abs(r.Noise.Rate-0.25) > 0.1 ||
			len(r.Classes) != 10 || r.NoFindings != nil) {
			t.Errorf("%s: %+v, %d classes", r.Scorer, r.Noise, len(r.Classes))
		}
	}
	if r, err := Run(context.Background(), long, Options{Scorer: "probe"}); err != nil ||
		r.Scorer != judges.SelfConfidence {
		t.Errorf("former name \"probe\" resolves to %q, %v", r.Scorer, err)
	}
	if long.Row(1)[0] == z.Row(1)[0] {
		t.Error("Run normalised the caller's set in place")
	}
}

// With random labels, no label is flagged, the estimated noise rate is 0, and the ranking is kept.
func TestRunBlind(t *testing.T) {
	for _, scorer := range []string{judges.Fitted, judges.Combined} {
		z, _ := mislabelled(7, 6, 60, 12, 0)
		told, err := Run(t.Context(), z, Options{Scorer: scorer})
		if err != nil || told.Blind || told.Suspects[len(told.Suspects)-1].Score < 0.9 {
			t.Errorf("%s, right labels: blind %v, %v", scorer, told.Blind, err)
		}
		rng := rand.New(rand.NewPCG(7, 7))
		for i := range z.Labels {
			z.Labels[i] = rng.IntN(6)
		}
		r, err := Run(t.Context(), z, Options{Scorer: scorer})
		if err != nil || !r.Blind || r.Rate != 0 || r.Noise.Low != 0 || r.Noise.High < 0.8 {
			t.Fatalf("%s: blind %v, rate %v, %+v, %v", scorer, r.Blind, r.Rate, r.Noise, err)
		}
		for _, s := range r.Suspects {
			if s.Score != 0.5 || s.SuggestedClass != s.GivenClass || s.Flagged {
				t.Fatalf("%s: %+v", scorer, s)
			}
		}
		if r.Suspects[0].Order >= r.Suspects[len(r.Suspects)-1].Order {
			t.Errorf("%s: all labels tie, expected a ranking", scorer)
		}
	}
}

// With fewer images than dimensions, all whitened images have the same distance from each other and point away from the
// sum of the others. Leaving an image out shrinks its own class only; this must not make random labels look right.
func TestRunBlindWhereImagesAreFew(t *testing.T) {
	for _, scorer := range []string{judges.Fitted, judges.Combined} {
		z, truth := mislabelled(8, 3, 20, 300, 0.2)
		r, err := Run(t.Context(), z, Options{Scorer: scorer, Whiten: true})
		if err != nil || r.Blind {
			t.Fatalf("%s, a fifth of the labels wrong: blind %v, %v", scorer, r.Blind, err)
		}
		if d, err := r.Measure(z.Labels, truth); err != nil || d.AP < 0.9 {
			t.Errorf("%s: AP %v, %v", scorer, d.AP, err)
		}
		for seed := range uint64(3) {
			rng := rand.New(rand.NewPCG(seed, 8))
			for i := range z.X.Data {
				z.X.Data[i] = float32(rng.NormFloat64())
			}
			copy(z.Labels, truth) // keep the class sizes
			if r, err = Run(t.Context(), z, Options{Scorer: scorer, Whiten: true}); err != nil || !r.Blind {
				t.Errorf("%s, random vectors, seed %d: blind %v, %v", scorer, seed, r.Blind, err)
			}
		}
	}
}

// Rows without a label are not scored, but are used for whitening.
func TestRunUnlabelled(t *testing.T) {
	z, _ := mislabelled(6, 6, 20, 12, 0.2)
	for i := 0; i < z.Len(); i += 7 {
		z.Labels[i] = features.Unlabelled
	}
	r, err := Run(context.Background(), z, Options{Whiten: true, Scorer: "centres"})
	if err != nil {
		t.Fatal(err)
	}
	if want := len(listLabelled(z.Labels)); len(r.Suspects) != want {
		t.Errorf("%d suspects, expected %d", len(r.Suspects), want)
	}
	for _, s := range r.Suspects {
		if s.Row%7 == 0 || s.GivenClass != z.Labels[s.Row] {
			t.Fatalf("%+v of label %d", s, z.Labels[s.Row])
		}
		for _, n := range s.SupportGiven {
			if z.Labels[n.Row] != s.GivenClass {
				t.Fatalf("row %d of label %d is supported by row %d of label %d", s.Row, s.GivenClass, n.Row,
					z.Labels[n.Row])
			}
		}
	}
}

func TestRunRefuses(t *testing.T) {
	z, _ := mislabelled(7, 3, 4, 5, 0)
	nan := math.NaN()
	for what, run := range map[string]func() (Result, error){
		"scorer": func() (Result, error) { return Run(context.Background(), z, Options{Scorer: "guess"}) },
		"label":  func() (Result, error) { return Run(context.Background(), z, Options{Classes: 2}) },
		"rate":   func() (Result, error) { return Run(context.Background(), z, Options{Rate: &nan}) },
		"one":    func() (Result, error) { return Run(context.Background(), z.Rows([]int{0}), Options{}) },
		"labels": func() (Result, error) { return Run(context.Background(), features.Set{X: z.X}, Options{}) },
		"given": func() (Result, error) {
			return Auditor{Given: &Given{Name: "x"}}.Run(context.Background(), z, Options{})
		},
		"zero": func() (Result, error) {
			return Run(context.Background(), features.Set{X: features.NewMatrix(4, 3), Labels: []int{0, 0, 1, 1}},
				Options{})
		},
	} {
		if _, err := run(); err == nil {
			t.Errorf("%s: no error", what)
		}
	}
}

func TestTake(t *testing.T) {
	r := Result{Scorer: "centres", Suspects: []suspects.Suspect{
		{Row: 7, Score: 0.1, Flagged: true}, {Row: 3, Score: 0.2, Flagged: true},
		{Row: 5, Score: 0.7}, {Row: 1, Score: 0.9}, {Row: 0, Score: 1},
	}}
	for _, c := range []struct {
		cut  Cut
		want []int
	}{
		{Cut{}, []int{7, 3}},
		{Cut{Share, 0.7}, []int{7, 3, 5}},
		{Cut{Share, 0}, nil},
		{Cut{Precision, 0.85}, []int{7, 3}}, // (0.9 + 0.8)/2
		{Cut{Precision, 0.6}, []int{7, 3, 5}},
		{Cut{Precision, 0.95}, nil},
	} {
		taken, err := r.Take(c.cut)
		var got []int
		for _, s := range taken {
			got = append(got, s.Row)
		}
		if diff := cmp.Diff(c.want, got); err != nil || diff != "" {
			t.Errorf("%+v: %v (-want +got):\n%s", c, err, diff)
		}
	}
	r.Scorer = "knn"
	if _, err := r.Take(Cut{Precision, 0.5}); err == nil {
		t.Error("Take accepts scores of knn as probabilities")
	}
}

// Name sets paths and label names by row and class. Only scorers with probabilities set SuggestedProbability.
func TestName(t *testing.T) {
	z, _ := mislabelled(8, 3, 8, 10, 0.2)
	paths, classes := make([]string, z.Len()), []string{"a", "b", "c"}
	for i := range paths {
		paths[i] = string(rune('A' + i))
	}
	for scorer, probable := range map[string]bool{"centres": true, "knn": false} {
		r, err := Run(context.Background(), z, Options{Scorer: scorer})
		if err != nil {
			t.Fatal(err)
		}
		r.Name(paths, classes)
		for i, s := range r.Suspects {
			if s.Rank != i+1 || s.Path != paths[s.Row] || s.Given != classes[z.Labels[s.Row]] ||
				s.Suggested != classes[s.SuggestedClass] ||
				(s.SuggestedProbability != nil) != probable || s.Fit == nil || len(s.SupportGiven) != supporting ||
				s.SupportGiven[0].Path != paths[s.SupportGiven[0].Row] {
				t.Fatalf("%s, place %d: %+v", scorer, i, s)
			}
		}
	}
}

// One class has 300 images and the other only a few. Correct labels are not flagged, wrong labels in the large class
// are, and a single image of a class is not scored.
func TestRunUnlike(t *testing.T) {
	for _, c := range []struct {
		few, wrong int
		least      int // wrong labels that must be found
		unjudged   int
	}{{1, 0, 0, 301}, {4, 0, 0, 0}, {12, 0, 0, 0}, {12, 12, 4, 0}, {30, 15, 10, 0}} {
		rng, z := rand.New(rand.NewPCG(3, uint64(c.few))), features.NewSet(300+c.few, 32)
		for i := range z.Len() {
			for j := range z.Row(i) {
				z.Row(i)[j] = float32(rng.NormFloat64())
			}
			if i < 300 {
				z.Row(i)[1] += 4
			} else {
				z.Row(i)[0] += 8
			}
			if z.Labels[i] = 0; i < c.wrong || i >= 300 {
				z.Labels[i] = 1
			}
		}
		for _, scorer := range []string{judges.Fitted, judges.Combined, judges.Centres} {
			r, err := Run(t.Context(), z, Options{Scorer: scorer, Whiten: true})
			if err != nil || r.Blind || r.Unjudged != c.unjudged {
				t.Fatalf("%+v, %s: blind %v, %d not scored, %v", c, scorer, r.Blind, r.Unjudged, err)
			}
			found, other := 0, 0
			for _, s := range r.Suspects {
				if s.Flagged && s.Row < c.wrong {
					found++
				} else if s.Flagged {
					other++
				}
			}
			if other > 3 || scorer != judges.Centres && found < c.least {
				t.Errorf("%+v, %s: flagged %d wrong and %d correct labels", c, scorer, found, other)
			}
		}
	}
}
