package peers

import (
	"math"
	"slices"
	"testing"

	"winnow/features"
	"winnow/internal/testing/reference"
	"winnow/train"
)

func TestMain(m *testing.M) { reference.Main(m) }

// Tolerances of the golden set for float64.
const (
	valueTolerance, valueFloor       = 1e-8, 1e-10
	gradientTolerance, gradientFloor = 1e-6, 1e-9
)

func TestGolden(t *testing.T) {
	reference.Check(t, "classification_baselines", reference.Checks{
		"coteaching":           goldenTeach,
		"coteaching_plus":      goldenTeach,
		"coteaching_schedule":  goldenPlan,
		"coteaching_adam_plan": goldenAdamPlan,
		"forward_correction":   goldenCorrection,
		"transition":           goldenTransition,
		"estimate_T":           goldenEstimate,
		"temperature_logits":   goldenTemperature,
	})
}

// onlyParams fails if the case has a parameter that the check does not map to a setting.
func onlyParams(t *testing.T, c reference.Case, known ...string) {
	t.Helper()
	for name := range c.Params {
		if !slices.Contains(known, name) {
			t.Fatalf("parameter %q is not known: known are %v", name, known)
		}
	}
}

func number64(t *testing.T, what string, got, want float64) {
	t.Helper()
	if d := math.Abs(got - want); !(d <= valueFloor+valueTolerance*math.Abs(want)) {
		t.Errorf("%s: %v, expected %v", what, got, want)
	}
}

func numbers64(t *testing.T, what string, got, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d numbers, expected %d", what, len(got), len(want))
	}
	for i := range want {
		number64(t, what, got[i], want[i])
	}
}

// gradient64 compares gradients. The tolerance is relative to the largest expected entry.
func gradient64(t *testing.T, what string, got Matrix[float64], want [][]float64) {
	t.Helper()
	if d, limit := farthest(got, want), gradientFloor+gradientTolerance*largest(want); !(d <= limit) {
		t.Errorf("%s: differs by %v, expected at most %v", what, d, limit)
	}
}

func farthest(got Matrix[float64], want [][]float64) (worst float64) {
	for i := range want {
		for j, w := range want[i] {
			if d := math.Abs(got.matrixRow(i)[j] - w); !(d <= worst) {
				worst = d
			}
		}
	}
	return worst
}

func largest(rows [][]float64) (top float64) {
	for _, row := range rows {
		for _, v := range row {
			top = max(top, math.Abs(v))
		}
	}
	return top
}

// pack returns a matrix of rows with gaps between them, to test that strides are respected.
func pack(rows [][]float64) Matrix[float64] {
	m := Matrix[float64]{Rows: len(rows), Cols: len(rows[0]), Stride: len(rows[0]) + 2}
	m.Data = make([]float64, m.Rows*m.Stride)
	for i, row := range rows {
		copy(m.matrixRow(i), row)
	}
	return m
}

// like returns a matrix of the same shape, full of values that must be overwritten.
func like(m Matrix[float64]) Matrix[float64] {
	m.Data = make([]float64, len(m.Data))
	for i := range m.Data {
		m.Data[i] = math.NaN()
	}
	return m
}

func goldenTeach(t *testing.T, c reference.Case) {
	onlyParams(t, c, "forget_rate")
	l1, l2, labels := pack(c.Matrix(t, "logits1")), pack(c.Matrix(t, "logits2")), c.Ints(t, "labels")
	d1, d2 := like(l1), like(l2)
	plus := c.Method == "coteaching_plus"
	var e exchange
	v1, v2 := teachEachOther(&e, d1, d2, l1, l2, labels, c.Param("forget_rate", math.NaN()), plus)
	number64(t, "loss1", v1, c.Float(t, "loss1"))
	number64(t, "loss2", v2, c.Float(t, "loss2"))
	for i, key := range []string{"selected_by_1", "selected_by_2"} {
		if want := c.Ints(t, key); !slices.Equal(e.chosen[i], want) {
			t.Errorf("%s: %v, expected %v", key, e.chosen[i], want)
		}
	}
	if plus {
		if want := c.Ints(t, "disagreement"); !slices.Equal(e.among, want) {
			t.Errorf("disagreement: %v, expected %v", e.among, want)
		}
	}
	gradient64(t, "grad_logits1", d1, c.Matrix(t, "grad_logits1"))
	gradient64(t, "grad_logits2", d2, c.Matrix(t, "grad_logits2"))
}

func goldenPlan(t *testing.T, c reference.Case) {
	onlyParams(t, c, "n_epoch", "forget_rate", "num_gradual", "exponent")
	p := forgetPlan{Rate: c.Param("forget_rate", math.NaN()), Exponent: c.Param("exponent", 1),
		Gradual: int(c.Param("num_gradual", 10))}
	got := make([]float64, int(c.Param("n_epoch", -1)))
	for e := range got {
		got[e] = p.forgetRate(e)
	}
	numbers64(t, "values", got, c.Floats(t, "values"))
}

// The released code's plan of Adam's rates equals a linear schedule, with epochs of one step and of seven steps.
func goldenAdamPlan(t *testing.T, c reference.Case) {
	onlyParams(t, c, "lr", "n_epoch", "epoch_decay_start", "mom1", "mom2")
	epochs, first := int(c.Param("n_epoch", 200)), c.Param("mom1", 0.9)
	for _, steps := range []int{1, 7} {
		cfg := train.ScheduleConfig{Name: "linear", Hold: c.Param("epoch_decay_start", 80) / float64(epochs),
			Beta1: c.Param("mom2", 0.1)}
		s, err := train.NewSchedule(cfg, c.Param("lr", 1e-3), epochs*steps, steps)
		if err != nil {
			t.Fatal(err)
		}
		for _, within := range []int{0, steps - 1} {
			lr, beta1 := make([]float64, epochs), make([]float64, epochs)
			for e := range epochs {
				lr[e], beta1[e] = s.At(e*steps+within), first
				if b := s.Beta1At(e*steps + within); b > 0 {
					beta1[e] = b
				}
			}
			numbers64(t, "lr", lr, c.Floats(t, "lr"))
			numbers64(t, "beta1", beta1, c.Floats(t, "beta1"))
		}
	}
}

