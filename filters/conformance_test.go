package filters

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"winnow/features"
)

// maker builds a scorer for a world.
type maker func(world) Scorer

// conform checks the properties that every scorer must have. It returns a description of the first violation, or "".
func conform(entry Entry, build maker) string {
	for _, check := range []func(Entry, maker) string{
		checkInvariance, checkMeaning, checkOwn, checkReuse, checkDegenerate,
	} {
		if why := check(entry, build); why != "" {
			return why
		}
	}
	return ""
}

// differ compares two lists of scores to the precision of float32, which is coarse for log densities above 100.
func differ(what string, got, want []float64) string {
	for i := range want {
		if !isNear(got[i], want[i], 1e-3, 1e-4) {
			return fmt.Sprintf("%s: score %d is %v, expected %v", what, i, got[i], want[i])
		}
	}
	return ""
}

func checkInvariance(_ Entry, build maker) string {
	r := rand.New(rand.NewPCG(1, 1))
	w, _ := newWorld(r, 24, 5, 30, 60, 0.6, 0.4)
	want := build(w).Score(nil, w.z, w.bank(), false)
	renamed := w.renamed(r)
	if why := differ("renaming classes", build(renamed).Score(nil, renamed.z, renamed.bank(), false), want); why != "" {
		return why
	}
	rotated := w.rotated(r)
	if why := differ("rotating everything", build(rotated).Score(nil, rotated.z, rotated.bank(), false),
		want); why != "" {
		return why
	}
	order := r.Perm(w.z.Len())
	back := make([]float64, len(order))
	for i, s := range build(w).Score(nil, w.z.Rows(order), w.bank(), false) {
		back[order[i]] = s
	}
	if why := differ("permuting rows", back, want); why != "" {
		return why
	}
	shuffled := w
	shuffled.members = w.members.Rows(r.Perm(w.members.Len()))
	return differ("permuting the bank", build(w).Score(nil, w.z, shuffled.bank(), false), want)
}

// checkMeaning checks that scores differ and are larger for right labels, and that probabilities lie in [0, 1] and
// agree with their log odds.
func checkMeaning(entry Entry, build maker) string {
	w, right := newWorld(rand.New(rand.NewPCG(2, 2)), 24, 5, 80, 80, 0.8, 0.3)
	s := build(w)
	scores := s.Score(nil, w.z, w.bank(), false)
	if a := auroc(scores, right); !(a > 0.7) {
		return fmt.Sprintf("right and wrong labels are told apart with an AUROC of %.3f", a)
	}
	if !entry.Probability {
		return ""
	}
	ranker, ok := s.(Ranker)
	if !ok {
		return "a probability without log odds"
	}
	for i, o := range ranker.LogOdds(nil, w.z, w.bank(), false) {
		if scores[i] < 0 || scores[i] > 1 || !isNear(scores[i], 1/(1+math.Exp(-o)), 1e-9, 0) {
			return fmt.Sprintf("P is %v with log odds of %v", scores[i], o)
		}
	}
	return ""
}

// checkOwn checks that members score the same with own as with a bank that never contained them.
func checkOwn(entry Entry, build maker) string {
	for seed := range uint64(3) {
		r := rand.New(rand.NewPCG(3, seed))
		w, _ := newWorld(r, 12, 6, 1, []int{40, 9, 2}[seed], 0.7, 0.3) // many members; pairs; one pair
		got := build(w).Score(nil, w.members, features.BankOf(w.members, w.classes), true)
		for i := range w.members.Len() {
			rest := w.without(i)
			want := build(rest).Score(nil, rest.z, rest.bank(), false)
			if entry.Name == "batch_positive" { // uses its batch, here the whole set
				want = got[i : i+1]
			}
			if why := differ(fmt.Sprintf("%d members, own row %d", w.members.Len(), i), got[i:i+1], want); why != "" {
				return why
			}
		}
	}
	return ""
}

// checkReuse checks that dst is reused, that no state of another batch or bank remains, and that inputs are unchanged.
func checkReuse(_ Entry, build maker) string {
	r := rand.New(rand.NewPCG(4, 4))
	a, _ := newWorld(r, 12, 4, 20, 30, 0.7, 0.3)
	b := a
	b.members, _ = a.draw(r, 50, 0.1)
	b.z, _ = a.draw(r, 7, 0.1)
	s, bankA := build(a), a.bank()
	before := slices.Clone(a.z.X.Data)
	want := s.Score(nil, a.z, bankA, false)
	s.Score(nil, b.z, b.bank(), false)
	dst := make([]float64, 64)
	again := s.Score(dst, a.z, bankA, false)
	if len(again) != a.z.Len() || &again[0] != &dst[0] {
		return "dst was not used"
	}
	if !slices.Equal(again, want) {
		return "the second time the scores differ"
	}
	if !slices.Equal(before, a.z.X.Data) {
		return "the batch was changed"
	}
	bankA.Push(b.members)
	fresh := build(a).Score(nil, a.z, bankA, false)
	if !slices.Equal(s.Score(nil, a.z, bankA, false), fresh) {
		return "what was kept of a bank did not follow it"
	}
	return ""
}

