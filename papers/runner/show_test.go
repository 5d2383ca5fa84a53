package runner

import (
	"math"
	"math/rand/v2"
	"testing"

	"winnow/features"
	"winnow/papers/studies"
)

// A map shows the images of the test split with their classes, depends only on the seed, and separates clusters. The
// worst silhouette is that of the two classes in one cluster.
func TestShow(t *testing.T) {
	s, err := studies.Find("adapted-figure6")
	if err != nil {
		t.Fatal(err)
	}
	z, r := features.NewSet(90, 6), rand.New(rand.NewPCG(1, 1))
	for i := range z.Len() {
		z.Labels[i] = i % 3
		for j := range z.Row(i) {
			z.Row(i)[j] = 0.1 * float32(r.NormFloat64())
		}
		z.Row(i)[min(i%3, 1)] += 2 // classes 1 and 2 are one cluster
	}
	if err := features.Normalize(z.X); err != nil {
		t.Fatal(err)
	}
	shown := func(s studies.Study) studies.Outcome {
		o := studies.Outcome{Seed: 3, Measures: map[string]float64{}}
		r := reproduction{Options: Options{Study: s}}
		if err := r.measureSilhouettes(t.Context(), &o, z, []string{"a", "b", "c"}); err != nil {
			t.Fatal(err)
		}
		return o
	}
	o := shown(s)
	if worst, mean := o.Measures[worstSilhouette], o.Measures[meanSilhouette]; math.Abs(worst) > 0.1 || !(mean > 0.25) {
		t.Errorf("the worst silhouette is %v, the mean %v", worst, mean)
	}
	p := o.Points
	if p == nil || len(p.X) != z.Len() || len(p.Y) != z.Len() || len(p.Classes) != 3 {
		t.Fatalf("found %+v", p)
	}
	var near, far float64 // from the first image to the others of class 0, and to those of class 1
	for i := range p.X {
		if d := math.Hypot(p.X[i]-p.X[0], p.Y[i]-p.Y[0]); p.Class[i] == 0 {
			near += d / 30
		} else if p.Class[i] == 1 {
			far += d / 30
		}
	}
	if !(far > 1.5*near) {
		t.Errorf("the first image is %v from its own class and %v from another", near, far)
	}
	if again := shown(s).Points; again.X[7] != p.X[7] || again.Y[7] != p.Y[7] {
		t.Error("the same seed makes another map")
	}
	s.Chart = nil
	if o := shown(s); o.Points != nil || len(o.Measures) != 2 {
		t.Errorf("a study without a map: %+v", o)
	}
	s.Measures = []string{"ncm"}
	if o := shown(s); len(o.Measures) != 0 {
		t.Errorf("a study of another measure: %+v", o)
	}
}
