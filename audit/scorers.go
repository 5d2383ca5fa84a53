package audit

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"winnow/audit/crossfit"
	"winnow/audit/judges"
	"winnow/features"
	"winnow/filters"
	"winnow/filters/leaveout"
	"winnow/head"
	"winnow/internal/catalog"
	"winnow/train"
)

// Crossfit as a scorer judges vectors by heads that are trained on the spot.
const Crossfit = "crossfit"

// Trains reports whether a scorer trains heads, and so judges features as they were stored.
func Trains(scorer string) bool { return scorer == Crossfit || scorer == judges.Combined }

// Scorers lists the scorers that judge a set by the set alone.
func Scorers() []string { return append(append(judges.Names(), Crossfit), BankScorers()...) }

// BankScorers lists those of them that are a filter's, with the set as its memory bank. Where a judge has a filter's name, as the
// vote of neighbours, it is the judge.
func BankScorers() []string {
	var names []string
	for _, e := range filters.Catalog {
		if e.ByBankAlone() && !slices.Contains(judges.Names(), e.Name) {
			names = append(names, e.Name)
		}
	}
	return names
}

// Probability reports whether the scores of a scorer are probabilities that a label is right, fit to be added up.
func Probability(scorer string) bool {
	if scorer == Crossfit {
		return true
	}
	if j, err := judges.Find(scorer); err == nil {
		return j.Probability
	}
	e, err := filters.Find(scorer)
	return err == nil && e.Probability
}

// ask asks the scorer about z, unit rows, all labelled. stored holds the same rows, not whitened; start, if not nil,
// whitens them.
func ask(ctx context.Context, z, stored features.Set, start *head.Head, o Options) (verdict judges.Verdict, err error) {
	var by networks
	by.names = o.Names
	defer func() { verdict.Why = by.why(verdict.Why) }()
	heads := crossfit.Options{Folds: o.Folds, Rounds: o.Rounds, Parts: o.Parts, Seed: o.Seed, Told: o.Told, Tune: o.Tune, Chose: by.chose, Start: start}
	if !o.Shared.alone {
		heads.Shared = &o.Shared.heads
	}
	if len(o.Names) > 1 && len(o.Names) == len(o.Parts) {
		heads.Counted = by.count
	}
	if o.Scorer == Crossfit {
		if verdict.Opinion, err = crossfit.Judge(ctx, stored.Labelled(), o.Classes, heads); err != nil {
			return verdict, err
		}
		verdict.Classes, err = sharedBy(z, o.Classes, verdict.Opinion)
		return verdict, err
	}
	if _, err := judges.Find(o.Scorer); err == nil {
		verdict, err = judges.Ask(ctx, z, o.Classes, o.Scorer, judges.Options{
			Neighbours: o.Neighbours, Folds: o.Folds, MaxMem: o.MaxMem, Rand: train.Rand(o.Seed, "judges", 0), Shared: &o.Shared.judges,
			Heads: func(do func(row int, p []float64)) error {
				return crossfit.Probabilities(ctx, stored.Labelled(), o.Classes, heads, do)
			},
		})
		if err == nil && verdict.Blind {
			for i, order := range verdict.Order {
				if !math.IsInf(order, 1) { // is judged
					verdict.Score[i], verdict.Suggested[i], verdict.SuggestedScore[i] = 0.5, z.Labels[i], 0.5
				}
			}
		}
		return verdict, err
	}
	scorer, err := filterScorer(z.Dim(), o)
	if err == nil {
		verdict.Opinion, err = byBank(ctx, scorer, z, o.Classes, o.MaxMem)
	}
	return verdict, err
}

// networks sums up what crossfit makes of several backbones, and of fine-tuned networks, fold by fold.
type networks struct {
	folds, taken  int
	with, without float64

	names   []string
	shares  []float64
	counted int
}

func (n *networks) count(shares []float64) {
	if n.counted++; n.shares == nil {
		n.shares = make([]float64, len(shares))
	}
	for part, share := range shares {
		n.shares[part] += share
	}
}

func (n *networks) chose(with, without float64) {
	n.folds, n.with, n.without = n.folds+1, n.with+with, n.without+without
	if with > without {
		n.taken++
	}
}

// why adds to what the scorer says.
func (n *networks) why(scorer string) string {
	if n.counted > 0 {
		var list []string
		for part, share := range n.shares {
			list = append(list, fmt.Sprintf("%s counts %.0f %%", n.names[part], 100*share/float64(n.counted)))
		}
		said := "of heads on several backbones " + strings.Join(list, ", ") + ", as makes labels left out likeliest"
		if scorer != "" {
			said = scorer + "; " + said
		}
		scorer = said
	}
	if n.folds == 0 {
		return scorer
	}
	folds := float64(n.folds)
	said := fmt.Sprintf("fine-tuned networks in %d of %d folds: a label left out has probability %.3f with them, %.3f with heads on the stored features alone",
		n.taken, n.folds, math.Exp(n.with/folds), math.Exp(n.without/folds))
	if scorer != "" {
		said = scorer + "; " + said
	}
	return said
}

// filterScorer builds the scorer of a filter.
func filterScorer(dim int, o Options) (filters.Scorer, error) {
	entry, err := filters.Find(o.Scorer)
	if err != nil || !entry.ByBankAlone() && !(entry.NeedsProxy && o.Proxies != nil) {
		return nil, fmt.Errorf("audit: scorer %q cannot judge a set%s, expected one of %v", o.Scorer, catalog.Ask(o.Scorer, Scorers()), Scorers())
	}
	cfg := filters.Default()
	cfg.Threshold = filters.ThresholdSTRM
	if o.Filter != nil {
		cfg = *o.Filter
	}
	cfg.Scorer = o.Scorer
	env := filters.Env{Dim: dim, Classes: o.Classes}
	if o.Proxies != nil {
		env.Proxies, env.PerClass = o.Proxies, o.Proxies.Rows/o.Classes
	}
	f, err := filters.New(cfg, env)
	if err != nil {
		return nil, err
	}
	return f.Scorer(), nil
}

// sharedBy returns the classes of z as verdicts have them: an image counts for the given label and the suggested one, each
// as much as it is probable.
func sharedBy(z features.Set, classes int, v judges.Opinion) (*leaveout.Set, error) {
	s, err := leaveout.New(z, classes)
	if err != nil {
		return nil, err
	}
	parts := make([][]leaveout.Part, len(s.Rows))
	for i, row := range s.Rows {
		given, suggested := s.Column[z.Labels[row]], s.Column[v.Suggested[row]]
		parts[i] = []leaveout.Part{{Column: given, Weight: v.Score[row]}}
		if suggested != given {
			parts[i] = append(parts[i], leaveout.Part{Column: suggested, Weight: v.SuggestedScore[row]})
		}
	}
	s.Share(parts)
	return s, nil
}
