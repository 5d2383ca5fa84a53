package peers

import (
	"math"
	"math/rand/v2"
	"testing"

	"winnow/features"
	"winnow/losses"
	"winnow/train"
)

// The terms are the cross entropies of all rows, chosen or not, averaged over the learning networks.
func TestTerms(t *testing.T) {
	const classes, n = 5, 12
	r := rand.New(rand.NewPCG(2, 3))
	for _, method := range []string{CoTeaching, CoTeachingPlus, CrossEntropy, FCorrection} {
		networks := 2
		if method == CrossEntropy {
			networks = 1
		}
		cfg := Default(method)
		cfg.Rate, cfg.Epoch = 0.4, 1
		l, err := newLoss(cfg, classes, new(train.Clock))
		if err != nil {
			t.Fatal(err)
		}
		if has := losses.RowWise(l).NoteTerms(); has == (method == FCorrection) {
			t.Errorf("%s: has terms: %v", method, has)
		}
		if method == FCorrection {
			continue
		}
		z := features.NewSet(n, networks*classes)
		for i := range z.X.Data {
			z.X.Data[i] = float32(2 * r.NormFloat64())
		}
		for i := range z.Labels {
			z.Labels[i] = r.IntN(classes)
		}
		l.Eval(nil, z, nil)
		for i, got := range l.Terms() {
			want := 0.0
			for k := range networks {
				row := make([]float64, classes)
				for c := range row {
					row[c] = float64(z.Row(i)[k*classes+c])
				}
				want -= math.Log(softmax64(row)[z.Labels[i]]) / float64(networks)
			}
			if math.Abs(got-want) > 1e-9 {
				t.Errorf("%s: row %d: %v, expected %v", method, i, got, want)
			}
		}
	}
}
