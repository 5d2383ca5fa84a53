package filters

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"winnow/features"
)

// crowd returns a batch whose rows have earlier vectors of their own image, near the row and with its label, in
// a bank with several vectors per class; own lists their positions. Rows 0 and 1 have none, row 2 has two, the
// rest one; the member of row 3 has another label.
func crowd(seed uint64, dim, classes, each int) (z features.Set, members features.Set, own [][]int) {
	r := rand.New(rand.NewPCG(seed, 3))
	w, _ := newWorld(r, dim, classes, 0, 0, 1.2, 0)
	members, _ = w.draw(r, classes*2*each, 0.3)
	z, _ = w.draw(r, 2*classes, 0.4)
	own = make([][]int, z.Len())
	for i := range z.Len() {
		for range []int{0, 0, 2, 1, 1}[min(i, 4)] {
			at := -1
			for at < 0 || members.IDs[at] < 0 {
				at = r.IntN(members.Len())
			}
			members.IDs[at] = -1
			members.Labels[at] = z.Labels[i]
			if i == 3 {
				members.Labels[at] = (z.Labels[i] + 1) % classes
			}
			for j, v := range z.Row(i) {
				members.Row(at)[j] = v + 0.02*float32(r.NormFloat64())
			}
			own[i] = append(own[i], at)
		}
	}
	if err := features.Normalize(members.X); err != nil {
		panic(err)
	}
	return z, members, own
}

// slowVerdict scores row i against a bank that never held the row's own members, under every label in turn.
func slowVerdict(c Config, z, members features.Set, own []int, i, classes int) Verdict {
	var rest []int
	for at := range members.Len() {
		if !slices.Contains(own, at) || members.Labels[at] != z.Labels[i] {
			rest = append(rest, at)
		}
	}
	bank := features.BankOf(members.Rows(rest), classes)
	scorer := mustFilter(c, z.Dim(), classes).scorer.(Ranker)
	v, best := Verdict{Best: -1}, math.Inf(-1)
	for k := range classes {
		row := z.Rows([]int{i})
		row.Labels = []int{k}
		odds := scorer.LogOdds(nil, row, bank, false)[0]
		if k == z.Labels[i] {
			v.Odds = odds
		}
		if bank.Count(k) > 0 && odds > best {
			v.Best, best = k, odds
		}
	}
	return v
}

func mustFilter(c Config, dim, classes int) *Filter {
	f, err := New(c, Env{Dim: dim, Classes: classes})
	if err != nil {
		panic(err)
	}
	return f
}

// checkLeaveOut compares the verdicts of a filter with those of banks made without the members.
func checkLeaveOut(c Config, seed uint64, see func(own []int) []int) error {
	const dim, classes = 12, 5
	z, members, own := crowd(seed, dim, classes, 6)
	f := mustFilter(c, dim, classes)
	if !f.Observe() {
		return fmt.Errorf("%s does not observe", c.Scorer)
	}
	bank := features.BankOf(members, classes)
	f.Keep(z, bank)
	got := f.LeaveOut(nil, z, bank, func(i int) []int { return see(own[i]) })
	for i, v := range got {
		want := slowVerdict(c, z, members, own[i], i, classes)
		if v.Best != want.Best || !(math.Abs(v.Odds-want.Odds) <= 1e-5*(1+math.Abs(want.Odds))) {
			return fmt.Errorf("row %d: %+v, expected %+v", i, v, want)
		}
		if !v.Known() || math.Abs(v.P()-1/(1+math.Exp(-want.Odds))) > 1e-5 {
			return fmt.Errorf("row %d: P %v of %+v", i, v.P(), v)
		}
	}
	return nil
}

func leaveOutConfigs() []Config {
	avg, vmf, debiased := Default(), Default(), Default()
	avg.Scorer = "avgsim"
	vmf.AvgSimSteps, debiased.AvgSimSteps, debiased.Debias = 0, 0, true
	return []Config{avg, vmf, debiased}
}

