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

// Scores agree with values computed by hand.
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
		{math.Log(.7 / .3), .7, .7, 0}, // no confusions, so a = 1
		{math.Log(.3 / .7), .3, .6, 2},
		{0, .5, .5, 0}, // a tie keeps the given label
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

// Under uniform noise, the order is closer to self-confidence, the best order, than the margin is. If people confuse
// the two classes of a pair, the order is better than both.
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
			logits[truth^1] += 2 // pairs of similar classes
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
			t.Errorf("%+v: average precision %.4f, self-confidence %.4f, margin %.4f", kind, ours, confidence,
				difference)
		}
	}
}

// If wrong images fit no class, doubtful labels have weak rivals, and the order equals that of self-confidence, which
// is best. If people confuse classes, the strongest rivals dominate.
func TestByProbabilitiesOfStrangers(t *testing.T) {
	const n, classes = 3000, 8
	for _, strangers := range []bool{true, false} {
		rng := rand.New(rand.NewPCG(17, 2))
		p := blas32.General{Rows: n, Cols: classes, Stride: classes, Data: make([]float32, n*classes)}
		labels := make([]int, n)
		for i := range n {
			truth, row := i%classes, p.Data[i*classes:][:classes]
			labels[i] = truth
			sharp := 5.0
			if rng.Float64() < 0.1 {
				if labels[i] = rng.IntN(classes); strangers {
					sharp = 0.5
				} else {
					labels[i] = truth ^ 1
				}
			}
			sum := float32(0)
			for k := range row {
				l := rng.NormFloat64()
				if k == truth {
					l += sharp
				}
				row[k] = float32(math.Exp(l))
				sum += row[k]
			}
			for k := range row {
				row[k] /= sum
			}
		}
		o, same := judges.ByProbabilities(p, labels), 0
		for i, y := range labels {
			if math.Abs(o.Score[i]-float64(p.Data[i*classes+y])) < 1e-5 {
				same++
			}
		}
		if strangers != (same == n) {
			t.Errorf("outliers %t: %d of %d scores equal the label's probability", strangers, same, n)
		}
	}
}

// If the label is drawn from the image's probabilities, Doubt is the expected share of wrong labels, however
// overconfident the model is.
func TestDoubt(t *testing.T) {
	const n = 20000
	for _, sharp := range []float64{0.5, 1, 2} {
		rng := rand.New(rand.NewPCG(18, 2))
		p := blas32.General{Rows: n, Cols: 2, Stride: 2, Data: make([]float32, 2*n)}
		labels, want := make([]int, n), 0.0
		for i := range n {
			l := 2 * rng.NormFloat64()
			right := 1 / (1 + math.Exp(l))
			if rng.Float64() < right {
				labels[i] = 1
			}
			want += 2 * right * (1 - right) / n
			said := 1 / (1 + math.Exp(sharp*l))
			p.Data[2*i], p.Data[2*i+1] = float32(1-said), float32(said)
		}
		if got := judges.Doubt(p, labels); math.Abs(got-want) > 0.01 {
			t.Errorf("sharpness %v: doubt %.4f, expected %.4f", sharp, got, want)
		}
	}
}
