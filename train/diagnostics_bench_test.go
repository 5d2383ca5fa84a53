package train

import (
	"encoding/json"
	"testing"

	"winnow/features"
	"winnow/filters"
)

// BenchmarkDiagnosis measures the cost of diagnosing the filter: "step" occurs at every step (a batch of 64),
// "diagnosis" by default once per epoch (100 classes of 50 in 512 dimensions, every class changed since the
// last one).
func BenchmarkDiagnosis(b *testing.B) {
	rng := Rand(1, "bench", 0)
	const classes, dim = 100, 512
	c := filters.Default()
	filter := must(filters.New(c, filters.Env{Dim: dim, Classes: classes}))
	tr := &Trainer{Config: Config{Filter: filter, Sampler: &Sampler{batches: 1}, DiagnoseEvery: 1,
		Observe: On(func(Diagnosis) {})}}
	s := Step{Judge: "vmf", Scores: make([]float64, 64), Unjudged: make([]bool, 64), Kept: features.AllRows(32),
		HasThreshold: true, Threshold: 0.5}
	for i := range s.Scores {
		s.Scores[i] = rng.Float64()
	}
	b.Run("step", func(b *testing.B) {
		for b.Loop() {
			tr.note(&s)
		}
	})
	z := features.NewSet(classes*50, dim)
	for i := range z.Len() {
		z.Labels[i] = i % classes
		for j := range z.Row(i) {
			z.Row(i)[j] = float32(rng.NormFloat64())
		}
	}
	if err := features.Normalize(z.X); err != nil {
		b.Fatal(err)
	}
	tr.Bank = features.NewBank(z.Len(), dim, classes)
	tr.Bank.Push(z)
	one := z.Rows(features.AllRows(classes))
	b.Run("diagnosis", func(b *testing.B) {
		tr.Observe = Together(tr.Observe, On(func(d Diagnosis) {
			if _, err := json.Marshal(d); err != nil {
				b.Fatal(err)
			}
		}))
		for b.Loop() {
			tr.Bank.Push(one)
			tr.note(&s)
			if err := tr.diagnose(); err != nil {
				b.Fatal(err)
			}
		}
	})
}
