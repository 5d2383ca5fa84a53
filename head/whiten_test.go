package head

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"winnow/features"
)

// spectrum draws n rows whose covariance has the eigenvalues 1, 2^-power, 3^-power, … along rotated axes. As with
// pooled activations, the mean is far from zero.
func spectrum(rng *rand.Rand, n, d int, power float64) features.Set {
	s := features.NewSet(n, d)
	turn := rotation(rng, d)
	raw := features.NewMatrix(n, d)
	for i := range n {
		row := features.Row(raw, i)
		for j := range row {
			row[j] = float32(math.Pow(float64(j+1), -power/2) * rng.NormFloat64())
		}
	}
	blas32.Gemm(blas.NoTrans, blas.NoTrans, 1, raw, turn, 0, s.X)
	for i := range s.X.Data {
		s.X.Data[i] += 0.5
	}
	return s
}

// rotation returns a random orthogonal d×d matrix.
func rotation(rng *rand.Rand, d int) blas32.General {
	m := mat.NewDense(d, d, nil)
	for i := range d {
		for j := range d {
			m.Set(i, j, rng.NormFloat64())
		}
	}
	var qr mat.QR
	qr.Factorize(m)
	var q mat.Dense
	qr.QTo(&q)
	out := features.NewMatrix(d, d)
	for i := range out.Data {
		out.Data[i] = float32(q.At(i/d, i%d))
	}
	return out
}

// outputs returns y = Wᵀx + b, before normalisation, for the rows of x.
func outputs(h *Head, x blas32.General) blas32.General {
	out := features.NewMatrix(x.Rows, h.cfg.Out)
	h.applyLinear(out, x)
	return out
}

// covarianceOf computes the covariance about the mean or about zero, with a plain loop in float64.
func covarianceOf(x blas32.General, centre bool) *mat.SymDense {
	mean := make([]float64, x.Cols)
	for i := range x.Rows {
		for j, v := range features.Row(x, i) {
			if centre {
				mean[j] += float64(v) / float64(x.Rows)
			}
		}
	}
	cov := mat.NewSymDense(x.Cols, nil)
	for i := range x.Rows {
		row := features.Row(x, i)
		for a := range row {
			for b := a; b < len(row); b++ {
				cov.SetSym(a, b, cov.At(a, b)+(float64(row[a])-mean[a])*(float64(row[b])-mean[b])/float64(x.Rows))
			}
		}
	}
	return cov
}

// identityError returns how much c differs from a multiple of diag(λ/(λ+ε)), which is the identity if ε = 0.
func identityError(c *mat.SymDense, eigen []float64, eps float64) float64 {
	want := func(k int) float64 { return eigen[k] / (eigen[k] + eps) }
	scale := c.At(0, 0) / want(0)
	var far float64
	for i := range c.SymmetricDim() {
		for j := i; j < c.SymmetricDim(); j++ {
			v := 0.0
			if i == j {
				v = want(i)
			}
			far = max(far, math.Abs(c.At(i, j)/scale-v))
		}
	}
	return far
}

func TestWhitenedCovariance(t *testing.T) {
	for _, bias := range []bool{true, false} {
		cfg := Config{In: 24, Out: 16, Bias: bias, Init: Whiten}
		t.Run(name(cfg), func(t *testing.T) {
			train := spectrum(source(1), 400, cfg.In, 1)
			h, err := New(t.Context(), cfg, train.X, source(2))
			if err != nil {
				t.Fatal(err)
			}
			raw := covarianceOf(train.X, bias)
			values, _ := LeadingEigen(raw, cfg.In)
			var trace float64
			for _, v := range values {
				trace += v
			}
			y := outputs(h, train.X)
			if d := identityError(covarianceOf(y, bias), values, ridge*trace/float64(cfg.In)); d > 1e-4 {
				t.Errorf("the covariance of the whitened features differs from the identity by %.2g", d)
			}
			// A direction that is 10 % too long must be detected.
			w := h.weight
			for i := range w.Rows {
				w.Data[i*w.Cols+3] *= 1.1
			}
			if d := identityError(covarianceOf(outputs(h, train.X), bias), values,
				ridge*trace/float64(cfg.In)); d < 1e-2 {
				t.Errorf("a wrong whitening goes unnoticed: %.2g", d)
			}
		})
	}
}

