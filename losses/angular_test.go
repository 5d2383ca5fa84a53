package losses

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"winnow/features"
)

// The numbers come from a separate program in another language, by loops over
//
//	L = 1/n Σ_i log Σ_c exp(λ (u_ic - u_iy)),  u_ic = cos θ_ic,  θ_ic = min_k arccos(z_i·p_ck / ‖z_i‖‖p_ck‖)
//	u_iy = cos(θ_iy + m), or cos θ_iy - m sin m where θ_iy + m ≥ π;   CosFace: cos θ_iy - m
//
// and its gradients by fourth-order differences, (8 (f(x+h)-f(x-h)) - (f(x+2h)-f(x-2h))) / 12h with h = 10⁻³.
// The last row is 172.5° away from its class of one centre, past π with either margin.
func TestMarginLossesByAnotherProgram(t *testing.T) {
	in := exactInput{z: [][]float64{{1, 2, -1}, {-2, 1, 0.5}, {0.5, -1, 2}, {-1, -1, 0.3}}, labels: []int{0, 1, 2, 0},
		normalize: true}
	centres := [][]float64{{1, 1, -0.5}, {0.2, -1, 1}, {-1, 1, 1}, {1, 0, -2}, {0, -1, 3}, {2, -1, 1}}
	for _, c := range []struct {
		name          string
		settings      map[string]any
		n             int // centres
		loss          float64
		grad, gradOwn [][]float64 // nil: not compared
	}{
		{"arcface", nil, 3, 74.56628180522834, nil, nil},
		{"cosface", nil, 3, 72.83804320164809, nil, nil},
		{"sub_center_arcface", map[string]any{"centers": 2}, 6, 9.232696097354463, nil, nil},
		{"arcface", map[string]any{"scale": 4, "margin": 1.2}, 3, 6.542189693685196, [][]float64{
			{-0.265118769, 0.1680097851, 0.0709008013}, {0.0885899694, 0.1100580756, 0.1342437265},
			{0.0991537912, -0.2563240312, -0.1529504634}, {0.2533667385, -0.1057828072, 0.4919464374},
		}, [][]float64{
			{0.2414530049, -0.1547936628, 0.1733186841}, {-0.3282569012, -0.0424013952, 0.0232499851},
			{-0.2453629726, 0.2320616486, -0.4774246211},
		}},
		{"cosface", map[string]any{"scale": 5, "margin": 0.1}, 3, 4.790145483045943, [][]float64{
			{-0.0060335278, 0.0048856345, 0.0037377411}, {0.1594272292, 0.4213652115, -0.205021506},
			{0.2911337624, -0.4960273787, -0.3207971299}, {0.3585053233, -0.1736053878, 0.6163331183},
		}, [][]float64{
			{0.0276666729, 0.024468319, 0.1042699838}, {0.2080601407, -0.264155234, -0.3057672621},
			{-0.5158569684, 0.2579135305, -0.773770499},
		}},
		{"sub_center_arcface", map[string]any{"scale": 3, "margin": 0.3, "centers": 2}, 6, 0.6675270413862435,
			[][]float64{
				{-0.0232051996, -0.0222474894, -0.0677001785}, {-0.0149885812, -0.0384472449, 0.0169401652},
				{0.0633883687, -0.0840762901, -0.0578852372}, {-0.1873577661, 0.1980498162, 0.0356401669},
			}, [][]float64{
				{0.0704627281, -0.0563701825, 0.0281850912}, {0.3236316787, 0.2033460856, 0.1386197499},
				{-0.0086529224, -0.0689007624, 0.0602478399},
				{0.0161983497, 0.0809917485, 0.0080991748}, {-0.169680293, -0.013701222, -0.004567074},
				{0.0057808673, 0.0079486925, -0.003613042},
			}},
	} {
		what := fmt.Sprint(c.name, c.settings)
		l := mustNew(t, c.name, c.settings, testEnv(3, 3, 1)).(*proxied)
		loss, grad, own := exactProxies(l, in, centres[:c.n])
		copy(l.p.Data, matrix32(centres[:c.n]).X.Data)
		loss32bit, grad32bit := public(l, in)
		if c.grad == nil {
			c.grad, c.gradOwn = grad, own
		}
		compare(t, what+": float64", loss, c.loss, grad, c.grad, lossRel, gradRel)
		compare(t, what+": float64 centres", loss, c.loss, own, c.gradOwn, lossRel, gradRel)
		compare(t, what+": float32", loss32bit, c.loss, grad32bit, c.grad, loss32, grad32)
		compare(t, what+": float32 centres", loss32bit, c.loss, widen64(l.p.Grad, l.p.Cols), c.gradOwn, loss32, grad32)
	}
}

