package head

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"pgregory.net/rapid"

	"winnow/features"
)

func source(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 2)) }

// shapes returns the head configurations with which every test of the encoder runs.
func shapes() []Config {
	var list []Config
	for _, bias := range []bool{false, true} {
		for _, start := range []string{Random, Whiten} {
			list = append(list, Config{In: 7, Out: 4, Bias: bias, Init: start})
		}
	}
	return list
}

func name(c Config) string { return fmt.Sprintf("bias=%v %s", c.Bias, c.Init) }

func makeHead(t testing.TB, cfg Config, train features.Set, seed uint64) *Head {
	t.Helper()
	h, err := New(t.Context(), cfg, train.X, source(seed))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range h.Params() { // the bias of a new random head is zero: fill it
		if p.NoDecay {
			rng := source(seed + 1)
			for i := range p.Data {
				p.Data[i] += float32(0.1 * rng.NormFloat64())
			}
		}
	}
	return h
}

func makeEncoder(t testing.TB, h *Head, train features.Set, batch int) *Encoder {
	t.Helper()
	e, err := NewEncoder(h, train, batch)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// slow computes a head with float64 parameters in plain loops. It is the reference for values and gradients.
type slow struct {
	cfg    Config
	params [][]float64
}

func slowOf(h *Head) slow {
	s := slow{cfg: h.Config()}
	for _, p := range h.Params() {
		values := make([]float64, len(p.Data))
		for i, v := range p.Data {
			values[i] = float64(v)
		}
		s.params = append(s.params, values)
	}
	return s
}

// forward returns the output y before normalisation, and the unit embedding z.
func (s slow) forward(x []float32) (y, z []float64) {
	y, z = make([]float64, s.cfg.Out), make([]float64, s.cfg.Out)
	var norm float64
	for j := range y {
		for i, v := range x {
			y[j] += float64(v) * s.params[0][i*len(y)+j]
		}
		if s.cfg.Bias {
			y[j] += s.params[1][j]
		}
		norm += y[j] * y[j]
	}
	norm = max(math.Sqrt(norm), 1e-12)
	for j, v := range y {
		z[j] = v / norm
	}
	return y, z
}

// backward adds the gradient of ⟨z(x), dz⟩ to grads.
func (s slow) backward(grads [][]float64, x, dz []float32) {
	y, z := s.forward(x)
	var norm, along float64
	for j := range y {
		norm += y[j] * y[j]
		along += z[j] * float64(dz[j])
	}
	norm = math.Sqrt(norm)
	for j := range y {
		d := (float64(dz[j]) - z[j]*along) / norm
		for i, v := range x {
			grads[0][i*len(y)+j] += float64(v) * d
		}
		if s.cfg.Bias {
			grads[1][j] += d
		}
	}
}

func (s slow) gradient(x, dz blas32.General) [][]float64 {
	grads := make([][]float64, len(s.params))
	for i, p := range s.params {
		grads[i] = make([]float64, len(p))
	}
	for i := range x.Rows {
		s.backward(grads, features.Row(x, i), features.Row(dz, i))
	}
	return grads
}

// value returns Σ ⟨z, dz⟩ over a batch, the function for finite differences.
func (s slow) value(x, dz blas32.General) float64 {
	var sum float64
	for i := range x.Rows {
		_, z := s.forward(features.Row(x, i))
		for j, g := range features.Row(dz, i) {
			sum += z[j] * float64(g)
		}
	}
	return sum
}

// worst returns the largest difference between got and want, divided by the largest |want|.
func worst(got []float32, want []float64) float64 {
	var scale, diff float64
	for i, w := range want {
		scale = max(scale, math.Abs(w))
		diff = max(diff, math.Abs(float64(got[i])-w))
	}
	return diff / max(scale, 1e-6)
}

const gradTolerance = 2e-5 // for float32 products with at most a few dozen terms

func TestGradientAgainstLoops(t *testing.T) {
	for _, cfg := range shapes() {
		t.Run(name(cfg), func(t *testing.T) {
			train := randomSet(source(1), 40, cfg.In)
			h := makeHead(t, cfg, train, 3)
			e := makeEncoder(t, h, train, 6)
			for step, rows := range [][]int{{0, 1, 2, 3, 4, 5}, {9, 9, 30}, {39}, {8, 7, 6, 5, 4, 3}} {
				z, err := e.Forward(rows)
				if err != nil {
					t.Fatal(err)
				}
				x, dz := train.Rows(rows).X, randomSet(source(uint64(step)), len(rows), cfg.Out).X
				for i := range rows {
					_, want := slowOf(h).forward(features.Row(x, i))
					if d := worst(z.Row(i), want); d > 1e-6*4 {
						t.Errorf("step %d row %d: embedding differs by %.2g", step, i, d)
					}
				}
				if err := e.Backward(dz); err != nil {
					t.Fatal(err)
				}
				for i, want := range slowOf(h).gradient(x, dz) {
					if d := worst(h.Params()[i].Grad, want); d > gradTolerance {
						t.Errorf("step %d %s: gradient differs by %.2g", step, h.Params()[i].Name, d)
					}
				}
				for _, p := range h.Params() { // change the weights in place, as a solver does
					for i, g := range p.Grad {
						p.Data[i] -= 0.01 * g
					}
				}
			}
		})
	}
}

// The gradients of slow equal central differences in float64, and a wrong gradient is detected.
func TestOracleAgainstDifferences(t *testing.T) {
	for _, cfg := range shapes() {
		t.Run(name(cfg), func(t *testing.T) {
			train := randomSet(source(5), 40, cfg.In)
			s := slowOf(makeHead(t, cfg, train, 6))
			x, dz := features.Part(train.X, 0, 5), randomSet(source(7), 5, cfg.Out).X
			grads := s.gradient(x, dz)
			for i, p := range s.params {
				for j := range p {
					const step = 1e-6
					keep := p[j]
					p[j] = keep + step
					up := s.value(x, dz)
					p[j] = keep - step
					down := s.value(x, dz)
					p[j] = keep
					numeric := (up - down) / (2 * step)
					if math.Abs(numeric-grads[i][j]) > 1e-6*(1+math.Abs(numeric)) {
						t.Fatalf("parameter %d[%d]: %v by differences, %v by formula", i, j, numeric, grads[i][j])
					}
				}
			}
		})
	}
}

func TestForwardEqualsEmbed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := Config{
			In:   rapid.IntRange(1, 70).Draw(t, "in"),
			Out:  rapid.IntRange(1, 33).Draw(t, "out"),
			Bias: rapid.Bool().Draw(t, "bias"),
			Init: rapid.SampledFrom([]string{Whiten, Random}).Draw(t, "init"),
		}
		train := randomSet(source(rapid.Uint64().Draw(t, "seed")), 30, cfg.In)
		h, err := New(t.Context(), cfg, train.X, source(1))
		if err != nil {
			t.Fatal(err)
		}
		batch := rapid.IntRange(1, 9).Draw(t, "batch")
		e, err := NewEncoder(h, train, batch)
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		rows := rapid.SliceOfN(rapid.IntRange(0, 29), 1, batch).Draw(t, "rows")
		z, err := e.Forward(rows)
		if err != nil {
			t.Fatal(err)
		}
		want, err := h.Embed(train.Rows(rows).X)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range want.Data {
			if math.Abs(float64(v-z.X.Data[i])) > 1e-6 {
				t.Fatalf("value %d: %v embedded, %v from the graph", i, v, z.X.Data[i])
			}
		}
		for i, row := range rows {
			if z.IDs[i] != train.IDs[row] || z.Labels[i] != train.Labels[row] {
				t.Fatalf("row %d: label %d id %d, expected %d and %d", i, z.Labels[i], z.IDs[i], train.Labels[row],
					train.IDs[row])
			}
		}
	})
}

