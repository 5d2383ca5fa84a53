package losses

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"winnow/features"
)

// subject is a loss under test, with its catalog entry and settings.
type subject struct {
	entry Entry
	given map[string]any // the loss's settings
	build func() Loss    // returns a new loss, always with the same seeds
	exact func() Loss    // the same for the evaluation in float64
}

const (
	conformDim     = 24
	conformClasses = 9
)

// conformInput returns an ordinary PK batch of n rows around class centres. n·n must exceed blockSize.
func conformInput(seed uint64, n int) exactInput {
	rng := rand.New(rand.NewPCG(seed, 7))
	in := exactInput{normalize: true}
	centres := make([][]float64, conformClasses)
	for c := range centres {
		centres[c] = gauss(rng, conformDim)
	}
	for i := range n {
		c := rng.IntN(conformClasses)
		row := gauss(rng, conformDim)
		for k := range row {
			row[k] = 0.8*row[k] + centres[c][k]
		}
		in.z, in.labels, in.ids = append(in.z, row), append(in.labels, c), append(in.ids, i)
	}
	in.z, _ = unit64(in.z)
	return in
}

func gauss(rng *rand.Rand, d int) []float64 {
	row := make([]float64, d)
	for k := range row {
		row[k] = rng.NormFloat64()
	}
	return row
}

// settingVariants returns the default settings, and then the defaults with one changed choice or flag each.
func settingVariants(e Entry) []map[string]any {
	out := []map[string]any{nil}
	for _, s := range e.Settings {
		for _, word := range s.Choices {
			if word != s.Default {
				out = append(out, withCompanions(e.Name, s.Name, word))
			}
		}
		if on, ok := s.Default.(bool); ok {
			out = append(out, map[string]any{s.Name: !on})
		}
	}
	return out
}

// moreVariants lists combinations of settings that settingVariants does not cover.
var moreVariants = map[string][]map[string]any{
	"contrastive_margin": {
		{"distance": "l2", "pos_margin": 0, "neg_margin": 1},
		{"distance": "l2sq", "pos_margin": 0.1, "neg_margin": 1.5},
		{"reduction": "mean", "neg_margin": 0.5},
	},
	"multi_similarity": {{"miner": false, "base": 1}, {"epsilon": 0, "alpha": 5, "beta": 10}},
	"contrastive":      {{"printed": true}},
	"circle":           {{"margin": 0.25, "gamma": 32, "form": "global"}},
	"fastap":           {{"bins": 1}, {"bins": 33}},
	"triplet":          tripletVariants,
	"rdml":             {{"eta": 4.0}, {"eta": 1e-4}, {"eta": 8.0, "distance": "l2"}},
	"soft_triple":      {{"tau": 0.2, "centers": 3}, {"centers": 1, "tau": 0.2}},
	"snr_contrastive":  {{"reg": 0.5}},
	"n_pair":           {{"l2": 0.02}},
	"ntxent":           {{"temperature": 0.5}},
	"supcon": {{"kind": "in", "reduction": "mean_all"},
		{"kind": "in", "temperature": 0.5, "reduction": "avg_nonzero"}},
	"scl_rhe": {
		{"beta": 0.0, "beta_neg": 0.0, "tau": 0.0}, {"beta": 1.0, "beta_neg": 1.0, "printed": true, "tau_p": 0.05,
			"tau_n": 0.0}, {"sign": "printed"},
		{"beta": 0.3, "beta_neg": 2.0, "scale": "inv_k"}, {"printed": true},
		{"beta": 1.0, "beta_neg": 0.25, "temperature": 0.5, "tau_p": 0.75, "tau_n": 0.25},
	},
	"margin": {
		{"learn": "class", "nu": 0.3}, {"learn": "one", "nu": 0.3},
		{"select": "distance_weighted", "learn": "class", "nu": 0.1},
		{"select": "distance_weighted", "far": 3.0},
		{"select": "distance_weighted", "far": 0.9, "otherwise": "uniform"},
		{"margin": 0.0, "beta": 0.0},
	},
	"marginal": {
		{"select": "random_semihard", "reduction": "avg_nonzero"}, {"select": "random_semihard", "margin": 0.0}},
	"auxiliary_pair": {{"w_neg": -1.0, "w_pos": 2.0}, {"w_neg": 0.0}},
	"quadruplet": {{"squared": false, "margin1": 0.2, "margin2": 0.2}, {"margin1": 4.0, "margin2": 4.0},
		{"margin1": 0.0, "margin2": 0.0}},
	"adapted_triplet": {{"lambda": 1.0}, {"lambda": 0.5, "reduction": "sum", "lambda_u": 2.0},
		{"lambda": 0.0, "lambda_u": 3.0}, {"lambda_u": 1.0, "printed": true, "ridge": 0.1}},
}

