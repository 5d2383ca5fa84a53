package pairs_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"winnow/features"
	"winnow/papers/pairs"
)

// world draws batches from clusters of points on the sphere.
type world struct {
	set     features.Set
	classes int
	each    int
	rng     *rand.Rand
}

// newWorld has classes × each unit rows, spread around the centres of their classes.
func newWorld(t *testing.T, seed uint64, classes, each, dim int, spread float64) world {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 1))
	w := world{set: features.NewSet(classes*each, dim), classes: classes, each: each, rng: rng}
	centres := features.NewMatrix(classes, dim)
	for k := range centres.Data {
		centres.Data[k] = float32(rng.NormFloat64())
	}
	for i := range w.set.Len() {
		w.set.Labels[i] = i / each
		for j, centre := range features.Row(centres, i/each) {
			w.set.Row(i)[j] = centre + float32(spread*rng.NormFloat64())
		}
	}
	if err := features.Normalize(w.set.X); err != nil {
		t.Fatal(err)
	}
	return w
}

// batch is p classes with k rows each.
func (w world) batch(p, k int) features.Set {
	var rows []int
	for _, c := range w.rng.Perm(w.classes)[:p] {
		for _, at := range w.rng.Perm(w.each)[:k] {
			rows = append(rows, c*w.each+at)
		}
	}
	return w.set.Rows(rows)
}

// measured is the report of so many batches of 12 × 5.
func (w world) measured(t *testing.T, s pairs.MiningSettings, batches int) pairs.Report {
	t.Helper()
	m, err := pairs.NewMiningMeter(s)
	if err != nil {
		t.Fatal(err)
	}
	for range batches {
		m.Add(w.batch(12, 5), w.rng)
	}
	return m.Report()
}

// TestRandomIsLessSkewedThanFixed: what 000 conjectures, η_random < η_fixed, on overlapping clusters over seeds,
// with a higher bound for it.
func TestRandomIsLessSkewedThanFixed(t *testing.T) {
	for seed := range uint64(5) {
		r := newWorld(t, seed, 30, 20, 64, 2).measured(t, pairs.DefaultMining(30), 60)
		if 2**r.Random.Eta > *r.Fixed.Eta || r.Random.Most > r.Fixed.Most {
			t.Errorf("seed %d: η is %v for random and %v for fixed semi-hard mining, expected the latter to be "+
				"far above", seed, *r.Random.Eta, *r.Fixed.Eta)
		}
		if r.Random.Limit.Bound <= r.Fixed.Limit.Bound || r.Random.Limit.LargeK <= r.Random.Limit.Bound {
			t.Errorf("seed %d: bounds %+v and %+v", seed, r.Random.Limit, r.Fixed.Limit)
		}
		if *r.Marginal.Gamma <= 0 || *r.Marginal.Gamma > 1 || r.Marginal.Positive.Most < 1 ||
			r.Marginal.Limit.Half >= r.Marginal.Limit.Bound {
			t.Errorf("seed %d: marginal %+v", seed, r.Marginal)
		}
	}
}

// TestBlindMiningIsNotSkewed: with a margin of 2 random semi-hard mining takes any negative, and every pair costs the
// marginal loss something: η and γ are 1 but for chance. Fixed mining stays skewed.
func TestBlindMiningIsNotSkewed(t *testing.T) {
	r := newWorld(t, 1, 30, 20, 64, 1).measured(t, pairs.MiningSettings{Margin: 2, Beta: 1.4, Classes: 30}, 60)
	if *r.Random.Eta > 1.15 || *r.Fixed.Eta < 10 {
		t.Errorf("η is %v for blind and %v for fixed mining, expected about 1, and much more", *r.Random.Eta,
			*r.Fixed.Eta)
	}
	if r.Marginal.Positive.Most != 1 || *r.Marginal.Gamma < 0.85 || r.Random.Unpaired != 0 ||
		r.Random.Pairs != r.Positives {
		t.Errorf("found %+v, %+v", r.Marginal, r.Random)
	}
}

// TestAgainstSlowOracle computes everything again from sorted lists of distances and plain loops.
func TestAgainstSlowOracle(t *testing.T) {
	w := newWorld(t, 3, 14, 9, 8, 1.5)
	s := pairs.MiningSettings{Margin: 0.3, Beta: 1.1, Classes: 14}
	m, err := pairs.NewMiningMeter(s)
	if err != nil {
		t.Fatal(err)
	}
	var o oracle
	for b := range uint64(20) {
		z := w.batch(10, 4)
		if b == 0 { // two rows of one image, and a row that is alone
			copy(z.Row(1), z.Row(0))
			z.IDs[1] = z.IDs[0]
			z.Labels[39] = 13_000
		}
		m.Add(z, rand.New(rand.NewPCG(b, 7)))
		o.add(z, s, rand.New(rand.NewPCG(b, 7)))
	}
	r := m.Report()
	if r.Positives != len(o.positives) || r.Negatives != len(o.negatives) || r.Random.Unpaired == 0 ||
		r.Fixed.Unpaired == 0 || r.Rows != 800 || r.Batches != 20 {
		t.Fatalf("found %+v, expected %d positive and %d negative pairs", r, len(o.positives), len(o.negatives))
	}
	for _, c := range []struct {
		name      string
		got       pairs.Taken
		some, all []float64
	}{
		{"random", r.Random.Taken, o.random, o.negatives},
		{"fixed", r.Fixed.Taken, o.fixed, o.negatives},
		{"marginal, positive", r.Marginal.Positive, o.pulled, o.positives},
		{"marginal, negative", r.Marginal.Negative, o.pushed, o.negatives},
	} {
		most, least := rates(c.some, c.all, pairs.SkewBins)
		if c.got.Pairs != len(c.some) || off(c.got.Most, most) || off(c.got.Least, least) {
			t.Errorf("%s: found %+v, expected %d pairs, %v and %v", c.name, c.got, len(c.some), most, least)
		}
		if most, _ := rates(c.some, c.all, pairs.SkewBins-1); c.name != "marginal, positive" && !off(c.got.Most, most) {
			t.Errorf("%s: 19 bins give the same: the test tests nothing", c.name)
		}
	}
	most, least := rates(o.random, o.negatives, pairs.SkewBins)
	_, low := rates(o.pushed, o.negatives, pairs.SkewBins)
	high, _ := rates(o.pulled, o.positives, pairs.SkewBins)
	if off(*r.Random.Eta, max(most, 1/least)) || off(*r.Marginal.Gamma, low/high) {
		t.Errorf("η %v, γ %v, expected %v and %v", *r.Random.Eta, *r.Marginal.Gamma, max(most, 1/least), low/high)
	}
	if len(r.NegativeBins) != pairs.SkewBins || r.NegativeBins[0].From != 0 ||
		r.NegativeBins[pairs.SkewBins-1].To != 2 {
		t.Errorf("bins %+v", r.NegativeBins)
	}
}

