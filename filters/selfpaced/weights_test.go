package selfpaced

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/features"
)

// mislabelled returns a cloud of classes in which a share of the labels is changed; bad marks the changed labels.
func mislabelled(share, noise float64, rng *rand.Rand) (z features.Set, bad []bool) {
	const classes = 8
	z = cloud(400, 16, classes, noise, rng)
	bad = make([]bool, z.Len())
	for i := range bad {
		if rng.Float64() < share {
			bad[i] = true
			z.Labels[i] = (z.Labels[i] + 1 + rng.IntN(classes-1)) % classes
		}
	}
	return z, bad
}

// TestWeightsFindWrongLabels: for each seed, wrong labels have smaller weights than right labels, most of the excluded
// samples have wrong labels, and a converged round leaves few weights between 0 and 1. auroc is the probability that a
// right label weighs more than a wrong label.
func TestWeightsFindWrongLabels(t *testing.T) {
	for name, c := range map[string]struct {
		change    func(*Config)
		auroc     float64
		converges bool
	}{
		"default": {func(*Config) {}, 0.88, true},
		"spms":    {func(c *Config) { c.Mu = 0 }, 0.88, true},
		"printed": {func(c *Config) { c.Printed, c.Rate = true, 5 }, 0.88, true},
		"drawn":   {func(c *Config) { c.Classes, c.PerClass, c.Rate, c.Visits = 5, 5, 0.05, 20 }, 0.88, false},
		"hard":    {func(c *Config) { c.Hard, c.Lambda = true, 0 }, 0.75, true},
		"sampled": {func(c *Config) { c.Complete, c.References = 0, 100 }, 0.88, true},
	} {
		for seed := range uint64(3) {
			rng := rand.New(rand.NewPCG(seed, 9))
			z, bad := mislabelled(0.3, 0.6, rng)
			config := Default()
			config.Lambda, config.LambdaMax = 4, 4
			c.change(&config)
			w, err := New(config, z)
			if err != nil {
				t.Fatal(err)
			}
			round, err := w.Update(z, rng)
			if err != nil {
				t.Fatal(err)
			}
			if round.Objective > round.Before {
				t.Errorf("%s, seed %d: the objective rose from %v to %v", name, seed, round.Before, round.Objective)
			}
			if got := auroc(w.All(), bad); got < c.auroc {
				t.Errorf("%s, seed %d: AUROC %.3f, expected at least %v; %+v", name, seed, got, c.auroc, round)
			}
			wrong, excluded := 0, 0
			for i, v := range w.All() {
				if v == 0 {
					excluded++
					if bad[i] {
						wrong++
					}
				}
			}
			if middle := z.Len() - round.Excluded - round.Full; round.Converged != c.converges ||
				c.converges && (middle > 20 || round.Excluded < 60 || round.Full < 200) {
				t.Errorf("%s, seed %d: %d of %d weights between 0 and 1; %+v", name, seed, middle, z.Len(), round)
			}
			if excluded != round.Excluded || excluded > 0 && c.auroc >= 0.9 && float64(wrong) < 0.8*float64(excluded) {
				t.Errorf("%s, seed %d: %v of %v excluded are wrong, Round.Excluded is %d", name, seed, wrong, excluded,
					round.Excluded)
			}
		}
	}
}

func auroc(w []float64, bad []bool) float64 {
	won, all := 0.0, 0.0
	for i, v := range w {
		for j, u := range w {
			if !bad[i] && bad[j] {
				all++
				switch {
				case v > u:
					won++
				case v == u:
					won += 0.5
				}
			}
		}
	}
	return won / all
}

// TestRounds: λ starts at the value given by Start and rises to its limit, and a resumed run is bit-identical.
func TestRounds(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	z, _ := mislabelled(0.2, 0.6, rng)
	config := Default()
	config.Growth, config.Mu, config.LambdaMax = 1.3, 0.5, 8
	var rounds [2][]Round
	var weights [2][]float64
	for run := range rounds {
		w, err := New(config, z)
		if err != nil {
			t.Fatal(err)
		}
		for k := range 6 {
			if run == 1 && k == 3 {
				state := w.State()
				if w, err = New(config, z); err != nil {
					t.Fatal(err)
				}
				if err := w.SetState(state); err != nil {
					t.Fatal(err)
				}
			}
			r, err := w.Update(z, rand.New(rand.NewPCG(7, uint64(k))))
			if err != nil {
				t.Fatal(err)
			}
			rounds[run] = append(rounds[run], r)
		}
		weights[run] = w.All()
	}
	if diff := cmp.Diff(rounds[0], rounds[1]); diff != "" || !cmp.Equal(weights[0], weights[1]) {
		t.Errorf("the resumed run differs:\n%s", diff)
	}
	l := completeLosses(config, z.X, newGrouping(z.Labels))
	ones := make([]float64, z.Len())
	for i := range ones {
		ones[i] = 1
	}
	p := newProblem(newGrouping(z.Labels), l, 0, 0, ones)
	below := 0
	for i := range ones {
		if g := p.exactGradient(i); g.positive+g.negative <= rounds[0][0].Lambda {
			below++
		}
	}
	if want := int(math.Ceil(0.6 * float64(z.Len()))); below != want {
		t.Errorf("%d samples at or below the first λ, expected %d", below, want)
	}
	for k, r := range rounds[0][1:] {
		if want := min(config.LambdaMax, 1.3*rounds[0][k].Lambda); math.Abs(r.Lambda-want) > 1e-12 || r.Number != k+2 {
			t.Errorf("round %d: λ %v, expected %v", r.Number, r.Lambda, want)
		}
	}
	if last := rounds[0][5]; last.Lambda != config.LambdaMax {
		t.Errorf("λ is %v at the end, expected its limit", last.Lambda)
	}
}

