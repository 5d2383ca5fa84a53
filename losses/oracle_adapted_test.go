package losses

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"winnow/features"
)

// slowAdapted is the adapted triplet loss by loops. If theta is nil it solves for it without constraints. It
// returns the θ used.
func slowAdapted(in exactInput, lambda, lambdaU, margin float64, sum bool, theta []float64) (float64, []float64) {
	part := exactInput{}
	var others [][]float64
	z, _ := unit64(in.z)
	for i, y := range in.labels {
		if y == features.Unlabelled {
			others = append(others, z[i])
			continue
		}
		part.z, part.labels = append(part.z, z[i]), append(part.labels, y)
		if in.ids != nil {
			part.ids = append(part.ids, in.ids[i])
		}
	}
	var loss float64
	var triplets int
	count := make([]float64, len(part.z))
	for a := range part.z {
		pos, neg := part.partners(a)
		for _, p := range pos {
			dp := 2 - 2*part.similarity(a, p)
			var use []int
			for _, n := range neg {
				if dn := 2 - 2*part.similarity(a, n); dp <= dn && dn < dp+margin {
					use = append(use, n)
				}
			}
			if len(use) == 0 {
				continue
			}
			n := use[rand.New(third{}).IntN(len(use))]
			loss += dp - (2 - 2*part.similarity(a, n)) + margin
			triplets++
			for _, i := range []int{a, p, n} {
				count[i]++
			}
		}
	}
	if triplets == 0 {
		return 0, nil
	}
	if !sum {
		loss /= float64(triplets)
	}
	var means [][]float64
	for _, y := range slices.Sorted(maps.Keys(setOf(part.labels))) {
		chosen, plain := make([]float64, len(z[0])), make([]float64, len(z[0]))
		var times, size float64
		for i, label := range part.labels {
			if label == y {
				times += count[i]
				size++
				for k, v := range part.z[i] {
					chosen[k] += count[i] * v
					plain[k] += v
				}
			}
		}
		if times == 0 {
			continue
		}
		for k := range chosen {
			chosen[k] /= times
			d := chosen[k] - plain[k]/size
			loss += lambda * d * d
		}
		means = append(means, chosen)
	}
	if len(others) == 0 {
		return loss, nil
	}
	u := make([]float64, len(z[0]))
	for _, row := range others {
		for k, v := range row {
			u[k] += v / float64(len(others))
		}
	}
	if theta == nil {
		theta = slowShares(means, u)
	}
	for k := range u {
		r := -u[k]
		for y := range means {
			r += theta[y] * means[y][k]
		}
		loss += lambdaU * r * r
	}
	return loss, theta
}

func setOf(labels []int) map[int]bool {
	out := map[int]bool{}
	for _, y := range labels {
		out[y] = true
	}
	return out
}

// slowShares solves min ‖Σ θ_y Φ_y - u‖² with Σ θ = 1 by its Lagrange system and Gaussian elimination.
func slowShares(means [][]float64, u []float64) []float64 {
	n := len(means) + 1
	rows := zeros64(n, n+1)
	for i := range means {
		for j := range means {
			rows[i][j] = dot64(means[i], means[j])
		}
		rows[i][n-1], rows[n-1][i] = 1, 1
		rows[i][n] = dot64(means[i], u)
	}
	rows[n-1][n] = 1
	for i := range n {
		best := i
		for k := i; k < n; k++ {
			if math.Abs(rows[k][i]) > math.Abs(rows[best][i]) {
				best = k
			}
		}
		rows[i], rows[best] = rows[best], rows[i]
		for k := range n {
			if k != i {
				f := rows[k][i] / rows[i][i]
				for c := i; c <= n; c++ {
					rows[k][c] -= f * rows[i][c]
				}
			}
		}
	}
	theta := make([]float64, n-1)
	for i := range theta {
		theta[i] = rows[i][n] / rows[i][i]
	}
	return theta
}

