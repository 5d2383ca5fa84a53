package losses

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"testing"
)

// slowSettings are the settings of a triplet loss for the loops.
type slowSettings struct {
	dist, choose, reduce string
	margin, gap          float64
	smooth, swap         bool
}

func (s slowSettings) values() map[string]any {
	return map[string]any{"distance": s.dist, "select": s.choose, "reduction": s.reduce, "margin": s.margin,
		"gap": s.gap, "smooth": s.smooth, "swap": s.swap}
}

func slowDistance(dist string, s float64) float64 {
	switch dist {
	case "l2":
		return math.Sqrt(math.Max(2-2*s, 0))
	case "l2sq":
		return 2 - 2*s
	}
	return 1 - s
}

// inSet is METHODS 6.2 to 6.4 as printed; drawn and nearest ones are then taken from the set.
func (s slowSettings) inSet(dp, dn float64) bool {
	gap := dn - dp
	switch s.choose {
	case "all", batchHard:
		return true
	case "violating":
		return gap <= s.gap
	case "hard":
		return gap <= 0
	case "semihard_all":
		return 0 < gap && gap <= s.gap
	case "easy":
		return gap > s.gap
	case "semihard":
		return dp <= dn && dn < dp+s.gap
	case "random_semihard":
		return dn < dp+s.gap
	case "fixed_semihard":
		return dn > dp
	}
	panic(s.choose)
}

func slowTriplet(in exactInput, s slowSettings) float64 {
	amid := in // the columns among themselves
	if in.ref != nil {
		amid.z = in.ref
	}
	var terms []float64
	for a := range in.z {
		delta := make([]float64, in.columns())
		var pos, neg []int
		for j := range delta {
			delta[j] = slowDistance(s.dist, in.similarity(a, j))
			switch in.kind(a, j) {
			case 1:
				pos = append(pos, j)
			case -1:
				neg = append(neg, j)
			}
		}
		nearer := func(list []int) func(i, j int) bool {
			return func(i, j int) bool { return delta[list[i]] < delta[list[j]] }
		}
		sort.SliceStable(neg, nearer(neg))
		if s.choose == batchHard && len(pos) > 0 && len(neg) > 0 {
			sort.SliceStable(pos, nearer(pos))
			pos, neg = pos[len(pos)-1:], neg[:1]
		}
		for _, p := range pos {
			var use []int
			for _, n := range neg {
				if s.inSet(delta[p], delta[n]) {
					use = append(use, n)
				}
			}
			switch s.choose {
			case "semihard", "random_semihard":
				if len(use) > 0 {
					k := rand.New(third{}).IntN(len(use)) // what the loss will draw, in rising distance too
					use = use[k : k+1]
				}
			case "fixed_semihard":
				use = use[:min(1, len(use))]
			}
			for _, n := range use {
				dn := delta[n]
				if s.swap {
					dn = min(dn, slowDistance(s.dist, amid.similarity(p, n)))
				}
				v := delta[p] - dn + s.margin
				if s.smooth {
					terms = append(terms, math.Log(1+math.Exp(v)))
				} else {
					terms = append(terms, math.Max(v, 0))
				}
			}
		}
	}
	return reduced(terms, s.reduce)
}

// reduced returns mean, avg_nonzero or sum of terms, 0 if there are none.
func reduced(terms []float64, reduce string) float64 {
	var sum, active float64
	for _, v := range terms {
		sum += v
		if v > 0 {
			active++
		}
	}
	n := map[string]float64{"sum": 1, "mean": float64(len(terms)), "avg_nonzero": active}[reduce]
	if n == 0 {
		return 0
	}
	return sum / n
}

// Every selection with every distance; the other settings vary along with them.
func TestTripletByLoops(t *testing.T) {
	variants := []slowSettings{
		{reduce: "mean"}, {reduce: "mean", smooth: true}, {reduce: "mean", swap: true},
		{reduce: "avg_nonzero", swap: true}, {reduce: "sum", smooth: true, swap: true}, {reduce: "avg_nonzero"},
	}
	for name, in := range oracleInputs() {
		for d, dist := range distances {
			for c, choose := range selections {
				for k, s := range variants {
					if k > 2 && (d+c+k)%3 != 0 {
						continue // not every variant with every pair of them
					}
					s.dist, s.choose, s.margin, s.gap = dist, choose, 0.3, 0.2
					l := mustNew(t, "triplet", s.values(), testEnv(conformDim, conformClasses, 1))
					checkOracle(t, fmt.Sprintf("%s %+v", name, s), l.(*similarity), in, func() float64 {
						return slowTriplet(in, s)
					})
				}
			}
		}
	}
}