// drawn reports whether this subject draws random numbers when it is evaluated.
func (s subject) drawn() bool {
	if !s.entry.Draws {
		return false
	}
	switch l := s.exact().(type) {
	case *similarity:
		return l.draw != nil
	case *parametric:
		return l.draw != nil
	}
	return true
}

func catalogSubject(t testing.TB, e Entry, settings map[string]any) subject {
	build := func() Loss { return mustNew(t, e.Name, settings, testEnv(conformDim, conformClasses, 3)) }
	return subject{entry: e, given: settings, build: build, exact: build}
}

func TestConformance(t *testing.T) {
	for _, e := range Catalog {
		for _, settings := range append(settingVariants(e), moreVariants[e.Name]...) {
			t.Run(fmt.Sprint(e.Name, settings), func(t *testing.T) {
				for _, check := range conformChecks {
					if err := check.run(catalogSubject(t, e, settings)); err != nil {
						t.Errorf("%s: %v", check.name, err)
					}
				}
			})
		}
	}
}

var conformChecks = []struct {
	name string
	run  func(subject) error
}{
	{"entry", checkEntry},
	{"value", checkValue},
	{"gradient is overwritten", checkOverwritten},
	{"float32 against float64", checkPrecision},
	{"central differences of similarities", checkSimilarities},
	{"directional difference", checkDirection},
	{"permutation", checkPermutation},
	{"renaming and rotation", checkRotation},
	{"degenerate batches", checkDegenerate},
	{"same image twice", checkSameImage},
	{"repetition", checkRepetition},
	{"not a number", checkNaN},
}

// inputs returns the inputs that the entry allows: a batch against itself, and a batch against a bank.
func (s subject) inputs(seed uint64, n int) []exactInput {
	in := conformInput(seed, n)
	if s.entry.Unlabelled {
		some := conformInput(seed+200, n)
		for i := 0; i < n; i += 5 {
			some.labels[i] = features.Unlabelled
		}
		return []exactInput{in, some}
	}
	if !s.takesBank() {
		return []exactInput{in}
	}
	bank := conformInput(seed+100, n+50)
	with := in
	with.ref, with.refIDs, with.bankIDs = bank.z, bank.labels, bank.ids
	return []exactInput{in, with}
}

// takesBank reports whether the loss, with its settings, can be compared with a bank.
func (s subject) takesBank() bool {
	return s.entry.Against == Both && s.given["swap"] != true
}

func checkEntry(s subject) error {
	l := s.build()
	e := s.entry
	owner, trainable := l.(Trainable)
	if trainable != e.Params {
		return fmt.Errorf("has parameters: %v, expected %v as in the entry", trainable, e.Params)
	}
	if _, proxied := l.(Proxied); proxied != e.Proxied {
		return fmt.Errorf("offers proxies: %v, expected %v as in the entry", proxied, e.Proxied)
	}
	if trainable {
		for _, p := range owner.Params() {
			if p.Name == "" || len(p.Data) != p.Rows*p.Cols || len(p.Grad) != len(p.Data) {
				return fmt.Errorf("parameter %q: %d weights and %d gradients for %d×%d", p.Name, len(p.Data),
					len(p.Grad), p.Rows, p.Cols)
			}
		}
	}
	if _, weighted := l.(Weighted); weighted != e.Weighted {
		return fmt.Errorf("takes weights: %v, expected %v as in the entry", weighted, e.Weighted)
	}
	if e.Name == "" || e.Title == "" || e.Paper == "" || e.Equation == "" || e.Formula == "" {
		return fmt.Errorf("the entry is incomplete: %+v", e)
	}
	for _, setting := range e.Settings {
		if setting.Doc == "" {
			return fmt.Errorf("setting %s has no explanation", setting.Name)
		}
		if len(setting.Each) != 0 && len(setting.Each) != len(setting.Choices) {
			return fmt.Errorf("setting %s explains %d of %d choices", setting.Name, len(setting.Each),
				len(setting.Choices))
		}
		if _, err := setting.Check(setting.Default); err != nil {
			return fmt.Errorf("the default of setting %s: %w", setting.Name, err)
		}
	}
	return nil
}

func checkValue(s subject) error {
	for _, in := range s.inputs(1, 120) {
		with, _ := public(s.build(), in)
		z, ref := in.sets()
		if without := s.build().Eval(nil, z, ref); without != with {
			return fmt.Errorf("%v without gradient, %v with", without, with)
		}
	}
	return nil
}

func (in exactInput) sets() (z features.Set, ref *features.Set) {
	z = matrix32(in.z)
	z.Labels, z.IDs = in.labels, in.ids
	if in.ref != nil {
		r := matrix32(in.ref)
		r.Labels, r.IDs = in.refIDs, in.bankIDs
		ref = &r
	}
	return z, ref
}