func TestAdaptedTripletByLoops(t *testing.T) {
	inputs := oracleInputs()
	delete(inputs, "bank")
	for i, name := range slices.Sorted(maps.Keys(inputs)) {
		some := conformInput(uint64(40+i), 30)
		for j := range some.labels {
			if some.labels[j] %= 4; j%4 == 1 {
				some.labels[j] = features.Unlabelled
			}
		}
		some.z[5][0] *= 3
		inputs[fmt.Sprint(name, " unlabelled ", i)] = some
	}
	for name, in := range inputs {
		for _, s := range []map[string]any{
			{"lambda": 0.0}, {"lambda": 1.0, "margin": 0.5}, {"lambda": 0.7, "reduction": "sum", "lambda_u": 2.0},
			{"lambda": 0.3, "lambda_u": 5.0, "printed": true}, {"lambda": 0.0, "lambda_u": 5.0, "theta": "simplex"},
		} {
			l := mustNew(t, "adapted_triplet", s, testEnv(conformDim, conformClasses, 1)).(*adaptedTriplet)
			loss, grad := exactAdapted(l, in)
			var theta []float64 // a constant
			if s["printed"] == true || s["theta"] == "simplex" {
				theta = slices.Clone(l.matching.theta)
			}
			margin, lambdaU := l.triplets.fn.(*selected).simLoss.(*triplet).margin, l.lambdaU
			slow := func() float64 {
				v, _ := slowAdapted(in, l.lambda, lambdaU, margin, s["reduction"] == "sum", theta)
				return v
			}
			what := fmt.Sprint(name, s)
			if want := slow(); !near(loss, want, 1e-9, 1e-12) {
				t.Errorf("%s: %.12g, by loops %.12g", what, loss, want)
			}
			if rel, abs := worst(grad, differences(in.z, grad, slow)); rel > 1e-6 && abs > 1e-8 {
				t.Errorf("%s: gradient is off by %.3g of its largest entry", what, rel)
			}
			if _, free := slowAdapted(in, l.lambda, lambdaU, margin, false, nil); free != nil && theta == nil &&
				lambdaU > 0 {
				for y := range free {
					if !near(l.matching.theta[y], free[y], 1e-7, 1e-9) {
						t.Errorf("%s: θ %v, expected %v", what, l.matching.theta, free)
						break
					}
				}
			}
		}
	}
}

// The shares of unlabelled rows are recovered if the rows are drawn from the classes.
func TestMatchingFindsTheShares(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	const classes, d = 5, 24
	centres, _ := unit64([][]float64{gauss(rng, d), gauss(rng, d), gauss(rng, d), gauss(rng, d), gauss(rng, d)})
	want := []float64{0.4, 0.1, 0, 0.3, 0.2}
	var rows [][]float64
	var labels []int
	for y := range classes {
		for range 4 {
			rows, labels = append(rows, centres[y]), append(labels, y*3)
		}
	}
	n := len(rows)
	for y, share := range want {
		for range int(20 * share) {
			rows = append(rows, centres[y])
		}
	}
	count := slices.Repeat([]float64{1}, n)
	for _, simplex := range []bool{false, true} {
		m := matching{simplex: simplex}
		m.groupRows(seq(n), append(labels, make([]int, len(rows)-n)...), count, d)
		if v := matchUnlabelled(&m, flatRows(rows), rowsOf[float64]{}, seq(len(rows))[n:], 1); v > 1e-20 {
			t.Errorf("residual %v, expected 0", v)
		}
		for y := range want {
			if math.Abs(m.theta[y]-want[y]) > 1e-9 {
				t.Errorf("θ %v, expected %v", m.theta, want)
			}
		}
	}
}