// checkDegenerate checks that no score is NaN, and that a label that cannot be scored gets 1.
func checkDegenerate(entry Entry, build maker) string {
	for name, w := range degenerate() {
		for _, own := range []bool{false, true} {
			z, bank := w.z, w.bank()
			if own {
				z = w.members
			}
			for i, s := range build(w).Score(nil, z, bank, own) {
				if math.IsNaN(s) || s < -1.0001 || s > 1.0001 || entry.Probability && s < 0 {
					return fmt.Sprintf("%s (own %v): score %d is %v", name, own, i, s)
				}
				alone := bank.Count(z.Labels[i]) == 0 || own && bank.Count(z.Labels[i]) == 1
				if alone && entry.NeedsBank && s != 1 {
					return fmt.Sprintf("%s (own %v): nothing is known of class %d, but score %d is %v", name, own,
						z.Labels[i], i, s)
				}
			}
		}
	}
	return ""
}

func degenerate() map[string]world {
	r := rand.New(rand.NewPCG(5, 5))
	worlds := map[string]world{}
	add := func(name string, classes, batch, members int, change func(*world)) {
		w, _ := newWorld(r, 8, classes, batch, members, 0.7, 0.3)
		if change != nil {
			change(&w)
		}
		worlds[name] = w
	}
	same := func(z features.Set) {
		for i := range z.Len() {
			copy(z.Row(i), z.Row(0))
		}
	}
	add("empty bank", 3, 6, 0, nil)
	add("empty batch", 3, 0, 6, nil)
	add("one class", 1, 6, 6, nil)
	add("one class, one member", 1, 2, 1, nil)
	add("one row, one member of another class", 2, 1, 1, func(w *world) { w.z.Labels[0], w.members.Labels[0] = 1, 0 })
	add("one pair", 4, 6, 2, nil)
	add("only singles", 4, 6, 4, func(w *world) { copy(w.members.Labels, []int{0, 1, 2, 3}) })
	add("duplicates", 3, 6, 12, func(w *world) { same(w.members); same(w.z) })
	add("batch is the bank's vector", 3, 4, 12, func(w *world) { same(w.members); copy(w.z.X.Data, w.members.X.Data) })
	add("opposite vectors", 2, 6, 4, func(w *world) {
		copy(w.members.Labels, []int{0, 0, 1, 1})
		for _, i := range []int{1, 3} {
			for j, x := range w.members.Row(i - 1) {
				w.members.Row(i)[j] = -x
			}
		}
	})
	add("opposite to its class", 2, 1, 8, func(w *world) {
		same(w.members)
		for j, x := range w.members.Row(0) {
			w.z.Row(0)[j] = -x
		}
	})
	add("zero proxies", 3, 6, 6, func(w *world) { clear(w.proxies.Data) })
	return worlds
}

// options holds variants of the scorers, which must have the same properties.
var options = map[string]map[string]func(*Config){
	"vmf": {
		"printed": func(c *Config) { c.Printed = true },
		"sra":     func(c *Config) { c.Kappa = "sra" },
		"all":     func(c *Config) { c.Denominator = DenominatorAll },
	},
	"avgsim":        {"all": func(c *Config) { c.Denominator = DenominatorAll }},
	"avgsim_direct": {"all": func(c *Config) { c.Denominator = DenominatorAll }},
}

func TestConformance(t *testing.T) {
	for _, entry := range everyEntry {
		variants := map[string]func(*Config){"default": nil}
		for name, option := range options[entry.Name] {
			variants[name] = option
		}
		for name, option := range variants {
			t.Run(entry.Name+"/"+name, func(t *testing.T) {
				if why := conform(entry, func(w world) Scorer { return w.build(t, entry.Name, option) }); why != "" {
					t.Error(why)
				}
			})
		}
	}
}

func TestExpUnit(t *testing.T) {
	for x := -1.1; x <= 1.1; x += 1e-3 {
		near(t, "e^x", expUnit(x), math.Exp(x), 1e-13, 0)
	}
}

// AvgSim gives the same scores with and without centres, up to rounding (PRISM, eq. 7 = eq. 2).
func TestCentresChangeNothing(t *testing.T) {
	w, _ := newWorld(rand.New(rand.NewPCG(7, 7)), 64, 20, 64, 500, 0.3, 0.5)
	bank := w.bank()
	nearAll(t, "P", (&AvgSim{}).Score(nil, w.z, bank, false), (&AvgSimDirect{}).Score(nil, w.z, bank, false), 1e-6, 0)
	nearAll(t, "P", (&AvgSim{}).Score(nil, w.members, bank, true), (&AvgSimDirect{}).Score(nil, w.members, bank, true),
		1e-6, 0)
}

// A set larger than one block gets the same scores as its rows one by one.
func TestBlocksAgreeWithRows(t *testing.T) {
	w, _ := newWorld(rand.New(rand.NewPCG(8, 8)), 3, 40, 3000, 600, 0.9, 0.2)
	s, bank := &AvgSimDirect{}, w.bank()
	got := s.Score(nil, w.z, bank, false)
	if w.z.Len() <= blockEntries/bank.Len() {
		t.Fatal("the set fits into one block, so this test cannot fail")
	}
	for i := 0; i < w.z.Len(); i += 97 {
		near(t, "P", s.Score(nil, w.z.Rows([]int{i}), bank, false)[0], got[i], 1e-6, 0)
	}
}