// Dropped rows have zero rows in dz. The gradient equals the gradient of a batch without these rows, bit for bit where
// the order of sums allows. A batch in which all rows are dropped has a gradient of exactly zero.
func TestDroppedRows(t *testing.T) {
	for _, cfg := range shapes() {
		train := randomSet(source(1), 40, cfg.In)
		h := makeHead(t, cfg, train, 3)
		e := makeEncoder(t, h, train, 6)
		gradients := func(rows []int, dz blas32.General) [][]float32 {
			t.Helper()
			if _, err := e.Forward(rows); err != nil {
				t.Fatal(err)
			}
			if err := e.Backward(dz); err != nil {
				t.Fatal(err)
			}
			var list [][]float32
			for _, p := range h.Params() {
				list = append(list, slices.Clone(p.Grad))
			}
			return list
		}
		dz := randomSet(source(2), 6, cfg.Out).X
		kept := gradients([]int{5, 6, 7}, features.Part(dz, 0, 3))
		clear(dz.Data[3*dz.Stride:])
		all := gradients([]int{5, 6, 7, 8, 9, 10}, dz)
		for i := range kept {
			for j := range kept[i] {
				if math.Abs(float64(kept[i][j]-all[i][j])) > 1e-6 {
					t.Fatalf("%s: parameter %d[%d]: %v without, %v with dropped rows", name(cfg), i, j,
						kept[i][j], all[i][j])
				}
			}
		}
		clear(dz.Data)
		for i, g := range gradients([]int{1, 2, 3, 4, 5, 6}, dz) {
			for j, v := range g {
				if v != 0 {
					t.Fatalf("%s: parameter %d[%d]: gradient %v, expected 0", name(cfg), i, j, v)
				}
			}
		}
	}
}

// Backward and a change of weights leave the returned embeddings unchanged: a memory bank stores them after the step.
func TestEmbeddingsSurviveBackward(t *testing.T) {
	cfg := Config{In: 7, Out: 4, Bias: true, Init: Random}
	train := randomSet(source(1), 40, cfg.In)
	h := makeHead(t, cfg, train, 3)
	e := makeEncoder(t, h, train, 6)
	z, err := e.Forward([]int{1, 2, 3})
	if err != nil {
		t.Fatal(err)
	}
	before := slices.Clone(z.X.Data)
	if err := e.Backward(randomSet(source(2), 3, cfg.Out).X); err != nil {
		t.Fatal(err)
	}
	for _, p := range h.Params() {
		clear(p.Data)
	}
	if !slices.Equal(before, z.X.Data) {
		t.Error("Backward changed the embeddings that Forward had returned")
	}
}

// A row whose output is not finite is marked by NaN in every value of its embedding.
func TestEncoderMarksWhatIsNotFinite(t *testing.T) {
	train := randomSet(source(1), 5, 7)
	train.Row(2)[3] = float32(math.Inf(1))
	e := makeEncoder(t, makeHead(t, Config{In: 7, Out: 4, Init: Random}, train, 3), train, 3)
	z, err := e.Forward([]int{1, 2, 4})
	if err != nil {
		t.Fatal(err)
	}
	for i := range z.Len() {
		for j, v := range z.Row(i) {
			if lost := v != v; lost != (i == 1) {
				t.Errorf("row %d, value %d is %v", i, j, v)
			}
		}
	}
}
