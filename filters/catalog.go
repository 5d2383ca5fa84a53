package filters

import (
	"winnow/features"
	"winnow/internal/catalog"
)

// Entry is one scorer of the catalog: what it is called, what it needs, and how it is built.
type Entry struct {
	Name, Title string
	Paper       string // the source, in short
	Equation    string
	Settings    []Setting
	NeedsBank   bool    // judges against the memory bank
	NeedsAll    bool    // the bank must hold what was shown, and not only what was kept
	NeedsProxy  bool    // judges against the proxies of the loss
	Probability bool    // scores are P_clean in [0, 1]; otherwise similarities in [-1, 1], or 1 where nothing is known
	FixedBar    bool    // a fixed threshold makes sense
	Bar         float64 // the fixed threshold that is taken unless another is named; 0: by rank
	LeastDim    int     // dimensions needed, if more than 1
	Printed     string  // what Config.Printed changes, "" for nothing

	build func(Config, Env) Scorer
}

// ByBankAlone reports whether the scorer needs the memory bank and nothing else, so that it can judge any set of labelled
// vectors by the set itself.
func (e Entry) ByBankAlone() bool { return e.NeedsBank && !e.NeedsProxy }

// Setting is one of a scorer's own settings, by its key in the configuration.
type Setting = catalog.Setting

// Ranker is a scorer of probabilities that can also say log(P/(1-P)): the same order without the ties
// where P rounds to 0 or 1; [Unjudged] where nothing is known against a label. Every entry of the catalog with
// Probability is one.
type Ranker interface {
	Scorer
	LogOdds(dst []float64, z features.Set, ref *features.Bank, own bool) []float64
}

// marker is a scorer of similarities that can also say where nothing is known of a label: [Unjudged] instead of 1. Every
// entry of the catalog without Probability is one.
type marker interface {
	marked(dst []float64, z features.Set, ref *features.Bank, own bool) []float64
}

// orders returns what [Quantile] ranks and averages.
func orders(s Scorer, dst []float64, z features.Set, ref *features.Bank) []float64 {
	if r, ok := s.(Ranker); ok {
		return r.LogOdds(dst, z, ref, false)
	}
	return s.(marker).marked(dst, z, ref, false)
}

const prism = "PRISM (001)"

var denominator = Setting{Name: "denominator", Default: DenominatorMembers,
	Choices: []string{DenominatorMembers, DenominatorAll},
	Doc: "classes that P is divided among: members (those with members in the bank) or all (an unseen one counts as " +
		"a zero vector, as in the authors' code)"}

// Catalog lists the scorers, in the order they are shown.
var Catalog = []Entry{
	{
		Name: "vmf", Title: "vMF-Sim", Paper: prism, Equation: "10-14",
		NeedsBank: true, Probability: true, FixedBar: true,
		LeastDim: 2, // the sphere of R^1 is two points
		Printed:  "kappa banerjee: R(D-R)/(1-R²) (eq. 13)",
		Settings: []Setting{
			{Name: "kappa", Default: "banerjee", Choices: []string{"banerjee", "sra"},
				Doc: "estimate of the concentration: banerjee, or sra (two Newton steps more)"},
			{Name: "debias", Default: false, Doc: "correct the mean length of small classes"},
			{Name: "avgsim_steps", Default: 1500, Doc: "iterations that AvgSim judges before vMF-Sim takes over"},
			{Name: "min_members", Default: 2, Doc: "images from which a class has a concentration of its own"},
			{Name: "max_length", Default: DefaultLimits().Length, Doc: "largest mean length of a class"},
			{Name: "max_kappa", Default: DefaultLimits().Kappa, Doc: "largest concentration"},
			denominator,
		},
		build: func(c Config, _ Env) Scorer {
			kappa := estimators[c.Kappa]
			if c.Printed && c.Kappa == "banerjee" {
				kappa = KappaPrinted
			}
			return &VMF{Kappa: kappa, Debias: c.Debias, All: c.Denominator == DenominatorAll,
				MinMembers: c.MinMembers, Most: Limits{Length: c.MaxLength, Kappa: c.MaxKappa}}
		},
	},
	{
		Name: "avgsim", Title: "AvgSim", Paper: prism, Equation: "2-7",
		NeedsBank: true, Probability: true, Settings: []Setting{denominator},
		build: func(c Config, _ Env) Scorer { return &AvgSim{All: c.Denominator == DenominatorAll} },
	},
	{
		Name: "proxysim", Title: "ProxySim", Paper: prism, Equation: "8-9",
		NeedsProxy: true, Probability: true,
		build: func(_ Config, e Env) Scorer { return &ProxySim{Proxies: e.Proxies, PerClass: e.PerClass} },
	},
	{
		Name: "sub_center", Title: "Dominant sub-centre", Paper: "Deng et al. 2020", Equation: "section 3",
		NeedsBank: true, NeedsProxy: true, FixedBar: true,
		build: func(_ Config, e Env) Scorer { return &SubCenter{Proxies: e.Proxies, PerClass: e.PerClass} },
	},
	{
		Name: "batch_positive", Title: "Batch-positive", Paper: prism, Equation: "20",
		build: func(Config, Env) Scorer { return BatchPositive{} },
	},
	{
		Name: "memory_positive", Title: "Memory-positive", Paper: prism, Equation: "21",
		NeedsBank: true,
		build:     func(Config, Env) Scorer { return MemoryPositive{} },
	},
	{
		Name: "knn", Title: "Vote of neighbours", Paper: "Galanakis et al. 2024", Equation: "code",
		NeedsBank: true, NeedsAll: true, FixedBar: true, Bar: 0.5,
		Settings: []Setting{{Name: "neighbours", Default: 200, Doc: "members of the bank that vote"}},
		build:    func(c Config, _ Env) Scorer { return &KNN{K: c.Neighbours} },
	},
}

// Find returns the catalog's entry of that name, or that of [AvgSimDirect]; the error of an unknown one lists those of the catalog.
func Find(name string) (Entry, error) {
	if name == direct.Name {
		return direct, nil
	}
	return catalog.Find("filters: scorer", name, Catalog, func(e Entry) []string { return []string{e.Name} })
}