// Loops over other sets, or without swap, must not agree with the loss.
func TestTripletLoopsTellSetsApart(t *testing.T) {
	in := oracleInputs()["plain"]
	value := func(s slowSettings) float64 {
		loss, _ := exactPairs(mustNew(t, "triplet", s.values(), testEnv(conformDim, conformClasses, 1)).(*similarity),
			in)
		return loss
	}
	s := slowSettings{dist: "l2", reduce: "mean", margin: 0.3, gap: 0.2, smooth: true}
	for _, choose := range selections {
		for _, other := range selections {
			right, wrong := s, s
			right.choose, wrong.choose = choose, other
			if choose != other && near(value(right), slowTriplet(in, wrong), 1e-10, 1e-12) {
				t.Errorf("%s passes for %s", choose, other)
			}
		}
		right, wrong := s, s
		right.choose, wrong.choose, wrong.swap = choose, choose, true
		if near(value(right), slowTriplet(in, wrong), 1e-10, 1e-12) {
			t.Errorf("%s: swap makes no difference", choose)
		}
	}
}

func TestUnhingedTripletByLoops(t *testing.T) {
	for name, in := range oracleInputs() {
		for _, margin := range []float64{0.2, 0} {
			slow := func() float64 {
				return slowAllTriplets(in, "l2", "mean", func(dp, dn float64) float64 { return 1.5 + dp - dn + margin })
			}
			l := mustNew(t, "unhinged_triplet", map[string]any{"d_max": 1.5, "margin": margin},
				testEnv(conformDim, conformClasses, 1))
			checkOracle(t, fmt.Sprint(name, margin), l.(*similarity), in, slow)
		}
	}
}

func TestRDMLByLoops(t *testing.T) {
	for name, in := range oracleInputs() {
		for _, dist := range distances {
			for _, eta := range []float64{0.5, 4, 20} {
				for _, reduce := range []string{"mean", "avg_nonzero", "sum"} {
					slow := func() float64 {
						return slowAllTriplets(in, dist, reduce, func(dp, dn float64) float64 {
							h := math.Max(0.4+dp-dn, 0)
							return (1 - math.Exp(-eta*h)) / (1 - math.Exp(-eta))
						})
					}
					l := mustNew(t, "rdml", map[string]any{"eta": eta, "margin": 0.4, "distance": dist,
						"reduction": reduce}, testEnv(conformDim, conformClasses, 1))
					checkOracle(t, fmt.Sprint(name, dist, eta, reduce), l.(*similarity), in, slow)
				}
			}
		}
	}
}

// As η approaches 0 RDML becomes the hinge over all triplets, up to the digits that η leaves.
func TestRDMLBecomesTheHinge(t *testing.T) {
	in := conformInput(31, 60)
	env := testEnv(conformDim, conformClasses, 1)
	rescaled, gradRescaled := exactPairs(mustNew(t, "rdml", map[string]any{"eta": 1e-4, "margin": 0.7},
		env).(*similarity), in)
	hinge, gradHinge := exactPairs(mustNew(t, "triplet", map[string]any{"select": "all", "margin": 0.7},
		env).(*similarity), in)
	if !near(rescaled, hinge, 1e-4, 0) {
		t.Errorf("RDML %.12g, the hinge %.12g", rescaled, hinge)
	}
	if rel, _ := worst(gradRescaled, gradHinge); rel > 3e-4 {
		t.Errorf("gradients differ by %.3g of the largest entry", rel)
	}
}

func slowAllTriplets(in exactInput, dist, reduce string, term func(dp, dn float64) float64) float64 {
	var terms []float64
	for a := range in.z {
		var pos, neg []float64
		for j := range in.columns() {
			switch d := slowDistance(dist, in.similarity(a, j)); in.kind(a, j) {
			case 1:
				pos = append(pos, d)
			case -1:
				neg = append(neg, d)
			}
		}
		for _, dp := range pos {
			for _, dn := range neg {
				terms = append(terms, term(dp, dn))
			}
		}
	}
	return reduced(terms, reduce)
}

// crowd returns a block of similarities with few classes, so that anchors have many positives, and with many
// equal distances; against itself or a bank.
func crowd(seed uint64, n, r, classes int, self bool) (*pairs, []float64) {
	rng := rand.New(rand.NewPCG(seed, 3))
	label := func(n int) []int {
		out := make([]int, n)
		for i := range out {
			out[i] = rng.IntN(classes)
		}
		return out
	}
	spread := 0.05 + 0.95*rng.Float64()
	grain := []float64{10, 1e9}[seed%2]
	draw := func() float64 { return math.Round((0.999-spread*2*rng.Float64())*grain) / grain * 0.99 }
	p := &pairs{rows: label(n), cols: label(r)}
	amid := amid64{make([]float64, r*r), r}
	for k := range amid.s {
		amid.s[k] = draw()
	}
	S := make([]float64, n*r)
	for k := range S {
		S[k] = draw()
	}
	p.amid = amid
	if self {
		p = &pairs{rows: p.cols[:r], cols: p.cols, self: true}
		return p, amid.s
	}
	return p, S
}

