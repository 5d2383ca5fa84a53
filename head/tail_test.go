package head

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// slopes returns ∂⟨z(x), dz⟩/∂x of one row, computed by central differences in float64.
func (s slow) slopes(x, dz []float32) []float64 {
	value := func(j int, h float64) float64 {
		z := s.forwardMoved(x, j, h)
		var sum float64
		for k := range z {
			sum += z[k] * float64(dz[k])
		}
		return sum
	}
	out := make([]float64, len(x))
	for j := range x {
		const h = 1e-5
		out[j] = (value(j, h) - value(j, -h)) / (2 * h)
	}
	return out
}

// forwardMoved returns z after x[j] increases by h. It adds the change to the output, which is linear in x, because the
// step could be lost in float32.
func (s slow) forwardMoved(x []float32, j int, h float64) []float64 {
	bias := make([]float64, s.cfg.Out)
	if s.cfg.Bias {
		copy(bias, s.params[1])
	}
	for k := range bias {
		bias[k] += h * s.params[0][j*len(bias)+k]
	}
	shifted := slow{s.cfg, [][]float64{s.params[0], bias}}
	shifted.cfg.Bias = true
	_, z := shifted.forward(x)
	return z
}

// worstSlope returns the largest difference between dx and the slopes, divided by the largest slope.
func worstSlope(s slow, x, dz, dx blas32.General) float64 {
	var worst, size float64
	for i := range x.Rows {
		for j, want := range s.slopes(features.Row(x, i), features.Row(dz, i)) {
			worst = max(worst, math.Abs(want-float64(features.Row(dx, i)[j])))
			size = max(size, math.Abs(want))
		}
	}
	return worst / size
}

func TestTail(t *testing.T) {
	const batch = 6
	train := randomSet(source(1), 40, 7)
	for _, cfg := range shapes() {
		t.Run(name(cfg), func(t *testing.T) {
			h := makeHead(t, cfg, train, 2)
			tail, err := NewTail(h, batch)
			if err != nil {
				t.Fatal(err)
			}
			defer tail.Close()
			e := makeEncoder(t, makeHead(t, cfg, train, 2), train, batch)
			for _, n := range []int{batch, 4, 1, 5} { // rows of a larger earlier batch must have no effect
				rows := source(uint64(n)).Perm(40)[:n]
				for i, r := range rows {
					copy(features.Row(tail.X(n), i), train.Row(r))
				}
				z, err := tail.Forward(n)
				if err != nil {
					t.Fatal(err)
				}
				want, err := e.Forward(rows)
				if err != nil {
					t.Fatal(err)
				}
				for i, v := range want.X.Data[:n*cfg.Out] {
					if z.Data[i] != v {
						t.Fatalf("n=%d: value %d is %v, the encoder's %v", n, i, z.Data[i], v)
					}
				}
				dz := randomSet(source(uint64(n+10)), n, cfg.Out).X
				dx, err := tail.Backward(dz)
				if err != nil {
					t.Fatal(err)
				}
				if err := e.Backward(dz); err != nil {
					t.Fatal(err)
				}
				for k, p := range tail.head.Params() {
					for i, g := range p.Grad {
						if g != e.Params()[k].Grad[i] {
							t.Fatalf("n=%d: gradient %d of %s is %v, the encoder's %v", n, i, p.Name, g,
								e.Params()[k].Grad[i])
						}
					}
				}
				x := train.Rows(rows).X
				if off := worstSlope(slowOf(h), x, dz, dx); !(off < 1e-4) {
					t.Errorf("n=%d: ∂L/∂x differs by %.3g of its size", n, off)
				}
				// A gradient in which one column is zero must be detected.
				for i := range dx.Rows {
					features.Row(dx, i)[3] = 0
				}
				if off := worstSlope(slowOf(h), x, dz, dx); off < 1e-2 {
					t.Errorf("n=%d: a wrong ∂L/∂x goes unnoticed: %.3g", n, off)
				}
			}
		})
	}
}

func TestTailRefuses(t *testing.T) {
	h := makeHead(t, Config{In: 7, Out: 4, Init: Random}, randomSet(source(1), 9, 7), 1)
	if _, err := NewTail(h, 0); err == nil {
		t.Error("an empty batch was accepted")
	}
	tail, err := NewTail(h, 3)
	if err != nil {
		t.Fatal(err)
	}
	defer tail.Close()
	if _, err := tail.Backward(features.NewMatrix(2, 4)); err == nil {
		t.Error("Backward before Forward was accepted")
	}
	for _, n := range []int{0, 4, -1} {
		if _, err := tail.Forward(n); err == nil {
			t.Errorf("%d rows of 3 were accepted", n)
		}
	}
	if _, err := tail.Forward(2); err != nil {
		t.Fatal(err)
	}
	if _, err := tail.Backward(features.NewMatrix(2, 4)); err != nil {
		t.Error(err)
	}
	if _, err := tail.Backward(features.NewMatrix(2, 4)); err == nil {
		t.Error("a second Backward was accepted")
	}
}
