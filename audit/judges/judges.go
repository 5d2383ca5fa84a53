// Package judges scores how likely every given label of a set is right, without using the image's own label, and
// suggests labels that fit better. The vectors are stored features, whitened, or the embeddings of a trained run.
//
// [Catalog] lists the judges: winnow's own, and published methods for comparison on the same vectors. Neither the
// vector nor the label of an image is used to score that image: centres leave it out of every sum, neighbours are other
// images, and probes, discriminants and channels of mistakes are fitted to the other folds. Only a few hyperparameters
// are chosen using all images. aum differs, as published: it observes how a head learns the label that is scored.
//
// The package uses given labels only. It imports eval, features and filters/leaveout, and no dataset.
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

// Judge describes a way to score labels, with its source.
type Judge struct {
	Name, Title string
	Aliases     []string // former names
	Help        string   // one line
	Source      string
	Baseline    bool // a published method
	Probability bool // scores are calibrated probabilities that a label is right

	judge func(*bench) error
}

// Default finds most label errors, or nearly, for every set and kind of noise (experiments/audit). Fitted is the best
// of the judges that train no network or head.
const (
	Combined = "combined"
	Fitted   = "fitted"
	Centres  = "centres"
	Default  = Combined
)

// The judges that use a probe share its probabilities out of sample, which are computed once.
const (
	SelfConfidence = "self-confidence"
	Confident      = "confident"
)

// Catalog lists the judges, in the order they are shown.
var Catalog = []Judge{
	{
		Name: Combined, Title: "Centres and heads", Source: "ours", Probability: true,
		Help: "fitted plus heads trained on the other folds, weighted by the likelihood of held-out labels, and " +
			"linear discriminants; half a minute for 6,000 images",
		judge: func(b *bench) error { return b.judgeCombined() },
	},
	{
		Name: Fitted, Title: "Fitted centres", Source: "ours", Probability: true,
		Help:  "like centres; fits whitening and the confusion of classes, by the likelihood of held-out labels",
		judge: func(b *bench) error { return b.judgeFitted() },
	},
	{
		Name: Centres, Title: "Class centres", Source: "ours", Probability: true,
		Help:  "cosine to the centre of the given class, compared with all other classes",
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
		Help: "mean margin of the label while a linear head learns all labels; wrong if below 0.5, the level of " +
			"made-up labels",
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

// Options are the settings of a judge. The zero value means the defaults; judges that use a probe also need Rand.
type Options struct {
	// Heads calls do for every scored row, in any order, with the probabilities P(k|x) by heads that were trained on
	// neither the row nor its label. They cover the classes with at least two rows, ascending. combined needs Heads.
	Heads func(do func(row int, p []float64)) error

	// Stored has the rows' vectors before whitening, for the discriminants of combined; empty: no discriminants.
	Stored features.Set

	Folds  int        // number of folds; default 5
	MaxMem int64      // bytes of similarities held at once
	Rand   *rand.Rand // divides the images into folds
	// Voice holds for each row the row that represents it, as in [leaveout.NewHeard]; nil: there are no duplicates.
	Voice []int
}

// Opinion holds scores and suggestions for the labels of a set, with an entry for each row.
type Opinion struct {
	Order          []float64 // lowest is most suspect; Score, or its log odds, which avoid ties at 0 and 1
	Score          []float64 // score of the given label, by the other images; higher: more likely right
	Suggested      []int     // the class with the best score; the given class if no other class is better
	SuggestedScore []float64
}

// Undecided returns the opinion in which no label is scored.
func Undecided(labels []int) Opinion {
	n := len(labels)
	o := Opinion{Order: make([]float64, n), Score: make([]float64, n), Suggested: slices.Clone(labels),
		SuggestedScore: make([]float64, n)}
	for i := range n {
		o.Order[i], o.Score[i], o.SuggestedScore[i] = math.Inf(1), 1, 1
	}
	return o
}

// PartHeard is [Part] for a set with duplicates. A duplicate is in the same fold as the row that represents it.
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

// Part assigns every row with a column to a fold, and the other rows to -1. The rows of a column are dealt to the folds
// in turn, so that fold sizes differ by at most one, and a column of two rows or more is never entirely in one fold.
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

// Verdict is the result of a judge, with an entry for each row of the set. A row without a label, or without another
// row of its label, is not scored: Score 1, Order +Inf, Suggested its given label.
type Verdict struct {
	Opinion               // scores are probabilities unless the judge's help describes them otherwise
	Classes *leaveout.Set // the classes, weighted by the judge
	Why     string        // what the judge chose, and why; "" if it chooses nothing
	// Blind reports, for fitted and combined, that held-out labels are predicted no better than by chance.
	Blind bool
	// Uneven, set by fitted and combined, tests for uniform noise: the gain in log likelihood of held-out labels, in
	// nats a label, from a channel of mistakes by class, fitted to the similarities to centres.
	Uneven *float64
}

// Ask runs the judge with the given name on z. Labels are 0 … classes-1, negative if missing. Rows may have any length.
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

// bench holds the state of a running judge. Images are numbered as in s, and classes by their columns.
type bench struct {
	ctx  context.Context
	s    *leaveout.Set
	opts Options
	v    Verdict

	folds  []int     // fold of each image; nil: not drawn yet
	probed []float32 // n×columns: out-of-sample probabilities of the probe; nil: not computed yet
	gain   float64   // gain in log likelihood of the best field over chance, in nats for all labels together
}

// setVerdict sets the verdict on image i: order and score of its given label, and the best column with its score.
func (b *bench) setVerdict(i int, order, score float64, best int, bestScore float64) {
	row := b.s.Rows[i]
	b.v.Order[row], b.v.Score[row] = order, score
	b.v.Suggested[row], b.v.SuggestedScore[row] = b.s.Classes[best], bestScore
}

// sayRow sets the verdict on image i from a score for each column. order ranks the label. The given column y wins ties.
func (b *bench) sayRow(i, y int, order float64, row []float64) {
	best := y
	for k, v := range row {
		if v > row[best] {
			best = k
		}
	}
	b.setVerdict(i, order, row[y], best, row[best])
}