// given returns an estimated transition matrix with the given rows.
func given(t *testing.T, rows [][]float64) *transition {
	t.Helper()
	tr, err := newTransition(Estimated, len(rows), 0)
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range rows {
		tr.setRow(i, row)
	}
	return tr
}

// kinds maps the golden set's names of matrices to the names of noise models.
var kinds = map[string]string{"symmetric": Symmetric, "symmetric_exclusive": Symmetric,
	"symmetric_inclusive": Inclusive, "pair": Pair}

func goldenCorrection(t *testing.T, c reference.Case) {
	onlyParams(t, c, "kind", "p")
	logits, labels, matrix := pack(c.Matrix(t, "logits")), c.Ints(t, "labels"), c.Matrix(t, "T")
	kind, _ := c.Params["kind"].(string)
	known, err := newTransition(kinds[kind], len(matrix), c.Param("p", math.NaN()))
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range matrix {
		for j, p := range row {
			number64(t, "T", known.at(i, j), p)
		}
	}
	var scratch []float64
	d := like(logits)
	number64(t, "loss", correctedLoss(d, logits, labels, known, &scratch), c.Float(t, "loss"))
	gradient64(t, "grad_logits", d, c.Matrix(t, "grad_logits"))
	// The same matrix, stored as an estimated matrix in float32, gives the same loss within float32's accuracy.
	if got, want := correctedLoss(Matrix[float64]{}, logits, labels, given(t, matrix), &scratch),
		c.Float(t, "loss"); math.Abs(got-want) > 1e-6*want {
		t.Errorf("loss with the matrix as numbers: %v, expected %v", got, want)
	}
}

func goldenTransition(t *testing.T, c reference.Case) {
	onlyParams(t, c, "C", "p")
	classes := int(c.Param("C", -1))
	for _, key := range []string{"symmetric_exclusive", "symmetric_inclusive", "pair"} {
		tr, err := newTransition(kinds[key], classes, c.Param("p", math.NaN()))
		if err != nil {
			t.Fatal(err)
		}
		column := make([]float64, classes)
		for i, row := range c.Matrix(t, key) {
			for j, p := range row {
				number64(t, key, tr.at(i, j), p)
				tr.logColumn(column, j)
				number64(t, key+" by columns", math.Exp(column[i]), p)
			}
		}
	}
}

func goldenEstimate(t *testing.T, c reference.Case) {
	onlyParams(t, c, "percentile")
	p := c.Matrix(t, "probabilities")
	anchors, rows := c.Ints(t, "anchor_index"), c.Matrix(t, "T")
	column := make([]float64, len(p))
	for class := range rows {
		for i := range p {
			column[i] = p[i][class]
		}
		at := typicalRow(column, c.Param("percentile", 0))
		if at != anchors[class] {
			t.Errorf("anchor of class %d: row %d, expected %d", class, at, anchors[class])
		}
		numbers64(t, "T", p[at], rows[class])
	}
}

// goldenTemperature has its own tolerance, because the classifier computes in float32.
func goldenTemperature(t *testing.T, c reference.Case) {
	onlyParams(t, c, "temperature")
	x, proxies, labels := c.Matrix(t, "embeddings"), c.Matrix(t, "proxies"), c.Ints(t, "labels")
	cl := newClassifier(Config{Classifier: Cosine, Temperature: c.Param("temperature", 0.05)}, "", len(proxies),
		len(x[0]), train.Rand(1, "test", 0))
	for i, row := range proxies {
		for j, v := range row {
			cl.Weight.Data[i*len(row)+j] = float32(v)
		}
	}
	y := features.NewMatrix(len(x), len(x[0]))
	for i, row := range x {
		for j, v := range row {
			features.Row(y, i)[j] = float32(v)
		}
	}
	logits := features.NewMatrix(len(x), len(proxies))
	cl.forwardLogits(logits, y)
	want := c.Matrix(t, "logits")
	for i := range want {
		for j, w := range want[i] {
			if got := float64(features.Row(logits, i)[j]); math.Abs(got-w) > 1e-4*math.Max(1, math.Abs(w)) {
				t.Errorf("logit %d of row %d: %v, expected %v", j, i, got, w)
			}
		}
	}
	exact := pack(want)
	losses, sums := make([]float64, len(x)), make([]float64, len(x))
	rowEntropies(losses, sums, exact, labels)
	numbers64(t, "per_sample_loss", losses, c.Floats(t, "per_sample_loss"))
	rowEntropies(losses, sums, Matrix[float32]{Rows: logits.Rows, Cols: logits.Cols, Stride: logits.Stride,
		Data: logits.Data}, labels)
	for i, w := range c.Floats(t, "per_sample_loss") {
		if math.Abs(losses[i]-w) > 1e-4*math.Max(1, w) {
			t.Errorf("loss of row %d: %v, expected %v", i, losses[i], w)
		}
	}
}

// at returns P(given | true).
func (t *transition) at(truth, given int) float64 {
	switch {
	case t.dense != nil:
		return float64(t.dense.Data[given*t.classes+truth])
	case truth == given:
		return t.same
	case t.pair && given != (truth+1)%t.classes:
		return 0
	}
	return t.other
}