func off(a, b float64) bool { return math.Abs(a-b) > 1e-9*math.Abs(b) }

// oracle lists distances.
type oracle struct{ positives, negatives, random, fixed, pulled, pushed []float64 }

func (o *oracle) add(z features.Set, s pairs.MiningSettings, draw *rand.Rand) {
	distance := func(i, j int) float64 {
		sum := 0.0
		for k, v := range z.Row(i) {
			sum += (float64(v) - float64(z.Row(j)[k])) * (float64(v) - float64(z.Row(j)[k]))
		}
		return math.Sqrt(sum)
	}
	for a := range z.Len() {
		var mates, others []int
		for j := range z.Len() {
			if z.Labels[j] != z.Labels[a] {
				others = append(others, j)
			} else if j != a && z.IDs[j] != z.IDs[a] {
				mates = append(mates, j)
			}
		}
		if len(mates) == 0 {
			continue
		}
		slices.SortFunc(others, func(i, j int) int {
			if distance(a, i) < distance(a, j) {
				return -1
			}
			return 1
		})
		for _, n := range others {
			o.negatives = append(o.negatives, distance(a, n))
		}
		for _, p := range mates {
			ap := distance(a, p)
			o.positives = append(o.positives, ap)
			if ap > s.Beta-s.Margin {
				o.pulled = append(o.pulled, ap)
			}
			var window []float64
			for _, n := range others {
				if an := distance(a, n); an < ap+s.Margin {
					window = append(window, an)
				}
			}
			if len(window) > 0 {
				an := window[draw.IntN(len(window))]
				o.random = append(o.random, an)
				if an < s.Beta+s.Margin {
					o.pushed = append(o.pushed, an)
				}
			}
			for _, n := range others {
				if an := distance(a, n); an > ap {
					o.fixed = append(o.fixed, an)
					break
				}
			}
		}
	}
}

// rates returns the largest r_b, and the smallest above 0. A bin ends at the distance, to the width of a cell, by
// which a further 1/bins of all pairs is counted, and holds all pairs of that distance.
func rates(some, all []float64, bins int) (most, least float64) {
	cell := func(list []float64) (out []int) {
		for _, d := range list {
			out = append(out, int(math.Floor(d*32768)))
		}
		slices.Sort(out)
		return out
	}
	of, taken := cell(all), cell(some)
	least = math.Inf(1)
	last := -1
	for b := range bins {
		edge := of[int(math.Ceil(float64(b+1)*float64(len(of))/float64(bins)-1e-9))-1]
		n, m := 0, 0
		for _, d := range taken {
			if d > last && d <= edge {
				n++
			}
		}
		for _, d := range of {
			if d > last && d <= edge {
				m++
			}
		}
		last = edge
		if r := float64(n) / float64(len(taken)) * float64(len(of)) / float64(m); n > 0 {
			most, least = max(most, r), min(least, r)
		}
	}
	return most, least
}

// TestEdges: an empty meter has no skew, and settings are checked.
func TestEdges(t *testing.T) {
	m, err := pairs.NewMiningMeter(pairs.DefaultMining(2))
	if err != nil {
		t.Fatal(err)
	}
	if r := m.Report(); r.Random.Eta != nil || r.Fixed.Limit != nil || r.Marginal.Gamma != nil ||
		len(r.NegativeBins) != 0 {
		t.Errorf("nothing measured: %+v", r)
	}
	one := features.NewSet(3, 2) // one class, all rows alike
	for i := range 3 {
		one.Row(i)[0] = 1
	}
	m.Add(one, nil)
	if r := m.Report(); r.Positives != 6 || r.Negatives != 0 || r.Random.Eta != nil || r.Random.Unpaired != 6 ||
		r.Fixed.Unpaired != 6 {
		t.Errorf("one class: %+v", r)
	}
	for want, s := range map[string]pairs.MiningSettings{
		"margin α is -1":        {Margin: -1, Beta: 1, Classes: 2},
		"margin α is NaN":       {Margin: math.NaN(), Beta: 1, Classes: 2},
		"threshold β is 5":      {Margin: 0.2, Beta: 5, Classes: 2},
		"1 classes, expected 2": {Margin: 0.2, Beta: 1, Classes: 1},
	} {
		if _, err := pairs.NewMiningMeter(s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: found %v, expected %q", s, err, want)
		}
	}
}
