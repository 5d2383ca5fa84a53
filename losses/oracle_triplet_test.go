package losses

import (
	"fmt"
	"math"
	"math/rand/v2"
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
					s.dist, s.choose, s.margin, s.gap, s.swap = dist, choose, 0.3, 0.2, s.swap && in.ref == nil
					l := mustNew(t, "triplet", s.values(), testEnv(conformDim, conformClasses, 1))
					checkOracle(t, fmt.Sprintf("%s %+v", name, s), l.(*similarity), in, func() float64 {
						return slowTriplet(in, s)
					})
				}
			}
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
