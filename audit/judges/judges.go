// Package judges scores how right every given label of a set looks, each image left out of its own judgement, and
// suggests labels that fit better. The vectors are stored features, whitened, or the embedding of a run.
//
// [Catalog] lists the judges: winnow's own, and published methods for the same vectors, for comparison in one run.
// An image is judged by neither its own vector nor its own label: centres leave it out of every sum, neighbours are
// others, and a probe or a channel of mistakes is learned from the other folds. Only a few numbers are chosen with
// all images. aum differs, as published: it observes how a head learns the label that it judges.
//
// The package sees given labels only. It imports eval, features and filters/leaveout, and no dataset.
package judges

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"winnow/features"
	"winnow/filters/leaveout"
	"winnow/internal/catalog"
)

// Judge is one way to judge labels, with its source.
type Judge struct {
	Name, Title string
	Aliases     []string // former names
	Help        string   // one line
	Source      string
	Baseline    bool // a published method
	Probability bool // scores are probabilities that a label is right, fit to be added up

	judge func(*bench) error
}

// Default is the best judge, or nearly, for every set and kind of mistakes (experiments/audit). Fitted is the best
// of those that train nothing.
const (
	Combined = "combined"
	Fitted   = "fitted"
	Centres  = "centres"
	Default  = Combined
)

// The judges by a probe. Its probabilities out of sample are computed once for all of them.
const (
	SelfConfidence = "self-confidence"
	Confident      = "confident"
)

// Catalog lists the judges, in the order they are shown.
var Catalog = []Judge{
	{
		Name: Combined, Title: "Centres and heads", Source: "ours", Probability: true,
		Help: "as fitted, and by heads trained on the other folds, weighted by the likelihood of left-out labels; " +
			"half a minute for 6,000 images",
		judge: func(b *bench) error { return b.judgeCombined() },
	},
	{
		Name: Fitted, Title: "Fitted centres", Source: "ours", Probability: true,
		Help:  "as centres, with whitening and confusions between classes fitted, by the likelihood of left-out labels",
		judge: func(b *bench) error { return b.judgeFitted() },
	},
	{
		Name: Centres, Title: "Class centres", Source: "ours", Probability: true,
		Help:  "cosine to the centre of the given class, compared with those of all others",
		judge: func(b *bench) error { return b.judgeByCentres() },
	},
	{
		Name: "knn", Title: "Vote of neighbours", Source: "Bahri et al., ICML 2020; Zhu et al., ICML 2022",
		Baseline: true,
		Help:     "share of the nearest images, weighted by cosine, that have the label",
		judge:    func(b *bench) error { return b.voteByNeighbours() },
	},
	{
		Name: SelfConfidence, Aliases: []string{"probe"}, Title: "Self-confidence of a probe",
		Source: "Northcutt et al., JAIR 2021", Baseline: true,
		Help:  "probability of the label by a probe: softmax regression fitted on the other folds",
		judge: func(b *bench) error { return b.selfConfidence() },
	},
	{
		Name: Confident, Title: "Confident learning", Source: "Northcutt et al., JAIR 2021, section 3", Baseline: true,
		Help: "the same probe's probability of the label minus that of the likeliest other class; suggests by the " +
			"confident joint",
		judge: func(b *bench) error { return b.judgeConfident() },
	},
	{
		Name: "aum", Title: "Area under the margin", Source: "Pleiss et al., NeurIPS 2020", Baseline: true,
		Help: "mean margin of the label while a linear head learns all labels; below 0.5, the level of made-up " +
			"labels: wrong",
		judge: func(b *bench) error { return b.judgeByMargins() },
	},
}

// Names lists the names of the judges.
func Names() []string {
	var names []string
	for _, j := range Catalog {
		names = append(names, j.Name)
	}
	return names
}

// Options are a judge's settings. The zero value means the defaults; the probes also need Rand.
type Options struct {
	// Heads calls do with every judged row, in any order, and the probabilities P(k|x) of heads trained on neither
	// the row nor its label, for the classes with at least two rows, in rising order. combined needs it.
	Heads func(do func(row int, p []float64)) error

	Folds  int        // of the probes; default 5
	MaxMem int64      // bytes of similarities
	Rand   *rand.Rand // divides the images into folds
	// Voice names for each row the row that counts for it, as [leaveout.NewHeard] takes it; nil: there are no copies.
	Voice []int
}