func TestRank(t *testing.T) {
	for _, c := range []struct {
		what      string
		n, d, out int
		bias      bool
		rank      int
		dead      int // features that are always zero
	}{
		{"fewer rows than directions", 10, 24, 16, true, 9, 0},
		{"fewer rows, no bias", 10, 24, 16, false, 10, 0},
		{"dead features", 200, 24, 20, true, 14, 10},
		{"more outputs than inputs", 200, 24, 40, true, 24, 0},
	} {
		train := randomSet(source(1), c.n, c.d)
		for i := range train.X.Data {
			if i%c.d < c.dead {
				train.X.Data[i] = 0
			}
		}
		cfg := Config{In: c.d, Out: c.out, Bias: c.bias, Init: Whiten}
		h, err := New(t.Context(), cfg, train.X, source(2))
		if err != nil {
			t.Fatalf("%s: %v", c.what, err)
		}
		if h.rank != c.rank {
			t.Errorf("%s: rank %d, expected %d", c.what, h.rank, c.rank)
		}
		z, err := h.Embed(train.X)
		if err != nil {
			t.Fatalf("%s: %v", c.what, err)
		}
		for i := range z.Rows {
			for j, v := range features.Row(z, i)[c.rank:] {
				if v != 0 {
					t.Fatalf("%s: row %d output %d is %v, expected 0", c.what, i, c.rank+j, v)
				}
			}
		}
	}
}

// A rotation or scaling of the feature space changes no cosine between whitened embeddings.
func TestWhiteningIgnoresRotation(t *testing.T) {
	const d = 24
	train := spectrum(source(1), 300, d, 1)
	turned := features.Set{X: features.NewMatrix(300, d)}
	blas32.Gemm(blas.NoTrans, blas.NoTrans, 1, train.X, rotation(source(9), d), 0, turned.X)
	for i := range turned.X.Data {
		turned.X.Data[i] *= 37
	}
	cosines := func(x blas32.General) blas32.General {
		h, err := New(t.Context(), Config{In: d, Out: 12, Bias: true, Init: Whiten}, x, source(2))
		if err != nil {
			t.Fatal(err)
		}
		z, err := h.Embed(x)
		if err != nil {
			t.Fatal(err)
		}
		s := features.NewMatrix(z.Rows, z.Rows)
		for i := range z.Rows {
			for j := range z.Rows {
				s.Data[i*z.Rows+j] = float32(features.Dot(features.Row(z, i), features.Row(z, j)))
			}
		}
		return s
	}
	a, b := cosines(train.X), cosines(turned.X)
	for i := range a.Data {
		if math.Abs(float64(a.Data[i]-b.Data[i])) > 1e-3 {
			t.Fatalf("cosine %d: %v before and %v after rotating the features", i, a.Data[i], b.Data[i])
		}
	}
}

func TestWhitenRefuses(t *testing.T) {
	cfg := Config{In: 5, Out: 3, Bias: true, Init: Whiten}
	constant := features.NewMatrix(10, 5)
	for i := range constant.Data {
		constant.Data[i] = 2
	}
	huge := func(rows, cols int) blas32.General {
		x := randomSet(source(1), rows, cols).X
		for i := range x.Data {
			x.Data[i] *= 1e30
		}
		return x
	}
	nan := randomSet(source(1), 10, 5).X
	nan.Data[17] = float32(math.NaN())
	for what, x := range map[string]blas32.General{
		"one row": features.NewMatrix(1, 5), "equal rows": constant, "another dimension": features.NewMatrix(10, 6),
		"NaN":            nan,
		"many huge rows": huge(10, 5), "few huge rows": huge(4, 5), "few equal rows": features.NewMatrix(4, 5),
	} {
		if _, err := New(t.Context(), cfg, x, source(1)); err == nil {
			t.Errorf("%s: was accepted", what)
		} else if what == "NaN" && !strings.Contains(err.Error(), "row 3, feature 2") {
			t.Errorf("%s: found %v, expected the row and feature", what, err)
		}
	}
}

