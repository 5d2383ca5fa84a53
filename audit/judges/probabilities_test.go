package judges_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/audit/judges"
	"winnow/eval"
)

// Values by hand.
func TestByProbabilities(t *testing.T) {
	p := blas32.General{Rows: 5, Cols: 3, Stride: 3, Data: []float32{
		.7, .2, .1,
		.1, .3, .6,
		.5, 0, .5,
		0, 1, 0,
		.2, .3, .5,
	}}
	o := judges.ByProbabilities(p, []int{0, 1, 0, 2, -1})
	for i, want := range []struct {
		order, score, best float64
		suggested          int
	}{
		{math.Log(.7 / math.Sqrt(.05)), .7 / (.7 + math.Sqrt(.05)), .7 / (.7 + math.Sqrt(.05)), 0},
		{math.Log(.3 / math.Sqrt(.37)), .3 / (.3 + math.Sqrt(.37)), .6 / (.6 + math.Sqrt(.1)), 2},
		{0, .5, .5, 0}, // as probable is not better
		{math.Log(1e-7), 1e-7, 1, 1},
		{math.Inf(1), 1, 1, -1}, // no label
	} {
		near := func(a, b float64) bool { return a == b || math.Abs(a-b) < 1e-6 }
		if !near(o.Order[i], want.order) || !near(o.Score[i], want.score) || !near(o.SuggestedScore[i], want.best) ||
			o.Suggested[i] != want.suggested {
			t.Errorf("row %d: order %v, score %v, suggested %d (%v), expected %+v", i, o.Order[i], o.Score[i],
				o.Suggested[i], o.SuggestedScore[i], want)
		}
	}
}

// If mistakes go to all classes alike, the order is closer to self-confidence, the best there, than the margin is. If
// people confuse the two classes of a pair, it beats both.
func TestByProbabilitiesRanks(t *testing.T) {
	for _, kind := range []struct{ share, twins float64 }{{.05, 0}, {.3, 0}, {.1, 1}, {.4, 1}} {
		const n, classes = 20000, 10
		rng := rand.New(rand.NewPCG(16, 1))
		p := blas32.General{Rows: n, Cols: classes, Stride: classes, Data: make([]float32, n*classes)}
		labels, wrong := make([]int, n), make([]bool, n)
		self, margin := make([]float64, n), make([]float64, n)
		for i := range n {
			truth := i % classes
			if labels[i] = truth; rng.Float64() < kind.share {
				wrong[i] = true
				if labels[i] = (truth + 1 + rng.IntN(classes-1)) % classes; rng.Float64() < kind.twins {
					labels[i] = truth ^ 1
				}
			}
			row, sum := p.Data[i*classes:][:classes], 0.0
			logits := make([]float64, classes)
			for k := range logits {
				logits[k] = 1.5 * rng.NormFloat64()
			}
			logits[truth] += 4
			logits[truth^1] += 2 // the classes come in pairs that look alike
			for k, l := range logits {
				logits[k] = math.Exp(l)
				sum += logits[k]
			}
			for k := range row {
				row[k] = float32(logits[k] / sum)
			}
			y := labels[i]
			rival := slices.Max(append(slices.Clone(row[:y]), row[y+1:]...))
			self[i], margin[i] = float64(row[y]), float64(row[y]-rival)
		}
		kept := make([]bool, n)
		ap := func(order []float64) float64 {
			d, err := eval.Detect(order, wrong, kept)
			if err != nil {
				t.Fatal(err)
			}
			return d.AP
		}
		ours, confidence, difference := ap(judges.ByProbabilities(p, labels).Order), ap(self), ap(margin)
		if kind.twins == 0 && !(ours > confidence-.015 && ours > difference+.01) || kind.twins == 1 &&
			!(ours > max(confidence, difference)) {
			t.Errorf("%+v: average precision %.4f, of self-confidence %.4f, of the margin %.4f", kind, ours, confidence,
				difference)
		}
	}
}
