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
	Probabilities = "probabilities" // class probabilities from any model
)

// Kind distinguishes how scorers work.
type Kind int

// The kinds of scorers.
const (
	BySet    Kind = iota // a judge, which works on the whole set (audit/judges)
	ByHeads              // heads that the audit trains
	ByFilter             // a filter's scorer, with the set as its memory bank
	ByGiven              // scores from elsewhere
)

// Scorer describes a way to score labels.
type Scorer struct {
	Name, Title string
	Aliases     []string // former names
	Help        string   // one line
	Kind        Kind
	Trains      bool // trains heads on stored features
	Probability bool // scores are calibrated probabilities that a label is right
}

// FewImages is [judges.FewImages].
const FewImages = judges.FewImages

// Scorers lists all scorers, in the order they are shown. A judge takes precedence over a filter of the same name,
// such as the vote of neighbours.
var Scorers = listScorers()

func listScorers() (list []Scorer) {
	for _, j := range judges.Catalog {
		list = append(list, Scorer{
			Name: j.Name, Title: j.Title, Aliases: j.Aliases, Help: j.Help, Kind: BySet, Probability: j.Probability,
			Trains: j.Name == judges.Combined,
		})
	}
	list = append(list, Scorer{
		Name: Crossfit, Kind: ByHeads, Trains: true, Probability: true,
		Help: "trains heads, each on the labels of the other folds that look right; takes minutes without a " +
			"run",
	})
	for _, e := range filters.Catalog {
		s := Scorer{
			Name: e.Name, Title: e.Title, Help: fmt.Sprintf("%s of %s, %s", e.Title, e.Paper, e.Equation),
			Kind:        ByFilter,
			Probability: e.Probability,
		}
		judge := slices.ContainsFunc(list, func(known Scorer) bool { return known.Name == e.Name })
		if !judge && e.NeedsBank && !e.NeedsProxy {
			list = append(list, s)
		}
	}
	return append(list, Scorer{Name: Probabilities, Kind: ByGiven})
}

// resolveScorer returns the scorer with the given name, current or former.
func resolveScorer(name string) (Scorer, error) {
	return catalog.Find("audit: scorer", name, Scorers,
		func(s Scorer) []string { return append([]string{s.Name}, s.Aliases...) })
}

// Named returns the scorer with the given name, [judges.Default] for "". For an unknown name it returns a scorer with
// only its name set.
func Named(name string) Scorer {
	s, err := resolveScorer(cmp.Or(name, judges.Default))
	if err != nil {
		return Scorer{Name: name, Kind: ByGiven}
	}
	return s
}

// Names lists the names of the scorers that need only the set, in order.
func Names() (names []string) {
	for _, s := range Scorers {
		if s.Kind != ByGiven {
			names = append(names, s.Name)
		}
	}
	return names
}

// runScorer runs the scorer on z, whose rows have unit length and are all labelled. stored holds the same rows before
// whitening. start whitens them; it may be nil.
func runScorer(
	ctx context.Context,
	z, stored features.Set,
	start *head.Head,
	o job,
) (verdict judges.Verdict, err error) {
	seen := new(crossfit.Seen)
	if Named(o.Scorer).Trains {
		stored = stored.Labelled()
	} else { // its vectors are not kept
		stored = features.Set{}
	}
	heads := crossfit.Options{Seed: o.Seed, Told: o.Told, Start: start, Voice: o.copies.voice, Tune: o.Tune, Seen: seen}
	switch Named(o.Scorer).Kind {
	case ByHeads:
		if verdict.Opinion, err = crossfit.Judge(ctx, stored, o.Classes, heads); err != nil {
			return verdict, err
		}
		verdict.Classes, err = sharedBy(z, o.Classes, o.copies.voice, verdict.Opinion)
	case BySet:
		verdict, err = judges.Ask(ctx, z, o.Classes, o.Scorer, judges.Options{
			MaxMem: o.MaxMem, Rand: train.Rand(o.Seed, "judges", 0),
			Voice: o.copies.voice, Stored: stored,
			Heads: func(do func(row int, p []float64)) error {
				return crossfit.Probabilities(ctx, stored, o.Classes, heads, do)
			},
		})
		if err == nil && verdict.Blind {
			for i, order := range verdict.Order {
				if !math.IsInf(order, 1) { // it has a score
					verdict.Score[i], verdict.Suggested[i], verdict.SuggestedScore[i] = 0.5, z.Labels[i], 0.5
				}
			}
		}
	default:
		if o.copies.countPairs(z.Labels) == 0 {
			return verdict, errors.New("audit: no class has two images or more, expected at least two such classes")
		}
		var scorer filters.Scorer
		if scorer, err = filterScorer(z.Dim(), o); err == nil {
			verdict.Opinion, err = byBank(ctx, scorer, z, o.copies.voice, o.Classes, o.MaxMem)
		}
	}
	if err == nil {
		if !verdict.Blind {
			reasons := []string{verdict.Why, weighNetworks(verdict.Opinion, z.Labels, seen)}
			verdict.Why = strings.Trim(strings.Join(reasons, "; "), "; ")
		}
		o.copies.echoOpinions(verdict.Opinion)
	}
	return verdict, err
}

// filterScorer returns the scorer of a filter.
func filterScorer(dim int, o job) (filters.Scorer, error) {
	if Named(o.Scorer).Kind != ByFilter {
		return nil, fmt.Errorf("audit: scorer %q cannot score a set%s, expected one of %v", o.Scorer,
			catalog.Ask(o.Scorer, Names()), Names())
	}
	cfg := filters.Default()
	cfg.Threshold = filters.ThresholdMedian
	if o.Filter != nil {
		cfg = *o.Filter
	}
	cfg.Scorer = o.Scorer
	f, err := filters.New(cfg, filters.Env{Dim: dim, Classes: o.Classes})
	if err != nil {
		return nil, err
	}
	return f.Scorer(), nil
}

// sharedBy returns the classes of z weighted by an opinion: an image adds to the class of its given label and to the
// suggested class, each with its probability as the weight.
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