// fingerprint trains heads for a few steps and returns hashes of the bits of their weights.
func fingerprint(t testing.TB) string {
	t.Helper()
	var out strings.Builder
	for _, cfg := range shapes() {
		train := spectrum(source(1), 60, cfg.In, 1)
		h, err := New(t.Context(), cfg, train.X, source(2))
		if err != nil {
			t.Fatal(err)
		}
		e, err := NewEncoder(h, train, 8)
		if err != nil {
			t.Fatal(err)
		}
		rng := source(3)
		for range 20 {
			rows := make([]int, 1+rng.IntN(8))
			for i := range rows {
				rows[i] = rng.IntN(60)
			}
			z, err := e.Forward(rows)
			if err != nil {
				t.Fatal(err)
			}
			if err := e.Backward(z.Rows(rng.Perm(len(rows))).X); err != nil {
				t.Fatal(err)
			}
			for _, p := range h.Params() {
				for i, g := range p.Grad {
					p.Data[i] -= 0.01 * g
				}
			}
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		var sum uint64
		for _, p := range h.Params() {
			for _, v := range p.Data {
				sum = sum*1099511628211 + uint64(math.Float32bits(v))
			}
		}
		fmt.Fprintf(&out, "%x ", sum)
	}
	return out.String()
}

// The same seed gives the same bits, even in another process.
func TestDeterminism(t *testing.T) {
	const env = "WINNOW_TEST_FINGERPRINT"
	if path := os.Getenv(env); path != "" {
		if err := os.WriteFile(path, []byte(fingerprint(t)), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	first := fingerprint(t)
	if second := fingerprint(t); second != first {
		t.Errorf("in one process: %s, then %s", first, second)
	}
	path := t.TempDir() + "/fingerprint"
	command := exec.Command(os.Args[0], "-test.run=^TestDeterminism$")
	command.Env = append(os.Environ(), env+"="+path)
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	other, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(other) != first {
		t.Errorf("in this process %s, in another process %s", first, other)
	}
}

// Whitening fewer rows than features gives the same result as whitening by the covariance.
func TestWhiteningOfFewRows(t *testing.T) {
	for _, n := range []int{2, 9, 39} {
		x := spectrum(rand.New(rand.NewPCG(9, uint64(n))), n, 40, 1)
		mean, err := columnMeans(t.Context(), x)
		if err != nil {
			t.Fatal(err)
		}
		cov, err := computeCovariance(t.Context(), x, mean)
		if err != nil {
			t.Fatal(err)
		}
		out := min(16, n-1)
		want := newBlank(Config{In: 40, Out: out, Bias: true, Init: Whiten})
		if err := want.whitenByMoments(mean, cov, n, n-1); err != nil {
			t.Fatal(err)
		}
		got, err := SelfWhitening(t.Context(), x, out)
		if err != nil {
			t.Fatal(err)
		}
		if got.rank != want.rank || got.rank != out {
			t.Errorf("%d rows: rank %d, by the covariance %d, expected %d", n, got.rank, want.rank, out)
		}
		for j, v := range want.weight.Data {
			// the tolerance allows for the covariance's products in float32
			if d := math.Abs(float64(v - got.Params()[0].Data[j])); !(d < 2e-4) {
				t.Fatalf("%d rows: value %d: found %v, by the covariance %v", n, j, got.Params()[0].Data[j], v)
			}
		}
	}
}