func TestLeaveOut(t *testing.T) {
	all := func(own []int) []int { return own }
	for _, c := range leaveOutConfigs() {
		for seed := range uint64(5) {
			if err := checkLeaveOut(c, seed, all); err != nil {
				t.Errorf("%s, seed %d: %v", c.Scorer, seed, err)
			}
			if checkLeaveOut(c, seed, func([]int) []int { return nil }) == nil {
				t.Errorf("%s, seed %d: an image that speaks for itself was not seen", c.Scorer, seed)
			}
		}
	}
}

// About a class with nothing left, and in a bank of a single class, nothing is known.
func TestLeaveOutKnowsNothing(t *testing.T) {
	for _, c := range leaveOutConfigs() {
		z, members, _ := crowd(1, 12, 3, 4)
		for at := range members.Len() {
			if members.Labels[at] == z.Labels[2] {
				members.Labels[at] = (z.Labels[2] + 1) % 3
			}
		}
		members.Labels[0] = z.Labels[2]
		f := mustFilter(c, 12, 3)
		f.Observe()
		bank := features.BankOf(members, 3)
		f.Keep(z, bank)
		v := f.LeaveOut(nil, z, bank, func(i int) []int { return []int{0} })
		if v[2].Known() || v[2].P() != 1 {
			t.Errorf("%s: a class without a member left: %+v", c.Scorer, v[2])
		}
		clear(members.Labels)
		clear(z.Labels)
		bank = features.BankOf(members, 3)
		f.Keep(z, bank)
		if v = f.LeaveOut(v, z, bank, func(int) []int { return nil }); v[0].Known() {
			t.Errorf("%s: a lone class: %+v", c.Scorer, v[0])
		}
	}
}

// Observing changes neither scores nor decisions, and not every filter supports it.
func TestObserveChangesNothing(t *testing.T) {
	for _, e := range Catalog {
		r := rand.New(rand.NewPCG(4, 4))
		w, _ := newWorld(r, 8, 4, 20, 60, 1, 0.3)
		c := Default()
		c.Scorer, c.AvgSimSteps = e.Name, 2
		env := Env{Dim: 8, Classes: 4, Proxies: w.proxies, PerClass: w.perClass}
		plain, err := New(c, env)
		if err != nil {
			t.Fatal(err)
		}
		watched, err := New(c, env)
		if err != nil {
			t.Fatal(err)
		}
		if can := watched.Observe(); can != (e.Name == "vmf" || e.Name == "avgsim") {
			t.Errorf("%s: observes: %v", e.Name, can)
		}
		bank := features.BankOf(w.members, 4)
		for i := range 5 {
			kept, scores := plain.Keep(w.z, bank)
			keptToo, scoresToo := watched.Keep(w.z, bank)
			equal(t, i, "kept", keptToo, kept)
			equal(t, i, "scores", scoresToo, scores)
		}
	}
}

// BenchmarkLeaveOut measures what the verdicts of a batch of 64 add to its scores, with 100 classes in 512
// dimensions and one own member each.
func BenchmarkLeaveOut(b *testing.B) {
	const dim, classes, batch = 512, 100, 64
	r := rand.New(rand.NewPCG(1, 1))
	w, _ := newWorld(r, dim, classes, batch, 5000, 1, 0.3)
	bank := features.BankOf(w.members, classes)
	for _, c := range leaveOutConfigs()[:2] {
		f := mustFilter(c, dim, classes)
		b.Run(c.Scorer+"/keep", func(b *testing.B) {
			for b.Loop() {
				f.Keep(w.z, bank)
			}
		})
		g := mustFilter(c, dim, classes)
		g.Observe()
		b.Run(c.Scorer+"/keep, observing", func(b *testing.B) {
			for b.Loop() {
				g.Keep(w.z, bank)
			}
		})
		var list []Verdict
		own := make([][]int, batch)
		for i, y := range w.z.Labels {
			own[i] = []int{slices.Index(w.members.Labels, y)}
		}
		b.Run(c.Scorer+"/leave out", func(b *testing.B) {
			for b.Loop() {
				list = g.LeaveOut(list, w.z, bank, func(i int) []int { return own[i] })
			}
		})
	}
}
