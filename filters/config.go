package filters

import (
	"fmt"
	"maps"
	"slices"

	"winnow/features"
	"winnow/internal/catalog"
)

// Names of thresholds and other settings.
const (
	ThresholdMedian = "median" // median over the last Window batches of the Rate-quantile, in log odds: [Quantile]
	ThresholdTRM    = "trm"    // the Rate-quantile of the batch
	ThresholdPaper  = "paper"  // sTRM as published (PRISM, eq. 15), a mean of probabilities: [TopR]; Window 1: TRM
	ThresholdFixed  = "fixed"  // the number Fixed

	DenominatorMembers = "members"
	DenominatorAll     = "all"
)

var thresholds = []string{ThresholdMedian, ThresholdTRM, ThresholdPaper, ThresholdFixed}

// RenameThreshold returns the present name of a threshold: the median was called strm, the paper's name of its own
// threshold.
func RenameThreshold(name string) string {
	if name == "strm" {
		return ThresholdMedian
	}
	return name
}

// Config names a filter and its settings. [Default] returns the settings of the PRISM paper. Settings that the chosen
// scorer or threshold does not use are ignored.
type Config struct {
	Scorer    string `yaml:"scorer" json:"scorer"`       // a name of the catalog
	Threshold string `yaml:"threshold" json:"threshold"` // median, trm, paper or fixed
	// Rate is the share of rows to drop: the estimated noise rate, in [0, 1). All thresholds except fixed use it.
	Rate        float64 `yaml:"rate" json:"rate"`
	Window      int     `yaml:"window" json:"window,omitempty"`             // median, paper: batches combined, τ ≥ 1
	Fixed       float64 `yaml:"fixed" json:"fixed,omitempty"`               // fixed: keep scores > Fixed, in [0, 1)
	WarmUp      int     `yaml:"warm_up" json:"warm_up"`                     // iterations that keep all rows
	AvgSimSteps int     `yaml:"avgsim_steps" json:"avgsim_steps,omitempty"` // vmf: initial iterations scored by AvgSim
	Kappa       string  `yaml:"kappa" json:"kappa,omitempty"`               // vmf: banerjee or sra
	Denominator string  `yaml:"denominator" json:"denominator,omitempty"`   // members or all
	// Printed selects the variant of the scorer that is printed in its paper (Entry.Printed).
	Printed bool `yaml:"-" json:"printed,omitempty"`
}

// Default returns vMF-Sim with the settings of the authors' code: rate 0.5 and a window of 30 (over log odds, which is
// our choice). The 1,500 iterations of AvgSim are from Fig. 2 of the PRISM paper and too many for a short training.
func Default() Config {
	return Config{
		Scorer: "vmf", Threshold: ThresholdMedian, Rate: 0.5, Window: 30, Fixed: 0.5,
		AvgSimSteps: 1500, Kappa: "banerjee", Denominator: DenominatorMembers,
	}
}

// Env describes the training in which a filter is used.
type Env struct {
	Dim, Classes int
	Proxies      *features.Param // proxies of the loss, (Classes·PerClass)×Dim; nil if there are none
	PerClass     int
}

// Validate checks every field and their combination.
func (c Config) Validate() error {
	entry, err := Find(c.Scorer)
	if err != nil {
		return err
	}
	for _, choice := range []struct {
		key, value string
		known      []string
	}{
		{"threshold", RenameThreshold(c.Threshold), thresholds},
		{"kappa", c.Kappa, slices.Sorted(maps.Keys(estimators))},
		{"denominator", c.Denominator, denominator.Choices},
	} {
		if err := catalog.Check("filters: "+choice.key, choice.value, choice.known...); err != nil {
			return err
		}
	}
	check := catalog.Checker{Where: "filters"}
	check.That(c.Rate >= 0 && c.Rate < 1, "rate", c.Rate, "a share from 0 to below 1")
	check.That(c.Fixed >= 0 && c.Fixed < 1, "fixed", c.Fixed, "a probability or a cosine from 0 to below 1")
	check.That(c.Window >= 1, "window", c.Window, "1 or more batches")
	check.That(c.WarmUp >= 0, "warm_up", c.WarmUp, "0 or more iterations")
	check.That(c.AvgSimSteps >= 0, "avgsim_steps", c.AvgSimSteps, "0 or more iterations")
	if check.Err == nil && c.Threshold == ThresholdFixed && !entry.FixedBar {
		return fmt.Errorf("filters: threshold %q with scorer %q: the scores have no fixed scale, expected %s, %s or %s",
			c.Threshold, c.Scorer, ThresholdMedian, ThresholdTRM, ThresholdPaper)
	}
	return check.Err
}

// New builds the filter described by c. With a fixed threshold, the initial iterations of vMF-Sim, scored by AvgSim,
// use the published sTRM with Rate and Window, because AvgSim's scores have no fixed scale.
func New(c Config, env Env) (*Filter, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	entry, err := Find(c.Scorer)
	if err != nil {
		return nil, err
	}
	c.Scorer = entry.Name // spelled as in the catalog
	if err := env.checkEnv(entry); err != nil {
		return nil, err
	}
	f := &Filter{entry: entry, config: c, scorer: entry.build(c, env), cutoff: c.chooseCutoff(),
		seen: make([]bool, env.Classes)}
	_, f.byOdds = f.cutoff.(*Quantile)
	if vmf, ok := f.scorer.(*VMF); ok {
		f.early, f.earlyCutoff = &AvgSim{All: vmf.All}, f.cutoff
		if c.Threshold == ThresholdFixed {
			f.earlyCutoff = &TopR{Rate: c.Rate, Size: c.Window}
		}
		f.isEarly = true
	}
	return f, nil
}

func (c Config) chooseCutoff() Cutoff {
	switch c.Threshold {
	case ThresholdFixed:
		return &Fixed{M: c.Fixed}
	case ThresholdPaper:
		return &TopR{Rate: c.Rate, Size: c.Window}
	case ThresholdTRM:
		return &Quantile{Rate: c.Rate, Size: 1}
	}
	return &Quantile{Rate: c.Rate, Size: c.Window}
}

// checkEnv returns an error if a scorer cannot work in this training.
func (e Env) checkEnv(entry Entry) error {
	switch {
	case e.Dim < max(1, entry.LeastDim) || e.Classes < 1:
		return fmt.Errorf("filters: scorer %q: %d classes of dimension %d, expected at least 1 class and dimension %d",
			entry.Name, e.Classes, e.Dim, max(1, entry.LeastDim))
	case !entry.NeedsProxy:
		return nil
	case e.Proxies == nil:
		return fmt.Errorf("filters: scorer %q needs a loss with proxies, but this loss has none", entry.Name)
	case e.PerClass < 1 || e.Proxies.Rows != e.Classes*e.PerClass || e.Proxies.Cols != e.Dim:
		return fmt.Errorf("filters: scorer %q: the loss has %d×%d proxies, expected %d classes of %d and dimension %d",
			entry.Name, e.Proxies.Rows, e.Proxies.Cols, e.Classes, e.PerClass, e.Dim)
	}
	return nil
}
