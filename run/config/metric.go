package config

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"winnow/filters"
	"winnow/losses"
)

// Metric is the method that trains by metric learning losses and a filter.
const Metric = "metric"

// MetricLearning holds the settings of the method [Metric].
type MetricLearning struct {
	Losses       []Loss    `yaml:"losses"`
	Bank         Bank      `yaml:"bank"`
	Filter       Filter    `yaml:"filter"`
	SelfPaced    SelfPaced `yaml:"selfpaced"`     // self-paced weights of samples
	PaperVariant bool      `yaml:"paper_variant"` // use the formulas of losses, filter and weights as printed in papers
}

// defaultMetric returns PRISM: memory contrastive loss and vMF-Sim.
func defaultMetric() MetricLearning {
	return MetricLearning{
		Losses: []Loss{
			{Name: "contrastive", Weight: 1, Against: AgainstBatch},
			{Name: "contrastive", Weight: 1, Against: AgainstBank},
		},
		Bank:      Bank{Size: 8192},
		Filter:    Filter{Config: filters.Default(), Rate: Rate{Auto: true}, AvgSim: Epochs(2)},
		SelfPaced: defaultSelfPaced(),
	}
}

// refuseMetric returns an error if another method has settings of the method metric.
func (c *Run) refuseMetric() error {
	switch {
	case len(c.Losses) > 0, c.Bank.Size != 0, c.Filter.Scorer != NoFilter, c.Sampler.Views > 1, c.SelfPaced.On():
		return fmt.Errorf("method: %s has its own loss and chooses rows itself: expected no losses, bank, filter, "+
			"views or self-paced weights", c.Method)
	case c.Finetune.On() && c.IsSelective() && c.Finetune.Augment == NoAugmentation:
		return fmt.Errorf("finetune.augment: found %s, expected the name of a recipe: %s compares two views of each "+
			"image, which would be equal", NoAugmentation, c.Method)
	}
	return nil
}

// Loss is one term of the objective.
type Loss struct {
	Name     string         `yaml:"name"`
	Weight   float64        `yaml:"weight"`
	Against  string         `yaml:"against"` // batch or bank
	Start    Span           `yaml:"start"`   // span in which the term is 0
	Settings map[string]any `yaml:"settings"`
}

// Values of Loss.Against: the batch is compared with itself or with the memory bank.
const (
	AgainstBatch = "batch"
	AgainstBank  = "bank"
)

func (l *Loss) setDefaults() { *l = Loss{Weight: 1, Against: AgainstBatch} }

// Term returns the name of the loss in the metrics.
func (l Loss) Term() string {
	if l.Against == AgainstBank {
		return l.Name + ":bank"
	}
	return l.Name
}

// Bank holds the settings of the memory bank.
type Bank struct {
	Size int  `yaml:"size"` // number of embeddings; 0: no bank
	Fill bool `yaml:"fill"` // start with embeddings of training images by the untrained head; false: empty
}

// NoFilter is the scorer of a run that keeps every row.
const NoFilter = "none"

// Filter is a [filters.Config] whose lengths are spans.
type Filter struct {
	filters.Config `yaml:",inline" hide:"rate warm_up avgsim_steps"`

	Rate   Rate `yaml:"rate"`    // share to drop: the estimated noise rate
	WarmUp Span `yaml:"warm_up"` // span in which every row is kept
	AvgSim Span `yaml:"avgsim"`  // vmf: span in which AvgSim scores
}

// In returns the filter's configuration with spans converted to steps. An unknown rate becomes an invalid number.
func (f Filter) In(stepsPerEpoch int) filters.Config {
	c := f.Config
	c.Rate, c.WarmUp, c.AvgSimSteps = f.Rate.getShareOrUnknown(), f.WarmUp.In(stepsPerEpoch), f.AvgSim.In(stepsPerEpoch)
	return c
}

// parseLoss parses a flag value: NAME, NAME:bank for the memory bank, or with a weight NAME:0.5 or NAME:bank:0.5.
func parseLoss(text string) (Loss, error) {
	var l Loss
	l.setDefaults()
	parts := strings.Split(text, ":")
	l.Name, parts = parts[0], parts[1:]
	if l.Name == "" {
		return l, fmt.Errorf("%q: found no name, expected NAME, NAME:bank, NAME:WEIGHT or NAME:bank:WEIGHT", text)
	}
	if len(parts) > 0 && (parts[0] == AgainstBank || parts[0] == AgainstBatch) {
		l.Against, parts = parts[0], parts[1:]
	}
	if len(parts) > 0 {
		w, err := strconv.ParseFloat(parts[0], 64)
		if err != nil || !(w > 0) || math.IsInf(w, 0) || len(parts) > 1 {
			return l, fmt.Errorf("%q: found %q behind the name, expected %s, a weight above 0, or %[3]s:WEIGHT", text,
				strings.Join(parts, ":"), AgainstBank)
		}
		l.Weight = w
	}
	return l, nil
}

