package peers

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"winnow/features"
	"winnow/train"
)

// differ returns the central difference of value with respect to row[c].
func differ(row []float64, c int, value func() float64) float64 {
	const h = 1e-5
	v := row[c]
	row[c] = v + h
	up := value()
	row[c] = v - h
	down := value()
	row[c] = v
	return (up - down) / (2 * h)
}

// Very different logits cause neither overflow nor underflow, and the loss of an impossible label is +Inf, not NaN.
func TestExtremes(t *testing.T) {
	far := pack([][]float64{{1e5, -1e5, 0}, {-1e5, 1e5, 0}})
	var e exchange
	d1, d2 := like(far), like(far)
	v1, _ := teachEachOther(&e, d1, d2, far, far, []int{0, 0}, 0, false)
	if v1 != 1e5 || d1.matrixRow(1)[0] != -0.5 || d1.matrixRow(1)[1] != 0.5 || d1.matrixRow(0)[0] != 0 {
		t.Errorf("loss %v, gradient %v", v1, d1.Data)
	}
	var scratch []float64
	tr, _ := newTransition(Pair, 3, 0.3)
	if v := correctedLoss(d1, far, []int{0, 0}, tr, &scratch); !(v > 4e4 && v < 1e5) || math.IsNaN(d1.matrixRow(1)[2]) {
		t.Errorf("corrected loss %v, gradient %v", v, d1.Data)
	}
	none, _ := newTransition(Estimated, 3, 0)
	if v := correctedLoss(d1, far, []int{0, 0}, none, &scratch); !math.IsInf(v, 1) {
		t.Errorf("a label that is impossible under the matrix has loss %v, expected +Inf", v)
	}
	for _, v := range []float64{math.NaN(), math.Inf(1)} {
		bad := pack([][]float64{{1, v, 0}, {0, 1, 0}})
		if v1, _ := teachEachOther(&e, d1, d2, bad, far, []int{0, 0}, 0.5, false); !math.IsNaN(v1) &&
			!math.IsInf(v1, 0) {
			// The second network may choose the other row. Then the first network's own choice shows the NaN.
			if len(e.chosen[1]) != 1 || e.chosen[1][0] != 1 {
				t.Errorf("a logit of %v gives the loss %v", v, v1)
			}
		}
	}
}

// slowClassifier returns the logits of a classifier, computed in float64 loops.
func slowClassifier(c *classifier, w, b []float64, y [][]float64) [][]float64 {
	d := c.Weight.Cols
	norm := func(v []float64) float64 {
		var s float64
		for _, x := range v {
			s += x * x
		}
		return math.Sqrt(s)
	}
	out := make([][]float64, len(y))
	for i := range y {
		for k := range c.Weight.Rows {
			row := w[k*d : (k+1)*d]
			var s float64
			for j, v := range row {
				s += v * y[i][j]
			}
			if c.cosine {
				s *= float64(c.Scale) / norm(row) / norm(y[i])
			} else {
				s += b[k]
			}
			out[i] = append(out[i], s)
		}
	}
	return out
}

// The logits equal those of plain loops, and the gradients of ⟨logits, G⟩ equal central differences of the loops.
func TestClassifierAgainstLoops(t *testing.T) {
	const n, dim, classes = 5, 6, 4
	for _, kind := range []string{Linear, Cosine} {
		rng := train.Rand(1, kind, 0)
		c := newClassifier(Config{Classifier: kind, Temperature: 0.5}, "", classes, dim, rng)
		y, g, logits := features.NewMatrix(n, dim), features.NewMatrix(n, 2*classes), features.NewMatrix(n, 2*classes)
		rows := make([][]float64, n)
		for i := range n {
			for j := range dim {
				features.Row(y, i)[j] = float32(rng.NormFloat64())
				rows[i] = append(rows[i], float64(features.Row(y, i)[j]))
			}
		}
		for i := range g.Data {
			g.Data[i] = float32(rng.NormFloat64())
		}
		half := columnView(g, classes, classes) // the second network's part
		c.forwardLogits(columnView(logits, classes, classes), y)
		dy := c.backwardLogits(half)
		var params [][]float64
		for _, p := range append(c.Params(), features.NewParam("no bias", 1, classes))[:2] {
			var list []float64
			for _, v := range p.Data {
				list = append(list, float64(v))
			}
			params = append(params, list)
		}
		want := slowClassifier(c, params[0], params[1], rows)
		for i := range n {
			for k, w := range want[i] {
				if got := float64(features.Row(logits, i)[classes+k]); math.Abs(got-w) > 1e-5 {
					t.Errorf("%s: logit %d of row %d: %v, expected %v", kind, k, i, got, w)
				}
				if features.Row(logits, i)[k] != 0 {
					t.Errorf("%s: wrote into the other network's logits", kind)
				}
			}
		}
		value := func() (sum float64) {
			for i, row := range slowClassifier(c, params[0], params[1], rows) {
				for k, v := range row {
					sum += v * float64(features.Row(half, i)[k])
				}
			}
			return sum
		}
		near := func(what string, got float32, list []float64, at int) {
			if w := differ(list, at, value); math.Abs(float64(got)-w) > 2e-4 {
				t.Errorf("%s: %s %d: %v, expected %v", kind, what, at, got, w)
			}
		}
		for p, param := range c.Params() {
			for i := range param.Grad {
				near(param.Name, param.Grad[i], params[p], i)
			}
		}
		for i := range n {
			for j := range dim {
				near(fmt.Sprint("row ", i), features.Row(dy, i)[j], rows[i], j)
			}
		}
	}
}

// The cosine classifier gives a row of length 0, which has no direction, logits 0 and gradient 0.
func TestCosineOfNothing(t *testing.T) {
	c := newClassifier(Config{Classifier: Cosine, Temperature: 0.05}, "", 3, 4, train.Rand(1, "zero", 0))
	clear(c.Weight.Data[:4])
	y, logits := features.NewMatrix(2, 4), features.NewMatrix(2, 3)
	y.Data[4] = 1
	c.forwardLogits(logits, y)
	dl := features.NewMatrix(2, 3)
	for i := range dl.Data {
		dl.Data[i] = 1
	}
	dy := c.backwardLogits(dl)
	for j := range 4 {
		if dy.Data[j] != 0 || c.Weight.Grad[j] != 0 {
			t.Errorf("gradients %v, %v", dy.Data[:4], c.Weight.Grad[:4])
		}
	}
	if !slices.Equal(features.Row(logits, 0), []float32{0, 0, 0}) || logits.Data[3] != 0 {
		t.Errorf("logits %v", logits.Data)
	}
}
