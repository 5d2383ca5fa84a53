package filters

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/features"
)

// The concentrations equal estimates computed class by class from the members.
func TestKappasAreOfTheMembers(t *testing.T) {
	s := newStream(8, 16, 7, 0.8)
	f := mustNew(t, s.world, nil)
	bank := features.NewBank(40, 16, 7)
	if got := f.Kappas(nil, bank); len(got) != 0 {
		t.Errorf("empty bank: %v", got)
	}
	var got []ClassKappa
	for range 6 { // the bank evicts some members
		z, _ := s.batch(13, 0.3)
		bank.Push(z)
		got = f.Kappas(got, bank)
		var want []ClassKappa
		set := bank.Set()
		for k := range 7 {
			sum, members, images := make([]float64, 16), 0, map[int]bool{}
			for i, label := range set.Labels {
				if label == k {
					members++
					images[set.IDs[i]] = true
					for j, x := range set.Row(i) {
						sum[j] += float64(x)
					}
				}
			}
			if len(images) < 2 { // the same ids occur in all batches
				continue
			}
			var norm float64
			for _, x := range sum {
				norm += x * x
			}
			r := math.Sqrt(norm) / float64(members)
			want = append(want, ClassKappa{k, members, r, r * (16 - r*r) / (1 - r*r)})
		}
		if diff := cmp.Diff(want, got,
			cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) <= 1e-6*math.Abs(b) })); diff != "" {
			t.Fatal(diff)
		}
		if len(want) == 0 {
			t.Fatal("no class has members of two images")
		}
	}
	other := mustNew(t, s.world, func(c *Config) { c.Scorer = "avgsim" })
	if got := other.Kappas(got, bank); len(got) != 0 {
		t.Errorf("AvgSim lists concentrations: %v", got)
	}
}

// A histogram does not depend on the order of the scores or their division among calls, and every score is in its bin.
func TestHistogram(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for _, c := range []struct {
		name     string
		draw     func() float64
		exponent int
	}{
		{"P_clean", func() float64 { return math.Round(r.Float64()*1.2-0.1) * 0.999 * r.Float64() }, -6},
		{"around 1/100", func() float64 { return 0.01 + 0.001*r.Float64() }, -15},
		{"cosines", func() float64 { return 2*r.Float64() - 1 }, -5},
	} {
		values := make([]float64, 3000)
		for i := range values {
			values[i] = c.draw()
		}
		var at, backwards, parts Histogram
		at.Add(values...)
		for i := range values {
			backwards.Add(values[len(values)-1-i])
		}
		parts.Add(values[:700]...)
		parts.Add(values[700:]...)
		if diff := cmp.Diff(at, backwards); diff != "" {
			t.Errorf("%s: result depends on the order: %s", c.name, diff)
		}
		if diff := cmp.Diff(at, parts); diff != "" {
			t.Errorf("%s: result depends on the division: %s", c.name, diff)
		}
		if at.Exponent != c.exponent || len(at.Counts) > maxBins || at.Total() != len(values) {
			t.Errorf("%s: %d bins of 2^%d hold %d", c.name, len(at.Counts), at.Exponent, at.Total())
		}
		wide := at.AtLeast(at.Exponent + 2)
		for _, h := range []Histogram{at, wide} {
			edges := h.Edges()
			for i, n := range h.Counts {
				inside := 0
				for _, v := range values {
					if v >= edges[i] && v < edges[i+1] {
						inside++
					}
				}
				if inside != n {
					t.Fatalf("%s: bin %d from %v to %v holds %d, expected %d", c.name, i, edges[i],
						edges[i+1], n, inside)
				}
			}
		}
	}
	var h Histogram
	h.Add(math.NaN(), math.Inf(1), math.Inf(-1))
	if h.Total() != 0 || h.Edges() != nil {
		t.Errorf("NaN and infinities are counted: %+v", h)
	}
	h.Add(0, 1, 0.5)
	if e := h.Edges(); h.Exponent != -6 || len(h.Counts) != 64 || e[64] != 1 || h.Counts[63] != 1 || h.Counts[32] != 1 {
		t.Errorf("0, 1/2 and 1: %+v", h)
	}
}