// Without a margin all three are norm_softmax, and one centre per class gives arcface, bit for bit.
func TestMarginLossesThatAreOneAnother(t *testing.T) {
	in := conformInput(41, 90)
	z, _ := in.sets()
	eval := func(name string, settings map[string]any) (float64, []float32, []float32) {
		l := mustNew(t, name, settings, testEnv(conformDim, conformClasses, 5))
		grad, params := evalFilled(l, z, nil, 0, conformDim)
		return l.Eval(nil, z, nil), grad, params
	}
	for _, c := range []struct {
		name, other string
		given, like map[string]any
	}{
		{"arcface", "norm_softmax", map[string]any{"margin": 0, "scale": 16},
			map[string]any{"temperature": 1.0 / 16, "init": "normal"}},
		{"cosface", "norm_softmax", map[string]any{"margin": 0, "scale": 16},
			map[string]any{"temperature": 1.0 / 16, "init": "normal"}},
		{"sub_center_arcface", "norm_softmax", map[string]any{"margin": 0, "scale": 16, "centers": 1},
			map[string]any{"temperature": 1.0 / 16, "init": "normal"}},
		{"sub_center_arcface", "arcface", map[string]any{"centers": 1}, nil},
	} {
		loss, grad, params := eval(c.name, c.given)
		want, wantGrad, wantParams := eval(c.other, c.like)
		if loss != want || !slices.Equal(grad, wantGrad) || !slices.Equal(params, wantParams) {
			t.Errorf("%s %v: loss %v, %s %v has %v, or another gradient", c.name, c.given, loss, c.other, c.like, want)
		}
	}
}

// The angular margin over all cosines, including those beyond ±1 by rounding: values from the angle, slopes
// from differences, never decreasing, always bounded.
func TestAngularMargin(t *testing.T) {
	for _, m := range []float64{0, 1e-9, 0.1, 0.5, 1, 1.5} {
		a := newAngularMargin(m)
		last := math.Inf(-1)
		for i := -20; i <= 20020; i++ {
			s := float64(i)/1e4 - 1
			if over := math.Abs(s) - 1; over > 0 {
				s = math.Copysign(1+over*1e-4, s) // up to 2e-7 too far
			}
			u, slope := a.marginAt(s)
			want := slowAngle(m)(math.Acos(max(-1, min(1, s))))
			if !near(u, want, 0, 1e-3*m+1e-6) || math.Abs(s) < 0.9999 && !near(u, want, 0, 1e-12) {
				t.Fatalf("m = %v, s = %v: %v, expected %v", m, s, u, want)
			}
			if !(slope >= 0 && slope <= a.cos+708*a.sin) || u < last {
				t.Fatalf("m = %v, s = %v: slope %v, %v after %v", m, s, slope, u, last)
			}
			last = u
			const h = 1e-9
			if up, down := math.Nextafter(s, 2)+h, s-h; (up+a.cos)*(down+a.cos) > 0 { // not across the jump
				high, _ := a.marginAt(up)
				low, _ := a.marginAt(down)
				if d := (high - low) / (up - down); !near(d, slope, 1e-2, 1e-5) {
					t.Fatalf("m = %v, s = %v: slope %v, by differences %v", m, s, slope, d)
				}
			}
		}
	}
	if u, _ := newAngularMargin(0.5).marginAt(1); math.Abs(u-math.Cos(0.5)) > 4e-4 {
		t.Errorf("at the centre %v, expected %v", u, math.Cos(0.5))
	}
}

// A row moves only the nearest centre of each class; of equally near ones the first.
func TestSubCentersTie(t *testing.T) {
	l := mustNew(t, "sub_center_arcface", map[string]any{"scale": 2}, testEnv(2, 2, 1)).(*proxied)
	// the second and third are equal, and so are the fourth and sixth
	copy(l.p.Data, []float32{0, 1, 3, 4, 3, 4, 1, 0, -1, 0, 2, 0})
	z := features.Set{X: features.NewMatrix(1, 2), Labels: []int{0}, IDs: []int{0}}
	copy(z.X.Data, []float32{0.8, 0.6})
	grad := features.NewMatrix(1, 2)
	l.Eval(&grad, z, nil)
	for j, moves := range []bool{false, true, false, true, false, false} {
		if g := features.Row(l.p.GradMatrix(), j); (g[0] != 0 || g[1] != 0) != moves {
			t.Errorf("centre %d has the gradient %v, expected one: %v", j, g, moves)
		}
	}
}