// tripletByTriplet returns the sum over a set selection with its slopes, one triplet at a time.
func tripletByTriplet(s slowSettings, p *pairs, S []float64) (sum float64, count int, dS []float64) {
	r := len(p.cols)
	dS = make([]float64, len(S))
	d := func(v float64) float64 { return slowDistance(s.dist, v) }
	between := func(j, k int) float64 { return S[j*r+k] }
	if !p.self {
		between = p.amid.pairSimilarity
	}
	slope := func(v float64) float64 {
		switch s.dist {
		case "l2":
			return -1 / math.Sqrt(2-2*v)
		case "l2sq":
			return -2
		}
		return -1
	}
	for a := range p.rows {
		for j := range p.cols {
			if p.rows[a] != p.cols[j] || p.self && a == j {
				continue
			}
			dp := d(S[a*r+j])
			for k := range p.cols {
				dn := d(S[a*r+k])
				if p.cols[k] == p.rows[a] || !s.inSet(dp, dn) {
					continue
				}
				count++
				at, v := a*r+k, S[a*r+k]
				if s.swap {
					pn := between(j, k)
					if d(pn) < dn {
						at, v = -1, pn
						if p.self {
							at = j*r + k
						}
					}
				}
				u := dp - d(v) + s.margin
				value, g := math.Max(u, 0), 1.0
				if s.smooth {
					value, g = math.Log1p(math.Exp(u)), 1/(1+math.Exp(-u))
				} else if u <= 0 {
					g = 0
				}
				sum += value
				dS[a*r+j] += g * slope(S[a*r+j])
				if at >= 0 {
					dS[at] -= g * slope(v)
				}
			}
		}
	}
	return sum, count, dS
}

// Ranges, tails, nodes and products of many factors against the plain triple loop, for anchors with many
// positives.
func TestSetsTripletByTriplet(t *testing.T) {
	tight := 0
	for seed := range uint64(12) {
		for c, choose := range []string{"all", "violating", "hard", "semihard_all", "easy"} {
			for k := range 4 {
				s := slowSettings{dist: distances[(int(seed)+c+k)%3], choose: choose, reduce: "mean", margin: 0.25,
					gap: 0.15, smooth: k%2 == 1, swap: k > 1}
				p, S := crowd(seed, 5, 70, 2+int(seed)%2, seed%3 != 0)
				l := mustNew(t, "triplet", s.values(),
					testEnv(conformDim, conformClasses, 1)).(*similarity).fn.(*triplet)
				dS := make([]float64, len(S))
				sum, terms := l.evalPairs(dS, S, p)
				want, count, slopes := tripletByTriplet(s, p, S)
				what := fmt.Sprintf("seed %d %+v", seed, s)
				if !near(sum, want, 1e-11, 1e-12) || int(terms) != count {
					t.Fatalf("%s: sum %.15g of %v terms, one by one %.15g of %d", what, sum, terms, want, count)
				}
				wide := [][]float64{slopes}
				if rel, _ := worst([][]float64{dS}, wide); rel > 1e-11 {
					t.Fatalf("%s: slopes are off by %.3g of the largest", what, rel)
				}
				if k == 1 && choose == "all" && len(l.soft.rise) < len(l.mates.order) {
					tight++
				}
				s.margin += 1e-9
				if seed > 1 {
					continue
				}
				if wrong, _, _ := tripletByTriplet(s, p, S); count > 0 && near(sum, wrong, 1e-11, 1e-12) {
					t.Errorf("%s: another margin is not seen", what)
				}
			}
		}
	}
	if tight < 3 {
		t.Errorf("nodes stood for positives in %d cases only", tight)
	}
}

