package audit

import (
	"cmp"
	"context"
	"errors"
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

// Names of scorers outside packages judges and filters.
const (
	Crossfit      = "crossfit"      // heads that the audit trains
	SelfPaced     = "selfpaced"     // the final weights of a run
	Probabilities = "probabilities" // class probabilities of any model
)

// Kind says what a scorer judges by.
type Kind int

// The kinds. The first three need nothing but the set; the first two are no filters.
const (
	BySet     Kind = iota // a judge of whole sets (audit/judges)
	ByHeads               // heads that the audit trains
	ByFilter              // a filter's scorer, with the set as its memory bank
	ByProxies             // a filter's scorer, with the proxies of a run's loss
	ByWeights             // the final weights of a run that weighed its samples
	ByGiven               // scores from elsewhere
)

// Scorer is a way to judge labels.
type Scorer struct {
	Name, Title string
	Aliases     []string // former names
	Help        string   // one line
	Kind        Kind
	Trains      bool // trains heads on stored features
	Probability bool // scores are calibrated probabilities that a label is right
	Shardable   bool // judges rows apart from each other ([Basis])
}

// Scorers lists all scorers, in the order they are shown. A judge takes precedence over a filter of the same name,
// such as the vote of neighbours.
var Scorers = listScorers()

func listScorers() (list []Scorer) {
	for _, j := range judges.Catalog {
		list = append(list, Scorer{
			Name: j.Name, Title: j.Title, Aliases: j.Aliases, Help: j.Help, Kind: BySet, Probability: j.Probability,
			Trains: j.Name == judges.Combined, Shardable: j.Name == judges.Combined || j.Name == judges.Centres,
		})
	}
	list = append(list, Scorer{
		Name: Crossfit, Kind: ByHeads, Trains: true, Probability: true, Shardable: true,
		Help: "heads trained for the audit, each on the labels of the other folds that look right; without a run, " +
			"minutes",
	})
	for _, e := range filters.Catalog {
		s := Scorer{
			Name: e.Name, Title: e.Title, Help: fmt.Sprintf("%s of %s, %s", e.Title, e.Paper, e.Equation),
			Kind:        ByFilter,
			Probability: e.Probability,
		}
		if e.NeedsProxy {
			s.Kind = ByProxies
		}
		judge := slices.ContainsFunc(list, func(known Scorer) bool { return known.Name == e.Name })
		if !judge && (e.NeedsBank || e.NeedsProxy) {
			list = append(list, s)
		}
	}
	return append(list,
		Scorer{Name: SelfPaced, Kind: ByWeights, Help: "the final weights of a run that weighed its samples"},
		Scorer{Name: Probabilities, Kind: ByGiven})
}

// resolveScorer returns the scorer of a name, former names included.
func resolveScorer(name string) (Scorer, error) {
	return catalog.Find("audit: scorer", name, Scorers,
		func(s Scorer) []string { return append([]string{s.Name}, s.Aliases...) })
}

// Instead names what replaces a scorer that is gone; "" if it never was one.
func Instead(name string) string {
	return map[string]string{"1nn": "knn", "margin": judges.Confident, "simifeat-v": "knn", "simifeat-r": "knn",
		"small-loss": judges.Default, "ensemble": judges.Default, "forgetting": judges.Default}[name]
}

// Named returns the scorer of a name, [judges.Default] for "". For an unknown name it returns a scorer with only
// the name.
func Named(name string) Scorer {
	s, err := resolveScorer(cmp.Or(name, judges.Default))
	if err != nil {
		return Scorer{Name: name, Kind: ByGiven}
	}
	return s
}

// Names lists the scorers of some kinds, in order.
func Names(kinds ...Kind) []string {
	return namesOf(func(s Scorer) bool { return slices.Contains(kinds, s.Kind) })
}

// Alone lists the scorers that need nothing but the set, and Shardable those that judge rows apart from each other.
func Alone() []string     { return Names(BySet, ByHeads, ByFilter) }
func Shardable() []string { return namesOf(func(s Scorer) bool { return s.Shardable }) }

func namesOf(take func(Scorer) bool) (names []string) {
	for _, s := range Scorers {
		if take(s) {
			names = append(names, s.Name)
		}
	}
	return names
}

// runScorer runs the scorer on z, unit rows, all labelled. stored holds the same rows, not whitened. start, if not nil,
// whitens them.
func runScorer(
	ctx context.Context,
	z, stored features.Set,
	start *head.Head,
	o job,
) (verdict judges.Verdict, err error) {
	var by networks
	by.names = o.Names
	defer func() { verdict.Why = by.explainNetworks(verdict.Why) }()
	heads := crossfit.Options{Folds: o.Folds, Rounds: o.Rounds, Parts: o.Parts, Seed: o.Seed, Told: o.Told,
		Paced: o.Paced, Tune: o.Tune, Chose: by.noteChoice, Start: start, Voice: o.copies.voice}
	if !o.Shared.alone {
		heads.Shared = &o.Shared.heads
	}
	if o.Tune != nil {
		heads.Seen = &by.seen
	}
	if len(o.Names) > 1 && len(o.Names) == len(o.Parts) {
		heads.Counted = by.addNetworkShares
	}
	switch Named(o.Scorer).Kind {
	case ByHeads:
		if verdict.Opinion, err = crossfit.Judge(ctx, stored.Labelled(), o.Classes, heads); err != nil {
			return verdict, err
		}
		verdict.Classes, err = sharedBy(z, o.Classes, o.copies.voice, verdict.Opinion)
	case BySet:
		verdict, err = judges.Ask(ctx, z, o.Classes, o.Scorer, judges.Options{
			Neighbours: o.Neighbours, Folds: o.Folds, MaxMem: o.MaxMem, Rand: train.Rand(o.Seed, "judges", 0),
			Shared: &o.Shared.judges, Voice: o.copies.voice,
			Heads: func(do func(row int, p []float64)) error {
				return crossfit.Probabilities(ctx, stored.Labelled(), o.Classes, heads, do)
			},
		})
		if err == nil && verdict.Blind {
			for i, order := range verdict.Order {
				if !math.IsInf(order, 1) { // judged
					verdict.Score[i], verdict.Suggested[i], verdict.SuggestedScore[i] = 0.5, z.Labels[i], 0.5
				}
			}
		}
	default:
		if o.copies.countPairs(z.Labels) == 0 {
			return verdict, errors.New("audit: 0 classes have two images or more, expected at least two")
		}
		var scorer filters.Scorer
		if scorer, err = filterScorer(z.Dim(), o); err == nil {
			verdict.Opinion, err = byBank(ctx, scorer, z, o.copies.voice, o.Classes, o.MaxMem)
		}
	}
	if err == nil && !verdict.Blind {
		by.weighed = weighWitnesses(verdict.Opinion, z.Labels, ofNetworks(&by.seen))
		if o.Beside != nil {
			by.beside = weighWitnesses(verdict.Opinion, z.Labels, o.Beside.newTestimony())
		}
	}
	if err == nil {
		o.copies.echoOpinions(verdict.Opinion)
	}
	return verdict, err
}

// networks sums up the shares of several backbones and the use of fine-tuned networks in crossfit, over the folds.
type networks struct {
	folds, taken  int
	with, without float64

	names   []string
	shares  []float64
	counted int

	seen            crossfit.Seen
	weighed, beside string // how their margins, and another judgement, were weighed; "": they were not
}

func (n *networks) addNetworkShares(shares []float64) {
	if n.counted++; n.shares == nil {
		n.shares = make([]float64, len(shares))
	}
	for part, share := range shares {
		n.shares[part] += share
	}
}

func (n *networks) noteChoice(with, without float64) {
	n.folds, n.with, n.without = n.folds+1, n.with+with, n.without+without
	if with > without {
		n.taken++
	}
}

// explainNetworks adds these to the reasons of the scorer.
func (n *networks) explainNetworks(scorer string) string {
	reasons := []string{scorer}
	if n.counted > 0 {
		var list []string
		for part, share := range n.shares {
			list = append(list, fmt.Sprintf("%s counts %.0f %%", n.names[part], 100*share/float64(n.counted)))
		}
		reasons = append(reasons, "heads on several backbones, weighed by cross-validated label likelihood: "+
			strings.Join(list, ", "))
	}
	if n.folds > 0 {
		folds := float64(n.folds)
		reasons = append(reasons, fmt.Sprintf("fine-tuned networks in %d of %d folds (cross-validated label "+
			"likelihood: with networks %.3f, with heads alone %.3f), which learned for %s epochs", n.taken, n.folds,
			math.Exp(n.with/folds), math.Exp(n.without/folds), formatNumbers(n.seen.Epochs)))
	}
	reasons = append(reasons, n.weighed, n.beside)
	return strings.Join(slices.DeleteFunc(reasons, func(s string) bool { return s == "" }), "; ")
}

// formatNumbers returns numbers as text: "4, 5, 4".
func formatNumbers(numbers []int) string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(numbers), "[]"), " ", ", ")
}

// filterScorer builds the scorer of a filter.
func filterScorer(dim int, o job) (filters.Scorer, error) {
	if kind := Named(o.Scorer).Kind; kind != ByFilter && !(kind == ByProxies && o.Proxies != nil) {
		return nil, fmt.Errorf("audit: scorer %q cannot judge a set%s, expected one of %v", o.Scorer,
			catalog.Ask(o.Scorer, Alone()), Alone())
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

// sharedBy returns the classes of z weighted by an opinion: an image counts for the given label and for the
// suggested one, each by its probability.
func sharedBy(z features.Set, classes int, voice []int, v judges.Opinion) (*leaveout.Set, error) {
	s, err := leaveout.NewHeard(z, classes, voice)
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