// TestWeightsComeBack: weights that are all 0 rise again if λ is large.
func TestWeightsComeBack(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 9))
	z, _ := mislabelled(0, 0.6, rng)
	config := Default()
	config.Lambda = 2
	w, err := New(config, z)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.SetState(State{Weights: make([]float64, z.Len()), Lambda: 2, Rounds: 4}); err != nil {
		t.Fatal(err)
	}
	r, err := w.Update(z, rng)
	if err != nil || r.Number != 5 || r.Before != 0 || r.Mean < 0.3 {
		t.Errorf("found %+v, %v", r, err)
	}
}

// TestOf: Of and ByID return the weights by the IDs of the training set.
func TestOf(t *testing.T) {
	z := cloud(4, 3, 2, 1, rand.New(rand.NewPCG(1, 1)))
	z.IDs = []int{40, 7, 11, 3}
	w, err := New(Default(), z)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.SetState(State{Weights: []float64{0.1, 0.2, 0.3, 0.4}}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]float64{0.3, 0.1, 0.3}, w.Of(nil, []int{11, 40, 11})); diff != "" {
		t.Error(diff)
	}
	byID := w.ByID(make([]float64, 2)) // extended to the largest ID
	for id, v := range byID {
		want := 1.0
		if at := slices.Index(z.IDs, id); at >= 0 {
			want = float64(at+1) / 10
		}
		if v != want {
			t.Errorf("by id %d: %v, expected %v", id, v, want)
		}
	}
	if len(byID) != 41 {
		t.Errorf("%d weights by id, expected 41", len(byID))
	}
	defer func() {
		if recover() == nil {
			t.Error("no panic for an unknown id")
		}
	}()
	w.Of(nil, []int{5})
}

func TestDoors(t *testing.T) {
	z := cloud(6, 3, 2, 1, rand.New(rand.NewPCG(1, 1)))
	nan := math.NaN()
	for want, change := range map[string]func(*Config){
		"base: found 2":  func(c *Config) { c.Base = 2 },
		"alpha: found 0": func(c *Config) { c.Alpha = 0 },
		"beta: found 301, expected above 0 and at most 300": func(c *Config) { c.Beta = 301 },
		"beta: found NaN":                 func(c *Config) { c.Beta = nan },
		"mu: found -1":                    func(c *Config) { c.Mu = -1 },
		"lambda: found -1":                func(c *Config) { c.Lambda = -1 },
		"start: found 0":                  func(c *Config) { c.Start = 0 },
		"growth: found 0.9":               func(c *Config) { c.Growth = 0.9 },
		"lambda_max: found +Inf":          func(c *Config) { c.LambdaMax = math.Inf(1) },
		"rate: found 0":                   func(c *Config) { c.Rate = 0 },
		"tolerance: found -1":             func(c *Config) { c.Tolerance = -1 },
		"visits: found 0":                 func(c *Config) { c.Visits = 0 },
		"classes, per_class: found [0 5]": func(c *Config) { c.PerClass = 5 },
		"complete: found -1":              func(c *Config) { c.Complete = -1 },
		"references: found 0":             func(c *Config) { c.References = 0 },
	} {
		c := Default()
		change(&c)
		if _, err := New(c, z); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("found %v, expected %q", err, want)
		}
	}
	without, twice := cloud(6, 3, 2, 1, rand.New(rand.NewPCG(1, 1))), cloud(6, 3, 2, 1, rand.New(rand.NewPCG(1, 1)))
	without.Labels[4], twice.IDs[5] = features.Unlabelled, 2
	below := cloud(6, 3, 2, 1, rand.New(rand.NewPCG(1, 1)))
	below.IDs[1] = -3
	for want, set := range map[string]features.Set{"row 1 has the id -3": below, "row 4 has no label": without,
		"rows 2 and 5 have the same id, 2": twice, "0 samples": {}} {
		if _, err := New(Default(), set); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("found %v, expected %q", err, want)
		}
	}
	w, err := New(Default(), z)
	if err != nil {
		t.Fatal(err)
	}
	other, long, bad := z.Rows([]int{0, 1, 2, 3, 4, 5}), z.Rows([]int{0, 1, 2, 3, 4, 5}),
		z.Rows([]int{0, 1, 2, 3, 4, 5})
	other.Labels[0]++
	long.Row(2)[0] += 1
	bad.Row(3)[1] = float32(nan)
	for want, set := range map[string]features.Set{"expected the 6": other, "5 rows": z.Rows([]int{0, 1, 2, 3, 4}),
		"do not have length 1": long, "embeddings do not have length 1": bad} {
		if _, err := w.Update(set, rand.New(rand.NewPCG(1, 1))); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("found %v, expected %q", err, want)
		}
	}
	for want, s := range map[string]State{
		"5 weights, expected 6": {Weights: make([]float64, 5)},
	} {
		if err := w.SetState(s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("found %v, expected %q", err, want)
		}
	}
}

// Of returns the weights of samples by their IDs. An unknown ID is a bug in the caller and panics.
func (w *Weights) Of(dst []float64, ids []int) []float64 {
	dst = slices.Grow(dst[:0], len(ids))
	for _, id := range ids {
		row, ok := w.rowOf[id]
		if !ok {
			panic(fmt.Sprintf("selfpaced: id %d is not in the training set", id))
		}
		dst = append(dst, w.w[row])
	}
	return dst
}