// The error of the nodes, on intervals of every length and with the worst distances.
func TestNodesKeepTheirError(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	for _, length := range []float64{0, 1e-9, 0.1, 0.7, 2, 4} {
		for _, start := range []float64{0, 4} {
			points := make([]float64, 500)
			for i := range points {
				points[i] = start + length*rng.Float64()
			}
			slices.Sort(points)
			var q nodes
			if !q.placeNodes(points, 500) {
				t.Fatalf("length %v: nodes are said not to pay for 500 points", length)
			}
			if again := nodeCount(points[499] - points[0]); len(q.at) != again || again > 31 {
				t.Errorf("length %v: %d nodes, expected %d, at most 31", length, len(q.at), again)
			}
			for _, delta := range []float64{0, 0.3, 1.9, 4} {
				var want, got, wantSlope, gotSlope float64
				slopes := make([]float64, len(q.at))
				for _, c := range points {
					v, g := softplusSlope(c - delta)
					want, wantSlope = want+v, wantSlope+g
				}
				for k, c := range q.at {
					v, g := softplusSlope(c - delta)
					got, gotSlope = got+q.weight[k]*v, gotSlope+q.weight[k]*g
					slopes[k] = g
				}
				if !near(got, want, 0, 500*3e-14) || !near(gotSlope, wantSlope, 0, 500*3e-14) {
					t.Errorf("length %v from %v, δ %v: sums are off by %.3g and %.3g", length, start, delta, got-want,
						gotSlope-wantSlope)
				}
				for i, g := range q.interpolateNodes(slopes) {
					if _, exact := softplusSlope(points[i] - delta); !near(g, exact, 0, 1e-13) {
						t.Fatalf("length %v from %v, δ %v: a slope is off by %.3g", length, start, delta, g-exact)
					}
				}
			}
		}
	}
	if (&nodes{}).placeNodes([]float64{0, 1, 2}, 1000) {
		t.Error("nodes are said to pay for three points")
	}
}

func TestTripletRefusesWhatIsAlwaysZero(t *testing.T) {
	env := testEnv(8, 4, 1)
	for _, c := range []struct {
		settings map[string]any
		ok       bool
	}{
		{map[string]any{"select": "easy"}, false},
		{map[string]any{"select": "easy", "gap": 0.3}, false},
		{map[string]any{"select": "easy", "gap": 0.1}, true},
		{map[string]any{"select": "easy", "smooth": true}, true},
		{map[string]any{"select": "easy", "swap": true}, true},
	} {
		_, err := New("triplet", c.settings, env)
		if (err == nil) != c.ok {
			t.Errorf("%v: %v", c.settings, err)
		}
		if err != nil && !strings.HasPrefix(err.Error(), "losses: triplet: select: found easy with gap 0.") {
			t.Error(err)
		}
	}
}

// A bank's own similarities in float32 and in float64, of rows and one by one.
func TestAmidABank(t *testing.T) {
	in := conformInput(41, 30)
	in.z[7], in.z[9] = slices.Clone(in.z[3]), slices.Clone(in.z[3])
	in.z[9][0] += 1e-4
	in.z, _ = unit64(in.z)
	z := matrix32(in.z)
	bank, exact := &constants{x: z.X}, amidOf(in.z)
	js := []int32{3, 7, 9, 0}
	got, want := make([]float64, len(js)*30), make([]float64, len(js)*30)
	for range 2 {
		bank.rowSimilarities(got, js)
	}
	exact.rowSimilarities(want, js)
	for i, j := range js {
		for k := range 30 {
			g, w := got[i*30+k], want[i*30+k]
			tol := 1e-6
			if w > nearby {
				tol = 1e-9 // from differences
			}
			if !near(g, w, 0, tol) || !near(bank.pairSimilarity(int(j), k), w, 0, tol) {
				t.Errorf("%d and %d: %v in rows, %v as a pair, expected %v", j, k, g, bank.pairSimilarity(int(j), k), w)
			}
		}
	}
}

// A bank whose members of a class are processed in parts, through the public path.
func TestSwapAgainstALargeBank(t *testing.T) {
	const r, d = 2000, 4
	rng := rand.New(rand.NewPCG(3, 14))
	in := exactInput{normalize: true, labels: []int{0, 1, 0}}
	for range 3 {
		in.z = append(in.z, gauss(rng, d))
	}
	for range r {
		in.ref, in.refIDs = append(in.ref, gauss(rng, d)), append(in.refIDs, rng.IntN(2))
	}
	in.ref, _ = unit64(in.ref)
	if r/2 < 3*(rowsAtOnce/r) {
		t.Fatalf("%d members of a class are too few to be taken in parts of %d", r/2, rowsAtOnce/r)
	}
	toBank, amid := cosines(first(unit64(in.z)), in.ref, true), cosines(in.ref, in.ref, true)
	var sum, swapped, count float64
	for a, y := range in.labels {
		for p, yp := range in.refIDs {
			for n, yn := range in.refIDs {
				if yp != y || yn == y {
					continue
				}
				ap, an, pn := 2-2*toBank[a*r+p], 2-2*toBank[a*r+n], 2-2*amid[p*r+n]
				sum += math.Max(0, ap-math.Min(an, pn)+0.2)
				count++
				if pn < an {
					swapped++
				}
			}
		}
	}
	if swapped < count/4 {
		t.Fatalf("only %v of %v triplets are swapped", swapped, count)
	}
	got, _ := public(mustNew(t, "triplet", map[string]any{"select": "all", "swap": true}, testEnv(d, 2, 1)), in)
	if !near(got, sum/count, 1e-5, 0) {
		t.Errorf("%v, by loops %v", got, sum/count)
	}
}

func first[A, B any](a A, _ B) A { return a }
