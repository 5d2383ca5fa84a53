package filters

import (
	"winnow/features"
	"winnow/internal/catalog"
)

// Entry describes one scorer: its name, its requirements, and how it is built.
type Entry struct {
	Name, Title string
	Paper       string // short name of the source
	Equation    string
	Settings    []Setting
	NeedsBank   bool   // needs the memory bank
	NeedsProxy  bool   // needs the proxies of the loss
	Probability bool   // scores are P_clean in [0, 1], not similarities in [-1, 1]; unknown labels score 1
	FixedBar    bool   // a fixed threshold makes sense
	LeastDim    int    // least number of dimensions, if above 1
	Printed     string // change made by Config.Printed; "" if there is none

	build func(Config, Env) Scorer
}

// ByBankAlone reports whether the scorer needs only the memory bank, so that it can score any labelled set with the set
// itself as the bank.
func (e Entry) ByBankAlone() bool { return e.NeedsBank && !e.NeedsProxy }

// Setting is a setting of one scorer, named by its key in the configuration.
type Setting = catalog.Setting

// Ranker is a scorer of probabilities that can also return log(P/(1-P)). The order is the same, but P rounding to 0 or
// 1 causes no ties. LogOdds returns [Unjudged] for a label that cannot be scored. Every catalog entry with Probability
// is a Ranker.
type Ranker interface {
	Scorer
	LogOdds(dst []float64, z features.Set, ref *features.Bank, own bool) []float64
}

// marker is a scorer of similarities that can also return [Unjudged] instead of 1 for a label that cannot be scored.
// Every catalog entry without Probability is a marker.
type marker interface {
	scoreMarked(dst []float64, z features.Set, ref *features.Bank, own bool) []float64
}

// scoreOrders returns the scores that [Quantile] uses.
func scoreOrders(s Scorer, dst []float64, z features.Set, ref *features.Bank) []float64 {
	if r, ok := s.(Ranker); ok {
		return r.LogOdds(dst, z, ref, false)
	}
	return s.(marker).scoreMarked(dst, z, ref, false)
}

const prism = "PRISM (001)"

var denominator = Setting{Name: "denominator", Default: DenominatorMembers,
	Choices: []string{DenominatorMembers, DenominatorAll},
	Doc: "classes in the softmax: members (classes with members in the bank) or all (a class without members is " +
		"a zero vector, as in the authors' code)"}

// Catalog lists the scorers in display order.
var Catalog = []Entry{
	{
		Name: "vmf", Title: "vMF-Sim", Paper: prism, Equation: "Eq. 10-14",
		NeedsBank: true, Probability: true, FixedBar: true,
		LeastDim: 2, // the sphere of R^1 is two points
		Printed:  "kappa banerjee: R(D-R)/(1-R²) (eq. 13)",
		Settings: []Setting{
			{Name: "kappa", Default: "banerjee", Choices: []string{"banerjee", "sra"},
				Doc: "estimator of the concentration: banerjee, or sra (banerjee plus two Newton steps)"},
			{Name: "avgsim_steps", Default: 1500, Doc: "initial iterations scored by AvgSim in place of vMF-Sim"},
			denominator,
		},
		build: func(c Config, _ Env) Scorer {
			kappa := estimators[c.Kappa]
			if c.Printed && c.Kappa == "banerjee" {
				kappa = KappaPrinted
			}
			return &VMF{Kappa: kappa, All: c.Denominator == DenominatorAll}
		},
	},
	{
		Name: "avgsim", Title: "AvgSim", Paper: prism, Equation: "Eq. 2-7",
		NeedsBank: true, Probability: true, Settings: []Setting{denominator},
		build: func(c Config, _ Env) Scorer { return &AvgSim{All: c.Denominator == DenominatorAll} },
	},
	{
		Name: "proxysim", Title: "ProxySim", Paper: prism, Equation: "Eq. 8-9",
		NeedsProxy: true, Probability: true,
		build: func(_ Config, e Env) Scorer { return &ProxySim{Proxies: e.Proxies, PerClass: e.PerClass} },
	},
	{
		Name: "batch_positive", Title: "Batch-positive", Paper: prism, Equation: "Eq. 20",
		build: func(Config, Env) Scorer { return BatchPositive{} },
	},
	{
		Name: "memory_positive", Title: "Memory-positive", Paper: prism, Equation: "Eq. 21",
		NeedsBank: true,
		build:     func(Config, Env) Scorer { return MemoryPositive{} },
	},
}

// Find returns the entry with the given name, including [AvgSimDirect]. Its error lists the catalog.
func Find(name string) (Entry, error) {
	if name == direct.Name {
		return direct, nil
	}
	return catalog.Find("filters: scorer", name, Catalog, func(e Entry) []string { return []string{e.Name} })
}
