package head

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"winnow/features"
)

// A sketch decorrelates the rows exactly, finds the leading directions nearly as well as the whole covariance, and is
// the same every time.
func TestSketch(t *testing.T) {
	const n, d, out = 500, 300, 40
	x := spectrum(source(1), n, d, 1)
	mean, err := columnMeans(t.Context(), x)
	if err != nil {
		t.Fatal(err)
	}
	run := func() whitened {
		w, err := whiteningOfWide(t.Context(), x, mean, n-1, out)
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	w := run()
	if again := run(); w.weight.Data[7] != again.weight.Data[7] || w.bias[3] != again.bias[3] || w.rank != out {
		t.Errorf("rank %d, or not the same again", w.rank)
	}
	exact, err := newWhitening(t.Context(), x, out, true)
	if err != nil {
		t.Fatal(err)
	}
	cov := covarianceOf(x.X, true)
	values, _ := wholeEigen(cov, out)
	eps := ridge * mat.Trace(cov) / d
	for what, w := range map[string]whitened{"sketch": w, "exact": exact} {
		z := mapped(w, x.X)
		own := covarianceOf(z, true)
		var far float64
		for i := range out {
			for j := range i {
				far = max(far, math.Abs(own.At(i, j))/math.Sqrt(own.At(i, i)*own.At(j, j)))
			}
		}
		if far > 1e-3 {
			t.Errorf("%s: correlation %g is left", what, far)
		}
		// λ/(λ+ε) is what is left of the leading directions, up to a common factor.
		if found, best := own.At(out-1, out-1)/own.At(0, 0), values[out-1]/(values[out-1]+eps)*(values[0]+eps)/
			values[0]; found < 0.97*best || found > 1.001*best {
			t.Errorf("%s: the last direction has %g of the first's variance, expected %g", what, found, best)
		}
	}
}

// mapped returns x·weight + bias.
func mapped(w whitened, x blas32.General) blas32.General {
	z := features.NewMatrix(x.Rows, w.weight.Cols)
	multiplyInto(z, x, w.weight)
	for i := range z.Rows {
		for j, b := range w.bias {
			z.Data[i*z.Stride+j] += b
		}
	}
	return z
}

// Few rows of very many features need neither their covariance nor a sketch, and bounds grow with the features only in
// proportion.
func TestNeed(t *testing.T) {
	for _, c := range []struct{ rows, dim, most int }{{12, 8192, 4}, {12, 21125, 8}, {5000, 8192, 160},
		{5000, 21125, 320}, {1_000_000, 2048, 128}} {
		if got := Need(c.rows, c.dim, 512); got <= 0 || got > int64(c.most)<<20 {
			t.Errorf("%d rows of %d features: %d MiB, expected at most %d", c.rows, c.dim, got>>20, c.most)
		}
	}
	if !usesSketch(fewRows+1, widest+1) || usesSketch(fewRows, widest+1) || usesSketch(1<<20, widest) {
		t.Error("sketches are made of other sizes")
	}
}