// Opinion is a judgement of the labels of a set, with an entry for each row.
type Opinion struct {
	Order          []float64 // the lowest is most suspect; Score, or its log odds, which do not tie at 0 or 1
	Score          []float64 // of the given label, the image left out; higher: cleaner
	Suggested      []int     // the class that scores best; the given one if none beats it
	SuggestedScore []float64
}

// Undecided returns the opinion if nothing is known of any label.
func Undecided(labels []int) Opinion {
	n := len(labels)
	o := Opinion{Order: make([]float64, n), Score: make([]float64, n), Suggested: slices.Clone(labels),
		SuggestedScore: make([]float64, n)}
	for i := range n {
		o.Order[i], o.Score[i], o.SuggestedScore[i] = math.Inf(1), 1, 1
	}
	return o
}

// PartHeard is [Part] for a set with copies. A copy is in the fold of the row that counts for it.
func PartHeard(column []int, columns, folds int, voice func(row int) int, rng *rand.Rand) []int {
	heard := slices.Clone(column)
	for i := range heard {
		if voice(i) != i {
			heard[i] = -1
		}
	}
	fold := Part(heard, columns, folds, rng)
	for i, k := range column {
		switch v := voice(i); {
		case k < 0 || v == i:
		case v == leaveout.Mute:
			fold[i] = i % folds
		default:
			fold[i] = fold[v]
		}
	}
	return fold
}

// Part assigns every row with a column to a fold, the others to -1. The rows of a column go to the folds in turn,
// so that their numbers differ by at most one, and a column of two rows or more is never in one fold alone.
func Part(column []int, columns, folds int, rng *rand.Rand) []int {
	members, fold := make([][]int, columns), make([]int, len(column))
	for i, k := range column {
		fold[i] = -1
		if k >= 0 {
			members[k] = append(members[k], i)
		}
	}
	next := 0
	for _, list := range members {
		rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		for _, i := range list {
			fold[i] = next % folds
			next++
		}
	}
	return fold
}

// Verdict is the result of a judge, with an entry for each row of the set. A row without a label, or alone with its
// label, is not judged: Score 1, Order +Inf, Suggested its own.
type Verdict struct {
	Opinion               // the lowest Order is most suspect; scores are probabilities, or as the judge's help says
	Classes *leaveout.Set // the classes, weighted by the judge
	Why     string        // what the judge chose, and why; "": it had no choice
	// Blind says, for fitted and combined, that held-out labels are predicted no better than by chance.
	Blind bool
	// Uneven, for fitted and combined, tests whether mistakes go to all classes alike: what a channel of mistakes by
	// class adds to the likelihood of held-out labels in the space of the centres, in nats a label.
	Uneven *float64
}

// Ask runs the judge of a name on z. Labels are 0 … classes-1, or negative for none. Rows need not have unit length.
func Ask(ctx context.Context, z features.Set, classes int, name string, opts Options) (Verdict, error) {
	if opts.Folds < 2 {
		opts.Folds = 5
	}
	i := slices.Index(Names(), name)
	if i < 0 {
		return Verdict{}, catalog.Check("judges: judge", name, Names()...)
	}
	s, err := leaveout.NewHeard(z, classes, opts.Voice)
	if err != nil {
		return Verdict{}, fmt.Errorf("judges: %w", err)
	}
	b := &bench{ctx: ctx, s: s, opts: opts, v: Verdict{Classes: s, Opinion: Undecided(z.Labels)}}
	err = Catalog[i].judge(b)
	return b.v, err
}

// bench holds a judge's work. Images are numbered as in s, classes by their columns.
type bench struct {
	ctx  context.Context
	s    *leaveout.Set
	opts Options
	v    Verdict

	folds  []int     // nil: not drawn yet
	probed []float32 // probabilities of the probe out of sample, n×columns; nil: not computed yet
	gain   float64   // log likelihood of the best field over chance, in nats for all labels together
}

// setVerdict sets the verdict on image i: order and score of its label, and the column that fits best with its score.
func (b *bench) setVerdict(i int, order, score float64, best int, bestScore float64) {
	row := b.s.Rows[i]
	b.v.Order[row], b.v.Score[row] = order, score
	b.v.Suggested[row], b.v.SuggestedScore[row] = b.s.Classes[best], bestScore
}

// sayRow sets a verdict from a score for each column. order ranks the label; the given column wins ties.
func (b *bench) sayRow(i, y int, order float64, row []float64) {
	best := y
	for k, v := range row {
		if v > row[best] {
			best = k
		}
	}
	b.setVerdict(i, order, row[y], best, row[best])
}