// Equal means, more classes than dimensions and a single class also have a solution.
func TestMatchingWithoutAUniqueSolution(t *testing.T) {
	for name, c := range map[string]struct {
		means [][]float64
		u     []float64
		want  float64
	}{
		"equal means":             {[][]float64{{1, 0, 0}, {1, 0, 0}, {1, 0, 0}}, []float64{0, 1, 0}, 2},
		"two equal means":         {[][]float64{{1, 0, 0}, {0, 1, 0}, {0, 1, 0}}, []float64{0.5, 0.5, 0.5}, 0.25},
		"as many classes":         {[][]float64{{1, 0}, {0, 1}, {-1, 0}}, []float64{0.3, 0.4}, 0},
		"more than dimensions":    {[][]float64{{1, 0}, {0, 1}, {-1, 0}, {0, -1}, {0.6, 0.8}}, []float64{0.3, 0.4}, 0},
		"one class":               {[][]float64{{0, 1, 0}}, []float64{0, 0, 1}, 2},
		"nearly equal directions": {[][]float64{{1, 0, 0}, {1, 1e-9, 0}}, []float64{0, 1, 0}, 2},
	} {
		for _, printed := range []bool{false, true} {
			m := matching{printed: printed}
			rows := append(slices.Clone(c.means), c.u)
			n := len(c.means)
			m.groupRows(seq(n), seq(n+1), slices.Repeat([]float64{1}, n), len(c.u))
			v := matchUnlabelled(&m, flatRows(rows), rowsOf[float64]{}, []int{n}, 1)
			var sum float64
			for _, theta := range m.theta {
				sum += theta
			}
			if math.IsNaN(v) || math.IsInf(v, 0) || math.Abs(sum-1) > 1e-6*max(1, math.Abs(m.theta[0])) {
				t.Errorf("%s: value %v, θ %v", name, v, m.theta)
			}
			if !printed && name != "nearly equal directions" && math.Abs(v-c.want) > 1e-5 {
				t.Errorf("%s: residual %v, expected %v", name, v, c.want)
			}
		}
	}
}

// The projection is nearer than any other point with shares.
func TestSharesAreTheNearest(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for range 200 {
		m := matching{theta: gauss(rng, 1+rng.IntN(6))}
		old := slices.Clone(m.theta)
		m.toShares()
		far := func(p []float64) (d float64) {
			for k := range p {
				d += (p[k] - old[k]) * (p[k] - old[k])
			}
			return d
		}
		var sum float64
		for _, v := range m.theta {
			sum += v
			if v < 0 {
				t.Fatalf("shares %v", m.theta)
			}
		}
		if math.Abs(sum-1) > 1e-12 {
			t.Fatalf("shares %v", m.theta)
		}
		for range 20 {
			other, total := gauss(rng, len(old)), 0.0
			for k := range other {
				other[k] = other[k] * other[k]
				total += other[k]
			}
			step := rng.Float64()
			for k := range other {
				other[k] = step*other[k]/total + (1-step)*m.theta[k]
			}
			if far(other) < far(m.theta)-1e-12 {
				t.Fatalf("shares %v of %v are farther than %v", m.theta, old, other)
			}
		}
	}
}

func TestAdaptedTripletTakesUnlabelledRowsOnly(t *testing.T) {
	l := mustNew(t, "adapted_triplet", map[string]any{"lambda_u": 1.0}, testEnv(3, 3, 1))
	z := matrix32([][]float64{{1, 0, 0}, {0, 1, 0}})
	z.Labels = []int{features.Unlabelled, features.Unlabelled}
	g := features.NewMatrix(2, 3)
	g.Data[1] = 5
	if v := l.Eval(&g, z, nil); v != 0 || g.Data[1] != 0 {
		t.Errorf("unlabelled rows alone: value %v, gradient %v", v, g.Data)
	}
	for _, c := range []struct {
		labels []int
		ref    *features.Set
		want   string
	}{
		{[]int{0, -2}, nil, "losses: adapted_triplet: row 1 has label -2, expected -1 or more"},
		{[]int{0, 1}, &z, "losses: adapted_triplet compares a batch with itself, found another reference"},
	} {
		func() {
			defer func() {
				if said := fmt.Sprint(recover()); said != c.want {
					t.Errorf("panics with %q, expected %q", said, c.want)
				}
			}()
			z.Labels = c.labels
			l.Eval(nil, z, c.ref)
		}()
	}
}