func (c *Run) checkLosses() error {
	if c.Method != Metric {
		return nil
	}
	if len(c.Losses) == 0 {
		return fmt.Errorf("losses: found none, expected at least one")
	}
	terms := map[string]bool{}
	for i := range c.Losses {
		l := &c.Losses[i]
		entry, err := losses.Find(l.Name)
		if err != nil {
			return fmt.Errorf("losses.%d.name: %w", i, err)
		}
		l.Name = entry.Name // as the catalog writes it
		switch {
		case l.Against != AgainstBatch && l.Against != AgainstBank:
			return fmt.Errorf("losses.%d.against: found %q, expected %s or %s", i, l.Against, AgainstBatch, AgainstBank)
		case l.Against == AgainstBank && entry.Against != losses.Both:
			return fmt.Errorf("losses.%d.against: loss %s cannot be compared with the bank: expected %s", i, l.Name,
				AgainstBatch)
		case l.Against == AgainstBank && c.Bank.Size == 0:
			return fmt.Errorf("losses.%d.against: found bank, but bank.size is 0: expected at least 1", i)
		case !(l.Weight > 0) || l.Weight > maxWeight:
			return fmt.Errorf("losses.%d.weight: found %v, expected a number above 0 and up to %g", i, l.Weight,
				float64(maxWeight))
		case terms[l.Term()]:
			return fmt.Errorf("losses.%d: found %s against %s twice", i, l.Name, l.Against)
		}
		terms[l.Term()] = true
		values, err := losses.Resolve(l.Name, l.Settings)
		if err != nil {
			return fmt.Errorf("losses.%d.settings: %w", i, err)
		}
		if swap, _ := values["swap"].(bool); swap && l.Against == AgainstBank {
			return fmt.Errorf("losses.%d.settings.swap: found true against the bank, expected false", i)
		}
		l.Settings = values
		if _, err := losses.New(l.Name, values, newSmallestEnv()); err != nil { // settings that contradict each other
			return fmt.Errorf("losses.%d.settings: %w", i, err)
		}
	}
	return nil
}

// maxWeight is the largest weight of a loss; far larger weights overflow float32 gradients.
const maxWeight = 1e9

// newSmallestEnv returns the smallest environment in which a loss can be made, to check settings.
func newSmallestEnv() losses.Env {
	source := func() *rand.Rand { return rand.New(rand.NewPCG(0, 0)) }
	return losses.Env{Dim: 1, Classes: 2, Init: source(), Step: source}
}

func (c *Run) checkFilter() error {
	c.Filter.Threshold = filters.RenameThreshold(c.Filter.Threshold)
	f := c.Filter.In(1)
	f.Rate = c.Filter.Rate.Share     // 0 until the data are known
	if c.Filter.Scorer == NoFilter { // an audit of the run reads the rest
		f.Scorer = filters.Default().Scorer
	}
	if err := f.Validate(); err != nil || c.Filter.Scorer == NoFilter {
		return err
	}
	entry, err := filters.Find(c.Filter.Scorer)
	if err != nil {
		return err
	}
	c.Filter.Scorer = entry.Name // as the catalog writes it
	if entry.NeedsBank && c.Bank.Size == 0 {
		return fmt.Errorf("filter.scorer: %s scores by the memory bank, but bank.size is 0: expected at least 1",
			c.Filter.Scorer)
	}
	if entry.NeedsProxy && len(c.listProxiedLosses()) == 0 {
		return fmt.Errorf("filter.scorer: %s scores by the proxies of a loss: expected one of %s among the losses",
			c.Filter.Scorer, strings.Join(lossesThat(hasProxies), ", "))
	}
	return nil
}

// listProxiedLosses lists the losses of the run that have proxies.
func (c *Run) listProxiedLosses() []string {
	var names []string
	for _, l := range c.Losses {
		if slices.Contains(lossesThat(hasProxies), l.Name) {
			names = append(names, l.Name)
		}
	}
	return names
}

// lossesThat returns the names of the catalog's losses for which can is true.
func lossesThat(can func(e losses.Entry) bool) []string {
	var names []string
	for _, e := range losses.Catalog {
		if can(e) {
			names = append(names, e.Name)
		}
	}
	return names
}

func hasProxies(e losses.Entry) bool    { return e.Proxied }
func needsNoLabels(e losses.Entry) bool { return e.Unlabelled }

// usesUnlabelled reports whether one of the run's losses learns from rows without a label.
func (c *Run) usesUnlabelled() bool {
	return slices.ContainsFunc(c.Losses, func(l Loss) bool {
		return slices.Contains(lossesThat(needsNoLabels), l.Name)
	})
}
